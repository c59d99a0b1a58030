//! One end of a connection of a loaded library.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_aqm::Time;
use sojourn_endpoint::{
    ConnectionEvent, Datagram, Endpoint, Peer, Read, Stats, StreamNumber, Transmit,
};
use sojourn_law::signals::{LibraryCall, within};

use crate::abi::{
    RawDatagram, RawEvent, RawHost, RawRead, RawSetting, RawStats, RawTransmit, UNKNOWN, event,
};
use crate::described::{code, ecn, event_of, stats_of, too_long};
use crate::table::{Functions, TextSettings, text_of};

/// Size of the buffer for a datagram: twice the largest UDP payload, so that a library that ignores
/// the capacity of the buffer is refused before it damages memory.
const ROOM: usize = 128 << 10;

fn part(role: Peer) -> &'static str {
    match role {
        Peer::Client => "client",
        Peer::Server => "server",
    }
}

/// The first failure of an end.
#[derive(Default)]
struct Failure(RefCell<Option<String>>);

/// One end.
pub(crate) struct LoadedEnd {
    functions: Functions,
    end: *mut c_void,
    /// The library's file.
    file: &'static str,
    role: Peer,
    now: Time,
    datagram_bytes: usize,
    buffer: Vec<u8>,
    /// The data to which the library's host structure points; at fixed addresses until the end is
    /// freed.
    _host: Rc<RawHost>,
    _settings: (Arc<TextSettings>, Vec<RawSetting>),
    failure: Rc<Failure>,
}

// SAFETY: `sojourn_endpoint.h` demands that an end may be called from any thread, from one at a
// time.
unsafe impl Send for LoadedEnd {}

/// The host's function `fail`.
pub(crate) unsafe extern "C" fn fail(context: *mut c_void, why: *const c_char) {
    // SAFETY: the context is the failure of an end that is not freed yet.
    let failure = unsafe { &*context.cast::<Failure>() };
    // SAFETY: `sojourn_endpoint.h` demands a valid text.
    let why = unsafe { text_of(why) }.unwrap_or_else(Some);
    failure.note(why.unwrap_or_else(|| "it failed without a reason".to_owned()));
}

impl Failure {
    fn note(&self, why: String) {
        self.0.borrow_mut().get_or_insert(why);
    }
}

impl LoadedEnd {
    /// Opens one end; `raw` builds its host from these settings and this context.
    pub(crate) fn open(
        functions: Functions,
        (file, role): (&'static str, Peer),
        settings: Arc<TextSettings>,
        raw: impl FnOnce(&[RawSetting], *mut c_void) -> RawHost,
        now: Time,
    ) -> Result<LoadedEnd, String> {
        let (list, failure) = (settings.raw(), Rc::<Failure>::default());
        let context: *const Failure = &raw const *failure;
        let host = Rc::new(raw(&list, context.cast_mut().cast()));
        let mut error = ptr::null();
        let call = LibraryCall { file, part: part(role), at: Some(("open", now.as_nanos())) };
        // SAFETY: the host lives until the end is freed.
        let end = within(call, || unsafe {
            (functions.open)(&raw const *host, now.as_nanos(), &raw mut error)
        });
        let datagram_bytes = host.datagram_bytes as usize;
        let buffer = Vec::new();
        let _settings = (settings, list);
        let mut opened = LoadedEnd {
            functions,
            end,
            file,
            role,
            now,
            datagram_bytes,
            buffer,
            _host: host,
            _settings,
            failure,
        };
        if end.is_null() {
            // SAFETY: `sojourn_endpoint.h` demands a valid text.
            let why = unsafe { text_of(error) }?;
            return Err(why
                .or_else(|| opened.failure())
                .unwrap_or_else(|| format!("{file}: open returned neither an end nor an error")));
        }
        opened.failure().map_or(Ok(opened), Err)
    }

    fn call(&self, method: &'static str) -> LibraryCall {
        let at = Some((method, self.now.as_nanos()));
        LibraryCall { file: self.file, part: part(self.role), at }
    }
}

impl Drop for LoadedEnd {
    fn drop(&mut self) {
        if !self.end.is_null() {
            // SAFETY: the end is open, and this is the last call.
            within(self.call("free"), || unsafe { (self.functions.free)(self.end) });
        }
    }
}

// SAFETY, of every call below: the end is open, only this thread calls it, and all pointers are
// valid during the call.
impl Endpoint for LoadedEnd {
    fn connect(&mut self, now: Time) {
        self.now = now;
        // SAFETY: as above.
        within(self.call("connect"), || unsafe {
            (self.functions.connect)(self.end, now.as_nanos());
        });
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        self.now = now;
        let raw = RawDatagram {
            bytes: datagram.bytes.as_ptr(),
            length: datagram.bytes.len(),
            ecn: code(datagram.ecn),
            reserved: 0,
        };
        // SAFETY: as above.
        within(self.call("input"), || unsafe {
            (self.functions.input)(self.end, now.as_nanos(), &raw const raw);
        });
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.now = now;
        self.buffer.resize(ROOM, 0);
        let (room, capacity) = (self.buffer.as_mut_ptr(), self.datagram_bytes);
        let mut raw = RawTransmit::default();
        // SAFETY: as above.
        let has_one = within(self.call("output"), || unsafe {
            (self.functions.output)(self.end, now.as_nanos(), room, capacity, &raw mut raw)
        });
        if has_one == 0 {
            return None;
        }
        let ecn = ecn(raw.ecn).map_err(|why| self.failure.note(why)).ok()?;
        match self.buffer.get(..raw.length) {
            Some(content) => buffer.extend_from_slice(content),
            None => {
                self.failure.note(too_long(raw.length as u64, capacity as u32));
                return None;
            }
        }
        Some(Transmit { ecn, earliest: Time::from_nanos(raw.earliest_ns) })
    }

