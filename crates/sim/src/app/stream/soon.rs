//! Names the part of a stream that is needed soon, for prefetching.

use super::Stream;
use crate::path::End;
use crate::prefetch::{Prefetch, prefetch};

/// A part of a stream that is needed soon.
pub(crate) enum Needed<'a> {
    /// The end that a packet reaches.
    End(&'a Stream, End),
    /// The timers of both ends.
    Timers(&'a Stream),
}

impl Prefetch for Needed<'_> {
    fn near(&self) {
        match *self {
            Needed::End(stream, end) => {
                prefetch(&stream.next_start);
                prefetch(&stream.setup.segments);
                match end {
                    End::Sender => prefetch(&stream.sender),
                    End::Receiver => stream.receiver.near(),
                    End::Link => {}
                }
            }
            Needed::Timers(stream) => {
                prefetch(&stream.stop);
                prefetch(stream.receiver.timer());
                stream.sender.iter().for_each(|sender| prefetch(sender.timers()));
            }
        }
    }

    fn far(&self) {
        match *self {
            Needed::End(stream, End::Sender) => stream.sender.iter().for_each(Prefetch::far),
            Needed::End(stream, End::Receiver) => stream.receiver.far(),
            Needed::End(_, End::Link) | Needed::Timers(_) => {}
        }
    }
}
