//! How older stacks differ: no SACK, a pipe count, FACK, rate halving.

use super::*;

/// Without limited transmit, so that the textbook sequences of duplicates apply.
fn no_limited_transmit(profile: Profile) -> Profile {
    Profile { limited_transmit: false, ..profile }
}

#[test]
fn newreno_inflates_the_window_by_its_duplicates() {
    let mut script = Script::with(no_limited_transmit(NEWRENO), "reno", 20, u32::MAX, 100);
    let sent: Vec<Vec<u32>> = (0..19).map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent[..3], [vec![], vec![], vec![1]]);
    assert_eq!(sent[3..].concat(), (21..30).collect::<Vec<u32>>());
    assert!(sent[9].is_empty() && sent[10] == [21]);
    // RFC 6582's inflated window equals our window plus the duplicates.
    assert_eq!(script.cwnd() + script.sender.board.sacked(), 29);
    assert!(!script.ack(20, &[]).contains(&21), "the full acknowledgement reveals no loss");
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn sack1_waits_until_the_pipe_has_room() {
    let mut script = Script::with(no_limited_transmit(SACK), "reno", 20, u32::MAX, 100);
    let sent: Vec<Vec<u32>> = (2..=20).map(|to| script.ack(0, &[(2, to)])).collect();
    assert_eq!(sent[..3], [vec![], vec![], vec![1]]);
    assert!(sent[3..10].iter().all(Vec::is_empty));
    assert_eq!(sent[10..].concat(), (21..30).collect::<Vec<u32>>());
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn newreno_repairs_one_loss_per_round_trip() {
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
fn rate_halving_sends_one_packet_for_every_second_acknowledgement() {
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

/// packetdrill `fast_retransmit/fr-4pkt`.
#[test]
fn the_third_duplicate_retransmits_the_head() {
    let mut script = Script::with(Profile { sack: false, ..LINUX }, "cubic", 10, 4, 100);
    let sent: Vec<Vec<u32>> = (0..3).map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent, [vec![], vec![], vec![1]]);
}

/// Linux 2.6 and 3.x `tcp_head_timedout`.
#[test]
fn fack_takes_a_head_for_lost_that_has_waited_for_longer_than_a_timeout() {
    for (late, lost) in [(Span::ZERO, 0), (Span::from_nanos(1), 1)] {
        let mut script = Script::with(LINUX_2_6, "reno", 4, 4, 100);
        script.now = Time::ZERO + Span::from_millis(150);
        script.ack(1, &[(3, 3)]);
        assert_eq!((script.sender.state(), script.sender.board.lost()), (State::Disorder, 0));
        // The timer has been restarted, so that it does not expire first.
        script.now = Time::ZERO + script.sender.timeout() + late;
        assert!(script.sender.next_timer() > script.now);
        script.ack(1, &[(3, 3)]);
        assert_eq!(script.sender.board.lost(), lost, "{late:?} after its timeout");
    }
}

#[test]
fn an_acknowledgement_that_advances_restarts_the_timer_of_old_stacks_in_disorder() {
    let mut script = Script::with(LINUX_2_6, "reno", 4, 4, 100);
    script.now = Time::ZERO + Span::from_millis(150);
    script.ack(1, &[(3, 3)]);
    assert_eq!(script.sender.state(), State::Disorder);
    assert_eq!(script.sender.next_timer(), script.now + script.sender.timeout());
}

#[test]
fn after_reordering_distance_no_longer_means_loss() {
    for (late, lost) in [(false, 8), (true, 4)] {
        let profile = Profile { marks_new_data: true, ..LINUX_2_6 };
        let mut script = Script::with(profile, "reno", 20, 20, 100);
        script.ack(0, &[(8, 8)]);
        assert_eq!(script.sender.board.lost(), 5);
        if late {
            // A segment sent only once arrives five segments late: FACK is disabled.
            script.ack(0, &[(4, 4), (8, 8)]);
            assert_eq!(script.sender.reordering.metric(), 5);
        }
        script.ack(0, &[(12, 12), (8, 8)]);
        assert_eq!(script.sender.board.lost(), lost);
    }
}

#[test]
fn old_kernels_mark_everything_lost_after_a_justified_timeout() {
    let mut script = Script::with(LINUX_2_6, "reno", 4, u32::MAX, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    script.now = Time::ZERO + Span::from_millis(400);
    assert_eq!(script.ack(1, &[]), [5, 6]); // F-RTO tries new data
    // Three packets may leave, and 6 counts as lost although it is in flight.
    assert_eq!(script.ack(1, &[(5, 5)]), [2, 3, 4]);
    assert_eq!(script.cwnd(), 3);
    assert_eq!(script.ack(2, &[(5, 5)]), [6]);
}

#[test]
fn old_kernels_send_new_data_only_below_what_was_sent_before_the_episode() {
    let mut script = Script::with(LINUX_2_6, "reno", 2, u32::MAX, 100);
    script.expire();
    script.now = Time::ZERO + Span::from_millis(400);
    assert_eq!(script.ack(1, &[]), [3, 4]);
    // Neither segment arrives. The second timeout belongs to the episode that began with 1 and 2.
    // As soon as these are acknowledged, 3 and 4 count as lost, and two packets may leave
    // (`frto_highmark`).
    assert_eq!(script.expire().1, [2]);
    assert_eq!(script.ack(2, &[]), [3, 4]);
    assert_eq!((script.sender.state(), script.cwnd()), (State::Loss, 2));
}

#[test]
fn old_kernels_halve_the_window_even_after_a_spurious_timeout() {
    // The originals arrive late; their timestamps would show that at once.
    let mut script = Script::with_timestamps(LINUX_2_6, "reno", 10, u32::MAX, 100);
    script.expire();
    script.now = Time::ZERO + Span::from_millis(310);
    assert_eq!(script.ack(1, &[]), [11, 12]);
    assert_eq!(script.sender.state(), State::Loss, "F-RTO waits for the answer to new data");
    script.ack(2, &[]);
    assert_eq!((script.sender.state(), script.cwnd()), (State::Cwr, 11));
    (3..=13).for_each(|seq| drop(script.ack(seq, &[])));
    assert_eq!((script.sender.state(), script.cwnd()), (State::Open, 5));
    let again = script.sent.iter().filter(|&&seq| seq <= 10).count();
    assert_eq!(again, 11, "only the head was retransmitted");
}

#[test]
fn a_control_of_the_whole_window_gets_it_back_after_a_spurious_timeout() {
    // Found by the senders' fuzz target: BBR has no threshold, so its window "fell" to an unset
    // one.
    let kids = crate::tcp::profile::profile("kids-3.8").unwrap();
    let mut script = Script::with_timestamps(kids, "bbr", 3, u32::MAX, 100);
    script.expire();
    script.now = Time::ZERO + Span::from_millis(310);
    [1, 2, 8].into_iter().for_each(|seq| drop(script.ack(seq, &[])));
    assert_ne!(script.sender.state(), State::Loss);
    assert!((1..100).contains(&script.cwnd()), "{}", script.cwnd());
}

#[test]
fn early_retransmit_waits_a_quarter_of_a_round_trip() {
    let kids = crate::tcp::profile::profile("kids-3.8").unwrap();
    let mut script = Script::with(kids, "reno", 10, 3, 100);
    assert_eq!(script.ack(0, &[(3, 3)]), NOTHING);
    assert_eq!(script.ack(0, &[(2, 3)]), NOTHING);
    assert_eq!(script.expire(), (125.0, vec![1]));
    assert_eq!(script.sender.state(), State::Recovery);
    let mut old = Script::with(LINUX_2_6, "reno", 10, 3, 100);
    old.ack(0, &[(2, 3)]);
    assert_eq!(old.expire(), (300.0, vec![1]), "without it there is only the timeout");
}

#[test]
fn linux_2_6_finds_no_losses_of_data_sent_during_a_recovery_and_3_8_does() {
    // Linux 3.8 `tcp_mark_head_lost`, `loss_high`.
    let kids = crate::tcp::profile::profile("kids-3.8").unwrap();
    let newer = Profile { marks_new_data: true, ..LINUX_2_6 };
    for (profile, lost) in [(LINUX_2_6, 1), (newer, 2), (kids, 2)] {
        let mut script = Script::with(profile, "reno", 20, u32::MAX, 100);
        for sacked in 2..=20 {
            script.ack(0, &[(2, sacked)]);
        }
        // 21 and 22 left before the recovery began, 23 during it; 23 is lost.
        script.now += Span::from_millis(50);
        script.ack(0, &[(2, 22), (24, 28)]);
        assert_eq!(script.sender.board.lost(), lost, "{}", profile.name);
    }
}

#[test]
fn linux_2_6_prevents_bursts_after_dubious_acknowledgements() {
    let mut script = Script::with(LINUX_2_6, "reno", 20, 8, 100);
    script.ack(0, &[(2, 2)]);
    // Seven packets are in flight, and three more may leave.
    assert_eq!((script.sender.state(), script.cwnd()), (State::Disorder, 10));
}

/// Linux 2.6 and 3.x `tcp_undo_cwr`: after a mark the threshold remains low, and the window rises
/// to it.
#[test]
fn a_spurious_timeout_with_a_mark_leaves_old_stacks_at_the_threshold() {
    let kids = crate::tcp::profile::profile("kids-3.8").unwrap();
    for (marked_undo, ssthresh) in [(false, 2), (true, 5)] {
        // F-RTO of these kernels undoes nothing, so F-RTO of later kernels is used.
        let profile = Profile { marked_undo, frto_starts_over: false, ..kids };
        let mut script = Script::with(profile, "reno", 20, u32::MAX, 100);
        script.expire();
        script.now += Span::from_millis(1);
        script.ack_with_echo(1, &[], false);
        script.ack_with_echo(2, &[], true); // an original: nothing was lost
        // The mark halves a window of 1, or the window of 10 that the timeout left.
        assert_eq!(script.sender.state(), State::Cwr, "{marked_undo}");
        assert_eq!(script.sender.window.ssthresh, ssthresh, "{marked_undo}");
    }
}

#[test]
fn a_control_of_the_whole_window_keeps_it_if_a_mark_forbids_an_undo() {
    // Found by the fuzz target: BBR has no threshold, so its window rose to an unset value.
    let mut script = Script::with_timestamps(LINUX_2_6, "bbr", 2, 256, 100);
    script.expire();
    script.ack_with_echo(2, &[], true);
    assert!(script.cwnd() < 100, "{}", script.cwnd());
}
