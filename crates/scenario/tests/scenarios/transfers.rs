//! Transfers over TCP: completion times against timelines by hand.

use forebay_network::record::RecordTable;
use forebay_scenario::{Control, RunOptions, RunResult, Scenario, TransferResult};

use crate::support::{floats, names, ps, read, record, run, table, wholes};

const MS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;

/// A link of 8 Mbit/s, on which a segment of 960 B and 40 B of headers takes 1 ms and an
/// acknowledgement 40 us, and 50 ms; `more` adds keys to the flow.
fn scenario(duration: &str, traffic: &str, more: &str) -> String {
    format!(
        "duration = \"{duration}\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n{more}\ntraffic = {traffic}\n\
         [flows.f.tcp]\nprofile = \"rfc\"\n\
         mss = \"960 B\"\ninitial_window = \"2 packets\"\ndelayed_ack = false\n"
    )
}

fn transfers(result: &RunResult) -> &TransferResult {
    &result.rows::<TransferResult>()[0]
}

/// Completion times, sizes and slowdowns of a record.
fn rows(tables: &[RecordTable]) -> Vec<(u64, u64, f64)> {
    let table = table(tables, "transfers");
    let (times, sizes) = (floats(table, "completion_s"), wholes(table, "size_bytes"));
    let slowdowns = floats(table, "slowdown").iter();
    let both = times.iter().zip(sizes).zip(slowdowns);
    both.map(|((time, size), slowdown)| (ps(*time), *size, *slowdown)).collect()
}

/// Completion times are those of slow start on an empty link. Six segments, of which two leave at
/// once and arrive after 51 and 52 ms; their acknowledgements are back at 101.04 and 102.04 ms, and
/// each lets two go: the first at 101.04 ms, the others behind it, so that the last arrives 4 ms
/// and 50 ms later, at 155.04 ms. On the empty link they would take 6 + 50 ms. A second file finds
/// a window of 8 segments, and takes just that. The last segment of a third is of 480 B: 5 + 0.52 +
/// 50 ms.
#[test]
fn a_transfer_takes_the_rounds_of_slow_start() {
    let two = "{ file = { size = \"5760 B\", count = 2, interval = \"500 ms\" } }";
    let text = scenario("2 s", two, "") + "[record]\ntransfers = true\n";
    let (result, tables) = record(&text);
    let (slow, fast) = (155_040 * US, 56 * MS);
    let slowdown = 155.04e9 / 56e9;
    assert_eq!(rows(&tables), [(slow, 5760, slowdown), (fast, 5760, 1.0)]);
    assert_eq!(names(table(&tables, "transfers"), "flow"), ["f", "f"]);
    assert_eq!(ps(floats(table(&tables, "transfers"), "begun_s")[1]), 500 * MS);
    let found = transfers(&result);
    assert_eq!((found.completed, found.unfinished, found.queued), (2, 0, 0));
    assert_eq!(found.completed_bytes, 2 * 5760);
    assert_eq!(ps(found.mean_completion_s.unwrap()), (slow + fast) / 2);
    assert_eq!(ps(found.max_completion_s.unwrap()), slow);
    assert!((found.mean_slowdown.unwrap() - (1.0 + slowdown) / 2.0).abs() < 1e-6);
    assert_eq!(found.completed_by_size, [2, 0, 0, 0]);
    let short = "{ file = { size = \"5280 B\", count = 2, interval = \"500 ms\" } }";
    let (_, tables) = record(&(scenario("2 s", short, "") + "[record]\ntransfers = true\n"));
    assert_eq!(rows(&tables)[1], (55_520 * US, 5280, 1.0));
}

