//! Accurate ECN feedback (RFC 9768): the receiver counts what arrives by its ECN field, and its
//! acknowledgements repeat the counts.
//!
//! The ACE field of three bits is in every acknowledgement; the AccECN option, unless it is turned
//! off, is in every one as well, with fields for those counters that have ever moved. Not modelled
//! are what only a handshake has (negotiation and its tests for mangling), acknowledgements of
//! acknowledgements, which are never marked here, and the ACE field of data: data goes one way.

use forebay_network::{Context, Ecn, EcnCounts, Packet};
use forebay_units::Time;

/// Values of the ACE field (DIVACE) and of a field of the option (DIVOPT).
const ACE: u64 = 8;
const OPTION: u64 = 1 << 24;

/// Initial values of the counters, by which a field of zeros betrays a middlebox (section 3.2.1).
const FIRST_PACKETS: u64 = 5;
const FIRST_BYTES: u64 = 1;

/// Marked segments since the last acknowledgement that are acknowledged at once (section
/// 3.2.2.5.1: n, while data is unacknowledged).
const INCREMENT: u8 = 2;

/// The counters of a receiver.
pub(super) struct Tally {
    /// Marked segments (r.cep).
    packets: u64,
    /// Bytes of data that arrived marked, as ECT(0) and as ECT(1) (r.ceb, r.e0b, r.e1b).
    ce: u64,
    ect0: u64,
    ect1: u64,
    /// Marked segments since the last acknowledgement.
    unreported: u8,
    /// True if the segment before was marked.
    marked: bool,
    /// True if acknowledgements have the option.
    option: bool,
}

impl Tally {
    pub(super) fn new(option: bool) -> Self {
        Self {
            packets: FIRST_PACKETS,
            ce: 0,
            ect0: FIRST_BYTES,
            ect1: FIRST_BYTES,
            unreported: 0,
            marked: false,
            option,
        }
    }

    /// Count a segment with `bytes` of data, if it is `acceptable`: not wholly below RCV.NXT.
    /// Returns whether it is to be acknowledged at once.
    pub(super) fn count(&mut self, ecn: Ecn, bytes: u64, acceptable: bool) -> bool {
        if !acceptable {
            return false;
        }
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 += bytes,
            Ecn::Ect1 => self.ect1 += bytes,
            Ecn::Ce => {
                self.packets += 1;
                self.ce += bytes;
                self.unreported += 1;
            }
        }
        let marked = ecn == Ecn::Ce;
        let changes = marked && !self.marked;
        self.marked = marked;
        changes || self.unreported >= INCREMENT
    }

    /// `ack` with the counters.
    pub(super) fn report(&mut self, mut ack: Packet, cx: &mut Context<'_>) -> Packet {
        self.unreported = 0;
        if self.option {
            let blocks = cx.sack_blocks().take(ack.sack_slot());
            ack.set_sack_slot(cx.sack_blocks().store(blocks.with_ecn(self.counts())));
            ack.size += self.option_bytes();
        }
        ack.with_ace((self.packets % ACE) as u8)
    }

    fn counts(&self) -> EcnCounts {
        let field = |count: u64| (count % OPTION) as u32;
        EcnCounts { ect0: field(self.ect0), ce: field(self.ce), ect1: field(self.ect1) }
    }

    /// Bytes of the option with its padding: kind, length and three bytes for each field, of which
    /// those at the end that have never moved are left out (section 3.2.3, table 5). The one in
    /// front is that of the ECT codepoint in use.
    fn option_bytes(&self) -> u16 {
        let both = self.ect0 > FIRST_BYTES && self.ect1 > FIRST_BYTES;
        let fields = match (both, self.ce > 0) {
            (true, _) => 3,
            (false, true) => 2,
            (false, false) => u16::from(self.ect0 + self.ect1 > 2 * FIRST_BYTES),
        };
        (2 + 3 * fields).next_multiple_of(4)
    }
}

/// Counters of the receiver as its sender knows them.
pub(super) struct Feedback {
    /// Marked segments and bytes (s.cep, s.ceb).
    packets: u64,
    bytes: u64,
    /// The option of the present acknowledgement.
    pub(super) option: Option<EcnCounts>,
    /// Segments that have arrived, and the latest timestamp that was echoed, as of the last
    /// acknowledgement that was not superseded.
    delivered: u64,
    echoed: Time,
    /// Bytes that the present acknowledgement has added.
    newly: u64,
}

impl Feedback {
    pub(super) fn new() -> Self {
        Self {
            packets: FIRST_PACKETS,
            bytes: 0,
            option: None,
            delivered: 0,
            echoed: Time::ZERO,
            newly: 0,
        }
    }

