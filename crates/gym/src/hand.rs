//! Hands: what an agent decides and what it sees, shared by the law in the network and the
//! environment around it.
//!
//! The two take turns and are never at work at once: what they share is atomic so that an
//! environment can move between threads, and costs what plain numbers do.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forebay_kernel::Streams;

/// A number that is shared.
#[derive(Debug)]
pub(crate) struct Cell(AtomicU64);

impl Cell {
    /// One that says nothing yet.
    fn unset() -> Self {
        Self(AtomicU64::new(f64::NAN.to_bits()))
    }

    pub(crate) fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// The number; `None` before it was set.
    #[inline]
    pub(crate) fn get(&self) -> Option<f64> {
        let value = f64::from_bits(self.0.load(Ordering::Relaxed));
        (!value.is_nan()).then_some(value)
    }
}

/// A counter that is shared.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn add(&self, value: u64) {
        // The law is alone when it counts.
        self.set(self.get().wrapping_add(value));
    }
}

/// Observations of the congestion control of an agent since the run began, over its connections.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Bytes of data that have arrived, as far as the senders know.
    pub(crate) delivered: Count,
    /// Segments found to be lost.
    pub(crate) lost: Count,
    /// Segments that these are of: those that have arrived.
    pub(crate) arrived: Count,
    /// Sum of the round-trip times that were measured, in ps, and their number.
    pub(crate) rtt: Count,
    pub(crate) rtts: Count,
    /// The least of them; 0 before there is one.
    pub(crate) least_rtt: Count,
    /// The smoothed round-trip time in ps; 0 before there is one.
    pub(crate) srtt: Count,
    /// Bytes in the network when the last acknowledgements arrived.
    pub(crate) in_flight: Count,
    /// The window of the connection that heard last, in bytes.
    pub(crate) cwnd: Cell,
}

impl Default for Cell {
    fn default() -> Self {
        Self::unset()
    }
}

/// The hand of one agent.
#[derive(Debug)]
pub(crate) struct Hand {
    pub(crate) actions: Box<[Cell]>,
    pub(crate) seen: Seen,
}

/// Most actions of an agent: a scheduler has as many classes.
pub(crate) const MAX_ACTIONS: usize = 64;

impl Hand {
    /// A hand of `actions` actions, none of which was decided.
    pub(crate) fn new(actions: usize) -> Self {
        Self { actions: (0..actions).map(|_| Cell::unset()).collect(), seen: Seen::default() }
    }
}

/// The hands of all agents of an environment, in their order.
pub(crate) type Hands = Arc<[Arc<Hand>]>;

thread_local! {
    /// Hands of the network that is being wired on this thread, and its random streams.
    static WIRING: RefCell<Option<(Hands, Streams)>> = const { RefCell::new(None) };
}

/// Resets [`WIRING`], also where the wiring panics.
struct Wiring;

impl Drop for Wiring {
    fn drop(&mut self) {
        WIRING.set(None);
    }
}

/// Have the agents that `wire` makes, on this thread, act with `hands`.
pub(crate) fn with_hands<R>(hands: &Hands, streams: Streams, wire: impl FnOnce() -> R) -> R {
    WIRING.set(Some((Arc::clone(hands), streams)));
    let _wiring = Wiring;
    wire()
}

/// The hand of agent `number`, and the random streams of its run. A scenario that is only read has
/// no hands: then it is one on which nothing is decided.
pub(crate) fn hand(number: u32) -> (Arc<Hand>, Streams) {
    WIRING.with_borrow(|wiring| {
        let found = wiring.as_ref().and_then(|(hands, streams)| {
            hands.get(number as usize).map(|hand| (Arc::clone(hand), *streams))
        });
        found.unwrap_or_else(|| (Arc::new(Hand::new(MAX_ACTIONS)), Streams::new(0, 0)))
    })
}
