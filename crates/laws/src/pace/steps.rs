//! Rate control by steps: down by a share when notified, up by a little each round-trip time.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::slow_start::SlowStart;
use super::{BuildPace, PaceKind, check_rtt};
use crate::detector::CongestionNotification;
use crate::pace::{Pace, PaceControl};

pub(super) const ENTRY: Entry<BuildPace> = Entry {
    name: "steps",
    summary: "Slows by a share at each notification, rises by a little each round-trip time.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, section 5.3",
    example: r#"
        floor = 0.5
        ceiling = 1.0
    "#,
    fields: StepsParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of rate control by steps.
    pub struct StepsParameters {
        /// Round-trip time: rates rise once in it, and after a notification further ones are
        /// ignored for it. Twice the propagation delay of the route there if left out.
        rtt: Option<Span>, "COMSAT thesis, section 5.3";
        /// Share by which the rate falls when the input rate of a port is high (type 0). 1 turns
        /// the source off; with an `increase` and a `ceiling` of 1 and a `floor` of 0 it is on
        /// again after a round trip (on/off policy).
        cut: f64 = 0.2, "COMSAT thesis, section 5.3";
        /// Share by which it falls when a packet was dropped (type 2), also within the time for
        /// which type 0 is ignored.
        cut_discard: f64 = 0.5, "COMSAT thesis, section 5.3";
        /// The least rate over the nominal rate, at most that of the beginning of a session. 0 for
        /// sources that can wait.
        floor: f64 = 0.5, "COMSAT thesis, section 5.3";
        /// The highest rate over the nominal rate, at least 1. Unlimited if left out.
        ceiling: Option<f64>, "COMSAT thesis, section 5.3: 1 for voice and video";
        /// Rise of the rate in each round-trip time, over the nominal rate.
        increase: f64 = 0.02, "COMSAT thesis, section 5.3";
        /// Rate that a session begins with, over the nominal rate; 1 for no slow start.
        start: f64 = 0.5, "COMSAT thesis, section 6.2.1.4";
        /// Rise in each round-trip time until it is 1, or a notification comes; over the nominal
        /// rate.
        start_increase: f64 = 0.1, "COMSAT thesis, section 6.2.1.4";
        /// Time after a notification was heeded in which others are ignored. The round-trip time if
        /// left out.
        ignore: Option<Span>, "COMSAT thesis, section 5.3";
        /// Start the round-trip time anew with a notification that is heeded.
        restart_timer: bool = true, "assumed: the thesis does not say it, section 5.3";
    }
}

fn build(section: &Section<'_>) -> Result<PaceKind, Problem> {
    let parameters = StepsParameters::read(section)?;
    let StepsParameters { rtt, cut, cut_discard, floor, ceiling, increase, .. } = parameters;
    if let Some(rtt) = rtt {
        check_rtt(section, rtt)?;
    }
    for (key, value) in [("cut", cut), ("cut_discard", cut_discard)] {
        if !(value > 0.0 && value <= 1.0) {
            let message = format!("{value} is out of range; allowed are above 0 and up to 1");
            return Err(section.fail(key, message));
        }
    }
    let slow_start = SlowStart { from: parameters.start, by: parameters.start_increase };
    slow_start.check(section)?;
    if !(0.0..=slow_start.from).contains(&floor) {
        let message = format!(
            "{floor} is out of range; allowed are 0 to {}, with which a session begins",
            slow_start.from
        );
        return Err(section.fail("floor", message));
    }
    if let Some(ceiling) = ceiling
        && ceiling < 1.0
    {
        let message = format!("{ceiling} is below the nominal rate; allowed are numbers from 1");
        return Err(section.fail("ceiling", message));
    }
    if !(0.0..=1.0).contains(&increase) {
        let message = format!("{increase} is out of range; allowed are 0 to 1");
        return Err(section.fail("increase", message));
    }
    let make = move |rtt| -> Box<dyn PaceControl> { Box::new(Steps::new(&parameters, rtt)) };
    Ok(PaceKind { rtt, explicit: None, make: Box::new(make) })
}

struct Steps {
    slow_start: SlowStart,
    rtt: Span,
    ignore: Span,
    cut: f64,
    cut_discard: f64,
    floor: f64,
    ceiling: f64,
    increase: f64,
    restart: bool,
    scale: f64,
    /// True if the session is in slow start.
    slow: bool,
    /// True if a notification was heeded in this session.
    heeded: bool,
    /// Time until which notifications are ignored, by [`CongestionNotification::place`].
    deaf: [Time; 2],
    next: Time,
}

