//! A run on several threads is the run on one: the same digest, events, hops and results.

use forebay_kernel::{Stream, Streams};
use forebay_network::record::RecordTable;
use forebay_scenario::{Control, RunOptions, RunResult, Scenario, registry};

use crate::cells::network_of_cells;
use crate::determinism::every_scenario;
use crate::support::read;

/// One run on at most so many threads: everything in it, and the partitions that it had.
fn on(scenario: &Scenario, threads: usize, record: bool) -> (String, usize) {
    let options = RunOptions { replication: 1, record, threads, ..RunOptions::default() };
    let run = scenario.run(&options, &Control::default()).expect("this run is never cancelled");
    let (result, tables): (RunResult, Vec<RecordTable>) = run;
    let mut all = serde_json::to_value(&result).unwrap();
    let regions = all["regions"].take();
    // NaN marks rows without a value: compare what is printed.
    (format!("{all} {tables:?}"), regions.as_u64().unwrap() as usize)
}

/// The run on one thread and those on others are alike; whether the others are in several
/// partitions.
fn check(scenario: &Scenario, threads: &[usize], record: bool) -> bool {
    let (alone, one) = on(scenario, 1, record);
    assert_eq!(one, 1);
    let mut several = true;
    for threads in threads {
        let (all, regions) = on(scenario, *threads, record);
        assert!(all == alone, "{threads} threads, {regions} partitions: {:.400} {alone:.400}", all);
        several &= regions > 1;
    }
    several
}

/// Two bottlenecks in a row, with acknowledgements, losses and datagrams.
fn dual_bottleneck(more: &str) -> String {
    let link = |name: &str, ends: &str, rate: &str, delay: &str, queue: &str| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"{delay} ms\"\nqueue = {queue}\n"
        )
    };
    let tcp = |name: &str, ends: &str| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!(
            "[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = 5\n\
             start = {{ uniform = [\"0 s\", \"0.2 s\"] }}\ntcp = {{ ecn = true }}\n"
        )
    };
    let udp = |name: &str, ends: &str| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!(
            "[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = 2\n\
             udp = {{ echo = true }}\n\
             traffic = {{ poisson = {{ rate = \"10 Mbit/s\", size = \"700 B\" }} }}\n"
        )
    };
    let red = "{ red = { limit = \"120 packets\" } }";
    let fair = "{ priority = { classes = [\"droptail\", \"droptail\"] } }";
    let tail = "{ droptail = {} }";
    format!(
        "duration = \"1.5 s\"\n{}{}{}{}{}{}{}{}{}{}{}{more}",
        link("one", "r1 r2", "90", "8", red),
        link("two", "r2 r3", "80", "9", fair),
        link("a", "a r1", "400", "2", tail),
        link("b", "b r2", "400", "3", tail),
        link("c", "r3 c", "400", "1", tail),
        link("d", "r2 d", "400", "1", tail),
        tcp("both", "a c"),
        tcp("first", "a d"),
        tcp("second", "b c"),
        udp("there", "a c"),
        udp("back", "c b"),
    )
}

/// A fabric is divided at its pods: TCP with marks, losses and many ways gives the same result on
/// up to 16 threads, with a memory in each switch and without, and whatever chooses the ways.
#[test]
fn a_fabric_is_divided_between_its_pods() {
    for (path, more) in [
        ("ecmp", ""),
        ("spray", "buffer = { memory = \"300 kB\" }\n"),
        ("{ flowlet = { gap = \"20 us\" } }", ""),
    ] {
        let path = if path.starts_with('{') { path.to_owned() } else { format!("\"{path}\"") };
        let text = format!(
            "duration = \"3 ms\"\n[fabrics.dc]\nfat_tree = {{ k = 4 }}\nrate = \"10 Gbit/s\"\n\
             delay = \"5 us\"\npath = {path}\n{more}\
             queue = {{ step = {{ threshold = \"10 packets\", limit = \"40 packets\" }} }}\n\
             [flows.f]\nfrom = \"dc\"\nto = \"dc\"\npairs = \"random\"\nload = 0.6\n\
             start = {{ uniform = [\"0 s\", \"2 ms\"] }}\n\
             traffic = {{ file = {{ sizes = \"hadoop\" }} }}\n\
             tcp = {{ control = \"dctcp\", ecn = true }}\n\
             [flows.all]\nfrom = \"dc\"\nto = [\"dc.h2\", \"dc.h9\"]\n\
             udp = {{ echo = true }}\n\
             traffic = {{ poisson = {{ rate = \"400 Mbit/s\", size = \"900 B\" }} }}\n"
        );
        assert!(check(&read(&text), &[2, 4, 16], false), "{path}");
        check(&read(&text), &[2], true);
    }
}

/// A run on several cores is the same run: two bottlenecks with TCP, ECN and SACK blocks there and
/// back, losses, and datagrams with echoes, on up to 16 threads.
#[test]
fn two_bottlenecks() {
    assert!(check(&read(&dual_bottleneck("")), &[2, 3, 4, 16], false));
}

