//! Real-time media against the equilibrium of its law, and under what senders can meet.

use forebay_scenario::{RunResult, Scenario};

use crate::statistics::{interval, replicate};
use crate::support::{flow, run};

/// Frames of one size, and the encoder at the reference rate: what the equations are about.
const PLAIN: &str = "frame_rate = 30.0\nsize_scale = 0.0\nmax_rate = \"15 Mbit/s\"\n\
                     start_rate = \"3 Mbit/s\"\n";

fn media(name: &str, more: &str, law: &str) -> String {
    format!(
        "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\n[flows.{name}.media]\n{more}\
         adaptation = {{ nada = {{ buffer_encoder = 0.0, buffer_sending = 0.0, {law} }} }}\n"
    )
}

fn scenario(rate: &str, link: &str, flows: &str) -> String {
    format!(
        "duration = \"160 s\"\nwarm_up = \"60 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"{rate}\"\ndelay = \"20 ms\"\nqueue = {{ droptail = {{ limit = \"2 MB\" }} }}\n\
         {link}{flows}"
    )
}

fn rate(run: &RunResult, name: &str) -> f64 {
    flow(run, name).counted.throughput_bps
}

/// The rate settles at the queuing delay of the equilibrium: with the signal x = d_queue and the
/// offset x - XREF * RMAX / r_ref = 0 (RFC 8698, equations 5 to 7), at r_ref = C = 10 Mbit/s the
/// queuing delay is 10 ms * 15 / 10 = 15 ms. With propagation and one packet of 1040 B that is 15 +
/// 20 + 0.832 ms = 35.832 ms; ripple of frames that are not all full packets adds up to one packet.
/// A law that keeps 10 ms is rejected.
#[test]
fn a_single_flow_keeps_the_queuing_delay_of_the_equilibrium() {
    let result = run(&scenario("10 Mbit/s", "", &media("m", PLAIN, "")));
    assert!(rate(&result, "m") > 0.999 * 10e6);
    let delay = flow(&result, "m").counted.mean_delay_s;
    assert!((delay - 35.832e-3).abs() < 0.832e-3, "{delay}");
    assert!((delay - 30.832e-3).abs() > 4.0e-3);
}

/// Flows share a link in proportion to their priorities: the signal is one for both, so r_ref is in
/// proportion to PRIO, and queuing delay is 10 ms * 15 / 3.333 = 45 ms.
#[test]
fn flows_share_a_link_in_proportion_to_their_priorities() {
    let flows = media("m", PLAIN, "") + &media("n", PLAIN, "priority = 2.0");
    let result = run(&scenario("10 Mbit/s", "", &flows));
    let (one, two) = (rate(&result, "m"), rate(&result, "n"));
    // Half a millisecond of difference in what they see of the queue is 1 %.
    assert!((two / one - 2.0).abs() < 0.04, "{one} and {two}");
    let delay = flow(&result, "n").counted.mean_delay_s;
    assert!((delay - 65.832e-3).abs() < 0.832e-3, "{delay}");
}

/// Losses weigh by their square: at p = 2 % without queuing delay x = 10 ms * (0.02 / 0.01)^2 = 40
/// ms, so r_ref = 10 ms * RMAX / 40 ms = RMAX / 4. The mean of a square is more than the square of
/// the mean: windows of 0.5 s hold about 230 packets, smoothed over about ten reports (five
/// windows), so the variance of the ratio is at most 0.02 * 0.98 / 230 / 2 = 4.3e-5, a tenth of
/// 0.02^2; and r_ref, which goes by the mean of the signal over the inverse of itself, is off by no
/// more than that. In proportion it would be RMAX / 2.
#[test]
fn random_losses_set_the_rate_by_their_square() {
    let loss = "impairment = { loss = { probability = 0.02 } }\n";
    let runs = replicate(&scenario("1 Gbit/s", loss, &media("m", PLAIN, "")));
    let mean = runs.iter().map(|run| rate(run, "m")).sum::<f64>() / runs.len() as f64;
    assert!((mean / 3.75e6 - 1.0).abs() < 0.1, "{mean}");
    interval(&runs, |run| rate(run, "m")).rejects(7.5e6);
}

