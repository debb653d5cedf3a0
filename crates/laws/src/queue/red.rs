//! RED, random early detection, with one average; also the law of WRED.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::red_core::{Class, Core};
use crate::queue::parts::red_options::{Thresholds, WeightedOptions};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "red",
    summary: "Random early detection: drops by chance as the average queue grows.",
    source: "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993",
    example: r#"
        weight = 0.02
        limit = "25 packets"
        ecn = true
    "#,
    fields: RedParameters::FIELDS,
    probes: &[AVERAGE],
    build: &build,
};

/// The average of one queue.
pub(super) const AVERAGE: Probe = Probe {
    name: "average",
    unit: "packets or bytes",
    meaning: "Average queue, in the unit of the thresholds.",
};

parameters! {
    /// Parameters of RED.
    pub struct RedParameters {
        /// Average queue below which nothing is dropped early, in bytes or in packets.
        min_threshold: Length = "5 packets", "Floyd 1997, RED: Discussions of setting parameters";
        /// Average queue at which the drop probability reaches its maximum; from there on every
        /// packet is dropped unless `gentle`. Above the minimum threshold.
        max_threshold: Length = "15 packets", "Floyd 1997, RED: Discussions of setting parameters";
        /// Drop probability maxp at the maximum threshold.
        max_probability: f64 = 0.1, "Floyd 1997, RED: Discussions of setting parameters";
        ..common: WeightedOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = RedParameters::read(section)?;
    let thresholds = Thresholds {
        min: &[parameters.min_threshold],
        max: &[parameters.max_threshold],
        probability: &[parameters.max_probability],
    };
    let (core, classes) = Core::build(section, facts, parameters.common.options(), &thresholds)?;
    Ok(Queue::under(Red::new(core, classes)))
}

/// One average of the whole queue, one class or more that are judged by it.
pub(super) struct Red {
    core: Core,
    classes: Vec<Class>,
    average: f64,
    /// Idle time up to here is in the average already.
    decayed: Time,
}

impl Red {
    /// `classes` by precedence; packets of higher precedence belong to the last.
    pub fn new(core: Core, classes: Vec<Class>) -> Self {
        Self { core, classes, average: 0.0, decayed: Time::ZERO }
    }

    /// The average queue.
    #[inline]
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Move the maximum probability of every class.
    pub fn set_probability(&mut self, probability: f64) {
        self.classes.iter_mut().for_each(|class| class.set_probability(probability));
    }

    /// Bring the average up to date; gives the queue that it follows.
    #[inline]
    pub fn update(&mut self, arrival: &Arrival<'_>) -> f64 {
        let Core { averaging, in_bytes, .. } = &self.core;
        let waiting = arrival.backlog;
        let queue = if *in_bytes { waiting.bytes as f64 } else { f64::from(waiting.packets) };
        if let Some(since) = arrival.empty_since {
            averaging.decay(&mut self.average, arrival.now.since(since.max(self.decayed)));
            self.decayed = arrival.now;
        } else {
            averaging.sample(&mut self.average, queue);
        }
        queue
    }

    /// The verdict on an arrival that found `queue`; the average has been brought up to date.
    #[inline]
    pub fn decide(&mut self, queue: f64, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let index = usize::from(arrival.packet.precedence).min(self.classes.len() - 1);
        let class = &mut self.classes[index];
        self.core.policy.decide(class, self.average, queue, arrival, stream)
    }
}

impl DropPolicy for Red {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let queue = self.update(arrival);
        self.decide(queue, arrival, stream)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("average", self.average);
    }
}

