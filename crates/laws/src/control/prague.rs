//! Prague: the scalable congestion control of the L4S architecture.
//!
//! draft-briscoe-iccrg-prague-congestion-control-04, with the defaults of its implementation in
//! Linux (L4STeam, `net/ipv4/tcp_prague.c`). As DCTCP, it takes half the share of marked
//! bytes off its window; but it grows with each byte that arrives unmarked, also in the round trip
//! after a reduction; its window has fractions and is paced; and, some time after slow start, it
//! behaves as a flow of a longer, virtual round-trip time, so that short paths do not starve others
//! of a common bottleneck.

use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::reno::reduce;
use super::{BuildControl, ControlFactory, require};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "prague",
    summary: "Prague: a paced window that shrinks by half the share of marked bytes, and grows as \
              that of a flow with a longer round-trip time.",
    source: "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331",
    example: "rtt_transition = 20",
    fields: PragueParameters::FIELDS,
    probes: &[
        Probe {
            name: "marked_share",
            unit: "1",
            meaning: "Moving average of the share of bytes that were marked (alpha); 0 before the \
                      first mark.",
        },
        Probe {
            name: "virtual_rtt_s",
            unit: "s",
            meaning: "The round-trip time as which the window behaves.",
        },
        Probe {
            name: "fractional_window_bytes",
            unit: "B",
            meaning: "The window before it is rounded up to whole segments.",
        },
        Probe { name: "pacing_rate_bps", unit: "bit/s", meaning: "The rate of sending." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of Prague.
    pub struct PragueParameters {
        /// Weight of the latest virtual round trip in the moving average of the share of marked
        /// bytes. Above 0, at most 1.
        gain: f64 = 0.0625, "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.2";
        /// That share when the first mark arrives, 0 to 1.
        initial_share: f64 = 1.0, "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.2";
        /// The least virtual round-trip time.
        reference_rtt: Span = "25 ms",
            "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.4";
        /// Round trips after slow start before it counts. Until then a flow has the round-trip time
        /// that it has.
        rtt_transition: u32 = 500,
            "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.4";
        /// Factor of the window at a loss. Above 0, below 1.
        beta: f64 = 0.5, "RFC 5681, section 3.1; RFC 9331, section 4.3";
        /// The smallest window that marks leave, in segments. At least 1.
        least_window: f64 = 2.0, "Linux (L4STeam), net/ipv4/tcp_prague.c: MIN_CWND";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let parameters = PragueParameters::read(section)?;
    let PragueParameters { gain, initial_share, beta, least_window, .. } = parameters;
    require(section, "gain", gain, gain > 0.0 && gain <= 1.0, "above 0 and up to 1")?;
    let fine = (0.0..=1.0).contains(&initial_share);
    require(section, "initial_share", initial_share, fine, "0 to 1")?;
    require(section, "beta", beta, beta > 0.0 && beta < 1.0, "above 0 and below 1")?;
    require(section, "least_window", least_window, least_window >= 1.0, "1 and more")?;
    Ok(Box::new(move || Box::new(Prague::new(parameters.clone()))))
}

/// Segments by which a window may exceed a whole number and count as that.
const ROUNDING: f64 = 1e-9;

/// Prague's state. A round trip of its own, real or virtual, is over when both a window of data and
/// that time are.
struct Prague {
    parameters: PragueParameters,
    /// The window in bytes, with fractions, and as the sender was given it last.
    window: f64,
    given: f64,
    /// Share of marked bytes (alpha); `None` before the first mark.
    share: Option<f64>,
    /// Bytes that have arrived, and of them marked, since `averaged`.
    arrived: u64,
    marked: u64,
    averaged: Round,
    /// Round in which the window was reduced last, and the number of bytes if it was for marks.
    reduced: Option<Round>,
    credit: f64,
    /// Bytes marked of those that the present acknowledgement reports.
    newly_marked: f64,
    /// Round trips since slow start ended, and the end of the present one.
    rounds: u32,
    round_end: u64,
    /// The round-trip time in seconds, smoothed over eight acknowledgements: that of the
    /// retransmission timer is of whole ticks, and follows a queue too late to pace by.
    srtt: Option<f64>,
    /// The next segment that is to be acknowledged, and the next never sent, as of the present
    /// acknowledgement.
    una: u64,
    max: u64,
    slow_start: bool,
}

/// A round trip: when it began, and the next segment to be sent then.
#[derive(Clone, Copy, Debug)]
struct Round {
    start: Time,
    end: u64,
}

impl Prague {
    fn new(parameters: PragueParameters) -> Self {
        Self {
            parameters,
            window: 0.0,
            given: 0.0,
            share: None,
            arrived: 0,
            marked: 0,
            averaged: Round { start: Time::ZERO, end: 0 },
            reduced: None,
            credit: 0.0,
            newly_marked: 0.0,
            rounds: 0,
            round_end: 0,
            srtt: None,
            una: 0,
            max: 0,
            slow_start: true,
        }
    }

    /// The round-trip time as which the window behaves, once measured.
    fn virtual_rtt(&self) -> Option<f64> {
        let srtt = self.srtt?;
        let independent = !self.slow_start && self.rounds >= self.parameters.rtt_transition;
        Some(if independent { srtt.max(self.parameters.reference_rtt.seconds()) } else { srtt })
    }

    /// Returns true if a real and a virtual round trip have passed since `round`.
    fn has_passed(&self, round: Round, now: Time) -> bool {
        self.una > round.end
            && self.virtual_rtt().is_none_or(|rtt| now.since(round.start).seconds() >= rtt)
    }

    /// The present time as the start of a round trip.
    fn round(&self, now: Time) -> Round {
        Round { start: now, end: self.max }
    }

    /// Take over a window that the sender has changed since it was given one.
    fn adopt(&mut self, window: &Window) {
        if window.cwnd != self.given {
            self.window = window.cwnd;
        }
    }

    /// Give the sender the window, rounded up to whole segments: the rate of sending is that of the
    /// exact one.
    fn give(&mut self, window: &mut Window) {
        window.cwnd = (self.window / window.smss - ROUNDING).ceil() * window.smss;
        self.given = window.cwnd;
    }

    /// Average the share of marked bytes once in a virtual round trip.
    fn average(&mut self, sample: &RateSample) {
        self.arrived += sample.newly_delivered;
        self.marked += sample.newly_marked;
        let Some(share) = self.share else {
            if sample.newly_marked > 0 {
                self.share = Some(self.parameters.initial_share);
                self.averaged = self.round(sample.now);
                (self.arrived, self.marked) = (0, 0);
            }
            return;
        };
        if self.arrived > 0 && self.has_passed(self.averaged, sample.now) {
            let latest = (self.marked as f64 / self.arrived as f64).min(1.0);
            self.share = Some(share + self.parameters.gain * (latest - share));
            self.averaged = self.round(sample.now);
            (self.arrived, self.marked) = (0, 0);
        }
    }

    /// The window grows by one segment in a round trip; where the virtual one is longer, by the
    /// square of the ratio of the two, so that its rate grows as that of a flow with that
    /// round-trip time: one segment per round trip, in each round trip.
    fn growth(&self, acked: f64, smss: f64) -> f64 {
        let ratio = match (self.srtt, self.virtual_rtt()) {
            (Some(real), Some(virt)) if real < virt => real / virt,
            _ => 1.0,
        };
        ratio * ratio * acked * smss / self.window
    }
}

impl CongestionControl for Prague {
    /// The first window is paced as well, by the round-trip time of the handshake.
    fn opened(&mut self, window: &Window, rtt: Option<Span>) {
        self.adopt(window);
        self.slow_start = self.window < window.ssthresh;
        self.srtt = rtt.map(Span::seconds);
    }

    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        self.adopt(window);
        let unmarked = (ack.acked - self.newly_marked).max(0.0);
        self.slow_start = self.window < window.ssthresh;
        self.window += if self.slow_start {
            unmarked.min(window.smss)
        } else {
            self.growth(unmarked, window.smss)
        };
        self.give(window);
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, now: Time) {
        self.adopt(window);
        let again = self.reduced.is_some_and(|round| !self.has_passed(round, now));
        if signal != Signal::Ecn {
            // What marks of the same congestion took already counts as taken for the loss.
            let (beta, credit) = (self.parameters.beta, if again { self.credit } else { 0.0 });
            reduce(window, signal, flight, |bytes| ((bytes + credit) * beta).min(bytes));
            (self.window, self.given, self.credit) = (window.cwnd, window.cwnd, 0.0);
            self.reduced = Some(self.round(now));
            return;
        }
        if again {
            return;
        }
        let share = self.share.unwrap_or(self.parameters.initial_share);
        let least = self.parameters.least_window * window.smss;
        let left = (self.window * (1.0 - share / 2.0)).max(least.min(self.window));
        self.credit = self.window - left;
        self.window = left;
        self.reduced = Some(self.round(now));
        self.slow_start = false;
        window.ssthresh = left.max(2.0 * window.smss);
        self.give(window);
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, without_rates: true, exact_marks: true, l4s: true }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        self.adopt(window);
        self.newly_marked = sample.newly_marked as f64;
        (self.una, self.max) = (sample.una, sample.max);
        if let Some(rtt) = sample.rtt.map(Span::seconds) {
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt + (rtt - srtt) / 8.0));
        }
        self.slow_start = self.window < window.ssthresh;
        if self.una > self.round_end {
            self.round_end = self.max;
            self.rounds = if self.slow_start { self.rounds } else { self.rounds.saturating_add(1) };
        }
        self.average(sample);
    }

    /// That of the window for each smoothed round-trip time, twice that in slow start. Where
    /// nothing has been measured the path is taken to be as long as the reference.
    fn pacing_rate(&self) -> Option<f64> {
        let rtt = self.srtt.unwrap_or(self.parameters.reference_rtt.seconds());
        let factor = if self.slow_start { 2.0 } else { 1.0 };
        (rtt > 0.0 && self.window > 0.0).then(|| factor * self.window / rtt)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("fractional_window_bytes", self.window);
        visit("marked_share", self.share.unwrap_or(0.0));
        self.virtual_rtt().into_iter().for_each(|rtt| visit("virtual_rtt_s", rtt));
        self.pacing_rate().into_iter().for_each(|rate| visit("pacing_rate_bps", 8.0 * rate));
    }
}

