//! Profiles: the rules of a TCP stack as data. A rule is a field, and a [stack](stacks) is a value
//! of the struct. Code tests fields, never a stack's name.

mod stacks;

use std::num::{NonZeroU8, NonZeroU32};

use sojourn_aqm::{Span, Time};
use sojourn_traffic::{TcpProfile, tcp_profile};

pub use self::stacks::*;
pub use super::initial_window::InitialWindow;
use super::timer_wheel;
use crate::cc::OldGrowth;

/// The retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoRule {
    /// The timeout before the first sample.
    pub initial: Span,
    /// Floor.
    pub floor: RtoFloor,
    /// Ceiling.
    pub max: Span,
}

/// The term of the timeout that has a floor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RtoFloor {
    /// The variance term, which follows the largest deviation of a round trip (Linux).
    Variance(Span),
    /// The whole timeout; the variance is RFC 6298's.
    Whole(Span),
}

/// The memory for written, unacknowledged data (Linux `tcp_wmem`), in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendBufferRule {
    /// Initial limit.
    pub first: NonZeroU32,
    /// Largest limit.
    pub most: u32,
}

/// The memory used by segments in Linux's buffers, and the window that a receiver derives from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferRule {
    /// Each segment takes 1280 bytes in addition to its payload. Half of the memory counts as
    /// window; the buffer grows for twice the data received in a round trip and a cushion (Linux
    /// 6.1; facts tcp-30, tcp-31).
    Half,
    /// Each segment takes 896 bytes in addition to its payload. The payload's share of the memory
    /// counts as window; the buffer also grows for data held out of order (Linux 7.2; facts tcp-45,
    /// tcp-46).
    Payload,
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckRule {
    /// The most segments covered by one acknowledgement.
    pub every: u32,
    /// Delay of an acknowledgement, unless adaptive.
    pub delay: Span,
    /// Whether the delay adapts to the gaps between segments, with quick acknowledgements at the
    /// start of a connection, after a pause, after duplicates and after marks (Linux).
    pub adaptive: bool,
    /// The most segments that quick acknowledgements cover.
    pub quick: u8,
    /// Whether out-of-order segments restart quick acknowledgements, so that the next sixteen
    /// segments after every loss are acknowledged one by one (Linux before 4.18, `tcp_data_queue`).
    pub quick_at_gaps: bool,
    /// How duplicates beyond the third are compressed; `None` without compression (Linux since
    /// 4.18, `tcp_comp_sack_nr`).
    pub compression: Option<Compression>,
    /// Whether the sender sets PSH where a program's write ends or half of the largest receive
    /// window has been filled (Linux `tcp_push`, `forced_push`), and the receiver acknowledges such
    /// segments at once (since 6.6, `tcp_measure_rcv_mss`).
    pub answers_push: bool,
    /// Whether a sample of the receiver's round trip that is below the mean replaces the mean
    /// (Linux 6.1.192 `tcp_rcv_rtt_update`). In 6.1 as released, and in earlier kernels, such a
    /// sample has the weight of an eighth, like any other.
    pub least_rtt: bool,
    /// Whether a SACK block is the whole contiguous range around its last segment (RFC 2018 §4,
    /// ns-2) instead of a remembered block as extended so far (Linux `tcp_sack_new_ofo_skb`).
    pub whole_rows: bool,
    /// Whether SACK blocks and the AccECN option add to the size of an acknowledgement.
    pub counts_options: bool,
}

/// For how long duplicates are held back, so that one acknowledgement reports several (Linux
/// `__tcp_ack_snd_check`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compression {
    /// The delay in percent of a round trip (`tcp_comp_sack_rtt_percent`), at most 1 ms.
    pub percent: NonZeroU8,
    /// The slack that the kernel may add; here it is always added (`tcp_comp_sack_slack_ns`).
    pub slack_us: u8,
    /// Whether the timer's acknowledgement has the timestamp of the last duplicate (fact tcp-55).
    pub is_stamped_early: bool,
}

impl Compression {
    const fn of(percent: u8, slack_us: u8, is_stamped_early: bool) -> Compression {
        let percent = NonZeroU8::new(percent).expect("some of it");
        Compression { percent, slack_us, is_stamped_early }
    }
}

/// How losses are detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detection {
    /// By send time, compared with later segments that were delivered (RFC 8985).
    Rack,
    /// Distance below the highest SACK (Linux before 4.15).
    Fack,
    /// Three segments SACKed above, or three duplicates (RFC 6675, RFC 6582).
    Duplicates,
}

