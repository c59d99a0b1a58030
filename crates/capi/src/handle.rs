//! The objects behind the handles of C callers, and the sink that calls their callbacks.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_void};

use sojourn_aqm::{
    Aqm, Cause, Discipline, Ecn, Env, Limit, Outside, Packet as AqmPacket, Qdisc, QdiscSpec, Rate,
    Rng, Sink, Stage, Time, Var, registry,
};

use crate::{BitsFn, DroppedFn, MarkedFn, Packet, Setup, UniformFn};

/// The object behind a discipline's handle.
pub(crate) struct QdiscState {
    pub(crate) qdisc: Box<dyn Qdisc<CheckedPacket>>,
    pub(crate) rng: Numbers,
    pub(crate) callbacks: Callbacks,
    pub(crate) vars: Vars,
    pub(crate) needs_flows: bool,
    settings: Vec<(&'static str, String)>,
    /// The time of the last call.
    clock: Time,
}

/// The object behind a law's handle.
pub(crate) struct LawState {
    pub(crate) law: Box<dyn Aqm>,
    pub(crate) rng: Numbers,
    pub(crate) vars: Vars,
}

/// The random numbers of a handle, and the caller's source for them, if any.
pub(crate) struct Numbers {
    pub(crate) rng: Rng,
    /// The target of the generator's context pointer, which must not move.
    _source: Option<Box<Source>>,
}

/// The caller's own source of random numbers.
struct Source {
    draw: Draw,
    context: *mut c_void,
}

/// The form of its numbers.
#[derive(Clone, Copy)]
enum Draw {
    Uniform(UniformFn),
    Bits(BitsFn),
}

impl Draw {
    /// The function that a setup names, if any.
    fn of(setup: &Setup) -> Option<Draw> {
        setup.uniform.map(Draw::Uniform).or(setup.bits.map(Draw::Bits))
    }
}

impl Numbers {
    fn new(setup: &Setup) -> Numbers {
        let Some(draw) = Draw::of(setup) else {
            return Numbers { rng: stream(setup.seed), _source: None };
        };
        let source = Box::new(Source { draw, context: setup.context });
        let context = &raw const *source as usize;
        let rng = Rng::outside(Outside { uniform: next, context });
        Numbers { rng, _source: Some(source) }
    }

    /// Restarts from a seed.
    pub(crate) fn replace(&mut self, seed: u64) {
        self.rng = stream(seed);
    }
}

/// The next number of the source at that address.
extern "C" fn next(context: usize) -> f64 {
    // SAFETY: only `Numbers::new` names this function, with the address of a source that lives as
    // long as the generator; the setup holds a function and the context that it expects.
    unsafe {
        let source = &*(context as *const Source);
        match source.draw {
            Draw::Uniform(uniform) => uniform(source.context),
            Draw::Bits(bits) => (bits(source.context) >> 11) as f64 * (1.0 / (1u64 << 53) as f64),
        }
    }
}

/// State variables: their names as C strings, and space for their values.
pub(crate) struct Vars {
    names: Vec<CString>,
    values: Vec<f64>,
}

/// A packet whose fields have been checked.
#[derive(Clone, Copy)]
pub(crate) struct CheckedPacket(pub(crate) Packet);

/// The callbacks of a setup.
pub(crate) struct Callbacks {
    context: *mut c_void,
    dropped: Option<DroppedFn>,
    marked: Option<MarkedFn>,
}

impl QdiscState {
    pub(crate) fn new(text: &str, setup: &Setup) -> Result<QdiscState, String> {
        let (spec, env) = spec_and_env(text, setup)?;
        let qdisc =
            registry::build::<CheckedPacket>(&spec, &env).map_err(|error| error.to_string())?;
        let settings = registry::settings(&spec).map_err(|error| error.to_string())?;
        let Setup { context, dropped, marked, .. } = *setup;
        Ok(QdiscState {
            vars: Vars::new(qdisc.vars()),
            needs_flows: spec.discipline != Discipline::Fifo,
            settings,
            clock: Time::ZERO,
            qdisc,
            rng: Numbers::new(setup),
            callbacks: Callbacks { context, dropped, marked },
        })
    }

    /// The value of a parameter.
    pub(crate) fn setting(&self, name: &CStr) -> Option<&str> {
        let is_named = |(known, _): &&(&str, String)| known.as_bytes() == name.to_bytes();
        self.settings.iter().find(is_named).map(|(_, text)| text.as_str())
    }

    /// Changes the limit, if it is legal and not fixed.
    pub(crate) fn set_limit(&mut self, limit: Limit) -> Option<()> {
        if matches!(limit, Limit::Packets(0) | Limit::Bytes(0)) || !self.qdisc.on_limit(limit) {
            return None;
        }
        let setting = self.settings.iter_mut().find(|(name, _)| *name == "limit");
        setting.expect("every discipline has a limit").1 = limit.to_string();
        Some(())
    }

