//! Frame sizes of a link layer, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantities::SizeText;

/// Cells of a link layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LinkCells {
    /// None.
    #[default]
    None,
    /// ATM.
    Atm,
    /// PTM.
    Ptm,
}

impl LinkCells {
    pub(super) fn is_none(&self) -> bool {
        *self == LinkCells::None
    }
}

pub(super) fn is_zero(size: &SizeText) -> bool {
    size.0 == 0
}

pub(super) fn no_bytes() -> SizeText {
    SizeText(0)
}
