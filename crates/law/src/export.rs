//! A law in Rust as a table of C functions.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use sojourn_aqm::params::{ParamError, Params};
use sojourn_aqm::{Aqm, Backlog, Env, Head, Law, Limit, Rate, Rng, Time, Verdict};

use crate::abi::{
    ABI, JudgeFn, LIMIT_LAST, NEVER, NextFn, QueueFn, RawEnv, RawLaw, RawParam, RawValue, RawVar,
    TimeFn,
};

/// The return value of a hook that panicked, which is not a verdict.
const PANICKED: u32 = u32::MAX;

/// Exports a law: `export_law!(MyLaw);`, or under another name `export_law!(MyLaw as "mine");`.
#[macro_export]
macro_rules! export_law {
    ($law:ty) => {
        $crate::export_law!($law as <$law as $crate::aqm::Law>::NAME);
    };
    ($law:ty as $name:expr) => {
        /// The table of this library's law.
        // SAFETY: no other function of the library has this name.
        #[unsafe(no_mangle)]
        pub extern "C" fn sojourn_law() -> *const $crate::abi::RawLaw {
            static TABLE: std::sync::OnceLock<$crate::abi::RawLaw> = std::sync::OnceLock::new();
            TABLE.get_or_init(|| $crate::export::table::<$law>($name))
        }
    };
}

/// The hook, or `None` if its code equals that of a law without hooks, which saves the calls. An
/// optimising compiler merges equal functions; without merging, every hook stays in the table.
macro_rules! present {
    ($hook:ident as $kind:ty) => {{
        let (hook, inert): ($kind, $kind) = ($hook::<L>, $hook::<Inert>);
        (black_box(hook as usize) != black_box(inert as usize)).then_some(hook)
    }};
}

/// The table of a law. Everything that it points to lives until the program ends.
pub fn table<L: Law>(name: &str) -> RawLaw {
    const { assert!(align_of::<L>() <= 16, "the host aligns state to 16 bytes") };
    let params: Vec<RawParam> = L::Params::specs().iter().map(|spec| param::<L>(spec)).collect();
    let var = |var: &sojourn_aqm::Var| RawVar {
        name: kept(var.name),
        unit: kept(var.unit),
        doc: kept(var.doc),
    };
    let vars: Vec<RawVar> = L::VARS.iter().map(var).collect();
    let (param_count, var_count) = (params.len() as u32, vars.len() as u32);
    let limit_first = with_default::<L, _>(|law| law.is_limit_first());
    let next_timer = present!(next_timer as NextFn);
    RawLaw {
        abi: ABI,
        size: size_of::<RawLaw>() as u32,
        name: kept(name),
        doc: kept(L::DOC),
        params: Box::leak(params.into_boxed_slice()).as_ptr(),
        vars: Box::leak(vars.into_boxed_slice()).as_ptr(),
        param_count,
        var_count,
        flags: if limit_first { 0 } else { LIMIT_LAST },
        reserved: 0,
        state_bytes: size_of::<L>(),
        check: Some(check::<L>),
        start: Some(start::<L>),
        stop: Some(stop::<L>),
        on_enqueue: present!(on_enqueue as JudgeFn),
        on_overflow: present!(on_overflow as QueueFn),
        on_eviction: Some(on_eviction::<L>),
        on_dequeue: present!(on_dequeue as JudgeFn),
        on_empty: present!(on_empty as TimeFn),
        next_timer,
        on_head: present!(on_head as TimeFn),
        on_timer: next_timer.map(|_| on_timer::<L> as QueueFn),
        on_idle_timers: present!(on_idle_timers as TimeFn),
        on_rate: Some(on_rate::<L>),
        observe: Some(observe::<L>),
    }
}

/// A law without hooks.
struct Inert;

impl Aqm for Inert {}

/// Calls `work` with the law with default parameters on a common link.
fn with_default<L: Law, T>(work: impl FnOnce(&L) -> T) -> T {
    let params = L::Params::of_dialect(L::Params::DIALECTS[0].name).expect("the first dialect");
    let (limit, rate) = (Limit::Packets(1000), Some(Rate::from_bps(10_000_000)));
    work(&L::new(&params, &Env { limit, mtu_bytes: 1514, rate, salt: 0 }))
}

