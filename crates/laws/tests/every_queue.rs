//! Properties of every queue in the table, and the statistics of RED.

#[path = "queue/htb.rs"]
mod htb;
#[path = "queue/limit.rs"]
mod limit;
#[path = "queue/schedulers.rs"]
mod schedulers;
mod support;

use std::collections::BTreeMap;

use forebay_kernel::{Stream, Streams};
use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, QUEUES, Queue};
use forebay_network::{
    Arrival, Backlog, Departure, DropPolicy, DropReason, Ecn, FlowId, Packet, QueueDisc, RouteId,
    Verdict,
};
use forebay_parameters::{Entry, Problem, Value};
use forebay_units::{Rate, Size, Span, Time};
use limit::{LIMIT, within};
use support::{build, example, list, strange, table, with};

const RATE: Rate = Rate::from_bps(10_000_000);

fn make(entry: &Entry<BuildQueue>, parameters: &Value) -> Result<Queue, Problem> {
    build(parameters, |section| (entry.build)(section, &LinkFacts::of(RATE)))
}

/// Run a battery on each of `entries`, within the limit for one.
fn on_each(
    entries: impl Iterator<Item = &'static Entry<BuildQueue>>,
    battery: fn(&Entry<BuildQueue>),
) {
    entries.for_each(|entry| within(LIMIT, entry.name, move || battery(entry)));
}

/// The queues with a parameter `name`.
fn having(name: &'static str) -> impl Iterator<Item = &'static Entry<BuildQueue>> {
    QUEUES.iter().filter(move |entry| entry.fields.iter().any(|field| field.name == name))
}

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Departed(Time, Packet),
    Dropped(DropReason),
}

/// A link of [`RATE`] with the queue under test; it checks everything that passes.
struct Bench {
    queue: Box<dyn QueueDisc>,
    stream: Stream,
    /// Packets that must be in the queue, by number.
    waiting: BTreeMap<u64, Packet>,
    fates: Vec<(u64, Fate)>,
    free_at: Time,
    /// Time from which the queue has a packet to send, if it had none when asked last.
    held_until: Time,
    largest: Backlog,
}

impl Bench {
    fn new(queue: Queue, seed: u64) -> Self {
        Self {
            queue: queue.into_discipline(),
            stream: Streams::new(seed, 0).named("queue"),
            waiting: BTreeMap::new(),
            fates: Vec::new(),
            free_at: Time::ZERO,
            held_until: Time::ZERO,
            largest: Backlog::default(),
        }
    }

    fn check(&mut self) {
        let mut expected = Backlog::default();
        self.waiting.values().for_each(|packet| expected.add(packet));
        assert_eq!(self.queue.backlog(), expected);
        self.largest.packets = self.largest.packets.max(expected.packets);
        self.largest.bytes = self.largest.bytes.max(expected.bytes);
    }

    fn arrive(&mut self, packet: Packet, now: Time) {
        self.serve(now);
        let idle = self.free_at <= now && self.waiting.is_empty();
        assert!(self.waiting.insert(packet.number, packet).is_none());
        let Self { queue, stream, waiting, fates, .. } = self;
        let idle_since = idle.then_some(self.free_at);
        let verdict = queue.enqueue(&packet, idle_since, now, stream, &mut |packet, reason| {
            drop_from(waiting, fates, &packet, reason);
        });
        if let Verdict::Drop(reason) = verdict {
            drop_from(waiting, fates, &packet, reason);
        }
        self.check();
        if idle {
            self.free_at = now;
        }
        if self.free_at <= now {
            // What arrived may leave before what is held back.
            self.held_until = now;
            self.serve(now);
        }
    }

