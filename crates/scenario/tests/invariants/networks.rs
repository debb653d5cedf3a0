//! Random networks: every mechanism of the registry, with its example varied, in networks of a few
//! nodes. A network is decided by its number.

use forebay_elements::Subnetworks;
use forebay_elements::link::LinkKinds;
use forebay_kernel::{Stream, Streams};
use forebay_parameters::{About, Category, Field, Node, Value};
use forebay_scenario::{Registry, Scenario, registry};

/// A random network.
pub struct Network {
    /// Its scenario.
    pub text: String,
    pub scenario: Scenario,
    /// The mechanisms in it, as `category name`, and what stands beside what, as `queue codel, a
    /// failure`.
    pub mechanisms: Vec<String>,
}

/// Every mechanism, as category and name: not kinds of links and of subnetworks, which are drawn
/// with the mechanisms on them.
pub fn every_mechanism() -> Vec<(&'static str, &'static str)> {
    let registry = registry();
    let of = |shelf: &dyn forebay_parameters::Shelf| {
        let name = shelf.name();
        shelf.entries().into_iter().map(move |entry| (name, entry.name)).collect::<Vec<_>>()
    };
    let parts = [LinkKinds::NAME, Subnetworks::NAME];
    registry.shelves().filter(|shelf| !parts.contains(&shelf.name())).flat_map(of).collect()
}

/// Network `number`: one mechanism after the other is in turn to be part of it.
pub fn network(number: u64) -> Network {
    let all = every_mechanism();
    let wanted = all[(number % all.len() as u64) as usize];
    // What does not fit together is refused when it is read: then another draw.
    for attempt in 0..1000 {
        let stream = Streams::new(number, attempt).named("network");
        // The more often parameters were refused, the closer they stay to the examples.
        let spice = if attempt < 20 { 0.3 } else { 0.0 };
        let mut draw = Draw::new(stream, wanted, spice);
        let text = draw.scenario();
        if let Ok(scenario) = Scenario::parse(&text, "random.toml", &[])
            && draw.chosen.contains(&format!("{} {}", wanted.0, wanted.1))
        {
            return Network { text, scenario, mechanisms: draw.with_pairs() };
        }
    }
    panic!("no network has the {} {}", wanted.0, wanted.1);
}

pub(crate) struct Draw {
    stream: Stream,
    registry: Registry,
    /// The mechanism that must be in it.
    pub(crate) wanted: (&'static str, &'static str),
    /// Probability that a parameter is varied.
    spice: f64,
    pub(crate) chosen: Vec<String>,
    /// True if links are so fast and long that the network can be divided.
    fast: bool,
    /// True if names have dots and spaces.
    dotted: bool,
    /// True if a link leads past all others, and one of the two ways fails.
    bypass: bool,
}

impl Draw {
    fn new(mut stream: Stream, wanted: (&'static str, &'static str), spice: f64) -> Self {
        let fast = stream.happens(if wanted.0 == "impairment" { 0.5 } else { 0.08 });
        let (dotted, bypass) = (stream.happens(0.15), !fast && stream.happens(0.25));
        let chosen = Vec::new();
        Self { stream, registry: registry(), wanted, spice, chosen, fast, dotted, bypass }
    }

    /// Returns the mechanisms chosen, the queues that stand beside a failure, and a note of names
    /// with dots.
    fn with_pairs(self) -> Vec<String> {
        let queues = self.chosen.iter().filter(|chosen| self.bypass && chosen.starts_with("queue"));
        let mut pairs: Vec<String> = queues.map(|queue| format!("{queue}, a failure")).collect();
        if self.dotted {
            pairs.push("names with dots".to_owned());
        }
        [self.chosen, pairs].concat()
    }