fn param<L: Law>(spec: &sojourn_aqm::params::ParamSpec) -> RawParam {
    let dialect = L::Params::DIALECTS[0].name;
    let defaults = L::Params::of_dialect(dialect).expect("the first dialect");
    let words = (!spec.words.is_empty()).then(|| kept(&spec.words.join(" ")));
    RawParam {
        name: kept(spec.name),
        doc: kept(spec.doc),
        kind: kept(spec.kind.word()),
        absent: spec.absent.map_or(ptr::null(), kept),
        words: words.unwrap_or(ptr::null()),
        rule: kept(spec.rule),
        default_value: kept(&defaults.get(spec.name).expect("it is declared")),
        source: kept(spec.source_of(dialect)),
    }
}

fn kept(text: &str) -> *const c_char {
    CString::new(text).expect("a declaration has no NUL").into_raw()
}

/// The parameters, parsed from the texts of their values.
///
/// # Safety
/// `values` holds one value for each parameter, with its text.
unsafe fn params<L: Law>(values: *const RawValue) -> Result<L::Params, String> {
    let dialect = L::Params::DIALECTS[0].name;
    let mut params = L::Params::of_dialect(dialect).expect("the first dialect");
    for (place, spec) in L::Params::specs().iter().enumerate() {
        // SAFETY: the caller's promise.
        let text = unsafe { CStr::from_ptr((*values.add(place)).text) };
        let text = text.to_str().map_err(|_| format!("{}: is not UTF-8", spec.name))?;
        params.set(spec.name, text).map_err(|error| match error {
            ParamError::Unknown => format!("{}: unknown parameter", spec.name),
            ParamError::Invalid(why) => format!("{}: {why}", spec.name),
        })?;
    }
    params.check().map(|()| params)
}

unsafe extern "C" fn check<L: Law>(values: *const RawValue) -> *const c_char {
    // SAFETY: the host passes one value for each parameter.
    unsafe { params::<L>(values) }.map_or_else(|why| kept(&why), |_| ptr::null())
}

unsafe extern "C" fn start<L: Law>(
    state: *mut c_void,
    values: *const RawValue,
    env: *const RawEnv,
) {
    // SAFETY: the host passes one value for each parameter, and an environment.
    let (params, raw) = unsafe { (params::<L>(values), *env) };
    let limit = match raw.limit_packets {
        0 => Limit::Bytes(raw.limit_bytes),
        packets => Limit::Packets(packets),
    };
    let rate = (raw.rate_bps > 0).then(|| Rate::from_bps(raw.rate_bps));
    let env = Env { limit, mtu_bytes: raw.mtu_bytes, rate, salt: raw.salt };
    let law = L::new(&params.expect("the host has called `check`"), &env);
    // SAFETY: the state has room for a law, is aligned, and holds no law yet.
    unsafe { state.cast::<L>().write(law) };
}

unsafe extern "C" fn stop<L: Law>(state: *mut c_void) {
    // SAFETY: `start` put a law there, and this is the last call.
    unsafe { state.cast::<L>().drop_in_place() };
}

/// # Safety
/// `start` put a law there, and the host calls one hook at a time.
unsafe fn law<'a, L: Aqm>(state: *mut c_void) -> &'a mut L {
    // SAFETY: the caller's promise.
    unsafe { &mut *state.cast::<L>() }
}

/// Keeps panics inside the library. After a panic, the law is in an unknown state, and the host
/// ends the run.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}

/// `on_enqueue` or `on_dequeue`.
///
/// # Safety
/// The host's pointers are valid during the call, and `start` put a law there.
#[inline(always)]
unsafe fn judge<L: Aqm>(
    state: *mut c_void,
    (head, queue): (*const Head, *const Backlog),
    random: *mut Rng,
    hook: impl FnOnce(&mut L, Head, Backlog, &mut Rng) -> Verdict,
) -> u32 {
    // SAFETY: the caller's promise.
    let (law, rng) = unsafe { (law::<L>(state), &mut *random) };
    // SAFETY: as above. Copied field by field: the host has just stored the fields, and a CPU that
    // copies two of them with one load stalls until both stores complete (about 5 ns each time).
    let (head, queue) = unsafe {
        let head = Head {
            enqueued: (&raw const (*head).enqueued).read_volatile(),
            bytes: (&raw const (*head).bytes).read_volatile(),
            ecn: (&raw const (*head).ecn).read_volatile(),
        };
        let queue = Backlog {
            bytes: (&raw const (*queue).bytes).read_volatile(),
            link_bytes: (&raw const (*queue).link_bytes).read_volatile(),
            packets: (&raw const (*queue).packets).read_volatile(),
        };
        (head, queue)
    };
    guarded(|| hook(law, head, queue, rng)).map_or(PANICKED, Verdict::code)
}