    /// Let the transmissions that begin up to `now` begin.
    fn serve(&mut self, now: Time) {
        while self.free_at.max(self.held_until) <= now && !self.waiting.is_empty() {
            let at = self.free_at.max(self.held_until);
            self.held_until = Time::ZERO;
            let Self { queue, stream, waiting, fates, .. } = self;
            let next = queue.dequeue(at, stream, &mut |packet, reason| {
                drop_from(waiting, fates, &packet, reason);
            });
            let Some(Departure { packet, marked }) = next else {
                if self.waiting.is_empty() {
                    return;
                }
                assert!(!self.queue.is_work_conserving(), "packets wait and none is served");
                let ready = self.queue.ready_at(at);
                assert!(ready > at, "packets wait, and the queue says until the past");
                self.held_until = ready;
                continue;
            };
            let before = self.waiting.remove(&packet.number).expect("it was waiting");
            assert!(!marked || before.is_ecn_capable());
            let packet = if marked { packet.with_ecn(Ecn::Ce) } else { packet };
            let marked = packet.ecn() == Ecn::Ce && before.is_ecn_capable();
            assert!(packet == before || marked && packet == before.with_ecn(Ecn::Ce));
            self.fates.push((packet.number, Fate::Departed(at, packet)));
            self.free_at = at + RATE.transmission_time(packet.wire_size());
            self.check();
        }
    }
}

fn drop_from(
    waiting: &mut BTreeMap<u64, Packet>,
    fates: &mut Vec<(u64, Fate)>,
    packet: &Packet,
    reason: DropReason,
) {
    assert!(waiting.remove(&packet.number).is_some(), "a packet is dropped that was not there");
    // A queue that shapes may drop what its bucket could never hold.
    assert!(reason != DropReason::Policed, "{reason:?}");
    fates.push((packet.number, Fate::Dropped(reason)));
}

/// `count` packets with exponential gaps offer `load` times the link's rate: sizes 40 to 1500 B,
/// precedences 0 to 3, two of three ECN-capable.
fn drive(queue: Queue, load: f64, count: u64, seed: u64) -> Bench {
    let mut bench = Bench::new(queue, seed);
    let mut draws = Streams::new(seed, 0).named("arrivals");
    let mut now = Time::ZERO;
    for number in 0..count {
        let size = 40 + draws.below(1461) as u16;
        let mean = RATE.transmission_time(Size::from_bytes(770)).seconds();
        now += Span::from_seconds(draws.exponential() * mean / load);
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][draws.below(3) as usize];
        let packet = Packet::data(now, FlowId::new(0), number, size, RouteId::new(0))
            .with_ecn(ecn)
            .with_precedence(draws.below(4) as u8);
        bench.arrive(packet, now);
    }
    bench
}

/// Whatever arrives departs unchanged (but for CE on ECN-capable packets), is dropped with a
/// queue's reason, or waits, at every instant and in bytes as well; and in the end nothing waits.
#[test]
fn whatever_arrives_departs_or_is_dropped() {
    on_each(QUEUES.iter(), |entry| {
        for load in [0.5, 1.5, 10.0] {
            let mut bench = drive(make(entry, &example(entry)).unwrap(), load, 5_000, 1);
            bench.serve(Time::from_ps(u64::MAX / 2));
            assert_eq!(bench.queue.backlog(), Backlog::default(), "{}", entry.name);
            let mut numbers: Vec<u64> = bench.fates.iter().map(|(number, _)| *number).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..5_000), "{} at load {load}", entry.name);
            let drops = bench.fates.iter().any(|(_, fate)| matches!(fate, Fate::Dropped(_)));
            assert!(drops || load < 1.0, "{} at load {load} drops: it has limits", entry.name);
        }
    });
}

/// The same streams give the same run, and others another: results can be repeated.
#[test]
fn the_same_streams_give_the_same_run() {
    on_each(QUEUES.iter(), |entry| {
        let run = |seed| drive(make(entry, &example(entry)).unwrap(), 1.5, 5_000, seed).fates;
        assert_eq!(run(1), run(1), "{}", entry.name);
        assert_ne!(run(1), run(2), "{}", entry.name);
    });
}

/// Managed queues, which promise their order at arrival, are first in, first out.
#[test]
fn managed_queues_are_first_in_first_out() {
    on_each(QUEUES.iter(), |entry| {
        let queue = make(entry, &example(entry)).unwrap();
        if matches!(queue, Queue::Fifo(_)) {
            let fates = drive(queue, 1.5, 5_000, 1).fates;
            let departed = fates.iter().filter(|(_, fate)| matches!(fate, Fate::Departed(..)));
            assert!(departed.map(|(number, _)| number).is_sorted(), "{}", entry.name);
        }
    });
}