/// Transfers count in the window in which they are completed, those that the end cuts off are
/// unfinished, and each ends for itself: files of six segments every 20 ms, behind each other on
/// one connection, until 60 ms.
#[test]
fn windows_and_stops_cut_transfers_off() {
    let files = "{ file = { size = \"5760 B\", count = 100, interval = \"20 ms\" } }";
    let stop = "stop = \"55 ms\"";
    let all = run(&scenario("2 s", files, stop));
    // At 0, 20 and 40 ms; the second and third began while the first was on its way.
    let found = transfers(&all);
    assert_eq!((found.completed, found.unfinished, found.queued), (0, 3, 0));
    // The data that had not been sent by then is given up, and with it every transfer.
    let later = run(&scenario("2 s", files, "stop = \"110 ms\""));
    let found = transfers(&later);
    assert_eq!((found.completed + found.unfinished, found.queued), (6, 0));
    assert_eq!(found.completed, 1);
    let warm = format!("warm_up = \"100 ms\"\n{}", scenario("400 ms", files, ""));
    let cold = run(&scenario("100 ms", files, ""));
    let warm = run(&warm);
    assert_eq!((transfers(&cold).completed, transfers(&cold).unfinished), (0, 6));
    // 20 have begun by 400 ms, at which the 21st is due. Rounds of 2, 4, 8 and 16 segments, five
    // files, have left by 303.12 ms and arrived by 370; the next leaves at 404.16 ms.
    let found = transfers(&warm);
    assert_eq!((found.completed, found.unfinished, found.queued), (5, 16, 4));
}

/// Groups without transfers have no rows, and results do not depend on the division of a network;
/// each receiver counts for itself, and lies in another partition than the sender.
#[test]
fn transfers_are_those_of_any_division() {
    let files = "{ file = { size = \"15 kB\", count = 40, interval = \"30 ms\" } }";
    let text = scenario("2 s", files, "count = 20")
        + "[flows.bulk]\nfrom = \"a\"\nto = \"b\"\n\
         tcp = { profile = \"rfc\" }\n";
    let scenario = read(&text);
    let run = |threads| {
        let options = RunOptions { threads, ..RunOptions::default() };
        scenario.run(&options, &Control::default()).unwrap().0
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one.rows::<TransferResult>().len(), 1);
    assert_eq!(one.rows::<TransferResult>(), two.rows::<TransferResult>());
    let found = transfers(&one);
    assert!(found.completed > 20 && found.unfinished > 0, "{found:?}");
    assert_eq!(found.completed_by_size, [0, found.completed, 0, 0]);
}

/// A transfer on a fresh connection knows nothing of the one before, and one on a persistent
/// connection does: six segments take 155.04 ms from an initial window of two, as above, and 56 ms
/// from a window of eight. That of transfers which find others on their way, or not all
/// acknowledged, depends on these. Beginnings are Poisson: of 400 expected their number deviates by
/// 20; the bound is five times that.
#[test]
fn fresh_connections_begin_anew() {
    for (connection, later) in [("fresh", 155_040 * US), ("persistent", 56 * MS)] {
        let traffic = format!(
            "{{ transfers = {{ rate = \"0.5 /s\", \
             sizes = {{ constant = {{ size = \"5760 B\" }} }}, connection = \"{connection}\" }} }}"
        );
        let text = scenario("800 s", &traffic, "") + "idle_restart = false\n";
        let (result, tables) = record(&(text + "[record]\ntransfers = true\n"));
        let ends = floats(table(&tables, "transfers"), "time_s");
        let begun = floats(table(&tables, "transfers"), "begun_s");
        let rows = rows(&tables);
        assert_eq!(rows[0].0, 155_040 * US);
        let alone: Vec<usize> =
            (1..rows.len()).filter(|at| begun[*at] > ends[at - 1] + 0.051).collect();
        assert!(alone.len() > 200, "{}", alone.len());
        for at in alone {
            assert_eq!(rows[at].0, later, "{connection} {at}");
        }
        let found = transfers(&result);
        let number = found.completed + found.unfinished;
        assert!((300..=500).contains(&number), "{number}");
        let queued = (1..rows.len()).filter(|at| begun[*at] < ends[at - 1]).count() as u64;
        assert_eq!((found.completed, found.queued), (rows.len() as u64, queued));
        assert!(queued > 0);
    }
}

