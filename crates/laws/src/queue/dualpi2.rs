//! DualPI2: two queues, of low latency (L) and classic (C), under one proportional integral
//! controller whose probability the classic queue applies squared.
//!
//! RFC 9332, appendix A, in the form of Linux (`net/sched/sch_dualpi2.c`), whose defaults are the
//! defaults here. They differ in which delay drives the controller: that of the classic queue in
//! the RFC's appendix A.1, the larger of both in its appendix A.2 and in Linux (`delay`). They
//! differ in how a probability becomes a decision: by chance in Linux, by adding up in the RFC
//! (`decisions`).
//!
//! Updates that are due are made up for when a packet comes or leaves (`periodic.rs`), each
//! with the delay of the packets that were at the heads then. One that is due at the instant of a
//! packet comes before it.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, ClassCount, Departure, Discard, DropReason, Ecn, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, choice, parameters};
use forebay_units::quantity::show_span;
use forebay_units::{Size, Span, Time};

use super::{BuildQueue, Queue};
use crate::queue::parts::class_counts::ClassCounts;
use crate::{LinkFacts, Periodic, Update};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "dualpi2",
    summary: "Dual-queue coupled AQM: a queue of low latency that marks early, beside a classic \
              one whose drops and marks have the square of the same probability.",
    source: "RFC 9332, appendix A; Linux net/sched/sch_dualpi2.c (2024)",
    example: r#"
        target = "40 ms"
        alpha = 0.1
        beta = 2.0
        step = "500 us"
        limit = "15 packets"
    "#,
    fields: DualPi2Parameters::FIELDS,
    probes: &[
        Probe {
            name: "probability",
            unit: "1",
            meaning: "The controller's probability: classic packets have its square, others \
                      `coupling` times it.",
        },
        Probe {
            name: "delay_s",
            unit: "s",
            meaning: "The delay that the controller found when it was updated last.",
        },
        Probe { name: "l_packets", unit: "packets", meaning: "Packets in the L queue." },
        Probe { name: "c_packets", unit: "packets", meaning: "Packets in the C queue." },
        Probe {
            name: "credit_bytes",
            unit: "B",
            meaning: "Credit of the C queue: above 0 it is served next where both hold packets.",
        },
        Probe {
            name: "step_marks",
            unit: "packets",
            meaning: "Packets since the start that stayed longer in the L queue than `step`.",
        },
        Probe {
            name: "coupled_marks",
            unit: "packets",
            meaning: "Packets marked since the start by the controller's probability alone.",
        },
        Probe {
            name: "aqm_drops",
            unit: "packets",
            meaning: "Packets dropped since the start by the controller's probability.",
        },
    ],
    build: &build,
};

choice! {
    /// The delay that drives the controller.
    pub enum DrivingDelay {
        /// The larger of those of the packets at the heads of both queues.
        Larger = "larger",
        /// That of the packet at the head of the classic queue.
        Classic = "classic",
    }
}

choice! {
    /// Packets that have the L queue.
    pub enum LowLatencyTraffic {
        /// ECT(1) and CE.
        Ect1 = "ect1",
        /// All ECN-capable packets, for data centres.
        Ect = "ect",
    }
}

choice! {
    /// Way in which a probability becomes a decision.
    pub enum Decisions {
        /// Chance; the square by two independent draws.
        Random = "random",
        /// Accumulation: each time the sum of probabilities exceeds 1.
        Recurrent = "recurrent",
    }
}

