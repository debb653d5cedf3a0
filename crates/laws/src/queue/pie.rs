//! PIE, proportional integral controller enhanced: a probability of early drops that a controller
//! moves at fixed times so that packets wait for a target delay.
//!
//! The pseudo-code is that of RFC 8033, appendix A, with the optional enhancements of its section 5
//! (`pie_core.rs`): ECN (5.1), an estimate of the departure rate (5.2), turning itself on and off
//! (5.3), derandomised drops (5.4) and the cap of the step (5.5). Of the two ways to know the delay
//! that section 4.3 allows, timestamps are the default: the delay is how long the packet waited
//! that left the queue last, and 0 while none waits. Where section 4.2 and appendix A differ (the
//! decay), the appendix is the default.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, DropReason, QueuedInfo, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;
use crate::queue::parts::pie_core::{PieLaw, PieState};

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
        ..law: PieLaw;
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    Ok(Queue::under(Pie::new(read(section)?)))
}

fn read(section: &Section<'_>) -> Result<PieParameters, Problem> {
    let parameters = PieParameters::read(section)?;
    parameters.law.check(section)?;
    Ok(parameters)
}

/// PIE with its queue.
#[derive(Clone)]
struct Pie {
    parameters: PieParameters,
    state: PieState,
    /// Times at which those packets arrived that wait. (Where CHOKe takes one out of the middle,
    /// the times of those before it move up by a packet.)
    arrivals: VecDeque<Time>,
    /// Bytes that wait.
    waiting: u64,
}

impl Pie {
    fn new(parameters: PieParameters) -> Self {
        let state = PieState::new(&parameters.law);
        Self { parameters, state, arrivals: VecDeque::new(), waiting: 0 }
    }

    /// Make the updates that are due by `now`.
    fn catch_up(&mut self, now: Time) {
        self.state.catch_up(&self.parameters.law, self.waiting, now);
    }
}

