//! The laws, one file each. A new law is one file here and one line in [`crate::registry`].

pub mod ared;
pub mod blue;
pub mod cobalt;
pub mod codel;
pub mod madpie;
pub mod pi;
pub mod pi2;
pub mod pie;
pub mod red;
pub mod step;
pub mod taildrop;

#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod ns3_tests;
