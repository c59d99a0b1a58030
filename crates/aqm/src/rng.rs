//! A small random number generator, with a separate stream for every queue, flow and purpose.
//!
//! Streams are derived from the seed, a name and an index, never from the order of creation. A new
//! flow therefore leaves all other flows' numbers unchanged, and two AQMs under one seed see the
//! same external inputs: start times, sizes, think times, losses on wires (common random numbers).
//! Arrivals still differ after the first signal, because senders react to the AQM.

/// xoshiro256++ (Blackman and Vigna, 2019): 256 bits of state, equidistributed 64-bit outputs.
///
/// The layout is that of `sojourn_law_random` in `sojourn_law.h`: laws in libraries draw from this
/// struct in place.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Rng {
    state: [u64; 4],
    /// [`Outside::uniform`], if the numbers come from the host.
    uniform: Option<extern "C" fn(context: usize) -> f64>,
    context: usize,
}

/// The host's source of random numbers, such as an ns-3 stream.
#[derive(Clone, Copy, Debug)]
pub struct Outside {
    /// Gives the next uniform number in [0, 1).
    pub uniform: extern "C" fn(context: usize) -> f64,
    /// Passed to `uniform`.
    pub context: usize,
}

impl Rng {
    /// The stream number `index` for `purpose`, under `seed`.
    pub fn stream(seed: u64, purpose: &str, index: u64) -> Rng {
        // FNV-1a over the name, then splitmix64 as xoshiro's authors recommend for seeding.
        let name = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut x = splitmix(seed) ^ splitmix(name).rotate_left(21) ^ splitmix(!index);
        let mut state = [0; 4];
        for word in &mut state {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *word = splitmix(x);
        }
        Rng::of_words(state)
    }

    /// A generator whose numbers come from the host, so that its runs depend on the host's seeds.
    pub fn outside(source: Outside) -> Rng {
        Rng { state: [0; 4], uniform: Some(source.uniform), context: source.context }
    }

    /// A generator with this state, which must not be all zero.
    const fn of_words(state: [u64; 4]) -> Rng {
        Rng { state, uniform: None, context: 0 }
    }

    fn source(&self) -> Option<Outside> {
        self.uniform.map(|uniform| Outside { uniform, context: self.context })
    }

    /// A generator whose next uniform number is `u` (to 53 bits), for scripted tests.
    #[cfg(test)]
    pub(crate) fn scripted(u: f64) -> Rng {
        let bits = ((u * (1u64 << 53) as f64) as u64) << 11;
        Rng::of_words([bits, 0, 0, bits.wrapping_neg()])
    }

