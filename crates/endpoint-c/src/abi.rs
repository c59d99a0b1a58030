//! The table of functions of a transport library, as declared in `include/sojourn_endpoint.h`. Its
//! comments apply here.
#![allow(missing_docs, reason = "the header documents each field")]

use std::ffi::{c_char, c_int, c_void};

/// Raised whenever a structure changes.
pub const ABI: u32 = 2;
/// A number that the library does not know.
pub const UNKNOWN: u64 = u64::MAX;
/// [`RawInfo::flags`]: the library sends ECN-capable datagrams and reacts to marks.
pub const ECN: u32 = 1;
/// [`RawInfo::flags`]: a connection carries several streams at a time.
pub const STREAMS: u32 = 2;

/// [`RawInfo::carries`].
pub mod carries {
    pub const UDP_PAYLOAD: u32 = 0;
    pub const IP_PACKETS: u32 = 1;
}

/// Return values of `event`.
pub mod event {
    use std::ffi::c_int;

    pub const NONE: c_int = 0;
    pub const CONNECTED: c_int = 1;
    pub const READABLE: c_int = 2;
    pub const WRITABLE: c_int = 3;
    pub const CLOSED: c_int = 4;
}

/// A setting.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawSetting {
    pub name: *const c_char,
    pub value: *const c_char,
}

/// The library under certain settings.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawInfo {
    pub settings: *const c_char,
    pub unrepeatable: *const c_char,
    pub carries: u32,
    pub flags: u32,
}

/// Settings of one end, from the host.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawHost {
    pub seed: [u8; 32],
    pub is_server: u32,
    pub mtu_bytes: u32,
    pub datagram_bytes: u32,
    pub setting_count: u32,
    pub settings: *const RawSetting,
    pub context: *mut c_void,
    pub fail: unsafe extern "C" fn(*mut c_void, *const c_char),
}

/// A datagram that arrives.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawDatagram {
    pub bytes: *const u8,
    pub length: usize,
    pub ecn: u32,
    pub reserved: u32,
}

/// How to send a datagram.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RawTransmit {
    pub earliest_ns: u64,
    pub length: usize,
    pub ecn: u32,
    pub reserved: u32,
}

/// An event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawEvent {
    pub stream: u64,
    pub reason: *const c_char,
}

/// The result of reading a stream.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RawRead {
    pub bytes: u64,
    pub is_finished: u64,
}

/// An end's view of its connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawStats {
    pub cwnd_bytes: u64,
    pub in_flight_bytes: u64,
    pub smoothed_rtt_ns: u64,
    pub pacing_bps: u64,
    pub quantum_bytes: u64,
    pub lost_bytes: u64,
    pub estimate_bps: u64,
}

/// `describe`.
pub type DescribeFn = unsafe extern "C" fn(*const RawSetting, u32, *mut RawInfo) -> *const c_char;
/// `open`.
pub type OpenFn = unsafe extern "C" fn(*const RawHost, u64, *mut *const c_char) -> *mut c_void;
/// `connect`, `expire` and `close`.
pub type TimedFn = unsafe extern "C" fn(*mut c_void, u64);
/// `input`.
pub type InputFn = unsafe extern "C" fn(*mut c_void, u64, *const RawDatagram);
/// `output`.
pub type OutputFn =
    unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize, *mut RawTransmit) -> c_int;
/// `event`.
pub type EventFn = unsafe extern "C" fn(*mut c_void, *mut RawEvent) -> c_int;
/// `write`.
pub type WriteFn = unsafe extern "C" fn(*mut c_void, u64, u64, u64, c_int) -> u64;
/// `read`.
pub type ReadFn = unsafe extern "C" fn(*mut c_void, u64, u64, *mut RawRead);
/// `stats`.
pub type StatsFn = unsafe extern "C" fn(*const c_void, *mut RawStats);

/// The table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawTable {
    pub abi: u32,
    pub size: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub describe: Option<DescribeFn>,
    pub open: Option<OpenFn>,
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub connect: Option<TimedFn>,
    pub input: Option<InputFn>,
    pub output: Option<OutputFn>,
    pub deadline: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    pub expire: Option<TimedFn>,
    pub event: Option<EventFn>,
    pub write: Option<WriteFn>,
    pub read: Option<ReadFn>,
    pub close: Option<TimedFn>,
    pub stats: Option<StatsFn>,
}

// SAFETY: a table is constant data and functions; `sojourn_endpoint.h` demands that they may be
// called from any thread, each end from one at a time.
unsafe impl Sync for RawTable {}
// SAFETY: as above.
unsafe impl Send for RawTable {}
