//! The rules of profiles as text, for documentation pages and `explain`.

use super::profile::{
    BufferRule, Compression, Detection, Idle, InitialWindow, Moderation, Profile, RtoFloor, Style,
};
use super::timer_wheel::TICK;

/// A rule that every profile has.
pub struct ProfileRule {
    /// Its name.
    pub name: &'static str,
    /// What it decides, with its source.
    pub doc: &'static str,
    /// Its value in a profile.
    pub of: fn(&Profile) -> String,
}

const fn rule(name: &'static str, of: fn(&Profile) -> String, doc: &'static str) -> ProfileRule {
    ProfileRule { name, doc, of }
}

/// Every rule, roughly in the order in which a connection needs it.
pub const RULES: [ProfileRule; 51] = [
    rule("initial window", |p| initial_window(p.initial_window), "packets before the first ACK"),
    rule("congestion control", |p| p.cc.to_owned(), "the default"),
    rule("SACK", |p| yes(p.sack), "selective acknowledgements (RFC 2018)"),
    rule(
        "timestamps",
        |p| yes(p.timestamps),
        "each ACK gives an RTT, old duplicates are discarded (RFC 7323)",
    ),
    rule("pacing", |p| yes(p.pacing), "even if the congestion control does not require it"),
    rule(
        "offload",
        |p| {
            let whole = if p.super_packets { " as one packet" } else { "" };
            p.offload_bytes.map_or(yes(false), |bytes| format!("up to {bytes} B{whole}"))
        },
        "largest burst (TSO); `offload` of a group of flows",
    ),
    rule(
        "bursts",
        |p| if p.bursts_cross_buffers { "across buffers" } else { "of one buffer" }.to_owned(),
        "whether a burst may extend into the next buffer of written data (`tcp_grow_skb`)",
    ),
    rule(
        "send buffer",
        |p| (if p.ack.answers_push { "grows" } else { "never the limit" }).to_owned(),
        "memory for written, unacknowledged data, which blocks the program (`tcp_wmem`)",
    ),
    rule(
        "slow start",
        |p| counted(p.slow_start_per_ack),
        "packets that one ACK counts for (RFC 3465)",
    ),
    rule(
        "congestion avoidance",
        |p| counted(p.avoidance_per_ack),
        "packets that one ACK counts for (RFC 3465)",
    ),
    rule(
        "past the threshold",
        |p| yes(p.growth.past_threshold),
        "slow start grows once more at cwnd = ssthresh (Linux before 4.3)",
    ),
    rule(
        "late increment",
        |p| yes(p.growth.late),
        "the window grows one ACK after it is due (`tcp_cong_avoid_ai` before 4.0)",
    ),
    rule(
        "no growth at the end",
        |p| yes(p.growth.not_at_end),
        "the ACK that ends a recovery does not grow the window (`tcp_ack` before 4.6)",
    ),
    rule(
        "validation",
        |p| yes(p.validation),
        "the window grows only as far as it is used (RFC 7661)",
    ),
    rule("idle", |p| idle(p.idle), "what an idle period does to the window"),
    rule("loss detection", |p| detection(p.detection), "how losses are detected"),
    rule(
        "reordering",
        |p| format!("up to {}", p.max_reordering),
        "how far the threshold of three duplicates follows observed reordering",
    ),
    rule(
        "losses of new data",
        |p| yes(p.marks_new_data),
        "a recovery finds losses of data sent after it began (Linux since 2.6.37)",
    ),
    rule("limited transmit", |p| yes(p.limited_transmit), "new data on two duplicates (RFC 3042)"),
    rule("early retransmit", |p| yes(p.early_retransmit), "fewer duplicates at the end (RFC 5827)"),
    rule("tail loss probes", |p| yes(p.tail_probes), "RFC 8985 §7"),
    rule(
        "repairs on partial ACKs",
        |p| if p.sack { "as with SACK".into() } else { yes(p.repairs_on_partial_acks) },
        "without SACK, a recovery repairs every loss of its window (RFC 6582), not the first only",
    ),
    rule(
        "impatient",
        |p| yes(p.impatient),
        "only the first partial ACK of a recovery restarts the timer (RFC 6582 §4)",
    ),
    rule(
        "reduction at a timeout",
        |p| if p.reduces_again { "also in a recovery" } else { "not in a recovery" }.to_owned(),
        "whether a timeout in a recovery lowers the threshold again (RFC 5681 §3.1)",
    ),
    rule("reduction from", |p| reduced(p.reduce_in_flight), "the base of a reduction"),
    rule("reduction after a loss", |p| style(p.recovery), "how the window gets to its new size"),
    rule("reduction after a mark", |p| style(p.on_mark), "how it does after an ECN echo"),
    rule(
        "moderation",
        |p| moderation(p.moderation),
        "when the window is cut to the packets in flight and three more (`tcp_moderate_cwnd`)",
    ),
    rule("undo", |p| yes(p.undo), "F-RTO (RFC 5682), and undo of unnecessary reductions"),
    rule(
        "skips copies",
        |p| yes(p.skips_copies),
        "D-SACKs beyond the number of retransmissions undo nothing (`tcp_dsack_seen`)",
    ),
    rule(
        "F-RTO starts over",
        |p| yes(p.frto_starts_over),
        "after a justified timeout all segments not SACKed are lost; a spurious one halves the \
         window (Linux 2.6.26 to 3.9)",
    ),
    rule(
        "ECN fallback",
        |p| yes(p.ecn_fallback),
        "a retransmitted SYN requests no classic ECN (RFC 3168 §6.1.1.1; `tcp_ecn_fallback`)",
    ),
    rule(
        "options of SYNs",
        |p| match p.syn_option_bytes {
            0 => yes(false),
            bytes => format!("{bytes} B"),
        },
        "bytes of options that only SYN and SYN-ACK carry",
    ),
    rule(
        "handshake ACK",
        |p| yes(p.handshake_ack),
        "the SYN-ACK is acknowledged by a packet ahead of the data",
    ),
    rule(
        "SYN-ACK again",
        |p| yes(p.answers_again),
        "sent by a timer, with the timestamp of the first SYN to arrive (Linux since 4.4, \
         `reqsk_timer_handler`)",
    ),
    rule(
        "lost SYNs",
        |p| counted(p.forgiven_syns),
        "how many do not reduce the initial window to one packet (RFC 5681 §3.1; \
         `tcp_init_transfer`)",
    ),
    rule(
        "SYN again",
        |p| if p.linear_syns == 0 { "doubles".into() } else { linear(p.linear_syns) },
        "how often the timeout of a SYN stays the same (`tcp_syn_linear_timeouts`)",
    ),
    rule(
        "rehash",
        |p| yes(p.rehash),
        "a timeout redraws the flow's hash, by which fair queues classify (`sk_rethink_txhash`)",
    ),
    rule(
        "marked undo",
        |p| if p.marked_undo { "to the threshold".into() } else { yes(false) },
        "how far the window rises if a mark forbids an undo (Linux 2.6 and 3.x)",
    ),
    rule(
        "timeout",
        |p| format!("{} at first, {}, at most {}", p.rto.initial, floor(p.rto.floor), p.rto.max),
        "retransmission timeout (RFC 6298)",
    ),
    rule(
        "timers",
        |p| if p.timer_wheel { format!("on ticks of {TICK}") } else { "exact".to_owned() },
        "when timers expire; long ones are coarser (kernel/time/timer.c since 4.8)",
    ),
    rule("packets per ACK", |p| p.ack.every.to_string(), "the most that one ACK covers"),
    rule("delay of ACKs", delay, "how long an ACK may be delayed"),
    rule(
        "quick ACKs",
        |p| if p.ack.adaptive { format!("up to {}", p.ack.quick) } else { yes(false) },
        "packets acknowledged one by one at the start, after a pause, at duplicates and marks",
    ),
    rule(
        "quick ACKs after gaps",
        |p| yes(p.ack.quick_at_gaps),
        "out-of-order packets restart them too (`tcp_data_queue` before 4.18)",
    ),
    rule(
        "answers to PSH",
        |p| yes(p.ack.answers_push),
        "the end of a write or of half the largest window is acknowledged at once (`forced_push`)",
    ),
    rule(
        "receiver's round trip",
        |p| (if p.ack.least_rtt { "falls at once" } else { "a mean" }).to_owned(),
        "used to grow its window (`tcp_rcv_rtt_update`)",
    ),
    rule(
        "receive window",
        |p| (if p.autotuning { "grows" } else { "never the limit" }).to_owned(),
        "unless a scenario sets it: it grows with arriving data, up to the largest buffer",
    ),
    rule(
        "buffer",
        buffer,
        "the share of the buffer that is window, and what makes it grow (`tcp_rcv_space_adjust`)",
    ),
    rule(
        "SACK blocks",
        |p| {
            match (p.sack, p.ack.whole_rows) {
                (false, _) => "none",
                (true, true) => "whole ranges",
                (true, false) => "of four",
            }
            .to_owned()
        },
        "the whole range around a segment (RFC 2018 §4), or one of the four blocks that \
         are remembered (`tcp_sack_new_ofo_skb`)",
    ),
    rule(
        "ACKs of duplicates",
        duplicates,
        "whether those after the third are compressed; whether SACK blocks and AccECN add to \
         their size",
    ),
];

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn initial_window(rule: InitialWindow) -> String {
    match rule {
        InitialWindow::Packets(packets) => packets.to_string(),
        InitialWindow::Rfc3390 => "2 to 4 (RFC 3390)".to_owned(),
    }
}

