//! Undo of unnecessary reductions (RFC 3522, RFC 3708, RFC 5682).

use super::*;
use crate::tcp::sender::sack::is_dsack;

#[test]
fn a_dsack_for_every_retransmission_undoes_the_reduction() {
    let mut script = Script::start("reno", 10, 20, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Recovery, 5));
    // The original of segment 1 was only late: it arrives, and then its retransmission.
    script.ack(10, &[]);
    script.now += Span::from_millis(100);
    script.ack(10, &[(1, 1)]);
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (10, u32::MAX));
}

/// Linux 5.10 tcp_input.c, `tcp_dsack_seen`: the network copied segments 1 to 3, so no D-SACK says
/// that the retransmission was unnecessary. Linux 3.x takes the last one for that.
#[test]
fn a_copy_by_the_network_undoes_no_reduction() {
    for skips_copies in [true, false] {
        let profile = Profile { skips_copies, ..LINUX };
        let mut script = Script::with(profile, "reno", 10, 20, 100);
        script.ack(2, &[(1, 1)]);
        script.ack(2, &[(2, 2)]);
        for sacked in 4..=6 {
            script.ack(2, &[(4, sacked)]);
        }
        assert_eq!(script.sender.state(), State::Recovery);
        let reduced = script.sender.window.ssthresh;
        script.now += Span::from_millis(100);
        script.ack(10, &[]);
        script.ack(10, &[(3, 3)]);
        assert_eq!(script.sender.window.ssthresh > reduced, !skips_copies);
    }
}

#[test]
fn a_first_block_within_the_second_or_below_the_number_is_a_dsack() {
    let mut packet = Packet::new(PacketKind::Ack, 0, 1, 5, 52, Time::ZERO);
    for (blocks, expected) in
        [([(7, 8), (7, 9)], true), ([(7, 8), (9, 10)], false), ([(3, 4), (9, 10)], true)]
    {
        for (block, (start, end)) in packet.sack.iter_mut().zip(blocks) {
            *block = Block { start, end };
        }
        assert_eq!(is_dsack(&packet), expected, "{blocks:?}");
    }
}

#[test]
fn an_echo_older_than_the_first_retransmission_undoes_the_reduction() {
    let mut script = Script::with_timestamps(LINUX, "reno", 10, 20, 100);
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
fn a_mark_forbids_an_undo() {
    let mut script = Script::with_timestamps(LINUX, "reno", 10, 20, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    script.ack_with_echo(0, &[(2, 5)], true);
    script.now += Span::from_millis(5);
    script.ack(10, &[]);
    assert_eq!(script.sender.window.ssthresh, 5);
}

#[test]
fn a_dsack_after_the_end_of_an_episode_undoes_its_reduction() {
    let mut script = Script::without_probes("reno", 10, 1, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    script.now += Span::from_millis(10);
    script.ack(1, &[]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, 5));
    script.now += Span::from_millis(90);
    script.ack(1, &[(1, 1)]);
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (10, u32::MAX));
}

#[test]
fn an_echo_of_an_earlier_retransmission_is_not_that_of_an_original() {
    let mut script =
        Script::with_timestamps(Profile { tail_probes: false, ..LINUX }, "reno", 16, u32::MAX, 100);
    let in_ms = |ms| Time::ZERO + Span::from_millis(ms);
    assert_eq!(script.expire(), (300.0, vec![1]));
    (script.now, script.stamp) = (in_ms(400), in_ms(300));
    assert_eq!(script.ack(1, &[]), [17, 18]);
    script.now = in_ms(500);
    assert_eq!(script.ack(1, &[(17, 17)]), [2]);
    // Another timeout follows after progress. Then the retransmission sent at 500 ms is
    // acknowledged.
    let (at_ms, sent) = script.expire();
    assert!(at_ms > 600.0 && sent == [2], "{at_ms} ms, {sent:?}");
    script.stamp = in_ms(500);
    script.now += Span::from_millis(5);
    script.ack(2, &[(17, 17)]);
    assert_eq!(script.sender.state(), State::Loss);
}

#[test]
fn an_undo_leaves_a_threshold_of_three_quarters_of_the_window() {
    let mut script = Script::with_timestamps(LINUX, "reno", 10, 20, 100);
    script.sender.window.ssthresh = 4;
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    script.now += Span::from_millis(5);
    script.ack(10, &[]);
    // Linux `tcp_current_ssthresh`: three quarters of the window, in two integer steps.
    assert_eq!(script.sender.window.ssthresh, 7);
}

#[test]
fn old_stacks_undo_a_recovery_by_timestamps_too() {
    let mut script = Script::with_timestamps(LINUX_2_6, "reno", 10, 20, 100);
    script.ack(0, &[(2, 6)]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Recovery, 5));
    script.now += Span::from_millis(5);
    script.ack(10, &[]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, u32::MAX));
}

/// Linux `tcp_try_undo_partial`; `tcp_try_undo_recovery` and `tcp_try_undo_loss` ignore the
/// distance.
#[test]
fn an_old_echo_shows_reordering_only_in_a_partial_acknowledgement_of_a_recovery() {
    let metric = |acked| {
        let mut script = Script::with_timestamps(LINUX, "reno", 10, 10, 100);
        for sacked in 2..=4 {
            script.ack(0, &[(2, sacked)]);
        }
        assert_eq!(script.sender.state(), State::Recovery);
        script.now += Span::from_millis(5);
        script.ack(acked, &[]);
        assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, u32::MAX));
        script.sender.reordering.seen().then_some(script.sender.reordering.metric())
    };
    assert_eq!([metric(4), metric(10)], [Some(4), None]);
    let profile = Profile { tail_probes: false, ..LINUX };
    let mut script = Script::with_timestamps(profile, "reno", 10, 10, 100);
    script.expire();
    script.now += Span::from_millis(10);
    script.ack(1, &[]);
    assert_eq!((script.sender.state(), script.sender.reordering.seen()), (State::Open, false));
}

/// Linux `tcp_retrans_stamp_cleanup`.
#[test]
fn echoes_are_compared_with_the_first_retransmission_of_the_same_recovery() {
    let in_ms = |ms| Time::ZERO + Span::from_millis(ms);
    let mut script = Script::with_timestamps(LINUX, "reno", 20, u32::MAX, 100);
    (2..=4).for_each(|to| drop(script.ack(0, &[(2, to)])));
    assert!(script.sent.ends_with(&[22, 1]), "1 is retransmitted at 100 ms");
    (5..=12).for_each(|to| drop(script.ack(0, &[(2, to)])));
    assert!(script.sent.ends_with(&[23, 24, 25, 26]), "{:?}", script.sent);
    // The acknowledgement that ends the recovery shows that 23 is lost.
    (script.now, script.stamp) = (in_ms(200), in_ms(100));
    script.ack(22, &[(24, 26)]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Recovery, 5));
    assert_eq!(script.sent.iter().filter(|&&seq| seq == 23).count(), 2);
    // The original of 23 was only late: it was sent when 1 was retransmitted, before 23 was
    // retransmitted.
    script.now = in_ms(205);
    script.ack(26, &[]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, 10));
}
