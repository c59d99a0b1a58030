//! Timeouts, F-RTO, idle time (endpoints sheet §1.11, §1.13).

use super::*;

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
fn karn_a_segment_sent_again_spoils_the_sample_of_those_acknowledged_with_it() {
    let mut script = Script::stamped(Profile { tail_probes: false, ..LINUX }, "reno", 2, 2, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    (script.now, script.stamp) = (script.now + Span::from_millis(100), script.now);
    script.ack(2, &[]);
    // By the echo the round trip is 100 ms, by the original of segment 2 it would be 400.
    assert_eq!(script.sender.smoothed_rtt(), Span::from_millis(100));
}

#[test]
fn timeouts_without_progress_arm_f_rto_again() {
    let mut script = Script::without_probes("reno", 10, u32::MAX, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    assert_eq!(script.ring(), (900.0, vec![1]));
    assert_eq!((script.sender.timeouts, script.sender.window.ssthresh), (2, 5));
    script.now = Time::ZERO + Span::from_millis(1000);
    // The first answer brings new data, the original of segment 2 then tells that nothing was lost.
    assert_eq!(script.ack(1, &[]), [11, 12]);
    script.ack(2, &[]);
    assert_eq!((script.sender.state(), script.sender.timeouts), (State::Open, 0));
}

#[test]
fn an_original_that_ends_the_episode_still_tells_that_the_timeout_was_spurious() {
    let mut script = Script::without_probes("reno", 10, 10, 100);
    assert_eq!(script.ring(), (300.0, vec![1]));
    script.now += Span::from_millis(10);
    script.ack(10, &[]);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Open, u32::MAX));
    assert!(script.cwnd() >= 10);
}
