//! Growth of the window, and congestion window validation.

use super::*;

/// packetdrill `slow_start/slow-start-ack-per-2pkt-send-6pkt`, `-send-5pkt`,
/// `slow-start-app-limited-9-packets-out`.
#[test]
fn the_window_grows_to_twice_what_is_used() {
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
fn old_stacks_count_acknowledgements_instead_of_packets() {
    for (profile, expected) in [(LINUX, 20), (LINUX_2_6, 15)] {
        let mut script = Script::with(profile, "reno", 10, u32::MAX, 100);
        (2..=10).step_by(2).for_each(|ack| drop(script.ack(ack, &[])));
        assert_eq!(script.cwnd(), expected, "{}", profile.name);
    }
}

#[test]
fn an_application_that_does_not_fill_the_window_loses_half_of_the_unused_part() {
    let mut script = Script::start("reno", 10, 10, 100);
    script.ack(10, &[]);
    script.sender.window.cwnd = 40;
    // Two segments per round trip, for longer than the timeout.
    for (ms, count) in [(200, 12), (350, 14), (500, 16)] {
        script.now = Time::ZERO + Span::from_millis(ms);
        script.sender.segments.count = count;
        script.sender.send(script.now, &mut |_| {});
        script.now += Span::from_millis(100);
        script.ack(count, &[]);
    }
    // Linux `tcp_cwnd_application_limited`: `used` is at least the initial window.
    assert_eq!(script.cwnd(), 25);
}

#[test]
fn a_window_that_is_just_full_grows_and_one_packet_less_does_not_in_avoidance() {
    for (count, expected) in [(10, 11), (9, 10)] {
        let mut script = Script::start("reno", 10, count, 100);
        script.sender.window.ssthresh = 5;
        script.sender.window.credit = 5;
        script.ack(5, &[]);
        assert_eq!(script.cwnd(), expected, "{count} packets in a window of 10");
    }
}

#[test]
fn acknowledgements_of_old_data_neither_grow_the_window_nor_send() {
    let mut script = Script::start("reno", 10, u32::MAX, 100);
    script.ack(4, &[]);
    let cwnd = script.cwnd();
    assert_eq!(script.ack(2, &[]), NOTHING);
    assert_eq!(script.cwnd(), cwnd);
    // Data never sent cannot be acknowledged.
    let nxt = script.sender.board.nxt();
    assert_eq!(script.ack(nxt + 1, &[]), NOTHING);
    assert_eq!(script.sender.board.una(), 4);
}
