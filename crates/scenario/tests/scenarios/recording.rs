//! Records of queues, delays and windows, against what follows from the scenario.

use forebay_scenario::{Scenario, SynchronizationResult, WaitResult};

use crate::support::{
    checked, floats, flow, link, names, read, record, run, run_with, table, wholes, words,
};

fn close(values: &[f64], expected: f64) {
    let near = |value: &f64| (value - expected).abs() < 1e-9;
    assert!(values.iter().all(near), "{values:?} are not {expected}");
}

/// Samples show the queue and the delay of their interval. Two packets of 1000 B meet every 100 ms
/// at a link that takes 8 ms for each: one waits for 8 ms in each 100 ms, 0.08 on average; with 5
/// ms to the far end, one takes 13 ms and the other 21 ms. A group has no delay in a sample without
/// deliveries: the third starts after 1 s; its packets come 30 ms after the others and wait for no
/// other.
#[test]
fn samples_tell_the_queue_and_the_delay_of_their_interval() {
    let cbr = "udp = {}\ntraffic = { cbr = { rate = \"80 kbit/s\", size = \"1000 B\", \
               random_phase = false } }\n";
    let group = |name: &str, start: &str| {
        format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nstart = \"{start}\"\n{cbr}")
    };
    let text = format!(
        "duration = \"2 s\"\n[links.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
         delay = \"5 ms\"\n{}{}{}[record]\nseries = \"100 ms\"\n",
        group("first", "30 ms"),
        group("second", "30 ms"),
        group("third", "1060 ms"),
    );
    let (result, tables) = record(&text);
    let of = |place: &str, column: &str| {
        floats(table(&tables, &format!("series/{place}")), column).to_vec()
    };
    let first = of("flows.first", "mean_delay_s");
    // The first packet may come with the start or an interval after it: both meet the same.
    close(&first[1..], 0.013);
    close(&of("flows.second", "mean_delay_s")[1..], 0.021);
    let third = of("flows.third", "mean_delay_s");
    assert!(third[..10].iter().all(|delay| delay.is_nan()), "{third:?}");
    close(&third[11..], 0.013);
    let queue = of("links.ab", "mean_queue_packets");
    close(&queue[1..], 0.08);
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    close(&[mean], link(&result, "ab").mean_queue_packets);
}

/// TCP flows that meet at a link whose queue drops or marks by ECN.
fn congested(ecn: bool, record: &str) -> String {
    format!(
        "duration = \"20 s\"\n[links.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\n\
         delay = \"20 ms\"\n\
         queue = {{ red = {{ weight = 0.02, ecn = {ecn}, limit = \"30 packets\" }} }}\n\
         [flows.t]\nfrom = \"a\"\nto = \"b\"\ncount = 4\n\
         tcp = {{ profile = \"rfc\", \
         mss = \"1000 B\", recovery = \"newreno\", ecn = {ecn} }}\n{record}"
    )
}

/// Reductions of a sender's window are recorded as the standards have them. RFC 5681, section 3.1,
/// and RFC 6582: after a loss the window begins at the threshold, half of the flight but at least
/// two segments; after a timeout it is one segment. RFC 3168, section 6.1.2: ECN halves it. Every
/// timeout that is counted has a row, and recording changes no run.
#[test]
fn reductions_are_those_of_the_standards() {
    const MSS: f64 = 1000.0;
    for ecn in [false, true] {
        let scenario = read(&congested(ecn, "[record]\nreductions = true\n"));
        let (result, tables) = run_with(&scenario, 0, true);
        assert_eq!(result.digest, run_with(&scenario, 0, false).0.digest);
        let log = table(&tables, "reductions");
        let signals = words(log, "signal");
        let values = |name| floats(log, name);
        let (before, cwnd) = (values("before_bytes"), values("cwnd_bytes"));
        let (flight, ssthresh) = (values("flight_bytes"), values("ssthresh_bytes"));
        assert!(values("time_s").is_sorted());
        for (at, signal) in signals.iter().enumerate() {
            let (before, flight) = (before[at], flight[at]);
            let (cwnd, ssthresh) = (cwnd[at], ssthresh[at]);
            assert!(ssthresh >= 2.0 * MSS && flight <= before, "{signal} at row {at}");
            match *signal {
                "ecn" => {
                    let half = (before / 2.0).max(MSS);
                    assert!(cwnd == half && ssthresh == half.max(2.0 * MSS), "row {at}");
                }
                "loss" => {
                    let half = (flight / 2.0).max(2.0 * MSS);
                    assert!(cwnd == ssthresh && ssthresh == half, "row {at}");
                }
                _ => assert_eq!(cwnd, MSS),
            }
        }
        let count = |name: &str| signals.iter().filter(|signal| **signal == name).count() as u64;
        let timeouts: u64 = result.flows.iter().map(|flow| flow.counted.timeouts).sum();
        assert_eq!(count("timeout"), timeouts);
        assert!(count(if ecn { "ecn" } else { "loss" }) > 20, "{signals:?}");
        assert!(ecn || count("ecn") == 0);
        // A window is marked more often than it is reduced.
        let marked: u64 = result.flows.iter().map(|flow| flow.counted.marked_packets).sum();
        assert!(count("ecn") <= marked);
    }
}