/// A receiver stops reporting to a sender that has gone, and a sender sends nothing after its end:
/// from 1 s to 2 s there are 25 frames, and reports come every 100 ms from the first packet on
/// until none has arrived for one interval.
#[test]
fn media_stop_and_with_them_reports() {
    let text = "duration = \"60 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
                delay = \"20 ms\"\n[flows.m]\nfrom = \"a\"\nto = \"b\"\nstart = \"1 s\"\n\
                stop = \"2 s\"\n[flows.m.media]\nframe_rate = 25.0\nsize_scale = 0.0\n\
                max_rate = \"150 kbit/s\"\n";
    let reporting = run(text);
    let counted = &flow(&reporting, "m").counted;
    // 750 B a frame: one packet.
    assert_eq!((counted.sent_packets, counted.delivered_packets), (25, 25));
    assert!((10..=12).contains(&counted.sent_acks), "{}", counted.sent_acks);
    // Without adaptation there are none, and 40 B of 750 are header.
    let constant = run(&format!("{text}adaptation = \"constant\"\n"));
    let counted = &flow(&constant, "m").counted;
    assert_eq!((counted.sent_packets, counted.sent_acks), (25, 0));
    assert!((counted.goodput_bps - 25.0 * 710.0 * 8.0 / 60.0).abs() < 1e-9);
}

/// Media that are ECN-capable are marked and lose no packets; others lose packets and are not
/// marked.
#[test]
fn media_are_marked_or_lose_packets() {
    let codel = "queue = { codel = { target = \"5 ms\", ecn = true } }\n";
    for ecn in [true, false] {
        let text = scenario("10 Mbit/s", "", &media("m", &format!("{PLAIN}ecn = {ecn}\n"), ""));
        let result = run(&text.replace("queue = { droptail = { limit = \"2 MB\" } }\n", codel));
        let counted = &flow(&result, "m").counted;
        assert_eq!((counted.dropped_packets == 0, counted.marked_packets > 0), (ecn, ecn));
    }
}

/// Media that cannot be are refused with their key.
#[test]
fn wrong_media_are_refused_with_their_key() {
    let text = scenario("10 Mbit/s", "", &media("m", PLAIN, "kappa = 0.5"));
    let cases = [
        ("frame_rate = 30.0", "frame_rate = 0.0", "flows.m.media.frame_rate", "0.1 to 1000"),
        ("size_scale = 0.0", "size_scale = 1.5", "flows.m.media.size_scale", "0 to 1"),
        ("max_rate = \"15 M", "max_rate = \"1 k", "flows.m.media.max_rate", "min_rate to"),
        ("start_rate = \"3 M", "start_rate = \"30 M", "flows.m.media.start_rate", "min_rate to"),
        ("size_scale = 0.0", "payload = \"65535 B\"", "flows.m.media.payload", "65535 B"),
        ("kappa = 0.5", "kappa = -1.0", "flows.m.media.adaptation.nada.kappa", "0 to 1000000"),
        ("kappa = 0.5", "tau = \"0 s\"", "flows.m.media.adaptation.nada.tau", "out of range"),
        ("kappa = 0.5", "smoothing = 2.0", "flows.m.media.adaptation.nada.smoothing", "0 to 1"),
        ("nada", "nadda", "flows.m.media.adaptation", "did you mean \"nada\""),
        ("delay = \"20 ms\"", "duplex = false", "flows.m.media.adaptation", "no links lead back"),
        (
            "to = \"b\"\n[flows.m.media]",
            "to = \"b\"\ntraffic = \"bulk\"\n[flows.m.media]",
            "flows.m.traffic",
            "their own frames",
        ),
        (
            "to = \"b\"\n[flows.m.media]",
            "to = \"b\"\nudp = {}\n[flows.m.media]",
            "flows.m.media",
            "either udp or media",
        ),
    ];
    for (right, wrong, path, words) in cases {
        assert!(text.contains(right), "{right}");
        let wrong = text.replace(right, wrong);
        let error = Scenario::parse(&wrong, "test.toml", &[]).err().expect(path);
        assert_eq!(error.problem.path, path, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}