#[cfg(test)]
mod tests {
    use forebay_kernel::Streams;

    use super::*;
    use crate::control::testing::{acked, sample};

    fn parameters() -> PragueParameters {
        PragueParameters {
            gain: 1.0 / 16.0,
            initial_share: 1.0,
            reference_rtt: Span::from_ms(25),
            rtt_transition: 0,
            beta: 0.5,
            least_window: 2.0,
        }
    }

    /// A law on a path of one round-trip time, whose segments of one byte are acknowledged one by
    /// one, evenly spread over it.
    struct Path {
        law: Prague,
        window: Window,
        rtt: f64,
        seconds: f64,
        una: u64,
    }

    impl Path {
        /// In congestion avoidance with a window of `segments`.
        fn new(parameters: PragueParameters, rtt: f64, segments: f64) -> Self {
            let window = Window { cwnd: segments, ssthresh: segments, smss: 1.0 };
            Self { law: Prague::new(parameters), window, rtt, seconds: 1.0, una: 0 }
        }

        fn now(&self) -> Time {
            Time::ZERO + Span::from_seconds(self.seconds)
        }

        /// The next segment is acknowledged.
        fn acknowledge(&mut self, marked: bool) {
            let before = if self.law.window > 0.0 { self.law.window } else { self.window.cwnd };
            self.seconds += self.rtt / before;
            self.una += 1;
            let now = self.now();
            let counts = RateSample {
                now,
                acked: 1,
                newly_delivered: 1,
                newly_marked: u64::from(marked),
                ece: marked,
                // Sums of parts must not fall short of a round trip by rounding.
                rtt: Some(Span::from_seconds(self.rtt * (1.0 - 1e-9))),
                una: self.una,
                max: self.una - 1 + self.window.cwnd as u64,
                ..sample()
            };
            self.law.sampled(&mut self.window, &counts);
            self.law.acknowledged(&mut self.window, &Ack { now, ..acked(1.0) });
            if marked {
                let flight = self.window.cwnd;
                self.law.congested(&mut self.window, Signal::Ecn, flight, now);
            }
        }

