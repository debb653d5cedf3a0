//! A call by str0m on networks of Forebay.

use forebay_host::{HostError, HostId, Network, Report, networks};
use host_str0m::{Call, HIGHEST_BPS, LOWEST_BPS};

/// The call over the network of RFC 8867, section 5.1, with its two hosts.
fn call(seed: u64) -> Result<(Network, [HostId; 2]), HostError> {
    let mut network = Network::from_toml(networks::network("rfc8867").unwrap());
    network.take_over("stack", &Call, seed)?.set("record.series=\"1 s\"").record();
    let hosts = network.pairs_of("stack")[0];
    Ok((network, hosts))
}

/// Mean of `column` of the call between two times in seconds.
fn mean(report: &Report, column: &str, from: f64, to: f64) -> f64 {
    let series = |column| report.series("flows.stack", column).unwrap();
    let both = series("time_s").iter().zip(series(column));
    let within = both.filter(|(time, _)| (from..to).contains(*time));
    let values: Vec<f64> = within.map(|(_, value)| *value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Frames arrive whole, at the rates of a video: ICE, DTLS, SRTP and feedback work across the
/// network. A frame takes at least the propagation delay of 50 ms.
#[test]
fn the_video_arrives() {
    let (network, [sender, receiver]) = call(1).unwrap();
    let report = network.run(None).unwrap();
    let [sender, receiver] = [sender, receiver].map(|host| report.host(host));
    assert_eq!((&sender.failed, &receiver.failed), (&None, &None));
    // 30 frames a second for 100 s, less what the handshake takes: under a second.
    assert!((2970.0..=3000.0).contains(&sender.figures["frames"]), "{sender:?}");
    // The share of frames that are lost is what the estimate overshoots at each of three steps.
    assert!(receiver.figures["frames"] > 0.95 * sender.figures["frames"], "{receiver:?}");
    assert!(receiver.figures["mean_delay_s"] > 0.05, "{receiver:?}");
    let goodput = receiver.goodput_bps();
    assert!((LOWEST_BPS as f64..HIGHEST_BPS as f64).contains(&goodput), "{goodput}");
}

/// The estimate follows the capacity of 1, 2.5, 0.6 and 1 Mbit/s from 0, 40, 60 and 80 s on: above
/// 1 Mbit/s while there are 2.5, and below 0.6 Mbit/s five seconds after that step. A stack whose
/// clock were another would not see its queue grow.
#[test]
fn the_rate_follows_the_capacity() {
    let (network, _) = call(1).unwrap();
    let report = network.run(None).unwrap();
    let estimate = |from, to| mean(&report, "bwe_bps", from, to);
    assert!(estimate(50.0, 60.0) > 1e6);
    let low = estimate(65.0, 80.0);
    assert!((LOWEST_BPS as f64..0.6e6).contains(&low), "{low}");
    assert!(estimate(85.0, 100.0) > low);
}

/// Two runs agree in each datagram, and so do two seeds: no size and no time of the call depends on
/// random numbers or on the clock of the machine, only bytes do.
#[test]
fn a_call_comes_again() {
    let again = |seed| Network::run_twice(None, || Ok(call(seed)?.0)).unwrap();
    assert_eq!(again(1).digest(), again(2).digest());
}
