//! Checks that several parts of a scenario share.

use sojourn_aqm::{Cells, Packing};

use super::{Checked, refuse};
use crate::document::framing::LinkCells;
use crate::document::quantities::SizeText;

/// The largest packet that IP can carry, which is also the most framing that is plausible.
const LARGEST_PACKET_BYTES: u64 = 65_535;

/// The size of one packet: positive, and no more than IP can carry.
pub(super) fn packet_bytes(place: &str, size: SizeText) -> Checked<u32> {
    match size.0 {
        1..=LARGEST_PACKET_BYTES => Ok(size.0 as u32),
        _ => refuse(place, format!("{size} is not the size of an IP packet; write 1B to 65535B")),
    }
}

/// Bytes added to every packet.
pub(super) fn framing_bytes(place: &str, size: SizeText) -> Checked<u32> {
    match size.0 {
        0..=LARGEST_PACKET_BYTES => Ok(size.0 as u32),
        _ => refuse(place, format!("{size} is not a valid framing; write 0B to 65535B")),
    }
}

/// How frames are packed.
pub(super) fn packing(place: &str, mpu: SizeText, cells: LinkCells) -> Checked<Packing> {
    let mpu = u64::from(framing_bytes(&format!("{place}.mpu"), mpu)?);
    let cells = match cells {
        LinkCells::None => Cells::None,
        LinkCells::Atm => Cells::Atm,
        LinkCells::Ptm => Cells::Ptm,
    };
    Ok(Packing { mpu, cells })
}

/// A number from 0 to 1.
pub(super) fn probability(place: &str, p: f64) -> Checked<f64> {
    match (0.0..=1.0).contains(&p) {
        true => Ok(p),
        false => refuse(place, format!("{p} is not a probability; write a number from 0 to 1")),
    }
}

/// Checks a name. Names appear in dotted paths, tables and file names, so only characters that are
/// safe in all of these are allowed.
pub(super) fn name(place: &str, what: &str, name: &str) -> Checked<()> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !name.is_empty() && name.chars().all(legal) {
        true => Ok(()),
        false => refuse(
            place,
            format!("{what} is a word of letters, digits, `_` and `-`; `{name}` is not"),
        ),
    }
}
