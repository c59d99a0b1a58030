//! The bands of fq: lists of numbers in tc, several parameters here.

use sojourn_aqm::units;

use super::tree::{TcQdisc, TcValue};

/// Parameters and their values.
pub(super) type Settings = Vec<(&'static str, String)>;

/// The parameters of fq that become two lists of numbers.
pub(super) const OF_BANDS: [&str; 4] = ["priomap", "weight0", "weight1", "weight2"];
/// The first kernel that has them, among those compared.
const HAVE_BANDS: (u32, u32) = (6, 12);

/// The parameters for the lists of numbers that fq has.
pub(super) fn settings(qdisc: &TcQdisc) -> Vec<(String, String)> {
    let numbers = |name: &str| match qdisc.option(name).map(|it| &it.value) {
        Some(TcValue::Text(text)) if qdisc.kind == "fq" => text.split(' ').collect(),
        _ => Vec::new(),
    };
    let map = numbers("priomap").concat();
    let weights = numbers("weights").into_iter().enumerate();
    let mut all: Vec<(String, String)> =
        weights.map(|(band, bytes)| (format!("weight{band}"), format!("{bytes}B"))).collect();
    all.extend((!map.is_empty()).then(|| ("priomap".to_owned(), map)));
    all
}

/// The map and the weights of fq's bands, if they are not the kernel's.
pub(super) fn words(
    base: &Settings,
    settings: &Settings,
    kernel: Option<(u32, u32)>,
) -> Result<Vec<String>, String> {
    let of = |name: &str| settings.iter().find(|it| it.0 == name).map_or("0", |it| it.1.as_str());
    let differs =
        |names: &[&str]| settings.iter().any(|it| names.contains(&it.0) && !base.contains(it));
    let (map, weights) = OF_BANDS.split_at(1);
    if differs(&OF_BANDS)
        && let Some((major, minor)) = kernel.filter(|kernel| *kernel < HAVE_BANDS)
    {
        let why = "has no bands; leave out `priomap` and the weights";
        return Err(format!("fq of Linux {major}.{minor} {why}"));
    }
    let mut words = Vec::new();
    if differs(map) {
        words.extend(["bands", "3", "priomap"].map(str::to_owned));
        let digits = format!("{:016}", units::whole(of("priomap"))?);
        words.extend(digits.chars().map(String::from));
    }
    if differs(weights) {
        words.push("weights".to_owned());
        for name in weights {
            words.push(units::bytes(of(name))?.to_string());
        }
    }
    Ok(words)
}
