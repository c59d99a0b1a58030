//! One flow over an ideal path against the laws of its congestion control.
//!
//! The path has a round-trip time and nothing else: no queue, no rate. Packets are lost or marked
//! at random or periodically. The laws are those of Mathis et al. 1997, Padhye et al. 1998, RFC
//! 9438 §5, and of Alizadeh et al. 2010 for DCTCP.

use std::collections::VecDeque;

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::App;
use sojourn_sim::cc::{Feedback, configure};
use sojourn_sim::packet::Packet;
use sojourn_sim::tcp::negotiation::Mode;
use sojourn_sim::tcp::profile::{AckRule, LINUX, NEWRENO, Profile};
use sojourn_sim::tcp::receiver::EcnAbility;
use sojourn_sim::tcp::sender::State;
use sojourn_sim::tcp::{Answer, Receiver, Segments, Sender};

use crate::common::*;

/// Which packets are lost or marked.
enum Chosen {
    /// Each with this probability.
    AtRandom(f64, Rng),
    /// One in every `n` packets.
    Every(u64),
}

impl Chosen {
    fn at_random(share: f64) -> Chosen {
        Chosen::AtRandom(share, Rng::stream(1, "laws", 0))
    }

    fn hits(&mut self, count: u64) -> bool {
        match self {
            Chosen::AtRandom(share, rng) => rng.uniform() < *share,
            Chosen::Every(n) => count % *n == *n - 1,
        }
    }
}

/// A flow and its path.
struct Path {
    sender: Sender,
    receiver: Receiver,
    rtt: Span,
    chosen: Chosen,
    /// Whether chosen packets are marked instead of lost.
    marks: bool,
    now: Time,
    sent: u64,
    /// Packets in flight with their arrival times, in the order of arrival, because each takes half
    /// a round trip; the flag is true for data towards the receiver.
    flying: VecDeque<(Time, bool, Packet)>,
    /// Packets handed over by the sender; kept to reuse the allocation.
    out: Vec<Packet>,
}

impl Path {
    fn new(profile: Profile, cc: &str, rtt_ms: u64, chosen: Chosen, marks: bool) -> Path {
        Path::starting(profile, cc, rtt_ms, chosen, marks, 10)
    }

    fn with_window(profile: Profile, cc: &str, rtt_ms: u64, chosen: Chosen, window: u32) -> Path {
        Path::starting(profile, cc, rtt_ms, chosen, false, window)
    }

