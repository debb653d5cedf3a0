//! HighSpeed TCP (RFC 3649): large windows grow faster and give way less.

use std::sync::Arc;

use forebay_kernel::math::{ln, pow};
use forebay_network::{Ack, CongestionControl, Signal, Window};
use forebay_parameters::define::{OtherDefault, with_defaults};
use forebay_parameters::{Entry, Field, Parameters, Problem, Section, Value, choice, parameters};
use forebay_units::Time;

use super::reno::{Growth, reduce};
use super::{BuildControl, ControlFactory};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "highspeed",
    summary: "Reno up to a window of 38 segments; above, the larger the window, the faster it \
              grows and the less it shrinks.",
    source: "RFC 3649; Linux, net/ipv4/tcp_highspeed.c",
    example: "",
    fields: HighSpeedParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Steps in which the window follows the response function.
    pub enum HighSpeedLaw {
        /// In whole segments, by the row of a table (RFC 3649, appendix B). Up to the window at
        /// which the increase reaches one segment more, each acknowledgement, however many segments
        /// it is for, counts for that much more; a segment is added when they have counted for a
        /// window. The decrease is that of the end of the row.
        Linux = "linux",
        /// Growth by a(w) in a round trip, counted by segments acknowledged; the decrease is b(w).
        Rfc3649 = "rfc3649",
    }
}

parameters! {
    /// Parameters of HighSpeed TCP.
    pub struct HighSpeedParameters {
        /// The steps of the window. "rfc3649" with profile "rfc" and "1990s".
        law: HighSpeedLaw = "linux",
            "RFC 3649, section 5 and appendix B; Linux, net/ipv4/tcp_highspeed.c: \
             hstcp_cong_avoid, hstcp_ssthresh";
        /// Window in segments up to which the sender behaves as Reno (Low_Window). At least 2.
        low_window: u32 = 38, "RFC 3649, section 5";
        /// Window in segments at the other end of the response function (High_Window). Above
        /// `low_window`.
        high_window: u32 = 83_000, "RFC 3649, section 5";
        /// Loss probability at which `high_window` is the average window (High_P). Above 0, below
        /// (1.2 / low_window)^2, Reno's loss rate at `low_window`.
        high_p: f64 = 1e-7, "RFC 3649, section 5";
        /// Share of the window by which it shrinks at `high_window` and above (High_Decrease).
        /// Above 0, at most 0.5.
        high_decrease: f64 = 0.1, "RFC 3649, section 5";
    }
}

/// Default of the RFC that differs from that of Linux.
const OF_RFCS: &[OtherDefault] = &[("law", || Value::from("rfc3649"), "RFC 3649, section 5")];

static RFC: &[Field] =
    &with_defaults::<{ HighSpeedParameters::FIELDS.len() }>(HighSpeedParameters::FIELDS, OF_RFCS);

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    build_with(section, HighSpeedParameters::FIELDS)
}

/// Build it with the defaults of the RFCs.
pub(super) fn build_by_rfcs(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    build_with(section, RFC)
}

fn build_with(section: &Section<'_>, fields: &[Field]) -> Result<ControlFactory, Problem> {
    section.refuse_unknown(&fields.iter().map(|field| field.name).collect::<Vec<_>>())?;
    let parameters = HighSpeedParameters::read_fields(section, fields)?;
    let HighSpeedParameters { low_window, high_window, high_p, high_decrease, .. } = parameters;
    if low_window < 2 {
        return Err(section
            .fail("low_window", format!("{low_window} is out of range; allowed is at least 2")));
    }
    if high_window <= low_window {
        let message =
            format!("{high_window} is out of range; allowed is above low_window, {low_window}");
        return Err(section.fail("high_window", message));
    }
    let low_p = loss_rate_of_reno(f64::from(low_window));
    if high_p <= 0.0 || high_p >= low_p {
        return Err(section.fail(
            "high_p",
            format!("{high_p} is out of range; allowed are above 0 and below {low_p:.3e}"),
        ));
    }
    if high_decrease <= 0.0 || high_decrease > 0.5 {
        return Err(section.fail(
            "high_decrease",
            format!("{high_decrease} is out of range; allowed are above 0 and up to 0.5"),
        ));
    }
    let law = HighSpeed::new(&parameters);
    Ok(Box::new(move || Box::new(law.clone())))
}

