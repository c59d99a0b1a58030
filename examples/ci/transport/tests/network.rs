//! The transport behind the AQM that this project configures, in virtual time.

use sojourn_testing::{Bottleneck, Report, Span, TestDatagram, Time};
use transport::Sender;

/// The AQM that this project configures.
const QUEUE: &str = "codel:target=5ms";

/// Ten seconds of one sender over 10 Mbit/s and a round trip of 40 ms, after two seconds of
/// warm-up.
fn upload(queue: &str) -> Report {
    let path = Bottleneck::new("10mbit").delay("20ms").buffer("200p").warmup("2s");
    let mut there = path.clone().queue(queue).link().unwrap();
    let mut back = path.link().unwrap();
    let (mut sender, mut now, end) =
        (Sender::default(), Time::ZERO, Time::ZERO + Span::from_secs(10));
    while now < end {
        while let Some(ack) = back.poll(now) {
            sender.on_ack(ack.datagram.content);
        }
        while let Some(packet) = there.poll(now) {
            back.send(now, TestDatagram::new(packet.datagram.content, 40));
        }
        while let Some(number) = sender.poll() {
            there.send(now, TestDatagram::new(number, 1500));
        }
        now = there.next().min(back.next()).min(end);
    }
    there.finish(end)
}

#[test]
fn the_queue_stays_near_the_target() {
    upload(QUEUE).assert_below("delay_mean", "3ms");
}

#[test]
fn it_costs_little_throughput() {
    let [codel, taildrop] = [QUEUE, "taildrop"].map(upload);
    assert!(codel.value("throughput") > 0.85 * taildrop.value("throughput"));
}

#[test]
fn the_same_packets_in_every_run() {
    let [one, again] = [upload(QUEUE), upload(QUEUE)];
    assert_eq!(one.value("delay_max"), again.value("delay_max"));
}
