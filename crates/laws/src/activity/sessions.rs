//! Sessions: talkers who come and go, and change between two rates while they are there.

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::quantity::show_rate;
use forebay_units::{Rate, Span};

use super::{ActivityKind, BuildActivity, check_mean, check_probability, check_rate};
use crate::activity::{Activity, Lasts, Phase, Session};

pub(super) const ENTRY: Entry<BuildActivity> = Entry {
    name: "sessions",
    summary: "Sessions and pauses; in a session a high and a low rate in turns (on-off voice, \
              two-rate video).",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, sections \
             6.2.1.1 and 6.2.1.2",
    example: r#"
        rate = "64 kbit/s"
        active = "15 s"
    "#,
    fields: SessionsParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of sessions; times are exponential with the given means.
    pub struct SessionsParameters {
        /// The higher rate, all of each packet counted.
        rate: Rate, "COMSAT thesis, section 6.2.1";
        /// The lower rate: zero for silence (on-off source).
        low_rate: Rate = "0 bit/s", "COMSAT thesis, section 6.2.1.1 (voice)";
        /// Mean time at the higher rate.
        high_time: Span = "0.5 s", "COMSAT thesis, section 6.2.1.1";
        /// Mean time at the lower rate.
        low_time: Span = "0.5 s", "COMSAT thesis, section 6.2.1.1";
        /// Probability that a session begins at the higher rate.
        start_high: f64 = 0.5, "COMSAT thesis, section 6.2.1.5 (video); assumed for voice";
        /// Mean time of a session. One session without end if left out.
        active: Option<Span>, "COMSAT thesis, section 6.2.1.1: 15 s";
        /// Mean time between sessions. That of a session if left out.
        idle: Option<Span>, "COMSAT thesis, section 6.2.1.1: 15 s";
        /// Probability that a session is there at the start.
        start: f64 = 0.5, "COMSAT thesis, section 6.2.1.5";
    }
}

fn build(section: &Section<'_>) -> Result<ActivityKind, Problem> {
    let parameters = SessionsParameters::read(section)?;
    let SessionsParameters { rate, low_rate, high_time, low_time, active, idle, .. } = parameters;
    check_rate(section, "rate", rate)?;
    if low_rate >= rate {
        let message = format!(
            "\"{}\" is out of range; allowed are rates below the higher one, \"{}\"",
            show_rate(low_rate),
            show_rate(rate)
        );
        return Err(section.fail("low_rate", message));
    }
    check_mean(section, "high_time", high_time)?;
    check_mean(section, "low_time", low_time)?;
    if let Some(active) = active {
        check_mean(section, "active", active)?;
    }
    if let Some(idle) = idle {
        check_mean(section, "idle", idle)?;
        if active.is_none() {
            return Err(section.fail("idle", "is given, but without active a session never ends"));
        }
    }
    check_probability(section, "start_high", parameters.start_high)?;
    check_probability(section, "start", parameters.start)?;
    let (high, low) = (high_time.seconds(), low_time.seconds());
    let talking = (rate.bps() as f64 * high + low_rate.bps() as f64 * low) / (high + low);
    let present = active.map_or(1.0, |active| {
        let idle = idle.unwrap_or(active);
        active.seconds() / (active + idle).seconds()
    });
    let make = move || -> Box<dyn Activity> { Box::new(Sessions::new(parameters.clone())) };
    let mean_rate = Rate::from_bps((talking * present) as u64);
    Ok(ActivityKind { make: Box::new(make), mean_rate, peak_rate: rate, transfers: false })
}

struct Sessions {
    parameters: SessionsParameters,
    state: State,
}

enum State {
    Fresh,
    Idle,
    /// In a session that lasts so much longer than the phase that has begun.
    Active {
        high: bool,
        left: Span,
    },
}

impl Sessions {
    fn new(parameters: SessionsParameters) -> Self {
        Self { parameters, state: State::Fresh }
    }

    fn begin(&mut self, stream: &mut Stream) -> Phase {
        let left = match self.parameters.active {
            Some(mean) => mean.scaled(stream.exponential()),
            None => Span::MAX,
        };
        let high = stream.happens(self.parameters.start_high);
        self.phase(high, left, Session::Begins, stream)
    }

    /// A phase of a session of which `left` is left.
    fn phase(&mut self, high: bool, left: Span, session: Session, stream: &mut Stream) -> Phase {
        let SessionsParameters { rate, low_rate, high_time, low_time, .. } = self.parameters;
        let (rate, mean) = if high { (rate, high_time) } else { (low_rate, low_time) };
        let time = mean.scaled(stream.exponential()).min(left);
        // A session without end stays so.
        let left = if left == Span::MAX { left } else { left - time };
        self.state = State::Active { high, left };
        Phase { rate, lasts: Lasts::For(time), session }
    }

