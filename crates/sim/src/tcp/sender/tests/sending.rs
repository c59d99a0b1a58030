//! Sending as far as windows and data allow.

use super::*;

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
