//! Fabrics in whole networks: the ways that packets take, what comes of them, and closed forms at
//! their ports.

use forebay_elements::TransferResult;
use forebay_scenario::{PairResult, RunResult};

use crate::support::{checked, floats, link, record, run, table};

/// A fat tree of 16 hosts with links of 10 Gbit/s and 1 us.
fn tree(more: &str) -> String {
    format!(
        "duration = \"4 ms\"\n\
         [fabrics.dc]\nfat_tree = {{ k = 4 }}\nrate = \"10 Gbit/s\"\ndelay = \"1 us\"\n{more}"
    )
}

/// Datagrams of 1500 B in a steady stream of `rate` on each of `count` flows.
fn steady(from: &str, to: &str, pairs: &str, count: u32, rate: &str) -> String {
    format!(
        "[flows.f]\nfrom = \"{from}\"\nto = \"{to}\"\n{pairs}count = {count}\nudp = {{}}\n\
         start = {{ uniform = [\"0 s\", \"10 us\"] }}\nstop = \"3.9 ms\"\n\
         traffic = {{ cbr = {{ rate = \"{rate}\", size = \"1500 B\" }} }}\n"
    )
}

fn drops(result: &RunResult) -> u64 {
    result.links.iter().map(|link| link.drops).sum()
}

fn departed(result: &RunResult, name: &str) -> u64 {
    link(result, name).departed_packets.iter().sum()
}

/// ECMP spreads flows over the four ways between two pods as independent fair choices do: the
/// number of n flows on each is binomial with mean n/4, and chi-square with 3 degrees of freedom is
/// below 16.3 at the level 0.001. Each flow is a single packet here, so that packets at the core
/// switches are flows: of 2000, which send every 4 ms from a random time on, 2.5 % do not come to
/// it in 3.9 ms.
#[test]
fn flows_are_spread_over_ways_as_the_binomial_says() {
    let one = steady("dc.h0", "dc.h15", "", 2000, "3 Mbit/s");
    let result = run(&tree(&one));
    let ways = ["agg0-core0", "agg0-core1", "agg1-core2", "agg1-core3"];
    let counts = ways.map(|way| departed(&result, &format!("dc.{way}")) as f64);
    let all = counts.iter().sum::<f64>();
    assert!((all - 1950.0).abs() < 5.0 * (2000.0 * 0.025 * 0.975_f64).sqrt(), "{counts:?}");
    let square = |x: f64| x * x;
    let chi: f64 = counts.iter().map(|count| square(count - all / 4.0) / (all / 4.0)).sum();
    assert!(chi < 16.3, "{counts:?}");
    // No packet strays: other core links are not on a way from pod 0 to pod 3.
    assert_eq!(departed(&result, "dc.agg2-core0"), 0);
}

/// A non-blocking fabric carries any permutation if packets are spread: 16 streams of 9.5 Gbit/s
/// over links of 10 lose nothing in buffers of 300 packets, of which a queue with Poisson arrivals
/// at a load of 0.95 would fill that many with a probability below exp(-2 * 0.05 * 300) = 1e-13.
/// Under ECMP several flows share a way, and each of two that do loses half of what is too much.
#[test]
fn a_permutation_has_the_full_rate_if_packets_are_spread() {
    let flows = steady("dc", "dc", "pairs = \"permutation\"\n", 16, "9.5 Gbit/s");
    let with = |path: &str| {
        let queue = "queue = { droptail = { limit = \"300 packets\" } }\n";
        checked(&tree(&format!("path = \"{path}\"\n{queue}{flows}")))
    };
    let spread = with("spray");
    let sent: u64 = spread.flows.iter().map(|flow| flow.counted.sent_packets).sum();
    let delivered: u64 = spread.flows.iter().map(|flow| flow.counted.delivered_packets).sum();
    // 16 streams for 3.9 ms less up to 10 us, a packet each 1.2632 us.
    assert!((49_200..=49_400).contains(&sent), "{sent}");
    assert_eq!((drops(&spread), delivered), (0, sent));
    assert!(drops(&with("ecmp")) > 1000);
}

/// A link that is down is avoided by switches near and far, as soon as they know: between 1 and 3
/// ms no packet crosses core 0 to pod 3, and of those from pod 0 to there none is lost but the few
/// that were on the link or on their way to it.
#[test]
fn links_that_are_down_are_avoided() {
    let flows = steady("dc.h0", "dc.h15", "", 8, "1 Gbit/s");
    let failing = "path = { spray = {} }\n\
                   failures = [{ link = \"core0-agg6\", down = [\"1 ms\"], up = [\"3 ms\"] }]\n";
    let [whole, failed] =
        ["path = { spray = {} }\n", failing].map(|more| checked(&tree(&format!("{more}{flows}"))));
    let core = |result: &RunResult| departed(result, "dc.agg0-core0");
    // A quarter of 2600 packets in 3.9 ms, and in 1.9 ms of these.
    assert!(core(&whole).abs_diff(650) < 100, "{}", core(&whole));
    assert!(core(&failed).abs_diff(317) < 70, "{}", core(&failed));
    let lost = |result: &RunResult| -> u64 {
        result.flows.iter().map(|flow| flow.counted.dropped_packets).sum()
    };
    assert_eq!(lost(&whole), 0);
    // A packet each 6 us on that way, which takes 2.2 us from the core switch on and 4.4 from the
    // aggregation switch.
    assert!((0..=4).contains(&lost(&failed)), "{}", lost(&failed));
}

