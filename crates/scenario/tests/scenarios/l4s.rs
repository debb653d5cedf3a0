//! Prague, alone and beside CUBIC, through DualPI2: what the L4S architecture is for (RFC 9330).

use forebay_scenario::RunResult;

use crate::support::{flow, link, run};

/// Flows of 1500 B on a link of `mbps` with DualPI2, all from the start.
fn scenario(mbps: f64, delay_ms: f64, seconds: f64) -> String {
    format!(
        "duration = \"{seconds} s\"\nwarm_up = \"15 s\"\n\
         [links.core]\nfrom = \"a\"\nto = \"b\"\nrate = \"{mbps} Mbit/s\"\n\
         delay = \"{delay_ms} ms\"\nqueue = \"dualpi2\"\n"
    )
}

fn flows(name: &str, from: &str, count: u32, control: &str) -> String {
    format!(
        "[flows.{name}]\nfrom = \"{from}\"\nto = \"b\"\ncount = {count}\n\
         [flows.{name}.tcp]\nprofile = \"rfc\"\n\
         mss = \"1460 B\"\ncontrol = {control}\necn = {}\n",
        control.contains("prague")
    )
}

/// Prague as a flow of 25 ms from the start.
const INDEPENDENT: &str = "{ prague = { rtt_transition = 0 } }";

fn goodput(result: &RunResult, group: &str) -> f64 {
    let group = result.groups.iter().find(|it| it.name == group).unwrap();
    group.counted.goodput_bps
}

/// Prague and CUBIC share a link as the coupling has it, at the round-trip time for which its
/// factor of 2 is made (RFC 9332, section 2.1), and low latency costs no throughput. Drops of the
/// classic queue come with the square of half the probability of marks in the other. With p of
/// marks, Prague's window is x / p, x = q + sqrt(q^2 + 2 q), q = 1 - p (as its tests derive), and
/// CUBIC's, where it is Reno-friendly, sqrt(1.5 / (p / 2)^2) = 2.45 / p (RFC 9438, section 4.3).
/// The round trip of CUBIC is longer by the target, 15 ms.
///
/// Some 330 drops have a relative standard error of 5.5 %; three of them and the variance of p,
/// which a mean of squares has and the square of a mean has not, are within 20 %.
#[test]
fn prague_and_cubic_share_a_link_as_the_coupling_has_it() {
    let text = scenario(40.0, 12.5, 40.0)
        + &flows("prague", "a", 5, INDEPENDENT)
        + &flows("cubic", "a", 5, "\"cubic\"");
    let result = run(&text);
    let count = |name: &str| {
        let group = result.groups.iter().find(|it| it.name == name).unwrap();
        group.counted.clone()
    };
    let (prague, cubic) = (count("prague"), count("cubic"));
    let p = prague.marked_packets as f64 / prague.delivered_packets as f64;
    let drops = cubic.dropped_packets as f64 / cubic.sent_packets as f64;
    assert_eq!((prague.dropped_packets, cubic.marked_packets), (0, 0));
    assert!((drops / (p * p / 4.0) - 1.0).abs() < 0.2, "{drops}, {p}");
    let q = 1.0 - p;
    let x = q + (q * q + 2.0 * q).sqrt();
    let queueing = |delay: f64| delay - 12.5e-3 - 0.3e-3;
    let (low, low_99) = (queueing(prague.mean_delay_s), queueing(prague.p99_delay_s));
    let classic = queueing(cubic.mean_delay_s);
    let expected = x / 6.0_f64.sqrt() * (25.3e-3 + classic) / (25.3e-3 + low);
    let ratio = goodput(&result, "prague") / goodput(&result, "cubic");
    assert!((ratio / expected - 1.0).abs() < 0.2, "{ratio}, {expected}");
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
    assert!(low_99 < 3e-3 && (classic - 15e-3).abs() < 2e-3, "{low_99}, {classic}");
    assert!(link(&result, "core").utilization > 0.999);
}

/// Prague alone fills a link whose queue it keeps below a millisecond. Where one round trip in A is
/// marked, and the window grows by A segments from one to the next, the share of marks is 1/A and
/// takes W / 2A = A: A = sqrt(W / 2) (Alizadeh et al. 2010, section 3.3). A path without any queue
/// would be filled but for the mean of that, A / 2 of W segments. Reno would leave it a quarter
/// idle.
#[test]
fn prague_alone_fills_the_link_from_a_millisecond_of_queue() {
    for mbps in [10.0, 40.0, 100.0] {
        let text = scenario(mbps, 12.5, 35.0) + &flows("only", "a", 1, "\"prague\"");
        let result = run(&text);
        let (core, transmission) = (link(&result, "core"), 12e-3 / mbps);
        let window = 25e-3 / transmission;
        let least = 1.0 - (window / 2.0).sqrt() / 2.0 / window;
        assert!(core.utilization > least, "{mbps}: {}, {least}", core.utilization);
        // A packet waits for the one in transmission beyond the step.
        let waits = flow(&result, "only").counted.p99_delay_s - 12.5e-3 - transmission;
        assert!(waits < 1e-3 + 2.0 * transmission, "{mbps}: {waits}");
        assert_eq!(flow(&result, "only").counted.retransmissions, 0);
    }
}

/// Flows through one queue that marks all alike are equal, whatever their path: with round trips of
/// 10 and 20 ms, each behaves as one of 25 ms. Without that, windows are equal under equal marks,
/// and rates differ by the ratio of the round trips: (20 + q) to (10 + q) ms with a queue of q
/// below 1 ms. Marks come by chance, from the classic flows beside.
#[test]
fn the_reference_makes_round_trips_equal() {
    let ratio = |transition: u32| {
        let control = format!("{{ prague = {{ rtt_transition = {transition} }} }}");
        let mut text = scenario(100.0, 2.0, 40.0) + &flows("classic", "a", 5, "\"cubic\"");
        for (name, delay_ms) in [("short", 3.0), ("long", 8.0)] {
            text += &format!(
                "[links.{name}]\nfrom = \"{name}\"\nto = \"a\"\nrate = \"1 Gbit/s\"\n\
                 delay = \"{delay_ms} ms\"\n{}",
                flows(&format!("{name}s"), name, 5, &control)
            );
        }
        let result = run(&text);
        goodput(&result, "shorts") / goodput(&result, "longs")
    };
    let (independent, dependent) = (ratio(0), ratio(u32::MAX));
    assert!((independent - 1.0).abs() < 0.1, "{independent}");
    assert!((dependent - 1.95).abs() < 0.2, "{dependent}");
}
