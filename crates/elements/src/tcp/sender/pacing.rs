//! Pacing: segments leave at a rate instead of in bursts.

use forebay_network::Window;
use forebay_units::{Span, Time};

/// Time at which the next segment of a connection may leave.
#[derive(Debug)]
pub(super) struct Pacer {
    /// Not before this time.
    release: Time,
    /// Time of the pending event of the pacing timer.
    pending: Time,
    /// Segments still to be sent that are not paced.
    unpaced: u32,
}

/// Segments at the start of a connection that are not paced (Linux, `net/ipv4/tcp_output.c`,
/// `tcp_update_skb_after_send`, and `net/sched/sch_fq.c`, `initial_quantum`).
const UNPACED: u32 = 10;

impl Pacer {
    /// That of a new connection, whose first segments are paced if it is of the L4S architecture: a
    /// window at once is a queue that L4S marks (RFC 9331, section 4.3; L4STeam's Linux has
    /// `tcp_pace_iw` for that).
    pub(super) fn new(l4s: bool) -> Self {
        let unpaced = if l4s { 0 } else { UNPACED };
        Self { release: Time::ZERO, pending: Time::NEVER, unpaced }
    }

    /// A segment leaves. Returns true if it is [paced](Pacer::sent).
    #[inline]
    pub(super) fn paces(&mut self) -> bool {
        if self.unpaced == 0 {
            return true;
        }
        self.unpaced -= 1;
        false
    }

    /// A segment with `bytes` of data leaves; the next waits until it has passed at `rate`, in
    /// bytes per second.
    pub(super) fn sent(&mut self, bytes: f64, rate: f64, now: Time) {
        if rate > 0.0 && rate.is_finite() {
            // A rate that underflows must not stop a connection for ever.
            let wait = Span::from_seconds((bytes / rate).min(MAX_GAP));
            self.release = self.release.max(now) + wait;
        }
    }

    /// Returns `None` if a segment may leave at `now`; else the time for which an event is to be
    /// scheduled, unless one is pending.
    pub(super) fn blocks(&mut self, now: Time) -> Option<Option<Time>> {
        if self.release <= now {
            return None;
        }
        if self.pending <= self.release && self.pending > now {
            return Some(None);
        }
        self.pending = self.release;
        Some(Some(self.release))
    }

    /// An event of the timer occurred: whether it is the one that was scheduled last.
    pub(super) fn expired(&mut self, now: Time) -> bool {
        let expected = self.pending == now;
        if expected {
            self.pending = Time::NEVER;
        }
        expected
    }
}

/// The longest gap between two segments in seconds.
const MAX_GAP: f64 = 60.0;

/// The rate at which a window that is not paced by its law leaves within a round trip: twice the
/// window where it may still double, 1.2 times otherwise, in bytes per second (Linux,
/// `net/ipv4/tcp_input.c`, `tcp_update_pacing_rate`; `tcp_pacing_ss_ratio` 200 and
/// `tcp_pacing_ca_ratio` 120). Infinite before the first measurement.
pub(super) fn window_rate(window: &Window, flight: f64, srtt: Option<Span>) -> f64 {
    let Some(srtt) = srtt.filter(|srtt| *srtt > Span::ZERO) else { return f64::INFINITY };
    let factor = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
    factor * window.cwnd.max(flight) / srtt.seconds()
}
