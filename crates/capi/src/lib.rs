//! C bindings: every AQM of the registry behind one opaque handle.
//!
//! `include/sojourn_aqm.h` is generated from this file, `constants.rs` and `law.rs`. Values that
//! are not legal are refused with an error. Pointers must be as described, which no library can
//! check. A handle belongs to one thread at a time, and a callback must not use the handle that
//! calls it.
//!
//! Without the feature `std` the library needs only a few functions of its host (`host.rs`), as in
//! a kernel.

#![no_std]
#![warn(unreachable_pub)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod constants;
mod handle;
#[cfg(not(feature = "std"))]
mod host;
mod law;

use alloc::boxed::Box;
use core::ffi::{CStr, c_char, c_int, c_void};

pub use constants::*;
use handle::{CheckedPacket, QdiscState};
pub use law::*;
use sojourn_aqm::{Limit, Rate, Time};

/// A packet, as a discipline sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// A number or pointer of the caller; it is not changed.
    pub id: u64,
    /// Equal for all packets of one flow.
    pub flow: u64,
    /// Equal for all packets from one host; the flow if hosts are unknown.
    pub src_host: u64,
    /// Equal for all packets to one host; the flow if hosts are unknown.
    pub dst_host: u64,
    /// Size in bytes as the link accounts it, at least 1.
    pub bytes: u32,
    /// The ECN field, 0 to 3.
    pub ecn: u8,
    /// The differentiated services code point, 0 to 63.
    pub dscp: u8,
}

/// A packet that leaves the discipline.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The packet, with its ECN field set to CE if it was marked.
    pub packet: Packet,
    /// When it was accepted, in nanoseconds.
    pub enqueued_ns: u64,
}

/// The backlog of a queue or a discipline.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
    /// Bytes queued for the same link, in this queue and in others.
    pub link_bytes: u64,
}

/// Called for every packet that is dropped: the packet, when it was accepted (now, if it never
/// was), the place (`SOJOURN_STAGE_...`) and the cause (`SOJOURN_CAUSE_...`).
pub type DroppedFn = unsafe extern "C" fn(
    context: *mut c_void,
    packet: *const Packet,
    enqueued_ns: u64,
    stage: u8,
    cause: u8,
);

/// Called for every packet that was just marked: the packet with its new ECN field, when it was
/// accepted (now, if it is arriving), the place and the cause.
pub type MarkedFn = unsafe extern "C" fn(
    context: *mut c_void,
    packet: *const Packet,
    enqueued_ns: u64,
    stage: u8,
    cause: u8,
);

/// Returns the next uniform number in [0, 1) of the caller's source.
pub type UniformFn = unsafe extern "C" fn(context: *mut c_void) -> f64;

/// Returns the next 64 random bits of the caller's source, of which the upper 53 are used.
pub type BitsFn = unsafe extern "C" fn(context: *mut c_void) -> u64;

/// The link of a discipline, its seed, and the callbacks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Largest packet of the link, at least 1.
    pub mtu_bytes: u32,
    /// Rate of the link in bits per second; 0 if unknown.
    pub rate_bps: u64,
    /// Seed of all random numbers: the same seed gives the same drops and marks. With `uniform` or
    /// `bits` it only salts the hashes of flows.
    pub seed: u64,
    /// Passed to the callbacks.
    pub context: *mut c_void,
    /// Called for every drop; may be null.
    pub dropped: Option<DroppedFn>,
    /// Called for every mark; may be null.
    pub marked: Option<MarkedFn>,
    /// Source of random numbers in place of `seed`; may be null.
    pub uniform: Option<UniformFn>,
    /// The same for a host without floating point, such as a kernel; may be null, and must be null
    /// if `uniform` is set.
    pub bits: Option<BitsFn>,
    /// The salt of the hashes of flows and hosts; 0 derives it from `seed`. A host that hashes with
    /// its own secret can choose one, and then knows which flows share a queue.
    pub salt: u64,
}

/// A discipline.
pub struct Qdisc(QdiscState);

/// The version of the library, to be compared with `SOJOURN_VERSION`, that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_version() -> u32 {
    VERSION
}

