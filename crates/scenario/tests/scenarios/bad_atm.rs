//! Wrong cells: each scenario is refused where it is wrong.

use forebay_scenario::Scenario;

use crate::bad_input::{Case, case, check_all};

/// A right network of paced sources, policed and controlled.
const RIGHT: &str = r#"name = "right"
duration = "10 s"

[links.user]
from = "u"
to = "s1"
rate = "21 Mbit/s"
delay = "5 ms"

[links.satellite]
from = "s1"
to = "s2"
rate = "6 Mbit/s"
delay = "270 ms"
notice_size = "53 B"
detector = { input_rate = { share = 0.2, weight = 0.8 } }

[links.satellite.queue.priority]
map = [0, 1, 0, 1]
classes = [
  { partial_buffer_sharing = { limit = "512 packets", threshold = "256 packets" } },
  "droptail",
]

[links.egress]
from = "s2"
to = "v"
rate = "21 Mbit/s"

[flows.voice]
from = "u"
to = "v"
count = 3
late_after = "20 ms"
policing = { peak = { rate = "64 kbit/s" }, bucket = { rate = "36 kbit/s", depth = 34 } }

[flows.voice.paced]
size = "53 B"
activity = { sessions = { rate = "64 kbit/s", active = "15 s" } }
pace = { steps = { floor = 0.5, cut = 0.2 } }

[flows.data]
from = "u"
to = "v"
precedence = 1

[flows.data.paced]
activity = { files = { rate = "500 kbit/s" } }
pace = { uncontrolled = { rtt = "560 ms" } }
frames = { payload = "9188 B", report = "53 B" }
"#;