    /// The name of a link, a group or an aggregate.
    pub(crate) fn named(&self, kind: &str, number: usize) -> String {
        if self.dotted { format!("{kind}{number}.{kind} 1") } else { format!("{kind}{number}") }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.stream.below(n as u64) as usize
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.stream.happens(p)
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns true if the wanted mechanism is of `category`.
    fn wants(&self, category: &str) -> bool {
        self.wanted.0 == category
    }

    /// A mechanism of `category` as it stands behind its key: the wanted one, or any.
    pub(crate) fn mechanism(&mut self, category: &str, depth: u32) -> String {
        let shelf = self.registry.shelves().find(|shelf| shelf.name() == category);
        let entries = shelf.map_or(Vec::new(), |shelf| shelf.entries());
        let missing = !self.chosen.contains(&format!("{} {}", self.wanted.0, self.wanted.1));
        let wanted = entries.iter().find(|entry| self.wanted == (category, entry.name) && missing);
        let entry = match wanted {
            Some(entry) => *entry,
            None => entries[self.below(entries.len())],
        };
        self.chosen.push(format!("{category} {}", entry.name));
        format!("{{ {} = {{ {} }} }}", entry.name, self.parameters(&entry, depth))
    }

    /// The parameters of `entry`: its example and its defaults, some of them varied.
    fn parameters(&mut self, entry: &About, depth: u32) -> String {
        let given = inline(entry.example);
        let mut parts: Vec<String> = split(&given);
        for part in &mut parts {
            if self.chance(self.spice)
                && let Some((key, value)) = part.split_once('=')
            {
                let field = entry.fields.iter().find(|field| field.name == key.trim());
                let value = self.varied(value.trim(), field, depth);
                *part = format!("{} = {value}", key.trim());
            }
        }
        for field in entry.fields {
            let named = |part: &String| part.split('=').next().unwrap_or("").trim() == field.name;
            if field.choices.iter().any(|(choice, _)| *choice == "drop") && self.chance(0.4) {
                parts.retain(|part| !named(part));
                parts.push(format!("{} = \"drop\"", field.name));
                self.chosen.push(format!("{} that drops", entry.name));
            }
            let known = parts.iter().any(named);
            if let Some(default) = field.default.filter(|_| !known)
                && self.chance(self.spice / 2.0)
                && let Some(text) = written(&default.value())
            {
                parts.push(format!("{} = {}", field.name, self.varied(&text, Some(field), depth)));
            }
        }
        parts.join(", ")
    }

    /// Another value of the kind of `value`.
    fn varied(&mut self, value: &str, field: Option<&Field>, depth: u32) -> String {
        if let Some(field) = field {
            if !field.choices.is_empty() {
                return format!("\"{}\"", self.one_of(field.choices).0);
            }
            if let Some(category) = field.mechanism.filter(|_| depth < 2) {
                let inner = self.mechanism(category, depth + 1);
                return if field.list { format!("[{inner}, {inner}]") } else { inner };
            }
        }
        match value {
            "true" | "false" => self.chance(0.5).to_string(),
            _ if value.starts_with('[') || value.starts_with('{') => value.to_owned(),
            _ => self.scaled(value),
        }
    }

    /// A number, or a quantity with its unit in quotes, half to twice as large.
    fn scaled(&mut self, value: &str) -> String {
        let quoted = value.starts_with('"');
        let bare = value.trim_matches('"');
        let end = bare.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(bare.len());
        let (number, unit) = bare.split_at(end);
        let Ok(size) = number.parse::<f64>() else { return value.to_owned() };
        let factor = 0.5 + 1.5 * self.stream.uniform();
        let scaled = if number.contains('.') {
            format!("{:.4}", size * factor)
        } else {
            format!("{:.0}", (size * factor).max(if size > 0.0 { 1.0 } else { 0.0 }))
        };
        if quoted { format!("\"{scaled}{unit}\"") } else { scaled }
    }

    fn scenario(&mut self) -> String {
        let duration = self.one_of(&[400, 700, 1000]);
        let warm_up = if self.chance(0.3) { duration / 4 } else { 0 };
        let mut text = format!("duration = \"{duration} ms\"\nwarm_up = \"{warm_up} ms\"\n");
        let seed = self.below(1000);
        text += &format!("seed = {seed}\n");
        if self.chance(0.2) {
            text += "record.flows = \"groups\"\n";
        }
        // Recording changes nothing else: no draw of its own.
        if seed.is_multiple_of(2) {
            text += "record.classes = true\n";
        }
        if self.wants("fairness") || self.chance(0.1) {
            text += &self.ring();
            return text;
        }
        if ["path", "pairs", "fabric"].iter().any(|category| self.wants(category))
            || self.chance(0.08)
        {
            text += &self.fabric();
            return text;
        }
        // What calls, paced sources and ports need comes together.
        let paced = ["activity", "pace", "detector", "explicit_rate"].iter().any(|c| self.wants(c));
        let calls = ["admission", "termination"].iter().any(|c| self.wants(c));
        let routers = 1 + self.below(2);
        let explicit = self.wants("explicit_rate") || (paced && self.chance(0.4));
        for hop in 0..=routers {
            text += &self.link(hop, routers, explicit);
        }
        if self.bypass {
            text += &self.way_past(routers);
        }
        if self.wants("sharing") || self.chance(0.15) {
            text += &self.switch(routers);
        }
        let groups = 1 + self.below(3);
        for group in 0..groups {
            let kind = match (paced, calls, group) {
                (true, _, 0) => "paced",
                (_, true, 0) => "calls",
                _ if self.wants("control") && group == 0 => "tcp",
                _ if self.wants("adaptation") && group == 0 => "media",
                _ if self.wants("transport") && group == 0 => self.wanted.1,
                _ => self.one_of(&["tcp", "udp", "udp", "tcp", "calls", "paced"]),
            };
            text += &self.flow(group, routers, kind, explicit && group == 0);
        }
        text
    }

    /// The link from node `hop` on: a bottleneck behind faster ones.
    fn link(&mut self, hop: usize, routers: usize, explicit: bool) -> String {
        let last = hop == routers;
        let (name, fast) = (self.named("l", hop), if self.fast { 50 } else { 1 });
        let rate =
            if last { self.one_of(&[500, 1000, 2000]) } else { self.one_of(&[4000, 10_000]) };
        let delay = if self.fast { self.one_of(&[7, 20]) } else { self.one_of(&[0, 1, 7, 15]) };
        let mut text = format!(
            "[links.\"{name}\"]\nfrom = \"n{hop}\"\nto = \"n{}\"\nrate = \"{} kbit/s\"\n\
             delay = \"{delay} ms\"\n",
            hop + 1,
            rate * fast
        );
        let changes = self.chance(if self.fast { 0.05 } else { 0.2 });
        if changes {
            text += self.changes();
        }
        let queue = (last || self.chance(0.3)).then(|| self.mechanism("queue", 0));
        let (conditions, shapes) = (self.wants("conditioner"), self.wants("shaper"));
        if (last && conditions) || self.chance(0.25) {
            let law = self.mechanism("conditioner", 0);
            if self.chance(0.2) {
                let other = self.mechanism("conditioner", 0);
                text += &format!("conditioners = [{law}, {other}]\n");
            } else {
                text += &format!("conditioner = {law}\n");
            }
        }
        if (last && shapes) || self.chance(0.1) {
            text += &format!("shaper = {}\n", self.mechanism("shaper", 0));
        }
        let mut detector = String::new();
        if explicit {
            text += &format!("explicit_rate = {}\n", self.mechanism("explicit_rate", 0));
        } else if (last && self.wants("detector")) || self.chance(0.1) {
            detector = self.mechanism("detector", 0);
            text += &format!("detector = {detector}\n");
        }
        // It needs a queue that tells how full it is.
        let queue = if detector.contains("queue_length") {
            Some("{ push_out = { limit = \"9 packets\", high = 1 } }".to_owned())
        } else {
            queue
        };
        text += &queue.map_or(String::new(), |queue| format!("queue = {queue}\n"));
        if last && !changes && self.chance(0.1) {
            text += "residual = \"300 B\"\n";
        }
        let often = if self.fast { 0.5 } else { 0.05 };
        if (last && self.wants("impairment")) || self.chance(often) {
            let law = self.mechanism("impairment", 0);
            if self.chance(0.3) {
                let other = self.mechanism("impairment", 0);
                text += &format!("impairments = [{law}, {other}]\n");
            } else {
                text += &format!("impairment = {law}\n");
            }
        }
        text
    }

    /// A link that leads past all others. If it is the shorter way it fails, else the first link on
    /// the other way does.
    fn way_past(&mut self, routers: usize) -> String {
        let short = self.chance(0.5);
        let (delay, fails) = if short { (0, "past".to_owned()) } else { (60, self.named("l", 0)) };
        format!(
            "[links.past]\nfrom = \"n0\"\nto = \"n{}\"\nrate = \"3 Mbit/s\"\n\
             delay = \"{delay} ms\"\n[links.\"{fails}\".failure]\ndown = [\"150 ms\"]\n\
             up = [\"{} ms\"]\ndetection = \"{} ms\"\nwaiting = \"{}\"\n",
            routers + 1,
            self.one_of(&[190, 280]),
            self.one_of(&[0, 3]),
            self.one_of(&["kept", "lost"]),
        )
    }

    /// A switch whose ports share a memory: its port to the bottleneck is one of them.
    fn switch(&mut self, routers: usize) -> String {
        let (memory, queues) = (self.one_of(&[8, 20, 60]), 1 + self.below(3));
        let reserved = self.one_of(&[0, 500]);
        let law = self.mechanism("sharing", 0);
        format!(
            "[switches.n{routers}]\nmemory = \"{memory} kB\"\nqueues = {queues}\n\
             reserved = \"{reserved} B\"\nsharing = {law}\n"
        )
    }

    /// Draws the changes of a link over time.
    fn changes(&mut self) -> &'static str {
        self.one_of(&[
            "rate_steps = [{ at = \"100 ms\", rate = \"700 kbit/s\" }, \
             { at = \"300 ms\", rate = \"3 Mbit/s\" }]\n",
            "repeat = \"90 ms\"\nrate_steps = [{ at = \"40 ms\", rate = \"0 bit/s\" }, \
             { at = \"55 ms\", rate = \"1234567 bit/s\" }]\n",
            "failure = { down = [\"150 ms\"], up = [\"220 ms\"], detection = \"10 ms\" }\n",
            "failure = { mean_up = \"200 ms\", mean_down = \"50 ms\", waiting = \"kept\" }\n",
            "trace = { text = \"0\\n3\\n3\\n11\\n20\\n\" }\n",
            "schedule = { text = \"time_s,rate_bps,delay_s\\n0,2e6,0.02\\n0.1,5e5,0.001\\n\" }\n",
        ])
    }

