//! Properties of every impairment in the table, and the statistics of each.

mod support;

use forebay_kernel::{Stream, Streams};
use forebay_laws::impairment::{BuildImpairment, IMPAIRMENTS, Impairment, Passage};
use forebay_network::{DropReason, FlowId, Packet, RouteId};
use forebay_parameters::{Entry, Problem, Value};
use forebay_units::{Span, Time};
use support::{build, example, parameters, strange};

fn entry(name: &str) -> &'static Entry<BuildImpairment> {
    IMPAIRMENTS.iter().find(|entry| entry.name == name).expect("it is in the table")
}

fn make(
    entry: &Entry<BuildImpairment>,
    parameters: &Value,
) -> Result<Box<dyn Impairment>, Problem> {
    build(parameters, |section| (entry.build)(section))
}

fn law(name: &str, text: &str) -> Box<dyn Impairment> {
    make(entry(name), &parameters(text)).expect("the parameters are right")
}

fn refusal(name: &str, text: &str) -> String {
    match make(entry(name), &parameters(text)) {
        Ok(_) => panic!("{name} accepts {text}"),
        Err(problem) => problem.to_string(),
    }
}

fn stream() -> Stream {
    Streams::new(7, 0).named("wire")
}

fn packet(number: u64) -> Packet {
    Packet::data(Time::ZERO, FlowId::new(0), number, 1000, RouteId::new(0))
}

/// Returns the fates of `count` packets, a millisecond apart.
fn passages(law: &mut dyn Impairment, count: u64) -> Vec<Passage> {
    let mut stream = stream();
    let at = |number| Time::ZERO + Span::from_ms(number);
    (0..count).map(|number| law.pass(&packet(number), at(number), &mut stream)).collect()
}

fn is_lost(passage: &Passage) -> bool {
    matches!(passage, Passage::Lost(_))
}

/// Every impairment repeats itself with the same seed, gives reasons for losses that are the
/// wire's, and survives strange parameters.
#[test]
fn every_impairment_repeats_itself_and_survives_strange_parameters() {
    for entry in IMPAIRMENTS {
        let base = example(entry);
        for (label, value) in std::iter::once(("example".to_owned(), base.clone()))
            .chain(strange(&base, entry.fields))
        {
            let (Ok(mut one), Ok(mut other)) = (make(entry, &value), make(entry, &value)) else {
                continue;
            };
            let seen = passages(one.as_mut(), 2000);
            assert_eq!(seen, passages(other.as_mut(), 2000), "{} {label}", entry.name);
            for passage in seen {
                if let Passage::Lost(reason) = passage {
                    assert!(reason.is_on_wire(), "{} {label}: {reason:?}", entry.name);
                }
            }
        }
    }
}

/// Independent losses have the probability asked for. Of n independent packets with probability p,
/// a share within 4 standard deviations, sqrt(p (1 - p) / n); none at 0, all at 1.
#[test]
fn independent_losses_have_their_probability() {
    let count = 100_000;
    for p in [0.001, 0.02, 0.5] {
        let lost = passages(law("loss", &format!("probability = {p}")).as_mut(), count);
        let share = lost.iter().filter(|it| is_lost(it)).count() as f64 / count as f64;
        let sigma = f64::sqrt(p * (1.0 - p) / count as f64);
        assert!((share - p).abs() < 4.0 * sigma, "{share} for {p}");
    }
    assert!(!passages(law("loss", "probability = 0").as_mut(), 1000).iter().any(is_lost));
    assert!(passages(law("loss", "probability = 1").as_mut(), 1000).iter().all(is_lost));
}

/// Periodic losses are at equal distances. With a period of 4 and 2 as the first, packets 2, 6, 10
/// are lost; with one of 2.5, those at which 2, 4.5, 7, 9.5, 12 are reached: 2, 5, 7, 10, 12.
/// At a period of 1 all are.
#[test]
fn periodic_losses_are_at_equal_distances() {
    let lost = |text: &str| -> Vec<usize> {
        let seen = passages(law("periodic_loss", text).as_mut(), 12);
        (1..=12).filter(|number| is_lost(&seen[number - 1])).collect()
    };
    assert_eq!(lost("period = 4\nfirst = 2"), [2, 6, 10]);
    assert_eq!(lost("period = 2.5\nfirst = 2"), [2, 5, 7, 10, 12]);
    assert_eq!(lost("period = 3\nfirst = 11"), [11]);
    assert_eq!(lost("period = 1").len(), 12);
}

