//! Transfers in frames: times and goodput in closed form, and nothing lost that is sent again.

use forebay_scenario::{PacedResult, RunResult};

use crate::support::{flow, link, record, run, trace};

const FRAMES: &str = include_str!("../data/atm-frames.toml");

fn paced<'r>(result: &'r RunResult, name: &str) -> &'r PacedResult {
    result.rows::<PacedResult>().iter().find(|row| row.name == name).unwrap()
}

/// One source that sends one file of 1 MB, 18868 cells, over links of 21 and 6 Mbit/s and 275 ms.
fn one_file(frames: &str, satellite: &str) -> String {
    format!(
        "duration = \"60 s\"\n\
         [links.user]\nfrom = \"u\"\nto = \"s\"\nrate = \"21 Mbit/s\"\ndelay = \"5 ms\"\n\
         [links.satellite]\nfrom = \"s\"\nto = \"v\"\ndelay = \"270 ms\"\n{satellite}\n\
         [flows.data]\nfrom = \"u\"\nto = \"v\"\n\
         [flows.data.paced]\npace = {{ uncontrolled = {{ start = 1.0 }} }}\n\
         activity = {{ files = {{ rate = \"500 kbit/s\", gap = \"50000 s\", start = 1.0 }} }}\n\
         {frames}\n"
    )
}

const WIDE: &str = "rate = \"6 Mbit/s\"";
/// Time between cells of the source: 424 bit at 500 kbit/s.
const GAP_S: f64 = 848e-6;
/// The way of a cell: 275 ms, and its times at 21 and 6 Mbit/s.
const WAY_S: f64 = 0.275 + 424.0 / 21e6 + 424.0 / 6e6;
const CELLS: f64 = 18_868.0;

/// An undisturbed file takes its volume over its rate and the way: then it has arrived, and its
/// source knows when the poll behind the last cell is answered, a cell and the way there and back
/// later. A poll takes the place of a cell: with one due each 750 ms, 884.4 cells, it comes behind
/// the first frame of 192 that ends a cell or more after that, the fifth, so that of 99 frames 19
/// are followed by a poll before the last is.
#[test]
fn an_undisturbed_file_arrives_after_its_volume_over_its_rate_and_the_way() {
    let close = |found: f64, right: f64| assert!((found - right).abs() < 1e-7, "{found} {right}");
    for (frames, polls) in [("frames = { poll = \"100 s\" }", 0.0), ("frames = {}", 19.0)] {
        let result = run(&one_file(frames, WIDE));
        let row = paced(&result, "data");
        let sent = (CELLS + polls) * GAP_S;
        close(row.arrival_s.unwrap(), sent + WAY_S);
        close(row.transfer_s, sent + GAP_S + 2.0 * WAY_S);
        assert_eq!((row.transfers, row.polls), (1, polls as u64 + 1));
        assert_eq!((row.sent_frames, row.whole_frames, row.lost_frames), (99, 99, 0));
        assert_eq!((row.whole_packets, row.resent_frames), (18_868, 0));
        // 98 full frames; the last has 18868 - 98 * 192 = 52 cells, 52 * 48 - 8 B.
        let goodput = (98.0 * 9188.0 + 2488.0) * 8.0 / 60.0;
        close(flow(&result, "data").counted.goodput_bps, goodput);
    }
}

/// Counting frames does not change what is sent: where nothing is sent again, a file takes the time
/// of its cells as without frames, there is no poll, and no way back is needed.
#[test]
fn frames_that_are_only_counted_change_nothing() {
    let one_way = WIDE.to_owned() + "\nduplex = false";
    let without = run(&one_file("", &one_way));
    let with = run(&one_file("frames = { retransmit = false }", &one_way));
    let (old, new) = (paced(&without, "data"), paced(&with, "data"));
    assert_eq!((old.transfers, old.transfer_s), (new.transfers, new.transfer_s));
    assert!((new.transfer_s - CELLS * GAP_S).abs() < 1e-7);
    assert_eq!((new.polls, new.arrival_s, new.whole_frames), (0, None, 99));
    assert_eq!((old.sent_frames, old.whole_frames), (0, 0));
    let sent = |result: &RunResult| {
        let flow = &flow(result, "data").counted;
        (flow.sent_packets, flow.delivered_packets, flow.mean_delay_s.to_bits(), flow.sent_acks)
    };
    assert_eq!(sent(&without), sent(&with));
}

