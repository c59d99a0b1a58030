//! A law in Rust as a table of C functions.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use sojourn_aqm::params::{ParamError, Params};
use sojourn_aqm::{Backlog, Ecn, Env, Head, Law, Limit, Rate, Rng, Time, Verdict, custom};

use crate::abi::{
    ABI, LIMIT_LAST, NEVER, RawEnv, RawHead, RawLaw, RawParam, RawQueue, RawRandom, RawValue,
    RawVar,
};

/// What a hook returns that panicked: no verdict.
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

/// The table of a law. What it points to lives until the program ends.
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
        on_enqueue: Some(on_enqueue::<L>),
        on_overflow: Some(on_overflow::<L>),
        on_eviction: Some(on_eviction::<L>),
        on_dequeue: Some(on_dequeue::<L>),
        on_empty: Some(on_empty::<L>),
        next_timer: Some(next_timer::<L>),
        on_head: Some(on_head::<L>),
        on_timer: Some(on_timer::<L>),
        on_idle_timers: Some(on_idle_timers::<L>),
        on_rate: Some(on_rate::<L>),
        observe: Some(observe::<L>),
    }
}

/// Something of the law with its default parameters on a common link.
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

/// The parameters from the texts of their values.
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
            ParamError::Unknown => format!("{}: there is no such parameter", spec.name),
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
    // SAFETY: the state has room for a law, aligned, and holds none yet.
    unsafe { state.cast::<L>().write(law) };
}

unsafe extern "C" fn stop<L: Law>(state: *mut c_void) {
    // SAFETY: `start` put a law there, and this is the last call.
    unsafe { state.cast::<L>().drop_in_place() };
}

/// # Safety
/// `start` put a law there, and the host calls one hook at a time.
unsafe fn law<'a, L: Law>(state: *mut c_void) -> &'a mut L {
    // SAFETY: the caller's promise.
    unsafe { &mut *state.cast::<L>() }
}

/// # Safety
/// The pointers are valid during the call.
unsafe fn backlog(queue: *const RawQueue) -> Backlog {
    // SAFETY: the caller's promise.
    let RawQueue { bytes, link_bytes, packets, .. } = unsafe { *queue };
    Backlog { packets, bytes, link_bytes }
}

/// # Safety
/// The pointer is valid during the call.
unsafe fn head(head: *const RawHead) -> Head {
    // SAFETY: the caller's promise.
    let RawHead { enqueued_ns, bytes, ecn } = unsafe { *head };
    let ecn = match ecn {
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        _ => Ecn::NotEct,
    };
    Head { bytes, ecn, enqueued: Time::from_nanos(enqueued_ns) }
}

/// No panic leaves the library; the law is in an unknown state then, and the host ends the run.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}

/// `on_enqueue` or `on_dequeue`.
///
/// # Safety
/// The host's pointers are valid during the call, and `start` put a law there.
#[inline(always)]
unsafe fn judge<L: Law>(
    state: *mut c_void,
    (in_hand, queue): (*const RawHead, *const RawQueue),
    random: *mut RawRandom,
    hook: impl FnOnce(&mut L, Head, Backlog, &mut Rng) -> Verdict,
) -> u32 {
    // SAFETY: the caller's promise.
    let (law, head, queue, random) =
        unsafe { (law::<L>(state), head(in_hand), backlog(queue), &mut *random) };
    let mut rng = Rng::of_words(random.state);
    let verdict = guarded(|| hook(law, head, queue, &mut rng));
    random.state = *rng.words();
    verdict.map_or(PANICKED, custom::code_of_verdict)
}

unsafe extern "C" fn on_enqueue<L: Law>(
    state: *mut c_void,
    now_ns: u64,
    head: *const RawHead,
    queue: *const RawQueue,
    random: *mut RawRandom,
) -> u32 {
    let now = Time::from_nanos(now_ns);
    let hook = |law: &mut L, head, queue, rng: &mut Rng| law.on_enqueue(now, head, queue, rng);
    // SAFETY: the host keeps the promise of `sojourn_law.h`.
    unsafe { judge(state, (head, queue), random, hook) }
}

unsafe extern "C" fn on_dequeue<L: Law>(
    state: *mut c_void,
    now_ns: u64,
    head: *const RawHead,
    queue: *const RawQueue,
    random: *mut RawRandom,
) -> u32 {
    let now = Time::from_nanos(now_ns);
    let hook = |law: &mut L, head, queue, rng: &mut Rng| law.on_dequeue(now, head, queue, rng);
    // SAFETY: the host keeps the promise of `sojourn_law.h`.
    unsafe { judge(state, (head, queue), random, hook) }
}

unsafe extern "C" fn on_overflow<L: Law>(state: *mut c_void, now_ns: u64, queue: *const RawQueue) {
    // SAFETY: as in `on_enqueue`.
    let (law, queue) = unsafe { (law::<L>(state), backlog(queue)) };
    let _ = guarded(|| law.on_overflow(Time::from_nanos(now_ns), queue));
}

unsafe extern "C" fn on_eviction<L: Law>(state: *mut c_void, now_ns: u64, queue: *const RawQueue) {
    // SAFETY: as in `on_enqueue`.
    let (law, queue) = unsafe { (law::<L>(state), backlog(queue)) };
    let _ = guarded(|| law.on_eviction(Time::from_nanos(now_ns), queue));
}

unsafe extern "C" fn on_empty<L: Law>(state: *mut c_void, now_ns: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let _ = guarded(|| law.on_empty(Time::from_nanos(now_ns)));
}

unsafe extern "C" fn next_timer<L: Law>(state: *const c_void) -> u64 {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { &*state.cast::<L>() };
    guarded(|| law.next_timer()).ok().flatten().map_or(NEVER, Time::as_nanos)
}

unsafe extern "C" fn on_head<L: Law>(state: *mut c_void, enqueued_ns: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let enqueued = (enqueued_ns != NEVER).then(|| Time::from_nanos(enqueued_ns));
    let _ = guarded(|| law.on_head(enqueued));
}

unsafe extern "C" fn on_timer<L: Law>(state: *mut c_void, now_ns: u64, queue: *const RawQueue) {
    // SAFETY: as in `on_enqueue`.
    let (law, queue) = unsafe { (law::<L>(state), backlog(queue)) };
    let _ = guarded(|| law.on_timer(Time::from_nanos(now_ns), queue));
}

unsafe extern "C" fn on_idle_timers<L: Law>(state: *mut c_void, now_ns: u64) {
    // SAFETY: as in `on_enqueue`.
    let law = unsafe { law::<L>(state) };
    let _ = guarded(|| law.on_idle_timers(Time::from_nanos(now_ns)));
}

unsafe extern "C" fn on_rate<L: Law>(state: *mut c_void, now_ns: u64, rate_bps: u64) {
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
