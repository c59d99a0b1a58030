//! Sending as allowed by windows and data.

use super::*;
use crate::tcp::profile::{AckRule, SendBufferRule};

/// Linux `tcp_chrono_stop`: `tcpi_busy_time` ends when everything is acknowledged.
#[test]
fn a_connection_is_busy_until_everything_is_acknowledged() {
    let mut script = Script::start("reno", 10, 2, 100);
    script.ack(1, &[]);
    script.now += Span::from_millis(20);
    script.ack(2, &[]);
    let times = script.sender.times(Time::ZERO + Span::from_millis(500));
    assert_eq!((times.busy, times.rwnd_limited), (Span::from_millis(120), Span::ZERO));
}

/// Linux `tcp_event_new_data_sent` calls `tcp_check_space` for segments sent by the pacing timer
/// too, so the program writes whenever 128 KiB have left.
#[test]
fn what_leaves_between_acknowledgements_makes_room_for_the_next_write() {
    let mut script = Script::start("bbr", 10, 2_000, 100);
    let mut ends = Vec::new();
    // Ten segments that leave one by one are acknowledged together.
    for arrived in (10..1_500).step_by(10) {
        let due = script.now + Span::from_millis(100);
        script.ack(arrived, &[]);
        while script.sender.next_timer() < due {
            script.expire();
            let written = script.sender.writes.as_ref().unwrap().written();
            if ends.last() != Some(&written) {
                ends.push(written);
            }
        }
        script.now = due;
    }
    let writes = ends.windows(2).map(|two| two[1] - two[0]).collect::<Vec<_>>();
    assert!(writes.len() > 5 && writes.iter().all(|&bytes| bytes == 132_000), "{writes:?}");
}

/// Linux `tcp_tso_should_defer` checks when the last packet left; the first burst of the same
/// acknowledgement has set that time (`tcp_wstamp_ns`; fact tcp-44).
#[test]
fn what_is_left_after_a_burst_waits_for_the_next_acknowledgement_after_a_pause_too() {
    let ack = AckRule { answers_push: false, ..LINUX.ack }; // all that is unsent is one buffer
    let profile = Profile { offload_bytes: Some(64_000), ack, ..LINUX };
    let mut script = Script::with(profile, "reno", 10, 1_000, 20);
    script.sender.window.ssthresh = 5;
    assert_eq!(script.ack(3, &[]), [11, 12], "of three that the window has room for");
    script.now += Span::from_micros(500);
    assert_eq!(script.ack(4, &[]), [13, 14]);
}

/// Linux marks samples as application-limited when a program blocked on the send buffer has written
/// everything that was sent (`tcp_rate_check_app_limited`; fact tcp-36).
#[test]
fn a_full_send_buffer_limits_what_bbr_samples() {
    let limited = |first| {
        let first = std::num::NonZeroU32::new(first).unwrap();
        let rule = SendBufferRule { first, most: u32::from(first) };
        let profile = Profile { send_buffer: Some(rule), ..LINUX };
        let mut script = Script::with(profile, "bbr", 40, 2_000, 100);
        while script.sender.next_timer() < script.now + Span::from_millis(50) {
            script.expire();
        }
        script.ack(script.sender.board.nxt(), &[]);
        script.sender.rate.as_ref().unwrap().is_app_limited()
    };
    let segment = 1000 + 1280;
    assert!(limited(30 * segment), "30 segments fill it, the window has room for 40");
    assert!(!limited(200 * segment));
}
