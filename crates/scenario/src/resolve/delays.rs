//! Propagation delays outside the links, derived from the base RTT or given by the access links.

use sojourn_aqm::Span;

use super::{Checked, refuse};
use crate::document::Document;
use crate::document::flows;
use crate::document::flows::Access;

/// Propagation delays outside the links.
pub(super) struct Delays {
    /// From sender to the first link.
    pub(super) access: Span,
    /// From the last link to the receiver.
    pub(super) egress: Span,
    /// From the receiver to the first reverse link, or to the sender if there are no reverse links.
    pub(super) back: Span,
    /// From the last reverse link to the sender; zero if there are no reverse links.
    pub(super) back_egress: Span,
    /// The sum of these and of the links' delays.
    pub(super) rtt: Span,
}

/// The delays of a group: those of `access`, or quarters of `rtt` minus the delays of the links.
pub(super) fn of(place: &str, written: &flows::FlowGroup, doc: &Document) -> Checked<Delays> {
    let place_of_rtt = format!("{place}.rtt");
    if written.rtt.is_some_and(|rtt| rtt.0 == Span::ZERO) {
        return refuse(&place_of_rtt, "must be positive");
    }
    let sum = |names: &[String]| {
        names.iter().map(|name| doc.links[name].delay.least()).fold(Span::ZERO, |a, b| a + b)
    };
    let links = Links {
        forward: sum(&written.path),
        reverse: sum(&written.reverse),
        has_reverse: !written.reverse.is_empty(),
    };
    match (&written.access, written.rtt) {
        (Some(access), rtt) => explicit(&place_of_rtt, access, rtt.map(|rtt| rtt.0), &links),
        (None, Some(rtt)) => split(&place_of_rtt, rtt.0, &links),
        (None, None) => refuse(
            &place_of_rtt,
            "this key is missing; write for example rtt = \"100ms\", or `access` with the delays \
             of both sides",
        ),
    }
}

/// The delays of the links of a group.
struct Links {
    forward: Span,
    reverse: Span,
    has_reverse: bool,
}

/// The delays of `access`. Without reverse links, the reverse path has the delays of the forward
/// links.
fn explicit(place: &str, access: &Access, rtt: Option<Span>, links: &Links) -> Checked<Delays> {
    let (sender, receiver) = (access.sender.0, access.receiver.0);
    let sender_back = access.sender_back.unwrap_or(access.sender).0;
    let receiver_back = access.receiver_back.unwrap_or(access.receiver).0;
    let (back, back_egress, on_links) = match links.has_reverse {
        true => (receiver_back, sender_back, links.forward + links.reverse),
        false => {
            (receiver_back + links.forward + sender_back, Span::ZERO, links.forward + links.forward)
        }
    };
    let sum = on_links + sender + receiver + sender_back + receiver_back;
    if rtt.is_some_and(|rtt| rtt != sum) {
        let rtt = rtt.unwrap_or_default();
        let message =
            format!("{rtt} is not the {sum} that links and `access` delay there and back");
        return refuse(place, message + "; leave the rtt out, or correct one of the two");
    }
    if sum == Span::ZERO {
        let message = "links and `access` delay nothing; a round trip takes time, so give the link \
                       or `access` a delay";
        return refuse(place, message);
    }
    Ok(Delays { access: sender, egress: receiver, back, back_egress, rtt: sum })
}

/// Splits the base RTT minus the delays of the links into quarters: sender's side and receiver's
/// side, in both directions. Equal parts are our choice; they match the access links of the papers'
/// dumbbells (fact scenario-7). Without reverse links, the reverse path has the delays of the
/// forward links, as far as the RTT allows.
fn split(place: &str, rtt: Span, links: &Links) -> Checked<Delays> {
    let on_links = links.forward + links.reverse;
    if on_links > rtt {
        let message = format!("{rtt} is shorter than the {on_links} that the links alone delay");
        return refuse(place, message + "; raise the rtt or lower the delays");
    }
    let mirrored = links.forward.as_nanos().min((rtt - links.forward).as_nanos());
    let mirrored = if links.has_reverse { Span::ZERO } else { Span::from_nanos(mirrored) };
    let rest = rtt - on_links - mirrored;
    let quarter = Span::from_nanos(rest.as_nanos() / 4);
    let last = rest - quarter.times(3);
    let (back, back_egress) = match links.has_reverse {
        true => (quarter, last),
        false => (mirrored + quarter + last, Span::ZERO),
    };
    Ok(Delays { access: quarter, egress: quarter, back, back_egress, rtt })
}