impl Steps {
    fn new(parameters: &StepsParameters, rtt: Span) -> Self {
        Self {
            slow_start: SlowStart { from: parameters.start, by: parameters.start_increase },
            rtt,
            ignore: parameters.ignore.unwrap_or(rtt),
            cut: parameters.cut,
            cut_discard: parameters.cut_discard,
            floor: parameters.floor,
            ceiling: parameters.ceiling.unwrap_or(f64::INFINITY),
            increase: parameters.increase,
            restart: parameters.restart_timer,
            scale: 1.0,
            slow: false,
            heeded: false,
            deaf: [Time::ZERO; 2],
            next: Time::NEVER,
        }
    }

    fn pace(&self) -> Pace {
        Pace {
            scale: self.scale,
            at_floor: self.heeded && self.scale <= self.floor,
            next: self.next,
        }
    }
}

impl PaceControl for Steps {
    fn begin(&mut self, now: Time) -> Pace {
        self.scale = self.slow_start.from;
        self.slow = self.scale < 1.0;
        self.heeded = false;
        self.deaf = [Time::ZERO; 2];
        self.next = now + self.rtt;
        self.pace()
    }

    fn notified(&mut self, notice: CongestionNotification, now: Time) -> Option<Pace> {
        if now < self.deaf[notice.place()] {
            return None;
        }
        let until = now + self.ignore;
        let cut = match notice {
            CongestionNotification::Rate => {
                self.deaf[0] = until;
                self.cut
            }
            CongestionNotification::Discard => {
                self.deaf = [until; 2];
                self.cut_discard
            }
        };
        self.scale = (self.scale * (1.0 - cut)).max(self.floor);
        self.slow = false;
        self.heeded = true;
        if self.restart {
            self.next = now + self.rtt;
        }
        Some(self.pace())
    }

    fn expired(&mut self, now: Time) -> Pace {
        if self.slow {
            let next = self.slow_start.after(self.scale);
            self.slow = next.is_some();
            self.scale = next.unwrap_or(1.0);
        } else {
            self.scale = (self.scale + self.increase).min(self.ceiling);
        }
        self.next = now + self.rtt;
        self.pace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Echo, Node, Table, Value};

    const RTT: Span = Span::from_ms(560);

    fn make(entries: &[(&str, Value)]) -> Result<Box<dyn PaceControl>, Problem> {
        let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = entries.iter().map(entry).collect();
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        Ok((build(&Section::root(&node, &echo).unwrap())?.make)(RTT))
    }

