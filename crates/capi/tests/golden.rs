//! The golden traces in `testdata/golden`, through the C bindings: the same files and the same
//! reader as in `crates/aqm/tests/golden.rs`, with the functions of the header in place of the Rust
//! API.

// Every call of the header's functions here is safe for one reason, given before each `impl`.
#![allow(clippy::undocumented_unsafe_blocks)]

#[path = "../../aqm/tests/golden/trace.rs"]
mod trace;

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use sojourn_aqm::{Backlog, Cause, Head, Stage, Time, Verdict};
use sojourn_aqm_c as c;
use trace::{Discipline, Fate, Law, MTU, RATE_BPS, TracePacket};

/// The seed of all handles, the same as in the tests in Rust.
const SEED: u64 = 1;

fn setup(context: *mut c_void) -> c::Setup {
    let (dropped, marked) = (Some(on_drop as c::DroppedFn), Some(on_mark as c::MarkedFn));
    c::Setup {
        mtu_bytes: MTU,
        rate_bps: RATE_BPS,
        seed: SEED,
        context,
        dropped,
        marked,
        uniform: None,
        bits: None,
        salt: 0,
    }
}

/// A function of the header that makes a handle.
type New<T> = unsafe extern "C" fn(*const c_char, *const c::Setup, *mut c_char, usize) -> *mut T;

fn open<T>(new: New<T>, text: &str, context: *mut c_void) -> *mut T {
    let c_text = CString::new(text).expect("no zero");
    let mut error = [0; 300];
    // SAFETY: text, setup and error are as their names say.
    let handle = unsafe { new(c_text.as_ptr(), &setup(context), error.as_mut_ptr(), error.len()) };
    // SAFETY: bytes that were not written are still zero.
    assert!(!handle.is_null(), "{text}: {:?}", unsafe { CStr::from_ptr(error.as_ptr()) });
    handle
}

fn due(nanos: u64) -> Option<Time> {
    (nanos != c::NEVER).then_some(Time::from_nanos(nanos))
}

/// The value with that name, through the functions that return names and values.
fn value(
    name: &str,
    count: usize,
    name_of: impl Fn(usize) -> *const c_char,
    observe: impl FnOnce(*mut f64, usize) -> usize,
) -> f64 {
    assert!(name_of(count).is_null(), "no name follows the last");
    let mut values = vec![f64::NAN; count];
    assert_eq!(observe(values.as_mut_ptr(), count), count);
    // SAFETY: a name is a C string that lives as long as the handle.
    let is_named = |&index: &usize| unsafe { CStr::from_ptr(name_of(index)) }.to_str() == Ok(name);
    values[(0..count).find(is_named).expect("a variable of that name")]
}

struct CLaw(*mut c::Law);

impl Drop for CLaw {
    fn drop(&mut self) {
        // SAFETY: the handle is not used again.
        unsafe { c::sojourn_law_free(self.0) };
    }
}

fn waiting(queue: Backlog) -> c::Backlog {
    let Backlog { packets, bytes, link_bytes } = queue;
    c::Backlog { packets, bytes, link_bytes }
}

fn verdict(verdict: c_int, cause: u8) -> Verdict {
    let why = Cause::ALL.get(usize::from(cause)).copied();
    match verdict {
        c::PASS => Verdict::Pass,
        c::MARK => Verdict::Mark(why.expect("a mark has a cause")),
        c::DROP => Verdict::Drop(why.expect("a drop has a cause")),
        _ => panic!("the packet was refused"),
    }
}

/// A function of the header that asks a law about a packet.
type Ask =
    unsafe extern "C" fn(*mut c::Law, u64, *const c::Head, *const c::Backlog, *mut u8) -> c_int;

impl CLaw {
    fn ask(&mut self, ask: Ask, now: Time, head: Head, queue: Backlog) -> Verdict {
        let head = c::Head {
            enqueued_ns: head.enqueued.as_nanos(),
            bytes: head.bytes,
            ecn: head.ecn as u8,
        };
        let mut cause = u8::MAX;
        // SAFETY: the handle is alive, the other pointers are as their names say.
        let result = unsafe { ask(self.0, now.as_nanos(), &head, &waiting(queue), &mut cause) };
        verdict(result, cause)
    }
}

