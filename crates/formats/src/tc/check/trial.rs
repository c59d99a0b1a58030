//! Two small scenarios: a line with its present set-up, and with the remedy.

use super::super::units::{show_rate, show_time};
use super::TcCircumstances;

/// A set-up and its remedy as scenarios.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcTrial {
    /// The scenario before, in TOML.
    pub before: String,
    /// The scenario with the remedy.
    pub after: String,
    /// A description of what they model.
    pub model: String,
}

/// A queue on the path.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub(super) bps: u64,
    pub(super) framing: u64,
    pub(super) queue: String,
}

impl Hop {
    pub(super) fn new(bps: u64, queue: &str) -> Hop {
        Hop { bps, framing: 14, queue: queue.to_owned() }
    }
}

/// Queues of a modem or of a device without an AQM: 1000 packets.
pub(super) const DUMB: &str = "taildrop:limit=1000p";

/// Two scenarios of the same traffic.
pub(super) fn trial(before: &[Hop], after: &[Hop], given: TcCircumstances, model: &str) -> TcTrial {
    with_ecn(before, after, given, model, false)
}

pub(super) fn with_ecn(
    before: &[Hop],
    after: &[Hop],
    given: TcCircumstances,
    model: &str,
    ecn: bool,
) -> TcTrial {
    TcTrial {
        before: toml(before, given, ecn),
        after: toml(after, given, ecn),
        model: model.to_owned(),
    }
}

fn toml(hops: &[Hop], given: TcCircumstances, ecn: bool) -> String {
    let names = ["shaper", "modem"];
    let mut text = String::from("name = \"check\"\nduration = \"40s\"\nwarmup = \"10s\"\n\n");
    // A single queue has the name of the last hop, so that tables of both scenarios agree.
    let used = &names[names.len() - hops.len().min(names.len())..];
    for (name, hop) in used.iter().zip(hops) {
        text.push_str(&format!(
            "[links.{name}]\nrate = \"{}\"\nframing = \"{}B\"\nqueue = \"{}\"\n\n",
            show_rate(hop.bps),
            hop.framing,
            hop.queue
        ));
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
