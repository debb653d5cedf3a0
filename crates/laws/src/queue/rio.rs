//! RIO: RED with an average for each precedence, coupled (RIO-C) or decoupled (RIO-D).

use std::array::from_fn;

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, QueuedInfo, Verdict};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, choice, parameters};
use forebay_units::Time;

use super::{BuildQueue, MAX_PRECEDENCES, Queue};
use crate::LinkFacts;
use crate::queue::parts::red_core::{Class, Core};
use crate::queue::parts::red_options::{PrecedenceCurves, WeightedOptions};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "rio",
    summary: "RED with in and out: an average and thresholds for each precedence.",
    source: "Clark and Fang, IEEE/ACM Transactions on Networking 6(4), 1998",
    example: r#"
        min_threshold = ["9 packets", "6 packets", "3 packets"]
        max_threshold = ["18 packets", "12 packets", "6 packets"]
        max_probability = [0.02, 0.1, 0.5]
        weight = 0.05
        limit = "25 packets"
    "#,
    fields: RioParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

choice! {
    /// Packets that the average of a precedence follows.
    pub enum Coupling {
        /// Packets of this precedence and all lower ones (RIO-C).
        Coupled = "coupled",
        /// Packets of this precedence alone (RIO-D).
        Decoupled = "decoupled",
    }
}

choice! {
    /// Condition for the average of a precedence to decay as idle.
    pub enum IdleMeaning {
        /// While none of the packets that it follows waits, even if others do.
        Cumulative = "cumulative",
        /// While the link is idle.
        Physical = "physical",
    }
}

/// Probes of laws with an average for each precedence.
pub(super) const PROBES: &[Probe] = &[AVERAGES, ACTUAL];

pub(super) const AVERAGES: Probe = Probe {
    name: "average",
    unit: "packets or bytes",
    meaning: "By precedence: average queue, in the unit of the thresholds.",
};

pub(super) const ACTUAL: Probe = Probe {
    name: "actual",
    unit: "packets or bytes",
    meaning: "By precedence: what the average follows, packets or bytes of this and, coupled, all \
              lower precedences that wait.",
};