    /// An acknowledgement has arrived: the segments that have arrived with it are `delivered`, and
    /// it echoes a timestamp. Returns whether it reports marks.
    pub(super) fn decode(&mut self, ace: u8, delivered: u64, echoed: Time, mss: u64) -> bool {
        let option = self.option.take();
        let acked = delivered.saturating_sub(self.delivered);
        self.newly = 0;
        if acked == 0 && echoed <= self.echoed {
            // It was overtaken by a later one.
            return false;
        }
        self.delivered = self.delivered.max(delivered);
        self.echoed = self.echoed.max(echoed);
        let least = difference(ace.into(), self.packets, ACE);
        let mut packets = safest(least, acked);
        if let Some(counts) = option {
            self.newly = difference(counts.ce.into(), self.bytes, OPTION);
            self.bytes += self.newly;
            packets = likely(least, packets, self.newly, mss);
        } else {
            // Appendix A.3, with segments that are full.
            self.newly = packets * mss;
            self.bytes += self.newly;
        }
        self.packets += packets;
        self.newly > 0 || packets > 0
    }

    /// Marked segments and bytes that were reported so far.
    pub(super) fn reported(&self) -> (u64, u64) {
        (self.packets - FIRST_PACKETS, self.bytes)
    }

    /// Bytes that the present acknowledgement reports to have arrived marked.
    pub(super) fn newly_marked(&self) -> u64 {
        self.newly
    }
}

/// The least increment that takes a counter to one that a field shows modulo `cycle` (appendices
/// A.1 and A.2.1).
fn difference(field: u64, counter: u64, cycle: u64) -> u64 {
    (field + cycle - counter % cycle) % cycle
}

/// The most marked segments among `acked` that the `least` increment of the ACE field leaves
/// possible (appendix A.2.1: dSafer.cep). A field that moved by more than was acknowledged is
/// believed (section 3.2.2.5.2).
fn safest(least: u64, acked: u64) -> u64 {
    acked.checked_sub(least).map_or(least, |unmarked| acked - unmarked % ACE)
}

/// The number of marked segments that the option makes likely (appendix A.2.2, with a
/// SAFETY_FACTOR of 2): the `least`, if the `safest` would be of less than half an MSS each.
fn likely(least: u64, safest: u64, bytes: u64, mss: u64) -> u64 {
    let fits = bytes <= mss * least && 2 * bytes < mss * safest;
    if safest > least && fits { least } else { safest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields are decoded as in the examples of RFC 9768. Appendix A.1: from 33,554,433 bytes, 1461
    /// is 1460 more. Appendix A.2.1: of 9 segments, 2 marks are 2; of 10, they are 10. A field that
    /// moved by more than was acknowledged is believed.
    #[test]
    fn fields_are_decoded_as_in_the_examples() {
        assert_eq!(difference(1461, 33_554_433, OPTION), 1460);
        assert_eq!((safest(2, 9), safest(2, 10), safest(3, 2)), (2, 10, 3));
        // From 5 on, 4 is seven more; a field that has not moved may mean eight marks of eight.
        assert_eq!((difference(4, 5, ACE), difference(5, 5, ACE)), (7, 0));
        assert_eq!((safest(0, 7), safest(0, 8)), (0, 8));
    }

    /// The number of marked segments is that which the bytes make likely. The examples of appendix
    /// A.2.2, with an MSS of 1460: least and safest number, bytes, and what follows.
    #[test]
    fn bytes_decide_between_two_numbers_of_marks() {
        for (least, safest, bytes, number) in
            [(0, 8, 1460, 8), (2, 10, 1460, 2), (7, 15, 10_200, 7), (3, 3, 9999, 3)]
        {
            assert_eq!(likely(least, safest, bytes, 1460), number, "{least}, {safest}");
        }
    }

    /// Options take kind and length and three bytes for each field that has ever moved, in whole
    /// words (RFC 9768, table 5): acknowledgements have the published size.
    #[test]
    fn options_have_the_fields_that_moved() {
        let size = |arrivals: &[Ecn]| {
            let mut tally = Tally::new(true);
            arrivals.iter().for_each(|ecn| {
                tally.count(*ecn, 1000, true);
            });
            tally.option_bytes()
        };
        let (ect0, ect1) = (Ecn::Ect0, Ecn::Ect1);
        assert_eq!((size(&[]), size(&[Ecn::NotEct])), (4, 4));
        assert_eq!((size(&[ect1]), size(&[ect0]), size(&[Ecn::Ce])), (8, 8, 8));
        assert_eq!((size(&[ect1, Ecn::Ce]), size(&[ect0, Ecn::Ce])), (8, 8));
        assert_eq!((size(&[ect0, ect1]), size(&[ect0, ect1, Ecn::Ce])), (12, 12));
    }
}