fn counted(per_ack: u32) -> String {
    if per_ack == u32::MAX { "all".to_owned() } else { per_ack.to_string() }
}

fn linear(syns: u8) -> String {
    format!("the same {syns} times, then doubles")
}

fn buffer(profile: &Profile) -> String {
    let words = match (profile.autotuning, profile.buffer) {
        (false, _) => "none",
        (true, BufferRule::Half) => "half; grows for a round trip's data",
        (true, BufferRule::Payload) => "the payload's share; grows for out-of-order data too",
    };
    words.to_owned()
}

fn reduced(in_flight: bool) -> String {
    if in_flight { "packets in flight" } else { "the window" }.to_owned()
}

fn detection(rule: Detection) -> String {
    match rule {
        Detection::Rack => "RACK (RFC 8985)",
        Detection::Fack => "FACK (Linux before 4.15)",
        Detection::Duplicates => "three duplicates (RFC 6675)",
    }
    .to_owned()
}

fn style(rule: Style) -> String {
    match rule {
        Style::Proportional => "PRR (RFC 9937)",
        Style::ProportionalEager => "PRR (RFC 6937, slow-start bound)",
        Style::Halving => "rate halving",
        Style::Pipe => "at once, by pipe",
        Style::AtOnce => "at once",
        Style::SlowStart => "slow start",
    }
    .to_owned()
}

