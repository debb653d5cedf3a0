//! Places where agents act: finding them in a scenario, and putting agents there.

use forebay_laws::queue::ClassOptions;
use forebay_parameters::{Node, Parameters, Table, Value, did_you_mean, key};
use forebay_scenario::{Places, Scenario};

use crate::acting::{ADMISSION, CONTROL, Kind, QUEUE, SHAPER};
use crate::{AGENT, control, queue};

/// A place where an agent acts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The queue of link `at` (a direction).
    Queue { at: usize },
    /// The scheduler of link `at`, with so many classes.
    Scheduler { at: usize, classes: usize },
    /// The shaper of link `at`.
    Shaper { at: usize },
    /// The congestion control of group `at`, or of one of its flows.
    Control { at: usize, member: Option<usize> },
    /// The admission of aggregate `at`.
    Admission { at: usize },
}

const QUEUE_KEY: &str = ".queue";
const SHAPER_KEY: &str = ".shaper";
const TCP_KEY: &str = ".tcp";
const ADMISSION_KEY: &str = ".admission";

/// The place that `on` names. A queue is a scheduler if its weights are decided.
pub(crate) fn find(
    on: &str,
    act: &str,
    places: &Places,
    scenario: &Scenario,
) -> Result<Place, String> {
    let unknown = || unknown(on, places);
    if let Some(rest) = on.strip_prefix("links.") {
        let link = |name: &str| places.links.iter().position(|link| link.name == name);
        if let Some(at) = rest.strip_suffix(QUEUE_KEY).and_then(link) {
            return queue_at(at, act, places, scenario);
        }
        let at = rest.strip_suffix(SHAPER_KEY).and_then(link);
        return at.map(|at| Place::Shaper { at }).ok_or_else(unknown);
    }
    if let Some(rest) = on.strip_prefix("flows.") {
        let name = rest.strip_suffix(".control").unwrap_or(rest);
        let name = name.strip_suffix(TCP_KEY).ok_or_else(unknown)?;
        let (flow, member) = places.flow(name).ok_or_else(unknown)?;
        if flow.transport != "tcp" {
            let transport = flow.transport;
            return Err(format!("acts_on: {on}: flows.{name} has {transport}, and no TCP"));
        }
        let at = places.flows.iter().position(|other| other.name == flow.name);
        let at = at.ok_or_else(unknown)?;
        if member.is_some() && flow.count > 1 && flow.fresh {
            return Err(format!(
                "acts_on: {on}: each transfer of this group has a connection of its own, and no \
                 flow is told apart; allowed is flows.{}{TCP_KEY}",
                flow.name
            ));
        }
        // A single flow is the group.
        return Ok(Place::Control { at, member: member.filter(|_| flow.count > 1) });
    }
    let aggregate = on.strip_prefix("aggregates.").and_then(|rest| {
        let name = rest.strip_suffix(ADMISSION_KEY)?;
        places.aggregates.iter().position(|it| it.name == name)
    });
    aggregate.map(|at| Place::Admission { at }).ok_or_else(unknown)
}

fn queue_at(at: usize, act: &str, places: &Places, scenario: &Scenario) -> Result<Place, String> {
    let name = &places.links[at].name;
    let path = section_of(name, places);
    if path.is_none() {
        return Err(format!("acts_on: links.{name}.queue: a span of a ring has queues of its own"));
    }
    if act != "weights" {
        return Ok(Place::Queue { at });
    }
    let path = path.map(|path| joined(&path)).unwrap_or_default();
    let mechanism = scenario.chosen(&format!("{path}.queue")).unwrap_or("droptail");
    let count = |class: usize| format!("{path}.queue.{mechanism}.classes[{class}]");
    let classes = (0..).take_while(|class| scenario.chosen(&count(*class)).is_some()).count();
    if classes == 0 {
        return Err(format!(
            "act: weights at links.{name}.queue: the queue there is {mechanism}, which has no \
             classes; allowed are drr, stfq, wfq and others with classes"
        ));
    }
    Ok(Place::Scheduler { at, classes })
}

/// That no agent acts on `on`, and where one does.
fn unknown(on: &str, places: &Places) -> String {
    let links = places
        .links
        .iter()
        .flat_map(|link| [QUEUE_KEY, SHAPER_KEY].map(|what| format!("links.{}{what}", link.name)));
    let flows = places.flows.iter().filter(|flow| flow.transport == "tcp");
    let flows = flows.map(|flow| format!("flows.{}{TCP_KEY}", flow.name));
    let aggregates = places.aggregates.iter();
    let aggregates = aggregates.map(|it| format!("aggregates.{}{ADMISSION_KEY}", it.name));
    let all: Vec<String> = links.chain(flows).chain(aggregates).collect();
    let hint = did_you_mean(on, all.iter().map(String::as_str));
    format!("acts_on: there is no \"{on}\"{hint}; allowed are {}", all.join(", "))
}

/// The keys that lead to the section of link `name`; `None` of a span of a ring.
fn section_of(name: &str, places: &Places) -> Option<Vec<String>> {
    let way = |name: &str| vec!["links".to_owned(), name.to_owned()];
    let is_span = places.links.iter().any(|link| link.name == name && link.is_span);
    if is_span {
        return None;
    }
    let base = name.strip_suffix(".reverse");
    match base.filter(|base| places.links.iter().any(|link| link.name == *base)) {
        Some(base) => Some([way(base), vec!["reverse".to_owned()]].concat()),
        None => Some(way(name)),
    }
}

