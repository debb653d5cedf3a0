//! No control: sources that hear nothing.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::slow_start::SlowStart;
use super::{BuildPace, PaceKind, check_rtt};
use crate::detector::CongestionNotification;
use crate::pace::{Pace, PaceControl};

pub(super) const ENTRY: Entry<BuildPace> = Entry {
    name: "uncontrolled",
    summary: "Deaf to notifications: slow start of each session, then the nominal rate.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, table 1 \
             (case 1) and section 6.2.1.4",
    example: "",
    fields: UncontrolledParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of sources without control.
    pub struct UncontrolledParameters {
        /// Time between two steps of slow start. Twice the propagation delay of the route there if
        /// left out.
        rtt: Option<Span>, "COMSAT thesis, section 5.3";
        /// Rate that a session begins with, over the nominal rate; 1 for no slow start.
        start: f64 = 0.5, "COMSAT thesis, section 6.2.1.4";
        /// Rise of that in each round-trip time, over the nominal rate; up to 1.
        start_increase: f64 = 0.1, "COMSAT thesis, section 6.2.1.4";
    }
}

fn build(section: &Section<'_>) -> Result<PaceKind, Problem> {
    let UncontrolledParameters { rtt, start, start_increase } =
        UncontrolledParameters::read(section)?;
    let slow_start = SlowStart { from: start, by: start_increase };
    slow_start.check(section)?;
    if let Some(rtt) = rtt {
        check_rtt(section, rtt)?;
    }
    let make = move |rtt| -> Box<dyn PaceControl> {
        Box::new(Uncontrolled { slow_start, rtt, scale: 1.0 })
    };
    Ok(PaceKind { rtt, explicit: None, make: Box::new(make) })
}

struct Uncontrolled {
    slow_start: SlowStart,
    rtt: Span,
    scale: f64,
}

impl Uncontrolled {
    fn pace(&self, now: Time) -> Pace {
        let next = if self.scale < 1.0 { now + self.rtt } else { Time::NEVER };
        Pace { scale: self.scale, at_floor: false, next }
    }
}

impl PaceControl for Uncontrolled {
    fn begin(&mut self, now: Time) -> Pace {
        self.scale = self.slow_start.from;
        self.pace(now)
    }

    fn notified(&mut self, _notice: CongestionNotification, _now: Time) -> Option<Pace> {
        None
    }

    fn expired(&mut self, now: Time) -> Pace {
        self.scale = self.slow_start.after(self.scale).unwrap_or(1.0);
        self.pace(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources without control rise as those with it do, up to the nominal rate: from 250 of 500
    /// kbit/s in five steps, after 5 * 0.56 s = 2.8 s, and no more.
    #[test]
    fn slow_start_reaches_the_nominal_rate_after_five_steps() {
        let rtt = Span::from_ms(560);
        let slow_start = SlowStart { from: 0.5, by: 0.1 };
        let mut law = Uncontrolled { slow_start, rtt, scale: 1.0 };
        let mut pace = law.begin(Time::ZERO);
        let mut rates = vec![(500.0 * pace.scale).round()];
        while pace.next < Time::NEVER {
            assert_eq!(law.notified(CongestionNotification::Discard, pace.next), None);
            let now = pace.next;
            pace = law.expired(now);
            rates.push((500.0 * pace.scale).round());
            if pace.next == Time::NEVER {
                assert_eq!(now, Time::ZERO + Span::from_ms(2800));
                assert_eq!(pace.scale, 1.0);
            }
        }
        assert_eq!(rates, [250.0, 300.0, 350.0, 400.0, 450.0, 500.0]);
    }
}
