//! Tail loss probes (RFC 8985 §7).

use super::*;

#[test]
fn a_probe_is_sent_after_two_round_trips_or_at_the_timeout() {
    for (rtt_ms, window, expected_ms) in
        [(100, 10, 202.0), (100, 1, 300.0), (20, 10, 42.0), (20, 1, 220.0)]
    {
        let mut script = Script::start("cubic", window, window, rtt_ms);
        let (at_ms, sent) = script.expire();
        assert_eq!((at_ms, sent), (expected_ms, vec![window]), "{window} at {rtt_ms} ms");
    }
}

#[test]
fn a_probe_is_new_data_if_there_is_any() {
    let mut script = Script::start("cubic", 10, u32::MAX, 100);
    assert_eq!(script.expire(), (202.0, vec![11]));
    // The following timeout has its full length, without a second probe before it.
    assert_eq!(script.expire(), (502.0, vec![1]));
    assert_eq!(script.sender.state(), State::Loss);
}

/// packetdrill `cubic/cubic-rto-ss-ca-cwnd-bump`.
#[test]
fn a_single_lost_packet_is_probed_then_times_out() {
    let mut script = Script::start("cubic", 10, 1, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    assert_eq!(script.sender.state(), State::Open);
    assert_eq!(script.expire(), (600.0, vec![1]));
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (1, 7));
    script.sender.segments.count = u32::MAX;
    script.now += Span::from_millis(100);
    script.ack(1, &[]);
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (2, 7));
}

/// packetdrill `user_timeout/user_timeout`.
#[test]
fn without_any_answer_a_probe_and_then_doubling_timeouts_follow() {
    let mut script = Script::start("cubic", 10, 1, 100);
    let times: Vec<f64> = (0..4).map(|_| script.expire().0).collect();
    assert_eq!(times, [300.0, 600.0, 1200.0, 2400.0]);
}

#[test]
fn a_lost_tail_is_repaired_by_the_probe_and_fast_recovery() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(7, &[]);
    assert_eq!(script.expire(), (302.0, vec![10]));
    script.now += Span::from_millis(100);
    // The probe has arrived, so segments sent before it are overdue.
    assert_eq!(script.ack(7, &[(10, 10)]), [8]);
    assert_eq!(script.sender.state(), State::Recovery);
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window_once() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(9, &[]);
    assert_eq!(script.expire(), (400.0, vec![10]));
    script.sender.segments.count = 20;
    script.ack(10, &[]);
    let before = script.cwnd();
    script.ack(11, &[]);
    assert_eq!(script.cwnd(), before / 2);
    // A duplicate is reported instead: both copies arrived, and nothing was lost.
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(9, &[]);
    script.expire();
    script.ack(10, &[]);
    script.ack(10, &[]);
    script.sender.segments.count = 20;
    script.sender.send(script.now, &mut |_| {});
    let before = script.cwnd();
    script.ack(11, &[]);
    assert!(script.cwnd() >= before);
}

#[test]
fn a_probe_that_repeats_a_segment_is_not_in_flight_twice() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(7, &[]);
    assert_eq!(script.expire(), (302.0, vec![10]));
    // Linux `tcp_send_loss_probe` leaves `retrans_out` unchanged.
    assert_eq!(script.sender.in_flight(), 3);
}

#[test]
fn a_second_copy_of_another_segment_does_not_explain_a_probe() {
    for (block, reduced) in [((10, 10), false), ((3, 3), true)] {
        let mut script = Script::start("reno", 10, 10, 100);
        script.ack(9, &[]);
        assert_eq!(script.expire(), (400.0, vec![10]));
        script.sender.segments.count = 20;
        script.ack(10, &[]);
        let before = script.cwnd();
        script.ack(11, &[block]);
        assert_eq!(script.cwnd() == before / 2, reduced, "a D-SACK for {block:?}");
    }
}

#[test]
fn a_probe_repeats_the_last_segment_if_the_receive_window_admits_no_new_one() {
    for window in [9, 5] {
        let mut script = Script::start("cubic", 10, 20, 100);
        let mut ack = Packet::new(PacketKind::Ack, 0, 1, 1, 52, Time::ZERO);
        ack.window = window; // the second has shrunk
        script.sender.on_ack(script.now, &ack, &mut |_| panic!("the window is closed"));
        assert_eq!(script.expire(), (302.0, vec![10]), "a window of {window}");
    }
}

#[test]
fn no_probe_is_sent_in_disorder_or_recovery() {
    let mut script = Script::start("reno", 10, 10, 100);
    assert_eq!(script.sender.timers.pending(), Timer::TailLossProbe);
    script.ack(0, &[(10, 10)]);
    assert_eq!(script.sender.timers.pending(), Timer::Reordering);
    script.expire();
    assert_eq!(script.sender.state(), State::Recovery);
    assert_eq!(script.sender.timers.pending(), Timer::Retransmission);
}
