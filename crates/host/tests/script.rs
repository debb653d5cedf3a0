//! Scripts on QUIC stacks: what RFC 9002 and RFC 9438 ask of a sender when datagrams are lost,
//! marked or overtaken.

#![cfg(all(feature = "quinn", feature = "noq"))]

use forebay_host::quic::{noq, quinn};
use forebay_host::script::{Logged, Script};
use forebay_host::{Ecn, HostError, Network, Report, Span, Stack, Time};

/// A path without a queue: 1 Gbit/s is more than a window of 300 kB in 40 ms, so that nothing but
/// the script changes what happens. A datagram takes 12 us there.
const PATH: &str = r#"
name = "path"
duration = "3 s"

[links.path]
from = "server"
to = "client"
rate = "1 Gbit/s"
delay = "20 ms"

[flows.download]
from = "server"
to = "client"
tcp = {}
traffic.file.size = "300 kB"
"#;

/// A datagram of the third round trip of slow start, at a window above 24 kB and below 96 kB.
const NUMBER: u64 = 40;

fn stacks() -> [Box<dyn Stack>; 2] {
    [
        Box::new(quinn::Configured::new("quinn cubic", "cubic").unwrap()),
        Box::new(noq::Configured::new("noq cubic", "cubic").unwrap()),
    ]
}

/// A download, and what its server sent and received.
struct Download {
    report: Report,
    sent: Vec<Logged>,
    received: Vec<Logged>,
}

impl Download {
    /// One in which what the server sends fares as `script` says, run twice and watched.
    fn of(stack: &dyn Stack, script: Script) -> Self {
        let mut server = None;
        let report = Network::run_twice(None, || {
            let mut network = Network::from_toml(PATH);
            network.take_over("download", stack, 7)?;
            let [from, to] = network.pairs_of("download")[0];
            network.script(from, to, script.clone());
            server = Some(from);
            Ok(network)
        });
        let (report, server) = (report.unwrap(), server.unwrap());
        assert!(report.hosts.iter().all(|host| host.failed.is_none()), "{:?}", report.hosts);
        let (sent, received) = (report.sent(server).to_vec(), report.received(server).to_vec());
        Self { report, sent, received }
    }

    /// The windows before and after each reduction, in bytes.
    fn reductions(&self) -> Vec<[f64; 2]> {
        let windows = self.received.iter().filter_map(|it| it.probes.get("cwnd_bytes").copied());
        let windows: Vec<f64> = windows.collect();
        let pairs = windows.windows(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|[before, after]| after < before).collect()
    }

    /// Bytes that the server sent in all.
    fn bytes(&self) -> u64 {
        self.sent.iter().map(|datagram| datagram.size).sum()
    }

    fn lost_packets(&self) -> f64 {
        self.report.hosts[0].figures["lost_packets"]
    }
}

#[test]
fn probe() {
    for stack in stacks() {
        let plain = Download::of(&*stack, Script::new());
        for d in &plain.sent {
            println!("{} {} {} {:?} {:?}", d.number, d.time.seconds(), d.size, d.ecn, d.probes);
        }
        let lost = Download::of(&*stack, Script::new().lose(NUMBER));
        println!(
            "{} {:?} {} {} {}",
            stack.name(),
            lost.reductions(),
            lost.bytes() - plain.bytes(),
            lost.lost_packets(),
            lost.sent.len() - plain.sent.len()
        );
        let mark = Download::of(&*stack, Script::new().mark(NUMBER));
        println!(
            "{} {:?} {} {} {}",
            stack.name(),
            mark.reductions(),
            mark.bytes() as i64 - plain.bytes() as i64,
            mark.lost_packets(),
            mark.sent.len() - plain.sent.len()
        );
        let three =
            Download::of(&*stack, Script::new().lose(NUMBER).lose(NUMBER + 2).lose(NUMBER + 4));
        println!(
            "{} {:?} {} {} {}",
            stack.name(),
            three.reductions(),
            three.bytes() as i64 - plain.bytes() as i64,
            three.lost_packets(),
            three.sent.len() - plain.sent.len()
        );
    }
}
