//! The settings of the library.

use std::fmt;

use smoltcp::socket::tcp::CongestionControl;

/// One of smoltcp's congestion controls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TcpControl {
    /// CUBIC (RFC 9438), the default.
    #[default]
    Cubic,
    /// Reno (RFC 5681).
    Reno,
    /// No congestion control: only the receiver's window limits data in flight.
    None,
}

impl TcpControl {
    /// All of them.
    const ALL: [TcpControl; 3] = [TcpControl::Cubic, TcpControl::Reno, TcpControl::None];

    /// Its name.
    fn name(self) -> &'static str {
        match self {
            TcpControl::Cubic => "cubic",
            TcpControl::Reno => "reno",
            TcpControl::None => "none",
        }
    }

    /// The same in smoltcp's type.
    pub(crate) fn of_library(self) -> CongestionControl {
        match self {
            TcpControl::Cubic => CongestionControl::Cubic,
            TcpControl::Reno => CongestionControl::Reno,
            TcpControl::None => CongestionControl::None,
        }
    }
}

/// The settings of both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SmoltcpSettings {
    /// The congestion control.
    pub control: TcpControl,
    /// Bytes of the server's send buffer and of the client's receive buffer. Data in flight
    /// occupies both.
    pub buffer: usize,
}

/// The buffers that [`SmoltcpSettings::parse`] takes: smoltcp's limit is that of window scaling
/// (RFC 7323 §2.3).
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 10_000..=1 << 30;

impl Default for SmoltcpSettings {
    /// Room for 80 Mbit/s at 100 ms.
    fn default() -> SmoltcpSettings {
        SmoltcpSettings { control: TcpControl::default(), buffer: 1_000_000 }
    }
}

impl SmoltcpSettings {
    /// Settings from texts such as `cc` and `reno`.
    ///
    /// # Errors
    /// A setting that does not exist, or a value that is out of its range.
    pub fn parse<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<SmoltcpSettings, String> {
        let mut parsed = SmoltcpSettings::default();
        for (key, value) in settings {
            match key {
                "cc" => parsed.control = control(value)?,
                "buffer" => parsed.buffer = buffer(value)?,
                _ => return Err(format!("smoltcp has no setting `{key}`; known: cc, buffer")),
            }
        }
        Ok(parsed)
    }
}

fn control(value: &str) -> Result<TcpControl, String> {
    let named = TcpControl::ALL.into_iter().find(|control| control.name() == value);
    named.ok_or_else(|| {
        let known = TcpControl::ALL.map(TcpControl::name).join(", ");
        format!("cc={value}: smoltcp's congestion controls are {known}")
    })
}

/// A size with an SI unit, or bytes.
fn buffer(value: &str) -> Result<usize, String> {
    let read = sojourn_aqm::units::bytes(value);
    let bytes = read.map_err(|error| format!("buffer: {error}"))?;
    match BUFFER_BYTES.contains(&bytes) {
        true => Ok(bytes as usize),
        false => Err(format!("buffer={value}: write 10kB to 1073MB")),
    }
}

impl fmt::Display for SmoltcpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cc={}, buffer={}B", self.control.name(), self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_exist_are_refused() {
        let parsed = SmoltcpSettings::parse([("cc", "reno"), ("buffer", "2MB")]);
        assert_eq!(parsed, Ok(SmoltcpSettings { control: TcpControl::Reno, buffer: 2_000_000 }));
        for (setting, sentence) in [
            (("cc", "bbr"), "cc=bbr: smoltcp's congestion controls are cubic, reno, none"),
            (("sack", "1"), "smoltcp has no setting `sack`; known: cc, buffer"),
            (("buffer", "9kB"), "buffer=9kB: write 10kB to 1073MB"),
            (("buffer", "1074MB"), "write 10kB to 1073MB"),
            (("buffer", "much"), "buffer: "),
        ] {
            let message = SmoltcpSettings::parse([setting]).expect_err("it is refused");
            assert!(message.contains(sentence), "{message}");
        }
    }
}