    fn starting(
        profile: Profile,
        cc: &str,
        rtt_ms: u64,
        chosen: Chosen,
        marks: bool,
        initial_window: u32,
    ) -> Path {
        let control = (configure(cc).unwrap().factory)();
        let runs = control.needs().feedback == Feedback::Runs;
        let ability = EcnAbility { runs, ..EcnAbility::NONE };
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1448,
            header_bytes: 52,
            ecn: marks,
            accurate: false,
            count: u32::MAX,
            last_payload_bytes: 1448,
            initial_window,
        };
        let rtt = Span::from_millis(rtt_ms);
        let mut sender = Sender::new(segments, profile, control);
        sender.on_established(rtt);
        let mut receiver = Receiver::new(profile.ack, profile.sack).with_ecn(ability);
        receiver.agree(if marks { Mode::Classic } else { Mode::NotEcn });
        let (now, flying, out) = (Time::ZERO, VecDeque::new(), Vec::new());
        let mut path = Path { sender, receiver, rtt, chosen, marks, now, sent: 0, flying, out };
        path.send(|sender, now, out| sender.send(now, &mut |packet| out.push(packet)));
        path
    }

    /// Lets the sender act, and transports its packets.
    fn send(&mut self, act: impl Fn(&mut Sender, Time, &mut Vec<Packet>)) {
        let mut out = std::mem::take(&mut self.out);
        act(&mut self.sender, self.now, &mut out);
        for mut packet in out.drain(..) {
            let hit = self.chosen.hits(self.sent);
            self.sent += 1;
            if hit && self.marks && packet.ecn != Ecn::NotEct {
                packet.ecn = Ecn::Ce;
            }
            if !hit || self.marks {
                self.fly(true, packet);
            }
        }
        self.out = out;
    }

    fn fly(&mut self, forward: bool, packet: Packet) {
        self.flying.push_back((self.now + self.rtt.half(), forward, packet));
    }

    fn acknowledge(&mut self) {
        let ack = self.receiver.acknowledge(self.now, 0, 1, 52);
        self.fly(false, ack);
    }

    fn deliver(&mut self, packet: &Packet) {
        if self.receiver.must_answer_before(packet) {
            self.acknowledge();
        }
        if self.receiver.on_data(self.now, packet) == Answer::Now {
            self.acknowledge();
        }
    }

    fn step(&mut self) {
        let arrival = self.flying.front().map_or(Time::NEVER, |flying| flying.0);
        let timers = self.sender.next_timer().min(self.receiver.delayed_ack());
        self.now = arrival.min(timers);
        if arrival <= timers {
            let (_, forward, packet) = self.flying.pop_front().expect("something arrives");
            match forward {
                true => self.deliver(&packet),
                false => self.send(|sender, now, out| {
                    sender.on_ack(now, &packet, &mut |packet| out.push(packet));
                }),
            }
        } else if self.receiver.delayed_ack() <= self.now {
            self.receiver.on_timer(self.now);
            self.acknowledge();
        } else {
            self.send(|sender, now, out| sender.on_timer(now, &mut |packet| out.push(packet)));
        }
    }

    /// Packets delivered in the next `seconds` seconds.
    fn run(&mut self, seconds: u64) -> f64 {
        let (before, end) = (self.receiver.next(), self.now + Span::from_secs(seconds));
        while self.now < end {
            self.step();
        }
        f64::from(self.receiver.next() - before)
    }

    /// Mean window in packets, measured as deliveries per round trip.
    fn mean_window(&mut self, seconds: u64) -> f64 {
        self.run(seconds / 10); // slow start and the first cycles
        self.run(seconds) * self.rtt.as_secs() / seconds as f64
    }

    /// The mean, and half of its 99 % interval, from batches.
    fn mean_with_interval(&mut self, seconds: u64) -> (f64, f64) {
        self.run(seconds);
        let scale = self.rtt.as_secs() / seconds as f64;
        interval([(); BATCHES].map(|()| self.run(seconds) * scale))
    }
}

const BATCHES: usize = 31;

/// Mean and half of its 99 % interval.
fn interval(values: [f64; BATCHES]) -> (f64, f64) {
    let n = BATCHES as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, 2.75 * (variance / n).sqrt()) // Student's t with 30 degrees of freedom
}

/// A control in real numbers, simulated per round trip: the law without its approximations. It
/// reacts to a loss one round trip later; in the round trip after that, the reduced window is sent
/// without growth.
trait Ideal {
    fn window(&self) -> f64;
    /// A round trip without a loss.
    fn grow(&mut self);
    /// A round trip with a loss.
    fn reduce(&mut self);
}

struct IdealReno {
    window: f64,
    growth: f64,
}

impl Ideal for IdealReno {
    fn window(&self) -> f64 {
        self.window
    }
    fn grow(&mut self) {
        self.window += self.growth;
    }
    fn reduce(&mut self) {
        self.window = (self.window / 2.0).max(2.0);
    }
}

/// RFC 9438 with C = 0.4 and beta = 0.7, without fast convergence.
struct IdealCubic {
    rtt_s: f64,
    window: f64,
    max: f64,
    floor: f64,
    reno: f64,
    since_s: f64,
}

impl Ideal for IdealCubic {
    fn window(&self) -> f64 {
        self.window
    }
    fn grow(&mut self) {
        self.since_s += self.rtt_s;
        self.reno += 8.0 / 15.0; // Linux; the RFC has 9/17
        let k = ((self.max - self.floor) / 0.4).cbrt();
        let curve = 0.4 * (self.since_s - k).powi(3) + self.max;
        self.window = curve.clamp(self.window, 1.5 * self.window).max(self.reno);
    }
    fn reduce(&mut self) {
        self.max = self.window;
        self.window = (0.7 * self.window).max(2.0);
        (self.floor, self.reno, self.since_s) = (self.window, self.window, 0.0);
    }
}

/// Mean window under losses of this probability, with its interval.
fn ideal(law: &mut impl Ideal, p: f64) -> (f64, f64) {
    let mut rng = Rng::stream(2, "ideal", 0);
    let mut batch = |rounds: u32| {
        let (mut sent, mut round) = (0.0, 0);
        while round < rounds {
            sent += law.window();
            round += 1;
            let hit = rng.uniform() > (1.0 - p).powf(law.window());
            law.grow();
            if hit {
                law.reduce();
                sent += law.window();
                round += 1;
            }
        }
        sent / f64::from(round)
    };
    batch(20_000);
    interval([(); BATCHES].map(|()| batch(20_000)))
}

