//! Functions that a library without `std` requires of its host: memory, and termination after a
//! panic. Compile it with `panic=abort`.

use alloc::string::ToString;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

unsafe extern "C" {
    /// Memory of the given size at a multiple of `align`, or null.
    fn sojourn_host_alloc(size: usize, align: usize) -> *mut u8;
    /// Frees it.
    fn sojourn_host_free(memory: *mut u8, size: usize, align: usize);
    /// Reports a bug of the library, described by these bytes. Must not return.
    fn sojourn_host_panic(text: *const u8, length: usize) -> !;
}

struct HostMemory;

// SAFETY: the host's two functions are an allocator, as their descriptions require.
unsafe impl GlobalAlloc for HostMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and alignment may be requested.
        unsafe { sojourn_host_alloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: it comes from `alloc` with this layout.
        unsafe { sojourn_host_free(memory, layout.size(), layout.align()) }
    }
}

#[global_allocator]
static MEMORY: HostMemory = HostMemory;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let text = info.to_string();
    // SAFETY: the bytes live until the program ends, which is here.
    unsafe { sojourn_host_panic(text.as_ptr(), text.len()) }
}
