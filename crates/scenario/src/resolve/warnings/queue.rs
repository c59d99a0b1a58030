//! Checks of a link's queue.

use sojourn_aqm::qdiscs::cake::CakeParams;
use sojourn_aqm::{Limit, Rate, Span, registry, units};

use crate::resolved::{Device, FlowGroup, Link, Resolved};

/// Settings that give the queue delay from which a law acts.
const DELAYS: [&str; 4] = ["target", "sojourn_threshold", "ce_threshold", "l_min_th"];
/// Settings that give the backlog from which a law acts.
const BACKLOGS: [&str; 3] = ["min_th", "backlog_threshold", "length_trigger"];
/// Settings that give the period of a law's updates, or an interval.
const PERIODS: [&str; 5] = ["tupdate", "max_burst", "adapt_interval", "freeze_time", "interval"];
/// Laws that never mark, regardless of their settings.
const NEVER_MARK: [&str; 2] = ["taildrop", "sfq"];

/// The queue of a link with its settings, defaults filled in.
pub(super) struct Queue<'a> {
    resolved: &'a Resolved,
    link: &'a Link,
    /// The groups that send data through it.
    senders: &'a [&'a FlowGroup],
    settings: Vec<(&'static str, String)>,
}

impl<'a> Queue<'a> {
    /// The queue of a link through which these groups send data.
    pub(super) fn of(
        resolved: &'a Resolved,
        link: &'a Link,
        senders: &'a [&'a FlowGroup],
    ) -> Queue<'a> {
        let settings = registry::settings(&link.queue).unwrap_or_default();
        Queue { resolved, link, senders, settings }
    }

    fn text(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(known, _)| *known == name)?;
        Some(&found.1)
    }

    /// The value of a time. For CAKE's target and interval, the value in use if tc's `rtt` sets
    /// them.
    fn span(&self, name: &str) -> Option<Span> {
        let given = |name: &str| units::span(self.text(name)?).ok();
        match (name, self.is_cake().then(|| given("rtt")).flatten().map(CakeParams::of_rtt)) {
            ("target", Some((target, _))) => Some(target),
            ("interval", Some((_, interval))) => Some(interval),
            _ => given(name),
        }
    }

    fn is_cake(&self) -> bool {
        self.link.queue.law == "cake"
    }

    /// Whether the scenario sets this parameter.
    fn is_set(&self, name: &str) -> bool {
        self.link.queue.settings.iter().any(|(set, _)| set == name)
    }

    /// Whether the scenario sets this parameter to a value other than its default.
    fn is_changed(&self, name: &str) -> bool {
        let mut usual = self.link.queue.clone();
        usual.settings.retain(|(set, _)| set != name);
        let usual = registry::settings(&usual).unwrap_or_default();
        let default = usual.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str());
        default != self.text(name)
    }

    /// The rate of its shaper.
    fn shaper(&self) -> Option<Rate> {
        units::rate(self.text("bandwidth")?).ok().filter(|_| self.is_cake())
    }

    /// The initial rate of the link.
    fn rate(&self) -> Rate {
        let line = self.link.capacity.initial_rate();
        self.shaper().map_or(line, |shaper| shaper.min(line))
    }

    /// How long a packet of the largest size takes to send.
    fn packet_time(&self) -> Span {
        self.rate().time_for(u64::from(self.link.largest_bytes()))
    }

    /// How long a full buffer takes to drain at the initial rate.
    fn drain_time(&self) -> Span {
        self.rate().time_for(self.bytes(self.link.limit))
    }

    fn bytes(&self, limit: Limit) -> u64 {
        match limit {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => packets.saturating_mul(u64::from(self.link.largest_bytes())),
        }
    }

    /// The groups that send data through it.
    fn flows(&self) -> impl Iterator<Item = &'a FlowGroup> {
        self.senders.iter().copied()
    }

    /// Whether the queue can mark any packet.
    pub(super) fn can_mark(&self) -> bool {
        let is_off = self.text("ecn") == Some("false") && self.span("ce_threshold").is_none();
        !is_off && !NEVER_MARK.contains(&self.link.queue.law.as_str())
    }

    fn warning(&self, key: &str, sentence: &str) -> String {
        format!("links.{}.{key}: {sentence}", self.link.name)
    }
}