    /// The next 64 random bits; an outside source gives at most 53.
    pub fn next_u64(&mut self) -> u64 {
        if let Some(source) = self.source() {
            return bits_of(source.draw());
        }
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A uniform number in [0, 1) with 53 random bits. `uniform() < p` never holds for p = 0 and
    /// always for p = 1.
    pub fn uniform(&mut self) -> f64 {
        if let Some(source) = self.source() {
            return source.draw();
        }
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform whole number in `0..bound` (Lemire's multiply and shift; bias below 2^-32 for the
    /// bounds that occur here). `bound` is positive.
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no element");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// An exponential number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }
}

impl Outside {
    #[cold]
    fn draw(&self) -> f64 {
        let u = (self.uniform)(self.context);
        debug_assert!((0.0..1.0).contains(&u), "{u} is not a uniform number in [0, 1)");
        u
    }
}

/// The bits that `uniform` would convert to this number.
fn bits_of(u: f64) -> u64 {
    ((u * (1u64 << 53) as f64) as u64) << 11
}

/// The finaliser of splitmix64 (Steele, Lea, Flood, 2014).
pub(crate) const fn splitmix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_index_and_repeat() {
        let first = |seed, purpose, index| Rng::stream(seed, purpose, index).next_u64();
        let base = first(1, "queue", 0);
        assert_eq!(base, first(1, "queue", 0));
        assert!(
            [first(2, "queue", 0), first(1, "flow", 0), first(1, "queue", 1)]
                .iter()
                .all(|&other| other != base)
        );
    }

    #[test]
    fn a_scripted_generator_gives_its_number() {
        assert_eq!(Rng::scripted(0.0).uniform(), 0.0);
        assert_eq!(Rng::scripted(0.5).uniform(), 0.5);
        assert!((Rng::scripted(0.999).uniform() - 0.999).abs() < 1e-15);
    }

    #[test]
    fn an_outside_source_gives_its_numbers_in_every_form() {
        extern "C" fn sixteenths(context: usize) -> f64 {
            context as f64 / 16.0
        }
        let source = Outside { uniform: sixteenths, context: 12 };
        let mut rng = Rng::outside(source);
        assert_eq!((rng.uniform(), rng.below(8), rng.next_u64()), (0.75, 6, 3 << 62));
        assert_eq!(Rng::outside(Outside { context: 0, ..source }).below(8), 0);
    }

    #[test]
    fn uniform_has_mean_one_half_within_five_sigma() {
        let mut rng = Rng::stream(7, "test", 0);
        let n = 100_000;
        let mean = (0..n).map(|_| rng.uniform()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0f64).sqrt() / f64::from(n).sqrt());
    }

    /// The generator's authors publish this start of the sequence for the state 1, 2, 3, 4.
    #[test]
    fn the_sequence_is_that_of_xoshiro256_plus_plus() {
        let mut rng = Rng::of_words([1, 2, 3, 4]);
        let first = [(); 5].map(|()| rng.next_u64());
        assert_eq!(
            first,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386,
                9_228_616_714_210_784_205
            ]
        );
    }

    #[test]
    fn numbers_below_a_bound_are_even_and_exponential_numbers_have_their_mean() {
        let (mut rng, n) = (Rng::stream(3, "test", 0), 60_000);
        let mut counts = [0u32; 6];
        (0..n).for_each(|_| counts[rng.below(6) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        let mean = (0..n).map(|_| rng.exponential(2.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 2.0).abs() < 5.0 * 2.0 / f64::from(n).sqrt(), "{mean}");
    }

    /// Steele, Lea and Flood 2014: the first outputs of splitmix64 under seed 0, obtained by
    /// finalising the multiples of the golden ratio.
    #[test]
    fn the_finaliser_gives_the_published_numbers() {
        let of = |n: u64| splitmix(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(n));
        let published = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([1, 2, 3].map(of), published);
    }

    #[test]
    fn names_that_differ_in_one_letter_have_different_streams() {
        let first = |letter: u8| {
            let name = alloc::format!("{}/loss", char::from(letter));
            Rng::stream(1, &name, 0).next_u64()
        };
        let numbers: alloc::collections::BTreeSet<u64> = (b'a'..=b'z').map(first).collect();
        assert_eq!(numbers.len(), 26);
    }

    #[test]
    fn exponential_numbers_have_their_mean_and_spread() {
        let mut rng = Rng::stream(7, "test", 0);
        let numbers: alloc::vec::Vec<f64> = (0..100_000).map(|_| rng.exponential(3.0)).collect();
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        // The standard deviation equals the mean: five standard errors are 5 x 3 / sqrt(100 000).
        assert!((mean - 3.0).abs() < 0.048, "{mean}");
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / n;
        assert!((square / 18.0 - 1.0).abs() < 0.04, "{square}");
    }

    /// Computed independently from the definitions of FNV-1a, splitmix64 and xoshiro256++: another
    /// stream would change every run.
    #[test]
    fn a_stream_gives_the_numbers_of_its_definition() {
        let mut rng = Rng::stream(1, "queue", 0);
        let numbers = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        assert_eq!(numbers, [0xce2c_bfb6_0961_7f43, 0x2c1c_dcf4_ff7e_d5c7, 0xf0ec_4b3b_a491_20ae]);
    }
}