#[cfg(test)]
pub(super) fn default_options() -> crate::queue::parts::red_options::Options {
    let echo = forebay_parameters::Echo::default();
    let section = Section::empty(String::new(), &echo);
    RedParameters::read(&section).expect("all have defaults").common.options()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::parts::red_options::{CountConvention, Options};
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, DropReason, Ecn, FlowId, Packet, RouteId};
    use forebay_parameters::Echo;
    use forebay_units::Rate;

    /// A RED between 5 and 15 packets, with other options than the defaults.
    fn red(max_probability: f64, change: impl FnOnce(&mut Options)) -> Red {
        let echo = Echo::default();
        let section = Section::empty("queue.red".to_owned(), &echo);
        let mut options = default_options();
        change(&mut options);
        let thresholds = Thresholds {
            min: &[Length::Packets(5)],
            max: &[Length::Packets(15)],
            probability: &[max_probability],
        };
        let facts = LinkFacts::of(Rate::from_bps(10_000_000));
        let (core, classes) = Core::build(&section, &facts, options, &thresholds).unwrap();
        Red::new(core, classes)
    }

    fn stream() -> Stream {
        Streams::new(3, 0).named("test")
    }

    /// The verdict on a packet that finds `packets` waiting.
    fn offer(red: &mut Red, packets: u32, stream: &mut Stream) -> Verdict {
        let packet =
            Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0)).with_ecn(Ecn::Ect0);
        let backlog = Backlog { packets, bytes: 500 * u64::from(packets) };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        red.admit(&arrival, stream)
    }

    /// Congestion is signalled at the averages that the thresholds say. Weight 1 makes the average
    /// the queue itself; maxp 1 makes pb (q - 5) / 10, and the second packet after the crossing,
    /// count 1, is dropped with certainty from q = 10 on: 0.5 / (1 - 0.5) = 1.
    #[test]
    fn thresholds_divide_accepted_early_and_forced() {
        let mut law = red(1.0, |options| options.weight = 1.0);
        let stream = &mut stream();
        assert!((0..100).all(|_| offer(&mut law, 4, stream) == Verdict::Accept));
        let early = Verdict::Drop(DropReason::Early);
        let first = offer(&mut law, 10, stream);
        assert!(first == early || offer(&mut law, 10, stream) == early);
        assert_eq!(offer(&mut law, 15, stream), Verdict::Drop(DropReason::Forced));
        assert_eq!(offer(&mut law, 400, stream), Verdict::Drop(DropReason::Forced));
        assert_eq!(offer(&mut law, 4, stream), Verdict::Accept);
        let mut gentle = red(1.0, |options| (options.weight, options.gentle) = (1.0, true));
        assert_eq!(offer(&mut gentle, 15, stream), early);
        assert_eq!(offer(&mut gentle, 30, stream), Verdict::Drop(DropReason::Forced));
    }

    /// ECN marks ECN-capable packets instead of early drops, and them alone; forced drops remain
    /// (RFC 3168, section 7: marking stops where the average exceeds the upper threshold).
    #[test]
    fn ecn_marks_instead_of_early_drops_only() {
        let mut law = red(1.0, |options| (options.weight, options.ecn) = (1.0, true));
        let stream = &mut stream();
        offer(&mut law, 14, stream);
        assert_eq!(offer(&mut law, 14, stream), Verdict::Mark);
        assert_eq!(offer(&mut law, 15, stream), Verdict::Drop(DropReason::Forced));
        // With count 1, pb = 0.9: 0.9 / (1 - 0.9) is above 1, certain.
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
        let backlog = Backlog { packets: 14, bytes: 7000 };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        assert_eq!(law.admit(&arrival, stream), Verdict::Drop(DropReason::Early));
    }

    /// Without `harddrop` ECN-capable packets are marked above the maximum threshold, too, and
    /// others dropped, so that a sender that reacts to marks alone is not stopped there (Linux,
    /// net/sched/sch_red.c: RED_HARD_MARK). A full buffer drops whatever may be marked.
    #[test]
    fn marks_replace_forced_drops_without_harddrop() {
        let marking = |ecn| {
            red(1.0, |options| {
                (options.weight, options.ecn, options.harddrop) = (1.0, ecn, false);
                options.limit = Some(Length::Packets(20));
            })
        };
        let (mut law, stream) = (marking(true), &mut stream());
        assert_eq!(offer(&mut law, 15, stream), Verdict::Mark);
        assert_eq!(offer(&mut law, 19, stream), Verdict::Mark);
        assert_eq!(offer(&mut law, 20, stream), Verdict::Drop(DropReason::Overflow));
        assert_eq!(offer(&mut marking(false), 15, stream), Verdict::Drop(DropReason::Forced));
    }

    /// The buffer holds no more than its limit, and drops there are not taken for RED's.
    #[test]
    fn the_limit_drops_by_overflow() {
        let mut law = red(0.0, |options| options.limit = Some(Length::Packets(12)));
        let stream = &mut stream();
        assert_eq!(offer(&mut law, 11, stream), Verdict::Accept);
        assert_eq!(offer(&mut law, 12, stream), Verdict::Drop(DropReason::Overflow));
    }

    /// Idle time counts once, also after a drop that leaves the link idle: from average 16, 10 ms
    /// idle at 0.4 ms a packet are 25 samples, and another 10 ms are 25 more.
    #[test]
    fn idle_time_counts_once() {
        let mut law = red(0.0, |_| {});
        law.average = 16.0;
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
        for (ms, samples) in [(10, 25.0), (20, 50.0), (20, 50.0)] {
            let arrival = Arrival {
                now: Time::from_ps(ms * 1_000_000_000),
                packet: &packet,
                backlog: Backlog::default(),
                idle_since: Some(Time::ZERO),
                empty_since: Some(Time::ZERO),
            };
            law.admit(&arrival, &mut stream());
            let expected = 16.0 * forebay_kernel::math::pow(0.998, samples);
            assert!((law.average - expected).abs() < 1e-12, "{} after {ms} ms", law.average);
        }
    }

    /// A trace is that of ns-2: with the guards the packet that finds the average above the minimum
    /// for the first time passes and sets the count to 1, and nothing is dropped early while one
    /// packet waits. With pb = 0.5, the next packet has count 2: certain.
    #[test]
    fn ns2_guards_spare_the_first_packet() {
        let mut law = red(1.0, |options| (options.weight, options.ns2_guards) = (1.0, true));
        let stream = &mut stream();
        for _ in 0..100 {
            assert_eq!(offer(&mut law, 10, stream), Verdict::Accept);
            assert_eq!(offer(&mut law, 10, stream), Verdict::Drop(DropReason::Early));
            assert_eq!(offer(&mut law, 1, stream), Verdict::Accept);
        }
        law.core.averaging = red(1.0, |_| {}).core.averaging;
        law.average = 100.0;
        assert_eq!(offer(&mut law, 1, stream), Verdict::Accept);
        assert_eq!(offer(&mut law, 2, stream), Verdict::Drop(DropReason::Forced));
    }

    /// A queue spares what Linux spares: the first packet between the thresholds, after one below
    /// or above them, passes and is not counted. With pb = 0.5 the next has 0.5, and the one after
    /// that, with count 1, is certain to be dropped if that one passed.
    #[test]
    fn linux_spares_the_first_packet_between_the_thresholds() {
        let linux = |o: &mut Options| (o.weight, o.count) = (1.0, CountConvention::Linux);
        let (mut law, stream) = (red(1.0, linux), &mut stream());
        let mut passed = 0;
        for outside in [0, 20].repeat(100) {
            offer(&mut law, outside, stream);
            assert_eq!(offer(&mut law, 10, stream), Verdict::Accept);
            if offer(&mut law, 10, stream) == Verdict::Accept {
                passed += 1;
                assert_eq!(offer(&mut law, 10, stream), Verdict::Drop(DropReason::Early));
            }
        }
        // Of 200 with 0.5: a deviation of 7.1 about 100.
        assert!((65..=135).contains(&passed), "{passed}");
    }

    /// Options that cannot be are refused by their key, and not run as something else.
    #[test]
    fn wrong_options_are_refused_by_their_key() {
        let echo = Echo::default();
        let section = Section::empty("queue.red".to_owned(), &echo);
        let facts = LinkFacts::of(Rate::from_bps(10_000_000));
        let five = [Length::Packets(5)];
        let problem = |change: &dyn Fn(&mut Options), min: &[Length], max: &[Length], p: f64| {
            let mut options = default_options();
            change(&mut options);
            let thresholds = Thresholds { min, max, probability: &[p] };
            Core::build(&section, &facts, options, &thresholds).err().unwrap().path
        };
        let fine = [Length::Packets(15)];
        assert_eq!(problem(&|o| o.weight = 0.0, &five, &fine, 0.1), "queue.red.weight");
        assert_eq!(problem(&|o| o.weight = 1.1, &five, &fine, 0.1), "queue.red.weight");
        assert_eq!(problem(&|_| {}, &five, &five, 0.1), "queue.red.max_threshold");
        assert_eq!(problem(&|_| {}, &five, &[Length::Bytes(15)], 0.1), "queue.red.max_threshold");
        assert_eq!(problem(&|_| {}, &five, &fine, 1.1), "queue.red.max_probability");
        assert_eq!(problem(&|_| {}, &five, &[], 0.1), "queue.red.max_threshold");
        assert_eq!(problem(&|_| {}, &[], &[], 0.1), "queue.red.min_threshold");
        let both = |o: &mut Options| (o.ns2_guards, o.count) = (true, CountConvention::Analysis);
        assert_eq!(problem(&both, &five, &fine, 0.1), "queue.red.count");
    }
}
