//! Memory that the process holds.

#![expect(clippy::disallowed_methods, reason = "what the system says of this process")]

/// Bytes in memory now; `None` where the system does not say.
pub(crate) fn resident() -> Option<u64> {
    // Linux, proc(5): sizes in pages; the second is the resident set.
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// Bytes of a page on all systems for which wheels are built; larger pages make the limit looser.
const PAGE: u64 = 4096;