/// A switch of `hosts` hosts, with `queue` at its ports.
fn star(hosts: u32, rate: &str, delay: &str, queue: &str) -> String {
    format!(
        "[fabrics.dc]\nleaf_spine = {{ leaves = 1, spines = 0, hosts = {hosts} }}\n\
         rate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {queue}\n\
         hosts = {{ queue = \"droptail\" }}\n"
    )
}

const DCTCP: &str = "{ control = { dctcp = { min_window = 2 } }, ecn = true, mss = \"1460 B\", \
                     rto_min = \"10 ms\", initial_window = \"rfc6928\" }";

/// DCTCP keeps the queue between K + N and K + N - A, as the sawtooth of N synchronised flows has
/// it (Alizadeh et al., SIGCOMM 2010, equations 6, 8, 10 and 11; a round-trip time of 100 us at 10
/// Gbit/s are 83.33 packets of 1500 B, K = 40, and W* = (83.33 + 40) / N). For N = 2, alpha^2 (1 -
/// alpha/4) = 124.33 / 62.67^2 gives alpha = 0.1821 and A = 2 * 62.67 * 0.1821 / 2 = 11.41: the
/// queue lies between 42 and 30.6. For N = 10, alpha = 0.4006 and A = 26.7: between 50 and 23.3.
/// Highs and lows are those of each 1.2 ms, two periods and more; flows are not always
/// synchronised, which brings both nearer to K.
#[test]
fn dctcp_keeps_its_queue_within_the_closed_forms() {
    for (flows, alpha, high, amplitude) in [(2, 0.1821, 42.0, 11.41), (10, 0.4006, 50.0, 26.70)] {
        let port = format!("dc.leaf0-h{flows}");
        // The links take 24 us each, and four transmissions 3.7 us in all.
        let text = format!(
            "duration = \"300 ms\"\nwarm_up = \"60 ms\"\n{}\
             [flows.f]\nfrom = \"dc\"\nto = \"dc.h{flows}\"\ntcp = {DCTCP}\n\
             [record]\nseries = \"10 us\"\nseries_of = [\"links.{port}\", \"flows.f[1]\"]\n",
            star(flows + 1, "10 Gbit/s", "24 us", "{ step = { threshold = \"40 packets\" } }"),
        );
        let (result, tables) = record(&text);
        let series = floats(table(&tables, &format!("series/links.{port}")), "queue_packets");
        let windows: Vec<&[f64]> = series[6000..].chunks_exact(120).collect();
        let mean = |of: &dyn Fn(&[f64]) -> f64| {
            windows.iter().map(|window| of(window)).sum::<f64>() / windows.len() as f64
        };
        let most = mean(&|window| window.iter().copied().fold(0.0, f64::max));
        let least = mean(&|window| window.iter().copied().fold(f64::MAX, f64::min));
        assert!((most / high - 1.0).abs() < 0.1, "{flows}: {most}");
        assert!(((most - least) / amplitude - 1.0).abs() < 0.15, "{flows}: {least} to {most}");
        let shares = &floats(table(&tables, "series/flows.f[1]"), "marked_share")[6000..];
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        // Of ten flows that are not synchronised each meets fewer marks in a window.
        let least = if flows == 2 { 0.85 * alpha } else { 0.5 * alpha };
        assert!((least..1.15 * alpha).contains(&share), "{flows}: {share}");
        assert!(link(&result, &port).utilization > 0.999);
    }
}

/// Packets of a flow stay in order unless they are sprayed: without losses Reno sends nothing again
/// under ECMP, and takes what is overtaken for lost where each packet goes its own way.
#[test]
fn flows_stay_in_order_unless_they_are_sprayed() {
    let again = |path: &str| {
        let flows = "[flows.f]\nfrom = \"dc\"\nto = \"dc\"\npairs = \"permutation\"\n\
                     tcp = { recovery = \"newreno\", window = \"400 kB\" }\n";
        let result = run(&tree(&format!("path = \"{path}\"\n{flows}")));
        assert_eq!(drops(&result), 0);
        result.groups[0].counted.retransmissions
    };
    assert_eq!(again("ecmp"), 0);
    assert!(again("spray") > 100);
}