/// Ports that share a memory see each other in one order however the network is divided: at the
/// node between two bottlenecks, whose links lead into other partitions, under each sharing law.
#[test]
fn ports_that_share_a_memory() {
    for (law, queues) in [("dynamic", 2), ("complete", 1), ("{ static = { limit = \"9 kB\" } }", 1)]
    {
        let law = if law.starts_with('{') { law.to_owned() } else { format!("\"{law}\"") };
        let switch = format!(
            "[switches.r2]\nmemory = \"30 kB\"\nreserved = \"2 kB\"\nqueues = {queues}\n\
             sharing = {law}\n[switches.r3]\nmemory = \"20 kB\"\n"
        );
        let scenario = read(&dual_bottleneck(&switch));
        assert!(check(&scenario, &[2, 4], false), "{law}");
        check(&scenario, &[3], true);
    }
}

/// The losses, duplicates and delays of a wire do not depend on whether it leads into another
/// partition: each impairment on the way of segments and on that of acknowledgements.
#[test]
fn impaired_wires() {
    let registry = registry();
    let shelf = registry.shelves().find(|shelf| shelf.name() == "impairment").unwrap();
    assert_eq!(shelf.entries().len(), 7);
    for law in shelf.entries() {
        let on = |link: &str| format!("[links.{link}.impairment.{}]\n{}\n", law.name, law.example);
        let text = dual_bottleneck(&(on("one") + &on("two.reverse") + &on("c")));
        assert!(check(&read(&text), &[2, 3, 4], false), "{}", law.name);
    }
}

/// Measurements and samples do not depend on threads: with a warm-up and time series every result
/// and every sample is the same.
#[test]
fn a_warm_up_and_series() {
    let more = "[record]\nseries = \"100 ms\"\n";
    let warm =
        read(&dual_bottleneck(more).replacen("duration", "warm_up = \"0.5 s\"\nduration", 1));
    assert!(check(&warm, &[2, 3], true));
}

/// Records of packets stay in order: with a trace the run is on one thread, and the same.
#[test]
fn a_trace_keeps_the_run_on_one_thread() {
    let scenario = read(&dual_bottleneck("[record]\ntrace = 50000\n"));
    assert!(!check(&scenario, &[2], true));
}

/// A ring stays whole, and what crosses it arrives as on one thread: two rings joined by links,
/// with stations that no other partition may hold, TCP both ways over both, and datagrams.
#[test]
fn rings_stay_whole() {
    let ring = |name: &str| {
        let stations: Vec<String> = (0..5).map(|n| format!("\"{name}{n}\"")).collect();
        format!(
            "[rings.{name}]\nstations = [{}]\nrate = \"60 Mbit/s\"\ndelay = \"3 ms\"\n\
             fairness = {{ srp_fa = {{ interval = \"1 ms\" }} }}\n",
            stations.join(", ")
        )
    };
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"100 Mbit/s\"\n\
             delay = \"4 ms\"\n"
        )
    };
    let flow = |name: &str, ends: [&str; 2], kind: &str| {
        let [from, to] = ends;
        format!("[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\n{kind}\n")
    };
    let udp = "udp = {}\ntraffic = { poisson = { rate = \"15 Mbit/s\", size = \"700 B\" } }";
    let text = [
        "duration = \"1 s\"\n".to_owned(),
        link("near", "a", "p0"),
        link("join", "p2", "q0"),
        link("far", "q3", "b"),
        ring("p"),
        ring("q"),
        flow("there", ["a", "b"], "count = 6\ntcp = {}"),
        flow("back", ["b", "a"], "count = 3\ntcp = { ecn = true }"),
        flow("cross", ["p1", "q4"], udp),
        flow("local", ["q1", "q2"], udp),
    ];
    assert!(check(&read(&text.concat()), &[2, 3, 4], false));
}

/// A torus of `side` by `side` routers with a host each, of which each sends segments to one router
/// and datagrams to another.
fn torus(side: usize, delay: &str) -> String {
    let router = |x: usize, y: usize| format!("r{}-{}", x % side, y % side);
    let host = |x: usize, y: usize| format!("h{}-{}", x % side, y % side);
    let mut links = String::new();
    let mut flows = String::new();
    for (x, y) in (0..side * side).map(|n| (n / side, n % side)) {
        let here = router(x, y);
        let link = |name: &str, to: &str, rate: &str, delay: &str| {
            format!(
                "{here}-{name} = {{ from = \"{here}\", to = \"{to}\", rate = \"{rate}\", \
                 delay = \"{delay}\" }}\n"
            )
        };
        links += &link("host", &host(x, y), "1 Gbit/s", "0 s");
        links += &link("east", &router(x, y + 1), "50 Mbit/s", delay);
        links += &link("south", &router(x + 1, y), "50 Mbit/s", delay);
        flows += &format!(
            "t{x}-{y} = {{ from = \"{}\", to = \"{}\", tcp = {{ profile = \"rfc\", \
             window = \"60 packets\" }} }}\n\
             u{x}-{y} = {{ from = \"{}\", to = \"{}\", udp = {{}}, traffic = {{ poisson = \
             {{ rate = \"20 Mbit/s\", size = \"500 B\" }} }} }}\n",
            host(x, y),
            host(x + 3, y + 2),
            host(x, y),
            host(x + side - 2, y),
        );
    }
    format!("duration = \"0.4 s\"\n[links]\n{links}[flows]\n{flows}")
}

