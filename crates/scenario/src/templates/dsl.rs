//! DSL: VDSL2 with packet transfer mode (PTM), and ADSL with ATM.

use sojourn_aqm::Span;

use super::{Generated, LinkTemplate, Template, constant};
use crate::document::framing::LinkCells;
use crate::document::quantities::SizeText;

pub(super) const VDSL: LinkTemplate = LinkTemplate {
    name: "vdsl",
    text: "A VDSL2 line that synchronised at `rate`, with Ethernet over PTM: 22 B for each packet, \
           and one for every 64. Left out: interleaving, retransmission (G.INP), PPPoE.",
    sources: "64/65-octet encapsulation: IEEE 802.3 §61.3.3; 22 B: tc-cake(8), `bridged-ptm`",
    takes: &["rate"],
    needs_rate: true,
    generate: vdsl,
};

pub(super) const ADSL: LinkTemplate = LinkTemplate {
    name: "adsl",
    text: "An ADSL line that synchronised at `rate`, with PPPoE over ATM (LLC): 40 B for each \
           packet, in cells of 53 B that carry 48. Left out: interleaving.",
    sources: "AAL5 cells: ITU-T I.363.5; 40 B: tc-cake(8), `pppoe-llcsnap`",
    takes: &["rate"],
    needs_rate: true,
    generate: adsl,
};

/// Ethernet header 14 B, FCS 4 B; PTM's start and end of a frame and its CRC are 1, 1 and 2 B.
const PTM_BYTES: u64 = 22;
/// PPP 2 B, PPPoE 6 B, Ethernet header 14 B without FCS, padding 2 B, LLC and SNAP 8 B, and the
/// trailer of AAL5, 8 B (`pppoe-llcsnap`).
const LLC_BYTES: u64 = 40;

fn vdsl(template: &Template, _: Span) -> Result<Generated, String> {
    Ok(of_line(template, PTM_BYTES, LinkCells::Ptm))
}

fn adsl(template: &Template, _: Span) -> Result<Generated, String> {
    Ok(of_line(template, LLC_BYTES, LinkCells::Atm))
}

fn of_line(template: &Template, framing_bytes: u64, cells: LinkCells) -> Generated {
    let framing = Some(SizeText(framing_bytes));
    Generated { framing, cells, ..Generated::at(constant(template.line())) }
}