/// The first of periodic losses is any of the first period, with equal probability: of 4000 wires
/// with a period of 4, each of the four begins 1000, within 4 standard deviations of a binomial
/// variable, 4 sqrt(4000 / 4 * 3 / 4) = 110. The next comes a period later, whichever it was.
#[test]
fn periodic_losses_begin_anywhere_in_the_first_period() {
    let mut stream = stream();
    let mut firsts = [0_i32; 4];
    for _ in 0..4000 {
        let mut law = law("periodic_loss", "period = 4");
        let seen: Vec<bool> = (0..8)
            .map(|number| is_lost(&law.pass(&packet(number), Time::ZERO, &mut stream)))
            .collect();
        let first = seen.iter().position(|lost| *lost).expect("one of four is lost");
        firsts[first] += 1;
        assert!(seen[first + 4] && seen.iter().filter(|lost| **lost).count() == 2, "{seen:?}");
    }
    assert!(firsts.iter().all(|count| (count - 1000).abs() < 110), "{firsts:?}");
}

/// Losses of Gilbert and Elliott come in bursts as long and as frequent as the chain gives. With
/// losses only in the bad state, a share P/(P+p) of packets is lost: 0.01/0.26 = 3.846 %; bursts
/// have a mean length of 1/p = 4 packets (Gilbert 1960) and are geometric, so that of k bursts the
/// mean lies within 4 sqrt((1 - p)/p^2/k) of it. Independent losses as frequent would have bursts
/// of 1/(1 - 0.03846) = 1.04.
#[test]
fn losses_of_gilbert_and_elliott_come_in_bursts() {
    let count = 200_000;
    let seen = passages(law("gilbert_elliott", "to_bad = 0.01\nto_good = 0.25").as_mut(), count);
    let lost = seen.iter().filter(|it| is_lost(it)).count() as f64;
    let bursts = seen.windows(2).filter(|two| !is_lost(&two[0]) && is_lost(&two[1])).count() as f64;
    let mean = lost / bursts;
    assert!((mean - 4.0).abs() < 4.0 * f64::sqrt(0.75 / 0.0625 / bursts), "{mean}");
    // The variance of the share is that of independent packets times (1 + r)/(1 - r), where the
    // correlation of neighbours is r = 1 - P - p = 0.74.
    let share = 0.01 / 0.26;
    let sigma = f64::sqrt(share * (1.0 - share) / count as f64 * 1.74 / 0.26);
    assert!((lost / count as f64 - share).abs() < 4.0 * sigma, "{}", lost / count as f64);
}

/// Each state of the channel has its own losses: with probabilities 0 and 1 of leaving, states
/// alternate, and so do losses that are certain in the good one.
#[test]
fn states_of_the_channel_have_their_own_losses() {
    let text = "to_bad = 1.0\nto_good = 1.0\nloss_in_good = 1.0\nloss_in_bad = 0.0";
    let seen = passages(law("gilbert_elliott", text).as_mut(), 6);
    let lost: Vec<bool> = seen.iter().map(is_lost).collect();
    assert_eq!(lost, [true, false, true, false, true, false]);
}

