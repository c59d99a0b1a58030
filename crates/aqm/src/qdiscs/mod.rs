//! The disciplines, one file each: how queues are arranged around laws.

pub mod cake;
pub mod choke;
pub mod dualpi2;
pub mod fifo;
mod flows;
pub mod fq;
mod line;
mod linux_red;
mod pool;
mod queue;
mod rota;
pub mod sfb;
pub mod sfq;