/// The loss rate at which Reno's average window is `w`: w = 1.2 / sqrt(p) (RFC 3649, section 5).
fn loss_rate_of_reno(w: f64) -> f64 {
    (1.2 / w) * (1.2 / w)
}

/// The response function, and the laws of increase and decrease that have it (RFC 3649, section 5).
/// Windows are in segments.
#[derive(Clone, Copy)]
struct Response {
    low_window: f64,
    high_window: f64,
    /// Low_P: where the function leaves that of Reno.
    low_p: f64,
    /// 1/S: windows fall as the loss rate to the power of S.
    inverse_slope: f64,
    high_decrease: f64,
}

impl Response {
    fn new(parameters: &HighSpeedParameters) -> Self {
        let low_window = f64::from(parameters.low_window);
        let high_window = f64::from(parameters.high_window);
        let low_p = loss_rate_of_reno(low_window);
        // S = (log High_Window - log Low_Window) / (log High_P - log Low_P)
        let inverse_slope = ln(parameters.high_p / low_p) / ln(high_window / low_window);
        let high_decrease = parameters.high_decrease;
        Self { low_window, high_window, low_p, inverse_slope, high_decrease }
    }

    /// p(w): the loss rate at which the average window is `w`.
    fn loss_rate(&self, w: f64) -> f64 {
        self.low_p * pow(w / self.low_window, self.inverse_slope)
    }

    /// b(w): the share by which a window of `w` shrinks, 1/2 at Low_Window and linear in log w from
    /// there to High_Window. The RFC ends there; beyond, it stays what it is.
    fn decrease(&self, w: f64) -> f64 {
        self.unlimited_decrease(w.clamp(self.low_window, self.high_window))
    }

    /// The same line, at either side of the two.
    fn unlimited_decrease(&self, w: f64) -> f64 {
        let part = ln(w / self.low_window) / ln(self.high_window / self.low_window);
        (self.high_decrease - 0.5) * part + 0.5
    }

    /// a(w): the segments by which a window of `w` grows in a round trip, so that with losses at
    /// rate p(w) growth and decrease balance.
    fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        // Just above Low_Window it comes out as 0.96, as 1.2 / sqrt(p) is a rounded Reno.
        balance(w, self.loss_rate(w), self.decrease(w)).max(1.0)
    }
}

/// The increase that balances a decrease by the share `b` at a window of `w` and a loss rate of
/// `p`: a = w^2 p 2 b / (2 - b).
fn balance(w: f64, p: f64, b: f64) -> f64 {
    w * w * p * 2.0 * b / (2.0 - b)
}

/// The rows of a table of the response function: the largest window of each in segments, and the
/// decrease there. In row i, from 0 on, an acknowledgement counts for i + 1.
type Rows = Arc<[(f64, f64)]>;

/// The table that RFC 3649 has in appendix B for the response function that it has in section 5, as
/// far as that of Linux goes, a tenth beyond High_Window. Each row ends where the increase is a
/// segment larger than at the end of the row before. The loss rate is rounded as there, 1 / (12.8
/// w^1.2) for 0.078 / w^1.2, and the decrease has no end at High_Window; it is rounded down to
/// 256ths, as in Linux.
fn rows(response: &Response) -> Rows {
    let exponent = -(10.0 * response.inverse_slope).round() / 10.0;
    let factor = rounded(response.low_p * pow(response.low_window, exponent), 2);
    let divisor = rounded(1.0 / factor, 3);
    let increase =
        |w: f64| balance(w, 1.0 / (divisor * pow(w, exponent)), response.unlimited_decrease(w));
    let row = |w: f64| (w, (256.0 * response.unlimited_decrease(w)).floor() / 256.0);
    let (mut rows, mut last) = (vec![row(response.low_window)], 1.0);
    loop {
        let (mut from, mut to) = (rows[rows.len() - 1].0, (1.1 * response.high_window).floor());
        if increase(to) <= last + 1.0 {
            return rows.into();
        }
        // The least whole window in which the increase is that large; it grows with the window.
        while to - from > 1.0 {
            let middle = f64::midpoint(from, to).floor();
            if increase(middle) > last + 1.0 { to = middle } else { from = middle }
        }
        last = increase(to);
        rows.push(row(to));
    }
}