/// The end of a fresh connection's data is acknowledged, and congestion of the one before is not
/// taken for its own: 40 flows with short transfers share a link that marks and drops, under every
/// kind of congestion control and recovery. None comes to a standstill: of those of each flow that
/// begin between 8 and 18 s, 20 in the mean, more than three are completed. That so few begin has a
/// probability of 3.2e-6, and for any flow of any control 6e-4.
#[test]
fn fresh_connections_survive_congestion() {
    for (control, more) in [
        ("reno", "recovery = \"newreno\"\n"),
        ("cubic", "ecn = true\n"),
        ("bbr", "timestamps = true\n"),
        ("bbr3", "pacing = \"window\"\n"),
        ("dctcp", "ecn = true\nrecovery_window = \"prr\"\n"),
    ] {
        let text = format!(
            "duration = \"30 s\"\n\
             [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n\
             queue = {{ codel = {{ limit = \"30 packets\" }} }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = 40\nstop = \"20 s\"\n\
             traffic = {{ transfers = {{ rate = \"2 /s\", sizes = {{ pareto = {{ \
             min = \"2 kB\", max = \"300 kB\" }} }} }} }}\n\
             [flows.f.tcp]\nprofile = \"rfc\"\n\
             control = {{ {control} = {{}} }}\nrto_min = \"200 ms\"\n{more}"
        );
        let (_, tables) = record(&(text + "[record]\ntransfers = true\n"));
        let table = table(&tables, "transfers");
        let rows = || names(table, "flow").iter().zip(floats(table, "begun_s"));
        for number in 0..40 {
            let name = format!("f[{number}]");
            let own = rows().filter(|row| *row.0 == name && (8.0..18.0).contains(row.1));
            assert!(own.count() > 3, "{control}: flow {number}");
        }
    }
}

/// Wrong transfers are refused with their path.
#[test]
fn wrong_transfers_are_refused_with_their_path() {
    let refused = |transport: &str, traffic: &str| {
        let text = format!(
            "duration = \"1 s\"\n\
             [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n{transport}\ntraffic = {traffic}\n"
        );
        match Scenario::parse(&text, "test.toml", &[]) {
            Ok(_) => panic!("{traffic} is taken"),
            Err(error) => (error.problem.path.clone(), error.to_string()),
        }
    };
    let constant = "sizes = { constant = { size = \"1 kB\" } }";
    let whole = format!("{{ transfers = {{ rate = \"1 /s\", {constant} }} }}");
    assert_eq!(refused("udp = {}", &whole).0, "flows.f.traffic");
    assert!(refused("calls = { initial = 1 }", &whole).1.contains("only TCP can carry"));
    let (path, message) =
        refused("tcp = { profile = \"rfc\" }", "{ transfers = { rate = \"1 /s\" } }");
    assert_eq!(path, "flows.f.traffic.transfers.sizes");
    assert!(message.contains("is missing"), "{message}");
    let named = "{ transfers = { rate = \"1 /s\", sizes = \"web_serch\" } }";
    let (path, message) = refused("tcp = { profile = \"rfc\" }", named);
    assert_eq!(path, "flows.f.traffic.transfers.sizes");
    assert!(message.contains("web_search"), "{message}");
    let below = "{ transfers = { rate = \"1 /s\", sizes = { pareto = { min = \"0 B\" } } } }";
    assert_eq!(
        refused("tcp = { profile = \"rfc\" }", below).0,
        "flows.f.traffic.transfers.sizes.pareto.min"
    );
    let neither = format!("{{ transfers = {{ {constant} }} }}");
    assert_eq!(
        refused("tcp = { profile = \"rfc\" }", &neither).0,
        "flows.f.traffic.transfers.rate"
    );
    let slow = format!("{{ transfers = {{ rate = \"0 /s\", {constant} }} }}");
    assert_eq!(refused("tcp = { profile = \"rfc\" }", &slow).0, "flows.f.traffic.transfers.rate");
}

