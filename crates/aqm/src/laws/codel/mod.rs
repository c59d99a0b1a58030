//! CoDel: drops from the head, at a growing rate, once every packet of a whole interval has waited
//! longer than a target. CoDel-ACT ("adapted count and time"), which waits less before it drops
//! again, is offered as dialects of CoDel.
//!
//! Source: RFC 8289 §5; a literal transcription of its routine is kept next to this file as a test
//! oracle. [`exact`] has the dialects that follow a published text, [`ticks`] those that use the
//! integers of Linux and ns-3.
//!
//! Deviations of `rfc8289` from RFC 8289:
//! - `ecn` and `ce_threshold`, which its pseudo-code lacks, follow Linux `codel_impl.h`: a mark
//!   replaces a drop, at most one per dequeue. The same holds for `draft`, `act`, `act_pollere`.
//! - `first_above_time` and `drop_next` are unset, not zero, until they have a meaning.
//! - The optional longer first spacing of data centres (§4.5) is not offered.
//!
//! Deviations of `rfc8289` from Linux `codel_impl.h`: the square root is exact, not a 16-bit Newton
//! step; time is in nanoseconds, not in ticks of 1024; the test of `first_above` is `>=`, not `>`;
//! an overload of flow queues does not raise `count`. `linux` follows all of these.
//!
//! Deviations of `rfc8289` from ns-3 `CoDelQueueDisc`: as from Linux (ns-3 has the same Newton step
//! and the same `>`); the MTU test is `<=` as in the RFC, not `<`, and counts the link's whole
//! backlog, not the flow queue alone; finding the queue empty clears `first_above`; after a mark
//! the next one is scheduled from `drop_next`, not from now; `ce_threshold` needs no `ecn`. `ns3`
//! follows all of these.
//!
//! `freebsd` is described in [`freebsd`].
//!
//! `linux` is that of Linux 7.2.13; `kernel` chooses an older one (facts aqm-132 to aqm-134).
//!
//! `draft` stands for the ns-2 code behind the draft too; the early versions that resume with
//! `count - 1` (ns-2 of mid-2012) or with `(count - lastcount) | 1` (the first Linux) are not
//! offered. `act` is Listing 2 of Schwarzkopf, Veith and Menth 2016, with 0.9844 count rounded down
//! (fact aqm-18). `act_pollere` drops the very first packet if it is above target, as its source
//! does, unless a packet below target or an empty queue came first.

mod exact;
mod freebsd;
mod ticks;

use alloc::string::String;
use alloc::vec::Vec;

use exact::{Exact, Text};
use ticks::{Build, TickCoDel};