/// One segment of 1000 B at a time over 8 Mbit/s and 10 ms each way, conditioned by `conditioner`.
fn alone(conditioner: &str) -> String {
    format!(
        "duration = \"2 s\"\n[links.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\n\
         delay = \"10 ms\"\nconditioner = {conditioner}\n\
         [flows.t]\nfrom = \"a\"\nto = \"b\"\n\
         tcp = {{ profile = \"rfc\", mss = \"960 B\", window = \"1 packet\", delayed_ack = false, \
         rto_tick = \"100 ms\" }}\n[record]\nseries = \"1 s\"\n"
    )
}

/// A conditioner that adapts to round-trip times gets them, alone and inside another: 1 ms for the
/// segment, 40 us for the acknowledgement and twice 10 ms make 21.04 ms, whatever the tick of TCP's
/// own clock; times 125000 B/s (and twice that) they make depths of 2630 B (and 5260 B). Where no
/// conditioner adapts none is reported, so that packets, and with them digests, are as they always
/// were.
#[test]
fn conditioners_hear_of_round_trip_times() {
    let adaptive = "{ adaptive_token_bucket = { cir = \"1 Mbit/s\", pir = \"2 Mbit/s\" } }";
    let plain = "{ trtcm = { cir = \"1 Mbit/s\", cbs = \"5000 B\", pir = \"2 Mbit/s\", \
                 pbs = \"5000 B\" } }";
    for conditioner in [adaptive.to_owned(), format!("{{ per_flow = {{ of = {adaptive} }} }}")] {
        let (result, tables) = record(&alone(&conditioner));
        let series = table(&tables, "series/links.ab");
        close(floats(series, "told_srtt_s"), 0.02104);
        close(floats(series, "committed_depth"), 2630.0);
        close(floats(series, "peak_depth"), 5260.0);
        let plain = run(&alone(plain));
        // At 380 kbit/s all is green under either: only what is told tells them apart.
        let counted = |result| format!("{:?}", flow(result, "t").counted);
        assert_eq!(counted(&result), counted(&plain));
        assert_ne!(result.digest, plain.digest);
        let fixed = run(&alone("{ fixed = { precedence = 0 } }"));
        assert_eq!(fixed.digest, plain.digest);
    }
}

/// The window of one flow of a group is its own, not a mean: the rates of all of them add up to the
/// group's, and so do windows and packets in flight to means over those that send.
#[test]
fn single_flows_add_up_to_their_group() {
    let record_of = "[record]\nseries = \"100 ms\"\nseries_of = [\"flows.t\", \"flows.t[3]\", \
                     \"flows.t[0]\", \"flows.t[1]\", \"flows.t[2]\"]\n";
    let (_, tables) = record(&congested(false, record_of));
    assert_eq!(tables.len(), 5);
    let group = table(&tables, "series/flows.t");
    let flows = [0, 1, 2, 3].map(|flow| table(&tables, &format!("series/flows.t[{flow}]")));
    let active = floats(group, "active_flows");
    let mut apart = 0;
    for (whole, single, count) in [
        ("throughput_bps", "throughput_bps", None),
        ("goodput_bps", "goodput_bps", None),
        ("mean_cwnd_bytes", "cwnd_bytes", Some(active)),
        ("mean_flight_packets", "flight_packets", Some(active)),
        ("mean_srtt_s", "srtt_s", Some(active)),
    ] {
        for (row, whole) in floats(group, whole).iter().enumerate() {
            let each = flows.map(|flow| floats(flow, single)[row]);
            let sum: f64 = each.iter().filter(|value| !value.is_nan()).sum();
            let whole = whole * count.map_or(1.0, |count| count[row]);
            assert!((sum - whole).abs() <= 1e-9 * whole.abs(), "{single}, row {row}: {each:?}");
            apart += u32::from(each[0] != each[1]);
        }
    }
    assert!(apart > 100, "the flows differ");
}

