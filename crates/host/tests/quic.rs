//! QUIC stacks on networks.

#![cfg(all(feature = "quinn", feature = "noq"))]

use forebay_host::quic::{noq, quinn};
use forebay_host::{HostError, Network, Report, Stack};

const BOTTLENECK: &str = r#"
name = "bottleneck"
duration = "10 s"

[links.bottleneck]
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "20 ms"
queue = { codel = {} }

[flows.stack]
from = "server"
to = "client"
tcp = {}
"#;

fn with(stack: &dyn Stack, text: &str) -> Result<Network, HostError> {
    let mut network = Network::from_toml(text);
    network.take_over("stack", stack, 7)?;
    Ok(network)
}

#[test]
fn first() {
    let stack = quinn::Configured::new("quinn cubic", "cubic").unwrap();
    let report = with(&stack, BOTTLENECK).unwrap().run(None).unwrap();
    println!("{:#?} {:#?}", report.hosts, report.result.groups);
    println!("{:?}", report.digest());
}
