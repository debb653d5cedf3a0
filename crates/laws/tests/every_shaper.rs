//! Properties of every shaping law in the table, and the bounds of their output.

mod support;

use std::collections::VecDeque;

use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_laws::conditioner::CONDITIONERS;
use forebay_laws::shaper::{BuildShaper, SHAPERS};
use forebay_network::{Backlog, Conditioner, FlowId, Packet, RouteId, ShaperLaw};
use forebay_parameters::{Entry, Problem, Value};
use forebay_units::{PS_PER_S, Rate, Span, Time};
use support::{build, example, parameters, strange, table, with};

const FACTS: LinkFacts = LinkFacts::of(Rate::from_bps(100_000_000));

/// Shaping laws whose output has bounds: the rate below which one never falls, and that which it
/// never exceeds but for its estimate.
const BOUNDED: [(&str, &str, (f64, f64)); 2] =
    [("leaky", "rate = \"8 Mbit/s\"\nlimit = \"100 kB\"", (8e6, 8e6)), ("ras", RAS, (2e6, 20e6))];

const RAS: &str = r#"
    cir = "2 Mbit/s"
    cir_threshold = "5 kB"
    mir = "20 Mbit/s"
    mir_threshold = "20 kB"
    limit = "100 kB"
"#;

fn entry(name: &str) -> &'static Entry<BuildShaper> {
    SHAPERS.iter().find(|entry| entry.name == name).expect("it is in the table")
}

fn make(entry: &Entry<BuildShaper>, parameters: &Value) -> Result<Box<dyn ShaperLaw>, Problem> {
    build(parameters, |section| (entry.build)(section, &FACTS))
}

fn meter() -> Box<dyn Conditioner> {
    let entry = CONDITIONERS.iter().find(|entry| entry.name == "trtcm").expect("it is there");
    let parameters = table(&[
        ("cir", "2 Mbit/s".into()),
        ("cbs", "3 kB".into()),
        ("pir", "4 Mbit/s".into()),
        ("pbs", "6 kB".into()),
    ]);
    build(&parameters, |section| (entry.build)(section, &FACTS)).expect("the profile is right")
}

/// A packet that left the shaper.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Release {
    packet: Packet,
    at: Time,
    /// True if the meter behind let it go before its time.
    early: bool,
    /// True if it was the only one that waited when it became the head.
    alone: bool,
}

/// A buffer under a law, with a meter behind.
struct Buffer {
    law: Box<dyn ShaperLaw>,
    meter: Box<dyn Conditioner>,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    last: Option<Time>,
    releases: Vec<Release>,
    dropped: usize,
    /// The largest estimate of the arrival rate that the law told.
    estimate: f64,
}

impl Buffer {
    fn new(law: Box<dyn ShaperLaw>) -> Self {
        Self {
            law,
            meter: meter(),
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            last: None,
            releases: Vec::new(),
            dropped: 0,
            estimate: 0.0,
        }
    }

    fn arrive(&mut self, packet: Packet, now: Time) {
        if self.backlog.bytes + u64::from(packet.size) > self.law.limit() {
            self.dropped += 1;
            return;
        }
        self.waiting.push_back(packet);
        self.backlog.add(&packet);
        self.law.arrived(&packet, self.backlog, now);
        let estimate = &mut self.estimate;
        self.law.probes(&mut |name, value| {
            if name == "arrival_rate" {
                *estimate = estimate.max(value);
            }
        });
    }

    /// Let go what may go before `until`.
    fn release(&mut self, mut now: Time, until: Time) {
        while let Some(head) = self.waiting.front().copied() {
            let ask = |meter: Option<&dyn Conditioner>, now| {
                self.law.release_at(&head, self.backlog, self.last, meter, now)
            };
            let at = ask(Some(self.meter.as_ref()), now);
            assert!(at < Time::NEVER, "a packet would wait for ever");
            if at > until {
                return;
            }
            let by_rate = ask(None, now);
            now = now.max(at);
            assert!(ask(Some(self.meter.as_ref()), now) <= now, "a release is put off when due");
            let mut packet = head;
            self.meter.condition(&mut packet, now, &mut Streams::new(0, 0).named("meter"));
            let (early, alone) = (now < by_rate, self.waiting.len() == 1);
            self.releases.push(Release { packet, at: now, early, alone });
            self.waiting.pop_front();
            self.backlog.remove(head.queued_info());
            self.last = Some(now);
        }
    }
}

/// `count` packets of 40 to 1500 B at a mean rate of `load` Mbit/s, in bursts of ten on average,
/// then time to drain.
fn drive(law: Box<dyn ShaperLaw>, load: f64, count: u64) -> Buffer {
    let mut buffer = Buffer::new(law);
    let mut draws = Streams::new(2, 0).named("arrivals");
    let mut now = Time::ZERO;
    for number in 0..count {
        if draws.happens(0.1) {
            let gap = Span::from_seconds(draws.exponential() * 10.0 * 770.0 * 8.0 / (load * 1e6));
            buffer.release(now, now + gap);
            now += gap;
        }
        buffer.arrive(
            Packet::data(
                now,
                FlowId::new(0),
                number,
                40 + draws.below(1461) as u16,
                RouteId::new(0),
            ),
            now,
        );
        buffer.release(now, now);
    }
    buffer.release(now, Time::from_ps(u64::MAX / 2));
    buffer
}

