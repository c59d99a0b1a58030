//! What a user who reads web pages wants, and when (endpoints sheet §4.3): the main object, a pause to
//! parse it, then what it embeds over several connections at once, a pause to read, the next page. It
//! fetches nothing itself, so that real connections can serve it too.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::Web;

use super::stream::Finished;

/// What the user does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Reads until the next page is wanted.
    Reading,
    /// Waits for the main object.
    Main,
    /// The browser finds out what is embedded.
    Parsing,
    /// Waits for embedded objects.
    Objects,
}

/// The number of embedded objects is Pareto distributed: shape, scale, and the most there are.
const OBJECTS: (f64, f64, f64) = (1.1, 2.0, 55.0);

/// An object to fetch over one of the connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetch {
    /// Which connection, by place.
    pub lane: usize,
    /// Its size.
    pub bytes: u64,
}

/// The user.
#[derive(Debug)]
pub struct Reader {
    web: Web,
    rng: Rng,
    phase: Phase,
    /// When a pause is over.
    wake: Time,
    began: Time,
    bytes: u64,
    /// Objects still to ask for, and those asked for and not complete.
    to_ask: u32,
    under_way: u32,
}

impl Reader {
    /// A user who wants the first page at `start`.
    pub fn new(web: Web, start: Time, rng: Rng) -> Reader {
        Reader {
            web,
            rng,
            phase: Phase::Reading,
            wake: start,
            began: start,
            bytes: 0,
            to_ask: 0,
            under_way: 0,
        }
    }

    /// When a pause is over.
    pub fn next_timer(&self) -> Time {
        self.wake
    }

    /// The user wants no more; a page under way is never complete.
    pub fn stop(&mut self) {
        (self.wake, self.to_ask) = (Time::NEVER, 0);
    }

    /// A pause is over: what is wanted now.
    pub fn on_timer(&mut self, now: Time) -> Vec<Fetch> {
        self.wake = Time::NEVER;
        match self.phase {
            Phase::Reading => {
                (self.began, self.bytes, self.phase) = (now, 0, Phase::Main);
                let bytes = draw::size(&mut self.rng, &self.web.main);
                vec![self.fetch(0, bytes)]
            }
            Phase::Parsing => {
                self.phase = Phase::Objects;
                let lanes = 0..self.web.parallel as usize;
                lanes.filter_map(|lane| self.next_object(lane)).collect()
            }
            Phase::Main | Phase::Objects => unreachable!("nothing is paused for"),
        }
    }

    /// An object has come whole over a connection: what is wanted next there, and the page, if that was
    /// the last of it.
    pub fn on_object(&mut self, now: Time, lane: usize) -> (Option<Fetch>, Option<Finished>) {
        self.under_way -= 1;
        if self.phase == Phase::Main {
            return (None, self.after_main(now));
        }
        let next = self.next_object(lane);
        (next, (self.under_way == 0).then(|| self.complete(now)))
    }

    fn next_object(&mut self, lane: usize) -> Option<Fetch> {
        self.to_ask = self.to_ask.checked_sub(1)?;
        let bytes = draw::size(&mut self.rng, &self.web.object);
        Some(self.fetch(lane, bytes))
    }

    fn fetch(&mut self, lane: usize, bytes: u64) -> Fetch {
        self.under_way += 1;
        self.bytes += bytes;
        Fetch { lane, bytes }
    }

    fn after_main(&mut self, now: Time) -> Option<Finished> {
        self.to_ask = match self.web.objects {
            Some(objects) => objects,
            None => {
                let (shape, scale, most) = OBJECTS;
                (draw::pareto(&mut self.rng, shape, scale).min(most) - scale) as u32
            }
        };
        if self.to_ask == 0 {
            return Some(self.complete(now));
        }
        self.phase = Phase::Parsing;
        self.wake = now + self.pause(self.web.parsing);
        None
    }

    fn complete(&mut self, now: Time) -> Finished {
        self.phase = Phase::Reading;
        self.wake = now + self.pause(self.web.reading);
        Finished { start: self.began, bytes: self.bytes }
    }

    fn pause(&mut self, mean: Span) -> Span {
        Span::from_secs_f64(self.rng.exponential(mean.as_secs()))
    }
}
