//! The checker: it is notified of facts, receptions, states and counters, and compares them with
//! what must hold.

use std::collections::BTreeSet;

use forebay_network::{
    CallEvent, Ecn, FlowCount, LawNote, NoteForm, Observation, Packet, PacketKind, PcnMark,
};
use forebay_units::{Size, Span, Time};

use crate::Invariant as Must;
use crate::buckets::BucketModel;
use crate::calls::CallModel;
use crate::flow::FlowModel;
use crate::ledger::{Key, Ledger};
use crate::link::LinkModel;
use crate::places::{ElementPlace, FlowKind, Places, RoutePlace};
use crate::report::{Breach, Place, Report};
use crate::towards::Towards;

/// Checks a run from outside.
pub struct Checker {
    pub(crate) places: Places,
    pub(crate) report: Report,
    pub(crate) now: Time,
    pub(crate) ledger: Ledger,
    pub(crate) links: Vec<LinkModel>,
    pub(crate) flows: Vec<FlowModel>,
    pub(crate) calls: CallModel,
    pub(crate) buckets: Vec<Vec<BucketModel>>,
    /// Crossings of links since the run began.
    pub(crate) hops: u64,
    /// Time at which counting began.
    pub(crate) since: Time,
}

impl Checker {
    /// A checker of the network of `places`.
    #[must_use]
    pub fn new(places: Places) -> Self {
        let links = places.links.iter().map(|_| LinkModel::default()).collect();
        let flows = places.flows.iter().map(|_| FlowModel::default()).collect();
        let models = |count| std::iter::repeat_with(BucketModel::default).take(count).collect();
        let buckets = places.links.iter().map(|link| models(link.buckets.len())).collect();
        let mut checker = Self {
            places,
            report: Report::default(),
            now: Time::ZERO,
            ledger: Ledger::default(),
            links,
            flows,
            calls: CallModel::default(),
            buckets,
            hops: 0,
            since: Time::ZERO,
        };
        checker.check_routes();
        checker
    }

    /// Returns the findings so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// `must` was checked and `holds` or not; `numbers` say what contradicts it.
    #[inline]
    pub(crate) fn check(
        &mut self,
        must: Must,
        place: Place<'_>,
        holds: bool,
        numbers: impl FnOnce() -> String,
    ) {
        self.report.count(must, holds);
        if !holds && self.report.wants(must) {
            let place = self.name(place);
            let at = self.now;
            self.report.describe(Breach { invariant: must, place, at, numbers: numbers() });
        }
    }

    fn name(&self, place: Place<'_>) -> String {
        let link = |at: usize| self.places.links.get(at).map(|link| &link.name);
        let flow = |at: usize| self.places.flows.get(at).map(|flow| &flow.name);
        match place {
            Place::Network => "network".to_owned(),
            Place::Link(at) => format!("links.{}", link(at).map_or("?", |name| name)),
            Place::Flow(at) => format!("flows.{}", flow(at).map_or("?", |name| name)),
            Place::Element(number) => format!("element {number}"),
            Place::Named(name) => name.to_owned(),
        }
    }

    fn tick(&mut self, now: Time) {
        let (before, end) = (self.now, self.places.end);
        self.now = now.max(before);
        self.check(Must::TimeOrder, Place::Network, now >= before, || {
            format!("{} ps after {} ps", now.ps(), before.ps())
        });
        self.check(Must::TimeEnd, Place::Network, now <= end, || {
            format!("{} ps, the end is at {} ps", now.ps(), end.ps())
        });
    }