/// Checks that two means with intervals differ by no more than chance plus `packets`, the effect of
/// whole packets: half a packet if windows are rounded down and no other effect is known.
fn agree(what: &str, found: (f64, f64), law: (f64, f64), packets: f64) {
    let chance = found.1.hypot(law.1);
    println!("{what}: {found:.2?} for {law:.2?}");
    assert!(chance < 0.05 * law.0, "{what}: {chance} is too wide to be a test");
    assert!((found.0 - law.0).abs() < chance + packets, "{what}: {found:?} for {law:?}");
}

fn every_packet(profile: Profile) -> Profile {
    Profile { ack: AckRule { every: 1, ..profile.ack }, ..profile }
}

/// A TCP that counts acknowledgements and acknowledges every second packet. Here whole windows
/// arrive at one instant; the odd packet at the end waits for the next window, not for a timer that
/// would lengthen every round trip.
fn delayed(profile: Profile) -> Profile {
    let delay = Span::from_millis(500);
    let ack =
        AckRule { every: 2, delay, adaptive: false, quick: 0, answers_push: false, ..profile.ack };
    Profile { avoidance_per_ack: 1, ack, ..profile }
}

/// The mean window for additive increase `a` and multiplicative decrease `b`, with one loss in 1/p
/// packets.
fn aimd(a: f64, b: f64, p: f64) -> f64 {
    (a * (1.0 + b) / (2.0 * (1.0 - b) * p)).sqrt()
}

/// CUBIC's response function with C = 0.4 and beta = 0.7, or Reno's if that gives a larger window
/// (RFC 9438 §5).
fn cubic(p: f64, rtt_s: f64) -> f64 {
    let constant: f64 = 0.4 * 3.7 / (4.0 * 0.3);
    (constant.powf(0.25) * (rtt_s / p).powf(0.75)).max(aimd(1.0, 0.5, p))
}

#[test]
fn windows_follow_the_square_root_law_of_mathis() {
    let windows = |a| [1e-2, 1e-3, 1e-4].map(|p| (aimd(a, 0.5, p) * 100.0).round() / 100.0);
    assert_eq!(windows(1.0), [12.25, 38.73, 122.47]);
    assert_eq!(windows(0.5), [8.66, 27.39, 86.6]);
    assert!(
        (aimd(1.0, 0.5, 1.0) - 1.22).abs() < 0.005 && (aimd(0.5, 0.5, 1.0) - 0.87).abs() < 0.005
    );
}

/// `aimd` including the round trip of each recovery, in which half the window leaves without
/// growth.
fn aimd_with_recovery(a: f64, p: f64) -> f64 {
    let (packets, per_peak) = (1.0 / p, 3.0 / (8.0 * a));
    let peak = ((0.25 + 4.0 * per_peak * packets).sqrt() - 0.5) / (2.0 * per_peak);
    packets / (peak / (2.0 * a) + 1.0)
}

#[test]
fn reno_follows_the_square_root_law_under_periodic_losses() {
    // With delayed acknowledgements, the odd packet of a window waits for the next: half a packet
    // less.
    for p in [1e-3, 1e-4] {
        for (profile, a, idle) in [(every_packet(LINUX), 1.0, 0.0), (delayed(LINUX), 0.5, 0.5)] {
            let mut path = Path::new(profile, "reno", 100, Chosen::Every((1.0 / p) as u64), false);
            let (mean, law) = (path.mean_window(1_000), aimd_with_recovery(a, p) - idle);
            assert!((mean / law - 1.0).abs() < 0.02, "{p}, {a}: {mean} for {law}");
        }
    }
}

