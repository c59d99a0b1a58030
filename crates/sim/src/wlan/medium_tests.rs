use std::collections::BTreeMap;

use sojourn_aqm::Rate;
use sojourn_scenario::resolved::RateControl;
use sojourn_scenario::wlan_timing::OfdmRate;

use super::*;

const PACKET: u32 = 1_500;

fn rate(megabits: u64) -> OfdmRate {
    OfdmRate::new(Rate::from_bps(megabits * 1_000_000)).unwrap()
}

fn radio(megabits: u64, error_rate: f64) -> Radio {
    Radio { rate: RateControl::Constant(rate(megabits)), error_rate, snr: None }
}

fn micros(us: u64) -> Span {
    Span::from_micros(us)
}

/// A cell as in ns-3's Bianchi example: no errors, no limit on attempts.
fn cell(megabits: u64, eifs: Span) -> Wlan {
    Wlan {
        name: "test".into(),
        radio: radio(megabits, 0.0),
        attempts: u32::MAX,
        slot: micros(9),
        difs: micros(28),
        eifs,
    }
}

fn medium(cell: &Wlan, stations: usize, seed: u64) -> Medium {
    Medium::new(cell, &[], stations, |place, purpose| Rng::stream(seed, purpose, place as u64))
}

/// Offers another packet once the last one is over.
fn offer_next(medium: &mut Medium, now: Time, place: usize, radio: usize) {
    if !medium.has_packet(place) {
        medium.offer(now, place, PACKET, radio);
    }
}

/// Runs with stations that always have a packet, and reports every transmission.
fn saturate(medium: &mut Medium, until: Time, mut each: impl FnMut(Time, &Sent)) {
    let stations = medium.stations.len();
    let (mut now, mut sent) = (Time::ZERO, Vec::new());
    while now < until {
        for place in 0..stations {
            offer_next(medium, now, place, 0);
        }
        now = medium.next();
        medium.end(now, &mut sent);
        sent.drain(..).for_each(|sent| each(now, &sent));
    }
}

/// Saturation throughput in Mbit/s of payloads of 1500 B.
fn throughput(cell: &Wlan, stations: usize, seed: u64) -> f64 {
    let seconds = 100;
    let mut received = 0u64;
    let until = Time::ZERO + Span::from_secs(seconds);
    saturate(&mut medium(cell, stations, seed), until, |_, sent| {
        received += u64::from(sent.attempt == Attempt::Received);
    });
    (received * u64::from(PACKET) * 8) as f64 / seconds as f64 / 1e6
}

/// Bianchi's probability that a station sends in a slot, by bisection (Bianchi 2000, equations 7
/// and 9).
fn send_probability(stations: usize) -> f64 {
    let (w, stages) = (16.0, 6);
    let tau = |p: f64| {
        let sum: f64 = (0..stages).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + w + p * w * sum)
    };
    let (mut low, mut high) = (0.0, 1.0 - 1e-12);
    for _ in 0..200 {
        let p = (low + high) / 2.0;
        match 1.0 - (1.0 - tau(p)).powi(stations as i32 - 1) > p {
            true => low = p,
            false => high = p,
        }
    }
    tau(low)
}

/// Bianchi's throughput in Mbit/s (Bianchi 2000, equation 13). `again` is the probability of
/// drawing zero and sending at once after a success, as a station does whose backoff is frozen
/// while others send (Tinnirello, Bianchi and Xiao 2010); ns-3's reference values include it.
fn bianchi(cell: &Wlan, stations: usize, again: f64) -> f64 {
    let tau = send_probability(stations);
    let some = 1.0 - (1.0 - tau).powi(stations as i32);
    let one = stations as f64 * tau * (1.0 - tau).powi(stations as i32 - 1);
    let us = |span: Span| span.as_nanos() as f64 / 1e3;
    let RateControl::Constant(rate) = cell.radio.rate else { panic!("a constant rate") };
    let data = us(rate.data_frame(PACKET));
    let slot = if again > 0.0 { us(cell.slot) } else { 0.0 };
    let success = (data + us(rate.sifs_and_ack()) + us(cell.difs)) / (1.0 - again) + slot;
    let collision = data + us(cell.eifs);
    let bits = f64::from(PACKET) * 8.0 / (1.0 - again);
    one * bits / ((1.0 - some) * us(cell.slot) + one * success + (some - one) * collision)
}

