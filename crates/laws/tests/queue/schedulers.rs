//! Schedulers against what their papers prove, packet by packet: fluid sharing, guaranteed rates,
//! fairness.

use std::collections::VecDeque;

use forebay_kernel::{Stream, Streams};
use forebay_laws::LinkFacts;
use forebay_laws::queue::{QUEUES, Queue};
use forebay_network::{FlowId, Packet, QueueDisc, RouteId};
use forebay_parameters::{Problem, Value};
use forebay_units::{Rate, Span, Time};

use crate::support::{build, list, table, with};

const RATE: Rate = Rate::from_bps(8_000_000);
/// Bits a second, and bytes a microsecond.
const BPS: f64 = 8e6;
/// Tolerance for floating-point times of some seconds.
const EPSILON: f64 = 1e-9;

/// A scheduler with a FIFO queue without limit for each class, which a packet names by its
/// precedence.
fn scheduler(name: &str, classes: usize, parameters: &[(&str, Value)]) -> Box<dyn QueueDisc> {
    let built = make(name, classes, parameters);
    built.unwrap_or_else(|problem| panic!("{name}: {problem:?}")).into_discipline()
}

fn make(name: &str, classes: usize, parameters: &[(&str, Value)]) -> Result<Queue, Problem> {
    let entry = QUEUES.iter().find(|entry| entry.name == name).expect("it is in the table");
    let mut all =
        table(&[("classes", list(&vec!["droptail"; classes])), ("classify", "precedence".into())]);
    for (key, value) in parameters {
        all = with(&all, key, value.clone());
    }
    build(&all, |section| (entry.build)(section, &LinkFacts::of(RATE)))
}

/// An arriving packet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: f64,
    class: usize,
    size: u16,
}

/// A packet that was sent: which arrival it was, and when its transmission ended.
#[derive(Clone, Copy, Debug)]
struct Sent {
    arrival: usize,
    to: f64,
}