const CASES: &[Case] = &[
    case(
        "{ limit = \"512 packets\", threshold = \"256 packets\" }",
        "{ limit = \"512 packets\", threshold = \"513 packets\" }",
        "links.satellite.queue.priority.classes[0].partial_buffer_sharing.threshold",
        &["above the limit"],
    ),
    case(
        "threshold = \"256 packets\" }",
        "threshold = \"256 B\" }",
        "links.satellite.queue.priority.classes[0].partial_buffer_sharing.threshold",
        &["mixes packets and bytes"],
    ),
    case(
        "map = [0, 1, 0, 1]",
        "map = [0, 1, 2, 1] #!",
        "links.satellite.queue.priority.map",
        &["2 is not a class", "0 to 1"],
    ),
    case(
        "share = 0.2",
        "share = 1.2",
        "links.satellite.detector.input_rate.share",
        &["1.2 is not a share", "0 to 1"],
    ),
    case(
        "weight = 0.8",
        "weight = -0.8",
        "links.satellite.detector.input_rate.weight",
        &["-0.8 is out of range", "up to 1"],
    ),
    case(
        "detector = { input_rate",
        "detector = { input_rat",
        "links.satellite.detector",
        &["did you mean \"input_rate\"", "discard"],
    ),
    case(
        "notice_size = \"53 B\"",
        "notice_size = \"0 B\" #!",
        "links.satellite.notice_size",
        &["not a packet size"],
    ),
    case(
        "floor = 0.5",
        "floor = 1.5",
        "flows.voice.paced.pace.steps.floor",
        &["1.5 is out of range", "0 to 0.5"],
    ),
    case(
        "cut = 0.2",
        "cut = 1.5",
        "flows.voice.paced.pace.steps.cut",
        &["1.5 is out of range", "above 0 and up to 1"],
    ),
    case(
        "pace = { steps = { floor = 0.5, cut = 0.2 } }",
        "efcn = { share = 0.0 }",
        "flows.voice.paced.efcn.share",
        &["0 is out of range", "above 0 and up to 1"],
    ),
    case(
        "pace = { steps = { floor = 0.5, cut = 0.2 } }",
        "efcn = {}\npace = \"abr\"",
        "flows.voice.paced.efcn",
        &["explicit rates", "steps"],
    ),
    case(
        "detector = { input_rate = { share = 0.2, weight = 0.8 } }",
        "detector = \"queue_length\"",
        "links.satellite.detector",
        &["how full", "droptail, partial_buffer_sharing or push_out with a limit"],
    ),
    case(
        "{ limit = \"512 packets\", threshold = \"256 packets\" }",
        "{ limit = \"512 packets\", threshold = \"256 packets\", high = 0 }",
        "links.satellite.queue.priority.classes[0].partial_buffer_sharing.high",
        &["0 is out of range", "1 to 63"],
    ),
    case(
        "rtt = \"560 ms\"",
        "rtt = \"0 s\"",
        "flows.data.paced.pace.uncontrolled.rtt",
        &["too short for a round trip"],
    ),
    case(
        "files = { rate = \"500 kbit/s\"",
        "files = { rate = \"-500 kbit/s\"",
        "flows.data.paced.activity.files.rate",
        &["-500 kbit/s"],
    ),
    case(
        "files = { rate = \"500 kbit/s\"",
        "files = { rate = \"0 bit/s\"",
        "flows.data.paced.activity.files.rate",
        &["is zero"],
    ),
    case(
        "files = { rate = \"500 kbit/s\" }",
        "files = { rate = \"500 kbit/s\", gap = \"0 s\" }",
        "flows.data.paced.activity.files.gap",
        &["out of range", "1 us"],
    ),
    case(
        "sessions = { rate = \"64 kbit/s\"",
        "sessions = { rate = \"64 kbit/s\", low_rate = \"65 kbit/s\"",
        "flows.voice.paced.activity.sessions.low_rate",
        &["rates below the higher one"],
    ),
    case(
        "[flows.data.paced]\nactivity = { files = { rate = \"500 kbit/s\" } }\n",
        "[flows.data.paced] #!\n",
        "flows.data.paced.activity",
        &["is missing", "files, sessions"],
    ),
    case(
        "size = \"53 B\"\nactivity",
        "size = \"0 B\"\nactivity",
        "flows.voice.paced.size",
        &["not a packet size"],
    ),
    case(
        "payload = \"9188 B\"",
        "payload = \"39 B\"",
        "flows.data.paced.frames.payload",
        &["a frame of 47 B", "smaller than a packet", "48 B"],
    ),
    case(
        "payload = \"9188 B\"",
        "payload = \"65536 B\"",
        "flows.data.paced.frames.payload",
        &["not a payload size", "1 B to 65535 B"],
    ),
    case(
        "payload = \"9188 B\"",
        "payload = \"100 packets\"",
        "flows.data.paced.frames.payload",
        &["100 packets"],
    ),
    case(
        "report = \"53 B\"",
        "report = \"0 B\"",
        "flows.data.paced.frames.report",
        &["not a packet size"],
    ),
    case(
        "report = \"53 B\"",
        "poll = \"0 s\"",
        "flows.data.paced.frames.poll",
        &["out of range", "1 us to 100 days"],
    ),
    case(
        "report = \"53 B\"",
        "trailer = \"70 kB\"",
        "flows.data.paced.frames.trailer",
        &["too large", "65535 B"],
    ),
    case(
        "report = \"53 B\"",
        "retransmitt = false",
        "flows.data.paced.frames.retransmitt",
        &["unknown key", "did you mean \"retransmit\"", "payload, trailer"],
    ),
    case(
        "floor = 0.5, cut = 0.2 } }",
        "floor = 0.5 } }\nframes = {} #!",
        "flows.voice.paced.frames",
        &["only transfers", "files"],
    ),
    case(
        "frames = { payload = \"9188 B\", report = \"53 B\" }",
        "size = \"5 B\"\nframes = {} #!",
        "flows.data.paced.frames",
        &["the header fills the packet"],
    ),
    case(
        "policing = {",
        "policing = { at = \"v\",",
        "flows.voice.policing.at",
        &["\"v\" is no node", "u, s1, s2"],
    ),
    case(
        "bucket = { rate = \"36 kbit/s\", depth = 34 }",
        "bucket = { rate = \"36 kbit/s\", depth = 0 }",
        "flows.voice.policing.bucket.depth",
        &["is zero", "numbers from 1"],
    ),
    case(
        "peak = { rate = \"64 kbit/s\" }",
        "peak = { rate = \"0 bit/s\" }",
        "flows.voice.policing.peak.rate",
        &["is zero"],
    ),
    case(
        "peak = { rate = \"64 kbit/s\" }",
        "peak = { rate = \"64 kbit/s\", queue = \"5 kB\" }",
        "flows.voice.policing.peak.queue",
        &["in bytes", "512 packets"],
    ),
    case(
        "peak = { rate = \"64 kbit/s\" }, bucket = { rate = \"36 kbit/s\", depth = 34 } ",
        "",
        "flows.voice.policing",
        &["polices nothing"],
    ),
    case(
        "precedence = 1",
        "precedence = 1\ntraffic = \"bulk\" #!",
        "flows.data.traffic",
        &["paced.activity"],
    ),
];

