//! CUBIC (RFC 9438): the window follows a cubic function of the time since the last congestion.
//! Where Linux has it otherwise (`net/ipv4/tcp_cubic.c`) a parameter says so.

use forebay_kernel::math;
use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::define::{OtherDefault, with_defaults};
use forebay_parameters::{Entry, Field, Parameters, Problem, Section, Value, choice, parameters};
use forebay_units::{Span, Time};

use super::{BuildControl, ControlFactory, abe, hystart, hystart_linux, search};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "cubic",
    summary: "The window follows the cube of the time since congestion, around the last maximum.",
    source: "RFC 9438; Linux, net/ipv4/tcp_cubic.c",
    example: "",
    fields: CubicParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Signs that end slow start before a loss.
    pub enum HyStartLaw {
        /// Those of tcp_cubic: acknowledgements that follow each other closely for half the least
        /// round-trip time, or round-trip times that have grown by an eighth of it, 4 to 16 ms;
        /// from 16 segments on, and again after a timeout. Behind it the window grows by at least a
        /// twentieth in a round trip until a loss.
        Linux = "linux",
        /// HyStart++: round-trip times that have grown by an eighth, 4 to 16 ms, since the round
        /// trip before; growth at a quarter of the pace follows for five round trips.
        Rfc9406 = "rfc9406",
        /// SEARCH: windows of 3.5 round trips deliver less by 35 % than twice what those one round
        /// trip earlier did; the window returns to that of two round trips earlier.
        Search = "search",
    }
}

choice! {
    /// Growth of the window of Reno in the estimate that CUBIC does not fall below (alpha).
    pub enum AlphaLaw {
        /// Growth by 3 (1 - beta) / (1 + beta) segments in a round trip, always.
        Linux = "linux",
        /// So until it reaches the window before the last reduction, from there on by one.
        Rfc9438 = "rfc9438",
    }
}

parameters! {
    /// Parameters of CUBIC.
    pub struct CubicParameters {
        /// Aggressiveness C, in segments per cubic second. Above 0.
        c: f64 = 0.4, "RFC 9438, section 5.1";
        /// Factor of the window at congestion (beta_cubic). Above 0, below 1.
        beta: f64 = 0.7, "RFC 9438, section 4.6";
        /// Give way to new flows by a smaller maximum when congestion comes below the last one.
        fast_convergence: bool = true, "RFC 9438, section 4.7";
        /// Slow start ends with signs of a queue, and not only with a loss. false with profile
        /// "rfc" and "1990s".
        hystart: bool = true, "RFC 9438, section 4.10; Linux, net/ipv4/tcp_cubic.c: hystart";
        /// Signs that count. "rfc9406" with profile "rfc" and "1990s".
        hystart_law: HyStartLaw = "linux",
            "Linux, net/ipv4/tcp_cubic.c: hystart_update, bictcp_update; Ha and Rhee, Taming the \
             elephants: new TCP slow start, Computer Networks 55(9), 2011; RFC 9406; \
             draft-chung-ccwg-search, section 3";
        /// Growth of the estimate of Reno's window. "rfc9438" with profile "rfc" and "1990s".
        alpha_law: AlphaLaw = "linux",
            "RFC 9438, section 4.3; Linux, net/ipv4/tcp_cubic.c: bictcp_update";
        ..abe: abe::AbeParameters;
    }
}

/// Defaults of the RFCs that differ from those of Linux.
const OF_RFCS: &[OtherDefault] = &[
    ("hystart", || Value::from(false), "RFC 9438, section 4.10: Reno's slow start is allowed"),
    ("hystart_law", || Value::from("rfc9406"), "RFC 9438, section 4.10"),
    ("alpha_law", || Value::from("rfc9438"), "RFC 9438, section 4.3"),
];

static RFC: &[Field] =
    &with_defaults::<{ CubicParameters::FIELDS.len() }>(CubicParameters::FIELDS, OF_RFCS);

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    build_with(section, CubicParameters::FIELDS)
}

/// Build it with the defaults of the RFCs.
pub(super) fn build_by_rfcs(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    build_with(section, RFC)
}

