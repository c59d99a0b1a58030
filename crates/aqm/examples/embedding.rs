//! A bottleneck for the simulator of a transport stack, in place of a toy AQM: `cargo run -p
//! sojourn-aqm --example embedding -- fq_codel`. docs/how-to/embedding.md explains it.

use sojourn_aqm::{
    Cause, Ecn, Env, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, SpecError, Stage, Time,
    registry,
};

/// A UDP datagram with its ECN field.
struct Datagram {
    connection: u64,
    payload: Vec<u8>,
    ecn: Ecn,
}

/// The properties that an AQM reads.
impl Packet for Datagram {
    fn bytes(&self) -> u32 {
        self.payload.len() as u32 + 28 // IPv4 and UDP headers
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.connection
    }
}

/// Counts dropped and marked datagrams.
#[derive(Default)]
struct Losses {
    dropped: u64,
    marked: u64,
}

impl Sink<Datagram> for Losses {
    fn dropped(&mut self, _: Datagram, _accepted: Time, _: Stage, _: Cause) {
        self.dropped += 1;
    }
    fn marked(&mut self, _: &mut Datagram, _: Time, _: Stage, _: Cause) {
        self.marked += 1;
    }
}

/// A link with a rate and a discipline.
struct Bottleneck {
    qdisc: Box<dyn Qdisc<Datagram>>,
    rate: Rate,
    rng: Rng,
    losses: Losses,
    busy_until: Time,
}

impl Bottleneck {
    fn new(aqm: &str, rate: Rate, seed: u64) -> Result<Bottleneck, SpecError> {
        let limit = Limit::Packets(1000); // for bare laws; disciplines have their own
        let env = Env { limit, mtu_bytes: 1500, rate: Some(rate), salt: seed };
        let qdisc = registry::build(&QdiscSpec::parse(aqm)?, &env)?;
        let (rng, losses) = (Rng::stream(seed, "queue", 0), Losses::default());
        Ok(Bottleneck { qdisc, rate, rng, losses, busy_until: Time::ZERO })
    }

    /// The stack sends.
    fn send(&mut self, now: Time, datagram: Datagram) {
        self.catch_up(now);
        self.qdisc.enqueue(now, datagram, &mut self.rng, &mut self.losses);
    }

    /// Time of the next departure, at which to call [`Bottleneck::receive`]; `None` while empty.
    fn next_departure(&self, now: Time) -> Option<Time> {
        (self.qdisc.backlog().packets > 0).then_some(self.busy_until.max(now))
    }

    /// The datagram whose transmission starts now, and its arrival time at the far end.
    fn receive(&mut self, now: Time) -> Option<(Time, Datagram)> {
        if now < self.busy_until {
            return None;
        }
        self.catch_up(now);
        let left = self.qdisc.dequeue(now, &mut self.rng, &mut self.losses)?;
        self.busy_until = now + self.rate.time_for(u64::from(left.packet.bytes()));
        Some((self.busy_until, left.packet))
    }

    /// Runs the law's due timers.
    fn catch_up(&mut self, now: Time) {
        while let Some(due) = self.qdisc.next_timer().filter(|&due| due <= now) {
            self.qdisc.on_timer(due);
        }
    }
}

fn main() -> Result<(), SpecError> {
    let aqm = std::env::args().nth(1).unwrap_or_else(|| "fq_codel".to_owned());
    let mut link = Bottleneck::new(&aqm, Rate::from_bps(10_000_000), 1)?;
    let (mut now, mut next_send, mut sent, mut arrived) = (Time::ZERO, Time::ZERO, 0u64, 0u64);
    let end = Time::from_nanos(10_000_000_000);
    while now < end {
        now = link.next_departure(now).map_or(next_send, |at| at.min(next_send));
        if now == next_send {
            let ecn = [Ecn::Ect0, Ecn::NotEct][(sent % 2) as usize];
            link.send(now, Datagram { connection: sent % 2, payload: vec![0; 1200], ecn });
            sent += 1;
            next_send = Time::from_nanos(now.as_nanos() + 800_000); // 12 Mb/s into 10 Mb/s
        }
        arrived += u64::from(link.receive(now).is_some());
    }
    let (Losses { dropped, marked }, waiting) = (&link.losses, link.qdisc.backlog().packets);
    println!(
        "{aqm}: {sent} sent, {arrived} arrived, {dropped} dropped, {marked} marked, {waiting} wait"
    );
    assert_eq!(sent, arrived + dropped + u64::from(waiting));
    Ok(())
}