/// Each slip in cells is reported with its key path, what was read and what is allowed: it neither
/// simulates another network than the one meant nor ends in a panic.
#[test]
fn wrong_cells_are_refused_where_they_are_wrong() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    check_all(RIGHT, CASES);
}

/// A detector needs a way back, as no source hears of congestion otherwise: paced sources whose way
/// has a detector need a way back from it, and the link is named. Without a detector they need
/// none.
#[test]
fn a_detector_needs_a_way_back() {
    let counted = RIGHT.replace("report = \"53 B\"", "retransmit = false");
    let one_way = counted.replacen("delay = \"5 ms\"", "delay = \"5 ms\"\nduplex = false", 1);
    let error = Scenario::parse(&one_way, "wrong.toml", &[]).err().unwrap().problem;
    assert_eq!(error.path, "flows.data.paced");
    let header = one_way.lines().position(|line| line == "[flows.data.paced]").unwrap();
    assert_eq!(error.line, Some(u32::try_from(header).unwrap() + 1));
    for words in ["links.satellite has a detector", "from \"s1\" back to \"u\""] {
        assert!(error.message.contains(words), "{}", error.message);
    }
    let deaf = one_way.replace("detector =", "#");
    Scenario::parse(&deaf, "right.toml", &[]).unwrap();
}

/// Retransmission needs a way back, by which receivers ask for missing frames: sources of frames
/// need a way back from their receivers, unless nothing is sent again.
#[test]
fn retransmission_needs_a_way_back() {
    let one_way = RIGHT.replace("detector =", "#").replace(
        "[links.egress]\nfrom = \"s2\"\nto = \"v\"\n",
        "[links.egress]\nfrom = \"s2\"\nto = \"v\"\nduplex = false\n",
    );
    let error = Scenario::parse(&one_way, "wrong.toml", &[]).err().unwrap().problem;
    assert_eq!(error.path, "flows.data.paced.frames");
    let words = "no links lead from \"v\" back to \"u\"";
    assert!(error.message.contains(words), "{}", error.message);
    let counted = one_way.replace("report = \"53 B\"", "retransmit = false");
    Scenario::parse(&counted, "right.toml", &[]).unwrap();
}

/// Policing and a limit of lateness are refused for calls, which come and go: flows of calls cannot
/// be policed one by one, and have no fastest packet.
#[test]
fn calls_are_neither_policed_nor_late() {
    let calls = "calls = { initial = 1 }\ntraffic = { voice = { codec = \"g711_20ms\" } }\n";
    for (key, line) in [
        ("policing", "policing = { peak = { rate = \"1 Mbit/s\" } }"),
        ("late_after", "late_after = \"1 ms\""),
    ] {
        let text = format!("{RIGHT}\n[flows.c]\nfrom = \"u\"\nto = \"v\"\n{line}\n{calls}");
        let error = Scenario::parse(&text, "wrong.toml", &[]).err().unwrap().problem;
        assert_eq!(error.path, format!("flows.c.{key}"));
        assert!(error.message.contains("come and go"), "{}", error.message);
    }
}