        /// The mean window of `segments` acknowledgements, by time, where `marked` says for each
        /// segment whether it is.
        fn mean(&mut self, segments: u64, mut marked: impl FnMut(u64) -> bool) -> f64 {
            let (mut area, since) = (0.0, self.seconds);
            for _ in 0..segments {
                let before = self.seconds;
                let mark = marked(self.una + 1);
                self.acknowledge(mark);
                area += self.law.window * (self.seconds - before);
            }
            area / (self.seconds - since)
        }
    }

    /// The share of marked bytes is averaged with a weight of 1/16 once in a virtual round trip: of
    /// ten segments in each one, one is marked. The first mark makes the share 1; n virtual round
    /// trips later it is 0.1 + 0.9 (15/16)^n. On a path of 5 ms, that is not in each round trip of
    /// two segments but in each five.
    #[test]
    fn the_share_is_averaged_once_in_a_virtual_round_trip() {
        for (rtt, window) in [(0.03, 10.0), (0.005_01, 2.0)] {
            let mut path = Path::new(parameters(), rtt, window);
            // The window is held where it is.
            let mut step = |n: u64| {
                path.law.window = window;
                path.acknowledge(n.is_multiple_of(10));
                path.window.cwnd = window;
                path.law.share.unwrap()
            };
            assert_eq!(step(0), 1.0);
            let mut expected = 1.0;
            for n in 1..300_u64 {
                if n.is_multiple_of(10) {
                    expected = 0.1 + (expected - 0.1) * 15.0 / 16.0;
                }
                let share = step(n);
                assert!((share - expected).abs() < 1e-12, "{rtt}, {n}: {share}, {expected}");
            }
        }
    }

