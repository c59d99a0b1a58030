//! The contents of a capture, as JSON.

use serde_json::{Value, json};

use super::CaptureReader;
use super::arrivals::Arrivals;
use super::flows::{Flow, Half};

impl CaptureReader {
    /// Times are in nanoseconds since the first packet.
    pub(super) fn report(&self) -> Value {
        let flows: Vec<Value> =
            self.flows.all.iter().map(|flow| flow.report(self.begin_ns)).collect();
        json!({
            "format": self.framer.format(),
            "frames": self.frames + self.framer.untimed,
            "packets": self.packets,
            "begin_ns": self.begin_ns,
            "length_ns": self.latest_ns - self.begin_ns,
            "interfaces": self.interfaces.len(),
            "unread": self.unread(),
            "fragments": self.fragments,
            "tunnelled": self.tunnelled,
            "repeats": self.repeats.count,
            "backwards": self.backwards,
            "before_begin": self.before_begin,
            "late": self.replays.late,
            "stop": self.stop.as_ref().map(|stop| json!({
                "offset": stop.offset,
                "why": stop.why,
            })),
            "resolution_ns": self.resolution_ns,
            "echoes": self.echoes(),
            "echoes_left_out": self.echoes.left_out,
            "up": self.arrivals[0].report(),
            "down": self.arrivals[1].report(),
            "up_acknowledged": self.acknowledged[0].report(),
            "down_acknowledged": self.acknowledged[1].report(),
            "flows": flows,
        })
    }

    /// The pings of each pair of hosts: when each was sent, and its round trip.
    fn echoes(&self) -> Vec<Value> {
        let all = self.echoes.all.iter();
        all.map(|((client, server), requests)| {
            let sent = requests.sent.iter().map(|&(t, rtt)| (since(t, self.begin_ns), rtt));
            json!({
                "client": client.to_string(),
                "server": server.to_string(),
                "round_trips_ns": sent.collect::<Vec<_>>(),
            })
        })
        .collect()
    }
}

impl Arrivals {
    fn report(&self) -> Value {
        json!({ "width_ns": self.width_ns, "bytes": self.bytes, "large": self.large })
    }
}

impl Flow {
    fn report(&self, begin_ns: u64) -> Value {
        json!({
            "protocol": self.protocol,
            "client": self.client.to_string(),
            "server": self.server.to_string(),
            "start_ns": since(self.first_ns, begin_ns),
            "end_ns": since(self.last_ns, begin_ns),
            "has_syn": self.syn_ns.is_some(),
            "handshake_ns": self.handshake_ns,
            "asked": self.asked,
            "granted": self.granted,
            "mss": self.mss,
            "has_ended": self.has_ended,
            "up": self.halves[0].report(begin_ns),
            "down": self.halves[1].report(begin_ns),
        })
    }
}

impl Half {
    fn report(&self, begin_ns: u64) -> Value {
        let trips = self.round_trips;
        let transfers: Vec<(i64, u64)> =
            self.transfers().map(|(t, bytes)| (since(t, begin_ns), bytes)).collect();
        json!({
            "packets": self.packets,
            "bytes": self.bytes,
            "payload_bytes": self.payload_bytes,
            "unique_bytes": self.unique_bytes(),
            "repeated": self.repeated,
            "ecn": self.ecn,
            "dscp": self.dscp,
            "largest_bytes": self.largest_bytes,
            "round_trips": trips.samples,
            "rtt_least_ns": (trips.samples > 0).then_some(trips.least_ns),
            "rtt_most_ns": (trips.samples > 0).then_some(trips.most_ns),
            "transfers": transfers,
        })
    }
}

/// Negative if a packet's time is earlier than that of the first packet in the file.
fn since(t_ns: u64, begin_ns: u64) -> i64 {
    t_ns.wrapping_sub(begin_ns).cast_signed()
}
