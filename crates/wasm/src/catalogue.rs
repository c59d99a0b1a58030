//! Every AQM with its parameters, for forms.

use serde_json::{Map, Value, json};
use sojourn_aqm::params::ParamSpec;
use sojourn_scenario::aqms::AqmInfo;

use crate::observed;

/// All AQMs, and the version.
pub(crate) fn all() -> Value {
    let aqms: Vec<Value> = AqmInfo::all().iter().map(aqm).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "aqms": aqms })
}

fn aqm(info: &AqmInfo) -> Value {
    let params: Vec<Value> = info.params().map(|spec| param(info, spec)).collect();
    let dialect = |(name, doc)| json!({ "name": name, "doc": doc });
    json!({
        "name": info.name,
        "doc": info.doc,
        "dialects": info.dialect_words().map(dialect).collect::<Vec<_>>(),
        "params": params,
        "vars": observed::vars(info.vars),
    })
}

/// A parameter: meaning, kind, rule, and for each dialect its default, the default's source, and
/// whether the parameter has an effect.
fn param(info: &AqmInfo, spec: &'static ParamSpec) -> Value {
    let (mut defaults, mut sources, mut idle) = (Map::new(), Map::new(), Vec::new());
    for (name, _) in info.dialect_words() {
        defaults.insert(name.to_owned(), info.default_of(name, spec.name).into());
        sources.insert(name.to_owned(), info.source_of(name, spec).into());
        if !info.has_effect(name, spec.name) {
            idle.push(name);
        }
    }
    json!({
        "name": spec.name,
        "doc": spec.doc.trim(),
        "kind": spec.kind.word(),
        "absent": spec.absent,
        "words": spec.words,
        "rule": spec.rule,
        "defaults": defaults,
        "sources": sources,
        "without_effect": idle,
    })
}
