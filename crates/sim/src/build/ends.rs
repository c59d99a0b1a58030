//! What a scenario says of the ends of its TCP flows, as the ends take it.

use sojourn_scenario::resolved::{AccEcnOption, ReceiverEcn, Tcp};

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

/// The feedback of marks that the senders ask for, and what the receivers can do.
pub(crate) fn ecn(tcp: &Tcp, profile: &Profile, needs: &Needs) -> (Mode, EcnAbility) {
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
        timestamps: profile.timestamps,
    };
    (if accurate { Mode::Accurate } else { Mode::Classic }, ability)
}

/// What the receivers offer, in segments.
pub(crate) fn window_rule(tcp: &Tcp) -> WindowRule {
    /// Linux offers 64 kB at first.
    const INITIAL_BYTES: u64 = 65_536;
    let segments = |bytes: u64| {
        let segments = bytes / u64::from(tcp.payload_bytes);
        segments.clamp(1, u64::from(u32::MAX)) as u32 // at least one packet, as the scenario says
    };
    match tcp.receive_window {
        None => WindowRule::Unlimited,
        Some(window) if window.autotuned => {
            WindowRule::Autotuned { initial: segments(INITIAL_BYTES), most: segments(window.bytes) }
        }
        Some(window) => WindowRule::Fixed(segments(window.bytes)),
    }
}
