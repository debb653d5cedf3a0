//! A download by quinn through FQ-CoDel beside Forebay's CUBIC: what both get, and their windows.
//!
//! Prints the windows over time as comma-separated values, and at the end what each got.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use std::error::Error;

use forebay_host::Network;
use forebay_host::quic::quinn::{
    Download, Quic, Serve, client_config, endpoint_config, server_config, transport,
};

const NETWORK: &str = r#"
name = "a download by quinn"
duration = "20 s"

[links.bottleneck]
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "fq_codel"

[flows.cubic]
from = "server"
to = "client"
tcp = { control = "cubic" }

[record]
series = "20 ms"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut network = Network::from_toml(NETWORK);
    let server = Quic::server(endpoint_config(1), server_config(transport("cubic")));
    let server = network.attach("server", server, Serve::default());
    let client = Quic::client(endpoint_config(2), client_config(transport("cubic")));
    let download = Download::from(network.address(server), None);
    let client = network.attach("client", client, download);
    network.record();

    let report = network.run(None)?;
    let quinn = report.series("flows.server-client", "cwnd_bytes").ok_or("no window of quinn")?;
    let cubic = report.series("flows.cubic", "mean_cwnd_bytes").ok_or("no window of CUBIC")?;
    let time = report.series("flows.cubic", "time_s").ok_or("no times")?;
    println!("time_s,quinn_bytes,cubic_bytes");
    for ((time, quinn), cubic) in time.iter().zip(quinn).zip(cubic) {
        println!("{time},{quinn},{cubic}");
    }
    let megabits = |name: &str| report.group(name).map(|group| group.counted.goodput_bps / 1e6);
    eprintln!("quinn: {:.2} Mbit/s", report.host(client).goodput_bps() / 1e6);
    eprintln!("Forebay's CUBIC: {:.2} Mbit/s", megabits("cubic").unwrap_or_default());
    eprintln!("digest: {}", report.digest());
    Ok(())
}
