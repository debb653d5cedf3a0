//! The fixed sections of a scenario file.

use forebay_laws::Dscp;
use forebay_parameters::{Spread, choice, parameters};
use forebay_units::{Rate, Size, Span};

use crate::plan::node_names::NodeNames;

parameters! {
    /// The top level of a scenario.
    pub struct ScenarioParameters {
        /// Name of the scenario in results.
        name: String = "", "-";
        /// Simulated time.
        duration: Span, "-";
        /// Time before counting begins: statistics cover the rest.
        warm_up: Span = "0 s", "-";
        /// Root seed of all random streams.
        seed: u64 = 1, "-";
    }
}

/// Keys of the top level that are sections of their own behind links and subnetworks, and at last
/// those that stand for others.
pub(crate) const SCENARIO_SECTIONS: &[&str] =
    &["fabrics", "switches", "aggregates", "hosts", "flows", "record", "include", "sites"];

parameters! {
    /// A link, duplex unless said otherwise.
    pub struct LinkParameters {
        /// Node at the near end.
        from: String, "-";
        /// Node at the far end.
        to: String, "-";
        /// Rate of the transmitter. Of a link that changes it is that before the first change, and
        /// the one that queue laws and conditioners go by; there it can be left out if the changes
        /// say what holds at first.
        rate: Option<Rate>, "-";
        /// Propagation delay.
        delay: Span = "0 s", "-";
        /// True if a link of the same rate and delay leads back (its queue: tail drop without
        /// limit, unless `reverse` says otherwise).
        duplex: bool = true, "-";
        /// Size of the packets of lower priority that fill the link whenever it is idle: a packet
        /// that finds it idle waits for the rest of one, a uniform part of its transmission time.
        /// No such traffic if left out. On the way there; that back has none.
        residual: Option<Size>, "draft-babiarz-pcn-explicit-marking-02, section 2.2, option b";
        /// Size of the notifications of its detector, sent with precedence 0; 53 B if left out.
        notice_size: Option<Size>, "COMSAT thesis, section 5.2 (a cell)";
        /// Kind of the link: a name in the table of profiles, which says what such links have
        /// (rate, delay, way back). What is said here as well counts more.
        profile: Option<String>, "-";
        /// Names that it has in common with other links, by which results are asked of all of them.
        tags: Option<Vec<String>>, "-";
    }
}

/// Keys of a link, and of its way back, that name mechanisms.
pub(crate) const LINK_MECHANISMS: &[&str] = &[
    "queue",
    "conditioner",
    "conditioners",
    "shaper",
    "detector",
    "explicit_rate",
    "impairment",
    "impairments",
];

/// Keys of a link that are sections of their own.
pub(crate) const LINK_SECTIONS: &[&str] = &["failure", "reverse"];

parameters! {
    /// The way back of a duplex link, where it differs.
    pub struct ReverseParameters {
        /// Rate of the transmitter; that of the way there if left out.
        rate: Option<Rate>, "-";
        /// Propagation delay; that of the way there if left out.
        delay: Option<Span>, "-";
        /// Size of the notifications of its detector, sent with precedence 0; 53 B if left out.
        notice_size: Option<Size>, "COMSAT thesis, section 5.2 (a cell)";
        /// Its tags; those of the way there if left out.
        tags: Option<Vec<String>>, "-";
    }
}

parameters! {
    /// A switch: all links that leave the node of this name draw on one memory for what waits. A
    /// packet that finds its port idle does not wait, where the queue lets it pass at once.
    pub struct SwitchParameters {
        /// Memory that the ports share.
        memory: Size, "-";
        /// Part of it that each queue of each port has for itself alone; the rest is shared.
        reserved: Size = "0 B", "Choudhury and Hahne 1998";
        /// Queues of each port as far as the memory goes: a packet of precedence p counts in queue
        /// p, or in the last one if there are fewer. Up to 64.
        queues: u32 = 1, "-";
    }
}

/// Keys of a switch that name mechanisms.
pub(crate) const SWITCH_MECHANISMS: &[&str] = &["sharing"];

parameters! {
    /// A group of flows between two nodes, or between several.
    pub(crate) struct FlowParameters {
        /// Node of the senders; or a list of nodes, where a fabric stands for all its hosts.
        from: NodeNames, "-";
        /// Node of the receivers, or nodes as above; `pairs` says which flows lead between which.
        to: NodeNames, "-";
        /// The host of the senders, where it is one of several machines behind the node `from`: a
        /// name that no node has. The node itself if left out. `cake` shares between hosts, and
        /// classifiers and conditioners can go by them.
        host: Option<String>, "-";
        /// The host of the receivers, one of several machines behind the node `to`. That node
        /// itself if left out.
        to_host: Option<String>, "-";
        /// Number of flows. With several nodes, unless said otherwise, as many as `pairs` has.
        count: u32 = 1, "-";
        /// Number of flows, given as the load on their fabric: what they send in all, without
        /// headers, over what twice its bisection carries from the first to the last `start`. Each
        /// flow has an end, such as that of a `file`; flows start at random over some time.
        load: Option<f64>, "Alizadeh et al. (pFabric), SIGCOMM 2013, section 5.1";
        /// Start of the flows: a time, or `{ uniform = ["0 s", "1 s"] }` for a random time each.
        start: Spread = "0 s", "-";
        /// Time from which they send no new data; the end of the run if left out.
        stop: Option<Span>, "-";
        /// The nodes that their packets pass, both ends included; the shortest path by delay if
        /// left out. Acknowledgements take the same nodes back.
        route: Option<Vec<String>>, "-";
        /// Class of their packets and acknowledgements, for schedulers that classify by it: a
        /// differentiated services codepoint. Best effort, 0, if left out.
        dscp: Option<Dscp>, "RFC 2474; RFC 2597, section 6; RFC 3246; RFC 8622";
        /// Precedence (colour) with which packets set out: 0 is served and kept first.
        precedence: u32 = 0, "RFC 2597, section 2";
        /// The aggregate that controls its calls; only for calls. They are neither blocked nor
        /// terminated if left out.
        aggregate: Option<String>, "RFC 5559, section 3.2 (ingress-egress aggregate)";
        /// Count the packets that take longer than the fastest of their flow by more than this; not
        /// for calls.
        late_after: Option<Span>, "COMSAT thesis, section 7.1 (20 ms)";
        /// Names that the group has in common with others, such as `"homes"`: results have a row
        /// for each tag, and classifiers and conditioners can go by them.
        tags: Option<Vec<String>>, "-";
    }
}