/// A client is answered once and in time, and asks again. A request of 400 B takes 0.4 ms and 50
/// ms, and six segments 155.04 ms on a fresh connection, as above; on a persistent one the first
/// answer takes that long, and others 56 ms. By the interactive response time law (Lazowska et al.,
/// Quantitative System Performance, 1984, section 3.4) a client that thinks for Z = 1 s in the mean
/// and waits for R completes T / (Z + R) of them in T = 2000 s: 1659.1 of 205.44 ms, 1807.7 of
/// 106.4 ms; with exponential times to think the number deviates by sqrt(T Z^2 / (Z + R)^3) = 33.8
/// and 38.4. The bound is five of these.
#[test]
fn clients_ask_wait_and_think() {
    let cases = [("fresh", 205_440, 1659.1, 33.8), ("persistent", 106_400, 1807.7, 38.4)];
    for (connection, later, expected, deviation) in cases {
        let traffic = format!(
            "{{ requests = {{ think = \"1 s\", sizes = {{ constant = {{ size = \"5760 B\" }} }}, \
             connection = \"{connection}\" }} }}"
        );
        let text = scenario("2000 s", &traffic, "") + "idle_restart = false\n";
        let (result, tables) = record(&(text + "[record]\ntransfers = true\n"));
        let rows = rows(&tables);
        assert_eq!(rows[0].0, 205_440 * US);
        // The last acknowledgement comes back after 50.04 ms, and a request after 50.4 at least.
        assert!(rows[1..].iter().all(|row| row.0 == later * US), "{connection}");
        let found = transfers(&result);
        assert_eq!((found.completed, found.queued), (rows.len() as u64, 0));
        assert!(found.unfinished <= 1);
        // The request takes 0.4 + 50 ms, and the first segment 1 + 50 ms.
        assert!((found.mean_startup_s.unwrap() - 101.4e-3).abs() < 1e-12);
        assert!(found.started - found.completed <= 1);
        assert!((found.completed as f64 - expected).abs() < 5.0 * deviation, "{found:?}");
    }
}

/// A page ends with its last object, and connections ask for one object at a time. Twelve objects
/// of one segment over six connections: requests leave one after the other and the first arrives
/// after 50.4 ms, others 0.4 ms apart; answers leave at 51.4 to 56.4 ms and arrive at 101.4 to
/// 106.4 ms. With each, an acknowledgement and the next request leave, 0.44 ms: the last arrives at
/// 156.84 ms, and its answer at 207.84 ms.
#[test]
fn a_page_ends_with_its_last_object() {
    let page = "{ requests = { think = \"1 s\", objects = 12, connections = 6, \
                sizes = { constant = { size = \"960 B\" } } } }";
    let text = scenario("100 s", page, "count = 6") + "[record]\ntransfers = true\n";
    let (result, tables) = record(&text);
    let rows = rows(&tables);
    assert!(rows.len() > 40);
    for row in rows {
        assert_eq!((row.0, row.1), (207_840 * US, 12 * 960));
    }
    assert_eq!(transfers(&result).completed_by_size[1], transfers(&result).completed);
}

/// A start-up time is above a second where the answer was lost, and only there: a third of the
/// packets is lost on the way of answers, of one segment each, and none on that of requests and
/// acknowledgements, so that a client asks when all before is acknowledged. An answer that is sent
/// again leaves a second later at least (RFC 6298, section 2.4). A client takes 0.2 s and, with
/// timeouts of up to 2 s, up to 2 * (1/3 + 1/9 + ...) = 1 s for an answer: 500 in 600 s at least,
/// so that 20 have a standard error of (0.333 * 0.667 / 10,000)^(1/2) = 0.0047 at most.
#[test]
fn slow_starts_are_those_of_lost_answers() {
    let loss = "impairment = { loss = { probability = 0.333 } }\n\
                reverse.impairment = { loss = { probability = 0 } }\n";
    let requests =
        "{ requests = { think = \"100 ms\", sizes = { constant = { size = \"900 B\" } } } }";
    let text = scenario("600 s", requests, "count = 20")
        .replace("delay = \"50 ms\"\n", &format!("delay = \"50 ms\"\n{loss}"));
    let result = run(&(text + "rto_max = \"2 s\"\n"));
    let found = transfers(&result);
    assert!(found.started >= 10_000, "{found:?}");
    assert!((found.slow_startup_ratio.unwrap() - 0.333).abs() < 4.0 * 0.0047, "{found:?}");
}

