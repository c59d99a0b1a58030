//! Congestion controls, one file each. A new one is one file here and one line in the registry below.

pub mod cubic;
pub mod dctcp;
pub mod hystart;
pub mod hystart_plus;
pub mod reno;

use sojourn_aqm::nearest::nearest;
use sojourn_aqm::params::{Dialect, ParamError, ParamSpec, Params};
use sojourn_aqm::{Span, Time};

/// The window that a congestion control steers, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold; `u32::MAX` before the first reduction.
    pub ssthresh: u32,
    /// Packets acknowledged towards the next increment.
    pub credit: u32,
}

impl Window {
    /// The window of a new connection.
    pub fn new(initial: u32) -> Window {
        Window { cwnd: initial, ssthresh: u32::MAX, credit: 0 }
    }

    /// Whether the window grows by slow start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The threshold that remembers most of the present window where that is given up unused (Linux
    /// `tcp_current_ssthresh`).
    pub fn three_quarters(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// Slow start as in Linux since 4.0: grows by what was delivered, up to the threshold, and returns
    /// what is left for congestion avoidance (endpoints sheet §1.5).
    #[inline]
    pub fn slow_start(&mut self, delivered: u32) -> u32 {
        let grown = self.cwnd.saturating_add(delivered).min(self.ssthresh);
        let used = grown - self.cwnd;
        self.cwnd = grown;
        delivered - used
    }

    /// Slow start, then one packet more per window.
    #[inline]
    pub fn grow_as_reno(&mut self, mut delivered: u32) {
        if self.in_slow_start() {
            delivered = self.slow_start(delivered);
        }
        if delivered > 0 {
            self.additive(self.cwnd, delivered);
        }
    }

    /// Congestion avoidance: one packet more for every `per` delivered.
    #[inline]
    pub fn additive(&mut self, per: u32, delivered: u32) {
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += delivered;
        if self.credit >= per {
            let steps = self.credit / per;
            self.credit -= steps * per;
            self.cwnd += steps;
        }
    }
}

/// What an acknowledgement tells a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Time,
    /// Packets newly delivered.
    pub delivered: u32,
    /// The newest round-trip sample, if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// The acknowledgement number, and the next number to send.
    pub una: u32,
    /// The next number to send.
    pub nxt: u32,
}

/// A congestion control: it grows the window and says how far a reduction goes. When reductions happen
/// and how the window gets there is the sender's affair.
pub trait CongestionControl: Send {
    /// The threshold after a loss or a mark at the present window; at least 2.
    fn reduce(&mut self, window: &Window) -> u32;
    /// The threshold after a mark, where that differs from a loss.
    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// Whether it wants [`CongestionControl::on_echo`], and with it a receiver that echoes every run of
    /// marks exactly (RFC 8257 §3.2) instead of until the sender has reduced.
    fn counts_marks(&self) -> bool {
        false
    }
    /// An acknowledgement of an ECN-capable flow, before any reduction it causes.
    fn on_echo(&mut self, ack: &Ack, echoed: bool) {
        let _ = (ack, echoed);
    }
    /// Growth on an acknowledgement outside reductions, when the window is what limits the flow.
    fn grow(&mut self, ack: &Ack, window: &mut Window);
    /// A round-trip sample, in every state and before [`CongestionControl::grow`].
    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }
    /// Where rate halving stops, if a recovery lasts (Linux `min_cwnd`, until 3.1).
    fn lowest_while_halving(&self, ssthresh: u32) -> u32 {
        ssthresh
    }
    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}
    /// A reduction turned out to have been unnecessary and is withdrawn.
    fn undo(&mut self) {}
    /// Sending resumes after `idle` with nothing in flight.
    fn on_idle(&mut self, now: Time, idle: Span) {
        let _ = (now, idle);
    }
}

/// What the registry knows of a congestion control beside its behaviour.
pub trait Control: CongestionControl + Sized + 'static {
    /// Its parameters.
    type Params: Params;
    /// Its name.
    const NAME: &'static str;
    /// One line.
    const DOC: &'static str;
    /// A fresh one.
    fn new(params: &Self::Params) -> Self;
}

/// What the registry tells of a congestion control without making one.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// Its dialects, the default first.
    pub dialects: &'static [Dialect],
    /// Its parameters.
    pub params: fn() -> &'static [ParamSpec],
    /// The default of a parameter in a dialect, as text.
    pub default_of: fn(dialect: &str, param: &str) -> Option<String>,
}

/// Makes congestion controls of one kind.
pub type Factory = Box<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

