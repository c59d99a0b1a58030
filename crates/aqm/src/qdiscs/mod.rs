//! The disciplines, one file or folder each: how queues are arranged around laws.

pub mod cake;
pub mod choke;
pub mod classes;
pub mod dualpi2;
#[cfg(not(target_arch = "wasm32"))]
pub mod fair_queue;
pub mod fifo;
pub mod fq;
mod queues;
pub mod sfb;
pub mod sfq;
mod unmarked;