// SAFETY of all calls below: the handle is alive, the other pointers are as their names say.
impl Law for CLaw {
    fn new(text: &str) -> CLaw {
        CLaw(open(c::sojourn_law_new, text, std::ptr::null_mut()))
    }
    fn seed(&mut self, seed: u64) {
        unsafe { c::sojourn_law_seed(self.0, seed) };
    }
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        self.ask(c::sojourn_law_on_enqueue, now, head, queue)
    }
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        self.ask(c::sojourn_law_on_dequeue, now, head, queue)
    }
    fn next_timer(&self) -> Option<Time> {
        due(unsafe { c::sojourn_law_next_timer(self.0) })
    }
    fn on_timer(&mut self, now: Time, queue: Backlog) {
        unsafe { c::sojourn_law_on_timer(self.0, now.as_nanos(), &waiting(queue)) };
    }
    fn on_idle_timers(&mut self, now: Time) {
        unsafe { c::sojourn_law_on_idle_timers(self.0, now.as_nanos()) };
    }
    fn var(&mut self, name: &str) -> f64 {
        let count = unsafe { c::sojourn_law_var_count(self.0) };
        let name_of = |index| unsafe { c::sojourn_law_var_name(self.0, index) };
        let observe = |values, count| unsafe { c::sojourn_law_observe(self.0, values, count) };
        value(name, count, name_of, observe)
    }
}

struct CDiscipline {
    handle: *mut c::Qdisc,
    /// The drops and marks that the callbacks received; the handle holds a pointer to it.
    fates: *mut Vec<Fate>,
}

impl Drop for CDiscipline {
    fn drop(&mut self) {
        // SAFETY: neither is used again, and the list was made by `Box::into_raw`.
        unsafe {
            c::sojourn_free(self.handle);
            drop(Box::from_raw(self.fates));
        }
    }
}

unsafe extern "C" fn on_drop(
    context: *mut c_void,
    packet: *const c::Packet,
    _enqueued_ns: u64,
    stage: u8,
    cause: u8,
) {
    // SAFETY: the handle passes on the arguments of the caller.
    unsafe { note(context, packet, "dropped", stage, cause) };
}

unsafe extern "C" fn on_mark(
    context: *mut c_void,
    packet: *const c::Packet,
    _enqueued_ns: u64,
    stage: u8,
    cause: u8,
) {
    // SAFETY: the handle passes on the arguments of the caller.
    unsafe {
        assert_eq!((*packet).ecn, c::CE, "a marked packet carries CE");
        note(context, packet, "marked", stage, cause);
    }
}

unsafe fn note(
    context: *mut c_void,
    packet: *const c::Packet,
    what: &'static str,
    stage: u8,
    cause: u8,
) {
    let stages = [
        (c::STAGE_ENQUEUE, Stage::Enqueue),
        (c::STAGE_QUEUED, Stage::Queued),
        (c::STAGE_DEQUEUE, Stage::Dequeue),
    ];
    let (_, stage) = stages.into_iter().find(|&(number, _)| number == stage).expect("a stage");
    let Verdict::Drop(cause) = verdict(c::DROP, cause) else { unreachable!("it is a drop") };
    // SAFETY: the context is the list of fates, the packet that of the handle.
    let (fates, id) = unsafe { (&mut *context.cast::<Vec<Fate>>(), (*packet).id) };
    fates.push(Fate { id, what, stage: stage.word(), cause: cause.class().word() });
}

