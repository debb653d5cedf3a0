//! Agents decide what they are told to, when they are told to, and nothing else about a run
//! changes.

#![expect(clippy::unwrap_used, reason = "what the tests share is made of scenarios that are right")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forebay_gym::{Acts, Environment, Every, GymError, Normalization, State, Template};
use forebay_scenario::{Control, RunOptions, Scenario, registry};
use forebay_units::Span;

/// Two ways into a bottleneck of 10 Mbit/s, whose queue is to be put in.
fn scenario(queue: &str) -> Scenario {
    let text = format!(
        r#"
        duration = "3 s"
        warm_up = "1 s"

        [links.access]
        from = "A"
        to = "R"
        rate = "100 Mbit/s"
        delay = "2 ms"

        [links.bn]
        from = "R"
        to = "B"
        rate = "10 Mbit/s"
        delay = "8 ms"
        {queue}

        [flows.bulk]
        from = "A"
        to = "B"
        count = 2
        tcp = {{}}

        [flows.chatter]
        from = "A"
        to = "B"
        udp = {{}}
        precedence = 1
        traffic = {{ poisson = {{ rate = "4 Mbit/s", size = "500 B" }} }}
        "#
    );
    Scenario::parse(&text, "gym.toml", &[]).unwrap()
}

const DROPTAIL: &str = r#"queue = { droptail = { limit = "30 packets" } }"#;

fn acts(on: &str, act: &str) -> Acts {
    Acts { on: on.to_owned(), act: act.to_owned(), bounds: None }
}

fn template(scenario: &Scenario, acts: &[Acts], names: &[&str], step: Every) -> Template {
    made(scenario, acts, names, step).unwrap()
}

fn made(
    scenario: &Scenario,
    acts: &[Acts],
    names: &[&str],
    step: Every,
) -> Result<Template, GymError> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let parts = (&registry(), scenario, "gym.toml");
    Template::new(parts, acts, names, (step, Normalization::None))
}

fn ms(ms: u64) -> Every {
    Every::Span(Span::from_ms(ms))
}

fn environment(template: Template) -> Environment {
    Environment::new(Arc::new(template))
}

/// The digest of an episode under actions that `policy` gives for each number of a step.
fn played(env: &mut Environment, replication: u64, policy: &dyn Fn(usize) -> Vec<f64>) -> u64 {
    env.reset(None, replication).unwrap();
    let mut step = 0;
    while env.state() == State::Running {
        env.step(&policy(step), &AtomicBool::new(false)).unwrap();
        step += 1;
    }
    assert_eq!(env.state(), State::Truncated);
    env.digest()
}

fn plain(scenario: &Scenario, replication: u64) -> u64 {
    let options = RunOptions { replication, ..RunOptions::default() };
    let (result, _) = scenario.run(&options, &Control::default()).unwrap();
    u64::from_str_radix(&result.digest, 16).unwrap()
}

/// All that is worth reading, so that reading is seen to change nothing.
const READ: &[&str] = &[
    "links.bn.throughput_bps",
    "links.bn.queue_packets",
    "links.bn.queue_delay_s",
    "links.bn.mean_queue_packets",
    "links.bn.reverse.utilization",
    "flows.bulk.goodput_bps",
    "flows.bulk.mean_srtt_s",
    "flows.bulk[1].cwnd_bytes",
    "flows.chatter.mean_delay_s",
];

/// A run in steps under a law held constant is the run of that law: stopping and reading changes
/// nothing, and what an agent is taught holds for the simulator as everybody else runs it.
#[test]
fn a_run_in_steps_is_the_run_of_the_law_that_is_held() {
    let laws: [(&str, &str, &str, &[f64]); 5] = [
        (DROPTAIL, "links.bn.queue", "drop_probability", &[0.0]),
        (
            r#"shaper = { leaky = { rate = "6 Mbit/s", limit = "40 kB" } }
               queue = { droptail = { limit = "30 packets" } }"#,
            "links.bn.shaper",
            "rate",
            &[6e6],
        ),
        (
            r#"queue = { stfq = { classes = [{ droptail = { limit = "20 packets" } }, "codel"],
               classify = "precedence", weights = [3, 1] } }"#,
            "links.bn.queue",
            "weights",
            &[3.0, 1.0],
        ),
        (
            r#"queue = { stfq = { classes = [{ droptail = { limit = "20 packets" } }, "codel"],
               classify = "precedence", weights = [0.5, 4] } }"#,
            "links.bn.queue",
            "weights",
            &[0.5, 4.0],
        ),
        // The way back, in which acknowledgements are few: nothing is ever dropped there.
        (DROPTAIL, "links.bn.reverse.queue", "drop_probability", &[0.0]),
    ];
    for (queue, on, act, actions) in laws {
        let scenario = scenario(queue);
        for replication in [0, 3] {
            let expected = plain(&scenario, replication);
            for step in [ms(10), ms(7), ms(3000)] {
                let template = template(&scenario, &[acts(on, act)], READ, step);
                let mut env = environment(template);
                let digest = played(&mut env, replication, &|_| actions.to_vec());
                assert_eq!(digest, expected, "{on} in steps of {step:?}");
            }
        }
    }
}

