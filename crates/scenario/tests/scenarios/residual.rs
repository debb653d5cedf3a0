//! Packets of lower priority that fill an idle link: service time b) of
//! draft-babiarz-pcn-explicit-marking-02, section 2.2.

use crate::statistics::{interval, replicate};
use crate::support::{flow, link, ps, record, run, trace};

const QUEUES: [&str; 2] =
    ["\"droptail\"", "{ priority = { classes = [\"droptail\", \"droptail\"] } }"];

/// Packets of 125 B (1 ms) every 20 ms over a link of 1 Mbit/s that also carries packets of lower
/// priority of `residual`.
fn network(residual: &str, queue: &str, rate: &str) -> String {
    format!(
        "duration = \"400 s\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"3 ms\"\n\
         {residual}\nqueue = {queue}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = \"{rate}\", size = \"125 B\" }} }}\n\
         [record]\ntrace = 100000\n"
    )
}

/// A packet that finds the link idle waits for the rest of one of 1500 B (12 ms): a uniform time,
/// of mean 6 ms and below 12 ms, before its own 1 ms and the 3 ms of the way. Of 20,000 packets the
/// mean's standard error is 12 / sqrt(12 * 20000) = 0.0245 ms and the largest lies within 0.01 ms
/// of 12 ms but for a chance of e^-16. The mean wait of a whole packet's time and the mean residual
/// of a random one's, 12/3 ms, are rejected.
#[test]
fn whoever_finds_the_link_idle_waits_for_the_rest_of_a_packet() {
    for queue in QUEUES {
        let (result, tables) = record(&network("residual = \"1500 B\"", queue, "50 kbit/s"));
        let counted = &flow(&result, "x").counted;
        assert!(counted.delivered_packets >= 19_999, "{queue}");
        let mean = counted.mean_delay_s * 1e3 - 4.0;
        assert!((mean - 6.0).abs() < 4.0 * 0.0245, "{queue}: {mean}");
        let most = counted.max_delay_s * 1e3 - 4.0;
        assert!((11.99..12.0).contains(&most), "{queue}: {most}");
        // Spread evenly: a quarter of the waits lies in each quarter of the 12 ms (4 standard
        // errors of 0.0031).
        let rows = trace(&tables);
        let times = |event: &'static str| {
            rows.iter().filter(move |row| row.event == event).map(|row| row.time)
        };
        let mut quarters = [0_u32; 4];
        for (sent, delivered) in times("sent").zip(times("delivered")) {
            quarters[((delivered - sent - ps(0.004)) / ps(0.003)) as usize] += 1;
        }
        for quarter in quarters {
            let share = f64::from(quarter) / counted.delivered_packets as f64;
            assert!((share - 0.25).abs() < 4.0 * 0.0031, "{queue}: {quarters:?}");
        }
        // A packet that waits for another's rest has waited; the rest is not the link's own work.
        let core = link(&result, "l");
        assert!((core.mean_queue_packets - 0.05 * mean).abs() < 1e-4, "{queue}");
        assert!((core.utilization - 0.05).abs() < 1e-4, "{queue}");
    }
}

/// Links without such traffic do not wait for it: every packet takes 1 + 3 ms.
#[test]
fn without_it_nobody_waits() {
    for queue in QUEUES {
        let counted = run(&network("", queue, "50 kbit/s")).flows.remove(0).counted;
        assert_eq!((ps(counted.mean_delay_s), ps(counted.max_delay_s)), (ps(0.004), ps(0.004)));
    }
}

/// A busy link lets no packets of lower priority in between: at the link's own rate the first
/// packet waits for less than 12 ms, and all others exactly as long as the first, since each finds
/// the link busy with its predecessor.
#[test]
fn on_a_busy_link_only_the_first_waits() {
    for queue in QUEUES {
        let text = network("residual = \"1500 B\"", queue, "1 Mbit/s").replace("400 s", "20 s");
        let rows = trace(&record(&text).1);
        let times = |event: &str| -> Vec<u64> {
            rows.iter().filter(|row| row.event == event).map(|row| row.time).collect()
        };
        let sent = times("sent");
        let delays: Vec<u64> =
            times("delivered").iter().zip(&sent).map(|(at, sent)| at - sent).collect();
        assert!(delays[0] > ps(0.004) && delays[0] < ps(0.016));
        assert!(delays.iter().all(|delay| *delay == delays[0]), "{queue}");
    }
}

/// Only packets that find no packet of their own class wait for the rest: M/D/1 in which the first
/// packet of a busy period needs a set-up time D waits rho s / (2 (1 - rho)) + (2 E[D] + lambda
/// E[D^2]) / (2 (1 + lambda E[D])) (Welch 1964, On a generalized M/G/1 queuing process in which the
/// first customer of each busy period receives exceptional service). At rho 0.5, s = 1 ms, D
/// uniform up to 12 ms, E[D^2] = 48: 0.5 + (12 + 24) / 8 = 5 ms.
///
/// Rejected are M/D/1's 0.5 ms, 0.5 + 12 ms, and the 0.5 + 6 ms of packets of lower priority sent
/// one after the other, which the draft's service time b) approximates: there, the first of several
/// packets to come within one of 12 ms waits for more than its half.
#[test]
fn under_load_only_the_first_of_a_busy_period_waits_for_the_rest() {
    let text = network("residual = \"1500 B\"", QUEUES[0], "500 kbit/s")
        .replace("cbr", "poisson")
        .replace("400 s", "100 s");
    let runs = replicate(&text);
    let sojourn = interval(&runs, |run| flow(run, "x").counted.mean_delay_s);
    sojourn.accepts(0.005 + 0.004);
    for wrong in [0.0005, 0.0125, 0.0065] {
        sojourn.rejects(wrong + 0.004);
    }
}
