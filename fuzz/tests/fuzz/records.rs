//! What comes from a wire or from a file of recorded packets: any bytes at all.

use sojourn_router::header::Header;
use sojourn_router::seen::{PASSAGE_BYTES, Passage, STORY_BYTES, Story};

use crate::target;

target! {
    /// A packet is no IPv4, or its header lies within it.
    fn packets_on_the_wire(packet: (u8, Vec<u8>)) {
        let (length, mut bytes) = packet.clone();
        if let Some(first) = bytes.first_mut() {
            *first = 0x40 | length & 0x0f; // else few would be IPv4
        }
        if let Some(header) = Header::read(&bytes) {
            assert!(header.payload_bytes <= header.bytes);
        }
    }

    /// A passage is refused, or is written as it was read.
    fn passages(row: [u8; PASSAGE_BYTES]) {
        let Some(passage) = Passage::read(row) else { return };
        let mut once = Vec::new();
        passage.write(&mut once);
        let again = once[..].try_into().ok().and_then(Passage::read).expect("what was written");
        let mut twice = Vec::new();
        again.write(&mut twice);
        assert_eq!(once, twice);
    }

    /// So is a story.
    fn stories(row: [u8; STORY_BYTES]) {
        let Some(story) = Story::read(row) else { return };
        let mut once = Vec::new();
        story.write(&mut once);
        let again = once[..].try_into().ok().and_then(Story::read).expect("what was written");
        let mut twice = Vec::new();
        again.write(&mut twice);
        assert_eq!(once, twice);
    }
}
