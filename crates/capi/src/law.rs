//! C bindings of a law alone, for callers with their own queue. The caller holds the packets, asks
//! the law about each, and carries out its verdict.

use alloc::boxed::Box;
use core::ffi::{c_char, c_int};

use sojourn_aqm::{Aqm, Backlog as AqmBacklog, Head as AqmHead, Rate, Rng, Time, Verdict};

use crate::handle::{self, LawState};
use crate::{Backlog, NEVER, Setup};

/// Verdict of a law: let the packet pass.
pub const PASS: c_int = 0;
/// Verdict of a law: mark the packet CE and let it pass.
pub const MARK: c_int = 1;
/// Verdict of a law: drop the packet.
pub const DROP: c_int = 2;

/// The packet that a law decides about: on arrival, or at the head of the queue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// When it was accepted, in nanoseconds; on arrival the current time. Never later than now.
    pub enqueued_ns: u64,
    /// Size in bytes as the link accounts it, at least 1.
    pub bytes: u32,
    /// The ECN field, 0 to 3.
    pub ecn: u8,
}

/// A law.
pub struct Law(LawState);

/// Makes a law from its text form, such as "pie@linux:target=20ms"; the callbacks of `setup` are
/// not used. Returns null on error; `error` then holds a sentence of at most `error_size` bytes,
/// including its terminating zero.
///
/// # Safety
/// `text` is a C string, `setup` points to a setup; `error` points to `error_size` bytes or is
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_new(
    text: *const c_char,
    setup: *const Setup,
    error: *mut c_char,
    error_size: usize,
) -> *mut Law {
    let new = |text: &str, setup: &Setup| LawState::new(text, setup).map(Law);
    // SAFETY: as the caller promises.
    unsafe { handle::make(text, setup, error, error_size, new) }
}

/// Frees a law. Null is allowed.
///
/// # Safety
/// `law` comes from `sojourn_law_new` and is not used again, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_free(law: *mut Law) {
    if !law.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it back once.
        drop(unsafe { Box::from_raw(law) });
    }
}

/// Restarts the random numbers of a law from a seed, just as `sojourn_law_new` starts them from the
/// seed of its setup. A source of the caller's is no longer used.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_seed(law: *mut Law, seed: u64) {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.rng.replace(seed) };
}

/// 1 if the caller must test its limit first and call `sojourn_law_on_enqueue` only for arrivals
/// that fit, 0 if it must call it for every arrival.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_is_limit_first(law: *const Law) -> c_int {
    // SAFETY: as the caller promises.
    c_int::from(unsafe { (*law).0.law.is_limit_first() })
}

/// A packet arrives; `queue` does not contain it. Returns `SOJOURN_PASS`, `SOJOURN_MARK` or
/// `SOJOURN_DROP`; in the last two cases writes `cause` unless it is null. Returns -1 (and does
/// nothing) if the packet is not legal.
///
/// # Safety
/// `law` comes from `sojourn_law_new`; the other pointers point to what their names say, or `cause`
/// is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_enqueue(
    law: *mut Law,
    now_ns: u64,
    head: *const Head,
    queue: *const Backlog,
    cause: *mut u8,
) -> c_int {
    let hook: Hook = |law, now, head, queue, rng| law.on_enqueue(now, head, queue, rng);
    // SAFETY: as the caller promises.
    unsafe { ask(law, now_ns, head, queue, cause, hook) }
}

/// An arrival was dropped because the queue was full, or a queued packet was evicted.
///
/// # Safety
/// `law` comes from `sojourn_law_new`; `queue` points to a backlog.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_overflow(
    law: *mut Law,
    now_ns: u64,
    queue: *const Backlog,
) {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.law.on_overflow(Time::from_nanos(now_ns), backlog(*queue)) };
}

/// A packet is at the head and about to leave; `queue` does not contain it. The result is that of
/// `sojourn_law_on_enqueue`. After `SOJOURN_DROP`, call it again for the next head, or
/// `sojourn_law_on_empty` if the queue is empty.
///
/// # Safety
/// As for `sojourn_law_on_enqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_dequeue(
    law: *mut Law,
    now_ns: u64,
    head: *const Head,
    queue: *const Backlog,
    cause: *mut u8,
) -> c_int {
    let hook: Hook = |law, now, head, queue, rng| law.on_dequeue(now, head, queue, rng);
    // SAFETY: as the caller promises.
    unsafe { ask(law, now_ns, head, queue, cause, hook) }
}

