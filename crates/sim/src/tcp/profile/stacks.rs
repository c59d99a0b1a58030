//! The profiles: a value for each stack, and for each preset of a paper.

use sojourn_aqm::Span;

use super::{AckRule, BufferRule, Compression, Detection, Idle, InitialWindow, Moderation};
use super::{Profile, RtoFloor, RtoRule, Style};
use crate::cc::OldGrowth;

const EACH: u32 = u32::MAX;

const LINUX_RTO: RtoRule = RtoRule {
    initial: Span::from_secs(1),
    floor: RtoFloor::Variance(Span::from_millis(200)),
    max: Span::from_secs(120),
};

const LINUX_ACK: AckRule = AckRule {
    every: 2,
    delay: Span::from_millis(40),
    adaptive: true,
    quick: 16,
    quick_at_gaps: false,
    compression: Some(Compression::of(5, 100, true)),
    answers_push: true,
    least_rtt: true,
    whole_rows: false,
    counts_options: true,
};

const EVERY_PACKET: AckRule = AckRule {
    every: 1,
    delay: Span::from_millis(100),
    adaptive: false,
    quick: 0,
    quick_at_gaps: false,
    compression: None,
    answers_push: false,
    least_rtt: false,
    whole_rows: true,
    counts_options: false,
};

/// Linux 6.1, the default.
pub const LINUX: Profile = Profile {
    name: "linux",
    doc: "Linux 6.1: SACK, RACK with tail loss probes, proportional rate reduction, F-RTO",
    cc: "cubic",
    initial_window: InitialWindow::Packets(10),
    sack: true,
    timestamps: true,
    detection: Detection::Rack,
    max_reordering: 300,
    marks_new_data: true,
    early_retransmit: false,
    moderation: Moderation::Never,
    recovery: Style::Proportional,
    on_mark: Style::Proportional,
    slow_start_per_ack: EACH,
    avoidance_per_ack: EACH,
    impatient: false,
    repairs_on_partial_acks: true,
    reduces_again: false,
    growth: OldGrowth { past_threshold: false, late: false, not_at_end: false },
    reduce_in_flight: false,
    validation: true,
    tail_probes: true,
    undo: true,
    frto_starts_over: false,
    skips_copies: true,
    marked_undo: false,
    limited_transmit: true,
    ecn_fallback: true,
    syn_option_bytes: 8,
    handshake_ack: true,
    answers_again: true,
    forgiven_syns: 1,
    linear_syns: 0,
    rehash: true,
    idle: Idle::Halve,
    pacing: false,
    offload_bytes: None,
    super_packets: false,
    bursts_cross_buffers: false,
    send_buffer: None,
    buffer: BufferRule::Half,
    rto: LINUX_RTO,
    timer_wheel: true,
    autotuning: true,
    ack: LINUX_ACK,
};

/// Linux 7.2.
pub const LINUX_7_2: Profile = Profile {
    name: "linux-7.2",
    doc: "Linux 7.2: as `linux`, but for receive buffer, compression of duplicates, bursts and SYN \
          timeouts",
    buffer: BufferRule::Payload,
    bursts_cross_buffers: true,
    linear_syns: 4,
    ack: AckRule { compression: Some(Compression::of(33, 10, false)), ..LINUX_ACK },
    ..LINUX
};

/// Linux 2.6.29, as the Network Simulation Cradle runs it.
pub const LINUX_2_6: Profile = Profile {
    name: "linux-2.6",
    doc: "Linux 2.6.29: FACK, rate halving, acknowledgements counted instead of packets",
    cc: "reno",
    initial_window: InitialWindow::Rfc3390,
    detection: Detection::Fack,
    max_reordering: 127,
    marks_new_data: false,
    moderation: Moderation::Always,
    recovery: Style::Halving,
    on_mark: Style::Halving,
    slow_start_per_ack: 1,
    avoidance_per_ack: 1,
    growth: OldGrowth { past_threshold: true, late: true, not_at_end: true },
    tail_probes: false,
    frto_starts_over: true,
    ecn_fallback: false,
    answers_again: false,
    forgiven_syns: u32::MAX,
    rehash: false,
    skips_copies: false,
    marked_undo: true,
    syn_option_bytes: 0,
    autotuning: false,
    rto: RtoRule { initial: Span::from_secs(3), ..LINUX_RTO },
    timer_wheel: false,
    ack: AckRule {
        quick_at_gaps: true,
        compression: None,
        answers_push: false,
        least_rtt: false,
        ..LINUX_ACK
    },
    ..LINUX
};

/// NewReno without SACK, with the constants of ns-2.
pub const NEWRENO: Profile = Profile {
    name: "newreno",
    doc: "RFC 6582 without SACK, constants of ns-2.35: window of 2, timeout of 200 ms or more",
    cc: "reno",
    initial_window: InitialWindow::Packets(2),
    sack: false,
    timestamps: false,
    detection: Detection::Duplicates,
    max_reordering: 3,
    marks_new_data: true,
    recovery: Style::AtOnce,
    on_mark: Style::AtOnce,
    slow_start_per_ack: 1,
    avoidance_per_ack: 1,
    impatient: true,
    reduces_again: true,
    validation: false,
    tail_probes: false,
    undo: false,
    limited_transmit: true,
    ecn_fallback: false,
    handshake_ack: false,
    answers_again: false,
    forgiven_syns: u32::MAX,
    rehash: false,
    idle: Idle::Restart,
    rto: RtoRule {
        initial: Span::from_secs(3),
        floor: RtoFloor::Whole(Span::from_millis(200)),
        max: Span::from_secs(60),
    },
    timer_wheel: false,
    ack: EVERY_PACKET,
    syn_option_bytes: 0,
    autotuning: false,
    ..LINUX // behaviour of only newer or older kernels is off
};

