//! Copa: the window moves towards the rate at which a packet waits for a chosen part of a packet's
//! time, and answers those that fill buffers in kind.

use std::cmp::Ordering;

use forebay_laws::control::{BuildControl, ControlFactory};
use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

pub(crate) const ENTRY: Entry<BuildControl> = Entry {
    name: "copa",
    summary: "Steers the sending rate to one over delta times the queueing delay; competes with \
              those that fill buffers.",
    source: "Arun and Balakrishnan, NSDI 2018",
    example: "delta = 0.5",
    fields: CopaParameters::FIELDS,
    probes: &[
        Probe {
            name: "queueing_delay_s",
            unit: "s",
            meaning: "Queueing delay, the standing less the least round-trip time.",
        },
        Probe { name: "velocity", unit: "1", meaning: "Factor to the steps of the window." },
        Probe { name: "inverse_delta", unit: "packets", meaning: "One over delta, as it is now." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of Copa.
    pub struct CopaParameters {
        /// Weight of delay against throughput in the default mode (delta), above 0: about 2.5 over
        /// delta packets of a flow wait at most.
        delta: f64 = 0.5, "Arun and Balakrishnan 2018, section 2";
        /// True if it goes over to a competitive mode while others fill the buffer.
        competes: bool = true, "Arun and Balakrishnan 2018, section 2.2";
        /// Time over which the least round-trip time is taken.
        memory: Span = "10 s", "Arun and Balakrishnan 2018, section 2.1";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let CopaParameters { delta, competes, memory } = CopaParameters::read(section)?;
    if delta <= 0.0 {
        return Err(section.fail("delta", format!("{delta} is out of range; allowed: above 0")));
    }
    Ok(Box::new(move || Box::new(Copa::new(delta, competes, memory))))
}

/// Round trips over which the greatest round-trip time is taken (section 2.2).
const ROUNDS: usize = 4;

/// Least window, in segments, as in the code of the authors (genericCC, markoviancc.cc).
const LEAST: f64 = 2.0;

struct Copa {
    /// One over delta in the default mode.
    default: f64,
    competes: bool,
    memory: Span,
    /// RTTmin.
    least: Minimum,
    /// RTTstanding.
    standing: Minimum,
    /// The greatest round-trip time of this round trip, and of those before it.
    greatest: [Span; ROUNDS],
    /// Time at which the queue was nearly empty last.
    emptied: Time,
    competitive: bool,
    /// One over delta, and whether data was lost in this round trip.
    inverse: f64,
    lost: bool,
    slow_start: bool,
    /// Delivered data from which on a segment sent ends the round trip, and the window at its
    /// start.
    round_end: u64,
    at_start: f64,
    velocity: f64,
    /// The direction of the window, and for how many round trips.
    direction: Ordering,
    same: u32,
    /// In bytes per second, once a round-trip time is known.
    rate: Option<f64>,
}

impl Copa {
    fn new(delta: f64, competes: bool, memory: Span) -> Self {
        Self {
            default: 1.0 / delta,
            competes,
            memory,
            least: Minimum::default(),
            standing: Minimum::default(),
            greatest: [Span::ZERO; ROUNDS],
            emptied: Time::ZERO,
            competitive: false,
            inverse: 1.0 / delta,
            lost: false,
            slow_start: true,
            round_end: 0,
            at_start: 0.0,
            velocity: 1.0,
            direction: Ordering::Equal,
            same: 0,
            rate: None,
        }
    }

    /// d_q of section 2.1.
    fn queueing_delay(&self) -> Span {
        self.standing.get() - self.least.get()
    }

    /// Take note of a round-trip time, and of the mode that follows (sections 2.1 and 2.2).
    fn measure(&mut self, rtt: Span, srtt: Span, now: Time) {
        self.least.update(rtt, now, self.memory);
        self.standing.update(rtt, now, Span::from_ps(srtt.ps() / 2));
        self.greatest[0] = self.greatest[0].max(rtt);
        // Nearly empty: the delay is below a tenth of the range of the last round trips. One of
        // nothing is that, too.
        let greatest = self.greatest.into_iter().max().unwrap_or(rtt);
        if self.queueing_delay().times(10) <= greatest - self.least.get() {
            self.emptied = now;
        }
        self.competitive = self.competes && now.since(self.emptied) > srtt.times(5);
        if !self.competitive {
            self.inverse = self.default;
        }
    }

    /// A round trip has ended.
    fn turn(&mut self, window: &Window) {
        self.greatest.rotate_right(1);
        self.greatest[0] = Span::ZERO;
        // AIMD on 1 / delta.
        let lost = std::mem::take(&mut self.lost);
        if self.competitive && !lost {
            self.inverse += 1.0;
        }
        let direction = window.cwnd.total_cmp(&self.at_start);
        self.at_start = window.cwnd;
        self.same = if direction == self.direction { self.same + 1 } else { 1 };
        self.direction = direction;
        let steady = self.same >= 3 && direction != Ordering::Equal && !self.slow_start;
        self.velocity = if steady { 2.0 * self.velocity } else { 1.0 };
    }

    /// The window after `bytes` more were delivered (section 2.1, steps 1 to 3).
    fn step(&mut self, window: &mut Window, bytes: f64, limited: bool) {
        let segments = window.cwnd / window.smss;
        let (delay, standing) = (self.queueing_delay().ps(), self.standing.get().ps());
        // cwnd / RTTstanding <= 1 / (delta d_q), without a division by a delay of nothing.
        let below = segments * delay as f64 <= self.inverse * standing as f64;
        self.slow_start &= below;
        // Velocity is that of a direction; a step against it is a first one (mvfst, Copa.cpp).
        let along = self.direction == if below { Ordering::Greater } else { Ordering::Less };
        let velocity = if along { self.velocity } else { 1.0 };
        let change = if self.slow_start {
            bytes
        } else {
            // v / (delta cwnd) segments for each that was delivered, and no more than slow start
            // would take, as in the code of the authors.
            (velocity * self.inverse * bytes / segments).min(bytes)
        };
        if !below {
            window.cwnd -= change;
        } else if limited {
            // A window that is not used does not grow (RFC 7661, section 3).
            window.cwnd += change;
        }
        window.cwnd = window.cwnd.max(LEAST * window.smss);
    }
}

impl CongestionControl for Copa {
    /// Nothing: each acknowledgement is answered where it is sampled.
    fn acknowledged(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        // The mode decides whether 1 / delta matters; the window itself does not answer losses.
        self.inverse = (self.inverse / 2.0).max(self.default);
        self.lost = true;
        window.ssthresh = window.cwnd.max(LEAST * window.smss);
        if matches!(signal, Signal::Timeout { .. }) {
            // Of timeouts the paper says nothing: RFC 5681, section 3.1.
            window.ssthresh = (flight / 2.0).max(LEAST * window.smss);
            window.cwnd = window.smss;
            (self.slow_start, self.velocity) = (true, 1.0);
        }
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        if let Some(rtt) = sample.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.measure(rtt, sample.srtt.unwrap_or(rtt), sample.now);
        }
        let standing = self.standing.get();
        if standing == Span::ZERO {
            return;
        }
        if sample.prior_delivered.is_some_and(|prior| prior >= self.round_end) {
            self.round_end = sample.delivered;
            self.turn(window);
        }
        // Without SACK the window is the sender's while it repairs losses.
        if !sample.recovering || sample.selective {
            self.step(window, sample.newly_delivered as f64, sample.cwnd_limited);
        }
        // Twice the rate of the window, so that pacing does not limit it (section 2.1).
        self.rate = Some(2.0 * window.cwnd / standing.seconds());
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.rate
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("queueing_delay_s", self.queueing_delay().seconds());
        visit("velocity", self.velocity);
        visit("inverse_delta", self.inverse);
    }
}

/// The least span of a sliding window of time, by Nichols' three samples: the best, and the best
/// since that one and since the next (Linux, lib/win_minmax.c).
#[derive(Clone, Copy, Default)]
struct Minimum {
    samples: [(Time, Span); 3],
}

impl Minimum {
    fn get(&self) -> Span {
        self.samples[0].1
    }

    fn update(&mut self, span: Span, now: Time, window: Span) {
        let new = (now, span);
        let [first, second, third] = &mut self.samples;
        if first.1 == Span::ZERO || span <= first.1 || now.since(third.0) > window {
            self.samples = [new; 3];
            return;
        }
        if span <= second.1 {
            (*second, *third) = (new, new);
        } else if span <= third.1 {
            *third = new;
        }
        let age = now.since(first.0);
        if age > window {
            // The best has become too old: the others move up, the next perhaps as well.
            (*first, *second, *third) = (*second, *third, new);
            if now.since(first.0) > window {
                (*first, *second) = (*second, *third);
            }
        } else if second.0 == first.0 && age.times(4) > window {
            // A quarter of the window without a second, then half of it without a third.
            (*second, *third) = (new, new);
        } else if third.0 == second.0 && age.times(2) > window {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMSS: f64 = 1000.0;

    fn copa() -> Copa {
        Copa { slow_start: false, ..Copa::new(0.5, true, Span::from_s(10)) }
    }

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    /// A window of so many segments.
    fn window(segments: f64) -> Window {
        Window { cwnd: segments * SMSS, ssthresh: f64::INFINITY, smss: SMSS }
    }

    fn near(found: f64, due: f64) {
        assert!((found - due).abs() < 1e-9, "{found}, due {due}");
    }

    /// A law that knows a least and a standing round-trip time, in ms.
    fn between(least: u64, standing: u64) -> Copa {
        let mut law = copa();
        law.measure(ms(least), ms(least), Time::ZERO);
        law.measure(ms(standing), ms(standing), Time::ZERO + ms(1000));
        law
    }

    /// A window of 20 segments that are acknowledged without queueing delay grows by 1 / delta in a
    /// round trip: each adds 1 / (0.5 cwnd), 0.1 segments at first and 2/22 at last.
    #[test]
    fn the_window_moves_by_one_over_delta_in_a_round_trip() {
        let (mut law, mut w) = (between(100, 100), window(20.0));
        law.step(&mut w, SMSS, true);
        assert_eq!(w.cwnd, 20_100.0);
        (1..20).for_each(|_| law.step(&mut w, SMSS, true));
        assert!(w.cwnd > 20_000.0 + 20.0 * 2.0 / 22.0 * SMSS && w.cwnd < 22_000.0, "{}", w.cwnd);
    }

    /// Rate and target meet where cwnd / 110 ms = 1 / (0.5 * 10 ms), at 22 segments: a smaller
    /// window grows, a larger one shrinks. One that is not used stays.
    #[test]
    fn the_window_is_steered_to_the_target_rate() {
        let mut law = between(100, 110);
        let mut after = |segments, limited| {
            let mut w = window(segments);
            law.step(&mut w, SMSS, limited);
            w.cwnd / SMSS
        };
        near(after(20.0, true), 20.0 + 2.0 / 20.0);
        near(after(22.0, true), 22.0 + 2.0 / 22.0);
        near(after(25.0, true), 25.0 - 2.0 / 25.0);
        near(after(20.0, false), 20.0);
        near(after(1.0, false), 2.0);
    }

    /// Slow start adds what is delivered, which doubles the window in a round trip, until the rate
    /// exceeds its target.
    #[test]
    fn slow_start_lasts_until_the_target_rate() {
        let mut law = Copa { slow_start: true, ..between(100, 110) };
        let mut w = window(21.0);
        law.step(&mut w, 2.0 * SMSS, true);
        assert_eq!((w.cwnd, law.slow_start), (23.0 * SMSS, true));
        law.step(&mut w, SMSS, true);
        near(w.cwnd / SMSS, 23.0 - 2.0 / 23.0);
        assert!(!law.slow_start);
    }

    /// The velocity doubles from the third round trip in one direction on, and starts anew with
    /// another direction; steps against it are single ones.
    #[test]
    fn velocity_doubles_after_three_round_trips_in_one_direction() {
        let mut law = copa();
        let mut after = |cwnd| {
            law.turn(&window(cwnd));
            law.velocity
        };
        let velocities = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0].map(&mut after);
        assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);

        assert_eq!([11.0, 10.0, 9.0, 9.0].map(&mut after), [1.0, 1.0, 2.0, 1.0]);
        let step = |standing, direction| {
            let mut law = Copa { velocity: 4.0, direction, ..between(100, standing) };
            let mut w = window(40.0);
            law.step(&mut w, SMSS, true);
            w.cwnd / SMSS - 40.0
        };
        near(step(100, Ordering::Greater), 4.0 * 2.0 / 40.0);
        near(step(100, Ordering::Less), 2.0 / 40.0);
        near(step(150, Ordering::Greater), -2.0 / 40.0);
    }

    /// It competes while the queue has not been nearly empty for five round trips: 1 / delta then
    /// grows by one each without a loss and halves with one, down to 2; a queue that empties takes
    /// it back. With round-trip times of 100 to 200 ms a delay of up to 10 ms is nearly empty.
    #[test]
    fn it_competes_while_others_fill_the_buffer() {
        let mut law = between(100, 150);
        let srtt = ms(200);
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        // Nearly empty at first, the queue has not been since: for more than 5 * 150 ms.
        assert_eq!(law.emptied, Time::ZERO);
        law.turn(&window(10.0));
        assert_eq!(law.inverse, 3.0);
        law.measure(ms(200), srtt, at(1000));
        law.turn(&window(10.0));
        assert_eq!(law.inverse, 2.0, "five round trips of 200 ms have not passed");
        for expected in [3.0, 4.0, 5.0] {
            law.measure(ms(200), srtt, at(1200));
            law.turn(&window(10.0));
            assert_eq!(law.inverse, expected);
        }
        let mut w = window(10.0);
        law.congested(&mut w, Signal::Loss, 10.0 * SMSS, at(1300));
        assert_eq!((law.inverse, w.cwnd), (2.5, 10.0 * SMSS));
        law.turn(&window(10.0));
        assert_eq!(law.inverse, 2.5, "there was a loss in this round trip");
        law.congested(&mut w, Signal::Loss, 10.0 * SMSS, at(1500));
        assert_eq!(law.inverse, 2.0);
        law.turn(&window(10.0));
        law.turn(&window(10.0));
        assert_eq!(law.inverse, 3.0);
        law.measure(ms(200), srtt, at(1600));
        law.measure(ms(110), srtt, at(1700));
        assert_eq!((law.inverse, law.emptied), (2.0, at(1700)));
    }

    /// Segments leave at twice the window in a standing round-trip time: 2 * 10 kB / 100 ms. A
    /// timeout restarts from one segment.
    #[test]
    fn pacing_takes_twice_the_rate_of_the_window() {
        let (mut law, mut w) = (copa(), window(10.0));
        assert_eq!(law.pacing_rate(), None);
        law.measure(ms(100), ms(100), Time::ZERO);
        law.sampled(&mut w, &sample());
        assert_eq!(law.pacing_rate(), Some(200_000.0));
        law.congested(&mut w, Signal::Timeout { first: true }, 8.0 * SMSS, Time::ZERO);
        assert_eq!((w.cwnd, w.ssthresh, law.slow_start), (SMSS, 4.0 * SMSS, true));
    }

    /// The least of a window of 100 ms follows the samples: 5 while it is young enough, then the
    /// best that came after it.
    #[test]
    fn the_least_of_a_window_forgets() {
        let mut least = Minimum::default();
        let mut after = |at, span| {
            least.update(ms(span), Time::ZERO + ms(at), ms(100));
            least.get()
        };
        let found = [(0, 9), (10, 5), (40, 7), (80, 8), (110, 9), (111, 9)]
            .map(|(at, span)| after(at, span));
        assert_eq!(found, [9, 5, 5, 5, 5, 7].map(ms));
        assert_eq!(after(400, 20), ms(20), "all others are too old");
    }

    fn sample() -> RateSample {
        RateSample {
            now: Time::ZERO,
            acked: 0,
            newly_delivered: 0,
            newly_lost: 0,
            delivered: 0,
            prior_delivered: None,
            rate: None,
            app_limited: false,
            rtt: None,
            one_way: Span::ZERO,
            srtt: None,
            prior_in_flight: 0,
            in_flight: 0,
            sent_in_flight: 0,
            lost_since: 0,
            recovering: false,
            cwnd_limited: true,
            paced: true,
            selective: true,
            ece: false,
            newly_marked: 0,
            una: 0,
            max: 0,
        }
    }
}
