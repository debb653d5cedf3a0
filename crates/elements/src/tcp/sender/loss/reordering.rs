//! The reordering window of loss detection by time (RACK, RFC 8985, section 6): arithmetic alone.
//!
//! A segment is lost if one that was sent later has arrived, and the reordering window has passed
//! in between. Numbers that the RFC gives as the end of a segment are kept here as its own.

use forebay_units::{Span, Time};

/// A transmission of a segment. The later of two is the greater; of those at one instant, the one
/// with the higher number (`RACK_sent_after`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Transmission {
    pub(super) sent: Time,
    pub(super) number: u64,
}

/// The state of one connection (RACK.* in the RFC).
#[derive(Debug)]
pub(super) struct Reordering {
    /// The most recent transmission that has arrived (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Option<Transmission>,
    /// Round-trip time of the most recent transmission that the last acknowledgement reported.
    rtt: Span,
    min_rtt: MinFilter,
    /// The number after the highest segment that has arrived (`RACK.fack`).
    fack: u64,
    reordering_seen: bool,
    /// SND.NXT when the window grew last for a duplicate; `None` once that is acknowledged.
    dsack_round: Option<u64>,
    /// The window in quarters of the least round-trip time (`RACK.reo_wnd_mult`).
    multiplier: u32,
    /// Recoveries until it is one quarter again (`RACK.reo_wnd_persist`).
    persist: u32,
    /// The reordering window (`RACK.reo_wnd`).
    window: Span,
    /// The most recent transmission that this acknowledgement reports, with its round-trip time.
    arrived: Option<(Transmission, Span)>,
    /// The number after the highest segment that this acknowledgement reports.
    highest: u64,
}

/// State on which the reordering window depends beside round-trip times (section 6.2, step 4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) una: u64,
    pub(super) nxt: u64,
    /// The receiver reports a duplicate.
    pub(super) dsack: bool,
    /// Losses are being repaired, in fast recovery or after a timeout.
    pub(super) recovering: bool,
    /// This acknowledgement ends that.
    pub(super) recovered: bool,
    /// Segments reported by SACK, and how many of them are a sign of a loss.
    pub(super) sacked: u64,
    pub(super) threshold: u64,
    pub(super) srtt: Option<Span>,
}

/// Number of recoveries without duplicates for which a window that grew is kept.
const PERSISTENCE: u32 = 16;

impl Reordering {
    pub(super) fn new() -> Self {
        Self {
            newest: None,
            rtt: Span::ZERO,
            min_rtt: MinFilter::default(),
            fack: 0,
            reordering_seen: false,
            dsack_round: None,
            multiplier: 1,
            persist: 0,
            window: Span::ZERO,
            arrived: None,
            highest: 0,
        }
    }

    /// A round-trip time was measured otherwise (step 1).
    pub(super) fn measured(&mut self, rtt: Span, now: Time) {
        self.min_rtt.sample(rtt, now);
    }

    /// An acknowledgement that arrives at `now` reports a segment for the first time, of which
    /// `last` is the last transmission, and whether there were others `resent` tells. `echo` is the
    /// timestamp that it echoes, if any (section 6.2, steps 1 to 3).
    pub(super) fn delivered(
        &mut self,
        last: Transmission,
        resent: bool,
        echo: Option<Time>,
        now: Time,
    ) {
        let rtt = now.since(last.sent);
        self.highest = self.highest.max(last.number + 1);
        if resent {
            // An earlier transmission may have arrived instead.
            let earlier = echo.is_some_and(|echo| echo < last.sent);
            if earlier || self.min_rtt.least().is_some_and(|least| rtt < least) {
                return;
            }
        } else {
            self.min_rtt.sample(rtt, now);
            self.reordering_seen |= last.number + 1 < self.fack;
        }
        if self.arrived.is_none_or(|(before, _)| last > before) {
            self.arrived = Some((last, rtt));
        }
    }

    /// All that an acknowledgement reports is known (steps 2 and 3).
    pub(super) fn update(&mut self) {
        self.fack = self.fack.max(self.highest);
        if let Some((arrived, rtt)) = self.arrived.take() {
            self.rtt = rtt;
            self.newest = self.newest.max(Some(arrived));
        }
    }

    /// The reordering window from now on (step 4).
    pub(super) fn resize(&mut self, inputs: &Inputs) {
        if self.dsack_round.is_some_and(|round| inputs.una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && inputs.dsack {
            self.dsack_round = Some(inputs.nxt);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persist = PERSISTENCE;
        } else if inputs.recovered {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.multiplier = 1;
            }
        }
        self.window = self.tolerance(inputs);
    }

