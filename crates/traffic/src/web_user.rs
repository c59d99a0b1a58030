//! A user who reads web pages: requests the main object, parses it, requests the embedded objects
//! over several connections at once, reads, and requests the next page (3GPP2 C.R1002-0 HTTP model,
//! as in ns-3's `ThreeGppHttpClient`). The user only decides what to fetch, so real connections can
//! serve it too.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::Web;

use crate::FinishedTransfer;

/// The state of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Reading before requesting the next page.
    Reading,
    /// Waiting for the main object.
    Main,
    /// Parsing the main object.
    Parsing,
    /// Waiting for embedded objects.
    Objects,
}

/// The number of embedded objects is Pareto distributed and truncated: shape, scale, maximum (ns-3
/// `ThreeGppHttpVariables`).
const OBJECTS: (f64, f64, f64) = (1.1, 2.0, 55.0);

/// An object to fetch over one of the connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetch {
    /// The index of the connection.
    pub lane: usize,
    /// Its size.
    pub bytes: u64,
}

/// The user.
#[derive(Debug)]
pub struct WebUser {
    web: Web,
    rng: Rng,
    phase: Phase,
    /// When the current pause ends.
    wake: Time,
    began: Time,
    bytes: u64,
    /// Objects not requested yet, and objects requested but incomplete.
    to_request: u32,
    under_way: u32,
}

impl WebUser {
    /// A user who requests the first page at `start`.
    pub fn new(web: Web, start: Time, rng: Rng) -> WebUser {
        WebUser {
            web,
            rng,
            phase: Phase::Reading,
            wake: start,
            began: start,
            bytes: 0,
            to_request: 0,
            under_way: 0,
        }
    }

    /// When the current pause ends.
    pub fn next_timer(&self) -> Time {
        self.wake
    }

    /// When the incomplete page was requested.
    pub fn under_way_since(&self) -> Option<Time> {
        (self.phase != Phase::Reading).then_some(self.began)
    }

    /// Ends all requests; an incomplete page never completes.
    pub fn stop(&mut self) {
        (self.wake, self.to_request) = (Time::NEVER, 0);
    }

    /// Ends a pause; returns the objects to fetch now.
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

    /// Handles the completion of an object on a connection: returns the next object to fetch on it,
    /// and the page, if this was its last object.
    pub fn on_object(
        &mut self,
        now: Time,
        lane: usize,
    ) -> (Option<Fetch>, Option<FinishedTransfer>) {
        self.under_way -= 1;
        if self.phase == Phase::Main {
            return (None, self.after_main(now));
        }
        let next = self.next_object(lane);
        (next, (self.under_way == 0).then(|| self.complete(now)))
    }

    fn next_object(&mut self, lane: usize) -> Option<Fetch> {
        self.to_request = self.to_request.checked_sub(1)?;
        let bytes = draw::size(&mut self.rng, &self.web.object);
        Some(self.fetch(lane, bytes))
    }

    fn fetch(&mut self, lane: usize, bytes: u64) -> Fetch {
        self.under_way += 1;
        self.bytes += bytes;
        Fetch { lane, bytes }
    }

    fn after_main(&mut self, now: Time) -> Option<FinishedTransfer> {
        self.to_request = match self.web.objects {
            Some(objects) => objects,
            None => {
                let (shape, scale, most) = OBJECTS;
                (draw::pareto(&mut self.rng, shape, scale).min(most) - scale) as u32
            }
        };
        if self.to_request == 0 {
            return Some(self.complete(now));
        }
        self.phase = Phase::Parsing;
        self.wake = now + self.pause(self.web.parsing);
        None
    }

    fn complete(&mut self, now: Time) -> FinishedTransfer {
        self.phase = Phase::Reading;
        self.wake = now + self.pause(self.web.reading);
        FinishedTransfer { start: self.began, bytes: self.bytes }
    }

    fn pause(&mut self, mean: Span) -> Span {
        Span::from_secs_f64(self.rng.exponential(mean.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::resolved::Sizes;

    use super::*;

    /// A user of pages with three objects over two connections.
    fn user() -> WebUser {
        let web = Web {
            main: Sizes::List(vec![10_000]),
            object: Sizes::List(vec![1_000]),
            objects: Some(3),
            parallel: 2,
            request_bytes: 300,
            reading: Span::from_secs(30),
            parsing: Span::from_millis(100),
        };
        WebUser::new(web, Time::ZERO, Rng::stream(1, "pages", 0))
    }

    #[test]
    fn a_page_is_complete_with_its_last_object() {
        let mut user = user();
        assert_eq!(user.on_timer(Time::ZERO), [Fetch { lane: 0, bytes: 10_000 }]);
        let (next, page) = user.on_object(Time::from_nanos(1), 0);
        assert!(next.is_none() && page.is_none());
        let parsed = user.next_timer();
        let objects = [0, 1].map(|lane| Fetch { lane, bytes: 1_000 });
        assert_eq!(user.on_timer(parsed), objects);
        let (third, _) = user.on_object(parsed, 1);
        assert_eq!(third, Some(Fetch { lane: 1, bytes: 1_000 }));
        assert!(user.on_object(parsed, 0).1.is_none());
        let (next, page) = user.on_object(parsed, 1);
        let page = page.expect("nothing is under way");
        assert_eq!((next, page.start, page.bytes), (None, Time::ZERO, 13_000));
        assert!(user.next_timer() > parsed, "the user reads");
    }

    #[test]
    fn a_stopped_user_requests_nothing_more() {
        let mut user = user();
        user.stop();
        assert_eq!(user.next_timer(), Time::NEVER);
    }
}
