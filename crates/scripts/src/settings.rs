//! Parameters of the connection: lines `--KEY=VALUE` at the head of a script.

use forebay_elements::tcp::TcpParameters;
use forebay_laws::control::{ControlFactory, Controls};
use forebay_parameters::{
    Echo, Node, Parameters, Registry, Section, Table, Value, choose_or, did_you_mean,
};

use crate::language::{IGNORED_LINES, names};
use crate::problem::{Slip, quoted};
use crate::segment::Segment;

/// The parameters of a script, as a tree of values that know their lines.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Settings {
    table: Table,
}

/// Objects built of the settings.
pub(crate) struct Built {
    pub(crate) tcp: TcpParameters,
    pub(crate) control: ControlFactory,
}

/// Bytes of the timestamps option with its padding (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;

impl Settings {
    /// Take over `KEY=VALUE`, which stands in `line` of the script, if in any.
    pub(crate) fn set(&mut self, assignment: &str, line: Option<u32>) -> Result<(), String> {
        let Some((key, text)) = assignment.split_once('=') else {
            let read = quoted(assignment);
            return Err(format!("{read}; allowed is KEY=VALUE such as recovery=newreno"));
        };
        let (key, text) = (key.trim(), text.trim());
        if IGNORED_LINES.iter().any(|ignored| ignored.what.trim_start_matches('-') == key) {
            return Ok(());
        }
        let node = Node { value: value_of(text), line };
        let (first, inner) = key.split_once('.').map_or((key, None), |(a, b)| (a, Some(b)));
        let allowed: Vec<&str> = TcpParameters::FIELDS.iter().map(|field| field.name).collect();
        match (first, inner) {
            ("control", Some(inner)) => self.set_control(inner, node),
            ("control", None) => {
                let mut chosen = Table::new();
                let empty = Node { value: Value::Table(Table::new()), line };
                chosen.insert(text.to_owned(), empty);
                self.table.insert(first.to_owned(), Node { value: Value::Table(chosen), line });
                Ok(())
            }
            (_, None) if allowed.contains(&first) => {
                self.table.insert(first.to_owned(), node);
                Ok(())
            }
            _ => {
                let known = names(&["control"], &[]).into_iter().chain(allowed);
                let known: Vec<&str> = known.collect();
                let near = did_you_mean(key, known.iter().copied());
                Err(format!("no parameter {}{near}; there are {}", quoted(key), known.join(", ")))
            }
        }
    }

    /// Returns true if connections are opened and closed.
    pub(crate) fn has_handshake(&self) -> bool {
        matches!(self.table.get("handshake"), Some(Node { value: Value::Bool(true), .. }))
    }

    /// A parameter of the congestion control that was named before.
    fn set_control(&mut self, key: &str, node: Node) -> Result<(), String> {
        if let Some(Node { value: Value::Table(chosen), .. }) = self.table.get_mut("control")
            && let Some(Node { value: Value::Table(inner), .. }) = chosen.values_mut().next()
        {
            inner.insert(key.to_owned(), node);
            return Ok(());
        }
        let read = format!("control.{key}");
        Err(format!("{} comes before control=NAME; name the control first", quoted(&read)))
    }

    /// Take over what the two SYNs of a handshake agree on, unless the script sets it. `theirs` is
    /// the one that the script injects.
    pub(crate) fn agree(&mut self, theirs: &Segment, ours: &Segment) {
        let timestamps = theirs.offers.timestamps && ours.offers.timestamps;
        let sack = theirs.offers.sack && ours.offers.sack;
        let mut agreed = vec![
            ("recovery", Value::from(if sack { "sack" } else { "newreno" })),
            ("timestamps", Value::from(timestamps)),
            ("ecn", Value::from(theirs.flags.ece && ours.flags.ece)),
        ];
        if let Some(mss) = theirs.offers.mss {
            // The option counts a header without options (RFC 9293, section 3.7.1).
            let options = if timestamps { TIMESTAMPS } else { 0 };
            let data = mss.saturating_sub(options);
            agreed.push(("mss", Value::Text(format!("{data} B"))));
        }
        for (key, value) in agreed {
            self.table.entry(key.to_owned()).or_insert_with(|| Node::new(value));
        }
    }

    /// The parameters of TCP and its congestion control, which `registry` has, checked as those of
    /// a scenario.
    pub(crate) fn build(&self, registry: &Registry) -> Result<Built, forebay_parameters::Problem> {
        let mut table = self.table.clone();
        table.entry("profile".to_owned()).or_insert_with(|| Node::new(Value::from("rfc")));
        let node = Node::new(Value::Table(table));
        let echo = Echo::default();
        let section = Section::root(&node, &echo)?.with_registry(registry);
        let tcp = TcpParameters::from_section(&section)?;
        let (entry, inner) = choose_or::<Controls>(&section, "control", tcp.default_control())?;
        let control = tcp.build_control(entry, &inner)?;
        let tcp = tcp.for_control(control().needs());
        Ok(Built { tcp, control })
    }
}

/// A problem with a parameter, as a slip that stands in no place of the text but names its key.
pub(crate) fn as_slip(problem: &forebay_parameters::Problem, at: Option<usize>) -> Slip {
    Slip { at, message: format!("--{}: {}", problem.path, problem.message) }
}

/// Truth, number or text. Quotes around a text may be left out.
fn value_of(text: &str) -> Value {
    let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match (text, bare) {
        (_, Some(bare)) => Value::Text(bare.to_owned()),
        ("true", _) => Value::Bool(true),
        ("false", _) => Value::Bool(false),
        _ => match (text.parse(), text.parse::<f64>()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(number)) if number.is_finite() => Value::Float(number),
            _ => Value::Text(text.to_owned()),
        },
    }
}
