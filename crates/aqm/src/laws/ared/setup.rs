//! Values derived from ARED's parameters and the link.

use alloc::vec::Vec;

use super::AredParams;
use super::adaptation::Adaptation;
use crate::effective::{Effective, digits};
use crate::law::Env;
use crate::laws::red::{self, Detector, LinuxRed, LinuxSetup, Setup, Style};
use crate::parts::periodic::between_expiries;

impl AredParams {
    pub(super) fn is_linux(&self) -> bool {
        matches!(self.dialect, "linux" | "kids")
    }

    pub(super) fn adaptation(&self, env: &Env) -> Adaptation {
        Adaptation {
            alpha: self.adapt_alpha,
            beta: self.adapt_beta,
            top: self.max_p_top,
            bottom: self.max_p_bottom.0.unwrap_or_else(|| self.automatic_bottom(env)),
            is_strict: self.dialect == "ns3",
        }
    }

    /// ns-2 `red.cc`, `REDQueue::initParams`: 1 divided by the number of packets sent in 0.1 s.
    /// ns-3 multiplies by 0.1 s where it should divide (fact aqm-52).
    fn automatic_bottom(&self, env: &Env) -> f64 {
        let packet = red::mean_packet(self.mean_packet_bytes, env);
        let per_packet = env.rate.map_or(0.0, |rate| packet / rate.bytes_per_sec());
        let round_trip = if self.dialect == "ns3" { 10.0 } else { 0.1 };
        (per_packet / round_trip).min(0.01).min(self.max_p_top)
    }

    /// The values in use at the link's rate.
    pub(super) fn effective(&self, env: &Env) -> Vec<Effective> {
        let mut values = match self.is_linux() {
            true => LinuxRed::new(self.linux(env), env).effective(),
            false => Detector::new(self.real(env), self.max_p, self.gentle, env).effective(),
        };
        let bottom = Effective::filled("max_p_bottom", digits(self.automatic_bottom(env)));
        let packet = Effective::of_mtu("mean_packet_bytes", self.mean_packet_bytes, env.mtu_bytes);
        let bottom = (self.max_p_bottom.0.is_none() && !self.is_linux()).then_some(bottom);
        values.extend(bottom.into_iter().chain(packet));
        values.push(Effective::instead(
            "adapt_interval",
            self.adapt_interval,
            between_expiries(self.adapt_interval, self.hz.0),
            "hz",
        ));
        values
    }

    pub(super) fn real(&self, env: &Env) -> Setup {
        Setup {
            min_th: self.min_th.0,
            max_th: self.max_th.0,
            weight: self.w_q.0,
            ecn: self.ecn,
            hard_drop: self.hard_drop,
            gap_mode: self.gap_mode,
            style: if self.dialect == "ns3" { Style::Ns3 } else { Style::Floyd },
            mark_limit: 1.0,
            target_delay: self.target_delay.as_secs(),
            mean_packet_bytes: red::mean_packet(self.mean_packet_bytes, env),
        }
    }

    pub(super) fn linux(&self, env: &Env) -> LinuxSetup {
        LinuxSetup {
            min_th: red::in_bytes(self.min_th),
            max_th: red::in_bytes(self.max_th),
            burst: self.burst.0,
            bandwidth: self.bandwidth.0,
            weight_log: self.w_q.0.map(|weight| -libm::log2(weight) as u32),
            mean_packet_bytes: red::mean_packet(self.mean_packet_bytes, env) as u64,
            max_p: self.max_p,
            ecn: self.ecn,
            hard_drop: self.hard_drop,
            target_delay: (self.dialect == "kids").then_some(self.target_delay),
        }
    }
}
