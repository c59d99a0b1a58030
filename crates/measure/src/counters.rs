//! Sums: of a link, of a class of traffic, of a flow.

use sojourn_aqm::{Backlog, Span, Time};
use sojourn_record::Histogram;

/// Sums since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left towards the link.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets dropped, by cause.
    pub dropped: [u64; 3],
    /// Packets marked, by cause.
    pub marked: [u64; 3],
    /// Bytes carried by a recorded link.
    pub carried_bytes: u64,
    /// Frames that a wireless link sent, every attempt counted.
    pub frames: u64,
    /// Those of them that were not received.
    pub failed: u64,
    /// Packets that a wireless link gave up.
    pub given_up: u64,
}

impl Counters {
    /// What was added since.
    pub fn since(&self, then: &Counters) -> Counters {
        let less = |now: [u64; 3], then: [u64; 3]| std::array::from_fn(|i| now[i] - then[i]);
        Counters {
            arrived: self.arrived - then.arrived,
            sent: self.sent - then.sent,
            sent_bytes: self.sent_bytes - then.sent_bytes,
            dropped: less(self.dropped, then.dropped),
            marked: less(self.marked, then.marked),
            carried_bytes: self.carried_bytes - then.carried_bytes,
            frames: self.frames - then.frames,
            failed: self.failed - then.failed,
            given_up: self.given_up - then.given_up,
        }
    }
}

/// What happened since the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// Packets that left.
    pub departed: u64,
    /// The sum of their sojourn times.
    pub delay_sum_ns: u64,
    /// The largest of them.
    pub delay_max_ns: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Bytes that left.
    pub bytes: u64,
}

impl Interval {
    /// The values of [`BUILTIN_VARS`](crate::BUILTIN_VARS), given what waits now and how long it
    /// was.
    pub fn values(&self, backlog: Backlog, every: Span) -> [f64; 7] {
        let mean_ns = self.delay_sum_ns as f64 / self.departed as f64;
        [
            f64::from(backlog.packets),
            backlog.bytes as f64,
            mean_ns / 1e9,
            self.delay_max_ns as f64 / 1e9,
            self.drops as f64,
            self.marks as f64,
            self.bytes as f64 * 8.0 / every.as_secs(),
        ]
    }
}

/// What is counted at one link.
#[derive(Clone, Debug)]
pub struct LinkStats {
    /// Since the start.
    pub total: Counters,
    /// The same at the end of the warm-up.
    pub at_warmup: Counters,
    /// Since the last sample.
    pub interval: Interval,
    /// Sojourn times after the warm-up.
    pub delays: Histogram,
    /// Time that the server was busy between warm-up and end.
    pub busy: Span,
    /// Time that it was busy from the start, what it is sending now counted whole.
    pub busy_total: Span,
    /// When it has sent that.
    pub busy_end: Time,
    pub(crate) window: (Time, Time),
}

impl LinkStats {
    /// Nothing counted yet; `window` is from the end of the warm-up to the end of the run.
    pub fn new(window: (Time, Time)) -> LinkStats {
        LinkStats {
            total: Counters::default(),
            at_warmup: Counters::default(),
            interval: Interval::default(),
            delays: Histogram::default(),
            busy: Span::ZERO,
            busy_total: Span::ZERO,
            busy_end: Time::ZERO,
            window,
        }
    }

    /// What was counted after the warm-up.
    pub fn counted(&self) -> Counters {
        self.total.since(&self.at_warmup)
    }

    /// How long the server was busy from the start until `now`.
    pub(crate) fn busy_until(&self, now: Time) -> Span {
        self.busy_total - self.busy_end.since(now)
    }
}

/// What is counted for one class of traffic after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// One-way delays of datagrams, and of data packets if wanted.
    pub one_way: Histogram,
    /// Round trips of data packets as an observer beside the sender sees them, if wanted.
    pub rtt: Histogram,
    /// Completion times of short transfers that were requested after the warm-up.
    pub completion: Histogram,
    /// How long those of them that did not finish were under way; none where it is not known.
    pub unfinished: Option<Histogram>,
}

/// What a flow has achieved so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowCount {
    /// Bytes delivered: payload in order for streams, whole datagrams otherwise.
    pub delivered_bytes: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
}

impl FlowCount {
    /// What was counted since an earlier count.
    pub fn since(self, then: FlowCount) -> FlowCount {
        FlowCount {
            delivered_bytes: self.delivered_bytes - then.delivered_bytes,
            sent: self.sent - then.sent,
            received: self.received - then.received,
        }
    }
}