macro_rules! registry {
    ($($control:ty;)*) => {
        /// Every congestion control, in the order in which lists show them.
        pub fn controls() -> Vec<Entry> {
            vec![$(Entry {
                name: <$control>::NAME,
                doc: <$control>::DOC,
                dialects: <$control as Control>::Params::DIALECTS,
                params: <$control as Control>::Params::specs,
                default_of: |dialect, param| {
                    <$control as Control>::Params::of_dialect(dialect)?.get(param)
                },
            }),*]
        }

        fn factory_of(
            kind: &str, dialect: Option<&str>, settings: &[(&str, &str)],
        ) -> Result<Factory, String> {
            match kind {
                $(<$control>::NAME => {
                    let params = configure::<$control>(dialect, settings)?;
                    Ok(Box::new(move || Box::new(<$control as Control>::new(&params))))
                })*
                _ => Err(unknown("congestion control", kind, controls().iter().map(|c| c.name))),
            }
        }

        fn full_text_of(
            kind: &str, dialect: Option<&str>, settings: &[(&str, &str)],
        ) -> Result<String, String> {
            match kind {
                $(<$control>::NAME => {
                    configure::<$control>(dialect, settings).map(|p| full_text::<$control>(&p))
                })*
                _ => Err(unknown("congestion control", kind, controls().iter().map(|c| c.name))),
            }
        }
    };
}

registry! {
    cubic::Cubic;
    dctcp::Dctcp;
    reno::Reno;
}

/// Reads `kind[@dialect][:param=value,...]`, the same form as that of an AQM.
///
/// # Errors
/// A sentence that says what would be right.
pub fn factory(text: &str) -> Result<Factory, String> {
    let (kind, dialect, settings) = parse(text)?;
    factory_of(kind, dialect, &settings)
}

/// The same text with every default filled in: `cubic:beta=0.7001953125,...`.
///
/// # Errors
/// A sentence that says what would be right.
pub fn in_full(text: &str) -> Result<String, String> {
    let (kind, dialect, settings) = parse(text)?;
    full_text_of(kind, dialect, &settings)
}

/// Kind, dialect and settings of a congestion control in its text form.
type Parsed<'a> = (&'a str, Option<&'a str>, Vec<(&'a str, &'a str)>);

fn parse(text: &str) -> Result<Parsed<'_>, String> {
    let (head, rest) = text.split_once(':').unwrap_or((text, ""));
    let (kind, dialect) = match head.split_once('@') {
        Some((kind, dialect)) => (kind.trim(), Some(dialect.trim())),
        None => (head.trim(), None),
    };
    let item = |item| {
        let (name, value) = str::split_once(item, '=')
            .ok_or_else(|| format!("`{item}` is not `name=value`; separate them with commas"))?;
        Ok((name.trim(), value.trim()))
    };
    let items = rest.split(',').filter(|item| !item.is_empty());
    Ok((kind, dialect, items.map(item).collect::<Result<_, String>>()?))
}

fn full_text<C: Control>(params: &C::Params) -> String {
    let value = |name| params.get(name).expect("a declared parameter has a value");
    let settings =
        C::Params::specs().iter().map(|spec| format!("{}={}", spec.name, value(spec.name)));
    let settings = settings.collect::<Vec<_>>().join(",");
    if settings.is_empty() { C::NAME.to_owned() } else { format!("{}:{settings}", C::NAME) }
}

fn configure<C: Control>(
    dialect: Option<&str>,
    settings: &[(&str, &str)],
) -> Result<C::Params, String> {
    let dialect = dialect.unwrap_or(C::Params::DIALECTS[0].name);
    let mut params = C::Params::of_dialect(dialect).ok_or_else(|| {
        unknown("dialect", dialect, C::Params::DIALECTS.iter().map(|dialect| dialect.name))
    })?;
    for (name, text) in settings {
        params.set(name, text).map_err(|error| match error {
            ParamError::Invalid(why) => format!("{}.{name}: {why}", C::NAME),
            ParamError::Unknown => {
                unknown("parameter", name, C::Params::specs().iter().map(|spec| spec.name))
            }
        })?;
    }
    params.check()?;
    Ok(params)
}

fn unknown(what: &str, typed: &str, known: impl Iterator<Item = &'static str>) -> String {
    let known: Vec<&str> = known.collect();
    let list = known.join(", ");
    match nearest(typed, known) {
        Some(near) => format!("there is no {what} `{typed}`; did you mean `{near}`? Known: {list}"),
        None => format!("there is no {what} `{typed}`; known: {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_control_names_the_nearest() {
        let error = factory("cubik").err().expect("there is no such control");
        assert!(error.contains("did you mean `cubic`"), "{error}");
        assert!(factory("cubic:hystart=maybe").is_err());
        assert!(factory("reno:beta=0.5").is_err());
        assert!(factory("reno:abe=true").is_ok());
        assert!(factory("cubic:hystart=false").is_ok());
    }

    #[test]
    fn t35_slow_start_doubles_whether_each_or_every_second_packet_is_acknowledged() {
        for per_ack in [1, 2, 4] {
            let mut window = Window::new(10);
            for expected in [20, 40, 80] {
                let packets = window.cwnd;
                (0..packets / per_ack).for_each(|_| assert_eq!(window.slow_start(per_ack), 0));
                window.slow_start(packets % per_ack);
                assert_eq!(window.cwnd, expected);
            }
        }
    }

    #[test]
    fn slow_start_leaves_the_rest_to_congestion_avoidance() {
        let mut window = Window { cwnd: 9, ssthresh: 10, credit: 0 };
        assert_eq!((window.slow_start(3), window.cwnd), (2, 10));
    }
}