unsafe extern "C" fn on_enqueue<L: Aqm>(
    state: *mut c_void,
    now_ns: u64,
    head: *const Head,
    queue: *const Backlog,
    rng: *mut Rng,
) -> u32 {
    let now = Time::from_nanos(now_ns);
    let hook = |law: &mut L, head, queue, rng: &mut Rng| law.on_enqueue(now, head, queue, rng);
    // SAFETY: the host keeps the promise of `sojourn_law.h`.
    unsafe { judge(state, (head, queue), rng, hook) }
}

unsafe extern "C" fn on_dequeue<L: Aqm>(
    state: *mut c_void,
    now_ns: u64,
    head: *const Head,
    queue: *const Backlog,
    rng: *mut Rng,
) -> u32 {
    let now = Time::from_nanos(now_ns);
    let hook = |law: &mut L, head, queue, rng: &mut Rng| law.on_dequeue(now, head, queue, rng);
    // SAFETY: as in `on_enqueue`.
    unsafe { judge(state, (head, queue), rng, hook) }
}

unsafe extern "C" fn on_overflow<L: Aqm>(state: *mut c_void, now_ns: u64, queue: *const Backlog) {
    // SAFETY: as in `on_enqueue`.
    let (law, queue) = unsafe { (law::<L>(state), *queue) };
    let _ = guarded(|| law.on_overflow(Time::from_nanos(now_ns), queue));
}

unsafe extern "C" fn on_eviction<L: Aqm>(state: *mut c_void, now_ns: u64, queue: *const Backlog) {
    // SAFETY: as in `on_enqueue`.
    let (law, queue) = unsafe { (law::<L>(state), *queue) };
    let _ = guarded(|| law.on_eviction(Time::from_nanos(now_ns), queue));
}

unsafe extern "C" fn on_empty<L: Aqm>(state: *mut c_void, now_ns: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let _ = guarded(|| law.on_empty(Time::from_nanos(now_ns)));
}

unsafe extern "C" fn next_timer<L: Aqm>(state: *const c_void) -> u64 {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { &*state.cast::<L>() };
    guarded(|| law.next_timer()).ok().flatten().map_or(NEVER, Time::as_nanos)
}

unsafe extern "C" fn on_head<L: Aqm>(state: *mut c_void, enqueued_ns: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let enqueued = (enqueued_ns != NEVER).then(|| Time::from_nanos(enqueued_ns));
    let _ = guarded(|| law.on_head(enqueued));
}

unsafe extern "C" fn on_timer<L: Aqm>(state: *mut c_void, now_ns: u64, queue: *const Backlog) {
    // SAFETY: as in `on_enqueue`.
    let (law, queue) = unsafe { (law::<L>(state), *queue) };
    let _ = guarded(|| law.on_timer(Time::from_nanos(now_ns), queue));
}

unsafe extern "C" fn on_idle_timers<L: Aqm>(state: *mut c_void, now_ns: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let _ = guarded(|| law.on_idle_timers(Time::from_nanos(now_ns)));
}

unsafe extern "C" fn on_rate<L: Aqm>(state: *mut c_void, now_ns: u64, rate_bps: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let _ = guarded(|| law.on_rate(Time::from_nanos(now_ns), Rate::from_bps(rate_bps)));
}

unsafe extern "C" fn observe<L: Law>(state: *const c_void, values: *mut f64) {
    // SAFETY: the host has room for one value for each variable.
    let (law, out) =
        unsafe { (&*state.cast::<L>(), std::slice::from_raw_parts_mut(values, L::VARS.len())) };
    let _ = guarded(|| law.observe(out));
}
