//! Facts for the tests of laws, to be changed where a test needs others.

use forebay_network::{Ack, RateSample};
use forebay_units::Time;

/// An acknowledgement of `acked` bytes, of which 1000 at most count in slow start.
pub(super) fn acked(acked: f64) -> Ack {
    Ack {
        now: Time::ZERO,
        acked,
        slow_start_limit: 1000.0,
        flight: 0.0,
        rtt: None,
        srtt: None,
        ece: false,
    }
}

/// An acknowledgement that says nothing.
pub(super) fn sample() -> RateSample {
    RateSample { selective: true, ..RateSample::default() }
}
