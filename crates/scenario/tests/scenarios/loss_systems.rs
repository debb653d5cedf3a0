//! Calls that arrive, are blocked and end: loss systems, batches and Little's law.
//!
//! As in [`crate::closed_forms`], each quantity must lie inside a narrow Student-t interval over
//! independent replications, and that of a wrong model outside the same interval. Calls send one
//! packet in 18 hours each, so that nearly all events are theirs. The mean holding time is 1 s: the
//! unit of time below.

use forebay_kernel::math::pow;
use forebay_scenario::RunResult;

use crate::statistics::{Interval, interval, replicate};
use crate::support::{call_log, calls, floats, read, record, run_with, table};

const SILENT: &str = "traffic = { cbr = { rate = \"8 bit/s\", size = \"65535 B\" } }\n";

/// `calls` of one class for `duration` seconds after 20 s of warm-up, under `aggregate`.
fn system(duration: u32, aggregate: &str, calls: &str, more: &str) -> String {
    format!(
        "duration = \"{} s\"\nwarm_up = \"20 s\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\nduplex = false\n\
         [aggregates.ab]\n{aggregate}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\naggregate = \"ab\"\n{SILENT}\
         calls = {{ {calls} }}\n{more}",
        duration + 20
    )
}

fn lines(calls: u32) -> String {
    format!("admission = {{ capacity = {{ calls = {calls} }} }}")
}

fn blocking(runs: &[RunResult]) -> Interval {
    interval(runs, |run| calls(run, "x").blocking_ratio)
}

fn present(runs: &[RunResult]) -> Interval {
    interval(runs, |run| calls(run, "x").mean_present)
}

/// Erlang's loss formula by its recursion, B(0) = 1, B(k) = A B(k-1) / (k + A B(k-1)).
fn erlang(offered: f64, lines: u32) -> f64 {
    (1..=lines).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b))
}