impl DropPolicy for Pie {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now);
        if !fits(self.parameters.limit, arrival) {
            self.state.overflowed();
            return Verdict::Drop(DropReason::Overflow);
        }
        let Arrival { packet, backlog, .. } = arrival;
        let verdict = self.state.decide(&self.parameters.law, backlog.bytes, packet, stream);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.arrivals.push_back(arrival.now);
            self.waiting += u64::from(packet.size);
        }
        verdict
    }

    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        self.catch_up(at);
        let arrived = self.arrivals.pop_front().expect("only what was let in can leave");
        self.waiting -= u64::from(packet.size());
        let sizes = (packet.size(), self.waiting);
        self.state.departed(&self.parameters.law, sizes, at.since(arrived), at);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("drop_probability", self.state.controller.probability);
        visit("sojourn_s", self.state.sojourn.seconds());
        visit("burst_allowance_s", self.state.controller.burst.seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::redn::built;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, Ecn, FlowId, Packet, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::{Rate, Span};

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
        pie.state.controller.probability = probability;
        pie.state.controller.former_delay = ms(before);
        pie.state.controller.update(ms(now), &pie.parameters.law);
        pie.state.controller.probability
    }

    fn delay(pie: &Pie) -> Span {
        pie.state.delay(&pie.parameters.law, pie.waiting)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-15 * b.abs().max(1.0)
    }

    /// An arrival at `time` that finds `packets` of 1000 B waiting.
    fn offer(pie: &mut Pie, time: f64, packets: u32, ecn: Ecn, stream: &mut Stream) -> Verdict {
        let packet =
            Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0)).with_ecn(ecn);
        let backlog = Backlog { packets, bytes: 1000 * u64::from(packets) };
        pie.admit(
            &Arrival {
                now: at(time),
                packet: &packet,
                backlog,
                idle_since: None,
                empty_since: None,
            },
            stream,
        )
    }

    fn leave(pie: &mut Pie, time: f64) {
        pie.departed(
            Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0)).queued_info(),
            at(time),
        );
    }

    /// A step is scaled to the decade of the probability: from 18 to 20 ms a step is 0.125 * 5 ms +
    /// 1.25 * 2 ms = 0.003125, from 20 to 30 ms 0.125 * 15 ms + 1.25 * 10 ms = 0.014375. Below 1e-6
    /// they are divided by 2048, below 1e-5 by 512, by 128, by 32, by 8, below 0.1 by 2; the ends
    /// of the decades belong to the decade above.
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

    /// The probability stays in 0 to 1, does not jump in a slow start, and decays when congestion
    /// is over. From 15 to 50 ms a step is 1.375 * 35 ms = 0.048125, capped at 0.02 from 0.1 on.
    /// Below half of 15 ms twice, 2 % of it go: at 7 ms after 0.125 * -8 ms = -0.001, at 7.5 ms
    /// not, after -0.0009375.
    #[test]
    fn steps_are_capped_and_probabilities_decay() {
        assert!(close(updated(0.1, [15.0, 50.0], &[]), 0.12));
        assert!(close(updated(0.1, [15.0, 50.0], &[("cap", false.into())]), 0.148_125));
        assert!(close(updated(0.08, [15.0, 50.0], &[]), 0.08 + 0.024_062_5));
        assert!(close(updated(0.5, [7.0, 7.0], &[]), 0.98 * 0.499));
        assert!(close(updated(0.5, [7.5, 7.5], &[]), 0.499_062_5));
        assert!(close(updated(0.5, [7.0, 7.5], &[]), 0.5 - 0.000_937_5 + 0.000_625));
        // Of an empty queue alone, by a 64th (section 4.2, Linux): after 0.125 * -15 ms at 0 ms.
        let empty = [("decay", "empty".into())];
        assert!(close(updated(0.5, [7.0, 7.0], &empty), 0.499));
        assert!(close(updated(0.5, [0.0, 0.0], &empty), (0.5 - 0.001_875) * 63.0 / 64.0));
        assert_eq!(updated(0.99, [15.0, 50.0], &[]), 1.0);
        assert_eq!(updated(0.001, [100.0, 0.0], &[]), 0.0);
        // 250 ms are not above 250 ms; 1.375 * 0.1 ms is no step beside 0.02.
        let high = [("high_delay", "250 ms".into())];
        let step = |now: f64| 0.125 * (now - 15.0) * 1e-3;
        assert!(close(updated(0.2, [250.0, 250.0], &high), 0.22));
        assert!(close(updated(0.2, [251.0, 251.0], &high), 0.2 + 0.02 + step(251.0).min(0.02)));
    }

    /// A burst into an idle link is let in for its allowance, and not for ever: from the first
    /// packet on, which finds no congestion, 150 ms are ten updates of 15 ms, whatever the
    /// probability; then it decides.
    #[test]
    fn a_burst_is_let_in_for_its_allowance() {
        let stream = &mut Streams::new(1, 0).named("test");
        let mut pie = law(&[("derandomize", false.into())]);
        assert_eq!(offer(&mut pie, 1.0, 0, Ecn::NotEct, stream), Verdict::Accept);
        assert_eq!(pie.state.controller.burst, ms(150.0));
        pie.state.sojourn = ms(100.0);
        for time in [2.0, 14.0, 15.0, 75.0, 149.0] {
            pie.state.controller.probability = 1.0;
            assert_eq!(offer(&mut pie, time, 50, Ecn::NotEct, stream), Verdict::Accept, "{time}");
        }
        assert_eq!(pie.state.controller.burst, ms(15.0), "nine updates, the last at 135 ms");
        pie.state.controller.probability = 1.0;
        let dropped = Verdict::Drop(DropReason::Early);
        assert_eq!(offer(&mut pie, 150.0, 50, Ecn::NotEct, stream), dropped);
        assert_eq!(offer(&mut pie, 151.0, 2, Ecn::NotEct, stream), Verdict::Accept, "2000 B");
        assert_eq!(offer(&mut pie, 151.0, 3, Ecn::NotEct, stream), dropped, "above 2 * 1024 B");
    }

    /// Drops keep their distance: at 0.1, arrivals up to the eighth after a drop pass (0.8 < 0.85),
    /// the 85th never does, and between them each is dropped with 0.1: a gap is 8 and a geometric
    /// time of mean 10 and variance 90 (that it is cut at 85 takes 10 * 0.9^76 = 0.003 off). Over
    /// 20,000 gaps the mean deviates by sqrt(90 / 20,000) = 0.067; bound: five times that.
    #[test]
    fn drops_keep_their_distance() {
        let stream = &mut Streams::new(2, 0).named("test");
        let mut pie = law(&[]);
        (pie.state.controller.former_delay, pie.state.sojourn) = (ms(15.0), ms(15.0));
        let (mut gaps, mut gap) = (Vec::new(), 0);
        while gaps.len() < 20_000 {
            pie.state.controller.probability = 0.1;
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

    /// ECN does not hide an overload: marks take the place of drops up to 10 % alone, and never of
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
            pie.state.controller.probability = probability;
            pie.state.controller.former_delay = ms(15.0);
            // The sum of probabilities is such that a drop is sure.
            pie.state.accumulated = 8.5;
            assert_eq!(offer(&mut pie, 0.0, 50, ecn, stream), expected, "{probability} {ecn:?}");
            assert_eq!(pie.state.accumulated, 0.0);
        }
    }

    /// Decisions do not depend on when they are read: a law that is woken at every update is, after
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
            assert_eq!(lazy.state.controller, woken.state.controller, "{number}");
            assert_eq!(
                (lazy.state.updates.due(), delay(&lazy)),
                (woken.state.updates.due(), delay(&woken)),
                "{number}"
            );
            largest = largest.max(lazy.state.controller.probability);
        }
        assert!(largest > 0.01, "the law has acted: {largest}");
    }

    /// Parameters that make no controller are refused, and the message names the key.
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