/// `value` in so many digits.
fn rounded(value: f64, digits: i32) -> f64 {
    let ones = pow(10.0, (digits - 1) as f64 - (ln(value) / ln(10.0)).floor());
    (value * ones).round() / ones
}

/// Slow start is that of RFC 5681, and so is what follows a timeout.
#[derive(Clone)]
struct HighSpeed {
    response: Response,
    growth: Growth,
    /// If it moves in the steps of Linux.
    rows: Option<Rows>,
    /// Count of acknowledgements since the last segment was added, in segments.
    counted: f64,
}

impl HighSpeed {
    fn new(parameters: &HighSpeedParameters) -> Self {
        let response = Response::new(parameters);
        let rows = (parameters.law == HighSpeedLaw::Linux).then(|| rows(&response));
        Self { response, growth: Growth::default(), rows, counted: 0.0 }
    }

    /// Returns what is left of a window of `bytes`.
    fn reduced(&self, bytes: f64, smss: f64) -> f64 {
        let segments = bytes / smss;
        let decrease = match &self.rows {
            Some(rows) => rows[row_of(rows, segments)].1,
            None => self.response.decrease(segments),
        };
        bytes * (1.0 - decrease)
    }

    /// Open the window in congestion avoidance for one acknowledgement, as Linux does.
    fn count(&mut self, window: &mut Window, rows: &Rows) {
        let segments = (window.cwnd / window.smss).floor();
        self.counted += row_of(rows, segments) as f64 + 1.0;
        if self.counted >= segments {
            self.counted -= segments;
            window.cwnd += window.smss;
        }
    }
}

/// The row of a window of `segments`; the last, where it is larger than all.
fn row_of(rows: &Rows, segments: f64) -> usize {
    rows.partition_point(|(largest, _)| *largest < segments).min(rows.len() - 1)
}

