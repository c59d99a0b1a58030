//! Transport libraries, by the texts that callers write.

use sojourn_aqm::params::SpecText;
use sojourn_endpoint::ConfiguredStack;

use crate::errors::Refusal;

/// The libraries that are compiled in.
const KNOWN: &[&str] = if cfg!(feature = "quinn") { &["quinn"] } else { &[] };

/// The library for a transport, such as `quinn:cc=bbr` for `quic`.
pub fn configured(transport: &str, text: &str) -> Result<ConfiguredStack, Refusal> {
    let refused = |why: String| Refusal::new(format!("endpoint[{transport}]"), why);
    let spec = SpecText::parse(text).map_err(|error| refused(error.message))?;
    if let Some(dialect) = &spec.dialect {
        return Err(refused(format!("{} has no dialects; leave `@{dialect}` out", spec.kind)));
    }
    match spec.kind.as_str() {
        #[cfg(feature = "quinn")]
        "quinn" => quinn(&spec).map_err(refused),
        kind if KNOWN.is_empty() => Err(refused(format!(
            "`{kind}` is not compiled in; build with `maturin develop --features quinn`"
        ))),
        kind => Err(refused(format!(
            "there is no transport library `{kind}`; known: {}",
            KNOWN.join(", ")
        ))),
    }
}

#[cfg(feature = "quinn")]
fn quinn(spec: &SpecText) -> Result<ConfiguredStack, String> {
    use std::sync::Arc;

    use sojourn_endpoint_quinn::{Quinn, QuinnSettings};

    let settings = spec.settings.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let quinn = Quinn::new(QuinnSettings::parse(settings)?);
    Ok(ConfiguredStack::new(Arc::new(quinn)))
}