/// A large network runs alike on several cores: 64 routers in a torus, with TCP and datagrams both
/// ways through every border.
#[test]
fn sixty_four_routers() {
    assert!(check(&read(&torus(8, "4 ms")), &[2, 3, 4], false));
}

/// A network without delays runs on one thread. Where links without delay join only some of the
/// nodes, the network is divided at the others.
#[test]
fn links_without_delay_are_never_borders() {
    assert!(!check(&read(&torus(4, "0 s")), &[2, 4], false));
    let text: String = torus(6, "5 ms")
        .lines()
        .map(|line| if line.contains("-east") { line.replace("5 ms", "0 s") } else { line.into() })
        .map(|line| line + "\n")
        .collect();
    assert!(check(&read(&text), &[2, 3], false));
}

/// Every scenario of `tests/data` is the same on several threads, with calls, shapers, meters and
/// schedulers among them.
#[test]
fn every_scenario_of_the_tests() {
    for (name, scenario) in every_scenario() {
        check(&scenario, &[2, 4], false);
        assert!(!name.is_empty());
    }
}

/// A random connected network of up to nine nodes with queues, delays (some zero) and flows of
/// several kinds.
fn random_network(draw: &mut Stream) -> String {
    let nodes = 4 + draw.below(6);
    let mut pairs: Vec<(u64, u64)> = (1..nodes).map(|n| (n, draw.below(n))).collect();
    for _ in 0..draw.below(nodes) {
        let (one, other) = (draw.below(nodes), draw.below(nodes));
        let known = |pair: &(u64, u64)| *pair == (one, other) || *pair == (other, one);
        if one != other && !pairs.iter().any(known) {
            pairs.push((one, other));
        }
    }
    let queues = [
        "{ droptail = { limit = \"30 packets\" } }",
        "{ red = { limit = \"50 packets\" } }",
        "{ priority = { classes = [\"droptail\", \"droptail\"], classify = \"precedence\" } }",
        "{ droptail = {} }",
    ];
    let mut text = "duration = \"300 ms\"\nwarm_up = \"50 ms\"\n".to_owned();
    for (number, (from, to)) in pairs.iter().enumerate() {
        let rate = [100, 155, 622][draw.below(3) as usize];
        // Equal delays make for simultaneous events.
        let delay = [0, 2, 5, 5, 10][draw.below(5) as usize];
        let queue = queues[draw.below(4) as usize];
        text += &format!(
            "[links.l{number}]\nfrom = \"n{from}\"\nto = \"n{to}\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"{delay} ms\"\nqueue = {queue}\n"
        );
        text += [
            "impairment = { loss = { probability = 0.01 } }\n",
            "impairment = { jitter = { mean = \"3 ms\", reorder = true } }\n",
            "conditioner = { token_bucket = { cir = \"20 Mbit/s\", cbs = \"9 kB\", \
             excess = \"drop\" } }\n",
            "",
            "",
            "",
        ][draw.below(6) as usize];
    }
    for number in 0..3 + draw.below(6) {
        let from = draw.below(nodes);
        let to = (from + 1 + draw.below(nodes - 1)) % nodes;
        let kind = [
            "tcp = { profile = \"rfc\" }",
            "tcp = { profile = \"rfc\", recovery = \"newreno\", ecn = true }",
            "udp = {}\ntraffic = { cbr = { rate = \"20 Mbit/s\", size = \"1000 B\" } }",
            "udp = {}\ntraffic = { on_off = { rate = \"40 Mbit/s\", size = \"250 B\" } }",
        ][draw.below(4) as usize];
        let count = 1 + draw.below(4);
        text += &format!(
            "[flows.f{number}]\nfrom = \"n{from}\"\nto = \"n{to}\"\ncount = {count}\n{kind}\n"
        );
    }
    text
}

/// Random networks are divided only where they can be, and each packet finds the same state in
/// every division: sixty random networks, most of which can be divided.
#[test]
fn random_networks() {
    let mut divided = 0;
    for number in 0..60 {
        let text = random_network(&mut Streams::new(11, number).named("network"));
        let scenario = Scenario::parse(&text, "random.toml", &[])
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        divided += u32::from(check(&scenario, &[2 + number as usize % 4], false));
    }
    assert!(divided > 30, "only {divided} networks were divided");
}

/// Cells, releases of a policer and notifications cross a border at their own times: random
/// networks of paced sources.
#[test]
fn random_networks_of_cells() {
    let mut divided = 0;
    for number in 0..60 {
        let text = network_of_cells(&mut Streams::new(12, number).named("network"));
        divided += u32::from(check(&read(&text), &[2 + number as usize % 3], false));
    }
    assert!(divided > 10, "only {divided} networks were divided");
}
