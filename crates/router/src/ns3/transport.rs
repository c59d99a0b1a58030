//! A group's TCP as attributes of ns-3's sockets.

use sojourn_aqm::Span;
use sojourn_scenario::resolved::{FlowGroup, Ns3Tcp, Resolved, Tcp};

use crate::planning::flows::{PLAIN_HEADER, TIMESTAMP_HEADER, control_name};
use crate::planning::refusal::{Planned, refuse};

/// The rules of a TCP profile that map to attributes of ns-3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketRules {
    /// Whether SACK is negotiated.
    pub sack: bool,
    /// Whether new data is sent on the first two duplicates.
    pub limited_transmit: bool,
    /// Whether a recovery reduces the window gradually, not immediately.
    pub is_gradual: bool,
    /// Initial window in packets.
    pub initial_window: u32,
    /// The most packets that one acknowledgement covers.
    pub ack_every: u32,
    /// How long an acknowledgement is delayed for a second packet.
    pub ack_delay: Span,
    /// Timeout of a SYN.
    pub initial_rto: Span,
    /// The smallest timeout.
    pub least_rto: Span,
    /// The least that the retransmission timeout adds to the smoothed RTT.
    pub least_variation: Span,
}

/// The types and attributes of a group's sockets.
pub(super) struct Attributes {
    /// The type of the congestion control.
    pub(super) control: &'static str,
    /// The type of the recovery.
    pub(super) recovery: &'static str,
    /// Names and values.
    pub(super) values: Vec<(&'static str, String)>,
    /// Parts of ns-3's TCP whose errors are corrected (`ns3/runner/mended.h`).
    pub(super) mended: Vec<&'static str>,
    /// The rise in delay at which a corrected CUBIC leaves slow start.
    pub(super) hystart_rise: Span,
}

/// Bytes of ns-3's buffers: larger than any window on this engine's paths, so that buffers never
/// limit a sender.
const BUFFER_BYTES: u64 = 16 << 20;
/// Linux 6.1 `tcp_retries2`: how many retransmissions are tried before the connection is given up.
const RETRIES: u32 = 15;

/// The sockets of each group; `None` for datagrams.
///
/// # Errors ns-3 lacks a required feature.
pub(super) fn attributes(
    scenario: &Resolved,
    transports: &[Option<SocketRules>],
) -> Planned<Vec<Option<Attributes>>> {
    let groups = scenario.flows.iter().zip(transports).enumerate();
    groups
        .map(|(index, (group, transport))| match (group.app.tcp(), transport) {
            (Some(tcp), Some(transport)) => {
                let mut attributes = of_group(index, tcp, transport)?;
                if scenario.ns3.tcp == Ns3Tcp::Mended {
                    mend(index, scenario, group, transport, &mut attributes)?;
                }
                Ok(Some(attributes))
            }
            _ => Ok(None),
        })
        .collect()
}

fn of_group(index: usize, tcp: &Tcp, transport: &SocketRules) -> Planned<Attributes> {
    let timestamps = match tcp.header_bytes {
        PLAIN_HEADER => false,
        TIMESTAMP_HEADER => true,
        other => {
            let message = format!("{other} B: ns-3's headers are 40 B, or 52 B with timestamps");
            return refuse(format!("flows[{index}].header"), message);
        }
    };
    let window = match tcp.receive_window {
        Some(window) if window.autotuned => {
            let message = "ns-3's receive window does not grow; give it a fixed size, or leave it \
                           out";
            return refuse(format!("flows[{index}].receive_window"), message);
        }
        Some(window) => window.bytes,
        None => BUFFER_BYTES,
    };
    let seconds = |span: Span| format!("{}ns", span.as_nanos());
    let control = control(index, tcp)?;
    Ok(Attributes {
        control,
        recovery: match transport.is_gradual {
            true => "ns3::TcpPrrRecovery",
            false => "ns3::TcpClassicRecovery",
        },
        values: vec![
            ("SegmentSize", tcp.payload_bytes.to_string()),
            ("InitialCwnd", transport.initial_window.to_string()),
            ("DelAckCount", transport.ack_every.to_string()),
            ("DelAckTimeout", seconds(transport.ack_delay)),
            ("ConnTimeout", seconds(transport.initial_rto)),
            ("MinRto", seconds(transport.least_rto)),
            // `ns3::TcpSocketBase`: the timeout is the smoothed RTT plus four deviations, or at
            // least this much more than the RTT (RFC 6298 §2.3). Linux applies its minimum to the
            // same term (`tcp_rtt_estimator`).
            ("ClockGranularity", seconds(transport.least_variation)),
            ("Sack", transport.sack.to_string()),
            ("LimitedTransmit", transport.limited_transmit.to_string()),
            ("Timestamp", timestamps.to_string()),
            ("UseEcn", if tcp.ecn.is_some() { "On" } else { "Off" }.to_owned()),
            ("DataRetries", RETRIES.to_string()),
            ("SndBufSize", BUFFER_BYTES.to_string()),
            ("RcvBufSize", window.to_string()),
        ],
        mended: Vec::new(),
        hystart_rise: Span::ZERO,
    })
}

/// Linux 6.1 `tcp_cubic.c`, `HYSTART_DELAY_THRESH`: an eighth of the RTT, within these bounds.
const HYSTART_RISE: [Span; 2] = [Span::from_millis(4), Span::from_millis(16)];

/// Names the corrected parts of a group's TCP.
///
/// # Errors
///
/// The group's TCP has no part that is mended.
fn mend(
    index: usize,
    scenario: &Resolved,
    group: &FlowGroup,
    transport: &SocketRules,
    attributes: &mut Attributes,
) -> Planned<()> {
    let has_threshold =
        matches!(attributes.control, "ns3::TcpCubic" | "ns3::TcpLinuxReno" | "ns3::TcpNewReno");
    let is_cubic = attributes.control == "ns3::TcpCubic";
    let has_recovery = attributes.control != "ns3::TcpBbr";
    let parts = [
        ("prr", has_recovery && transport.is_gradual && transport.sack),
        ("threshold", has_threshold),
        ("hystart", is_cubic),
    ];
    attributes.mended.extend(parts.iter().filter(|part| part.1).map(|part| part.0));
    if attributes.mended.is_empty() {
        let message =
            format!("nothing of ns-3's {} is mended; write tcp = \"as-is\"", attributes.control);
        return refuse(format!("flows[{index}].cc"), message);
    }
    // Both directions have the same delay (`check::links`).
    let way = group.access_delay + scenario.links[group.path[0]].delay + group.egress_delay;
    let eighth = Span::from_nanos(way.as_nanos() / 4);
    attributes.hystart_rise = eighth.clamp(HYSTART_RISE[0], HYSTART_RISE[1]);
    Ok(())
}

/// The type of ns-3's congestion control with that name.
fn control(index: usize, tcp: &Tcp) -> Planned<&'static str> {
    let name = control_name(index, tcp, "ns-3")?;
    // ns-3 has two Renos: TcpLinuxReno counts acknowledged packets, TcpNewReno acknowledgements.
    let is_linux = tcp.profile.starts_with("linux");
    match (name.as_str(), is_linux) {
        ("reno", true) => Ok("ns3::TcpLinuxReno"),
        ("reno", false) => Ok("ns3::TcpNewReno"),
        ("cubic", _) => Ok("ns3::TcpCubic"),
        ("dctcp", _) => Ok("ns3::TcpDctcp"),
        ("bbr", _) => Ok("ns3::TcpBbr"),
        _ => refuse(
            format!("flows[{index}].cc"),
            format!("ns-3 has no `{name}`; it has reno, cubic, dctcp, bbr; or use engine sim"),
        ),
    }
}
