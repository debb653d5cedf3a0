//! Data Center TCP (RFC 8257): the window shrinks by as much of it as was marked.

use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::reno::{Growth, reduce};
use super::{BuildControl, ControlFactory, require};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "dctcp",
    summary: "Data Center TCP: ECN shrinks the window by half the share of bytes that was marked.",
    source: "RFC 8257",
    example: "",
    fields: DctcpParameters::FIELDS,
    probes: &[Probe {
        name: "marked_share",
        unit: "1",
        meaning: "Moving average of the share of bytes that were marked (DCTCP.Alpha).",
    }],
    build: &build,
};

parameters! {
    /// Parameters of DCTCP.
    pub struct DctcpParameters {
        /// Weight g of the latest window in the moving average of the share of marked bytes. Above
        /// 0, at most 1.
        gain: f64 = 0.0625, "RFC 8257, section 4.2";
        /// That share before the first window was observed, 0 to 1.
        initial_share: f64 = 1.0, "RFC 8257, section 3.3";
        /// Segments that marks leave of the window at least: 2 under Linux. 1 if left out: then the
        /// next segment waits for the retransmission timer if that is marked as well.
        min_window: Option<u32>, "RFC 3168, section 6.1.2; Linux 6.6 (2023), \
                                  net/ipv4/tcp_dctcp.c: dctcp_ssthresh";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let DctcpParameters { gain, initial_share, min_window } = DctcpParameters::read(section)?;
    require(section, "gain", gain, gain > 0.0 && gain <= 1.0, "above 0 and up to 1")?;
    let fine = (0.0..=1.0).contains(&initial_share);
    require(section, "initial_share", initial_share, fine, "0 to 1")?;
    let floor = min_window.unwrap_or(1);
    require(section, "min_window", f64::from(floor), (1..=1000).contains(&floor), "1 to 1000")?;
    let floor = f64::from(floor);
    Ok(Box::new(move || Box::new(Dctcp { floor, ..Dctcp::new(gain, initial_share) })))
}

/// The window grows as Reno's does, and losses halve it as they do that (RFC 8257, sections 3.4 and
/// 3.5).
struct Dctcp {
    growth: Growth,
    gain: f64,
    /// Segments that marks leave of the window at least.
    floor: f64,
    /// DCTCP.Alpha.
    share: f64,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked.
    acked: u64,
    marked: u64,
    /// DCTCP.WindowEnd, as the number of a segment.
    window_end: u64,
}

impl Dctcp {
    fn new(gain: f64, share: f64) -> Self {
        let growth = Growth::default();
        Self { growth, gain, floor: 1.0, share, acked: 0, marked: 0, window_end: 0 }
    }
}

impl CongestionControl for Dctcp {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.ece {
            self.growth.open(window, ack);
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.growth = Growth::default();
        // Section 3.3, step 9: marks take alpha/2 of the window, all else half.
        let part = if signal == Signal::Ecn { self.share / 2.0 } else { 0.5 };
        reduce(window, signal, flight, |bytes| bytes * (1.0 - part));
        if signal == Signal::Ecn {
            window.cwnd = window.cwnd.max(self.floor * window.smss);
        }
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, without_rates: true, exact_marks: true, l4s: false }
    }

    /// Section 3.3, steps 1 to 8.
    fn sampled(&mut self, _window: &mut Window, sample: &RateSample) {
        self.acked += sample.acked;
        self.marked += sample.newly_marked;
        if sample.una > self.window_end && self.acked > 0 {
            // Counters report marks above a gap before what is there is acknowledged.
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.share = self.share * (1.0 - self.gain) + self.gain * share;
            self.window_end = sample.max;
            (self.acked, self.marked) = (0, 0);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("marked_share", self.share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{acked, sample};

    /// Marked bytes have a share that is averaged with a weight of 1/16 over windows from one
    /// SND.NXT to the next (section 3.3): windows of ten segments of which five are marked take 1
    /// to 1 - 1/16 + 0.5/16 = 0.96875, and then to 0.96875 * 15/16 + 0.5/16 = 0.939453125. The
    /// acknowledgement that takes SND.UNA beyond the end of the window closes it.
    #[test]
    fn the_share_of_marked_bytes_is_averaged_by_windows() {
        let mut dctcp = Dctcp::new(1.0 / 16.0, 1.0);
        let mut w = Window { cwnd: 10_000.0, ssthresh: 10_000.0, smss: 1000.0 };
        dctcp.window_end = 9;
        let mut shares = Vec::new();
        for una in 1..=20 {
            let newly_marked = if una % 2 == 0 { 1000 } else { 0 };
            let counts = RateSample { una, max: una + 9, newly_marked, acked: 1000, ..sample() };
            dctcp.sampled(&mut w, &counts);
            shares.push(dctcp.share);
        }
        // The first window ends with segment 10, the next with 20, as 10 + 9 = 19 is its end.
        assert_eq!(shares[8], 1.0);
        assert_eq!(shares[9], 0.96875);
        assert_eq!((shares[18], shares[19]), (0.96875, 0.939_453_125));
    }

    /// A window shrinks by the factor (1 - alpha/2): all marked, it is halved as by RFC 3168; a
    /// quarter marked, 20 segments are left 17.5. A loss halves it whatever was marked (section
    /// 3.4), and what is acknowledged with an echo does not open it.
    #[test]
    fn the_window_shrinks_by_the_share() {
        let reduced = |share: f64, signal| {
            let mut w = Window { cwnd: 20_000.0, ssthresh: 50_000.0, smss: 1000.0 };
            Dctcp::new(1.0 / 16.0, share).congested(&mut w, signal, 20_000.0, Time::ZERO);
            (w.cwnd, w.ssthresh)
        };
        assert_eq!(reduced(1.0, Signal::Ecn), (10_000.0, 10_000.0));
        assert_eq!(reduced(0.25, Signal::Ecn), (17_500.0, 17_500.0));
        assert_eq!(reduced(0.25, Signal::Loss), (10_000.0, 10_000.0));
        assert_eq!(reduced(0.25, Signal::Timeout { first: true }), (1000.0, 10_000.0));
        // Two segments are left where that is the least, one otherwise.
        for (floor, left) in [(1.0, 1000.0), (2.0, 2000.0)] {
            let mut w = Window { cwnd: 2000.0, ssthresh: 9000.0, smss: 1000.0 };
            let mut dctcp = Dctcp { floor, ..Dctcp::new(0.5, 1.0) };
            dctcp.congested(&mut w, Signal::Ecn, 2000.0, Time::ZERO);
            assert_eq!((w.cwnd, w.ssthresh), (left, 2000.0));
        }
        let (mut dctcp, mut w) =
            (Dctcp::new(0.5, 1.0), Window { cwnd: 1000.0, ssthresh: 9000.0, smss: 1000.0 });
        dctcp.acknowledged(&mut w, &Ack { ece: true, ..acked(1000.0) });
        assert_eq!(w.cwnd, 1000.0);
        dctcp.acknowledged(&mut w, &acked(1000.0));
        assert_eq!(w.cwnd, 2000.0);
    }
}
