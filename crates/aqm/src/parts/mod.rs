//! The parts that laws are made of: what two or more of them share.

pub mod accumulator;
pub mod departure_rate;
pub mod dequeue_time;
pub mod gains;
pub mod idle_table;
pub(crate) mod linux_red;
pub mod periodic;
pub mod tc_weight;