/// At a port to which Poisson streams lead, packets wait as in M/M/1: load 0.5 has 0.5 of them
/// waiting, rho^2 / (1 - rho), and 1.33 at 2/3. Links of hosts are ten times as fast, so that what
/// comes is nearly Poisson, and 64 sources make it more so. Sizes are exponential with mean 400 B.
#[test]
fn packets_wait_at_a_port_as_in_the_queue_of_one_server() {
    for (load, waiting) in [(0.5, 0.5), (2.0 / 3.0, 4.0 / 3.0)] {
        let text = format!(
            "duration = \"4 s\"\n\
             [fabrics.dc]\n\
             leaf_spine = {{ leaves = 2, spines = 1, hosts = 32, uplink = \"1 Gbit/s\" }}\n\
             rate = \"10 Gbit/s\"\ndelay = \"1 us\"\n\
             [flows.f]\nfrom = [{}]\nto = \"dc.h40\"\nudp = {{}}\ntraffic = {{ poisson = \
             {{ rate = \"{} bit/s\", size = \"400 B\", sizes = \"exponential\" }} }}\n\
             [record]\nflows = \"groups\"\n",
            (0..32).map(|host| format!("\"dc.h{host}\"")).collect::<Vec<_>>().join(", "),
            (1e9_f64 * load / 32.0).round(),
        );
        let mean = link(&run(&text), "dc.leaf0-spine0").mean_queue_packets;
        // 0.6 to 0.8 million packets: a standard error of about 1 %, and sizes stop at 65,535 B.
        assert!((mean / waiting - 1.0).abs() < 0.05, "{load}: {mean}");
    }
}

/// An incast asks all servers at once and waits for all: 25 kB from each of 40 take 8 ms at least
/// at 1 Gbit/s (Alizadeh et al., SIGCOMM 2010, section 4.2.1), and 8.3 with headers of 40 B a
/// segment. Queries are counted as one transfer of 1 MB each. Windows of two segments at least keep
/// the link of the client busy, where single ones would wait for a timer.
#[test]
fn an_incast_waits_for_all_servers() {
    let text = format!(
        "duration = \"500 ms\"\n{}\
         [flows.query]\nfrom = \"dc\"\nto = \"dc.h40\"\ntcp = {DCTCP}\n\
         traffic = {{ requests = {{ connections = 40, objects = 40, think = \"1 ms\", \
         sizes = {{ constant = {{ size = \"25 kB\" }} }} }} }}\n",
        star(41, "1 Gbit/s", "20 us", "{ step = { threshold = \"20 packets\" } }"),
    );
    let result = checked(&text);
    let queries = &result.rows::<TransferResult>()[0];
    assert_eq!(queries.completed_bytes, 1_000_000 * queries.completed);
    let least = queries.p50_completion_s.unwrap();
    // Without losses the link of the client is busy from the first answer to the last.
    assert!((8.2e-3..9.0e-3).contains(&least), "{queries:?}");
    assert!((45..=54).contains(&queries.completed), "{queries:?}");
    assert_eq!(link(&result, "dc.leaf0-h40").drops, 0);
    // Each server sends its share, and no other host.
    assert!(result.flows.iter().all(|flow| flow.counted.delivered_packets > 18 * 45));
}

/// Every switch of a fabric has a memory of its own: what waits at an overloaded port is what the
/// steady state of dynamic thresholds gives it, alpha B / (1 + alpha) of 90 kB with alpha = 2, 60
/// kB, at the leaf of the receiver and nowhere else.
#[test]
fn switches_of_a_fabric_have_a_memory_each() {
    let text = "duration = \"20 ms\"\nwarm_up = \"5 ms\"\n\
                [fabrics.dc]\nleaf_spine = { leaves = 2, spines = 2, hosts = 4 }\n\
                rate = \"1 Gbit/s\"\ndelay = \"1 us\"\nhosts = { queue = \"droptail\" }\n\
                buffer = { memory = \"90 kB\", sharing = { dynamic = { alpha = 2.0 } } }\n\
                [flows.f]\nfrom = [\"dc.h0\", \"dc.h1\"]\nto = \"dc.h7\"\nudp = {}\n\
                traffic = { cbr = { rate = \"900 Mbit/s\", size = \"1000 B\" } }\n";
    let result = checked(text);
    let waiting = link(&result, "dc.leaf1-h7").mean_queue_packets;
    assert!((58.0..=61.0).contains(&waiting), "{waiting}");
    assert!(drops(&result) > 1000 && link(&result, "dc.leaf1-h7").drops == drops(&result));
}

