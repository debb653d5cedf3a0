//! Queues with closed forms: M/M/1, M/D/1, M/G/1, M/M/1/K, non-preemptive priority.
//!
//! Each quantity must lie inside the Student-t interval over independent replications, the interval
//! must be narrow, and a wrong model must lie outside the same interval: a test that accepts any
//! number would accept a wrong one.
//!
//! The server is a link of 8 Mbit/s, so that 1000 B take 1 ms: the unit of time below. Exponential
//! sizes are whole bytes; with a mean of 1000 B rounding moves the mean by 5e-7 and the second
//! moment by less than 1e-6 of their values, far below any interval here. Sizes above 65535 B, cut
//! by IP, have probability exp(-65.5).

use forebay_scenario::{Counted, RunResult};

use crate::statistics::{Interval, REPLICATIONS, interval, replicate};
use crate::support::{floats, flow, link, read, run_with, table, wholes};

/// Mean time in the system of the packets of a flow, in ms.
fn sojourn(runs: &[RunResult], name: &str) -> Interval {
    interval(runs, |run| flow(run, name).counted.mean_delay_s * 1e3)
}

fn waiting(runs: &[RunResult]) -> Interval {
    interval(runs, |run| link(run, "server").mean_queue_packets)
}

fn utilization(runs: &[RunResult]) -> Interval {
    interval(runs, |run| link(run, "server").utilization)
}

fn loss(runs: &[RunResult]) -> Interval {
    interval(runs, |run| {
        let counted = &flow(run, "x").counted;
        counted.dropped_packets as f64 / counted.sent_packets as f64
    })
}

/// One server of 8 Mbit/s with `queue`, measured over 200 s after 20 s of warm-up, and `flows`.
fn server(queue: &str, flows: &str) -> String {
    format!(
        "duration = \"220 s\"\nwarm_up = \"20 s\"\n\
         [links.server]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\nduplex = false\n\
         queue = {queue}\n{flows}"
    )
}

/// Poisson packets of mean 1000 B at `rate`.
fn poisson(name: &str, rate: &str, sizes: &str, precedence: u32) -> String {
    format!(
        "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nprecedence = {precedence}\n\
         traffic = {{ poisson = {{ rate = \"{rate}\", size = \"1000 B\", \
         sizes = \"{sizes}\" }} }}\n"
    )
}

/// A server with Poisson arrivals and exponential service is M/M/1: utilisation rho, time in the
/// system 1/(mu - lambda), waiting packets rho^2/(1 - rho) (Kleinrock, Queueing Systems I, section
/// 3.2). At mu = 1/ms: rho 0.5 gives 2 ms and 0.5 packets, rho 0.8 gives 5 ms and 3.2 packets.
#[test]
fn mm1() {
    for (rate, rho) in [("4 Mbit/s", 0.5), ("6.4 Mbit/s", 0.8)] {
        let runs = replicate(&server("\"droptail\"", &poisson("x", rate, "exponential", 0)));
        utilization(&runs).accepts(rho);
        sojourn(&runs, "x").accepts(1.0 / (1.0 - rho));
        waiting(&runs).accepts(rho * rho / (1.0 - rho));
        // M/D/1 waits half as long.
        sojourn(&runs, "x").rejects(1.0 + rho / (2.0 * (1.0 - rho)));
        waiting(&runs).rejects(rho * rho / (2.0 * (1.0 - rho)));
        // The number in the system is not the number waiting.
        waiting(&runs).rejects(rho / (1.0 - rho));
    }
}

