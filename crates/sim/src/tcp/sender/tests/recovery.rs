//! RACK and proportional rate reduction (RFC 8985, RFC 9937, Linux 6.1).

use super::*;

#[test]
fn reno_comes_down_by_one_packet_for_every_two_delivered() {
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
fn cubic_sends_fourteen_packets_for_twenty_delivered() {
    let mut script = Script::start("cubic", 20, u32::MAX, 100);
    for sacked in 2..=4 {
        script.ack(0, &[(2, sacked)]);
    }
    let new_data: Vec<usize> = (5..=20).map(|to| script.ack(0, &[(2, to)]).len()).collect();
    // N N - N N - N N - N N N - - N N
    assert_eq!(new_data, [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1]);
    assert_eq!(script.cwnd(), 14);
}

/// packetdrill `fast_recovery/prr-ss-10pkt-lost-1`.
#[test]
fn after_a_loss_every_sack_releases_one_new_packet() {
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

/// packetdrill `fast_recovery/prr-ss-30pkt-lost1_4`.
#[test]
fn every_delivery_releases_one_retransmission() {
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

/// packetdrill `fast_recovery/prr-ss-30pkt-lost-1_4-11_16`.
#[test]
fn losses_in_two_windows_are_repaired_in_one_recovery() {
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

/// packetdrill `sack/sack-shift-sacked-7-3-4-8-9-fack`.
#[test]
fn one_sacked_segment_waits_for_the_reordering_timer() {
    for (rtt_ms, fires_ms) in [(100, 127.0), (20, 27.0)] {
        let mut script = Script::start("cubic", 10, 10, rtt_ms);
        assert_eq!(script.ack(0, &[(8, 8)]), NOTHING);
        assert_eq!(script.sender.state(), State::Disorder);
        assert_eq!(script.expire(), (fires_ms, vec![1]));
        assert_eq!((script.sender.board.lost(), script.sender.state()), (7, State::Recovery));
    }
}

/// Linux `tcp_rack_mark_lost`: the timer is two jiffies later than the reordering window.
#[test]
fn a_duplicate_that_reports_nothing_new_leaves_losses_to_the_reordering_timer() {
    let mut script = Script::start("cubic", 10, 10, 100);
    script.ack(0, &[(8, 8)]);
    script.now = Time::ZERO + Span::from_millis(126);
    assert_eq!(script.ack(0, &[(8, 8)]), NOTHING);
    assert_eq!(script.sender.board.lost(), 0);
    assert_eq!(script.expire(), (127.0, vec![1]));
}

#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    let mut script = Script::start("reno", 20, u32::MAX, 100);
    for sacked in 2..=20 {
        script.ack(0, &[(2, sacked)]);
    }
    let before = script.sent.iter().filter(|&&seq| seq == 1).count();
    // Segments sent after the retransmission arrive one round trip later; the retransmission does
    // not.
    script.now = Time::ZERO + Span::from_millis(201);
    script.ack(0, &[(2, 23)]);
    let after = script.sent.iter().filter(|&&seq| seq == 1).count();
    assert_eq!((before, after), (2, 3));
}

#[test]
fn the_acknowledgement_that_ends_a_recovery_may_start_the_next() {
    // Linux `tcp_ack_is_dubious`, `tcp_fastretrans_alert`: losses are also detected after the end
    // of an episode.
    let mut script = Script::start("reno", 20, u32::MAX, 100);
    for sacked in 2..=20 {
        script.ack(0, &[(2, sacked)]);
    }
    script.now = Time::ZERO + Span::from_millis(201);
    assert!(script.ack(0, &[(2, 23)]).contains(&1), "its first retransmission was lost");
    // That retransmission arrives; segment 24, which left 100 ms before it, does not.
    script.now = Time::ZERO + Span::from_millis(301);
    assert_eq!(script.sender.board.nxt().min(24), 24, "24 has left");
    assert_eq!(script.ack(23, &[]).first(), Some(&24));
    assert_eq!(script.sender.state(), State::Recovery);
}

/// packetdrill `limited_transmit/limited-transmit-sack` and `-no-sack`.
#[test]
fn limited_transmit_sends_one_new_packet_for_each_of_two_duplicates() {
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

/// packetdrill `sack/sack-shift-sacked-7-3-4-8-9-fack`.
#[test]
fn sacks_of_earlier_segments_raise_the_reordering_metric() {
    let mut script = Script::start("cubic", 10, 10, 100);
    script.ack(0, &[(8, 8)]);
    script.expire();
    assert_eq!(script.sender.reordering.metric(), 3);
    script.ack(0, &[(4, 4), (8, 8)]);
    assert_eq!((script.sender.reordering.metric(), script.sender.board.lost()), (5, 6));
}

#[test]
fn after_reordering_rack_waits_for_the_reordering_window() {
    let mut script = Script::start("reno", 10, 20, 100);
    // Segment 1 arrives after 2 and 3: nothing was lost, and from now on three SACKs are not
    // enough.
    script.ack(0, &[(2, 3)]);
    script.ack(3, &[]);
    assert!(script.sender.reordering.seen());
    for sacked in 5..=7 {
        script.ack(3, &[(5, sacked)]);
    }
    assert_eq!(script.sender.state(), State::Disorder);
    assert_eq!(script.expire(), (127.0, vec![4]));
    assert_eq!(script.sender.state(), State::Recovery);
}
