//! Links whose rate or delay changes, and links driven by traces of opportunities.

use forebay_laws::queue::QUEUES;

use crate::support::{choice, flow, link, ps, read, record, run, run_with, trace};

const MS: u64 = 1_000_000_000;

/// A link from a to b with more keys, and a burst of five packets of 1000 B at its near end.
fn burst(duration: &str, keys: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n{keys}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\ncount = 5\nstop = \"1 us\"\n{CBR}"
    )
}

/// A packet of 1000 B each millisecond, the first at once.
const CBR: &str = "udp = {}\ntraffic = { cbr = { rate = \"8 Mbit/s\", size = \"1000 B\", \
                   random_phase = false } }\n";

/// Times in ps at which data packets were delivered.
fn deliveries(text: &str) -> Vec<u64> {
    let (_, tables) = record(&format!("{text}[record]\ntrace = 100000\n"));
    let rows = trace(&tables);
    rows.iter().filter(|row| row.event == "delivered").map(|row| row.time).collect()
}

/// Packets in transmission follow changes of the rate, stalls included. Of 8000 bit each: the first
/// ends at 8 ms; the second has 2000 bit by 10 ms and 6000 more at 500 kbit/s, 22 ms; the third
/// 4000 bit by 30 ms, nothing until 50 ms, and 4000 at 2 Mbit/s, 52 ms; then one each 4 ms. All 3
/// ms later at the far end.
#[test]
fn a_burst_over_changing_rates_leaves_at_exact_times() {
    let steps = "rate = \"1 Mbit/s\"\ndelay = \"3 ms\"\nrate_steps = [\
                 { at = \"10 ms\", rate = \"500 kbit/s\" }, { at = \"30 ms\", rate = \"0 bit/s\" },\
                 { at = \"50 ms\", rate = \"2 Mbit/s\" }]\n";
    let schedule = "delay = \"3 ms\"\nschedule = { text = \"\"\"\n# measured\nrate_bps,time_s\n\
                    1000000,0\n500000,0.01\n0,0.03\n2e6,0.05\n\"\"\" }\n";
    for keys in [steps, schedule] {
        let text = burst("100 ms", keys);
        let expected = [8, 22, 52, 56, 60].map(|ms| (ms + 3) * MS);
        assert_eq!(deliveries(&text), expected);
        // Offered are 10 + 10 + 0 + 100 kbit.
        let result = run(&text);
        let link = link(&result, "l");
        assert!((link.utilization - 40.0 / 120.0).abs() < 1e-12, "{}", link.utilization);
        assert!((link.throughput_bps - 400_000.0).abs() < 1e-6);
        assert_eq!((link.max_queue_packets, link.drops), (4, 0));
    }
}

/// A measurement window counts the part of a packet that it saw: in the example above the window
/// from 15 to 40 ms sees 500 kbit/s for 15 ms, all of which is used.
#[test]
fn parts_of_packets_count_where_they_are_sent() {
    let keys = "rate = \"1 Mbit/s\"\nrate_steps = [{ at = \"10 ms\", rate = \"500 kbit/s\" }, \
                { at = \"30 ms\", rate = \"0 bit/s\" }]\n";
    let text = burst("40 ms", keys).replacen('\n', "\nwarm_up = \"15 ms\"\n", 1);
    let result = run(&text);
    let link = link(&result, "l");
    assert!((link.throughput_bps - 7500.0 / 0.025).abs() < 1e-6, "{}", link.throughput_bps);
    assert_eq!(link.utilization, 1.0);
}

/// A schedule repeats after its first period: 1 Mbit/s for 5 of 10 ms is 5000 bit a period, so that
/// packets of 8000 bit end after 1.6, 3.2, 4.8, 6.4 and 8 periods' worth: at 13, 31, 44, 62 and 75
/// ms.
#[test]
fn steps_repeat() {
    let keys = "rate = \"1 Mbit/s\"\nrepeat = \"10 ms\"\n\
                rate_steps = [{ at = \"5 ms\", rate = \"0 bit/s\" }]\n";
    let expected = [13, 31, 44, 62, 75].map(|ms| ms * MS);
    assert_eq!(deliveries(&burst("100 ms", keys)), expected);
}

/// A trace is replayed as by mm-link: with opportunities of 1500 B at 2, 2, 5 and 9 ms, those at 2
/// ms carry three packets of 1000 B, that at 5 ms the fourth and half of the fifth, that at 9 ms
/// the rest of it. What it has left is lost, as are those at 11 ms and after; a packet that comes
/// at 11 ms is too late for them and goes at 14 ms.
#[test]
fn opportunities_are_shared_and_lost() {
    let keys = "trace = { text = \"2\\n2\\n5\\n9\\n\" }\n";
    let late = format!(
        "{}[flows.y]\nfrom = \"a\"\nto = \"b\"\nstart = \"11 ms\"\nstop = \"11.5 ms\"\n{CBR}",
        burst("18 ms", keys)
    );
    assert_eq!(deliveries(&late), [2, 2, 2, 5, 9, 14].map(|ms| ms * MS));
    // Eight opportunities of 1500 B until 18 ms, of which 6000 B are used.
    assert_eq!(link(&run(&late), "l").utilization, 0.5);
    // Laws see the mean: 4 * 12 kbit in 9 ms.
    let mean = "5333333 bit/s";
    let red =
        "queue = { red = { min_threshold = \"1 packets\", max_threshold = \"3 packets\" } }\n";
    let [left_out, given] = [String::new(), format!("rate = \"{mean}\"\n")]
        .map(|rate| run(&burst("18 ms", &format!("{keys}{rate}{red}"))).digest);
    assert_eq!(left_out, given);
}

