//! The line of a device's disciplines: its shaper and overhead, its AQM, and netem's part.

use super::aqm;
use super::classes;
use super::netem;
use super::options;
use super::scheduler;
use super::shaped::{DEEPEST, ShapedLine, TcShaper, lacking, of_shaper, pfifo};
use super::tree::{TcOption, TcParent, TcQdisc, TcSetup, TcValue, minor};

/// The lines of all devices that have a queue or a shaper.
pub fn lines(setup: &TcSetup) -> Vec<ShapedLine> {
    let devices = setup.devices().into_iter().map(str::to_owned).collect::<Vec<_>>();
    devices.iter().filter_map(|device| of_device(setup, device)).collect()
}

fn of_device(setup: &TcSetup, device: &str) -> Option<ShapedLine> {
    let root = setup.root(device)?;
    let mut line = ShapedLine {
        device: device.to_owned(),
        shapers: Vec::new(),
        overhead: root.stab.clone(),
        shaper_overhead: None,
        scheduler: None,
        queue: None,
        aqm: None,
        refused: None,
        netem: None,
        chain: Vec::new(),
        missing: Vec::new(),
        arrives_on: setup.redirects.iter().find(|it| it.to == device).map(|it| it.from.clone()),
    };
    let mut next = Some(root);
    let mut taken: Vec<&TcQdisc> = Vec::new();
    while let Some(qdisc) = next {
        line.chain.push(qdisc.kind.clone());
        taken.push(qdisc);
        line.overhead = line.overhead.or_else(|| qdisc.stab.clone());
        next = match line.chain.len() < DEEPEST {
            true => below(setup, qdisc, &mut line),
            false => None,
        };
    }
    line.missing.extend(beside(setup, &line, &taken));
    let header = line.header_bytes();
    let alone = line.shapers.is_empty() && line.overhead.is_none();
    if let Some(netem) = line.netem.as_mut().filter(|_| alone) {
        line.overhead = netem::take_framing(netem, header);
    }
    if let Some(queue) = line.queue.clone() {
        if queue.kind == "cake" {
            let bps = queue.rate("bandwidth");
            let kind = queue.kind.clone();
            line.shapers.extend(bps.map(|bps| TcShaper {
                kind,
                bps,
                burst: None,
                line: queue.line,
            }));
        }
        match aqm::of_qdisc(&queue, setup.source) {
            Ok(aqm) => {
                line.missing.extend(aqm.missing.clone());
                line.overhead = line.overhead.or_else(|| aqm.overhead.clone());
                line.aqm = Some(aqm);
            }
            Err(error) => line.refused = Some(error),
        }
    }
    Some(line)
}

/// The disciplines below classes that are left out.
fn beside(setup: &TcSetup, line: &ShapedLine, taken: &[&TcQdisc]) -> Vec<String> {
    let has_queues = line.chain.iter().any(|it| matches!(it.as_str(), "mq" | "mqprio" | "cake_mq"));
    if line.scheduler.is_some() || has_queues {
        return Vec::new();
    }
    let is_left = |it: &&TcQdisc| {
        it.device == line.device
            && matches!(it.parent, TcParent::Class(_))
            && taken.iter().all(|other| !std::ptr::eq(*other, *it))
    };
    let left = setup.qdiscs.iter().filter(is_left);
    let said = left.map(|it| {
        let text = format!("{} {}", it.kind, it.words());
        format!("`{}` (line {}) is below another class, and is left out", text.trim_end(), it.line)
    });
    said.collect()
}

/// Reports the options of a scheduler that have no counterpart.
fn of_scheduler(qdisc: &TcQdisc, line: &mut ShapedLine) {
    let words = options::table(&qdisc.kind).map_or(&[][..], |it| it.words);
    let is_missing = |option: &&TcOption| {
        words.iter().any(|it| it.word == option.name && it.ours == options::Ours::Missing)
    };
    let found = qdisc.options.iter().filter(is_missing).filter(|it| it.text != "multiqueue: off");
    line.missing.extend(found.map(|it| lacking(&it.text, it.line)));
}