parameters! {
    /// Parameters of DualPI2.
    pub struct DualPi2Parameters {
        /// Delay at which the controller holds the queue.
        target: Span = "15 ms", "RFC 9332, appendix A.1 (target)";
        /// Time between two updates of the probability, 100 us to 10 s. The first is due so long
        /// after the start of the run.
        update_interval: Span = "16 ms", "RFC 9332, appendix A.1 (Tupdate)";
        /// Gain of the delay: change of the probability in an update, per second of delay above the
        /// target, in Hz; 0 or more.
        alpha: f64 = 0.16, "RFC 9332, appendix A.1 (in Hz)";
        /// Gain of the delay's growth: change of the probability in an update, per second that the
        /// delay has grown since the last one, in Hz; 0 or more.
        beta: f64 = 3.2, "RFC 9332, appendix A.1 (in Hz)";
        /// Delay that drives the controller.
        delay: DrivingDelay = "larger",
            "RFC 9332, appendix A.2; Linux net/sched/sch_dualpi2.c (2024)";
        /// Coupling factor: probability of marks in the L queue over the controller's. Above 0.
        coupling: f64 = 2.0, "RFC 9332, section 2.1 (k)";
        /// Delay above which packets that leave the L queue are marked.
        step: Span = "1 ms", "RFC 9332, section 2.5.1.1; Linux net/sched/sch_dualpi2.c (2024)";
        /// Packets left in the L queue above which one that leaves it is marked, instead of `step`.
        step_packets: Option<u32>, "Linux net/sched/sch_dualpi2.c (2024)";
        /// Range of delays above `step` over which the probability of a mark rises to 1. 0 s for a
        /// step.
        ramp: Span = "0 s", "RFC 9332, appendix A.1 (range)";
        /// Packets that must be in the L queue when another joins it, or `step` does not concern
        /// that one.
        min_step_queue: u32 = 0, "Linux net/sched/sch_dualpi2.c (2024, min_qlen_step)";
        /// Share of the link, in percent from 0 to 100, that the C queue has at least while both
        /// hold packets.
        classic_share: u32 = 10, "Linux net/sched/sch_dualpi2.c (2024, classic_protection)";
        /// Packets that have the L queue.
        low_latency: LowLatencyTraffic = "ect1", "RFC 9331, section 5.1";
        /// Drop ECN-capable packets as well when `coupling` times the probability exceeds 1.
        /// If not, it is held at that value, and the buffer overflows.
        drop_overload: bool = true, "RFC 9332, section 2.5.1.2";
        /// Let the controller's probability decide when a packet arrives instead of when it leaves.
        drop_early: bool = false, "Linux net/sched/sch_dualpi2.c (2024)";
        /// Way in which a probability becomes a decision.
        decisions: Decisions = "random", "RFC 9332, appendix A.1 (recur)";
        /// The largest packet: while less than two of these wait behind a packet, the controller's
        /// probability does not concern it.
        mtu: Size = "1500 B", "Linux net/sched/sch_dualpi2.c (2024)";
        /// Buffer size of both queues together, without the packet being transmitted.
        limit: Length = "10000 packets", "Linux net/sched/sch_dualpi2.c (2024)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = DualPi2Parameters::read(section)?;
    let interval = parameters.update_interval;
    if !(Span::from_us(100)..=Span::from_s(10)).contains(&interval) {
        let given = show_span(interval);
        let message = format!("{given} is out of range; allowed are 100 us to 10 s");
        return Err(section.fail("update_interval", message));
    }
    for (key, gain) in [("alpha", parameters.alpha), ("beta", parameters.beta)] {
        if gain < 0.0 {
            return Err(section.fail(key, format!("{gain} is negative; allowed are 0 and more")));
        }
    }
    if parameters.coupling <= 0.0 {
        let message = format!("{} is not above 0; allowed are all above", parameters.coupling);
        return Err(section.fail("coupling", message));
    }
    if parameters.classic_share > 100 {
        let message = format!("{} percent; allowed are 0 to 100", parameters.classic_share);
        return Err(section.fail("classic_share", message));
    }
    if parameters.step_packets.is_some() && section.node("step").is_some() {
        let message = "is given beside step; allowed is one of the two";
        return Err(section.fail("step_packets", message));
    }
    let classes = ClassCounts::of(facts, 2);
    Ok(Queue::Disc(Box::new(DualPi2 { classes, ..DualPi2::new(parameters) })))
}

/// A packet with what was noted when it came.
struct Held {
    packet: Packet,
    entered: Time,
    /// True if the step concerns it.
    step: bool,
}

/// One of the two queues.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<Held>,
    backlog: Backlog,
    /// Sum of probabilities since the last decision.
    sum: f64,
}

