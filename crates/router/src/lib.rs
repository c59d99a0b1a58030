//! Sojourn on real packets: a router in user space that runs any AQM of the registry between two
//! TUN devices, traffic programs over the kernel's TCP and UDP, packet captures, and the first
//! process of a guest, which combines them with the kernel's own queueing disciplines.
//!
//! Read [`plan`] first: it defines a run on real hosts. [`planning`] builds a plan from a scenario,
//! [`tc`] translates AQMs for the kernel, [`host`] carries the plan out, and [`collect`] turns the
//! captures into the result tables. [`forwarding`] is the router itself, without devices or a
//! clock; [`ns3`] plans runs of the simulator ns-3, whose results [`collect`] counts too; [`live`]
//! runs the router in real time for packets of any program.

#![warn(unreachable_pub)]

pub mod captures;
pub mod collect;
pub mod forwarding;
pub mod header;
pub mod laws;
pub mod ns3;
pub mod plan;
pub mod planning;
pub mod run_files;
pub mod tc;
mod tcp_header;

#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
mod traffic;
