//! The settings of the library.

use std::fmt;

use sojourn_aqm::{Span, units};

/// The settings of both ends.
#[derive(Clone, PartialEq, Debug)]
pub struct Str0mSettings {
    /// The share of the estimate that the frames take.
    pub share: f64,
    /// How long a complete frame waits for earlier ones.
    pub wait: Span,
}

impl Default for Str0mSettings {
    /// Our choices: room for headers and retransmissions, and a freeze that users tolerate.
    fn default() -> Str0mSettings {
        Str0mSettings { share: 0.85, wait: Span::from_millis(500) }
    }
}

impl Str0mSettings {
    /// Settings from texts such as `share` and `0.7`.
    ///
    /// # Errors
    /// A setting that does not exist, or a value that is out of its range.
    pub fn parse<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Str0mSettings, String> {
        let mut parsed = Str0mSettings::default();
        for (key, value) in settings {
            match key {
                "share" => parsed.share = share(value)?,
                "wait" => {
                    parsed.wait = units::span(value).map_err(|error| format!("wait: {error}"))?;
                }
                _ => return Err(format!("str0m has no setting `{key}`; known: share, wait")),
            }
        }
        Ok(parsed)
    }
}

fn share(value: &str) -> Result<f64, String> {
    let share = units::number(value).map_err(|error| format!("share: {error}"))?;
    match 0.0 < share && share <= 1.0 {
        true => Ok(share),
        false => Err(format!("share={value}: write a share of the estimate, above 0 and up to 1")),
    }
}

impl fmt::Display for Str0mSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "share={}, wait={}", self.share, self.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_exist_are_refused() {
        let parsed = Str0mSettings::parse([("share", "0.7"), ("wait", "1s")]);
        assert_eq!(parsed, Ok(Str0mSettings { share: 0.7, wait: Span::from_secs(1) }));
        for (setting, sentence) in [
            (("share", "0"), "share=0: write a share of the estimate, above 0 and up to 1"),
            (("share", "1.1"), "share=1.1: write a share"),
            (("share", "much"), "share: "),
            (("wait", "500"), "wait: "),
            (("cc", "gcc"), "str0m has no setting `cc`; known: share, wait"),
        ] {
            let message = Str0mSettings::parse([setting]).expect_err("it is refused");
            assert!(message.contains(sentence), "{message}");
        }
    }
}