    fn pause(&mut self, stream: &mut Stream) -> Phase {
        self.state = State::Idle;
        let SessionsParameters { active, idle, .. } = self.parameters;
        let mean = idle.or(active).expect("a session without end has no pause after it");
        let time = mean.scaled(stream.exponential());
        Phase { rate: Rate::from_bps(0), lasts: Lasts::For(time), session: Session::Idle }
    }
}

impl Activity for Sessions {
    fn next(&mut self, _took: Span, stream: &mut Stream) -> Phase {
        match self.state {
            State::Fresh if self.parameters.active.is_none() => self.begin(stream),
            State::Fresh if stream.happens(self.parameters.start) => self.begin(stream),
            State::Fresh => self.pause(stream),
            State::Idle => self.begin(stream),
            State::Active { left: Span::ZERO, .. } => self.pause(stream),
            State::Active { high, left } => self.phase(!high, left, Session::GoesOn, stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    fn video() -> SessionsParameters {
        SessionsParameters {
            rate: Rate::from_bps(512_000),
            low_rate: Rate::from_bps(192_000),
            high_time: Span::from_ms(500),
            low_time: Span::from_ms(500),
            start_high: 0.5,
            active: Some(Span::from_s(15)),
            idle: None,
            start: 0.5,
        }
    }

    /// Bits, time in sessions and time in all of `count` phases.
    fn totals(parameters: SessionsParameters, count: u32) -> (f64, f64, f64) {
        let mut stream = Streams::new(21, 0).named("test");
        let mut law = Sessions::new(parameters);
        let (mut bits, mut session, mut all) = (0.0, 0.0, 0.0);
        let mut open = false;
        for _ in 0..count {
            let phase = law.next(Span::ZERO, &mut stream);
            let Lasts::For(time) = phase.lasts else { panic!("sessions count time, not bytes") };
            assert!(open || phase.session != Session::GoesOn, "no session continues in a pause");
            open = phase.session != Session::Idle;
            let time = time.seconds();
            bits += phase.rate.bps() as f64 * time;
            session += if open { time } else { 0.0 };
            all += time;
        }
        (bits, session, all)
    }

    /// Mean rates are those that the thesis computes: voice 64 kbit/s half of the time is 32 kbit/s
    /// in a session, video (512 + 192) / 2 = 352 kbit/s, and half of that over sessions and pauses:
    /// 16 and 176 kbit/s. Within five standard errors: a session of 15 s with phases of 0.5 s has a
    /// mean rate that deviates by about 1/4 of the rates' difference, session and pause lengths by
    /// their means; 2 10^6 phases are 60,000 sessions.
    #[test]
    fn mean_rates_are_those_of_the_thesis() {
        let voice = SessionsParameters {
            rate: Rate::from_bps(64_000),
            low_rate: Rate::from_bps(0),
            ..video()
        };
        for (parameters, mean, spread) in [(voice, 32e3, 64e3), (video(), 352e3, 320e3)] {
            let (bits, session, all) = totals(parameters, 2_000_000);
            let root = 60_000_f64.sqrt();
            assert!(
                (bits / session - mean).abs() < 5.0 * spread / 4.0 / root,
                "{}",
                bits / session
            );
            assert!((session / all - 0.5).abs() < 5.0 * 0.5 / root, "{}", session / all);
            let wrong = mean * 1.03;
            assert!((bits / session - wrong).abs() > 5.0 * spread / 4.0 / root, "3 % would show");
        }
    }

    /// Half of the sources begin in a session, and all do where sessions have no end: 10,000
    /// sources, five standard errors of 50 each.
    #[test]
    fn sources_begin_in_sessions_with_the_given_probability() {
        let begins = |parameters: SessionsParameters| {
            (0..10_000).filter(move |number| {
                let mut stream = Streams::new(2, 0).numbered("test", *number);
                Sessions::new(parameters.clone()).next(Span::ZERO, &mut stream).session
                    == Session::Begins
            })
        };
        let half = begins(video()).count();
        assert!((4750..=5250).contains(&half), "{half}");
        let endless = SessionsParameters { active: None, start: 0.0, ..video() };
        assert_eq!(begins(endless.clone()).count(), 10_000);
        let (_, session, all) = totals(endless, 10_000);
        assert!(all > 0.0 && session == all);
    }
}