/// Jitter has its distribution, with the mean asked for: uniform delays lie in 0 to 10 ms with a
/// standard deviation of 10/sqrt(12) = 2.887 ms, exponential ones have one of 5 ms. Half-normal
/// ones end at three times 5/0.791157 = 6.320 ms, and have a standard deviation of 3.725 ms: with
/// P, the probability of a normal value within 3, a variance of (P - 6 phi(3)) / P, less the square
/// of the mean 0.791157, in units of 6.320 ms.
#[test]
fn jitter_has_its_distribution() {
    // P(X > 2 mean) = e^-2 = 0.1353 of exponential delays, and of half-normal ones
    // (P - erf(1.5823 / sqrt(2))) / P = 0.1112, where 1.5823 = 2 * 0.791157.
    let laws = [
        ("uniform", 2.887, 10.0, 0.0),
        ("exponential", 5.0, f64::INFINITY, 0.1353),
        ("half_normal", 3.725, 18.96, 0.1112),
    ];
    for (name, deviation, bound, expected) in laws {
        let mut law = law("jitter", &format!("mean = \"5 ms\"\ndistribution = \"{name}\""));
        let delays: Vec<f64> = passages(law.as_mut(), 50_000)
            .into_iter()
            .map(|passage| match passage {
                Passage::Delayed(delay) => delay.seconds() * 1e3,
                other => panic!("{other:?}"),
            })
            .collect();
        let mean = delays.iter().sum::<f64>() / 5e4;
        assert!((mean - 5.0).abs() < 4.0 * deviation / f64::sqrt(5e4), "{name}: {mean} ms");
        assert!(delays.iter().all(|delay| (0.0..=bound).contains(delay)), "{name}");
        let above = delays.iter().filter(|delay| **delay > 10.0).count() as f64 / 5e4;
        assert!((above - expected).abs() < 0.007, "{name}: {above} above 10 ms");
    }
}

/// Outages begin and end on time: of packets at 0, 1, 2, ... ms those from the time at which the
/// link fails up to, but not at, that at which it comes back are lost.
#[test]
fn outages_begin_and_end_on_time() {
    let of = |text: &str| -> Vec<u64> {
        let seen = passages(law("outage", text).as_mut(), 20);
        (0..20).filter(|number| is_lost(&seen[*number as usize])).collect()
    };
    assert_eq!(of("down = [\"3 ms\", \"10 ms\"]\nup = [\"5 ms\", \"11 ms\"]"), [3, 4, 10]);
    assert_eq!(of("down = [\"17500 us\"]"), [18, 19]);
    assert_eq!(of("down = [\"0 s\", \"2 ms\"]\nup = [\"2 ms\", \"4 ms\"]"), [0, 1, 2, 3]);
    let seen = passages(law("outage", "down = [\"3 ms\"]").as_mut(), 4);
    assert_eq!(seen[3], Passage::Lost(DropReason::Outage));
}

/// Random outages take their share of time: 1 s in 4 on average, a quarter of 2*10^6 ms. Over T it
/// has the variance 2 u^2 d^2 / ((u + d)^3 T) of an alternating renewal process with exponential
/// times (Cox 1962, section 7.4): 1.4e-4 for 2,000 s at u = 3 s and d = 1 s.
#[test]
fn random_outages_take_their_share_of_time() {
    let mut law = law("outage", "mean_up = \"3 s\"\nmean_down = \"1 s\"");
    let seen = passages(law.as_mut(), 2_000_000);
    let share = seen.iter().filter(|it| is_lost(it)).count() as f64 / 2e6;
    let sigma = f64::sqrt(2.0 * 9.0 / (64.0 * 2000.0));
    assert!((share - 0.25).abs() < 4.0 * sigma, "{share}");
}

/// Wrong parameters are refused with what was read and what is allowed.
#[test]
fn wrong_parameters_are_refused() {
    let has = |name, text, part: &str| {
        let message = refusal(name, text);
        assert!(message.contains(part), "{message}");
    };
    has("loss", "probability = 1.5", "1.5 is not a probability; allowed are 0 to 1");
    has("loss", "", "probability");
    has("gilbert_elliott", "to_bad = 0.1\nto_good = -1.0", "to_good");
    has("bit_errors", "rate = 2.0", "2 is not a probability");
    has("duplication", "probability = -0.1", "allowed are 0 to 1");
    has("periodic_loss", "period = 0.5", "0.5 is out of range; allowed are 1 to 1e15");
    has("periodic_loss", "period = 9\nfirst = 0", "0 is no packet");
    has("jitter", "mean = \"2000 s\"", "allowed are up to 1000 s");
    has("outage", "", "needs either `down` with `up`, or `mean_up` with `mean_down`");
    has("outage", "mean_up = \"1 s\"", "needs either");
    has("outage", "mean_up = \"0 s\"\nmean_down = \"1 s\"", "mean_up");
    has("outage", "down = [\"2 s\"]\nup = [\"1 s\"]", "times must be in order");
    has("outage", "down = [\"1 s\"]\nup = [\"2 s\", \"3 s\"]", "2 times for 1 outages");
}