/// The link asked for a packet and the queue was empty, possibly after drops at the head.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_empty(law: *mut Law, now_ns: u64) {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.law.on_empty(Time::from_nanos(now_ns)) };
}

/// When to call `sojourn_law_on_timer`, or `SOJOURN_NEVER`.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_next_timer(law: *const Law) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.law.next_timer() }.map_or(NEVER, Time::as_nanos)
}

/// The timer is due. Call this at the times that `sojourn_law_next_timer` gives, in order.
///
/// # Safety
/// `law` comes from `sojourn_law_new`; `queue` points to a backlog.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_timer(law: *mut Law, now_ns: u64, queue: *const Backlog) {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.law.on_timer(Time::from_nanos(now_ns), backlog(*queue)) };
}

/// The queue has been empty: catches up on all timers due at or before now.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_idle_timers(law: *mut Law, now_ns: u64) {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.law.on_idle_timers(Time::from_nanos(now_ns)) };
}

/// The rate of the link has changed. Returns 0, or -1 (and does nothing) if the rate is 0.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_on_rate(law: *mut Law, now_ns: u64, rate_bps: u64) -> c_int {
    if rate_bps == 0 {
        return -1;
    }
    // SAFETY: as the caller promises.
    unsafe { (*law).0.law.on_rate(Time::from_nanos(now_ns), Rate::from_bps(rate_bps)) };
    0
}

/// The number of state variables.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_var_count(law: *const Law) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.vars.count() }
}

/// The name of a state variable, valid as long as the law; null past the last one.
///
/// # Safety
/// `law` comes from `sojourn_law_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_var_name(law: *const Law, index: usize) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { (*law).0.vars.name(index) }
}

/// Writes the values of the state variables, at most `count`; returns the number of variables.
///
/// # Safety
/// `law` comes from `sojourn_law_new`; `values` points to room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_law_observe(
    law: *mut Law,
    values: *mut f64,
    count: usize,
) -> usize {
    // SAFETY: as the caller promises.
    let LawState { law, vars, .. } = unsafe { &mut (*law).0 };
    // SAFETY: as the caller promises.
    unsafe { vars.observe(|out| law.observe(out), values, count) }
}

/// A hook of a law that decides about a packet.
type Hook = fn(&mut dyn Aqm, Time, AqmHead, AqmBacklog, &mut Rng) -> Verdict;

/// # Safety
/// As for `sojourn_law_on_enqueue`.
unsafe fn ask(
    law: *mut Law,
    now_ns: u64,
    head: *const Head,
    queue: *const Backlog,
    cause: *mut u8,
    hook: Hook,
) -> c_int {
    // SAFETY: as the caller promises.
    let (state, head, queue) = unsafe { (&mut (*law).0, *head, *queue) };
    let Some(ecn) = handle::ecn(head.ecn).filter(|_| head.bytes > 0 && head.enqueued_ns <= now_ns)
    else {
        return -1;
    };
    let head = AqmHead { bytes: head.bytes, ecn, enqueued: Time::from_nanos(head.enqueued_ns) };
    let now = Time::from_nanos(now_ns);
    let verdict = hook(&mut *state.law, now, head, backlog(queue), &mut state.rng.rng);
    let (verdict, why) = match verdict {
        Verdict::Pass => return PASS,
        Verdict::Mark(cause) => (MARK, cause),
        Verdict::Drop(cause) => (DROP, cause),
    };
    if !cause.is_null() {
        // SAFETY: the pointer is not null, so it is as the caller promises.
        unsafe { cause.write(why as u8) };
    }
    verdict
}

fn backlog(queue: Backlog) -> AqmBacklog {
    let Backlog { packets, bytes, link_bytes } = queue;
    AqmBacklog { packets, bytes, link_bytes }
}