impl CongestionControl for HighSpeed {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        if ack.ece {
            return;
        }
        if window.cwnd >= window.ssthresh
            && let Some(rows) = self.rows.clone()
        {
            self.count(window, &rows);
            return;
        }
        // Slow start needs no response function, which costs logarithms and a power.
        let avoids = window.cwnd >= window.ssthresh;
        let segments = if avoids { self.response.increase(window.cwnd / window.smss) } else { 1.0 };
        if segments <= 1.0 {
            self.growth.open(window, ack);
        } else {
            // w + a(w) / w for each segment acknowledged.
            window.cwnd += segments * window.smss * ack.acked / window.cwnd;
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.growth = Growth::default();
        self.counted = 0.0;
        let smss = window.smss;
        // A timeout is Reno's.
        let halves = matches!(signal, Signal::Timeout { .. });
        let left = |bytes: f64| if halves { bytes / 2.0 } else { self.reduced(bytes, smss) };
        reduce(window, signal, flight, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::acked;

    fn by_law(law: HighSpeedLaw) -> HighSpeed {
        let (low_window, high_window, high_p, high_decrease) = (38, 83_000, 1e-7, 0.1);
        HighSpeed::new(&HighSpeedParameters { law, low_window, high_window, high_p, high_decrease })
    }

    fn highspeed() -> HighSpeed {
        by_law(HighSpeedLaw::Rfc3649)
    }

    /// w, a(w) and b(w) as printed in RFC 3649, appendix B, up to High_Window.
    const TABLE: [(f64, f64, f64); 17] = [
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (663.0, 6.0, 0.35),
        (851.0, 7.0, 0.34),
        (1058.0, 8.0, 0.33),
        (1284.0, 9.0, 0.32),
        (1529.0, 10.0, 0.31),
        (1793.0, 11.0, 0.30),
        (5036.0, 20.0, 0.25),
        (10_661.0, 30.0, 0.21),
        (18_955.0, 40.0, 0.18),
        (30_975.0, 50.0, 0.15),
        (48_961.0, 60.0, 0.13),
        (64_851.0, 66.0, 0.11),
        (79_517.0, 70.0, 0.10),
    ];

    /// A window shrinks and grows by the table of the RFC. It gives b(w) to two digits, and the
    /// whole part of a(w) from a loss rate rounded to 1 / (12.8 w^1.2) at the smallest w that
    /// brings a whole segment more.
    #[test]
    fn increase_and_decrease_are_those_of_the_table() {
        let response = highspeed().response;
        for (w, a, b) in TABLE {
            let decrease = response.decrease(w);
            assert!((decrease - b).abs() <= 0.005, "b({w}) = {decrease}");
            let increase = |w: f64| balance(w, 1.0 / (12.8 * pow(w, 1.2)), response.decrease(w));
            assert_eq!(increase(w).floor(), a, "a({w}) = {}", increase(w));
            // The table counts from its last row, so that its parts of a segment add up.
            assert!(increase(w) < a + 0.08, "a({w}) = {}", increase(w));
        }
    }

    /// The window is what the loss rate calls for (RFC 3649, section 5): p(w) = (1.2 / 38)^2 at 38
    /// segments and 10^-7 at 83000, and 0.078 / w^1.2 in between, where the exponent is ln((1.2 /
    /// 38)^2 / 10^-7) / ln(83000 / 38) = 1.1975. Both forms are equal to 0.6 % at 38 segments, as
    /// 0.078 / 38^1.2 = 9.917e-4, and to 2.6 % at 83000, as 0.078 / 83000^1.2 = 9.757e-8. So
    /// a(83000) = 83000^2 10^-7 0.2 / 1.9 = 72.516.
    #[test]
    fn the_response_function_joins_its_ends() {
        let response = highspeed().response;
        assert!((response.loss_rate(38.0) / 9.972_299e-4 - 1.0).abs() < 1e-6);
        assert!((response.loss_rate(83_000.0) / 1e-7 - 1.0).abs() < 1e-9);
        assert!((response.inverse_slope + 1.1975).abs() < 5e-5);
        for (w, a, _) in TABLE {
            let ratio = response.loss_rate(w) * pow(w, 1.2) / 0.078;
            assert!((1.0056..1.0254).contains(&ratio), "{w}: {ratio}");
            assert!((a..1.027 * a + 0.08).contains(&response.increase(w)), "{w}");
        }
        assert!((response.increase(83_000.0) - 72.516).abs() < 1e-3);
        assert!((response.decrease(83_000.0) - 0.1).abs() < 1e-12);
        // Where the RFC ends, the decrease stays and the increase grows further.
        assert!((response.decrease(1e9) - 0.1).abs() < 1e-12);
        assert!(response.increase(90_000.0) > response.increase(83_000.0));
    }

    /// Up to 38 segments a(w) = 1 and b(w) = 1/2, and HighSpeed TCP is Reno, step by step: it is
    /// fair to Reno where losses are frequent.
    #[test]
    fn small_windows_are_renos() {
        let response = highspeed().response;
        for w in [1.0, 2.0, 20.0, 38.0] {
            assert_eq!((response.increase(w), response.decrease(w)), (1.0, 0.5));
        }
        assert_eq!(response.increase(39.0), 1.0);
        let signals = [Signal::Loss, Signal::Ecn, Signal::Timeout { first: true }];
        let mut both = [highspeed_control(), reno_control()].map(|control| {
            let window = Window { cwnd: 1000.0, ssthresh: 30_000.0, smss: 1000.0 };
            (control, window)
        });
        let mut largest = 0.0_f64;
        for step in 0..2000 {
            let windows = both.each_mut().map(|(control, window)| {
                let flight = window.cwnd;
                let ack = Ack { flight, ece: step % 50 == 0, ..acked(1000.0) };
                control.acknowledged(window, &ack);
                if step % 250 == 249 {
                    control.congested(window, signals[step / 250 % 3], flight, Time::ZERO);
                }
                *window
            });
            assert_eq!(windows[0], windows[1], "{step}");
            largest = largest.max(windows[0].cwnd);
        }
        assert!((20_000.0..38_000.0).contains(&largest), "{largest}");
    }

    fn highspeed_control() -> Box<dyn CongestionControl> {
        Box::new(highspeed())
    }

    fn reno_control() -> Box<dyn CongestionControl> {
        let entry = crate::control::CONTROLS.iter().find(|entry| entry.name == "reno").unwrap();
        let (node, echo) = (
            forebay_parameters::Node::new(forebay_parameters::Value::Table(Default::default())),
            forebay_parameters::Echo::default(),
        );
        (entry.build)(&Section::root(&node, &echo).unwrap()).unwrap()()
    }

    /// Linux's window moves by the rows of the table (`tcp_highspeed.c`): up to 38 segments by one
    /// for each window of acknowledgements, whatever they are for, up to 118 by two, up to 221 by
    /// three, by the rows of the table of the RFC, which Linux has up to 89,053 segments and 72.
    #[test]
    fn linux_counts_acknowledgements_by_rows() {
        let law = by_law(HighSpeedLaw::Linux);
        let rows = law.rows.clone().unwrap();
        assert_eq!((rows[0], rows.len(), rows[71].0), ((38.0, 0.5), 72, 89_053.0));
        for (w, a, b) in TABLE {
            let (end, decrease) = rows[a as usize - 1];
            assert_eq!(end, w);
            // Two digits in the table, 256ths here.
            assert!((decrease - b).abs() < 0.005 + 1.0 / 256.0, "{w}: {decrease}");
            assert_eq!(
                (row_of(&rows, end), row_of(&rows, end + 1.0)),
                (a as usize - 1, a as usize)
            );
        }
        for (segments, acknowledgements) in [(20.0, 20), (38.0, 38), (60.0, 30), (150.0, 50)] {
            let mut law = law.clone();
            let mut window = Window { cwnd: segments * 1000.0, ssthresh: 1000.0, smss: 1000.0 };
            for at in 0..acknowledgements {
                let flight = window.cwnd;
                assert_eq!(flight, segments * 1000.0, "{at}");
                law.acknowledged(&mut window, &Ack { flight, ..acked(2000.0) });
            }
            assert_eq!(window.cwnd, (segments + 1.0) * 1000.0);
        }
        // Anywhere between 38 and the next row it keeps what that leaves: b(118) is 0.441, 112
        // 256ths.
        let mut window = Window { cwnd: 64_000.0, ssthresh: 1000.0, smss: 1000.0 };
        law.clone().congested(&mut window, Signal::Loss, 64_000.0, Time::ZERO);
        assert_eq!(window.cwnd, 64_000.0 * (1.0 - 112.0 / 256.0));
    }

    /// Large windows move by w + a(w) / w for an acknowledgement and w - b(w) w at congestion: at
    /// 83000 segments by 72.516 / 83000 segments up, and down to 0.9 times 83000. A timeout halves
    /// as Reno's does.
    #[test]
    fn large_windows_grow_fast_and_shrink_little() {
        let smss = 1000.0;
        let mut window = Window { cwnd: 83_000.0 * smss, ssthresh: smss, smss };
        let flight = window.cwnd;
        let ack = Ack { flight, ..acked(smss) };
        let mut law = highspeed();
        law.acknowledged(&mut window, &ack);
        assert!((window.cwnd - flight - 72.516 / 83_000.0 * smss).abs() < 1e-4);
        let mut congested = |signal| {
            let mut window = Window { cwnd: flight, ssthresh: smss, smss };
            law.congested(&mut window, signal, flight, Time::ZERO);
            (window.cwnd / flight, window.ssthresh / flight)
        };
        let close = |(a, b): (f64, f64), c: f64, d: f64| (a - c).abs() + (b - d).abs() < 1e-9;
        assert!(close(congested(Signal::Loss), 0.9, 0.9));
        assert!(close(congested(Signal::Ecn), 0.9, 0.9));
        assert!(close(congested(Signal::Timeout { first: true }), 1.0 / 83_000.0, 0.5));
    }
}
