//! Checks whether an ELF library is complete.
//!
//! The system's loader maps the segments listed in the file's header. If the file was truncated, by
//! a full disk or an interrupted copy, it touches pages that do not exist, and the process dies of
//! SIGBUS. So the lengths are compared first (gABI, chapter 5, "Program Header").

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

const MAGIC: &[u8] = b"\x7fELF";
const IS_64_BIT: u8 = 2;
const IS_LITTLE_ENDIAN: u8 = 1;
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const LOADED: u64 = 1;

/// The number of bytes that its segments need; `None` if the file is not ELF with 64 bits and
/// little endian, which is left to the system's loader.
///
/// # Errors
/// [`io::Error`] if the file cannot be read, or ends within a header.
pub(crate) fn needed_bytes(file: &mut File) -> io::Result<Option<u64>> {
    let mut start = Vec::new();
    file.take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    if !start.starts_with(MAGIC) || start.get(4..6) != Some(&[IS_64_BIT, IS_LITTLE_ENDIAN]) {
        return Ok(None);
    }
    if start.len() < HEADER_BYTES {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let (table, size, count) =
        (number(&start, 32, 8), number(&start, 54, 2), number(&start, 56, 2));
    if size != SEGMENT_BYTES as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(table))?;
    let mut needed = 0;
    for _ in 0..count {
        let mut segment = [0; SEGMENT_BYTES];
        file.read_exact(&mut segment)?;
        let (kind, offset, length) =
            (number(&segment, 0, 4), number(&segment, 8, 8), number(&segment, 32, 8));
        if kind == LOADED {
            needed = needed.max(offset.saturating_add(length));
        }
    }
    Ok(Some(needed))
}

/// A little-endian number of some bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn of(content: &[u8]) -> io::Result<Option<u64>> {
        let name = format!("sojourn-elf-{}-{}", std::process::id(), content.len());
        let path = std::env::temp_dir().join(name);
        File::create(&path).and_then(|mut file| file.write_all(content)).expect("writable");
        let found = needed_bytes(&mut File::open(&path).expect("it was just written"));
        std::fs::remove_file(path).expect("it is there");
        found
    }

    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
    fn a_program_that_runs_has_all_the_bytes_that_its_segments_need() {
        let path = std::env::current_exe().expect("it runs");
        let mut file = File::open(path).expect("readable");
        let needed = needed_bytes(&mut file).expect("whole").expect("ELF");
        assert!(needed > HEADER_BYTES as u64);
        assert!(needed <= file.metadata().expect("open").len());
    }

    #[test]
    fn a_file_that_ends_within_its_headers_is_an_error_and_another_kind_of_file_is_none() {
        assert_eq!(of(b"not a library").expect("readable"), None);
        assert_eq!(of(b"").expect("readable"), None);
        assert!(of(b"\x7fELF\x02\x01\x01").is_err());
        let mut header = [0; HEADER_BYTES];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (header[32], header[54], header[56]) = (64, SEGMENT_BYTES as u8, 1);
        assert!(of(&header).is_err());
    }
}
