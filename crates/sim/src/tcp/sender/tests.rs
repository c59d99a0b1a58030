//! Tests of the sender against the worked sequences of the endpoints sheet (§7.3, §7.4). Segments are
//! numbered from 1 there and here; the sender counts from 0.

use sojourn_aqm::{Ecn, Span, Time};

use super::*;
use crate::cc::choose;
use crate::packet::{Block, Kind};
use crate::tcp::profile::{Idle, LINUX, LINUX_2_6, NEWRENO, SACK};

/// A sender whose acknowledgements are written by hand.
struct Script {
    sender: Sender,
    now: Time,
    /// The timestamp that acknowledgements echo.
    stamp: Time,
    sent: Vec<u32>,
}

impl Script {
    /// A connection of `count` segments with a window of `window`, which sends at time zero and hears
    /// nothing before `rtt_ms`.
    fn start(cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        Script::with(LINUX, cc, window, count, rtt_ms)
    }

    /// The same without tail loss probes.
    fn without_probes(cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        let profile = Profile { tail_probes: false, ..LINUX };
        Script::with(profile, cc, window, count, rtt_ms)
    }

    /// As packetdrill's scripts have it, without timestamps.
    fn with(profile: Profile, cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        let profile = Profile { timestamps: false, ..profile };
        Script::stamped(profile, cc, window, count, rtt_ms)
    }

    fn stamped(profile: Profile, cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: true,
            count,
            last_payload_bytes: 1000,
            initial_window: window,
        };
        let mut sender = Sender::new(segments, profile, (choose(cc).unwrap().factory)());
        sender.on_established(Span::from_millis(rtt_ms));
        let mut script = Script { sender, now: Time::ZERO, stamp: Time::ZERO, sent: Vec::new() };
        script.sender.send(Time::ZERO, &mut |packet: Packet| script.sent.push(packet.seq + 1));
        script.now = Time::ZERO + Span::from_millis(rtt_ms);
        script
    }

    /// An acknowledgement of everything up to `ack`, with SACK for the ranges; returns what it makes
    /// the sender send.
    fn ack(&mut self, ack: u32, sack: &[(u32, u32)]) -> Vec<u32> {
        self.ack_with_echo(ack, sack, false)
    }

    fn ack_with_echo(&mut self, ack: u32, sack: &[(u32, u32)], echo: bool) -> Vec<u32> {
        let mut packet = Packet::new(Kind::Ack, 0, 1, ack, 52, self.stamp);
        for (block, &(from, to)) in packet.sack.iter_mut().zip(sack) {
            *block = Block { start: from - 1, end: to };
        }
        packet.signal = echo;
        let mut sent = Vec::new();
        self.sender.on_ack(self.now, &packet, &mut |packet: Packet| sent.push(packet.seq + 1));
        self.sent.extend(&sent);
        sent
    }

    /// Lets the next timer ring; returns its time in milliseconds and what was sent.
    fn ring(&mut self) -> (f64, Vec<u32>) {
        self.now = self.sender.next_timer();
        let mut sent = Vec::new();
        self.sender.on_timer(self.now, &mut |packet: Packet| sent.push(packet.seq + 1));
        self.sent.extend(&sent);
        (self.now.as_secs() * 1e3, sent)
    }

    fn cwnd(&self) -> u32 {
        self.sender.window.cwnd
    }
}

const NOTHING: [u32; 0] = [];

