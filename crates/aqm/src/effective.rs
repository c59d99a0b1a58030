//! The parameter values that an AQM uses on a link: those that replace given values, and those that
//! fill in `auto`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::params::{Bytes, OrAuto, Quantity};

/// One value that an AQM works with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effective {
    /// The parameter, or a name for a value that has no parameter.
    pub name: &'static str,
    /// The part of the discipline that uses the value, such as `tin 1`; empty for the whole
    /// discipline.
    pub part: String,
    /// The value, as text.
    pub value: String,
    /// The given value that it replaces; `None` if the parameter was left open.
    pub replaces: Option<String>,
    /// The parameter that caused the change; empty if the cause is `name` itself.
    pub cause: &'static str,
}

impl Effective {
    /// A value that was left open.
    pub fn filled(name: &'static str, value: impl fmt::Display) -> Effective {
        let value = value.to_string();
        Effective { name, part: String::new(), value, replaces: None, cause: "" }
    }

    /// The size of the largest packet, if a number of bytes is `auto`.
    pub(crate) fn of_mtu(
        name: &'static str,
        set: OrAuto<Bytes>,
        mtu_bytes: u32,
    ) -> Option<Effective> {
        let mtu = Bytes(u64::from(mtu_bytes));
        set.0.is_none().then(|| Effective::filled(name, mtu.show()))
    }

    /// A value that replaces the parameter's.
    pub fn instead<T: Quantity + PartialEq>(
        name: &'static str,
        given: T,
        value: T,
        cause: &'static str,
    ) -> Effective {
        let replaces = (given != value).then(|| given.show());
        Effective { replaces, cause, ..Effective::filled(name, value.show()) }
    }

    /// The same value, for one part of the discipline.
    pub fn of(self, part: &str) -> Effective {
        Effective { part: part.to_owned(), ..self }
    }
}

impl fmt::Display for Effective {
    /// `Bulk target 29.064ms in place of 5ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part.as_str() {
            "" => String::new(),
            part => format!("{part} "),
        };
        write!(f, "{part}{} {}", self.name, self.value)?;
        match &self.replaces {
            Some(given) => write!(f, " in place of {given}"),
            None => Ok(()),
        }
    }
}

/// A number with four significant digits.
pub(crate) fn digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let size = libm::floor(libm::log10(libm::fabs(x))) as i32;
    let decimals = (3 - size).clamp(0, 12) as usize;
    let text = format!("{x:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;
    use crate::registry::{QdiscSpec, effective};
    use crate::time::Rate;
    use crate::{Env, Limit};

    fn values(text: &str, mbit: u64) -> Vec<String> {
        let rate = Some(Rate::from_bps(mbit * 1_000_000));
        let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1514, rate, salt: 0 };
        let spec = QdiscSpec::parse(text).unwrap();
        effective(&spec, &env).unwrap().iter().map(ToString::to_string).collect()
    }

    fn has(text: &str, mbit: u64, expected: &[&str]) {
        let found = values(text, mbit);
        for value in expected {
            assert!(found.iter().any(|it| it == value), "{text}: {value} not in {found:?}");
        }
    }

    /// Linux 6.1 sch_cake.c, cake_set_rate: 1.5 times 1514 bytes at 831 kbit/s are 21.86 ms. The
    /// figures of diffserv3 at 10 Mbit/s match those in users' posts: 29.1, 124.1 and 7.3 ms.
    #[test]
    fn cake_lengthens_the_target_of_a_slow_tin() {
        has(
            "cake:bandwidth=831kbit",
            1,
            &[
                "target 21.862815ms in place of 5ms",
                "interval 116.862815ms in place of 100ms",
                "quantum 300B",
                "limit 4194304B",
            ],
        );
        has(
            "cake:bandwidth=10mbit,diffserv=diffserv3",
            10,
            &[
                "Bulk threshold 625kbit",
                "Bulk target 29.0688ms in place of 5ms",
                "Bulk interval 124.0688ms in place of 100ms",
                "Best Effort target 5ms",
                "Voice target 7.2672ms in place of 5ms",
                "Voice interval 102.2672ms in place of 100ms",
            ],
        );
        has("cake", 10, &["target 5ms", "quantum 1514B"]);
    }

    #[test]
    fn what_is_automatic_is_filled_in() {
        has("fq_codel@linux", 10, &["linux 7.2.13", "quantum 1514B", "mtu_bytes 1514B"]);
        has("cake@linux-6.1", 10, &["linux 6.1.192"]);
        has("pie@linux:hz=250", 10, &["tupdate 20ms in place of 15ms", "mtu_bytes 1514B"]);
        has("codel@linux", 10, &["target 4.999168ms in place of 5ms"]);
        has("red@linux:limit=400kB", 10, &["max_th 100kB", "min_th 33333B"]);
        has("choke", 10, &["max_th 250p", "min_th 83p"]);
        has("red:min_th=5p,max_th=15p", 10, &["mean_packet_bytes 1514B"]);
        assert!(!values("ared", 10).is_empty());
        assert!(!values("sfq_red", 10).is_empty());
        assert!(!values("dualpi2@linux:alpha=0.1hz", 10).is_empty());
    }

    #[test]
    fn numbers_keep_four_digits() {
        let texts = [0.0, 0.002, 0.001_953_125, 12_345.6, 5.0].map(digits);
        assert_eq!(texts, ["0", "0.002", "0.001953", "12346", "5"]);
    }
}