/// ECN marks where it is asked for and nowhere else, and capable packets only.
#[test]
fn ecn_marks_capable_packets_only() {
    on_each(having("ecn"), |entry| {
        for ecn in [true, false] {
            let parameters = with(&example(entry), "ecn", ecn.into());
            let fates = drive(make(entry, &parameters).unwrap(), 1.2, 20_000, 1).fates;
            let marks = fates.iter().any(
                |(_, fate)| matches!(fate, Fate::Departed(_, packet) if packet.ecn() == Ecn::Ce),
            );
            assert_eq!(marks, ecn, "{}: none was marked before", entry.name);
        }
    });
}

/// Limits hold: a buffer holds no more than its size.
#[test]
fn limits_hold() {
    on_each(having("limit"), |entry| {
        for (limit, packets, bytes) in [("7 packets", 7, u64::MAX), ("4000 B", u32::MAX, 4000)] {
            let mut parameters = with(&example(entry), "limit", limit.into());
            // What must be in the unit of the limit, or no higher, is brought down to it.
            let queue = make(entry, &parameters).or_else(|problem| {
                parameters = with(&parameters, &problem.path, limit.into());
                make(entry, &parameters)
            });
            let largest = drive(queue.unwrap(), 10.0, 5_000, 1).largest;
            assert!(largest.packets <= packets && largest.bytes <= bytes, "{}", entry.name);
        }
    });
}

/// Strange parameters are refused or survived: they crash no run.
#[test]
fn strange_parameters_are_refused_or_survived() {
    on_each(QUEUES.iter(), |entry| {
        let mut refused = 0;
        for (label, parameters) in strange(&example(entry), entry.fields) {
            match make(entry, &parameters) {
                Ok(queue) => drop(drive(queue, 2.0, 200, 1)),
                Err(problem) => {
                    refused += 1;
                    assert!(!problem.path.is_empty(), "{}: {label}", entry.name);
                    assert!(!problem.message.is_empty(), "{}: {label}", entry.name);
                }
            }
        }
        assert!(refused > 0, "{}: parameters of a wrong kind are refused", entry.name);
    });
}

/// Impossible parameters, of which no law can be made, are refused by their key.
#[test]
fn impossible_parameters_are_refused_by_their_key() {
    for (name, key, value) in [
        ("cake", "interval", Value::from("0 s")),
        ("cake", "rate", "0 bit/s".into()),
        ("cake", "queues", 12.into()),
        ("cake", "queues", 65_544.into()),
        ("cake", "quantum", "0 B".into()),
        ("cake", "flows_per_source", 0.into()),
        ("cake", "flows_per_destination", 0.into()),
        ("cake", "overhead", "65536 B".into()),
        ("cake", "mpu", "65536 B".into()),
        ("cobalt", "interval", "0 s".into()),
        ("cobalt", "increment", 1.5.into()),
        ("cobalt", "decrement", (-0.5).into()),
        ("dualpi2", "update_interval", "99 us".into()),
        ("dualpi2", "update_interval", "11 s".into()),
        ("dualpi2", "alpha", (-0.1).into()),
        ("dualpi2", "beta", (-0.1).into()),
        ("dualpi2", "coupling", 0.0.into()),
        ("dualpi2", "classic_share", 101.into()),
        ("dualpi2", "step_packets", 5.into()),
        ("fq_codel", "queues", 0.into()),
        ("fq_codel", "queues", 65_537.into()),
        ("fq_codel", "quantum", "0 B".into()),
        ("fq_codel", "quantum", "2 MiB".into()),
        ("fq_codel", "interval", "0 s".into()),
        ("fq_codel", "drop_batch", 0.into()),
        ("fq_pie", "queues", 0.into()),
        ("fq_pie", "quantum", "0 B".into()),
        ("fq_pie", "update_interval", "0 s".into()),
        ("fq_pie", "mark_limit", 1.5.into()),
        ("gred", "limits", list(&["5 packets"])),
        ("gred", "priorities", list(&[1, 2, 3])),
        ("pie", "rate_threshold", "0 B".into()),
        ("sfq", "queues", 0.into()),
        ("sfq", "quantum", "0 B".into()),
        ("sfq", "depth", 0.into()),
        ("sfq", "perturb", "0 s".into()),
    ] {
        let entry = QUEUES.iter().find(|entry| entry.name == name).expect(name);
        let problem = make(entry, &with(&example(entry), key, value.clone())).err();
        let problem = problem.unwrap_or_else(|| panic!("{name}: {key} = {value:?} is taken"));
        assert_eq!(problem.path, key, "{name}: {value:?}");
        assert!(problem.message.contains("allowed"), "{name}: {}", problem.message);
    }
}

