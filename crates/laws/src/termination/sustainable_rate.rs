//! Termination down to the sustainable rate: the edge nodes of RFC 6661 (CL) and RFC 6662 (SM).

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::BuildTermination;
use crate::measurement::{Measurement, check_interval, check_limit, rate};
use crate::pcn_edge::{FlowTermination, Leaving, Termination, TerminationSignal};

pub(super) const ENTRY: Entry<BuildTermination> = Entry {
    name: "sustainable_rate",
    summary: "Terminates what the ingress node sends above the sustainable aggregate rate (SAR).",
    source: "RFC 6661, section 3.3.2; RFC 6662, section 3.3.2",
    example: "",
    fields: SustainableRateParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of termination down to the sustainable rate.
    pub struct SustainableRateParameters {
        /// Interval of measurement T-meas, above 0; 100 to 500 ms are recommended. The default is
        /// the middle of that range.
        interval: Span = "300 ms", "RFC 6661, section 3.2 (T-meas); RFC 6662, section 3.2";
        /// Sustainable rate over the rate of bytes without excess-traffic mark, at least 1: 1 for
        /// controlled load (SAR = NM + ThM); U for single marking (SAR = U NM), where every link
        /// sustains U times its admissible rate.
        factor: f64 = 1.0, "RFC 6661, section 3.3.2 (SAR); RFC 6662, section 3.3.2 (U)";
        /// Share of excess-traffic-marked bytes, 0 to 1, from which on an interval calls for
        /// termination, if it has such bytes at all. 0 for controlled load: any mark does. The
        /// CLE-limit of admission for single marking, where only a blocked aggregate is looked at.
        limit: f64 = 0.0, "RFC 6661, section 3.3.2; RFC 6662, section 3.3.2";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn FlowTermination>, Problem> {
    let parameters = SustainableRateParameters::read(section)?;
    check_interval(section, parameters.interval)?;
    let factor = parameters.factor;
    if factor < 1.0 {
        let message = format!("{factor} is out of range; allowed are numbers from 1");
        return Err(section.fail("factor", message));
    }
    check_limit(section, parameters.limit)?;
    Ok(Box::new(SustainableRate::new(&parameters)))
}

struct SustainableRate {
    interval: Span,
    factor: f64,
    limit: f64,
    /// Egress node: the bytes of the present interval.
    measured: Measurement,
    /// Ingress node: whether the last report called for termination, so that the rate sent is being
    /// measured and the next report decides.
    asked: bool,
}

impl SustainableRate {
    fn new(parameters: &SustainableRateParameters) -> Self {
        Self {
            interval: parameters.interval,
            factor: parameters.factor,
            limit: parameters.limit,
            measured: Measurement::default(),
            asked: false,
        }
    }
}

impl FlowTermination for SustainableRate {
    fn leaves(&mut self, packet: &Leaving) -> Option<TerminationSignal> {
        self.measured.count(packet);
        None
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn interval_ended(&mut self, _now: Time) -> Option<TerminationSignal> {
        let Measurement { unmarked, threshold, excess } = self.measured;
        let report = TerminationSignal::Report {
            excess: excess > 0 && self.measured.share(excess) >= self.limit,
            sustainable: self.factor * rate(unmarked + threshold, self.interval),
        };
        self.measured = Measurement::default();
        Some(report)
    }

    fn signalled(&mut self, signal: TerminationSignal, sent: f64, _now: Time) -> Termination {
        let TerminationSignal::Report { excess, sustainable } = signal else {
            return Termination::Nothing;
        };
        // The report that asks for the rate sent is of an interval before its measurement; only the
        // next is comparable with it. Whatever that one leads to, the next mark asks anew.
        let decides = excess && self.asked;
        self.asked = excess && !self.asked;
        let surplus = sent - sustainable;
        if decides && surplus > 0.0 { Termination::Amount(surplus) } else { Termination::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::PcnMark;

    /// Interval with which a byte an interval is 1 bit/s.
    const INTERVAL: Span = Span::from_s(8);

    fn law(factor: f64, limit: f64) -> SustainableRate {
        SustainableRate::new(&SustainableRateParameters { interval: INTERVAL, factor, limit })
    }

    /// The report on an interval of so many bytes NM, ThM and ETM.
    fn report(law: &mut SustainableRate, bytes: [u16; 3]) -> TerminationSignal {
        let marks = [PcnMark::Unmarked, PcnMark::Threshold, PcnMark::Excess];
        for (mark, size) in marks.into_iter().zip(bytes).filter(|(_, size)| *size > 0) {
            let packet = Leaving { now: Time::ZERO, mark: Some(mark), size, call: 0 };
            assert_eq!(law.leaves(&packet), None, "nothing before the interval ends");
        }
        law.interval_ended(Time::ZERO + INTERVAL).expect("every interval is reported")
    }

    /// Returns the action of the ingress node on an interval of so many bytes when it sent at
    /// `sent`.
    fn act(law: &mut SustainableRate, bytes: [u16; 3], sent: f64) -> Termination {
        let report = report(law, bytes);
        law.signalled(report, sent, Time::ZERO)
    }

    /// The amount to terminate is what is sent above the sustainable rate. RFC 6661: NM 75, ThM 20,
    /// ETM 5 make SAR 95; of 120 sent, 25 must end. RFC 6662 with U = 1.2: NM 80, ETM 20 make SAR
    /// 96; of 100 sent, 4 must end.
    #[test]
    fn the_amount_is_what_is_sent_above_the_sustainable_rate() {
        let mut cl = law(1.0, 0.0);
        let expected = TerminationSignal::Report { excess: true, sustainable: 95.0 };
        assert_eq!(report(&mut cl, [75, 20, 5]), expected);
        assert_eq!(act(&mut cl, [75, 20, 5], 120.0), Termination::Nothing);
        assert_eq!(act(&mut cl, [75, 20, 5], 120.0), Termination::Amount(25.0));
        let mut sm = law(1.2, 0.2);
        let expected = TerminationSignal::Report { excess: true, sustainable: 96.0 };
        assert_eq!(report(&mut sm, [80, 0, 20]), expected);
        assert_eq!(act(&mut sm, [80, 0, 20], 100.0), Termination::Nothing);
        assert_eq!(act(&mut sm, [80, 0, 20], 100.0), Termination::Amount(4.0));
    }

    /// Every second marked report decides, so that no rate is used twice or before its measurement:
    /// marks ask, the next report decides with its own SAR and the rate sent then, and the one
    /// after asks anew.
    #[test]
    fn every_second_marked_report_decides() {
        let mut law = law(1.0, 0.0);
        for (bytes, sent, done) in [
            ([75, 20, 5], 500.0, Termination::Nothing),
            ([60, 20, 10], 120.0, Termination::Amount(40.0)),
            ([60, 20, 10], 120.0, Termination::Nothing),
            ([70, 20, 1], 100.0, Termination::Amount(10.0)),
            ([70, 20, 1], 100.0, Termination::Nothing),
        ] {
            assert_eq!(act(&mut law, bytes, sent), done);
        }
    }

    /// A report without marks, or without traffic, takes the question back: no call ends for an
    /// overload that has passed.
    #[test]
    fn a_clean_report_takes_the_question_back() {
        let mut law = law(1.0, 0.0);
        for clean in [[75, 20, 0], [0, 0, 0]] {
            assert_eq!(act(&mut law, [75, 20, 5], 120.0), Termination::Nothing);
            assert_eq!(act(&mut law, clean, 120.0), Termination::Nothing);
        }
        assert_eq!(act(&mut law, [75, 20, 5], 120.0), Termination::Nothing, "asks anew");
        assert_eq!(act(&mut law, [75, 20, 5], 120.0), Termination::Amount(25.0));
    }

    /// No call ends where no more than the sustainable rate is sent; the question is answered all
    /// the same.
    #[test]
    fn nothing_ends_at_or_below_the_sustainable_rate() {
        let mut law = law(1.0, 0.0);
        for sent in [95.0, 94.0, 0.0] {
            assert_eq!(act(&mut law, [75, 20, 5], 120.0), Termination::Nothing);
            assert_eq!(act(&mut law, [75, 20, 5], sent), Termination::Nothing);
        }
        assert_eq!(act(&mut law, [75, 20, 5], 120.0), Termination::Nothing, "asks anew");
    }

    /// Single marking, which marks every byte above the admissible rate, asks nothing below the
    /// limit: aggregates that are not even blocked keep their calls.
    #[test]
    fn single_marking_waits_for_the_limit() {
        let mut law = law(1.2, 0.2);
        for (bytes, called) in [([81, 0, 19], false), ([80, 0, 20], true), ([0, 0, 0], false)] {
            let TerminationSignal::Report { excess, .. } = report(&mut law, bytes) else {
                panic!("intervals are reported")
            };
            assert_eq!(excess, called, "{bytes:?}");
        }
        assert_eq!(act(&mut law, [80, 0, 20], 100.0), Termination::Nothing);
        assert_eq!(act(&mut law, [81, 0, 19], 100.0), Termination::Nothing);
        assert_eq!(act(&mut law, [80, 0, 20], 100.0), Termination::Nothing, "asks anew");
    }

    /// A signal that names a call, which this law does not send, ends none.
    #[test]
    fn calls_are_not_named() {
        let done = law(1.0, 0.0).signalled(TerminationSignal::Call(3), 100.0, Time::ZERO);
        assert_eq!(done, Termination::Nothing);
    }
}
