//! Reno: additive increase, multiplicative decrease (RFC 5681).

use forebay_network::{Ack, CongestionControl, Signal, Window};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildControl, ControlFactory, abe};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "reno",
    summary: "Slow start, congestion avoidance by one segment a round trip, halving on loss.",
    source: "RFC 5681, section 3.1",
    example: "",
    fields: RenoParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of Reno.
    pub struct RenoParameters {
        ..abe: abe::AbeParameters;
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let beta_ecn = RenoParameters::read(section)?.abe.checked(section)?;
    Ok(Box::new(move || Box::new(Reno { beta_ecn, ..Reno::default() })))
}

/// Slow start and congestion avoidance of RFC 5681. Recovery's inflation of the window is the
/// sender's.
#[derive(Default)]
struct Reno {
    growth: Growth,
    beta_ecn: Option<f64>,
}

impl CongestionControl for Reno {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        // RFC 3168, section 6.1.2: an acknowledgement with ECN-Echo never opens the window.
        if !ack.ece {
            self.growth.open(window, ack);
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.growth = Growth::default();
        let left = abe::left(self.beta_ecn, signal, flight);
        reduce(window, signal, flight, |bytes| left.unwrap_or(bytes / 2.0));
    }
}

/// Answer `signal` with `flight` bytes in the network: a loss takes the window to what is `left` of
/// them, a mark to what is left of the window, and a timeout to one segment, below the threshold
/// that a loss would leave (RFC 5681, sections 3.1 and 3.2; RFC 3168, section 6.1.2).
pub(super) fn reduce(window: &mut Window, signal: Signal, flight: f64, left: impl Fn(f64) -> f64) {
    let smss = window.smss;
    match signal {
        Signal::Loss => {
            window.ssthresh = left(flight).max(2.0 * smss);
            window.cwnd = window.ssthresh;
        }
        Signal::Ecn => {
            let reduced = left(window.cwnd);
            window.ssthresh = reduced.max(2.0 * smss);
            window.cwnd = reduced.max(smss);
        }
        Signal::Timeout { first } => {
            if first {
                window.ssthresh = left(flight).max(2.0 * smss);
            }
            window.cwnd = smss;
        }
    }
}

/// Slow start, and congestion avoidance that counts acknowledged bytes.
#[derive(Clone, Default)]
pub(super) struct Growth {
    /// Bytes acknowledged in congestion avoidance since the window last grew (`bytes_acked`).
    acked: f64,
}

impl Growth {
    /// Open the window for an acknowledgement of at most as many bytes as it holds: in slow start
    /// by RFC 5681, equation 2, with the limit that is given; then by one segment for each window
    /// acknowledged (RFC 5681, section 3.1; RFC 3465, section 2.1).
    #[inline]
    pub(super) fn open(&mut self, window: &mut Window, ack: &Ack) {
        if window.cwnd < window.ssthresh {
            window.cwnd += ack.in_slow_start(window);
            return;
        }
        self.acked += ack.acked;
        if self.acked >= window.cwnd {
            self.acked -= window.cwnd;
            window.cwnd += window.smss;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing;

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, smss: 1000.0 }
    }

    fn ack(acked: f64, ece: bool) -> Ack {
        Ack { ece, ..testing::acked(acked) }
    }

    /// The window opens at the pace of RFC 5681: in slow start by what is acknowledged but at most
    /// one segment an acknowledgement (equation 2), from ssthresh on by one segment for each window
    /// of bytes acknowledged (section 3.1), whether acknowledgements come for each segment or for
    /// every second one. From 4 segments: the fourth segment acknowledged makes it 5, the ninth 6.
    /// ECN-Echo never opens it.
    #[test]
    fn the_window_opens_by_the_equations() {
        let mut reno = Reno::default();
        let mut w = window(2000.0, 4000.0);
        reno.acknowledged(&mut w, &ack(300.0, false));
        assert_eq!(w.cwnd, 2300.0);
        reno.acknowledged(&mut w, &ack(2000.0, false));
        assert_eq!(w.cwnd, 3300.0);
        for (acked, windows) in [
            (1000.0, &[4.0, 4.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0][..]),
            (2000.0, &[4.0, 5.0, 5.0, 5.0, 6.0]),
        ] {
            let (mut reno, mut w) = (Reno::default(), window(4000.0, 4000.0));
            for expected in windows {
                reno.acknowledged(&mut w, &ack(acked, true));
                reno.acknowledged(&mut w, &ack(acked, false));
                assert_eq!(w.cwnd, 1000.0 * expected, "{acked} B at a time");
            }
        }
    }