    fn tolerance(&self, inputs: &Inputs) -> Span {
        let sure = inputs.recovering || inputs.sacked >= inputs.threshold;
        if sure && !self.reordering_seen {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.least().map_or(0, |least| least.ps() / 4);
        let window = Span::from_ps(quarter.saturating_mul(u64::from(self.multiplier)));
        inputs.srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// Returns the time for which `sent`, which has not arrived, may still be late (step 5): zero
    /// if it is lost; `None` if nothing that was sent later has arrived.
    pub(super) fn remaining(&self, sent: Transmission, now: Time) -> Option<Span> {
        self.newest.filter(|newest| *newest > sent)?;
        let due = sent.sent + self.rtt + self.window;
        Some(if due > now { due.since(now) } else { Span::ZERO })
    }

    /// Returns true if a segment sent at `sent` is lost when the retransmission timer expires at
    /// `now`, though it is not the first (section 6.3).
    pub(super) fn is_overdue(&self, sent: Time, now: Time) -> bool {
        sent + self.rtt + self.window <= now
    }

    /// The most recent transmission that has arrived.
    pub(super) fn newest(&self) -> Option<Transmission> {
        self.newest
    }
}

/// The least of the round-trip times measured lately: between one and two generations (section
/// 6.2, step 1; Linux keeps it for 300 s).
#[derive(Debug, Default)]
struct MinFilter {
    /// Of the generation before and of the present one.
    least: [Option<Span>; 2],
    /// Time at which the present one began.
    since: Time,
}

/// Duration of a generation.
const GENERATION: Span = Span::from_s(150);

impl MinFilter {
    fn sample(&mut self, rtt: Span, now: Time) {
        let age = now.since(self.since);
        if age >= GENERATION {
            let before = if age >= GENERATION.times(2) { None } else { self.least[1] };
            self.least = [before, None];
            self.since = now;
        }
        self.least[1] = self.least[1].into_iter().chain([rtt]).min();
    }

    fn least(&self) -> Option<Span> {
        self.least.iter().flatten().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: u64 = 100;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn sent(number: u64, ms: u64) -> Transmission {
        Transmission { sent: at(ms), number }
    }

    /// Nothing unusual, with so many segments SACKed.
    fn inputs(sacked: u64) -> Inputs {
        let (recovering, recovered, dsack) = (false, false, false);
        let srtt = Some(ms(RTT));
        Inputs { una: 0, nxt: 10, dsack, recovering, recovered, sacked, threshold: 3, srtt }
    }

    /// A segment sent at 0 ms has arrived at 100 ms: the least round-trip time is 100 ms.
    fn measured() -> Reordering {
        let mut rack = Reordering::new();
        rack.delivered(sent(0, 0), false, None, at(RTT));
        rack.update();
        rack
    }

    /// A segment is lost when the window has passed, in which networks may have reordered it, and
    /// no later (section 6.2, steps 4 and 5): 1 is sent at 10 ms, 2 at 20 ms, which arrives after
    /// 100 ms at 120 ms. The window is 100/4 = 25 ms: 1 is lost at 10 + 100 + 25 = 135 ms, in 15
    /// ms. What was sent after 2, or with it and above it, is not considered.
    #[test]
    fn a_segment_is_lost_when_the_window_has_passed() {
        let mut rack = measured();
        rack.delivered(sent(2, 20), false, None, at(120));
        rack.update();
        rack.resize(&inputs(1));
        assert_eq!(rack.remaining(sent(1, 10), at(120)), Some(ms(15)));
        assert_eq!(rack.remaining(sent(1, 10), at(135)), Some(Span::ZERO));
        assert_eq!(rack.remaining(sent(1, 10), at(140)), Some(Span::ZERO));
        assert_eq!(rack.remaining(sent(3, 20), at(300)), None);
        assert_eq!(rack.remaining(sent(0, 21), at(300)), None);
        // Sent at the same instant but before it.
        assert_eq!(rack.remaining(sent(1, 20), at(120)), Some(ms(25)));
        // At a timeout 1 is lost only once it is as late.
        assert!(!rack.is_overdue(at(10), at(134)) && rack.is_overdue(at(10), at(135)));
    }

    /// Recovery waits a quarter of a round trip only in networks that reorder (step 4): without
    /// reordering the window is 0 from three SACKed segments on, and while losses are repaired;
    /// once a segment has arrived behind one above it, never.
    #[test]
    fn the_window_is_zero_only_where_nothing_is_reordered() {
        let mut rack = measured();
        let window = |rack: &mut Reordering, inputs: Inputs| {
            rack.resize(&inputs);
            rack.window
        };
        assert_eq!(window(&mut rack, inputs(2)), ms(25));
        assert_eq!(window(&mut rack, inputs(3)), Span::ZERO);
        let recovering = Inputs { recovering: true, ..inputs(0) };
        assert_eq!(window(&mut rack, recovering), Span::ZERO);
        // 5 arrives, and then 4, which was sent again: no sign of reordering.
        rack.delivered(sent(5, 50), false, None, at(150));
        rack.update();
        rack.delivered(sent(4, 60), true, None, at(160));
        rack.update();
        assert_eq!(window(&mut rack, inputs(3)), Span::ZERO);
        // 3, which was not, is one.
        rack.delivered(sent(3, 60), false, None, at(160));
        rack.update();
        assert_eq!(window(&mut rack, inputs(3)), ms(25));
        assert_eq!(window(&mut rack, recovering), ms(25));
    }

    /// One acknowledgement of several segments is no sign of reordering, even if it names the
    /// higher first (step 3 takes them in ascending order).
    #[test]
    fn one_acknowledgement_reorders_nothing() {
        let mut rack = measured();
        rack.delivered(sent(9, 50), false, None, at(150));
        rack.delivered(sent(4, 50), false, None, at(150));
        rack.update();
        assert!(!rack.reordering_seen);
        rack.delivered(sent(3, 50), false, None, at(151));
        assert!(rack.reordering_seen);
    }

    /// Duplicates widen the window, so that a network that reorders more does not cost a
    /// retransmission for every late segment (step 4): a quarter more for each round trip with a
    /// duplicate, up to SRTT; after 16 recoveries without, one quarter again. The round trip ends
    /// when SND.NXT of its beginning is acknowledged.
    #[test]
    fn duplicates_widen_the_window() {
        let mut rack = measured();
        let duplicate = Inputs { dsack: true, ..inputs(0) };
        let grow = |rack: &mut Reordering, una, nxt| {
            rack.resize(&Inputs { una, nxt, ..duplicate });
            rack.window
        };
        assert_eq!(grow(&mut rack, 0, 10), ms(50));
        assert_eq!(grow(&mut rack, 9, 19), ms(50));
        assert_eq!(grow(&mut rack, 10, 20), ms(75));
        assert_eq!(grow(&mut rack, 20, 30), ms(100));
        assert_eq!(grow(&mut rack, 30, 40), ms(100), "SRTT is 100 ms");
        let end = Inputs { una: 40, recovered: true, ..inputs(0) };
        for _ in 0..15 {
            rack.resize(&end);
            assert_eq!((rack.window, rack.multiplier), (ms(100), 5));
        }
        rack.resize(&end);
        assert_eq!(rack.window, ms(25));
    }

    /// A needless copy says nothing of time, so that the arrival of a first transmission is not
    /// taken for that of its copy, and all that was sent before the copy for lost (step 2): a copy
    /// that was sent after the echoed timestamp, or that took less than the least round-trip time,
    /// is not considered.
    #[test]
    fn a_needless_copy_says_nothing_of_time() {
        let mut rack = measured();
        rack.delivered(sent(1, 200), true, None, at(299));
        rack.update();
        assert_eq!(rack.newest(), Some(sent(0, 0)));
        rack.delivered(sent(1, 200), true, Some(at(150)), at(310));
        rack.update();
        assert_eq!(rack.newest(), Some(sent(0, 0)));
        rack.delivered(sent(1, 200), true, Some(at(200)), at(310));
        rack.update();
        assert_eq!((rack.newest(), rack.rtt), (Some(sent(1, 200)), ms(110)));
        // An older transmission renews the round-trip time, not the newest.
        rack.delivered(sent(2, 190), false, None, at(320));
        rack.update();
        assert_eq!((rack.newest(), rack.rtt), (Some(sent(1, 200)), ms(130)));
    }

    /// Old round-trip times are forgotten, so that a path that became longer is not judged by them
    /// for ever: a measurement is forgotten after two generations of 150 s at the latest.
    #[test]
    fn old_round_trip_times_are_forgotten() {
        let mut filter = MinFilter::default();
        let mut least = |rtt, s| {
            filter.sample(ms(rtt), Time::ZERO + Span::from_s(s));
            filter.least()
        };
        assert_eq!(least(100, 0), Some(ms(100)));
        assert_eq!(least(200, 149), Some(ms(100)));
        assert_eq!(least(300, 151), Some(ms(100)));
        assert_eq!(least(400, 302), Some(ms(300)));
        assert_eq!(least(500, 900), Some(ms(500)));
    }
}
