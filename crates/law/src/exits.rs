//! Notices that a library calls `_exit`, which ends a process without a word: no exit handler runs.
//!
//! The loader writes the addresses of a library's imported functions into a table (gABI, chapter 5,
//! "Global Offset Table"); those of `_exit` are replaced by one of ours.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;

/// A function in place of `_exit`.
type Exit = extern "C" fn(c_int) -> !;

const NAMES: [&CStr; 3] = [c"_exit", c"_Exit", c"quick_exit"];
// Tags of the dynamic section (gABI, chapter 5, "Dynamic Section").
const PLT_BYTES: u64 = 2;
const TEXTS: u64 = 5;
const SYMBOLS: u64 = 6;
const RELOCATIONS: u64 = 7;
const RELOCATION_BYTES: u64 = 8;
const PLT: u64 = 23;
/// The relocations that hold the address of a function (psABI for x86-64, section 4.4.1, and ABI
/// for AArch64, "Dynamic relocations"): a word, an entry of the table, one of the linkage table.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: [u32; 3] = [1, 6, 7];
#[cfg(target_arch = "aarch64")]
const ADDRESSES: [u32; 3] = [257, 1025, 1026];

#[repr(C)]
struct Symbol {
    name: u32,
    rest: [u32; 5],
}

#[repr(C)]
struct Relocation {
    offset: u64,
    kind: u32,
    symbol: u32,
    addend: i64,
}

/// Replaces `_exit` in the library that contains this address.
pub(crate) fn replace(address: *const c_void, ours: Exit) {
    let mut wanted = (address, ours);
    // SAFETY: the callback is called only during this call, with `wanted`.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut wanted).cast()) };
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    wanted: *mut c_void,
) -> c_int {
    // SAFETY: the loader's structures are valid during this callback.
    let (base, headers, (wanted, ours)) = unsafe {
        let headers = slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        ((*info).dlpi_addr, headers, *wanted.cast::<(*const c_void, Exit)>())
    };
    let wanted = wanted as u64;
    let is_within = |header: &&libc::Elf64_Phdr| {
        let start = base + header.p_vaddr;
        header.p_type == libc::PT_LOAD && (start..start + header.p_memsz).contains(&wanted)
    };
    if !headers.iter().any(|header| is_within(&header)) {
        return 0;
    }
    if let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
        // SAFETY: a loaded library's dynamic section is an array of pairs that ends with tag 0.
        unsafe { replace_within(base, (base + dynamic.p_vaddr) as *const [u64; 2], ours) };
    }
    1
}

/// # Safety
/// `dynamic` is the dynamic section of a library loaded at `base`.
unsafe fn replace_within(base: u64, dynamic: *const [u64; 2], ours: Exit) {
    let value = |tag: u64| {
        // SAFETY: the caller's promise; the array ends with tag 0.
        let mut entries = (0..).map(|index| unsafe { *dynamic.add(index) });
        entries.find(|entry| [tag, 0].contains(&entry[0])).filter(|entry| entry[0] == tag)
    };
    // glibc has added the base to addresses, musl has not.
    let place = |tag| value(tag).map(|[_, at]| if at < base { base + at } else { at });
    let (Some(symbols), Some(texts)) = (place(SYMBOLS), place(TEXTS)) else { return };
    for (table, bytes) in [(PLT, PLT_BYTES), (RELOCATIONS, RELOCATION_BYTES)] {
        let (Some(table), Some([_, bytes])) = (place(table), value(bytes)) else { continue };
        let count = bytes as usize / size_of::<Relocation>();
        // SAFETY: the library's table of relocations, and symbols and texts that it names.
        unsafe {
            for relocation in slice::from_raw_parts(table as *const Relocation, count) {
                let symbol = (symbols as *const Symbol).add(relocation.symbol as usize);
                let name = CStr::from_ptr((texts as *const c_char).add((*symbol).name as usize));
                if ADDRESSES.contains(&relocation.kind) && NAMES.contains(&name) {
                    write((base + relocation.offset) as *mut usize, ours);
                }
            }
        }
    }
}

/// # Safety
/// `entry` holds the address of `_exit`, perhaps in a page that is read-only by now.
unsafe fn write(entry: *mut usize, ours: Exit) {
    // SAFETY: the caller's promise.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let start = ptr::without_provenance_mut(entry.addr() / page * page);
        if libc::mprotect(start, page, libc::PROT_READ | libc::PROT_WRITE) == 0 {
            *entry = ours as usize;
        }
    }
}
