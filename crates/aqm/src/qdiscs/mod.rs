//! The disciplines, one file each: how queues are arranged around laws.

pub mod fifo;
pub mod fq;
mod queue;
mod rota;
