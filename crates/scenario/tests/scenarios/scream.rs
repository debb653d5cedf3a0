//! SCReAM against what RFC 8298 says of it: alone, beside TCP, and over a path that fails.

use forebay_scenario::{RunResult, Scenario};

use crate::support::{flow, run};

/// A video of at most 1.5 Mbit/s over 100 ms of round trip, with a queue of 300 ms or more.
fn scenario(rate: &str, limit: &str, law: &str, more: &str) -> String {
    format!(
        "duration = \"120 s\"\nwarm_up = \"40 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"{rate}\"\ndelay = \"50 ms\"\nqueue = {{ droptail = {{ limit = \"{limit}\" }} }}\n\
         {more}[flows.m]\nfrom = \"a\"\nto = \"b\"\n\
         media = {{ adaptation = {{ scream = {{ {law} }} }} }}\n"
    )
}

fn rate(run: &RunResult, name: &str) -> f64 {
    flow(run, name).counted.throughput_bps
}

/// Alone on a link that is slower than its encoder can be, it uses the link and keeps the queuing
/// delay near its least target of 100 ms: above that nothing leaves beyond the window, which
/// shrinks; below it, one segment of 8 ms and the spread of frames are more. With the compensation
/// for competing flows the target is the mean and a standard deviation of the delay that it makes
/// itself, more than that delay, so that both grow: the false positive of RFC 8298, section
/// 4.1.2.3, bounded by 400 ms.
#[test]
fn alone_it_keeps_its_target_unless_it_takes_itself_for_another() {
    let queuing = |law: &str| {
        let result = run(&scenario("1 Mbit/s", "125 kB", law, ""));
        assert!(rate(&result, "m") > 0.95e6, "{}", rate(&result, "m"));
        assert_eq!(flow(&result, "m").counted.dropped_packets, 0);
        flow(&result, "m").counted.mean_delay_s - 0.05
    };
    let (fixed, adapted) = (queuing("competing = false"), queuing(""));
    assert!((0.06..0.12).contains(&fixed), "{fixed}");
    assert!((0.12..0.42).contains(&adapted), "{adapted}");
    let half = queuing("competing = false, delay_target = \"50 ms\"");
    assert!((0.03..0.07).contains(&half), "{half}");
}

/// Beside an endless TCP in a queue of 300 ms its target grows, and it gets at least half of its
/// share of 1 Mbit/s; without the compensation it gets close to nothing, as RFC 8298, section
/// 4.1.2.3 says: TCP keeps the queuing delay above its target, so that the window is the least one,
/// 3000 B in a round trip of 200 ms or more.
#[test]
fn beside_tcp_it_does_not_starve() {
    let tcp = "[flows.tcp]\nfrom = \"a\"\nto = \"b\"\nstart = \"10 s\"\n\
               tcp = { control = \"reno\" }\n";
    let shared = run(&scenario("2 Mbit/s", "75 kB", "", tcp));
    let (media, other) = (rate(&shared, "m"), rate(&shared, "tcp"));
    assert!(media > 0.5e6 && other > 0.5e6, "{media} and {other}");
    let fixed = run(&scenario("2 Mbit/s", "75 kB", "competing = false", tcp));
    assert!(rate(&fixed, "m") < 0.12e6, "{}", rate(&fixed, "m"));
    // Nothing is lost on a fast link, and what the law keeps back is not: the rate is the greatest.
    let alone = run(&scenario("10 Mbit/s", "375 kB", "", ""));
    assert!(rate(&alone, "m") > 1.45e6 && rate(&alone, "m") < 1.55e6);
}

/// While a path is gone, only the window leaves, and then the least one of 3000 B each second,
/// which with a segment more is at most four full packets; when it is back, the rate is after 20 s
/// what it was. At 1.5 Mbit/s fast increase stops where 1.5 times what is in flight, of at most 130
/// ms or 24 kB, and what is acknowledged, are the window: 60 kB are far more. Of packets of 40 B
/// more than the share of a frame that is 625 B at least, that is fewer than 200; without a window
/// five seconds would be 900.
#[test]
fn it_survives_a_path_that_is_gone_for_some_seconds() {
    let failure = "failure = { down = [\"20 s\"], up = [\"25 s\"] }\n";
    let text = scenario("2 Mbit/s", "75 kB", "", failure);
    let lost = flow(&run(&text.replace("\"40 s\"", "\"0 s\"")), "m").counted.dropped_packets;
    assert!((30..200).contains(&lost), "{lost}");
    let result = run(&text.replace("\"40 s\"", "\"45 s\""));
    assert!((1.45e6..1.55e6).contains(&rate(&result, "m")), "{}", rate(&result, "m"));
    let counted = &flow(&result, "m").counted;
    assert!(counted.mean_delay_s < 0.08 && counted.dropped_packets == 0);
}

/// Media that are ECN-capable are marked and lose no packets, as marks lessen window and rate.
#[test]
fn marks_take_the_place_of_losses() {
    let codel = "queue = { codel = { ecn = true } }\n";
    let text = scenario("1 Mbit/s", "75 kB", "", "");
    let text = text.replace("queue = { droptail = { limit = \"75 kB\" } }\n", codel);
    let result = run(&text.replace("media = { ", "media = { ecn = true, "));
    let counted = &flow(&result, "m").counted;
    assert!(counted.marked_packets > 0 && counted.dropped_packets == 0);
    assert!(counted.mean_delay_s < 0.1, "{}", counted.mean_delay_s);
    assert!(rate(&result, "m") > 0.7e6, "{}", rate(&result, "m"));
}

/// Parameters that cannot be are refused with their key.
#[test]
fn wrong_parameters_are_refused_with_their_key() {
    let cases = [
        ("gain = -1.0", "gain", "0 to 1000000"),
        ("loss_window = 1.5", "loss_window", "0 to 1"),
        ("delay_target_max = \"50 ms\"", "delay_target_max", "delay_target and more"),
        ("report_interval = \"0 s\"", "report_interval", "1 ms to 60 s"),
        ("mss = \"0 B\"", "mss", "1 B to 1 GB"),
        ("min_pace = \"0 bit/s\"", "min_pace", "1 bit/s and more"),
        ("base_history = 0", "base_history", "1 to 60"),
    ];
    for (law, key, words) in cases {
        let text = scenario("1 Mbit/s", "75 kB", law, "");
        let error = Scenario::parse(&text, "test.toml", &[]).err().expect(key);
        assert_eq!(error.problem.path, format!("flows.m.media.adaptation.scream.{key}"), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}