impl Lane {
    /// Returns the time for which the packet at the head has waited at `at`.
    fn delay(&self, at: Time) -> Span {
        self.waiting.front().map_or(Span::ZERO, |held| at.since(held.entered))
    }

    fn pop(&mut self) -> Option<Held> {
        let held = self.waiting.pop_front()?;
        self.backlog.remove(held.packet.queued_info());
        Some(held)
    }

    /// Returns true if the sum of probabilities, with `probability`, exceeds 1 (recur).
    fn recurs(&mut self, probability: f64) -> bool {
        self.sum += probability;
        let hit = self.sum > 1.0;
        self.sum -= f64::from(u8::from(hit));
        hit
    }
}

/// Decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Pass,
    Mark,
    Drop,
}

/// State that an update moves.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Controller {
    /// The probability (p').
    probability: f64,
    /// Delay at the last update (prevq).
    former_delay: Span,
}

impl Controller {
    /// An update that finds `delay` (dualpi2_update); the probability is at most `most`.
    fn update(&mut self, delay: Span, parameters: &DualPi2Parameters, most: f64) {
        let DualPi2Parameters { target, alpha, beta, .. } = *parameters;
        let (now, before) = (delay.seconds(), self.former_delay.seconds());
        let step = alpha * (now - target.seconds()) + beta * (now - before);
        self.probability = (self.probability + step).clamp(0.0, most);
        self.former_delay = delay;
    }
}

/// DualPI2's state.
struct DualPi2 {
    parameters: DualPi2Parameters,
    controller: Controller,
    /// The largest probability.
    most: f64,
    updates: Periodic,
    low: Lane,
    classic: Lane,
    /// Hundredths of a byte that the C queue may send before the L queue.
    credit: i64,
    step_marks: u64,
    coupled_marks: u64,
    aqm_drops: u64,
    /// Of the L queue and the C queue, if counted.
    classes: ClassCounts,
}

impl DualPi2 {
    fn new(parameters: DualPi2Parameters) -> Self {
        let most =
            if parameters.drop_overload { 1.0 } else { (1.0 / parameters.coupling).min(1.0) };
        let mut law = Self {
            controller: Controller::default(),
            most,
            updates: Periodic::every(parameters.update_interval),
            parameters,
            low: Lane::default(),
            classic: Lane::default(),
            credit: 0,
            step_marks: 0,
            coupled_marks: 0,
            aqm_drops: 0,
            classes: ClassCounts::default(),
        };
        law.reset_credit();
        law
    }

    /// The credit of two empty queues: the L queue begins if its share is the larger.
    fn reset_credit(&mut self) {
        let (classic, mtu) = (i64::from(self.parameters.classic_share), self.parameters.mtu);
        let mtu = i64::try_from(mtu.bytes()).unwrap_or(i64::MAX).min(1 << 32);
        self.credit = mtu * (2 * classic - 100);
    }

    /// The delay at `at` that drives the controller.
    fn delay(&self, at: Time) -> Span {
        match self.parameters.delay {
            DrivingDelay::Larger => self.low.delay(at).max(self.classic.delay(at)),
            DrivingDelay::Classic => self.classic.delay(at),
        }
    }

    /// Make the updates that are due by `now`.
    fn catch_up(&mut self, now: Time) {
        let mut updates = self.updates;
        updates.catch_up(now, |due| {
            let before = self.controller;
            let delay = self.delay(due);
            self.controller.update(delay, &self.parameters, self.most);
            // Without packets, an update that changes nothing is followed by such alone until a
            // packet comes. With one at the head, its delay only grows: from the largest
            // probability on, only the delay changes.
            let still = self.controller == before && self.backlog().packets == 0;
            let full = self.controller.probability >= self.most && delay > self.parameters.target;
            if still || full { Update::Settled } else { Update::Changing }
        });
        self.updates = updates;
    }

    /// Returns true if so little waits that the controller's probability does not count.
    fn is_short(&self) -> bool {
        self.backlog().bytes < self.parameters.mtu.bytes().saturating_mul(2)
    }

