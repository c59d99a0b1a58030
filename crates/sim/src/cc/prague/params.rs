//! The parameters of Prague.

use sojourn_aqm::{Span, params};

params! {
    /// Parameters of Prague.
    pub struct PragueParams {
        dialects:
            "0.7" = "L4STeam tcp_prague.c 0.7",
            "0.6" = "L4STeam tcp_prague.c 0.6";
        /// Flows with shorter round trips behave as if theirs were this long.
        rtt_target: Span, POSITIVE, "prague_rtt_target" => Span::from_millis(25);
        /// Round trips after slow start before `rtt_target` applies.
        rtt_transition: u64, ANY, "prague_rtt_transition" => 4,
            "0.6": "prague_rtt_transition" => 500;
        /// Average of the marked fraction after the first mark. That mark halves the window.
        initial_alpha: f64, PROBABILITY, "prague_alpha_mode 0" => 0.0,
            "0.6": "prague_init: PRAGUE_MAX_ALPHA" => 1.0;
        /// The largest window, in packets of 1500 bytes, at which Prague controls its rate; 0 for
        /// never.
        cwnd_transit: u64, ANY, "prague_cwnd_transit, prague_cwnd_mode 2" => 4,
            "0.6": "no control of the rate" => 0;
    }
    unused: |dialect| if dialect == "0.6" { &["cwnd_transit"] } else { &[] };
}