/// A RED whose average is the queue itself and whose pb is a hundredth of it.
fn plain_red(spacing: &str, count: &str) -> Queue {
    let entry = QUEUES.iter().find(|entry| entry.name == "red").expect("RED is in the table");
    let parameters = table(&[
        ("min_threshold", "0 packets".into()),
        ("max_threshold", "100 packets".into()),
        ("max_probability", 1.0.into()),
        ("weight", 1.0.into()),
        ("spacing", spacing.into()),
        ("count", count.into()),
        ("gentle", true.into()),
    ]);
    make(entry, &parameters).expect("the parameters are right")
}

/// Returns, for each of `count` packets that find `packets` waiting, true if it is dropped.
fn drops(queue: Queue, packets: u32, count: usize) -> Vec<bool> {
    let Queue::Fifo(mut law) = queue else { panic!("RED decides at arrival") };
    let mut stream = Streams::new(4, 0).named("red");
    let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
    let backlog = Backlog { packets, bytes: 500 * u64::from(packets) };
    let arrival =
        Arrival { now: Time::ZERO, packet: &packet, backlog, idle_since: None, empty_since: None };
    let mut offer = || matches!(law.admit(&arrival, &mut stream), Verdict::Drop(_));
    (0..count).map(|_| offer()).collect()
}

/// The numbers of packets from one drop to the next.
fn gaps(drops: &[bool]) -> Vec<usize> {
    let at: Vec<usize> = (0..drops.len()).filter(|i| drops[*i]).collect();
    at.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Gaps between RED's drops have the published distribution, so that drops do not bunch: at
/// constant pb, gaps are uniform on 1 to 1/pb (uniform) or on 1/pb + 1 to 2/pb (wait) where the
/// count excludes the arriving packet (Floyd and Jacobson 1993, section 7), and begin and end one
/// lower where the count includes it, uniform from 1 on. Chi-square with k degrees of freedom has
/// mean k and variance 2k; the bound lies five standard deviations above.
#[test]
fn gaps_between_drops_have_the_published_distribution() {
    for (packets, spacing, count, low, high) in [
        (10, "uniform", "analysis", 1, 10),
        (10, "uniform", "code", 1, 9),
        (10, "wait", "analysis", 11, 20),
        (10, "wait", "code", 10, 19),
        (2, "uniform", "analysis", 1, 50),
        (2, "uniform", "code", 1, 49),
        (2, "wait", "analysis", 51, 100),
        (2, "wait", "code", 50, 99),
    ] {
        let gaps = gaps(&drops(plain_red(spacing, count), packets, 1_000_000));
        let label = format!("{spacing} {count} {packets}");
        assert_eq!(gaps.iter().min(), Some(&low), "{label}");
        assert_eq!(gaps.iter().max(), Some(&high), "{label}");
        let cells = high - low + 1;
        let expected = gaps.len() as f64 / cells as f64;
        let chi_square: f64 = (low..=high)
            .map(|gap| gaps.iter().filter(|g| **g == gap).count() as f64 - expected)
            .map(|difference| difference * difference / expected)
            .sum();
        let freedom = (cells - 1) as f64;
        assert!(chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(), "{label}: {chi_square}");
    }
}

/// The frequency of drops follows the curve: with geometric spacing packets are dropped
/// independently with pb, which rises linearly to maxp = 1 at the maximum threshold here and is 1
/// above (gentle). A frequency over n packets deviates by sqrt(p (1 - p) / n); the bound is five
/// times that.
#[test]
fn the_frequency_of_drops_follows_the_curve() {
    const N: usize = 200_000;
    for packets in [0, 1, 10, 50, 99, 100, 150] {
        let dropped = drops(plain_red("geometric", "code"), packets, N);
        let frequency = dropped.iter().filter(|dropped| **dropped).count() as f64 / N as f64;
        let p = (f64::from(packets) / 100.0).min(1.0);
        let bound = 5.0 * (p * (1.0 - p) / N as f64).sqrt();
        assert!((frequency - p).abs() <= bound, "{packets} packets: {frequency} is not {p}");
    }
}
