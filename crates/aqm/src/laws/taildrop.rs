//! Tail drop: a law without decisions. Only the queue's limit causes drops. The baseline of every
//! comparison.
//!
//! Source: Linux `sch_fifo.c`, `pfifo_enqueue`, `bfifo_enqueue` and `pfifo_tail_enqueue` (head
//! drop); RFC 7928 §3.2 for the size of the buffer. Deviations from Linux and from ns-3
//! `FifoQueueDisc`: none known.

use crate::law::{Aqm, Env, Law, Var};
use crate::params;

params! {
    /// Tail drop itself has no parameters: the limit belongs to the discipline.
    pub struct TailDropParams {
        dialects:
            "packets" = "Linux pfifo: a limit in packets",
            "bytes" = "Linux bfifo: a limit in bytes",
            "head_drop" = "Linux pfifo_head_drop: the oldest packet makes room";
    }
}

/// The law that never signals.
#[derive(Clone, Debug)]
pub struct TailDrop;

impl Aqm for TailDrop {
    fn is_inert(&self) -> bool {
        true
    }
}

impl Law for TailDrop {
    type Params = TailDropParams;
    const NAME: &'static str = "taildrop";
    const DOC: &'static str =
        "First in, first out, with a hard limit; arrivals at a full queue are dropped";
    const VARS: &'static [Var] = &[];

    fn new(_params: &TailDropParams, _env: &Env) -> Self {
        TailDrop
    }
}