    /// Returns true if `coupling` times the probability exceeds 1.
    fn overloaded(&self) -> bool {
        self.parameters.coupling * self.controller.probability > 1.0
    }

    /// Returns true if the square of the probability decides against a packet of a queue.
    fn squared(&mut self, low: bool, stream: &mut Stream) -> bool {
        let p = self.controller.probability;
        match self.parameters.decisions {
            Decisions::Random => stream.happens(p) && stream.happens(p),
            Decisions::Recurrent if low => self.low.recurs(p * p),
            Decisions::Recurrent => self.classic.recurs(p * p),
        }
    }

    /// Decide on a classic packet.
    fn decide_classic(&mut self, packet: &Packet, stream: &mut Stream) -> Fate {
        if self.is_short() || !self.squared(false, stream) {
            Fate::Pass
        } else if packet.is_ecn_capable() && !self.overloaded() {
            Fate::Mark
        } else {
            Fate::Drop
        }
    }

    /// Decide on a packet of the L queue, which its own delay marks with probability `native` and
    /// the controller does if `coupled`.
    fn decide_low(&mut self, native: f64, coupled: bool, stream: &mut Stream) -> Fate {
        let coupled = coupled && !self.is_short();
        if coupled && self.overloaded() {
            let drops = self.parameters.drop_overload && self.squared(true, stream);
            return if drops { Fate::Drop } else { Fate::Mark };
        }
        let of_controller = self.parameters.coupling * self.controller.probability;
        let p = if coupled { native.max(of_controller) } else { native };
        let hit = match self.parameters.decisions {
            Decisions::Random => stream.happens(p),
            Decisions::Recurrent => p >= 1.0 || self.low.recurs(p),
        };
        if hit { Fate::Mark } else { Fate::Pass }
    }

    /// The probability with which the L queue marks a packet that leaves it.
    fn native(&self, held: &Held, now: Time) -> f64 {
        let DualPi2Parameters { step, ramp, step_packets, .. } = self.parameters;
        let above = match step_packets {
            _ if !held.step => false,
            Some(packets) => self.low.backlog.packets > packets,
            None => now.since(held.entered) > step,
        };
        if !above || ramp == Span::ZERO || step_packets.is_some() {
            return f64::from(u8::from(above));
        }
        let excess = now.since(held.entered).seconds() - step.seconds();
        (excess / ramp.seconds()).min(1.0)
    }

    /// Returns true if `packet` has the L queue.
    fn is_low(&self, packet: &Packet) -> bool {
        match (self.parameters.low_latency, packet.ecn()) {
            (_, Ecn::Ect1 | Ecn::Ce) => true,
            (LowLatencyTraffic::Ect, Ecn::Ect0) => true,
            (_, Ecn::Ect0 | Ecn::NotEct) => false,
        }
    }

    /// Take the next packet out; what it changes of the credit if it is sent; and whether it is of
    /// the L queue.
    fn next(&mut self) -> Option<(Held, i64, bool)> {
        let (low, classic) = (!self.low.waiting.is_empty(), !self.classic.waiting.is_empty());
        let share = i64::from(self.parameters.classic_share);
        let of_low = low && (!classic || self.credit <= 0);
        let held = if of_low { self.low.pop() } else { self.classic.pop() }?;
        let change = match (low && classic, of_low) {
            (false, _) => 0,
            (true, true) => share,
            (true, false) => share - 100,
        };
        let size = i64::from(held.packet.size);
        Some((held, change * size, of_low))
    }

    /// Returns the decision on a packet that leaves.
    fn decide_leaving(
        &mut self,
        held: &Held,
        of_low: bool,
        now: Time,
        stream: &mut Stream,
    ) -> Fate {
        let coupled = !self.parameters.drop_early;
        if !of_low {
            let decide = coupled.then(|| self.decide_classic(&held.packet, stream));
            let fate = decide.unwrap_or(Fate::Pass);
            self.coupled_marks += u64::from(fate == Fate::Mark);
            return fate;
        }
        let native = self.native(held, now);
        let fate = self.decide_low(native, coupled, stream);
        let marked = u64::from(fate == Fate::Mark);
        *(if native > 0.0 { &mut self.step_marks } else { &mut self.coupled_marks }) += marked;
        fate
    }

