//! The host under test: our own sender and receiver, and what of a connection is around them in a
//! script: its opening, its end, and the bytes of an application.
//!
//! The endpoint counts in segments and knows no FIN. A FIN is the last segment here, without data;
//! what does not fit into whole segments is refused with the reason.

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

/// Why an event cannot be carried out as the script has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StepError {
    /// The endpoint has no such thing.
    NotModelled(String),
    /// It has, and does something else.
    Differs {
        /// What the script has.
        expected: String,
        /// What happens here.
        got: String,
    },
}

impl StepError {
    pub(crate) fn not_modelled(what: impl Into<String>) -> StepError {
        StepError::NotModelled(what.into())
    }
}

/// A segment that the host has sent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SentSegment {
    pub(crate) at: Time,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    /// Sequence number of the first byte; the SYN has zero.
    pub(crate) seq: u32,
    pub(crate) payload: u32,
    /// The acknowledgement number; none on a first SYN.
    pub(crate) ack: Option<u32>,
    pub(crate) ace: u8,
    pub(crate) ecn: Ecn,
    pub(crate) sack: Vec<(u32, u32)>,
    /// Argument and echo of the timestamps, if they were negotiated.
    pub(crate) stamps: Option<(Time, u32)>,
    /// Fields of the AccECN option.
    pub(crate) accurate: Vec<(Counter, u32)>,
    /// Whether SACK is offered, on a SYN.
    pub(crate) sack_permitted: bool,
}

/// Where the connection is.
enum Stage {
    /// No connection yet.
    Closed,
    /// It listens for one.
    Listening,
    /// A handshake is under way.
    Opening(Box<Opening>),
    /// Established.
    Open(Box<Ends>),
    /// The peer has reset it.
    Reset,
}

/// Both ends of an established connection, as the host has them.
struct Ends {
    sender: Sender,
    outgoing: Outgoing,
    /// The shift of the peer's window.
    shift: u32,
    /// Bytes that the application has read.
    read: u32,
    /// The peer's FIN, once everything before it has arrived.
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
    /// Where the peer's FIN is, in bytes from its first.
    peer_fin_at: Option<u32>,
    /// When it is acknowledged at the latest.
    fin_due: Time,
    /// What it has agreed to use.
    sack: bool,
    stamps: bool,
    /// The timestamp of the script that stands for a time of ours.
    clock: Option<(u32, Time)>,
    /// Timestamps of ours as the script writes them, and when they were taken.
    written_stamps: Vec<(u32, Time)>,
    /// The peer has sent an AccECN option, so that the path lets it pass.
    peer_option: bool,
    /// The peer's newest timestamp.
    peer_stamp: u32,
    /// Numbers of sockets: the one that listens, and that of the connection.
    sockets: Vec<i64>,
    sent: VecDeque<SentSegment>,
}

impl TestedHost {
    /// A host without a connection. `arrivals`: first byte and end of every segment of data that
    /// the script will bring.
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

    /// What it has sent and the script has not looked at.
    pub(crate) fn sent(&mut self) -> &mut VecDeque<SentSegment> {
        &mut self.sent
    }

    /// The settings, which a script may change before the connection opens.
    pub(crate) fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Notes that the script writes this timestamp where ours was taken at that time.
    pub(crate) fn set_clock(&mut self, value: u32, at: Time) {
        self.clock.get_or_insert((value, at));
        self.written_stamps.push((value, at));
    }

    /// Our timestamp of a time, as the script writes it.
    pub(crate) fn stamp(&self, at: Time) -> Option<u32> {
        const TICK_NS: u64 = 1_000_000;
        let (value, since) = self.clock?;
        let ticks = (at.as_nanos() / TICK_NS).wrapping_sub(since.as_nanos() / TICK_NS);
        Some(value.wrapping_add(ticks as u32))
    }

    /// The next of its timers.
    pub(crate) fn next_timer(&self) -> Time {
        match &self.stage {
            Stage::Closed | Stage::Listening | Stage::Reset => Time::NEVER,
            Stage::Opening(opening) => opening.due,
            Stage::Open(ends) => {
                ends.sender.next_timer().min(self.receiver.delayed_ack()).min(self.fin_due)
            }
        }
    }

    /// One of its timers is due.
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
