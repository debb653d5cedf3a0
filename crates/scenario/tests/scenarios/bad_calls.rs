//! Wrong calls, aggregates and meters: each is refused where it is wrong.

use forebay_scenario::Scenario;

use crate::bad_input::{Case, case, check_all};

/// A right domain with a bit of everything.
const RIGHT: &str = r#"name = "right"
duration = "10 s"

[links.ab]
from = "A"
to = "B"
rate = "10 Mbit/s"
duplex = false
residual = "1500 B"
conditioners = [{ ar_meter = { rate = "1 Mbit/s", size = "20 kB", threshold = "10 kB" } }]

[links.bc]
from = "B"
to = "C"
rate = "10 Mbit/s"
duplex = false
conditioner = { sr_meter = { rate = "2 Mbit/s", size = "50 kB", slow_down = "1064 B" } }

[links.bd]
from = "B"
to = "D"
rate = "10 Mbit/s"
duplex = false

[aggregates.voice]
rtt = "50 ms"
admission = { congestion_level = { limit = 0.1 } }
termination = "per_packet"
probing = { packets = 3, size = "200 B" }

[aggregates.video]
admission = { capacity = { calls = 10 } }
termination = { sustainable_rate = { factor = 1.2 } }

[flows.phone]
from = "A"
to = "C"
aggregate = "voice"
calls = { rate = "450 /h", holding = "60 s", initial = 5, surges = [{ at = "2 s", calls = 5 }] }
traffic = { voice = { codec = "g711_20ms" } }

[flows.few]
from = "A"
to = "C"
aggregate = "voice"
calls = { rate = "2 /h", sources = 20 }
traffic = { voice = { codec = "g729_20ms" } }

[flows.conference]
from = "A"
to = "D"
aggregate = "video"
calls = { initial = 1 }
linked = [{ voice = { codec = "g711_20ms" } }, { video = { line_rate = "10 Mbit/s" } }]

[flows.datagrams]
from = "A"
to = "B"
udp = {}
traffic = { cbr = { rate = "1 Mbit/s", size = "500 B" } }

[record]
calls = true
"#;

const AGGREGATES: &[Case] = &[
    case(
        "aggregate = \"voice\"",
        "aggregate = \"vioce\" #!",
        "flows.phone.aggregate",
        &["no aggregate \"vioce\"", "did you mean \"voice\"", "there are: video, voice"],
    ),
    case(
        "[aggregates.video]",
        "[aggregates.empty] #!\n[aggregates.video]",
        "aggregates.empty",
        &["is empty", "no flows name it"],
    ),
    case(
        "[flows.phone]\nfrom = \"A\"\nto = \"C\"\naggregate = \"voice\"",
        "[flows.phone]\nfrom = \"A\"\nto = \"D\"\naggregate = \"voice\" #!",
        "flows.phone.aggregate",
        &["flows.few", "takes another way", "one ingress node"],
    ),
    case(
        "udp = {}",
        "udp = {}\naggregate = \"voice\" #!",
        "flows.datagrams.aggregate",
        &["only calls can belong to an aggregate"],
    ),
    case(
        "rtt = \"50 ms\"",
        "rtt = { uniform = [\"80 ms\", \"20 ms\"] } #!",
        "aggregates.voice.rtt",
        &["uniform runs from 80 ms to 20 ms", "the first must not be later"],
    ),
    case(
        "rtt = \"50 ms\"",
        "rtt = \"-50 ms\" #!",
        "aggregates.voice.rtt",
        &["\"-50 ms\" is negative", "at least 0"],
    ),
    case(
        "rtt = \"50 ms\"",
        "rttt = \"50 ms\" #!",
        "aggregates.voice.rttt",
        &["did you mean \"rtt\"", "admission, termination, probing"],
    ),
    case(
        "limit = 0.1",
        "limit = 1.1",
        "aggregates.voice.admission.congestion_level.limit",
        &["1.1 is not a congestion level", "0 to 1"],
    ),
    case(
        "limit = 0.1",
        "limit = -0.1",
        "aggregates.voice.admission.congestion_level.limit",
        &["-0.1 is not a congestion level", "0 to 1"],
    ),
    case(
        "{ congestion_level = { limit = 0.1 } }",
        "\"congestion_level\"",
        "aggregates.voice.admission.congestion_level.limit",
        &["is missing"],
    ),
    case(
        "limit = 0.1",
        "limit = 0.1, interval = \"0 s\"",
        "aggregates.voice.admission.congestion_level.interval",
        &["too short", "from 1 ms"],
    ),
    case(
        "termination = \"per_packet\"",
        "termination = \"per_packets\" #!",
        "aggregates.voice.termination",
        &["unknown \"per_packets\"", "did you mean \"per_packet\"", "sustainable_rate"],
    ),
    case(
        "factor = 1.2",
        "factor = 0.9",
        "aggregates.video.termination.sustainable_rate.factor",
        &["0.9 is out of range", "from 1"],
    ),
    case(
        "{ calls = 10 }",
        "{ calls = 0 }",
        "aggregates.video.admission.capacity.calls",
        &["is 0", "from 1"],
    ),
    case(
        "packets = 3",
        "packets = 0",
        "aggregates.voice.probing.packets",
        &["is zero", "numbers from 1"],
    ),
    case(
        "size = \"200 B\" }\n",
        "size = \"70 kB\" }\n",
        "aggregates.voice.probing.size",
        &["not a packet size", "1 B to 65535 B"],
    ),
    case("packets = 3", "interval = \"0 s\"", "aggregates.voice.probing.interval", &["is zero"]),
    case("packets = 3", "window = \"0 s\"", "aggregates.voice.probing.window", &["is zero"]),
    case(
        "packets = 3",
        "scheme = \"before\"",
        "aggregates.voice.probing.scheme",
        &["\"before\" is not one of", "before_media, during_media_delay"],
    ),
];

