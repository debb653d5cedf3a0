//! Frames of packets: how large they are, and how packets and reports describe them.

use forebay_network::{Packet, PacketKind, SackBlocks, SackSlot};
use forebay_parameters::{Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

use super::PacedParameters;

parameters! {
    /// Parameters of frames: the packets of a transfer are cut into frames as AAL5 does it, and of
    /// a frame with a packet missing the receiver has nothing.
    pub struct FrameParameters {
        /// Payload of a full frame. It fills whole packets with the trailer behind it; the last
        /// frame of a transfer has what packets are left.
        payload: Size = "9188 B", "RFC 2225, section 7 (MTU of 9180 B and LLC/SNAP)";
        /// Bytes behind the payload of each frame.
        trailer: Size = "8 B", "ITU-T I.363.5 (trailer of the CPCS-PDU)";
        /// Send frames again that are missing at the receiver: a transfer then lasts until its
        /// source knows that all has arrived.
        retransmit: bool = true, "ITU-T Q.2110 (selective retransmission)";
        /// Time between polls, which ask the receiver what is missing; one follows the last packet
        /// as well. A poll is a packet more.
        poll: Span = "750 ms", "ITU-T Q.2130 (Timer_POLL)";
        /// Size of the packets in which the receiver reports, up to three gaps in each.
        report: Size = "53 B", "ITU-T Q.2110 (STAT of seven list elements in a cell)";
    }
}

/// Packets of a frame at most: their places have 16 bits.
const MAX_PACKETS: u64 = 65_535;

/// The longest time between polls: what is due after the end of a run must lie within the clock.
const MAX_POLL: Span = Span::from_s(3600 * 24 * 100);

impl FrameParameters {
    /// Refuse what cannot be of packets with `paced`.
    ///
    /// # Errors
    /// The key and what is allowed.
    pub fn check(&self, paced: &PacedParameters, section: &Section<'_>) -> Result<(), Problem> {
        let room = paced.size.bytes().saturating_sub(paced.header.bytes());
        if room == 0 {
            return Err(section.fail("", "the header fills the packet; frames need room behind it"));
        }
        if !(1..=65_535).contains(&self.payload.bytes()) {
            let message = "is not a payload size; allowed are 1 B to 65535 B";
            return Err(section.fail("payload", message));
        }
        if self.trailer.bytes() > 65_535 {
            return Err(section.fail("trailer", "is too large; allowed are 0 B to 65535 B"));
        }
        let bytes = self.payload.bytes() + self.trailer.bytes();
        if bytes < room {
            let message = format!(
                "a frame of {bytes} B with its trailer is smaller than a packet, which has room \
                 for {room} B"
            );
            return Err(section.fail("payload", message));
        }
        if bytes.div_ceil(room) > MAX_PACKETS {
            let message = format!("a frame of {bytes} B takes more than {MAX_PACKETS} packets");
            return Err(section.fail("payload", message));
        }
        if !(Span::from_us(1)..=MAX_POLL).contains(&self.poll) {
            return Err(section.fail("poll", "is out of range; allowed are 1 us to 100 days"));
        }
        if !(1..=65_535).contains(&self.report.bytes()) {
            return Err(section.fail("report", "is not a packet size; allowed are 1 B to 65535 B"));
        }
        Ok(())
    }
}

/// Division of packets into frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    /// Packets of a full frame.
    pub(super) packets: u64,
    /// Its payload.
    payload: u64,
    trailer: u64,
    /// Bytes of a frame in each packet.
    room: u64,
}

impl Framing {
    /// Of parameters that were checked.
    pub(super) fn new(frames: &FrameParameters, paced: &PacedParameters) -> Self {
        let (payload, trailer) = (frames.payload.bytes(), frames.trailer.bytes());
        let room = paced.size.bytes() - paced.header.bytes();
        Self { packets: (payload + trailer).div_ceil(room), payload, trailer, room }
    }

    /// Payload of a frame of `packets` packets.
    pub(super) fn payload(&self, packets: u64) -> u64 {
        (packets * self.room).saturating_sub(self.trailer).min(self.payload)
    }
}

/// Part of a frame that a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The frame, numbered over all transfers of its source (N(S) of Q.2110).
    pub(super) frame: u64,
    /// Number of this transmission among those of all frames, those sent again counted again. No
    /// receiver could tell; only the count of losses uses it.
    pub(super) transmission: u64,
    /// The packet's place in the frame.
    pub(super) place: u64,
    /// True if it is the frame's last (the bit in the header of a cell that AAL5 uses).
    pub(super) last: bool,
}

