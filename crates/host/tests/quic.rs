//! QUIC stacks on networks.

#![cfg(all(feature = "quinn", feature = "noq"))]

use forebay_host::quic::{noq, quinn};
use forebay_host::{Network, Span, Stack, Time};

const BOTTLENECK: &str = r#"
name = "bottleneck"
duration = "10 s"

[links.bottleneck]
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "20 ms"
queue = { fq_codel = {} }

[flows.stack]
from = "server"
to = "client"
tcp = { ecn = true }

[flows.other]
from = "server"
to = "client"
tcp = { control = "cubic", ecn = true }
"#;

fn with(stack: &dyn Stack, text: &str, seed: u64) -> Network {
    let mut network = Network::from_toml(text);
    network.take_over("stack", stack, seed).unwrap();
    network
}

fn stacks() -> [Box<dyn Stack>; 4] {
    let quinn = |control| -> Box<dyn Stack> {
        Box::new(quinn::Configured::new(&format!("quinn {control}"), control).unwrap())
    };
    let noq = |control| -> Box<dyn Stack> {
        Box::new(noq::Configured::new(&format!("noq {control}"), control).unwrap())
    };
    [quinn("cubic"), quinn("newreno"), noq("cubic"), noq("bbr3")]
}

/// A flow that is queued apart gets half the link, whatever its stack: FQ-CoDel serves two flows
/// that both have packets in turns of equal bytes (RFC 8290, section 1.3). Both windows stay above
/// the product of rate and delay for most of the time, so less than a tenth is lost to control.
#[test]
fn a_real_stack_gets_its_fair_share_beside_a_model() {
    for stack in stacks() {
        let report = with(&*stack, BOTTLENECK, 1).run(None).unwrap();
        let throughput = |name: &str| report.group(name).unwrap().counted.throughput_bps;
        let share = throughput("stack") / 10e6;
        assert!((0.85..1.1).contains(&share), "{}: {share}", stack.name());
        assert!(throughput("other") > 8.5e6, "{}", stack.name());
        assert!(report.link("bottleneck").unwrap().utilization > 0.95, "{}", stack.name());
        assert_eq!(report.hosts[1].failed, None);
        assert!(report.hosts[1].marked > 0, "{}: ECN reaches the stack", stack.name());
    }
}

/// Runs of a stack whose random numbers are seeded have one digest; which cannot be seeded says so.
#[test]
fn runs_of_seeded_stacks_repeat() {
    for stack in stacks() {
        let repeated = Network::run_twice(None, || Ok(with(&*stack, BOTTLENECK, 1)));
        match stack.unseeded() {
            None => assert!(repeated.is_ok(), "{}: {}", stack.name(), repeated.unwrap_err()),
            Some(reason) => assert!(reason.contains("random numbers"), "{}", stack.name()),
        }
    }
}

/// A transfer of a file ends: its client has read each byte.
#[test]
fn a_transfer_of_a_file_ends() {
    let text = BOTTLENECK.replace(
        "tcp = { ecn = true }\n\n[flows.other]",
        "tcp = { ecn = true }\ntraffic = { file = { size = \"2 MB\" } }\n\n[flows.other]",
    );
    for stack in stacks() {
        let report = with(&*stack, &text, 1).run(None).unwrap();
        let client = &report.hosts[1];
        assert_eq!(client.delivered, 2_000_000, "{}", stack.name());
        // 2 MB at 20 Mbit/s take 0.8 s, and at half of that 1.6 s; slow start takes some more.
        let finished = client.finished_s.unwrap();
        assert!((0.8..2.5).contains(&finished), "{}: {finished}", stack.name());
    }
}

/// A client that moves to another access network keeps its connection: the server validates the
/// new path and sends on over it (RFC 9000, section 9).
#[test]
fn a_connection_migrates_with_its_client() {
    let text = r#"
name = "two access networks"
duration = "6 s"

[links.wifi]
from = "server"
to = "wifi"
rate = "20 Mbit/s"
delay = "10 ms"

[links.lte]
from = "server"
to = "lte"
rate = "10 Mbit/s"
delay = "40 ms"
"#;
    let mut network = Network::from_toml(text);
    let server = quinn::server_config(quinn::transport("cubic"));
    let server = quinn::Quic::server(quinn::endpoint_config(1), server);
    let server = network.attach("server", server, quinn::Serve::default());
    let client = quinn::client_config(quinn::transport("cubic"));
    let client = quinn::Quic::client(quinn::endpoint_config(2), client);
    let download = quinn::Download::from(network.address(server), None);
    let client = network.attach("wifi", client, download);
    network.move_host(client, "lte", Time::ZERO + Span::from_s(3));
    let report = network.run(None).unwrap();
    assert_eq!(report.host(client).failed, None);
    // 3 s at 20 Mbit/s and 3 s at 10 Mbit/s, less the time until the new window is open.
    let megabytes = report.host(client).delivered as f64 / 1e6;
    assert!((9.0..11.25).contains(&megabytes), "{megabytes}");
    let lte = &report.link("lte").unwrap();
    assert!(lte.throughput_bps * 6.0 / 1e6 > 20.0, "{lte:?}");
}