// SAFETY of all calls below: the handle is alive, the other pointers are as their names say.
impl Discipline for CDiscipline {
    fn new(text: &str) -> CDiscipline {
        let fates: *mut Vec<Fate> = Box::into_raw(Box::default());
        CDiscipline { handle: open(c::sojourn_new, text, fates.cast()), fates }
    }
    fn enqueue(&mut self, now: Time, packet: TracePacket) {
        let TracePacket { id, flow, bytes, ecn } = packet;
        let ecn = ecn as u8;
        let packet = c::Packet { id, flow, src_host: flow, dst_host: flow, bytes, ecn, dscp: 0 };
        assert_eq!(unsafe { c::sojourn_enqueue(self.handle, now.as_nanos(), &packet) }, 0);
    }
    fn dequeue(&mut self, now: Time) -> Option<(u64, Time)> {
        let mut left = std::mem::MaybeUninit::<c::Departure>::uninit();
        match unsafe { c::sojourn_dequeue(self.handle, now.as_nanos(), left.as_mut_ptr()) } {
            0 => None,
            _ => {
                let left = unsafe { left.assume_init() };
                Some((left.packet.id, Time::from_nanos(left.enqueued_ns)))
            }
        }
    }
    fn next_timer(&self) -> Option<Time> {
        due(unsafe { c::sojourn_next_timer(self.handle) })
    }
    fn on_timer(&mut self, now: Time) {
        assert_eq!(unsafe { c::sojourn_on_timer(self.handle, now.as_nanos()) }, 0);
    }
    fn var(&mut self, name: &str) -> f64 {
        let count = unsafe { c::sojourn_var_count(self.handle) };
        let name_of = |index| unsafe { c::sojourn_var_name(self.handle, index) };
        let observe = |values, count| unsafe { c::sojourn_observe(self.handle, values, count) };
        value(name, count, name_of, observe)
    }
    fn fates(&mut self) -> Vec<Fate> {
        // SAFETY: no callback runs now.
        std::mem::take(unsafe { &mut *self.fates })
    }
}

#[test]
fn every_golden_trace_is_met_through_the_c_bindings() {
    let (traces, values) = trace::run_all::<CLaw, CDiscipline>();
    assert!(traces >= 33, "{traces} traces");
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/tally-golden-c");
    std::fs::write(file, values.to_string()).expect("the target folder is writable");
}

#[test]
fn a_law_refuses_what_is_not_legal() {
    let mut law = CLaw::new("codel");
    let head = c::Head { enqueued_ns: 5, bytes: 1500, ecn: 0 };
    let broken = [
        c::Head { bytes: 0, ..head },
        c::Head { ecn: 4, ..head },
        c::Head { enqueued_ns: 6, ..head }, // a negative sojourn time
    ];
    let mut ask = |head: &c::Head| {
        let queue = waiting(Backlog::EMPTY);
        unsafe { c::sojourn_law_on_dequeue(law.0, 5, head, &queue, std::ptr::null_mut()) }
    };
    assert_eq!(broken.each_ref().map(&mut ask), [-1; 3]);
    assert_eq!(ask(&head), c::PASS);
    assert_eq!(unsafe { c::sojourn_law_on_rate(law.0, 5, 0) }, -1);
    assert_eq!(law.var("count"), 0.0);
    law.on_timer(Time::ZERO, Backlog::EMPTY);
}

#[test]
fn a_discipline_is_refused_where_a_law_is_wanted() {
    let refusal = |text: &str| {
        let (text, mut error) = (CString::new(text).expect("no zero"), [0; 300]);
        let setup = setup(std::ptr::null_mut());
        let handle =
            unsafe { c::sojourn_law_new(text.as_ptr(), &setup, error.as_mut_ptr(), error.len()) };
        assert!(handle.is_null());
        unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy().into_owned()
    };
    assert!(refusal("fq_codel").contains("name a law"), "{}", refusal("fq_codel"));
    assert!(refusal("sfq").contains("name a law"));
    assert!(refusal("coddel").contains("did you mean `codel`"));
    assert!(refusal("cake:ack_filter=on").contains("TCP headers"));
}

#[test]
fn calls_in_the_past_and_timers_that_are_not_due_are_refused() {
    let mut pie = CDiscipline::new("pie");
    let packet = TracePacket { id: 1, flow: 1, bytes: 1500, ecn: sojourn_aqm::Ecn::NotEct };
    pie.enqueue(Time::from_nanos(5_000_000), packet);
    let mut left = std::mem::MaybeUninit::uninit();
    let before = 4_999_999;
    assert_eq!(unsafe { c::sojourn_dequeue(pie.handle, before, left.as_mut_ptr()) }, -1);
    assert_eq!(unsafe { c::sojourn_on_rate(pie.handle, before, 1000) }, -1);
    assert_eq!(unsafe { c::sojourn_on_timer(pie.handle, 6_000_000) }, -1);
    assert_eq!(pie.next_timer(), Some(Time::from_nanos(15_000_000)));
    pie.on_timer(Time::from_nanos(15_000_000));
    assert_eq!(pie.dequeue(Time::from_nanos(16_000_000)), Some((1, Time::from_nanos(5_000_000))));
}

