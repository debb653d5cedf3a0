//! Software prefetching: data is requested from memory before it is used.
//!
//! A prefetch is a hint: it changes when data is in the caches, never what the data is. Without it
//! a run gives the same results, and is slower where there are very many flows. See Callahan,
//! Kennedy and Porterfield, "Software prefetching", ASPLOS IV (1991) 40-52.
#![expect(unsafe_code, reason = "the hint takes addresses, and changes nothing there")]

use std::mem::MaybeUninit;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Prefetch the cache lines that hold `value`, to have them in the caches when it is needed.
///
/// A processor stalls when it uses data that has not arrived from memory. Several prefetches in a
/// row are in progress together, whereas the same reads one by one, each with work in between,
/// would stall one after the other. This pays for data that exceeds the caches.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast();
    for line in 0..size_of::<T>().div_ceil(CACHE_LINE) {
        fetch_line(start, line * CACHE_LINE);
    }
    // A value that begins within a line may extend into one more.
    if align_of::<T>() < CACHE_LINE.min(size_of::<T>()) {
        fetch_line(start, size_of::<T>() - 1);
    }
}

/// Prefetch the cache line that holds the byte at `offset` from `start`.
#[inline(always)]
fn fetch_line(start: *const MaybeUninit<u8>, offset: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program can observe, whatever the address. All
    // processors of this family have the instruction.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: `fetch` requests bytes of one value only, whatever they hold. Nothing uses the byte
    // that is read; without `black_box` the read would be optimised away.
    std::hint::black_box(unsafe { start.add(offset).read() });
}
