//! The host under test: our sender and receiver, plus the parts of a connection that a script needs
//! around them: setup, teardown, and the bytes of an application.
//!
//! The endpoint counts in segments and does not model FIN. Here a FIN is the last segment, without
//! data; anything that does not fit into whole segments is refused with the reason.

mod arriving;
mod bytes;
mod calls;
mod leaving;
mod opening;
mod settings;
mod values;

use std::collections::VecDeque;

use sojourn_aqm::{Ecn, Time};
use sojourn_sim::tcp::{Receiver, Sender};

use self::bytes::{Incoming, Outgoing};
pub(crate) use self::calls::Returned;
use self::opening::Opening;
pub(crate) use self::settings::Settings;
use crate::read::Counter;

/// Why an event of the script cannot be performed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StepError {
    /// The endpoint does not model the event.
    NotModelled(String),
    /// The endpoint models the event, but behaves differently.
    Differs {
        /// The behaviour in the script.
        expected: String,
        /// The behaviour of the endpoint.
        got: String,
    },
}

impl StepError {
    pub(crate) fn not_modelled(what: impl Into<String>) -> StepError {
        StepError::NotModelled(what.into())
    }
}

/// A segment sent by the host.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SentSegment {
    pub(crate) at: Time,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    /// Sequence number of the first byte; the SYN has zero.
    pub(crate) seq: u32,
    pub(crate) payload: u32,
    /// The acknowledgement number; `None` on a first SYN.
    pub(crate) ack: Option<u32>,
    pub(crate) ace: u8,
    pub(crate) ecn: Ecn,
    pub(crate) sack: Vec<(u32, u32)>,
    /// Value and echo of the timestamps, if negotiated.
    pub(crate) stamps: Option<(Time, u32)>,
    /// Fields of the AccECN option.
    pub(crate) accurate: Vec<(Counter, u32)>,
    /// Whether SACK is offered, on a SYN.
    pub(crate) sack_permitted: bool,
}

/// The state of the connection.
enum Stage {
    /// There is no connection yet.
    Closed,
    /// The host listens.
    Listening,
    /// The handshake is in progress.
    Opening(Box<Opening>),
    /// Established.
    Open(Box<Ends>),
    /// The peer has reset the connection.
    Reset,
}

/// Both ends of an established connection, as kept by the host.
struct Ends {
    sender: Sender,
    outgoing: Outgoing,
    /// The shift of the peer's window.
    shift: u32,
    /// Bytes that the application has read.
    read: u32,
    /// Whether the peer's FIN has arrived, with everything before it.
    peer_fin: bool,
    /// Whether the application has accepted the connection.
    accepted: bool,
}

/// The host.
pub(crate) struct TestedHost {
    settings: Settings,
    stage: Stage,
    receiver: Receiver,
    incoming: Incoming,
    /// The position of the peer's FIN, in bytes from its first.
    peer_fin_at: Option<u32>,
    /// The latest time at which that FIN is acknowledged.
    fin_due: Time,
    /// Whether SACK was negotiated.
    sack: bool,
    stamps: bool,
    /// A timestamp in the script, and our time to which it corresponds.
    clock: Option<(u32, Time)>,
    /// Our timestamps as written in the script, and when they were taken.
    written_stamps: Vec<(u32, Time)>,
    /// Whether the peer has sent an AccECN option, which shows that the path passes it.
    peer_option: bool,
    /// The peer's newest timestamp.
    peer_stamp: u32,
    /// Numbers of the sockets: the listening one first, then that of the connection.
    sockets: Vec<i64>,
    sent: VecDeque<SentSegment>,
}

impl TestedHost {
    /// A host without a connection. `arrivals` holds the first byte and the end of every data
    /// segment that arrives in the script.
    pub(crate) fn new(
        settings: Settings,
        arrivals: impl Iterator<Item = (u32, u32)>,
    ) -> TestedHost {
        let profile = settings.profile;
        TestedHost {
            receiver: Receiver::new(profile.ack, profile.sack),
            stage: Stage::Closed,
            incoming: Incoming::new(arrivals),
            peer_fin_at: None,
            fin_due: Time::NEVER,
            sack: profile.sack,
            stamps: false,
            clock: None,
            written_stamps: Vec::new(),
            peer_option: false,
            peer_stamp: 0,
            sockets: Vec::new(),
            sent: VecDeque::new(),
            settings,
        }
    }

    /// Segments sent that the script has not examined yet.
    pub(crate) fn sent(&mut self) -> &mut VecDeque<SentSegment> {
        &mut self.sent
    }

    /// The settings, which a script may change before the connection opens.
    pub(crate) fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Records that the script writes this value for our timestamp taken at that time.
    pub(crate) fn set_clock(&mut self, value: u32, at: Time) {
        self.clock.get_or_insert((value, at));
        self.written_stamps.push((value, at));
    }

    /// Our timestamp for a time, as written in the script.
    pub(crate) fn stamp(&self, at: Time) -> Option<u32> {
        const TICK_NS: u64 = 1_000_000;
        let (value, since) = self.clock?;
        let ticks = (at.as_nanos() / TICK_NS).wrapping_sub(since.as_nanos() / TICK_NS);
        Some(value.wrapping_add(ticks as u32))
    }

    /// The earliest of its timers.
    pub(crate) fn next_timer(&self) -> Time {
        match &self.stage {
            Stage::Closed | Stage::Listening | Stage::Reset => Time::NEVER,
            Stage::Opening(opening) => opening.due,
            Stage::Open(ends) => {
                ends.sender.next_timer().min(self.receiver.delayed_ack()).min(self.fin_due)
            }
        }
    }

    /// Handles an expired timer.
    pub(crate) fn on_timer(&mut self, now: Time) {
        match &self.stage {
            Stage::Closed | Stage::Listening | Stage::Reset => {}
            Stage::Opening(_) => self.open_again(now),
            Stage::Open(ends) => {
                let sender_due = ends.sender.next_timer() <= now;
                if self.receiver.delayed_ack() <= now {
                    self.receiver.on_timer(now);
                    self.acknowledge(now);
                } else if self.fin_due <= now {
                    self.acknowledge(now);
                }
                if sender_due {
                    self.step(now, |sender, out| {
                        sender.on_timer(now, &mut |packet| out.push(packet))
                    });
                }
            }
        }
    }
}