#[test]
fn reno_follows_its_law_under_random_losses_with_and_without_delayed_acknowledgements() {
    // With delayed acknowledgements, the odd packet of a window waits for the next: half a packet
    // less.
    let p = 4e-3;
    for (profile, growth, constant, idle) in
        [(every_packet(LINUX), 1.0, 1.31, 0.0), (delayed(LINUX), 0.5, 0.93, 0.5)]
    {
        let mut path = Path::new(profile, "reno", 100, Chosen::at_random(p), false);
        let (mean, half) = path.mean_with_interval(200);
        let found = (mean + idle, half);
        let law = ideal(&mut IdealReno { window: 10.0, growth }, p);
        agree(&format!("growth of {growth}"), found, law, 0.5);
        // The constants (Mathis et al. 1997, Table 1) ignore the round trip of each recovery.
        let without_recovery = constant / p.sqrt();
        let recovery = aimd_with_recovery(growth, p) / aimd(growth, 0.5, p);
        agree(&format!("constant {constant}"), found, (without_recovery * recovery, law.1), 0.5);
    }
}

#[test]
fn a_reno_cycle_from_50_to_100_packets_delivers_3825() {
    let mut window = sojourn_sim::cc::Window::above(50, 50);
    let mut packets = 0;
    while window.cwnd <= 100 {
        window.grow_as_reno(1);
        packets += 1;
    }
    assert_eq!(packets, 3825);
    assert_eq!(3.0 / 8.0 * 100.0 * 100.0, 3750.0);
}

/// Packets in flight per flow, for `flows` flows.
fn share(flows: f64, rtt_s: f64, packet_bytes: f64) -> f64 {
    1e7 * rtt_s / (8.0 * packet_bytes * flows)
}

#[test]
fn many_flows_share_a_window_of_a_few_packets() {
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 0.03, "{found} for {expected}");
    };
    for (flows, expected) in [(1.0, 12.5), (4.0, 3.1), (16.0, 0.78), (64.0, 0.2)] {
        near(share(flows, 0.015, 1500.0), expected);
    }
    for (flows, expected) in [(5.0, 30.0), (50.0, 3.0), (100.0, 1.5)] {
        near(share(flows, 0.12, 1000.0), expected);
    }
    let losses = |a: f64| a * 1.5 / share(5.0, 0.12, 1000.0).powi(2);
    near(losses(1.0), 0.0017);
    near(losses(0.5), 0.00083);
}

#[test]
fn timeouts_dominate_where_the_share_is_below_a_packet() {
    // A path of 10 ms with a queue of at most 5 ms. With 64 flows, which share less than a packet
    // each, most windows are one at any time; with 4 flows and three packets each, few are.
    let waiting = |flows: u32| {
        let mut group = bulk(flows, "reno");
        let App::Bulk { tcp, .. } = &mut group.app else { unreachable!("it is bulk") };
        tcp.profile = "codel-act".into();
        (group.access_delay, group.egress_delay) = (ms(0), ms(0));
        (group.return_delay, group.rtt) = (ms(5), ms(10));
        let mut bottleneck = link("b", "taildrop", 6_250);
        bottleneck.delay = ms(5);
        let mut plan = scenario(60, vec![bottleneck], vec![group]);
        (plan.record.flows, plan.warmup) = (true, Span::from_secs(10));
        let run = run(&plan);
        let samples = &run.flow_samples;
        let ones = samples.iter().filter(|row| row.cwnd_bytes <= 1448).count();
        ones as f64 / samples.len() as f64
    };
    let (few, many) = (waiting(4), waiting(64));
    assert!(few < 0.2 && many > 0.5, "{few} of the time for 4 flows, {many} for 64");
}

/// Packets per second (Padhye et al. 1998, equation 30), with `b` packets per acknowledgement.
fn padhye(p: f64, rtt_s: f64, rto_s: f64, b: f64) -> f64 {
    let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0);
    let waiting = rto_s * timeouts * p * (1.0 + 32.0 * p * p);
    1.0 / (rtt_s * (2.0 * b * p / 3.0).sqrt() + waiting)
}

#[test]
fn reno_with_timeouts_follows_the_model_of_padhye() {
    let rate = |p, b| (padhye(p, 0.1, 0.4, b) * 10.0).round() / 10.0;
    assert_eq!([rate(0.01, 1.0), rate(0.01, 2.0), rate(0.05, 1.0)], [112.3, 79.4, 36.9]);
    // The model has neither SACK nor fast recovery; a sender without SACK comes close to it. Its
    // timeout at 100 ms is 0.3 s.
    let mut path = Path::new(NEWRENO, "reno", 100, Chosen::at_random(0.02), false);
    let (found, law) = (path.mean_window(1_000) * 10.0, padhye(0.02, 0.1, 0.3, 1.0));
    assert!((0.8..1.25).contains(&(found / law)), "{found} for {law}");
}

