//! Bounds of a run, and why one has no result.

use std::fmt;

use forebay_network::LawFault;

use crate::plan::estimate::{Estimate, Need};

/// Bounds of a run: one that exceeds them has no result. None by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most data packets that sources may send, retransmissions and warm-up included.
    pub packets: Option<u64>,
    /// Most memory, in bytes. What a run will take is estimated before it is wired, and the packets
    /// that it holds are counted while it runs.
    pub memory: Option<u64>,
}

/// Reason why a run has no result.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// It was cancelled from another thread.
    Cancelled,
    /// Its sources sent more packets than they may.
    Packets {
        /// Number of packets that they may send.
        limit: u64,
        /// Number of packets that were expected.
        expected: u64,
    },
    /// It needs more memory than it may take.
    Memory {
        /// Memory that it may take, in bytes.
        limit: u64,
        /// Memory that it needs, in bytes.
        needed: u64,
        /// The largest need.
        most: Need,
    },
    /// A law from outside the build returned what is not allowed, or an error.
    Law(LawFault),
}

impl Stopped {
    /// Refuse an estimate above a limit of memory.
    pub(crate) fn check(estimate: &Estimate, limits: &Limits) -> Result<(), Self> {
        match (limits.memory, &estimate.most) {
            (Some(limit), Some(most)) if estimate.bytes > limit => {
                Err(Self::Memory { limit, needed: estimate.bytes, most: most.clone() })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => write!(f, "it was cancelled"),
            Self::Packets { limit, expected } => write!(
                f,
                "its sources sent more than {limit} packets, which is the limit; {expected} were \
                 expected"
            ),
            Self::Law(fault) => fault.fmt(f),
            Self::Memory { limit, needed, most } => write!(
                f,
                "{}: {} would take about {}; the run would take {}, and may take {}",
                most.path,
                most.what,
                show_bytes(most.bytes),
                show_bytes(*needed),
                show_bytes(*limit)
            ),
        }
    }
}

impl std::error::Error for Stopped {}

/// So many bytes in three digits.
fn show_bytes(bytes: u64) -> String {
    let units = [(1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let bytes = bytes as f64;
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let value = bytes / unit;
            let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            format!("{value:.digits$} {name}")
        }
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes are shown in three digits, with the unit that fits.
    #[test]
    fn bytes_are_shown_in_three_digits() {
        let shown = [999, 1000, 1_500_000, 12_340_000_000, 999_400_000_000, u64::MAX];
        let expected = ["999 B", "1.00 kB", "1.50 MB", "12.3 GB", "999 GB", "18.4 EB"];
        assert_eq!(shown.map(show_bytes), expected);
    }
}