    /// The window is that of the law where evenly one segment in N is marked. A mark reduces the
    /// window, and the next to do so is the first that comes a round trip later: it is the second
    /// where the window W has up to 2N segments, the third where it has up to 3N. Between two that
    /// do, k (N - 1) unmarked segments add 1 / W each, and the reduction takes W / 2N: W = sqrt(2 k
    /// N (N - 1)). Both k = 2, nearly 2 / p as for DCTCP, and k = 3, nearly 2.45 / p, have a window
    /// that fits; from below the first is reached, from above the other.
    #[test]
    fn the_window_is_that_of_two_or_three_marks_per_round_trip() {
        for n in [10, 25, 100] {
            let expected = |k: u64| ((2 * k * n * (n - 1)) as f64).sqrt();
            for (first, k) in [(1.2, 2), (2.9, 3)] {
                let mut path = Path::new(parameters(), 0.05, first * n as f64);
                path.law.share = Some(1.0 / n as f64);
                path.mean(2000 * n, |number| number.is_multiple_of(n));
                let ratio = path.mean(1000 * n, |number| number.is_multiple_of(n)) / expected(k);
                assert!((ratio - 1.0).abs() < 0.03, "{n}, {k}: {ratio}");
                assert!((path.law.share.unwrap() * n as f64 - 1.0).abs() < 0.1);
            }
        }
    }