fn moderation(rule: Moderation) -> String {
    match rule {
        Moderation::Never => "never",
        Moderation::Disordered => "while segments are SACKed",
        Moderation::Always => "also at the end of a recovery",
    }
    .to_owned()
}

fn idle(rule: Idle) -> String {
    match rule {
        Idle::Halve => "half per timeout (RFC 2861)",
        Idle::Restart => "initial window (RFC 5681)",
        Idle::Keep => "nothing",
    }
    .to_owned()
}

fn floor(rule: RtoFloor) -> String {
    match rule {
        RtoFloor::Variance(floor) => format!("variance at least {floor}"),
        RtoFloor::Whole(floor) => format!("at least {floor}"),
    }
}

fn delay(profile: &Profile) -> String {
    match (profile.ack.adaptive, profile.ack.every) {
        (true, _) => "adapts to the gaps".to_owned(),
        (false, 1) => "none".to_owned(),
        (false, _) => profile.ack.delay.to_string(),
    }
}

fn duplicates(profile: &Profile) -> String {
    let sent = match profile.ack.compression {
        Some(Compression { percent, slack_us, is_stamped_early }) => {
            let stamped =
                if is_stamped_early { ", with the last duplicate's timestamp" } else { "" };
            format!("compressed by {percent} % of a round trip and {slack_us} us{stamped}")
        }
        None => "all".to_owned(),
    };
    if profile.ack.counts_options { sent + ", options count" } else { sent }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::profile::{AckRule, LINUX, PROFILES, RtoRule};

    #[test]
    fn every_field_has_a_row() {
        // This does not compile until every field has a row above.
        let Profile {
            name: _,
            doc: _,
            cc: _,
            initial_window: _,
            sack: _,
            timestamps: _,
            detection: _,
            max_reordering: _,
            marks_new_data: _,
            early_retransmit: _,
            moderation: _,
            recovery: _,
            on_mark: _,
            slow_start_per_ack: _,
            avoidance_per_ack: _,
            impatient: _,
            repairs_on_partial_acks: _,
            reduces_again: _,
            growth: _,
            reduce_in_flight: _,
            validation: _,
            tail_probes: _,
            undo: _,
            frto_starts_over: _,
            skips_copies: _,
            marked_undo: _,
            limited_transmit: _,
            ecn_fallback: _,
            syn_option_bytes: _,
            handshake_ack: _,
            answers_again: _,
            forgiven_syns: _,
            linear_syns: _,
            rehash: _,
            idle: _,
            pacing: _,
            offload_bytes: _,
            super_packets: _,
            bursts_cross_buffers: _,
            send_buffer: _,
            buffer: _,
            rto: RtoRule { initial: _, floor: _, max: _ },
            timer_wheel: _,
            autotuning: _,
            ack:
                AckRule {
                    every: _,
                    delay: _,
                    adaptive: _,
                    quick: _,
                    quick_at_gaps: _,
                    compression: _,
                    answers_push: _,
                    least_rtt: _,
                    whole_rows: _,
                    counts_options: _,
                },
        } = LINUX;
    }

    #[test]
    fn profiles_that_differ_differ_in_words() {
        for one in PROFILES {
            for other in PROFILES {
                let renamed = Profile { name: one.name, doc: one.doc, ..other };
                let in_words = RULES.iter().any(|rule| (rule.of)(&one) != (rule.of)(&other));
                assert_eq!(in_words, one != renamed, "{} and {}", one.name, other.name);
            }
        }
    }
}
