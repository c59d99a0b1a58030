//! Values of a connection that assertions may use: the fields of Linux's `tcp_info`.

use sojourn_aqm::Time;
use sojourn_sim::tcp::sender::State;

use super::{Stage, TestedHost};

impl TestedHost {
    /// The value of a name, if it is modelled.
    pub(crate) fn value(&self, now: Time, name: &str) -> Option<f64> {
        if let Some(constant) = constant(name) {
            return Some(constant);
        }
        let Stage::Open(ends) = &self.stage else { return None };
        let counts = ends.sender.counts();
        let window = ends.sender.window();
        let micros = |span: sojourn_aqm::Span| (span.as_nanos() / 1000) as f64;
        Some(match name {
            "tcpi_snd_cwnd" => f64::from(window.cwnd),
            "tcpi_snd_ssthresh" => f64::from(window.ssthresh.min(INFINITE_SSTHRESH)),
            "tcpi_ca_state" => state(ends.sender.state()),
            "tcpi_unacked" => f64::from(counts.unacked),
            "tcpi_sacked" => f64::from(counts.sacked),
            "tcpi_lost" => f64::from(counts.lost),
            "tcpi_retrans" => f64::from(counts.retransmitted),
            "tcpi_reordering" => f64::from(counts.reordering),
            "tcpi_delivered_ce" => f64::from(counts.delivered_ce),
            "tcpi_rtt" => micros(ends.sender.smoothed_rtt()),
            "tcpi_rto" => micros(ends.sender.timeout()),
            "tcpi_busy_time" => micros(ends.sender.times(now).busy),
            "tcpi_rwnd_limited" => micros(ends.sender.times(now).rwnd_limited),
            "tcpi_snd_mss" => f64::from(ends.outgoing.mss()),
            _ => return None,
        })
    }
}

/// Linux `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Linux `tcp_ca_state`.
fn state(state: State) -> f64 {
    match state {
        State::Open => 0.0,
        State::Disorder => 1.0,
        State::Cwr => 2.0,
        State::Recovery => 3.0,
        State::Loss => 4.0,
    }
}

fn constant(name: &str) -> Option<f64> {
    Some(match name {
        "TCP_CA_Open" => state(State::Open),
        "TCP_CA_Disorder" => state(State::Disorder),
        "TCP_CA_CWR" => state(State::Cwr),
        "TCP_CA_Recovery" => state(State::Recovery),
        "TCP_CA_Loss" => state(State::Loss),
        "TCP_INFINITE_SSTHRESH" => f64::from(INFINITE_SSTHRESH),
        "True" => 1.0,
        "False" => 0.0,
        _ => return None,
    })
}