    /// A fact was reported.
    pub fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        self.tick(now);
        match *fact {
            Observation::Sent { packet } => self.sent(packet),
            Observation::Coloured { link, packet } => self.coloured(link.index(), packet),
            Observation::Enqueued { link, packet, backlog } => {
                self.enqueued(link.index(), packet, backlog);
            }
            Observation::Departs { .. } => {}
            Observation::Marked { link, packet } => self.marked(link.index(), packet),
            Observation::Noted { link, note } => self.noted(link.index(), note),
            Observation::Dropped { link, packet, reason } => {
                self.dropped(link.index(), packet, reason);
            }
            Observation::Duplicated { link, packet } => self.duplicated(link.index(), packet),
            Observation::Delivered { packet, delay } => self.delivered(packet, delay),
            Observation::Window { flow, cwnd, ssthresh } => {
                self.window(flow.index(), cwnd, ssthresh);
            }
            Observation::Pace { flow, scale } => self.pace(flow.index(), scale),
            Observation::Timeout { flow } => {
                let model = &mut self.flows[flow.index()];
                model.seen.timeouts += 1;
                model.tcp.causes += 1;
            }
            Observation::Reduced { .. } => self.reduced(fact),
            Observation::Started { flow } => {
                let model = &mut self.flows[flow.index()];
                model.began += 1;
                let began = model.began;
                self.check(Must::FlowLife, Place::Flow(flow.index()), began == 1, || {
                    format!("it begins for the {began}. time")
                });
            }
            Observation::Ended { flow } => {
                let model = &mut self.flows[flow.index()];
                model.ended += 1;
                let ended = model.ended;
                self.check(Must::FlowLife, Place::Flow(flow.index()), ended == 1, || {
                    format!("it ends for the {ended}. time")
                });
            }
            Observation::Completed { flow, flows, begun, bytes, .. } => {
                self.completed(flow.index(), flows as usize, begun, bytes);
            }
            Observation::Call { flow, call, event } => self.call(flow.index(), call, event),
            Observation::Admission { flow, blocking } => {
                let news = self.calls.blocks(flow.index(), blocking);
                self.check(Must::CallAdmission, Place::Flow(flow.index()), news, || {
                    format!("blocking = {blocking} is reported twice")
                });
            }
        }
    }

    /// An element received `packet`.
    pub fn received(&mut self, now: Time, element: u32, packet: &Packet) {
        self.tick(now);
        let place = Place::Element(element);
        let towards = match self.places.elements.get(element as usize).cloned().unwrap_or_default()
        {
            ElementPlace::Host => Towards::End,
            ElementPlace::Links(links) => Towards::Element(element, links),
            ElementPlace::Policer(link) => Towards::Element(element, vec![link]),
            ElementPlace::Wire { link, after } => Towards::Wire { element, link, after },
        };
        let Some(key) = self.known(packet, &towards, place) else { return };
        self.arrive(key, packet);
        if let Some(entry) = self.ledger.entry(key) {
            entry.element = Some(element);
        }
    }

    /// The key of `packet`, which must be in the network; of equal ones, that which is on its way
    /// `towards` where it is seen.
    pub(crate) fn known(
        &mut self,
        packet: &Packet,
        towards: &Towards,
        place: Place<'_>,
    ) -> Option<Key> {
        let (route, places) = (packet.route, &self.places);
        let key = self.ledger.identify(packet, &|entry| towards.fit(entry, route, places));
        self.check(Must::PacketKnown, place, key.is_some(), || show(packet));
        let key = key?;
        let before = self.ledger.entry(key)?.packet;
        let same = (before.size, before.flow, before.route);
        let holds = same == (packet.size, packet.flow, packet.route);
        self.check(Must::PacketKept, place, holds, || {
            format!("{} was sent as {}", show(packet), show(&before))
        });
        let precedence = packet.precedence;
        self.check(Must::PacketPrecedence, place, precedence <= 63, || format!("{precedence}"));
        self.check_mark(&before, packet, place);
        self.ledger.entry(key)?.packet = *packet;
        Some(key)
    }

    fn check_mark(&mut self, before: &Packet, packet: &Packet, place: Place<'_>) {
        let severity = |ecn: Ecn| match ecn {
            Ecn::NotEct => 0,
            Ecn::Ect0 => 1,
            Ecn::Ect1 => 2,
            Ecn::Ce => 3,
        };
        let (was, is) = (before.ecn(), packet.ecn());
        let capable = (was == Ecn::NotEct) == (is == Ecn::NotEct);
        let bleaches = matches!(place, Place::Link(link) if self.places.links[link].bleaches);
        let cleared = bleaches && is == Ecn::NotEct;
        let kept = capable && severity(is) >= severity(was);
        self.check(Must::MarkKept, place, kept || cleared, || {
            format!("{} was {was:?} and is {is:?}", show(packet))
        });
    }

    fn sent(&mut self, packet: &Packet) {
        let (now, flow) = (self.now, packet.flow.index());
        let place = Place::Flow(flow);
        // Answers can keep the time of what they answer.
        let created = packet.created;
        let right = if packet.is_feedback() { created <= now } else { created == now };
        self.check(Must::TimeCreated, place, right, || {
            format!("{} created at {} ps", show(packet), created.ps())
        });
        self.ledger.enter(packet);
        let model = &mut self.flows[flow];
        if packet.is_feedback() {
            model.seen.acks[0] += 1;
        } else {
            model.seen.sent.add(packet);
            model.seen.retransmissions += u64::from(packet.is_retransmission());
            let (ended, again) = (model.ended, packet.is_retransmission());
            self.check(Must::FlowLife, place, ended == 0 || again, || {
                format!("{} is sent after the end", show(packet))
            });
        }
        match self.places.flows[flow].kind {
            FlowKind::Tcp { overhead, .. } => self.sent_by_tcp(packet, overhead),
            FlowKind::Calls { first } if !packet.is_feedback() => {
                let present = self.calls.is_present(first, packet.tag)
                    || self.calls.is_present(flow, packet.tag);
                self.check(Must::CallSilent, place, present, || {
                    format!("{} of call {}", show(packet), packet.tag)
                });
            }
            _ => {}
        }
    }

    fn delivered(&mut self, packet: &Packet, delay: Span) {
        let (now, flow) = (self.now, packet.flow.index());
        let place = Place::Flow(flow);
        let Some(key) = self.known(packet, &Towards::End, place) else { return };
        self.arrive(key, packet);
        let age = now.since(packet.created);
        self.check(Must::DelayAge, place, age == delay, || {
            format!("{} ps at an age of {} ps", delay.ps(), age.ps())
        });
        self.check_way(key, packet, age);
        self.ledger.leave(key);
        let model = &mut self.flows[flow];
        if packet.is_feedback() {
            model.seen.acks[1] += 1;
        } else {
            let FlowCount { delivered, delay, max_delay, marked, .. } = &mut model.seen;
            delivered.add(packet);
            *delay += u128::from(age.ps());
            *max_delay = age.max(*max_delay);
            *marked += u64::from(packet.ecn() == Ecn::Ce);
            let began = model.began;
            self.check(Must::FlowLife, place, began == 1, || {
                format!("{} is delivered before the beginning", show(packet))
            });
        }
        if let FlowKind::Tcp { overhead, .. } = self.places.flows[flow].kind {
            self.delivered_by_tcp(packet, overhead);
        }
    }

    /// A packet that has reached its destination has passed the links of its route, none of which
    /// was faster than it can be.
    fn check_way(&mut self, key: Key, packet: &Packet, age: Span) {
        let place = Place::Flow(packet.flow.index());
        if let Some((_, to, of)) = self.places.ends(packet.route) {
            let Some(entry) = self.ledger.get(key) else { return };
            let there = entry.last_link.is_some_and(|last| self.places.links[last].ends.1 == to);
            let (hops, to) = (entry.hops, to.to_owned());
            self.check(Must::RouteComplete, place, there && hops == of, || {
                format!("{} has passed {hops} links of {of} to {to}", show(packet))
            });
            return;
        }
        let Some(route) = self.places.route(packet.route) else { return };
        let size = Size::from_bytes(u64::from(packet.size));
        let links = route.iter().map(|link| &self.places.links[*link]);
        let floor = links.fold(0_u128, |sum, link| sum + u128::from(link.least_time(size).ps()));
        let (of, hops) = (route.len(), self.ledger.entry(key).map_or(0, |entry| entry.hops));
        // A notification enters its way where the port stands that sends it.
        self.check(Must::RouteComplete, place, hops == of, || {
            format!("{} has passed {hops} of {of} links", show(packet))
        });
        self.check(Must::DelayFloor, place, u128::from(age.ps()) >= floor, || {
            format!("{} took {} ps, its links take {floor} ps", show(packet), age.ps())
        });
    }

    fn call(&mut self, flow: usize, call: u64, event: CallEvent) {
        let possible = self.calls.happen(flow, call, event);
        self.check(Must::CallLife, Place::Flow(flow), possible, || {
            format!("call {call} is {}", event.name())
        });
    }

    fn pace(&mut self, flow: usize, scale: f64) {
        let place = Place::Flow(flow);
        let fine = scale.is_finite() && scale >= 0.0;
        self.check(Must::PaceScale, place, fine, || format!("{scale}"));
        if let FlowKind::Paced { floor: Some(floor) } = self.places.flows[flow].kind
            && scale > 0.0
        {
            self.check(Must::PaceFloor, place, (floor..=1.0).contains(&scale), || {
                format!("{scale}, the minimum is {floor}")
            });
        }
    }

    fn noted(&mut self, link: usize, note: &LawNote<'_>) {
        for (column, value) in note.columns() {
            let (must, holds) = match column.form {
                NoteForm::Probability => (Must::LawProbability, (0.0..=1.0).contains(&value)),
                NoteForm::Average => (Must::LawAverage, value >= 0.0),
                NoteForm::Whole | NoteForm::Word(_) | NoteForm::Number => continue,
            };
            self.check(must, Place::Link(link), holds, || format!("{} = {value}", column.name));
        }
    }

    /// Every answer must be able to go back to where the flow comes from.
    fn check_routes(&mut self) {
        let end = |at: Option<&usize>| at.map(|at| &self.places.links[*at].ends);
        let ends = |route: &RoutePlace| match route {
            RoutePlace::Over(links) => {
                Some((end(links.first())?.0.clone(), end(links.last())?.1.clone()))
            }
            RoutePlace::Between { from, to, .. } => Some((from.clone(), to.clone())),
        };
        let joined: BTreeSet<(String, String)> =
            self.places.routes.iter().flatten().filter_map(ends).collect();
        for number in 0..self.places.flows.len() {
            let flow = &self.places.flows[number];
            if let FlowKind::Tcp { .. } = flow.kind {
                let back = (flow.to.clone(), flow.from.clone());
                let found = joined.contains(&back);
                self.check(Must::RouteReverse, Place::Flow(number), found, || {
                    format!("no route leads from {} to {}", back.0, back.1)
                });
            }
        }
    }
}

/// A packet in words.
pub(crate) fn show(packet: &Packet) -> String {
    let kind = match packet.kind() {
        PacketKind::Data => "data",
        PacketKind::Probe => "probe",
        PacketKind::Poll => "poll",
        PacketKind::Syn => "SYN",
        PacketKind::Ack => "acknowledgement",
        PacketKind::Notification => "notification",
        PacketKind::Report => "report",
        PacketKind::ResourceCell => "resource-management cell",
    };
    let again = if packet.is_retransmission() { " (sent again)" } else { "" };
    let Packet { number, size, .. } = *packet;
    let (flow, route) = (packet.flow.number(), packet.route.number());
    format!("{kind} {number}{again} of flow {flow}, {size} B, route {route}")
}

/// Returns true if a PCN packet carries no mark.
pub(crate) fn is_unmarked(packet: &Packet) -> bool {
    packet.pcn() == Some(PcnMark::Unmarked)
}
