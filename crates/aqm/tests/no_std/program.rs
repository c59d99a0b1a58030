//! FQ-CoDel without an operating system: no std, no C library, an allocator that never frees. It
//! exits with 0 if every packet that went in came out or was dropped. `tests/no_std.rs` links and
//! runs it.
#![no_std]
#![no_main]
#![no_builtins]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicUsize, Ordering};

use sojourn_aqm::{
    Cause, Ecn, Env, Limit, Packet, QdiscSpec, Rate, Rng, Sink, Stage, Time, registry,
};

struct Heap;

const HEAP_BYTES: usize = 8 << 20;
static mut MEMORY: [u8; HEAP_BYTES] = [0; HEAP_BYTES];
static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call returns a part of `MEMORY` that no other call gets, or null.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = &raw mut MEMORY as usize;
        let claimed = USED.fetch_add(layout.size() + layout.align(), Ordering::Relaxed);
        if claimed + layout.size() + layout.align() > HEAP_BYTES {
            return core::ptr::null_mut();
        }
        ((start + claimed).next_multiple_of(layout.align())) as *mut u8
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static HEAP: Heap = Heap;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(101)
}

// The symbols that a prebuilt `core` needs: for unwinding, which never happens, and for bulk byte
// operations.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    exit(102)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for i in 0..count {
        unsafe { *to.add(i) = *from.add(i) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for i in 0..count {
        let i = if (to as usize) < from as usize { i } else { count - 1 - i };
        unsafe { *to.add(i) = *from.add(i) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    for i in 0..count {
        unsafe { *to.add(i) = byte as u8 };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    for i in 0..count {
        let (a, b) = unsafe { (*a.add(i), *b.add(i)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    unsafe { memcmp(a, b, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    (0..).find(|&i| unsafe { *text.add(i) } == 0).unwrap_or(0)
}

// Aligns the stack as a call would leave it.
global_asm!(".globl _start", "_start:", "and rsp, -16", "call main_of_ours");

fn exit(code: i32) -> ! {
    loop {
        // SAFETY: Linux x86-64, system call 60: exit.
        unsafe { asm!("syscall", in("rax") 60, in("rdi") code) };
    }
}

struct Datagram(u64);

impl Packet for Datagram {
    fn bytes(&self) -> u32 {
        1000
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> u64 {
        self.0
    }
}

struct Drops(u64);

impl Sink<Datagram> for Drops {
    fn dropped(&mut self, _: Datagram, _: Time, _: Stage, _: Cause) {
        self.0 += 1;
    }
    fn marked(&mut self, _: &mut Datagram, _: Time, _: Stage, _: Cause) {}
}

#[unsafe(no_mangle)]
extern "C" fn main_of_ours() -> ! {
    let rate = Some(Rate::from_bps(10_000_000));
    let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1514, rate, salt: 1 };
    let Ok(spec) = QdiscSpec::parse("fq_codel:flows=64,limit=1000p") else { exit(1) };
    let Ok(mut qdisc) = registry::build::<Datagram>(&spec, &env) else { exit(2) };
    let (mut rng, mut drops, mut left) = (Rng::stream(1, "queue", 0), Drops(0), 0);
    for i in 0..10_000u64 {
        let now = Time::from_nanos(i * 600_000);
        qdisc.enqueue(now, Datagram(i % 5), &mut rng, &mut drops);
        if i % 2 == 0 {
            left += u64::from(qdisc.dequeue(now, &mut rng, &mut drops).is_some());
        }
    }
    let waiting = u64::from(qdisc.backlog().packets);
    let is_conserved = left + drops.0 + waiting == 10_000 && drops.0 > 100;
    exit(if is_conserved { 0 } else { 3 })
}
