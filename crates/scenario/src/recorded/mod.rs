//! Files of recorded data: delivery opportunities of a link, and traffic.

pub(crate) mod link_trace;
pub(crate) mod traffic;

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