fn build_with(section: &Section<'_>, fields: &[Field]) -> Result<ControlFactory, Problem> {
    section.refuse_unknown(&fields.iter().map(|field| field.name).collect::<Vec<_>>())?;
    let parameters = CubicParameters::read_fields(section, fields)?;
    if parameters.c <= 0.0 {
        return Err(
            section.fail("c", format!("{} is out of range; allowed is above 0", parameters.c))
        );
    }
    if parameters.beta <= 0.0 || parameters.beta >= 1.0 {
        return Err(section.fail(
            "beta",
            format!("{} is out of range; allowed are above 0 and below 1", parameters.beta),
        ));
    }
    parameters.abe.checked(section)?;
    Ok(Box::new(move || Box::new(Cubic::new(&parameters))))
}

/// CUBIC's state. Windows are in segments, as in the RFC.
struct Cubic {
    c: f64,
    beta: f64,
    beta_ecn: Option<f64>,
    fast_convergence: bool,
    /// W_max: the window before the last reduction, after fast convergence.
    w_max: f64,
    /// cwnd_prior: the window before the last reduction.
    prior: f64,
    /// The present stage of congestion avoidance.
    epoch: Option<Epoch>,
    /// The last reduction was a timeout: the next stage starts its curve at its own window.
    after_timeout: bool,
    /// The last acknowledgement seen.
    last: Time,
    alpha_law: AlphaLaw,
    exit: Exit,
    /// As in Linux, a timeout makes the law forget what it has learnt.
    forgets: bool,
}

/// State of the signs that end slow start beside losses.
enum Exit {
    Nothing,
    Linux(Box<hystart_linux::HyStart>),
    /// HyStart++, while the first slow start lasts.
    PlusPlus(Box<hystart::HyStart>),
    /// SEARCH, likewise.
    Search(Box<search::Search>),
}

impl Exit {
    fn new(parameters: &CubicParameters) -> Self {
        match parameters.hystart_law {
            _ if !parameters.hystart => Self::Nothing,
            HyStartLaw::Linux => Self::Linux(Box::default()),
            HyStartLaw::Rfc9406 => Self::PlusPlus(Box::default()),
            HyStartLaw::Search => Self::Search(Box::default()),
        }
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Time at which it began, moved on by the time in which the application limited the window.
    start: Time,
    /// K: time in seconds at which the curve passes W_max.
    k: f64,
    /// W_max of the curve.
    top: f64,
    /// W_est: the window that Reno would have.
    w_est: f64,
}

impl Epoch {
    /// W_cubic(t), equation 1.
    fn window(&self, c: f64, t: f64) -> f64 {
        let past = t - self.k;
        c * past * past * past + self.top
    }
}

impl Cubic {
    fn new(parameters: &CubicParameters) -> Self {
        Self {
            c: parameters.c,
            beta: parameters.beta,
            beta_ecn: parameters.abe.beta_ecn,
            fast_convergence: parameters.fast_convergence,
            w_max: 0.0,
            prior: 0.0,
            epoch: None,
            after_timeout: false,
            last: Time::ZERO,
            alpha_law: parameters.alpha_law,
            exit: Exit::new(parameters),
            forgets: parameters.hystart_law == HyStartLaw::Linux,
        }
    }

    /// Start a stage at a window of `cwnd` segments (section 4.2, equation 2; section 4.8).
    fn begin(&mut self, cwnd: f64, now: Time) -> Epoch {
        let top = if self.after_timeout { cwnd } else { self.w_max.max(cwnd) };
        self.after_timeout = false;
        Epoch { start: now, k: math::cbrt((top - cwnd) / self.c), top, w_est: cwnd }
    }

    /// The window in segments after an acknowledgement of `acked` segments in congestion avoidance.
    fn avoid(&mut self, cwnd: f64, acked: f64, now: Time, rtt: Span) -> f64 {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(cwnd, now));
        let t = now.since(epoch.start).seconds();
        // Section 4.3: as fast as Reno's one segment a round trip with this beta, then exactly
        // that.
        let alpha = if self.alpha_law == AlphaLaw::Rfc9438 && epoch.w_est >= self.prior {
            1.0
        } else {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        };
        epoch.w_est += alpha * acked / cwnd;
        self.epoch = Some(epoch);
        let least = cwnd + self.least_growth(acked);
        if epoch.window(self.c, t) < epoch.w_est {
            return epoch.w_est.max(least);
        }
        // Sections 4.4 and 4.5, for each segment acknowledged: (target - cwnd) / cwnd for each
        // acknowledgement would follow the curve at half its pace where they are delayed.
        let target = epoch.window(self.c, t + rtt.seconds()).clamp(cwnd, 1.5 * cwnd);
        (cwnd + (target - cwnd) / cwnd * acked).max(least)
    }

