//! Hosts on networks, with a small protocol.

use super::windowed::{Count, DATA, Idle, LINE, Send, Windowed};
use forebay_host::{Ecn, HostId, Member, Network, Report, Script, Span, Time};

/// A sender at `a` of `left` datagrams with a window of `window`, and a receiver at `b`.
fn pair(text: &str, window: usize, left: u64) -> (Network, [HostId; 2]) {
    let mut network = Network::from_toml(text);
    let receiver = network.attach("b", Windowed::default(), Count::to(left as usize));
    let sender = Windowed::sender(network.address(receiver), window, left);
    let sender = network.attach("a", sender, Send::default());
    (network, [sender, receiver])
}

fn run(text: &str, window: usize, left: u64) -> (Report, [HostId; 2]) {
    let (network, hosts) = pair(text, window, left);
    (network.run(None).expect("it runs"), hosts)
}

/// A window of one datagram takes a round trip for each: 1 ms and 10 ms there, 36 B and 10 ms back.
/// The times are exact, to the picosecond of the engine.
#[test]
fn a_window_of_one_takes_a_round_trip_for_each_datagram() {
    let (report, [sender, receiver]) = run(LINE, 1, 10);
    // 36 B at 8 Mbit/s are 36 us.
    let round = Span::from_us(1_000 + 10_000 + 36 + 10_000);
    let arrival = Time::ZERO + round.times(9) + Span::from_us(11_000);
    assert_eq!(report.host(receiver).finished_s, Some(arrival.seconds()));
    assert_eq!((report.host(sender).sent, report.host(receiver).received), (10, 10));
    assert_eq!(report.host(receiver).delivered, 10 * DATA as u64);
    let goodput = 8.0 * 10.0 * DATA as f64 / arrival.seconds();
    assert!((report.host(receiver).goodput_bps() - goodput).abs() < 1e-6);
}

/// A bare host's datagrams get no header: 972 B and 8 B are 972 us and 8 us at 8 Mbit/s, where the
/// test before has 28 B more each way.
#[test]
fn datagrams_of_bare_hosts_get_no_header() {
    let mut network = Network::from_toml(LINE);
    let receiver = Member::new(Windowed::default(), Count::to(10)).bare();
    let receiver = network.attach_member("b", receiver);
    let sender = Windowed::sender(network.address(receiver), 1, 10);
    network.attach_member("a", Member::new(sender, Send::default()).bare());
    let report = network.run(None).unwrap();
    let there = Span::from_us(DATA as u64 + 10_000);
    let arrival = Time::ZERO + (there + Span::from_us(8 + 10_000)).times(9) + there;
    assert_eq!(report.host(receiver).finished_s, Some(arrival.seconds()));
}

/// Bytes that applications read are the goodput of their flows, as of any transport: the rows of
/// results need not know that a stack is real.
#[test]
fn what_applications_read_is_the_goodput_of_flows() {
    let (report, [_, receiver]) = run(LINE, 50, 2_000);
    let group = report.group("a-b").unwrap();
    let bytes = report.host(receiver).delivered as f64;
    assert!((group.counted.goodput_bps * 5.0 / 8.0 - bytes).abs() < 1.0);
    // 22.036 ms of the link hold 22 datagrams: a window of 50 fills it.
    assert!(report.link("line").unwrap().utilization > 0.39, "2000 of 5000 ms");
    assert_eq!(report.group("b-a").unwrap().counted.sent_packets, 2_000);
}

/// A drop-tail queue of two packets loses what a larger window has in excess, which is sent again
/// after its time-out: the stack sees the network's losses, and the network counts them.
#[test]
fn losses_of_the_network_reach_the_stack() {
    let queue = "queue = { droptail = { limit = \"2 packets\" } }";
    let text = LINE.replace("delay = \"10 ms\"", &format!("delay = \"10 ms\"\n{queue}"));
    let (report, [sender, receiver]) = run(&text, 40, 400);
    let dropped = report.link("line").unwrap().drops;
    assert!(dropped > 0);
    assert_eq!(report.host(sender).figures["resent"], dropped as f64);
    assert_eq!(report.host(sender).sent - report.host(receiver).received, dropped);
}

/// ECN and DSCP go both ways: a stack reads what the network made of what the other wrote.
#[test]
fn ecn_and_dscp_go_through_the_network() {
    let queue = "queue = { step = { threshold = \"3 packets\" } }";
    let text = LINE.replace("delay = \"10 ms\"", &format!("delay = \"10 ms\"\n{queue}"));
    let marked = |ecn| {
        let mut network = Network::from_toml(&text);
        let receiver = network.attach("b", Windowed::default(), Count::to(50));
        let mut sender = Windowed::sender(network.address(receiver), 20, 50);
        (sender.ecn, sender.dscp) = (Some(ecn), Some(46));
        network.attach("a", sender, Idle);
        let report = network.run(None).unwrap();
        let host = report.host(receiver).clone();
        assert_eq!(host.figures["dscp.0"], 46.0);
        assert_eq!(host.marked as f64, host.figures["marked"]);
        (host.marked, report.link("line").unwrap().marks)
    };
    let (seen, made) = marked(Ecn::Ect1);
    assert!(seen > 0);
    assert_eq!(seen, made);
    assert_eq!(marked(Ecn::NotEct), (0, 0));
}