/// The percentiles of delay are those of M/M/1: the time in an M/M/1 system is exponential
/// (Kleinrock I, section 5.9), so that the share p of all do not exceed 2 ms times ln(1 / (1 - p)):
/// 1.38629, 5.99146 and 9.21034 ms. The wait alone would give 2 ms times ln(rho / (1 - p)), and a
/// normal distribution of the same mean and standard deviation 2 ms times 1 + 1.64485, or 5.28971
/// ms, for 95 %.
#[test]
fn mm1_delay_percentiles() {
    let runs = replicate(&server("\"droptail\"", &poisson("x", "4 Mbit/s", "exponential", 0)));
    let of = |quantile: fn(&Counted) -> f64| {
        interval(&runs, |run| quantile(&flow(run, "x").counted) * 1e3)
    };
    of(|delay| delay.p50_delay_s).accepts(1.386_29);
    of(|delay| delay.p95_delay_s).accepts(5.991_46);
    of(|delay| delay.p99_delay_s).accepts(9.210_34);
    of(|delay| delay.p50_delay_s).rejects(0.0);
    of(|delay| delay.p95_delay_s).rejects(5.289_71);
    // ln 50 is that of the wait for 99 %, times 2 ms.
    of(|delay| delay.p99_delay_s).rejects(7.824_05);
}

/// The recorded distribution of delays is that of the packets: the time in an M/M/1 system is
/// exponential with mean 1/(mu - lambda) (Kleinrock I, section 5.9), here 2 ms, so P(T > 2 ms) =
/// exp(-1) = 0.36788 and P(T > 4 ms) = exp(-2) = 0.13534. The wait alone would give rho times these
/// values.
#[test]
fn mm1_delay_distribution() {
    let text = server("\"droptail\"", &poisson("x", "4 Mbit/s", "exponential", 0));
    let scenario = read(&format!("{text}\n[record]\ndelays = true\n"));
    let (mut above_2, mut above_4) = (Vec::new(), Vec::new());
    for number in 0..REPLICATIONS {
        let (result, tables) = run_with(&scenario, number, true);
        let delays = table(&tables, "delays");
        let (from, to) = (floats(delays, "from_s"), floats(delays, "to_s"));
        let packets = wholes(delays, "packets");
        let total: u64 = packets.iter().sum();
        assert_eq!(total, flow(&result, "x").counted.delivered_packets);
        // Bins are at most 0.8 % wide: of that in which the bound lies, the part beyond it counts.
        let beyond = |bound: f64| {
            let part = |(from, to): (&f64, &f64)| ((to - bound) / (to - from)).clamp(0.0, 1.0);
            let rows = from.iter().zip(to).map(part).zip(packets);
            rows.map(|(part, packets)| part * *packets as f64).sum::<f64>() / total as f64
        };
        above_2.push(beyond(0.002));
        above_4.push(beyond(0.004));
    }
    for (values, theory) in [(above_2, 0.367_879), (above_4, 0.135_335)] {
        let interval = Interval::of(&values);
        interval.accepts(theory);
        interval.rejects(0.5 * theory);
    }
}

/// Packets of constant size wait half as long as random ones: M/D/1 waits rho/(2 mu (1 - rho))
/// (Pollaczek and Khinchine; Kleinrock I, section 5.6): at rho 0.8 2 ms, so 3 ms in the system, and
/// 1.6 packets wait by Little's law.
#[test]
fn md1() {
    for (rate, rho) in [("4 Mbit/s", 0.5), ("6.4 Mbit/s", 0.8)] {
        let runs = replicate(&server("\"droptail\"", &poisson("x", rate, "fixed", 0)));
        let wait = rho / (2.0 * (1.0 - rho));
        utilization(&runs).accepts(rho);
        sojourn(&runs, "x").accepts(1.0 + wait);
        waiting(&runs).accepts(rho * wait);
        // M/M/1.
        sojourn(&runs, "x").rejects(1.0 / (1.0 - rho));
        waiting(&runs).rejects(rho * rho / (1.0 - rho));
    }
}

