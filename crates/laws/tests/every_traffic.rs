//! Properties of every kind of traffic in the table.

mod support;

use forebay_kernel::{Stream, Streams};
use forebay_laws::traffic::{BuildTraffic, TRAFFICS, TrafficKind};
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Problem, Value};
use forebay_units::Span;
use support::{build, example, strange, with};

/// The largest IP packet, in bytes.
const MAX_BYTES: u64 = 65_535;

/// Parameters under which the battery runs a kind of traffic: its example, and such as change what
/// it does.
fn examples(entry: &Entry<BuildTraffic>) -> Vec<Value> {
    let base = example(entry);
    let set = |key, value: Value| with(&base, key, value);
    let more = match entry.name {
        "file" => vec![with(&set("count", 5.into()), "interval", "2 s".into())],
        "cbr" => vec![set("jitter", 0.5.into())],
        "on_off" => vec![set("on", "5 ms".into())],
        "poisson" => {
            let huge = with(&set("rate", "10 Mbit/s".into()), "size", "50 kB".into());
            let random = |base| with(base, "sizes", "exponential".into());
            vec![random(&base), random(&huge)]
        }
        "pulses" => vec![with(&set("on", "100 ms".into()), "off", "100 ms".into())],
        "tmix" => vec![set("next_connection", 0.0.into()), set("persistent", 1.0.into())],
        "video" => vec![set("correlation", 0.0.into())],
        "voice" => {
            let silent = set("silence_suppression", true.into());
            vec![silent.clone(), with(&with(&silent, "on", "30 ms".into()), "off", "50 ms".into())]
        }
        _ => Vec::new(),
    };
    std::iter::once(base).chain(more).collect()
}

fn make(entry: &Entry<BuildTraffic>, parameters: &Value) -> Result<TrafficKind, Problem> {
    build(parameters, |section| (entry.build)(section))
}

/// Every example of every entry, with a label.
fn kinds() -> impl Iterator<Item = (String, TrafficKind)> {
    TRAFFICS.iter().flat_map(|entry| {
        let label = |number: usize| format!("{} (example {number})", entry.name);
        let examples = examples(entry).into_iter().enumerate();
        examples.map(move |(number, value)| (label(number), make(entry, &value).expect("sound")))
    })
}

fn flow(kind: &TrafficKind, seed: u64) -> (Box<dyn Traffic>, Stream) {
    let mut stream = Streams::new(seed, 0).named("traffic");
    ((kind.make)(&mut stream), stream)
}

/// The first `count` bursts, or all if there are fewer.
fn bursts(kind: &TrafficKind, seed: u64, count: usize) -> Vec<Burst> {
    let (mut traffic, mut stream) = flow(kind, seed);
    std::iter::from_fn(|| traffic.next(&mut stream)).take(count).collect()
}

/// Returns true if what has this label is a recording: it ends, and is the same whatever is drawn.
fn ends(label: &str) -> bool {
    label.starts_with("trace")
}

/// Packets are no larger than announced, and IP can carry them: buckets are sized by the announced
/// size. Where sizes are random, the announced one is their mean.
#[test]
fn packets_are_no_larger_than_announced() {
    for (label, kind) in kinds() {
        let Some(largest) = kind.largest else { continue };
        let bursts = bursts(&kind, 1, 50_000);
        assert!(bursts.len() == 50_000 || ends(&label), "{label}: it never ends");
        assert!(
            bursts.iter().all(|burst| (1..=MAX_BYTES).contains(&burst.size.bytes())),
            "{label}"
        );
        let random = label.starts_with("poisson") && !label.contains("example 0");
        assert!(random || bursts.iter().all(|burst| burst.size <= largest), "{label}");
        assert!(bursts.iter().any(|burst| burst.size >= largest), "{label}: it is reached");
    }
}

/// The long-run rate is the mean rate, by which links are sized. The time is cut into 50 parts of
/// 5000 s, far longer than anything these sources remember, so that the rates in them are all but
/// independent; their spread over sqrt(50) is the standard error of their mean. The bound is six of
/// these (with 49 degrees of freedom, beyond it lies 2e-7), and a packet more or less; it must be
/// below 2 %, so that it can fail.
#[test]
fn the_long_run_rate_is_the_mean_rate() {
    const PARTS: usize = 50;
    const PART: f64 = 5_000.0;
    for (label, kind) in kinds() {
        let Some(stated) = kind.mean_rate.filter(|_| !ends(&label)) else { continue };
        let stated = stated.bps() as f64;
        let (mut traffic, mut stream) = flow(&kind, 1);
        let (mut time, mut rates) = (Span::ZERO, [0.0; PARTS]);
        loop {
            let burst = traffic.next(&mut stream).expect("a rate is for ever");
            time = time + burst.gap;
            match rates.get_mut((time.seconds() / PART) as usize) {
                Some(rate) => *rate += burst.size.bits() as f64 / PART,
                None => break,
            }
        }
        let n = PARTS as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let variance = rates.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let packet = 8.0 * MAX_BYTES.min(kind.largest.map_or(0, |size| size.bytes())) as f64;
        let bound = 6.0 * (variance / n).sqrt() + packet / (n * PART);
        assert!(bound < 0.02 * stated, "{label}: {bound} of {stated}");
        assert!((mean - stated).abs() < bound, "{label}: {mean} is not {stated} +- {bound}");
    }
}

/// Bursts follow from the stream: a run can be repeated, and flows of a group and replications
/// differ. What only TCP carries has no draws to make.
#[test]
fn bursts_follow_from_the_stream() {
    for (label, kind) in kinds() {
        assert_eq!(bursts(&kind, 1, 1_000), bursts(&kind, 1, 1_000), "{label}");
        if kind.largest.is_some() && !ends(&label) {
            assert_ne!(bursts(&kind, 1, 1_000), bursts(&kind, 2, 1_000), "{label}");
        }
    }
}

/// A promised gap is kept, so that flows can share one timer: what promises a constant gap keeps it
/// from the second burst on, with one size.
#[test]
fn a_promised_gap_is_kept() {
    let mut promises = 0;
    for (label, kind) in kinds() {
        let Some(gap) = flow(&kind, 1).0.constant_gap() else { continue };
        promises += 1;
        let bursts = bursts(&kind, 1, 1_000);
        assert!(bursts[0].gap <= gap, "{label}");
        let first = Burst { gap, size: bursts[0].size };
        assert!(bursts[1..].iter().all(|burst| *burst == first), "{label}");
    }
    assert!(promises >= 2, "constant bit rate and voice without silence suppression do");
}

/// Strange parameters are refused under their key or survived: no run crashes or hangs, or has
/// packets that IP cannot carry.
#[test]
fn strange_parameters_are_refused_or_survived() {
    for entry in TRAFFICS {
        let mut refused = 0;
        for example in examples(entry) {
            for (label, parameters) in strange(&example, entry.fields) {
                match make(entry, &parameters) {
                    Ok(kind) => {
                        let sound = |burst: &Burst| (1..=MAX_BYTES).contains(&burst.size.bytes());
                        let right = bursts(&kind, 1, 100).iter().all(sound);
                        assert!(right || kind.largest.is_none(), "{}: {label}", entry.name);
                    }
                    Err(problem) => {
                        refused += 1;
                        assert!(!problem.path.is_empty(), "{}: {label}", entry.name);
                        assert!(!problem.message.is_empty(), "{}: {label}", entry.name);
                    }
                }
            }
        }
        assert!(refused > 0 || entry.fields.is_empty(), "{}: wrong kinds are refused", entry.name);
    }
}