    fn flow(&mut self, group: usize, routers: usize, kind: &str, explicit: bool) -> String {
        let (from, to) = if group == 0 || self.chance(0.7) {
            (self.below(routers + 1).min(usize::from(group > 0)), routers + 1)
        } else {
            (routers + 1, 0)
        };
        let precedence = self.below(3);
        self.chosen.push(format!("transport {kind}"));
        let mut text = format!(
            "[flows.\"{}\"]\nfrom = \"n{from}\"\nto = \"n{to}\"\nprecedence = {precedence}\n",
            self.named("f", group)
        );
        if group % 2 == 1 {
            text += &format!("host = \"h{group}\"\n");
        }
        if kind != "calls" {
            text += &format!("count = {}\n", 1 + self.below(4));
            if self.chance(0.3) {
                text += "start = { uniform = [\"0 s\", \"200 ms\"] }\n";
            }
            if self.chance(0.3) {
                text += "stop = \"300 ms\"\n";
            }
        }
        text += &match kind {
            "udp" => {
                let echo = self.one_of(&["", "echo = true", "echo = true, echo_dscp = \"EF\""]);
                format!("udp = {{ {echo} }}\ntraffic = {}\n", self.mechanism("traffic", 0))
            }
            "tcp" => self.tcp(group),
            "calls" => self.calls(group),
            "media" => self.media(group),
            _ => self.paced(group, explicit),
        };
        text
    }

