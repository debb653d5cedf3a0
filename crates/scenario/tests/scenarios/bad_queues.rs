//! Wrong parameters of the queues whose maximum probabilities move; see [`crate::bad_input`].

use forebay_scenario::Scenario;

use crate::bad_input::{Case, case, check_all};

/// 10 Mbit/s are 18 packets of 1000 B in 15 ms, and 125 in 100 ms.
const RIGHT: &str = r#"duration = "10 s"

[links.adaptive]
from = "a"
to = "b"
rate = "10 Mbit/s"
queue = { adaptive_redn = { min_threshold = "9 packets", middle_threshold = "18 packets" } }

[links.selfish]
from = "b"
to = "c"
rate = "10 Mbit/s"
queue = { self_configuring = { max_threshold = "125 packets" } }

[links.floyd]
from = "c"
to = "d"
rate = "10 Mbit/s"
queue = { adaptive_red = { max_probability = 0.1 } }

[links.plain]
from = "d"
to = "e"
rate = "10 Mbit/s"
queue = { redn = { max_threshold = "125 packets" } }

[flows.udp]
from = "a"
to = "e"
udp = {}
traffic = { poisson = { rate = "1 Mbit/s", size = "500 B" } }

[record]
series = "100 ms"
"#;

const ADAPTIVE: &str = "middle_threshold = \"18 packets\"";
const SELF: &str = "self_configuring = { max_threshold = \"125 packets\"";
const FLOYD: &str = "max_probability = 0.1 }";
const PLAIN: &str = "redn = { max_threshold = \"125 packets\"";

const WRONG: &[Case] = &[
    case(
        ADAPTIVE,
        "middle_threshold = \"9 packets\"",
        "links.adaptive.queue.adaptive_redn.middle_threshold",
        &["\"9 packets\" is not between", "more than \"9 packets\" and less than \"250 packets\""],
    ),
    case(
        ADAPTIVE,
        "middle_threshold = \"300 packets\"",
        "links.adaptive.queue.adaptive_redn.middle_threshold",
        &["\"300 packets\" is not between", "less than \"250 packets\""],
    ),
    case(
        ADAPTIVE,
        "middle_threshold = \"18 kB\"",
        "links.adaptive.queue.adaptive_redn.middle_threshold",
        &["another unit than min_threshold", "packets"],
    ),
    case(
        ADAPTIVE,
        "middle_treshold = \"18 packets\"",
        "links.adaptive.queue.adaptive_redn.middle_treshold",
        &["did you mean \"middle_threshold\""],
    ),
    case(
        ADAPTIVE,
        "actual_threshold = \"9 kB\"",
        "links.adaptive.queue.adaptive_redn.actual_threshold",
        &["another unit than min_threshold", "packets"],
    ),
    case(
        ADAPTIVE,
        "increment = 1",
        "links.adaptive.queue.adaptive_redn.increment",
        &["1 is out of range", "more than 1"],
    ),
    case(
        ADAPTIVE,
        "first_middle = 4",
        "links.adaptive.queue.adaptive_redn.first_middle",
        &["4 is out of range", "0 to 3"],
    ),
    case(
        SELF,
        "self_configuring = { decrement = 0.5",
        "links.selfish.queue.self_configuring.decrement",
        &["0.5 is out of range", "more than 1"],
    ),
    case(
        SELF,
        "self_configuring = { precedences = 0",
        "links.selfish.queue.self_configuring.precedences",
        &["0 is out of range", "1 to 64"],
    ),
    case(
        SELF,
        "self_configuring = { max_probability = 0.0",
        "links.selfish.queue.self_configuring.max_probability",
        &["0 is out of range", "above 0 and up to 1"],
    ),
    case(
        SELF,
        "self_configuring = { spared_count = \"forget\"",
        "links.selfish.queue.self_configuring.spared_count",
        &["\"forget\" is not one of", "restart", "keep"],
    ),
    case(
        PLAIN,
        "redn = { precedences = 65",
        "links.plain.queue.redn.precedences",
        &["65 is out of range", "1 to 64"],
    ),
    case(
        PLAIN,
        "redn = { min_threshold = \"250 packets\"",
        "links.plain.queue.redn.max_threshold",
        &["is left out, and \"250 packets\"", "more than \"250 packets\""],
    ),
    case(
        PLAIN,
        "redn = { weight = 0",
        "links.plain.queue.redn.weight",
        &["0 is out of range", "above 0 and up to 1"],
    ),
    case(
        FLOYD,
        "max_probability = 0.6 }",
        "links.floyd.queue.adaptive_red.max_probability",
        &["0.6 is out of range", "0.01 (bottom) to 0.5 (top)"],
    ),
    case(
        FLOYD,
        "interval = \"0 s\" }",
        "links.floyd.queue.adaptive_red.interval",
        &["is zero", "above 0 s"],
    ),
    case(
        "series = \"100 ms\"",
        "series_of = [\"links.adaptiv\"] #!",
        "record.series_of",
        &["\"links.adaptiv\" is not in", "did you mean \"links.adaptive\"", "links, flows"],
    ),
];

/// Thresholds that cross, probabilities that move the wrong way or never, and records of what a
/// queue does not have are refused.
#[test]
fn wrong_parameters_are_refused() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    check_all(RIGHT, WRONG);
}
