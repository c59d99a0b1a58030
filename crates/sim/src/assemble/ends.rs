//! Converts the TCP settings of a scenario into those of senders and receivers.

use sojourn_scenario::resolved::{AccEcnOption, MOST_BUFFER_BYTES, ReceiverEcn, Resolved, Tcp};

use crate::cc::{Feedback, Needs};
use crate::tcp::accecn::OptionRule;
use crate::tcp::negotiation::Mode;
use crate::tcp::profile::{Profile, SendBufferRule};
use crate::tcp::receive_window::WindowRule;
use crate::tcp::receiver::EcnAbility;

/// Buffer memory available to the TCP flows of a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub(crate) to_send: SendBufferRule,
    pub(crate) largest_bytes: u64,
}

impl Buffers {
    pub(crate) fn of(plan: &Resolved) -> Buffers {
        let largest_bytes = plan.largest_buffer_bytes();
        let most = largest_bytes.min(MOST_BUFFER_BYTES) as u32;
        Buffers {
            to_send: SendBufferRule { first: plan.first_send_buffer_bytes(), most },
            largest_bytes,
        }
    }
}

/// Initial window in packets.
pub(crate) fn initial_window(tcp: &Tcp, profile: &Profile) -> u32 {
    tcp.initial_window.unwrap_or_else(|| profile.initial_window.packets(tcp.payload_bytes))
}

/// The ECN feedback requested by senders and supported by receivers.
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

/// The receive-window rule of a profile whose buffers may grow to `largest_buffer_bytes`.
pub(crate) fn window_rule(tcp: &Tcp, profile: &Profile, largest_buffer_bytes: u64) -> WindowRule {
    let segments = |bytes: u64| {
        let segments = bytes / u64::from(tcp.payload_bytes);
        segments.clamp(1, u64::from(u32::MAX)) as u32 // the scenario has at least one packet
    };
    let grown = |most: u64| WindowRule::Autotuned {
        payload: tcp.payload_bytes,
        most: most.min(MOST_BUFFER_BYTES) as u32,
        buffer: profile.buffer,
    };
    match tcp.receive_window {
        None if profile.autotuning => grown(largest_buffer_bytes),
        None => WindowRule::Unlimited { most: segments(largest_buffer_bytes / 2) },
        Some(window) if window.autotuned => grown(window.bytes.saturating_mul(2)),
        Some(window) => WindowRule::Fixed(segments(window.bytes)),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::resolved::ReceiveWindow;

    use super::*;
    use crate::tcp::profile::{LINUX, LINUX_2_6};

    fn tcp(receive_window: Option<ReceiveWindow>) -> Tcp {
        Tcp {
            profile: String::new(),
            cc: None,
            ecn: None,
            payload_bytes: 1448,
            header_bytes: 52,
            initial_window: None,
            ack_every: None,
            receive_window,
            offload_bytes: None,
            super_packets: false,
        }
    }

    /// Fact tcp-28.
    #[test]
    fn a_window_that_the_scenario_does_not_name_grows_to_half_of_the_buffer_under_linux() {
        let rule = |profile| window_rule(&tcp(None), profile, 16 << 20);
        let buffer = LINUX.buffer;
        assert_eq!(rule(&LINUX), WindowRule::Autotuned { payload: 1448, most: 16 << 20, buffer });
        assert_eq!(rule(&LINUX_2_6), WindowRule::Unlimited { most: 5793 });
    }

    #[test]
    fn a_window_that_the_scenario_names_is_fixed_or_where_it_ends() {
        let rule = |autotuned| {
            let named = tcp(Some(ReceiveWindow { bytes: 1_448_000, autotuned }));
            window_rule(&named, &LINUX, 16 << 20)
        };
        let buffer = LINUX.buffer;
        assert_eq!(rule(false), WindowRule::Fixed(1000));
        assert_eq!(rule(true), WindowRule::Autotuned { payload: 1448, most: 2_896_000, buffer });
    }
}
