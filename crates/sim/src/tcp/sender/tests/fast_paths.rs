//! The oracle of the fast paths: after each acknowledgement of a random stream, a sender with the
//! fast paths has the same state as a sender without them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sojourn_aqm::Rng;

use super::*;
use crate::tcp::receive_window::WindowRule;
use crate::tcp::receiver::{Answer, Receiver};

/// The network between the two ends. Probabilities are per packet.
#[derive(Clone, Copy, Debug)]
struct Network {
    seed: u64,
    delay: Span,
    /// Transmission time of a packet at the bottleneck.
    transmission: Span,
    lost: f64,
    lost_acks: f64,
    /// Probability that a packet is delayed by up to a round trip.
    reordered: f64,
    /// Probability that an acknowledgement echoes a mark.
    marked: f64,
}

/// The complete state of a sender. A new field must be added here.
fn state(sender: &Sender) -> String {
    let Sender { segments, window, usage, board, rtt, reordering, episode, .. } = sender;
    let Sender { timeouts, timers, tail_probe, send_window, echo, ecn, .. } = sender;
    let Sender { pacer, rate, busy, sent, writes, cc, .. } = sender;
    let Sender { profile: _, needs: _, cwnd_only: _, plain_acks: _, plain_duplicates: _, .. } =
        sender;
    let mut control = vec![0.0; cc.vars().len()];
    cc.observe(&mut control);
    let one = (segments, window, usage, board, rtt, reordering, episode);
    let other = (timeouts, timers, tail_probe, send_window, echo, ecn);
    format!("{:?}", (one, other, (pacer, rate, busy, sent, writes), control))
}

/// Two senders, the second without fast paths, and the packets in flight between them and a
/// receiver.
struct Oracle {
    network: Network,
    rng: Rng,
    senders: [Sender; 2],
    receiver: Receiver,
    now: Time,
    /// When the bottleneck becomes free.
    free_at: Time,
    under_way: BTreeMap<(Time, u64), Packet>,
    put: u64,
    /// How many plain acknowledgements and plain duplicates were processed.
    taken: [u32; 2],
}

impl Oracle {
    fn new(network: Network, profile: &Profile, cc: &str, count: u32) -> Oracle {
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: true,
            accurate: false,
            count,
            last_payload_bytes: 1000,
            initial_window: 10,
        };
        let sender = || {
            let control = (configure(cc).unwrap().factory)();
            let mut sender = Sender::new(segments, *profile, control);
            sender.on_established(network.delay + network.delay);
            sender
        };
        let mut senders = [sender(), sender()];
        (senders[1].plain_acks, senders[1].plain_duplicates) = (PlainAcks::None, false);
        let receiver = Receiver::new(profile.ack, profile.sack)
            .with_timer_wheel(profile.ack, profile.timer_wheel)
            .with_timestamps(profile.timestamps)
            .with_window(WindowRule::Unlimited { most: 10_000 });
        Oracle {
            network,
            rng: Rng::stream(network.seed, "network", 0),
            senders,
            receiver,
            now: Time::ZERO,
            free_at: Time::ZERO,
            under_way: BTreeMap::new(),
            put: 0,
            taken: [0; 2],
        }
    }

    /// Lets both senders act, and checks that they send the same segments and have the same state
    /// afterwards.
    fn act(&mut self, act: impl Fn(&mut Sender, &mut Vec<Packet>)) {
        let mut sent = [Vec::new(), Vec::new()];
        for (sender, sent) in self.senders.iter_mut().zip(&mut sent) {
            act(sender, sent);
        }
        let [sent, plainly] = sent;
        assert_eq!(format!("{sent:?}"), format!("{plainly:?}"), "at {:?}", self.now);
        let [fast, plain] = self.senders.each_ref().map(state);
        assert!(fast == plain, "at {:?}: {}", self.now, difference(&fast, &plain));
        for packet in sent {
            self.free_at = self.free_at.max(self.now) + self.network.transmission;
            self.put(self.free_at, self.network.lost, packet);
        }
    }

    fn put(&mut self, left: Time, lost: f64, packet: Packet) {
        let [is_lost, is_late] = [lost, self.network.reordered].map(|p| self.rng.uniform() < p);
        let late = Span::from_secs_f64(self.rng.uniform() * 2.0 * self.network.delay.as_secs());
        let late = if is_late { late } else { Span::ZERO };
        if !is_lost {
            self.under_way.insert((left + self.network.delay + late, self.put), packet);
            self.put += 1;
        }
    }

    fn acknowledge(&mut self) {
        let mut ack = self.receiver.acknowledge(self.now, 0, 1, 52);
        ack.signal = self.rng.uniform() < self.network.marked;
        self.put(self.now, self.network.lost_acks, ack);
    }

    fn receive(&mut self, packet: &Packet) {
        if packet.kind == PacketKind::Ack {
            let fast = &self.senders[0];
            let is_plain = fast.may_be_plain(packet, fast.plain_acks);
            self.taken[0] += u32::from(is_plain && packet.seq > fast.board.una());
            self.taken[1] += u32::from(fast.is_plain_duplicate(packet));
            let now = self.now;
            return self.act(|sender, sent| sender.on_ack(now, packet, &mut |p| sent.push(p)));
        }
        if self.receiver.must_answer_before(packet) {
            self.acknowledge();
        }
        let answers = packet.kind == PacketKind::WindowProbe
            || self.receiver.on_data(self.now, packet) == Answer::Now;
        if answers {
            self.acknowledge();
        }
    }

    /// Handles at most `events` packets and timers.
    fn run(&mut self, events: u32) {
        self.act(|sender, sent| sender.send(Time::ZERO, &mut |p| sent.push(p)));
        for _ in 0..events {
            let arrival = self.under_way.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
            let [timer, delayed] = [self.senders[0].next_timer(), self.receiver.delayed_ack()];
            self.now = arrival.min(timer).min(delayed);
            let now = self.now;
            if now == Time::NEVER {
                return;
            } else if now == arrival {
                let (_, packet) = self.under_way.pop_first().unwrap();
                self.receive(&packet);
            } else if now == timer {
                self.act(|sender, sent| sender.on_timer(now, &mut |p| sent.push(p)));
            } else {
                self.receiver.on_timer(now);
                self.acknowledge();
            }
        }
    }
}