/// How a reduction brings the window to its new size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// In proportion to the delivered data (RFC 9937).
    Proportional,
    /// As `Proportional`, with RFC 6937's slow-start reduction bound: below the threshold, one
    /// packet more on every acknowledgement (Linux 3.2 to 4.2).
    ProportionalEager,
    /// One packet for every second acknowledgement (Linux before 3.2).
    Halving,
    /// Immediately, with sending limited by a pipe count (ns-2's Sack1).
    Pipe,
    /// Immediately. Each duplicate counts as a delivered packet, which is equivalent to RFC 6582's
    /// inflated window.
    AtOnce,
    /// Slow start from one packet, with everything outstanding counted as lost (Tahoe: Jacobson
    /// 1988; ns-2 `TcpAgent::dupack_action`).
    SlowStart,
}

/// When the window is cut to prevent a burst after a dubious acknowledgement (Linux
/// `tcp_moderate_cwnd`, before 3.10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moderation {
    /// Never.
    Never,
    /// While any segment is SACKed, and after a timeout (Linux 3.8).
    Disordered,
    /// Also on the acknowledgement that ends a recovery (Linux 2.6).
    Always,
}

/// What an idle period does to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// It is halved once for every timeout that has passed (RFC 2861, Linux).
    Halve,
    /// It returns to the initial window after one timeout (RFC 5681 §4.1, ns-2).
    Restart,
    /// Nothing (ns-3).
    Keep,
}

/// The rules of one TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// A one-line description, with the sources.
    pub doc: &'static str,
    /// The default congestion control.
    pub cc: &'static str,
    /// Initial window.
    pub initial_window: InitialWindow,
    /// Whether SACK is negotiated.
    pub sack: bool,
    /// Whether segments carry timestamps (RFC 7323): every acknowledgement gives a round-trip
    /// sample, and an echo distinguishes an original from its retransmission.
    pub timestamps: bool,
    /// How losses are detected.
    pub detection: Detection,
    /// Upper bound on the duplicate threshold, which starts at three and follows observed
    /// reordering (Linux `tcp_max_reordering`).
    pub max_reordering: u32,
    /// Whether losses of data sent after a recovery began are detected during that recovery (Linux
    /// since 2.6.37).
    pub marks_new_data: bool,
    /// Whether one or two duplicates mean a loss when no more can arrive (RFC 5827).
    pub early_retransmit: bool,
    /// When the window is cut to the packets in flight and a few more.
    pub moderation: Moderation,
    /// How the window comes down after a loss.
    pub recovery: Style,
    /// How the window comes down after a mark.
    pub on_mark: Style,
    /// The most packets counted per acknowledgement in slow start (RFC 3465).
    pub slow_start_per_ack: u32,
    /// The most packets counted per acknowledgement in congestion avoidance.
    pub avoidance_per_ack: u32,
    /// Whether only the first partial acknowledgement of a recovery restarts the retransmission
    /// timer, so that many losses end in a timeout instead of one repair per round trip (RFC 6582
    /// §4, the Impatient variant; ns-2 `newreno_changes1_`; ns-3 `m_isFirstPartialAck`).
    pub impatient: bool,
    /// Without SACK: whether a recovery lasts until everything sent before it is acknowledged, with
    /// each partial acknowledgement revealing the next loss (RFC 6582 §3.2). Otherwise the first
    /// acknowledgement that advances ends it (RFC 5681 §3.2 step 6), and losses below its recovery
    /// point are left to the timer (ns-2 `RenoTcpAgent::dupack_action` with `bugFix_`).
    pub repairs_on_partial_acks: bool,
    /// Whether a timeout in a recovery reduces the threshold again (RFC 5681 §3.1, because the
    /// timer has not resent the segment before; ns-2 `TcpAgent::timeout`; ns-3 `ReTxTimeout`).
    /// Linux `tcp_enter_loss` does not reduce it.
    pub reduces_again: bool,
    /// How window growth differed in old kernels.
    pub growth: OldGrowth,
    /// Whether reductions start from the packets in flight instead of the window. Segments are in
    /// flight if they were sent and neither acknowledged nor reported by a duplicate (ns-3
    /// `TcpSocketBase::BytesInFlight`).
    pub reduce_in_flight: bool,
    /// Whether the window grows only while it is used (RFC 2861).
    pub validation: bool,
    /// Whether to send tail loss probes (RFC 8985 §7).
    pub tail_probes: bool,
    /// Whether to use F-RTO (RFC 5682) and undo unnecessary reductions.
    pub undo: bool,
    /// Whether F-RTO runs after every timeout and decides alone, by the response to new data. After
    /// a justified timeout, everything not SACKed counts as lost, including data sent since, and
    /// three packets may leave. After a spurious timeout, the window is halved nevertheless (Linux
    /// 2.6.26 to 3.9, `tcp_process_frto`).
    pub frto_starts_over: bool,
    /// Whether D-SACKs beyond the number of retransmissions are ignored: they tell of copies that
    /// the network made (Linux 5.10, `tcp_dsack_seen`).
    pub skips_copies: bool,
    /// Whether the window still rises to the threshold when a mark forbids an undo (Linux 2.6 and
    /// 3.x, `tcp_undo_cwr`).
    pub marked_undo: bool,
    /// Whether to use limited transmit: new data on the first two duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// Whether a retransmitted SYN no longer requests classic ECN (RFC 3168 §6.1.1.1; Linux since
    /// 4.1, `tcp_ecn_fallback`).
    pub ecn_fallback: bool,
    /// Bytes of the options that only SYN and SYN-ACK carry (Linux `tcp_syn_options`: MSS, SACK
    /// permitted and window scale take 8 bytes next to timestamps; fact tcp-29).
    pub syn_option_bytes: u32,
    /// Whether the SYN-ACK is acknowledged by a separate packet ahead of the data. Stacks that
    /// simulate one direction only have no such packet (ns-2).
    pub handshake_ack: bool,
    /// Whether the SYN-ACK is retransmitted until the handshake completes, echoing the timestamp of
    /// the first SYN to arrive (Linux since 4.4, `reqsk_timer_handler`, `tcp_check_req`).
    pub answers_again: bool,
    /// The initial window is one packet if more SYNs than this were lost (RFC 5681 §3.1; Linux
    /// since 3.1, `tcp_init_transfer`, forgives one).
    pub forgiven_syns: u32,
    /// How many retransmissions of a SYN keep the initial timeout; after these it doubles (Linux
    /// since 6.5, `tcp_syn_linear_timeouts`).
    pub linear_syns: u8,
    /// Whether a timeout redraws the connection's hash, by which fair queues classify packets:
    /// those on the sender's host, and those further on if IPv6's flow label carries the hash
    /// (Linux since 4.2, `sk_rethink_txhash`).
    pub rehash: bool,
    /// What an idle period does to the window.
    pub idle: Idle,
    /// Whether packets are paced even if the congestion control does not require it.
    pub pacing: bool,
    /// The most bytes handed down at once, to leave in a burst (TSO; Linux `sk_gso_max_size`);
    /// `None` if every packet is sent separately.
    pub offload_bytes: Option<u32>,
    /// Whether a burst leaves as one super-packet (GSO).
    pub super_packets: bool,
    /// Whether a burst may extend into the next buffer of the program's writes (Linux 7.2,
    /// `tcp_grow_skb`).
    pub bursts_cross_buffers: bool,
    /// The limit on written, unacknowledged data; `None` if unlimited.
    pub send_buffer: Option<SendBufferRule>,
    /// How segments take memory in the send buffer and the receive buffer.
    pub buffer: BufferRule,
    /// Retransmission timeout.
    pub rto: RtoRule,
    /// Whether timers expire on the ticks of a timer wheel (Linux since 4.8); otherwise they are
    /// exact.
    pub timer_wheel: bool,
    /// Whether the receive window, if the scenario names none, grows with the received data, up to
    /// half of the largest buffer (Linux `tcp_rcv_space_adjust`, `tcp_moderate_rcvbuf`; facts
    /// tcp-24, tcp-28). Otherwise the receiver is never the limit.
    pub autotuning: bool,
    /// When to acknowledge.
    pub ack: AckRule,
}

