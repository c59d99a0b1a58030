//! Our own scripts pass, and an incorrect script never does.

use std::path::Path;

use sojourn_scripts::{ScriptOutcome, run};

fn verdict(text: &str) -> ScriptOutcome {
    run(text, &|_| None).unwrap_or_else(|error| panic!("{error}"))
}

/// A connection whose peer accepts segments of 1000 bytes, then `events`.
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
    assert_eq!(
        held, 7,
        "the number of scripts changed: update this and docs/evidence/tcp-scripts.md"
    );
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

/// Linux 7.2 `tcp_fin` discards pending SACK blocks.
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
fn a_text_that_is_not_a_script_is_refused_with_its_line() {
    for (text, message) in [
        ("0 socket(", "line 1: expected an argument"),
        ("\n0.1 < Q 0:0(0)", "line 2: expected flags"),
        ("0 < . 1:5(3) ack 1", "line 1: 1:5 is not 3 bytes"),
        ("0.2~0.1 > . 1:1(0)", "line 1: the range of times ends before it begins"),
        ("0 %{ assert 1", "line 1: `}%` is missing after this"),
        ("0 < . 1:1(0) <...>", "`<...>` says nothing of a segment that arrives"),
        ("x", "line 1: expected a time in seconds"),
    ] {
        let error = run(text, &|_| None).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_script_beyond_its_limits_is_refused_with_the_line_and_the_limit() {
    let text = |event: &str| format!("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n{event}");
    let lists = format!("+0 poll({}1{}) = 0", "[".repeat(100_000), "]".repeat(100_000));
    let names = format!("+0 poll({}1) = 0", "a=".repeat(100_000));
    for (event, message) in [
        (lists.as_str(), "brackets are nested more than 32 deep"),
        (names.as_str(), "brackets are nested more than 32 deep"),
        ("+0 < S 0:0(0) win 32000 <mss 0>", "mss 0: must be 1 to 65535"),
        ("+0 < S 0:0(0) win 32000 <mss 65536>", "mss 65536: must be 1 to 65535"),
        ("+0 < S 0:0(0) win 32000 <wscale 256>", "wscale 256: must be 0 to 255"),
        ("+0 < . 1:1(0) ack 1 win 65536", "a window has at most the value 65535"),
        ("+0 < . 1:65537(65536) ack 1 win 9", "a segment has at most 65535 bytes of data"),
        ("+0 < . 4294967295:0(1) ack 1 win 9", "sequence numbers here end at 2147483647"),
        ("+0 < . 0:9(9) ack 1 win 9", "data begins at sequence number 1"),
        ("+0 write(3, ..., 4294967295) = 1", "write of 4294967295 bytes: 0 to 16777216"),
        ("+0 write(3, ..., -1) = 1", "write of -1 bytes: 0 to 16777216"),
        ("+0 read(3, ..., -1) = 1", "read of -1 bytes: 0 to 16777216"),
        ("+10001 close(3) = 0", "a script ends at 10000 s at the latest"),
    ] {
        let error = run(&text(event), &|_| None).unwrap_err().to_string();
        let shown = &event[..event.len().min(60)];
        assert!(error.starts_with("line 2: ") && error.contains(message), "{shown}: {error}");
        assert!(error.len() < 120, "{shown}: {error}");
    }
    let often = text("+0 write(3, ..., 16000000) = 1\n+0 write(3, ..., 16000000) = 1");
    let error = run(&often, &|_| None).unwrap_err().to_string();
    assert_eq!(error, "line 3: a script writes at most 16777216 bytes in all");
    let error = run(&"\n".repeat(1_000_001), &|_| None).unwrap_err().to_string();
    assert_eq!(error, "line 1: a script has at most 1000000 bytes, not 1000001");
    let error = run(&"+0 close(3) = 0\n".repeat(10_001), &|_| None).unwrap_err().to_string();
    assert_eq!(error, "line 10001: a script has at most 10000 events");
}

#[test]
fn an_assertion_that_is_nested_too_deeply_or_very_long_is_judged_or_refused_soon() {
    for (open, close) in [("(", ")"), ("-", ""), ("not ", ""), ("abs(", ")")] {
        let nested = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        match established(&format!("+0 %{{ assert {nested} }}%")) {
            ScriptOutcome::NotApplicable { reason, .. } => {
                assert!(reason.ends_with("it is nested more than 64 deep"), "{open}");
            }
            other => panic!("{open}: {other:?}"),
        }
    }
    let long = "(\n".repeat(200_000);
    let began = std::time::Instant::now();
    assert!(matches!(
        established(&format!("+0 %{{ assert {long} }}%")),
        ScriptOutcome::NotApplicable { .. }
    ));
    assert!(began.elapsed().as_secs() < 10, "the lines are joined in linear time");
}

#[test]
fn a_window_scale_above_14_counts_as_14_and_tiny_segments_are_not_applicable() {
    let opened = |option: &str| {
        verdict(&format!(
            "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
            +0 listen(3, 1) = 0
            +0 < S 0:0(0) win 32000 <{option},nop,wscale 40>
            +0 > S. 0:0(0) ack 1 <...>
            +.1 < . 1:1(0) ack 1 win 32000
            +0 accept(3, ..., ...) = 4"
        ))
    };
    assert_eq!(opened("mss 1000"), ScriptOutcome::Passed);
    let ScriptOutcome::NotApplicable { reason, .. } = opened("mss 10") else { panic!("mss 10") };
    assert_eq!(reason, "mss 10, below 64");
}