/// Flows that are not there are refused, and so are forms in which the results do not have them.
#[test]
fn flows_that_are_not_there_are_refused() {
    for (wrong, near) in [("flows.t[4]", "flows.t"), ("flows.t[01]", "flows.t"), ("t[1]", "flows")]
    {
        let record = format!("[record]\nseries = \"1 s\"\nseries_of = [\"{wrong}\"]\n");
        let text = congested(false, &record);
        let problem = Scenario::parse(&text, "x.toml", &[]).err().expect(wrong);
        assert_eq!(problem.problem.path, "record.series_of");
        let message = problem.to_string();
        assert!(message.contains(wrong) && message.contains(near), "{message}");
    }
}

/// The log of waits tells how long packets waited at a link of every kind, as arrivals and
/// departures have it. Of M/M/1 at load 0.8 a packet waits for longer than t with probability 0.8
/// exp(-0.2 t / s), s = 0.32 ms being the mean transmission time: the median is ln(0.8 / 0.5) s /
/// 0.2 = 0.752 ms, the 95th percentile ln(0.8 / 0.05) s / 0.2 = 4.436 ms. The mean wait times the
/// rate of departures is the mean queue (Little). Waits are correlated over some 2 / 0.2^2 = 50
/// packets, so that 250,000 give quantiles to about 2 %; the bound is five times that. A queue that
/// decides when a packet leaves, and a link whose rate can change, know of each departure only when
/// it comes, and give the same digits.
#[test]
fn waits_are_those_of_the_queue() {
    let waits = |link: &str| {
        let text = format!(
            "duration = \"100 s\"\n[links.server]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
             duplex = false\n{link}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\n\
             traffic.poisson = {{ rate = \"8 Mbit/s\", size = \"400 B\", \
             sizes = \"exponential\" }}\n\
             [record]\nwaits = true\n"
        );
        let (result, tables) = record(&text);
        let log = table(&tables, "waits");
        let of = |column: &str| floats(log, column)[0];
        let row = crate::support::link(&result, "server");
        let rate = row.departed_packets.iter().sum::<u64>() as f64 / 100.0;
        assert!((of("mean_s") * rate / row.mean_queue_packets - 1.0).abs() < 1e-3);
        [of("p50_s"), of("p95_s"), of("mean_s"), of("max_s")]
    };
    let fifo = waits("");
    assert!((fifo[0] / 0.752e-3 - 1.0).abs() < 0.1, "{fifo:?}");
    assert!((fifo[1] / 4.436e-3 - 1.0).abs() < 0.1, "{fifo:?}");
    assert_eq!(waits("queue.codel = { target = \"100 s\" }"), fifo);
    assert_eq!(waits("rate_steps = [{ at = \"50 s\", rate = \"10 Mbit/s\" }]"), fifo);
}

/// Rows of waits are those of the recorded table, in a run that is not recorded, too, so that
/// quantities of them can be asked for in sweeps; every link has one, also that at which nothing
/// waits. Counting changes no run.
#[test]
fn waits_have_rows_recorded_or_not() {
    let scenario = read(&congested(false, "[record]\nwaits = true\n"));
    let (result, tables) = run_with(&scenario, 0, true);
    let (rows, log) = (result.rows::<WaitResult>(), table(&tables, "waits"));
    assert_eq!(names(log, "link"), ["ab", "ab.reverse"]);
    for (row, at) in rows.iter().zip(0..) {
        let of = |column: &str| Some(floats(log, column)[at]);
        assert_eq!(row.packets, wholes(log, "packets")[at]);
        assert_eq!([row.mean_s, row.p95_s, row.max_s], [of("mean_s"), of("p95_s"), of("max_s")]);
    }
    let unrecorded = checked(&congested(false, "[record]\nwaits = true\n"));
    assert_eq!(format!("{:?}", unrecorded.rows::<WaitResult>()), format!("{rows:?}"));
    let without = run(&congested(false, ""));
    assert_eq!(without.digest, unrecorded.digest);
    assert!(without.rows::<WaitResult>().is_empty());
}

/// Loss events are those of the scenario. Three flows send a packet of 1000 B each second, all at
/// once, over a link of 8 Mbit/s: one is transmitted, one waits, and one is lost. A fourth sends
/// its own 50 ms later. In events of 100 ms one of four loses a packet, in those of 10 ms one of
/// three; in those of 2 s, one begins with the first loss, and no other, as there is no pause of
/// that length. On the way back, where nothing is lost, there are no events and no ratio.
#[test]
fn loss_events_are_those_of_the_scenario() {
    let group = |name: &str, count: u32, start: &str| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\nstart = \"{start}\"\n\
             udp = {{}}\ntraffic = {{ cbr = {{ rate = \"8 kbit/s\", size = \"1000 B\", \
             random_phase = false }} }}\n"
        )
    };
    let counted = |length: &str| {
        let text = format!(
            "duration = \"20 s\"\nrecord.synchronization = \"{length}\"\n[links.ab]\nfrom = \"a\"\n\
             to = \"b\"\nrate = \"8 Mbit/s\"\n\
             queue = {{ droptail = {{ limit = \"1 packet\" }} }}\n{}{}",
            group("together", 3, "500 ms"),
            group("later", 1, "550 ms"),
        );
        let result = checked(&text);
        let [there, back] = result.rows::<SynchronizationResult>() else { panic!("two links") };
        assert_eq!((back.loss_events, back.loss_synchronization_ratio), (0, None));
        (link(&result, "ab").drops, there.clone())
    };
    for (length, share) in [("100 ms", 0.25), ("10 ms", 1.0 / 3.0)] {
        let (drops, row) = counted(length);
        assert!(drops >= 19, "{drops}");
        assert_eq!((row.loss_events, row.event_losses), (drops, drops));
        assert_eq!(row.losses_per_event, Some(1.0));
        let ratio = row.loss_synchronization_ratio.expect("there are events");
        assert!((ratio - share).abs() < 1e-9, "{length}: {ratio}");
    }
    let (_, row) = counted("2 s");
    assert_eq!((row.loss_events, row.event_losses), (1, 2));
}