#[test]
fn the_response_function_of_cubic_is_that_of_rfc_9438() {
    let rounded = |p, rtt| cubic(p, rtt).round();
    assert_eq!([1e-2, 1e-3, 1e-4, 1e-5].map(|p| rounded(p, 0.1)), [12.0, 39.0, 187.0, 1054.0]);
    assert_eq!([1e-2, 1e-3, 1e-4, 1e-5].map(|p| rounded(p, 0.01)), [12.0, 39.0, 122.0, 387.0]);
}

#[test]
fn cubic_follows_its_law_in_the_reno_friendly_region_and_in_its_own() {
    // With whole packets, Linux's estimate of Reno's window is half a packet low; the window
    // follows when the estimate is one packet ahead, taking a round trip per packet; and the
    // estimate is made every 1/32 s: three packets at 8/15 per round trip of 10 ms, half a
    // packet and one more at 200 ms.
    for (p, rtt_ms, seconds, packets) in [(1e-3, 10, 30, 3.5), (1e-3, 200, 500, 1.5)] {
        let cc = "cubic:fast_convergence=false";
        let chosen = Chosen::at_random(p);
        let mut path = Path::new(every_packet(LINUX), cc, rtt_ms, chosen, false);
        let found = path.mean_with_interval(seconds);
        let rtt_s = path.rtt.as_secs();
        let (window, since_s) = (10.0, 0.0);
        let mut law =
            IdealCubic { rtt_s, window, max: window, floor: window, reno: window, since_s };
        agree(&format!("{p} at {rtt_ms} ms"), found, ideal(&mut law, p), packets);
    }
}

/// One loss every `packets` packets. The law is without fast convergence.
fn periodic_cubic(packets: u64, rtt_ms: u64) -> Path {
    let cc = "cubic:fast_convergence=false";
    Path::new(every_packet(LINUX), cc, rtt_ms, Chosen::Every(packets), false)
}

#[test]
fn the_window_is_back_near_its_maximum_after_k_seconds() {
    let mut path = periodic_cubic(50_000, 100);
    path.run(200);
    let cwnd = |path: &Path| path.sender.window().cwnd;
    while path.sender.state() != State::Recovery {
        path.step();
    }
    // RFC 9438 §4.2: K is the cube root of the reduction over C.
    let reduced = path.sender.window().ssthresh;
    let max = f64::from(reduced) / 0.7;
    let k = (0.3 * max / 0.4).cbrt();
    while path.sender.state() == State::Recovery {
        path.step();
    }
    let start = path.now;
    for below in [60.0, 20.0, 5.0] {
        while f64::from(cwnd(&path)) < max - below {
            path.step();
        }
        let (found, curve) = (path.now.since(start).as_secs(), k - (below / 0.4f64).cbrt());
        // Growth aims one round trip ahead and takes one: two round trips, plus one packet of
        // rounding.
        assert!((found - curve).abs() < 0.3, "{below} below {max}: {found} s for {curve} s");
    }
}

#[test]
fn dctcp_follows_its_law_under_a_fixed_share_of_marks() {
    // About 2/p: alpha is p, and in each round trip a cut by alpha/2 undoes the growth of one
    // packet (Alizadeh et al. 2010 §3.3).
    for p in [0.05, 0.1] {
        let mut path = Path::new(every_packet(LINUX), "dctcp", 10, Chosen::at_random(p), true);
        let found = path.mean_with_interval(10);
        agree(&format!("{p}"), found, ideal_dctcp(p), 0.5);
    }
}

