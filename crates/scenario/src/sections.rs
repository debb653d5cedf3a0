//! The fixed sections of a scenario file.

use forebay_parameters::{Entry, Node, Parameter, Section, Value, parameters};
use forebay_units::quantity::{parse_span, show_span};
use forebay_units::{Rate, Span, Time};

parameters! {
    /// The top level of a scenario.
    pub struct ScenarioParameters {
        /// What the scenario is called in results.
        name: String = "", "-";
        /// Simulated time.
        duration: Span, "-";
        /// Time before counting begins: statistics cover the rest.
        warm_up: Span = "0 s", "-";
        /// Root seed of all random streams.
        seed: u64 = 1, "-";
    }
}

/// Keys of the top level that are sections of their own.
pub(crate) const SCENARIO_SECTIONS: &[&str] = &["links", "flows", "record"];

parameters! {
    /// A link, duplex unless said otherwise.
    pub struct LinkParameters {
        /// Node at the near end.
        from: String, "-";
        /// Node at the far end.
        to: String, "-";
        /// Rate of the transmitter.
        rate: Rate, "-";
        /// Propagation delay.
        delay: Span = "0 s", "-";
        /// Whether a link of the same rate and delay leads back (its queue: tail drop without
        /// limit, unless `reverse` says otherwise).
        duplex: bool = true, "-";
    }
}

/// Keys of a link that name mechanisms.
pub(crate) const LINK_MECHANISMS: &[&str] =
    &["queue", "conditioner", "conditioners", "shaper", "reverse"];

parameters! {
    /// The way back of a duplex link, where it differs.
    pub struct ReverseParameters {
        /// Rate of the transmitter; that of the way there if left out.
        rate: Option<Rate>, "-";
        /// Propagation delay; that of the way there if left out.
        delay: Option<Span>, "-";
    }
}

/// Keys of the way back that name mechanisms.
pub(crate) const REVERSE_MECHANISMS: &[&str] = &["queue", "conditioner", "conditioners", "shaper"];

parameters! {
    /// A group of flows between two nodes.
    pub struct FlowParameters {
        /// Node of the senders.
        from: String, "-";
        /// Node of the receivers.
        to: String, "-";
        /// Number of flows.
        count: u32 = 1, "-";
        /// When they start: a time, or `{ uniform = ["0 s", "1 s"] }` for a random time each.
        start: Start = "0 s", "-";
        /// When they stop sending new data; the end of the run if left out.
        stop: Option<Span>, "-";
        /// The nodes that their packets pass, both ends included; the shortest path by delay if
        /// left out. Acknowledgements take the same nodes back.
        route: Option<Vec<String>>, "-";
        /// Precedence with which packets set out: 0 is served and kept first.
        precedence: u32 = 0, "RFC 2597, section 2";
    }
}

/// Keys of a flow that name mechanisms.
pub(crate) const FLOW_MECHANISMS: &[&str] = &["tcp", "udp", "traffic"];

parameters! {
    /// What is recorded besides the counters.
    pub struct RecordParameters {
        /// Sampling interval of queue lengths, averages, windows and rates; none if left out.
        series: Option<Span>, "-";
        /// Record the distribution of delays by group of flows.
        delays: bool = false, "-";
        /// Record a packet trace of at most so many rows.
        trace: u32 = 0, "-";
    }
}

/// When flows start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// All at one time.
    At(Span),
    /// Each at a time drawn uniformly from this range.
    Uniform(Span, Span),
}

impl Start {
    /// The start of one flow.
    pub(crate) fn draw(self, stream: &mut forebay_kernel::Stream) -> Time {
        match self {
            Self::At(at) => Time::ZERO + at,
            Self::Uniform(from, to) => Time::ZERO + from + (to - from).scaled(stream.uniform()),
        }
    }

    /// The earliest start possible.
    pub(crate) fn earliest(self) -> Span {
        match self {
            Self::At(at) | Self::Uniform(at, _) => at,
        }
    }
}

impl Parameter for Start {
    const KIND: &'static str =
        "time such as \"2 s\", or { uniform = [\"0 s\", \"1 s\"] } for random times";

    fn read(node: &Node) -> Result<Self, String> {
        let span = |node: &Node| <Span as Parameter>::read(node);
        match &node.value {
            Value::Table(table) if table.len() == 1 && table.contains_key("uniform") => {
                let Value::List(ends) = &table["uniform"].value else {
                    return Err("uniform takes a list of two times".to_owned());
                };
                let [from, to] = ends.as_slice() else {
                    return Err(format!("uniform takes two times, found {}", ends.len()));
                };
                let (from, to) = (span(from)?, span(to)?);
                if from > to {
                    return Err(format!(
                        "uniform runs from {} to {}: the first must not be later",
                        show_span(from),
                        show_span(to)
                    ));
                }
                Ok(Self::Uniform(from, to))
            }
            Value::Text(text) => parse_span(text).map(Self::At).map_err(|error| error.0),
            other => Err(format!("{} is not a {}", other.show(), Self::KIND)),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::At(at) => show_span(*at),
            Self::Uniform(from, to) => format!("uniform {} {}", show_span(*from), show_span(*to)),
        }
    }
}

/// The section of the mechanism that is chosen under `key` where the file chooses none. It is
/// echoed like one that the file names: both spell the same scenario.
pub(crate) fn by_default<'a, B>(section: &Section<'a>, key: &str, entry: &Entry<B>) -> Section<'a> {
    let path = format!("{}.{key}.{}", section.path(), entry.name);
    let echo = section.echo();
    echo.borrow_mut().insert(path.clone(), "chosen".to_owned());
    Section::empty(path, echo)
}