impl Profile {
    /// When a timer set at `now` for `due` expires.
    pub(crate) fn expiry(&self, now: Time, due: Time) -> Time {
        timer_wheel::expiry(self.timer_wheel, now, due)
    }
}

/// Looks up a profile by name.
///
/// # Errors
/// A sentence with the nearest name.
pub fn profile(name: &str) -> Result<Profile, String> {
    let TcpProfile { name, .. } = tcp_profile(name)?;
    let found = PROFILES.into_iter().find(|profile| profile.name == name);
    Ok(found.expect("every named profile has its rules"))
}

#[cfg(test)]
mod tests {
    use sojourn_traffic::TCP_PROFILES;

    use super::*;

    #[test]
    fn every_named_profile_has_its_rules_and_its_default_control() {
        let ours = PROFILES.map(|Profile { name, cc, .. }| TcpProfile { name, cc });
        assert_eq!(ours, TCP_PROFILES);
        assert!(PROFILES.iter().all(|known| profile(known.name) == Ok(*known)));
    }

    #[test]
    fn every_profile_has_the_initial_window_of_its_stack() {
        let window = |name: &str, payload| profile(name).unwrap().initial_window.packets(payload);
        assert_eq!([window("linux-2.6", 1448), window("linux-2.6", 1000)], [3, 4]);
        assert_eq!(
            [window("linux", 1448), window("newreno", 960), window("pi2-ns3", 960)],
            [10, 2, 1]
        );
    }
}
