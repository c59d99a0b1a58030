//! The rules of L4STeam `tcp_prague.c`, one by one; version 0.7 unless 0.6 is named.

use super::*;
use crate::cc::Ack;
use sojourn_aqm::params::Params as _;

/// A flow in congestion avoidance, limited only by its window.
struct Flow {
    prague: Prague,
    window: Window,
    una: u32,
    now_ms: u64,
    rtt_ms: u64,
    /// Packets sent in the current round.
    sent: u32,
}

impl Flow {
    fn start(cwnd: u32, rtt_ms: u64) -> Flow {
        Flow::of("0.7", cwnd, rtt_ms)
    }

    fn of(version: &str, cwnd: u32, rtt_ms: u64) -> Flow {
        let mut prague = Prague::new(&PragueParams::of_dialect(version).unwrap());
        prague.round_end = cwnd;
        let window = Window::above(cwnd, cwnd);
        Flow { prague, window, una: 0, now_ms: 0, rtt_ms, sent: cwnd }
    }

    /// An acknowledgement of `delivered` packets.
    fn progress(&self, delivered: u32, marks: u32) -> Progress {
        let srtt = Span::from_millis(self.rtt_ms);
        Progress {
            ack: Ack {
                now: Time::ZERO + Span::from_millis(self.now_ms),
                delivered,
                rtt: Some(srtt),
                srtt,
                una: self.una,
                nxt: self.una + self.sent,
                paced: true,
            },
            in_flight: self.sent,
            prior_in_flight: self.sent,
            lost: 0,
            marks,
            limited: true,
            recovery: RecoveryStage::Open,
            pacing_wait: Span::ZERO,
            srtt,
            delivered_total: 0,
            lost_total: 0,
            rate: None,
        }
    }

    /// Simulates a round trip with one acknowledgement per packet, of which the first `marks` carry
    /// a mark.
    fn round(&mut self, marks: u32) {
        self.now_ms += self.rtt_ms;
        let packets = self.window.cwnd;
        self.sent = packets;
        for n in 0..packets {
            self.una += 1;
            let progress = self.progress(1, u32::from(n < marks));
            self.prague.on_progress(&progress, &mut self.window);
        }
    }
}

#[test]
fn the_first_mark_halves_and_ends_slow_start() {
    let mut flow = Flow::start(100, 50);
    flow.window.ssthresh = u32::MAX;
    flow.round(1);
    assert!(!flow.window.in_slow_start());
    assert!((flow.prague.cwnd - 51.0).abs() < 1.5, "{}", flow.prague.cwnd);
}

#[test]
fn a_reduction_is_half_of_alpha_once_per_round() {
    let mut flow = Flow::start(100, 50);
    (flow.prague.saw_ce, flow.prague.alpha) = (true, 0.2);
    flow.round(40);
    // 90 packets remain, the unmarked packets add 60/90, and the moving average takes a fraction of
    // 0.4.
    assert!((flow.prague.cwnd - 90.66).abs() < 0.05, "{}", flow.prague.cwnd);
    assert!((flow.prague.alpha - (0.2 + 0.2 / 16.0)).abs() < 1e-3, "{}", flow.prague.alpha);
}

#[test]
fn growth_is_that_of_a_flow_with_the_target_round_trip() {
    // At 5 ms, a fifth of the target, the window grows by 1/25 of a packet per round trip after
    // four rounds.
    let grown = |rtt_ms, rounds: u64| {
        let mut flow = Flow::start(100, rtt_ms);
        flow.prague.rounds = rounds;
        flow.round(0);
        flow.prague.cwnd - 100.0
    };
    assert!((grown(50, 4) - 1.0).abs() < 0.01);
    assert!((grown(5, 4) - 0.04).abs() < 0.001);
    assert!((grown(5, 0) - 1.0).abs() < 0.01);
}

#[test]
fn with_a_short_round_trip_alpha_is_updated_once_per_target() {
    let mut flow = Flow::start(20, 5);
    (flow.prague.saw_ce, flow.prague.rounds) = (true, 10);
    flow.prague.alpha_stamp = Time::ZERO;
    let averages: Vec<bool> = (0..10)
        .map(|_| {
            let before = flow.prague.alpha;
            flow.round(20);
            flow.prague.alpha != before
        })
        .collect();
    assert_eq!(averages.iter().filter(|&&changed| changed).count(), 2, "{averages:?}");
}