fn time(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

/// Let `law` serve `arrivals`, which are in the order of time, until all are sent.
fn serve(law: &mut dyn QueueDisc, arrivals: &[Arrival]) -> Vec<Sent> {
    let mut stream = Streams::new(0, 0).named("test");
    let (mut sent, mut free_at) = (Vec::new(), Time::ZERO);
    let mut send =
        |law: &mut dyn QueueDisc, stream: &mut Stream, until: Time, free_at: &mut Time| {
            while *free_at <= until {
                let next = law.dequeue(*free_at, stream, &mut |_, _| panic!("nothing is dropped"));
                let Some(next) = next else { return };
                *free_at += RATE.transmission_time(next.packet.wire_size());
                sent.push(Sent { arrival: next.packet.number as usize, to: free_at.seconds() });
            }
        };
    for (number, arrival) in arrivals.iter().enumerate() {
        let now = time(arrival.at);
        // A transmission that ends at the instant of an arrival is followed by the next packet
        // first.
        send(law, &mut stream, now, &mut free_at);
        let packet =
            Packet::data(now, FlowId::new(0), number as u64, arrival.size, RouteId::new(0))
                .with_precedence(arrival.class as u8);
        let idle = law.backlog().packets == 0 && free_at <= now;
        law.enqueue(&packet, None, now, &mut stream, &mut |_, _| panic!("nothing is dropped"));
        if idle {
            free_at = now;
            send(law, &mut stream, now, &mut free_at);
        }
    }
    send(law, &mut stream, Time::from_ps(u64::MAX / 2), &mut free_at);
    assert_eq!(sent.len(), arrivals.len());
    sent
}

/// Generalized processor sharing in real time: each busy class is sent at the rate of the link in
/// proportion to its weight among the busy ones. When each packet has been sent, and how many bits
/// each class has sent at `times`.
fn fluid(weights: &[f64], arrivals: &[Arrival], times: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    // For each class the packets that it has, with the bits of each left to send.
    let mut waiting: Vec<VecDeque<(usize, f64)>> = vec![VecDeque::new(); weights.len()];
    let (mut now, mut sent) = (0.0, vec![0.0; weights.len()]);
    let (mut finish, mut samples) = (vec![f64::NAN; arrivals.len()], Vec::new());
    let (mut next_arrival, mut next_sample) = (0, 0);
    loop {
        let busy: Vec<usize> = (0..weights.len()).filter(|i| !waiting[*i].is_empty()).collect();
        let total: f64 = busy.iter().map(|i| weights[*i]).sum();
        let rate = |i: usize| BPS * weights[i] / total;
        let ends = busy.iter().map(|i| (now + waiting[*i][0].1 / rate(*i), *i));
        let first = ends.min_by(|a, b| a.0.total_cmp(&b.0));
        let end = first.map_or(f64::INFINITY, |(time, _)| time);
        let arrival = arrivals.get(next_arrival).map_or(f64::INFINITY, |arrival| arrival.at);
        let sample = times.get(next_sample).copied().unwrap_or(f64::INFINITY);
        let until = end.min(arrival).min(sample);
        if until == f64::INFINITY {
            return (finish, samples);
        }
        for i in busy {
            let bits = rate(i) * (until - now);
            waiting[i][0].1 -= bits;
            sent[i] += bits;
        }
        now = until;
        if let Some((_, class)) = first.filter(|(time, _)| *time == until) {
            let (packet, _) = waiting[class].pop_front().expect("it is busy");
            finish[packet] = now;
        } else if sample == until {
            samples.push(sent.clone());
            next_sample += 1;
        } else {
            let Arrival { class, size, .. } = arrivals[next_arrival];
            waiting[class].push_back((next_arrival, f64::from(size) * 8.0));
            next_arrival += 1;
        }
    }
}

/// Arrivals of random classes, sizes and gaps, which offer `load` of the link in bursts.
fn random(seed: u64, classes: usize, load: f64, count: usize) -> Vec<Arrival> {
    let mut draws = Streams::new(seed, 0).named("arrivals");
    let mut at = 0.0;
    (0..count)
        .map(|_| {
            let size = 40 + draws.below(1461) as u16;
            // Bursts of some packets at once: mean gap over all of 770 B at the rate.
            if draws.happens(0.3) {
                at += draws.exponential() * 770.0 * 8.0 / BPS / load / 0.3;
                at = time(at).seconds();
            }
            Arrival { at, class: draws.below(classes as u64) as usize, size }
        })
        .collect()
}

const MAX_PACKET_BITS: f64 = 1500.0 * 8.0;

fn numbers(weights: &[f64]) -> Value {
    list(weights)
}

/// Weighted fair queueing keeps packets no longer than fluid sharing by more than the largest
/// packet takes: finish <= finish under GPS + Lmax / C, for every packet (Parekh and Gallager 1993,
/// theorem 1). First come first served breaks that.
#[test]
fn wfq_is_never_later_than_fluid_sharing_by_more_than_a_packet() {
    let mut broken = 0;
    for (seed, load) in [(1, 0.6), (2, 0.9), (3, 1.2), (4, 2.0)] {
        let weights = [4.0, 2.0, 1.0, 0.5];
        let arrivals = random(seed, weights.len(), load, 4000);
        let (finish, _) = fluid(&weights, &arrivals, &[]);
        let parameters = [("weights", numbers(&weights))];
        let mut law = scheduler("wfq", weights.len(), &parameters);
        for Sent { arrival, to, .. } in serve(law.as_mut(), &arrivals) {
            let bound = finish[arrival] + MAX_PACKET_BITS / BPS;
            assert!(to <= bound + EPSILON, "load {load}, {arrival}: {to} is after {bound}");
        }
        let mut first_come = 0.0;
        for (arrival, finish) in arrivals.iter().zip(&finish) {
            first_come = arrival.at.max(first_come) + f64::from(arrival.size) * 8.0 / BPS;
            broken += u32::from(first_come > finish + MAX_PACKET_BITS / BPS + EPSILON);
        }
    }
    assert!(broken > 1000, "first come first served keeps to the bound but {broken} times");
}

/// WF2Q+ gives each class its rate: with the guaranteed rate r = C w / sum of w, each packet is
/// sent by G + Lmax / C, where G is when a server of rate r alone would have sent it (Bennett and
/// Zhang 1997, theorem 4, without the leaky buckets). If all classes always have packets, that
/// server is fluid sharing itself.
#[test]
fn wf2q_plus_guarantees_rates_packet_by_packet() {
    let weights = [4.0, 2.0, 1.0, 0.5];
    let total: f64 = weights.iter().sum();
    for name in ["wf2q_plus", "wfq"] {
        for (seed, load) in [(1, 0.6), (2, 0.9), (3, 1.2), (4, 2.0)] {
            let arrivals = random(seed, weights.len(), load, 4000);
            let parameters = [("weights", numbers(&weights))];
            let mut law = scheduler(name, weights.len(), &parameters);
            let mut clock = vec![0.0_f64; weights.len()];
            let guaranteed: Vec<f64> = arrivals
                .iter()
                .map(|Arrival { at, class, size }| {
                    let rate = BPS * weights[*class] / total;
                    clock[*class] = clock[*class].max(*at) + f64::from(*size) * 8.0 / rate;
                    clock[*class]
                })
                .collect();
            for Sent { arrival, to, .. } in serve(law.as_mut(), &arrivals) {
                let bound = guaranteed[arrival] + MAX_PACKET_BITS / BPS;
                assert!(to <= bound + EPSILON, "{name} {load} {arrival}: {to} is after {bound}");
            }
        }
        let arrivals = backlogged(&weights, 7, 400);
        let (finish, _) = fluid(&weights, &arrivals, &[]);
        let mut law = scheduler(name, weights.len(), &[("weights", numbers(&weights))]);
        for Sent { arrival, to, .. } in serve(law.as_mut(), &arrivals) {
            let bound = finish[arrival] + MAX_PACKET_BITS / BPS;
            // Towards the end classes run out of packets, and sharing of what they leave differs.
            if to < 0.5 {
                assert!(to <= bound + EPSILON, "{name} {arrival}: {to} is after {bound}");
            }
        }
    }
}

/// Packets for each class at time 0, `each` of random sizes.
fn backlogged(weights: &[f64], seed: u64, each: usize) -> Vec<Arrival> {
    let mut draws = Streams::new(seed, 0).named("sizes");
    let size = |draws: &mut Stream| 40 + draws.below(1461) as u16;
    (0..weights.len() * each)
        .map(|n| Arrival { at: 0.0, class: n % weights.len(), size: size(&mut draws) })
        .collect()
}

/// Returns by how much the service of a class is ahead of fluid sharing, at most, in bits: when a
/// packet has been sent.
fn lead(name: &str, weights: &[f64], arrivals: &[Arrival]) -> f64 {
    let mut law = scheduler(name, weights.len(), &[("weights", numbers(weights))]);
    let sent = serve(law.as_mut(), arrivals);
    let times: Vec<f64> = sent.iter().map(|sent| sent.to).collect();
    let (_, samples) = fluid(weights, arrivals, &times);
    let mut done = vec![0.0; weights.len()];
    let mut most: f64 = 0.0;
    for (sent, fluid) in sent.iter().zip(samples) {
        let Arrival { class, size, .. } = arrivals[sent.arrival];
        done[class] += f64::from(size) * 8.0;
        most = most.max(done[class] - fluid[class]);
    }
    most
}

/// WF2Q+ is fairer than WFQ, which may serve a class far ahead of fluid sharing and then not for as
/// long (Bennett and Zhang 1997, figure 2): 11 packets of a class with half of the weight, and one
/// of each of ten others, all of 1000 B. WFQ serves ten of the first in a row, five packets more
/// than fluid sharing has; WF2Q+ is ahead by less than a packet, L (1 - r / C).
#[test]
fn wf2q_plus_is_ahead_of_fluid_sharing_by_less_than_a_packet() {
    let weights: Vec<f64> = std::iter::once(10.0).chain([1.0; 10]).collect();
    let packet = |class| Arrival { at: 0.0, class, size: 1000 };
    let arrivals: Vec<Arrival> = [0; 11].into_iter().chain(1..=10).map(packet).collect();
    let bits = 8000.0;
    assert!(lead("wf2q_plus", &weights, &arrivals) <= bits * (1.0 - 1.0 / 20.0) + 1e-3);
    assert!(lead("wfq", &weights, &arrivals) >= 5.0 * bits - 1e-3);
    // The same of random sizes, with every class busy: the bound is that of the largest packet.
    let weights = [4.0, 2.0, 1.0, 0.5];
    let arrivals = backlogged(&weights, 3, 200);
    assert!(lead("wf2q_plus", &weights, &arrivals) <= MAX_PACKET_BITS + 1e-3);
}

/// The most by which the normalized service of two classes differs over any interval in which both
/// have packets: bits over `shares`.
fn unfairness(name: &str, parameters: &[(&str, Value)], shares: &[f64]) -> f64 {
    let arrivals = backlogged(shares, 5, 2000);
    let mut law = scheduler(name, shares.len(), parameters);
    let mut left = vec![2000; shares.len()];
    let mut done = vec![0.0; shares.len()];
    // Of each pair: the range of the difference so far.
    let mut ranges = vec![(0.0_f64, 0.0_f64); shares.len() * shares.len()];
    for Sent { arrival, .. } in serve(law.as_mut(), &arrivals) {
        let Arrival { class, size, .. } = arrivals[arrival];
        done[class] += f64::from(size) * 8.0;
        for (pair, range) in ranges.iter_mut().enumerate() {
            let (i, j) = (pair / shares.len(), pair % shares.len());
            let difference = done[i] / shares[i] - done[j] / shares[j];
            *range = (range.0.min(difference), range.1.max(difference));
        }
        left[class] -= 1;
        if left.contains(&0) {
            break;
        }
    }
    ranges.iter().map(|(low, high)| high - low).fold(0.0, f64::max)
}

/// Classes share the link fairly over any interval. Deficit round robin: over any interval, with
/// shares normalized to the least quantum Q, services differ by no more than Q + 2 Max (Shreedhar
/// and Varghese 1995, theorem 3.2 and the definition of FM). Self-clocked and start-time fair
/// queueing: by no more than Lmax / w of each of two classes together (Golestani 1994, theorem 1;
/// Goyal, Vin and Cheng 1997, theorem 1).
#[test]
fn shares_are_fair_over_any_interval() {
    let quanta = ["1500 B", "3000 B", "6000 B"];
    let bound = 1500.0 * 8.0 + 2.0 * MAX_PACKET_BITS;
    let shares = [1.0, 2.0, 4.0];
    let drr = unfairness("drr", &[("quanta", list(&quanta))], &shares);
    assert!(drr > MAX_PACKET_BITS && drr <= bound, "drr: {drr}");
    let ets = unfairness("ets", &[("quanta", list(&quanta))], &shares);
    assert!((drr - ets).abs() < 1e-9, "ets without strict classes is drr");
    for name in ["scfq", "stfq", "wfq", "wf2q_plus"] {
        let most = unfairness(name, &[("weights", numbers(&shares))], &shares);
        // WFQ is fair to fluid sharing, not over intervals: it may be ahead by half the classes.
        let bound = if name == "wfq" { 4.0 * MAX_PACKET_BITS } else { 2.0 * MAX_PACKET_BITS };
        assert!(most <= bound + 1e-3, "{name}: {most}");
        assert!(most > 1000.0, "{name}: {most} is no packet scheduler");
    }
    // Round robin by packets does not look at sizes; with equal ones its shares are as exact.
    let wrr = unfairness("wrr", &[("packets", list(&[1, 2, 4]))], &shares);
    assert!(wrr > bound, "wrr: {wrr}, over random sizes");
}

/// The classes of the packets sent first, all of 1000 B and there at time 0.
fn order(name: &str, parameters: &[(&str, Value)], counts: &[usize]) -> Vec<usize> {
    let packet =
        |(class, count): (usize, &usize)| vec![Arrival { at: 0.0, class, size: 1000 }; *count];
    let arrivals: Vec<Arrival> = counts.iter().enumerate().flat_map(packet).collect();
    let mut law = scheduler(name, counts.len(), parameters);
    serve(law.as_mut(), &arrivals).iter().map(|sent| arrivals[sent.arrival].class).collect()
}

/// Rounds are the papers', worked out by hand: the packet that finds the link idle is of class 0
/// and goes at once, so that its class begins anew with the second.
#[test]
fn rounds_are_those_worked_out_by_hand() {
    // Of 2, 1 and 3 packets a round, after the first of class 0.
    let packets = [("packets", list(&[2, 1, 3]))];
    assert_eq!(order("wrr", &packets, &[4, 2, 4]), [0, 0, 0, 1, 2, 2, 2, 0, 1, 2]);
    // 1500 B a round pay for one packet, then for two, as 500 B are kept; class 1 has 1000 B.
    let quanta = [("quanta", list(&["1500 B", "1000 B"]))];
    assert_eq!(order("drr", &quanta, &[6, 4]), [0, 0, 1, 0, 0, 1, 0, 1, 0, 1]);
    // Strict first, then one each.
    let strict = [("strict", 1.into())];
    assert_eq!(order("ets", &strict, &[3, 2, 2]), [0, 0, 0, 1, 2, 1, 2]);
    // WFQ with weights 2 and 1: finish tags of class 0 are 4, 8, 12, 16 kbit, of class 1 8 and 16,
    // and class 0 comes first where they are equal. WF2Q+: after the first of class 0 virtual time
    // is 8/3, so the second (start 4) is not eligible and class 1 (start 0) is next.
    let weights = [("weights", numbers(&[2.0, 1.0]))];
    assert_eq!(order("wfq", &weights, &[4, 2]), [0, 0, 1, 0, 0, 1]);
    assert_eq!(order("wf2q_plus", &weights, &[4, 2]), [0, 1, 0, 0, 1, 0]);
    // Start-time fair queueing: starts are 0, 4, 8, 12 and 0, 8.
    assert_eq!(order("stfq", &weights, &[4, 2]), [0, 1, 0, 0, 1, 0]);
    // Self-clocked: class 1 arrives while the first of class 0 is sent, whose finish tag is 4: so
    // its own are 12 and 20, and those of class 0 8, 12, 16.
    assert_eq!(order("scfq", &weights, &[4, 2]), [0, 0, 0, 1, 0, 1]);
}

/// Shares that mean nothing are refused, and the error points to their place.
#[test]
fn wrong_shares_are_refused_where_they_stand() {
    let path = |name, key: &'static str, value: Value| {
        make(name, 2, &[(key, value)]).err().map_or(String::new(), |problem| problem.path)
    };
    for name in ["wfq", "scfq", "stfq", "wf2q_plus"] {
        assert_eq!(path(name, "weights", numbers(&[1.0, 2.5])), "");
        for wrong in [vec![1.0], vec![1.0, 0.0], vec![1.0, -1.0], vec![1.0, f64::NAN]] {
            assert_eq!(path(name, "weights", numbers(&wrong)), "weights", "{name} {wrong:?}");
        }
    }
    assert_eq!(path("drr", "quanta", list(&["20 B", "1 GB"])), "");
    assert_eq!(path("drr", "quanta", list(&["19 B", "1500 B"])), "quanta");
    assert_eq!(path("drr", "quanta", list(&["1500 B"])), "quanta");
    assert_eq!(path("wrr", "packets", list(&[1, 0])), "packets");
    assert_eq!(path("wrr", "packets", list(&[1, 2, 3])), "packets");
    assert_eq!(path("ets", "strict", 3.into()), "strict");
    assert_eq!(path("ets", "quanta", list(&["1500 B"])), "quanta");
    for name in ["drr", "wrr", "ets", "wfq", "scfq", "stfq", "wf2q_plus"] {
        assert_eq!(path(name, "classes", list::<&str>(&[])), "classes");
        assert_eq!(path(name, "classes", list(&["droptail"; 65])), "classes");
        assert_eq!(path(name, "classes", list(&["droptial"])), "classes[0]");
        let table = table(&[("classes", list(&["droptail"; 2]))]);
        let entry = QUEUES.iter().find(|entry| entry.name == name).expect("it is in the table");
        let unsaid = build(&table, |section| (entry.build)(section, &LinkFacts::of(RATE)));
        assert_eq!(unsaid.err().map(|problem| problem.path), Some("classify".to_owned()), "{name}");
    }
}

