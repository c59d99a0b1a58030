//! The dumbbell that every bench runs: bulk TCP over access links and one AQM.

use sojourn_aqm::{Limit, QdiscSpec, Rate, Span};
use sojourn_scenario::resolved::{
    App, Capacity, FlowGroup, Link, LinuxEngine, Record, Resolved, Tcp,
};

/// What a bench runs.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// The AQM in its text form.
    pub aqm: String,
    /// Bulk flows.
    pub flows: u32,
    /// Rate of the bottleneck.
    pub mbit: u64,
    /// Simulated seconds.
    pub seconds: u64,
    /// Whether every packet becomes a row.
    pub packets: bool,
    /// The seed.
    pub seed: u64,
}

impl Dumbbell {
    /// A short name: `pie, 5 flows, 10 Mbit/s`.
    pub fn name(&self) -> String {
        let plural = if self.flows == 1 { "" } else { "s" };
        format!("{}, {} flow{plural}, {} Mbit/s", self.aqm, self.flows, self.mbit)
    }

    /// Base RTT 100 ms, a buffer of two bandwidth-delay products, CUBIC with SACK and delayed ACKs.
    pub fn plan(&self) -> Resolved {
        let ms = Span::from_millis;
        let rate = Rate::from_bps(self.mbit * 1_000_000);
        let buffer = 2 * rate.bytes_in(ms(100));
        let mut queue = QdiscSpec::parse(&self.aqm).expect("the bench names an AQM that exists");
        queue.set_default("limit", &format!("{buffer}B"));
        Resolved {
            name: self.name(),
            seed: self.seed,
            duration: Span::from_secs(self.seconds),
            warmup: Span::ZERO,
            record: Record {
                packets: self.packets,
                signals: false,
                flows: false,
                states: true,
                sample: ms(self.seconds),
                bins: None,
                latency: false,
            },
            links: vec![Link {
                name: "bottleneck".into(),
                capacity: Capacity::Constant(rate),
                delay: ms(48),
                framing_bytes: 0,
                queue,
                limit: Limit::Bytes(buffer),
                mtu_bytes: 1500,
                device: None,
                jitter: None,
                loss: None,
            }],
            flows: vec![bulk(self.flows, Rate::from_bps(rate.as_bps() * 10))],
            wlans: Vec::new(),
            linux: LinuxEngine::default(),
            warnings: Vec::new(),
        }
    }
}

fn bulk(count: u32, access_rate: Rate) -> FlowGroup {
    let ms = Span::from_millis;
    let tcp = Tcp {
        profile: "linux".into(),
        cc: Some("cubic".into()),
        ecn: false,
        payload_bytes: 1448,
        header_bytes: 52,
        initial_window: None,
        ack_every: None,
        receive_window: None,
    };
    FlowGroup {
        name: "bulk".into(),
        class: "bulk".into(),
        count,
        path: vec![0],
        reverse: Vec::new(),
        access_rate,
        access_delay: ms(1),
        egress_delay: ms(1),
        return_delay: ms(50),
        return_egress_delay: Span::ZERO,
        sender_downlink: None,
        receiver_rate: None,
        rtt: ms(100),
        start: (Span::ZERO, ms(1000)),
        stop: None,
        app: App::Bulk { tcp, bytes: None },
    }
}
