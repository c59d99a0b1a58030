//! Checks whether an ELF library is complete, and reads which libraries it needs.
//!
//! The system's loader maps the segments listed in the file's header. If the file was truncated by
//! a full disk or an interrupted copy, the loader touches pages that do not exist, and the process
//! dies of SIGBUS. So we first compare the lengths (gABI, chapter 5, "Program Header").

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: &[u8] = b"\x7fELF";
const IS_64_BIT: u8 = 2;
const IS_LITTLE_ENDIAN: u8 = 1;
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const LOADED: u64 = 1;
const DYNAMIC: u64 = 2;
const ENTRY_BYTES: usize = 16;
// Tags of the dynamic section (gABI, chapter 5, "Dynamic Section").
const NEEDED: u64 = 1;
const TEXTS: u64 = 5;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;

/// Refuses a truncated file, for which the system's loader would end the process.
///
/// # Errors
/// A sentence, without the name of the file.
pub fn check_whole(path: &Path) -> Result<(), String> {
    let mut file = File::open(path).map_err(|error| format!("cannot be read ({error})"))?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    match needed_bytes(&mut file) {
        Ok(None) => Ok(()),
        Ok(Some(needed)) if needed <= length => Ok(()),
        Ok(_) | Err(_) => Err("is a part of a shared library only; build it again".to_owned()),
    }
}

/// The number of bytes that its segments need; `None` if the file is not a 64-bit little-endian ELF
/// file, which is left to the system's loader.
///
/// # Errors
/// [`io::Error`] if the file cannot be read, or ends within a header.
fn needed_bytes(file: &mut File) -> io::Result<Option<u64>> {
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

/// The libraries that a library depends on, and the folders in which it looks for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dependencies {
    /// The libraries: `libm.so.6`.
    pub needed: Vec<String>,
    /// Folders separated by colons, with `$ORIGIN` for the library's own. `DT_RUNPATH`, or else
    /// `DT_RPATH`.
    pub folders: String,
}

/// The dependencies of an ELF file of 64 bits and little endian; `None` if it is another kind of
/// file, or is damaged.
#[must_use]
pub fn dependencies(file: &[u8]) -> Option<Dependencies> {
    if !file.starts_with(MAGIC) || file.get(4..6)? != [IS_64_BIT, IS_LITTLE_ENDIAN] {
        return None;
    }
    let (table, count) = (word(file, 32)?, number(file.get(56..58)?, 0, 2));
    let segments: Vec<&[u8]> = (0..count)
        .map(|index| bytes(file, table.checked_add(index * SEGMENT_BYTES as u64)?, SEGMENT_BYTES))
        .collect::<Option<_>>()?;
    let of_kind = |kind| segments.iter().filter(move |segment| number(segment, 0, 4) == kind);
    let Some(dynamic) = of_kind(DYNAMIC).next() else { return Some(Dependencies::default()) };
    let length = usize::try_from(number(dynamic, 32, 8)).ok()?;
    let entries = bytes(file, number(dynamic, 8, 8), length)?;
    let values = |tag| {
        let entries = entries.chunks_exact(ENTRY_BYTES);
        entries.filter(move |entry| number(entry, 0, 8) == tag).map(|entry| number(entry, 8, 8))
    };
    // The address of the strings is known; their segment gives the offset in the file.
    let address = values(TEXTS).next()?;
    let texts = of_kind(LOADED).find_map(|segment| {
        let (offset, start, length) =
            (number(segment, 8, 8), number(segment, 16, 8), number(segment, 32, 8));
        let within = address.checked_sub(start).filter(|&within| within < length)?;
        offset.checked_add(within)
    })?;
    let text = |at: u64| {
        let from = file.get(usize::try_from(texts.checked_add(at)?).ok()?..)?;
        let end = from.iter().position(|&byte| byte == 0)?;
        String::from_utf8(from[..end].to_vec()).ok()
    };
    let needed = values(NEEDED).map(text).collect::<Option<_>>()?;
    let folders = values(RUNPATH).next().or_else(|| values(RPATH).next());
    Some(Dependencies { needed, folders: folders.map_or(Some(String::new()), text)? })
}

fn bytes(file: &[u8], at: u64, length: usize) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    file.get(at..at.checked_add(length)?)
}

fn word(file: &[u8], at: u64) -> Option<u64> {
    bytes(file, at, 8).map(|found| number(found, 0, 8))
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
    #[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
    fn a_program_names_the_libraries_that_it_needs() {
        let path = std::env::current_exe().expect("it runs");
        let file = std::fs::read(path).expect("readable");
        let found = dependencies(&file).expect("ELF");
        assert!(found.needed.iter().any(|name| name.starts_with("libc.")), "{found:?}");
        assert_eq!(found.folders, "");
        assert_eq!(dependencies(&file[..60]), None);
        assert_eq!(dependencies(b"not a library"), None);
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
