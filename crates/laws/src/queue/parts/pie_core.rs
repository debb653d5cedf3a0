//! PIE's law for one queue, which PIE has one of and FQ-PIE many.
//!
//! Updates that are due are made up for when a packet comes or leaves (`periodic.rs`). One that is
//! due at the instant of a packet comes before it.

use forebay_kernel::Stream;
use forebay_network::{DropReason, Packet, Verdict};
use forebay_parameters::{Problem, Section, choice, parameters};
use forebay_units::quantity::show_span;
use forebay_units::{Size, Span, Time};

use crate::{Periodic, Update};

choice! {
    /// Source from which the delay of a queue is known.
    pub enum DelayEstimate {
        /// Time for which the packet waited that left last; 0 while none waits.
        Timestamps = "timestamps",
        /// Bytes that wait over an average of the rate at which they leave, measured while the
        /// queue is at least `rate_threshold`.
        DepartureRate = "departure_rate",
    }
}

choice! {
    /// Condition for the drop probability to decay beside what the controller does.
    pub enum Decay {
        /// Decay by 2 % in an update that finds less than half the target, as the last one did.
        HalfTarget = "half_target",
        /// Decay by a 64th in an update that finds no delay, as the last one did.
        Empty = "empty",
    }
}

parameters! {
    /// Parameters of PIE's law.
    pub struct PieLaw {
        /// Delay at which the controller holds the queue.
        target: Span = "15 ms", "RFC 8033, section 4.1 (QDELAY_REF)";
        /// Time between two updates of the drop probability, 100 us to 10 s. The first is due so
        /// long after the start of the run.
        update_interval: Span = "15 ms", "RFC 8033, section 4.2 (T_UPDATE)";
        /// Time for which every packet is let in when congestion begins.
        max_burst: Span = "150 ms", "RFC 8033, section 4.4 (MAX_BURST)";
        /// Gain of the delay: change of the drop probability in an update, per second of delay
        /// above the target, in Hz; 0 or more.
        alpha: f64 = 0.125, "RFC 8033, section 4.2 (in Hz)";
        /// Gain of the delay's growth: change of the drop probability in an update, per second that
        /// the delay has grown since the last one, in Hz; 0 or more.
        beta: f64 = 1.25, "RFC 8033, section 4.2 (in Hz)";
        /// Mean size of packets: while up to two of these wait, nothing is dropped early.
        mean_packet: Size = "1024 B", "RFC 8034 (MEAN_PKTSIZE); RFC 8033 has no value";
        /// Drop packets smaller than `mean_packet` with a probability that is smaller in proportion
        /// (Linux takes the MTU for it).
        bytemode: bool = false, "Linux net/sched/sch_pie.c and tc-pie(8); not in RFC 8033";
        /// Space early drops out: none until the probabilities of the arrivals since the last add
        /// up to 0.85, and surely one when they reach 8.5.
        derandomize: bool = true, "RFC 8033, section 5.4";
        /// Let no update raise a drop probability of 0.1 or more by more than 0.02.
        cap: bool = true, "RFC 8033, section 5.5";
        /// Condition for the drop probability to decay beside what the controller does.
        decay: Decay = "half_target",
            "RFC 8033, appendix A; section 4.2 and Linux net/sched/sch_pie.c (empty)";
        /// Delay above which every update raises the drop probability by 0.02 beside. None if left
        /// out.
        high_delay: Option<Span>, "Linux net/sched/sch_pie.c (250 ms); not in RFC 8033";
        /// Source from which the delay is known.
        delay: DelayEstimate = "timestamps", "RFC 8033, sections 4.3 and 5.2";
        /// Bytes of which the departure takes one measurement of the departure rate.
        rate_threshold: Size = "16384 B", "RFC 8033, section 5.2 (DQ_THRESHOLD)";
        /// Bytes waiting from which on it is active; it ceases to be when congestion ends. Always
        /// active if left out.
        active_from: Option<Size>, "RFC 8033, section 5.3 (a third of the buffer)";
        /// Mark ECN-capable packets instead of dropping them early, up to `mark_limit`.
        ecn: bool = false, "RFC 8033, section 5.1";
        /// Drop probability above which ECN-capable packets are dropped as well, 0 to 1.
        mark_limit: f64 = 0.1, "RFC 8033, section 5.1 (mark_ecnth)";
    }
}

impl PieLaw {
    /// Refuse what makes no controller.
    pub(in crate::queue) fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        let interval = self.update_interval;
        if !(Span::from_us(100)..=Span::from_s(10)).contains(&interval) {
            let message =
                format!("{} is out of range; allowed are 100 us to 10 s", show_span(interval));
            return Err(section.fail("update_interval", message));
        }
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if gain < 0.0 {
                let message = format!("{gain} is negative; allowed are 0 and more");
                return Err(section.fail(key, message));
            }
        }
        if !(0.0..=1.0).contains(&self.mark_limit) {
            let message = format!("{} is not a probability; allowed are 0 to 1", self.mark_limit);
            return Err(section.fail("mark_limit", message));
        }
        if self.rate_threshold == Size::from_bytes(0) {
            return Err(section.fail("rate_threshold", "is zero; allowed are 1 B and more"));
        }
        Ok(())
    }
}

