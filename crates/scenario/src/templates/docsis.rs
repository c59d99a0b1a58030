//! The upstream of a cable modem.

use sojourn_aqm::Span;

use super::{Generated, LinkTemplate, Template, constant};
use crate::document::wire::BlocksJitter;

pub(super) const KIND: LinkTemplate = LinkTemplate {
    name: "docsis",
    text: "The upstream of a cable modem: a request waits for the next MAP, and its grant is two \
           MAPs later. With `grants=proactive` (PGS) a grant comes with every MAP without a \
           request. Packets leave in order, all of a MAP interval together. Left out: \
           contention, piggybacking and the limit of proactive grants. The wait is on the wire, so \
           an AQM does not see it; RFC 8034's does. For low-latency DOCSIS give the link the queue \
           `dualpi2:protection=true`.",
    sources: "MAP interval, processing, burst preparation and a guaranteed grant interval of a \
              MAP: docsis-ns3",
    takes: &["rate", "grants"],
    needs_rate: true,
    generate,
};

const MAP_US: u64 = 2_000;
const MAP_PROCESSING_US: u64 = 200;
const BURST_PREPARATION_US: u64 = 135;

fn generate(template: &Template, _: Span) -> Result<Generated, String> {
    let requested = if template.is_proactive { 0 } else { 2 * MAP_US + MAP_PROCESSING_US };
    let least = Span::from_micros(requested + BURST_PREPARATION_US);
    let blocks = BlocksJitter::every(Span::from_micros(MAP_US));
    Ok(Generated::at(constant(template.line())).granted(least, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::wire::Jitter;

    #[test]
    fn with_proactive_grants_a_packet_waits_for_the_next_map_alone() {
        let template = Template::parse("docsis:rate=20mbit,grants=proactive").unwrap();
        assert_eq!(template.to_string(), "docsis:rate=20mbit,grants=proactive");
        let found = generate(&template, Span::from_secs(1)).unwrap();
        assert_eq!(found.delay.unwrap().least(), Span::from_micros(135));
        let error = Template::parse("docsis:rate=20mbit,grants=all").unwrap_err();
        assert!(error.contains("neither `requested` nor `proactive`"), "{error}");
    }

    #[test]
    fn a_packet_takes_between_two_and_three_map_intervals() {
        let template = Template::parse("docsis:rate=20mbit").unwrap();
        let found = generate(&template, Span::from_secs(1)).unwrap();
        let least = found.delay.unwrap().least();
        let Some(Jitter::Blocks(blocks)) = found.jitter else { panic!("blocks") };
        assert_eq!([least, least + blocks.every.0], [4_335, 6_335].map(Span::from_micros));
    }
}
