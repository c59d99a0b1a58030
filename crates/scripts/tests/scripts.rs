//! Our own scripts hold, and a script that is wrong never passes.

use std::path::Path;

use sojourn_scripts::{ScriptOutcome, run};

fn verdict(text: &str) -> ScriptOutcome {
    run(text, &|_| None).unwrap_or_else(|error| panic!("{error}"))
}

/// A connection whose peer takes segments of 1000 bytes, then `events`.
fn established(events: &str) -> ScriptOutcome {
    verdict(&format!(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 listen(3, 1) = 0
        +0 < S 0:0(0) win 32000 <mss 1000,nop,nop,sackOK>
        +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
        +.1 < . 1:1(0) ack 1 win 32000
        +0 accept(3, ..., ...) = 4
        {events}"
    ))
}

fn failed(events: &str) -> (u32, String, String) {
    match established(events) {
        ScriptOutcome::Failed { line, expected, got } => (line, expected, got),
        other => panic!("{events}: {other:?}"),
    }
}

#[test]
fn every_script_of_ours_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut held = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(verdict(&text), ScriptOutcome::Passed, "{}", path.display());
        held += 1;
    }
    assert_eq!(held, 7, "a script came or went: change this and docs/evidence/tcp-scripts.md");
}

/// Linux 7.2 `tcp_fin` in state ESTABLISHED, `tcp_send_delayed_ack`.
#[test]
fn the_acknowledgement_of_a_fin_after_data_waits_for_data_of_ours() {
    let data = "+0 < . 1:1001(1000) ack 1 win 32000\n+0 > . 1:1(0) ack 1001
        +0 < F. 1001:1001(0) ack 1 win 32000\n";
    let after = |rest: &str| established(&format!("{data}{rest}"));
    assert_eq!(after("+.04 > . 1:1(0) ack 1002"), ScriptOutcome::Passed);
    assert_eq!(after("+.01 close(4) = 0\n+0 > F. 1:1(0) ack 1002"), ScriptOutcome::Passed);
    assert!(matches!(after("+0 > . 1:1(0) ack 1002"), ScriptOutcome::Failed { line: 10, .. }));
}

/// Linux 7.2 `tcp_fin` in state FIN-WAIT-2, `tcp_send_delayed_ack`, `tcp_data_queue`.
#[test]
fn a_fin_is_acknowledged_at_once_before_data_after_our_own_and_by_a_full_buffer() {
    let holds = |events| assert_eq!(established(events), ScriptOutcome::Passed, "{events}");
    holds("+0 < F. 1:1(0) ack 1 win 32000\n+0 > . 1:1(0) ack 2");
    holds(
        "+0 < . 1:1001(1000) ack 1 win 32000\n+0 > . 1:1(0) ack 1001
        +0 close(4) = 0\n+0 > F. 1:1(0) ack 1001
        +.01 < F. 1001:1001(0) ack 2 win 32000\n+0 > . 2:2(0) ack 1002",
    );
    holds(
        "+0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [500], 4) = 0
        +0 < . 1:1001(1000) ack 1 win 32000\n+0 > . 1:1(0) ack 1001
        +0 < F. 1001:1001(0) ack 1 win 32000\n+0 > . 1:1(0) ack 1002",
    );
}

/// Linux 7.2 `tcp_fin` forgets what SACK blocks would report.
#[test]
fn data_that_comes_again_with_a_fin_is_not_reported() {
    let events = "+0 < . 1:1001(1000) ack 1 win 32000\n+0 > . 1:1(0) ack 1001
        +0 < F. 1:1001(1000) ack 1 win 32000\n+.04 > . 1:1(0) ack 1002";
    assert_eq!(established(events), ScriptOutcome::Passed);
}

#[test]
fn a_segment_of_another_number_size_time_or_field_fails_with_both_sides() {
    for (events, expected, got) in [
        ("+0 write(4, ..., 1000) = 1000\n+0 > . 2:1002(1000) ack 1", "2:1002", "1:1001(1000)"),
        ("+0 write(4, ..., 1000) = 1000\n+0 > . 1:901(900) ack 1", "1:901", "1:1001(1000)"),
        ("+0 write(4, ..., 1000) = 1000\n+0 > [ect0] . 1:1001(1000) ack 1", "[ect0]", "[NotEct]"),
        ("+0 write(4, ..., 1000) = 1000\n+.1 > . 1:1001(1000) ack 1", "at 0.2 s", "at 0.1 s"),
        ("+0 > . 1:1001(1000) ack 1", "1:1001", "nothing is sent in time"),
        (
            "+0 < . 1001:2001(1000) ack 1 win 9\n+0 > . 1:1(0) ack 1",
            ". 1:1(0) ack 1",
            "sack 1001:2001",
        ),
        ("+0 %{ assert tcpi_snd_cwnd == 11 }%", "tcpi_snd_cwnd == 11", "tcpi_snd_cwnd is 10"),
        ("+0 read(4, ..., 10) = 10", "read = 10", "read = -1 EAGAIN"),
    ] {
        let (line, found_expected, found_got) = failed(events);
        assert!(found_expected.contains(expected), "{events}: {found_expected}");
        assert!(found_got.contains(got), "{events}: {found_got}");
        assert_eq!(line, 6 + events.lines().count() as u32, "{events}");
    }
}

#[test]
fn what_the_endpoint_has_not_got_is_not_applicable_with_the_reason() {
    for (events, why) in [
        ("+0 setsockopt(4, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0", "setsockopt SO_ZEROCOPY"),
        ("+0 > icmp unreachable", "other than TCP"),
        ("+0 %{ assert tcpi_pmtu == 1500 }%", "`tcpi_pmtu` is not modelled"),
        ("+0 `reboot`", "the command reboot"),
        ("+0 write(4, ..., 1000) = 1000\n+.1 < . 1:1(0) ack 500 win 9", "part of a segment"),
        ("+0 > R 1:1(0)", "a RST"),
    ] {
        match established(events) {
            ScriptOutcome::NotApplicable { reason, .. } => {
                assert!(reason.contains(why), "{events}: {reason}");
            }
            other => panic!("{events}: {other:?}"),
        }
    }
}

#[test]
fn a_text_that_is_no_script_is_refused_with_its_line() {
    for (text, message) in [
        ("0 socket(", "line 1: expected an argument"),
        ("\n0.1 < Q 0:0(0)", "line 2: expected flags"),
        ("0 < . 1:5(3) ack 1", "line 1: 1:5 is not 3 bytes"),
        ("0.2~0.1 > . 1:1(0)", "line 1: the range of times ends before it begins"),
        ("0 %{ assert 1", "line 1: there is no `}%` after this"),
        ("0 < . 1:1(0) <...>", "`<...>` says nothing of a segment that arrives"),
        ("x", "line 1: expected a time in seconds"),
    ] {
        let error = run(text, &|_| None).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}
