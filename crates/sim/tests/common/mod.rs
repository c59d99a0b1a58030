//! Scenarios for tests, built by hand.
#![allow(dead_code, reason = "every test file uses a part")]

use sojourn_aqm::{Ecn, Limit, Packing, QdiscSpec, Rate, Span};
use sojourn_record::Run;
use sojourn_record::rows::{Scope, SignalRow};
use sojourn_scenario::resolved::{
    App, Arrivals, Capacity, Codec, Datagrams, FlowGroup, Link, LinuxEngine, Ns3Engine, Record,
    Resolved, Tcp,
};

pub fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

pub fn mbit(n: u64) -> Rate {
    Rate::from_bps(n * 1_000_000)
}

/// A link of 10 Mbit/s and 48 ms under an AQM with a limit in bytes.
pub fn link(name: &str, aqm: &str, limit_bytes: u64) -> Link {
    let mut queue = QdiscSpec::parse(aqm).unwrap();
    queue.set_default("limit", &format!("{limit_bytes}B"));
    Link {
        name: name.into(),
        capacity: Capacity::Constant(mbit(10)),
        delay: ms(48),
        framing_bytes: 0,
        packing: Packing::NONE,
        policer: None,
        scheduler: None,
        queue,
        limit: Limit::Bytes(limit_bytes),
        mtu_bytes: 1500,
        device: None,
        delay_changes: None,
        jitter: None,
        loss: None,
        duplicate: None,
        reorder: None,
        corrupt: None,
        ecn_bleaching: false,
    }
}

pub fn tcp(cc: &str) -> Tcp {
    Tcp {
        profile: "linux".into(),
        cc: Some(cc.into()),
        ecn: None,
        payload_bytes: 1448,
        header_bytes: 52,
        initial_window: None,
        ack_every: None,
        receive_window: None,
        offload_bytes: None,
        super_packets: false,
    }
}

/// Flows over link 0 with a base RTT of 100 ms.
pub fn group(name: &str, count: u32, app: App) -> FlowGroup {
    FlowGroup {
        name: name.into(),
        class: name.into(),
        count,
        path: vec![0],
        reverse: vec![],
        access_rate: mbit(100),
        sender_downlink: None,
        receiver_rate: None,
        access_delay: ms(1),
        egress_delay: ms(1),
        return_delay: ms(50),
        return_egress_delay: Span::ZERO,
        rtt: ms(100),
        start: (Span::ZERO, Span::ZERO),
        stop: None,
        hosts: None,
        dscp: 0,
        app,
    }
}

pub fn bulk(count: u32, cc: &str) -> FlowGroup {
    group("bulk", count, App::Bulk { tcp: tcp(cc), bytes: None })
}

pub fn cbr(name: &str, count: u32, rate: Rate, packet_bytes: u32) -> FlowGroup {
    let datagrams = Datagrams { packet_bytes, rate, ecn: Ecn::NotEct };
    group(name, count, App::Cbr { datagrams, arrivals: Arrivals::Constant, voice: None })
}

/// Voice calls with a given rate and packet size.
pub fn calls(name: &str, rate: Rate, packet_bytes: u32, codec: Codec) -> FlowGroup {
    let datagrams = Datagrams { packet_bytes, rate, ecn: Ecn::NotEct };
    let arrivals = Arrivals::Constant;
    group(name, 1, App::Cbr { datagrams, arrivals, voice: Some(codec) })
}

pub fn scenario(seconds: u64, links: Vec<Link>, flows: Vec<FlowGroup>) -> Resolved {
    Resolved {
        name: "test".into(),
        seed: 1,
        duration: Span::from_secs(seconds),
        warmup: Span::ZERO,
        record: Record {
            packets: false,
            signals: false,
            flows: false,
            states: true,
            sample: ms(100),
            bins: None,
            latency: false,
        },
        links,
        wlans: vec![],
        flows,
        linux: LinuxEngine::default(),
        ns3: Ns3Engine::default(),
        expect: vec![],
        warnings: vec![],
    }
}

pub fn run(plan: &Resolved) -> Run {
    sojourn_sim::run(plan, &|_| true).unwrap()
}

/// One number of the summary.
pub fn metric(run: &Run, scope: Scope, name: &str, metric: &str) -> f64 {
    let found = run
        .summary
        .iter()
        .find(|row| row.scope == scope && row.name == name && row.metric == metric);
    found.unwrap_or_else(|| panic!("no {metric} of {name}")).value
}

/// When counters are read, in milliseconds: at the end of the warm-up and of bins, and for samples
/// with states.
pub fn read_at(plan: &mut Resolved, warmup: u64, bins: Option<u64>, sample: Option<u64>) {
    plan.warmup = ms(warmup);
    plan.record.bins = bins.map(ms);
    plan.record.states = sample.is_some();
    plan.record.sample = ms(sample.unwrap_or(100));
}

/// The results of a scenario without records of packets, where some events are skipped, and with
/// such records.
pub fn both(plan: &Resolved) -> [Run; 2] {
    let mut recorded = plan.clone();
    recorded.record.packets = true;
    [run(plan), run(&recorded)]
}

/// All results except those that may differ between the two runs.
pub fn shown(run: &Run) -> String {
    let mut run = run.clone();
    run.packets.clear();
    run.events = 0;
    // Links that defer work write evidence in a different order.
    let evidence = |row: &mut SignalRow| {
        let start = std::mem::take(&mut row.evidence);
        let vars = run.evidence_vars[row.queue as usize].len();
        run.evidence[start..start + vars].to_vec()
    };
    run.evidence = run.signals.iter_mut().flat_map(evidence).collect();
    run.summary.retain(|row| row.metric != "events");
    format!("{run:?}")
}
