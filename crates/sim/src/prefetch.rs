//! Memory that is needed soon. With many flows the two ends of each are out of the processor's
//! caches by the time of their next packet, and a packet then waits longer for them than it takes
//! to handle: where they are asked for some packets ahead (`world/ahead.rs`), 10,000 flows take a
//! fifth less time, and a third of the time on a machine whose caches others use too.
//!
//! Without `unsafe` only the first cache line of a value can be asked for (crate `safe_arch`).

#![allow(unsafe_code)]

/// From so many flows on their memory is asked for ahead; fewer stay in the caches.
pub(crate) const MANY_FLOWS: usize = 500;

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks for all of a value, where the processor can be asked.
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
