//! The words of Sojourn: the typed scenario. Pure data; no file is opened here.
//!
//! A scenario is written as TOML or JSON, [`Document`], word by word what stands in the file.
//! [`Scenario::load`] reads it, checks it and fills in every default; what comes out, [`Resolved`],
//! is all that engines read.
//!
//! ```
//! use sojourn_scenario::{Scenario, Source};
//!
//! let text = r#"
//!     name = "demo"
//!     duration = "10s"
//!     [links.bottleneck]
//!     rate = "10mbit"
//!     delay = "48ms"
//!     buffer = "1bdp"
//!     [[flows]]
//!     path = ["bottleneck"]
//!     rtt = "100ms"
//!     app = { kind = "bulk" }
//! "#;
//! let no_traces = |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let scenario = Scenario::load(text, &Source::default(), &no_traces).unwrap();
//! assert_eq!(scenario.resolved().links[0].limit.to_string(), "125kB");
//! ```

pub mod apps;
mod carried;
pub mod choice;
pub mod document;
pub mod draw;
pub mod engines;
mod error;
mod explain;
pub mod flows;
pub mod json;
pub mod kinds;
mod overrides;
pub mod paths;
mod plain;
mod replay;
mod resolve;
pub mod resolved;
mod scenario;
pub mod schema;
pub mod sizes;
pub mod stacks;
mod strict;
pub mod text;
mod trace;
mod tree;
pub mod wlan;

pub use document::Document;
pub use error::{ErrorKind, ScenarioError};
pub use resolve::{ReadTrace, resolve};
pub use resolved::Resolved;
pub use scenario::{EngineCheck, Format, Scenario, Source};
pub use schema::schema_json;
pub use wlan::OfdmRate;
