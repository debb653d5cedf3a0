//! PIE, proportional integral controller enhanced: a probability of early drops that a controller
//! moves at fixed times so that packets wait for a target delay.
//!
//! The pseudo-code is that of RFC 8033, appendix A, with three of the optional enhancements of its
//! section 5: ECN (5.1), derandomised drops (5.4) and the cap of the step (5.5). PIE is always
//! active (5.3 switches it off in short queues). Of the two ways to know the delay that section 4.3
//! allows, this law takes timestamps, which need no estimate of the departure rate and no threshold
//! for one: the delay is how long the packet waited that left the queue last, and 0 while none
//! waits. Where section 4.2 and appendix A differ (the decay), the appendix is followed.
//!
//! A law has no timer. Updates that are due are made up for when a packet comes or leaves, in the
//! order of their times and each with what was true then, so that every decision is as if they had
//! been made in time. One that is due at the instant of a packet comes before it.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, DropReason, QueuedInfo, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::quantity::show_span;
use forebay_units::{Size, Span, Time};

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "pie",
    summary: "PIE: drops by chance, with a probability that a controller moves so that packets \
              wait for a target delay.",
    source: "RFC 8033",
    example: r#"
        target = "5 ms"
        ecn = true
        mark_limit = 0.5
        limit = "25 packets"
    "#,
    fields: PieParameters::FIELDS,
    probes: &[
        Probe {
            name: "drop_probability",
            unit: "1",
            meaning: "Probability of early drops, before they are derandomised.",
        },
        Probe {
            name: "sojourn_s",
            unit: "s",
            meaning: "How long the packet waited that left the queue last.",
        },
        Probe {
            name: "burst_allowance_s",
            unit: "s",
            meaning: "How long every packet is still let in.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of PIE.
    pub struct PieParameters {
        /// Delay at which the controller holds the queue.
        target: Span = "15 ms", "RFC 8033, section 4.1 (QDELAY_REF)";
        /// Time between two updates of the drop probability, 100 us to 10 s. The first is due so
        /// long after the start of the run.
        update_interval: Span = "15 ms", "RFC 8033, section 4.2 (T_UPDATE)";
        /// How long every packet is let in when congestion begins.
        max_burst: Span = "150 ms", "RFC 8033, section 4.4 (MAX_BURST)";
        /// By how much an update moves the drop probability per second of delay above the target,
        /// in Hz; 0 or more.
        alpha: f64 = 0.125, "RFC 8033, section 4.2 (in Hz)";
        /// By how much it does per second that the delay has grown since the last update, in Hz; 0
        /// or more.
        beta: f64 = 1.25, "RFC 8033, section 4.2 (in Hz)";
        /// Mean size of packets: while up to two of these wait, nothing is dropped early.
        mean_packet: Size = "1024 B", "RFC 8034 (MEAN_PKTSIZE); RFC 8033 has no value";
        /// Space early drops out: none until the probabilities of the arrivals since the last add
        /// up to 0.85, and surely one when they reach 8.5.
        derandomize: bool = true, "RFC 8033, section 5.4";
        /// Let no update raise a drop probability of 0.1 or more by more than 0.02.
        cap: bool = true, "RFC 8033, section 5.5";
        /// Delay above which every update raises the drop probability by 0.02 beside. None if left
        /// out.
        high_delay: Option<Span>, "Linux net/sched/sch_pie.c (250 ms); not in RFC 8033";
        /// Mark ECN-capable packets instead of dropping them early, up to `mark_limit`.
        ecn: bool = false, "RFC 8033, section 5.1";
        /// Drop probability above which ECN-capable packets are dropped as well, 0 to 1.
        mark_limit: f64 = 0.1, "RFC 8033, section 5.1 (mark_ecnth)";
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    Ok(Queue::under(Pie::new(read(section)?)))
}

fn read(section: &Section<'_>) -> Result<PieParameters, Problem> {
    let parameters = PieParameters::read(section)?;
    let interval = parameters.update_interval;
    if !(Span::from_us(100)..=Span::from_s(10)).contains(&interval) {
        let message =
            format!("{} is out of range; allowed are 100 us to 10 s", show_span(interval));
        return Err(section.fail("update_interval", message));
    }
    for (key, gain) in [("alpha", parameters.alpha), ("beta", parameters.beta)] {
        if gain < 0.0 {
            return Err(section.fail(key, format!("{gain} is negative; allowed are 0 and more")));
        }
    }
    if !(0.0..=1.0).contains(&parameters.mark_limit) {
        let message = format!("{} is not a probability; allowed are 0 to 1", parameters.mark_limit);
        return Err(section.fail("mark_limit", message));
    }
    Ok(parameters)
}

/// Below the first number of a row, a step of the drop probability is divided by the second, so
/// that the controller is as gentle with small probabilities as these are small (section 4.2).
const TUNING: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// What is left of the drop probability in an update without congestion.
const DECAY: f64 = 0.98;
/// The largest step up from a drop probability of [`CAPPED_FROM`] on, and that of high delays.
const LARGEST_STEP: f64 = 0.02;
const CAPPED_FROM: f64 = 0.1;
/// Below this drop probability nothing is dropped while the delay was below half the target.
const SPARED_BELOW: f64 = 0.2;
/// The sum of probabilities up to which nothing, and from which on everything is dropped.
const NEVER_BELOW: f64 = 0.85;
const ALWAYS_FROM: f64 = 8.5;

/// PIE's state; names in parentheses are those of the RFC's pseudo-code.
#[derive(Clone)]
struct Pie {
    parameters: PieParameters,
    controller: Controller,
    /// When the next update is due.
    due: Time,
    /// Sum of the drop probabilities of arrivals since the last early drop (accu_prob_).
    accumulated: f64,
    /// Times at which those packets arrived that wait. (Where CHOKe takes one out of the middle,
    /// the times of those before it move up by a packet.)
    arrivals: VecDeque<Time>,
    /// How long the packet waited that left last.
    sojourn: Span,
}

/// What an update moves.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Controller {
    /// Drop probability (drop_prob_).
    probability: f64,
    /// Delay at the last update (qdelay_old_).
    former_delay: Span,
    /// How long every packet is still let in (burst_allowance_).
    burst: Span,
}

impl Controller {
    /// An update that finds `delay` (calculate_drop_prob).
    fn update(&mut self, delay: Span, parameters: &PieParameters) {
        let PieParameters { target, alpha, beta, .. } = *parameters;
        let (now, before) = (delay.seconds(), self.former_delay.seconds());
        let mut step = alpha * (now - target.seconds()) + beta * (now - before);
        let tuning = TUNING.iter().find(|(below, _)| self.probability < *below);
        step /= tuning.map_or(1.0, |(_, divisor)| *divisor);
        if parameters.cap && self.probability >= CAPPED_FROM {
            step = step.min(LARGEST_STEP);
        }
        if parameters.high_delay.is_some_and(|high| delay > high) {
            step += LARGEST_STEP;
        }
        self.probability += step;
        if is_short(delay, target) && is_short(self.former_delay, target) {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.former_delay = delay;
        self.burst = self.burst - parameters.update_interval;
    }
}

/// Whether `delay` is below half of `target`.
fn is_short(delay: Span, target: Span) -> bool {
    delay.ps() < target.ps().div_ceil(2)
}

impl Pie {
    fn new(parameters: PieParameters) -> Self {
        Self {
            controller: Controller {
                probability: 0.0,
                former_delay: Span::ZERO,
                burst: Span::ZERO,
            },
            due: Time::ZERO + parameters.update_interval,
            parameters,
            accumulated: 0.0,
            arrivals: VecDeque::new(),
            sojourn: Span::ZERO,
        }
    }

    /// The delay as it is known now (current_qdelay).
    fn delay(&self) -> Span {
        if self.arrivals.is_empty() { Span::ZERO } else { self.sojourn }
    }

    /// Make the updates that are due by `now`.
    fn catch_up(&mut self, now: Time) {
        let delay = self.delay();
        while self.due <= now {
            let before = self.controller;
            self.controller.update(delay, &self.parameters);
            self.due += self.parameters.update_interval;
            // An update that changes nothing is followed by such alone until a packet moves.
            if self.controller == before && self.due <= now {
                let missed = now.since(self.due).ps() / self.parameters.update_interval.ps();
                self.due += self.parameters.update_interval.times(missed + 1);
            }
        }
    }

    /// Whether the arriving packet is dropped early, or marked (drop_early).
    fn drops_early(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> bool {
        let Controller { probability, former_delay, .. } = self.controller;
        let spared = probability < SPARED_BELOW && is_short(former_delay, self.parameters.target);
        if spared || arrival.backlog.bytes <= self.parameters.mean_packet.bytes().saturating_mul(2)
        {
            return false;
        }
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        let drops = if self.parameters.derandomize && self.accumulated < NEVER_BELOW {
            false
        } else if self.parameters.derandomize && self.accumulated >= ALWAYS_FROM {
            true
        } else {
            stream.happens(probability)
        };
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    /// Begin to let every packet in again if there is no congestion.
    fn renew_burst(&mut self) {
        let (delay, target) = (self.delay(), self.parameters.target);
        let Controller { probability, former_delay, burst } = &mut self.controller;
        if *probability == 0.0 && is_short(delay, target) && is_short(*former_delay, target) {
            *burst = self.parameters.max_burst;
        }
    }
}

impl DropPolicy for Pie {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now);
        if !fits(self.parameters.limit, arrival) {
            self.accumulated = 0.0;
            return Verdict::Drop(DropReason::Overflow);
        }
        let early = self.controller.burst == Span::ZERO && self.drops_early(arrival, stream);
        self.renew_burst();
        let marks = self.parameters.ecn
            && arrival.packet.is_ecn_capable()
            && self.controller.probability <= self.parameters.mark_limit;
        if early && !marks {
            return Verdict::Drop(DropReason::Early);
        }
        self.arrivals.push_back(arrival.now);
        if early { Verdict::Mark } else { Verdict::Accept }
    }

    fn departed(&mut self, _packet: QueuedInfo, at: Time) {
        self.catch_up(at);
        let arrived = self.arrivals.pop_front().expect("only what was let in can leave");
        self.sojourn = at.since(arrived);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("drop_probability", self.controller.probability);
        visit("sojourn_s", self.sojourn.seconds());
        visit("burst_allowance_s", self.controller.burst.seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::redn::built;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, Ecn, FlowId, Packet, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn law(given: &[(&str, Value)]) -> Pie {
        let nodes = given.iter().map(|(key, value)| ((*key).to_owned(), Node::new(value.clone())));
        let (node, echo) = (Node::new(Value::Table(nodes.collect::<Table>())), Echo::default());
        Pie::new(read(&Section::root(&node, &echo).unwrap()).unwrap())
    }

    fn ms(ms: f64) -> Span {
        Span::from_seconds(ms * 1e-3)
    }

    fn at(time: f64) -> Time {
        Time::ZERO + ms(time)
    }

    /// The drop probability after an update from `probability` with delays in ms.
    fn updated(probability: f64, [before, now]: [f64; 2], given: &[(&str, Value)]) -> f64 {
        let mut pie = law(given);
        pie.controller.probability = probability;
        pie.controller.former_delay = ms(before);
        pie.controller.update(ms(now), &pie.parameters);
        pie.controller.probability
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-15 * b.abs().max(1.0)
    }

    /// An arrival at `time` that finds `packets` of 1000 B waiting.
    fn offer(pie: &mut Pie, time: f64, packets: u32, ecn: Ecn, stream: &mut Stream) -> Verdict {
        let packet =
            Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0)).with_ecn(ecn);
        let backlog = Backlog { packets, bytes: 1000 * u64::from(packets) };
        pie.admit(&Arrival { now: at(time), packet: &packet, backlog, idle_since: None }, stream)
    }

    fn leave(pie: &mut Pie, time: f64) {
        pie.departed(
            Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0)).queued_info(),
            at(time),
        );
    }

    /// The controller would be another: from 18 to 20 ms a step is 0.125 * 5 ms + 1.25 * 2 ms =
    /// 0.003125, from 20 to 30 ms 0.125 * 15 ms + 1.25 * 10 ms = 0.014375. Below 1e-6 they are
    /// divided by 2048, below 1e-5 by 512, by 128, by 32, by 8, below 0.1 by 2; the ends of the
    /// decades belong to the decade above.
    #[test]
    fn a_step_is_scaled_to_the_decade_of_the_probability() {
        for (from, divisor) in [
            (0.0, 2048.0),
            (9e-7, 2048.0),
            (1e-6, 512.0),
            (9e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (5e-3, 8.0),
            (1e-2, 2.0),
            (0.09, 2.0),
            (0.1, 1.0),
            (0.9, 1.0),
        ] {
            let step = 0.003125 / divisor;
            assert!(close(updated(from, [18.0, 20.0], &[]), from + step), "{from}");
            let step = 0.014375 / divisor;
            assert!(close(updated(from, [20.0, 30.0], &[]), from + step), "{from}");
        }
        assert!(close(updated(0.005, [18.0, 20.0], &[]), 0.005_390_625));
        assert!(close(updated(0.005, [20.0, 30.0], &[]), 0.006_796_875));
    }

    /// The probability would leave 0 to 1, jump in a slow start, or stay when congestion is over.
    /// From 15 to 50 ms a step is 1.375 * 35 ms = 0.048125, capped at 0.02 from 0.1 on. Below half
    /// of 15 ms twice, 2 % of it go: at 7 ms after 0.125 * -8 ms = -0.001, at 7.5 ms not, after
    /// -0.0009375.
    #[test]
    fn steps_are_capped_and_probabilities_decay() {
        assert!(close(updated(0.1, [15.0, 50.0], &[]), 0.12));
        assert!(close(updated(0.1, [15.0, 50.0], &[("cap", false.into())]), 0.148_125));
        assert!(close(updated(0.08, [15.0, 50.0], &[]), 0.08 + 0.024_062_5));
        assert!(close(updated(0.5, [7.0, 7.0], &[]), 0.98 * 0.499));
        assert!(close(updated(0.5, [7.5, 7.5], &[]), 0.499_062_5));
        assert!(close(updated(0.5, [7.0, 7.5], &[]), 0.5 - 0.000_937_5 + 0.000_625));
        assert_eq!(updated(0.99, [15.0, 50.0], &[]), 1.0);
        assert_eq!(updated(0.001, [100.0, 0.0], &[]), 0.0);
        // 250 ms are not above 250 ms; 1.375 * 0.1 ms is no step beside 0.02.
        let high = [("high_delay", "250 ms".into())];
        let step = |now: f64| 0.125 * (now - 15.0) * 1e-3;
        assert!(close(updated(0.2, [250.0, 250.0], &high), 0.22));
        assert!(close(updated(0.2, [251.0, 251.0], &high), 0.2 + 0.02 + step(251.0).min(0.02)));
    }

    /// A burst into an idle link would be cut, or bursts would be let in for ever: from the first
    /// packet on, which finds no congestion, 150 ms are ten updates of 15 ms, whatever the
    /// probability; then it decides.
    #[test]
    fn a_burst_is_let_in_for_its_allowance() {
        let stream = &mut Streams::new(1, 0).named("test");
        let mut pie = law(&[("derandomize", false.into())]);
        assert_eq!(offer(&mut pie, 1.0, 0, Ecn::NotEct, stream), Verdict::Accept);
        assert_eq!(pie.controller.burst, ms(150.0));
        pie.sojourn = ms(100.0);
        for time in [2.0, 14.0, 15.0, 75.0, 149.0] {
            pie.controller.probability = 1.0;
            assert_eq!(offer(&mut pie, time, 50, Ecn::NotEct, stream), Verdict::Accept, "{time}");
        }
        assert_eq!(pie.controller.burst, ms(15.0), "nine updates, the last at 135 ms");
        pie.controller.probability = 1.0;
        let dropped = Verdict::Drop(DropReason::Early);
        assert_eq!(offer(&mut pie, 150.0, 50, Ecn::NotEct, stream), dropped);
        assert_eq!(offer(&mut pie, 151.0, 2, Ecn::NotEct, stream), Verdict::Accept, "2000 B");
        assert_eq!(offer(&mut pie, 151.0, 3, Ecn::NotEct, stream), dropped, "above 2 * 1024 B");
    }

    /// Drops would bunch: at 0.1, arrivals up to the eighth after a drop pass (0.8 < 0.85), the
    /// 85th never does, and between them each is dropped with 0.1: a gap is 8 and a geometric time
    /// of mean 10 and variance 90 (that it is cut at 85 takes 10 * 0.9^76 = 0.003 off). Over 20,000
    /// gaps the mean deviates by sqrt(90 / 20,000) = 0.067; bound: five times that.
    #[test]
    fn drops_keep_their_distance() {
        let stream = &mut Streams::new(2, 0).named("test");
        let mut pie = law(&[]);
        (pie.controller.former_delay, pie.sojourn) = (ms(15.0), ms(15.0));
        let (mut gaps, mut gap) = (Vec::new(), 0);
        while gaps.len() < 20_000 {
            pie.controller.probability = 0.1;
            gap += 1;
            if offer(&mut pie, 0.0, 50, Ecn::NotEct, stream) != Verdict::Accept {
                gaps.push(gap);
                gap = 0;
            }
        }
        assert_eq!(gaps.iter().min(), Some(&9));
        assert!(gaps.iter().all(|gap| *gap <= 86), "sums of 0.1 may miss 8.5 by rounding");
        let mean = f64::from(gaps.iter().sum::<i32>()) / gaps.len() as f64;
        assert!((mean - 18.0).abs() < 5.0 * 0.067 + 0.003, "{mean}");
    }

    /// ECN would hide an overload: marks take the place of drops up to 10 % alone, and never of
    /// packets that cannot carry one.
    #[test]
    fn marks_end_at_their_limit() {
        let stream = &mut Streams::new(3, 0).named("test");
        for (probability, ecn, expected) in [
            (0.1, Ecn::Ect0, Verdict::Mark),
            (0.1, Ecn::NotEct, Verdict::Drop(DropReason::Early)),
            (0.100_001, Ecn::Ect0, Verdict::Drop(DropReason::Early)),
        ] {
            let mut pie = law(&[("ecn", true.into())]);
            pie.controller.probability = probability;
            pie.controller.former_delay = ms(15.0);
            // The sum of probabilities is such that a drop is sure.
            pie.accumulated = 8.5;
            assert_eq!(offer(&mut pie, 0.0, 50, ecn, stream), expected, "{probability} {ecn:?}");
            assert_eq!(pie.accumulated, 0.0);
        }
    }

    /// Decisions would depend on when they are read: a law that is woken at every update is, after
    /// every packet, in the state of one that makes up for them, over bursts, silences of seconds
    /// and one of a day. Delays are those of the packets that left last, and 0 when none waits.
    #[test]
    fn updates_that_are_made_up_for_are_those_in_time() {
        let draws = &mut Streams::new(4, 0).named("arrivals");
        let (mut lazy, mut woken) = (law(&[]), law(&[]));
        let (first, second) =
            (&mut Streams::new(5, 0).named("a"), &mut Streams::new(5, 0).named("a"));
        let (mut now, mut waiting, mut largest) = (0.0, 0, 0.0_f64);
        for number in 0..20_000 {
            // 1.2 times what leaves, and now and then a silence after all has left.
            let pause = if number == 14_999 { 86_400_000.0 } else { 3_000.0 };
            let gap = if number % 5_000 == 4_999 { pause } else { 2.0 * draws.exponential() };
            let (from, until) = (now, now + gap);
            let mut tick = (from / 15.0).floor() * 15.0 + 15.0;
            while tick <= until {
                woken.catch_up(at(tick));
                tick += 15.0;
            }
            now = until;
            let drain = number % 5_000 == 4_998;
            if (drain || draws.happens(0.45)) && waiting > 0 {
                for _ in 0..if drain { waiting } else { 1 } {
                    leave(&mut lazy, now);
                    leave(&mut woken, now);
                    waiting -= 1;
                }
            } else {
                let verdict = offer(&mut lazy, now, waiting, Ecn::NotEct, first);
                assert_eq!(verdict, offer(&mut woken, now, waiting, Ecn::NotEct, second));
                waiting += u32::from(verdict == Verdict::Accept);
            }
            assert_eq!(lazy.controller, woken.controller, "{number}");
            assert_eq!((lazy.due, lazy.delay()), (woken.due, woken.delay()), "{number}");
            largest = largest.max(lazy.controller.probability);
        }
        assert!(largest > 0.01, "the law has acted: {largest}");
    }

    /// A controller would be asked to do what makes none, and the message not say where.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        let rate = Rate::from_bps(10_000_000);
        assert!(built(&ENTRY, rate, &[]).is_ok(), "everything has a default");
        for (key, value) in [
            ("update_interval", Value::from("0 s")),
            ("update_interval", "99 us".into()),
            ("update_interval", "11 s".into()),
            ("alpha", (-0.1).into()),
            ("beta", (-0.1).into()),
            ("mark_limit", 1.1.into()),
            ("target", 15.into()),
        ] {
            assert_eq!(built(&ENTRY, rate, &[(key, value)]).err().as_deref(), Some(key));
        }
    }
}
