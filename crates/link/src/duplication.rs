//! Random copies of packets that arrive at a link, drawn as netem draws them.

use sojourn_aqm::Rng;
use sojourn_scenario::resolved::{Duplicate, Link as LinkPlan};

use crate::correlated::Chance;

/// Which arriving packets are copied. As with netem, a copy enters the link like another arrival,
/// but is not copied again (Linux 6.1 `sch_netem.c`, `netem_enqueue`: the copy goes to the root of
/// the device while `q->duplicate` is 0).
#[derive(Clone, Debug)]
pub struct Duplication(Chance);

impl Duplication {
    /// The copies of a scenario's link.
    pub fn of_plan(link: &LinkPlan, seed: u64) -> Option<Duplication> {
        link.duplicate.map(|duplicate| Duplication::of(&link.name, seed, duplicate))
    }

    /// The copies of a link, whose random stream is named after the link.
    pub fn of(link: &str, seed: u64, Duplicate { rate, correlation }: Duplicate) -> Duplication {
        let rng = Rng::stream(seed, &format!("{link}/duplicate"), 0);
        Duplication(Chance::new(rate, correlation, rng))
    }

    /// Whether the next packet is copied.
    pub fn copies(&mut self) -> bool {
        self.0.happens()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 200_000;

    fn copied(rate: f64, correlation: f64) -> Vec<bool> {
        let mut of = Duplication::of("link", 7, Duplicate { rate, correlation });
        (0..PACKETS).map(|_| of.copies()).collect()
    }

    fn share(copied: &[bool]) -> f64 {
        copied.iter().filter(|&&it| it).count() as f64 / copied.len() as f64
    }

    #[test]
    fn independent_copies_come_at_the_rate() {
        for rate in [0.0, 0.01, 0.25, 0.9, 1.0] {
            let share = share(&copied(rate, 0.0));
            assert!(
                (share - rate).abs() < 4.0 * (rate * (1.0 - rate) / PACKETS as f64).sqrt() + 1e-12
            );
        }
    }

    /// A weighted mean of independent uniform numbers varies less than one of them.
    #[test]
    fn correlated_copies_come_in_runs_and_less_often_than_the_rate() {
        let copied = copied(0.25, 0.5);
        let all = share(&copied);
        assert!(all < 0.25 && all > 0.05, "{all}");
        let pairs = copied.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        let again = pairs / (all * PACKETS as f64);
        assert!(again > 1.5 * all, "{again} after a copy, {all} in all");
        // The draws are centred, so half of them are below the middle.
        assert!((share(&self::copied(0.5, 0.5)) - 0.5).abs() < 0.01);
    }

    #[test]
    fn a_full_correlation_repeats_the_first_draw() {
        let copied = copied(0.5, 1.0);
        assert!(copied.iter().all(|it| *it == copied[0]));
    }

    #[test]
    fn the_same_seed_copies_the_same_packets() {
        assert_eq!(copied(0.1, 0.3), copied(0.1, 0.3));
    }
}