    pub(crate) fn tcp(&mut self, group: usize) -> String {
        let traffic = if self.wants("sizes") || self.chance(0.1) {
            let (sizes, rate) = (self.mechanism("sizes", 0), self.one_of(&[2, 20, 200]));
            let connection = self.one_of(&["fresh", "persistent"]);
            format!(
                "traffic = {{ transfers = {{ rate = \"{rate} /s\", sizes = {sizes}, \
                 connection = \"{connection}\" }} }}\n"
            )
        } else if self.chance(0.4) {
            format!("traffic = {}\n", self.mechanism("traffic", 0))
        } else {
            String::new()
        };
        let control = self.mechanism("control", 0);
        let recovery = self.one_of(&["reno", "newreno", "sack"]);
        let mut text = format!(
            "{traffic}[flows.\"{}\".tcp]\nprofile = \"rfc\"\ncontrol = {control}\n\
             recovery = \"{recovery}\"\nmss = \"{} B\"\necn = {}\ndelayed_ack = {}\n",
            self.named("f", group),
            self.one_of(&[300, 536, 1000]),
            self.chance(0.5),
            self.chance(0.5),
        );
        if self.chance(0.3) {
            text += "rto_min = \"100 ms\"\nrto_initial = \"200 ms\"\n";
        }
        if self.chance(0.3) {
            text += "window = \"8 kB\"\n";
        }
        let timestamps = self.chance(0.3);
        if timestamps {
            text += "timestamps = true\nsack_at_timeout = \"keep\"\n";
        }
        let prr = recovery == "sack" && self.chance(0.4);
        if prr {
            text += "recovery_window = \"prr\"\n";
        }
        let mut reports = prr;
        if recovery == "sack" && self.chance(0.4) {
            let (probe, dsack) = (self.chance(0.7), self.chance(0.8));
            text +=
                &format!("loss_detection = \"rack\"\ntail_loss_probe = {probe}\ndsack = {dsack}\n");
            reports &= dsack;
        }
        text += match (timestamps, reports) {
            (true, true) => "frto = true\nundo = \"both\"\n",
            (true, false) => "frto = true\nundo = \"eifel\"\n",
            (false, true) => "undo = \"dsack\"\n",
            (false, false) => "",
        };
        if self.chance(0.3) {
            text += "handshake = true\n";
        }
        if self.chance(0.3) {
            text += "pacing = \"window\"\n";
        }
        if self.chance(0.4) {
            let echo = self.one_of(&["rfc8257", "accecn"]);
            text += &format!("ecn_echo = \"{echo}\"\naccecn_option = {}\n", self.chance(0.7));
        }
        text
    }