#[test]
fn losses_halve_the_window() {
    assert_eq!(Flow::start(20, 50).prague.reduce(&Window::new(31)), 15);
    assert_eq!(Flow::start(20, 50).prague.reduce(&Window::new(3)), 2);
}

/// A flow of two packets in rate mode, with a round trip of 5 ms.
fn slow() -> Flow {
    let mut flow = Flow::start(2, 5);
    (flow.prague.saw_ce, flow.prague.rounds) = (true, 4);
    flow.round(0);
    assert_eq!(flow.prague.mode, CwndMode::Rate);
    flow
}

#[test]
fn below_four_packets_marks_reduce_the_rate() {
    // prague_enter_cwr, prague_cong_control: if the window cannot fall, the rate falls.
    let mut flow = slow();
    flow.now_ms += 25;
    (flow.prague.rate, flow.prague.alpha) = (400_000.0, 0.5);
    flow.round(flow.window.cwnd);
    assert!((flow.prague.rate - 300_000.0).abs() < 1.0, "{}", flow.prague.rate);
    assert!((flow.prague.cwnd - 1.0).abs() < 1e-6, "a packet of 1500 bytes per 5 ms");
    assert_eq!(flow.window.cwnd, 2);
    let pacing_rate = flow.prague.pacing_rate.unwrap();
    assert!(pacing_rate < 1.04 / 0.005, "less than two packets per round trip: {pacing_rate}");
}

#[test]
fn below_four_packets_the_rate_grows_by_a_packet_per_target_in_a_target() {
    // prague_update_cwnd: growth by 1500 bytes per 25 ms in 25 ms, at any round trip.
    let mut flow = slow();
    flow.prague.rate = 240_000.0; // four packets per 25 ms
    (0..4).for_each(|_| {
        let progress = flow.progress(1, 0);
        flow.prague.update_cwnd(&progress, &mut flow.window);
    });
    // The first step adds a quarter of 60 kB/s, the others a fifth, because a partial packet counts
    // as a whole one.
    assert!((flow.prague.rate - 291_000.0).abs() < 1.0, "{}", flow.prague.rate);
}

#[test]
fn the_rate_stays_above_100_kbit_per_second() {
    let mut flow = slow();
    (flow.prague.rate, flow.prague.alpha) = (13_000.0, 1.0);
    flow.now_ms += 25;
    flow.round(flow.window.cwnd);
    assert_eq!(flow.prague.rate, MINIMUM_RATE);
}

#[test]
fn the_pacing_rate_is_higher_in_the_first_half_of_a_round_trip() {
    let mut flow = slow();
    let mut part = |since_ms: u64| {
        flow.prague.alpha_stamp = Time::ZERO;
        flow.prague.update_pacing_rate(Time::ZERO + Span::from_millis(since_ms), 2, &flow.window);
        flow.prague.pacing_rate.unwrap() * 1500.0 / flow.prague.rate
    };
    // The virtual round trip is the target of 25 ms.
    assert_eq!([part(0), part(12), part(13)], [1.03125, 1.03125, 0.96875]);
}

#[test]
fn above_four_packets_the_pacing_rate_is_a_window_per_round_trip() {
    let mut flow = Flow::start(100, 50);
    flow.round(0);
    // prague_update_pacing_rate: whole packets of the window, or the packets in flight if these are
    // more.
    assert_eq!(flow.prague.pacing_rate, Some(100.0 / 0.05));
    flow.prague.update_pacing_rate(Time::ZERO, 130, &flow.window);
    assert_eq!(flow.prague.pacing_rate, Some(130.0 / 0.05));
    flow.window.ssthresh = u32::MAX;
    flow.prague.update_pacing_rate(Time::ZERO, 0, &flow.window);
    assert_eq!(flow.prague.pacing_rate, Some(2.0 * 100.0 / 0.05), "twice that in slow start");
}

#[test]
fn smaller_packets_grow_as_fast_in_bytes() {
    // MTU_SYS: growth by one packet of 1500 bytes per round trip is growth by two packets of 750
    // bytes.
    let mut flow = Flow::start(100, 50);
    flow.prague.packet_bytes = 750.0;
    flow.round(0);
    assert!((flow.prague.cwnd - 102.0).abs() < 0.05, "{}", flow.prague.cwnd);
}

