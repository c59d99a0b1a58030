//! The upstream of a cable modem.

use sojourn_aqm::Span;

use super::{Generated, LinkTemplate, Template, constant};
use crate::document::framing::LinkCells;
use crate::document::quantities::SpanText;
use crate::document::wire::{Delay, Jitter, UniformJitter};

pub(super) const KIND: LinkTemplate = LinkTemplate {
    name: "docsis",
    text: "The upstream of a cable modem: a request waits for the next MAP, and its grant is two \
           MAPs later. Packets stay in order. Left out: contention, piggybacking, and the bursts \
           of a grant. The wait is on the wire, so an AQM does not see it; RFC 8034's does.",
    sources: "MAP interval, processing and burst preparation: docsis-ns3",
    takes_rate: true,
    generate,
};

const MAP_US: u64 = 2_000;
const MAP_PROCESSING_US: u64 = 200;
const BURST_PREPARATION_US: u64 = 135;

fn generate(template: &Template, _: Span) -> Generated {
    let least = Span::from_micros(2 * MAP_US + MAP_PROCESSING_US + BURST_PREPARATION_US);
    let until_map = UniformJitter { max: SpanText(Span::from_micros(MAP_US)), reorder: false };
    Generated {
        rate: constant(template.line()),
        delay: Some(Delay::Constant(SpanText(least))),
        jitter: Some(Jitter::Uniform(until_map)),
        framing: None,
        cells: LinkCells::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_between_two_and_three_map_intervals() {
        let template = Template::parse("docsis:rate=20mbit").unwrap();
        let found = generate(&template, Span::from_secs(1));
        let least = found.delay.unwrap().least();
        let Some(Jitter::Uniform(jitter)) = found.jitter else { panic!("uniform") };
        assert_eq!([least, least + jitter.max.0], [4_335, 6_335].map(Span::from_micros));
    }
}
