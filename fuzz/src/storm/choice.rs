//! Random choices.

use bolero::TypeGenerator;
use bolero::generator::bolero_generator::driver::{ByteSliceDriver, Options};
use sojourn_aqm::Rng;

/// Random words for one value of a fuzz target: enough for lists of their typical lengths.
const GENERATED_WORDS: usize = 512;

/// The choices of one input.
pub(crate) struct Choice(Rng);

impl Choice {
    /// The choices of an input depend only on its kind, seed and number.
    pub(crate) fn of(kind: &str, seed: u64, number: u64) -> Choice {
        Choice(Rng::stream(seed, kind, number))
    }

    /// An integer below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// Whether an event of this probability happens.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.uniform() < probability
    }

    /// One of several.
    pub(crate) fn of_these<'a, T: ?Sized>(&mut self, these: &[&'a T]) -> &'a T {
        these[self.below(these.len())]
    }

    /// A number between two, log-uniform.
    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        let doublings = (0..64).take_while(|&n| least * ((1u64 << n) as f64) < most).count();
        let power = 1u64 << self.below(doublings.max(1));
        (least * power as f64 * (1.0 + self.0.uniform())).min(most)
    }

    /// An integer between two numbers.
    pub(crate) fn whole(&mut self, least: u64, most: u64) -> u64 {
        self.between(least as f64, most as f64) as u64
    }

    /// A value of a fuzz target's input.
    pub(crate) fn generated<T: TypeGenerator>(&mut self) -> Option<T> {
        let bytes: Vec<u8> =
            (0..GENERATED_WORDS).flat_map(|_| self.0.next_u64().to_le_bytes()).collect();
        T::generate(&mut ByteSliceDriver::new(&bytes, &Options::default()))
    }
}
