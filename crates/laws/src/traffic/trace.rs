//! Traffic as it was recorded: packets with their times and sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{DataFile, Entry, Fault, Parameters, Problem, Section, parameters};
use forebay_units::{PS_PER_S, Size, Span};

use super::{BuildTraffic, MAX_PACKET_BYTES, TrafficKind, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "trace",
    summary: "Packets at recorded times: of a capture (pcap, pcapng) or a table.",
    source: "RFC 5136, section 3 (packets at a point); draft-ietf-opsawg-pcapng; pcap-savefile(5)",
    example: r#"file = { text = "time_s,size_bytes\n0,1000\n0.02,500" }"#,
    fields: TraceParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of recorded traffic. Over UDP each packet is a datagram, over TCP a write of so
    /// many bytes.
    pub struct TraceParameters {
        /// A capture in the format pcap or pcapng, or CSV with the columns `time_s` and
        /// `size_bytes`, and as far as packets are chosen by them `protocol`, `source`,
        /// `source_port`, `destination`, `destination_port`. Times of a table count from the start
        /// of the flow, those of a capture from its first packet; sizes of a capture are those of
        /// IP packets.
        file: DataFile, "-";
        /// Packets from this address alone: `10.0.0.1`, `10.0.0.1:80` with a port, or `:80`.
        source: Option<String>, "-";
        /// Packets to this address alone.
        destination: Option<String>, "-";
        /// Packets of this protocol alone: `tcp`, `udp`, or the number of another.
        protocol: Option<String>, "-";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = TraceParameters::read(section)?;
    let rows = Rows::read(&parameters).map_err(|message| section.fail("file", message))?;
    if rows.flows.len() > 1 {
        let message = format!(
            "packets of {} flows are one load; source, destination and protocol choose some",
            rows.flows.len()
        );
        section.warn("file", message);
    }
    let mut packets = rows.packets;
    packets.sort_by_key(|(at, _)| *at);
    let largest = packets.iter().map(|(_, size)| *size).max();
    let bits = packets.iter().map(|(_, size)| size.bits() as f64).sum::<f64>();
    let last = packets.last().map_or(Span::ZERO, |(at, _)| *at);
    let mean_rate = (last > Span::ZERO).then(|| rate_of(bits / last.seconds()));
    let packets: Arc<[(Span, Size)]> = packets.into();
    let make = move |_: &mut Stream| Trace { packets: Arc::clone(&packets), next: 0 };
    Ok(TrafficKind::new(make, largest, mean_rate))
}

struct Trace {
    /// Times from the start of the flow, and sizes.
    packets: Arc<[(Span, Size)]>,
    next: usize,
}

impl Traffic for Trace {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        let (at, size) = *self.packets.get(self.next)?;
        let before = self.next.checked_sub(1).map_or(Span::ZERO, |last| self.packets[last].0);
        self.next += 1;
        Some(Burst { gap: at - before, size })
    }
}

/// The columns of a table.
const COLUMNS: [&str; 7] = [
    "time_s",
    "size_bytes",
    "protocol",
    "source",
    "source_port",
    "destination",
    "destination_port",
];
/// The first of the columns that packets can be chosen by.
const PROTOCOL: usize = 2;
const SOURCE: usize = 3;
const DESTINATION: usize = 5;
/// Recorded times beyond this lie outside the clock of a run: a hundred days.
const LAST: Span = Span::from_s(100 * 24 * 3600);

/// The packets of a file that were chosen.
struct Rows {
    packets: Vec<(Span, Size)>,
    /// Protocols, addresses and ports of them.
    flows: BTreeSet<String>,
}

impl Rows {
    fn read(parameters: &TraceParameters) -> Result<Self, String> {
        let file = &parameters.file;
        let mut lines = file.lines();
        let (line, header) = lines.next().unwrap_or((1, ""));
        let columns = DataFile::columns(header, &COLUMNS, PROTOCOL)
            .map_err(|fault| file.wrong(line, fault))?;
        let choice = Choice::of(parameters, &columns)?;
        let mut rows = Self { packets: Vec::new(), flows: BTreeSet::new() };
        for (line, text) in lines {
            let mut cells = [""; COLUMNS.len()];
            let wrong = |fault: Fault| file.wrong(line, fault);
            let mut found = text.split(',').map(str::trim);
            for column in &columns {
                let few = || wrong(format!("fewer than {} cells", columns.len()).into());
                cells[*column] = found.next().ok_or_else(few)?;
            }
            if found.next().is_some() {
                return Err(wrong(format!("more than {} cells", columns.len()).into()));
            }
            let packet = packet(cells[0], cells[1]).map_err(wrong)?;
            if choice.takes(&cells) {
                rows.packets.push(packet);
                let flow = cells[PROTOCOL..].join(" ");
                if !rows.flows.contains(&flow) {
                    rows.flows.insert(flow);
                }
            }
        }
        if rows.packets.is_empty() {
            return Err(file.wrong(line, "no packet below is one of those wanted"));
        }
        Ok(rows)
    }
}

/// Time and size of a packet.
fn packet(time: &str, size: &str) -> Result<(Span, Size), Fault> {
    let wrong = |name: &str, cell: &str, allowed: String| {
        let quoting = format!("{name} is \"{cell}\"; allowed are {allowed}");
        Fault::quoting(quoting, format!("{name}: allowed are {allowed}"))
    };
    let at = seconds(time).filter(|at| *at <= LAST);
    let at =
        at.ok_or_else(|| wrong("time_s", time, format!("seconds from 0 to {}", LAST.seconds())))?;
    let bytes = size.parse().ok().filter(|bytes| (1..=MAX_PACKET_BYTES).contains(bytes));
    let bytes = bytes.ok_or_else(|| {
        wrong("size_bytes", size, format!("whole numbers from 1 to {MAX_PACKET_BYTES}"))
    })?;
    Ok((at, Size::from_bytes(bytes)))
}

