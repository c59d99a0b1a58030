//! Whether the option of accurate ECN feedback fits next to timestamps and SACK blocks (RFC 9768
//! §3.2.3; Linux 7.2 tcp_output.c, `tcp_options_fit_accecn`).

/// Space for TCP options (RFC 9293 §3.1).
const OPTION_SPACE: u32 = 40;
/// Option space used by timestamps, padded (RFC 7323 §3.2).
pub const STAMP_BYTES: u32 = 12;
/// Option space used by the full option without SACK blocks, padded.
pub const FULL_BYTES: u32 = padded(MAX_FIELDS, 0);
/// Bytes of the option's kind and length, and of each field (RFC 9768 §3.2.3).
const BASE_BYTES: u32 = 2;
const FIELD_BYTES: u32 = 3;
/// ECT(1), CE, ECT(0), in this order: a shorter option omits the last ones.
pub(super) const MAX_FIELDS: u8 = 3;
/// SACK blocks need two bytes of padding to fill a multiple of four; the option uses these bytes
/// (RFC 2018 §3).
const PADDING_BYTES: u32 = 2;
/// SACK blocks that are never dropped in favour of the option.
const KEPT_BLOCKS: u32 = 2;

/// Bytes of `blocks` SACK blocks, padded (RFC 2018 §3).
pub(super) const fn sack_bytes(blocks: u32) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

/// The fields and blocks that fit into an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionRoom {
    /// Fields of the option.
    pub fields: u8,
    /// SACK blocks sent along with it.
    pub blocks: u32,
    /// Bytes that the option adds.
    pub bytes: u32,
}

/// Finds the largest option with at least `required` fields that fits, dropping the third SACK
/// block if necessary. `None` if no such option fits even then.
pub(super) fn find_room(required: u8, blocks: u32, timestamps: bool) -> Option<OptionRoom> {
    let space = OPTION_SPACE - if timestamps { STAMP_BYTES } else { 0 };
    let fewest = if required > 0 { blocks.min(KEPT_BLOCKS) } else { blocks };
    (fewest..=blocks).rev().find_map(|blocks| {
        let left = space.checked_sub(sack_bytes(blocks))?;
        let fields = (required..=MAX_FIELDS).rev().find(|&f| padded(f, blocks) <= left)?;
        Some(OptionRoom { fields, blocks, bytes: padded(fields, blocks) })
    })
}

/// Bytes that an option of `fields` fields adds to an acknowledgement with `blocks` SACK blocks.
const fn padded(fields: u8, blocks: u32) -> u32 {
    let bytes = BASE_BYTES + FIELD_BYTES * fields as u32;
    let shared = if blocks > 0 { PADDING_BYTES } else { 0 };
    if bytes % 4 > shared { bytes.next_multiple_of(4) } else { bytes - bytes % 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(required: u8, blocks: u32, timestamps: bool) -> Option<(u8, u32, u32)> {
        find_room(required, blocks, timestamps).map(|room| (room.fields, room.blocks, room.bytes))
    }

    #[test]
    fn all_fields_are_sent_where_there_is_room() {
        for (blocks, timestamps) in [(0, true), (1, true), (0, false), (1, false), (2, false)] {
            assert_eq!(room(0, blocks, timestamps), Some((3, blocks, 12)));
        }
        assert_eq!(
            room(2, 3, false),
            Some((3, 3, 12)),
            "without timestamps next to three blocks too"
        );
        assert_eq!((STAMP_BYTES, FULL_BYTES), (12, 12));
    }

    #[test]
    fn the_option_leaves_out_the_last_field_and_then_takes_the_place_of_the_third_block() {
        assert_eq!(room(0, 2, true), Some((2, 2, 8)));
        assert_eq!(room(2, 2, true), Some((2, 2, 8)));
        assert_eq!(room(2, 3, true), Some((2, 2, 8)));
        assert_eq!(room(1, 3, true), Some((2, 2, 8)));
        assert_eq!(room(0, 3, true), Some((0, 3, 0)), "nothing new: its length alone, as padding");
    }

    #[test]
    fn a_field_that_does_not_fit_leaves_the_blocks_as_they_are() {
        assert_eq!(room(3, 2, true), None);
        assert_eq!(room(3, 3, true), None);
    }
}
