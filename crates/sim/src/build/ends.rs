//! The TCP settings of a scenario as senders and receivers take them.

use sojourn_scenario::resolved::{AccEcnOption, FIRST_BUFFER_BYTES, ReceiverEcn, Tcp};

use crate::cc::{Feedback, Needs};
use crate::tcp::accecn::OptionRule;
use crate::tcp::negotiation::Mode;
use crate::tcp::profile::Profile;
use crate::tcp::receive_window::WindowRule;
use crate::tcp::receiver::EcnAbility;

/// Initial window in packets.
pub(crate) fn initial_window(tcp: &Tcp, profile: &Profile) -> u32 {
    tcp.initial_window.unwrap_or_else(|| profile.initial_window.packets(tcp.payload_bytes))
}

/// The rules of both ends, with what the scenario says of retransmitted SYNs.
pub(crate) fn with_fallback(profile: &Profile, tcp: &Tcp) -> Profile {
    let said = tcp.ecn.and_then(|ecn| ecn.fallback);
    Profile { ecn_fallback: said.unwrap_or(profile.ecn_fallback), ..*profile }
}

/// The ECN feedback that the senders request, and what the receivers support.
pub(crate) fn ecn(tcp: &Tcp, needs: &Needs) -> (Mode, EcnAbility) {
    let Some(ecn) = tcp.ecn else { return (Mode::NotEcn, EcnAbility::NONE) };
    let accurate = ecn.accecn || needs.feedback == Feedback::Accurate;
    let ability = EcnAbility {
        speaks: match ecn.receiver {
            ReceiverEcn::None => Mode::NotEcn,
            ReceiverEcn::Classic => Mode::Classic,
            ReceiverEcn::AccEcn => Mode::Accurate,
        },
        runs: needs.feedback == Feedback::Runs,
        ect: needs.ect(),
        needs_ecn: needs.needs_ecn,
        option: match ecn.option {
            AccEcnOption::Always => OptionRule::Always,
            AccEcnOption::Sparingly => OptionRule::Sparingly,
            AccEcnOption::Never => OptionRule::Never,
        },
        header_bytes: tcp.header_bytes,
    };
    (if accurate { Mode::Accurate } else { Mode::Classic }, ability)
}

/// The receive window, in segments, where a buffer may grow to so many bytes.
pub(crate) fn window_rule(tcp: &Tcp, largest_buffer_bytes: u64) -> WindowRule {
    let segments = |bytes: u64| {
        let segments = bytes / u64::from(tcp.payload_bytes);
        segments.clamp(1, u64::from(u32::MAX)) as u32 // the scenario has at least one packet
    };
    match tcp.receive_window {
        None => WindowRule::Unlimited { most: segments(largest_buffer_bytes / 2) },
        Some(window) if window.autotuned => {
            let initial = segments(FIRST_BUFFER_BYTES / 2);
            WindowRule::Autotuned { initial, most: segments(window.bytes) }
        }
        Some(window) => WindowRule::Fixed(segments(window.bytes)),
    }
}
