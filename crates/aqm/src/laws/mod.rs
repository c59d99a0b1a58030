//! The laws, one file each. A new law is one file here and one line in [`crate::registry`].

pub mod taildrop;
