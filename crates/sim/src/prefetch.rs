//! Prefetches memory that is needed soon. With many flows the two ends of each are out of the
//! caches by the time of their next packet, and loading them takes longer than handling the packet:
//! prefetched some packets ahead (`world/ahead.rs`), 10,000 flows take a fifth less time, and a
//! third of the time on a machine whose caches others use too.
//!
//! Without `unsafe` only the first cache line of a value can be asked for (crate `safe_arch`).

#![allow(unsafe_code)]

/// From this number of flows on their memory is prefetched; fewer stay in the caches.
pub(crate) const MANY_FLOWS: usize = 500;

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// What can be prefetched in two steps, as the second follows pointers that the first brings.
pub(crate) trait Prefetch {
    /// Prefetches the value itself.
    fn near(&self) {
        prefetch(self);
    }
    /// Prefetches what it keeps elsewhere, once the value itself is in the caches.
    fn far(&self);
}

/// Prefetches all of a value, where the processor can be asked.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of_val(value)).step_by(LINE) {
        let line = std::ptr::from_ref(value).cast::<u8>().wrapping_add(offset);
        // SAFETY: a prefetch is a hint, which reads and writes nothing.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast())
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