#[test]
fn the_model_gives_the_throughput_that_ns3_expects() {
    let cell = cell(54, micros(28));
    assert!((send_probability(2) - 0.1046).abs() < 5e-5);
    for (stations, published) in [(1, 30.17), (2, 31.09), (4, 30.30), (5, 29.83), (50, 23.56)] {
        let model = bianchi(&cell, stations, 1.0 / 16.0);
        assert!((model - published).abs() < 0.012, "{stations}: {model}");
    }
    // Bianchi's model of 2000, without freezing, is higher.
    assert!((bianchi(&cell, 2, 0.0) - 31.50).abs() < 0.01);
}

#[test]
fn saturated_stations_have_the_throughput_that_ns3_expects() {
    // After a collision ns-3 has two rules: to wait a DIFS, or an EIFS as long as an
    // acknowledgement and a DIFS.
    let after_difs = [(2, 31.09), (4, 30.30), (5, 29.83), (10, 28.15), (20, 26.29), (50, 23.56)];
    let after_eifs = [(5, 29.29), (10, 27.38), (20, 25.33), (50, 22.42)];
    let slow = [(6, 5, 4.7087), (6, 10, 4.3453), (24, 5, 16.247)];
    let fast = |eifs: u64| move |(n, published): (usize, f64)| (54, eifs, n, published);
    let all = after_difs.map(fast(28)).into_iter().chain(after_eifs.map(fast(72)));
    let all = all.chain(slow.map(|(mbit, n, published)| (mbit, 28, n, published)));
    for (mbit, eifs, stations, published) in all {
        let found = throughput(&cell(mbit, micros(eifs)), stations, 7);
        let off = found / published - 1.0;
        assert!(off.abs() < 0.01, "{stations} at {mbit} Mbit/s: {found}, off by {off:.4}");
    }
}

#[test]
fn a_lone_station_waits_its_mean_backoff_before_every_frame() {
    // Fact scenario-4: 393.5 us per packet, 30.495 Mbit/s of 1500 B, 29.93 of 1472 B. Bianchi's
    // model gives 30.17 for n = 1, because it counts one slot per frame too many. The bound is four
    // standard errors: 4 x 41.5 us / sqrt(254 000) are 0.08 % of a cycle.
    let found = throughput(&cell(54, micros(28)), 1, 3);
    assert!((found / (12_000.0 / 393.5) - 1.0).abs() < 0.000_9, "{found}");
    assert!((found * 1_472.0 / 1_500.0 - 29.93).abs() < 0.03, "{found}");
}

#[test]
fn two_backoffs_are_equal_once_in_sixteen() {
    let cell = cell(54, micros(28));
    let (mut slots, mut ties, draws) = (0, 0, 40_000);
    for seed in 0..draws {
        let mut medium = medium(&cell, 2, seed);
        medium.stations.iter_mut().for_each(Station::draw);
        for station in &mut medium.stations {
            station.frame = Some(station.rates[0].frame(PACKET, 0));
        }
        slots += u64::from(medium.plan().unwrap().slots);
        ties += u64::from(medium.stations[0].backoff == medium.stations[1].backoff);
    }
    // The bounds are four standard errors: 4 x 3.6 / 200 slots, and 4 x sqrt(0.0586 / 40 000).
    let (slots, ties) = (slots as f64 / draws as f64, ties as f64 / draws as f64);
    assert!((slots - 4.84).abs() < 0.073, "{slots}");
    assert!((ties - 0.0625).abs() < 0.0049, "{ties}");
}

#[test]
fn stations_get_equal_shares() {
    let mut shares = BTreeMap::new();
    let until = Time::ZERO + Span::from_secs(60);
    saturate(&mut medium(&cell(54, micros(88)), 4, 5), until, |_, sent| {
        *shares.entry(sent.station).or_insert(0u32) += u32::from(sent.attempt == Attempt::Received);
    });
    let mean = f64::from(shares.values().sum::<u32>()) / 4.0;
    assert!(shares.values().all(|&got| (f64::from(got) / mean - 1.0).abs() < 0.03), "{shares:?}");
}