/// SACK as in ns-2's Sack1.
pub const SACK: Profile = Profile {
    name: "sack",
    doc: "ns-2.35 Sack1: a pipe count, no lost retransmissions found, timeout of 200 ms or more",
    sack: true,
    recovery: Style::Pipe,
    impatient: false,
    reduces_again: false,
    ..NEWRENO
};

/// Reno before NewReno.
pub const RENO: Profile = Profile {
    name: "reno",
    doc: "Reno before NewReno: fast recovery of RFC 5681 §3.2 without SACK, one loss per window, \
          no limited transmit, constants of ns-2.35",
    impatient: false,
    repairs_on_partial_acks: false,
    limited_transmit: false,
    ..NEWRENO
};

/// Tahoe: fast retransmit without fast recovery.
pub const TAHOE: Profile = Profile {
    name: "tahoe",
    doc: "Tahoe (Jacobson 1988): slow start after every loss, no SACK, no limited transmit, \
          constants of ns-2.35",
    recovery: Style::SlowStart,
    ..RENO
};

/// How many of [`PROFILES`] are stacks; the others are presets.
pub const STACKS: usize = 9;

const KIDS_3_8: Profile = Profile {
    name: "kids-3.8",
    doc: "Much Ado About Nothing: Linux 3.8 with FACK, early retransmit, PRR and ABC, no tail \
          loss probes; use framing = 38B or 14B",
    initial_window: InitialWindow::Packets(10),
    marks_new_data: true,
    early_retransmit: true,
    moderation: Moderation::Disordered,
    recovery: Style::ProportionalEager,
    on_mark: Style::ProportionalEager,
    avoidance_per_ack: EACH,
    // ABC counts bytes.
    growth: OldGrowth { past_threshold: true, late: false, not_at_end: true },
    forgiven_syns: 1,
    rto: LINUX_RTO,
    ..LINUX_2_6
};

/// Every profile: the stacks, then the presets of the five papers.
pub const PROFILES: [Profile; 15] = [
    LINUX,
    Profile {
        name: "linux-fq",
        doc: "Linux 6.1 that paces itself: 2 windows per round trip in slow start, 1.2 later",
        pacing: true,
        ..LINUX
    },
    LINUX_7_2,
    Profile {
        name: "linux-7.2-fq",
        doc: "Linux 7.2 that paces itself: as `linux-fq`",
        pacing: true,
        ..LINUX_7_2
    },
    LINUX_2_6,
    NEWRENO,
    SACK,
    RENO,
    TAHOE,
    Profile {
        name: "madpie",
        doc: "MADPIE's ns-2 TCP-Linux: FACK, gradual reduction, no undo, window of 10, every \
              packet acknowledged",
        cc: "cubic",
        initial_window: InitialWindow::Packets(10),
        timestamps: false,
        handshake_ack: false,
        marks_new_data: true,
        moderation: Moderation::Never,
        // Linux since 3.13 counts packets in slow start; CUBIC of 3.17 divides its count by the
        // packets covered by an acknowledgement, which has the same effect.
        slow_start_per_ack: EACH,
        avoidance_per_ack: EACH,
        undo: false,
        frto_starts_over: false,
        rto: NEWRENO.rto,
        ack: EVERY_PACKET,
        ..LINUX_2_6
    },
    Profile {
        name: "codel-act",
        doc: "CoDel/PIE comparison in OMNeT++ with NSC, Linux 2.6.29; use framing = 7B",
        ..LINUX_2_6
    },
    Profile {
        name: "pi2-ns3",
        doc: "PI2 in ns-3: NewReno without SACK, window of 1, timeout of 1 s or more; use \
              framing = 2B",
        initial_window: InitialWindow::Packets(1),
        timestamps: true,
        handshake_ack: true,
        reduce_in_flight: true,
        idle: Idle::Keep,
        rto: RtoRule { floor: RtoFloor::Whole(Span::from_secs(1)), ..NEWRENO.rto },
        ack: AckRule { delay: Span::from_millis(200), ..EVERY_PACKET },
        ..NEWRENO
    },
    Profile {
        name: "pie-ns2",
        doc: "PIE in ns-2: Sack1, window of 2, every packet acknowledged",
        ..SACK
    },
    KIDS_3_8,
    Profile {
        name: "pie-3.5",
        doc: "PIE's testbed: Linux 3.5 with FACK, early retransmit and PRR, which counts \
              acknowledgements; use framing = 38B or 14B",
        avoidance_per_ack: LINUX_2_6.avoidance_per_ack,
        growth: LINUX_2_6.growth,
        ..KIDS_3_8
    },
];
