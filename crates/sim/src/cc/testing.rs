//! Helpers for tests of controls that set the window in every state.

use sojourn_aqm::params::Params as _;
use sojourn_aqm::{Rng, Span, Time};

use super::{Ack, Control, Progress, RateSample, RecoveryStage, Start, Window};

/// A flow with default parameters, established with a round trip of 100 ms and a window of ten.
pub(super) fn started<C: Control>() -> (C, Window) {
    let first = C::Params::DIALECTS[0].name;
    let mut control = C::new(&C::Params::of_dialect(first).unwrap());
    control.on_start(&Start {
        now: Time::ZERO,
        flow: 0,
        initial_window: 10,
        payload_bytes: 1448,
        packet_bytes: 1448 + 52,
        ecn: true,
        rtt: Some(Span::from_millis(100)),
        rng: Rng::stream(1, "test", 0),
    });
    (control, Window::new(10))
}

/// An acknowledgement at `ms` that ends a round: `total` packets have been delivered, the rate over
/// 100 ms is `bw` packets per second, and `in_flight` packets remain.
pub(super) fn progress(ms: u64, total: u64, bw: f64, in_flight: u32) -> Progress {
    let rtt = Some(Span::from_millis(100));
    let now = Time::ZERO + Span::from_millis(ms);
    Progress {
        ack: Ack {
            now,
            delivered: 2,
            rtt,
            srtt: Span::from_millis(100),
            una: 0,
            nxt: 0,
            paced: true,
        },
        in_flight,
        prior_in_flight: in_flight + 2,
        lost: 0,
        marks: 0,
        limited: true,
        recovery: RecoveryStage::Open,
        pacing_wait: Span::ZERO,
        srtt: Span::from_millis(100),
        delivered_total: total,
        lost_total: 0,
        rate: Some(RateSample {
            delivered: (bw / 10.0) as u64,
            interval: Span::from_millis(100),
            prior_delivered: total,
            ..RateSample::default()
        }),
    }
}
