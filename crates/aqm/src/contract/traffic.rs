//! Random traffic for a host: overload, light load, balance and idle times.

use super::host::Host;
use crate::packet::Ecn;
use crate::time::Rate;

const FLOWS: u64 = 40;

/// Runs whole phases with up to `operations` operations in total; returns the number of operations
/// run.
pub fn run(host: &mut Host, operations: u64) -> u64 {
    let phases =
        [(0.7, 0), (0.5, 0), (0.3, 0), (0.52, 7_000_000), (0.9, 0), (0.1, 0), (0.5, 3 << 30)];
    let length = 2500;
    for round in 0..operations / length {
        let (arrivals, silence) = phases[round as usize % phases.len()];
        phase(host, arrivals, silence, length);
    }
    operations / length * length
}

/// Runs one phase of traffic, given the probability that an operation is an arrival and the idle
/// time before the phase.
fn phase(host: &mut Host, arrivals: f64, silence_ns: u64, operations: u64) {
    host.pass(silence_ns);
    let rate = Rate::from_bps(1_000_000 * (1 + host.chance.below(20)));
    host.qdisc.on_rate(host.ledger.now, rate);
    for _ in 0..operations {
        let step = host.chance.below(1_200_000);
        host.pass(step);
        if host.chance.uniform() < arrivals {
            offer_any(host);
        } else {
            host.take();
        }
        host.check();
    }
}

fn offer_any(host: &mut Host) {
    let sizes = [64, 350, 1000, 1514, 1514, 1514];
    let ecns = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    let ecn = ecns[host.chance.below(5) as usize];
    let flow = host.chance.below(FLOWS).pow(2) / FLOWS; // some flows send more
    let bytes = sizes[host.chance.below(6) as usize];
    host.offer(flow, bytes, ecn);
}