parameters! {
    /// Parameters of RIO.
    pub struct RioParameters {
        ..curves: PrecedenceCurves;
        /// Packets that the average of a precedence follows: those of this and all lower
        /// precedences (coupled, RIO-C) or of this alone (decoupled, RIO-D).
        coupling: Coupling = "coupled", "Clark and Fang 1998, section III; ns-2 diffserv";
        /// Condition for an average to decay as idle: while none of the packets that it follows
        /// waits (cumulative) or while the link is idle (physical). Either way it is brought up to
        /// date by the arrivals that it follows.
        idle: IdleMeaning = "cumulative", "ns-2 diffserv, dsredq.cc";
        ..common: WeightedOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = RioParameters::read(section)?;
    let (options, curves) = (parameters.common.options(), &parameters.curves);
    let (core, classes) = Core::build(section, facts, options, &curves.thresholds())?;
    Ok(Queue::under(Rio::new(core, classes, parameters.coupling, parameters.idle)))
}

/// Number of averages that are brought up to date side by side: a law with more precedences takes
/// one after another.
const SIDE_BY_SIDE: usize = 4;

/// State that RIO keeps of a precedence beside its queue and its average.
struct Level {
    class: Class,
    /// Weights with which an arrival of this precedence goes into the averages of the first few:
    /// that of the newest sample from here on, 0 below. That leaves an average as it is to the last
    /// digit, and costs less than a choice.
    weights: [f64; SIDE_BY_SIDE],
    /// Bit i: the average follows the packets of precedence i.
    followed: u64,
    /// The same where averages may be brought up to date side by side while such packets wait.
    easy: u64,
    /// Time since which what the average follows is empty, if it is; idle time before is in the
    /// average.
    idle_since: Time,
}

/// Averages of precedences, and classes judged by them.
pub struct Rio {
    core: Core,
    levels: Vec<Level>,
    /// Packets or bytes of each precedence that wait: whole numbers, exact up to 2^53.
    queues: [f64; MAX_PRECEDENCES],
    averages: [f64; MAX_PRECEDENCES],
    coupled: bool,
    physical: bool,
    /// Bit i: packets of precedence i wait.
    occupied: u64,
}

impl Rio {
    pub(super) fn new(
        core: Core,
        classes: Vec<Class>,
        coupling: Coupling,
        idle: IdleMeaning,
    ) -> Self {
        let coupled = coupling == Coupling::Coupled;
        let physical = idle == IdleMeaning::Physical;
        // One average alone is brought up to date by itself.
        let side_by_side = coupled && !physical && classes.len() <= SIDE_BY_SIDE;
        let level = |(index, class)| {
            let followed = if coupled { u64::MAX >> (63 - index) } else { 1_u64 << index };
            Level {
                class,
                weights: from_fn(|i| if i >= index { core.averaging.weight() } else { 0.0 }),
                followed,
                easy: if side_by_side { followed } else { 0 },
                idle_since: Time::ZERO,
            }
        };
        Self {
            levels: classes.into_iter().enumerate().map(level).collect(),
            core,
            queues: [0.0; MAX_PRECEDENCES],
            averages: [0.0; MAX_PRECEDENCES],
            coupled,
            physical,
            occupied: 0,
        }
    }

    /// Returns the number of precedences.
    pub(super) fn precedences(&self) -> usize {
        self.levels.len()
    }

    /// The average of precedence `index`.
    #[inline]
    pub(super) fn average(&self, index: usize) -> f64 {
        self.averages[index]
    }

    /// The packets or bytes of precedence `index` alone that wait.
    #[inline]
    pub(super) fn waiting(&self, index: usize) -> f64 {
        self.queues[index]
    }

    #[cfg(test)]
    pub(super) fn set_average(&mut self, index: usize, average: f64) {
        self.averages[index] = average;
    }

    /// Move the maximum probability of precedence `index`.
    pub(super) fn set_probability(&mut self, index: usize, probability: f64) {
        self.levels[index].class.set_probability(probability);
    }

    /// The precedence as which `packet` counts.
    #[inline]
    pub(super) fn index(&self, packet: QueuedInfo) -> usize {
        usize::from(packet.precedence()).min(self.levels.len() - 1)
    }

    #[inline]
    fn amount(&self, packet: QueuedInfo) -> f64 {
        if self.core.in_bytes { f64::from(packet.size()) } else { 1.0 }
    }

    /// Returns true if [`update_few`](Self::update_few) does for an arrival of precedence `index`:
    /// what is followed is nested, so where this is not empty, none that follows it is.
    #[inline(always)]
    fn is_easy(&self, index: usize) -> bool {
        self.occupied & self.levels[index].easy != 0
    }

    /// Bring the averages that follow precedence `index` up to date; gives what that of `index`
    /// follows.
    #[inline]
    pub(super) fn update(&mut self, index: usize, arrival: &Arrival<'_>) -> f64 {
        if self.is_easy(index) { self.update_few(index) } else { self.update_each(index, arrival) }
    }

    /// The same where it is [easy](Self::is_easy).
    #[inline(always)]
    fn update_few(&mut self, index: usize) -> f64 {
        let [a, b, c, d, ..] = self.queues;
        // Sums of whole numbers: exact in any order.
        let queues = [a, a + b, a + b + c, (a + b) + (c + d)];
        let weights = self.levels[index].weights;
        let averages: [f64; SIDE_BY_SIDE] = from_fn(|i| self.averages[i]);
        let averages: [f64; SIDE_BY_SIDE] =
            from_fn(|i| averages[i] + weights[i] * (queues[i] - averages[i]));
        self.averages[..SIDE_BY_SIDE].copy_from_slice(&averages);
        queues[index % SIDE_BY_SIDE]
    }

    /// The same in every case.
    #[inline(never)]
    fn update_each(&mut self, index: usize, arrival: &Arrival<'_>) -> f64 {
        let averaging = &self.core.averaging;
        let end = if self.coupled { self.levels.len() } else { index + 1 };
        let mut queue = if self.coupled { self.queues[..index].iter().sum() } else { 0.0 };
        let own = queue + self.queues[index];
        for i in index..end {
            let (level, average) = (&mut self.levels[i], &mut self.averages[i]);
            queue += self.queues[i];
            let idle_since = match arrival.empty_since {
                Some(since) if self.physical => Some(since.max(level.idle_since)),
                None if self.physical => None,
                _ => (self.occupied & level.followed == 0).then_some(level.idle_since),
            };
            if let Some(since) = idle_since {
                averaging.decay(average, arrival.now.since(since));
                level.idle_since = arrival.now;
            } else {
                averaging.sample(average, queue);
            }
        }
        own
    }

    /// The verdict on an arrival of precedence `index`, whose average has been brought up to date
    /// and follows `queue`.
    #[inline(always)]
    pub(super) fn decide(
        &mut self,
        index: usize,
        queue: f64,
        arrival: &Arrival<'_>,
        stream: &mut Stream,
    ) -> Verdict {
        let (class, average) = (&mut self.levels[index].class, self.averages[index]);
        let Some(verdict) = self.core.policy.certain(class, average, queue, arrival) else {
            return self.by_chance(index, arrival, stream);
        };
        self.count(index, verdict, arrival.packet.queued_info());
        verdict
    }

    /// The same where it is up to chance.
    #[inline(never)]
    fn by_chance(&mut self, index: usize, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let (class, average) = (&mut self.levels[index].class, self.averages[index]);
        let verdict = self.core.policy.by_chance(class, average, arrival, stream);
        self.count(index, verdict, arrival.packet.queued_info());
        verdict
    }

    /// The verdict where nothing is dropped early, whatever the average says; see
    /// [`Policy::spare`](crate::queue::parts::red_core::Policy::spare).
    #[inline]
    pub(super) fn spare(&mut self, index: usize, restart: bool, arrival: &Arrival<'_>) -> Verdict {
        let class = &mut self.levels[index].class;
        let verdict = self.core.policy.spare(class, restart, arrival);
        self.count(index, verdict, arrival.packet.queued_info());
        verdict
    }

    /// `packet`, of precedence `index`, waits from now on unless the `verdict` is to drop it.
    #[inline(always)]
    fn count(&mut self, index: usize, verdict: Verdict, packet: QueuedInfo) {
        if !matches!(verdict, Verdict::Drop(_)) {
            self.queues[index] += self.amount(packet);
            self.occupied |= 1 << index;
        }
    }

    /// No packets of precedence `index` wait any more since `at`: what it follows may be empty, and
    /// what those follow that follow it.
    #[inline(never)]
    fn vacate(&mut self, index: usize, at: Time) {
        self.occupied &= !(1 << index);
        if self.physical {
            return;
        }
        let end = if self.coupled { self.levels.len() } else { index + 1 };
        for level in &mut self.levels[index..end] {
            if self.occupied & level.followed != 0 {
                return;
            }
            level.idle_since = at;
        }
    }

    /// As [`admit`](DropPolicy::admit), where averages cannot all be brought up to date at once.
    #[inline(never)]
    fn admit_each(&mut self, index: usize, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let queue = self.update_each(index, arrival);
        self.decide(index, queue, arrival, stream)
    }
}

impl DropPolicy for Rio {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let index = self.index(arrival.packet.queued_info());
        if !self.is_easy(index) {
            return self.admit_each(index, arrival, stream);
        }
        let queue = self.update_few(index);
        self.decide(index, queue, arrival, stream)
    }

    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        let index = self.index(packet);
        let amount = self.amount(packet);
        let queue = &mut self.queues[index];
        *queue -= amount;
        if *queue <= 0.0 {
            self.vacate(index, at);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let precedences = self.precedences();
        for (i, average) in self.averages[..precedences].iter().enumerate() {
            visit(&format!("average.{i}"), *average);
        }
        let mut below = 0.0;
        for (i, queue) in self.queues[..precedences].iter().enumerate() {
            visit(&format!("actual.{i}"), below + queue);
            below += if self.coupled { *queue } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, DropReason, FlowId, Packet, RouteId};
    use forebay_parameters::{Echo, Length};
    use forebay_units::{Rate, Span};

    use crate::queue::parts::red_core::Curve;
    use crate::queue::parts::red_options::CountConvention::Code;
    use crate::queue::parts::red_options::Thresholds;

    /// Three precedences in packets, or as many as `limits` has, with the options of RIO's
    /// defaults.
    fn rio(weight: f64, limits: &[(u64, u64)], coupling: Coupling, idle: IdleMeaning) -> Rio {
        let echo = Echo::default();
        let section = Section::empty("queue.rio".to_owned(), &echo);
        let mut options = crate::queue::red::default_options();
        options.weight = weight;
        let (min, max): (Vec<_>, Vec<_>) =
            limits.iter().map(|(a, b)| (Length::Packets(*a), Length::Packets(*b))).unzip();
        let probability = vec![1.0; limits.len()];
        let thresholds = Thresholds { min: &min, max: &max, probability: &probability };
        let facts = LinkFacts::of(Rate::from_bps(10_000_000));
        let (core, classes) = Core::build(&section, &facts, options, &thresholds).unwrap();
        Rio::new(core, classes, coupling, idle)
    }

    const HIGH: [(u64, u64); 3] = [(100, 200); 3];

    fn arrive(rio: &mut Rio, precedence: u8, now: Time, idle_since: Option<Time>) -> Verdict {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0))
            .with_precedence(precedence);
        let packets = (0..rio.precedences()).map(|i| rio.waiting(i) as u32).sum();
        let backlog = Backlog { packets, bytes: 0 };
        let arrival =
            Arrival { now, packet: &packet, backlog, idle_since, empty_since: idle_since };
        rio.admit(&arrival, &mut Streams::new(1, 0).named("test"))
    }

    fn depart(rio: &mut Rio, precedence: u8, at: Time) {
        rio.departed(QueuedInfo::new(500, precedence), at);
    }

    fn averages(rio: &Rio) -> Vec<f64> {
        (0..rio.precedences()).map(|i| rio.average(i)).collect()
    }

    /// A RIO with weight 1/2 that holds 4, 3 and 2 packets, its averages zero.
    fn loaded(coupling: Coupling) -> Rio {
        let mut rio = rio(0.5, &HIGH, coupling, IdleMeaning::Cumulative);
        for (precedence, packets) in [(0, 4), (1, 3), (2, 2)] {
            for _ in 0..packets {
                arrive(&mut rio, precedence, Time::ZERO, None);
            }
        }
        (0..3).for_each(|i| rio.set_average(i, 0.0));
        rio
    }

    /// Averages follow the packets that they should. Holding (4, 3, 2) with weight 1/2 and averages
    /// 0, an arrival of precedence 0 gives RIO-C half of the sums 4, 7, 9, and RIO-D half of its
    /// own 4; one of precedence 2 updates only the last: half of 9, or of 2 (Clark and Fang 1998,
    /// section III).
    #[test]
    fn averages_follow_the_packets_that_they_should() {
        for (coupling, precedence, expected) in [
            (Coupling::Coupled, 0, [2.0, 3.5, 4.5]),
            (Coupling::Decoupled, 0, [2.0, 0.0, 0.0]),
            (Coupling::Coupled, 2, [0.0, 0.0, 4.5]),
            (Coupling::Decoupled, 2, [0.0, 0.0, 1.0]),
        ] {
            let mut law = loaded(coupling);
            arrive(&mut law, precedence, Time::ZERO, None);
            assert_eq!(averages(&law), expected, "{coupling:?} {precedence}");
        }
    }

    /// Each precedence is judged by its own thresholds: with weight 1 and three packets waiting,
    /// the last is dropped by force, the first two pass.
    #[test]
    fn each_precedence_has_its_own_thresholds() {
        let limits = [(4, 8), (4, 8), (1, 2)];
        let mut law = rio(1.0, &limits, Coupling::Coupled, IdleMeaning::Cumulative);
        for _ in 0..3 {
            assert_eq!(arrive(&mut law, 0, Time::ZERO, None), Verdict::Accept);
        }
        assert_eq!(arrive(&mut law, 1, Time::ZERO, None), Verdict::Accept);
        let forced = Verdict::Drop(DropReason::Forced);
        assert_eq!(arrive(&mut law, 2, Time::ZERO, None), forced);
        assert_eq!(arrive(&mut law, 9, Time::ZERO, None), forced, "9 counts as the last, 2");
        assert_eq!(law.waiting(2), 0.0);
    }

    /// Averages decay when what they follow is gone. 500 B at 10 Mbit/s take 0.4 ms, so from weight
    /// 1/2 an idle time of 0.8 ms divides by 4.
    #[test]
    fn a_precedence_is_idle_while_what_it_follows_is_empty() {
        let ms = |n: u64| Time::from_ps(n * 100_000_000);
        let mut law = rio(0.5, &HIGH, Coupling::Coupled, IdleMeaning::Cumulative);
        arrive(&mut law, 0, ms(0), None);
        arrive(&mut law, 1, ms(0), None);
        arrive(&mut law, 2, ms(0), None);
        (0..3).for_each(|i| law.set_average(i, 16.0));
        // Empty from 0.2 ms on: {0}. From 0.6 ms on: {0, 1}. A packet of precedence 2 stays.
        depart(&mut law, 0, ms(2));
        depart(&mut law, 1, ms(6));
        arrive(&mut law, 0, ms(10), None);
        assert_eq!(law.average(0), 4.0, "0.8 ms are two packets: 16 / 4");
        assert_eq!(law.average(1), 8.0, "0.4 ms are one packet: 16 / 2");
        assert_eq!(law.average(2), 8.5, "one waits: (16 + 1) / 2");
        // A waiting packet of precedence 0 is followed by the average of 1 as well: not idle.
        depart(&mut law, 2, ms(10));
        law.set_average(1, 16.0);
        arrive(&mut law, 1, ms(20), None);
        assert_eq!(law.average(1), 8.5, "one waits: (16 + 1) / 2");
        let mut law = rio(0.5, &HIGH, Coupling::Decoupled, IdleMeaning::Cumulative);
        arrive(&mut law, 1, ms(0), None);
        law.set_average(1, 16.0);
        depart(&mut law, 1, ms(6));
        arrive(&mut law, 1, ms(10), None);
        assert_eq!(law.average(1), 8.0);
    }

    /// Few precedences, whose averages are brought up to date side by side, follow the same
    /// averages as many: two more precedences that no packet has change nothing, to the last digit,
    /// over random arrivals and departures.
    #[test]
    fn precedences_without_packets_change_nothing() {
        let law =
            |limits: &[(u64, u64)]| rio(0.3, limits, Coupling::Coupled, IdleMeaning::Cumulative);
        let (mut few, mut many) = (law(&HIGH), law(&[(100, 200); SIDE_BY_SIDE + 1]));
        let mut draws = Streams::new(7, 0).named("test");
        let (mut now, mut waiting, mut idle) = (Time::ZERO, Vec::new(), 0);
        for _ in 0..5000 {
            now += Span::from_seconds(1e-3 * draws.exponential());
            if draws.happens(0.4) {
                let precedence = draws.below(3) as u8;
                arrive(&mut few, precedence, now, None);
                arrive(&mut many, precedence, now, None);
                waiting.push(precedence);
            } else if !waiting.is_empty() {
                let precedence = waiting.remove(0);
                depart(&mut few, precedence, now);
                depart(&mut many, precedence, now);
            }
            idle += usize::from(waiting.is_empty());
            assert_eq!(averages(&few), averages(&many)[..3]);
        }
        assert!((100..4000).contains(&idle), "both cases occur: {idle}");
    }

    /// RIO contains RED: with one precedence and idle meant physically, both give the same verdicts
    /// and averages over random arrivals from the same stream.
    #[test]
    fn one_precedence_is_plain_red() {
        let mut rio = rio(0.1, &[(2, 6)], Coupling::Coupled, IdleMeaning::Physical);
        let class = Class::new(Curve::new(2.0, 6.0, 1.0, false), Code);
        let core = self::rio(0.1, &[(2, 6)], Coupling::Coupled, IdleMeaning::Physical).core;
        let mut red = crate::queue::red::Red::new(core, vec![class]);
        let mut draws = Streams::new(5, 0).named("arrivals");
        let (mut left, mut right) = (Streams::new(6, 0).named("q"), Streams::new(6, 0).named("q"));
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
        let (mut now, mut packets, mut free_at) = (Time::ZERO, 0_u32, Time::ZERO);
        let mut dropped = 0;
        for _ in 0..20_000 {
            now += Span::from_seconds(0.38e-3 * draws.exponential());
            while packets > 0 && free_at <= now {
                packets -= 1;
                rio.departed(packet.queued_info(), free_at);
                free_at += Span::from_us(400);
            }
            let idle_since = (free_at <= now).then_some(free_at);
            let backlog = Backlog { packets, bytes: u64::from(packets) * 500 };
            let arrival =
                Arrival { now, packet: &packet, backlog, idle_since, empty_since: idle_since };
            let verdict = rio.admit(&arrival, &mut left);
            assert_eq!(verdict, red.admit(&arrival, &mut right));
            assert_eq!(rio.average(0), red.average());
            match (verdict, idle_since) {
                (Verdict::Drop(_), _) => dropped += 1,
                (_, None) => packets += 1,
                (_, Some(_)) => {
                    rio.departed(packet.queued_info(), now);
                    free_at = now + Span::from_us(400);
                }
            }
        }
        assert!(dropped > 100, "the comparison covers drops: {dropped}");
    }
}
