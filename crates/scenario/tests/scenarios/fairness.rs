//! Queues that are meant to keep flows which do not answer congestion from taking the link.

use crate::support::{link, record, run, table, wholes};

/// The network of Pan, Prabhakar and Psounis 2000, section 3: 32 TCP flows and a UDP flow of 2
/// Mbit/s share a link of 1 Mbit/s and 1 ms; packets of 1 kB, access links of 10 Mbit/s.
fn shared(queue: &str) -> String {
    format!(
        "duration = \"250 s\"\nwarm_up = \"50 s\"\n\
         [links.tcp]\nfrom = \"t\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
         [links.udp]\nfrom = \"u\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
         [links.core]\nfrom = \"r\"\nto = \"d\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         queue = {queue}\n\
         [flows.t]\nfrom = \"t\"\nto = \"d\"\ncount = 32\n\
         start = {{ uniform = [\"0 s\", \"5 s\"] }}\n\
         tcp = {{ profile = \"rfc\", mss = \"960 B\", recovery = \"reno\", delayed_ack = false }}\n\
         [flows.u]\nfrom = \"u\"\nto = \"d\"\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = \"2 Mbit/s\", size = \"1000 B\" }} }}\n"
    )
}

const RED: &str = "{ red = { min_threshold = \"100 packets\", max_threshold = \"200 packets\", \
                   limit = \"300 packets\" } }";

/// CHOKe keeps UDP from taking the link. Whatever a UDP flow sends, CHOKe leaves it at most 1 /
/// (1 + e) = 26.9 % of the link in the limit of many TCP flows (Tang, Wang and Low 2003), and a
/// fair share would be 1/33. With RED alone TCP gives way: of 2 Mbit/s that meet a link of 1 Mbit/s
/// most of the link is UDP's, in the paper's figures too. More candidates take more from it (the
/// paper's section 4).
#[test]
fn choke_keeps_udp_from_taking_the_link() {
    let share = |queue: &str| {
        let result = run(&shared(queue));
        assert!(link(&result, "core").utilization > 0.95, "{queue}: the link is idle");
        let udp = result.groups.iter().find(|group| group.name == "u").unwrap();
        udp.counted.throughput_bps / 1e6
    };
    let choke = |candidates: u32| {
        let own = format!("threshold = \"100 packets\", candidates = {candidates}");
        share(&format!("{{ choke = {{ of = {RED}, {own} }} }}"))
    };
    let (alone, one, three) = (share(RED), choke(1), choke(3));
    assert!(alone > 0.5, "{alone}");
    assert!(one < 0.269, "{one}");
    assert!(three < one, "{three} against {one}");
}

/// The states of a law behind CHOKe can be observed: those of Adaptive REDn are told as if it were
/// alone.
#[test]
fn the_law_behind_choke_tells_its_adjustments() {
    let law = "{ adaptive_redn = { min_threshold = \"20 packets\", \
               middle_threshold = \"40 packets\", max_threshold = \"100 packets\" } }";
    for queue in [law.to_owned(), format!("{{ choke = {{ of = {law} }} }}")] {
        let (_, tables) = record(&(shared(&queue) + "[record]\nadjustments = true\n"));
        let log = table(&tables, "adjustments");
        assert!(!wholes(log, "precedence").is_empty(), "{queue}");
    }
}
