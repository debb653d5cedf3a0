//! Wrong explicit rates: each scenario is refused where it is wrong.

use forebay_scenario::Scenario;

use crate::bad_input::{Case, case, check_all};

/// A right network of sources that go by explicit rates.
const RIGHT: &str = r#"name = "right"
duration = "10 s"

[links.user]
from = "u"
to = "s"
rate = "21 Mbit/s"

[links.core]
from = "s"
to = "v"
rate = "6 Mbit/s"
delay = "270 ms"

[links.core.explicit_rate]
erica = { interval = "50 ms", packets = 100, target = 0.9, delta = 0.1, decay = 0.5, weight = 0.5 }

[flows.data]
from = "u"
to = "v"

[flows.data.paced]
activity = { files = { rate = "500 kbit/s" } }

[flows.data.paced.pace.abr]
mcr = 0.1
icr = 0.5
rif = 0.1
nrm = 32
trm = "100 ms"
adtf = "500 ms"
crm = 32
cdf = 0.1
"#;

const CASES: &[Case] = &[
    case("erica =", "erika =", "links.core.explicit_rate", &["did you mean \"erica\""]),
    case(
        "interval = \"50 ms\"",
        "interval = \"0 s\"",
        "links.core.explicit_rate.erica.interval",
        &["from 1 us"],
    ),
    case(
        "packets = 100",
        "packets = 0",
        "links.core.explicit_rate.erica.packets",
        &["numbers from 1"],
    ),
    case(
        "target = 0.9",
        "target = 1.9",
        "links.core.explicit_rate.erica.target",
        &["1.9 is out of range", "up to 1"],
    ),
    case(
        "delta = 0.1",
        "delta = -0.1",
        "links.core.explicit_rate.erica.delta",
        &["-0.1 is out of range", "0 to 1"],
    ),
    case(
        "decay = 0.5",
        "decay = 1.0",
        "links.core.explicit_rate.erica.decay",
        &["1 is out of range", "below 1"],
    ),
    case(
        "weight = 0.5",
        "weight = 0.0",
        "links.core.explicit_rate.erica.weight",
        &["0 is out of range", "above 0"],
    ),
    case(
        "target = 0.9",
        "targets = 0.9",
        "links.core.explicit_rate.erica.targets",
        &["did you mean \"target\""],
    ),
    case(
        "mcr = 0.1",
        "mcr = 1.1",
        "flows.data.paced.pace.abr.mcr",
        &["1.1 is out of range", "0 to 1"],
    ),
    case(
        "icr = 0.5",
        "icr = 0.05",
        "flows.data.paced.pace.abr.icr",
        &["0.05 is out of range", "0.1, the minimum cell rate"],
    ),
    case("rif = 0.1", "rif = 0.0", "flows.data.paced.pace.abr.rif", &["0 is out of range"]),
    case(
        "nrm = 32",
        "nrm = 1",
        "flows.data.paced.pace.abr.nrm",
        &["1 is out of range", "2 to 256"],
    ),
    case("trm = \"100 ms\"", "trm = \"0 s\"", "flows.data.paced.pace.abr.trm", &["from 1 us"]),
    case("adtf = \"500 ms\"", "adtf = \"500\"", "flows.data.paced.pace.abr.adtf", &["500"]),
    case("crm = 32", "crm = 0", "flows.data.paced.pace.abr.crm", &["0 is out of range", "from 1"]),
    case("cdf = 0.1", "cdf = 2.0", "flows.data.paced.pace.abr.cdf", &["2 is out of range"]),
    case("paced.pace.abr]", "paced.pace.abs]", "flows.data.paced.pace", &["did you mean \"abr\""]),
];

/// Each slip in explicit rates is reported with its key path, what was read and what is allowed: it
/// neither simulates another control than the one meant nor ends in a panic.
#[test]
fn wrong_explicit_rates_are_refused_where_they_are_wrong() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    check_all(RIGHT, CASES);
}

/// Explicit rates need the same way back: resource-management cells take the nodes of the way
/// there, which needs a link back for each of its own.
#[test]
fn explicit_rates_need_the_same_way_back() {
    let one_way = RIGHT.replace("delay = \"270 ms\"", "duplex = false");
    let error = Scenario::parse(&one_way, "wrong.toml", &[]).err().unwrap().problem;
    assert_eq!(error.path, "flows.data.paced");
    for words in ["come back the same way", "from \"v\" to \"s\""] {
        assert!(error.message.contains(words), "{}", error.message);
    }
}
