//! What is asked of the machine's memory ahead of time.
//!
//! A hint: it changes when something is there, and never what it is. Without it a run is the same,
//! and slower where it has very many flows.
#![allow(unsafe_code, reason = "the hint takes addresses, and changes nothing there")]

use std::mem::MaybeUninit;

/// Bytes of a line of the caches.
const LINE: usize = 64;

/// Ask for the lines of the caches in which `value` lies, to have them there when it is needed.
///
/// A processor waits for memory when it needs what it has read. Several of these in a row are under
/// way together, where the same reads one by one, each with work to be done in between, would wait
/// one after the other. That is worth it for what is too much for the caches.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        fetch_line(start, line * LINE);
    }
    // It may begin within a line, and end in one more.
    if align_of::<T>() < LINE.min(size_of::<T>()) {
        fetch_line(start, size_of::<T>() - 1);
    }
}

/// Ask for the line that holds byte `at` from `start`.
#[inline(always)]
fn fetch_line(start: *const MaybeUninit<u8>, at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program can see, whatever the address. All processors
    // of this family have the instruction.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: `fetch` asks for bytes of one value alone, whatever is in them. Nobody needs what is
    // read: without this it would not be.
    std::hint::black_box(unsafe { start.add(at).read() });
}