/// Counting loss events changes no run, whether packets are dropped or marked. A queue that marks
/// has events of marks, in which marks are those of the link at most, and shares of flows lie
/// between one of four and all.
#[test]
fn counting_loss_events_changes_no_run() {
    for ecn in [false, true] {
        let counted = run(&congested(ecn, "[record]\nsynchronization = \"100 ms\"\n"));
        let without = run(&congested(ecn, ""));
        assert_eq!(counted.digest, without.digest);
        assert!(without.rows::<SynchronizationResult>().is_empty());
        let row = &counted.rows::<SynchronizationResult>()[0];
        let (events, packets, all, ratio) = if ecn {
            let own = row.mark_synchronization_ratio;
            (row.mark_events, row.event_marks, link(&counted, "ab").marks, own)
        } else {
            let own = row.loss_synchronization_ratio;
            (row.loss_events, row.event_losses, link(&counted, "ab").drops, own)
        };
        assert!(events > 10 && packets >= events && packets <= all, "{row:?}, {all}");
        assert!((0.25..=1.0).contains(&ratio.expect("there are events")), "{row:?}");
    }
    let problem =
        Scenario::parse(&congested(false, "[record]\nsynchronization = \"0 s\"\n"), "x.toml", &[]);
    let message = problem.err().expect("an event lasts").to_string();
    assert!(message.contains("record.synchronization"), "{message}");
}