/// Overload lets cells through and no frames, and resending costs what it needs. The source sends
/// 500 kbit/s into 400 kbit/s and nothing slows it down: of five cells one is dropped, evenly. No
/// frame of 192 cells is ever whole, so 80 % of the cells arrive and no file ever does. Where each
/// cell is a frame, what arrives is as good as what does not is sent again: the file takes its
/// cells and polls at 400 kbit/s, and then a few round trips for what is missing at the end.
#[test]
fn overload_lets_cells_through_and_no_frames() {
    let narrow = "rate = \"400 kbit/s\"\nqueue = { droptail = { limit = \"2 packets\" } }";
    let result = run(&one_file("frames = {}", narrow));
    let (row, counted) = (paced(&result, "data"), &flow(&result, "data").counted);
    assert_eq!((row.transfers, row.whole_frames, row.arrival_s), (0, 0, None));
    assert_eq!(counted.goodput_bps, 0.0);
    assert!((counted.throughput_bps / 400e3 - 1.0).abs() < 0.01, "{}", counted.throughput_bps);
    let result = run(&one_file("frames = { payload = \"40 B\" }", narrow));
    let row = paced(&result, "data");
    let busy = (CELLS + row.polls as f64) * 424.0 / 400e3;
    assert_eq!((row.transfers, row.whole_frames, row.duplicate_frames), (1, 18_868, 0));
    let arrival = row.arrival_s.unwrap();
    assert!((busy..busy + 20.0 * WAY_S).contains(&arrival), "{arrival}, busy {busy}");
}

/// Cells, frames and reports are conserved. Sources stop after 10 s and the network runs empty:
/// each cell was delivered or dropped, by class on each link; each report came back or was dropped;
/// and each frame sent arrived whole, arrived again, or was lost, but for the last of each source,
/// which nothing follows that tells.
#[test]
fn cells_frames_and_reports_are_conserved() {
    let text = FRAMES
        .replace("duration = \"12 s\"", "duration = \"20 s\"")
        .replace("to = \"sink\"\ncount", "to = \"sink\"\nstop = \"10 s\"\ncount");
    let (result, tables) = record(&text);
    for group in &result.groups {
        let counted = &group.counted;
        let out = counted.delivered_packets + counted.dropped_packets;
        assert_eq!(counted.sent_packets, out, "{}", group.name);
    }
    for link in &result.links {
        for class in 0..4 {
            let out = link.departed_packets[class] + link.dropped_packets[class];
            assert_eq!(link.arrived_packets[class], out, "{} class {class}", link.name);
        }
    }
    for row in result.rows::<PacedResult>() {
        let known = row.whole_frames + row.duplicate_frames + row.lost_frames;
        assert!(row.sent_frames - known <= u64::from(row.sources), "{row:?}");
        assert!(row.lost_frames > 5 && row.whole_frames > 100, "{row:?}");
    }
    let files = paced(&result, "files");
    assert!(files.transfers > 10 && files.resent_frames > 20, "{files:?}");
    assert_eq!(files.duplicate_frames, 0, "both ways keep order");
    assert!(files.arrival_s.unwrap() < files.transfer_s);
    let counted = paced(&result, "counted");
    assert_eq!((counted.resent_frames, counted.polls, counted.arrival_s), (0, 0, None));
    // Reports and notifications of the files: the trace tells them apart.
    let rows = trace(&tables);
    let of = |kind: &str, event: &str| {
        rows.iter().filter(|row| row.kind == kind && row.event.starts_with(event)).count()
    };
    assert_eq!(of("report", "sent"), of("report", "delivered") + of("report", "dropped"));
    assert!(of("report", "dropped") > 10, "{}", of("report", "dropped"));
    assert_eq!(of("poll", "sent"), files.polls as usize);
    // No source sends again what is not missing: a frame is lost before it is sent again.
    assert!(files.resent_frames <= files.lost_frames, "{files:?}");
    // What was lost at the satellite link is what sources lost.
    let dropped: u64 = result.flows.iter().map(|flow| flow.counted.dropped_packets).sum();
    let acks: u64 = result.flows.iter().map(|flow| flow.counted.dropped_acks).sum();
    let on_links: u64 = result.links.iter().map(|link| link.drops).sum();
    assert_eq!(on_links, dropped + acks);
}

/// Lost reports only delay a transfer: with hardly any that come through, one in two seconds of all
/// sources, files still arrive, later than with all of them; the polls that go unanswered are
/// repeated.
#[test]
fn lost_reports_only_delay() {
    let with = |bucket: &str| {
        let text = FRAMES
            .replace("duration = \"12 s\"", "duration = \"60 s\"")
            .replace("cir = \"8 kbit/s\", cbs = \"200 B\"", bucket);
        run(&text)
    };
    let all = with("cir = \"1 Mbit/s\", cbs = \"9 kB\"");
    let few = with("cir = \"212 bit/s\", cbs = \"53 B\"");
    let (quick, slow) = (paced(&all, "files"), paced(&few, "files"));
    assert_eq!(link(&all, "satellite.reverse").drops, 0);
    assert!(link(&few, "satellite.reverse").drops > 500);
    assert!(slow.transfers > 10, "{slow:?}");
    assert!(slow.transfer_s > 2.0 * quick.transfer_s, "{slow:?} {quick:?}");
    assert!(
        slow.polls as f64 / slow.transfers as f64
            > 2.0 * (quick.polls as f64 / quick.transfers as f64)
    );
}