/// Packets do not overtake each other where the delay falls: a packet each millisecond takes 1 ms
/// and, until 5 ms, 10 ms of propagation, then 1 ms. The fifth ends at 5 ms and would arrive at 6
/// ms, eight before the fourth.
#[test]
fn a_shorter_delay_does_not_reorder() {
    let text = format!(
        "duration = \"30 ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nschedule = {{ text = \"\"\"\n\
         time_s,rate_bps,delay_s\n0,8000000,0.010\n0.005,8000000,0.001\n\"\"\" }}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\nstop = \"16 ms\"\n{CBR}"
    );
    let mut expected = vec![11, 12, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14];
    // The packet that ends at 13 ms arrives at 14 ms by itself.
    expected.extend([15, 16, 17]);
    assert_eq!(deliveries(&text), expected.iter().map(|ms| ms * MS).collect::<Vec<u64>>());
}

/// A link whose schedule has one rate treats packets as one of fixed rate: every packet is received
/// at the same time, whatever the queue.
#[test]
fn a_schedule_of_one_rate_is_a_fixed_rate() {
    for entry in QUEUES {
        let text = |keys: &str| {
            format!(
                "duration = \"4 s\"\n[links.in]\nfrom = \"s\"\nto = \"a\"\nrate = \"9 Mbit/s\"\n\
                 delay = \"1 ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                 delay = \"7 ms\"\n{keys}queue = {}\n[flows.u]\nfrom = \"s\"\nto = \"b\"\n\
                 udp = {{}}\ntraffic.poisson = {{ rate = \"900 kbit/s\", size = \"700 B\" }}\n\
                 [flows.t]\nfrom = \"s\"\nto = \"b\"\ncount = 2\ntcp = {{ ecn = true }}\n",
                choice(entry)
            )
        };
        let fixed = run(&text(""));
        let schedule = "rate_steps = [{ at = \"0 s\", rate = \"1 Mbit/s\" }, \
                        { at = \"1 s\", rate = \"1 Mbit/s\" }]\nrepeat = \"3 s\"\n";
        let changing = run(&text(schedule));
        assert_eq!(fixed.digest, changing.digest, "{}", entry.name);
        let [one, other] = [&fixed, &changing].map(|result| link(result, "l"));
        assert_eq!(one.drops, other.drops, "{}", entry.name);
        assert_eq!(one.departed_bytes, other.departed_bytes, "{}", entry.name);
        assert_eq!(ps(one.mean_queue_packets), ps(other.mean_queue_packets), "{}", entry.name);
        assert!((one.throughput_bps - other.throughput_bps).abs() < 1e-3, "{}", entry.name);
    }
}

/// A link with packets waiting carries what it is offered, neither less nor more: offered twice as
/// much as it can carry on average, it carries in any window the integral of its rate, and all
/// opportunities. No packet is lost on the way: what was sent was delivered, dropped or waits.
#[test]
fn a_saturated_link_carries_the_integral_of_its_rate() {
    let changes = [
        "rate = \"2 Mbit/s\"\nrepeat = \"70 ms\"\nrate_steps = [\
         { at = \"20 ms\", rate = \"0 bit/s\" }, { at = \"33 ms\", rate = \"777777 bit/s\" }]\n",
        "trace = { text = \"0\\n1\\n1\\n4\\n13\\n20\\n\" }\n",
        "schedule = { text = \"\"\"\ntime_s,rate_bps\n0,2e6\n0.3,0\n0.5,1e5\n0.8,4e6\n\"\"\" }\n",
    ];
    let queues = [
        "droptail = { limit = \"30 packets\" }",
        "sfq = {}",
        "drr = { classify = \"precedence\", classes = [\
                  { droptail = { limit = \"15 packets\" } }, \
                  { droptail = { limit = \"15 packets\" } }] }",
    ];
    for (keys, queue) in changes.iter().flat_map(|keys| queues.map(|queue| (keys, queue))) {
        let text = format!(
            "duration = \"1.9 s\"\nwarm_up = \"0.271 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n\
             delay = \"2 ms\"\n{keys}queue = {{ {queue} }}\n[flows.x]\nfrom = \"a\"\nto = \"b\"\n\
             count = 3\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"3 Mbit/s\", size = \"700 B\" }} }}\n"
        );
        let scenario = read(&text);
        let (result, _) = run_with(&scenario, 0, false);
        let link = link(&result, "l");
        assert!(link.utilization > 1.0 - 1e-6, "{text}\n{}", link.utilization);
        let report = scenario.check(&Default::default(), &Default::default(), &result).unwrap();
        assert!(report.breaches().is_empty(), "{text}\n{:?}", report.breaches());
        let counted = &flow(&result, "x[0]").counted;
        assert!(counted.delivered_packets > 50, "{text}");
    }
}

/// A partitioned run is the same run, also where a link knows nothing in advance.
#[test]
fn several_threads_give_the_same() {
    let text = "duration = \"2 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                delay = \"20 ms\"\nrate_steps = [{ at = \"1 s\", rate = \"2 Mbit/s\" }]\n\
                [links.m]\nfrom = \"b\"\nto = \"c\"\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n\
                [flows.t]\nfrom = \"a\"\nto = \"c\"\ntcp = {}\n\
                [flows.u]\nfrom = \"c\"\nto = \"b\"\ncount = 20\ntcp = {}\n";
    let scenario = read(text);
    let options = forebay_scenario::RunOptions { threads: 2, ..Default::default() };
    let (parallel, _) = scenario.run(&options, &Default::default()).unwrap();
    assert_eq!(run(text).digest, parallel.digest);
}
