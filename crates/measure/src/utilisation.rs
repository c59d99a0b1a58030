//! What part of a link's capacity was used.

use std::sync::Arc;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::Opportunities;
use sojourn_scenario::resolved::{Capacity, Link};

use crate::Counters;

/// What the use of a link is measured against.
#[derive(Clone, Debug)]
pub enum Utilisation {
    /// The time for which its server was busy, against the time that has passed; of a wireless link
    /// the time on the air.
    Busy,
    /// Bytes sent, against the tokens of its bucket; the burst comes on top.
    Tokens(Rate),
    /// Bytes carried, against what its recorded opportunities could carry.
    Opportunities(Opportunities),
}

impl Utilisation {
    /// How the use of a link is measured.
    pub fn of(link: &Link) -> Utilisation {
        match &link.capacity {
            Capacity::Trace(trace) => {
                Utilisation::Opportunities(Opportunities::new(Arc::clone(trace)))
            }
            Capacity::Bucket(bucket) => Utilisation::Tokens(bucket.rate),
            Capacity::Constant(_) | Capacity::Schedule(_) | Capacity::Wireless { .. } => {
                Utilisation::Busy
            }
        }
    }

    /// The part that was used between two times, of which the link reported these counts and this
    /// time of being busy.
    pub fn used(&self, counts: &Counters, busy: Span, (from, to): (Time, Time)) -> f64 {
        let seconds = to.since(from).as_secs();
        match self {
            Utilisation::Busy => busy.as_secs() / seconds,
            Utilisation::Tokens(rate) => {
                counts.sent_bytes as f64 * 8.0 / (rate.as_bps() as f64 * seconds)
            }
            Utilisation::Opportunities(opportunities) => {
                let offered = opportunities.count_until(to) - opportunities.count_until(from);
                let bytes = offered.max(1) * u64::from(opportunities.bytes());
                counts.carried_bytes as f64 / bytes as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::resolved::Trace;

    use super::*;

    fn counts() -> Counters {
        Counters { sent_bytes: 50_000, carried_bytes: 3_000, ..Counters::default() }
    }

    fn window() -> (Time, Time) {
        (Time::from_nanos(1_000_000_000), Time::from_nanos(3_000_000_000))
    }

    #[test]
    fn a_server_is_used_while_it_is_busy() {
        let used = Utilisation::Busy.used(&counts(), Span::from_millis(500), window());
        assert_eq!(used, 0.25);
    }

    #[test]
    fn a_token_bucket_is_used_by_what_was_sent() {
        let tokens = Utilisation::Tokens(Rate::from_bps(400_000));
        assert_eq!(tokens.used(&counts(), Span::ZERO, window()), 0.5);
    }

    #[test]
    fn a_recorded_link_is_used_by_what_its_opportunities_carried() {
        let trace = Trace {
            file: String::new(),
            sha256: String::new(),
            opportunities_ms: vec![500],
            opportunity_bytes: 1_000,
        };
        let recorded = Utilisation::Opportunities(Opportunities::new(Arc::new(trace)));
        // At 1, 1.5, 2 and 2.5 s.
        assert_eq!(recorded.used(&counts(), Span::ZERO, window()), 0.75);
    }
}