#[test]
fn t20_reno_comes_down_by_one_packet_for_every_two_delivered() {
    let mut script = Script::start("reno", 20, u32::MAX, 100);
    assert_eq!(script.ack(0, &[(2, 2)]), [21]);
    assert_eq!(script.ack(0, &[(2, 3)]), [22]);
    script.now += Span::from_micros(1); // the retransmission leaves after 21 and 22
    assert_eq!((script.cwnd(), script.sender.in_flight()), (20, 20));
    assert_eq!(script.ack(0, &[(2, 4)]), [1]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Recovery, 10));
    let mut windows = vec![script.cwnd()];
    let mut new_data = Vec::new();
    for sacked in 5..=20 {
        new_data.push(script.ack(0, &[(2, sacked)]).len());
        windows.push(script.cwnd());
    }
    assert_eq!(new_data, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]);
    let expected = [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10];
    assert_eq!(windows, expected);
    script.now = Time::ZERO + Span::from_millis(200);
    assert_eq!(script.ack(0, &[(2, 21)]).len(), 1);
    assert_eq!(script.ack(0, &[(2, 22)]).len(), 1);
    script.ack(22, &[]);
    assert_eq!((script.cwnd(), script.sender.state()), (10, State::Open));
}

#[test]
fn t21_cubic_sends_fourteen_packets_for_twenty_delivered() {
    let mut script = Script::start("cubic", 20, u32::MAX, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    let new_data: Vec<usize> = (5..=20).map(|to| script.ack(0, &[(2, to)]).len()).collect();
    // N N - N N - N N - N N N - - N N
    assert_eq!(new_data, [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1]);
    assert_eq!(script.cwnd(), 14);
}

#[test]
fn t22_script_1_a_loss_without_further_data_at_first() {
    let mut script = Script::start("cubic", 10, 10, 100);
    assert_eq!(script.ack(0, &[(2, 2)]), NOTHING);
    assert_eq!(script.ack(0, &[(2, 3)]), NOTHING);
    assert_eq!(script.ack(0, &[(2, 4)]), [1]);
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (7, 7));
    script.sender.segments.count = u32::MAX;
    for sacked in 5..=10 {
        assert_eq!(script.ack(0, &[(2, sacked)]), [sacked + 6]);
    }
    script.ack(10, &[]);
    assert_eq!((script.cwnd(), script.sender.state()), (7, State::Open));
}

#[test]
fn t23_script_3_one_retransmission_for_each_delivery() {
    let mut script = Script::start("cubic", 10, 10, 100);
    assert_eq!(script.ack(0, &[(5, 5)]), NOTHING);
    assert_eq!(script.ack(0, &[(5, 6)]), NOTHING);
    for lost in 1..=4 {
        assert_eq!(script.ack(0, &[(5, lost + 6)]), [lost]);
    }
    script.now = Time::ZERO + Span::from_millis(200);
    for partial in 1..=3 {
        assert_eq!(script.ack(partial, &[(5, 10)]), NOTHING);
    }
    script.sender.segments.count = u32::MAX;
    assert_eq!(script.ack(10, &[]), [11, 12, 13, 14, 15, 16, 17]);
}

#[test]
fn t24_script_2_losses_in_two_windows() {
    let mut script = Script::start("cubic", 10, 20, 10);
    let mut ack = |ms: u64, ack: u32, sack: (u32, u32)| {
        script.now = Time::ZERO + Span::from_millis(ms);
        script.ack(ack, &[sack])
    };
    let sent: Vec<u32> = (0..6).flat_map(|i| ack(10 + 2 * i, 0, (5, 5 + i as u32))).collect();
    assert_eq!(sent, [11, 12, 1, 2, 3, 4]);
    assert_eq!([ack(22, 0, (5, 11)), ack(24, 0, (5, 12))].concat(), [13, 14]);
    assert_eq!(ack(34, 1, (5, 12)), [15, 16]);
    assert_eq!(ack(36, 1, (3, 12)), [2, 17]);
    assert_eq!([ack(38, 1, (3, 13)), ack(40, 1, (3, 14))].concat(), [18, 19]);
}

#[test]
fn t28_script_18_one_sacked_segment_waits_for_the_reordering_timer() {
    for (rtt_ms, fires_ms) in [(100, 127.0), (20, 27.0)] {
        let mut script = Script::start("cubic", 10, 10, rtt_ms);
        assert_eq!(script.ack(0, &[(8, 8)]), NOTHING);
        assert_eq!(script.sender.state(), State::Disorder);
        assert_eq!(script.ring(), (fires_ms, vec![1]));
        assert_eq!((script.sender.board.lost(), script.sender.state()), (7, State::Recovery));
    }
}