/// Seconds as a decimal number, to the picosecond: a binary fraction would move recorded times.
fn seconds(text: &str) -> Option<Span> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 12 {
        let value: f64 = text.parse().ok()?;
        return (0.0..=LAST.seconds()).contains(&value).then(|| Span::from_seconds(value));
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<12}").parse().ok()?;
    whole.checked_mul(PS_PER_S)?.checked_add(fraction).map(Span::from_ps)
}

/// Selection of packets by what stands in some columns.
struct Choice(Vec<(usize, String)>);

impl Choice {
    fn of(parameters: &TraceParameters, columns: &[usize]) -> Result<Self, String> {
        let mut wanted = Vec::new();
        if let Some(protocol) = &parameters.protocol {
            let number = match protocol.as_str() {
                "tcp" => "6",
                "udp" => "17",
                other => other,
            };
            wanted.push((PROTOCOL, number.to_owned()));
        }
        let ends = [(SOURCE, &parameters.source), (DESTINATION, &parameters.destination)];
        for (column, end) in ends {
            let Some(end) = end else { continue };
            let (address, port) = split(end);
            if !address.is_empty() {
                wanted.push((column, address.to_owned()));
            }
            if !port.is_empty() {
                wanted.push((column + 1, port.to_owned()));
            }
        }
        match wanted.iter().find(|(column, _)| !columns.contains(column)) {
            Some((column, value)) => {
                let name = COLUMNS[*column];
                Err(format!("has no column {name}, by which \"{value}\" is wanted"))
            }
            None => Ok(Self(wanted)),
        }
    }

    fn takes(&self, cells: &[&str; COLUMNS.len()]) -> bool {
        let is = |cell: &str, wanted: &str| {
            cell == wanted || matches!((cell, wanted), ("tcp", "6") | ("udp", "17"))
        };
        self.0.iter().all(|(column, value)| is(cells[*column], value))
    }
}

/// Address and port of one end. An address of IPv6 with a port stands in brackets.
fn split(end: &str) -> (&str, &str) {
    if let Some((address, port)) = end.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, port.trim_start_matches(':'));
    }
    match end.split_once(':') {
        Some((address, port)) if !port.contains(':') => (address, port),
        _ => (end, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Node, Table, Value};

    const TWO: &str = "size_bytes,time_s,protocol,source,source_port\n\
                       100,0.5,17,10.0.0.1,5\n200,0.000000001,6,10.0.0.2,5\n\
                       300,1.25,udp,10.0.0.1,6\n";

    fn traced(text: &str, others: &[(&str, Value)]) -> Result<Vec<(u64, u64)>, Problem> {
        let table: Table =
            [("text".to_owned(), Node::new(Value::Text(text.to_owned())))].into_iter().collect();
        let parameters = [&[("file", Value::Table(table))], others].concat();
        let kind = read(&build, &parameters)?;
        let mut stream = Streams::new(1, 0).named("test");
        let mut traffic = (kind.make)(&mut stream);
        let bursts = std::iter::from_fn(|| traffic.next(&mut stream));
        Ok(bursts.map(|burst| (burst.gap.ps(), burst.size.bytes())).collect())
    }

    /// Packets come as they were recorded: in the order of time, to the picosecond, and only those
    /// that are wanted.
    #[test]
    fn packets_come_as_they_were_recorded() {
        let all = [(1_000, 200), (499_999_999_000, 100), (750_000_000_000, 300)];
        assert_eq!(traced(TWO, &[]).unwrap(), all);
        let of = |key: &'static str, value: &str| traced(TWO, &[(key, value.into())]).unwrap();
        let first = [(500_000_000_000, 100), (750_000_000_000, 300)];
        assert_eq!(of("source", "10.0.0.1"), first);
        assert_eq!(of("protocol", "udp"), first);
        assert_eq!(of("source", ":5"), all[..2]);
        assert_eq!(of("source", "10.0.0.1:6"), [(1_250_000_000_000, 300)]);
    }

    /// A file that is no table of packets is refused, with the line that is wrong.
    #[test]
    fn what_is_no_table_of_packets_is_refused() {
        let refused = |text: &str, others: &[(&str, Value)]| {
            let problem = traced(text, others).unwrap_err();
            assert_eq!(problem.path, "file");
            problem.message
        };
        let head = "time_s,size_bytes\n";
        assert!(refused("time_s\n1\n", &[]).contains("no column size_bytes"));
        assert!(refused("time_s,size\n", &[]).contains("\"size\" is not a column"));
        assert!(refused(&format!("{head}0,70000\n"), &[]).contains("line 2 of the text"));
        assert!(refused(&format!("{head}-1,100\n"), &[]).contains("time_s is \"-1\""));
        assert!(refused(&format!("{head}1\n"), &[]).contains("fewer than 2 cells"));
        assert!(refused(head, &[]).contains("no packet"));
        let wanted = [("source", "10.0.0.1".into())];
        assert!(refused(&format!("{head}1,100\n"), &wanted).contains("no column source"));
        assert!(refused(TWO, &[("source", "10.9.9.9".into())]).contains("no packet"));
    }
}