/// Below the first number of a row, a step of the drop probability is divided by the second, so
/// that the controller is as gentle with small probabilities as these are small (section 4.2).
const TUNING: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// Part of the drop probability that is left in an update without congestion, and without delay.
const DECAY: f64 = 0.98;
const DECAY_EMPTY: f64 = 63.0 / 64.0;
/// The largest step up from a drop probability of [`CAPPED_FROM`] on, and that of high delays.
const MAX_STEP: f64 = 0.02;
const CAPPED_FROM: f64 = 0.1;
/// Below this drop probability nothing is dropped while the delay was below half the target.
const SPARED_BELOW: f64 = 0.2;
/// The sum of probabilities up to which nothing, and from which on everything is dropped.
const NEVER_BELOW: f64 = 0.85;
const ALWAYS_FROM: f64 = 8.5;
/// The weight of a measurement of the departure rate is the threshold over these bytes.
const WEIGHT_BYTES: f64 = 65_536.0;

/// State that an update moves.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::queue) struct Controller {
    /// Drop probability (drop_prob_).
    pub(in crate::queue) probability: f64,
    /// Delay at the last update (qdelay_old_).
    pub(in crate::queue) former_delay: Span,
    /// Time for which every packet is still let in (burst_allowance_).
    pub(in crate::queue) burst: Span,
}

impl Controller {
    /// An update that finds `delay` (calculate_drop_prob).
    pub(in crate::queue) fn update(&mut self, delay: Span, law: &PieLaw) {
        let PieLaw { target, alpha, beta, .. } = *law;
        let (now, before) = (delay.seconds(), self.former_delay.seconds());
        let mut step = alpha * (now - target.seconds()) + beta * (now - before);
        let tuning = TUNING.iter().find(|(below, _)| self.probability < *below);
        step /= tuning.map_or(1.0, |(_, divisor)| *divisor);
        if law.cap && self.probability >= CAPPED_FROM {
            step = step.min(MAX_STEP);
        }
        if law.high_delay.is_some_and(|high| delay > high) {
            step += MAX_STEP;
        }
        self.probability += step;
        let both = |found: fn(Span, Span) -> bool| {
            found(delay, target) && found(self.former_delay, target)
        };
        match law.decay {
            Decay::HalfTarget if both(is_short) => self.probability *= DECAY,
            Decay::Empty if both(|delay, _| delay == Span::ZERO) => {
                self.probability *= DECAY_EMPTY;
            }
            _ => {}
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.former_delay = delay;
        self.burst = self.burst - law.update_interval;
    }
}

/// Returns true if `delay` is below half of `target`.
fn is_short(delay: Span, target: Span) -> bool {
    delay.ps() < target.ps().div_ceil(2)
}

/// The average rate at which bytes leave a queue.
#[derive(Clone, Copy, Debug, Default)]
struct DepartureRate {
    /// Time since which bytes are counted (measurement_start_), and their number (dq_count_).
    measuring: Option<(Time, u64)>,
    /// Seconds for the threshold's bytes (avg_dq_time_); 0 before the first measurement.
    average: f64,
}

impl DepartureRate {
    /// `size` bytes leave at `at`, and `waiting` remain.
    fn departed(&mut self, size: u64, waiting: u64, at: Time, threshold: u64) {
        if let Some((start, count)) = &mut self.measuring {
            *count += size;
            if *count >= threshold {
                let taken = at.since(*start).seconds();
                let weight = (threshold as f64 / WEIGHT_BYTES).min(1.0);
                let first = self.average == 0.0;
                let average = taken * weight + self.average * (1.0 - weight);
                self.average = if first { taken } else { average };
                self.measuring = None;
            }
        }
        if self.measuring.is_none() && waiting >= threshold {
            self.measuring = Some((at, 0));
        }
    }
}

/// The state of a queue; names in parentheses are those of the RFC's pseudo-code.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct PieState {
    pub(in crate::queue) controller: Controller,
    pub(in crate::queue) updates: Periodic,
    /// Sum of the drop probabilities of arrivals since the last early drop (accu_prob_).
    pub(in crate::queue) accumulated: f64,
    /// Time for which the packet waited that left last.
    pub(in crate::queue) sojourn: Span,
    rate: DepartureRate,
    /// True if it may drop (active_).
    active: bool,
}

