//! Policing of virtual connections: laws that say when a cell conforms to a traffic contract, and
//! when one may leave.
//!
//! They keep no packets and know no clock; the element [`Policer`](crate::element::policer) and the
//! conditioners `leaky_bucket` and `gcra` ask them. A cell out of profile is marked with the cell
//! loss priority bit (CLP=1), which is bit 1 of its precedence here: priorities 0 and 1 with CLP=0
//! are precedences 0 and 1, with CLP=1 they are 2 and 3.

mod gcra;
mod leaky_bucket;
mod peak_rate;

use forebay_network::Packet;
use forebay_parameters::choice;

pub use gcra::Gcra;
pub use leaky_bucket::LeakyBucket;
pub use peak_rate::PeakRate;

/// The cell loss priority bit (CLP) among those of a precedence.
pub const CLP: u8 = 2;

choice! {
    /// Treatment of a packet that arrives at a full queue.
    pub enum FullQueue {
        /// It is dropped.
        Discard = "discard",
        /// The packet at the head leaves with CLP=1, and it joins the tail. Where there is no
        /// queue, it is the head itself.
        MarkHead = "mark_head",
    }
}

/// `packet` with CLP=1.
#[must_use]
pub fn marked(packet: &Packet) -> Packet {
    packet.with_precedence(packet.precedence | CLP)
}

/// Bounds that the conformance tests of these laws share.
#[cfg(test)]
mod bounds {
    use forebay_kernel::Streams;
    use forebay_units::{Span, Time};

    /// `count` arrivals, bursts and silences in turn, on average `mean` apart.
    pub fn arrivals(count: usize, mean: Span, seed: u64) -> Vec<Time> {
        let mut stream = Streams::new(seed, 0).named("arrivals");
        let mut now = Time::ZERO;
        let mut next = |number: usize| {
            let factor = if (number / 40).is_multiple_of(2) { 0.3 } else { 1.7 };
            now += mean.scaled(factor * stream.exponential());
            now
        };
        (0..count).map(&mut next).collect()
    }

    /// The most of `times` in any window, less what `rate` a second gives over it: the largest of
    /// n(window) - rate * window over all windows that begin and end with one of them.
    pub fn most_above(times: &[Time], rate: f64) -> f64 {
        // For windows from i to j: (j - i + 1) - rate (t_j - t_i) is the largest of
        // (j + 1 - rate t_j) - (i - rate t_i), so the least of the latter so far decides.
        let mut least = f64::INFINITY;
        let mut most = f64::NEG_INFINITY;
        for (number, time) in times.iter().enumerate() {
            let level = number as f64 - rate * time.seconds();
            least = least.min(level);
            most = most.max(level + 1.0 - least);
        }
        most
    }
}
