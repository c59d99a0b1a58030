//! Connection setup over a queue: its packets, and the effect of lost SYNs.

use sojourn_record::Run;
use sojourn_record::rows::PacketRow;
use sojourn_scenario::resolved::{App, FlowGroup, Loss, Resolved};

use crate::common::*;

/// A SYN of Linux with timestamps, and a SYN-ACK (fact tcp-29).
const SYN: u32 = 60;

/// Ten segments per flow, under the rules of a profile.
fn short(count: u32, profile: &str) -> FlowGroup {
    let mut tcp = tcp("reno");
    (tcp.profile, tcp.initial_window) = (profile.into(), Some(10));
    group("short", count, App::Bulk { tcp, bytes: Some(14_480) })
}

fn recorded(seconds: u64, flows: FlowGroup, loss: Option<f64>) -> Run {
    let mut plan: Resolved = scenario(seconds, vec![link("b", "taildrop", 5_000_000)], vec![flows]);
    plan.links[0].loss = loss.map(Loss::Bernoulli);
    plan.record.packets = true;
    run(&plan)
}

fn of_flow(run: &Run, flow: u32) -> Vec<&PacketRow> {
    run.packets.iter().filter(|row| row.flow == flow).collect()
}

#[test]
fn the_answer_to_a_syn_is_acknowledged_by_a_packet_ahead_of_the_data() {
    let sizes = |profile: &str| {
        let run = recorded(1, short(1, profile), None);
        run.packets.iter().take(3).map(|row| row.bytes).collect::<Vec<_>>()
    };
    assert_eq!(sizes("linux"), [SYN, 52, 1500], "fact tcp-29");
    assert_eq!(sizes("linux-2.6"), [52, 52, 1500]);
    assert_eq!(sizes("sack"), [52, 1500, 1500], "ns-2 simulates one direction only");
}

/// RFC 5681 §3.1, Linux 6.1 `tcp_init_transfer`.
#[test]
fn more_than_one_lost_syn_leaves_a_window_of_one() {
    let run = recorded(20, short(60, "linux"), Some(0.5));
    let (mut seen, mut cut) = (0, 0);
    for flow in 0..60 {
        let packets = of_flow(&run, flow);
        let Some(first) = packets.iter().find(|row| row.bytes > SYN) else { continue };
        let syns = packets.iter().filter(|row| row.bytes == SYN && row.arrived < first.arrived);
        let lost = syns.count() - 1;
        let soon = first.arrived + ms(20);
        let window = packets.iter().filter(|row| row.bytes > SYN && row.arrived < soon).count();
        assert_eq!(window, if lost > 1 { 1 } else { 10 }, "flow {flow}: {lost} SYNs lost");
        seen += 1;
        cut += usize::from(lost > 1);
    }
    assert!(seen > 40 && cut > 5, "{seen} flows opened, {cut} of them late");
}

/// Linux kernel/time/timer.c: a timeout of a second ends in a slot of 64 ms.
#[test]
fn a_syn_is_sent_again_when_the_timer_wheel_says_so() {
    let run = recorded(3, short(1, "linux"), Some(1.0));
    let at: Vec<u64> = run.packets.iter().map(|row| row.arrived.as_nanos() / 1_000_000).collect();
    assert_eq!(at, [1, 1065], "sent at 0 and at the end of the slot, 1,064 ms (fact tcp-50)");
}

/// Fact tcp-48.
#[test]
fn the_timeout_of_a_syn_stays_the_same_four_times_in_linux_7_2() {
    let seconds = |profile| {
        let run = recorded(20, short(1, profile), Some(1.0));
        run.packets.iter().map(|row| row.arrived.as_nanos() / 1_000_000_000).collect::<Vec<_>>()
    };
    assert_eq!(seconds("linux"), [0, 1, 3, 7, 15]);
    assert_eq!(seconds("linux-7.2"), [0, 1, 2, 3, 4, 5, 7, 11, 19]);
}

/// When SYN-ACKs leave over a link on which all are lost.
fn answers(profile: &str, seconds: u64) -> Vec<u64> {
    let links = vec![link("b", "taildrop", 5_000_000), link("back", "taildrop", 5_000_000)];
    let start = (ms(40), ms(40));
    let flows = FlowGroup { reverse: vec![1], start, ..short(1, profile) };
    let mut plan: Resolved = scenario(seconds, links, vec![flows]);
    plan.links[1].loss = Some(Loss::Bernoulli(1.0));
    plan.record.packets = true;
    let run = run(&plan);
    let back = run.packets.iter().filter(|row| row.queue == 1);
    back.map(|row| row.arrived.as_nanos() / 1_000_000).collect()
}

/// Linux 6.1 `reqsk_timer_handler` and `tcp_check_req`: a duplicate of the SYN is answered at once
/// and restarts the timer, which doubles each time it expires.
#[test]
fn an_answer_to_a_syn_is_sent_again_by_a_timer_and_for_every_copy_of_the_syn() {
    // The SYN is sent at 40 ms, where a slot begins. It arrives at 90 ms, and duplicates arrive at
    // 1,114 and 3,162 ms; the timer expires at 2,152 ms. The link is 50 ms away.
    assert_eq!(answers("linux", 5), [140, 1164, 2202, 3212]);
    assert_eq!(answers("pi2-ns3", 5).len(), 2, "copies after 3 s only, no timer");
}

/// Linux 6.1 `tcp_check_req` leaves `ts_recent` at the timestamp of the first SYN to arrive.
#[test]
fn an_answer_to_a_copy_of_a_syn_echoes_the_first_so_that_no_syn_counts_as_lost() {
    let links = vec![link("b", "taildrop", 5_000_000), link("back", "taildrop", 5_000_000)];
    let flows = FlowGroup { reverse: vec![1], ..short(60, "linux") };
    let mut plan: Resolved = scenario(20, links, vec![flows]);
    plan.links[1].loss = Some(Loss::Bernoulli(0.5));
    plan.record.packets = true;
    let run = run(&plan);
    let mut late = 0;
    for flow in 0..60 {
        let packets: Vec<_> =
            run.packets.iter().filter(|row| row.queue == 0 && row.flow == flow).collect();
        let Some(first) = packets.iter().find(|row| row.bytes > SYN) else { continue };
        let soon = first.arrived + ms(20);
        let window = packets.iter().filter(|row| row.bytes > SYN && row.arrived < soon).count();
        assert_eq!(window, 10, "flow {flow}");
        let syns = packets.iter().filter(|row| row.bytes == SYN && row.arrived < first.arrived);
        late += usize::from(syns.count() > 2);
    }
    assert!(late > 3, "{late} flows sent a SYN twice more");
}
