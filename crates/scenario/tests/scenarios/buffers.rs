//! Queue lengths that go by their link, as bandwidth-delay products and as times.

use forebay_elements::registry;
use forebay_parameters::{Node, Value};
use forebay_scenario::Scenario;

use super::support::{read, run};

/// A bottleneck of 10 Mbit/s behind a fast link. Propagation delays are 5 ms and 15 ms each way,
/// so the base round-trip time is 40 ms and BDP is 10 Mbit/s x 40 ms / 8 = 50,000 B.
fn network(queue: &str) -> String {
    format!(
        "duration = \"2 s\"\n\
         [links.access]\nfrom = \"a\"\nto = \"b\"\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\n\
         [links.bn]\nfrom = \"b\"\nto = \"c\"\nrate = \"10 Mbit/s\"\ndelay = \"15 ms\"\n\
         queue = {queue}\n\
         [flows.f]\nfrom = \"a\"\nto = \"c\"\ntcp = {{}}\n"
    )
}

fn tail(limit: &str) -> String {
    format!("{{ droptail = {{ limit = \"{limit}\" }} }}")
}

/// The limit of the bottleneck's queue as `text` resolves it.
fn limit(text: &str) -> String {
    read(text).resolved("links.bn.queue.droptail.limit").unwrap().to_owned()
}