    /// The window has the mean of the law where marks come by chance. After a reduction a round
    /// trip passes, and on average 1/p segments until the next mark. With x = p W, the unmarked
    /// among x + 1 times 1/p segments add (1 - p) (1 + 1/x), and a reduction takes x / 2: with q =
    /// 1 - p, x is q + sqrt(q^2 + 2 q), nearly 1 + sqrt(3). The share, an average over 16 round
    /// trips of nearly 3 marks, has a standard deviation of 1 / sqrt(2 * 16 * 2.7) = 11 %, and
    /// reductions take in proportion to it: second-order terms of a few percent.
    #[test]
    fn the_window_follows_random_marks() {
        let mut stream = Streams::new(1, 0).named("marks");
        let p = 0.02_f64;
        let q = 1.0 - p;
        let x = q + (q * q + 2.0 * q).sqrt();
        let mut path = Path::new(parameters(), 0.05, x / p);
        path.mean(100_000, |_| stream.happens(p));
        let mean = path.mean(1_000_000, |_| stream.happens(p));
        assert!((mean * p / x - 1.0).abs() < 0.05, "{}, {x}", mean * p);
        // Far from the rule for even marks, and from that of Reno, sqrt(3 / 2p).
        assert!((mean * p - 2.0).abs() > 0.5);
    }

    /// A flow on a short path has the rate of one of 25 ms under the same marks: with one segment
    /// in N marked, rate times 25 ms is 2 sqrt(N (N - 1)) on any shorter path, and on longer ones
    /// rate times their round-trip time.
    #[test]
    fn short_paths_have_the_rate_of_the_reference() {
        let n = 50;
        let expected = 2.0 * ((n * (n - 1)) as f64).sqrt();
        for (rtt, behaves) in [(0.005, 0.025), (0.01, 0.025), (0.025, 0.025), (0.08, 0.08)] {
            let mut path = Path::new(parameters(), rtt, expected * rtt / behaves);
            path.mean(2000 * n, |number| number.is_multiple_of(n));
            let rate = path.mean(1000 * n, |number| number.is_multiple_of(n)) / rtt;
            let ratio = rate * behaves / expected;
            assert!((ratio - 1.0).abs() < 0.04, "{rtt}: {ratio}");
        }
        // Before the transition, the window is that of the path.
        let young = PragueParameters { rtt_transition: u32::MAX, ..parameters() };
        let mut path = Path::new(young, 0.01, expected);
        path.mean(2000 * n, |number| number.is_multiple_of(n));
        let mean = path.mean(1000 * n, |number| number.is_multiple_of(n));
        assert!((mean / expected - 1.0).abs() < 0.04, "{mean}");
    }

    /// The window grows by (RTT / virtual RTT)^2 segments in a round trip: 20 segments of 10 ms,
    /// acknowledged one by one without marks, become 20.16 in a round trip, and the sender is given
    /// 21; those of 25 ms become 21, less what the growth itself takes from each step.
    #[test]
    fn growth_is_that_of_the_virtual_round_trip() {
        for (rtt, growth) in [(0.01, 0.16), (0.025, 1.0), (0.1, 1.0)] {
            let mut path = Path::new(parameters(), rtt, 20.0);
            (0..20).for_each(|_| path.acknowledge(false));
            let found = path.law.window - 20.0;
            assert!(found <= growth && found > 0.95 * growth, "{rtt}: {found}");
            assert_eq!(path.window.cwnd, 21.0);
        }
    }

    /// Marks take half their share once in a virtual round trip, and not all from a small window. A
    /// quarter marked: 20 segments are left 17.5, given as 18. 2.1 are left 2.
    #[test]
    fn marks_take_half_their_share_once_in_a_virtual_round_trip() {
        let reduced = |share: f64, segments: f64| {
            let mut path = Path::new(parameters(), 0.01, segments);
            path.acknowledge(false);
            (path.law.share, path.law.window) = (Some(share), segments);
            path.window.cwnd = path.law.given;
            let now = path.now();
            path.law.congested(&mut path.window, Signal::Ecn, segments, now);
            path
        };
        let mut path = reduced(0.25, 20.0);
        assert_eq!((path.law.window, path.window.cwnd, path.window.ssthresh), (17.5, 18.0, 17.5));
        // 20 ms later, two round trips, nothing is taken; 25 ms later it is.
        let end = path.una + 20;
        for (ms, left) in [(20, 17.5), (24, 17.5), (25, 15.3125)] {
            let now = path.now() + Span::from_ms(ms);
            (path.law.una, path.law.max) = (end + 2, end + 20);
            path.law.congested(&mut path.window, Signal::Ecn, 18.0, now);
            assert_eq!(path.law.window, left, "{ms} ms");
        }
        assert_eq!(reduced(0.25, 2.1).law.window, 2.0);
        assert_eq!(reduced(1.0, 20.0).law.window, 10.0);
    }