#[test]
fn t29_a_lost_retransmission_is_found_without_a_timeout() {
    let mut script = Script::start("reno", 20, u32::MAX, 100);
    for sacked in 2..=20 {
        script.ack(0, &[(2, sacked)]);
    }
    let before = script.sent.iter().filter(|&&seq| seq == 1).count();
    // Segments sent after the retransmission arrive one round trip later, it does not.
    script.now = Time::ZERO + Span::from_millis(201);
    script.ack(0, &[(2, 23)]);
    let after = script.sent.iter().filter(|&&seq| seq == 1).count();
    assert_eq!((before, after), (2, 3));
}

#[test]
fn t7_timeouts_double() {
    let mut script = Script::without_probes("cubic", 1, 1, 100);
    let times: Vec<f64> = (0..6).map(|_| script.ring().0).collect();
    assert_eq!(times, [300.0, 900.0, 2100.0, 4500.0, 9300.0, 18900.0]);
}

#[test]
fn t33_idle_time_halves_the_window_once_per_timeout() {
    for (window, idle_ms, expected) in [
        (36, 200, 36),
        (36, 350, 18),
        (36, 650, 10),
        (36, 2000, 10),
        (400, 500, 200),
        (400, 1000, 50),
    ] {
        let mut script = Script::start("cubic", 10, 10, 100);
        script.ack(10, &[]);
        script.sender.window.cwnd = window;
        script.sender.segments.count = 20;
        script.now = Time::ZERO + Span::from_millis(idle_ms);
        script.sender.send(script.now, &mut |_| {});
        assert_eq!(script.cwnd(), expected, "{window} after {idle_ms} ms");
    }
}

#[test]
fn t34_the_window_grows_only_as_far_as_it_is_used() {
    for (burst, expected) in [(6, 12), (5, 10), (9, 18)] {
        let mut script = Script::start("cubic", 10, burst, 100);
        for ack in (2..=burst).step_by(2) {
            script.ack(ack, &[]);
        }
        script.ack(burst, &[]);
        assert_eq!(script.cwnd(), expected, "bursts of {burst}");
    }
}

#[test]
fn t37_cubic_after_a_timeout() {
    let mut script = Script::without_probes("cubic", 10, u32::MAX, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (1, 7));
    assert_eq!(script.sender.state(), State::Loss);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut script = Script::without_probes("cubic", 10, u32::MAX, 100);
    script.ring();
    // The original of segment 2 arrives after all: nothing was lost.
    script.now = Time::ZERO + Span::from_millis(310);
    assert_eq!(script.ack(1, &[]), [11, 12]); // F-RTO tries new data
    script.ack(2, &[]);
    assert_eq!(script.sender.state(), State::Open);
    assert!(script.cwnd() >= 10);
}

#[test]
fn script_26_a_mark_is_answered_once_per_window() {
    let mut script = Script::start("cubic", 10, 4, 100);
    assert_eq!(script.ack_with_echo(1, &[], true), NOTHING);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Cwr, 7));
    // Three in flight, one delivered, and one more because the acknowledgement advanced (RFC 9937).
    // The script itself, written for kernels that lacked the last rule, has 4.
    assert_eq!(script.cwnd(), 5);
    script.ack_with_echo(2, &[], true);
    assert_eq!(script.sender.window.ssthresh, 7);
}

#[test]
fn new_data_is_ect_and_retransmissions_are_not() {
    let mut script = Script::start("reno", 4, u32::MAX, 100);
    let mut codepoints = Vec::new();
    let mut packet = Packet::new(Kind::Ack, 0, 1, 0, 52, Time::ZERO);
    packet.sack[0] = Block { start: 1, end: 4 };
    script.sender.on_ack(script.now, &packet, &mut |p: Packet| codepoints.push((p.seq, p.ecn)));
    assert_eq!(codepoints[0], (0, Ecn::NotEct));
    packet.seq = 4;
    packet.sack[0] = Block::default();
    script.sender.on_ack(script.now, &packet, &mut |p: Packet| codepoints.push((p.seq, p.ecn)));
    assert_eq!(codepoints[1], (4, Ecn::Ect0));
}

