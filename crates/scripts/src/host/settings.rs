//! The settings of a host, from the shell commands of a script.

use sojourn_sim::tcp::Profile;
use sojourn_sim::tcp::accecn::OptionRule;
use sojourn_sim::tcp::negotiation::Mode;
use sojourn_sim::tcp::profile::{Idle, LINUX};

use super::StepError;

/// The settings supported by the endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The TCP profile; initially `linux`.
    pub(crate) profile: Profile,
    /// The congestion control.
    pub(crate) cc: String,
    /// The ECN mode that the host requests as a client.
    pub(crate) asks: Mode,
    pub(crate) grants: Mode,
    /// When it sends the AccECN option.
    pub(crate) option: OptionRule,
    /// The largest segment that it accepts as a client or server.
    pub(crate) mss: u32,
    /// Bytes the application may leave unread before there is no memory left for a FIN.
    pub(crate) receive_buffer: u32,
    /// Number of SYN timeouts before they start to double (Linux since 6.5,
    /// `tcp_syn_linear_timeouts`).
    pub(crate) syn_linear_timeouts: u32,
}

impl Default for Settings {
    /// The defaults of a kernel: ECN only if the peer requests it.
    fn default() -> Settings {
        Settings {
            profile: LINUX,
            cc: LINUX.cc.to_owned(),
            asks: Mode::NotEcn,
            grants: Mode::Classic,
            option: OptionRule::Always,
            mss: 1460,
            receive_buffer: u32::MAX,
            syn_linear_timeouts: 4,
        }
    }
}

/// Settings that do not affect the endpoint: sizes of buffers that no script fills, and behaviour
/// of other layers.
const WITHOUT_EFFECT: [&str; 16] = [
    "tcp_rmem",
    "tcp_wmem",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_fack",
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_notsent_lowat",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_syncookies",
    "tcp_dsack",
    "tcp_no_metrics_save",
    "tcp_invalid_ratelimit",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
];

impl Settings {
    /// Applies `net.ipv4.NAME=VALUE`.
    ///
    /// # Errors
    /// [`StepError`] for a setting or a value that the endpoint does not support.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), StepError> {
        let refuse = || Err(StepError::not_modelled(format!("sysctl {name}={value}")));
        let is_on = value != "0";
        match (name, value) {
            (name, _) if WITHOUT_EFFECT.contains(&name) => {}
            ("tcp_timestamps", _) => self.profile.timestamps = is_on,
            ("tcp_sack", _) => self.profile.sack = is_on,
            ("tcp_slow_start_after_idle", _) => {
                self.profile.idle = if is_on { Idle::Halve } else { Idle::Keep };
            }
            ("tcp_early_retrans", "0" | "3" | "4") => self.profile.tail_probes = is_on,
            ("tcp_recovery", "1") | ("tcp_reordering", "3") | ("tcp_frto", "2") => {}
            ("tcp_congestion_control", cc) => {
                if sojourn_sim::cc::configure(cc).is_err() {
                    return refuse();
                }
                cc.clone_into(&mut self.cc);
            }
            ("tcp_ecn_fallback", _) => self.profile.ecn_fallback = is_on,
            ("tcp_ecn", _) => return self.set_ecn(value),
            ("tcp_syn_linear_timeouts", _) => {
                let Ok(count) = value.parse() else { return refuse() };
                self.syn_linear_timeouts = count;
            }
            // Linux ip-sysctl: never, sparingly, whenever it fits (3: regardless of the path).
            ("tcp_ecn_option", "0") => self.option = OptionRule::Never,
            ("tcp_ecn_option", "1") => self.option = OptionRule::Sparingly,
            ("tcp_ecn_option", "2" | "3") => self.option = OptionRule::Always,
            _ => return refuse(),
        }
        Ok(())
    }

    /// Linux ip-sysctl, `tcp_ecn`: the mode granted to a peer that requests it, and the mode
    /// requested.
    fn set_ecn(&mut self, value: &str) -> Result<(), StepError> {
        (self.grants, self.asks) = match value {
            "0" => (Mode::NotEcn, Mode::NotEcn),
            "1" => (Mode::Classic, Mode::Classic),
            "2" => (Mode::Classic, Mode::NotEcn),
            "3" => (Mode::Accurate, Mode::Accurate),
            "4" => (Mode::Accurate, Mode::Classic),
            "5" => (Mode::Accurate, Mode::NotEcn),
            _ => return Err(StepError::not_modelled(format!("sysctl tcp_ecn={value}"))),
        };
        Ok(())
    }
}
