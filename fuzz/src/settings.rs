//! Descriptions of AQMs with odd but well-formed values: every entry, dialect and parameter can
//! occur.

use std::sync::LazyLock;

use bolero::TypeGenerator;
use sojourn_aqm::params::{ParamSpec, ValueKind};
use sojourn_aqm::registry;
use sojourn_aqm::{Limit, QdiscSpec};
use sojourn_scenario::aqms::AqmInfo;

/// The description of an AQM to build.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Settings {
    kind: u16,
    limit: u8,
    count: u8,
    values: Vec<(u8, u16)>,
}

/// Every AQM in every dialect, laws also under flow queues.
static KINDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let of = |aqm: AqmInfo| {
        let named = aqm.dialects.iter().map(|d| format!("{}@{}", aqm.name, d.name));
        let named: Vec<String> = named.collect();
        let below = named.iter().filter(|_| aqm.is_law).map(|name| format!("fq({name})"));
        below.chain(named.clone()).collect::<Vec<String>>()
    };
    AqmInfo::all().into_iter().flat_map(of).collect()
});

impl Settings {
    /// The description with its limit, unless it is refused.
    pub fn spec(&self) -> Option<(QdiscSpec, Limit)> {
        let limits = ["1p", "2p", "7p", "100p", "5000p", "64B", "1514B", "20kB", "1MB"];
        let limit = limits[usize::from(self.limit) % limits.len()];
        let kind = &KINDS[usize::from(self.kind) % KINDS.len()];
        let bare = QdiscSpec::parse(kind).expect("every entry stands alone");
        let law = registry::entry(&bare.law).expect("it is registered");
        let own = registry::discipline_params(bare.discipline);
        let params: Vec<&ParamSpec> = (law.params)().iter().chain(own).collect();
        let mut text = format!("{kind}:limit={limit}");
        let mut set = vec!["limit"];
        for &(which, value) in self.values.iter().take(usize::from(self.count % 4)) {
            let param = params[usize::from(which) % params.len()];
            if !set.contains(&param.name) {
                set.push(param.name);
                text += &format!(",{}={}", param.name, value_of(param, value));
            }
        }
        let limit = sojourn_aqm::units::limit(limit).expect("a limit");
        Some((QdiscSpec::parse(&text).ok()?, limit))
    }
}

/// A value of the right kind, of any size.
fn value_of(param: &ParamSpec, choice: u16) -> String {
    let words: Vec<&str> = param.absent.into_iter().chain(param.words.iter().copied()).collect();
    if !words.is_empty() && choice.is_multiple_of(4) {
        return words[usize::from(choice / 4) % words.len()].to_owned();
    }
    let power = 1u64 << (choice % 64);
    let real = f64::from(choice) / 1e4;
    match param.kind {
        // At least a microsecond: a timer of one nanosecond is legal but takes too long.
        ValueKind::Span => format!("{power}us", power = power >> 10),
        ValueKind::Hertz => format!("{}hz", real * real),
        ValueKind::Number => {
            [format!("{real}"), "1e-300".into(), "1e300".into()][choice as usize % 3].clone()
        }
        ValueKind::Whole => power.to_string(),
        ValueKind::Bytes => format!("{power}B"),
        ValueKind::SignedBytes if choice.is_multiple_of(2) => format!("-{power}B"),
        ValueKind::SignedBytes => format!("{power}B"),
        ValueKind::Limit => format!("{power}{}", if choice.is_multiple_of(2) { "p" } else { "B" }),
        ValueKind::Rate => format!("{power}bit"),
        ValueKind::Bool => choice.is_multiple_of(2).to_string(),
        ValueKind::Word => "no-such-word".to_owned(),
    }
}