impl PieState {
    pub(in crate::queue) fn new(law: &PieLaw) -> Self {
        Self {
            controller: Controller::default(),
            updates: Periodic::every(law.update_interval),
            accumulated: 0.0,
            sojourn: Span::ZERO,
            rate: DepartureRate::default(),
            active: law.active_from.is_none(),
        }
    }

    /// The delay as it is known while `waiting` bytes wait (current_qdelay).
    pub(in crate::queue) fn delay(&self, law: &PieLaw, waiting: u64) -> Span {
        match law.delay {
            DelayEstimate::Timestamps if waiting == 0 => Span::ZERO,
            DelayEstimate::Timestamps => self.sojourn,
            DelayEstimate::DepartureRate => {
                let threshold = law.rate_threshold.bytes() as f64;
                Span::from_seconds(waiting as f64 / threshold * self.rate.average)
            }
        }
    }

    /// Make the updates that are due by `now`, up to which `waiting` bytes have waited.
    #[inline]
    pub(in crate::queue) fn catch_up(&mut self, law: &PieLaw, waiting: u64, now: Time) {
        if self.updates.due() <= now {
            self.make_up(law, waiting, now);
        }
    }

    fn make_up(&mut self, law: &PieLaw, waiting: u64, now: Time) {
        let delay = self.delay(law, waiting);
        let Self { updates, controller, active, .. } = self;
        updates.catch_up(now, |_| {
            let before = *controller;
            if *active {
                controller.update(delay, law);
            }
            // An update that changes nothing is followed by such alone until a packet moves.
            if *controller == before { Update::Settled } else { Update::Changing }
        });
    }

    /// Returns true if the arriving packet is dropped early, or marked (drop_early).
    fn drops_early(
        &mut self,
        law: &PieLaw,
        waiting: u64,
        packet: &Packet,
        stream: &mut Stream,
    ) -> bool {
        let Controller { probability, former_delay, .. } = self.controller;
        let spared = probability < SPARED_BELOW && is_short(former_delay, law.target);
        if spared || waiting <= law.mean_packet.bytes().saturating_mul(2) {
            return false;
        }
        let probability = if law.bytemode && u64::from(packet.size) < law.mean_packet.bytes() {
            probability * f64::from(packet.size) / law.mean_packet.bytes() as f64
        } else {
            probability
        };
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        let drops = if law.derandomize && self.accumulated < NEVER_BELOW {
            false
        } else if law.derandomize && self.accumulated >= ALWAYS_FROM {
            true
        } else {
            stream.happens(probability)
        };
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    /// Begin to let every packet in again, or cease to be active, if there is no congestion.
    fn renew_burst(&mut self, law: &PieLaw, waiting: u64) {
        let delay = self.delay(law, waiting);
        let Controller { probability, former_delay, burst } = &mut self.controller;
        let quiet = is_short(delay, law.target) && is_short(*former_delay, law.target);
        if *probability == 0.0 && quiet {
            *burst = law.max_burst;
            self.active = law.active_from.is_none();
        }
    }

    /// Become active if so much waits as it takes.
    fn wake(&mut self, law: &PieLaw, waiting: u64) {
        if !self.active && law.active_from.is_some_and(|bytes| waiting >= bytes.bytes()) {
            let controller = Controller { burst: law.max_burst, ..Controller::default() };
            *self = Self { controller, active: true, accumulated: 0.0, ..*self };
        }
    }

    /// Decide on `packet`, which has room and finds `waiting` bytes.
    pub(in crate::queue) fn decide(
        &mut self,
        law: &PieLaw,
        waiting: u64,
        packet: &Packet,
        stream: &mut Stream,
    ) -> Verdict {
        let early = self.active
            && self.controller.burst == Span::ZERO
            && self.drops_early(law, waiting, packet, stream);
        if self.active {
            self.renew_burst(law, waiting);
        }
        self.wake(law, waiting);
        let marks =
            law.ecn && packet.is_ecn_capable() && self.controller.probability <= law.mark_limit;
        match (early, marks) {
            (false, _) => Verdict::Accept,
            (true, true) => Verdict::Mark,
            (true, false) => Verdict::Drop(DropReason::Early),
        }
    }

    /// A packet found no room.
    pub(in crate::queue) fn overflowed(&mut self) {
        self.accumulated = 0.0;
    }

    /// A packet of `size` bytes leaves at `at`, which waited for `sojourn`; `waiting` bytes remain.
    #[inline]
    pub(in crate::queue) fn departed(
        &mut self,
        law: &PieLaw,
        (size, waiting): (u16, u64),
        sojourn: Span,
        at: Time,
    ) {
        self.sojourn = sojourn;
        if law.delay == DelayEstimate::DepartureRate {
            let threshold = law.rate_threshold.bytes();
            self.rate.departed(u64::from(size), waiting, at, threshold);
        }
    }
}
