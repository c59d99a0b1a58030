//! The upstream of passive optical networks: GPON and XG-PON.

use sojourn_aqm::{Rate, Span};

use super::{Generated, LinkTemplate, Template, constant};
use crate::document::quantities::SizeText;
use crate::document::wire::BlocksJitter;

pub(super) const GPON: LinkTemplate = LinkTemplate {
    name: "gpon",
    text: "The upstream of a unit (ONU) of a GPON. In each `cycle` (1ms) it reports its queue and \
           sends in one burst what it reported before. It is granted `rate`, or an equal share of \
           1.244 Gbit/s among `onus` (32). Left out: T-CONTs, FEC, and what idle units leave to \
           others. The wait is on the wire.",
    sources: "frames, GEM, reports: ITU-T G.984.3; bursts: ITU-T G.984.2; grants: fact link-9",
    takes: &["rate", "onus", "cycle"],
    needs_rate: false,
    generate: gpon,
};

pub(super) const XGPON: LinkTemplate = LinkTemplate {
    name: "xgpon",
    text: "The same of an XG-PON: 2.488 Gbit/s, with FEC.",
    sources: "ITU-T G.987.3; bursts: xgpon4ns3",
    takes: &["rate", "onus", "cycle"],
    needs_rate: false,
    generate: xgpon,
};

/// A generation of networks.
struct Generation {
    line_bps: u64,
    /// Bytes of each burst besides data: guard time, preamble, delimiter, headers, and the report.
    burst_bytes: u64,
    /// A number of bytes of data, and the number of bytes sent for them (forward error correction).
    fec: (u64, u64),
    /// Bytes that are sent with each IP packet.
    framing_bytes: u64,
}

/// Bytes of a GPON's burst: 12 of guard time, preamble and delimiter (ITU-T G.984.2); 3 of PLOu and
/// 2 of DBRu (ITU-T G.984.3). A GEM header has 5 B, an Ethernet frame 18 B besides its packet.
const GPON_LINE: Generation =
    Generation { line_bps: 1_244_160_000, burst_bytes: 17, fec: (1, 1), framing_bytes: 5 + 18 };
/// Bytes of an XG-PON's burst: 8 of guard time, 20 of preamble, 4 of delimiter (xgpon4ns3), 8 of
/// XGTC header and trailer, 4 of DBRu (ITU-T G.987.3). An XGEM header has 8 B.
const XGPON_LINE: Generation =
    Generation { line_bps: 2_488_320_000, burst_bytes: 44, fec: (232, 248), framing_bytes: 8 + 18 };

const FRAME_US: u64 = 125;
/// Minimum time from a report to the burst that it grants (fact link-9): 200 us of fibre both ways,
/// 35 us in the ONU (ITU-T G.984.3), and up to a frame until the next map.
const LEAST_FRAMES: u64 = 3;
/// One way through 20 km of fibre. Ranging makes all ONUs equally distant.
const FIBRE_US: u64 = 100;
/// The default time from report to report of an ONU (our choice).
const CYCLE: Span = Span::from_millis(1);
const ONUS: u64 = 32;

fn gpon(template: &Template, _: Span) -> Result<Generated, String> {
    upstream(template, &GPON_LINE)
}

fn xgpon(template: &Template, _: Span) -> Result<Generated, String> {
    upstream(template, &XGPON_LINE)
}

fn upstream(template: &Template, network: &Generation) -> Result<Generated, String> {
    let (frame, longest) = (Span::from_micros(FRAME_US), Span::from_millis(10));
    let cycle = template.cycle.unwrap_or(CYCLE);
    let frames = cycle.as_nanos() / frame.as_nanos();
    if frame.times(frames) != cycle || cycle < frame || cycle > longest {
        return Err(format!("cycle `{cycle}` is not a multiple of {frame} up to {longest}"));
    }
    let until_granted = cycle.times(LEAST_FRAMES.div_ceil(frames));
    let generated = Generated {
        framing: Some(SizeText(network.framing_bytes)),
        ..Generated::at(constant(network.granted(template, cycle)?))
    };
    let least = until_granted + Span::from_micros(FIBRE_US);
    Ok(generated.granted(least, BlocksJitter::every(cycle)))
}