    /// Returns the segments by which `acked` segments open the window at least: a twentieth of them
    /// in Linux, as long as no loss has told what the path holds (`bictcp_update`: at most 20
    /// segments for each).
    fn least_growth(&self, acked: f64) -> f64 {
        if self.forgets && self.w_max == 0.0 { acked / MIN_GROWTH_DIVISOR } else { 0.0 }
    }
}

const MIN_GROWTH_DIVISOR: f64 = 20.0;

impl CongestionControl for Cubic {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        let idle = ack.now.since(self.last);
        self.last = ack.now;
        if ack.ece {
            return;
        }
        if window.cwnd < window.ssthresh {
            window.cwnd += match &self.exit {
                Exit::PlusPlus(hystart) => hystart.growth(ack.acked, window.smss),
                Exit::Linux(_) | Exit::Search(_) | Exit::Nothing => ack.in_slow_start(window),
            };
            return;
        }
        if ack.flight + window.smss <= window.cwnd {
            // Section 5.8: the application limits the flow; that time does not count.
            if let Some(epoch) = &mut self.epoch {
                epoch.start += idle;
            }
            return;
        }
        let (cwnd, acked) = (window.cwnd / window.smss, ack.acked / window.smss);
        let rtt = ack.srtt.unwrap_or(Span::ZERO);
        window.cwnd = self.avoid(cwnd, acked, ack.now, rtt) * window.smss;
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        let smss = window.smss;
        self.note_signal(signal);
        if signal == (Signal::Timeout { first: false }) {
            window.cwnd = smss;
            return;
        }
        self.prior = window.cwnd / smss;
        self.w_max = if self.fast_convergence && self.prior < self.w_max {
            self.prior * (1.0 + self.beta) / 2.0
        } else {
            self.prior
        };
        self.epoch = None;
        let reduced = abe::left(self.beta_ecn, signal, flight).unwrap_or(flight * self.beta);
        window.ssthresh = reduced.max(2.0 * smss);
        self.after_timeout = false;
        window.cwnd = match signal {
            Signal::Loss => window.ssthresh,
            Signal::Ecn => reduced.max(smss),
            Signal::Timeout { .. } => {
                self.after_timeout = true;
                if self.forgets {
                    self.w_max = 0.0;
                }
                smss
            }
        };
    }

    fn needs(&self) -> ControlNeeds {
        let samples = !matches!(self.exit, Exit::Nothing);
        ControlNeeds { samples, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        let slow = window.cwnd < window.ssthresh && !sample.recovering;
        // What is measured just behind a loss says nothing of the path (`cubictcp_acked`).
        let settles = self.epoch.is_some_and(|epoch| sample.now.since(epoch.start) < SETTLING);
        let over = match &mut self.exit {
            Exit::Linux(hystart) => !settles && hystart.note(window, sample),
            Exit::PlusPlus(hystart) => slow && hystart.note(sample),
            Exit::Search(search) => slow && search.note(window, sample),
            Exit::Nothing => false,
        };
        if over {
            window.ssthresh = window.cwnd;
            if let Exit::PlusPlus(_) | Exit::Search(_) = self.exit {
                self.exit = Exit::Nothing;
            }
        }
    }
}

/// Time from the start of a stage of congestion avoidance in which round-trip times are not
/// measured.
const SETTLING: Span = Span::from_s(1);