fn refusals(discipline: &mut CDiscipline, offered: u64) -> usize {
    for id in 0..offered {
        let packet = TracePacket { id, flow: id % 3, bytes: 1000, ecn: sojourn_aqm::Ecn::NotEct };
        discipline.enqueue(Time::ZERO, packet);
    }
    discipline.fates().len()
}

#[test]
fn a_limit_that_changes_holds_from_then_on() {
    for text in ["taildrop:limit=4p", "fq_codel:limit=4p", "dualpi2:limit=4p", "sfb:limit=4p"] {
        let mut discipline = CDiscipline::new(text);
        assert_eq!(refusals(&mut discipline, 4), 0, "{text}");
        let change =
            |limit, is_bytes| unsafe { c::sojourn_on_limit(discipline.handle, limit, is_bytes) };
        assert_eq!([change(0, 0), change(0, 1), change(8_000, 1)], [-1, -1, 0], "{text}");
        let mut shown = [0; 20];
        let (name, room) = (c"limit".as_ptr(), shown.len());
        unsafe { c::sojourn_setting(discipline.handle, name, shown.as_mut_ptr(), room) };
        assert_eq!(unsafe { CStr::from_ptr(shown.as_ptr()) }, c"8kB", "{text}");
        assert!(refusals(&mut discipline, 10) >= 6, "{text}");
        let waiting = unsafe { c::sojourn_backlog_of(discipline.handle) }.bytes;
        assert!((6_000..=8_000).contains(&waiting), "{text}: {waiting} bytes wait");
    }
    let sfq = CDiscipline::new("sfq");
    assert_eq!(unsafe { c::sojourn_on_limit(sfq.handle, 5, 0) }, -1, "its queues are made for it");
}

#[test]
fn packets_of_one_flow_have_one_flow_queue() {
    let queue_of = |text: &str, flow| {
        let packet =
            c::Packet { id: 0, flow, src_host: 0, dst_host: 0, bytes: 1000, ecn: 0, dscp: 0 };
        unsafe { c::sojourn_flow_queue(CDiscipline::new(text).handle, &packet) }
    };
    assert_eq!([queue_of("codel", 1), queue_of("cake", 1)], [-1, -1]);
    let queues: std::collections::BTreeSet<i64> =
        (0..100).map(|flow| queue_of("fq_codel:flows=8", flow)).collect();
    assert_eq!(queues.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(queue_of("fq(pi2):flows=8", 5), queue_of("fq_codel:flows=8", 5));
}

#[test]
fn a_flow_queue_says_where_it_stands_in_the_rounds() {
    let mut discipline = CDiscipline::new("fq_codel:quantum=1500B,flows=8");
    let turn = |handle, queue| {
        let mut credits = 7;
        (unsafe { c::sojourn_flow_turn(handle, queue, &raw mut credits) }, credits)
    };
    assert_eq!(turn(discipline.handle, 3), (c_int::from(c::LIST_INACTIVE), 0));
    assert!(refusals(&mut discipline, 1) == 0, "one packet of flow 0 waits");
    let new = (0..8).filter(|&queue| turn(discipline.handle, queue).0 == c_int::from(c::LIST_NEW));
    assert_eq!(new.map(|queue| turn(discipline.handle, queue).1).collect::<Vec<_>>(), [1500]);
    assert_eq!(turn(discipline.handle, 8), (-1, 7), "there are eight");
    assert_eq!(turn(CDiscipline::new("codel").handle, 0), (-1, 7), "codel has no flow queues");
}

/// The header's names of causes, in the order of the numbers that callbacks get.
#[test]
fn every_cause_has_its_number_in_the_header() {
    let header = include_str!("../include/sojourn_aqm.h");
    for cause in Cause::ALL {
        let words = format!("{cause:?}");
        let mut name = String::new();
        for (at, letter) in words.chars().enumerate() {
            if at > 0 && letter.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_uppercase());
        }
        let line = format!("#define SOJOURN_CAUSE_{name} {}\n", cause as u8);
        assert!(header.contains(&line), "{line}");
    }
}
