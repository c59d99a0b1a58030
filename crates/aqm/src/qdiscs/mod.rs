//! The disciplines, one file each: how queues are arranged around laws.

pub mod fifo;
