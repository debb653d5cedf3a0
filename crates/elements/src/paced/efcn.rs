//! Explicit forward congestion notification: receivers tell their sources what share of the packets
//! arrives marked.

use forebay_parameters::{Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

parameters! {
    /// Parameters of explicit forward congestion notification (EFCN). Packets are ECN-capable, so
    /// that ports can mark them (conditioner `efci`), and the receiver notifies a source (type 0)
    /// when enough of its packets come marked.
    pub struct EfcnParameters {
        /// The receiver judges with the first packet that comes this long after it did last, or
        /// after the first of all: so it notifies a source at most once in this time.
        interval: Span = "50 ms", "COMSAT thesis, section 5.1 (as for ports)";
        /// The share of the packets since then that must be marked: above 0 and up to 1.
        share: f64 = 0.5, "Ramakrishnan and Jain, ACM TOCS 8(2), 1990, section 6 (congestion bits)";
        /// Size of a notification, sent with precedence 0.
        size: Size = "53 B", "ITU-T I.361, section 2 (cell)";
    }
}

impl EfcnParameters {
    /// Refuse what cannot be.
    ///
    /// # Errors
    /// The key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if self.interval < Span::from_us(1) {
            let message = "is too short to count packets; allowed are intervals from 1 us";
            return Err(section.fail("interval", message));
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            let message =
                format!("{} is out of range; allowed are above 0 and up to 1", self.share);
            return Err(section.fail("share", message));
        }
        if !(1..=65_535).contains(&self.size.bytes()) {
            return Err(section.fail("size", "is not a packet size; allowed are 1 B to 65535 B"));
        }
        Ok(())
    }
}

/// Packets of a flow since its receiver judged last.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Indications {
    /// Time from which they are counted; not before the first packet.
    since: Option<Time>,
    packets: u64,
    marked: u64,
}

impl Indications {
    /// A packet arrives at `now`, `marked` or not: whether the source is to be notified.
    pub(super) fn arrives(&mut self, marked: bool, now: Time, rule: &EfcnParameters) -> bool {
        self.packets += 1;
        self.marked += u64::from(marked);
        let since = *self.since.get_or_insert(now);
        if now.since(since) < rule.interval {
            return false;
        }
        let high = self.marked as f64 >= rule.share * self.packets as f64;
        *self = Self { since: Some(now), packets: 0, marked: 0 };
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_parameters::{Echo, Node, Parameters, Table, Value};

    fn rule(entries: &[(&str, Value)]) -> Result<EfcnParameters, Problem> {
        let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = entries.iter().map(entry).collect();
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let section = Section::root(&node, &echo).unwrap();
        let rule = EfcnParameters::read(&section)?;
        rule.check(&section)?;
        Ok(rule)
    }

    /// Half of the packets of an interval must be marked before a source is slowed: a mark here and
    /// there, or marks of long ago, do not count, and packets are not judged one by one. With a
    /// share of a half and a packet each 10 ms, six packets come by the first judgement at 50 ms,
    /// of which three are enough and two are not; then five for each, of which three are needed.
    #[test]
    fn half_of_the_packets_of_an_interval_are_needed() {
        let rule = rule(&[]).unwrap();
        let told = |marks: &str| -> Vec<usize> {
            let mut flow = Indications::default();
            let arrives = |(number, mark): (usize, char)| {
                let now = Time::ZERO + Span::from_ms(10 * number as u64);
                flow.arrives(mark == '1', now, &rule).then_some(10 * number)
            };
            marks.chars().enumerate().filter_map(arrives).collect()
        };
        assert_eq!(told("110100" /* 3 of 6 */), [50]);
        assert_eq!(told("110000" /* 2 of 6 */), []);
        assert_eq!(told("11111100000" /* 6 of 6, 0 of 5 */), [50]);
        assert_eq!(told("1111111010111001" /* 6 of 6, 3 of 5, 3 of 5 */), [50, 100, 150]);
        assert_eq!(told("0000001010011001" /* 0 of 6, 2 of 5, 3 of 5 */), [150]);
    }

    /// Parameters that have receivers notify always, or never, are refused.
    #[test]
    fn impossible_parameters_are_refused() {
        for (key, value) in [
            ("interval", Value::from("0 s")),
            ("share", Value::Float(0.0)),
            ("share", Value::Float(1.5)),
            ("size", Value::from("0 B")),
            ("size", Value::from("70 kB")),
        ] {
            assert_eq!(rule(&[(key, value.clone())]).err().unwrap().path, key, "{value:?}");
        }
    }
}
