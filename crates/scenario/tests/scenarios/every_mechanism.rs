//! Promises of every entry of the registry: that its example works, and which inner quantities its
//! series show.

use std::collections::BTreeSet;

use forebay_elements::fabric::Shapes;
use forebay_elements::link::LinkKinds;
use forebay_elements::{Subnetworks, Transports};
use forebay_network::record::RecordTable;
use forebay_parameters::{About, Category};
use forebay_scenario::registry;

use crate::support::{behind_another, inline, read, record};

/// A network in which `key = value` stands at `place`, with all that a mechanism of the category
/// needs beside it.
fn network(place: &str, key: &str, value: &str) -> String {
    let own = format!("{key} = {value}");
    let cbr = CBR;
    let at = |wanted: &str| if place == wanted { own.as_str() } else { "" };
    let (link, flow) = match (place, key) {
        ("links.NAME", key) => (
            // Some detectors look at the queue, which must have a limit then.
            if key == "detector" { format!("{own}\n{LIMITED}") } else { own.clone() },
            format!("count = 3\n{cbr}\n[flows.t]\n{ENDS}tcp = {{ profile = \"rfc\" }}"),
        ),
        ("flows.NAME", "pairs") => {
            let flow = format!("from = [\"a\", \"b\"]\nto = [\"a\", \"b\"]\n{own}\n{cbr}\n");
            return format!("{HEAD}[links.l]\n{ENDS}{RATE}{DELAY}[flows.x]\n{flow}");
        }
        ("flows.NAME", _) => (String::new(), format!("{}\ntcp = {{}}", at(place))),
        // Some controls have bounds only where packets are lost.
        ("flows.NAME.tcp", _) => {
            (LOSSY.to_owned(), format!("[flows.x.tcp]\nprofile = \"rfc\"\n{own}"))
        }
        ("flows.NAME.traffic.transfers", _) => {
            let tcp =
                "[flows.x.tcp]\nprofile = \"rfc\"\nmss = \"1000 B\"\n[flows.x.traffic.transfers]\n";
            (String::new(), format!("{tcp}rate = \"5 /s\"\n{own}"))
        }
        ("aggregates.NAME", _) => {
            let calls = "calls = { rate = \"20 /s\", initial = 5 }\naggregate = \"g\"";
            let voice = "traffic = { voice = { codec = \"g711_20ms\" } }";
            (METER.to_owned(), format!("{calls}\n{voice}\n[aggregates.g]\n{own}"))
        }
        ("rings.NAME", _) => {
            let ring =
                "stations = [\"a\", \"b\", \"c\"]\nrate = \"622.08 Mbit/s\"\ndelay = \"50 us\"";
            return format!("{HEAD}[rings.r]\n{ring}\n{own}\n[flows.x]\n{ENDS}{cbr}\n");
        }
        ("fabrics.NAME", key) => {
            let shape = if key == "path" { "fat_tree = { k = 4 }\n" } else { "" };
            let flow = "from = \"f.h0\"\nto = \"f.h3\"\ncount = 4\n";
            return format!("{HEAD}[fabrics.f]\n{RATE}{shape}{own}\n[flows.x]\n{flow}{cbr}\n");
        }
        ("switches.NAME", _) => {
            let switch = format!("[switches.a]\nmemory = \"12 kB\"\n{own}\n");
            return format!("{HEAD}[links.l]\n{ENDS}{RATE}{DELAY}{switch}[flows.x]\n{ENDS}{cbr}\n");
        }
        ("flows.NAME.media", _) => (String::new(), format!("[flows.x.media]\n{own}")),
        ("flows.NAME.paced", key) => {
            let files = "activity = { files = { rate = \"500 kbit/s\", start = 1.0 } }";
            let activity = if key == "activity" { "pace = \"abr\"" } else { files };
            let paced = format!("[flows.x.paced]\n{activity}\n{own}");
            ("explicit_rate = \"erica\"".to_owned(), paced)
        }
        _ => panic!("no network has mechanisms at {place}"),
    };
    format!("{HEAD}[links.l]\n{ENDS}{RATE}{DELAY}{link}\n[flows.x]\n{ENDS}{flow}\n")
}