#[test]
fn a_loss_stops_growth_until_it_is_repaired_or_undone() {
    let mut flow = Flow::start(40, 50);
    flow.round(0);
    let before = flow.prague.cwnd;
    flow.window.cwnd = flow.prague.reduce(&flow.window);
    flow.prague.update_cwnd(&flow.progress(1, 0), &mut flow.window);
    assert_eq!(flow.prague.cwnd, before / 2.0);
    flow.prague.undo(&mut flow.window);
    assert!((flow.prague.cwnd - before).abs() < 1.0, "{} {before}", flow.prague.cwnd);
}

#[test]
fn without_ecn_it_is_reno_without_pacing_without_pacing() {
    // prague_init: `prague_reno`, no pacing.
    let mut prague = Prague::new(&PragueParams::of_dialect("0.7").unwrap());
    let rng = sojourn_aqm::Rng::stream(1, "test", 0);
    let (now, rtt) = (Time::ZERO, Some(Span::from_millis(20)));
    let (payload_bytes, packet_bytes) = (1448, 1500);
    let start = Start {
        now,
        flow: 0,
        initial_window: 10,
        payload_bytes,
        packet_bytes,
        rtt,
        ecn: false,
        rng,
    };
    prague.on_start(&start);
    assert_eq!(prague.needs(), Needs::default());
    let mut window = Window::above(10, 10);
    prague.grow(&Flow::start(10, 20).progress(10, 0).ack, &mut window);
    assert_eq!((window.cwnd, prague.reduce(&window)), (11, 5));
}

/// tcp_prague.c 0.6, prague_update_pacing_rate: the window or the packets in flight, without a
/// floor.
#[test]
fn in_0_6_the_pacing_rate_is_the_whole_window_and_never_the_rate_of_0_7() {
    let mut flow = Flow::of("0.6", 2, 1000);
    flow.prague.saw_ce = true;
    flow.round(2);
    assert_eq!((flow.prague.mode, flow.window.cwnd), (CwndMode::Window, 2));
    assert_eq!(flow.prague.pacing_rate, Some(2.0));
}

/// tcp_prague.c 0.6, prague_update_cwnd: `cwnd_cnt` carries fractions of a packet, but nothing
/// below the smallest window.
#[test]
fn in_0_6_the_window_moves_once_a_whole_packet_is_carried() {
    let mut flow = Flow::of("0.6", 10, 50);
    let mut after = |carry: f64, marks: u32| {
        flow.window.cwnd = 10;
        (flow.prague.cwnd, flow.prague.sender_cwnd) = (10.0 + carry, 10);
        let progress = flow.progress(1, marks);
        flow.prague.update_cwnd(&progress, &mut flow.window);
        flow.prague.move_sender_cwnd(&mut flow.window);
        flow.window.cwnd
    };
    assert_eq!([after(0.8, 0), after(0.9, 0), after(-0.9, 1), after(-1.0, 1)], [10, 11, 10, 9]);
    let mut smallest = Flow::of("0.6", 2, 50);
    smallest.prague.cwnd = 0.5;
    smallest.prague.move_sender_cwnd(&mut smallest.window);
    assert_eq!((smallest.window.cwnd, smallest.prague.cwnd), (2, 2.0));
}

/// tcp_prague.c 0.6, prague_init: alpha starts at 1, and DEFAULT_RTT_TRANSITION is 500.
#[test]
fn in_0_6_alpha_starts_at_one_and_growth_is_scaled_after_500_rounds() {
    let grown = |rounds: u64| {
        let mut flow = Flow::of("0.6", 100, 5);
        flow.prague.rounds = rounds;
        flow.round(0);
        flow.prague.cwnd - 100.0
    };
    assert!((grown(400) - 1.0).abs() < 0.01);
    assert!((grown(500) - 0.04).abs() < 0.001);
    let mut flow = Flow::of("0.6", 100, 50);
    flow.round(1);
    assert!((49.0..52.0).contains(&flow.prague.cwnd), "{}", flow.prague.cwnd);
    assert!(flow.prague.alpha > 0.9, "{}", flow.prague.alpha);
}
