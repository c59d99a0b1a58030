//! quinn, whose BBR seeds itself from the system's random numbers: repeatable in processes, where
//! these are the simulator's.
//!
//! ```text
//! sojourn build examples/endpoints/quinn-process
//! sojourn check process:examples/endpoints/quinn-process/libquinn_process.so:cc=bbr
//! ```

use sojourn_aqm::Time;
use sojourn_endpoint::{Carries, Endpoint, HostSettings, Stack};
use sojourn_endpoint_c::export::FromSettings;
use sojourn_endpoint_c::export_stack;
use sojourn_endpoint_quinn::{Quinn, QuinnSettings};

/// quinn with its settings.
#[derive(Debug)]
pub struct QuinnProcess(Quinn);

impl FromSettings for QuinnProcess {
    fn from_settings(settings: &[(&str, &str)]) -> Result<QuinnProcess, String> {
        let settings = QuinnSettings::parse(settings.iter().copied())?;
        Ok(QuinnProcess(Quinn::new(settings)))
    }
}

impl Stack for QuinnProcess {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn carries(&self) -> Carries {
        self.0.carries()
    }

    fn has_ecn(&self) -> bool {
        self.0.has_ecn()
    }

    fn has_streams(&self) -> bool {
        self.0.has_streams()
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        None
    }

    fn open(&self, host: HostSettings, now: Time) -> Result<Box<dyn Endpoint>, String> {
        self.0.open(host, now)
    }
}

export_stack!(QuinnProcess);