/// Probabilities of 0 to `lines` busy lines with finite sources: proportional to C(S, k) a^k.
fn engset(sources: u32, a: f64, lines: u32) -> Vec<f64> {
    let mut weights = vec![1.0];
    for k in 1..=lines {
        weights.push(weights[k as usize - 1] * a * f64::from(sources + 1 - k) / f64::from(k));
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// Blocking is Erlang's (Erlang 1917; ITU-T E.501): Poisson calls of 7.5 or 8 Erlang on 10 lines
/// are blocked with B(A, 10) = 0.0995437 and 0.1216611, and A (1 - B) lines are busy in the mean.
/// Ten per cent more load, one line more, and a system without loss are rejected.
#[test]
fn erlang_loss() {
    assert!((erlang(7.5, 10) - 0.099_543_7).abs() < 1e-7);
    assert!((erlang(8.0, 10) - 0.121_661_1).abs() < 1e-7);
    for (offered, seconds) in [(7.5, 4000), (8.0, 3000)] {
        let class = format!("rate = \"{offered} /s\", holding = \"1 s\"");
        let runs = replicate(&system(seconds, &lines(10), &class, ""));
        let theory = erlang(offered, 10);
        blocking(&runs).accepts(theory);
        present(&runs).accepts(offered * (1.0 - theory));
        blocking(&runs).rejects(erlang(1.1 * offered, 10));
        blocking(&runs).rejects(erlang(offered, 11));
        present(&runs).rejects(offered);
        assert!(runs.iter().all(|run| calls(run, "x").max_present == 10));
    }
}

/// Finite sources are Engset's (ITU-T E.501, section 2): 20 sources that call 0.2 times a holding
/// time while idle, on 5 lines. C(20, k) 0.2^k gives the time congestion p(5) = 0.1440839, and the
/// busy lines; a caller sees the system of the other 19 sources, so the call congestion is
/// 0.1269321. Neither the time congestion nor Erlang's B of 4 Erlang is accepted.
#[test]
fn engset_loss() {
    let states = engset(20, 0.2, 5);
    assert!((states[5] - 0.144_083_9).abs() < 1e-7);
    let theory = engset(19, 0.2, 5)[5];
    assert!((theory - 0.126_932_1).abs() < 1e-7);
    let class = "rate = \"0.2 /s\", sources = 20, holding = \"1 s\"";
    let runs = replicate(&system(8000, &lines(5), class, ""));
    let busy: f64 = states.iter().zip(0..).map(|(p, k)| p * f64::from(k)).sum();
    blocking(&runs).accepts(theory);
    present(&runs).accepts(busy);
    blocking(&runs).rejects(states[5]);
    blocking(&runs).rejects(erlang(4.0, 5));
    present(&runs).rejects(4.0 * (1.0 - erlang(4.0, 5)));
}

/// Finite sources do not call while they talk: with as many lines as sources no call is blocked and
/// each source is busy a / (1 + a) of the time, 20 * 0.5 / 1.5 in the mean, not 20 * 0.5, and never
/// more than 20.
#[test]
fn sources_call_only_while_idle() {
    let class = "rate = \"0.5 /s\", sources = 20, holding = \"1 s\"";
    let runs = replicate(&system(400, "", class, ""));
    present(&runs).accepts(20.0 / 3.0);
    present(&runs).rejects(10.0);
    assert!(runs.iter().all(|run| calls(run, "x").max_present <= 20));
    assert!(runs.iter().all(|run| calls(run, "x").blocked == 0));
}

/// The sizes of the batches in which calls came.
fn batches(class: &str) -> Vec<u32> {
    let text = system(2000, "", class, "[record]\ncalls = true\n");
    let log = call_log(&record(&text).1);
    let mut sizes: Vec<(u64, u32)> = Vec::new();
    for (time, ..) in log.iter().filter(|(_, event, ..)| *event == "admitted") {
        match sizes.last_mut() {
            Some((last, size)) if last == time => *size += 1,
            _ => sizes.push((*time, 1)),
        }
    }
    sizes.into_iter().map(|(_, size)| size).collect()
}

/// Calls come together in the numbers asked for. About 20,000 batches of mean 2.5: geometric ones
/// have one call with probability 1/2.5 and variance 2.5 * 1.5; fixed ones have 2 or 3 calls, half
/// each. Bounds are 4 standard errors; each law fails the other's test.
#[test]
fn batches_have_their_mean_and_law() {
    let share = |sizes: &[u32], size: u32| {
        sizes.iter().filter(|found| **found == size).count() as f64 / sizes.len() as f64
    };
    let mean =
        |sizes: &[u32]| sizes.iter().map(|size| f64::from(*size)).sum::<f64>() / sizes.len() as f64;
    let near = |found: f64, theory: f64, variance: f64, n: usize| {
        (found - theory).abs() <= 4.0 * (variance / n as f64).sqrt()
    };
    let class = |law: &str| format!("rate = \"10 /s\", batch = 2.5, {law} holding = \"1 ms\"");
    let is_geometric = |sizes: &[u32]| {
        [1, 2, 3, 6].iter().all(|size| {
            let p = 0.4 * pow(0.6, f64::from(*size) - 1.0);
            near(share(sizes, *size), p, p * (1.0 - p), sizes.len())
        })
    };
    let is_fixed = |sizes: &[u32]| {
        let two = share(sizes, 2);
        two + share(sizes, 3) == 1.0 && near(two, 0.5, 0.25, sizes.len())
    };
    let (geometric, fixed) = (batches(&class("")), batches(&class("batch_law = \"fixed\",")));
    // Poisson: 20,200 batches, standard error 142.
    assert!([&geometric, &fixed].iter().all(|sizes| sizes.len().abs_diff(20_200) < 570));
    assert!(near(mean(&geometric), 2.5, 3.75, geometric.len()), "{}", mean(&geometric));
    assert!(near(mean(&fixed), 2.5, 0.25, fixed.len()), "{}", mean(&fixed));
    assert!(is_geometric(&geometric) && !is_fixed(&geometric));
    assert!(is_fixed(&fixed) && !is_geometric(&fixed));
}

/// Calls that come together make the number present uneven: with batches X at Poisson times and
/// exponential holding, the number present is as that of the infinite-server queue M[X]/M/oo, mean
/// rate E[X], variance to mean 1 + E[X(X-1)] / (2 E[X]): b for geometric batches of mean b, (b +
/// 1)/2 for fixed ones (Takacs 1962, Introduction to the theory of queues, chapter 3), here 3
/// and 2. Samples 5 holding times apart are nearly independent.
#[test]
fn batches_make_the_number_present_uneven() {
    for (law, theory, other) in [("geometric", 3.0, 2.0), ("fixed", 2.0, 3.0)] {
        let class =
            format!("rate = \"4 /s\", batch = 3.0, batch_law = \"{law}\", holding = \"1 s\"");
        let text = system(16_000, "", &class, "[record]\nseries = \"5 s\"\n");
        let scenario = read(&text);
        let (mut means, mut ratios) = (Vec::new(), Vec::new());
        for replication in 0..crate::statistics::REPLICATIONS {
            let (run, tables) = run_with(&scenario, replication, true);
            let samples = floats(table(&tables, "series/aggregates.ab"), "present_flows");
            // Those of the warm-up show how the system fills.
            let samples = &samples[4..];
            let n = samples.len() as f64;
            let mean = samples.iter().sum::<f64>() / n;
            let squares = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
            ratios.push(squares / (n - 1.0) / mean);
            means.push(calls(&run, "x").mean_present);
        }
        Interval::of(&means).accepts(12.0);
        Interval::of(&ratios).accepts(theory);
        Interval::of(&ratios).rejects(other);
    }
}

/// Holding times begin where asked for: by Little's law a rate of 5/s with a holding time of 1 s
/// and a media delay uniform up to 2 s (mean 1 s) keeps 5 * (1 + 1) calls present if the holding
/// time begins with the media, and 5 * 1 if it begins with the call.
#[test]
fn little_holds_for_both_beginnings_of_the_holding_time() {
    for (from, theory, other) in [("media", 10.0, 5.0), ("arrival", 5.0, 10.0)] {
        let class = format!(
            "rate = \"5 /s\", holding = \"1 s\", media_delay = \"2 s\", holding_from = \"{from}\""
        );
        let runs = replicate(&system(400, "", &class, ""));
        present(&runs).accepts(theory);
        present(&runs).rejects(other);
    }
}

/// The counters of a window keep the calls that were there before it, and nothing else of what came
/// before: those present at its beginning, and what comes and goes in it, are those present at the
/// end; and initial calls belong to the time before.
#[test]
fn the_warm_up_keeps_the_calls_present() {
    let class = "rate = \"3 /s\", holding = \"4 s\", initial = 12";
    let text = system(50, &lines(15), class, "[record]\ncalls = true\nseries = \"20 s\"\n");
    let (result, tables) = record(&text);
    let at_reset = floats(table(&tables, "series/aggregates.ab"), "present_flows")[0] as u64;
    let counted = calls(&result, "x");
    assert!(counted.blocked > 0 && counted.ended > 0 && at_reset > 0);
    assert_eq!(at_reset + counted.admitted - counted.ended, u64::from(counted.present));
    let log = call_log(&tables);
    let warm = 20_000_000_000_000;
    let count = |event: &str, from: u64| {
        log.iter().filter(|row| row.1 == event && row.0 > from).count() as u64
    };
    assert_eq!(counted.admitted, count("admitted", warm));
    assert_eq!(counted.blocked, count("blocked", warm));
    assert_eq!(counted.ended, count("ended", warm));
    assert_eq!(counted.rerouted, 0);
    assert_eq!(log.iter().filter(|row| row.1 == "initial" && row.0 == 0).count(), 12);
}