#[test]
fn t10_a_probe_comes_after_two_round_trips() {
    for (rtt_ms, window, expected_ms) in
        [(100, 10, 202.0), (100, 1, 300.0), (20, 10, 42.0), (20, 1, 220.0)]
    {
        let mut script = Script::start("cubic", window, window, rtt_ms);
        let (at_ms, sent) = script.ring();
        assert_eq!((at_ms, sent), (expected_ms, vec![window]), "{window} at {rtt_ms} ms");
    }
}

#[test]
fn a_probe_is_new_data_where_there_is_any() {
    let mut script = Script::start("cubic", 10, u32::MAX, 100);
    assert_eq!(script.ring(), (202.0, vec![11]));
    // Then the timeout has its full length, and no second probe comes before it.
    assert_eq!(script.ring(), (502.0, vec![1]));
    assert_eq!(script.sender.state(), State::Loss);
}

#[test]
fn script_32_a_lone_lost_packet_is_probed_then_times_out() {
    let mut script = Script::start("cubic", 10, 1, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    assert_eq!(script.sender.state(), State::Open);
    assert_eq!(script.ring(), (600.0, vec![1]));
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (1, 7));
    script.sender.segments.count = u32::MAX;
    script.now += Span::from_millis(100);
    script.ack(1, &[]);
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (2, 7));
}

#[test]
fn script_35_without_any_answer_a_probe_and_then_doubling_timeouts() {
    let mut script = Script::start("cubic", 10, 1, 100);
    let times: Vec<f64> = (0..4).map(|_| script.ring().0).collect();
    assert_eq!(times, [300.0, 600.0, 1200.0, 2400.0]);
}

#[test]
fn a_lost_tail_is_repaired_by_the_probe_and_fast_recovery() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(7, &[]);
    assert_eq!(script.ring(), (302.0, vec![10]));
    script.now += Span::from_millis(100);
    // What was sent before the probe that arrived is overdue.
    assert_eq!(script.ack(7, &[(10, 10)]), [8]);
    assert_eq!(script.sender.state(), State::Recovery);
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window_once() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(9, &[]);
    assert_eq!(script.ring(), (400.0, vec![10]));
    script.sender.segments.count = 20;
    script.ack(10, &[]);
    let before = script.cwnd();
    script.ack(11, &[]);
    assert_eq!(script.cwnd(), before / 2);
    // A duplicate instead: both copies arrived, and nothing was lost.
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(9, &[]);
    script.ring();
    script.ack(10, &[]);
    script.ack(10, &[]);
    script.sender.segments.count = 20;
    script.sender.send(script.now, &mut |_| {});
    let before = script.cwnd();
    script.ack(11, &[]);
    assert!(script.cwnd() >= before);
}

/// ns-2's limited transmit is off in the sheet's T26 and T27.
fn no_limited_transmit(profile: Profile) -> Profile {
    Profile { limited_transmit: false, ..profile }
}

