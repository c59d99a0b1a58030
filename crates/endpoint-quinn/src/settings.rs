//! The settings of the library.

use std::fmt;
use std::sync::Arc;

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn_proto::{MtuDiscoveryConfig, TransportConfig, VarInt};
use sojourn_endpoint::Carries;

/// One of quinn's congestion controls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Control {
    /// CUBIC, the default.
    #[default]
    Cubic,
    /// NewReno.
    NewReno,
    /// BBR, which its authors call experimental.
    Bbr,
}

impl Control {
    /// All of them.
    const ALL: [Control; 3] = [Control::Cubic, Control::NewReno, Control::Bbr];

    /// Its name.
    fn name(self) -> &'static str {
        match self {
            Control::Cubic => "cubic",
            Control::NewReno => "newreno",
            Control::Bbr => "bbr",
        }
    }
}

/// The settings of both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuinnSettings {
    /// The congestion control.
    pub control: Control,
    /// Bytes that the receiver grants to a stream.
    pub receive_window: u32,
}

/// quinn's MTU discovery ends at this payload (quinn-proto 0.11.19, src/config/transport.rs).
const LARGEST_PROBE: u32 = 1452;

impl Default for QuinnSettings {
    /// quinn's own: 12.5 MB/s for 100 ms (quinn-proto 0.11.19, src/config/transport.rs).
    fn default() -> QuinnSettings {
        QuinnSettings { control: Control::default(), receive_window: 1_250_000 }
    }
}

impl QuinnSettings {
    /// QuinnSettings from texts such as `cc` and `bbr`.
    ///
    /// # Errors
    /// A setting that does not exist, or a value that is out of its range.
    pub fn parse<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<QuinnSettings, String> {
        let mut parsed = QuinnSettings::default();
        for (key, value) in settings {
            match key {
                "cc" => parsed.control = control(value)?,
                "receive_window" => parsed.receive_window = bytes(value)?,
                _ => {
                    return Err(format!("quinn has no setting `{key}`; known: cc, receive_window"));
                }
            }
        }
        Ok(parsed)
    }

    /// quinn's configuration for a path that carries packets of `mtu` bytes.
    pub(crate) fn transport(&self, mtu: u32) -> TransportConfig {
        let mut transport = TransportConfig::default();
        match self.control {
            Control::Cubic => {
                transport.congestion_controller_factory(Arc::new(CubicConfig::default()))
            }
            Control::NewReno => {
                transport.congestion_controller_factory(Arc::new(NewRenoConfig::default()))
            }
            Control::Bbr => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
        };
        let mut discovery = MtuDiscoveryConfig::default();
        let largest = (mtu - Carries::UdpPayload.header_bytes()).min(LARGEST_PROBE);
        discovery.upper_bound(largest as u16);
        transport
            .mtu_discovery_config(Some(discovery))
            .stream_receive_window(VarInt::from_u32(self.receive_window))
            .enable_segmentation_offload(false);
        transport
    }
}

fn control(value: &str) -> Result<Control, String> {
    let named = Control::ALL.into_iter().find(|control| control.name() == value);
    named.ok_or_else(|| {
        let known = Control::ALL.map(Control::name).join(", ");
        format!("cc={value}: quinn's congestion controls are {known}")
    })
}

/// A size with an SI unit, or bytes.
fn bytes(value: &str) -> Result<u32, String> {
    let read = sojourn_aqm::units::bytes(value);
    let bytes = read.map_err(|error| format!("receive_window: {error}"))?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes >= 10_000 => Ok(bytes),
        _ => Err(format!("receive_window={value}: write 10kB to 4GB")),
    }
}

impl fmt::Display for QuinnSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cc={}, receive_window={}B", self.control.name(), self.receive_window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_exist_are_refused() {
        let parsed = QuinnSettings::parse([("cc", "bbr"), ("receive_window", "2MB")]);
        assert_eq!(parsed, Ok(QuinnSettings { control: Control::Bbr, receive_window: 2_000_000 }));
        for (setting, sentence) in [
            (("cc", "vegas"), "cc=vegas: quinn's congestion controls are cubic, newreno, bbr"),
            (("pace", "1"), "quinn has no setting `pace`"),
            (("receive_window", "1B"), "write 10kB to 4GB"),
            (("receive_window", "much"), "receive_window: "),
        ] {
            let message = QuinnSettings::parse([setting]).expect_err("it is refused");
            assert!(message.contains(sentence), "{message}");
        }
    }
}