impl Cubic {
    /// Congestion was signalled: HyStart++ is for the first slow start, and Linux's begins anew
    /// after a timeout (`cubictcp_state`).
    fn note_signal(&mut self, signal: Signal) {
        match (&mut self.exit, signal) {
            (Exit::Linux(hystart), Signal::Timeout { .. }) => **hystart = Default::default(),
            (Exit::PlusPlus(_) | Exit::Search(_), _) => self.exit = Exit::Nothing,
            (Exit::Linux(_) | Exit::Nothing, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{acked, sample};

    /// Those of the RFCs, without HyStart++.
    const RFCS: CubicParameters = CubicParameters {
        c: 0.4,
        beta: 0.7,
        fast_convergence: true,
        hystart: false,
        hystart_law: HyStartLaw::Rfc9406,
        alpha_law: AlphaLaw::Rfc9438,
        abe: abe::AbeParameters { beta_ecn: None },
    };

    const LINUX: CubicParameters = CubicParameters {
        hystart: true,
        hystart_law: HyStartLaw::Linux,
        alpha_law: AlphaLaw::Linux,
        ..RFCS
    };

    fn cubic() -> Cubic {
        Cubic::new(&RFCS)
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    /// Slow start lasts while round-trip times stay at 40 ms, for all of ten rounds of eight, and
    /// ends after five rounds behind one in which they grow by an eighth, by HyStart++ (RFC 9406,
    /// section 4.2). In recovery and in congestion avoidance they say nothing of it.
    #[test]
    fn growing_round_trip_times_end_slow_start_only() {
        let rounds = |ms: &[u64], ssthresh: f64, recovering: bool| {
            let mut law = Cubic::new(&CubicParameters { hystart: true, ..RFCS });
            let mut window = Window { cwnd: 10_000.0, ssthresh, smss: 1000.0 };
            for (round, ms) in (1..).zip(ms) {
                for at in 0..8 {
                    let (una, max) = (100 * round + at, 100 * round + 99);
                    let rtt = Some(Span::from_ms(*ms));
                    let now = RateSample { una, max, rtt, recovering, ..sample() };
                    law.sampled(&mut window, &now);
                }
            }
            window.ssthresh
        };
        let grown = [40, 45, 45, 45, 45, 45, 45, 45];
        assert_eq!(rounds(&[40; 10], f64::INFINITY, false), f64::INFINITY);
        assert_eq!(rounds(&grown[..6], f64::INFINITY, false), f64::INFINITY);
        assert_eq!(rounds(&grown, f64::INFINITY, false), 10_000.0);
        assert_eq!(rounds(&grown, f64::INFINITY, true), f64::INFINITY);
        assert_eq!(rounds(&grown, 9000.0, false), 9000.0);
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs()
    }

    /// The window follows the curve of equation 1 of RFC 9438: W_max = 100 and a reduction to 70
    /// give K = cbrt(30 / 0.4) = 4.2171633 s; W(0) = 70, W(2) = 0.4 * (2 - K)^3 + 100 = 95.640336,
    /// W(K + 1) = 100 + 0.4.
    #[test]
    fn the_curve_is_cubic_around_the_last_maximum() {
        let mut cubic = cubic();
        cubic.w_max = 100.0;
        let epoch = cubic.begin(70.0, Time::ZERO);
        assert!(close(epoch.k, 4.217_163_3));
        assert!(close(epoch.window(0.4, 0.0), 70.0));
        assert!(close(epoch.window(0.4, 2.0), 95.640_336));
        assert!(close(epoch.window(0.4, epoch.k + 1.0), 100.4));
    }

    /// An acknowledgement moves the window by (target - cwnd) / cwnd with target = W(t + RTT)
    /// limited to half as much again (section 4.4): in the stage above, 2 s in and with RTT 100 ms,
    /// W(2.1) = 100 + 0.4 * (2.1 - 4.2171633)^3 = 96.204043; from 90 segments, the step is 6.204043
    /// / 90.
    #[test]
    fn the_window_moves_towards_the_curve() {
        let mut cubic = cubic();
        (cubic.w_max, cubic.prior) = (100.0, 100.0);
        cubic.epoch = Some(cubic.begin(70.0, Time::ZERO));
        let rtt = Span::from_ms(100);
        let past: f64 = 2.1 - 4.217_163_326_508_746;
        let target = 100.0 + 0.4 * past * past * past;
        let next = cubic.avoid(90.0, 1.0, at(2.0), rtt);
        assert!(close(next - 90.0, (target - 90.0) / 90.0), "{next}");
        // Far behind the curve: 20 segments may aim at 30 at most.
        let next = cubic.avoid(20.0, 1.0, at(2.0), rtt);
        assert!(close(next, 20.0 + 10.0 / 20.0), "{next}");
    }

    /// CUBIC is not slower than Reno where the curve is flat (section 4.3): at small windows, W_est
    /// grows by alpha = 3 * 0.3 / 1.7 = 0.5294118 segments a round trip up to the window before the
    /// reduction, and by one from there on; in Linux by alpha there, too.
    #[test]
    fn small_windows_grow_as_renos() {
        for (parameters, beyond) in [(&RFCS, 1.0), (&LINUX, 3.0 * 0.3 / 1.7)] {
            small_windows_grow(Cubic::new(parameters), beyond);
        }
    }

    fn small_windows_grow(mut cubic: Cubic, beyond: f64) {
        let mut window = Window { cwnd: 10_000.0, ssthresh: 1.0, smss: 1000.0 };
        cubic.congested(&mut window, Signal::Loss, 10_000.0, Time::ZERO);
        assert_eq!((window.cwnd, window.ssthresh), (7000.0, 7000.0));
        let srtt = Some(Span::from_us(100));
        let ack = Ack { now: at(0.001), flight: 7000.0, srtt, ..acked(1000.0) };
        // Each acknowledgement adds alpha / cwnd. The curve starts at W(0) = 7 segments, below
        // W_est.
        let mut expected = 7.0;
        for _ in 0..7 {
            expected += 3.0 * 0.3 / 1.7 / expected;
            cubic.acknowledged(&mut window, &ack);
            assert!(close(window.cwnd, 1000.0 * expected));
        }
        if let Some(epoch) = &mut cubic.epoch {
            epoch.w_est = 10.0;
        }
        window.cwnd = 10_000.0;
        cubic.acknowledged(&mut window, &Ack { flight: 10_000.0, ..ack });
        assert!(close(window.cwnd, 1000.0 * (10.0 + beyond / 10.0)));
    }

    /// Linux adds a segment for each 20 acknowledged while the largest window that the path holds
    /// is not known (`bictcp_update`), so that the window grows behind HyStart, where the curve
    /// from 50 segments on has 0.4 (0.1)^3 after 100 ms. A loss ends that, and a timeout brings it
    /// back, as it has the law forget the largest window.
    #[test]
    fn linux_grows_by_a_twentieth_until_a_loss() {
        let srtt = Some(Span::from_ms(40));
        let grown = |cubic: &mut Cubic, now: f64| {
            let mut window = Window { cwnd: 50.0, ssthresh: 50.0, smss: 1.0 };
            cubic
                .acknowledged(&mut window, &Ack { now: at(now), flight: 50.0, srtt, ..acked(1.0) });
            window.cwnd - 50.0
        };
        let mut window = Window { cwnd: 100.0, ssthresh: 1.0, smss: 1.0 };
        let mut cubic = Cubic::new(&LINUX);
        assert!(close(grown(&mut cubic, 0.1), 0.05));
        cubic.congested(&mut window, Signal::Loss, 100.0, at(0.2));
        assert!(grown(&mut cubic, 10.3) < 0.05);
        cubic.congested(&mut window, Signal::Timeout { first: true }, 100.0, at(11.0));
        assert!(close(grown(&mut cubic, 11.5), 0.05));
        assert!(grown(&mut Cubic::new(&RFCS), 0.1) < 0.05);
    }

    /// Linux's slow start ends before it fills the queue: on a path of 40 ms, with acknowledgements
    /// 500 us apart, a train of more than 20.5 ms ends it at the window that it has (derived in
    /// `hystart_linux`), the first time and after a timeout; not after a loss, which sets its own
    /// threshold.
    #[test]
    fn linux_ends_slow_start_with_a_train() {
        let mut law = Cubic::new(&LINUX);
        let mut window = Window { cwnd: 60_000.0, ssthresh: f64::INFINITY, smss: 1000.0 };
        let mut now = Time::ZERO;
        let mut ends_at = |law: &mut Cubic, window: &mut Window| {
            now += Span::from_s(5);
            (1..200).find(|at| {
                now += Span::from_us(500);
                let (una, rtt) = (now.ps(), Some(Span::from_ms(40)));
                let fact = RateSample { now, una, max: una, rtt, srtt: rtt, ..sample() };
                // The first acknowledgement is of the round before; those behind it are of one.
                let fact = RateSample { max: if *at == 1 { u64::MAX } else { una }, ..fact };
                law.sampled(window, &fact);
                window.ssthresh == window.cwnd
            })
        };
        assert_eq!(ends_at(&mut law, &mut window), Some(43));
        law.congested(&mut window, Signal::Loss, 60_000.0, Time::ZERO);
        window.ssthresh = 1e6;
        assert_eq!(ends_at(&mut law, &mut window), None);
        law.congested(&mut window, Signal::Timeout { first: true }, 60_000.0, Time::ZERO);
        (window.cwnd, window.ssthresh) = (60_000.0, 1e6);
        assert_eq!(ends_at(&mut law, &mut window), Some(43));
    }

    /// A flow gives way to newcomers (section 4.7), and does not climb back at once to a window
    /// that timed out (section 4.8): congestion at 80 below a maximum of 100 leaves W_max = 80 *
    /// 1.7 / 2 = 68; after a timeout the curve starts at its own top, K = 0.
    #[test]
    fn the_maximum_is_remembered_with_care() {
        let mut cubic = cubic();
        cubic.w_max = 100.0;
        let mut window = Window { cwnd: 80.0, ssthresh: 50.0, smss: 1.0 };
        cubic.congested(&mut window, Signal::Loss, 80.0, Time::ZERO);
        assert!(close(cubic.w_max, 68.0) && close(window.ssthresh, 56.0));
        window.cwnd = 60.0;
        cubic.congested(&mut window, Signal::Timeout { first: true }, 60.0, Time::ZERO);
        assert_eq!(window.cwnd, 1.0);
        assert!(close(window.ssthresh, 42.0));
        let epoch = cubic.begin(42.0, at(1.0));
        assert_eq!((epoch.k, epoch.top), (0.0, 42.0));
    }

    /// Mean windows are those that RFC 9438 gives in tables 1 and 2 for one loss in 1 / p segments,
    /// at C = 0.4: (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), or Reno's where that is
    /// larger: 0.1 s and 10^-4: 187, 10^-5: 1054; 0.01 s and 10^-4: 120, which is 1.2 / sqrt(p),
    /// rounded from sqrt(3/2) = 1.225.
    ///
    /// The peak of the curve is 4 / (3 + beta) of its mean. As the curve is flat there, the way to
    /// it is long: peaks that begin there stay, and those that begin 30 % away come nearer.
    #[test]
    fn mean_windows_are_those_of_the_tables() {
        let table = [(0.1, 1e-4, 187.0), (0.1, 1e-5, 1054.0), (0.01, 1e-4, 120.0)];
        for (at_first, (rtt, p, expected)) in
            [1.0, 0.7, 1.3].into_iter().flat_map(|it| table.map(|row| (it, row)))
        {
            let mut cubic = Cubic::new(&CubicParameters { fast_convergence: false, ..RFCS });
            let peak = at_first * expected * 4.0 / 3.7;
            let mut w = Window { cwnd: peak, ssthresh: 1.0, smss: 1.0 };
            let (mut seconds, mut area, mut since) = (0.0, 0.0, 0.0);
            for epoch in 0..8 {
                let flight = w.cwnd;
                cubic.congested(&mut w, Signal::Loss, flight, at(seconds));
                if epoch == 5 {
                    (area, since) = (0.0, seconds);
                }
                let mut left = 1.0 / p;
                while left > 0.0 {
                    let step = rtt / w.cwnd;
                    seconds += step;
                    area += w.cwnd * step;
                    let srtt = Some(Span::from_seconds(rtt));
                    let ack = Ack { now: at(seconds), flight: w.cwnd, srtt, ..acked(1.0) };
                    cubic.acknowledged(&mut w, &ack);
                    left -= 1.0;
                }
            }
            let mean = area / (seconds - since);
            let (off, told) = (mean / expected, format!("{rtt} s, {p}: {mean}, {expected}"));
            if at_first == 1.0 {
                assert!((off - 1.0).abs() < 0.03, "{told}");
            } else {
                assert!((off - 1.0).abs() < 0.8 * (at_first - 1.0_f64).abs(), "{told}");
            }
        }
    }

    /// A pause of the application does not count as time on the curve, so that the window does not
    /// jump after it (section 5.8).
    #[test]
    fn idle_time_does_not_count() {
        let mut cubic = cubic();
        cubic.w_max = 100.0;
        cubic.epoch = Some(cubic.begin(70.0, Time::ZERO));
        let mut window = Window { cwnd: 70.0, ssthresh: 70.0, smss: 1.0 };
        let ack = Ack { now: at(5.0), flight: 2.0, ..acked(1.0) };
        cubic.acknowledged(&mut window, &ack);
        assert_eq!(window.cwnd, 70.0);
        assert_eq!(cubic.epoch.map(|e| e.start), Some(at(5.0)));
    }

    /// With ABE a mark leaves 0.85 of 100 segments and a loss 0.7 (RFC 8511, section 3.1), and both
    /// tell the same of what the path holds: W_max is 100.
    #[test]
    fn marks_cost_less_with_alternative_backoff() {
        for (signal, left) in [(Signal::Ecn, 85.0), (Signal::Loss, 70.0)] {
            let mut cubic = Cubic { beta_ecn: Some(0.85), ..cubic() };
            let mut window = Window { cwnd: 100.0, ssthresh: 1.0, smss: 1.0 };
            cubic.congested(&mut window, signal, 100.0, Time::ZERO);
            assert_eq!((window.cwnd, window.ssthresh, cubic.w_max), (left, left, 100.0));
        }
    }
}
