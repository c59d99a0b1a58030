//! Packets of a source of datagrams in front of the first link. A source may send faster than its
//! access link, whose queue is unlimited.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, FlowGroup, Sizes};

use crate::packet::Packet;

/// Random draws for estimating the mean of a size distribution.
const DRAWS: u32 = 10_000;
/// The longest on period, as a multiple of the mean: one in 150 draws from an exponential
/// distribution is longer.
const LONGEST_ON: f64 = 5.0;

/// The queue of an access link.
struct Waiting {
    /// Rate of the access link, in bit/s.
    rate: f64,
    bits: f64,
    most_bits: f64,
}

impl Waiting {
    /// Adds bits that arrive evenly over a time.
    fn send(&mut self, bits: f64, during_s: f64) {
        self.bits = (self.bits + bits - self.rate * during_s).max(0.0);
        self.most_bits = self.most_bits.max(self.bits);
    }
}

/// Maximum number of packets that one flow of datagrams can have in front of the first link; zero
/// over TCP. `duration` is that of the run.
pub(super) fn packets(group: &FlowGroup, duration: Span) -> f64 {
    let stop = group.stop.map_or(duration, |stop| stop.min(duration));
    let active = stop.as_secs() - group.start.0.as_secs().min(stop.as_secs());
    let rate = group.access_rate.as_bps() as f64;
    let mut waiting = Waiting { rate, bits: 0.0, most_bits: 0.0 };
    let (sent, packet_bits) = match &group.app {
        App::Bulk { .. }
        | App::Endpoint { .. }
        | App::Files { .. }
        | App::Transfers { .. }
        | App::Web { .. }
        | App::Chunks { .. } => return 0.0,
        App::Cbr { datagrams, .. }
        | App::OnOff { datagrams, .. }
        | App::Bursts { datagrams, .. } => {
            let sent = datagrams.rate.as_bps() as f64;
            steady(&group.app, (sent, active), &mut waiting);
            (sent, f64::from(datagrams.packet_bytes) * 8.0)
        }
        App::Echo { packet_bytes, interval, .. } => {
            let bits = f64::from(*packet_bytes) * 8.0;
            let sent = bits / interval.as_secs();
            waiting.send(sent * active, active);
            waiting.send(bits, 0.0);
            (sent, bits)
        }
        App::Video { frames, interval, packet_bytes, .. } => {
            let (mean, largest, datagrams) = of_sizes(frames, *packet_bytes);
            let sent = mean * 8.0 / interval.as_secs();
            waiting.send(sent * active, active);
            waiting.send(largest * 8.0, 0.0);
            (sent, mean * 8.0 / datagrams)
        }
        App::Replay { recording, packet_bytes, .. } => {
            let (mut last, mut bytes, mut datagrams) = (0.0, 0, 0);
            for &(at, amount) in recording.amounts.iter().filter(|(at, _)| at.as_secs() < active) {
                waiting.send(0.0, at.as_secs() - last);
                waiting.send(amount as f64 * 8.0, 0.0);
                last = at.as_secs();
                bytes += amount;
                datagrams += amount.div_ceil(u64::from(*packet_bytes));
            }
            let bits = bytes as f64 * 8.0;
            (bits / last.max(1.0), bits / datagrams.max(1) as f64)
        }
    };
    let propagating = sent.min(rate) * group.access_delay.as_secs();
    ((waiting.most_bits + propagating) / packet_bits).max(0.0)
}

/// Sources with one rate at a time.
fn steady(app: &App, (sent, active): (f64, f64), waiting: &mut Waiting) {
    match app {
        App::OnOff { on, off, .. } => {
            let (on, off) = (on.as_secs(), off.as_secs());
            waiting.send(sent * active * on / (on + off), active);
            let longest = (LONGEST_ON * on).min(active);
            waiting.send(sent * longest, longest);
            let all = (sent - waiting.rate).max(0.0) * active;
            waiting.most_bits = waiting.most_bits.min(all);
        }
        App::Bursts { at, length, .. } => {
            let mut last = 0.0;
            for at in at.iter().map(|at| at.as_secs()).filter(|&at| at < active) {
                waiting.send(0.0, at - last);
                let length = length.as_secs().min(active - at);
                waiting.send(sent * length, length);
                last = at + length;
            }
        }
        _ => waiting.send(sent * active, active),
    }
}

/// For a distribution of sizes: mean and largest in bytes, and the mean number of datagrams.
fn of_sizes(sizes: &Sizes, packet_bytes: u32) -> (f64, f64, f64) {
    let mut rng = Rng::stream(0, "memory", 0);
    let drawn: Vec<u64> = (0..DRAWS).map(|_| draw::size(&mut rng, sizes)).collect();
    let mean = |values: &dyn Fn(u64) -> u64| {
        drawn.iter().map(|&size| values(size) as f64).sum::<f64>() / f64::from(DRAWS)
    };
    let largest = drawn.iter().copied().max().unwrap_or_default();
    (mean(&|size| size), largest as f64, mean(&|size| size.div_ceil(u64::from(packet_bytes))))
}

/// Bytes of the rings that hold the packets of each of `flows` flows. A growing ring is copied to
/// one of twice the size.
pub(super) fn ring_bytes(packets: f64, flows: f64) -> f64 {
    let places = packets.max(0.0).ceil().min(1e18) as u64;
    let places = if places == 0 { 0 } else { places.next_power_of_two() };
    let each = places as f64 * size_of::<(Time, Packet)>() as f64;
    each * flows + each / 2.0
}
