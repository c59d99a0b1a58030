//! Timeouts (RFC 6298 §5), F-RTO (RFC 5682), idle periods (RFC 2861).

use super::*;

#[test]
fn timeouts_double() {
    let mut script = Script::without_probes("cubic", 1, 1, 100);
    let times: Vec<f64> = (0..6).map(|_| script.expire().0).collect();
    assert_eq!(times, [300.0, 900.0, 2100.0, 4500.0, 9300.0, 18900.0]);
}

#[test]
fn idle_time_halves_the_window_once_per_timeout() {
    for (window, idle_ms, expected) in [
        (36, 200, 36),
        (36, 350, 18),
        (36, 600, 18),
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
fn a_timeout_leaves_cubic_a_window_of_one_and_a_threshold_of_seven_tenths() {
    let mut script = Script::without_probes("cubic", 10, u32::MAX, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (1, 7));
    assert_eq!(script.sender.state(), State::Loss);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut script = Script::without_probes("cubic", 10, u32::MAX, 100);
    script.expire();
    // The original of segment 2 arrives after all: nothing was lost.
    script.now = Time::ZERO + Span::from_millis(310);
    assert_eq!(script.ack(1, &[]), [11, 12]); // F-RTO tries new data
    script.ack(2, &[]);
    assert_eq!(script.sender.state(), State::Open);
    assert!(script.cwnd() >= 10);
}

#[test]
fn after_idle_time_other_stacks_restart_or_keep_the_window() {
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
fn a_lost_retransmission_after_a_timeout_is_a_new_loss() {
    let mut script = Script::without_probes("reno", 16, u32::MAX, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Loss, 8));
    let in_ms = |ms| Time::ZERO + Span::from_millis(ms);
    script.now = in_ms(400);
    script.stamp = in_ms(300);
    assert_eq!(script.ack(1, &[]), [17, 18]); // F-RTO tries new data
    script.now = in_ms(500);
    assert_eq!(script.ack(1, &[(17, 17)]), [2]); // whose SACK shows that the loss was real
    script.now = in_ms(501);
    assert_eq!(script.ack(1, &[(17, 18)]), [3]);
    script.now = in_ms(601);
    script.ack(1, &[(3, 3), (17, 18)]);
    // Segment 3 was retransmitted after 2, and arrived: 2 is lost again.
    assert_eq!(script.sender.state(), State::Recovery);
    assert_eq!(script.sent.iter().filter(|&&seq| seq == 2).count(), 3);
}

#[test]
fn a_retransmitted_segment_invalidates_the_sample_of_those_acknowledged_with_it() {
    let mut script =
        Script::with_timestamps(Profile { tail_probes: false, ..LINUX }, "reno", 2, 2, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    (script.now, script.stamp) = (script.now + Span::from_millis(100), script.now);
    script.ack(2, &[]);
    // According to the echo the round trip is 100 ms; according to the original of segment 2 it
    // would be 400 ms.
    assert_eq!(script.sender.smoothed_rtt(), Span::from_millis(100));
}

#[test]
fn timeouts_without_progress_arm_f_rto_again() {
    let mut script = Script::without_probes("reno", 10, u32::MAX, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    assert_eq!(script.expire(), (900.0, vec![1]));
    assert_eq!((script.sender.timeouts.count, script.sender.window.ssthresh), (2, 5));
    script.now = Time::ZERO + Span::from_millis(1000);
    // The first acknowledgement releases new data; the original of segment 2 then shows that
    // nothing was lost.
    assert_eq!(script.ack(1, &[]), [11, 12]);
    script.ack(2, &[]);
    assert_eq!((script.sender.state(), script.sender.timeouts.count), (State::Open, 0));
}

#[test]
fn an_original_that_ends_the_episode_still_shows_that_the_timeout_was_spurious() {
    let mut script = Script::without_probes("reno", 10, 10, 100);
    assert_eq!(script.expire(), (300.0, vec![1]));
    script.now += Span::from_millis(10);
    script.ack(10, &[]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, u32::MAX));
    assert!(script.cwnd() >= 10);
}

/// Fact tcp-9.
#[test]
fn sacks_of_later_data_do_not_restart_the_timer() {
    let mut script = Script::with(SACK, "reno", 20, u32::MAX, 100);
    (2..=4).for_each(|to| drop(script.ack(0, &[(2, to)])));
    assert!(script.sent.ends_with(&[1]), "1 was retransmitted at 100 ms");
    let after_retransmission = script.sender.next_timer();
    script.now = Time::ZERO + Span::from_millis(150);
    (5..=20).for_each(|to| drop(script.ack(0, &[(2, to)])));
    assert!(script.sender.board.nxt() > 23, "new data leaves after the retransmission");
    let restarted = script.sender.next_timer();
    assert!(restarted > after_retransmission, "data of 0 ms arrives: the head still may");
    script.now = Time::ZERO + Span::from_millis(250);
    script.ack(0, &[(2, 23)]);
    assert_eq!(script.sender.next_timer(), restarted);
}

#[test]
fn a_second_timeout_of_the_same_segment_does_not_reduce_the_threshold_again() {
    let mut script = Script::without_probes("reno", 20, u32::MAX, 100);
    script.expire();
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (1, 10));
    script.expire();
    assert_eq!((script.cwnd(), script.sender.window.ssthresh), (1, 10));
    // After progress, the next timeout is a separate loss and halves the window, which has grown.
    script.ack(1, &[]);
    let cwnd = script.cwnd();
    script.expire();
    assert_eq!(script.sender.window.ssthresh, (cwnd / 2).max(2));
}

#[test]
fn a_timeout_without_new_data_to_send_retransmits_what_was_lost() {
    // RFC 5682 §2.1 step 2: without new data F-RTO ends.
    let mut script = Script::without_probes("reno", 10, 10, 100);
    script.expire();
    script.now += Span::from_millis(100);
    assert_eq!(script.ack(1, &[]), [2, 3]);
    assert!(!script.sender.timeouts.frto);
}

#[test]
fn f_rto_runs_only_if_the_profile_has_it_and_not_after_a_recovery() {
    let mut script = Script::with(NEWRENO, "reno", 10, u32::MAX, 100);
    script.expire();
    assert!(!script.sender.timeouts.frto);
    let mut script = Script::without_probes("reno", 20, u32::MAX, 100);
    (2..=4).for_each(|to| drop(script.ack(0, &[(2, to)])));
    assert_eq!(script.sender.state(), State::Recovery);
    while script.sender.state() != State::Loss {
        script.expire();
    }
    assert!(!script.sender.timeouts.frto, "Linux `tcp_enter_loss`");
}

/// Fact linux-15: `sk_rethink_txhash`.
#[test]
fn a_timeout_redraws_the_hash_of_the_flow() {
    use sojourn_aqm::Packet as _;
    let hashes = |profile: Profile| {
        let mut script = Script::with(profile, "cubic", 2, u32::MAX, 100);
        let mut hashes = Vec::new();
        for _ in 0..2 {
            let now = script.sender.next_timer();
            let mut see = |packet: Packet| hashes.push(packet.sender_hash() ^ packet.flow());
            script.sender.on_timer(now, &mut see);
        }
        (hashes[0] == 0, hashes[0] == hashes[1])
    };
    let probeless = Profile { tail_probes: false, ..LINUX };
    assert_eq!(hashes(probeless), (false, false));
    assert_eq!(hashes(LINUX_2_6), (true, true));
}
