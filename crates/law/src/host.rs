//! Loading a law from a library.

use std::ffi::{CString, c_void};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use libloading::Library;
use sojourn_aqm::custom::{
    Declaration, Failures, Hooks, LawFailure, Maker, ParamDeclaration, Value,
};
use sojourn_aqm::params::{ParamSpec, ValueKind};
use sojourn_aqm::{Aqm, Backlog, CustomLaw, Env, Head, Limit, Rate, Rng, Time, Verdict, registry};

use crate::abi::{ABI, JudgeFn, LIMIT_LAST, NEVER, QueueFn, RawEnv, RawLaw, RawValue, TimeFn};
use crate::declared::{declaration, text_of};
use crate::elf;
use crate::marks::{Hook, Mark};
use crate::signals::{self, LawExists, LibraryCall};

/// The most parameters or variables that a law may declare; a table with more is damaged.
const MOST_DECLARED: u32 = 64;
/// The most bytes of state that one queue may need.
const MOST_STATE_BYTES: usize = 1 << 20;

/// Why a library is refused, as a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError(String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// Loads a law. The library stays loaded until the program ends. `path` is the file that declares
/// it; `opened` is the file to load: either the same file, or a copy that the system's loader
/// cannot mistake for an earlier library of that path. `name` is the file's name in messages,
/// `source` the name of its code in manifests.
///
/// # Errors
/// [`LoadError`] if the file is not a library, was built for another version, or declares something
/// illegal.
pub fn load(path: &Path, opened: &Path, name: &str, source: &str) -> Result<CustomLaw, LoadError> {
    let refuse = |why: String| LoadError(format!("{name}: {why}"));
    elf::check_whole(opened).map_err(refuse)?;
    // SAFETY: loading runs the library's initialisers; the user named the file as code to run.
    let library = unsafe { Library::new(opened) }
        .map_err(|error| refuse(format!("is not a shared library for this machine ({error})")))?;
    let library: &'static Library = Box::leak(Box::new(library));
    signals::catch();
    type Entry = unsafe extern "C" fn() -> *const RawLaw;
    // SAFETY: a library with this symbol follows `sojourn_law.h`.
    let entry = unsafe { library.get::<Entry>(b"sojourn_law\0") }.map_err(|_| {
        refuse("has no function sojourn_law, so it is not a law; see sojourn_law.h".to_owned())
    })?;
    signals::catch_silent_exit(*entry as *const c_void);
    // SAFETY: as above.
    let table = unsafe { entry() };
    if table.is_null() {
        return Err(refuse("sojourn_law() returned no table".to_owned()));
    }
    // SAFETY: every version of the table begins with these two words.
    let (abi, size) = unsafe { ((*table).abi, (*table).size as usize) };
    if (abi, size) != (ABI, size_of::<RawLaw>()) {
        return Err(refuse(format!(
            "is built for version {abi} of sojourn_law.h ({size} bytes), this is version {ABI} \
             ({} bytes); build it again",
            size_of::<RawLaw>()
        )));
    }
    // SAFETY: version and size are ours, so it is a whole table, constant until the program ends.
    let table: &'static RawLaw = unsafe { &*table };
    checked(table).map_err(refuse)?;
    // SAFETY: `sojourn_law.h` demands valid texts and lists of the stated lengths.
    let declaration = unsafe { declaration(table, name, source, path) }.map_err(refuse)?;
    let place = Box::leak(name.to_owned().into_boxed_str());
    let maker = TableMaker { table, place, specs: specs(&declaration) };
    registry::declare(declaration, Arc::new(maker)).map_err(|error| refuse(error.message))
}

/// Checks that the table can be used.
fn checked(table: &RawLaw) -> Result<(), String> {
    if table.param_count > MOST_DECLARED || table.var_count > MOST_DECLARED {
        return Err(format!("declares more than {MOST_DECLARED} parameters or variables"));
    }
    if table.param_count > 0 && table.params.is_null() {
        return Err(format!("says that it has {} parameters, but no list", table.param_count));
    }
    if table.var_count > 0 && table.vars.is_null() {
        return Err(format!("says that it has {} state variables, but no list", table.var_count));
    }
    if table.state_bytes > MOST_STATE_BYTES {
        let bytes = table.state_bytes;
        return Err(format!("asks for {bytes} bytes of state; at most {MOST_STATE_BYTES}"));
    }
    if table.on_enqueue.is_none() && table.on_dequeue.is_none() {
        return Err("has neither on_enqueue nor on_dequeue, so it would never signal".to_owned());
    }
    if table.next_timer.is_some() != table.on_timer.is_some() {
        return Err("has one of next_timer and on_timer; it needs both or neither".to_owned());
    }
    if table.start.is_none() && table.state_bytes > 0 && table.param_count > 0 {
        return Err("has parameters but no function start that takes them".to_owned());
    }
    if table.var_count > 0 && table.observe.is_none() {
        return Err("has state variables but no function observe".to_owned());
    }
    Ok(())
}