/// Flows that do not say their number make the load: 0.3 of twice the bisection, 8 links of 10
/// Gbit/s of a fat tree of 4, for 3 ms are 0.3 * 160e9 * 3e-3 / 8 = 18 MB, 180 files of 100 kB. The
/// slowdown of a transfer goes by the way between its own hosts: those alone have 1.
#[test]
fn a_load_is_a_number_of_flows() {
    let flows = |load: &str| {
        format!(
            "[flows.f]\nfrom = \"dc\"\nto = \"dc\"\npairs = \"random\"\n{load}\
             start = {{ uniform = [\"0 s\", \"3 ms\"] }}\ntcp = {DCTCP}\n\
             traffic = {{ file = {{ size = \"100 kB\" }} }}\n"
        )
    };
    let result = run(&tree(&flows("load = 0.3\n")));
    assert_eq!(result.groups[0].flows, 180);
    let all = &result.rows::<TransferResult>()[0];
    assert_eq!((all.completed, all.unfinished), (180, 0));
    assert!(all.mean_slowdown.unwrap() >= 1.0);
}

/// Each pair of hosts has a row, whose sums are those of the group: a slowdown is one over the way
/// between these two, so that transfers alone in the fabric have the same whether they cross it or
/// stay at one switch.
#[test]
fn pairs_of_hosts_have_rows_with_slowdowns_of_their_own_ways() {
    let flows = format!(
        "[flows.f]\nfrom = \"dc.h0\"\nto = [\"dc.h1\", \"dc.h2\", \"dc.h15\"]\ntcp = {DCTCP}\n\
         traffic = {{ file = {{ size = \"20 kB\", count = 3, interval = \"1 ms\" }} }}\n"
    );
    let result = run(&tree(&flows));
    let rows = result.rows::<PairResult>();
    let to: Vec<&str> = rows.iter().map(|row| row.to.as_str()).collect();
    assert_eq!(to, ["dc.h1", "dc.h2", "dc.h15"]);
    let sent: u64 = rows.iter().map(|row| row.sent_packets).sum();
    assert_eq!(sent, result.groups[0].counted.sent_packets);
    for row in rows {
        assert_eq!((row.flows, row.completed, &*row.group), (1, 3, "f"));
    }
    // 14 segments, of which 10 leave at once: an empty way of 2, 4 and 6 links of 1 us takes longer
    // for each, and so does the round trip that the others wait for.
    let took = |at: usize| rows[at].mean_completion_s.unwrap();
    assert!(took(0) < took(1) && took(1) < took(2), "{rows:?}");
    assert!(rows.iter().all(|row| (1.0..3.0).contains(&row.mean_slowdown.unwrap())), "{rows:?}");
}

/// Lists of nodes go with any links, also those of a ring, each pair by its own shortest way: every
/// station sends to the third over the span that leads there.
#[test]
fn lists_of_nodes_go_with_links_and_rings() {
    let text = "duration = \"10 ms\"\n[rings.r]\nstations = [\"a\", \"b\", \"c\", \"d\"]\n\
                rate = \"1 Gbit/s\"\ndelay = \"1 us\"\nfairness = \"none\"\n\
                [links.l]\nfrom = \"d\"\nto = \"e\"\nrate = \"1 Gbit/s\"\n\
                [flows.f]\nfrom = [\"a\", \"b\", \"e\"]\nto = [\"c\", \"e\"]\nudp = {}\n\
                traffic = { cbr = { rate = \"8 Mbit/s\", size = \"100 B\" } }\n";
    let result = checked(text);
    assert_eq!(result.groups[0].flows, 5);
    let rows = result.rows::<PairResult>();
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["f.a-c", "f.b-c", "f.e-c", "f.a-e", "f.b-e"]);
    assert!(rows.iter().all(|row| row.delivered_packets > 90 && row.dropped_packets == 0));
    // From a and b to e over d, and nothing else.
    assert!(departed(&result, "l").abs_diff(200) < 5);
}

/// Web traffic between several nodes comes of a process for each two, whose ends draw the same: all
/// that was asked for arrives, no more and no less, so clients and servers agree on every size.
/// Between each two of the three hosts 40 connections begin in a second, in 19 s 760 of them. As
/// their gaps have a long memory that number deviates by 20 % or so, and 300 are far below.
#[test]
fn the_web_between_nodes_is_a_process_for_each_two() {
    let result = checked(
        "duration = \"20 s\"\n[fabrics.dc]\nleaf_spine = { leaves = 3, spines = 1, hosts = 1 }\n\
         rate = \"1 Gbit/s\"\ndelay = \"10 us\"\n[flows.web]\nfrom = \"dc\"\nto = \"dc\"\n\
         pairs = \"all\"\ncount = 24\nstop = \"19 s\"\ntcp = {}\n\
         traffic.packmime = { rate = \"40 /s\", persistent = 0.0 }\n",
    );
    let pairs = result.rows::<PairResult>();
    assert_eq!(pairs.len(), 6);
    assert!(pairs.iter().all(|pair| pair.completed > 300), "{pairs:?}");
}
