//! Components shared by two or more laws.

pub mod accumulator;
pub mod departure_rate;
pub mod dequeue_time;
pub mod dummynet;
pub mod gains;
pub mod idle_table;
pub(crate) mod linux_red;
pub mod periodic;
pub mod tc_weight;
