//! The simulator for browsers: sessions behind a few functions of WebAssembly.
//!
//! Every call takes and returns a JSON text: JavaScript calls [`input`], writes the text there,
//! makes the call and reads [`output`]. For a boundary of three functions, wasm-bindgen would add a
//! compiled tool whose version must match a crate's. Texts suffice because a simulated second has
//! about a hundred samples.
//!
//! The functions themselves are in [`calls`], the same natively and in a browser.

#![warn(unreachable_pub)]

pub mod calls;
mod catalogue;
mod observed;
mod page_call;
mod setup;

use std::cell::RefCell;

use crate::calls::Calls;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static CALLS: RefCell<Calls> = RefCell::default();
}

/// Makes room for a UTF-8 text of `bytes` bytes and returns its start.
#[allow(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(bytes, 0);
        buffer.as_mut_ptr()
    })
}

/// The start of the text returned by the last call.
#[allow(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|buffer| buffer.as_ptr())
}

/// Makes the call that the input describes; returns the length of the output in bytes.
#[allow(unsafe_code, reason = "a name that the page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    let text = INPUT.with_borrow(|buffer| String::from_utf8_lossy(buffer).into_owned());
    let answer = CALLS.with_borrow_mut(|calls| calls.answer(&text));
    OUTPUT.with_borrow_mut(|buffer| {
        *buffer = answer.into_bytes();
        buffer.len()
    })
}