/// A second copy of the kinds and words, to show values as text; the checked ones are in the
/// declaration.
fn specs(declaration: &Declaration) -> Vec<(ValueKind, Option<String>, Vec<String>)> {
    let of = |param: &ParamDeclaration| (param.kind, param.absent.clone(), param.words.clone());
    declaration.params.iter().map(of).collect()
}

struct TableMaker {
    table: &'static RawLaw,
    place: &'static str,
    specs: Vec<(ValueKind, Option<String>, Vec<String>)>,
}

impl TableMaker {
    /// The values in C's form, and the texts that they point to.
    fn raw(&self, values: &[Value]) -> (Vec<RawValue>, Vec<CString>) {
        let texts: Vec<CString> = values.iter().zip(&self.specs).map(text).collect();
        let raw = values.iter().zip(&texts).map(|(value, text)| {
            let (whole, number) = numbers(value);
            let is_absent = u64::from(*value == Value::Absent);
            RawValue { text: text.as_ptr(), whole, number, is_absent }
        });
        (raw.collect(), texts)
    }
}

fn text(
    (value, (kind, absent, words)): (&Value, &(ValueKind, Option<String>, Vec<String>)),
) -> CString {
    let text = match value {
        Value::Word(place) => words[*place].clone(),
        Value::Absent => absent.clone().unwrap_or_default(),
        value => value.show(&ParamSpec {
            name: "",
            doc: "",
            kind: *kind,
            absent: None,
            words: &[],
            rule: "",
            sources: &[],
        }),
    };
    CString::new(text).expect("values have no NUL")
}

fn numbers(value: &Value) -> (u64, f64) {
    match *value {
        Value::Span(span) => (span.as_nanos(), span.as_secs()),
        Value::Hertz(x) | Value::Number(x) => (0, x),
        Value::Whole(n) | Value::Bytes(n) => (n, n as f64),
        Value::SignedBytes(n) => (n.cast_unsigned(), n as f64),
        Value::Limit(Limit::Packets(n) | Limit::Bytes(n)) => (n, n as f64),
        Value::Rate(rate) => (rate.as_bps(), rate.as_bps() as f64),
        Value::Bool(flag) => (u64::from(flag), f64::from(u8::from(flag))),
        Value::Word(place) => (place as u64, 0.0),
        Value::Absent => (0, 0.0),
    }
}

/// Lets the watchdog watch the hooks of a library.
fn watch(mark: &Arc<Mark>) {
    #[cfg(unix)]
    crate::watchdog::watch_hooks(mark, crate::signals::end_of_hook);
    #[cfg(not(unix))]
    let _ = mark;
}

impl Maker for TableMaker {
    fn check(&self, values: &[Value]) -> Result<(), String> {
        let Some(check) = self.table.check else { return Ok(()) };
        let (raw, _texts) = self.raw(values);
        let call = LibraryCall { file: self.place, part: "its law's check", at: None };
        // SAFETY: one value for each parameter, whose texts live during the call.
        let why = signals::within(call, || unsafe { text_of(check(raw.as_ptr())) });
        why.and_then(|why| why.map_or(Ok(()), Err))
    }

    fn hooks(&self) -> Hooks {
        Hooks {
            on_enqueue: self.table.on_enqueue.is_some(),
            on_dequeue: self.table.on_dequeue.is_some(),
            on_empty: self.table.on_empty.is_some(),
            timers: self.table.next_timer.is_some(),
            on_idle_timers: self.table.on_idle_timers.is_some(),
        }
    }

    fn make(&self, values: &[Value], env: &Env, failures: &Arc<dyn Failures>) -> Box<dyn Aqm> {
        let (raw, _texts) = self.raw(values);
        let mut state = vec![0_u128; self.table.state_bytes.div_ceil(16)].into_boxed_slice();
        let (limit_packets, limit_bytes) = match env.limit {
            Limit::Packets(n) => (n, 0),
            Limit::Bytes(n) => (0, n),
        };
        let env = RawEnv {
            limit_packets,
            limit_bytes,
            rate_bps: env.rate.map_or(0, Rate::as_bps),
            salt: env.salt,
            mtu_bytes: env.mtu_bytes,
            reserved: 0,
        };
        let (exists, mark) = (LawExists::of(self.place), Mark::of(self.place, watch));
        if let Some(start) = self.table.start {
            // SAFETY: the state has the bytes that the table asks for, zeroed and aligned to 16.
            mark.within(Hook::Start, || unsafe {
                start(state.as_mut_ptr().cast(), raw.as_ptr(), &raw const env);
            });
        }
        Box::new(TableLaw {
            on_enqueue: self.table.on_enqueue,
            on_dequeue: self.table.on_dequeue,
            state,
            table: self.table,
            place: self.place,
            failures: Arc::clone(failures),
            has_failed: false,
            mark,
            _exists: exists,
        })
    }
}