/// Makes a discipline from its text form, such as "fq_codel:target=5ms,flows=32". Returns null on
/// error; `error` then holds a sentence of at most `error_size` bytes, including its terminating
/// zero.
///
/// # Safety
/// `text` is a C string, `setup` points to a setup; `error` points to `error_size` bytes or is
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_new(
    text: *const c_char,
    setup: *const Setup,
    error: *mut c_char,
    error_size: usize,
) -> *mut Qdisc {
    let new = |text: &str, setup: &Setup| QdiscState::new(text, setup).map(Qdisc);
    // SAFETY: as the caller promises.
    unsafe { handle::make(text, setup, error, error_size, new) }
}

/// Frees a discipline and the packets in it; the callbacks are not called. Null is allowed.
///
/// # Safety
/// `qdisc` comes from `sojourn_new` and is not used again, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_free(qdisc: *mut Qdisc) {
    if !qdisc.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it back once.
        drop(unsafe { Box::from_raw(qdisc) });
    }
}

/// Enqueues or drops a packet. Returns 0, or -1 (and does nothing) if its size, ECN field or DSCP
/// is not legal, or `now_ns` is before the last call.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`; `packet` points to a packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_enqueue(
    qdisc: *mut Qdisc,
    now_ns: u64,
    packet: *const Packet,
) -> c_int {
    // SAFETY: as the caller promises.
    let (state, packet) = unsafe { (&mut (*qdisc).0, *packet) };
    let Some(packet) = CheckedPacket::new(packet) else { return -1 };
    let Some(now) = state.advance(now_ns) else { return -1 };
    state.qdisc.enqueue(now, packet, &mut state.rng.rng, &mut state.callbacks);
    0
}

/// Takes the next packet to send. Returns 1 and writes `departure`, or returns 0 and does not;
/// returns -1 (and does nothing) if `now_ns` is before the last call.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`; `departure` points to room for a departure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_dequeue(
    qdisc: *mut Qdisc,
    now_ns: u64,
    departure: *mut Departure,
) -> c_int {
    // SAFETY: as the caller promises.
    let state = unsafe { &mut (*qdisc).0 };
    let Some(now) = state.advance(now_ns) else { return -1 };
    match state.qdisc.dequeue(now, &mut state.rng.rng, &mut state.callbacks) {
        Some(left) => {
            let left = Departure { packet: left.packet.0, enqueued_ns: left.enqueued.as_nanos() };
            // SAFETY: as the caller promises.
            unsafe { departure.write(left) };
            1
        }
        None => 0,
    }
}

/// When to call `sojourn_on_timer`, or `SOJOURN_NEVER`. The time changes in `sojourn_on_timer`, and
/// in `sojourn_enqueue` if the queue was empty.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_next_timer(qdisc: *const Qdisc) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*qdisc).0.qdisc.next_timer() }.map_or(NEVER, Time::as_nanos)
}

/// The timer is due. Returns 0, or -1 (and does nothing) if `now_ns` is before the time that
/// `sojourn_next_timer` gives. It may be before the last call, so that a caller without its own
/// timers can catch up; a caller whose timer is late passes the actual time.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_on_timer(qdisc: *mut Qdisc, now_ns: u64) -> c_int {
    // SAFETY: as the caller promises.
    let state = unsafe { &mut (*qdisc).0 };
    let now = Time::from_nanos(now_ns);
    if state.qdisc.next_timer().is_none_or(|due| now < due) {
        return -1;
    }
    state.qdisc.on_timer(now);
    0
}

/// When to call `sojourn_dequeue` again after it returned nothing although packets are queued (a
/// shaper holds them back); otherwise `SOJOURN_NEVER`.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_held_until(qdisc: *const Qdisc) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*qdisc).0.qdisc.held_until() }.map_or(NEVER, Time::as_nanos)
}

/// The rate of the link has changed. Returns 0, or -1 (and does nothing) if the rate is 0 or
/// `now_ns` is before the last call.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_on_rate(qdisc: *mut Qdisc, now_ns: u64, rate_bps: u64) -> c_int {
    // SAFETY: as the caller promises.
    let state = unsafe { &mut (*qdisc).0 };
    if rate_bps == 0 {
        return -1;
    }
    let Some(now) = state.advance(now_ns) else { return -1 };
    state.qdisc.on_rate(now, Rate::from_bps(rate_bps));
    0
}