/// The fields in which two states differ.
fn difference(fast: &str, plain: &str) -> String {
    let fields = fast.split(", ").zip(plain.split(", "));
    let lines = fields.filter(|(fast, plain)| fast != plain);
    lines.map(|(fast, plain)| format!("{fast} | {plain}")).collect::<Vec<_>>().join("\n")
}

fn profiles() -> [Profile; 6] {
    let paced = Profile { pacing: true, ..profile::LINUX };
    let offload = Profile { offload_bytes: Some(65_536), ..profile::LINUX };
    let exact = Profile { timer_wheel: false, timestamps: false, ..profile::LINUX };
    [profile::LINUX, paced, offload, exact, LINUX_2_6, NEWRENO]
}

prop_compose! {
    fn any_network()(
        seed in any::<u64>(),
        delay_us in prop::sample::select(vec![500, 5_000, 50_000u64]),
        transmission_us in 1u64..2_000,
        [lost, lost_acks, reordered, marked] in prop::array::uniform4(
            prop::sample::select(vec![0.0, 0.0, 0.002, 0.02, 0.1])
        ),
    ) -> Network {
        let [delay, transmission] = [delay_us, transmission_us].map(Span::from_micros);
        Network { seed, delay, transmission, lost, lost_acks, reordered, marked }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fast_paths_leave_the_state_that_the_plain_path_leaves(
        network in any_network(),
        profile in 0usize..6,
        cc in prop::sample::select(vec!["reno", "cubic", "bbr", "bbr3", "prague"]),
        count in prop::sample::select(vec![20u32, 300, u32::MAX]),
    ) {
        Oracle::new(network, &profiles()[profile], cc, count).run(1_000);
    }
}

#[test]
fn the_oracle_sees_many_of_both_fast_paths() {
    let network = Network {
        seed: 1,
        delay: Span::from_millis(20),
        transmission: Span::from_micros(500),
        lost: 0.01,
        lost_acks: 0.0,
        reordered: 0.0,
        marked: 0.0,
    };
    for cc in ["cubic", "bbr"] {
        let mut oracle = Oracle::new(network, &profile::LINUX, cc, u32::MAX);
        oracle.run(4_000);
        assert!(oracle.taken.iter().all(|&taken| taken > 100), "{cc}: {:?}", oracle.taken);
    }
}
