//! Random networks of cells, for comparisons of runs that must be alike.

use forebay_kernel::Stream;

use crate::early::one_of;

const QUEUES: &[&str] = &[
    "{ priority = { map = [0, 1, 0, 1], classes = [{ droptail = { limit = \"9 packets\" } }, \
     { partial_buffer_sharing = { limit = \"12 packets\", threshold = \"5 packets\" } }] } }",
    "{ priority = { map = [0, 1, 0, 1], classes = [{ droptail = { limit = \"9 packets\" } }, \
     { partial_buffer_sharing = { limit = \"20 packets\", threshold = \"8 packets\" } }] } }",
    "{ priority = { classes = [{ partial_buffer_sharing = { limit = \"12 packets\", \
     threshold = \"5 packets\" } }, \"codel\"] } }",
    "{ priority = { map = [0, 1, 0, 1], classes = [{ push_out = { limit = \"9 packets\" } }, \
     { push_out = { limit = \"12 packets\" } }] } }",
    "{ partial_buffer_sharing = { limit = \"12 packets\", threshold = \"5 packets\" } }",
    "{ push_out = { limit = \"12 packets\" } }",
    "{ droptail = { limit = \"20 packets\" } }",
];

const DETECTORS: &[&str] = &[
    "",
    "detector = { discard = { hold_off = \"2 ms\" } }",
    "detector = { input_rate = { interval = \"5 ms\", hold_off = \"2 ms\" } }",
    "detector = { input_rate = { interval = \"5 ms\", hold_off = \"0 s\", threshold = 0.5 } }",
    "detector = { queue_length = { threshold = 0.5, hold_off = \"2 ms\" } }",
    "conditioner = { efci = { interval = \"5 ms\", threshold = 0.5 } }",
];

const ACTIVITIES: &[&str] = &[
    "{ sessions = { rate = \"400 kbit/s\", high_time = \"50 ms\", low_time = \"50 ms\" } }",
    "{ sessions = { rate = \"800 kbit/s\", low_rate = \"200 kbit/s\", high_time = \"20 ms\", \
     low_time = \"20 ms\", active = \"100 ms\", idle = \"50 ms\" } }",
    "{ files = { rate = \"800 kbit/s\", size = \"10 kB\", gap = \"100 ms\", start = 1.0 } }",
    "{ files = { rate = \"1 Mbit/s\", size = \"2 kB\", gap = \"30 ms\" } }",
];

const PACES: &[&str] = &[
    "{ uncontrolled = { rtt = \"20 ms\" } }",
    "{ uncontrolled = { rtt = \"10 ms\", start = 1.0 } }",
    "{ steps = { rtt = \"20 ms\", floor = 0.0, start = 1.0 } }",
    "{ steps = { rtt = \"10 ms\", ceiling = 1.0 } }",
];

const POLICING: &[&str] = &[
    "",
    "policing = { peak = { rate = \"400 kbit/s\" }, \
     bucket = { rate = \"300 kbit/s\", depth = 3, token = \"50 B\" } }",
    "policing = { peak = { rate = \"500 kbit/s\", queue = \"3 packets\", full = \"mark_head\", \
     forced = \"bucket\" }, bucket = { rate = \"300 kbit/s\", depth = 2, token = \"50 B\", \
     queue = \"2 packets\" } }",
    "policing = { bucket = { rate = \"200 kbit/s\", depth = 1, token = \"50 B\", \
     queue = \"9 packets\", full = \"discard\" } }",
];

const FRAMES: &[&str] = &[
    "",
    "frames = { payload = \"172 B\", poll = \"20 ms\", report = \"50 B\" }",
    "frames = { payload = \"82 B\", retransmit = false }",
];

/// A link with a name of its own.
fn link(draw: &mut Stream, (from, to): (&str, &str), rates: &[&str]) -> String {
    // Numbers of elements follow the order of links.
    let name = format!("{}-{from}-{to}", draw.below(1000));
    let (rate, queue) = (one_of(draw, rates), one_of(draw, QUEUES));
    let delay = one_of(draw, &["0 s", "1 ms", "2 ms", "2 ms", "5 ms"]);
    let detector = one_of(draw, DETECTORS);
    // Only these tell how full they are.
    let tells = !queue.contains("codel");
    let detector = if tells || !detector.contains("queue_length") { detector } else { "" };
    format!(
        "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n\
         delay = \"{delay}\"\nqueue = {queue}\n{detector}\n"
    )
}

/// A group of paced sources.
fn sources(draw: &mut Stream, name: &str, (from, to): (&str, &str)) -> String {
    let (count, precedence) = (1 + draw.below(5), draw.below(2));
    let (activity, pace) = (one_of(draw, ACTIVITIES), one_of(draw, PACES));
    let (policing, stop) = (one_of(draw, POLICING), one_of(draw, &["", "", "stop = \"350 ms\""]));
    let frames = one_of(draw, FRAMES);
    let frames = if activity.contains("files") { frames } else { "" };
    let efcn = one_of(draw, &["", "efcn = { interval = \"5 ms\", size = \"50 B\" }"]);
    format!(
        "[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\n\
         precedence = {precedence}\nlate_after = \"1 ms\"\n{policing}\n{stop}\n\
         [flows.{name}.paced]\nsize = \"50 B\"\nheader = \"5 B\"\n\
         activity = {activity}\npace = {pace}\n{frames}\n{efcn}\n"
    )
}

/// A random chain of routers with users at each end, and paced sources between them: policed or
/// not, notified of congestion or not, beside a few datagrams. Most times are whole tenths of
/// milliseconds, so that cells of several sources, releases of policers and ends of transmissions
/// fall into one instant.
pub fn network_of_cells(draw: &mut Stream) -> String {
    let routers = 2 + draw.below(2);
    let users: Vec<String> = (0..2 + draw.below(2)).map(|number| format!("u{number}")).collect();
    let fast = ["4 Mbit/s", "8 Mbit/s"];
    let mut text =
        "duration = \"600 ms\"\nwarm_up = \"100 ms\"\n[record]\ntrace = 1000\n".to_owned();
    for user in &users {
        text += &link(draw, (user, "r0"), &fast);
    }
    for to in 1..routers {
        text += &link(draw, (&format!("r{}", to - 1), &format!("r{to}")), &["2 Mbit/s"]);
    }
    text += &link(draw, (&format!("r{}", routers - 1), "peer"), &fast);
    for number in 0..2 + draw.below(4) {
        let user = users[draw.below(users.len() as u64) as usize].as_str();
        let ends = if draw.below(5) == 0 { ("peer", user) } else { (user, "peer") };
        text += &sources(draw, &format!("f{number}"), ends);
    }
    if draw.below(3) == 0 {
        text += "[flows.datagrams]\nfrom = \"u0\"\nto = \"peer\"\nudp = {}\n\
                 traffic = { poisson = { rate = \"300 kbit/s\", size = \"100 B\" } }\n";
    }
    text
}