/// DCTCP (RFC 8257) with a gain of 1/16, packet by packet. One mark per window causes a reduction,
/// during which the window falls linearly and does not grow. As in Linux, alpha is in 1/1024 and
/// the reduction in whole packets, both rounded down, and the credit towards the next packet is
/// lost. In real numbers the window would stay at two thirds of 2/p, because it grows only until
/// the next mark.
fn ideal_dctcp(share: f64) -> (f64, f64) {
    let mut rng = Rng::stream(3, "ideal", 0);
    let (mut window, mut credit, mut reduction) = (10.0f64, 0.0, None::<(f64, f64, f64)>);
    let (mut alpha, mut observed, mut marks) = (1024u32, 0u32, 0u32);
    let mut batch = || {
        let (packets, mut round_trips) = (100_000, 0.0);
        for _ in 0..packets {
            let marked = rng.uniform() < share;
            (observed, marks) = (observed + 1, marks + u32::from(marked));
            if f64::from(observed) >= window {
                alpha = alpha - (alpha >> 4) + (marks << 6) / observed;
                (observed, marks) = (0, 0);
            }
            match &mut reduction {
                Some((from, to, passed)) => {
                    *passed += 1.0;
                    window = *from - (*from - *to) * *passed / *from;
                    if *passed >= *from {
                        reduction = None;
                    }
                }
                None if marked => {
                    let cut = (window as u32 * alpha) >> 11;
                    reduction = Some((window, (window - f64::from(cut)).max(2.0), 0.0));
                    credit = 0.0;
                }
                None => {
                    credit += 1.0;
                    if credit >= window {
                        (window, credit) = (window + 1.0, 0.0);
                    }
                }
            }
            round_trips += 1.0 / window;
        }
        f64::from(packets) / round_trips
    };
    batch();
    interval([(); BATCHES].map(|()| batch()))
}

#[test]
fn slow_start_takes_the_round_trips_of_its_growth() {
    // The transfers are 15, 44, 73 and 102 kB.
    let rounds = |profile: Profile, window: u32, payload: u32| {
        [15_000u32, 44_000, 73_000, 102_000].map(|bytes| {
            let segments = bytes.div_ceil(payload);
            let none = Chosen::at_random(0.0);
            let mut path = Path::with_window(profile, "reno", 100, none, window);
            while path.receiver.next() < segments {
                path.step();
            }
            (path.now.as_secs() / 0.1) as u32 + 1
        })
    };
    assert_eq!(rounds(every_packet(LINUX), 10, 1448), [2, 3, 3, 4]);
    assert_eq!(rounds(every_packet(LINUX), 10, 1000), [2, 3, 4, 4]);
    // Delayed acknowledgements, each counted once, give growth by 1.5 per round trip.
    let old = Profile { slow_start_per_ack: 1, ..delayed(LINUX) };
    assert_eq!(rounds(old, 3, 1448), [3, 5, 6, 7]);
}

/// Utilisation of one flow whose window is halved, over a buffer of `buffer` bandwidth-delay
/// products: the packets of a cycle over its duration. A window below the BDP takes one round trip,
/// a window above it the time of its packets.
fn utilisation(buffer: f64) -> f64 {
    let peak = 1.0 + buffer;
    let packets = 3.0 / 8.0 * peak * peak;
    let below = (1.0 - peak / 2.0).max(0.0);
    let bottom = (peak / 2.0).max(1.0);
    packets / (below + (peak * peak - bottom * bottom) / 2.0)
}

#[test]
fn a_lone_reno_flow_uses_what_its_buffer_allows() {
    let table =
        [(0.0, 0.75), (0.1, 0.8175), (0.25, 0.893), (0.5, 0.964), (0.75, 0.993), (1.0, 1.0)];
    for (buffer, expected) in table {
        assert!((utilisation(buffer) - expected).abs() < 6e-4, "{}", utilisation(buffer));
    }
    // In whole packets of 1500 bytes; the round trip includes their serialisation. Windows and
    // buffers are whole packets, so the law can be wrong by at most one of them.
    let bdp = (0.1 + 0.0012 + 0.000_12) * 1e7 / 12_000.0;
    let tolerance = 1.0 / bdp;
    // Delayed acknowledgements cause pairs of packets, which need a buffer of two.
    for (every, least) in [(1, 1), (2, 2)] {
        for packets in [1u32, 2, 8, 20, 41, 62, 83].into_iter().filter(|&n| n >= least) {
            let limit = u64::from(packets) * 1500;
            let mut plan = scenario(600, vec![link("b", "taildrop", limit)], vec![bulk(1, "reno")]);
            let App::Bulk { tcp, .. } = &mut plan.flows[0].app else { unreachable!("it is bulk") };
            tcp.ack_every = Some(every);
            plan.warmup = Span::from_secs(60);
            let found = metric(&run(&plan), Scope::Queue, "b", "utilisation");
            let law = utilisation(f64::from(packets) / bdp);
            assert!((found - law).abs() < tolerance, "{every}, {packets}: {found} for {law}");
        }
    }
}