    fn calls(&mut self, group: usize) -> String {
        let (initial, rate) = (1 + self.below(6), 5 + self.below(30));
        let mut text = format!(
            "calls = {{ initial = {initial}, rate = \"{rate} /s\" }}\ntraffic = {}\n",
            self.mechanism("traffic", 0)
        );
        let controlled = self.wants("admission") || self.wants("termination") || self.chance(0.5);
        if controlled {
            let name = self.named("g", group);
            text += &format!("aggregate = \"{name}\"\n[aggregates.\"{name}\"]\n");
            let (admission, termination) = (self.wants("admission"), self.wants("termination"));
            if admission || self.chance(0.5) {
                text += &format!("admission = {}\n", self.mechanism("admission", 0));
            }
            if termination || self.chance(0.5) {
                text += &format!("termination = {}\n", self.mechanism("termination", 0));
            }
            text += "rtt = { uniform = [\"5 ms\", \"40 ms\"] }\n";
        }
        text
    }

    fn media(&mut self, group: usize) -> String {
        let (ecn, frames) = (self.chance(0.5), self.one_of(&[5, 30, 100]));
        let payload = self.one_of(&[100, 1000]);
        let law = self.mechanism("adaptation", 0);
        format!(
            "[flows.\"{}\".media]\necn = {ecn}\nframe_rate = {frames}.0\n\
             payload = \"{payload} B\"\nadaptation = {law}\n",
            self.named("f", group)
        )
    }

