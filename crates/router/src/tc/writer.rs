//! Reads parameters one by one from the settings and writes them as options of tc.

use sojourn_aqm::{Limit, QdiscSpec, Span, registry, units};

use super::{Refusable, TcContext, TcDiscipline};

/// Collects the arguments of tc and the parameters that were handled.
pub(super) struct Writer<'a> {
    settings: &'a [(&'static str, String)],
    /// The values set by the user, and those built into the kernel.
    asked: Asked<'a>,
    pub(super) context: &'a TcContext,
    handled: Vec<&'static str>,
    pub(super) out: TcDiscipline,
}

/// The values set by the user for a discipline, and the settings of the dialect that matches the
/// kernel.
pub(super) struct Asked<'a> {
    spec: &'a QdiscSpec,
    kernels: Vec<(&'static str, String)>,
}

impl Asked<'_> {
    pub(super) fn new(spec: &QdiscSpec) -> Asked<'_> {
        let kind = spec.kind();
        let named = QdiscSpec::parse(&format!("{kind}@linux")).or_else(|_| QdiscSpec::parse(&kind));
        let kernels = named.and_then(|spec| registry::settings(&spec)).unwrap_or_default();
        Asked { spec, kernels }
    }

    /// The kernel's built-in value, if the user set a different one.
    fn other_than_built_in(&self, name: &str, value: &str) -> Option<&str> {
        let is_set = self.spec.settings.iter().any(|(set, _)| set == name);
        let built_in = self.kernels.iter().find(|(known, _)| *known == name)?;
        (is_set && built_in.1 != value).then_some(built_in.1.as_str())
    }
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        settings: &'a [(&'static str, String)],
        asked: Asked<'a>,
        context: &'a TcContext,
    ) -> Writer<'a> {
        let out = TcDiscipline {
            arguments: Vec::new(),
            warnings: Vec::new(),
            expected: Vec::new(),
            drops_at_head: false,
            is_random: false,
            adaptation: None,
            netlink: None,
            read_back: None,
            at_whole_second: false,
        };
        Writer { settings, asked, context, handled: Vec::new(), out }
    }

    pub(super) fn argument(&mut self, argument: impl Into<String>) {
        self.out.arguments.push(argument.into());
    }

    pub(super) fn pair(&mut self, name: &str, value: impl ToString) {
        self.argument(name);
        self.argument(value.to_string());
    }

    pub(super) fn expect(&mut self, name: &str, value: u64) {
        self.out.expected.push((name.to_owned(), value));
    }

    pub(super) fn warn(&mut self, sentence: String) {
        self.out.warnings.push(sentence);
    }

    /// The value of a parameter; `None` if it is `auto` or `off`.
    pub(super) fn value(&mut self, name: &'static str) -> Option<&'a str> {
        self.handled.push(name);
        let found = self.settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_str()).filter(|text| !matches!(*text, "auto" | "off"))
    }

    pub(super) fn span(&mut self, name: &'static str) -> Refusable<Option<Span>> {
        self.value(name).map(units::span).transpose()
    }

    pub(super) fn is_true(&mut self, name: &'static str) -> bool {
        self.value(name) == Some("true")
    }

    /// A time in whole microseconds, tc's unit.
    pub(super) fn micros(&mut self, name: &'static str) -> Refusable<u64> {
        let span = self.span(name)?.ok_or_else(|| format!("`{name}` has no value"))?;
        let nanos = span.as_nanos();
        if nanos % 1000 != 0 {
            return Err(format!("`{name}` of {span}: tc takes whole microseconds"));
        }
        Ok(nanos / 1000)
    }

    /// A time that tc shows in microseconds.
    pub(super) fn time(&mut self, name: &'static str) -> Refusable<()> {
        let micros = self.micros(name)?;
        self.pair(name, format!("{micros}us"));
        self.expect(name, micros);
        Ok(())
    }

    /// An update time, which the kernel rounds up to whole jiffies (Linux 6.1, `usecs_to_jiffies`).
    pub(super) fn jiffies(&mut self, name: &'static str) -> Refusable<()> {
        let (micros, rounded) = self.jiffies_micros(name)?;
        self.pair(name, format!("{micros}us"));
        self.expect(name, rounded);
        Ok(())
    }

    /// An update time in microseconds, and its value after the kernel's rounding.
    pub(super) fn jiffies_micros(&mut self, name: &'static str) -> Refusable<(u64, u64)> {
        let micros = self.micros(name)?;
        let jiffy = 1_000_000 / u64::from(self.context.hz);
        let rounded = micros.div_ceil(jiffy) * jiffy;
        if rounded != micros {
            self.warn(format!(
                "`{name}` of {micros} us is {rounded} us in a kernel of {} Hz",
                self.context.hz
            ));
        }
        Ok((micros, rounded))
    }

    pub(super) fn whole(&mut self, name: &'static str) -> Refusable<u64> {
        let text = self.value(name).ok_or_else(|| format!("`{name}` has no value"))?;
        units::whole(text)
    }

    pub(super) fn option_whole(&mut self, name: &'static str) -> Refusable<Option<u64>> {
        self.value(name).map(units::whole).transpose()
    }

    pub(super) fn option_bytes(&mut self, name: &'static str) -> Refusable<Option<u64>> {
        self.value(name).map(units::bytes).transpose()
    }

    /// A gain in Hz as whole sixteenths, tc's unit.
    pub(super) fn sixteenths(&mut self, name: &'static str) -> Refusable<u64> {
        let text = self.value(name).ok_or_else(|| format!("`{name}` has no value"))?;
        let gain = units::hertz(text)? * 16.0;
        if gain.fract() != 0.0 || gain < 0.0 {
            return Err(format!("`{name}` of {text}: tc takes whole sixteenths of a hertz"));
        }
        Ok(gain as u64)
    }

    /// The limit in packets.
    pub(super) fn limit_packets(&mut self) -> Refusable<u64> {
        let text = self.value("limit").ok_or("`limit` has no value")?;
        match units::limit(text)? {
            Limit::Packets(n) => Ok(n),
            Limit::Bytes(n) => {
                let packets = n.div_ceil(u64::from(self.context.mtu_bytes)).max(1);
                self.warn(format!(
                    "a limit of {text} is {packets} packets here: this qdisc counts packets"
                ));
                Ok(packets)
            }
        }
    }

    /// The limit in bytes.
    pub(super) fn limit_bytes(&mut self) -> Refusable<u64> {
        let text = self.value("limit").ok_or("`limit` has no value")?;
        Ok(match units::limit(text)? {
            Limit::Bytes(n) => n,
            Limit::Packets(n) => n * u64::from(self.context.mtu_bytes),
        })
    }

    /// The rate at which RED's average decays: the link's, unless another is set.
    pub(super) fn bandwidth(&mut self) -> Refusable<u64> {
        match self.value("bandwidth") {
            None | Some("auto") => Ok(self.context.rate_bps),
            Some(text) => Ok(units::rate(text)?.as_bps()),
        }
    }

    pub(super) fn limit(&mut self) -> Refusable<()> {
        let packets = self.limit_packets()?;
        self.pair("limit", packets);
        self.expect("limit", packets);
        Ok(())
    }

    pub(super) fn ecn(&mut self) {
        let word = if self.is_true("ecn") { "ecn" } else { "noecn" };
        self.argument(word);
    }

    /// Handles parameters that are built into the kernel: only these values are accepted.
    pub(super) fn built_in(&mut self, fixed: &[(&'static str, &str)]) -> Refusable<()> {
        for (name, only) in fixed {
            self.handled.push(name);
            let found = self.settings.iter().find(|(known, _)| known == name);
            if let Some((_, text)) = found.filter(|(_, text)| text != only) {
                return Err(format!("`{name}` of {text}: the kernel has {only} built in"));
            }
        }
        Ok(())
    }

    /// Handles parameters that cannot be set in the kernel and whose defaults differ between
    /// dialects: a warning says that the kernel uses its own default, and a value set by the user
    /// must equal it.
    pub(super) fn of_dialect(&mut self, names: &[&'static str]) -> Refusable<()> {
        for name in names {
            self.handled.push(name);
            let found = self.settings.iter().find(|(known, _)| known == name);
            let Some((_, text)) = found else { continue };
            let Some(built_in) = self.asked.other_than_built_in(name, text) else { continue };
            return Err(format!("`{name}` of {text}: the kernel has {built_in} built in"));
        }
        Ok(())
    }

    /// The kernel's timer interrupts per second; `hz` sets them for the simulator.
    pub(super) fn hz(&mut self) -> Refusable<()> {
        self.handled.push("hz");
        let hz = self.context.hz;
        let is_set = self.asked.spec.settings.iter().any(|(name, _)| name == "hz");
        let found = self.settings.iter().find(|(name, _)| is_set && *name == "hz");
        match found.filter(|(_, text)| **text != *hz.to_string()) {
            Some((_, text)) => Err(format!("`hz` of {text}: the kernel there has {hz} Hz")),
            None => Ok(()),
        }
    }

    /// The kernel's discipline is installed long before time zero, so its timer is running.
    pub(super) fn first_update(&mut self) -> Refusable<()> {
        let is_in_place = self.value("first_update").is_none(); // `auto`
        if is_in_place { Ok(()) } else { self.of_dialect(&["first_update"]) }
    }

    pub(super) fn finish(self) -> Refusable<TcDiscipline> {
        let unhandled = self.settings.iter().find(|(name, _)| !self.handled.contains(name));
        match unhandled {
            Some((name, text)) => Err(format!("tc cannot set `{name}` to {text}; leave it out")),
            None => Ok(self.out),
        }
    }
}