#[test]
fn t26_newreno_inflates_the_window_by_its_duplicates() {
    let mut script = Script::with(no_limited_transmit(NEWRENO), "reno", 20, u32::MAX, 100);
    let sent: Vec<Vec<u32>> = (0..19).map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent[..3], [vec![], vec![], vec![1]]);
    assert_eq!(sent[3..].concat(), (21..30).collect::<Vec<u32>>());
    assert!(sent[9].is_empty() && sent[10] == [21]);
    // RFC 6582's window is ours and the duplicates.
    assert_eq!(script.cwnd() + script.sender.board.sacked(), 29);
    script.ack(20, &[]);
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn t27_sack1_waits_until_the_pipe_has_room() {
    let mut script = Script::with(no_limited_transmit(SACK), "reno", 20, u32::MAX, 100);
    let sent: Vec<Vec<u32>> = (2..=20).map(|to| script.ack(0, &[(2, to)])).collect();
    assert_eq!(sent[..3], [vec![], vec![], vec![1]]);
    assert!(sent[3..10].iter().all(Vec::is_empty));
    assert_eq!(sent[10..].concat(), (21..30).collect::<Vec<u32>>());
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn t30_newreno_repairs_one_loss_per_round_trip() {
    let mut script = Script::with(NEWRENO, "reno", 20, 20, 100);
    // Segments 1, 5 and 9 are lost.
    for _ in 0..16 {
        script.ack(0, &[]);
    }
    assert_eq!(script.ack(4, &[]), [5]);
    assert_eq!(script.ack(8, &[]), [9]);
    assert_eq!(script.ack(20, &[]), NOTHING);
    let again = script.sent.iter().filter(|&&seq| matches!(seq, 1 | 5 | 9)).count();
    assert_eq!((again, script.sent.len()), (6, 23));
}

#[test]
fn late_duplicates_start_no_second_recovery_without_sack() {
    let mut script = Script::with(NEWRENO, "reno", 20, u32::MAX, 100);
    (0..19).for_each(|_| drop(script.ack(0, &[])));
    script.ack(20, &[]);
    let sent: Vec<u32> = (0..3).flat_map(|_| script.ack(20, &[])).collect();
    assert!(!sent.contains(&21), "{sent:?}");
    assert_eq!(script.sender.window.ssthresh, 10);
}

#[test]
fn t25_rate_halving_sends_one_packet_for_every_second_acknowledgement() {
    let mut script = Script::with(LINUX_2_6, "reno", 20, u32::MAX, 100);
    let sent: Vec<usize> = (2..=20).map(|to| script.ack(0, &[(2, to)]).len()).collect();
    assert_eq!(sent[..3], [1, 1, 1]);
    assert_eq!(sent[3..].iter().sum::<usize>(), 8);
    script.ack(22, &[]);
    assert_eq!((script.cwnd(), script.sender.state()), (10, State::Open));
}

#[test]
fn fack_takes_distance_for_loss() {
    let mut script = Script::with(LINUX_2_6, "reno", 10, 10, 100);
    assert_eq!(script.ack(0, &[(5, 5)]), [1]);
    assert_eq!((script.sender.state(), script.sender.board.lost()), (State::Recovery, 2));
}

#[test]
fn t35_t36_old_stacks_count_acknowledgements() {
    for (profile, expected) in [(LINUX, 20), (LINUX_2_6, 15)] {
        let mut script = Script::with(profile, "reno", 10, u32::MAX, 100);
        (2..=10).step_by(2).for_each(|ack| drop(script.ack(ack, &[])));
        assert_eq!(script.cwnd(), expected, "{}", profile.name);
    }
}

#[test]
fn t33_other_stacks_restart_or_keep_the_window() {
    for (idle, expected) in [(Idle::Restart, 10), (Idle::Keep, 36)] {
        let profile = Profile { idle, ..LINUX };
        let mut script = Script::with(profile, "cubic", 10, 10, 100);
        script.ack(10, &[]);
        script.sender.window.cwnd = 36;
        script.sender.segments.count = 20;
        script.now = Time::ZERO + Span::from_secs(2);
        script.sender.send(script.now, &mut |_| {});
        assert_eq!(script.cwnd(), expected);
    }
}

#[test]
fn t80_scripts_9_and_10_limited_transmit() {
    let mut script = Script::start("reno", 10, 15, 100);
    assert_eq!(script.ack(0, &[(2, 2)]), [11]);
    assert_eq!(script.ack(0, &[(2, 3)]), [12]);
    assert_eq!(script.ack(3, &[]), [13, 14]);
    assert_eq!(script.cwnd(), 11);
    let mut script = Script::with(Profile { sack: false, ..LINUX }, "reno", 10, 15, 100);
    assert_eq!(script.ack(0, &[]), [11]);
    assert_eq!(script.ack(0, &[]), [12]);
    assert_eq!(script.ack(3, &[]), [13, 14]);
}

#[test]
fn scripts_5_and_6_the_third_duplicate_retransmits() {
    let mut script = Script::with(Profile { sack: false, ..LINUX }, "cubic", 10, 4, 100);
    let sent: Vec<Vec<u32>> = (0..3).map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent, [vec![], vec![], vec![1]]);
}