const CLASSES: &[Case] = &[
    case(
        "to = \"C\"\naggregate",
        "to = \"E\" #!\naggregate",
        "flows.phone.to",
        &["no link touches a node \"E\"", "nodes are A, B, C, D"],
    ),
    case(
        "to = \"C\"\naggregate",
        "to = \"C\"\nroute = [\"A\", \"D\", \"C\"] #!\naggregate",
        "flows.phone.route",
        &["no link leads from \"A\" to \"D\"", "links lead to B"],
    ),
    case(
        "from = \"A\"\nto = \"C\"\naggregate",
        "from = \"C\"\nto = \"A\" #!\naggregate",
        "flows.phone.to",
        &["no links lead from \"C\" to \"A\""],
    ),
    case(
        "aggregate = \"voice\"",
        "count = 2 #!\naggregate = \"voice\"",
        "flows.phone.count",
        &["calls come and go", "calls.initial, calls.rate or calls.surges"],
    ),
    case(
        "calls = { initial = 1 }",
        "calls = { initial = 1 }\nudp = {}",
        "flows.conference.calls",
        &["either udp or calls, not both"],
    ),
    case(
        "udp = {}",
        "udp = {}\nlinked = [{ voice = { codec = \"g711_20ms\" } }] #!",
        "flows.datagrams.linked",
        &["only calls have linked flows", "traffic"],
    ),
    case(
        "linked = [",
        "traffic = { voice = { codec = \"g711_20ms\" } }\nlinked = [ #!\n",
        "flows.conference.linked",
        &["there is a traffic already", "one of the two keys"],
    ),
    case(
        "linked = [{ voice = { codec = \"g711_20ms\" } }, \
         { video = { line_rate = \"10 Mbit/s\" } }]",
        "linked = [] #!",
        "flows.conference.linked",
        &["is missing", "voice"],
    ),
    case(
        "traffic = { voice = { codec = \"g711_20ms\" } }",
        "traffic = \"bulk\" #!",
        "flows.phone.traffic.bulk",
        &["no mean rate"],
    ),
    case(
        "codec = \"g711_20ms\"",
        "codec = \"g711\"",
        "flows.phone.traffic.voice.codec",
        &["\"g711\" is not one of", "g711_20ms, g711_10ms, g729_20ms, dual_rate"],
    ),
    case("holding = \"60 s\"", "holding = \"0 s\"", "flows.phone.calls.holding", &["is zero"]),
    case("rate = \"450 /h\"", "rate = \"0 /h\"", "flows.phone.calls.rate", &["is zero"]),
    case(
        "rate = \"450 /h\"",
        "rate = \"450\"",
        "flows.phone.calls.rate",
        &["\"450\" has no unit", "\"450 /h\""],
    ),
    case(
        "rate = \"450 /h\"",
        "rate = \"450 Hz\"",
        "flows.phone.calls.rate",
        &["\"Hz\" in \"450 Hz\" is not a unit", "/s, /min, /h"],
    ),
    case(
        "sources = 20",
        "sources = 20, initial = 21",
        "flows.few.calls.initial",
        &["21 is more than there are sources"],
    ),
    case("sources = 20", "sources = 0", "flows.few.calls.sources", &["is zero", "unlimited"]),
    case(
        "sources = 20",
        "sources = 20, batch = 2.0",
        "flows.few.calls.batch",
        &["cannot call in batches"],
    ),
    case(
        "initial = 5",
        "batch = 0.5",
        "flows.phone.calls.batch",
        &["0.5 is out of range", "1 to 1000000"],
    ),
    case("initial = 5", "batch = nan", "flows.phone.calls.batch", &["not a finite number"]),
    case(
        "initial = 5",
        "initail = 5",
        "flows.phone.calls.initail",
        &["did you mean \"initial\"", "surges"],
    ),
    case(
        "calls = 5 }] }",
        "calls = 0 }] }",
        "flows.phone.calls.surges[0].calls",
        &["is zero", "at least one call"],
    ),
    case(
        "at = \"2 s\"",
        "at = \"10 s\"",
        "flows.phone.calls.surges[0].at",
        &["not before the end"],
    ),
    case(
        "surges = [{ at = \"2 s\", calls = 5 }]",
        "surges = { at = \"2 s\", calls = 5 }",
        "flows.phone.calls.surges",
        &["expected a list of tables, found a table"],
    ),
    case("at = \"2 s\", calls = 5", "calls = 5", "flows.phone.calls.surges[0].at", &["is missing"]),
    case(
        "calls = { initial = 1 }",
        "calls = {}",
        "flows.conference.calls",
        &["never be a call", "rate, initial or surges"],
    ),
];