    /// Slow start without a limit counts all that is acknowledged, so that it takes no longer where
    /// acknowledgements are delayed, and stops at the threshold: an acknowledgement of two segments
    /// opens the window by two, but from one segment below the threshold by one (Linux,
    /// tcp_slow_start).
    #[test]
    fn slow_start_counts_all_that_is_acknowledged() {
        let mut reno = Reno::default();
        let mut w = window(2000.0, 5000.0);
        let both = Ack { slow_start_limit: f64::INFINITY, ..ack(2000.0, false) };
        reno.acknowledged(&mut w, &both);
        assert_eq!(w.cwnd, 4000.0);
        reno.acknowledged(&mut w, &both);
        assert_eq!(w.cwnd, 5000.0);
    }

    /// Bytes acknowledged before a reduction do not count towards growth after it, so that the
    /// window grows by no more than one segment in the first round trip: 3999 of 4000 B were
    /// counted when the window is halved from 8 to 4 segments, and all 4 must be acknowledged
    /// again.
    #[test]
    fn a_reduction_starts_the_count_anew() {
        let (mut reno, mut w) = (Reno::default(), window(8000.0, 4000.0));
        reno.acknowledged(&mut w, &ack(3999.0, false));
        reno.congested(&mut w, Signal::Loss, 8000.0, Time::ZERO);
        reno.acknowledged(&mut w, &ack(3999.0, false));
        assert_eq!(w.cwnd, 4000.0);
        reno.acknowledged(&mut w, &ack(1.0, false));
        assert_eq!(w.cwnd, 5000.0);
    }

    /// A sender backs off to half of what is outstanding, at least two segments (equation 4);
    /// ssthresh only on the first timeout of a segment; ECN halves cwnd itself down to one segment
    /// (RFC 3168, section 6.1.2).
    #[test]
    fn congestion_halves_the_window() {
        let congested = |signal, flight| {
            let mut w = window(20_000.0, 50_000.0);
            Reno::default().congested(&mut w, signal, flight, Time::ZERO);
            (w.cwnd, w.ssthresh)
        };
        assert_eq!(congested(Signal::Loss, 16_000.0), (8000.0, 8000.0));
        assert_eq!(congested(Signal::Loss, 3000.0), (2000.0, 2000.0));
        assert_eq!(congested(Signal::Timeout { first: true }, 16_000.0), (1000.0, 8000.0));
        assert_eq!(congested(Signal::Timeout { first: false }, 16_000.0), (1000.0, 50_000.0));
        assert_eq!(congested(Signal::Ecn, 5000.0), (10_000.0, 10_000.0));
        let mut small = window(1500.0, 9000.0);
        Reno::default().congested(&mut small, Signal::Ecn, 1000.0, Time::ZERO);
        assert_eq!((small.cwnd, small.ssthresh), (1000.0, 2000.0));
    }

    /// With ABE a mark costs less than a loss, which halves the window as before: 0.8 of 16,000 B
    /// in flight are 12,800 B; of two segments 1600 B are left, below the threshold of two (RFC
    /// 8511, section 3; RFC 3168, section 6.1.2).
    #[test]
    fn marks_cost_less_with_alternative_backoff() {
        let congested = |signal, flight| {
            let mut w = window(20_000.0, 50_000.0);
            let mut reno = Reno { beta_ecn: Some(0.8), ..Reno::default() };
            reno.congested(&mut w, signal, flight, Time::ZERO);
            (w.cwnd, w.ssthresh)
        };
        assert_eq!(congested(Signal::Ecn, 16_000.0), (12_800.0, 12_800.0));
        assert_eq!(congested(Signal::Ecn, 2000.0), (1600.0, 2000.0));
        assert_eq!(congested(Signal::Loss, 16_000.0), (8000.0, 8000.0));
        assert_eq!(congested(Signal::Timeout { first: true }, 16_000.0), (1000.0, 8000.0));
    }
}
