//! An acknowledgement, as the stages of its life find out about it.

use forebay_units::Span;

/// Meaning of an acknowledgement by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It acknowledges new data.
    New,
    /// It acknowledges nothing new, while data is outstanding.
    Duplicate,
    /// It acknowledges nothing new, and nothing is outstanding.
    Late,
    /// It answers the SYN that opens the connection.
    Answer,
    /// A later one has arrived already, or it answers another SYN.
    Other,
}

/// An acknowledgement, as far as the stages have come with it.
pub(super) struct Acknowledgement {
    pub(super) kind: Kind,
    /// The next segment expected.
    pub(super) number: u64,
    /// It has no SACK option.
    pub(super) bare: bool,
    /// Segments that SACK reports for the first time.
    pub(super) newly_sacked: u64,
    /// Segments that it reports, by SACK or cumulatively, for the first time, where there is a
    /// record.
    pub(super) arrived: u64,
    /// Segments that it reports as duplicates (RFC 2883).
    pub(super) duplicate: Option<(u64, u64)>,
    /// Bytes that it acknowledges cumulatively for the first time.
    pub(super) acked: f64,
    /// Bytes outstanding when it arrived, and round-trip times that these are expected to bring.
    pub(super) flight: f64,
    pub(super) expected: u64,
    pub(super) rtt: Option<Span>,
    /// It reports marks.
    pub(super) ece: bool,
    pub(super) finding: Finding,
}

impl Acknowledgement {
    /// Returns true if it acknowledges new data cumulatively.
    pub(super) fn advances(&self) -> bool {
        self.kind == Kind::New
    }
}

/// Duplicates that the first block of an acknowledgement of all below `number` reports (RFC 2883,
/// section 4): those below `number`, or within the second block.
pub(super) fn duplicate(blocks: &[(u64, u64)], number: u64) -> Option<(u64, u64)> {
    let first = *blocks.first()?;
    let within = |second: &(u64, u64)| second.0 <= first.0 && first.1 <= second.1;
    (first.0 < number || blocks.get(1).is_some_and(within)).then_some(first)
}

/// Outcome of loss detection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finding {
    /// Losses are to be repaired, unless they are being.
    pub(super) lost: bool,
    /// A retransmission of this recovery was lost (RFC 5681, section 4.3).
    pub(super) lost_again: bool,
    /// A loss probe repaired a loss of which nothing else tells (RFC 8985, section 7.4).
    pub(super) repaired: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first block reports duplicates if it lies below the cumulative acknowledgement, or
    /// within the second block (RFC 2883, section 4): other blocks report new data.
    #[test]
    fn the_first_block_can_report_duplicates() {
        assert_eq!(duplicate(&[], 5), None);
        assert_eq!(duplicate(&[(6, 7)], 5), None);
        assert_eq!(duplicate(&[(4, 5)], 5), Some((4, 5)));
        assert_eq!(duplicate(&[(8, 9), (6, 7)], 5), None);
        assert_eq!(duplicate(&[(6, 7), (6, 9)], 5), Some((6, 7)));
        assert_eq!(duplicate(&[(6, 9), (6, 7)], 5), None);
    }
}
