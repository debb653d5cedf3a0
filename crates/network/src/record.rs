//! Recording: what observers and samplers give back, and the observers that come with the network.

use forebay_units::Time;

pub use crate::table::{Column, RecordTable};
use crate::{Ecn, Observation, Observer, Packet, PacketKind, RednAdjustment};

/// Records every fact about every packet: a full packet trace.
#[derive(Default)]
pub struct PacketTrace {
    time: Vec<f64>,
    event: Vec<&'static str>,
    place: Vec<u64>,
    flow: Vec<u64>,
    number: Vec<u64>,
    size: Vec<u64>,
    precedence: Vec<u64>,
    kind: Vec<&'static str>,
    limit: usize,
}

impl PacketTrace {
    /// A trace of at most `limit` rows; later facts are not recorded.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    fn row(&mut self, now: Time, event: &'static str, place: u64, packet: &Packet) {
        if self.time.len() >= self.limit {
            return;
        }
        self.time.push(now.seconds());
        self.event.push(event);
        self.place.push(place);
        self.flow.push(u64::from(packet.flow.number()));
        self.number.push(packet.number);
        self.size.push(u64::from(packet.size));
        self.precedence.push(u64::from(packet.precedence));
        self.kind.push(kind(packet));
    }
}

fn kind(packet: &Packet) -> &'static str {
    match packet.kind() {
        PacketKind::Ack => "ack",
        PacketKind::Notification => "notice",
        PacketKind::Report => "report",
        PacketKind::ResourceCell => "resource",
        _ if packet.is_retransmission() => "retransmission",
        // A poll of frames is last of itself; probes of calls are not.
        PacketKind::Probe if packet.is_last() => "poll",
        PacketKind::Data | PacketKind::Probe if packet.ecn() == Ecn::Ce => "data, CE",
        PacketKind::Data | PacketKind::Probe => "data",
    }
}

/// Records how paced sources change the scale of their rates.
#[derive(Default)]
pub struct PaceLog {
    time: Vec<f64>,
    flow: Vec<u64>,
    scale: Vec<f64>,
}

impl Observer for PaceLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        if let Observation::Pace { flow, scale } = *fact {
            self.time.push(now.seconds());
            self.flow.push(u64::from(flow.number()));
            self.scale.push(scale);
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let columns = vec![
            ("time_s".to_owned(), Column::Float(std::mem::take(&mut self.time))),
            ("flow".to_owned(), Column::Whole(std::mem::take(&mut self.flow))),
            ("scale".to_owned(), Column::Float(std::mem::take(&mut self.scale))),
        ];
        vec![RecordTable { name: "paces".to_owned(), columns }]
    }
}

/// Records what happens to calls, and when their ingress nodes block.
#[derive(Default)]
pub struct CallLog {
    time: Vec<f64>,
    flow: Vec<u64>,
    call: Vec<u64>,
    event: Vec<&'static str>,
    admission_time: Vec<f64>,
    admission_flow: Vec<u64>,
    blocking: Vec<u64>,
}

impl Observer for CallLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        match *fact {
            Observation::Call { flow, call, event } => {
                self.time.push(now.seconds());
                self.flow.push(u64::from(flow.number()));
                self.call.push(call);
                self.event.push(event.name());
            }
            Observation::Admission { flow, blocking } => {
                self.admission_time.push(now.seconds());
                self.admission_flow.push(u64::from(flow.number()));
                self.blocking.push(u64::from(blocking));
            }
            _ => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let float = |values: &mut Vec<f64>| Column::Float(std::mem::take(values));
        let whole = |values: &mut Vec<u64>| Column::Whole(std::mem::take(values));
        let calls = vec![
            ("time_s".to_owned(), float(&mut self.time)),
            ("event".to_owned(), Column::Word(std::mem::take(&mut self.event))),
            ("flow".to_owned(), whole(&mut self.flow)),
            ("call".to_owned(), whole(&mut self.call)),
        ];
        let admission = vec![
            ("time_s".to_owned(), float(&mut self.admission_time)),
            ("flow".to_owned(), whole(&mut self.admission_flow)),
            ("blocking".to_owned(), whole(&mut self.blocking)),
        ];
        vec![
            RecordTable { name: "calls".to_owned(), columns: calls },
            RecordTable { name: "admission".to_owned(), columns: admission },
        ]
    }
}

/// Records how queue laws adjust themselves.
#[derive(Default)]
pub struct AdjustmentLog {
    time: Vec<f64>,
    link: Vec<u64>,
    rows: Vec<RednAdjustment>,
}

impl Observer for AdjustmentLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        if let Observation::Adjusted { link, adjustment } = *fact {
            self.time.push(now.seconds());
            self.link.push(u64::from(link.number()));
            self.rows.push(*adjustment);
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let rows = std::mem::take(&mut self.rows);
        let whole = |of: fn(&RednAdjustment) -> u64| Column::Whole(rows.iter().map(of).collect());
        let float = |of: fn(&RednAdjustment) -> f64| Column::Float(rows.iter().map(of).collect());
        let regions = rows.iter().map(|row| row.region.name()).collect();
        let columns = [
            ("time_s", Column::Float(std::mem::take(&mut self.time))),
            ("link", Column::Whole(std::mem::take(&mut self.link))),
            ("precedence", whole(|row| u64::from(row.precedence))),
            ("average", float(|row| row.average)),
            ("region", Column::Word(regions)),
            ("above_middle", whole(|row| u64::from(row.above_middle))),
            ("dynamic_probability", float(|row| row.dynamic_probability)),
            ("max_probability", float(|row| row.max_probability)),
        ];
        let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column));
        vec![RecordTable { name: "adjustments".to_owned(), columns: columns.collect() }]
    }
}