impl Generation {
    /// The rate granted to an ONU: the one written, or an equal share.
    fn granted(&self, template: &Template, cycle: Span) -> Result<Rate, String> {
        let most = self.share(1, cycle);
        match (template.rate, template.onus) {
            (Some(_), Some(_)) => Err("takes `rate` or `onus`, not both".to_owned()),
            (Some(rate), None) if rate > most => {
                Err(format!("rate `{rate}` exceeds the {most} that a lone ONU can get"))
            }
            (Some(rate), None) => Ok(rate),
            (None, Some(onus)) if !(1..=128).contains(&onus) => {
                Err(format!("onus `{onus}` is not a number from 1 to 128"))
            }
            (None, onus) => Ok(self.share(onus.unwrap_or(ONUS), cycle)),
        }
    }

    /// The data rate of each of `onus` ONUs when all send in every cycle. With at most 128 ONUs and
    /// at least a frame, the bursts are never longer than the cycle.
    fn share(&self, onus: u64, cycle: Span) -> Rate {
        let (data, sent) = self.fec;
        let bursts_bps = onus * self.burst_bytes * 8 * 1_000_000_000 / cycle.as_nanos();
        Rate::from_bps((self.line_bps - bursts_bps) * data / sent / onus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::capacity::Capacity;
    use crate::document::wire::Jitter;

    fn generated(text: &str) -> Result<Generated, String> {
        let template = Template::parse(text).unwrap();
        (template.kind().generate)(&template, Span::from_secs(1))
    }

    fn rate(text: &str) -> u64 {
        let Capacity::Constant(rate) = generated(text).unwrap().rate else { panic!("constant") };
        rate.0.as_bps()
    }

    /// The shortest and the longest time from a packet's arrival to its reception, in microseconds.
    fn delays(text: &str) -> [u64; 2] {
        let found = generated(text).unwrap();
        let (least, jitter) = (found.delay.unwrap().least(), found.jitter);
        let Some(Jitter::Blocks(blocks)) = jitter else { panic!("blocks") };
        [least, least + blocks.every.0].map(|span| span.as_nanos() / 1_000)
    }

    #[test]
    fn onus_share_what_their_bursts_leave() {
        // In 1 ms the line carries 155,520 B, of which 32 bursts take 544.
        assert_eq!(rate("gpon"), (155_520 - 544) * 8 * 1_000 / 32);
        // With FEC, 232 of 248 bytes are data; a burst takes 44 of the 311,040 B of 1 ms.
        assert_eq!(rate("xgpon:onus=1"), (311_040 - 44) * 8_000 * 232 / 248);
        assert_eq!(rate("gpon:rate=200mbit"), 200_000_000);
        assert_eq!(rate("gpon:onus=128,cycle=125us"), (19_440 - 128 * 17) * 64_000 / 128);
    }

    #[test]
    fn a_burst_carries_what_was_reported_a_cycle_before() {
        assert_eq!(delays("gpon"), [1_100, 2_100]);
        assert_eq!(delays("gpon:cycle=500us"), [600, 1_100]);
        // At least three frames pass from a report to its burst.
        assert_eq!(delays("gpon:cycle=125us"), [475, 600]);
        assert_eq!(delays("gpon:cycle=250us"), [600, 850]);
    }

    /// N'dri et al. 2025 find with xgpon4ns3 that no packet takes more than 3 ms.
    #[test]
    fn no_packet_takes_longer_than_published_for_xg_pon() {
        let [_, most] = delays("xgpon");
        assert!(most < 3_000, "{most}");
    }

    #[test]
    fn what_no_network_has_is_refused() {
        for (text, words) in [
            ("gpon:cycle=200us", "a multiple of 125us"),
            ("gpon:cycle=0s", "a multiple of 125us"),
            ("gpon:cycle=11ms", "up to 10ms"),
            ("gpon:onus=0", "from 1 to 128"),
            ("gpon:onus=129", "from 1 to 128"),
            ("gpon:rate=1300mbit", "a lone ONU can get"),
            ("gpon:rate=1mbit,onus=2", "not both"),
        ] {
            let Err(error) = generated(text) else { panic!("{text}") };
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
