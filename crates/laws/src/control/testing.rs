//! Facts for the tests of laws, to be changed where a test needs others.

use forebay_network::{Ack, RateSample};
use forebay_units::{Span, Time};

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
    RateSample {
        now: Time::ZERO,
        acked: 0,
        newly_delivered: 0,
        newly_lost: 0,
        delivered: 0,
        prior_delivered: None,
        rate: None,
        app_limited: false,
        rtt: None,
        one_way: Span::ZERO,
        srtt: None,
        prior_in_flight: 0,
        in_flight: 0,
        sent_in_flight: 0,
        lost_since: 0,
        recovering: false,
        cwnd_limited: false,
        paced: false,
        selective: true,
        ece: false,
        newly_marked: 0,
        una: 0,
        max: 0,
    }
}