/// Packets that enter a shaper leave in order, not before they came, and none is lost or kept for
/// ever; two equal runs are equal.
#[test]
fn what_enters_leaves_in_order_and_in_time() {
    for entry in SHAPERS {
        for load in [0.5, 5.0, 50.0] {
            let run = || drive(make(entry, &example(entry)).unwrap(), load, 5_000);
            let buffer = run();
            assert_eq!(buffer.backlog, Backlog::default(), "{}", entry.name);
            assert_eq!(buffer.releases.len() + buffer.dropped, 5_000, "{}", entry.name);
            assert!(load < 30.0 || buffer.dropped > 0, "{}: the limit is reached", entry.name);
            assert!(buffer.releases.is_sorted_by_key(|release| release.packet.number));
            assert!(buffer.releases.is_sorted_by_key(|release| release.at));
            assert!(buffer.releases.iter().all(|release| release.at >= release.packet.created));
            assert_eq!(buffer.releases, run().releases, "{}", entry.name);
        }
    }
}

/// The output of a shaper is bounded in every window: between two releases any number apart lie at
/// least the bytes released after the first, at the law's highest rate (for the adaptive shaper
/// MIR, or the estimated arrival rate where that was higher). So the output in any window tau is at
/// most rate tau + one packet.
#[test]
fn the_output_is_bounded_in_every_window() {
    for (name, given, (_, highest)) in BOUNDED {
        for load in [5.0, 50.0] {
            let law = make(entry(name), &parameters(given)).unwrap();
            let buffer = drive(law, load, 2_000);
            let rate = highest.max(buffer.estimate.min(FACTS.rate.bps() as f64));
            for from in 0..buffer.releases.len() {
                let start = buffer.releases[from].at;
                let mut bits = 0.0;
                for release in buffer.releases[from + 1..].iter().take(200) {
                    bits += 8.0 * f64::from(release.packet.size);
                    let window = release.at.since(start).seconds();
                    assert!(bits <= rate * window * (1.0 + 1e-12), "{name} {bits}");
                }
            }
        }
    }
}

/// Waiting packets leave at the lowest rate of the law at least: while packets wait, the next
/// leaves after its transmission time at that rate (rounded up to a picosecond) at the latest.
#[test]
fn waiting_packets_leave_at_the_lowest_rate_at_least() {
    for (name, given, (lowest, _)) in BOUNDED {
        let buffer = drive(make(entry(name), &parameters(given)).unwrap(), 5.0, 5_000);
        for pair in buffer.releases.windows(2).filter(|pair| !pair[0].alone) {
            let bits = 8.0 * f64::from(pair[1].packet.size);
            let longest = bits / lowest * PS_PER_S as f64 + 1.0;
            let gap = pair[1].at.since(pair[0].at).ps();
            assert!(gap as f64 <= longest, "{name}: {gap} ps for {bits} bit");
        }
    }
}

/// Green shapers release green packets early: every packet that they let go before its time is
/// green at the meter behind, some are, and so more bytes are green than behind the plain shaper,
/// at no time later (RFC 2963, section 4).
#[test]
fn green_shapers_release_green_packets_early() {
    let entry = entry("ras");
    let two = [("rates", "two"), ("pir", "4 Mbit/s"), ("pir_threshold", "10 kB")];
    let single = parameters(RAS);
    let two = two.iter().fold(single.clone(), |all, (key, value)| with(&all, key, (*value).into()));
    for parameters in [single, two] {
        let plain = drive(make(entry, &parameters).unwrap(), 2.0, 5_000);
        assert!(plain.releases.iter().all(|release| !release.early));
        let green = with(&parameters, "green", true.into());
        let green = drive(make(entry, &green).unwrap(), 2.0, 5_000);
        let early: Vec<_> = green.releases.iter().filter(|release| release.early).collect();
        assert!(early.len() > 100, "{} early", early.len());
        assert!(early.iter().all(|release| release.packet.precedence == 0));
        assert!(plain.releases.iter().zip(&green.releases).all(|(late, soon)| soon.at <= late.at));
    }
}

/// Strange parameters are refused or survived: they crash no run.
#[test]
fn strange_parameters_are_refused_or_survived() {
    for entry in SHAPERS {
        let mut refused = 0;
        for (label, parameters) in strange(&example(entry), entry.fields) {
            match make(entry, &parameters) {
                Ok(mut law) => {
                    let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1500, RouteId::new(0));
                    let backlog = Backlog { packets: 1, bytes: 1500 };
                    for now in [Time::ZERO, Time::ZERO, Time::from_ps(u64::MAX - 1)] {
                        law.arrived(&packet, backlog, now);
                        law.release_at(&packet, backlog, Some(now), Some(meter().as_ref()), now);
                    }
                }
                Err(problem) => {
                    refused += 1;
                    assert!(!problem.path.is_empty(), "{}: {label}", entry.name);
                    assert!(!problem.message.is_empty(), "{}: {label}", entry.name);
                }
            }
        }
        assert!(refused > 0, "{}: parameters of a wrong kind are refused", entry.name);
    }
}