/// A class pays for the packet that it sends: when the link chose packet 0, the next of its
/// priorities in class 1 was of 1500 B, and one of 100 B came before that was sent. DRR charges
/// what it sends, so that within a round both fit.
#[test]
fn a_class_is_charged_for_what_it_sends() {
    let inner = [("classes", list(&["droptail", "droptail"])), ("map", list(&[0, 0, 1]))];
    let classes = list(&["droptail".into(), table(&[("priority", table(&inner))])]);
    let all = table(&[("classes", classes), ("map", list(&[0, 1, 1]))]);
    let entry = QUEUES.iter().find(|entry| entry.name == "drr").expect("it is in the table");
    let built = build(&all, |section| (entry.build)(section, &LinkFacts::of(RATE)));
    let mut law = built.unwrap().into_discipline();
    let mut stream = Streams::new(0, 0).named("test");
    let mut offer = |law: &mut dyn QueueDisc, number, size, precedence| {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), number, size, RouteId::new(0))
            .with_precedence(precedence);
        law.enqueue(&packet, None, Time::ZERO, &mut stream, &mut |_, _| panic!("no limits"));
    };
    let sends = |law: &mut dyn QueueDisc| {
        let mut stream = Streams::new(0, 0).named("test");
        let next = law.dequeue(Time::ZERO, &mut stream, &mut |_, _| panic!("no limits"));
        let mut sent = 0.0;
        law.probes(&mut |name, value| {
            sent = if name == "class_sent_bytes.1" { value } else { sent }
        });
        (next.expect("packets wait").packet.number, sent)
    };
    offer(law.as_mut(), 0, 1500, 0);
    offer(law.as_mut(), 1, 1500, 2);
    assert_eq!(sends(law.as_mut()), (0, 0.0));
    offer(law.as_mut(), 2, 100, 1);
    assert_eq!(sends(law.as_mut()), (2, 100.0));
    assert_eq!(sends(law.as_mut()), (1, 1600.0));
}