/// A window and a rate that are held are the same law however often that is said again, so that
/// steps can be as short as an agent likes.
#[test]
fn a_control_that_is_held_does_not_depend_on_steps() {
    let scenario = scenario(DROPTAIL);
    for (act, action) in [("cwnd", 17.0), ("rate", 3e6)] {
        let digest = |step| {
            let acts = [acts("flows.bulk.tcp", act)];
            let names = ["flows.bulk.mean_rtt_s", "flows.bulk.losses"];
            let mut env = environment(template(&scenario, &acts, &names, step));
            played(&mut env, 1, &|_| vec![action])
        };
        let whole = digest(ms(3000));
        assert_eq!([digest(ms(10)), digest(ms(1)), digest(Every::RoundTrip)], [whole; 3], "{act}");
    }
}

/// A decision holds from the beginning of its step to its end, and for no packet before or after,
/// though the engine executes most of a network ahead of its events: where every packet is dropped
/// in every second step, as many are dropped in a step as arrive in it, or none.
#[test]
fn a_decision_holds_for_its_step_alone() {
    let scenario = scenario(DROPTAIL);
    let names = ["links.bn.arrived_packets", "links.bn.early_drops"];
    let acts = [acts("links.bn.queue", "")];
    let mut env = environment(template(&scenario, &acts, &names, ms(10)));
    env.reset(Some(5), 0).unwrap();
    let mut dropped = 0.0;
    for step in 0..250 {
        let drops = step % 2 == 1;
        env.step(&[f64::from(u8::from(drops))], &AtomicBool::new(false)).unwrap();
        let [arrived, early] = *env.values() else { panic!("two series are read") };
        assert_eq!(early, if drops { arrived } else { 0.0 }, "step {step}");
        dropped += early;
    }
    assert!(dropped > 100.0);
}

/// A window of so many segments is what is in the network in each round trip: far below the
/// bandwidth-delay product a flow delivers its window in each (Little's law).
#[test]
fn a_window_is_what_is_delivered_in_a_round_trip() {
    let scenario = scenario(DROPTAIL);
    let names = [
        "flows.bulk[1].delivery_rate_bps",
        "flows.bulk[1].mean_rtt_s",
        "flows.bulk[1].cwnd_packets",
        "flows.bulk[0].cwnd_bytes",
        "flows.bulk[1].min_rtt_s",
        "flows.bulk[1].in_flight_packets",
    ];
    let acts = [acts("flows.bulk[1].tcp", "cwnd")];
    let mut env = environment(template(&scenario, &acts, &names, ms(500)));
    env.reset(None, 0).unwrap();
    for _ in 0..4 {
        env.step(&[4.0], &AtomicBool::new(false)).unwrap();
    }
    let [rate, rtt, window, other, least, flight] = *env.values() else { panic!("six series") };
    assert_eq!(window, 4.0);
    let product = rate * rtt / (8.0 * 1448.0);
    // Acknowledgements are delayed by one segment: so much is not in the network at times.
    assert!((3.0..=4.0).contains(&product), "{product}");
    // Two links there and back, of 2 ms and 8 ms, are 20 ms.
    assert!(least > 0.02 && least <= rtt && flight <= 4.0, "{least} {rtt} {flight}");
    // The other flow of the group has its own control.
    assert!(other > 4.0 * 1448.0, "{other}");
}

/// A rate of data is what leaves, in bits per second, where nothing stands in the way.
#[test]
fn a_rate_is_what_leaves() {
    let scenario = scenario(DROPTAIL);
    let names = ["flows.bulk.goodput_bps", "flows.bulk.losses", "flows.bulk.loss_share"];
    let acts = [acts("flows.bulk.tcp", "rate")];
    let mut env = environment(template(&scenario, &acts, &names, ms(500)));
    env.reset(None, 0).unwrap();
    for _ in 0..3 {
        env.step(&[1e6], &AtomicBool::new(false)).unwrap();
    }
    // Two flows of 1 Mbit/s each; a segment more or less in half a second is 23 kbit/s.
    let goodput = env.values()[0];
    assert!((goodput - 2e6).abs() < 50e3, "{goodput}");
    assert_eq!(env.values()[1..], [0.0, 0.0]);
    // Far more than the link has: the queue overflows, and the sender sees it.
    env.step(&[20e6], &AtomicBool::new(false)).unwrap();
    assert!(env.values()[1] > 10.0 && env.values()[2] > 0.05, "{:?}", env.values());
}

