//! Recording: what observers and samplers give back, and the observers that come with the network.

use forebay_units::Time;

pub use crate::table::{Column, RecordTable};
use crate::{Ecn, NoteForm, NoteKind, Observation, Observer, Packet, PacketKind};

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
        PacketKind::Poll => "poll",
        PacketKind::Data | PacketKind::Probe | PacketKind::Syn if packet.ecn() == Ecn::Ce => {
            "data, CE"
        }
        PacketKind::Data | PacketKind::Probe | PacketKind::Syn => "data",
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

/// Records the notes of queue laws: a table for each kind.
pub struct NoteLog {
    tables: Vec<NoteTable>,
}

/// The notes of a kind.
struct NoteTable {
    kind: &'static NoteKind,
    time: Vec<f64>,
    link: Vec<u64>,
    /// The values of the notes, one note after the other.
    values: Vec<f64>,
}

impl NoteTable {
    const fn new(kind: &'static NoteKind) -> Self {
        Self { kind, time: Vec::new(), link: Vec::new(), values: Vec::new() }
    }

    /// The values of the column `at`, in its form.
    fn column(&self, at: usize) -> Column {
        let values = self.values.iter().copied().skip(at).step_by(self.kind.columns.len());
        match self.kind.columns[at].form {
            NoteForm::Whole => Column::Whole(values.map(|value| value as u64).collect()),
            NoteForm::Word(words) => {
                Column::Word(values.map(|value| words[value as usize]).collect())
            }
            NoteForm::Number | NoteForm::Average | NoteForm::Probability => {
                Column::Float(values.collect())
            }
        }
    }
}

impl NoteLog {
    /// A log with a table for each of `kinds`, also if no note is taken, and for each other kind of
    /// which a note is taken.
    #[must_use]
    pub fn new(kinds: &[&'static NoteKind]) -> Self {
        Self { tables: kinds.iter().map(|kind| NoteTable::new(kind)).collect() }
    }

    fn table(&mut self, kind: &'static NoteKind) -> &mut NoteTable {
        let found = self.tables.iter().position(|table| table.kind.table == kind.table);
        let at = found.unwrap_or_else(|| {
            self.tables.push(NoteTable::new(kind));
            self.tables.len() - 1
        });
        &mut self.tables[at]
    }
}

impl Observer for NoteLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        if let Observation::Noted { link, note } = *fact {
            let table = self.table(note.kind);
            table.time.push(now.seconds());
            table.link.push(u64::from(link.number()));
            table.values.extend(note.columns().map(|(_, value)| value));
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let record = |mut table: NoteTable| {
            let mut columns = vec![
                ("time_s".to_owned(), Column::Float(std::mem::take(&mut table.time))),
                ("link".to_owned(), Column::Whole(std::mem::take(&mut table.link))),
            ];
            let own = table.kind.columns.iter().enumerate();
            columns.extend(own.map(|(at, column)| (column.name.to_owned(), table.column(at))));
            RecordTable { name: table.kind.table.to_owned(), columns }
        };
        std::mem::take(&mut self.tables).into_iter().map(record).collect()
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
            Observation::Noted { .. }
            | Observation::Departs { .. }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LawNote, LinkId, NoteColumn};
    use forebay_units::Span;

    static NAMED: NoteKind = NoteKind {
        table: "named",
        columns: &[
            NoteColumn::new("word", NoteForm::Word(&["low", "high"])),
            NoteColumn::new("share", NoteForm::Probability),
        ],
    };
    static OTHER: NoteKind =
        NoteKind { table: "other", columns: &[NoteColumn::new("count", NoteForm::Whole)] };

    fn names(table: &RecordTable) -> Vec<&str> {
        table.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// A kind that the log is given has a table in any case, another only if there are notes;
    /// each row has time, link and the values in the forms of the columns.
    #[test]
    fn each_kind_of_note_has_a_table() {
        let empty = NoteLog::new(&[&NAMED]).tables();
        assert_eq!(empty.len(), 1);
        assert_eq!(names(&empty[0]), ["time_s", "link", "word", "share"]);
        assert_eq!(empty[0].columns[2].1, Column::Word(Vec::new()));

        let mut log = NoteLog::new(&[&NAMED]);
        let mut note = |seconds, kind, values: &[f64]| {
            let note = &LawNote { kind, values };
            log.observe(
                Time::ZERO + Span::from_s(seconds),
                &Observation::Noted { link: LinkId::new(3), note },
            );
        };
        note(1, &NAMED, &[1.0, 0.25]);
        note(2, &OTHER, &[7.0]);
        note(3, &NAMED, &[0.0, 0.5]);
        let tables = log.tables();
        let columns =
            |at: usize| tables[at].columns.iter().map(|column| &column.1).collect::<Vec<_>>();
        assert_eq!(
            columns(0),
            [
                &Column::Float(vec![1.0, 3.0]),
                &Column::Whole(vec![3, 3]),
                &Column::Word(vec!["high", "low"]),
                &Column::Float(vec![0.25, 0.5]),
            ]
        );
        assert_eq!(names(&tables[1]), ["time_s", "link", "count"]);
        assert_eq!(columns(1)[2], &Column::Whole(vec![7]));
    }
}