    /// The time of a call, unless it is earlier than that of the last call.
    pub(crate) fn advance(&mut self, now_ns: u64) -> Option<Time> {
        let now = Time::from_nanos(now_ns);
        (now >= self.clock).then(|| {
            self.clock = now;
            now
        })
    }
}

impl LawState {
    pub(crate) fn new(text: &str, setup: &Setup) -> Result<LawState, String> {
        let (spec, env) = spec_and_env(text, setup)?;
        let law = registry::build_law(&spec, &env).map_err(|error| error.to_string())?;
        let entry = registry::law(&spec.law).expect("what was built is registered");
        Ok(LawState { law, rng: Numbers::new(setup), vars: Vars::new(entry.vars) })
    }
}

/// The random stream of a handle.
fn stream(seed: u64) -> Rng {
    Rng::stream(seed, "queue", 0)
}

/// The spec that a text describes, and the environment that a setup gives it.
fn spec_and_env(text: &str, setup: &Setup) -> Result<(QdiscSpec, Env), String> {
    if setup.mtu_bytes == 0 {
        return Err("mtu_bytes must be positive".to_owned());
    }
    if setup.uniform.is_some() && setup.bits.is_some() {
        return Err("uniform and bits are two sources of random numbers; set one".to_owned());
    }
    let spec = QdiscSpec::parse(text).map_err(|error| error.to_string())?;
    let settings = registry::settings(&spec).map_err(|error| error.to_string())?;
    if settings.iter().any(|(name, value)| *name == "ack_filter" && value != "off") {
        return Err(
            "ack_filter reads TCP headers, which packets here lack; leave it out".to_owned()
        );
    }
    let salt = match setup.salt {
        0 => Rng::stream(setup.seed, "hash", 0).next_u64(),
        given => given,
    };
    let rate = (setup.rate_bps > 0).then(|| Rate::from_bps(setup.rate_bps));
    // Every discipline has a limit parameter, which overrides this limit.
    let limit = Limit::Packets(1000);
    Ok((spec, Env { limit, mtu_bytes: setup.mtu_bytes, rate, salt }))
}

impl Vars {
    fn new(vars: &[Var]) -> Vars {
        let name = |var: &Var| CString::new(var.name).expect("names hold no zero");
        Vars { names: vars.iter().map(name).collect(), values: vec![0.0; vars.len()] }
    }

    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, index: usize) -> *const c_char {
        self.names.get(index).map_or(core::ptr::null(), |name| name.as_ptr())
    }

    /// Lets `observe` write all values and copies at most `count` of them to the caller.
    ///
    /// # Safety
    /// `values` points to room for `count` numbers.
    pub(crate) unsafe fn observe(
        &mut self,
        observe: impl FnOnce(&mut [f64]),
        values: *mut f64,
        count: usize,
    ) -> usize {
        observe(&mut self.values);
        // SAFETY: no more than `count` numbers are written.
        unsafe { values.copy_from_nonoverlapping(self.values.as_ptr(), count.min(self.count())) };
        self.count()
    }
}

impl CheckedPacket {
    /// The packet, if its size, ECN field and DSCP are legal.
    pub(crate) fn new(packet: Packet) -> Option<CheckedPacket> {
        let is_legal = packet.bytes > 0 && ecn(packet.ecn).is_some() && packet.dscp <= 63;
        is_legal.then_some(CheckedPacket(packet))
    }
}

/// The ECN field of that number.
pub(crate) fn ecn(field: u8) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].get(usize::from(field)).copied()
}

impl AqmPacket for CheckedPacket {
    fn bytes(&self) -> u32 {
        self.0.bytes
    }
    fn ecn(&self) -> Ecn {
        ecn(self.0.ecn).expect("it has been checked")
    }
    fn set_ce(&mut self) {
        self.0.ecn = crate::CE;
    }
    fn flow(&self) -> u64 {
        self.0.flow
    }
    fn src_host(&self) -> u64 {
        self.0.src_host
    }
    fn dst_host(&self) -> u64 {
        self.0.dst_host
    }
    fn dscp(&self) -> u8 {
        self.0.dscp
    }
}

impl Sink<CheckedPacket> for Callbacks {
    fn dropped(&mut self, packet: CheckedPacket, enqueued: Time, stage: Stage, cause: Cause) {
        if let Some(dropped) = self.dropped {
            let (at, stage, cause) = (enqueued.as_nanos(), stage as u8, cause as u8);
            // SAFETY: the setup holds a function and the context that it expects.
            unsafe { dropped(self.context, &packet.0, at, stage, cause) };
        }
    }

    fn marked(&mut self, packet: &mut CheckedPacket, enqueued: Time, stage: Stage, cause: Cause) {
        if let Some(marked) = self.marked {
            let (at, stage, cause) = (enqueued.as_nanos(), stage as u8, cause as u8);
            // SAFETY: the setup holds a function and the context that it expects.
            unsafe { marked(self.context, &packet.0, at, stage, cause) };
        }
    }
}

/// Creates the object behind a handle; on failure writes the reason and returns null.
///
/// # Safety
/// `text` is a C string, `setup` points to a setup; `error` points to `size` bytes or is null.
pub(crate) unsafe fn make<T>(
    text: *const c_char,
    setup: *const Setup,
    error: *mut c_char,
    size: usize,
    new: impl FnOnce(&str, &Setup) -> Result<T, String>,
) -> *mut T {
    let made = if text.is_null() || setup.is_null() {
        Err("text and setup must not be null".to_owned())
    } else {
        // SAFETY: both are not null, so they are what the caller promises.
        let (text, setup) = unsafe { (CStr::from_ptr(text), &*setup) };
        new(&text.to_string_lossy(), setup)
    };
    match made {
        Ok(thing) => Box::into_raw(Box::new(thing)),
        Err(why) => {
            // SAFETY: as the caller promises.
            unsafe { write_text(error, size, &why) };
            core::ptr::null_mut()
        }
    }
}

/// Copies a text into the caller's buffer, truncated if necessary.
///
/// # Safety
/// `buffer` points to `size` bytes or is null.
pub(crate) unsafe fn write_text(buffer: *mut c_char, size: usize, text: &str) {
    if buffer.is_null() || size == 0 {
        return;
    }
    let text = text.as_bytes();
    let length = text.len().min(size - 1);
    // SAFETY: `length` + 1 bytes fit into `size`.
    unsafe {
        core::ptr::copy_nonoverlapping(text.as_ptr().cast::<c_char>(), buffer, length);
        *buffer.add(length) = 0;
    }
}
