//! Cases of [`crate::bad_input`]: mechanisms and networks that cannot be.

use crate::bad_input::{Case, case};

/// Mechanisms that contradict themselves.
pub const MECHANISMS: &[Case] = &[
    case(
        "min_threshold = \"5 packets\", max_threshold = \"15 packets\"",
        "min_threshold = \"15 packets\", max_threshold = \"15 packets\"",
        "links.core.queue.red.max_threshold",
        &["\"15 packets\" is not above the minimum threshold", "more than"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 kB\"",
        "links.core.queue.red.max_threshold",
        &["mixes packets and bytes", "allowed here are packets"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", max_probability = 1.5",
        "links.core.queue.red.max_probability",
        &["1.5 is not a probability", "0 to 1"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", max_probability = -0.1",
        "links.core.queue.red.max_probability",
        &["-0.1 is not a probability", "0 to 1"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", max_probability = nan",
        "links.core.queue.red.max_probability",
        &["NaN is not a finite number"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", weight = inf",
        "links.core.queue.red.weight",
        &["inf is not a finite number"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", weight = 0.0",
        "links.core.queue.red.weight",
        &["0 is out of range", "above 0 and up to 1"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", weight = \"0.1\"",
        "links.core.queue.red.weight",
        &["\"0.1\" is not a number"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", limit = \"2.5 packets\"",
        "links.core.queue.red.limit",
        &["finer than the resolution of 1 packet"],
    ),
    case(
        "cbs = \"3 kB\"",
        "cbs = \"300 B\"",
        "links.access.conditioner.token_bucket",
        &["300 B", "smaller than the packets of flows.", "never conform"],
    ),
    case(
        ", cbs = \"3 kB\"",
        "",
        "links.access.conditioner.token_bucket.cbs",
        &["is missing", "\"1500 B\""],
    ),
    case(
        "queue = { red = {",
        "queue = { droptail = {}, red = {",
        "links.core.queue",
        &["expected one name, found droptail, red", "one of"],
    ),
    case(
        "queue = { red = { min_threshold = \"5 packets\", max_threshold = \"15 packets\" } }",
        "queue = \"rio\" #!",
        "links.core.queue.rio.min_threshold",
        &["is missing"],
    ),
    case(
        "queue = { red = { min_threshold = \"5 packets\", max_threshold = \"15 packets\" } }",
        "queue = 5 #!",
        "links.core.queue",
        &["expected a name, found 5", "droptail"],
    ),
    case(
        "conditioner = { token_bucket",
        "conditioners = { token_bucket",
        "links.access.conditioners",
        &["expected a list, found a table"],
    ),
    case(
        "rate = \"1 Mbit/s\", size = \"500 B\"",
        "rate = \"0 bit/s\", size = \"500 B\"",
        "flows.udp.traffic.poisson.rate",
        &["is zero", "above 0"],
    ),
    case(
        "size = \"500 B\"",
        "size = \"100 kB\"",
        "flows.udp.traffic.poisson.size",
        &["100000 B is not a packet size", "1 B to 65535 B"],
    ),
    case(
        "poisson = { rate = \"1 Mbit/s\", size = \"500 B\" }",
        "cbr = { rate = \"1 Mbit/s\", size = \"500 B\", jitter = 1.5 }",
        "flows.udp.traffic.cbr.jitter",
        &["1.5 is out of range", "0 to 1"],
    ),
    case("mss = \"536 B\"", "mss = \"70 kB\"", "flows.tcp.tcp.mss", &["70 kB", "65535 B"]),
];

/// Networks that cannot be, or cannot carry their flows.
pub const STRUCTURE: &[Case] = &[
    case(
        "from = \"a\"\nto = \"b\"\ncount = 2",
        "from = \"a\"\nto = \"island\" #!\ncount = 2",
        "flows.tcp.to",
        &["no links lead from \"island\" to \"a\""],
    ),
    case(
        "from = \"a\"\nto = \"b\"\nudp",
        "from = \"island\"\nto = \"b\" #!\nudp",
        "flows.udp.to",
        &["no links lead from \"island\" to \"b\""],
    ),
    case(
        "from = \"a\"\nto = \"b\"\ncount = 2",
        "from = \"a\"\nto = \"islnad\" #!\ncount = 2",
        "flows.tcp.to",
        &["no link touches a node \"islnad\"", "did you mean \"island\"", "nodes are"],
    ),
    case(
        "from = \"a\"\nto = \"b\"\ncount = 2",
        "from = \"b\"\nto = \"b\" #!\ncount = 2",
        "flows.tcp.to",
        &["\"b\" is also the sender's node"],
    ),
    case(
        "from = \"r\"\nto = \"b\"",
        "from = \"b\"\nto = \"b\" #!",
        "links.core.to",
        &["\"b\" is also the near end"],
    ),
    case(
        "from = \"a\"\nto = \"island\"",
        "from = \"a\"\nto = \"r\" #!",
        "links.oneway.to",
        &["a link from \"a\" to \"r\" exists already: access"],
    ),
    case("[links.oneway]", "[links.core] #!", "", &["not valid TOML", "duplicate key"]),
    case(
        "duplex = false",
        "duplex = false\nreverse = { delay = \"1 ms\" } #!",
        "links.oneway.reverse",
        &["not duplex"],
    ),
    case(
        "count = 2",
        "route = [\"a\", \"r\", \"a\", \"r\", \"b\"] #!",
        "flows.tcp.route",
        &["passes \"a\" twice"],
    ),
    case(
        "count = 2",
        "route = [\"a\", \"b\"] #!",
        "flows.tcp.route",
        &["no link leads from \"a\" to \"b\"", "links lead to"],
    ),
    case(
        "count = 2",
        "route = [\"r\", \"b\"] #!",
        "flows.tcp.route",
        &["must begin at \"a\" and end at \"b\""],
    ),
    case(
        "count = 2",
        "route = [] #!",
        "flows.tcp.route",
        &["must begin at \"a\" and end at \"b\""],
    ),
    case(
        "count = 2",
        "route = [\"a\", \"q\", \"b\"] #!",
        "flows.tcp.route",
        &["no link touches a node \"q\""],
    ),
    case("count = 2", "count = 0 #!", "flows.tcp.count", &["is zero", "at least one"]),
    case("count = 2", "count = 4294967295 #!", "flows.tcp.count", &["at most 100000000 flows"]),
    case("count = 2", "count = 2.5 #!", "flows.tcp.count", &["2.5 is not a whole number"]),
    case(
        "count = 2",
        "precedence = 64 #!",
        "flows.tcp.precedence",
        &["64 is too large", "0 to 63"],
    ),
    case(
        "count = 2",
        "start = \"10 s\" #!",
        "flows.tcp.start",
        &["10 s is not before the end at 10 s"],
    ),
    case(
        "count = 2",
        "start = \"2 s\"\nstop = \"1 s\" #!",
        "flows.tcp.stop",
        &["1 s is not after the start at 2 s"],
    ),
    case(
        "count = 2",
        "start = { uniform = [\"2 s\", \"1 s\"] } #!",
        "flows.tcp.start",
        &["uniform runs from 2 s to 1 s"],
    ),
    case(
        "count = 2",
        "start = { normal = [\"2 s\", \"1 s\"] } #!",
        "flows.tcp.start",
        &["a table is not a time", "uniform"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = {}\nudp = {} #!",
        "flows.tcp.udp",
        &["either tcp or udp, not both"],
    ),
    case(
        "[flows.tcp]\nfrom = \"a\"\nto = \"b\"\ncount = 2\ntcp = { mss = \"536 B\" }",
        "[flows.tcp] #!\nfrom = \"a\"\nto = \"b\"",
        "flows.tcp",
        &["needs a transport: tcp = {}, udp = {}, calls = {} or paced = {}"],
    ),
    case(
        "traffic = { poisson = { rate = \"1 Mbit/s\", size = \"500 B\" } }",
        "traffic = \"bulk\" #!",
        "flows.udp.traffic",
        &["only TCP can carry it"],
    ),
    case(
        "[flows.udp]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
         traffic = { poisson = { rate = \"1 Mbit/s\", size = \"500 B\" } }",
        "[flows.udp] #!\nfrom = \"a\"\nto = \"b\"\nudp = {}",
        "flows.udp.traffic",
        &["is missing", "poisson"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = \"reno\" #!",
        "flows.tcp.tcp",
        &["expected a table, found \"reno\""],
    ),
    case("[flows.tcp]\nfrom = \"a\"\n", "[flows.tcp] #!\n", "flows.tcp.from", &["is missing"]),
    case(
        "[links.core]\nfrom = \"r\"\nto = \"b\"\nrate = \"2 Mbit/s\"",
        "[links.core] #!\nfrom = \"r\"\nto = \"b\"",
        "links.core.rate",
        &["is missing", "\"34 Mbit/s\""],
    ),
    case(
        "warm_up = \"1 s\"",
        "warm_up = \"10 s\" #!",
        "warm_up",
        &["10 s leaves nothing to measure of a duration of 10 s"],
    ),
    case(
        "duration = \"10 s\"\nwarm_up = \"1 s\"",
        "duration = \"0 s\" #!",
        "duration",
        &["is zero"],
    ),
];
