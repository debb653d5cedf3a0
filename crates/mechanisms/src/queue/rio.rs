//! RIO: RED with an average for each precedence, coupled (RIO-C) or decoupled (RIO-D).

use forebay_kernel::Stream;
use forebay_network::{Arrival, Footprint, QueueManager, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, choice};
use forebay_units::Time;

use super::red_core::{Class, Core};
use super::red_options::{Thresholds, precedence_red_parameters};
use super::{BuildQueue, Queue};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "rio",
    summary: "RED with in and out: an average and thresholds for each precedence.",
    source: "Clark and Fang, IEEE/ACM Transactions on Networking 6(4), 1998",
    fields: RioParameters::FIELDS,
    build,
};

choice! {
    /// What the average of a precedence follows.
    pub enum Coupling {
        /// Packets of this precedence and all lower ones (RIO-C).
        Coupled = "coupled",
        /// Packets of this precedence alone (RIO-D).
        Decoupled = "decoupled",
    }
}

choice! {
    /// When the average of a precedence decays as idle.
    pub enum IdleMeaning {
        /// While none of the packets that it follows waits, even if others do.
        Cumulative = "cumulative",
        /// While the link is idle.
        Physical = "physical",
    }
}

precedence_red_parameters! {
    /// Parameters of RIO.
    pub struct RioParameters {
        /// What the average of a precedence follows: the packets of this and all lower precedences
        /// (coupled, RIO-C) or of this alone (decoupled, RIO-D).
        coupling: Coupling = "coupled", "Clark and Fang 1998, section III; ns-2 diffserv";
        /// When an average decays as idle: while none of the packets that it follows waits
        /// (cumulative) or while the link is idle (physical). Either way it is brought up to date
        /// by the arrivals that it follows.
        idle: IdleMeaning = "cumulative", "ns-2 diffserv, dsredq.cc";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = RioParameters::read(section)?;
    let thresholds = Thresholds {
        min: &parameters.min_threshold,
        max: &parameters.max_threshold,
        probability: &parameters.max_probability,
    };
    let (core, classes) = Core::build(section, facts, parameters.options(), &thresholds)?;
    Ok(Queue::Managed(Box::new(Rio::new(core, classes, parameters.coupling, parameters.idle))))
}

/// What RIO keeps of a precedence beside its [`Class`].
struct Level {
    /// Packets or bytes of this precedence that wait: whole numbers, exact up to 2^53.
    queue: f64,
    average: f64,
    /// Since when what the average follows is empty, if it is; idle time before is in the average.
    idle_since: Time,
}

/// Averages of precedences, and classes judged by them.
pub(super) struct Rio {
    core: Core,
    classes: Vec<Class>,
    levels: Vec<Level>,
    coupled: bool,
    physical: bool,
    /// Bit i: packets of precedence i wait.
    occupied: u64,
}

impl Rio {
    pub fn new(core: Core, classes: Vec<Class>, coupling: Coupling, idle: IdleMeaning) -> Self {
        let level = |_: &Class| Level { queue: 0.0, average: 0.0, idle_since: Time::ZERO };
        Self {
            core,
            levels: classes.iter().map(level).collect(),
            classes,
            coupled: coupling == Coupling::Coupled,
            physical: idle == IdleMeaning::Physical,
            occupied: 0,
        }
    }

    /// How many precedences there are.
    pub fn precedences(&self) -> usize {
        self.levels.len()
    }

    /// The average of precedence `index`.
    #[inline]
    pub fn average(&self, index: usize) -> f64 {
        self.levels[index].average
    }

    /// The packets or bytes of precedence `index` alone that wait.
    #[inline]
    pub fn waiting(&self, index: usize) -> f64 {
        self.levels[index].queue
    }

    #[cfg(test)]
    pub fn set_average(&mut self, index: usize, average: f64) {
        self.levels[index].average = average;
    }

    /// Move the maximum probability of precedence `index`.
    pub fn set_probability(&mut self, index: usize, probability: f64) {
        self.classes[index].set_probability(probability);
    }

    /// The precedence as which `packet` counts.
    #[inline]
    pub fn index(&self, packet: Footprint) -> usize {
        usize::from(packet.precedence).min(self.levels.len() - 1)
    }

    #[inline]
    fn amount(&self, packet: Footprint) -> f64 {
        if self.core.in_bytes { f64::from(packet.size) } else { 1.0 }
    }

    /// Bring the averages that follow precedence `index` up to date; gives what that of `index`
    /// follows.
    #[inline(always)]
    pub fn update(&mut self, index: usize, arrival: &Arrival<'_>) -> f64 {
        let averaging = &self.core.averaging;
        let (below, rest) = self.levels.split_at_mut(index);
        let (from, end) = if self.coupled {
            (below.iter().map(|level| level.queue).sum(), rest.len())
        } else {
            (0.0, 1)
        };
        let own = from + rest[0].queue;
        let following = &mut rest[..end];
        // What is followed is nested: all below the lowest occupied precedence is empty.
        let empty = match (self.physical, arrival.idle_since) {
            (true, Some(since)) => {
                following.iter_mut().for_each(|l| l.idle_since = l.idle_since.max(since));
                end
            }
            (true, None) => 0,
            (false, _) => {
                let lowest = (self.occupied >> index).trailing_zeros() as usize;
                if from > 0.0 { 0 } else { lowest.min(end) }
            }
        };
        let (idle, busy) = following.split_at_mut(empty);
        for level in idle {
            averaging.decay(&mut level.average, arrival.now.since(level.idle_since));
            level.idle_since = arrival.now;
        }
        let mut queue = from;
        for level in busy {
            queue += level.queue;
            averaging.sample(&mut level.average, queue);
        }
        own
    }

    /// The verdict on an arrival of precedence `index`, whose average has been brought up to date
    /// and follows `queue`.
    #[inline(always)]
    pub fn decide(
        &mut self,
        index: usize,
        queue: f64,
        arrival: &Arrival<'_>,
        stream: &mut Stream,
    ) -> Verdict {
        let amount = self.amount(arrival.packet.footprint());
        let (level, class) = (&mut self.levels[index], &mut self.classes[index]);
        let verdict = self.core.policy.decide(class, level.average, queue, arrival, stream);
        if !matches!(verdict, Verdict::Drop(_)) {
            level.queue += amount;
            self.occupied |= 1 << index;
        }
        verdict
    }

    /// The verdict where nothing is dropped early, whatever the average says; see
    /// [`Policy::spare`](super::red_core::Policy::spare).
    #[inline]
    pub fn spare(&mut self, index: usize, restart: bool, arrival: &Arrival<'_>) -> Verdict {
        let amount = self.amount(arrival.packet.footprint());
        let verdict = self.core.policy.spare(&mut self.classes[index], restart, arrival);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.levels[index].queue += amount;
            self.occupied |= 1 << index;
        }
        verdict
    }

    /// What the average of each precedence follows, by precedence.
    fn actual(&self) -> impl Iterator<Item = f64> {
        self.levels.iter().scan(0.0, |below, level| {
            let own = *below + level.queue;
            if self.coupled {
                *below = own;
            }
            Some(own)
        })
    }
}

