//! Results by class of a queue.

use forebay_scenario::{ClassResult, Control, Invariant, RunOptions, RunResult, Scenario};

use crate::support::{floats, link, read, record, run_with, table};

/// A bottleneck of 1 Mbit/s with `queue`, offered EF in small packets, TCP that speaks ECN, L4S or
/// not, and best effort.
fn scenario(queue: &str, more: &str) -> String {
    let ends = "from = \"a\"\nto = \"b\"\n";
    format!(
        "duration = \"5 s\"\nwarm_up = \"1 s\"\nrecord.classes = true\n\
         [links.l]\n{ends}rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\nqueue = {queue}\n{more}\n\
         [flows.ef]\n{ends}dscp = \"EF\"\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = \"100 kbit/s\", size = \"200 B\" }} }}\n\
         [flows.t]\n{ends}precedence = 1\ncount = 3\ntcp = {{ ecn = true }}\n\
         [flows.p]\n{ends}tcp = {{ ecn = true, control = \"prague\" }}\n\
         [flows.u]\n{ends}precedence = 2\nudp = {{}}\n\
         traffic = {{ poisson = {{ rate = \"400 kbit/s\", size = \"500 B\" }} }}\n"
    )
}

/// The run of `text`, of which all holds that must.
fn checked(text: &str) -> RunResult {
    let scenario = read(text);
    let (result, _) = run_with(&scenario, 0, false);
    let report = scenario.check(&RunOptions::default(), &Control::default(), &result);
    let report = report.expect("this run is never cancelled");
    assert_eq!(report.breaches(), [], "{text}");
    if !result.rows::<ClassResult>().is_empty() {
        assert!(report.checked(Invariant::ResultClasses) > 5);
    }
    result
}

/// Classes are counted once each, and counting them does not change the run: of every queue with
/// classes the rows add up to those of the link, packets that are marked, dropped on arrival,
/// dropped from the queue or sent at once included, and all else is as without them.
#[test]
fn classes_add_up_to_their_link() {
    let classes = "classes = [{ codel = {} }, { red = { limit = \"9 packets\", ecn = true } }, \
                   { droptail = { limit = \"9 packets\" } }]";
    let plain = "classes = [\"droptail\", \"droptail\", { droptail = { limit = \"20 packets\" } }]";
    let mut queues = vec![
        ("{ cake = { tins = \"diffserv4\", rate = \"900 kbit/s\" } }".to_owned(), 4),
        ("{ cake = { tins = \"diffserv3\", limit = \"9 kB\" } }".to_owned(), 3),
        ("{ dualpi2 = {} }".to_owned(), 2),
        (format!("{{ priority = {{ map = [0, 1, 2], {plain} }} }}"), 3),
        ("{ htb = { classify = \"precedence\", classes = [{ name = \"r\", rate = \"900 kbit/s\" }, \
          { name = \"a\", parent = \"r\", rate = \"300 kbit/s\", queue = { codel = {} } }, \
          { name = \"b\", parent = \"r\", rate = \"600 kbit/s\", queue = { droptail = { limit = \
          \"9 packets\" } } }] } }"
            .to_owned(),
            2),
    ];
    // In a token bucket filter, which holds the next packet back.
    let inner = [
        format!("{{ drr = {{ classify = \"precedence\", {classes} }} }}"),
        format!("{{ priority = {{ map = [0, 1, 2], {plain} }} }}"),
        "{ dualpi2 = {} }".to_owned(),
    ];
    for (queue, number) in inner.iter().zip([3, 3, 2]) {
        let bucket = "rate = \"800 kbit/s\", burst = \"1600 B\"";
        queues.push((format!("{{ tbf = {{ {bucket}, queue = {queue} }} }}"), number));
    }
    for name in ["priority", "drr", "wrr", "ets", "wfq", "scfq", "stfq", "wf2q_plus"] {
        queues.push((format!("{{ {name} = {{ classify = \"precedence\", {classes} }} }}"), 3));
    }
    let bucket = "{ token_bucket = { cir = \"50 kbit/s\", cbs = \"3 kB\", excess = \"drop\" } }";
    let policed = format!("conditioner = {{ only = {{ dscp = [\"EF\"], of = {bucket} }} }}");
    let policed = policed.as_str();
    let changing = "rate_steps = [{ at = \"2 s\", rate = \"2 Mbit/s\" }]";
    for (queue, number) in queues {
        for more in ["", changing, policed] {
            let text = scenario(&queue, more);
            let result = checked(&text);
            assert_eq!(result.rows::<ClassResult>().len(), number, "{queue}");
            let arrived = |class: &ClassResult| class.arrived_packets;
            let arrived: Vec<u64> = result.rows::<ClassResult>().iter().map(arrived).collect();
            assert!(arrived.iter().filter(|n| **n > 0).count() > 1, "{queue} {more}: {arrived:?}");
            let without = checked(&text.replace("record.classes = true\n", ""));
            assert!(without.rows::<ClassResult>().is_empty());
            let same = |result: &RunResult| {
                (result.digest.clone(), result.events, format!("{:?}", result.links))
            };
            assert_eq!(same(&result), same(&without), "{queue} {more}");
        }
    }
}

