//! Links whose wires lose, corrupt, delay and double packets.

use crate::support::{flow, link, read, record, run, trace};

/// Datagrams of 1000 B, one a millisecond from time 0 to below `until_ms`, over a link of 10 Mbit/s
/// and 10 ms with `more`.
fn datagrams(until_ms: u64, more: &str) -> String {
    format!(
        "duration = \"5 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
         delay = \"10 ms\"\nduplex = false\n{more}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nstop = \"{until_ms} ms\"\n\
         traffic = {{ cbr = {{ rate = \"8 Mbit/s\", size = \"1000 B\", random_phase = false }} }}\n\
         [record]\ntrace = 100000\n"
    )
}

/// A packet that is lost on a wire takes its time there: it has been transmitted. 1000 packets of
/// 0.8 ms are busy for 0.8 s of 5, whether they arrive or not.
#[test]
fn what_is_lost_on_the_wire_has_taken_its_time() {
    for (law, reason) in [("loss = { probability = 1 }", 0), ("bit_errors = { rate = 1 }", 1)] {
        let result = run(&datagrams(1000, &format!("impairment = {{ {law} }}")));
        let (link, counted) = (link(&result, "l"), &flow(&result, "x").counted);
        assert!((link.utilization - 0.16).abs() < 1e-12, "{}", link.utilization);
        let sent = (counted.sent_packets, counted.delivered_packets, counted.dropped_packets);
        assert_eq!(sent, (1000, 0, 1000));
        let reasons = [link.drop_reasons.lost, link.drop_reasons.corrupted];
        assert_eq!((reasons[reason], link.drops), (1000, 1000));
        assert_eq!((link.departed_packets[0], link.dropped_packets[0]), (1000, 1000));
    }
}

/// An outage takes the packets that reach the wire's far end in its time. Packet n is there at n
/// ms + 0.8 ms + 10 ms: of an outage from 100 to 200 ms packets 90 to 189 are lost, which arrive at
/// 100.8 to 199.8 ms.
#[test]
fn an_outage_takes_what_would_arrive_in_its_time() {
    let outage = "impairment = { outage = { down = [\"100 ms\"], up = [\"200 ms\"] } }";
    let (result, tables) = record(&datagrams(1000, outage));
    assert_eq!(link(&result, "l").drop_reasons.outage, 100);
    let arrived: Vec<u64> = trace(&tables)
        .iter()
        .filter(|row| row.event == "delivered")
        .map(|row| row.time / 1_000_000_000 - 10)
        .collect();
    let expected: Vec<u64> = (0..90).chain(190..1000).collect();
    assert_eq!(arrived, expected);
}

/// Jitter loses no packet, and reorders packets only where it may: with a mean of 5 ms and packets
/// a millisecond apart, some overtake others unless that is ruled out.
#[test]
fn jitter_reorders_only_where_it_may() {
    let order = |reorder: bool| {
        let jitter =
            format!("impairment = {{ jitter = {{ mean = \"5 ms\", reorder = {reorder} }} }}");
        let (result, tables) = record(&datagrams(1000, &jitter));
        assert_eq!(flow(&result, "x").counted.delivered_packets, 1000);
        let rows = trace(&tables);
        let arrived = rows.iter().filter(|row| row.event == "delivered");
        let numbers: Vec<u64> = arrived.map(|row| row.number).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<u64>>());
        numbers == sorted
    };
    assert!(order(false));
    assert!(!order(true));
}

/// Duplicates are not counted as sent, nor handed to the application of a TCP receiver. Each of
/// 1000 datagrams arrives twice; of a transfer of 1 MB the application gets 1 MB, with all data and
/// acknowledgements doubled.
#[test]
fn duplicates_arrive_beside_what_was_sent() {
    let double = "impairment = { duplication = { probability = 1 } }";
    let result = run(&datagrams(1000, double));
    let counted = &flow(&result, "x").counted;
    let counts = (counted.sent_packets, counted.duplicated_packets, counted.delivered_packets);
    assert_eq!(counts, (1000, 1000, 2000));
    let transfer =
        run("duration = \"60 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
         delay = \"10 ms\"\nimpairment = { duplication = { probability = 1 } }\n\
         reverse.impairment = { duplication = { probability = 1 } }\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\n\
         tcp = { profile = \"rfc\" }\ntraffic = { file = { size = \"1 MB\" } }\n");
    let counted = &flow(&transfer, "x").counted;
    assert!((counted.goodput_bps - 8e6 / 60.0).abs() < 1e-6, "{}", counted.goodput_bps);
    assert!(counted.duplicated_packets >= 1_000_000 / 536);
}

/// Each impairment draws random numbers of its own: adding one changes nothing of another.
#[test]
fn each_wire_has_random_numbers_of_its_own() {
    let lossy = "impairment = { loss = { probability = 0.1 } }";
    let alone = run(&datagrams(1000, lossy));
    let second =
        "impairments = [{ loss = { probability = 0.1 } }, { jitter = { mean = \"1 ms\" } }]";
    let both = run(&datagrams(1000, second));
    let lost = |result| link(result, "l").drop_reasons.lost;
    assert_eq!(lost(&alone), lost(&both));
    assert!(lost(&alone) > 0);
}

/// TCP answers random losses with the window of theory: with independent losses of probability p
/// and an acknowledgement for each segment the mean window of ideal congestion avoidance is
/// 1.3098/sqrt(p) segments (Ott, Kemperman, Mathis, "The stationary behavior of ideal TCP
/// congestion avoidance", 1996), 65.5 at p = 0.0004. Periodic losses as frequent would give
/// sqrt(3/2)/sqrt(p) = 61.2 (Mathis et al., CCR 27, 1997), which the bounds exclude. Bounds: losses
/// that fall into one recovery count once, 1 in 30 of them at most (W p = 0.026), and each recovery
/// holds the window for a round trip of some 33 that lie between two.
#[test]
fn windows_under_random_loss_are_those_of_theory() {
    let p: f64 = 0.0004;
    let text = format!(
        "duration = \"3000 s\"\nwarm_up = \"100 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"10 Gbit/s\"\ndelay = \"50 ms\"\n\
         impairment = {{ loss = {{ probability = {p} }} }}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\ncount = 8\n\
         tcp = {{ profile = \"rfc\", \
         mss = \"1000 B\", delayed_ack = false }}\ntraffic = {{ bulk = {{}} }}\n"
    );
    let result = run(&text);
    let goodput: f64 = result.flows.iter().map(|flow| flow.counted.goodput_bps).sum::<f64>() / 8.0;
    let window = goodput / 8000.0 * 0.1;
    let ideal = 1.3098 / p.sqrt();
    assert!((window / ideal - 1.0).abs() < 0.04, "{window} of {ideal}");
}

/// Wrong impairments are refused at their key path.
#[test]
fn wrong_impairments_are_refused_by_key_path() {
    let refused = |more: &str| {
        let text = datagrams(10, more);
        match forebay_scenario::Scenario::parse(&text, "test.toml", &[]) {
            Ok(_) => panic!("{more} is accepted"),
            Err(error) => error.to_string(),
        }
    };
    let message = refused("impairment = { loss = { probability = 2 } }");
    assert!(message.contains("links.l.impairment.loss.probability"), "{message}");
    let message = refused("impairment = { los = { probability = 0.2 } }");
    assert!(message.contains("did you mean \"loss\""), "{message}");
    let both = "impairment = { loss = { probability = 0.2 } }\nimpairments = []";
    let message = refused(both);
    assert!(message.contains("there is an impairment already"), "{message}");
    // A wire without impairments is a wire.
    read(&datagrams(10, "impairments = []"));
}