impl QueueManager for Rio {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let index = self.index(arrival.packet.footprint());
        let queue = self.update(index, arrival);
        self.decide(index, queue, arrival, stream)
    }

    fn departed(&mut self, packet: Footprint, at: Time) {
        let index = self.index(packet);
        let amount = self.amount(packet);
        let level = &mut self.levels[index];
        level.queue -= amount;
        if level.queue > 0.0 {
            return;
        }
        let was_lowest = self.occupied.trailing_zeros() as usize == index;
        self.occupied &= !(1 << index);
        if self.physical {
            return;
        }
        if !self.coupled {
            level.idle_since = at;
        } else if was_lowest {
            // The sets from here up to the next occupied precedence have become empty.
            let next = (self.occupied.trailing_zeros() as usize).min(self.levels.len());
            for level in &mut self.levels[index..next] {
                level.idle_since = at;
            }
        }
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        for (i, level) in self.levels.iter().enumerate() {
            tell(&format!("average.{i}"), level.average);
        }
        for (i, queue) in self.actual().enumerate() {
            tell(&format!("actual.{i}"), queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, DropReason, Packet};
    use forebay_parameters::{Echo, Length};
    use forebay_units::{Rate, Span};

    use crate::queue::red_core::Curve;
    use crate::queue::red_options::CountConvention::Code;

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
        let facts = LinkFacts { rate: Rate::from_bps(10_000_000) };
        let (core, classes) = Core::build(&section, &facts, options, &thresholds).unwrap();
        Rio::new(core, classes, coupling, idle)
    }

    const HIGH: [(u64, u64); 3] = [(100, 200); 3];

    fn arrive(rio: &mut Rio, precedence: u8, now: Time, idle_since: Option<Time>) -> Verdict {
        let packet = Packet::data(Time::ZERO, 0, 0, 500, 0).with_precedence(precedence);
        let packets = rio.levels.iter().map(|level| level.queue as u32).sum();
        let backlog = Backlog { packets, bytes: 0 };
        let arrival = Arrival { now, packet: &packet, backlog, idle_since };
        rio.admit(&arrival, &mut Streams::new(1, 0).named("test"))
    }

    fn depart(rio: &mut Rio, precedence: u8, at: Time) {
        rio.departed(Footprint { size: 500, precedence }, at);
    }

    fn averages(rio: &Rio) -> Vec<f64> {
        rio.levels.iter().map(|level| level.average).collect()
    }

    /// A RIO with weight 1/2 that holds 4, 3 and 2 packets, its averages zero.
    fn loaded(coupling: Coupling) -> Rio {
        let mut rio = rio(0.5, &HIGH, coupling, IdleMeaning::Cumulative);
        for (precedence, packets) in [(0, 4), (1, 3), (2, 2)] {
            for _ in 0..packets {
                arrive(&mut rio, precedence, Time::ZERO, None);
            }
        }
        rio.levels.iter_mut().for_each(|level| level.average = 0.0);
        rio
    }

    /// Otherwise averages would follow the wrong packets. Holding (4, 3, 2) with weight 1/2 and
    /// averages 0, an arrival of precedence 0 gives RIO-C half of the sums 4, 7, 9, and RIO-D half
    /// of its own 4; one of precedence 2 updates only the last: half of 9, or of 2 (Clark and Fang
    /// 1998, section III).
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

    /// Otherwise one precedence would be judged by the thresholds of another: with weight 1 and
    /// three packets waiting, the last is dropped by force, the first two pass.
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
        assert_eq!(law.levels[2].queue, 0.0);
    }

    /// Otherwise averages would not decay when what they follow is gone. 500 B at 10 Mbit/s take
    /// 0.4 ms, so from weight 1/2 an idle time of 0.8 ms divides by 4.
    #[test]
    fn a_precedence_is_idle_while_what_it_follows_is_empty() {
        let ms = |n: u64| Time::from_ps(n * 100_000_000);
        let mut law = rio(0.5, &HIGH, Coupling::Coupled, IdleMeaning::Cumulative);
        arrive(&mut law, 0, ms(0), None);
        arrive(&mut law, 1, ms(0), None);
        arrive(&mut law, 2, ms(0), None);
        law.levels.iter_mut().for_each(|level| level.average = 16.0);
        // Empty from 0.2 ms on: {0}. From 0.6 ms on: {0, 1}. A packet of precedence 2 stays.
        depart(&mut law, 0, ms(2));
        depart(&mut law, 1, ms(6));
        arrive(&mut law, 0, ms(10), None);
        assert_eq!(law.levels[0].average, 4.0, "0.8 ms are two packets: 16 / 4");
        assert_eq!(law.levels[1].average, 8.0, "0.4 ms are one packet: 16 / 2");
        assert_eq!(law.levels[2].average, 8.5, "one waits: (16 + 1) / 2");
        // A waiting packet of precedence 0 is followed by the average of 1 as well: not idle.
        depart(&mut law, 2, ms(10));
        law.levels[1].average = 16.0;
        arrive(&mut law, 1, ms(20), None);
        assert_eq!(law.levels[1].average, 8.5, "one waits: (16 + 1) / 2");
        let mut law = rio(0.5, &HIGH, Coupling::Decoupled, IdleMeaning::Cumulative);
        arrive(&mut law, 1, ms(0), None);
        law.levels[1].average = 16.0;
        depart(&mut law, 1, ms(6));
        arrive(&mut law, 1, ms(10), None);
        assert_eq!(law.levels[1].average, 8.0);
    }

    /// Otherwise RIO would not contain RED: with one precedence and idle meant physically, both
    /// give the same verdicts and averages over random arrivals from the same stream.
    #[test]
    fn one_precedence_is_plain_red() {
        let mut rio = rio(0.1, &[(2, 6)], Coupling::Coupled, IdleMeaning::Physical);
        let class = Class::new(Curve::new(2.0, 6.0, 1.0, false), Code);
        let core = self::rio(0.1, &[(2, 6)], Coupling::Coupled, IdleMeaning::Physical).core;
        let mut red = crate::queue::red::Red::new(core, vec![class]);
        let mut draws = Streams::new(5, 0).named("arrivals");
        let (mut left, mut right) = (Streams::new(6, 0).named("q"), Streams::new(6, 0).named("q"));
        let packet = Packet::data(Time::ZERO, 0, 0, 500, 0);
        let (mut now, mut packets, mut free_at) = (Time::ZERO, 0_u32, Time::ZERO);
        let mut dropped = 0;
        for _ in 0..20_000 {
            now += Span::from_seconds(0.38e-3 * draws.exponential());
            while packets > 0 && free_at <= now {
                packets -= 1;
                rio.departed(packet.footprint(), free_at);
                free_at += Span::from_us(400);
            }
            let idle_since = (free_at <= now).then_some(free_at);
            let backlog = Backlog { packets, bytes: u64::from(packets) * 500 };
            let arrival = Arrival { now, packet: &packet, backlog, idle_since };
            let verdict = rio.admit(&arrival, &mut left);
            assert_eq!(verdict, red.admit(&arrival, &mut right));
            assert_eq!(rio.levels[0].average, red.average());
            match (verdict, idle_since) {
                (Verdict::Drop(_), _) => dropped += 1,
                (_, None) => packets += 1,
                (_, Some(_)) => {
                    rio.departed(packet.footprint(), now);
                    free_at = now + Span::from_us(400);
                }
            }
        }
        assert!(dropped > 100, "the comparison covers drops: {dropped}");
    }
}
