//! The table of functions of a law in a library, as declared in `include/sojourn_law.h`; that
//! file's comments apply here.
#![allow(missing_docs, reason = "the header documents each field")]

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

use sojourn_aqm::{Backlog, Head, Rng};

/// The version; it is raised whenever a structure changes.
pub const ABI: u32 = 2;
/// Means "no timer" or "no packet".
pub const NEVER: u64 = u64::MAX;
/// [`RawLaw::flags`]: the law sees arrivals before the limit is tested.
pub const LIMIT_LAST: u32 = 1;

// Libraries read our structures in place as hook arguments, so their layout must be that of the
// header.
const _: () = {
    assert!(size_of::<Head>() == 16 && offset_of!(Head, bytes) == 8 && offset_of!(Head, ecn) == 12);
    assert!(size_of::<Backlog>() == 24 && offset_of!(Backlog, link_bytes) == 8);
    assert!(offset_of!(Backlog, packets) == 16);
    assert!(size_of::<Rng>() == 32 + 2 * size_of::<usize>());
};

/// The value of a parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawValue {
    pub text: *const c_char,
    pub whole: u64,
    pub number: f64,
    pub is_absent: u64,
}

/// The environment of a law at its creation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawEnv {
    pub limit_packets: u64,
    pub limit_bytes: u64,
    pub rate_bps: u64,
    pub salt: u64,
    pub mtu_bytes: u32,
    pub reserved: u32,
}

/// A parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawParam {
    pub name: *const c_char,
    pub doc: *const c_char,
    pub kind: *const c_char,
    pub absent: *const c_char,
    pub words: *const c_char,
    pub rule: *const c_char,
    pub default_value: *const c_char,
    pub source: *const c_char,
}

/// A state variable.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawVar {
    pub name: *const c_char,
    pub unit: *const c_char,
    pub doc: *const c_char,
}

/// `on_enqueue` and `on_dequeue`.
pub type JudgeFn =
    unsafe extern "C" fn(*mut c_void, u64, *const Head, *const Backlog, *mut Rng) -> u32;
/// `on_overflow`, `on_eviction` and `on_timer`.
pub type QueueFn = unsafe extern "C" fn(*mut c_void, u64, *const Backlog);
/// `on_empty`, `on_head` and `on_idle_timers`.
pub type TimeFn = unsafe extern "C" fn(*mut c_void, u64);

/// `next_timer`.
pub type NextFn = unsafe extern "C" fn(*const c_void) -> u64;

/// The table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawLaw {
    pub abi: u32,
    pub size: u32,
    pub name: *const c_char,
    pub doc: *const c_char,
    pub params: *const RawParam,
    pub vars: *const RawVar,
    pub param_count: u32,
    pub var_count: u32,
    pub flags: u32,
    pub reserved: u32,
    pub state_bytes: usize,
    pub check: Option<unsafe extern "C" fn(*const RawValue) -> *const c_char>,
    pub start: Option<unsafe extern "C" fn(*mut c_void, *const RawValue, *const RawEnv)>,
    pub stop: Option<unsafe extern "C" fn(*mut c_void)>,
    pub on_enqueue: Option<JudgeFn>,
    pub on_overflow: Option<QueueFn>,
    pub on_eviction: Option<QueueFn>,
    pub on_dequeue: Option<JudgeFn>,
    pub on_empty: Option<TimeFn>,
    pub next_timer: Option<NextFn>,
    pub on_head: Option<TimeFn>,
    pub on_timer: Option<QueueFn>,
    pub on_idle_timers: Option<TimeFn>,
    pub on_rate: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub observe: Option<unsafe extern "C" fn(*const c_void, *mut f64)>,
}

// SAFETY: a table is constant data and functions; `sojourn_law.h` demands that they may be called
// from any thread, each block of state from one at a time.
unsafe impl Sync for RawLaw {}
// SAFETY: as above.
unsafe impl Send for RawLaw {}
