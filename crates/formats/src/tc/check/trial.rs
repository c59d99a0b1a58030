//! Two small scenarios: a line with its present set-up, and with the remedy.

use sojourn_aqm::Framing;

use super::super::scheduler_toml::packing;
use super::super::shaped::ShapedLine;
use super::super::units::{show_rate, show_time};
use super::TcCircumstances;

/// A set-up and its remedy as scenarios.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcTrial {
    /// The scenario before, in TOML.
    pub before: String,
    /// The scenario with the remedy.
    pub after: String,
    /// A description of the model.
    pub model: String,
}

/// A queue on the path.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    bps: u64,
    framing: Framing,
    queue: String,
}

impl Hop {
    pub(super) fn new(bps: u64, framing: Framing, queue: &str) -> Hop {
        Hop { bps, framing, queue: queue.to_owned() }
    }

    /// A shaper that counts packets as the line's shaper does. Cake adds its overhead itself.
    pub(super) fn shaper(line: &ShapedLine, bps: u64, queue: &str) -> Hop {
        let is_of_cake = line.overhead.as_ref().is_some_and(|it| it.from_ip);
        let is_added = is_of_cake && queue.starts_with("cake");
        Hop::new(bps, if is_added { Framing::NONE } else { line.counted() }, queue)
    }

    /// A modem, or a device without an AQM: a queue of 1000 packets.
    pub(super) fn modem(bps: u64, framing: Framing) -> Hop {
        Hop::new(bps, framing, "taildrop:limit=1000p")
    }
}

/// Two scenarios of the same traffic.
pub(super) fn trial(
    before: &[Hop],
    after: &[Hop],
    given: TcCircumstances,
    model: &str,
) -> Option<TcTrial> {
    with_ecn(before, after, given, model, false)
}

/// Two scenarios; `None` if a shaper counts packets as smaller than they are, which no link does.
pub(super) fn with_ecn(
    before: &[Hop],
    after: &[Hop],
    given: TcCircumstances,
    model: &str,
    ecn: bool,
) -> Option<TcTrial> {
    if before.iter().chain(after).any(|it| it.framing.overhead < 0) {
        return None;
    }
    Some(TcTrial {
        before: toml(before, given, ecn),
        after: toml(after, given, ecn),
        model: model.to_owned(),
    })
}

fn toml(hops: &[Hop], given: TcCircumstances, ecn: bool) -> String {
    let names = ["shaper", "modem"];
    let mut text = String::from("name = \"check\"\nduration = \"40s\"\nwarmup = \"10s\"\n\n");
    // A single queue gets the name of the last hop, so that tables of both scenarios agree.
    let used = &names[names.len() - hops.len().min(names.len())..];
    for (name, hop) in used.iter().zip(hops) {
        text.push_str(&format!(
            "[links.{name}]\nrate = \"{}\"\nframing = \"{}B\"\n",
            show_rate(hop.bps),
            hop.framing.overhead
        ));
        packing(hop.framing.packing).for_each(|it| text.push_str(&format!("{it}\n")));
        text.push_str(&format!("queue = \"{}\"\n\n", hop.queue));
    }
    let path = used.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let rtt = show_time(given.rtt_ns);
    text + &format!(
        "[[flows]]\nname = \"bulk\"\ncount = {}\npath = [{path}]\nrtt = \"{rtt}\"\necn = {ecn}\n\
         start = \"0s..1s\"\napp = {{ kind = \"bulk\" }}\n\n\
         [[flows]]\nname = \"call\"\npath = [{path}]\nrtt = \"{rtt}\"\n\
         app = {{ kind = \"voice\", codec = \"g711\" }}\n",
        given.load
    )
}