/// Adds a discipline to the line; returns the discipline below it.
fn below<'s>(setup: &'s TcSetup, qdisc: &'s TcQdisc, line: &mut ShapedLine) -> Option<&'s TcQdisc> {
    match qdisc.kind.as_str() {
        "netem" => {
            if let Some(above) = line.netem.take() {
                line.missing.push(format!(
                    "`{}` (line {}) has no counterpart here: a netem below it is taken alone",
                    above.words(),
                    above.line
                ));
            }
            line.netem = Some(qdisc.clone());
            setup.children(qdisc).next()
        }
        "tbf" | "pipe" => {
            let burst = qdisc.bytes("burst").and_then(|it| u64::try_from(it).ok());
            let (kind, bps) = (qdisc.kind.clone(), qdisc.rate("rate"));
            line.shapers.extend(bps.map(|bps| TcShaper { kind, bps, burst, line: qdisc.line }));
            of_shaper(&qdisc.options, line);
            peak(qdisc, line);
            let child = setup.children(qdisc).next();
            if child.is_none() {
                line.queue = Some(queue_of_tbf(qdisc));
            }
            child
        }
        "htb" | "hfsc" => {
            of_scheduler(qdisc, line);
            classes::default_leaf(setup, qdisc, line)
        }
        "prio" | "ets" if !qdisc.options.is_empty() || qdisc.kind == "prio" => {
            of_scheduler(qdisc, line);
            best_effort(setup, qdisc, line)
        }
        "drr" if line.scheduler.is_none() => {
            line.scheduler = scheduler::of_drr(setup, qdisc, line);
            let default = line.scheduler.as_ref().and_then(|it| it.default.clone());
            line.queue = default.as_ref().map(|_| pfifo(qdisc));
            setup.children(qdisc).find(|it| match &it.parent {
                TcParent::Class(id) => Some(id.replace(':', "-")) == default,
                _ => false,
            })
        }
        "cake_mq" if setup.children(qdisc).next().is_none() => {
            line.missing.push(
                "cake_mq divides its rate between busy transmit queues: one cake with all of it \
                 is taken"
                    .to_owned(),
            );
            line.queue = Some(TcQdisc { kind: "cake".to_owned(), ..qdisc.clone() });
            None
        }
        "mq" | "mqprio" | "cake_mq" => {
            line.missing.extend(transmit_queues(setup, qdisc));
            setup.children(qdisc).next()
        }
        "noqueue" => None,
        _ => {
            line.queue = Some(qdisc.clone());
            None
        }
    }
}

/// What one queue for all flows leaves out of several transmit queues.
fn transmit_queues(setup: &TcSetup, qdisc: &TcQdisc) -> Option<String> {
    let mut children = setup.children(qdisc);
    let first = children.next()?;
    let count = children.clone().count() + 1;
    if count < 2 {
        return None;
    }
    let kind = &qdisc.kind;
    let chosen_by = if kind == "mqprio" { "priority" } else { "hash" };
    let is_alike = |it: &TcQdisc| it.kind == first.kind && it.words() == first.words();
    let unlike = match children.all(is_alike) {
        true => String::new(),
        false => format!(", that of line {}, though they differ", first.line),
    };
    let shapes = match first.rate("bandwidth").or(first.rate("rate")) {
        Some(_) if kind == "cake_mq" => ", and the busy ones share the rate",
        Some(_) => ", of which each has the rate of its shaper, so that all together may send more",
        _ => "",
    };
    Some(format!(
        "{kind} has {count} transmit queues, each with its own AQM and limit{shapes}; a flow's \
         {chosen_by} decides its queue, and the device serves them in turn: one queue for all \
         flows is taken{unlike}"
    ))
}

/// The queue of a tbf without a discipline below it, a bfifo of its limit; `latency` gives the
/// limit as rate times latency plus burst, or the same of the peak rate if that is less (iproute2
/// 6.1 tc/q_tbf.c).
fn queue_of_tbf(qdisc: &TcQdisc) -> TcQdisc {
    let by_bucket = |rate: &str, burst: &[&str]| {
        let (bps, nanos) = qdisc.rate(rate).zip(qdisc.nanos("lat"))?;
        let burst = burst.iter().find_map(|it| qdisc.bytes(it)).unwrap_or(0);
        Some((bps as f64 / 8.0 * (nanos as f64 / 1e9)) as i64 + burst)
    };
    let by_peak = by_bucket("peakrate", &["mtu", "minburst"]);
    let by_latency = by_bucket("rate", &["burst"]).into_iter().chain(by_peak).min();
    let limit = qdisc.bytes("limit").or(by_latency);
    let option = limit.map(|bytes| TcOption {
        name: "limit",
        value: TcValue::Bytes(bytes),
        text: format!("limit {bytes}"),
        line: qdisc.line,
    });
    TcQdisc {
        kind: "bfifo".to_owned(),
        options: option.into_iter().collect(),
        stab: None,
        ..qdisc.clone()
    }
}

/// Reports the second bucket of a tbf, which the model lacks; its size alone has no effect.
fn peak(qdisc: &TcQdisc, line: &mut ShapedLine) {
    let of_peak = |it: &&TcOption| matches!(it.name, "peakrate" | "mtu" | "minburst");
    if qdisc.option("peakrate").is_some() {
        let found = qdisc.options.iter().filter(of_peak);
        line.missing.extend(found.map(|it| lacking(&it.text, it.line)));
    }
}

/// The band of prio for packets without a DSCP: that of priority 0, usually the second (iproute2
/// 6.1 tc/q_prio.c).
fn best_effort<'s>(
    setup: &'s TcSetup,
    qdisc: &'s TcQdisc,
    line: &mut ShapedLine,
) -> Option<&'s TcQdisc> {
    line.scheduler = scheduler::of_prio(setup, qdisc, line).filter(|_| line.scheduler.is_none());
    let band = scheduler::priomap(qdisc).map_or(1, |map| u64::from(map[0])) + 1;
    if line.scheduler.is_none() {
        let taken =
            format!("the bands of {}: that of best effort, number {band}, is taken", qdisc.kind);
        line.missing.push(taken);
    }
    let is_taken =
        |it: &&TcQdisc| matches!(&it.parent, TcParent::Class(id) if minor(id) == Some(band));
    let band = setup.children(qdisc).find(is_taken);
    if band.is_none() {
        line.queue = Some(pfifo(qdisc));
    }
    band
}
