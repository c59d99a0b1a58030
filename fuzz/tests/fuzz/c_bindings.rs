//! The C bindings, with whatever a caller can pass: any packet, any time, any timer. A panic there
//! cannot be caught: it ends the run and prints its place.

// The bindings are called as C calls them.
#![allow(unsafe_code)]

use std::ffi::{CString, c_void};

use bolero::TypeGenerator;
use sojourn_aqm_c as c;

use crate::target;
use sojourn_fuzz::settings::Settings;

/// A call, with any arguments. Times are in microseconds, close enough for timers to come due.
#[derive(Clone, Debug, TypeGenerator)]
enum Call {
    Enqueue { now: u32, flow: u64, bytes: u32, ecn: u8, dscp: u8 },
    Dequeue { now: u32 },
    Timer { now: u32 },
    DueTimer,
    Rate { now: u32, bps: u64 },
}

/// A discipline and the calls to it.
#[derive(Clone, Debug, TypeGenerator)]
struct CarelessCaller {
    settings: Settings,
    calls: Vec<Call>,
}

unsafe extern "C" fn on_drop(context: *mut c_void, _: *const c::Packet, _: u64, _: u8, _: u8) {
    // SAFETY: the context of the setup below points to a number.
    unsafe { *context.cast::<u64>() += 1 };
}

/// Packets that were enqueued and dequeued.
#[derive(Default)]
struct Balance {
    accepted: u64,
    left: u64,
}

/// # Safety
/// The handle `qdisc` must be alive.
unsafe fn call(qdisc: *mut c::Qdisc, call: &Call, balance: &mut Balance) {
    // Times stay within 17 s: catching up on a timer of one microsecond over hours would take too
    // long.
    let at = |micros: u32| u64::from(micros >> 8) * 1000;
    // SAFETY: the handle is alive, the other pointers are as their names say.
    unsafe {
        match *call {
            Call::Enqueue { now, flow, bytes, ecn, dscp } => {
                let (src_host, dst_host) = (flow / 2, flow / 3);
                let packet = c::Packet { id: 0, flow, src_host, dst_host, bytes, ecn, dscp };
                let accepted = c::sojourn_enqueue(qdisc, at(now), &packet) == 0;
                balance.accepted += u64::from(accepted);
            }
            Call::Dequeue { now } => {
                let mut left = std::mem::MaybeUninit::uninit();
                let taken = c::sojourn_dequeue(qdisc, at(now), left.as_mut_ptr()) == 1;
                balance.left += u64::from(taken);
            }
            Call::Timer { now } => {
                c::sojourn_on_timer(qdisc, at(now));
            }
            Call::DueTimer => {
                c::sojourn_on_timer(qdisc, c::sojourn_next_timer(qdisc));
            }
            Call::Rate { now, bps } => {
                c::sojourn_on_rate(qdisc, at(now), bps);
            }
        }
    }
}

target! {
    /// No argument causes a panic, and no packet is lost or duplicated.
    fn the_c_bindings_survive_a_careless_caller(caller: CarelessCaller) {
        let Some((spec, _)) = caller.settings.spec() else { return };
        let text = CString::new(spec.to_string()).expect("no zero");
        let mut dropped = 0u64;
        let context = (&raw mut dropped).cast();
        let setup = c::Setup {
            mtu_bytes: 1514,
            rate_bps: 10_000_000,
            seed: 1,
            context,
            dropped: Some(on_drop),
            marked: None,
            uniform: None,
            bits: None,
            salt: 0,
        };
        let mut balance = Balance::default();
        // SAFETY: text and setup outlive the call, the handle is freed once.
        unsafe {
            let qdisc = c::sojourn_new(text.as_ptr(), &setup, std::ptr::null_mut(), 0);
            // Packets of the bindings have no TCP headers.
            let settings = spec.to_string();
            let is_refused =
                settings.contains("ack_filter") && !settings.contains("ack_filter=off");
            assert_eq!(qdisc.is_null(), is_refused, "{spec}");
            if is_refused {
                return;
            }
            for what in caller.calls.iter().take(200) {
                call(qdisc, what, &mut balance);
                let waiting = u64::from(c::sojourn_backlog_of(qdisc).packets);
                let gone = context.cast::<u64>().read();
                assert_eq!(balance.accepted, balance.left + gone + waiting, "{spec}");
            }
            c::sojourn_free(qdisc);
        }
    }
}
