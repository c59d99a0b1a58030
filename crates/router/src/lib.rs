//! The street of Sojourn: real packets. A router in user space that runs any AQM of the registry between
//! two TUN devices, traffic programs, a recorder, and the first process of a guest that puts them together
//! with the kernel's own TCP and queueing disciplines.
//!
//! Read [`plan`] first: it says what a run on real hosts consists of. [`planning`] makes it from a
//! scenario, [`tc`] translates AQMs, [`host`] carries it out, [`replay`] turns what was recorded into the
//! tables of results.

pub mod chronicle;
pub mod header;
pub mod line;
pub mod plan;
pub mod planning;
pub mod record_files;
pub mod replay;
pub mod seen;
pub mod street;
pub mod tc;
pub mod wire;

#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
pub mod traffic;
#[cfg(target_os = "linux")]
mod tun;