fn joined(keys: &[String]) -> String {
    keys.iter().map(|name| key(name)).collect::<Vec<_>>().join(".")
}

impl Place {
    /// Actions there.
    pub(crate) fn kinds(&self) -> &'static [Kind] {
        match self {
            Self::Queue { .. } | Self::Scheduler { .. } => QUEUE,
            Self::Shaper { .. } => SHAPER,
            Self::Control { .. } => CONTROL,
            Self::Admission { .. } => ADMISSION,
        }
    }

    /// Number of actions in the hand of an agent there.
    pub(crate) fn actions(&self) -> usize {
        match self {
            Self::Queue { .. } => queue::ACTIONS,
            Self::Scheduler { classes, .. } => *classes,
            Self::Control { .. } => control::ACTIONS,
            Self::Shaper { .. } | Self::Admission { .. } => 1,
        }
    }

    /// The usual bounds of `kind` there.
    pub(crate) fn bounds(&self, kind: &Kind, places: &Places) -> (f64, f64) {
        match self {
            Self::Queue { .. } | Self::Scheduler { .. } | Self::Admission { .. } => {
                kind.plain_bounds()
            }
            Self::Shaper { at } => kind.bounds_of_link(&places.links[*at]),
            Self::Control { at, .. } => kind.bounds_of_flow(&places.flows[*at]),
        }
    }

    /// Put agent `number` here, in the tree of `scenario`.
    pub(crate) fn settle(
        &self,
        number: usize,
        root: &mut Node,
        (scenario, places): (&Scenario, &Places),
    ) {
        let mut parameters = Table::new();
        parameters.insert("number".to_owned(), Node::new(Value::Integer(number as i64)));
        let link = |at: usize| section_of(&places.links[at].name, places).unwrap_or_default();
        let limit_of = |path: &[String], what: &str, parameters: &mut Table| {
            let path = format!("{}.{what}", joined(path));
            let mechanism = scenario.chosen(&path).unwrap_or_default();
            if let Some(limit) = scenario.resolved(&format!("{path}.{mechanism}.limit")) {
                parameters.insert("limit".to_owned(), Node::new(limit.into()));
            }
        };
        let (name, way, what) = match self {
            Self::Queue { at } => {
                let way = link(*at);
                limit_of(&way, "queue", &mut parameters);
                (AGENT, way, "queue")
            }
            Self::Shaper { at } => {
                let way = link(*at);
                limit_of(&way, "shaper", &mut parameters);
                (AGENT, way, "shaper")
            }
            Self::Scheduler { at, .. } => (queue::SCHEDULER_NAME, link(*at), "queue"),
            Self::Control { at, .. } => {
                let way = ["flows", &places.flows[*at].name, "tcp"].map(str::to_owned).to_vec();
                (AGENT, way, "control")
            }
            Self::Admission { at } => {
                let way = ["aggregates", &places.aggregates[*at].name].map(str::to_owned).to_vec();
                (AGENT, way, "admission")
            }
        };
        let section = table_at(root, &way);
        let before = section.remove(what);
        match self {
            Self::Scheduler { .. } => {
                let allowed =
                    |key: &String| ClassOptions::FIELDS.iter().any(|field| field.name == key);
                let kept = before.and_then(inner).into_iter().flatten();
                parameters.extend(kept.filter(|(key, _)| allowed(key)));
            }
            Self::Control { at, member: Some(member) } => {
                let path = joined(&way);
                let chosen = scenario.chosen(&format!("{path}.control")).unwrap_or("reno");
                let others = before.unwrap_or_else(|| Node::new(chosen.into()));
                let rfcs = scenario.resolved(&format!("{path}.profile")) != Some("linux");
                debug_assert!(*member < places.flows[*at].count, "it was found");
                parameters.insert("member".to_owned(), Node::new(Value::Integer(*member as i64)));
                parameters.insert("others".to_owned(), others);
                parameters.insert("by_rfcs".to_owned(), Node::new(rfcs.into()));
            }
            _ => {}
        }
        let agent = Table::from([(name.to_owned(), Node::new(Value::Table(parameters)))]);
        section.insert(what.to_owned(), Node::new(Value::Table(agent)));
    }
}

/// The table at `way` in the tree; one that is missing is made.
fn table_at<'n>(root: &'n mut Node, way: &[String]) -> &'n mut Table {
    let mut table = table_of(root);
    for name in way {
        let empty = || Node::new(Value::Table(Table::new()));
        table = table_of(table.entry(name.clone()).or_insert_with(empty));
    }
    table
}

fn table_of(node: &mut Node) -> &mut Table {
    if !matches!(node.value, Value::Table(_)) {
        node.value = Value::Table(Table::new());
    }
    match &mut node.value {
        Value::Table(table) => table,
        _ => unreachable!("it was made one above"),
    }
}

/// The parameters of a mechanism that is given as `{ name = { ... } }`.
fn inner(node: Node) -> Option<Table> {
    let Value::Table(table) = node.value else { return None };
    match table.into_values().next()?.value {
        Value::Table(parameters) => Some(parameters),
        _ => None,
    }
}