/// Records why and how far senders reduce their congestion windows.
#[derive(Default)]
pub struct ReductionLog {
    time: Vec<f64>,
    flow: Vec<u64>,
    signal: Vec<&'static str>,
    before: Vec<f64>,
    flight: Vec<f64>,
    cwnd: Vec<f64>,
    ssthresh: Vec<f64>,
}

impl Observer for ReductionLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        if let Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh } = *fact {
            self.time.push(now.seconds());
            self.flow.push(u64::from(flow.number()));
            self.signal.push(signal.name());
            self.before.push(before);
            self.flight.push(flight);
            self.cwnd.push(cwnd);
            self.ssthresh.push(ssthresh);
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let float = |values: &mut Vec<f64>| Column::Float(std::mem::take(values));
        let columns = vec![
            ("time_s".to_owned(), float(&mut self.time)),
            ("flow".to_owned(), Column::Whole(std::mem::take(&mut self.flow))),
            ("signal".to_owned(), Column::Word(std::mem::take(&mut self.signal))),
            ("before_bytes".to_owned(), float(&mut self.before)),
            ("flight_bytes".to_owned(), float(&mut self.flight)),
            ("cwnd_bytes".to_owned(), float(&mut self.cwnd)),
            ("ssthresh_bytes".to_owned(), float(&mut self.ssthresh)),
        ];
        vec![RecordTable { name: "reductions".to_owned(), columns }]
    }
}

/// Records each transfer of an application that is completed.
#[derive(Default)]
pub struct TransferLog {
    time: Vec<f64>,
    flow: Vec<u64>,
    begun: Vec<f64>,
    size: Vec<u64>,
    completion: Vec<f64>,
    slowdown: Vec<f64>,
}

impl Observer for TransferLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        if let Observation::Completed { flow, begun, bytes, ideal, .. } = *fact {
            let took = now.since(begun);
            self.time.push(now.seconds());
            self.flow.push(u64::from(flow.number()));
            self.begun.push(begun.seconds());
            self.size.push(bytes);
            self.completion.push(took.seconds());
            self.slowdown.push(took.ps() as f64 / ideal.ps().max(1) as f64);
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let float = |values: &mut Vec<f64>| Column::Float(std::mem::take(values));
        let columns = vec![
            ("time_s".to_owned(), float(&mut self.time)),
            ("flow".to_owned(), Column::Whole(std::mem::take(&mut self.flow))),
            ("begun_s".to_owned(), float(&mut self.begun)),
            ("size_bytes".to_owned(), Column::Whole(std::mem::take(&mut self.size))),
            ("completion_s".to_owned(), float(&mut self.completion)),
            ("slowdown".to_owned(), float(&mut self.slowdown)),
        ];
        vec![RecordTable { name: "transfers".to_owned(), columns }]
    }
}

/// Rows that are not at a link have this place.
const NOWHERE: u64 = u64::MAX;

impl Observer for PacketTrace {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        match *fact {
            Observation::Sent { packet } => self.row(now, "sent", NOWHERE, packet),
            Observation::Coloured { link, packet } => {
                self.row(now, "coloured", link.number().into(), packet)
            }
            Observation::Enqueued { link, packet, .. } => {
                self.row(now, "enqueued", link.number().into(), packet);
            }
            Observation::Marked { link, packet } => {
                self.row(now, "marked", link.number().into(), packet)
            }
            Observation::Dropped { link, packet, reason } => {
                self.row(now, drop_word(reason), link.number().into(), packet);
            }
            Observation::Duplicated { link, packet } => {
                self.row(now, "duplicated", link.number().into(), packet);
            }
            Observation::Delivered { packet, .. } => self.row(now, "delivered", NOWHERE, packet),
            Observation::Adjusted { .. }
            | Observation::Window { .. }
            | Observation::Pace { .. }
            | Observation::Timeout { .. }
            | Observation::Reduced { .. }
            | Observation::Started { .. }
            | Observation::Ended { .. }
            | Observation::Completed { .. }
            | Observation::Call { .. }
            | Observation::Admission { .. } => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let take = std::mem::take::<Vec<u64>>;
        vec![RecordTable {
            name: "trace".to_owned(),
            columns: vec![
                ("time_s".to_owned(), Column::Float(std::mem::take(&mut self.time))),
                ("event".to_owned(), Column::Word(std::mem::take(&mut self.event))),
                ("link".to_owned(), Column::Whole(take(&mut self.place))),
                ("flow".to_owned(), Column::Whole(take(&mut self.flow))),
                ("number".to_owned(), Column::Whole(take(&mut self.number))),
                ("size_bytes".to_owned(), Column::Whole(take(&mut self.size))),
                ("precedence".to_owned(), Column::Whole(take(&mut self.precedence))),
                ("kind".to_owned(), Column::Word(std::mem::take(&mut self.kind))),
            ],
        }]
    }
}

fn drop_word(reason: crate::DropReason) -> &'static str {
    use crate::DropReason::{
        Corrupted, Early, Forced, Lost, Outage, Overflow, Policed, Selective, Shaper,
    };
    match reason {
        Overflow => "dropped: overflow",
        Early => "dropped: early",
        Forced => "dropped: forced",
        Policed => "dropped: policed",
        Shaper => "dropped: shaper",
        Selective => "dropped: selective",
        Lost => "dropped: lost",
        Corrupted => "dropped: corrupted",
        Outage => "dropped: outage",
    }
}
