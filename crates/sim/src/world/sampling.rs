//! Samples of queues and flows.

use sojourn_aqm::{Span, Time};
use sojourn_record::rows::{FlowRow, FlowStateRow, StateRow};

use super::{DatagramEnds, FlowEnds, World};
use crate::app::endpoint::EndpointFlow;
use crate::app::stream::Stream;

impl World {
    pub(super) fn sample(&mut self, now: Time) {
        if self.sampling.states {
            self.path.settle(now, &mut self.probe);
            self.sample_links(now);
        }
        if self.sampling.flows {
            for flow in 0..self.flows.len() {
                self.flow_samples.push(sample_flow(&self.flows[flow].ends, flow, now));
                self.sample_control(flow, now);
                self.sample_delays(flow, now);
                self.sample_estimate(flow, now);
            }
        }
        self.set_alarm(self.sampler, now + self.sampling.every);
    }

    /// Records the state of a flow's sender and of its congestion control.
    fn sample_control(&mut self, flow: usize, now: Time) {
        let FlowEnds::Stream(stream) = &self.flows[flow].ends else { return };
        let Some(sender) = stream.sender() else { return };
        let row = |var, value| FlowStateRow { flow: flow as u32, t: now, var, value };
        let ssthresh = match sender.window().ssthresh {
            u32::MAX => f64::INFINITY, // before the first reduction
            packets => f64::from(packets),
        };
        let control = sender.control();
        let vars = control.vars();
        let mut values = vec![f64::NAN; vars.len()];
        control.observe(&mut values);
        let of_control = vars.iter().zip(&values).map(|(var, &value)| row(var.name, value));
        let times = stream.times(now);
        let of_sender = [
            row("ssthresh", ssthresh),
            row("state", f64::from(sender.state() as u8)),
            row("ecn_mode", f64::from(sender.ecn_mode() as u8)),
            row("ecn_capable", f64::from(u8::from(sender.is_ecn_capable()))),
            row("busy_time", times.busy.as_secs()),
            row("rwnd_limited", times.rwnd_limited.as_secs()),
        ];
        self.flow_states.extend(of_sender.into_iter().chain(of_control));
    }

    /// Records the delays of a flow of datagrams since the last sample.
    fn sample_delays(&mut self, flow: usize, now: Time) {
        let FlowEnds::Datagrams(ends) = &mut self.flows[flow].ends else { return };
        let DatagramEnds::Source(datagrams) = &mut **ends else { return };
        let Some(sample) = datagrams.take_delays() else { return };
        let mut push = |var, value| {
            self.flow_states.push(FlowStateRow { flow: flow as u32, t: now, var, value });
        };
        if sample.is_round_trip {
            return push("rtt", sample.mean_s);
        }
        push("owd", sample.mean_s);
        push("jitter", sample.jitter_s);
        push("missing", f64::from(sample.missing));
    }

    /// Records the bandwidth that a transport library estimates.
    fn sample_estimate(&mut self, flow: usize, now: Time) {
        let FlowEnds::Datagrams(ends) = &self.flows[flow].ends else { return };
        let DatagramEnds::Library(library) = &**ends else { return };
        if let Some(value) = library.stats().estimate_bps {
            self.flow_states.push(FlowStateRow {
                flow: flow as u32,
                t: now,
                var: "estimate",
                value,
            });
        }
    }

    /// Samples every link: activity since the last sample, then the state of its discipline.
    pub(super) fn sample_links(&mut self, now: Time) {
        let since_last = now.since(std::mem::replace(&mut self.sampling.last, now));
        let mut values = std::mem::take(&mut self.sampled_values);
        for (queue, link) in self.path.links().iter().enumerate() {
            let interval = std::mem::take(&mut self.probe.links[queue].interval);
            values.clear();
            values.extend(interval.values(link.backlog(), since_last));
            let builtin = values.len();
            values.resize(builtin + link.vars().len(), f64::NAN);
            link.observe(&mut values[builtin..]);
            let row = |(var, &value): (usize, &f64)| StateRow {
                queue: queue as u32,
                t: now,
                var: var as u16,
                value,
            };
            self.probe.states.extend(values.iter().enumerate().map(row));
        }
        self.sampled_values = values;
    }
}

fn sample_flow(flow: &FlowEnds, index: usize, now: Time) -> FlowRow {
    let row = FlowRow {
        flow: index as u32,
        t: now,
        sent_bytes: 0,
        delivered_bytes: flow.delivered_bytes(),
        retransmitted_bytes: 0,
        inflight_bytes: 0,
        cwnd_bytes: 0,
        srtt: Span::ZERO,
        ce_bytes: 0,
    };
    match flow {
        FlowEnds::Stream(stream) => with_stream(row, stream),
        FlowEnds::Page(page) => page.streams().fold(row, with_stream),
        FlowEnds::Datagrams(ends) => match &**ends {
            DatagramEnds::Source(datagrams) => {
                FlowRow { sent_bytes: datagrams.sent_bytes, ce_bytes: datagrams.ce_bytes, ..row }
            }
            DatagramEnds::Library(flow) => with_library(row, flow),
        },
    }
}

/// Adds a library's statistics of its connection to a row; unknown values are zero.
fn with_library(row: FlowRow, flow: &EndpointFlow) -> FlowRow {
    let stats = flow.stats();
    FlowRow {
        sent_bytes: flow.sent_bytes(),
        retransmitted_bytes: stats.lost_bytes.unwrap_or(0),
        inflight_bytes: stats.in_flight_bytes.unwrap_or(0),
        cwnd_bytes: stats.cwnd_bytes.unwrap_or(0),
        srtt: stats.smoothed_rtt.unwrap_or(Span::ZERO),
        ce_bytes: flow.ce_bytes,
        ..row
    }
}

/// Adds the stream's bytes sent and in flight to a row; the row's round-trip time is that of the
/// last stream added.
fn with_stream(row: FlowRow, stream: &Stream) -> FlowRow {
    let payload = u64::from(stream.payload_bytes());
    let (sent, again) = stream.bytes_sent();
    let row = FlowRow {
        sent_bytes: row.sent_bytes + sent,
        retransmitted_bytes: row.retransmitted_bytes + again,
        ce_bytes: row.ce_bytes + stream.ce_bytes,
        ..row
    };
    match stream.sender() {
        None => row,
        Some(sender) => FlowRow {
            inflight_bytes: row.inflight_bytes + u64::from(sender.in_flight()) * payload,
            cwnd_bytes: row.cwnd_bytes + u64::from(sender.window().cwnd) * payload,
            srtt: sender.smoothed_rtt(),
            ..row
        },
    }
}