#[test]
fn a_duplicate_told_by_d_sack_withdraws_the_reduction() {
    let mut script = Script::start("reno", 10, 20, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Recovery, 5));
    // The original of segment 1 was only late: it arrives, and its retransmission after it.
    script.ack(10, &[]);
    script.now += Span::from_millis(100);
    script.ack(10, &[(1, 1)]);
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (10, u32::MAX));
}

#[test]
fn a_duplicate_within_the_second_block_is_one() {
    let mut packet = Packet::new(Kind::Ack, 0, 1, 5, 52, Time::ZERO);
    for (blocks, expected) in
        [([(7, 8), (7, 9)], true), ([(7, 8), (9, 10)], false), ([(3, 4), (9, 10)], true)]
    {
        for (block, (start, end)) in packet.sack.iter_mut().zip(blocks) {
            *block = Block { start, end };
        }
        assert_eq!(undo::is_duplicate(&packet), expected, "{blocks:?}");
    }
}

#[test]
fn script_18_sacks_of_earlier_segments_raise_the_reordering_metric() {
    let mut script = Script::start("cubic", 10, 10, 100);
    script.ack(0, &[(8, 8)]);
    script.ring();
    assert_eq!(script.sender.reordering.metric(), 3);
    script.ack(0, &[(4, 4), (8, 8)]);
    assert_eq!((script.sender.reordering.metric(), script.sender.board.lost()), (5, 6));
}

#[test]
fn reordering_seen_gives_rack_patience() {
    let mut script = Script::start("reno", 10, 20, 100);
    // Segment 1 arrives after 2 and 3: no loss, but from now on three duplicates are no proof.
    script.ack(0, &[(2, 3)]);
    script.ack(3, &[]);
    assert!(script.sender.reordering.seen());
    for sacked in 5..=7 {
        script.ack(3, &[(5, sacked)]);
    }
    assert_eq!(script.sender.state(), State::Disorder);
    assert_eq!(script.ring(), (127.0, vec![4]));
    assert_eq!(script.sender.state(), State::Recovery);
}

#[test]
fn without_fack_distance_no_longer_stands_for_a_loss() {
    for (late, lost) in [(false, 8), (true, 4)] {
        let profile = Profile { marks_new_data: true, ..LINUX_2_6 };
        let mut script = Script::with(profile, "reno", 20, 20, 100);
        script.ack(0, &[(8, 8)]);
        assert_eq!(script.sender.board.lost(), 5);
        if late {
            // Never sent again, and five segments late: FACK is given up.
            script.ack(0, &[(4, 4), (8, 8)]);
            assert_eq!(script.sender.reordering.metric(), 5);
        }
        script.ack(0, &[(12, 12), (8, 8)]);
        assert_eq!(script.sender.board.lost(), lost);
    }
}

#[test]
fn an_echo_older_than_the_first_retransmission_withdraws_the_reduction() {
    let mut script = Script::stamped(LINUX, "reno", 10, 20, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Recovery, 5));
    // The original of segment 1, sent at time zero, was only late.
    script.now += Span::from_millis(5);
    script.ack(10, &[]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, u32::MAX));
    assert!(script.cwnd() >= 10);
}