use crate::effective::Effective;
use crate::law::{Aqm, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::rules::contradiction;
use crate::params::{Bytes, OrAuto, OrOff};
use crate::parts::dummynet::whole_micros;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::words;

words! {
    /// The kernel whose `codel_impl.h` dialect `linux` follows: the first with that code.
    pub enum KernelCode {
        /// Mainline before commit 815980fe6dbb (March 2026): an empty queue keeps `first_above`.
        Linux5_10 = "linux-5.10",
        /// With that fix, which stable releases since 6.1.191 have.
        Linux6_1 = "linux-6.1",
        /// With at most 256 drops per departure, each at least one tick after the last.
        Linux7_2 = "linux-7.2",
    }
}

params! {
    /// Parameters of CoDel.
    pub struct CoDelParams {
        dialects:
            "rfc8289" = "RFC 8289 §5 with an exact square root; ECN as Linux",
            "linux" =
                "Linux codel_impl.h to the bit: ticks of 1024 ns, 16-bit Newton step, strict test",
            "draft" = "draft-nichols-tsvwg-codel-01, and Schwarzkopf, Veith and Menth 2016 \
                Listing 1: count - 2",
            "act" = "CoDel-ACT, Schwarzkopf, Veith and Menth 2016 Listing 2: waits \
                interval / sqrt(count)",
            "act_pollere" =
                "CoDel-ACT as Pollere's ns-2 code of July 2012: waits less within 8 intervals",
            "ns3" = "ns-3 CoDelQueueDisc: Linux's Newton step; a mark schedules from now",
            "freebsd" = "FreeBSD dummynet (pfSense, OPNsense): the draft in ticks of 1 ms";
        /// Sojourn time that is acceptable as a standing delay.
        target: Span, POSITIVE, "RFC 8289 §4.3" => Span::from_millis(5);
        /// How long sojourn times must stay above target before the first drop; a worst-case RTT.
        interval: Span, POSITIVE, "RFC 8289 §4.2" => Span::from_millis(100);
        /// Backlog up to which no packet is dropped; `auto` is the largest packet of the link.
        mtu_bytes: OrAuto<Bytes>, POSITIVE, "RFC 8289 §5.3: SHOULD be the interface MTU"
            => OrAuto(None),
            "linux": "Linux sch_codel.c: psched_mtu" => OrAuto(None),
            "ns3": "ns-3 CoDelQueueDisc: MinBytes" => OrAuto(Some(Bytes(1500)));
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "RFC 8289 has no ECN; Linux sch_codel.c: off" => false;
        /// Sojourn time above which every ECN-capable packet is marked, regardless of state.
        ce_threshold: OrOff<Span>, ANY, "Linux codel.h: disabled" => OrOff(None);
        /// Whether `ce_threshold` marks only ECT(1) and CE, which are then neither dropped nor
        /// marked otherwise.
        l4s: bool, ANY, "ns-3 CoDelQueueDisc: UseL4s" => false;
        /// Fixed count, for a constant drop rate.
        count: OrOff<u64>, POSITIVE,
            "RFC 8289 §5.5: it grows; Schwarzkopf, Veith and Menth 2016 §III freeze it"
                => OrOff(None);
        /// Whose `codel_impl.h`: that of Linux 5.10, of 6.1 to 6.12, or of 7.2. `@linux-6.1` sets
        /// it.
        kernel: KernelCode, ANY, "Linux 7.2.13 codel_impl.h" => KernelCode::Linux7_2;
    }
    behaviour {
        "count on entering the dropping state":
            "count - lastcount if that is > 1 and within 16 intervals, else 1", "RFC 8289 §5.5",
            "freebsd": "count - 2 if count > 2 and 0 to 8 intervals after drop_next, else 1",
                "FreeBSD dn_aqm_codel.h",
            "draft": "count - 2 if count > 2 and within 8 intervals, else 1",
                "draft-nichols-tsvwg-codel-01; Schwarzkopf, Veith and Menth 2016 Listing 1",
            "act" | "act_pollere":
                "count - 2, or 0.9844 count above 126, if count > 2 and within 8 intervals, else 1",
                "Schwarzkopf, Veith and Menth 2016 Listing 2";
        "count is raised": "by each drop", "RFC 8289 §5.5",
            "draft" | "act" | "act_pollere" | "freebsd":
                "by a drop after which the next packet is above target too",
                "Schwarzkopf, Veith and Menth 2016 Listing 1";
        "wait before the first drop": "interval", "RFC 8289 §5.6",
            "act": "interval / sqrt(count)", "Schwarzkopf, Veith and Menth 2016 §II-B",
            "act_pollere": "interval / sqrt(count) within 8 intervals, else interval",
                "Pollere, ns-2 codel.cc of July 2012";
        "above target for long enough": "at first_above or later", "RFC 8289 §5.6",
            "linux" | "ns3": "later than first_above", "Linux codel_impl.h; ns-3 CoDelQueueDisc";
        "1 / sqrt(count)": "exact", "RFC 8289 §5.6",
            "linux" | "ns3": "16 bits, one Newton step per change", "Linux codel.h; ns-3",
            "freebsd": "16 bits, one Newton step per signal", "FreeBSD dn_aqm_codel.c";
        "a small backlog": "of the link, <= mtu_bytes", "RFC 8289 §4.4, §5.6",
            "ns3": "of the queue, < mtu_bytes", "ns-3 CoDelQueueDisc",
            "freebsd": "of the queue, <= its largest packet so far", "FreeBSD dn_aqm_codel.h";
        "a queue found empty": "clears first_above", "RFC 8289 §5.6",
            "linux": "clears first_above, except with kernel=linux-5.10",
                "Linux 6.1.192 codel_impl.h, codel_dequeue (fact aqm-132)",
            "ns3": "leaves first_above", "ns-3 CoDelQueueDisc";
        "after a mark the next is scheduled": "from drop_next", "Linux codel_impl.h",
            "ns3": "from now", "ns-3 CoDelQueueDisc";
        "ce_threshold marks": "whatever can be marked", "Linux codel_impl.h",
            "ns3": "only where ecn is on", "ns-3 CoDelQueueDisc";
        "drops at one departure": "without a bound", "RFC 8289 §5.5",
            "linux": "at most 256 with kernel=linux-7.2", "Linux 7.2.13 codel.h (fact aqm-133)";
        "an overload of flow queues": "leaves count", "RFC 8289 §5.4",
            "linux": "adds the packets it drops to count", "Linux sch_fq_codel.c, fq_codel_drop";
    }
    check: |params| check(params);
    unused: |dialect| match dialect {
        "linux" => &["l4s"],
        "ns3" => &["kernel"],
        "freebsd" => &["mtu_bytes", "ce_threshold", "l4s", "count", "kernel"],
        _ => &["l4s", "kernel"],
    };
}

fn check(params: &CoDelParams) -> Result<(), String> {
    // Khademi, Ros and Welzl 2013 use 5 ms for both.
    if params.target > params.interval {
        let source = "RFC 8289 §4.3: 5 to 10 % of it";
        return Err(contradiction(params, "target", "at most", "interval", source));
    }
    if params.count.0.is_some_and(|count| u32::try_from(count).is_err()) {
        return Err("count must be less than 2^32 (Linux codel.h counts in 32 bits)".into());
    }
    let ticks = params.interval.as_nanos() >> 10;
    if matches!(params.dialect, "linux" | "ns3") && !(1..1 << 31).contains(&ticks) {
        // Linux codel.h compares times modulo 2^32 ticks of 1024 ns: half of that is 2199 s.
        return Err("interval must be from 1.024us to 2199s in this dialect (Linux codel.h)".into());
    }
    let allowed = 1_000..=5_000_000_000;
    let spans = [params.target, params.interval];
    if params.dialect == "freebsd" && spans.iter().any(|it| !allowed.contains(&it.as_nanos())) {
        let why = "target and interval must be from 1us to 5s in this dialect (dn_aqm_codel.c)";
        return Err(why.into());
    }
    Ok(())
}

impl CoDelParams {
    fn frozen_count(&self) -> Option<u32> {
        self.count.0.map(|count| u32::try_from(count).expect("checked to fit"))
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct CoDel(Engine);

/// The kinds of arithmetic.
#[derive(Clone, Debug)]
enum Engine {
    Exact(Exact),
    Ticks(TickCoDel),
    FreeBsd(Exact),
}

impl Engine {
    fn new(params: &CoDelParams, env: &Env) -> Engine {
        let exact = |text| Engine::Exact(Exact::new(text, params, env));
        let ticks = |build| Engine::Ticks(TickCoDel::new(build, params, env));
        match params.dialect {
            "linux" => ticks(Build::Linux),
            "ns3" => ticks(Build::Ns3),
            "draft" => exact(Text::Draft),
            "act" => exact(Text::Act),
            "act_pollere" => exact(Text::ActPollere),
            "freebsd" => Engine::FreeBsd(Exact::new(Text::FreeBsd, params, env)),
            _ => exact(Text::Rfc8289),
        }
    }
}

impl Aqm for CoDel {
    #[inline]
    fn on_enqueue(&mut self, _: Time, head: Head, _: Backlog, _: &mut Rng) -> Verdict {
        if let Engine::FreeBsd(exact) = &mut self.0 {
            exact.on_enqueue(head.bytes);
        }
        Verdict::Pass
    }

    fn judges_arrivals(&self) -> bool {
        false
    }

    fn on_listing(&mut self, _now: Time, is_listed: bool) {
        if let (Engine::FreeBsd(exact), true) = (&mut self.0, is_listed) {
            exact.on_listing();
        }
    }

    /// The default arithmetic is inlined into the caller; the integer arithmetic is called.
    #[inline(always)]
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        match &mut self.0 {
            Engine::Exact(exact) => exact.on_dequeue(now, head, queue),
            Engine::Ticks(ticks) => ticks.on_dequeue(now, head, queue),
            Engine::FreeBsd(exact) => exact.on_dequeue_in_ticks(now, head, queue),
        }
    }

    fn on_eviction(&mut self, _now: Time, _queue: Backlog) {
        if let Engine::Ticks(ticks) = &mut self.0 {
            ticks.on_eviction();
        }
    }

    fn on_empty(&mut self, _now: Time) {
        match &mut self.0 {
            Engine::Exact(exact) | Engine::FreeBsd(exact) => exact.on_empty(),
            Engine::Ticks(ticks) => ticks.on_empty(),
        }
    }

    fn observe(&self, out: &mut [f64]) {
        let (dropping, count, sojourn, drop_next) = match &self.0 {
            Engine::Exact(it) | Engine::FreeBsd(it) => {
                (it.is_dropping(), it.count(), it.sojourn(), it.scheduled())
            }
            Engine::Ticks(it) => (it.is_dropping(), it.count(), it.sojourn(), it.scheduled()),
        };
        out[0] = f64::from(u8::from(dropping));
        out[1] = f64::from(count);
        out[2] = sojourn.as_secs();
        out[3] = drop_next.as_secs();
    }
}

impl Law for CoDel {
    type Params = CoDelParams;
    const NAME: &'static str = "codel";
    const DOC: &'static str =
        "Controlled delay: drops at the head once sojourn times stay above a target (RFC 8289)";
    const VARS: &'static [Var] = &[
        Var { name: "dropping", unit: "1", doc: "1 in the dropping state, else 0" },
        Var { name: "count", unit: "1", doc: "Signals in this or the last dropping state" },
        Var { name: "sojourn", unit: "s", doc: "Sojourn time of the last packet at the head" },
        Var {
            name: "drop_next",
            unit: "s",
            doc: "Time at which the next signal is due, in the dropping state; 0 before the first",
        },
    ];

    fn new(params: &CoDelParams, env: &Env) -> Self {
        CoDel(Engine::new(params, env))
    }

    fn effective(params: &CoDelParams, env: &Env) -> Vec<Effective> {
        let kept = |span: Span| match params.dialect {
            "linux" | "ns3" => ticks::kept(span),
            "freebsd" => whole_micros(span),
            _ => span,
        };
        let times = [("target", params.target), ("interval", params.interval)];
        let mtu_bytes = Effective::of_mtu("mtu_bytes", params.mtu_bytes, env.mtu_bytes);
        times
            .into_iter()
            .map(|(name, span)| Effective::instead(name, span, kept(span), ""))
            .chain(mtu_bytes.filter(|_| params.dialect != "freebsd"))
            .collect()
    }
}

#[cfg(test)]
mod dialect_tests;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;