/// The first of these settings that meets a condition.
fn first(names: &[&'static str], holds: impl Fn(&str) -> bool) -> Option<&'static str> {
    names.iter().copied().find(|name| holds(name))
}

/// A queue that is full before its delay reaches the target drops only by overflow.
pub(super) fn threshold_beyond_buffer(queue: &Queue<'_>) -> Option<String> {
    let drain = queue.drain_time();
    let beyond = |name: &str| queue.span(name).is_some_and(|threshold| threshold > drain);
    let name = first(&DELAYS, beyond)?;
    Some(queue.warning(
        &format!("queue.{name}"),
        &format!(
            "{} is longer than the full buffer of {} takes to drain ({drain}), so the AQM will \
             hardly act; lower the {} or raise the buffer",
            queue.span(name)?,
            queue.link.limit,
            name.rsplit('_').next()?
        ),
    ))
}

/// The same for a threshold in packets or bytes.
pub(super) fn backlog_threshold_beyond_buffer(queue: &Queue<'_>) -> Option<String> {
    let limit = queue.bytes(queue.link.limit);
    let backlog = |name: &str| units::limit(queue.text(name)?).ok();
    let is_beyond = |name: &str| backlog(name).is_some_and(|least| queue.bytes(least) > limit);
    let name = first(&BACKLOGS, is_beyond)?;
    Some(queue.warning(
        &format!("queue.{name}"),
        &format!(
            "{} is more than the buffer of {} holds, so the AQM never acts; lower it or raise the \
             buffer",
            backlog(name)?,
            queue.link.limit
        ),
    ))
}

pub(super) fn buffer_below_packet(queue: &Queue<'_>) -> Option<String> {
    let memory = queue.text("memory_limit").and_then(|text| units::bytes(text).ok());
    let limit = match (queue.link.limit, memory) {
        (Limit::Bytes(bytes), memory) => bytes.min(memory.unwrap_or(bytes)),
        (Limit::Packets(_), memory) => memory?,
    };
    (limit < u64::from(queue.link.largest_bytes())).then(|| {
        format!(
            "links.{}: a buffer of {} has no room for a packet of {} bytes; raise the buffer",
            queue.link.name,
            Limit::Bytes(limit),
            queue.link.largest_bytes()
        )
    })
}

/// A queue delay below the transmission time of a packet: with any such value, the law acts on
/// every packet that arrives behind another. A CAKE that shapes raises its target to 1.5 packets
/// (Linux sch_cake.c, `cake_set_rate`), and DualPI2 does not mark the last `l_min_len` packets.
pub(super) fn threshold_below_packet(queue: &Queue<'_>) -> Option<String> {
    if queue.shaper().is_some() {
        return None;
    }
    let packet = queue.packet_time();
    let spared: u64 = queue.text("l_min_len").and_then(|text| text.parse().ok()).unwrap_or(0);
    let is_below = |name: &str| {
        let acts = queue.span(name).is_some_and(|threshold| threshold < packet);
        acts && !(name == "l_min_th" && spared > 0)
    };
    let name = first(&DELAYS, is_below)?;
    Some(queue.warning(
        &format!("queue.{name}"),
        &format!(
            "{} is shorter than a packet of {} bytes takes to send ({packet}), so the AQM acts on \
             any packet that waits; raise it to {} or more",
            queue.span(name)?,
            queue.link.largest_bytes(),
            packet + packet.half()
        ),
    ))
}

/// Step marking uses the sojourn time unless that threshold is turned off, even if the scenario
/// sets only a backlog.
pub(super) fn forgotten_sojourn_threshold(queue: &Queue<'_>) -> Option<String> {
    if queue.link.queue.law != "step"
        || !queue.is_set("backlog_threshold")
        || queue.is_set("sojourn_threshold")
    {
        return None;
    }
    let kept = queue.span("sojourn_threshold")?;
    Some(queue.warning(
        "queue.backlog_threshold",
        &format!(
            "sojourn_threshold, {kept} by default, marks too; write sojourn_threshold = \"off\" \
             for marks by backlog alone"
        ),
    ))
}

/// A shaper above the rate of the line never queues a packet.
pub(super) fn shaper_above_link(queue: &Queue<'_>) -> Option<String> {
    let (shaper, line) = (queue.shaper()?, queue.link.capacity.highest_rate());
    (shaper > line).then(|| {
        queue.warning(
            "queue.bandwidth",
            &format!("{shaper} is above the link's rate of {line}, so it shapes nothing; lower it"),
        )
    })
}

/// A law that updates only a few times, or is exempt during the whole run, shows only its initial
/// behaviour.
pub(super) fn slower_than_the_run(queue: &Queue<'_>) -> Option<String> {
    let duration = queue.resolved.duration;
    let is_slow = |name: &str| {
        let times = if name == "max_burst" { 1 } else { 10 };
        queue.is_set(name) && queue.span(name).is_some_and(|span| span.times(times) > duration)
    };
    let name = first(&PERIODS, is_slow)?;
    Some(queue.warning(
        &format!("queue.{name}"),
        &format!(
            "{} is too long for a run of {duration}, in which the AQM hardly begins to act; is the \
             unit right?",
            queue.span(name)?
        ),
    ))
}

/// A queue changes only with its packets, so more frequent updates only cost time.
pub(super) fn faster_than_packets(queue: &Queue<'_>) -> Option<String> {
    let packet = queue.packet_time();
    let is_fast = |name: &str| {
        queue.is_set(name) && queue.span(name).is_some_and(|span| span.times(100) < packet)
    };
    let name = first(&["tupdate", "adapt_interval"], is_fast)?;
    let (duration, period) = (queue.resolved.duration, queue.span(name)?);
    Some(queue.warning(
        &format!("queue.{name}"),
        &format!(
            "{period} is less than a hundredth of the time that a packet takes to send ({packet}), \
             and needs {} updates in {duration}; is the unit right?",
            duration.as_nanos() / period.as_nanos().max(1)
        ),
    ))
}

/// CAKE's `rtt` (of tc) sets target and interval, so values given for these are lost.
pub(super) fn replaced_by_rtt(queue: &Queue<'_>) -> Option<String> {
    if !queue.is_cake() || queue.text("rtt").is_none_or(|rtt| units::span(rtt).is_err()) {
        return None;
    }
    let name = first(&["target", "interval"], |name| queue.is_set(name))?;
    Some(queue.warning(
        &format!("queue.{name}"),
        &format!("has no effect, since rtt sets target and interval; remove {name} or rtt"),
    ))
}

/// Marks apply to flows that asked for ECN (RFC 3168 §5); step marking never drops.
pub(super) fn marks_for_nobody(queue: &Queue<'_>) -> Option<String> {
    let asks = |flow: &FlowGroup| match flow.app.tcp() {
        Some(tcp) => tcp.ecn.is_some(),
        None => flow.app.datagrams_ecn().can_mark(),
    };
    let is_step = queue.link.queue.law == "step";
    let is_meant = is_step || (queue.text("ecn") == Some("true") && queue.is_changed("ecn"));
    if !is_meant || queue.flows().next().is_none() || queue.flows().any(asks) {
        return None;
    }
    let then = if is_step { "the AQM never acts" } else { "it drops instead of marking" };
    Some(queue.warning(
        "queue",
        &format!("no flow over this link asks for ECN, so {then}; write ecn = true for the flows"),
    ))
}

/// CoDel's interval is a worst-case round trip: a shorter one signals again before senders can have
/// reacted (RFC 8289 §4.3).
pub(super) fn interval_below_rtt(queue: &Queue<'_>) -> Option<String> {
    if !["codel", "cobalt", "cake"].contains(&queue.link.queue.law.as_str()) {
        return None;
    }
    let interval = queue.span("interval")?;
    let is_slow = |flow: &&FlowGroup| flow.app.tcp().is_some() && flow.rtt > interval;
    let slowest = queue.flows().filter(is_slow).max_by_key(|flow| flow.rtt)?;
    Some(queue.warning(
        "queue.interval",
        &format!(
            "{interval} is shorter than the base RTT of flows `{}` ({}), so the AQM signals again \
             before they react; set it to their RTT",
            slowest.name, slowest.rtt
        ),
    ))
}

/// A device that holds a bandwidth-delay product is a bottleneck queue that no AQM manages.
pub(super) fn device_beyond_bdp(queue: &Queue<'_>) -> Option<String> {
    let Device { limit, .. } = queue.link.device?;
    let holds = queue.link.capacity.initial_rate().time_for(queue.bytes(limit));
    let slowest =
        queue.flows().filter(|flow| flow.app.tcp().is_some()).map(|flow| flow.rtt).max()?;
    (holds > slowest).then(|| {
        queue.warning(
            "device",
            &format!(
                "below the queue it holds {limit}, {holds} at the link's rate, more than the base \
                 RTT ({slowest}): the AQM does not see that queue and queue delay leaves it out; \
                 make it smaller, and judge by path delay (record.latency = true)"
            ),
        )
    })
}

/// CAKE shares the link between the hosts that the scenario names; otherwise each group has its own
/// pair of hosts.
pub(super) fn isolation_without_hosts(queue: &Queue<'_>) -> Option<String> {
    let isolation = queue.text("isolation").filter(|_| queue.is_set("isolation"))?;
    let is_by_flow = ["flows", "flowblind"].contains(&isolation);
    if is_by_flow || queue.flows().count() < 2 || queue.flows().any(|flow| flow.hosts.is_some()) {
        return None;
    }
    Some(queue.warning(
        "queue.isolation",
        &format!(
            "no group of flows over this link names src_host or dst_host, so each group counts as \
             another pair of hosts and {isolation} does not differ from other isolation by hosts; \
             name the hosts of the groups"
        ),
    ))
}