#[test]
fn a_mark_forbids_to_withdraw_a_reduction() {
    let mut script = Script::stamped(LINUX, "reno", 10, 20, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    script.ack_with_echo(0, &[(2, 5)], true);
    script.now += Span::from_millis(5);
    script.ack(10, &[]);
    assert_eq!(script.sender.window.ssthresh, 5);
}

#[test]
fn a_lost_retransmission_after_a_timeout_is_a_new_loss() {
    let mut script = Script::without_probes("reno", 16, u32::MAX, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Loss, 8));
    let in_ms = |ms| Time::ZERO + Span::from_millis(ms);
    script.now = in_ms(400);
    script.stamp = in_ms(300);
    assert_eq!(script.ack(1, &[]), [17, 18]); // F-RTO tries new data
    script.now = in_ms(500);
    assert_eq!(script.ack(1, &[(17, 17)]), [2]); // which says that the loss was real
    script.now = in_ms(501);
    assert_eq!(script.ack(1, &[(17, 18)]), [3]);
    script.now = in_ms(601);
    script.ack(1, &[(3, 3), (17, 18)]);
    // Segment 3 was sent again after 2 was, and arrived: 2 is lost once more.
    assert_eq!(script.sender.state(), State::Recovery);
    assert_eq!(script.sent.iter().filter(|&&seq| seq == 2).count(), 3);
}

#[test]
fn old_kernels_take_all_for_lost_when_a_timeout_was_right() {
    let mut script = Script::with(LINUX_2_6, "reno", 4, u32::MAX, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    script.now = Time::ZERO + Span::from_millis(400);
    assert_eq!(script.ack(1, &[]), [5, 6]); // F-RTO tries new data
    // Three packets may leave, and 6 counts as lost although it is on its way.
    assert_eq!(script.ack(1, &[(5, 5)]), [2, 3, 4]);
    assert_eq!(script.cwnd(), 3);
    assert_eq!(script.ack(2, &[(5, 5)]), [6, 7]);
}

#[test]
fn early_retransmit_waits_a_quarter_of_a_round_trip() {
    let kids = crate::tcp::profile::profile("kids-3.8").unwrap();
    let mut script = Script::with(kids, "reno", 10, 3, 100);
    assert_eq!(script.ack(0, &[(3, 3)]), NOTHING);
    assert_eq!(script.ack(0, &[(2, 3)]), NOTHING);
    assert_eq!(script.ring(), (125.0, vec![1]));
    assert_eq!(script.sender.state(), State::Recovery);
    let mut old = Script::with(LINUX_2_6, "reno", 10, 3, 100);
    old.ack(0, &[(2, 3)]);
    assert_eq!(old.ring(), (300.0, vec![1]), "without it there is only the timeout");
}

#[test]
fn linux_2_6_finds_no_losses_of_what_a_recovery_sent() {
    for (marks_new_data, lost) in [(false, 1), (true, 2)] {
        let profile = Profile { marks_new_data, ..LINUX_2_6 };
        let mut script = Script::with(profile, "reno", 20, u32::MAX, 100);
        for sacked in 2..=20 {
            script.ack(0, &[(2, sacked)]);
        }
        // 21 and 22 left before the recovery began, 23 in it; 23 is lost.
        script.now += Span::from_millis(50);
        script.ack(0, &[(2, 22), (24, 28)]);
        let unrepaired = script.sender.board.lost();
        assert_eq!(unrepaired, lost, "{marks_new_data}");
    }
}

#[test]
fn bursts_after_odd_acknowledgements_are_cut_in_linux_2_6() {
    let mut script = Script::with(LINUX_2_6, "reno", 20, 8, 100);
    script.ack(0, &[(2, 2)]);
    // Seven in flight, and three more.
    assert_eq!((script.sender.state(), script.cwnd()), (State::Disorder, 10));
}

#[test]
fn an_application_that_leaves_the_window_empty_loses_half_of_what_it_does_not_use() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(10, &[]);
    script.sender.window.cwnd = 40;
    // Two segments per round trip for longer than the timeout.
    for (ms, count) in [(200, 12), (350, 14), (500, 16)] {
        script.now = Time::ZERO + Span::from_millis(ms);
        script.sender.segments.count = count;
        script.sender.send(script.now, &mut |_| {});
        script.now += Span::from_millis(100);
        script.ack(count, &[]);
    }
    // Linux `tcp_cwnd_application_limited`: at least the initial window counts as used.
    assert_eq!(script.cwnd(), 25);
}