/// Steps of a round trip are as long as the path when nothing is known, and follow the smoothed
/// round-trip time after that, so that an agent acts once for each answer of the network.
#[test]
fn steps_of_a_round_trip_follow_it() {
    let scenario = scenario(DROPTAIL);
    let acts = [acts("flows.bulk.tcp", "cwnd")];
    let mut env = environment(template(&scenario, &acts, &["flows.bulk.srtt_s"], Every::RoundTrip));
    env.reset(None, 0).unwrap();
    env.step(&[40.0], &AtomicBool::new(false)).unwrap();
    // 20 ms of propagation, and a packet of 1500 B over 100 and 10 Mbit/s: 1.32 ms.
    assert_eq!(env.now().ps(), 21_320_000_000);
    for _ in 0..30 {
        let (srtt, before) = (env.values()[0], env.now());
        env.step(&[40.0], &AtomicBool::new(false)).unwrap();
        let passed = env.now().since(before).seconds();
        assert!(srtt == 0.0 || (passed - srtt).abs() < 1e-9, "{passed} {srtt}");
    }
    assert!(env.values()[0] > 0.03, "two windows of 40 segments fill the queue");
}

/// Calls: with probability 0 none is admitted, with 1 all, as without admission, and with 0.3 about
/// that share: of n calls within five standard deviations, which a right model misses once in a
/// million.
#[test]
fn calls_are_admitted_with_the_probability() {
    let text = |admission: &str| {
        format!(
            r#"
            duration = "20 s"
            [links.core]
            from = "A"
            to = "B"
            rate = "100 Mbit/s"
            delay = "1 ms"
            [aggregates.lines]
            {admission}
            [flows.phones]
            from = "A"
            to = "B"
            aggregate = "lines"
            calls = {{ rate = "50 /s", holding = "1 s" }}
            traffic = {{ voice = {{ codec = "g711_20ms" }} }}
            "#
        )
    };
    let scenario = |admission| Scenario::parse(&text(admission), "calls.toml", &[]).unwrap();
    let controlled = scenario(r#"admission = { capacity = { calls = 5 } }"#);
    let names = ["aggregates.lines.offered_calls", "aggregates.lines.admitted_calls"];
    let acts = [acts("aggregates.lines.admission", "admission_probability")];
    let mut env = environment(template(&controlled, &acts, &names, ms(20_000)));
    let mut counted = |probability: f64| {
        let digest = played(&mut env, 0, &|_| vec![probability]);
        (env.values()[0], env.values()[1], digest)
    };
    assert_eq!(counted(0.0).1, 0.0);
    let (offered, admitted, digest) = counted(1.0);
    assert_eq!((offered, digest), (admitted, plain(&scenario(""), 0)));
    let (offered, admitted, _) = counted(0.3);
    let deviation = (offered * 0.3 * 0.7).sqrt();
    assert!((admitted - 0.3 * offered).abs() < 5.0 * deviation, "{admitted} of {offered}");
}

/// Equal seeds, replications and actions are the same episode, in any environment and after any
/// other; another replication is another one.
#[test]
fn an_episode_can_be_repeated_elsewhere() {
    let scenario = scenario(DROPTAIL);
    let acts = [acts("links.bn.queue", ""), acts("flows.bulk.tcp", "cwnd")];
    let policy = |step: usize| vec![(step % 7) as f64 / 50.0, 5.0 + (step % 30) as f64];
    let mut one = environment(template(&scenario, &acts, &[], ms(10)));
    let mut other = environment(template(&scenario, &acts, READ, ms(10)));
    let first = played(&mut one, 0, &policy);
    assert_ne!(played(&mut one, 1, &policy), first);
    assert_eq!(played(&mut other, 0, &policy), first);
    assert_eq!(played(&mut one, 0, &policy), first);
    assert_eq!(one.drawn(), (1, 0));
    one.reset(Some(9), 4).unwrap();
    assert_eq!((one.drawn(), one.values().len()), ((9, 4), 0));
}

/// An episode whose flows have sent everything ends there: an agent is not paid for waiting.
#[test]
fn an_episode_ends_with_the_flows_of_its_agent() {
    let text = r#"
        duration = "60 s"
        [links.bn]
        from = "A"
        to = "B"
        rate = "10 Mbit/s"
        delay = "5 ms"
        [flows.once]
        from = "A"
        to = "B"
        tcp = {}
        traffic = { file = { size = "1 MB" } }
    "#;
    let scenario = Scenario::parse(text, "once.toml", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let acts = [acts("flows.once.tcp", "cwnd")];
    let mut env = environment(template(&scenario, &acts, &[], ms(100)));
    env.reset(None, 0).unwrap();
    while env.state() == State::Running {
        env.step(&[20.0], &AtomicBool::new(false)).unwrap();
    }
    assert_eq!(env.state(), State::Terminated);
    // 8 Mbit at no more than 10 Mbit/s.
    assert!((0.8..2.0).contains(&env.now().seconds()), "{:?}", env.now());
    let again = env.step(&[20.0], &AtomicBool::new(false)).unwrap_err();
    assert!(again.to_string().contains("reset"), "{again}");
}

/// A slip is told with what was read, what is allowed and the nearest name: an experiment of a day
/// does not run on a default unseen.
#[test]
fn slips_are_told_with_what_is_allowed() {
    let scenario = scenario(DROPTAIL);
    let fails = |on: &str, act: &str, names: &[&str], step| {
        made(&scenario, &[acts(on, act)], names, step).err().map(|error| error.to_string())
    };
    type Case<'c> = (&'c str, &'c str, &'c [&'c str], Every, &'c [&'c str]);
    let cases: [Case<'_>; 12] = [
        ("links.bm.queue", "", &[], ms(1), &["did you mean \"links.bn.queue\"", "flows.bulk.tcp"]),
        ("links.bn", "", &[], ms(1), &["links.bn.shaper", "links.bn.queue"]),
        ("flows.chatter.tcp", "", &[], ms(1), &["has udp"]),
        ("flows.bulk[2].tcp", "", &[], ms(1), &["there is no \"flows.bulk[2].tcp\""]),
        ("flows.bulk.tcp", "cwdn", &[], ms(1), &["did you mean \"cwnd\"", "cwnd, rate"]),
        ("links.bn.queue", "weights", &[], ms(1), &["droptail, which has no classes", "drr"]),
        ("links.bn.queue", "", &["links.bn.drop"], ms(1), &["did you mean \"drops\""]),
        ("links.bn.queue", "", &["links.bx.drops"], ms(1), &["links.bn", "flows.bulk"]),
        ("links.bn.queue", "", &["flows.bulk.losses"], ms(1), &["on which an agent acts", "none"]),
        ("flows.bulk.tcp", "", &["flows.chatter.losses"], ms(1), &["flows.bulk.losses"]),
        ("links.bn.queue", "", &[], Every::RoundTrip, &["no agent acts on flows"]),
        ("links.bn.queue", "", &[], ms(0), &["a step of no time"]),
    ];
    for (on, act, names, step, parts) in cases {
        let told = fails(on, act, names, step).unwrap_or_else(|| panic!("{on} {act} {names:?}"));
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    }
    let bounded = |low, high| {
        let acts = Acts { bounds: Some((low, high)), ..acts("flows.bulk.tcp", "cwnd") };
        made(&scenario, &[acts], &[], ms(1)).err().map(|error| error.to_string())
    };
    assert_eq!(bounded(1.0, 50.0), None);
    for (low, high) in [(0.0, 5.0), (5.0, 5.0), (1.0, f64::INFINITY), (f64::NAN, 3.0)] {
        assert!(bounded(low, high).is_some_and(|told| told.contains("allowed are")));
    }
    let twice = [acts("flows.bulk.tcp", "cwnd"), acts("flows.bulk.tcp", "cwnd")];
    assert!(made(&scenario, &twice, &[], ms(1)).is_err());
    let both = [acts("flows.bulk[0].tcp", "cwnd"), acts("flows.bulk[1].tcp", "cwnd")];
    let told = made(&scenario, &both, &[], ms(1)).err().unwrap().to_string();
    assert!(told.contains("one agent in a group"), "{told}");
}

/// Actions that are no numbers are refused, and what lies beyond a bound is that bound, as rounding
/// in a policy must not end an episode.
#[test]
fn actions_are_numbers_between_their_bounds() {
    let scenario = scenario(DROPTAIL);
    let acts = [Acts { bounds: Some((2.0, 8.0)), ..acts("flows.bulk.tcp", "cwnd") }];
    let mut env = environment(template(&scenario, &acts, &["flows.bulk.cwnd_packets"], ms(100)));
    let cancel = AtomicBool::new(false);
    assert!(env.step(&[3.0], &cancel).unwrap_err().to_string().contains("reset first"));
    env.reset(None, 0).unwrap();
    for (given, window) in [(5.0, 5.0), (-3.0, 2.0), (f64::INFINITY, 8.0)] {
        env.step(&[given], &cancel).unwrap();
        assert_eq!(env.values(), [window]);
    }
    let told = env.step(&[f64::NAN], &cancel).unwrap_err().to_string();
    assert!(told.contains("flows.bulk.tcp.cwnd") && told.contains("2 to 8"), "{told}");
    // The episode is still under way.
    env.step(&[5.0], &cancel).unwrap();
    cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(env.state(), State::Running);
}