/// The second moment of the service time counts: M/G/1 waits lambda E[S^2] / (2 (1 - rho))
/// (Pollaczek and Khinchine; Kleinrock I, section 5.6), and both kinds of packet wait alike. 125 B
/// (0.125 ms) at 0.8 Mbit/s are 0.8 per ms, 4000 B (4 ms) at 5.6 Mbit/s are 0.175 per ms: rho =
/// 0.1 + 0.7, lambda E[S^2] = 0.8 * 0.015625 + 0.175 * 16 = 2.8125 ms, so the wait is 2.8125 / 0.4
/// = 7.03125 ms. Exponential sizes of the same mean, 0.8/0.975 ms, would wait 0.8/0.2 * 0.8205 =
/// 3.28 ms.
#[test]
fn mg1_with_two_sizes() {
    let flow_of = |name: &str, rate: &str, size: &str| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"{rate}\", size = \"{size}\" }} }}\n"
        )
    };
    let flows = flow_of("small", "0.8 Mbit/s", "125 B") + &flow_of("large", "5.6 Mbit/s", "4000 B");
    let runs = replicate(&server("\"droptail\"", &flows));
    utilization(&runs).accepts(0.8);
    for (name, service) in [("small", 0.125), ("large", 4.0)] {
        sojourn(&runs, name).accepts(7.031_25 + service);
        sojourn(&runs, name).rejects(0.8 / 0.2 * 0.8 / 0.975 + service);
    }
}

/// A buffer loses the share of M/M/1/K: (1 - rho) rho^K / (1 - rho^(K+1)) (Kleinrock I, section
/// 3.6). A limit of 9 packets excludes the one in service: K = 10. At rho 0.8 the loss is 0.8^10 *
/// 0.2 / (1 - 0.8^11) = 0.0234929; at rho 1.2 it is 0.1925865. The mean number in the system, sum
/// of k p_k, is 2.966314 and 6.710709; by Little's law those admitted stay L / (lambda (1 - loss))
/// = 3.797097 ms and 6.926096 ms.
#[test]
fn mm1k() {
    let theory = |rho: f64, k: i32| {
        let powers: Vec<f64> =
            std::iter::successors(Some(1.0), |p| Some(p * rho)).take(k as usize + 1).collect();
        let total: f64 = powers.iter().sum();
        let number: f64 = powers.iter().enumerate().map(|(n, p)| n as f64 * p / total).sum();
        let loss = powers[k as usize] / total;
        (loss, number, number / (rho * (1.0 - loss)))
    };
    assert!((theory(0.8, 10).0 - 0.023_492_9).abs() < 1e-7);
    assert!((theory(1.2, 10).1 - 6.710_709).abs() < 1e-6);
    for (rate, rho) in [("6.4 Mbit/s", 0.8), ("9.6 Mbit/s", 1.2)] {
        let flows = poisson("x", rate, "exponential", 0);
        let runs = replicate(&server("{ droptail = { limit = \"9 packets\" } }", &flows));
        let (lost, number, stay) = theory(rho, 10);
        loss(&runs).accepts(lost);
        sojourn(&runs, "x").accepts(stay);
        let busy = rho * (1.0 - lost);
        utilization(&runs).accepts(busy);
        waiting(&runs).accepts(number - busy);
        // A limit that includes the packet in service would be K = 9.
        loss(&runs).rejects(theory(rho, 9).0);
        sojourn(&runs, "x").rejects(theory(rho, 9).2);
        // One packet more would be K = 11.
        loss(&runs).rejects(theory(rho, 11).0);
    }
}

const PRIORITY: &str = "{ priority = { classes = [\"droptail\", \"droptail\"] } }";

fn two_classes() -> String {
    poisson("first", "2.4 Mbit/s", "exponential", 0)
        + &poisson("second", "4 Mbit/s", "exponential", 1)
}