/// Several hosts at a node have addresses of their own and share its links.
#[test]
fn hosts_at_one_node_share_its_links() {
    let mut network = Network::from_toml(LINE);
    let receivers = [0, 1].map(|_| network.attach("b", Windowed::default(), Count::to(600)));
    for receiver in receivers {
        let sender = Windowed::sender(network.address(receiver), 30, 600);
        network.attach("a", sender, Idle);
    }
    let report = network.run(None).unwrap();
    assert_eq!(receivers.map(|host| report.host(host).received), [600; 2]);
    assert_eq!(receivers.map(|host| report.host(host).name.clone()), ["b", "b2"]);
    // 1,200 ms of transmission and a round trip.
    let last = receivers.map(|host| report.host(host).finished_s.unwrap()).into_iter();
    assert!((1.2..1.25).contains(&last.fold(0.0, f64::max)));
}

/// A host that moves sends from its new address over the links of its new node, and what comes to
/// the old one is lost.
#[test]
fn a_host_that_moves_has_another_address() {
    let text = format!(
        "{LINE}\n[links.other]\nfrom = \"c\"\nto = \"b\"\nrate = \"8 Mbit/s\"\ndelay = \"30 ms\"\n"
    );
    let (mut network, [sender, receiver]) = pair(&text, 10, 600);
    network.move_host(sender, "c", Time::ZERO + Span::from_ms(500));
    let report = network.run(None).unwrap();
    assert_eq!(report.host(receiver).figures["peers"], 2.0);
    assert!(report.host(receiver).finished_s.is_some());
    let departed = |link: &str| report.link(link).unwrap().departed_packets[0];
    assert!(departed("line") > 200 && departed("other") > 350);
    // Answers to the old address: those of a round trip, at most a window.
    let missed = report.host(sender).missed;
    assert!((1..=10).contains(&missed), "{missed}");
    assert_eq!(report.host(sender).nodes, ["a", "c"]);
}

/// The same seed gives the same datagrams, and a run with real bytes satisfies every invariant.
#[test]
fn runs_repeat_and_satisfy_all_invariants() {
    let lossy = LINE.replace(
        "delay = \"10 ms\"",
        "delay = \"10 ms\"\nimpairments = [{ loss = { probability = 0.02 } }, \
         { duplication = { probability = 0.05 } }]",
    );
    let report = Network::run_twice(None, || Ok(pair(&lossy, 20, 1_000).0)).unwrap();
    assert!(report.group("a-b").unwrap().counted.duplicated_packets > 0);
    let digest = |seed| pair(&lossy, 20, 1_000).0.run(Some(seed)).unwrap().digest().to_owned();
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4));
}

/// A host starts when it is told to, and not before.
#[test]
fn hosts_start_when_they_are_told_to() {
    let (mut network, [sender, receiver]) = pair(LINE, 1, 1);
    network.start_at(sender, Time::ZERO + Span::from_s(1));
    let report = network.run(None).unwrap();
    assert_eq!(report.host(receiver).finished_s, Some(1.011));
    let (mut network, [_, receiver]) = pair(LINE, 1, 1);
    network.start_at(receiver, Time::ZERO + Span::from_ms(100));
    let report = network.run(None).unwrap();
    // The first datagram came too early; it is sent again after 200 ms.
    assert_eq!(report.host(receiver).missed, 1);
    assert_eq!(report.host(receiver).finished_s, Some(0.211));
}

/// Series show inner quantities of stacks, by the names that these give them.
#[test]
fn series_show_inner_quantities_of_stacks() {
    let text = format!("{LINE}\n[record]\nseries = \"100 ms\"\n");
    let (mut network, _) = pair(&text, 7, 1_000);
    network.record();
    let report = network.run(None).unwrap();
    let outstanding = report.series("flows.a-b", "outstanding").unwrap();
    // Sampled while a window of 7 is open, and after the last answer.
    assert_eq!((outstanding[5], outstanding.last()), (7.0, Some(&0.0)));
    assert_eq!(report.series("flows.a-b", "no such"), None);
}

/// A capture has the real bytes of datagrams, with the addresses of the hosts and right checksums.
#[test]
fn captures_have_real_bytes() {
    let (mut network, _) = pair(LINE, 1, 3);
    network.capture("line");
    let report = network.run(None).unwrap();
    let file = report.capture("line").unwrap();
    let data = [0x5a_u8; 100];
    assert!(file.windows(100).any(|window| window == data), "the payload is in the file");
}

/// A script that marks a datagram which is not capable of ECN ends the run: no queue would mark it.
#[test]
fn a_mark_needs_a_datagram_that_is_capable_of_ecn() {
    let mut network = Network::from_toml(LINE);
    let [from, to] = ["a", "b"].map(|node| network.reserve(node));
    let peer = network.address(to);
    network.put(from, Member::new(Windowed::sender(peer, 2, 4), Idle));
    network.put(to, Member::new(Windowed::default(), Idle));
    network.script(from, to, Script::new().mark(2));
    let error = network.run(None).unwrap_err().to_string();
    let due =
        "host a at 0 s: its stack sends a datagram not capable of ECN that its script marks CE";
    assert!(error.contains(due), "{error}");
}
