//! 5G New Radio in time division duplex: a rate that fades, slots, grants, retransmissions and
//! handovers.

use sojourn_aqm::Span;

use super::{Generated, LinkTemplate, Template, lte};
use crate::document::quantities::SpanText;
use crate::document::wire::BlocksJitter;

pub(super) const KIND: LinkTemplate = LinkTemplate {
    name: "5g",
    text: "A rate with median `rate` that varies as `lte`'s does, which is our choice. Slots of \
           0.5 ms repeat as DDDSU: packets leave in the slots down, or up in one slot of 2.5 ms. \
           A tenth of the blocks is sent again, 3 ms later down and 2.5 ms later up, and holds up \
           those behind it. Up, a packet after a pause waits for an opportunity to request a \
           grant, every `request` (5ms). Every `handover`, nothing is sent for 62 ms, and the new \
           cell's rate is drawn. That a base station takes a device's times is our choice. Left \
           out: what a slot up delays down, second retransmissions, losses, idle modes (DRX), \
           and the core network. The wait is on the wire.",
    sources: "pattern: 3GPP TS 38.101-4; times: 3GPP TS 38.214; requests: 3GPP TS 38.331; \
              handover: 3GPP TS 38.133; spread: fact link-10",
    takes: &["direction", "seed", "rate", "request", "handover"],
    needs_rate: true,
    generate,
};

/// With subcarriers of 30 kHz: slots of 14 symbols, and the pattern FR1.30-2 of three slots down, a
/// special one and one up (3GPP TS 38.101-4, Table A.1.2-2).
const SLOT: Span = Span::from_micros(500);
const SYMBOLS: u64 = 14;
const PATTERN: Span = Span::from_micros(2_500);
/// Symbols to decode a block (N1, 3GPP TS 38.214, Table 5.3-1) and to prepare one (N2, Table
/// 6.4-1), capability 1.
const DECODE: u64 = 10;
const PREPARE: u64 = 12;
/// Block error rate at which link adaptation aims (3GPP TS 38.214 §5.2.2.1).
const FIRST_ERRORS: f64 = 0.1;
/// Blocks of the slots 0, 1 and 2 are acknowledged in slot 4. Slot 7 is the first one down that
/// begins after that has been decoded and the next block prepared: 7, 6 or 5 slots, 6 in the mean.
const RESENT_DOWN: Span = Span::from_millis(3);
/// A block of slot 4 is decoded in slot 5, a grant sent in slot 6, and slot 9 is the next one up.
/// For the same reasons, a request of slot 4 brings a grant of slot 9.
const RESENT_UP: Span = PATTERN;
const UNTIL_GRANTED: Span = PATTERN;
/// Our choice among 5, 10, 20, 40 and 80 slots (3GPP TS 38.331, `SchedulingRequestResourceConfig`).
const REQUEST: Span = Span::from_millis(5);
const REQUESTS_SLOTS: [u64; 5] = [5, 10, 20, 40, 80];
/// Uncertainty of the first opportunity for access 20 ms, processing 20 ms, tracking 20 ms, margin
/// 2 ms (3GPP TS 38.133 §6.1.1.2.2, with the values of §A.6.3.1.7.3).
const INTERRUPTION: Span = Span::from_millis(62);

fn generate(template: &Template, duration: Span) -> Result<Generated, String> {
    let request = template.request.unwrap_or(REQUEST);
    if !REQUESTS_SLOTS.map(|slots| SLOT.times(slots)).contains(&request) {
        return Err(format!("request `{request}` is not 2.5, 5, 10, 20 or 40 ms"));
    }
    let median = template.line().as_bps() as f64;
    let rate = lte::fading(template, duration, median, INTERRUPTION)?;
    let radio = |every, round_trip| BlocksJitter {
        retransmit: FIRST_ERRORS,
        round_trip: SpanText(round_trip),
        ..BlocksJitter::every(every)
    };
    let (least, radio) = match template.is_up {
        false => (symbols(PREPARE) + SLOT + symbols(DECODE), radio(SLOT, RESENT_DOWN)),
        true => {
            let (request, pause) = (Some(SpanText(request)), SpanText(UNTIL_GRANTED));
            let radio = BlocksJitter { request, pause, ..radio(PATTERN, RESENT_UP) };
            (UNTIL_GRANTED + SLOT + symbols(DECODE), radio)
        }
    };
    Ok(Generated::at(rate).granted(least, radio))
}

fn symbols(count: u64) -> Span {
    Span::from_nanos(SLOT.as_nanos() * count / SYMBOLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::capacity::{Capacity, Varying};
    use crate::document::wire::Jitter;

    fn generated(text: &str) -> Result<Generated, String> {
        generate(&Template::parse(text).unwrap(), Span::from_secs(5))
    }

    #[test]
    fn packets_take_the_times_of_3gpp() {
        let of = |text: &str| {
            let found = generated(text).unwrap();
            let Some(Jitter::Blocks(blocks)) = found.jitter else { panic!("blocks") };
            (found.delay.unwrap().least().as_nanos() / 1_000, blocks)
        };
        let (least_us, blocks) = of("5g:rate=300mbit");
        assert_eq!((least_us, blocks.every.0, blocks.request), (1_285, SLOT, None));
        let (least_us, blocks) = of("5g:rate=50mbit,direction=up");
        assert_eq!(
            (least_us, blocks.every.0, blocks.request.unwrap().0),
            (3_357, PATTERN, REQUEST)
        );
        assert_eq!(
            (blocks.retransmit, blocks.round_trip.0, blocks.pause.0),
            (0.1, PATTERN, PATTERN)
        );
    }

    #[test]
    fn a_handover_stops_the_link_for_62_ms() {
        let found = generated("5g:rate=300mbit,handover=2s").unwrap();
        let Capacity::Varying(Varying::Schedule(rates)) = found.rate else { panic!("rates") };
        let stop = rates.steps.iter().position(|(_, rate)| rate.0.is_none()).unwrap();
        let at = |step: usize| rates.steps[step].0.0.as_nanos() / 1_000_000;
        assert_eq!((at(stop), at(stop + 1)), (2_000, 2_062));
    }

    #[test]
    fn what_5g_does_not_have_is_refused() {
        let refused = |text: &str| generated(text).err().unwrap();
        assert!(refused("5g:rate=9mbit,request=3ms").contains("2.5, 5, 10, 20 or 40 ms"));
        assert!(refused("5g:rate=9mbit,handover=150ms").contains("a multiple of 100ms"));
        assert!(Template::parse("5g").unwrap_err().contains("`5g:rate=20mbit`"));
    }
}