/// Priority is that of Cobham's formula and does not preempt: without preemption class k waits
/// W0/((1-s_(k-1))(1-s_k)), where W0 sums lambda_i E[S_i^2]/2 and s_k sums rho_1 to rho_k (Cobham
/// 1954; Kleinrock, Queueing Systems II, section 3.6). With exponential service of mean 1 ms, rho
/// 0.3 and 0.5: W0 = 0.8 ms, W1 = 0.8/0.7 = 1.142857 ms, W2 = 0.8/(0.7 * 0.2) = 5.714286 ms.
/// Preemptive resume would give times in the system of 1/0.7 = 1.428571 ms and 1/0.7 + 0.8/(0.7 *
/// 0.2) = 7.142857 ms, first in first out 5 ms for both.
#[test]
fn non_preemptive_priority() {
    let runs = replicate(&server(PRIORITY, &two_classes()));
    utilization(&runs).accepts(0.8);
    sojourn(&runs, "first").accepts(1.0 + 0.8 / 0.7);
    sojourn(&runs, "second").accepts(1.0 + 0.8 / (0.7 * 0.2));
    // Kleinrock's conservation law: the packets waiting in all are those of M/M/1, 0.64/0.2.
    waiting(&runs).accepts(3.2);
    sojourn(&runs, "first").rejects(1.0 / 0.7);
    sojourn(&runs, "second").rejects(1.0 / 0.7 + 0.8 / (0.7 * 0.2));
    for name in ["first", "second"] {
        sojourn(&runs, name).rejects(5.0);
    }
}

/// First in, first out is told apart from priority: it gives both classes the 5 ms of M/M/1 at rho
/// 0.8, and Cobham's values lie outside.
#[test]
fn first_in_first_out_is_not_priority() {
    let runs = replicate(&server("\"droptail\"", &two_classes()));
    for name in ["first", "second"] {
        sojourn(&runs, name).accepts(5.0);
    }
    sojourn(&runs, "first").rejects(1.0 + 0.8 / 0.7);
    sojourn(&runs, "second").rejects(1.0 + 0.8 / (0.7 * 0.2));
}

/// An urgent packet does not wait for the tokens of another: token buckets ask priority anew what
/// is next (Linux, net/sched/sch_tbf.c: tbf_dequeue, sch_prio.c: prio_peek). While packets of 1500
/// B wait below, tokens rise from 0 to 1500 B at 1.25 B a microsecond and fall to 0. A probe of 106
/// B at a Poisson time finds them uniform and waits for what is missing, 106^2 / 3000 / 1.25 =
/// 2.996 us in the mean; its own tokens, taken 50 times in a second, make that 0.6 % more, below
/// the intervals here. The first 12 us of a period, in which the link transmits, are among those in
/// which it has to wait. Then it takes 0.848 us. Had the packet below been taken out already, the
/// probe would wait for half of the 1200 us that the tokens of that take, and 84.8 us for its own.
#[test]
fn priority_within_a_token_bucket() {
    let shaper = format!("rate = \"10 Mbit/s\", burst = \"1600 B\", queue = {PRIORITY}");
    let sent = |name: &str, class: u32, traffic: &str| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nprecedence = {class}\n\
             traffic = {{ {traffic} }}\n"
        )
    };
    let flows = sent("urgent", 0, "poisson = { rate = \"42.4 kbit/s\", size = \"106 B\" }")
        + &sent("below", 1, "cbr = { rate = \"12 Mbit/s\", size = \"1500 B\" }");
    let bounded = shaper.replacen("\"droptail\"]", "{ droptail = { limit = \"20 packets\" } }]", 1);
    let text = server(&format!("{{ tbf = {{ {bounded} }} }}"), &flows);
    let runs = replicate(&text.replace("rate = \"8 Mbit/s\"", "rate = \"1 Gbit/s\""));
    let sojourn = interval(&runs, |run| flow(run, "urgent").counted.mean_delay_s * 1e6);
    sojourn.accepts(106.0 * 106.0 / 3000.0 / 1.25 + 0.848);
    sojourn.rejects(600.0 + 84.8 + 0.848);
    sojourn.rejects(0.848);
}