const METERS: &[Case] = &[
    case(
        "threshold = \"10 kB\"",
        "threshold = \"21 kB\"",
        "links.ab.conditioners[0].ar_meter.threshold",
        &["\"21 kB\" is above the size of the bucket", "at most \"20 kB\""],
    ),
    case(
        "rate = \"2 Mbit/s\"",
        "rate = \"11 Mbit/s\"",
        "links.bc.conditioner.sr_meter.rate",
        &["\"11 Mbit/s\" is above the link's rate", "up to the link's, \"10 Mbit/s\""],
    ),
    case(
        "rate = \"2 Mbit/s\"",
        "rate = \"0 bit/s\"",
        "links.bc.conditioner.sr_meter.rate",
        &["would never fill the bucket", "above 0"],
    ),
    case(
        "slow_down = \"1064 B\"",
        "slow_down = \"-100 B\"",
        "links.bc.conditioner.sr_meter.slow_down",
        &["\"-100 B\" is negative", "at least 0"],
    ),
    case(
        "residual = \"1500 B\"",
        "residual = \"70000 B\" #!",
        "links.ab.residual",
        &["not a packet size", "1 B to 65535 B"],
    ),
    case(
        "residual = \"1500 B\"",
        "residual = \"0 B\" #!",
        "links.ab.residual",
        &["1 B to 65535 B"],
    ),
];

/// The scenario that the cases below change is right: each of them is refused for its own reason.
#[test]
fn the_right_domain_is_right() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    assert!(AGGREGATES.len() + CLASSES.len() + METERS.len() >= 45);
}

/// A control loop that cannot be is refused.
#[test]
fn wrong_aggregates_are_refused() {
    check_all(RIGHT, AGGREGATES);
}

/// Calls that cannot be, or that contradict themselves, are refused.
#[test]
fn wrong_calls_are_refused() {
    check_all(RIGHT, CLASSES);
}

/// A meter that contradicts its link or itself is refused: it marks all packets or none.
#[test]
fn wrong_meters_are_refused() {
    check_all(RIGHT, METERS);
}