/// A client whose request or answer is lost does not wait for ever, and is answered once. A third
/// of the packets is lost on both ways. A request is repeated after 1 s, 2 s, 4 s and so on: it
/// takes 1/3 + 2/9 + 4/27 + ... = 1 s longer in the mean. So does an answer of one segment at most,
/// with timeouts of up to 2 s: 1/3 + 2 (1/9 + 1/27 + ...) = 2/3 s, of twice that where the timeout
/// was backed off already. With 0.1 s to think and 0.1 s on the links a client is done after 2.5 s
/// at most, 240 times in 600 s; the bound is 100.
#[test]
fn lost_requests_are_repeated() {
    let loss = "impairment = { loss = { probability = 0.333 } }\n";
    let requests =
        "{ requests = { think = \"100 ms\", sizes = { constant = { size = \"900 B\" } } } }";
    let text = scenario("600 s", requests, "count = 20")
        .replace("delay = \"50 ms\"\n", &format!("delay = \"50 ms\"\n{loss}reverse.{loss}"));
    let more = "rto_max = \"2 s\"\n[record]\ntransfers = true\n";
    let (result, tables) = record(&(text + more));
    let flows = names(table(&tables, "transfers"), "flow");
    for number in 0..20 {
        let own = flows.iter().filter(|flow| **flow == format!("f[{number}]")).count();
        assert!(own > 100, "client {number}: {own}");
    }
    let found = transfers(&result);
    assert_eq!(found.completed_bytes, 900 * found.completed);
    assert!(found.max_completion_s.unwrap() > 1.0);
}

/// `retry` is when a request is repeated for the first time, and twice as long each time after. A
/// tenth of the requests is lost: k of one client in a row with a probability of 0.9 (1/10)^k,
/// which takes (2^k - 1) times `retry` longer, in the mean 0.9 / (1 - 2/10) - 1 = 1/8 of it. That
/// is 125 ms if it is left out, and 12.5 ms with 100 ms: 112.5 ms less, known from 20,000 requests
/// and more to 4 ms (the variance is 0.9 / (1 - 4/10) - (9/8)^2 = 0.23 s^2).
#[test]
fn requests_are_repeated_after_retry() {
    let loss = "reverse.impairment = { loss = { probability = 0.1 } }\n";
    let mean = |retry: &str| {
        let sizes = "sizes = { constant = { size = \"900 B\" } }";
        let requests = format!("{{ requests = {{ think = \"100 ms\", {retry} {sizes} }} }}");
        let text = scenario("600 s", &requests, "count = 20")
            .replace("delay = \"50 ms\"\n", &format!("delay = \"50 ms\"\n{loss}"));
        let (result, _) = record(&(text + "[record]\ntransfers = true\n"));
        assert!(transfers(&result).completed > 20_000);
        transfers(&result).mean_completion_s.unwrap()
    };
    let (second, tenth) = (mean(""), mean("retry = \"100 ms\","));
    assert!((second - tenth - 0.1125).abs() < 0.015, "{second}, {tenth}");
}

/// Clients that lack some of their connections, or ask without end at one instant, are refused with
/// their path.
#[test]
fn wrong_clients_are_refused_with_their_path() {
    let sizes = "sizes = { constant = { size = \"1 kB\" } }";
    for (more, keys, path) in [
        ("count = 7", "think = \"1 s\", connections = 6", "flows.f.count"),
        ("", "think = \"0 s\"", "flows.f.traffic.requests.think"),
        ("", "think = \"1 s\", retry = \"0 s\"", "flows.f.traffic.requests.retry"),
        ("", "think = \"1 s\", objects = 0", "flows.f.traffic.requests.objects"),
        ("", "think = \"1 s\", request = \"0 B\"", "flows.f.traffic.requests.request"),
        ("", "think = \"1 s\", request = \"70 kB\"", "flows.f.traffic.requests.request"),
    ] {
        let text = scenario("1 s", &format!("{{ requests = {{ {keys}, {sizes} }} }}"), more);
        let problem = Scenario::parse(&text, "test.toml", &[]).err().unwrap().problem;
        assert_eq!(problem.path, path);
    }
}
