//! Growth of the window, and windows that are not used (endpoints sheet §1.5, §1.13).

use super::*;

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
fn t35_t36_old_stacks_count_acknowledgements() {
    for (profile, expected) in [(LINUX, 20), (LINUX_2_6, 15)] {
        let mut script = Script::with(profile, "reno", 10, u32::MAX, 100);
        (2..=10).step_by(2).for_each(|ack| drop(script.ack(ack, &[])));
        assert_eq!(script.cwnd(), expected, "{}", profile.name);
    }
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
