//! The scenario: its keys, and how it is parsed, checked and resolved. This crate opens no file.
//!
//! A scenario is written in TOML or JSON. [`Scenario::load`] parses it to a [`Document`], which has
//! the keys of the file, checks it, and fills in every default. Engines read only the result,
//! [`Resolved`].
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

pub mod aqms;
mod base;
pub mod document;
pub mod draw;
mod error;
mod parse;
mod recorded;
mod resolve;
pub mod resolved;
mod scenario;
mod schema;
pub mod templates;
mod topology;
mod wlan_errors;
pub mod wlan_timing;

pub use self::base::ScenarioBase;
pub use self::document::Document;
pub use self::error::{ErrorKind, ScenarioError};
pub use self::parse::{Format, Source, line_of};
pub use self::resolve::{NEED_ECN, ReadFile, resolve};
pub use self::resolved::Resolved;
pub use self::scenario::{EngineCheck, Scenario};
pub use self::schema::schema_json;
