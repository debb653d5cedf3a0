//! What is asked of the machine's memory ahead of time.
//!
//! Hints: they change when something is there, and never what it is. Without them a run is the
//! same, and slower where it has very many flows.
#![allow(unsafe_code, reason = "the two hints take addresses, and change nothing there")]

use std::mem::MaybeUninit;

/// Bytes of a large page; it begins at a multiple of them.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 1 << 21;

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

/// The values in a table of their own with [room](make_room) for them.
pub fn gather<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut table = Vec::new();
    make_room(&mut table, values.size_hint().0);
    table.extend(values);
    table
}

/// Make room for `more` values in a table of which every packet needs another part: in large pages
/// of memory, if that is much and they can be had.
///
/// A processor finds memory by its page, and remembers where the pages are that it used lately. Of
/// pages of 4 kB it remembers too few for the tables of a million flows, so that it would wait for
/// memory twice: for the place of the page, and for what is there. Linux gives pages of 2 MB to
/// those who ask before they write, where its setting for them (`transparent_hugepage`) is
/// `madvise` or `always`. Elsewhere this is [`Vec::reserve_exact`].
pub fn make_room<T>(table: &mut Vec<T>, more: usize) {
    table.reserve_exact(more);
    lay_large(table.spare_capacity_mut());
}

/// Ask for large pages wherever a whole one lies in `room`.
#[cfg(target_os = "linux")]
fn lay_large<T>(room: &mut [MaybeUninit<T>]) {
    let start = room.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(LARGE_PAGE);
    let whole = size_of_val(room).saturating_sub(before) / LARGE_PAGE * LARGE_PAGE;
    if whole > 0 {
        // SAFETY: the range lies within the room, since all of `before` and `whole` does, and
        // begins where a page does. Linux notes how the range is to be held in memory (madvise(2),
        // MADV_HUGEPAGE) and changes nothing in it; where it refuses, all stays as it is.
        unsafe { libc::madvise(start.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn lay_large<T>(_room: &mut [MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise what is kept of a flow would be lost or mixed up with that of another, or a table
    /// would be given more memory than it needs.
    #[test]
    fn a_table_holds_what_it_was_given() {
        for count in [0, 1, 1000, 1_000_000] {
            let table = gather((0..count).map(|n| (n, [n; 3])));
            assert!(table.iter().copied().eq((0..count).map(|n| (n, [n; 3]))));
            assert!(table.capacity() <= count.max(4), "{} for {count}", table.capacity());
        }
        // Of what does not tell how much it is.
        assert_eq!(gather((0..9).filter(|n| n % 2 == 0)), [0, 2, 4, 6, 8]);
        let mut table = vec![7_u8; 100];
        make_room(&mut table, 10_000_000);
        assert!(table.capacity() >= 10_000_100 && table == [7; 100]);
    }

    /// Otherwise a million flows would wait for memory twice. Linux tells of each mapping whether
    /// large pages were asked for: `hg` among its flags (proc_pid_smaps(5)).
    #[test]
    fn linux_is_asked_for_large_pages() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let table = gather(0..4_000_000_u64);
        let middle = (&raw const table[table.len() / 2]).addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut here = false;
        let mut flags = maps.lines().filter(|line| {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            if let Some((from, to)) = range {
                let address = |digits| usize::from_str_radix(digits, 16).unwrap_or(0);
                here = (address(from)..address(to)).contains(&middle);
            }
            here && line.starts_with("VmFlags:")
        });
        let flags = flags.next().expect("memory that is read is mapped");
        assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
    }
}
