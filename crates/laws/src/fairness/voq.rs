//! VoQ: each station works out what its sources may send from what the spans ahead have to give.
//!
//! Three formulas are published (Amer and Mekkittikul, IEEE 802.17, January 2002): what a link has
//! to give is its capacity less the committed rates; RCF is that, divided by the weights; a source
//! gets its committed rate and its weight times the least RCF of its path. The rest is a
//! reconstruction: sums run over active sources; each station informs all others, upstream, which
//! of its sources are active and the RCF of the span that leaves it; a token bucket holds each
//! queue to its rate.

use std::collections::BTreeMap;

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::{BuildFairness, FairnessFactory, RingFacts, StationFacts, check_interval};
use crate::fairness::{
    RingAccess, RingClass, RingDemand, RingFairness, RingFrame, RingMessage, RingNotice, RingState,
};

pub(super) const ENTRY: Entry<BuildFairness> = Entry {
    name: "voq",
    summary: "VoQ: a queue for each destination gets its committed rate and a weighted share of \
              what the spans of its path have left.",
    source: "Amer and Mekkittikul, IEEE 802.17, January 2002 (formulas); the rest reconstructed",
    example: r#"activity = "300 us""#,
    fields: VoqParameters::FIELDS,
    probes: &[
        Probe {
            name: "share_bps",
            unit: "bit/s",
            meaning: "RCF, what the span has to give for each unit of weight.",
        },
        Probe {
            name: "active_committed_bps",
            unit: "bit/s",
            meaning: "Committed rates of the active sources whose frames pass.",
        },
        Probe { name: "active_weight", unit: "1", meaning: "Their weights." },
        Probe {
            name: "allow_bps",
            unit: "bit/s",
            meaning: "What each queue may send, by class and distance of the destination: \
                      `allow_bps.low.2`.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of VoQ.
    pub struct VoqParameters {
        /// Interval at which stations inform each other of what has changed, 1 us to 1 s.
        interval: Span = "102.88 us", "assumed: unpublished; that of SRP-fa, RFC 2892, section 6.1";
        /// Time for which a queue counts as active after it has sent its last frame. Above the gap
        /// between the frames of the slowest source, or its allocation comes and goes.
        activity: Span = "300 us", "assumed: unpublished; above 240 us, 1500 B at 50 Mbit/s";
        /// Depth of the token bucket of each queue, above 0.
        depth: Size = "3 kB", "assumed: unpublished; two frames of 1500 B";
    }
}

fn build(section: &Section<'_>, facts: &RingFacts) -> Result<FairnessFactory, Problem> {
    let parameters = VoqParameters::read(section)?;
    check_interval(section, "interval", parameters.interval)?;
    if parameters.depth.bytes() == 0 {
        return Err(section.fail("depth", "is zero; allowed are depths above 0"));
    }
    let rate = facts.rate;
    Ok(Box::new(move |station| Box::new(Voq::new(&parameters, rate, station))))
}

/// The queue of one destination and class.
#[derive(Clone)]
struct Queue {
    committed: f64,
    weight: f64,
    /// Frames that wait.
    waiting: u32,
    /// Time at which the last frame went onto the ring.
    last: Option<Time>,
    /// Its rate in bit/s.
    rate: f64,
    /// Bytes in its bucket at `filled`; below 0 after a frame larger than the bucket.
    tokens: f64,
    filled: Time,
}

impl Queue {
    fn tokens(&self, depth: f64, now: Time) -> f64 {
        let gained = self.rate / 8.0 * now.since(self.filled).seconds();
        (self.tokens + gained).min(depth)
    }

    fn sync_counters(&mut self, depth: f64, now: Time) {
        self.tokens = self.tokens(depth, now);
        self.filled = now;
    }

    fn active(&self, activity: Span, now: Time) -> bool {
        self.waiting > 0 || self.last.is_some_and(|at| now.since(at) <= activity)
    }
}

/// One ringlet of a station. Rates are in bit/s.
struct Voq {
    interval: Span,
    activity: Span,
    depth: f64,
    capacity: f64,
    /// Queues by distance of the destination less 1, for high and low priority.
    queues: [Vec<Queue>; 2],
    /// RCF of the spans ahead, the one that leaves here first.
    shares: Vec<f64>,
    /// Demands of the active sources of each station, by its distance upstream.
    demands: Vec<Box<[RingDemand]>>,
    /// Sums of r and of w that its own RCF is made of.
    asked: (f64, f64),
    /// True if something was advertised before, so that only changes need be.
    told: bool,
}

impl Voq {
    fn new(parameters: &VoqParameters, rate: Rate, station: &StationFacts) -> Self {
        let (stations, capacity) = (station.weights.len(), rate.bps() as f64);
        let depth = parameters.depth.bytes() as f64;
        let queue = |class: usize| Queue {
            committed: station.committed[class].bps() as f64,
            // High priority gets what is committed to it and no share.
            weight: if class == RingClass::Low as usize { station.weights[0] } else { 0.0 },
            waiting: 0,
            last: None,
            rate: 0.0,
            tokens: depth,
            filled: Time::ZERO,
        };
        let mut voq = Self {
            interval: parameters.interval,
            activity: parameters.activity,
            depth,
            capacity,
            queues: [0, 1].map(|class| vec![queue(class); stations - 1]),
            shares: vec![capacity; stations - 1],
            demands: vec![Box::default(); stations],
            asked: (0.0, 0.0),
            told: false,
        };
        voq.allocate(Time::ZERO);
        voq
    }

    fn queue(&self, frame: &RingFrame) -> &Queue {
        &self.queues[frame.class as usize][usize::from(frame.ahead) - 1]
    }

    fn queue_mut(&mut self, frame: &RingFrame) -> &mut Queue {
        &mut self.queues[frame.class as usize][usize::from(frame.ahead) - 1]
    }

    /// Returns the demands of the active sources of this station.
    fn own_demands(&self, now: Time) -> Box<[RingDemand]> {
        let mut sums: BTreeMap<u16, RingDemand> = BTreeMap::new();
        for (ahead, queue) in self.queues.iter().flat_map(|class| (1..).zip(class)) {
            if queue.active(self.activity, now) {
                let none = RingDemand { ahead, committed: 0.0, weight: 0.0 };
                let sum = sums.entry(ahead).or_insert(none);
                sum.committed += queue.committed;
                sum.weight += queue.weight;
            }
        }
        sums.into_values().collect()
    }

    /// Sums of r and of w over the active sources whose frames pass the span that leaves here.
    fn sums(&self) -> (f64, f64) {
        let stations = (0u16..).zip(&self.demands);
        let passing =
            stations.flat_map(|(behind, demands)| demands.iter().filter(move |d| d.ahead > behind));
        passing.fold((0.0, 0.0), |(r, w), d| (r + d.committed, w + d.weight))
    }

    /// RCF of the span that leaves here: (capacity - sum of r) / sum of w; without any weight, all
    /// that is left.
    fn share(&self) -> f64 {
        let (committed, weight) = self.asked;
        let left = (self.capacity - committed).max(0.0);
        if weight > 0.0 { left / weight } else { left }
    }

    /// Give each queue f = r + w times the least RCF of its path, at most the line.
    fn allocate(&mut self, now: Time) {
        let mut least = f64::INFINITY;
        for (place, share) in self.shares.iter().enumerate() {
            least = least.min(*share);
            for class in &mut self.queues {
                let queue = &mut class[place];
                queue.sync_counters(self.depth, now);
                queue.rate = (queue.committed + queue.weight * least).min(self.capacity);
            }
        }
    }
}

impl RingFairness for Voq {
    fn queued(&mut self, frame: &RingFrame, _now: Time) {
        self.queue_mut(frame).waiting += 1;
    }

    fn access(&self, frame: &RingFrame, _state: &RingState, now: Time) -> RingAccess {
        let queue = self.queue(frame);
        let wanted = f64::from(frame.size).min(self.depth);
        let missing = wanted - queue.tokens(self.depth, now);
        // A thousandth of a byte is less than what rounding to picoseconds costs at any rate.
        if missing <= 1e-3 {
            return RingAccess::Open;
        }
        let wait = missing * 8.0 / queue.rate * PS_PER_S as f64;
        if wait < 1e18 {
            RingAccess::Until(now + Span::from_ps(wait as u64 + 1))
        } else {
            RingAccess::Closed
        }
    }

    fn sent(&mut self, frame: &RingFrame, now: Time) {
        let depth = self.depth;
        let queue = self.queue_mut(frame);
        queue.sync_counters(depth, now);
        queue.tokens -= f64::from(frame.size);
        queue.waiting = queue.waiting.saturating_sub(1);
        queue.last = Some(now);
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn interval_ended(&mut self, _state: &RingState, now: Time) -> Option<RingMessage> {
        let active = self.own_demands(now);
        let same = self.demands[0] == active;
        self.demands[0] = active;
        self.asked = self.sums();
        let share = self.share();
        let unchanged = self.told && same && self.shares[0] == share;
        self.shares[0] = share;
        self.told = true;
        if unchanged {
            return None;
        }
        self.allocate(now);
        let notice = RingNotice::Demands { share, active: self.demands[0].clone() };
        Some(RingMessage { origin: 0, notice })
    }

    fn heard(&mut self, message: &RingMessage, now: Time) -> bool {
        let RingNotice::Demands { share, active } = &message.notice else { return false };
        let (ahead, stations) = (usize::from(message.origin), self.demands.len());
        if ahead == 0 || ahead >= stations {
            return false;
        }
        // Who is so far downstream is the rest of the ring upstream. The last station ahead is the
        // neighbour upstream: the span that leaves it is on no path from here.
        self.demands[stations - ahead].clone_from(active);
        if let Some(known) = self.shares.get_mut(ahead) {
            *known = *share;
        }
        self.allocate(now);
        ahead + 1 < stations
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let (committed, weight) = self.asked;
        visit("share_bps", self.shares[0]);
        visit("active_committed_bps", committed);
        visit("active_weight", weight);
        let classes = ["high", "low"].iter().zip(&self.queues);
        for (class, queues) in classes {
            for (queue, ahead) in queues.iter().zip(1..) {
                visit(&format!("allow_bps.{class}.{ahead}"), queue.rate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{at, high, law, low, oc12, probe, read, station};
    use super::*;
    use forebay_parameters::Value;

    const CALM: RingState = RingState { transit: 0, waiting_since: None };

    fn capacity(bps: u64) -> RingFacts {
        RingFacts { rate: Rate::from_bps(bps), ..oc12() }
    }

    fn demands(origin: u16, share: f64, active: &[(u16, f64, f64)]) -> RingMessage {
        let demand =
            |&(ahead, committed, weight): &(u16, f64, f64)| RingDemand { ahead, committed, weight };
        let active = active.iter().map(demand).collect();
        RingMessage { origin, notice: RingNotice::Demands { share, active } }
    }

    fn close(measured: f64, expected: f64) {
        assert!((measured - expected).abs() < 1.0, "{measured} bit/s, expected {expected}");
    }

    /// Rates follow the formulas of the slides. Three stations send to the hub behind the last: C =
    /// 600 Mbit/s, r = 50, 0, 100 and w = 1, 2, 1 give RCF = (600 - 150) / 4 = 112.5 and f = 162.5,
    /// 225 and 212.5. The ring is 1, 2, 3, hub; messages run upstream, so the third station is 1
    /// behind the hub and hears of the first (2 upstream) as 2 downstream.
    #[test]
    fn rates_follow_the_published_formulas() {
        let mbps = 1e6;
        let sources = [(50, 1.0), (0, 2.0), (100, 1.0)];
        let laws = sources.map(|(r, w)| {
            let facts = StationFacts {
                upstream: vec![Span::ZERO; 3],
                weights: vec![w; 4],
                committed: [Rate::from_bps(0), Rate::from_bps(r * 1_000_000)],
                max_rate: None,
            };
            law(&ENTRY, &[], &capacity(600_000_000), &facts)
        });
        let [mut first, mut second, mut third] = laws;
        third.queued(&low(1500, 1, 0), at(0.0));
        third.heard(&demands(2, 600.0 * mbps, &[(3, 50.0 * mbps, 1.0)]), at(0.0));
        third.heard(&demands(3, 600.0 * mbps, &[(2, 0.0, 2.0)]), at(0.0));
        let message = third.interval_ended(&CALM, at(100.0)).unwrap();
        let RingNotice::Demands { share, active } = message.notice.clone() else { panic!() };
        close(share, 112.5 * mbps);
        assert_eq!(active.len(), 1);
        close(probe(third.as_ref(), "allow_bps.low.1"), 212.5 * mbps);
        second.heard(&RingMessage { origin: 1, ..message.clone() }, at(100.0));
        close(probe(second.as_ref(), "allow_bps.low.2"), 225.0 * mbps);
        first.heard(&RingMessage { origin: 2, ..message }, at(100.0));
        close(probe(first.as_ref(), "allow_bps.low.3"), 162.5 * mbps);
    }

    /// A source is held back by the spans that its frames pass, and by no others: the least RCF of
    /// the path counts.
    #[test]
    fn the_least_share_of_the_path_counts() {
        let mut law = law(&ENTRY, &[], &capacity(600), &station());
        law.heard(&demands(2, 100.0, &[]), at(0.0));
        law.heard(&demands(3, 50.0, &[]), at(0.0));
        let rates = [1, 2, 3, 4, 5].map(|k| probe(law.as_ref(), &format!("allow_bps.low.{k}")));
        assert_eq!(rates, [600.0, 600.0, 100.0, 50.0, 50.0]);
    }

    /// Only sources that pass a span share it: of a source 2 upstream that sends 2 spans far
    /// nothing passes here; of one that sends 3 far, all does.
    #[test]
    fn only_sources_that_pass_share_a_span() {
        let mut law = law(&ENTRY, &[], &capacity(600), &station());
        law.queued(&low(1500, 1, 0), at(0.0));
        law.heard(&demands(4, 600.0, &[(2, 0.0, 1.0)]), at(0.0));
        law.interval_ended(&CALM, at(100.0));
        assert_eq!(probe(law.as_ref(), "share_bps"), 600.0);
        law.heard(&demands(4, 600.0, &[(3, 0.0, 1.0)]), at(150.0));
        law.interval_ended(&CALM, at(200.0));
        assert_eq!(probe(law.as_ref(), "share_bps"), 300.0);
    }

    /// Stations that have nothing to send do not hold others back for ever: a queue is active while
    /// frames wait, and for 300 us after it sent the last.
    #[test]
    fn a_queue_is_active_while_it_has_frames_and_for_a_while() {
        let mut law = law(&ENTRY, &[], &capacity(600), &station());
        let active = |law: &mut dyn RingFairness, us: f64| {
            law.interval_ended(&CALM, at(us)).map(|message| match message.notice {
                RingNotice::Demands { active, .. } => active.len(),
                RingNotice::Limit(_) => panic!("demands"),
            })
        };
        assert_eq!(active(law.as_mut(), 0.0), Some(0));
        law.queued(&low(1500, 2, 0), at(50.0));
        assert_eq!(active(law.as_mut(), 100.0), Some(1));
        assert_eq!(active(law.as_mut(), 1000.0), None);
        law.sent(&low(1500, 2, 0), at(1000.0));
        assert_eq!(active(law.as_mut(), 1300.0), None);
        assert_eq!(active(law.as_mut(), 1301.0), Some(0));
    }

    /// A queue gets exactly its rate. At 8 Mbit/s, a byte each us: the bucket holds two frames of
    /// 1500 B; the third may go 1500 us after the second.
    #[test]
    fn a_token_bucket_holds_a_queue_to_its_rate() {
        let mut law = law(&ENTRY, &[], &capacity(8_000_000), &station());
        let frame = low(1500, 1, 0);
        for _ in 0..2 {
            assert_eq!(law.access(&frame, &CALM, at(0.0)), RingAccess::Open);
            law.sent(&frame, at(0.0));
        }
        let RingAccess::Until(time) = law.access(&frame, &CALM, at(300.0)) else { panic!() };
        assert!(time.since(at(1500.0)) <= Span::from_ps(2000), "{time:?}");
        assert_eq!(law.access(&frame, &CALM, time), RingAccess::Open);
    }

    /// A frame larger than the bucket does not wait for ever: it goes when the bucket is full, and
    /// what is missing is earned before the next.
    #[test]
    fn a_large_frame_passes_a_small_bucket() {
        let depth: [(&str, Value); 1] = [("depth", "500 B".into())];
        let mut law = law(&ENTRY, &depth, &capacity(8_000_000), &station());
        let frame = low(1500, 1, 0);
        assert_eq!(law.access(&frame, &CALM, at(0.0)), RingAccess::Open);
        law.sent(&frame, at(0.0));
        let RingAccess::Until(time) = law.access(&frame, &CALM, at(0.0)) else { panic!() };
        assert!(time.since(at(1500.0)) <= Span::from_ps(2000), "{time:?}");
    }

    /// High priority gets what its reservation entitles it to, and no share: without one nothing
    /// may go.
    #[test]
    fn high_priority_gets_what_is_committed_to_it() {
        let mut committed = station();
        committed.committed[0] = Rate::from_bps(100);
        let law_of = |facts: &StationFacts| law(&ENTRY, &[], &capacity(600), facts);
        let mut with = law_of(&committed);
        assert_eq!(probe(with.as_ref(), "allow_bps.high.1"), 100.0);
        with.queued(&high(1500, 1, 0), at(0.0));
        with.interval_ended(&CALM, at(100.0));
        assert_eq!(probe(with.as_ref(), "share_bps"), 500.0);
        let mut without = law_of(&station());
        without.sent(&high(3000, 1, 0), at(0.0));
        let access = without.access(&high(1500, 1, 0), &CALM, at(1e6));
        assert_eq!(access, RingAccess::Closed);
    }

    /// Messages reach every station and do not run in circles: that of the next station downstream
    /// is handed on by four of the six, and ends at its own neighbour downstream.
    #[test]
    fn messages_go_once_round_the_ring() {
        let mut law = law(&ENTRY, &[], &capacity(600), &station());
        let on = [1, 2, 3, 4, 5, 6].map(|k| law.heard(&demands(k, 600.0, &[]), at(0.0)));
        assert_eq!(on, [true, true, true, true, false, false]);
    }

    /// Committed rates above the line leave shares of 0, not negative ones.
    #[test]
    fn nothing_is_left_of_a_span_that_is_overcommitted() {
        let mut law = law(&ENTRY, &[], &capacity(600), &station());
        law.queued(&low(1500, 1, 0), at(0.0));
        law.heard(&demands(5, 600.0, &[(2, 700.0, 1.0)]), at(0.0));
        law.interval_ended(&CALM, at(100.0));
        assert_eq!(probe(law.as_ref(), "allow_bps.low.1"), 0.0);
    }

    /// Wrong parameters, such as a bucket that lets nothing pass, are refused where they stand.
    #[test]
    fn wrong_parameters_are_refused_where_they_stand() {
        for (key, value) in [("depth", "0 B"), ("interval", "2 s"), ("activity", "soon")] {
            let problem = read(&ENTRY, &[(key, value.into())], &oc12()).err().unwrap();
            assert_eq!(problem.path, key);
        }
    }
}