    /// The smallest window is counted in segments: a mark of all leaves 2000 bytes of 2100 in
    /// segments of 1000, and 2 segments are the threshold at least.
    #[test]
    fn the_smallest_window_is_counted_in_segments() {
        let mut window = Window { cwnd: 2100.0, ssthresh: 2100.0, smss: 1000.0 };
        let mut law = Prague::new(parameters());
        law.congested(&mut window, Signal::Ecn, 2100.0, Time::ZERO);
        assert_eq!((law.window, window.ssthresh), (2000.0, 2000.0));
    }

    /// A loss halves the window together with what marks of the same congestion took: of 20
    /// segments marks took 2.5, and the loss leaves 10. A timeout leaves one.
    #[test]
    fn losses_halve_the_window_with_what_marks_took() {
        let lost = |marks: bool, signal| {
            let mut path = Path::new(parameters(), 0.05, 20.0);
            path.acknowledge(false);
            (path.law.share, path.law.window) = (Some(0.25), 20.0);
            path.window.cwnd = path.law.given;
            let now = path.now();
            if marks {
                path.law.congested(&mut path.window, Signal::Ecn, 20.0, now);
            }
            let flight = path.law.window;
            path.law.congested(&mut path.window, signal, flight, now);
            (path.window.cwnd, path.window.ssthresh)
        };
        assert_eq!(lost(false, Signal::Loss), (10.0, 10.0));
        assert_eq!(lost(true, Signal::Loss), (10.0, 10.0));
        assert_eq!(lost(false, Signal::Timeout { first: true }), (1.0, 10.0));
    }

    /// The first window is paced, at the rate of later ones: before anything is acknowledged ten
    /// segments of a kilobyte leave at two windows in the round trip of the handshake, 100 ms, at
    /// 200 kB/s; beyond the threshold at one. Without a handshake the path is taken for one of 25
    /// ms.
    #[test]
    fn the_first_window_has_a_rate() {
        for (ssthresh, ms, rate) in [
            (f64::INFINITY, Some(100), 200e3),
            (10_000.0, Some(100), 100e3),
            (f64::INFINITY, None, 800e3),
        ] {
            let window = Window { cwnd: 10_000.0, ssthresh, smss: 1000.0 };
            let mut law = Prague::new(parameters());
            assert_eq!(law.pacing_rate(), None);
            law.opened(&window, ms.map(Span::from_ms));
            assert!((law.pacing_rate().unwrap() / rate - 1.0).abs() < 1e-9);
        }
    }

    /// Slow start ends with the first mark, which halves the window as the share is 1 then, and is
    /// paced at twice the window.
    #[test]
    fn the_first_mark_ends_slow_start() {
        let mut path = Path::new(parameters(), 0.05, 16.0);
        path.window.ssthresh = f64::INFINITY;
        (0..16).for_each(|_| path.acknowledge(false));
        assert_eq!((path.law.window, path.window.cwnd), (32.0, 32.0));
        let rate = |path: &Path| path.law.pacing_rate().unwrap() * 0.05;
        assert!((rate(&path) - 2.0 * 32.0).abs() < 1e-6);
        path.acknowledge(true);
        assert_eq!(
            (path.law.window, path.window.ssthresh, path.law.share),
            (16.0, 16.0, Some(1.0))
        );
        path.acknowledge(false);
        assert!((rate(&path) - path.law.window).abs() < 1e-6);
        assert!((path.law.window - 16.0 - 1.0 / 16.0).abs() < 1e-12);
    }
}
