//! Counts the bytes that the core holds, so that a run ends with a message if its memory would
//! exceed a bound, instead of being killed by the system.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static HELD: AtomicUsize = AtomicUsize::new(0);

/// Bytes that all threads of this process hold in the core.
pub fn held_bytes() -> u64 {
    HELD.load(Ordering::Relaxed) as u64
}

/// Makes glibc return large blocks to the system when they are freed.
///
/// By default the first large block that is freed raises the limit above which blocks are returned
/// (mallopt(3), `M_MMAP_THRESHOLD`). Later ones then stayed with the thread that freed them, and
/// the peak memory of a run depended on the order of its threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "a setting of the C library")]
pub fn return_large_blocks() {
    // SAFETY: the calls take two integers and touch no memory of ours.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * LARGE_BYTES);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: libc::c_int = 4 << 20;

/// Other C libraries return them.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_large_blocks() {}

struct Counted;

// SAFETY: the system's allocator does the work; counting has no influence on it.
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size, Ordering::Relaxed);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static HEAP: Counted = Counted;
