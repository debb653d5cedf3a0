//! Transmitted bits of a link in an interval, by hand arithmetic.

use forebay_network::record::{Column, RecordTable};

use super::support::{read, run, run_with};

/// 500 B at once, by one flow after another, over a link of `rate`.
fn packets(head: &str, rate: &str, queue: &str, precedence: u32) -> String {
    format!(
        "{head}\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\n{queue}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nprecedence = {precedence}\n\
         traffic = {{ cbr = {{ rate = \"1 kbit/s\", size = \"500 B\", random_phase = false }} }}\n"
    )
}

const QUEUES: [&str; 2] =
    ["queue = \"droptail\"", "queue = { priority = { classes = [{ droptail = {} }] } }"];

/// A packet counts as far as it was sent, so that a slow link does not carry more than its rate: 10
/// s at 1 bit/s are 10 bits, of a packet of 4000 that is sent until 4000 s.
#[test]
fn a_packet_counts_as_far_as_it_was_sent() {
    for queue in QUEUES {
        for precedence in [0, 5] {
            let of =
                |head: &str| run(&packets(head, "1 bit/s", queue, precedence)).links[0].clone();
            let link = of("duration = \"10 s\"");
            assert_eq!((link.throughput_bps, link.utilization), (1.0, 1.0), "{queue}");
            assert_eq!(link.departed_packets[precedence as usize], 1);
            // The end of the warm-up lies within the packet: 10 bits before it, 30 after.
            let link = of("duration = \"40 s\"\nwarm_up = \"10 s\"");
            assert_eq!((link.throughput_bps, link.utilization), (1.0, 1.0), "{queue}");
            assert_eq!(link.departed_packets.iter().sum::<u64>(), 0);
        }
    }
}

fn series(tables: &[RecordTable], column: &str) -> Vec<f64> {
    let table = tables.iter().find(|table| table.name == "series/links.l").unwrap();
    let found = table.columns.iter().find(|(name, _)| name == column);
    match &found.unwrap_or_else(|| panic!("no {column}")).1 {
        Column::Float(values) => values.clone(),
        _ => panic!("{column} holds no numbers"),
    }
}

/// Samples share the bits of a packet, so that a series shows no bursts of whole packets where a
/// link sends all the time: 2 kbit/s, offered 1 kbit/s in packets of 4000 bits, one every 4 s from
/// 0 on, each sent for 2 s. Samples every 1.5 s: 3000 bits, 1000, 1000 (from 4 to 4.5 s), 3000, 0
/// (it ends at 6 s), 2000 (from 8 to 9 s).
#[test]
fn samples_share_the_bits_of_a_packet() {
    for queue in QUEUES {
        let head = "duration = \"9 s\"\nrecord.series = \"1.5 s\"";
        let text = packets(head, "2 kbit/s", queue, 0);
        let (result, tables) = run_with(&read(&text), 0, true);
        let bits: Vec<f64> = series(&tables, "throughput_bps").iter().map(|x| x * 1.5).collect();
        assert_eq!(bits, [3000.0, 1000.0, 1000.0, 3000.0, 0.0, 2000.0], "{queue}");
        assert_eq!(series(&tables, "throughput_bps.0"), series(&tables, "throughput_bps"));
        // 10,000 bits and 5 s of 9.
        let link = &result.links[0];
        assert_eq!(link.throughput_bps, 10_000.0 / 9.0);
        assert_eq!(link.utilization, 5.0 / 9.0);
    }
}

/// Rings count parts of packets as links do: half a packet of 4000 bits in 2 s.
#[test]
fn the_spans_of_a_ring_count_alike() {
    let text = "duration = \"2 s\"\n[rings.r]\nstations = [\"a\", \"b\", \"c\"]\n\
                rate = \"1 kbit/s\"\ndelay = \"1 ms\"\nfairness = \"none\"\n\
                [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                traffic = { cbr = { rate = \"1 kbit/s\", size = \"500 B\", \
                random_phase = false } }\n";
    let result = run(text);
    let carried: f64 = result.links.iter().map(|link| link.throughput_bps).sum();
    assert_eq!(
        (carried, result.rows::<forebay_scenario::RingResult>()[0].throughput_bps),
        (1000.0, 1000.0)
    );
}
