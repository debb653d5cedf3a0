//! Echoes of datagrams: the far end answers each, and its sender measures how long that took.

use forebay_network::{
    Context, Distribution, Element, ElementCounters, FlowCount, FlowId, LogicalProcess, Lookahead,
    Marking, Packet, PacketKind, RouteId, columns,
};
use forebay_units::{PS_PER_S, Time};
use serde::Serialize;

use crate::ranges::Ranges;
use crate::rows::{Row, RowKind, RowsOf};

columns! {
    /// The round trips of a group of UDP flows with `echo`: from the time at which a datagram is
    /// sent to that at which its echo is back (RFC 2681). Those count whose echo comes back in the
    /// window of measurement; quantiles are within 0.8 % of the value, and null if there are none.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct RoundTripResult {
        /// Name of the group.
        pub name: String = Word,
        /// Datagrams sent.
        pub sent: u64 = Packets as "sent",
        /// Datagrams whose echo came back: of several echoes of one the first (RFC 2681, section
        /// 2.5).
        pub returned: u64 = Packets + headline as "returned",
        /// Datagrams dropped on the way there.
        pub lost_there: u64 = Packets as "lost there",
        /// Echoes dropped on the way back.
        pub lost_back: u64 = Packets as "lost back",
        /// Share lost, either way, of all that came back or were lost; null if there are none.
        pub loss_ratio: Option<f64> = Share + headline as "lost",
        /// Echoes of datagrams of which one had come back.
        pub duplicates: u64 = Packets as "duplicates" if any,
        /// Mean round-trip time in seconds.
        pub mean_rtt_s: Option<f64> = Seconds + headline as "mean" in times over returned,
        /// The least round-trip time in seconds.
        pub min_rtt_s: Option<f64> = Seconds as "least" in times over returned,
        /// Median of round-trip times in seconds.
        pub p50_rtt_s: Option<f64> = Seconds as "median" in times over returned,
        /// The round-trip time in seconds that 95 % do not exceed.
        pub p95_rtt_s: Option<f64> = Seconds + headline as "95 %" in times over returned,
        /// The round-trip time in seconds that 99 % do not exceed.
        pub p99_rtt_s: Option<f64> = Seconds as "99 %" in times over returned,
        /// The largest round-trip time in seconds.
        pub max_rtt_s: Option<f64> = Seconds as "largest" in times over returned,
    }
}

impl Row for RoundTripResult {
    const KIND: RowKind = RowKind {
        name: "round_trips",
        meaning: "A row a group of UDP flows with `echo`; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "datagrams that are echoed"), ("times", "round-trip time of datagrams")],
        columns: Self::COLUMNS,
    };
}

impl RoundTripResult {
    /// Of a group with the counters `flows` of its flows, all together, and `count` of its senders.
    pub(super) fn of(name: String, flows: &FlowCount, count: &RoundTripCount) -> Self {
        let RoundTripCount { times, duplicates } = count;
        let seconds = |ps: f64| ps / PS_PER_S as f64;
        let (returned, lost) = (times.count(), flows.dropped.packets + flows.acks[2]);
        let all = returned + lost;
        Self {
            name,
            sent: flows.sent.packets,
            returned,
            lost_there: flows.dropped.packets,
            lost_back: flows.acks[2],
            loss_ratio: (all > 0).then(|| lost as f64 / all as f64),
            duplicates: *duplicates,
            mean_rtt_s: times.mean().map(seconds),
            min_rtt_s: times.least().map(seconds),
            p50_rtt_s: times.quantile(0.5).map(seconds),
            p95_rtt_s: times.quantile(0.95).map(seconds),
            p99_rtt_s: times.quantile(0.99).map(seconds),
            max_rtt_s: times.most().map(seconds),
        }
    }
}

/// Counts of the echoes that came back to the senders of a group.
#[derive(Clone, Default)]
pub(super) struct RoundTripCount {
    /// Round-trip times in ps.
    times: Distribution,
    duplicates: u64,
}

impl RoundTripCount {
    pub(super) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.duplicates += other.duplicates;
    }
}

impl ElementCounters for RoundTripCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}

/// The part of the senders of a group that takes echoes.
pub(super) struct Echoes {
    first: FlowId,
    /// The datagrams of each flow that were answered.
    answered: Vec<Ranges>,
    /// The latest round-trip time of each flow, in seconds.
    latest: Vec<f64>,
    pub(super) count: RoundTripCount,
}

impl Echoes {
    /// Of `flows` flows, of which `first` is the first.
    pub(super) fn new(first: FlowId, flows: usize) -> Self {
        let answered = vec![Ranges::default(); flows];
        let count = RoundTripCount::default();
        Self { first, answered, latest: vec![f64::NAN; flows], count }
    }

    /// An echo has come back.
    pub(super) fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let index = packet.flow.index_in(self.first) as usize;
        if !self.answered[index].insert(packet.number) {
            self.count.duplicates += 1;
            return;
        }
        let rtt = cx.now().since(Time::from_ps(packet.tag));
        self.latest[index] = rtt.seconds();
        self.count.times.record(rtt.ps());
    }

    /// Shows the latest round-trip time of a single flow: that of `part` less one, or the only one.
    pub(super) fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        let flow = match (part.checked_sub(1), &*self.latest) {
            (Some(index), all) => all.get(index as usize),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        flow.into_iter().for_each(|rtt| visit("rtt_s", *rtt));
    }
}

/// The far ends of a group of UDP flows, which answer each datagram at once with one as large.
pub(super) struct Reflectors {
    /// Bytes of each datagram that are not payload.
    pub(super) header: u64,
    /// The route to the senders.
    pub(super) back: RouteId,
    /// Class and colour with which echoes set out.
    pub(super) marking: Marking,
}

impl LogicalProcess for Reflectors {}

impl Element for Reflectors {
    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.back))
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let payload = u64::from(packet.size).saturating_sub(self.header);
        cx.counters().hand_over(packet.flow, payload);
        let Packet { flow, number, size, .. } = *packet;
        let mut echo = Packet::data(cx.now(), flow, number, size, self.back);
        echo.tag = packet.created.ps();
        cx.send(echo.with_marking(self.marking).with_kind(PacketKind::Report));
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("a reflector sets no timer");
    }
}
