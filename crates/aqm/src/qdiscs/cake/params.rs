//! The parameters of CAKE, and values derived from them at a rate.

use alloc::vec::Vec;

use crate::effective::Effective;
use crate::framing::Cells;
use crate::law::Env;
use crate::laws::cobalt::{CobaltParams, InverseRoots};
use crate::params;
use crate::params::rules::contradiction;
use crate::params::{Bytes, OrOff, Params, Quantity, SignedBytes};
use crate::time::{Rate, Span};
use crate::units::Limit;
use crate::words;

use super::ack_filter::AckFilter;
pub use super::diffserv::Diffserv;
use super::shaper::ByteTime;

words! {
    /// The entities that share the link before it is shared between flows.
    pub enum Isolation {
        /// Flows only.
        Flows = "flows",
        /// Sources, then flows.
        Src = "src" | "dual-srchost",
        /// Destinations, then flows.
        Dst = "dst" | "dual-dsthost",
        /// Sources and destinations, whichever has more bulk flows, then flows.
        Triple = "triple" | "triple-isolate",
        /// Sources only: all flows of one are in one queue.
        SrcHost = "srchost",
        /// Destinations only.
        DstHost = "dsthost",
        /// Pairs of source and destination only.
        Hosts = "hosts",
        /// Nobody: all flows are in one queue.
        Flowblind = "flowblind",
    }
}

params! {
    /// Parameters of CAKE.
    pub struct CakeParams {
        dialects: "besteffort" = "Linux sch_cake.c with one tin";
        /// How much may wait in all queues together. An arrival is queued first; while more waits,
        /// the head of the queue on top of the heap of backlogs is dropped, which is the fattest
        /// one with the exception of fact qdisc-17. Bytes are those of the kernel's buffers
        /// (`truesize`, 2304 B for a datagram of 1500 B). With a bandwidth, the default is four
        /// intervals of it, or 4 MiB if that is more; another value holds as it stands (fact
        /// qdisc-18).
        limit: Limit, POSITIVE, "Linux sch_cake.c: 10240 packets of 1514 bytes"
            => DEFAULT_LIMIT;
        /// Rate that packets may leave at.
        bandwidth: OrOff<Rate>, POSITIVE, "Linux sch_cake.c: unlimited" => OrOff(None);
        /// Sojourn time that is acceptable as a standing delay, at least 1.5 packet times.
        target: Span, POSITIVE, "Linux sch_cake.c: 5 ms" => DEFAULT_TARGET;
        /// A worst-case RTT.
        interval: Span, POSITIVE, "Linux sch_cake.c: rtt 100 ms" => DEFAULT_INTERVAL;
        /// tc's `rtt`, which sets the interval to this time and the target to a twentieth of it.
        rtt: OrOff<Span>, POSITIVE, "iproute2 q_cake.c: not given" => OrOff(None);
        /// Tins by DSCP. `besteffort` has one; tc's default is `diffserv3`.
        diffserv: Diffserv, ANY, "Linux sch_cake.c: besteffort" => Diffserv::Besteffort;
        /// Whether the shaper charges dropped packets too, because they have used the link in front
        /// of it; COBALT then acts later with many bulk flows (tc's `ingress`).
        ingress: bool, ANY, "Linux sch_cake.c: egress" => false;
        /// Whether the rate follows the arrivals: it becomes 15/16 of an estimate of their peak
        /// rate, which rises fast and falls slowly (tc's `autorate-ingress`). `bandwidth` is the
        /// first estimate.
        autorate_ingress: bool, ANY, "Linux sch_cake.c: no-autorate-ingress" => false;
        /// Whether an acknowledgement drops older ones of its connection that it makes redundant.
        ack_filter: AckFilter, ANY, "Linux sch_cake.c: no-ack-filter" => AckFilter::Off;
        /// Whether the DSCP is set to 0 once it has chosen the tin.
        wash: bool, ANY, "Linux sch_cake.c: nowash" => false;
        /// Whether a super-packet is split on arrival. If not, it is one packet, whose overhead and
        /// cells count for each segment.
        split_gso: bool, ANY, "Linux sch_cake.c: split-gso" => true;
        /// Queues; a multiple of 8.
        flows: u64, QUEUES, "Linux sch_cake.c: CAKE_QUEUES" => 1024;
        /// Between whom the link is shared before it is shared between flows.
        isolation: Isolation, ANY, "Linux sch_cake.c: triple-isolate" => Isolation::Triple;
        /// Bytes that the link below adds to every packet, for the shaper and the shares of flows.
        /// They come on top of the link's `framing`, and may be negative: tc's `overhead 10`, which
        /// counts from the IP packet, is -4 with a framing of 14 bytes, and 10 without.
        overhead: SignedBytes, OVERHEAD, "Linux sch_cake.c: raw" => SignedBytes(0);
        /// Least size of a packet on the link below.
        mpu: Bytes, FRAMING, "Linux sch_cake.c: raw" => Bytes(0);
        /// Cells of the link below.
        cells: Cells, ANY, "Linux sch_cake.c: noatm" => Cells::None;
        /// Table of COBALT's 1 / sqrt(count): `linux-6.1`, or `linux-6.12` as in that release and
        /// later, by which the second signal comes 40 us later.
        inverse_roots: InverseRoots, ANY, "Linux 6.1 sch_cake.c, cobalt_cache_init"
            => InverseRoots::Linux6_1;
    } behaviour {
        "a flow's quantum": "1514 bytes (with a bandwidth, a 4096th of its bytes per second, \
            at least 300), divided by the number of bulk flows of its busier host and rounded at \
            random",
            "Linux sch_cake.c";
        "target and interval": "at least 1.5 and 3 packet times of the bandwidth; the interval \
            grows by as much as the target", "Linux sch_cake.c";
        "dropped where there is no room": "the head of the queue with most bytes",
            "Linux sch_cake.c";
        "ECN": "COBALT marks whatever can be marked; BLUE drops", "Linux sch_cake.c";
        "every queue's law": "cobalt@linux_exact", "Linux sch_cake.c";
    }
    check: |params| {
        if !params.flows.is_multiple_of(8) {
            return Err(alloc::format!(
                "flows `{}` must be a multiple of 8 (Linux sch_cake.c: CAKE_SET_WAYS)",
                params.flows
            ));
        }
        if params.target >= params.interval {
            return Err(contradiction(params, "target", "less than", "interval", "RFC 8289 §4.3"));
        }
        let usual = (params.target, params.interval) == (DEFAULT_TARGET, DEFAULT_INTERVAL);
        match params.rtt.0 {
            Some(rtt) if !usual => Err(alloc::format!(
                "rtt `{rtt}` sets target and interval; leave out either it or these"
            )),
            _ => Ok(()),
        }
    };
}