    fn paced(&mut self, group: usize, explicit: bool) -> String {
        let activity = self.mechanism("activity", 0);
        let pace = if explicit && !self.wants("pace") {
            self.chosen.push("pace abr".to_owned());
            "{ abr = { mcr = 0.1 } }".to_owned()
        } else {
            self.mechanism("pace", 0)
        };
        let policing = if self.chance(0.3) {
            "policing = { bucket = { rate = \"300 kbit/s\", depth = 5 } }\n"
        } else {
            ""
        };
        // Ports that mark need packets that can be marked, and sources that hear of it.
        let marks = self.chosen.iter().any(|chosen| chosen == "conditioner efci");
        let hears = !pace.contains("abr") && (marks || self.chance(0.2));
        let efcn = if hears { "efcn = { interval = \"20 ms\" }\n" } else { "" };
        format!(
            "late_after = \"5 ms\"\n{policing}[flows.\"{}\".paced]\nactivity = {activity}\n\
             pace = {pace}\n{efcn}",
            self.named("f", group)
        )
    }

    fn ring(&mut self) -> String {
        let stations = 3 + self.below(3);
        let names: Vec<String> = (0..stations).map(|at| format!("\"s{at}\"")).collect();
        let fairness = self.mechanism("fairness", 0);
        let high = if self.chance(0.5) { "high = 0\n" } else { "" };
        let transit = self.one_of(&["dual", "single"]);
        let mut text = format!(
            "[rings.r]\nstations = [{}]\nrate = \"{} Mbit/s\"\ndelay = \"{} us\"\n\
             transit = \"{transit}\"\n{high}fairness = {fairness}\n",
            names.join(", "),
            self.one_of(&[20, 60]),
            self.one_of(&[10, 200]),
        );
        for group in 0..2 + self.below(3) {
            let from = self.below(stations);
            let to = (from + 1 + self.below(stations - 1)) % stations;
            let precedence = self.below(2);
            text += &format!(
                "[flows.f{group}]\nfrom = \"s{from}\"\nto = \"s{to}\"\nprecedence = {precedence}\n"
            );
            text += &if self.chance(0.5) {
                let rate = self.one_of(&[5, 15, 30]);
                format!(
                    "udp = {{}}\ntraffic = {{ poisson = {{ rate = \"{rate} Mbit/s\", \
                     size = \"900 B\" }} }}\n"
                )
            } else {
                format!("count = {}\ntcp = {{ mss = \"900 B\" }}\n", 1 + self.below(3))
            };
        }
        text
    }
}

/// Lines with a key and its value each, as they stand between braces.
fn inline(example: &str) -> String {
    let lines = example.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(", ")
}

/// The keys and values of an inline table, each with its value.
fn split(inline: &str) -> Vec<String> {
    let (mut parts, mut depth, mut part) = (Vec::new(), 0, String::new());
    for c in inline.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    parts.push(part);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// A default as scenarios have it; `None` for tables.
fn written(value: &Value) -> Option<String> {
    Some(match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(value) => value.to_string(),
        Value::List(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|Node { value, .. }| written(value)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Table(_) => return None,
    })
}
