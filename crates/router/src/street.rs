//! The router without its devices: packets of bytes through a discipline and a transmitter. It reads no
//! clock and opens nothing; a host feeds it and takes what leaves.

use sojourn_aqm::{
    Backlog, Cause, Departure, Ecn, Env, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Span, Stage,
    Time, Var, registry, units,
};
use sojourn_sim::probe::Interval;
use sojourn_sim::transmitter::Transmitter;

use crate::chronicle::{Chronicle, Counts, Memory};
use crate::header::{self, Header};
use crate::plan;
use crate::seen::Story;

/// A packet with its bytes.
pub struct Parcel {
    bytes: Vec<u8>,
    /// As it came.
    pub(crate) header: Header,
    /// Bytes that the link accounts it with.
    pub(crate) link_bytes: u32,
    /// Its flow, as the host numbers it.
    pub(crate) flow: u32,
    /// Where and why it was marked here.
    pub(crate) marked: Option<(Stage, Cause)>,
    /// Its story, by place; none where stories are not kept.
    pub(crate) story: Option<usize>,
}

impl Packet for Parcel {
    fn bytes(&self) -> u32 {
        self.link_bytes
    }

    fn ecn(&self) -> Ecn {
        header::ecn(self.bytes[1])
    }

    fn set_ce(&mut self) {
        header::set_ce(&mut self.bytes);
    }

    fn flow(&self) -> u64 {
        let Header { addresses: [from, to], ports, protocol, .. } = self.header;
        let hosts = u64::from(u32::from_be_bytes(from)) << 32 | u64::from(u32::from_be_bytes(to));
        let rest = u64::from(ports[0]) << 24 | u64::from(ports[1]) << 8 | u64::from(protocol);
        // Any mixing will do: disciplines hash this number again, with their own salt.
        hosts.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rest.wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    fn src_host(&self) -> u64 {
        u64::from(u32::from_be_bytes(self.header.addresses[0]))
    }

    fn dst_host(&self) -> u64 {
        u64::from(u32::from_be_bytes(self.header.addresses[1]))
    }

    fn dscp(&self) -> u8 {
        self.header.dscp
    }
}

/// The router.
pub struct Street {
    queue: Box<dyn Qdisc<Parcel>>,
    rng: Rng,
    transmitter: Transmitter,
    /// Rates to come, the next one last.
    rates: Vec<(Time, Rate)>,
    framing_bytes: u32,
    /// The packet on the wire and when its last bit leaves.
    in_service: Option<(Time, Parcel)>,
    /// A discipline that shapes holds packets until then.
    held_until: Option<Time>,
    chronicle: Chronicle,
    data_packets: u64,
    drop_list: Vec<u64>,
    mark_list: Vec<u64>,
}

impl Street {
    /// A router with the queue and the rates of a plan.
    ///
    /// # Errors
    /// A sentence, where the queue cannot be made.
    pub fn new(plan: &plan::Street, seed: u64, memory: Memory) -> Result<Street, String> {
        let spec = QdiscSpec::parse(&plan.queue).map_err(|error| error.message)?;
        let (_, first) = *plan.rates.first().ok_or("there is no rate")?;
        let rate = Rate::from_bps(first);
        let env = Env {
            limit: units::limit(&plan.limit)?,
            mtu_bytes: plan.mtu_bytes,
            rate: Some(rate),
            salt: Rng::stream(seed, "hash", 0).next_u64(),
        };
        let later = plan.rates[1..].iter().rev();
        let chronicle = Chronicle::new(memory);
        let watched = chronicle.wants_evidence();
        let make = if watched { registry::build_watched } else { registry::build };
        Ok(Street {
            queue: make(&spec, &env).map_err(|error| error.message)?,
            rng: Rng::stream(seed, "queue", 0),
            transmitter: Transmitter::new(rate),
            rates: later.map(|&(at, bps)| (Time::from_nanos(at), Rate::from_bps(bps))).collect(),
            framing_bytes: plan.framing_bytes,
            in_service: None,
            held_until: None,
            chronicle,
            data_packets: 0,
            drop_list: plan.drop_list.clone(),
            mark_list: plan.mark_list.clone(),
        })
    }

    /// A packet comes. `flow` numbers its flow where its story is kept. What is no IPv4 is dropped.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let Some(header) = Header::read(&bytes) else { return };
        let link_bytes = u32::from(header.bytes) + self.framing_bytes;
        let mut parcel = Parcel { bytes, header, link_bytes, flow, marked: None, story: None };
        parcel.story = self.chronicle.arrived(now, &parcel);
        if header.payload_bytes > 0 {
            self.data_packets += 1;
        }
        let listed = |list: &[u64]| header.payload_bytes > 0 && list.contains(&self.data_packets);
        let mut ear = self.chronicle.ear(now);
        if listed(&self.drop_list) {
            return ear.dropped(parcel, now, Stage::Enqueue, Cause::Deterministic);
        }
        if listed(&self.mark_list) && parcel.ecn().can_mark() {
            parcel.set_ce();
            ear.marked(&mut parcel, now, Stage::Enqueue, Cause::Deterministic);
        }
        self.queue.enqueue(now, parcel, &mut self.rng, &mut ear);
        if self.in_service.is_none() {
            self.serve(now);
        }
    }