fn refusal(text: &str) -> String {
    match Scenario::parse(text, "test.toml", &[]) {
        Ok(_) => panic!("it is accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// A buffer that goes by its link is that in bytes: the same scenario and the same run. 20 ms at
/// 10 Mbit/s are 25,000 B; 1 us is 1.25 B, rounded down.
#[test]
fn a_buffer_by_its_link_is_that_in_bytes() {
    for (given, bytes) in [
        ("1 BDP", "50 kB"),
        ("0.5 BDP", "25 kB"),
        ("1.5BDP", "75 kB"),
        ("20 ms", "25 kB"),
        ("0.02 s", "25 kB"),
        ("1 us", "1 B"),
    ] {
        let (scenario, same) = (network(&tail(given)), network(&tail(bytes)));
        assert_eq!(limit(&scenario), bytes, "{given}");
        assert_eq!(read(&scenario).hash(), read(&same).hash(), "{given}");
    }
    let [by_link, in_bytes] = ["1 BDP", "50 kB"].map(|limit| run(&network(&tail(limit))));
    assert_eq!(by_link.digest, in_bytes.digest);
}

/// Every length of a queue can go by the link, also in a list and in queues inside others, where
/// the rate is that of the link; times of queue laws stay times.
#[test]
fn lengths_inside_queues_go_by_the_link_too() {
    let class = |name: &str, rate: &str, limit: &str| {
        let queue = format!("codel = {{ target = \"5 ms\", limit = \"{limit}\" }}");
        format!("{{ name = \"{name}\", rate = \"{rate}\", queue = {{ {queue} }} }}")
    };
    let htb = |limit: &str| {
        let classes = [class("x", "2 Mbit/s", limit), class("y", "8 Mbit/s", "9 kB")].join(", ");
        format!("{{ htb = {{ classes = [{classes}], map = [0, 1] }} }}")
    };
    let drr = |limit: &str| {
        let classes = [tail(limit), tail("9 kB")].join(", ");
        let quanta = "[\"1 kB\", \"1 kB\"], classify = \"precedence\"";
        format!("{{ drr = {{ classes = [{classes}], quanta = {quanta} }} }}")
    };
    let rio = |[low, high]: [&str; 2]| {
        format!(
            "{{ rio = {{ min_threshold = [\"{high}\", \"{low}\"], max_threshold = [\"30 kB\", \
             \"20 kB\"], max_probability = [0.1, 0.1] }} }}"
        )
    };
    for (given, bytes) in [
        (htb("1 BDP"), htb("50 kB")),
        (drr("20 ms"), drr("25 kB")),
        (rio(["4 ms", "0.2 BDP"]), rio(["5 kB", "10 kB"])),
    ] {
        assert_eq!(read(&network(&given)).hash(), read(&network(&bytes)).hash(), "{given}");
    }
}

/// The longest round-trip time of the flows that pass decides: with a second sender at 25 ms it is
/// 80 ms, which is 100 kB. The way back of the link counts with its own delay, and its queue with
/// its own rate: 5 + 15 + 35 + 5 = 60 ms at 1 Mbit/s are 7500 B.
#[test]
fn the_longest_round_trip_of_what_passes_counts() {
    let second = "[links.far]\nfrom = \"d\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"25 ms\"\n\
                  [flows.g]\nfrom = \"d\"\nto = \"c\"\ntcp = {}\n";
    let text = network(&tail("1 BDP"));
    assert_eq!(limit(&(text.clone() + second)), "100 kB");
    let reverse = "[links.bn.reverse]\nrate = \"1 Mbit/s\"\ndelay = \"35 ms\"\n\
                   queue = { droptail = { limit = \"1 BDP\" } }\n";
    let both = read(&(text + reverse));
    assert_eq!(both.resolved("links.bn.reverse.queue.droptail.limit"), Some("7.5 kB"));
    assert_eq!(both.resolved("links.bn.queue.droptail.limit"), Some("75 kB"));
}

/// A route that is given counts as it is, not the shortest path: over the detour of 20 ms each way
/// the base round-trip time is 2 x (20 + 15) = 70 ms, which is 87,500 B.
#[test]
fn a_given_route_counts() {
    let detour = "[links.one]\nfrom = \"a\"\nto = \"x\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
                  [links.two]\nfrom = \"x\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
                  [flows.f]\nroute = [\"a\", \"x\", \"b\", \"c\"]\n";
    assert_eq!(limit(&network(&tail("1 BDP")).replace("[flows.f]\n", detour)), "87.5 kB");
}

/// Buffers by their link can be set by assignments and sites; in a changed scenario they go by the
/// link as it is then.
#[test]
fn buffers_by_their_link_follow_assignments_sites_and_changes() {
    let text = network(&tail("78 packets"));
    let set = |more: &str| {
        let set = ["links.bn.queue.droptail.limit=0.5 BDP".to_owned(), more.to_owned()];
        let scenario = Scenario::parse(&text, "test.toml", &set).unwrap();
        scenario.resolved("links.bn.queue.droptail.limit").unwrap().to_owned()
    };
    assert_eq!(set("links.bn.rate=20 Mbit/s"), "50 kB");
    assert_eq!(set("links.bn.delay=35 ms"), "50 kB");
    let sites = "[sites]\neach = [{ site = \"north\", buffer = \"1 BDP\" }]\n\
                 [sites.links.\"{site}\"]\nfrom = \"c\"\nto = \"{site}\"\nrate = \"8 Mbit/s\"\n\
                 delay = \"5 ms\"\nqueue = { droptail = { limit = \"{buffer}\" } }\n\
                 [sites.flows.\"{site}\"]\nfrom = \"b\"\nto = \"{site}\"\ntcp = {}\n";
    // 8 Mbit/s x 2 (15 + 5) ms / 8.
    let north = read(&(text.clone() + sites));
    assert_eq!(north.resolved("links.north.queue.droptail.limit"), Some("40 kB"));
    let changed = read(&network(&tail("1 BDP"))).changed(&registry(), "test.toml", |root| {
        let steps = ["links", "bn", "rate"];
        *steps.iter().fold(root, |node, step| match &mut node.value {
            Value::Table(table) => table.get_mut(*step).unwrap(),
            _ => unreachable!(),
        }) = Node::new("4 Mbit/s".into());
        Ok(())
    });
    assert_eq!(changed.unwrap().resolved("links.bn.queue.droptail.limit"), Some("20 kB"));
}

/// A buffer that cannot go by its link is refused with its place, the reason, and what to write
/// instead.
#[test]
fn buffers_that_cannot_go_by_their_link_are_refused() {
    let text = network(&tail("1 BDP"));
    let steps = "queue = { droptail = { limit = \"1 BDP\" } }\n\
                 rate_steps = [{ at = \"1 s\", rate = \"1 Mbit/s\" }]\n";
    let queue = "queue = { droptail = { limit = \"1 BDP\" } }\n";
    let past = text.replace("from = \"a\"\nto = \"c\"", "from = \"a\"\nto = \"b\"");
    let one_way = text.replace(
        "tcp = {}",
        "udp = {}\ntraffic = { cbr = { rate = \"1 Mbit/s\", size = \"1 kB\" } }",
    );
    let one_way = one_way.replace("[flows.f]", "duplex = false\n[flows.f]");
    let cases: [(String, &[&str]); 8] = [
        (text.replace(queue, steps), &["the link, which changes", "write a size or packets"]),
        (text.replace(queue, steps).replace("1 BDP", "20 ms"), &["which changes"]),
        (past, &["none does that has a way back", "\"20 ms\""]),
        (one_way, &["none does that has a way back"]),
        (text.replace("5 ms", "0 s").replace("10 s", "0 s"), &["no propagation delay"]),
        (network(&tail("1 bdp")), &["\"bdp\"", "did you mean \"BDP\"?"]),
        (network(&tail("-1 BDP")), &["negative", "bandwidth-delay products"]),
        (network(&tail("3 cells")), &["\"cells\"", "kB", "or packets", "BDP", "times such as ms"]),
    ];
    for (text, parts) in cases {
        let message = refusal(&text);
        assert!(message.contains("line 12: links.bn.queue.droptail.limit: "), "{message}");
        parts.iter().for_each(|part| assert!(message.contains(part), "{message}\n{part}"));
    }
    let rate = refusal(&text.replace("rate = \"10 Mbit/s\"\n", ""));
    assert!(rate.contains("links.bn.rate: is missing"), "{rate}");
    // Elsewhere lengths are none of a link's.
    let window = refusal(&network(&tail("9 kB")).replace("{}", "{ window = \"1 BDP\" }"));
    assert!(window.contains("flows.f.tcp.window: \"BDP\""), "{window}");
}
