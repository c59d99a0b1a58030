//! Sizes of frames.

use crate::storm::choice::Choice;

/// The minimum size of a frame, and its cells.
pub(super) fn packing(choice: &mut Choice) -> [String; 2] {
    let cells = choice.of_these(&["none", "atm", "ptm"]);
    [format!("mpu = \"{}B\"", choice.whole(1, 600)), format!("cells = \"{cells}\"")]
}
