//! Functions of the host, which laws may call.

#![expect(unsafe_code, reason = "a C interface: laws hand in pointers")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};

use forebay_kernel::{Stream, math};

use crate::abi::{self, Head, Host};

/// Packets that a discipline drops in a call: handles, with verdicts.
pub(crate) type Dropped = Vec<(i64, i32)>;

thread_local! {
    /// Last complaint of a law on this thread: the parameter concerned, and the message.
    static COMPLAINT: RefCell<Option<(Option<String>, String)>> = const { RefCell::new(None) };
}

pub(crate) fn complaint() -> Option<(Option<String>, String)> {
    COMPLAINT.with_borrow_mut(Option::take)
}

pub(crate) fn clear_complaint() {
    COMPLAINT.set(None);
}

/// Most characters of a message of a law.
const MAX_MESSAGE_CHARS: usize = 4000;

unsafe extern "C" fn fail(_facts: *mut c_void, parameter: *const c_char, message: *const c_char) {
    let read = |pointer: *const c_char| {
        // SAFETY: null, or a text that ends with a zero, as the header says.
        (!pointer.is_null())
            .then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    };
    let mut message = read(message).unwrap_or_else(|| "it failed, and says nothing".to_owned());
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) {
        message.truncate(end);
    }
    COMPLAINT.set(Some((read(parameter), message)));
}

unsafe extern "C" fn drop_packet(facts: *mut c_void, handle: i64, verdict: i32) {
    // SAFETY: facts begin with a head, and its `engine` is null or a list of this call.
    let dropped = unsafe { facts.cast::<Head>().as_ref() }
        .and_then(|head| unsafe { head.engine.cast::<Dropped>().as_mut() });
    if let Some(dropped) = dropped {
        dropped.push((handle, verdict));
    }
}

/// The stream at `random`.
///
/// # Safety
/// It is that of the facts of the call that is under way.
unsafe fn stream<'s>(random: *mut c_void) -> Option<&'s mut Stream> {
    // SAFETY: null, or the stream that the facts were given.
    unsafe { random.cast::<Stream>().as_mut() }
}

unsafe extern "C" fn uniform(random: *mut c_void) -> f64 {
    // SAFETY: by the contract of the header, here and below.
    unsafe { stream(random) }.map_or(f64::NAN, Stream::uniform)
}

unsafe extern "C" fn exponential(random: *mut c_void) -> f64 {
    unsafe { stream(random) }.map_or(f64::NAN, Stream::exponential)
}

unsafe extern "C" fn normal(random: *mut c_void) -> f64 {
    unsafe { stream(random) }.map_or(f64::NAN, Stream::normal)
}

unsafe extern "C" fn below(random: *mut c_void, limit: i64) -> i64 {
    let limit = u64::try_from(limit).unwrap_or(0);
    unsafe { stream(random) }.map_or(-1, |stream| stream.below(limit) as i64)
}

extern "C" fn ln(x: f64) -> f64 {
    math::ln(x)
}

extern "C" fn ln_1p(x: f64) -> f64 {
    math::ln_1p(x)
}

extern "C" fn exp(x: f64) -> f64 {
    math::exp(x)
}

extern "C" fn exp_m1(x: f64) -> f64 {
    math::exp_m1(x)
}

extern "C" fn pow(x: f64, y: f64) -> f64 {
    math::pow(x, y)
}

extern "C" fn cbrt(x: f64) -> f64 {
    math::cbrt(x)
}

// The texts and functions that it points to never change.
// SAFETY: as said.
unsafe impl Sync for Host {}

/// The functions of the host.
pub(crate) static HOST: Host = Host {
    size: size_of::<Host>() as u32,
    version: abi::VERSION,
    forebay_version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
    fail,
    drop: drop_packet,
    ln,
    ln_1p,
    exp,
    exp_m1,
    pow,
    cbrt,
    uniform,
    exponential,
    normal,
    below,
};

/// The address of the functions of the host.
#[must_use]
pub fn host_address() -> usize {
    (&raw const HOST) as usize
}