const DEFAULT_TARGET: Span = Span::from_millis(5);
const DEFAULT_INTERVAL: Span = Span::from_millis(100);
const DEFAULT_LIMIT: Limit = Limit::Bytes(10_240 * 1514);

/// The frame size from which Linux computes the quantum.
const FRAME_BYTES: u64 = 1514;

impl CakeParams {
    /// Target and interval as given, or those that follow from `rtt`.
    pub fn target_and_interval(&self) -> (Span, Span) {
        self.rtt.0.map_or((self.target, self.interval), CakeParams::of_rtt)
    }

    /// Target and interval of tc's `rtt` (iproute2 q_cake.c, cake_parse_opt: in whole
    /// microseconds).
    pub fn of_rtt(rtt: Span) -> (Span, Span) {
        (Span::from_micros((rtt.as_nanos() / 20_000).max(1)), rtt)
    }

    /// Bytes that a flow of a tin may send per round (Linux 6.1 sch_cake.c, cake_set_rate).
    pub(super) fn quantum(threshold: Option<Rate>) -> u64 {
        let share = threshold.map(|rate| rate.as_bps() / 8 / 4096);
        share.map_or(FRAME_BYTES, |bytes| bytes.clamp(300, FRAME_BYTES))
    }

    /// Target and interval of COBALT in a tin (Linux 6.1 sch_cake.c, cake_set_rate).
    pub(super) fn of_tin(&self, threshold: Option<Rate>, mtu_bytes: u32) -> (Span, Span) {
        let (least, interval) = self.target_and_interval();
        let frame = CakeParams::frame_time(threshold, mtu_bytes);
        let target = least.max(Span::from_nanos(frame.as_nanos() * 3 / 2));
        (target, (interval + (target - least)).max(target.times(2)))
    }

    /// The parameters of COBALT in a tin.
    pub(super) fn cobalt(&self, threshold: Option<Rate>, mtu_bytes: u32) -> CobaltParams {
        let (target, interval) = self.of_tin(threshold, mtu_bytes);
        let usual = CobaltParams::of_dialect("linux_exact").expect("it is declared");
        CobaltParams { target, interval, inverse_roots: self.inverse_roots, ..usual }
    }

    /// The parameter values in use: those of each tin, and the limit.
    pub(super) fn effective(&self, env: &Env) -> Vec<Effective> {
        let (target, interval) = self.target_and_interval();
        let cause = if self.rtt.0.is_some() { "rtt" } else { "bandwidth" };
        let shares = self.diffserv.shares(self.bandwidth.0);
        let names = self.diffserv.names();
        let mut values = Vec::new();
        for (share, part) in shares.iter().zip(names) {
            let used = self.cobalt(share.threshold, env.mtu_bytes);
            let of_tin = [
                share
                    .threshold
                    .filter(|_| shares.len() > 1)
                    .map(|r| Effective::filled("threshold", r)),
                Some(Effective::instead("target", target, used.target, cause)),
                Some(Effective::instead("interval", interval, used.interval, cause)),
                Some(Effective::filled(
                    "quantum",
                    Bytes(CakeParams::quantum(share.threshold)).show(),
                )),
            ];
            values.extend(of_tin.into_iter().flatten().map(|value| value.of(part)));
        }
        let (packets, memory) = self.limits();
        let limit = if memory == u64::MAX { packets } else { Limit::Bytes(memory) };
        values.push(Effective::filled("limit", limit));
        if self.autorate_ingress {
            let rate = "15/16 of the estimated peak rate of arrivals";
            values.push(Effective::filled("bandwidth", rate));
        }
        values
    }

    /// The transmission time of a largest packet at a tin's rate; 0 without a rate.
    pub(super) fn frame_time(threshold: Option<Rate>, mtu_bytes: u32) -> Span {
        let time = |rate| ByteTime::at(rate).of(u64::from(mtu_bytes));
        threshold.map_or(Span::ZERO, time)
    }

    /// The limit of packets and that of buffer memory (Linux 6.1 sch_cake.c, cake_reconfigure:
    /// `memlimit` replaces the value derived from the bandwidth).
    pub(super) fn limits(&self) -> (Limit, u64) {
        let bytes = match self.limit {
            packets @ Limit::Packets(_) => return (packets, u64::MAX),
            Limit::Bytes(bytes) => bytes,
        };
        let of_rate =
            |rate: Rate| rate.bytes_in(self.target_and_interval().1.times(4)).max(4 << 20);
        let of_rate = self.bandwidth.0.filter(|_| self.limit == DEFAULT_LIMIT).map(of_rate);
        (Limit::Packets(u64::MAX), of_rate.map_or(bytes, |most| most.min(bytes)))
    }
}