/// The law of one queue.
struct TableLaw {
    on_enqueue: Option<JudgeFn>,
    on_dequeue: Option<JudgeFn>,
    /// Aligned to 16 bytes.
    state: Box<[u128]>,
    table: &'static RawLaw,
    place: &'static str,
    failures: Arc<dyn Failures>,
    has_failed: bool,
    mark: Arc<Mark>,
    _exists: LawExists,
}

impl TableLaw {
    fn state(&mut self) -> *mut c_void {
        self.state.as_mut_ptr().cast()
    }

    #[inline]
    fn judge(
        &mut self,
        hook: (JudgeFn, Hook, &'static str),
        now: Time,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        let (call, which, name) = hook;
        let state = self.state();
        // SAFETY: the state is this law's and initialised; all pointers are valid during the call.
        let code =
            self.mark.within(which, || unsafe { call(state, now.as_nanos(), &head, &queue, rng) });
        match Verdict::of_code(code) {
            Some(verdict) => verdict,
            None => self.refuse(name, now, head, code),
        }
    }

    #[cold]
    fn refuse(&mut self, hook: &'static str, at: Time, head: Head, code: u32) -> Verdict {
        if self.has_failed {
            return Verdict::Pass;
        }
        self.has_failed = true;
        let why = match code {
            u32::MAX => "it panicked; the message is on stderr".to_owned(),
            _ => format!("it returned {code:#x}, which is not a verdict; see sojourn_law.h"),
        };
        // SAFETY: the table was checked when it was loaded.
        let law = unsafe { text_of(self.table.name) }.ok().flatten().unwrap_or_default();
        let law = Box::leak(law.into_boxed_str());
        let (place, enqueued) = (self.place.to_owned(), Some(head.enqueued));
        self.failures.report(LawFailure { place, law, hook, at, enqueued, why, cause: None });
        Verdict::Pass
    }

    fn tell(&mut self, which: Hook, hook: Option<QueueFn>, now: Time, queue: Backlog) {
        if let Some(hook) = hook {
            let state = self.state();
            // SAFETY: as in `judge`.
            self.mark.within(which, || unsafe { hook(state, now.as_nanos(), &queue) });
        }
    }

    fn tell_time(&mut self, which: Hook, hook: Option<TimeFn>, now_ns: u64) {
        if let Some(hook) = hook {
            let state = self.state();
            // SAFETY: as in `judge`.
            self.mark.within(which, || unsafe { hook(state, now_ns) });
        }
    }
}

impl Drop for TableLaw {
    fn drop(&mut self) {
        if let Some(stop) = self.table.stop {
            let state = self.state();
            // SAFETY: the state is initialised, and this is the last call.
            self.mark.within(Hook::Stop, || unsafe { stop(state) });
        }
    }
}

impl Aqm for TableLaw {
    fn is_limit_first(&self) -> bool {
        self.table.flags & LIMIT_LAST == 0
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        match self.on_enqueue {
            Some(hook) => self.judge((hook, Hook::OnEnqueue, "on_enqueue"), now, head, queue, rng),
            None => Verdict::Pass,
        }
    }

    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        self.tell(Hook::OnOverflow, self.table.on_overflow, now, queue);
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        match self.table.on_eviction {
            None => self.on_overflow(now, queue),
            hook => self.tell(Hook::OnEviction, hook, now, queue),
        }
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        match self.on_dequeue {
            Some(hook) => self.judge((hook, Hook::OnDequeue, "on_dequeue"), now, head, queue, rng),
            None => Verdict::Pass,
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.tell_time(Hook::OnEmpty, self.table.on_empty, now.as_nanos());
    }

    fn next_timer(&self) -> Option<Time> {
        let hook = self.table.next_timer?;
        let state = self.state.as_ptr().cast();
        // SAFETY: the state is initialised.
        let due = self.mark.within(Hook::NextTimer, || unsafe { hook(state) });
        (due != NEVER).then(|| Time::from_nanos(due))
    }

    fn on_head(&mut self, enqueued: Option<Time>) {
        let enqueued_ns = enqueued.map_or(NEVER, Time::as_nanos);
        self.tell_time(Hook::OnHead, self.table.on_head, enqueued_ns);
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.tell(Hook::OnTimer, self.table.on_timer, now, queue);
    }

    fn on_idle_timers(&mut self, now: Time) {
        self.tell_time(Hook::OnIdleTimers, self.table.on_idle_timers, now.as_nanos());
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        if let Some(hook) = self.table.on_rate {
            let state = self.state();
            // SAFETY: as in `judge`.
            self.mark.within(Hook::OnRate, || unsafe {
                hook(state, now.as_nanos(), rate.as_bps());
            });
        }
    }

    fn observe(&self, out: &mut [f64]) {
        if let Some(hook) = self.table.observe {
            let state = self.state.as_ptr().cast();
            // SAFETY: there is room for one value for each variable.
            self.mark.within(Hook::Observe, || unsafe { hook(state, out.as_mut_ptr()) });
        }
    }
}
