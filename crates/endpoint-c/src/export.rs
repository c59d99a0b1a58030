//! A transport library in Rust as a table of C functions.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::slice;
use std::sync::Once;

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{Carries, ConnectionEvent, Datagram, Endpoint, HostSettings, Peer, Stack};

use crate::abi::{
    ABI, ECN, RawDatagram, RawEvent, RawHost, RawInfo, RawRead, RawSetting, RawStats, RawTable,
    RawTransmit, STREAMS, UNKNOWN, carries, event,
};

/// A transport library as [`export_stack!`](crate::export_stack) exports it.
pub trait FromSettings: Stack + Sized {
    /// The library with settings such as `cc` and `bbr`.
    ///
    /// # Errors
    /// A sentence about a setting that does not exist, or has an illegal value.
    fn from_settings(settings: &[(&str, &str)]) -> Result<Self, String>;
}

/// Exports a transport library: `export_stack!(MyStack);`. Its name and version are those of the
/// package.
#[macro_export]
macro_rules! export_stack {
    ($stack:ty) => {
        /// The table of this library.
        // SAFETY: no other function of the library has this name.
        #[unsafe(no_mangle)]
        pub extern "C" fn sojourn_endpoint() -> *const $crate::abi::RawTable {
            static TABLE: std::sync::OnceLock<$crate::abi::RawTable> = std::sync::OnceLock::new();
            TABLE.get_or_init(|| {
                let package = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
                $crate::export::table::<$stack>(package)
            })
        }
    };
}

/// The table of a library. Everything that it points to lives until the program ends.
pub fn table<S: FromSettings>((name, version): (&str, &str)) -> RawTable {
    note_panics();
    RawTable {
        abi: ABI,
        size: size_of::<RawTable>() as u32,
        name: kept(name),
        version: kept(version),
        describe: Some(describe::<S>),
        open: Some(open::<S>),
        free: Some(free),
        connect: Some(connect),
        input: Some(input),
        output: Some(output),
        deadline: Some(deadline),
        expire: Some(expire),
        event: Some(event),
        write: Some(write),
        read: Some(read),
        close: Some(close),
        stats: Some(stats),
    }
}

fn kept(text: &str) -> *const c_char {
    c_text(text).into_raw()
}

/// A text without its zero bytes.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("the zero bytes are gone")
}

thread_local! {
    /// Message and place of this thread's last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panic messages for the host, which prints them.
fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let text = info.payload().downcast_ref::<&str>().copied();
            let text = text.or_else(|| info.payload().downcast_ref::<String>().map(|it| &**it));
            let text = text.unwrap_or("without a message");
            let place = info.location().map_or(String::new(), |at| format!(" ({at})"));
            PANIC.set(format!("it panicked: {text}{place}"));
        }));
    });
}

/// Runs `work` and catches its panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| PANIC.take())
}

fn flags_of(stack: &impl Stack) -> u32 {
    let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    flag(stack.has_ecn(), ECN) | flag(stack.has_streams(), STREAMS)
}

/// # Safety
/// The list has that many settings, with valid texts.
unsafe fn stack<S: FromSettings>(settings: *const RawSetting, count: u32) -> Result<S, String> {
    let list = match count {
        0 => &[],
        // SAFETY: the caller's promise.
        count => unsafe { slice::from_raw_parts(settings, count as usize) },
    };
    // SAFETY: as above.
    let text = |text| unsafe { CStr::from_ptr(text) }.to_str().map_err(|error| error.to_string());
    let pairs: Result<Vec<_>, String> =
        list.iter().map(|setting| Ok((text(setting.name)?, text(setting.value)?))).collect();
    S::from_settings(&pairs?)
}