#[test]
fn an_idle_medium_is_taken_at_once_and_a_busy_one_after_a_backoff() {
    let cell = cell(54, micros(88));
    let mut medium = medium(&cell, 2, 1);
    let mut sent = Vec::new();
    let start = Time::ZERO + micros(1_000);
    medium.offer(start, 0, PACKET, 0);
    let end = start + micros(254 + 10 + 34);
    assert_eq!(medium.next(), end);
    medium.offer(start + micros(100), 1, PACKET, 0);
    assert_eq!(medium.next(), end, "an exchange on the air is not disturbed");
    medium.end(end, &mut sent);
    let received =
        Sent { station: 0, attempt: Attempt::Received, airtime: micros(298), rate: rate(54) };
    assert_eq!(sent, [received]);
    let Backoff::Slots(slots) = medium.stations[1].backoff else { panic!("it has drawn") };
    assert_eq!(medium.next(), end + micros(28 + 9 * u64::from(slots) + 298));
}

#[test]
fn a_station_whose_frame_was_received_backs_off_before_the_next() {
    let mut medium = medium(&cell(54, micros(88)), 1, 1);
    medium.offer(Time::ZERO, 0, PACKET, 0);
    let end = medium.next();
    medium.end(end, &mut Vec::new());
    let Backoff::Slots(slots) = medium.stations[0].backoff else { panic!("it has drawn") };
    assert!(slots > 0, "this seed draws {slots}");
    medium.offer(end, 0, PACKET, 0);
    assert_eq!(medium.next(), end + micros(28 + 9 * u64::from(slots) + 298));
}