    /// Returns the decision on a packet that arrives.
    fn decide_arriving(&mut self, packet: &Packet, stream: &mut Stream) -> Fate {
        let fate = match (self.parameters.drop_early, self.is_low(packet)) {
            (false, _) => Fate::Pass,
            (true, true) => self.decide_low(0.0, true, stream),
            (true, false) => self.decide_classic(packet, stream),
        };
        self.coupled_marks += u64::from(fate == Fate::Mark);
        fate
    }
}

impl DualPi2 {
    /// Admit `packet`, marked or not, or drop it.
    fn admit(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
    ) -> Verdict {
        self.catch_up(now);
        if idle_since.is_some() {
            // The transmitter has asked for a packet and found none.
            self.reset_credit();
        }
        let arrival = super::Arrival {
            now,
            packet,
            backlog: self.backlog(),
            idle_since,
            empty_since: idle_since,
        };
        if !super::fits(Some(self.parameters.limit), &arrival) {
            return Verdict::Drop(DropReason::Overflow);
        }
        let fate = self.decide_arriving(packet, stream);
        if fate == Fate::Drop {
            self.aqm_drops += 1;
            return Verdict::Drop(DropReason::Early);
        }
        let is_low = self.is_low(packet);
        let lane = if is_low { &mut self.low } else { &mut self.classic };
        let step = is_low && lane.waiting.len() >= self.parameters.min_step_queue as usize;
        lane.backlog.add(packet);
        if fate == Fate::Mark {
            lane.waiting.push_back(Held { packet: packet.with_ecn(Ecn::Ce), entered: now, step });
            return Verdict::Mark;
        }
        lane.waiting.push_back(Held { packet: *packet, entered: now, step });
        Verdict::Accept
    }
}

impl QueueDisc for DualPi2 {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let verdict = self.admit(packet, idle_since, now, stream);
        if self.classes.counts() {
            self.classes.arrived(usize::from(!self.is_low(packet)), packet, verdict, now);
        }
        verdict
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        let DualPi2Parameters { drop_early, mtu, .. } = self.parameters;
        if drop_early || mtu.bytes() == 0 || self.classes.counts() {
            return Some(self.enqueue(packet, Some(idle_since), now, stream, discard));
        }
        self.catch_up(now);
        self.reset_credit();
        // So little waits that the controller does not count, and one that has not waited does not
        // exceed the step; but the L queue draws for each packet.
        if self.is_low(packet) {
            self.decide_low(0.0, false, stream);
        }
        None
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.catch_up(now);
        while let Some((held, change, of_low)) = self.next() {
            let fate = self.decide_leaving(&held, of_low, now, stream);
            let class = usize::from(!of_low);
            if fate == Fate::Drop {
                self.aqm_drops += 1;
                self.classes.dropped(class, DropReason::Early, now);
                discard(held.packet, DropReason::Early);
                continue;
            }
            self.credit += change;
            let marked = fate == Fate::Mark;
            self.classes.departed(class, &held.packet, marked, now);
            return Some(Departure { packet: held.packet, marked });
        }
        None
    }

    fn backlog(&self) -> Backlog {
        let (low, classic) = (self.low.backlog, self.classic.backlog);
        Backlog { packets: low.packets + classic.packets, bytes: low.bytes + classic.bytes }
    }

    fn class_counts(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        self.classes.up_to(now)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("probability", self.controller.probability);
        visit("delay_s", self.controller.former_delay.seconds());
        visit("l_packets", f64::from(self.low.backlog.packets));
        visit("c_packets", f64::from(self.classic.backlog.packets));
        visit("credit_bytes", self.credit as f64 / 100.0);
        visit("step_marks", self.step_marks as f64);
        visit("coupled_marks", self.coupled_marks as f64);
        visit("aqm_drops", self.aqm_drops as f64);
    }
}

#[cfg(test)]
mod tests;
