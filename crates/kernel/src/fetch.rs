//! Fetching what is needed soon.

/// Read `value`, to have it in the caches when it is needed.
///
/// A processor waits for memory only when it needs what it has read. So several of these in a row
/// wait together, where the same reads one by one, each with work to be done in between, would wait
/// one after the other. That is worth it for what is too much for the caches.
#[inline(always)]
pub fn fetch<T: Copy>(value: &T) {
    // Nobody needs what was read: without this it would not be.
    std::hint::black_box(*value);
}
