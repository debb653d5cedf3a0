//! A video call by str0m over the network of RFC 8867, section 5.1, whose capacity changes.
//!
//! Prints rates and delays of packets over time as comma-separated values, and at the end what came
//! of the call.

use std::error::Error;

use forebay_host::{Network, networks};
use host_str0m::Call;

fn main() -> Result<(), Box<dyn Error>> {
    let text = networks::network("rfc8867").ok_or("no network rfc8867")?;
    let mut network = Network::from_toml(text);
    network.take_over("stack", &Call, 1)?.set("record.series=\"1 s\"").record();
    let [_, receiver] = network.pairs_of("stack")[0];
    let report = network.run(None)?;

    let series = |column| report.series("flows.stack", column).ok_or("no such series");
    let [time, estimate] = [series("time_s")?, series("bwe_bps")?];
    let [rate, delay] = [series("throughput_bps")?, series("mean_delay_s")?];
    println!("time_s,bwe_bps,throughput_bps,mean_delay_s");
    for (((time, estimate), rate), delay) in time.iter().zip(estimate).zip(rate).zip(delay) {
        println!("{time},{estimate:.0},{rate:.0},{delay:.4}");
    }
    let receiver = report.host(receiver);
    let figure = |name: &str| receiver.figures.get(name).copied().unwrap_or_default();
    eprintln!("video: {:.2} Mbit/s", receiver.goodput_bps() / 1e6);
    eprintln!("frames: {}, after {:.3} s in the mean", figure("frames"), figure("mean_delay_s"));
    eprintln!("digest: {}", report.digest());
    Ok(())
}