    /// A source whose floor is 0 and whose session began at the nominal rate.
    fn data() -> Box<dyn PaceControl> {
        let mut law = make(&[("floor", 0.0.into()), ("start", 1.0.into())]).unwrap();
        law.begin(Time::ZERO);
        law
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Sources slow down by the share of the notification: of 500 kbit/s type 0 leaves 400, five of
    /// them 500 * .8^5 = 163.84, type 2 leaves 250.
    #[test]
    fn notifications_cut_the_rate_by_their_share() {
        let mut law = data();
        let scales: Vec<f64> = (0..5)
            .map(|n| law.notified(CongestionNotification::Rate, at(560 * n)).unwrap().scale)
            .collect();
        assert!((scales[0] * 500.0 - 400.0).abs() < 1e-9);
        assert!((scales[4] * 500.0 - 163.84).abs() < 1e-9);
        let half = data().notified(CongestionNotification::Discard, at(0)).unwrap();
        assert_eq!(half.scale * 500.0, 250.0);
        assert_eq!(half.next, at(560));
    }

    /// Further notifications are ignored for a round trip, so that one burst of them does not stop
    /// a source, but a discard is heard: after type 0 another is ignored until 560 ms later, but
    /// type 2 is not; after that both are.
    #[test]
    fn further_notifications_are_ignored_for_a_round_trip() {
        let mut law = data();
        assert!(law.notified(CongestionNotification::Rate, at(0)).is_some());
        assert!(law.notified(CongestionNotification::Rate, at(559)).is_none());
        let cut = law.notified(CongestionNotification::Discard, at(100)).unwrap();
        assert!((cut.scale - 0.4).abs() < 1e-12);
        assert!(law.notified(CongestionNotification::Discard, at(659)).is_none());
        assert!(law.notified(CongestionNotification::Rate, at(659)).is_none());
        assert!(law.notified(CongestionNotification::Rate, at(660)).is_some());
        // Type 0 does not make a source deaf to type 2, nor is its own time cut short by it.
        assert!(law.notified(CongestionNotification::Discard, at(661)).is_some());
        assert!(law.notified(CongestionNotification::Rate, at(1220)).is_none());
    }

    /// A source recovers by its steps: a cut of 20 % needs ten steps of 2 %, 5.6 s, and slow start
    /// 2.8 s from half the rate.
    #[test]
    fn rates_recover_by_their_steps() {
        let mut law = data();
        let mut pace = law.notified(CongestionNotification::Rate, at(0)).unwrap();
        while pace.scale < 1.0 - 1e-9 {
            pace = law.expired(pace.next);
        }
        assert_eq!(pace.next, at(5600 + 560));
        let mut law = make(&[]).unwrap();
        let mut pace = law.begin(at(0));
        assert_eq!(pace.scale, 0.5);
        while pace.scale < 1.0 {
            pace = law.expired(pace.next);
        }
        assert_eq!(pace.next, at(2800 + 560));
        // Then on by 2 %, as far as it may.
        assert!((law.expired(pace.next).scale - 1.02).abs() < 1e-12);
        let mut capped = make(&[("ceiling", 1.0.into()), ("start", 1.0.into())]).unwrap();
        let pace = capped.begin(at(0));
        assert_eq!(capped.expired(pace.next).scale, 1.0);
    }

    /// A notification ends slow start, as the network has signalled that there is no room: after a
    /// notification at the rate of 0.6 follow 0.5 (the floor), 0.52, and so on.
    #[test]
    fn a_notification_ends_slow_start() {
        let mut law = make(&[]).unwrap();
        let pace = law.begin(at(0));
        let pace = law.expired(pace.next);
        assert!((pace.scale - 0.6).abs() < 1e-12 && !pace.at_floor);
        let pace = law.notified(CongestionNotification::Rate, at(700)).unwrap();
        assert_eq!((pace.scale, pace.at_floor, pace.next), (0.5, true, at(1260)));
        let pace = law.expired(pace.next);
        assert!((pace.scale - 0.52).abs() < 1e-12 && !pace.at_floor);
        // The next session begins anew, and its first step is no floor.
        let pace = law.begin(at(2000));
        assert_eq!((pace.scale, pace.at_floor), (0.5, false));
        assert!(
            law.notified(CongestionNotification::Rate, at(2000)).is_some(),
            "the last session is forgotten"
        );
    }

    /// A source stays between floor and ceiling, so that a real-time source is not slowed below
    /// what it can use: 100,000 notifications and round trips in random order.
    #[test]
    fn the_rate_stays_between_floor_and_ceiling() {
        let mut stream = Streams::new(8, 0).named("test");
        for (floor, ceiling) in [(0.5, 1.0), (0.0, 1.0), (0.3, 1.5)] {
            let mut law = make(&[("floor", floor.into()), ("ceiling", ceiling.into())]).unwrap();
            let mut pace = law.begin(Time::ZERO);
            let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
            for _ in 0..100_000 {
                let now = pace.next;
                let notice = if stream.happens(0.5) {
                    CongestionNotification::Rate
                } else {
                    CongestionNotification::Discard
                };
                let told = stream.happens(0.05).then(|| law.notified(notice, now)).flatten();
                pace = told.unwrap_or_else(|| law.expired(now));
                assert!((floor..=ceiling).contains(&pace.scale), "{pace:?}");
                (low, high) = (low.min(pace.scale), high.max(pace.scale));
            }
            assert!(low < floor + 0.1 && high > ceiling - 0.1, "{low} {high}");
        }
    }

    /// A source under the on/off policy is off for the round trip after a notification, of either
    /// type, and then at its nominal rate, not above it.
    #[test]
    fn a_cut_of_all_turns_a_source_off_for_a_round_trip() {
        let whole = ["cut", "cut_discard", "increase", "ceiling", "start"];
        let mut entries: Vec<(&str, Value)> = whole.map(|key| (key, 1.0.into())).to_vec();
        entries.push(("floor", 0.0.into()));
        for notice in [CongestionNotification::Rate, CongestionNotification::Discard] {
            let mut law = make(&entries).unwrap();
            law.begin(Time::ZERO);
            let pace = law.notified(notice, at(100)).unwrap();
            assert_eq!((pace.scale, pace.next), (0.0, at(660)));
            assert!(law.notified(notice, at(600)).is_none());
            let pace = law.expired(pace.next);
            assert_eq!((pace.scale, law.expired(pace.next).scale), (1.0, 1.0));
        }
    }

    /// Parameters of a source that stops for ever, or speeds up when notified to slow down, are
    /// refused.
    #[test]
    fn impossible_parameters_are_refused() {
        for (key, value) in [
            ("cut", Value::Float(0.0)),
            ("cut", Value::Float(1.1)),
            ("cut_discard", Value::Float(-0.5)),
            ("floor", Value::Float(0.6)),
            ("floor", Value::Float(1.5)),
            ("floor", Value::Float(-0.1)),
            ("ceiling", Value::Float(0.9)),
            ("increase", Value::Float(-0.02)),
            ("start", Value::Float(1.1)),
            ("start", Value::Float(0.0)),
            ("start_increase", Value::Float(0.0)),
            ("rtt", Value::from("0 s")),
        ] {
            assert_eq!(make(&[(key, value.clone())]).err().unwrap().path, key, "{value:?}");
        }
    }
}
