//! Packets per second of wall time on a dumbbell: `speed FLOWS MBIT SECONDS AQM [CC]`.

use std::time::Instant;

use sojourn_aqm::{Limit, QdiscSpec, Rate, Span};
use sojourn_scenario::resolved::{App, Capacity, FlowGroup, Link, Record, Resolved, Tcp};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<u64>().expect("a number");
    let (flows, mbit, seconds) = (number(1), number(2), number(3));
    let mut queue = QdiscSpec::parse(&args[4]).expect("an AQM");
    let bdp = mbit * 1_000_000 / 8 / 10;
    queue.set_default("limit", &format!("{bdp}B"));
    let cc = args.get(5).map_or("cubic", String::as_str).to_owned();
    let rate = Rate::from_bps(mbit * 1_000_000);
    let ms = Span::from_millis;
    let plan = Resolved {
        name: "dumbbell".into(),
        seed: 1,
        duration: Span::from_secs(seconds),
        warmup: Span::ZERO,
        record: Record { packets: args.get(6).is_some(), flows: false, states: true, sample: ms(100) },
        links: vec![Link {
            name: "bottleneck".into(),
            capacity: Capacity::Constant(rate),
            delay: ms(48),
            framing_bytes: 0,
            queue,
            limit: Limit::Bytes(bdp),
            mtu_bytes: 1500,
        }],
        flows: vec![FlowGroup {
            name: "bulk".into(),
            class: "bulk".into(),
            count: flows as u32,
            path: vec![0],
            reverse: vec![],
            access_rate: Rate::from_bps(mbit * 10_000_000),
            access_delay: ms(1),
            egress_delay: ms(1),
            return_delay: ms(50),
            return_egress_delay: Span::ZERO,
            rtt: ms(100),
            start: (Span::ZERO, ms(1000)),
            stop: None,
            app: App::Bulk {
                tcp: Tcp {
                    cc,
                    ecn: false,
                    payload_bytes: 1448,
                    header_bytes: 52,
                    initial_window: 10,
                    ack_every: 2,
                },
                bytes: None,
            },
        }],
        warnings: vec![],
    };
    let start = Instant::now();
    let run = sojourn_sim::run(&plan, &|_| true).expect("a run");
    let wall = start.elapsed().as_secs_f64();
    for row in &run.summary {
        println!("{:?} {} {} {:.6} {}", row.scope, row.name, row.metric, row.value, row.unit);
    }
    let packets = run.packets_handled as f64;
    println!(
        "digest {:016x}  {:.2} M packets/s  {:.0} ns/packet  {:.2} events/packet",
        run.digest,
        packets / wall / 1e6,
        wall / packets * 1e9,
        run.events as f64 / packets
    );
}