unsafe extern "C" fn describe<S: FromSettings>(
    settings: *const RawSetting,
    count: u32,
    info: *mut RawInfo,
) -> *const c_char {
    let described = guarded(|| {
        // SAFETY: the host's list and texts are valid.
        let stack = unsafe { stack::<S>(settings, count) }?;
        let unrepeatable = stack.unrepeatable().map_or(ptr::null(), kept);
        Ok(RawInfo {
            settings: kept(&stack.describe()),
            unrepeatable,
            carries: match stack.carries() {
                Carries::UdpPayload => carries::UDP_PAYLOAD,
                Carries::IpPackets => carries::IP_PACKETS,
            },
            flags: flags_of(&stack),
        })
    });
    match described.and_then(|described| described) {
        Ok(described) => {
            // SAFETY: the host has room for it.
            unsafe { info.write(described) };
            ptr::null()
        }
        Err(why) => kept(&why),
    }
}

/// One end, with the data that its functions need in addition to the trait.
struct End {
    endpoint: Box<dyn Endpoint>,
    host: *const RawHost,
    buffer: Vec<u8>,
    reason: CString,
}

unsafe extern "C" fn open<S: FromSettings>(
    host: *const RawHost,
    now_ns: u64,
    error: *mut *const c_char,
) -> *mut c_void {
    let opened = guarded(|| {
        // SAFETY: the host is valid until the end is freed.
        let raw = unsafe { &*host };
        // SAFETY: as above.
        let stack = unsafe { stack::<S>(raw.settings, raw.setting_count) }?;
        let role = if raw.is_server == 0 { Peer::Client } else { Peer::Server };
        let settings = HostSettings { role, seed: raw.seed, mtu: raw.mtu_bytes };
        stack.open(settings, Time::from_nanos(now_ns))
    });
    match opened.and_then(|opened| opened) {
        Ok(endpoint) => {
            let end = End { endpoint, host, buffer: Vec::new(), reason: CString::default() };
            Box::into_raw(Box::new(end)).cast()
        }
        Err(why) => {
            // SAFETY: the host has room for a pointer.
            unsafe { error.write(kept(&why)) };
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn free(end: *mut c_void) {
    // SAFETY: `open` made it, and this is the last call.
    let end = unsafe { Box::from_raw(end.cast::<End>()) };
    // A panic here cannot be reported: the host is about to forget the end.
    let _ = guarded(|| drop(end));
}

/// Calls the library, and reports a panic to the host.
///
/// # Safety
/// `open` made the end, and the host calls one function at a time.
unsafe fn call<T>(end: *mut c_void, otherwise: T, work: impl FnOnce(&mut End) -> T) -> T {
    // SAFETY: the caller's promise.
    let end = unsafe { &mut *end.cast::<End>() };
    let result = guarded(|| work(end));
    let why = match &result {
        Ok(_) => end.endpoint.failure(),
        Err(why) => Some(why.clone()),
    };
    if let Some(why) = why {
        let why = c_text(&why);
        // SAFETY: the host is valid until the end is freed.
        unsafe { ((*end.host).fail)((*end.host).context, why.as_ptr()) };
    }
    result.unwrap_or(otherwise)
}

unsafe extern "C" fn connect(end: *mut c_void, now_ns: u64) {
    // SAFETY: the host keeps the promises of `sojourn_endpoint.h`, here and below.
    unsafe { call(end, (), |end| end.endpoint.connect(Time::from_nanos(now_ns))) }
}

unsafe extern "C" fn input(end: *mut c_void, now_ns: u64, datagram: *const RawDatagram) {
    // SAFETY: as in `connect`.
    let (raw, bytes) = unsafe {
        let raw = *datagram;
        (raw, slice::from_raw_parts(raw.bytes, raw.length))
    };
    let ecn = match raw.ecn {
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        _ => Ecn::NotEct,
    };
    let datagram = Datagram { ecn, bytes };
    // SAFETY: as in `connect`.
    unsafe { call(end, (), |end| end.endpoint.input(Time::from_nanos(now_ns), datagram)) }
}

unsafe extern "C" fn output(
    end: *mut c_void,
    now_ns: u64,
    buffer: *mut u8,
    capacity: usize,
    transmit: *mut RawTransmit,
) -> c_int {
    let work = |end: &mut End| {
        end.buffer.clear();
        let sent = end.endpoint.output(Time::from_nanos(now_ns), &mut end.buffer)?;
        let length = end.buffer.len();
        let ecn = match sent.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        let earliest_ns = sent.earliest.as_nanos();
        // SAFETY: the buffer has that capacity. The host refuses a longer datagram by its length.
        unsafe {
            buffer.copy_from_nonoverlapping(end.buffer.as_ptr(), length.min(capacity));
            transmit.write(RawTransmit { earliest_ns, length, ecn, reserved: 0 });
        }
        Some(())
    };
    // SAFETY: as in `connect`.
    unsafe { call(end, None, work) }.map_or(0, |()| 1)
}

unsafe extern "C" fn deadline(end: *mut c_void) -> u64 {
    // SAFETY: as in `connect`.
    unsafe { call(end, Time::NEVER, |end| end.endpoint.deadline()) }.as_nanos()
}

unsafe extern "C" fn expire(end: *mut c_void, now_ns: u64) {
    // SAFETY: as in `connect`.
    unsafe { call(end, (), |end| end.endpoint.expire(Time::from_nanos(now_ns))) }
}

unsafe extern "C" fn event(end: *mut c_void, event: *mut RawEvent) -> c_int {
    let work = |end: &mut End| {
        let (kind, stream) = match end.endpoint.event() {
            // The table has no frames of video, so a host of it offers none.
            None | Some(ConnectionEvent::FrameComplete(_)) => (event::NONE, 0),
            Some(ConnectionEvent::Connected) => (event::CONNECTED, 0),
            Some(ConnectionEvent::Readable(stream)) => (event::READABLE, stream),
            Some(ConnectionEvent::Writable(stream)) => (event::WRITABLE, stream),
            Some(ConnectionEvent::Closed(reason)) => {
                end.reason = c_text(&reason);
                (event::CLOSED, 0)
            }
        };
        // SAFETY: the host has room for it; the reason lives until the next one.
        unsafe { event.write(RawEvent { stream, reason: end.reason.as_ptr() }) };
        kind
    };
    // SAFETY: as in `connect`.
    unsafe { call(end, event::NONE, work) }
}

unsafe extern "C" fn write(
    end: *mut c_void,
    now_ns: u64,
    stream: u64,
    bytes: u64,
    finish: c_int,
) -> u64 {
    let now = Time::from_nanos(now_ns);
    // SAFETY: as in `connect`.
    unsafe { call(end, 0, |end| end.endpoint.write(now, stream, bytes, finish != 0)) }
}

unsafe extern "C" fn read(end: *mut c_void, now_ns: u64, stream: u64, read: *mut RawRead) {
    let work = |end: &mut End| {
        let found = end.endpoint.read(Time::from_nanos(now_ns), stream);
        let raw = RawRead { bytes: found.bytes, is_finished: u64::from(found.is_finished) };
        // SAFETY: the host has room for it.
        unsafe { read.write(raw) };
    };
    // SAFETY: as in `connect`.
    unsafe { call(end, (), work) }
}

unsafe extern "C" fn close(end: *mut c_void, now_ns: u64) {
    // SAFETY: as in `connect`.
    unsafe { call(end, (), |end| end.endpoint.close(Time::from_nanos(now_ns))) }
}

unsafe extern "C" fn stats(end: *const c_void, stats: *mut RawStats) {
    let work = |end: &mut End| {
        let known = end.endpoint.stats();
        let raw = RawStats {
            cwnd_bytes: known.cwnd_bytes.unwrap_or(UNKNOWN),
            in_flight_bytes: known.in_flight_bytes.unwrap_or(UNKNOWN),
            smoothed_rtt_ns: known.smoothed_rtt.map_or(UNKNOWN, sojourn_aqm::Span::as_nanos),
            pacing_bps: known.pacing_bps.map_or(UNKNOWN, |rate| rate as u64),
            quantum_bytes: known.quantum_bytes.unwrap_or(UNKNOWN),
            lost_bytes: known.lost_bytes.unwrap_or(UNKNOWN),
            estimate_bps: known.estimate_bps.map_or(UNKNOWN, |rate| rate as u64),
        };
        // SAFETY: the host has room for them.
        unsafe { stats.write(raw) };
    };
    // SAFETY: as in `connect`.
    unsafe { call(end.cast_mut(), (), work) }
}
