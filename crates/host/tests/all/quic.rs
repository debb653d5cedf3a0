//! QUIC stacks on networks.

use forebay_host::quic::{noq, quinn};
use forebay_host::{Network, Span, Stack, Time};
use forebay_scenario::TransferResult;

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
    network.take_over("stack", stack, seed).expect("the network has the group");
    network
}

fn stacks() -> [Box<dyn Stack>; 4] {
    let quinn = |control| -> Box<dyn Stack> {
        Box::new(quinn::Configured::new(&format!("quinn {control}"), control).expect("it has it"))
    };
    let noq = |control| -> Box<dyn Stack> {
        Box::new(noq::Configured::new(&format!("noq {control}"), control).expect("it has it"))
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
        // The same as a row of results: the handshake counts, as the client asks for the file.
        let [transfer] = report.result.rows::<TransferResult>() else { panic!("a row a group") };
        assert_eq!((transfer.completed, transfer.unfinished), (1, 0));
        assert_eq!(transfer.max_completion_s, Some(finished));
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

#[cfg(feature = "qlog")]
/// A log that the stack writes itself has simulated times: with a clock that both share, its events
/// lie between the beginning and the end of the run, which takes a fraction of that.
#[test]
fn a_qlog_of_the_stack_has_simulated_times() {
    use std::sync::{Arc, Mutex};

    use forebay_host::Clock;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no writer panics").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let (clock, log) = (Clock::new(), Log::default());
    let mut qlog = quinn::proto::QlogConfig::default();
    qlog.writer(Box::new(log.clone())).start_time(clock.instant(Time::ZERO));
    let mut transport = quinn::transport("cubic");
    transport.qlog_stream(qlog.into_stream());
    let server = quinn::server_config(transport);
    let server = quinn::Quic::server(quinn::endpoint_config(1), server).with_clock(clock);
    let mut network = Network::from_toml(BOTTLENECK);
    let server = network.attach("server", server, quinn::Serve::default());
    let client = quinn::client_config(quinn::transport("cubic"));
    let client = quinn::Quic::client(quinn::endpoint_config(2), client);
    network.attach("client", client, quinn::Download::from(network.address(server), None));
    network.run(None).expect("it runs");
    let log = log.0.lock().expect("no writer panics");
    let log = std::str::from_utf8(&log).expect("a qlog is text");
    let times: Vec<f64> = log
        .split("\"time\":")
        .skip(1)
        .map(|rest| {
            rest.split([',', '}']).next().expect("a time has an end").parse().expect("a number")
        })
        .collect();
    assert!(times.len() > 1_000, "{}", times.len());
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    // In ms: the handshake is over after two round trips of 40 ms, and the last packets are sent
    // close to the end at 10 s.
    assert!(times[0] < 80.0 && (9_900.0..=10_000.0).contains(times.last().expect("there are")));
}