const HEAD: &str = "duration = \"4 s\"\nrecord = { series = \"100 ms\" }\n";
const ENDS: &str = "from = \"a\"\nto = \"b\"\n";
const CBR: &str = "udp = {}\ntraffic = { cbr = { rate = \"2 Mbit/s\", size = \"500 B\" } }";
const RATE: &str = "rate = \"1 Mbit/s\"\n";
const DELAY: &str = "delay = \"10 ms\"\n";
const LIMITED: &str = "queue = { droptail = { limit = \"20 packets\" } }";
const LOSSY: &str = "impairment = { loss = { probability = 0.02 } }";
const METER: &str = "conditioner = { ar_meter = { rate = \"100 kbit/s\", size = \"3 kB\", \
                     threshold = \"1 kB\" } }";

/// The quantities that series show, whatever they are by precedence, class or number.
fn quantities(tables: &[RecordTable]) -> BTreeSet<String> {
    let series = tables.iter().filter(|table| table.name.starts_with("series/"));
    let columns = series.flat_map(|table| table.columns.iter().map(|(name, _)| name));
    columns.map(|name| name.split('.').next().unwrap_or_default().to_owned()).collect()
}

/// The example of every entry runs, behind another run as alone, and its series show the quantities
/// that the reference explains, no other. A quantity beside those of the entry is one of a network
/// that chooses a mechanism without any, or, if the mechanism contains others, one of these.
#[test]
fn every_example_runs_and_shows_the_probes_of_its_entry() {
    let registry = registry();
    for shelf in registry.shelves() {
        let shown = |entry: &About| {
            let example = entry.example;
            // Each transport is a key of its own, and its example those of a group of flows; each
            // kind of link or of subnetworks has, as its example, the keys of one.
            let text = match shelf.name() {
                Transports::NAME => {
                    format!("{HEAD}[links.l]\n{ENDS}{RATE}{DELAY}[flows.x]\n{ENDS}{example}\n")
                }
                LinkKinds::NAME => {
                    format!("{HEAD}[links.l]\n{ENDS}{DELAY}{example}\n[flows.x]\n{ENDS}{CBR}\n")
                }
                Subnetworks::NAME => {
                    format!("{HEAD}[{}.r]\n{example}\n[flows.x]\n{ENDS}{CBR}\n", entry.name)
                }
                Shapes::NAME => {
                    let value = format!("{{ {} }}", inline(example));
                    network(shelf.place(), entry.name, &value)
                }
                category => {
                    let value = format!("{{ {} = {{ {} }} }}", entry.name, inline(example));
                    network(shelf.place(), category, &value)
                }
            };
            let (result, tables) = record(&text);
            let (_, again, _) = behind_another(&read(&text), 0);
            let what = (shelf.name(), entry.name);
            assert_eq!(again.digest, result.digest, "{what:?} keeps state between runs");
            quantities(&tables)
        };
        let entries = shelf.entries();
        let silent = entries.iter().filter(|entry| entry.probes.is_empty());
        let usual: BTreeSet<String> = silent.flat_map(shown).collect();
        for entry in &entries {
            let what = format!("{} {}", shelf.name(), entry.name);
            let names = |entry: &About| entry.probes.iter().map(|probe| probe.name.to_owned());
            let own: BTreeSet<String> = names(entry).collect();
            let shown = shown(entry);
            assert!(own.is_subset(&shown), "{what} shows {shown:?}, not all of {own:?}");
            let contains = entry.fields.iter().any(|field| field.mechanism.is_some());
            let inner = entries.iter().filter(|_| contains).flat_map(names).collect();
            let usual: BTreeSet<String> = usual.union(&inner).cloned().collect();
            let strange: Vec<_> = shown.difference(&own).filter(|n| !usual.contains(*n)).collect();
            let generic = entries.iter().all(|entry| !entry.probes.is_empty());
            assert!(strange.is_empty() || generic, "{what} shows {strange:?}, unexplained");
            for probe in entry.probes {
                assert!(!probe.unit.is_empty(), "{what}: {} has a unit", probe.name);
                assert!(probe.meaning.ends_with('.'), "{what}: {} is explained", probe.name);
            }
        }
    }
}
