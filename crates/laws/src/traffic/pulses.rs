//! Periodic pulses: constant bit rate for a fixed time, then silence for a fixed time.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{BuildTraffic, TrafficKind, interval, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "pulses",
    summary: "Fixed ON and OFF times in turn; constant bit rate while on.",
    source: "Amer and Mekkittikul, IEEE 802.17, January 2002 (bursty traffic as periodic pulses)",
    example: r#"
        rate = "100 kbit/s"
        size = "250 B"
        on = "200 ms"
        off = "300 ms"
    "#,
    fields: PulsesParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of periodic pulses.
    pub struct PulsesParameters {
        /// Bit rate on the wire while on.
        rate: Rate, "-";
        /// Packet size on the wire.
        size: Size, "-";
        /// ON time, above 0: packets leave at its start and at constant intervals before its end.
        on: Span = "1 ms", "Amer and Mekkittikul, IEEE 802.17, January 2002, scenario 1";
        /// OFF time.
        off: Span = "20 ms", "Amer and Mekkittikul, IEEE 802.17, January 2002, scenario 1";
        /// Start with a random part of a period, so that flows are out of step; otherwise with an
        /// ON time.
        random_phase: bool = true, "assumed: as constant bit rate has it, draft-babiarz-pcn";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let PulsesParameters { rate, size, on, off, random_phase } = PulsesParameters::read(section)?;
    let gap = interval(section, rate, size)?;
    if on == Span::ZERO {
        return Err(section.fail("on", "is zero; allowed are times above 0"));
    }
    let packets = on.ps().div_ceil(gap.ps());
    let period = on + off;
    let pause = period - gap.times(packets - 1);
    let make = move |stream: &mut Stream| {
        let lead = if random_phase { period.scaled(stream.uniform()) } else { Span::ZERO };
        Pulses { gap, pause, packets, size, lead, sent: None }
    };
    let bits = size.bits() as f64 * packets as f64;
    Ok(TrafficKind::new(make, Some(size), Some(rate_of(bits / period.seconds()))))
}

struct Pulses {
    gap: Span,
    /// Time from the last packet of a pulse to the first of the next.
    pause: Span,
    packets: u64,
    size: Size,
    /// Time until the first packet.
    lead: Span,
    /// Packets of the present pulse; `None` before the first.
    sent: Option<u64>,
}

impl Traffic for Pulses {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        let (gap, sent) = match self.sent {
            None => (self.lead, 1),
            Some(sent) if sent < self.packets => (self.gap, sent + 1),
            Some(_) => (self.pause, 1),
        };
        self.sent = Some(sent);
        Some(Burst { gap, size: self.size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Echo, Node, Table, Value};

    fn build_with(entries: &[(&str, &str)]) -> Result<TrafficKind, Problem> {
        let text = |(key, value): &(&str, &str)| ((*key).to_owned(), Node::new((*value).into()));
        let mut table = entries.iter().map(text).collect::<Table>();
        table.insert("random_phase".to_owned(), Node::new(false.into()));
        let node = Node::new(Value::Table(table));
        let echo = Echo::default();
        build(&Section::root(&node, &echo).unwrap())
    }

    /// A pulse holds the packets of its ON time, as in the 802.17 slides: 600 Mbit/s for 1 ms are
    /// 50 packets of 1500 B, 20 us apart, and the next begins 21 ms later; 28.57 Mbit/s in the
    /// mean.
    #[test]
    fn a_pulse_holds_the_packets_of_its_on_time() {
        let pulse = [("rate", "600 Mbit/s"), ("size", "1500 B"), ("on", "1 ms"), ("off", "20 ms")];
        let kind = build_with(&pulse).unwrap();
        assert_eq!(kind.mean_rate.unwrap().bps(), 28_571_429);
        let mut stream = Streams::new(0, 0).named("test");
        let mut traffic = (kind.make)(&mut stream);
        let mut at = Span::ZERO;
        for number in 0..500 {
            at = at + traffic.next(&mut stream).unwrap().gap;
            let expected = Span::from_ms(21).times(number / 50) + Span::from_us(20 * (number % 50));
            assert_eq!(at, expected, "packet {number}");
        }
    }

    /// Packets leave before the end of the ON time, and at least one does, whether or not it is a
    /// multiple of the interval: 50 us at an interval of 20 us hold 0, 20 and 40.
    #[test]
    fn packets_leave_before_the_end_of_the_on_time() {
        for (on, packets) in [("1 us", 1), ("20 us", 1), ("20.1 us", 2), ("50 us", 3)] {
            let kind = build_with(&[("rate", "600 Mbit/s"), ("size", "1500 B"), ("on", on)]);
            let mut stream = Streams::new(0, 0).named("test");
            let mut traffic = (kind.unwrap().make)(&mut stream);
            let gaps: Vec<Span> = (0..9).map(|_| traffic.next(&mut stream).unwrap().gap).collect();
            let first_pause = gaps.iter().position(|gap| *gap > Span::from_ms(19)).unwrap();
            assert_eq!(first_pause, packets, "{on}");
        }
    }

    /// Parameters of a source that never sends are refused where they stand.
    #[test]
    fn wrong_parameters_are_refused_where_they_stand() {
        for (key, value) in [("rate", "0 bit/s"), ("size", "0 B"), ("on", "0 s")] {
            let mut entries = vec![("rate", "1 Mbit/s"), ("size", "100 B"), ("on", "1 ms")];
            entries.retain(|(name, _)| *name != key);
            entries.push((key, value));
            assert_eq!(build_with(&entries).err().unwrap().path, key);
        }
    }
}
