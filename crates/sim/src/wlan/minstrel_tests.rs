use super::*;

fn minstrel() -> Minstrel {
    Minstrel::new(&mut Rng::stream(1, "rate-samples", 0))
}

/// Sends frames in sequence, each lasting `every`; `received` decides whether a frame at a given
/// rate is received.
fn send(
    minstrel: &mut Minstrel,
    frames: u64,
    every: Span,
    mut received: impl FnMut(usize) -> bool,
) -> [u64; RATES] {
    let mut at_rate = [0; RATES];
    let start = minstrel.updated;
    for frame in 1..=frames {
        let (chain, sample) = minstrel.next_frame();
        let (mut tried, mut result) = ([0; STAGES], false);
        'chain: for (place, stage) in chain.iter().enumerate() {
            for _ in 0..stage.attempts {
                tried[place] += 1;
                at_rate[stage.rate as usize] += 1;
                if received(stage.rate as usize) {
                    result = true;
                    break 'chain;
                }
            }
        }
        minstrel.report(start + every.times(frame), &chain, tried, result, sample);
    }
    at_rate
}

/// By hand for 1200 B: 9654 bits take 45 symbols of 216 bits at 54 Mbit/s and 403 of 24 bits at 6
/// Mbit/s; with SIFS, extension and preamble, a frame takes 216 and 1648 us. An attempt at 6 Mbit/s
/// adds 60 us for an acknowledgement of 10 B and half a window of 67 us, then of 139 us and so on:
/// 1708, 3483, 5330, 7316 us, so a segment of 6 ms ends after the third.
#[test]
fn attempts_at_one_rate_last_no_longer_than_a_segment() {
    let rates = minstrel().rates;
    assert_eq!((rates[0].perfect_us, rates[7].perfect_us), (1_648, 216));
    assert_eq!(rates[0].retries, 3);
    assert!(rates.windows(2).all(|pair| pair[0].retries <= pair[1].retries));
    assert!(rates[7].retries <= MAX_RETRY);
}

#[test]
fn an_average_keeps_three_quarters_of_the_old_value() {
    let mut known = minstrel().rates[7];
    (known.attempts, known.successes) = (4, 4);
    known.update();
    assert_eq!(known.probability, ONE / 4);
    assert_eq!(known.throughput, ONE / 4 * (1_000_000 / 216));
    (known.attempts, known.successes) = (4, 2);
    known.update();
    assert_eq!(known.probability, (ONE / 4 * 96 + ONE / 2 * 32) / 128);
    known.update();
    assert_eq!((known.probability, known.skipped), ((ONE / 4 * 96 + ONE / 2 * 32) / 128, 1));
    // A rate with a success probability below a tenth is hopeless: its throughput is zero, and it
    // gets at most two attempts and four samples.
    known.probability = ONE / 20;
    known.update();
    assert_eq!((known.throughput, known.adjusted_retries, known.samples_left), (0, 2, Some(4)));
}

#[test]
fn a_good_channel_is_used_at_its_fastest_rate() {
    let mut minstrel = minstrel();
    let every = Span::from_micros(400);
    send(&mut minstrel, 5_000, every, |_| true);
    assert_eq!(minstrel.best, [7, 6]);
    let at_rate = send(&mut minstrel, 5_000, every, |_| true);
    let fastest = at_rate[7] as f64 / at_rate.iter().sum::<u64>() as f64;
    // A tenth of the frames sample other rates: slower ones only after the best one, so they are
    // hardly used.
    assert!(fastest > 0.95, "{at_rate:?}");
}

#[test]
fn rates_that_fail_are_left_and_found_again() {
    let mut minstrel = minstrel();
    let every = Span::from_millis(1);
    send(&mut minstrel, 3_000, every, |rate| rate <= 3);
    assert_eq!(minstrel.best[0], 3);
    assert_eq!(minstrel.most_robust, 3);
    send(&mut minstrel, 5_000, every, |rate| rate <= 6);
    assert_eq!(minstrel.best[0], 6);
}

#[test]
fn a_slower_rate_is_sampled_behind_the_best_and_a_faster_one_before_it() {
    let mut minstrel = minstrel();
    send(&mut minstrel, 3_000, Span::from_millis(1), |rate| rate <= 4);
    assert_eq!(minstrel.best[0], 4);
    let (mut before, mut behind) = (0, 0);
    for _ in 0..400 {
        let (chain, is_deferred) = minstrel.next_frame();
        if is_deferred {
            assert!(chain[0].rate == 4 && chain[1].rate < 4, "{chain:?}");
            behind += 1;
        } else if chain[0].rate != 4 {
            assert!(chain[0].rate > 4, "{chain:?}");
            before += 1;
        }
        assert_eq!(chain[3], Stage { rate: 0, attempts: MAX_RETRY });
        minstrel.report(minstrel.updated, &chain, [1, 0, 0, 0], true, is_deferred);
    }
    assert!(before > 0 && behind > 0, "{before} {behind}");
    // A hopeless rate gets at most four samples between two updates.
    assert!(before <= 4 * 3, "{before}");
}

#[test]
fn every_column_of_the_samples_has_every_rate() {
    for mut column in minstrel().table {
        column.sort_unstable();
        assert_eq!(column, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
