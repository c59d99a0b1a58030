//! A protocol as a plain state machine: stop and wait, with a timer. Both directions are links.

use sojourn_testing::{Admission, Bottleneck, Ecn, Span, TestDatagram, TestLink, Time};

const TIMEOUT: Span = Span::from_millis(100);

/// Sends a number until it is acknowledged, then the next one.
struct Sender {
    number: u32,
    resend_at: Time,
    resent: u32,
}

/// The result of running two ends for some time.
struct Ended {
    received: Vec<u32>,
    resent: u32,
    there: TestLink<u32>,
    end: Time,
}

/// Runs both ends for a number of seconds over the same link in both directions.
fn run(link: &Bottleneck, seconds: u64) -> Ended {
    let (mut there, mut back) = (link.link().unwrap(), link.clone().seed(2).link().unwrap());
    let mut sender = Sender { number: 0, resend_at: Time::ZERO, resent: 0 };
    let (mut now, mut received) = (Time::ZERO, Vec::new());
    let end = Time::ZERO + Span::from_secs(seconds);
    while now < end {
        if now >= sender.resend_at {
            sender.resent += u32::from(now > Time::ZERO);
            sender.resend_at = now + TIMEOUT;
            there.send(now, TestDatagram::new(sender.number, 1500));
        }
        while let Some(delivery) = there.poll(now) {
            let number = delivery.datagram.content;
            if received.last() != Some(&number) {
                received.push(number);
            }
            back.send(now, TestDatagram::new(number, 40));
        }
        while let Some(delivery) = back.poll(now) {
            if delivery.datagram.content == sender.number {
                sender.number += 1;
                sender.resend_at = now + TIMEOUT;
                there.send(now, TestDatagram::new(sender.number, 1500));
            }
        }
        now = there.next().min(back.next()).min(sender.resend_at).min(end);
    }
    Ended { received, resent: sender.resent, there, end }
}

/// A round takes 1.2 ms and 32 us at 10 Mbit/s, plus 40 ms of delay.
#[test]
fn one_packet_is_sent_per_round_trip() {
    let ended = run(&Bottleneck::new("10mbit").delay("20ms").queue("pie"), 4);
    assert_eq!((ended.received.len(), ended.resent), (97, 0));
    let report = ended.there.finish(ended.end);
    report.assert_below("utilisation", "3%");
    report.assert_below("delay_max", "1us");
}

#[test]
fn losses_are_repaired_in_order_and_runs_repeat() {
    let lossy = Bottleneck::new("10mbit").delay("20ms").loss(0.1).jitter("5ms", false);
    let [one, again] = [run(&lossy, 10), run(&lossy, 10)];
    assert!(one.resent > 10 && one.received.is_sorted(), "{}", one.resent);
    assert_eq!((&one.received, one.resent), (&again.received, again.resent));
    let other = run(&lossy.clone().seed(3), 10);
    assert_ne!(one.resent, other.resent);
    let report = one.there.finish(one.end);
    report.assert_above("wire_loss_rate", "5%");
    report.assert_below("wire_loss_rate", "15%");
}

#[test]
fn a_changing_rate_and_an_outage_show() {
    let steps = [("0s", "10mbit"), ("1s", "0bit"), ("2s", "1mbit")];
    let ended = run(&Bottleneck::with_steps(&steps).delay("20ms"), 4);
    assert!(ended.resent > 8, "every 100 ms of the outage: {}", ended.resent);
    ended.there.finish(ended.end).assert_above("delay_max", "900ms");
}

/// The arrivals of 1,500 datagrams at 12 Mbit/s, polled every `poll_every` nanoseconds.
fn arrivals(poll_every: u64) -> Vec<(Time, u32)> {
    let link = Bottleneck::new("10mbit").delay("5ms").queue("pie").loss(0.02).buffer("100p");
    let (mut link, mut arrived) = (link.link().unwrap(), Vec::new());
    let mut send_at = Time::ZERO;
    for now in (0..2_000_000_000).step_by(poll_every as usize).map(Time::from_nanos) {
        while send_at <= now && send_at < Time::from_nanos(1_500_000_000) {
            let number = (send_at.as_nanos() / 1_000_000) as u32;
            link.send(send_at, TestDatagram::new(number, 1500));
            send_at += Span::from_millis(1);
        }
        while let Some(delivery) = link.poll(now) {
            arrived.push((delivery.at, delivery.datagram.content));
        }
    }
    link.finish(Time::from_nanos(2_000_000_000)).assert_above("drop_rate", "1%");
    arrived
}

#[test]
fn polling_late_changes_nothing() {
    assert_eq!(arrivals(1_000_000), arrivals(250_000_000));
}

#[test]
#[should_panic(expected = "a datagram of 1501 B exceeds the MTU of 1500 B")]
fn a_datagram_above_the_mtu_is_refused() {
    let mut link = Bottleneck::new("10mbit").framing("38B").link().unwrap();
    link.send(Time::ZERO, TestDatagram::ip(vec![0; 1501]));
}

#[test]
#[should_panic(expected = "time goes backwards")]
fn time_that_goes_backwards_is_refused() {
    let mut link = Bottleneck::new("10mbit").link().unwrap();
    link.send(Time::from_nanos(1), TestDatagram::ip(vec![0; 40]));
    link.poll(Time::ZERO);
}

/// Two datagrams fill the transmitter and the queue, in which the law `step` marks from one packet
/// on.
#[test]
fn a_mark_is_seen_at_both_ends() {
    let link = Bottleneck::new("10mbit").queue("step@dctcp:backlog_threshold=1p");
    let mut link = link.link().unwrap();
    let mut send = || link.send(Time::ZERO, TestDatagram::new((), 1500).with_ecn(Ecn::Ect0));
    let admissions = [send(), send(), send(), send()];
    assert_eq!(admissions[0], Admission::Queued);
    assert_eq!(admissions[3], Admission::Marked);
    let end = Time::from_nanos(1_000_000_000);
    let marked = std::iter::from_fn(|| link.poll(end)).filter(|d| d.datagram.ecn == Ecn::Ce);
    let marked = marked.count();
    let report = link.finish(end);
    assert_eq!(report.value("mark_rate"), marked as f64 / 4.0);
}

/// There are two opportunities of 1500 B, at 1 and 5 ms, repeated every 5 ms.
#[test]
fn a_recorded_link_sends_at_its_opportunities() {
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/opportunities");
    std::fs::write(file, "1\n5\n").unwrap();
    let mut link = Bottleneck::with_trace(file).link().unwrap();
    for number in 0..3 {
        link.send(Time::ZERO, TestDatagram::new(number, 1500));
    }
    let mut at = Vec::new();
    while link.next() < Time::NEVER {
        at.extend(link.poll(link.next()).map(|delivery| delivery.at.as_nanos() / 1_000_000));
    }
    assert_eq!(at, [1, 5, 6]);
}
