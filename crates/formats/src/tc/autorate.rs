//! cake-autorate's `config.*.sh`, which changes the rate of a cake that is already there
//! (cake-autorate 3.3: defaults.sh, cake-autorate.sh).

use super::commands;
use super::script;
use super::tree::{TcNoteKind, TcSetup, TcSource};
use crate::FormatError;

/// One direction: its interface and the default of that, and the defaults of its lowest, base and
/// highest rate in kbit/s.
struct Direction {
    name: &'static str,
    interface: &'static str,
    rates: [i64; 3],
}

const UP: Direction = Direction { name: "ul", interface: "wan", rates: [5000, 20_000, 35_000] };
const DOWN: Direction =
    Direction { name: "dl", interface: "ifb-wan", rates: [5000, 20_000, 80_000] };

/// Whether a text assigns one of the program's rates.
pub(super) fn is_config(line: &str) -> bool {
    let name = line.split('=').next().unwrap_or("");
    name.ends_with("_shaper_rate_kbps") && line.contains('=')
}

/// The base rates as cakes, and notes about what the program changes and does not set.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let lines: Vec<&str> = text.lines().map(|it| commands::without_prompt(it).trim()).collect();
    let mut notes: Vec<(usize, String)> = Vec::new();
    let mut script = String::new();
    let up = value(&lines, "ul_if").map_or(UP.interface, |it| it.1).to_owned();
    for direction in [UP, DOWN] {
        let name = direction.name;
        let (line, device) =
            value(&lines, &format!("{name}_if")).unwrap_or((1, direction.interface));
        let (at, adjusts) =
            value(&lines, &format!("adjust_{name}_shaper_rate")).unwrap_or((1, "1"));
        if adjusts == "0" {
            notes.push((
                at,
                format!(
                    "cake-autorate does not change the rate of {device}, so its rate is not in the \
                 text: paste what `tc -d qdisc show` prints"
                ),
            ));
            continue;
        }
        let mut rates = direction.rates;
        for (rate, which) in rates.iter_mut().zip(["min", "base", "max"]) {
            let found = value(&lines, &format!("{which}_{name}_shaper_rate_kbps"));
            let Some((line, text)) = found else { continue };
            *rate = text.parse().ok().filter(|it| *it > 0).ok_or_else(|| {
                let message = format!("`{text}` is not a rate in kbit/s, such as 20000");
                FormatError::at(line, message)
            })?;
        }
        let [low, base, high] = rates;
        if name == "dl" {
            script += &format!(
                "tc qdisc add dev {up} handle ffff: ingress\n\
                 tc filter add dev {up} parent ffff: matchall action mirred egress redirect dev \
                 {device}\n"
            );
        }
        script += &format!("tc qdisc add dev {device} root cake bandwidth {base}kbit\n");
        notes.push((line, format!(
            "cake-autorate changes the rate of {device} between {low} and {high} kbit/s while it \
             runs: its base rate is taken"
        )));
        notes.push((line, format!(
            "the options of cake on {device}, which SQM or a script sets: tc's defaults are taken"
        )));
    }
    if script.is_empty() {
        return Err(FormatError::whole(
            "cake-autorate changes no rate here (adjust_dl_shaper_rate and adjust_ul_shaper_rate \
             are 0): paste what `tc -d qdisc show` prints",
        ));
    }
    let mut setup = script::read(&script)?;
    setup.source = TcSource::Uci;
    setup.notes.clear();
    for (line, text) in notes {
        setup.note(TcNoteKind::Unknown, line, text);
    }
    setup.qdiscs.iter_mut().for_each(|it| it.line = 1);
    Ok(setup)
}

/// The last value of a variable, and its line.
fn value<'t>(lines: &[&'t str], name: &str) -> Option<(usize, &'t str)> {
    let found = lines.iter().enumerate().rev().find_map(|(index, line)| {
        let (known, value) = line.split_once('=')?;
        (known == name).then_some((index + 1, value))
    });
    let (line, value) = found?;
    let value = value.split('#').next().unwrap_or("").trim();
    Some((line, value.trim_matches(['"', '\''])))
}