impl Piece {
    /// `packet` with the piece in it.
    pub(super) fn written(self, mut packet: Packet) -> Packet {
        packet.number = self.transmission << 16 | self.place;
        packet.tag = self.frame;
        packet.as_last(self.last)
    }

    /// The piece in `packet`.
    pub(super) fn of(packet: &Packet) -> Self {
        Self {
            frame: packet.tag,
            transmission: packet.number >> 16,
            place: packet.number & 0xffff,
            last: packet.is_last(),
        }
    }
}

/// Report of a receiver to its source (STAT and USTAT of Q.2110).
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// The first frame that it does not have (N(R)).
    pub(super) next: u64,
    /// Frames missing, half-open ranges: all, or some of them.
    pub(super) missing: SackBlocks,
    /// If it lists missing frames: they are if they were sent before this. In an answer the time of
    /// the poll, in place of its number (N(PS)), as the order on the way makes one as good as the
    /// other. If it lists none: when the latest frame arrived.
    pub(super) time: Time,
}

/// Gaps that one report lists: a pair of list elements each, and one that ends the list, of the
/// seven in a cell (four bytes each beside 12 of the PDU and 8 of AAL5's trailer make 48).
pub(super) const GAPS: usize = 3;

impl Report {
    /// `packet` with the report in it, whose gaps are kept at `slot`.
    pub(super) fn written(&self, mut packet: Packet, slot: SackSlot) -> Packet {
        packet.number = self.next;
        packet.tag = self.time.ps();
        packet.set_sack_slot(slot);
        packet.with_kind(PacketKind::Report)
    }

    /// The report in `packet`, with the gaps kept for it.
    pub(super) fn of(packet: &Packet, missing: SackBlocks) -> Self {
        Self { next: packet.number, missing, time: Time::from_ps(packet.tag) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};

    fn framing(payload: u64) -> Framing {
        let paced = PacedParameters { size: Size::from_bytes(53), header: Size::from_bytes(5) };
        let frames = FrameParameters {
            payload: Size::from_bytes(payload),
            trailer: Size::from_bytes(8),
            retransmit: true,
            poll: Span::from_ms(750),
            report: Size::from_bytes(53),
        };
        Framing::new(&frames, &paced)
    }

    /// Frames take the cells that AAL5 says, whose payload, padding and trailer of 8 B fill 48 B of
    /// each: 9180 B of IP behind 8 B of LLC/SNAP are 9196/48 = 191.6 (RFC 2225, section 7); an
    /// Ethernet frame's 1500 B are 1516/48 = 31.6; an acknowledgement of TCP of 40 B is 56/48 =
    /// 1.2; the largest, 65535 B, is 65543/48 = 1365.5.
    #[test]
    fn frames_take_the_cells_of_aal5() {
        let cells = [9188, 1508, 48, 40, 65_535].map(|payload| framing(payload).packets);
        assert_eq!(cells, [192, 32, 2, 1, 1366]);
    }

    /// Goodput counts payload, not padding or trailers: of 192 cells 9188 B, and of a last frame
    /// all that has room beside the trailer, 48 n - 8 B.
    #[test]
    fn goodput_is_payload() {
        let framing = framing(9188);
        assert_eq!([192, 191, 52, 1].map(|n| framing.payload(n)), [9188, 9160, 2488, 40]);
    }

    /// Packets and reports are read as they were written: a receiver does not take one packet for
    /// another, or a source a report for other frames.
    #[test]
    fn packets_carry_what_was_written() {
        let packet = Packet::data(Time::from_ps(5), FlowId::new(1), 9, 53, RouteId::new(2));
        let (frame, transmission) = (1 << 40, (1 << 47) + 3);
        let piece = Piece { frame, transmission, place: 65_534, last: true };
        assert_eq!(Piece::of(&piece.written(packet)), piece);
        assert_eq!(piece.written(packet).srtt(), None);
        let report = Report { next: 7, missing: SackBlocks::default(), time: Time::from_ps(11) };
        let slot = SackSlot::new(4).expect("there are more slots");
        let written = report.written(packet, slot);
        let read = Report::of(&written, SackBlocks::default());
        assert_eq!((read.next, read.time, written.sack_slot()), (7, Time::from_ps(11), slot));
        assert_eq!(written.kind(), PacketKind::Report);
    }
}