#[test]
fn a_frame_that_fails_is_sent_again_with_a_doubled_window_and_given_up_in_the_end() {
    let spoiled = Wlan { radio: radio(54, 1.0), attempts: 7, ..cell(54, micros(88)) };
    let mut medium = medium(&spoiled, 1, 2);
    let (mut windows, mut attempts, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    medium.offer(Time::ZERO, 0, PACKET, 0);
    for _ in 0..7 {
        windows.push(medium.stations[0].window);
        let now = medium.next();
        medium.end(now, &mut sent);
        assert_eq!(medium.slots_from, now + micros(88));
        attempts.extend(sent.drain(..).map(|sent| sent.attempt));
    }
    assert_eq!(windows, [15, 31, 63, 127, 255, 511, 1023]);
    assert_eq!(attempts[..6], [Attempt::Failed; 6]);
    assert_eq!(attempts[6], Attempt::GivenUp);
    assert_eq!((medium.stations[0].window, medium.next()), (15, Time::NEVER));
}

#[test]
fn frames_fail_at_the_error_rate() {
    let noisy = Wlan { radio: radio(54, 0.05), ..cell(54, micros(88)) };
    let (mut failed, mut all) = (0u32, 0u32);
    saturate(&mut medium(&noisy, 1, 4), Time::ZERO + Span::from_secs(20), |_, sent| {
        (failed, all) = (failed + u32::from(sent.attempt == Attempt::Failed), all + 1);
    });
    let rate = f64::from(failed) / f64::from(all);
    let error = (0.05 * 0.95 / f64::from(all)).sqrt();
    assert!((rate - 0.05).abs() < 4.0 * error, "{rate}");
}

#[test]
fn another_station_does_not_change_what_the_first_draws() {
    let draws = |stations: usize| {
        let mut medium = medium(&cell(54, micros(88)), stations, 6);
        (0..20).map(|_| medium.stations[0].backoffs.below(16)).collect::<Vec<_>>()
    };
    assert_eq!(draws(1), draws(3));
}

/// Throughput in Mbit/s of 1500 B of each of `fast` stations at 54 Mbit/s next to a slow one at 6
/// Mbit/s: Bianchi's equation 13 with two lengths of exchanges; a collision with the slow station
/// lasts as long as its frame.
fn beside_a_slow_station(fast: i32) -> f64 {
    let us = |span: Span| span.as_nanos() as f64 / 1e3;
    let difs = 28.0;
    let exchange = |megabits| us(rate(megabits).data_frame(PACKET) + rate(megabits).sifs_and_ack());
    let tau = send_probability(fast as usize + 1);
    let others_silent = (1.0 - tau).powi(fast);
    let some_fast = 1.0 - (1.0 - tau).powi(fast);
    let one_fast = f64::from(fast) * tau * (1.0 - tau).powi(fast - 1);
    // After a success, one sender in 16 draws zero and sends the next frame at once.
    let (again, slot) = (1.0 / 16.0, 9.0);
    let success = |length: f64| (length + difs) / (1.0 - again) + slot;
    let frame = |megabits| us(rate(megabits).data_frame(PACKET)) + difs;
    let mean = (1.0 - tau) * (1.0 - some_fast) * slot
        + (1.0 - tau) * one_fast * success(exchange(54))
        + tau * others_silent * success(exchange(6))
        + (1.0 - tau) * (some_fast - one_fast) * frame(54)
        + tau * some_fast * frame(6);
    tau * others_silent * f64::from(PACKET) * 8.0 / (1.0 - again) / mean
}

/// The same throughput by the formula of Heusse et al. 2003, §III, with this cell's times. The
/// paper's shares of collisions and contention are approximations, and its collisions have two
/// frames.
fn by_the_papers_formula(fast: i32) -> f64 {
    let us = |span: Span| span.as_nanos() as f64 / 1e3;
    let hosts = f64::from(fast + 1);
    let (slot, window, difs) = (9.0, f64::from(WINDOW_MIN), 28.0);
    let collide = 1.0 - (1.0 - 1.0 / window).powi(fast);
    let contention = slot * (1.0 + collide) / (2.0 * hosts) * window / 2.0;
    let exchange = |megabits| {
        us(rate(megabits).data_frame(PACKET) + rate(megabits).sifs_and_ack()) + difs + contention
    };
    let jam = 2.0 / hosts * exchange(6) + (1.0 - 2.0 / hosts) * exchange(54);
    let round = f64::from(fast) * exchange(54) + exchange(6) + collide * jam * hosts;
    f64::from(PACKET) * 8.0 / round
}

/// Heusse et al. 2003, §III: every station gets the same share of exchanges, so the fast ones have
/// no more throughput than the slow one (fact wlan-8).
#[test]
fn one_slow_station_slows_all_down() {
    for fast in [1, 2, 4] {
        let stations = fast as usize + 1;
        let lan = cell(54, micros(28));
        let mut medium = Medium::new(&lan, &[radio(6, 0.0)], stations, |place, purpose| {
            Rng::stream(9, purpose, place as u64)
        });
        let (mut now, mut sent, mut received) = (Time::ZERO, Vec::new(), vec![0u32; stations]);
        let seconds = 100;
        while now < Time::ZERO + Span::from_secs(seconds) {
            (0..stations).for_each(|i| offer_next(&mut medium, now, i, usize::from(i == 0)));
            now = medium.next();
            medium.end(now, &mut sent);
            for sent in sent.drain(..) {
                received[sent.station] += u32::from(sent.attempt == Attempt::Received);
            }
        }
        let mbit = |frames: u32| f64::from(frames * PACKET * 8) / seconds as f64 / 1e6;
        let mean = mbit(received.iter().sum()) / stations as f64;
        let expected = beside_a_slow_station(fast);
        assert!((mean / expected - 1.0).abs() < 0.02, "{fast} fast: {mean} against {expected}");
        let papers = by_the_papers_formula(fast);
        assert!((papers / mean - 1.0).abs() < 0.10, "{fast} fast: {mean}, the paper's {papers}");
        for &frames in &received {
            assert!((mbit(frames) / mean - 1.0).abs() < 0.05, "{received:?}");
        }
    }
}

#[test]
fn noise_spoils_frames_by_their_rate() {
    let failed = |megabits: u64| {
        let noisy = Radio { snr: Some(libm::pow(10.0, 1.9)), ..radio(megabits, 0.0) };
        let lan = Wlan { radio: noisy, ..cell(54, micros(28)) };
        let (mut failed, mut all) = (0u32, 0u32);
        saturate(&mut medium(&lan, 1, 4), Time::ZERO + Span::from_secs(10), |_, sent| {
            (failed, all) = (failed + u32::from(sent.attempt != Attempt::Received), all + 1);
        });
        (f64::from(failed) / f64::from(all), FrameErrors::new(&noisy).at(rate(megabits), PACKET))
    };
    for megabits in [36, 48, 54] {
        let (found, expected) = failed(megabits);
        let error = (expected * (1.0 - expected) / 5_000.0).sqrt();
        assert!((found - expected).abs() < 4.0 * error + 1e-9, "{megabits}: {found}, {expected}");
    }
    assert!(failed(54).1 > 0.2 && failed(36).1 < 1e-3, "{:?} {:?}", failed(54), failed(36));
}