    fn deadline(&mut self) -> Time {
        // SAFETY: as above.
        let due = within(self.call("deadline"), || unsafe { (self.functions.deadline)(self.end) });
        Time::from_nanos(due)
    }

    fn expire(&mut self, now: Time) {
        self.now = now;
        // SAFETY: as above.
        within(self.call("expire"), || unsafe {
            (self.functions.expire)(self.end, now.as_nanos());
        });
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        let mut raw = RawEvent { stream: 0, reason: ptr::null() };
        // SAFETY: as above.
        let kind = within(self.call("event"), || unsafe {
            (self.functions.event)(self.end, &raw mut raw)
        });
        if kind == event::NONE {
            return None;
        }
        // SAFETY: `sojourn_endpoint.h` demands a valid text.
        let reason = unsafe { text_of(raw.reason) }.unwrap_or_else(Some);
        event_of(kind, raw.stream, reason).map_err(|why| self.failure.note(why)).ok()
    }

    fn write(&mut self, now: Time, stream: StreamNumber, bytes: u64, finish: bool) -> u64 {
        self.now = now;
        // SAFETY: as above.
        within(self.call("write"), || unsafe {
            (self.functions.write)(self.end, now.as_nanos(), stream, bytes, c_int::from(finish))
        })
    }

    fn read(&mut self, now: Time, stream: StreamNumber) -> Read {
        self.now = now;
        let mut raw = RawRead::default();
        // SAFETY: as above.
        within(self.call("read"), || unsafe {
            (self.functions.read)(self.end, now.as_nanos(), stream, &raw mut raw);
        });
        Read { bytes: raw.bytes, is_finished: raw.is_finished != 0 }
    }

    fn close(&mut self, now: Time) {
        self.now = now;
        // SAFETY: as above.
        within(self.call("close"), || unsafe {
            (self.functions.close)(self.end, now.as_nanos());
        });
    }

    fn stats(&self) -> Stats {
        let Some(stats) = self.functions.stats else { return Stats::default() };
        let mut raw = RawStats {
            cwnd_bytes: UNKNOWN,
            in_flight_bytes: UNKNOWN,
            smoothed_rtt_ns: UNKNOWN,
            pacing_bps: UNKNOWN,
            quantum_bytes: UNKNOWN,
            lost_bytes: UNKNOWN,
            estimate_bps: UNKNOWN,
        };
        // SAFETY: as above.
        within(self.call("stats"), || unsafe { stats(self.end, &raw mut raw) });
        stats_of(raw)
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.0.take()
    }
}
