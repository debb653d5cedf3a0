//! CUBIC (RFC 9438): the window follows a cubic function of the time since the last congestion.
//! Where Linux has it otherwise (`net/ipv4/tcp_cubic.c`) a parameter says so.

#[cfg(test)]
mod tests;

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
    /// State of before the last loss or timeout, in case it turns out to be none.
    before: Option<Before>,
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

/// State that a loss changes, as it was before (section 4.9.2).
#[derive(Clone, Copy, Debug)]
struct Before {
    /// cwnd, in bytes.
    cwnd: f64,
    w_max: f64,
    prior: f64,
    epoch: Option<Epoch>,
    after_timeout: bool,
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
            before: None,
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
        self.before = (signal != Signal::Ecn).then_some(Before {
            cwnd: window.cwnd,
            w_max: self.w_max,
            prior: self.prior,
            epoch: self.epoch,
            after_timeout: self.after_timeout,
        });
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

    fn undone(&mut self, window: &Window) {
        // Section 4.9.2: if the window has not grown beyond what it was.
        if let Some(before) = self.before.take().filter(|before| window.cwnd < before.cwnd) {
            (self.w_max, self.prior) = (before.w_max, before.prior);
            (self.epoch, self.after_timeout) = (before.epoch, before.after_timeout);
        }
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
