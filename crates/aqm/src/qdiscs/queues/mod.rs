//! Building blocks of disciplines: queues with and without a law, and lists of active queues.

pub(crate) mod drr_lists;
pub(crate) mod flow_queues;
pub(crate) mod law_queue;
pub(crate) mod packet_fifo;
pub(crate) mod pool;
pub(crate) mod total;