parameters! {
    /// A host where flows begin or end: a node, or a machine behind one that flows name.
    pub struct HostParameters {
        /// Names that it has in common with other hosts, by which results are asked of all of them,
        /// and classifiers and conditioners can go.
        tags: Option<Vec<String>>, "-";
    }
}

/// Keys of a flow that name mechanisms, beside those of transports.
pub(crate) const FLOW_MECHANISMS: &[&str] = &["traffic", "linked", "policing", "pairs"];

parameters! {
    /// Policing of each flow of a group by itself: a peak rate controller, then a leaky bucket.
    pub struct PolicingParameters {
        /// The node where they stand, in front of the link that leads on; that at the far end of
        /// the first link if left out.
        at: Option<String>, "COMSAT thesis, section 3 (at the network interface)";
    }
}

/// Keys of policing that are sections of their own.
pub(crate) const POLICING_SECTIONS: &[&str] = &["peak", "bucket"];

parameters! {
    /// An ingress-egress aggregate of calls: the flow control of a PCN domain for one pair of edge
    /// nodes.
    pub struct AggregateParameters {
        /// Time from what the egress node sees to its effect at the source: a time, or
        /// `{ uniform = ["20 ms", "80 ms"] }` for a random time for each call.
        rtt: Spread = "0 s", "draft-babiarz-pcn-explicit-marking-02, section 2.2";
    }
}

/// Keys of an aggregate that name mechanisms.
pub(crate) const AGGREGATE_MECHANISMS: &[&str] = &["admission", "termination", "probing"];

parameters! {
    /// Records of a run besides the counters.
    pub struct RecordParameters {
        /// Sampling interval of queue lengths, averages, windows and rates; none if left out.
        series: Option<Span>, "-";
        /// Places that are sampled: `links.NAME`, `flows.NAME` or `aggregates.NAME`, and `links`,
        /// `flows` or `aggregates` for all of them. `flows.NAME[3]` is one flow of a group: its own
        /// window, round-trip time and rates, and not means. Every place if left out.
        series_of: Option<Vec<String>>, "-";
        /// Record how queue laws adjust themselves: averages that enter another region, and maximum
        /// probabilities that follow them.
        adjustments: bool = false, "-";
        /// Record the distribution of delays by group of flows.
        delays: bool = false, "-";
        /// Record how delay varies from packet to packet, by group of flows: the variation of RFC
        /// 3393 between packets sent one after the other, and the jitter of RFC 3550.
        jitter: bool = false, "RFC 3393, section 4; RFC 5481, section 4.1";
        /// Record how many packets are lost in a row, by group of flows: loss periods.
        losses: bool = false, "RFC 3357, section 4";
        /// Record how long packets of every kind wait in the queues of links, by link. Results
        /// have a row for each, recorded or not.
        waits: bool = false, "RFC 7928, section 2.6";
        /// Count loss events, and the flows that lose packets in them, by link. A loss event begins
        /// with a loss when there was none for so long, and lasts so long: a round-trip time, such
        /// as "100 ms". Results have a row for each link, recorded or not; none if left out.
        synchronization: Option<Span>, "RFC 7928, section 2.4";
        /// Record what happens to calls: admitted, blocked, terminated ...
        calls: bool = false, "-";
        /// Record when, why and how far TCP reduces its congestion windows.
        reductions: bool = false, "-";
        /// Record each transfer that is completed: size, completion time, slowdown.
        transfers: bool = false, "-";
        /// Record how paced sources change the scale of their rates.
        paces: bool = false, "-";
        /// Record a packet trace of at most so many rows.
        trace: u32 = 0, "-";
        /// Links at whose near end packets are captured: what goes out over the link, and what
        /// comes in over that the other way. Each capture is a file of the format pcapng,
        /// `capture-LINK.pcapng` in the folder of results.
        capture: Option<Vec<String>>, "draft-ietf-opsawg-pcapng";
        /// Packets of each capture, at most: the first ones.
        capture_packets: u32 = 1_000_000, "-";
        /// Count what becomes of the packets of each class of a queue with classes: a scheduler,
        /// the two queues of `dualpi2`, the tins of `cake`, alone or inside `tbf`. Results have a
        /// row for each, recorded or not, and series of links columns by class.
        classes: bool = false, "-";
        /// Groups of flows that get a row for each flow in the results, recorded or not. Those of
        /// up to 10,000 flows if left out.
        flows: Option<FlowRows>, "-";
    }
}

choice! {
    /// The rows of flows in results.
    pub enum FlowRows {
        /// Every flow has a row.
        Each = "each",
        /// Every group has a row with the sums of its flows, and how these spread.
        Groups = "groups",
    }
}

/// Echo of an optional parameter that is left out.
pub(crate) const ABSENT: &str = "absent";