    /// When it wants [`Street::on_timer`].
    pub fn next_timer(&self) -> Time {
        let service = self.in_service.as_ref().map(|(at, _)| *at);
        let rate = self.rates.last().map(|(at, _)| *at);
        let times = [service, rate, self.held_until, self.queue.next_timer()];
        times.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Does all that is due by `now`, at the times when it was due; `out` gets the packets
    /// that leave, with that time.
    pub fn on_timer(&mut self, now: Time, out: &mut dyn FnMut(Time, Vec<u8>)) {
        loop {
            let due = self.next_timer();
            if due > now {
                return;
            }
            if let Some((at, rate)) = self.rates.last().copied().filter(|(at, _)| *at <= due) {
                self.rates.pop();
                self.transmitter = Transmitter::new(rate);
                self.queue.on_rate(at, rate);
            }
            if self.queue.next_timer().is_some_and(|at| at <= due) {
                self.queue.on_timer(due);
            }
            if let Some((at, parcel)) = self.in_service.take_if(|(at, _)| *at <= due) {
                out(at, parcel.bytes);
                self.serve(due);
            }
            if self.held_until.take_if(|at| *at <= due).is_some() {
                self.serve(due);
            }
        }
    }

    /// Begins to send the next packet.
    fn serve(&mut self, now: Time) {
        let mut ear = self.chronicle.ear(now);
        match self.queue.dequeue(now, &mut self.rng, &mut ear) {
            Some(Departure { packet, enqueued }) => {
                let span = self.transmitter.next(packet.link_bytes);
                self.chronicle.sent(now, &packet, enqueued, span);
                self.in_service = Some((now + span, packet));
            }
            None => self.held_until = self.queue.held_until(),
        }
    }

    /// The state variables of its law.
    pub fn vars(&self) -> &'static [Var] {
        self.queue.vars()
    }

    /// Their values.
    pub fn law(&self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.vars().len()];
        self.queue.observe(&mut values);
        values
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        self.chronicle.counts
    }

    /// The stories of all packets, if they are kept.
    pub fn stories(&self) -> &[Story] {
        match &self.chronicle.memory {
            Memory::Stories(stories) => stories,
            Memory::Nothing | Memory::Probe(..) => &[],
        }
    }

    /// Writes down the state of its queue, where a probe listens; returns what happened since the last
    /// time.
    pub fn sample(&mut self, now: Time, every: Span) -> Option<Interval> {
        let own = self.law();
        self.chronicle.sample(now, every, self.queue.backlog(), &own)
    }

    /// Packets that wait, and their bytes.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Ends it; what was kept goes to the caller.
    pub fn into_memory(self) -> Memory {
        self.chronicle.memory
    }
}

#[cfg(test)]
mod tests {
    use sojourn_record::rows::Fate;

    use super::*;

    fn stories() -> Memory {
        Memory::Stories(Vec::new())
    }

    fn plan(queue: &str, limit: &str) -> plan::Street {
        plan::Street {
            queue: queue.to_owned(),
            limit: limit.to_owned(),
            framing_bytes: 0,
            mtu_bytes: 1500,
            rates: vec![(0, 10_000_000)],
            drop_list: Vec::new(),
            mark_list: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// A datagram of 1500 bytes, ECT(0).
    fn packet() -> Vec<u8> {
        let mut bytes = vec![0u8; 1500];
        (bytes[0], bytes[1], bytes[9]) = (0x45, 2, 17);
        bytes[2..4].copy_from_slice(&1500u16.to_be_bytes());
        bytes
    }

    #[test]
    fn packets_leave_in_order_one_serialisation_time_apart() {
        let mut street = Street::new(&plan("taildrop", "100p"), 1, stories()).unwrap();
        (0..3).for_each(|flow| street.arrive(Time::ZERO, packet(), flow));
        let mut leaving = Vec::new();
        while street.next_timer() < Time::NEVER {
            let now = street.next_timer();
            street.on_timer(now, &mut |at, _| leaving.push(at.as_nanos()));
        }
        assert_eq!(leaving, [1_200_000, 2_400_000, 3_600_000]);
        let delays =
            street.stories().iter().map(|s| s.left.unwrap().as_nanos()).collect::<Vec<_>>();
        assert_eq!(delays, [0, 1_200_000, 2_400_000]);
    }

    #[test]
    fn a_late_host_keeps_the_rate() {
        let mut street = Street::new(&plan("taildrop", "100p"), 1, stories()).unwrap();
        (0..10).for_each(|flow| street.arrive(Time::ZERO, packet(), flow));
        let mut left = 0;
        street.on_timer(Time::from_nanos(6_100_000), &mut |_, _| left += 1);
        assert_eq!(left, 5);
    }

    #[test]
    fn listed_packets_are_dropped_and_marked_whatever_the_queue_says() {
        let lists =
            plan::Street { drop_list: vec![2], mark_list: vec![3], ..plan("taildrop", "9p") };
        let mut street = Street::new(&lists, 1, stories()).unwrap();
        (0..4).for_each(|flow| street.arrive(Time::ZERO, packet(), flow));
        assert_eq!(street.counts(), Counts { arrived: 4, sent: 1, dropped: 1, marked: 1 });
        let stories = street.stories();
        assert_eq!(stories[1].fate, Fate::Dropped(Stage::Enqueue, Cause::Deterministic));
        assert!(stories[2].marked.is_some() && stories[3].marked.is_none());
    }

    #[test]
    fn a_packet_that_is_no_ipv4_is_ignored() {
        let mut street = Street::new(&plan("codel", "100p"), 1, stories()).unwrap();
        street.arrive(Time::ZERO, vec![0x60; 40], 0);
        assert_eq!(street.counts().arrived, 0);
    }
}