/// Changes the limit, in packets, or in bytes unless `is_bytes` is 0. Queued packets stay until
/// they leave or room is needed. Returns 0, or -1 (and does nothing) if the limit is 0 or the
/// discipline's limit is fixed.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_on_limit(qdisc: *mut Qdisc, limit: u64, is_bytes: c_int) -> c_int {
    let limit = if is_bytes == 0 { Limit::Packets(limit) } else { Limit::Bytes(limit) };
    // SAFETY: as the caller promises.
    unsafe { (*qdisc).0.set_limit(limit) }.map_or(-1, |()| 0)
}

/// The number of the queue to which the flow of a packet is hashed, if the discipline has flow
/// queues with one law each; otherwise -1.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`; `packet` points to a packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_flow_queue(qdisc: *const Qdisc, packet: *const Packet) -> i64 {
    // SAFETY: as the caller promises.
    let (state, packet) = unsafe { (&(*qdisc).0, CheckedPacket(*packet)) };
    state.qdisc.flow_queue(&packet).map_or(-1, i64::from)
}

/// The list in which a flow queue is (`SOJOURN_LIST_...`); writes to `credits` the bytes that the
/// queue may still send. Returns -1 (and writes nothing) if the queue does not exist.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`; `credits` points to room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_flow_turn(
    qdisc: *const Qdisc,
    queue: u32,
    credits: *mut i64,
) -> c_int {
    // SAFETY: as the caller promises.
    let turn = unsafe { &(*qdisc).0 }.qdisc.turn(queue);
    turn.map_or(-1, |turn| {
        // SAFETY: as the caller promises.
        unsafe { *credits = turn.credits };
        turn.list as c_int
    })
}

/// 1 if the discipline uses the flows and hosts of packets; 0 if the caller may leave them 0,
/// because the discipline has one queue under one law.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_needs_flows(qdisc: *const Qdisc) -> c_int {
    // SAFETY: as the caller promises.
    c_int::from(unsafe { (*qdisc).0.needs_flows })
}

/// Writes the value of a parameter as text with its unit, such as "5ms", including its terminating
/// zero. Returns 0, or -1 (and writes nothing) if the parameter does not exist or its value needs
/// more than `size` bytes.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`; `name` is a C string; `value` points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_setting(
    qdisc: *const Qdisc,
    name: *const c_char,
    value: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let (state, name) = unsafe { (&(*qdisc).0, CStr::from_ptr(name)) };
    let Some(text) = state.setting(name).filter(|text| text.len() < size) else { return -1 };
    // SAFETY: text and zero fit.
    unsafe { handle::write_text(value, size, text) };
    0
}

/// The backlog of a discipline.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_backlog_of(qdisc: *const Qdisc) -> Backlog {
    // SAFETY: as the caller promises.
    let backlog = unsafe { (*qdisc).0.qdisc.backlog() };
    let sojourn_aqm::Backlog { packets, bytes, link_bytes } = backlog;
    Backlog { packets, bytes, link_bytes }
}

/// The number of state variables.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_var_count(qdisc: *const Qdisc) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*qdisc).0.vars.count() }
}

/// The name of a state variable, valid as long as the discipline; null past the last one.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_var_name(qdisc: *const Qdisc, index: usize) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { (*qdisc).0.vars.name(index) }
}

/// Writes the values of the state variables, at most `count`; returns the number of variables.
///
/// # Safety
/// `qdisc` comes from `sojourn_new`; `values` points to room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_observe(
    qdisc: *mut Qdisc,
    values: *mut f64,
    count: usize,
) -> usize {
    // SAFETY: as the caller promises.
    let QdiscState { qdisc, vars, .. } = unsafe { &mut (*qdisc).0 };
    // SAFETY: as the caller promises.
    unsafe { vars.observe(|out| qdisc.observe(out), values, count) }
}