/// A class has its own packets, and the time that they wait in the queue. Strict priority at 1
/// Mbit/s: class 0 has 100 packets of 500 B in a second and never more than one waiting; class 1 is
/// offered 200, of which 150 find room in what is left, and 50 are dropped. In the four seconds
/// that count that makes 400, 800 and 600. The buffer of ten packets is full but for the moments
/// between a departure and the next arrival, 5 ms at most: it holds nine to ten in the mean, which
/// wait as long as so many take at 150 in a second.
#[test]
fn a_class_has_its_own_packets_and_wait() {
    let flow = |name: &str, precedence: u32, kbps: u32| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nprecedence = {precedence}\nudp = {{}}\n\
             traffic = {{ cbr = {{ rate = \"{kbps} kbit/s\", size = \"500 B\" }} }}\n"
        )
    };
    let text = format!(
        "duration = \"5 s\"\nwarm_up = \"1 s\"\nrecord.classes = true\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\nqueue = {{ priority = \
         {{ classes = [\"droptail\", {{ droptail = {{ limit = \"10 packets\" }} }}] }} }}\n{}{}",
        flow("first", 0, 400),
        flow("second", 1, 800)
    );
    let result = checked(&text);
    let [first, second] = result.rows::<ClassResult>() else { panic!("there are two classes") };
    assert_eq!((&*first.name, &*second.name, &*second.link), ("l[0]", "l[1]", "l"));
    let near = |found: u64, expected: u64| assert!(found.abs_diff(expected) <= 2, "{found}");
    near(first.arrived_packets, 400);
    near(first.departed_packets, 400);
    near(second.arrived_packets, 800);
    near(second.departed_packets, 600);
    near(second.drops, 200);
    assert_eq!((first.drops, second.drop_reasons.overflow), (0, second.drops));
    assert_eq!(second.departed_bytes, 500 * second.departed_packets);
    assert!((first.throughput_bps - 400e3).abs() < 2e3, "{}", first.throughput_bps);
    assert!(first.mean_queue_packets < 1.0);
    assert!((9.0..10.0).contains(&second.mean_queue_packets), "{}", second.mean_queue_packets);
    let wait = second.mean_queue_packets / 150.0;
    assert!((second.mean_wait_s / wait - 1.0).abs() < 0.01, "{}", second.mean_wait_s);
    let all = link(&result, "l").mean_queue_packets;
    assert!((first.mean_queue_packets + second.mean_queue_packets - all).abs() < 1e-9);
}

/// Series of a class show its own packets, those of its row: sampled every 100 ms, drops and marks
/// add up to the row's, rate and queue have its means. In the network of the test above class 0
/// sends 10 packets of 500 B in each 100 ms, and class 1 what is left, 15; the same within a token
/// bucket filter.
#[test]
fn series_of_classes_add_up_to_their_rows() {
    let classes = "[\"droptail\", { droptail = { limit = \"10 packets\" } }]";
    let flow = |name: &str, precedence: u32, kbps: u32| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nprecedence = {precedence}\nudp = {{}}\n\
             traffic = {{ cbr = {{ rate = \"{kbps} kbit/s\", size = \"500 B\" }} }}\n"
        )
    };
    for inside in [false, true] {
        let queue = format!("{{ priority = {{ classes = {classes} }} }}");
        let shaped =
            format!("{{ tbf = {{ rate = \"1 Mbit/s\", burst = \"500 B\", queue = {queue} }} }}");
        let (rate, queue) = if inside { ("2 Mbit/s", shaped) } else { ("1 Mbit/s", queue) };
        let text = format!(
            "duration = \"5 s\"\nwarm_up = \"1 s\"\nrecord.classes = true\n\
             record.series = \"100 ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n\
             rate = \"{rate}\"\nqueue = {queue}\n{}{}",
            flow("first", 0, 400),
            flow("second", 1, 800)
        );
        let result = checked(&text);
        let (_, tables) = record(&text);
        let series = table(&tables, "series/links.l");
        // Samples of the measured time: the 11th, at 1.1 s, and after.
        let of = |name: &str| floats(series, name)[10..].to_vec();
        for (class, packets) in [(0, 10.0), (1, 15.0)] {
            let row = &result.rows::<ClassResult>()[class];
            let sum = |name: &str| of(&format!("{name}.{class}")).iter().sum::<f64>();
            assert_eq!(sum("class_drops"), row.drops as f64);
            assert_eq!(sum("class_marks"), 0.0);
            assert!((sum("class_throughput_bps") / 40.0 / row.throughput_bps - 1.0).abs() < 1e-9);
            let mean = sum("class_mean_queue_packets") / 40.0;
            assert!((mean - row.mean_queue_packets).abs() < 1e-9, "{mean}");
            for bps in of(&format!("class_throughput_bps.{class}")) {
                assert!((bps / 40e3 - packets).abs() <= 1.0 + 1e-9, "{inside}, {class}: {bps}");
            }
        }
        let without = record(&text.replace("record.classes = true\n", "")).1;
        let names = table(&without, "series/links.l").columns.iter().map(|(name, _)| name);
        assert!(names.clone().all(|name| !name.starts_with("class_")));
    }
}

/// Counters of classes are those of the whole network and of the window: with two threads, or one,
/// a network of two such links has the same rows.
#[test]
fn threads_change_no_class() {
    let queue = "{ drr = { classify = \"flow_hash\", salt = 1, classes = [\"droptail\", \
                 { droptail = { limit = \"9 packets\" } }] } }";
    let second = format!(
        "[links.m]\nfrom = \"b\"\nto = \"c\"\nrate = \"900 kbit/s\"\ndelay = \"10 ms\"\n\
         queue = {queue}\n"
    );
    let text = scenario(queue, &second).replace("to = \"b\"\ndscp", "to = \"c\"\ndscp");
    let scenario = read(&text.replace("to = \"b\"\nprecedence", "to = \"c\"\nprecedence"));
    let rows = |threads| {
        let options = RunOptions { threads, ..RunOptions::default() };
        let (result, _) = scenario.run(&options, &Control::default()).unwrap();
        (format!("{:?}", result.rows::<ClassResult>()), result.rows::<ClassResult>().len())
    };
    let (one, two) = (rows(1), rows(2));
    assert_eq!(one, two);
    assert_eq!(one.1, 4);
}

/// Classes have no rows at links whose queue has none, and `record.classes` is yes or no.
#[test]
fn queues_without_classes_have_no_rows() {
    for queue in [
        "\"droptail\"",
        "{ fq_codel = {} }",
        "{ tbf = { rate = \"900 kbit/s\", burst = \"3 kB\", queue = { fq_codel = {} } } }",
    ] {
        assert!(checked(&scenario(queue, "")).rows::<ClassResult>().is_empty(), "{queue}");
    }
    let wrong = scenario("\"droptail\"", "").replace("classes = true", "classes = 1");
    let error = Scenario::parse(&wrong, "test.toml", &[]).err().expect("it is no yes or no");
    assert_eq!(error.problem.path, "record.classes");
}
