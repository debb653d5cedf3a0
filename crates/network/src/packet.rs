//! The packet: plain data without behaviour.

use forebay_kernel::{Digest, Message};
use forebay_units::{Size, Span, Time};

use crate::{FlowId, RouteId, SackSlot};

/// ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: congestion is signalled by dropping it.
    NotEct = 0,
    /// ECN-capable transport, codepoint 1 (L4S, RFC 9331).
    Ect1 = 1,
    /// ECN-capable transport, codepoint 0.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

/// PCN state of a packet (RFC 5670), encoded in the ECN field as RFC 6660 does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PcnMark {
    /// Not marked: NM (ECN 10).
    Unmarked,
    /// Threshold-marked: ThM (ECN 01); the "admission-stop" of three-state marking.
    Threshold,
    /// Excess-traffic-marked: ETM (ECN 11); the "excess-traffic" of three-state marking.
    Excess,
}

/// Role of a packet for the elements at the ends of its route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketKind {
    /// Data of its flow.
    Data,
    /// A probe of a new call: asks whether the call may be admitted. As the next two, a packet of
    /// its flow without data.
    Probe,
    /// A poll by a source of frames: asks the receiver which of them are missing.
    Poll,
    /// The opening of a TCP connection (SYN). An acknowledgement that is the last packet of nothing
    /// answers it.
    Syn,
    /// A pure acknowledgement.
    Ack,
    /// A congestion notification, on its way from a port back to a source.
    Notification,
    /// A report of a receiver, a request of a client, or the echo of a datagram, on its way back to
    /// a source.
    Report,
    /// A resource-management cell, on its way there or back.
    ResourceCell,
}

/// A packet in transit. Copied by value; 40 bytes.
///
/// Fields are laid out in the order in which they are declared: size, precedence, flags and flow
/// are adjacent, the eight bytes that enter the digest, so that one load fetches them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Packet {
    /// Time at which its sender handed it to the network.
    pub created: Time,
    /// Number of the segment (data) or of the next segment expected (ACK); a count for datagrams.
    pub number: u64,
    /// Further content, written and read by the mechanism that the packet belongs to; 0 if none.
    ///
    /// | Packet | Content | Written and read by |
    /// |---|---|---|
    /// | segment of TCP | its sender's round-trip time, slow start | [`Packet::srtt`] |
    /// | acknowledgement | sending time of what it answers | [`Packet::timestamp_echo`] |
    /// | data or probe of a call | index and generation of the call | element of calls |
    /// | data or poll of frames | number of the frame | paced source and its receiver |
    /// | report on frames | sending time of the poll, or of the latest frame | the same |
    /// | echo of a datagram | sending time of the datagram | UDP |
    /// | report on media | what the receiver's law reports | that law and its sender's |
    /// | notification | its type | law of the detector |
    /// | resource-management cell | its rates | law of the explicit rate |
    pub tag: u64,
    /// The route that it takes. A hop changes nothing in a packet, so a copy of it is a plain move.
    pub route: RouteId,
    /// [`Packet::sack_slot`] in the lower 24 bits, [`Packet::dscp`] in the next six, and in the top
    /// two the kind of a request: one word, so that copies are plain moves.
    slot_and_dscp: u32,
    /// Size on the wire in bytes, IP header included.
    pub size: u16,
    /// Colour: drop precedence, 0 green, 1 yellow, 2 red, ...; meters and markers write it. Also
    /// the class for schedulers that are told so.
    pub precedence: u8,
    flags: u8,
    /// The flow that it belongs to.
    pub flow: FlowId,
}

/// Class and colour with which packets set out; conditioners may change both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marking {
    /// Colour: drop precedence.
    pub precedence: u8,
    /// Class: differentiated services codepoint, 0 to 63.
    pub dscp: u8,
}

/// Properties that queues and counters need to know of a packet that they no longer hold: its size
/// on the wire in the lower sixteen bits, its precedence in the next eight, and above that bits of
/// no use to them. One word, so that one store writes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueuedInfo(u32);

impl QueuedInfo {
    /// The information of a packet of `size` bytes on the wire.
    #[inline(always)]
    #[must_use]
    pub const fn new(size: u16, precedence: u8) -> Self {
        Self(size as u32 | (precedence as u32) << 16)
    }

    /// Size on the wire in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn size(self) -> u16 {
        self.0 as u16
    }

    /// Drop precedence.
    #[inline(always)]
    #[must_use]
    pub const fn precedence(self) -> u8 {
        (self.0 >> 16) as u8
    }
}

/// The bits of a slot.
const SLOT: u32 = (1 << 24) - 1;
/// The bits of a DSCP.
const DSCP: u32 = 0b11_1111 << 24;
/// The bits that tell apart the kinds whose flag is [`REQUEST`]; not in the digest.
const REQUEST_KIND: u32 = 0b11 << 30;
const POLL: u32 = 1 << 30;
const SYN: u32 = 2 << 30;

const ECN: u8 = 0b11;
const FEEDBACK: u8 = 1 << 2;
const ECE: u8 = 1 << 3;
/// Of data, which echoes nothing.
const PUSHED: u8 = ECE;
const CWR: u8 = 1 << 4;
const RETRANSMISSION: u8 = 1 << 5;
const LAST: u8 = 1 << 6;
/// Of a probe, a poll or a SYN.
const REQUEST: u8 = 1 << 7;
/// Kinds of feedback other than acknowledgements, by bits that mean nothing together otherwise.
const NOTIFICATION: u8 = FEEDBACK | REQUEST;
const REPORT: u8 = FEEDBACK | RETRANSMISSION;
const RESOURCE_CELL: u8 = FEEDBACK | REQUEST | RETRANSMISSION;

/// Top bit of a tag that is a round-trip time: neither a sending time, nor the index and generation
/// of a call, is ever large enough to set it. Nor the next.
const SRTT: u64 = 1 << 63;

/// In the tag of a segment: its sender is in slow start.
const SLOW_START: u64 = 1 << 62;

macro_rules! flag {
    ($(#[$doc:meta])* $get:ident, $(#[$set_doc:meta])* $set:ident, $bit:ident) => {
        $(#[$doc])*
        #[inline]
        #[must_use]
        pub const fn $get(&self) -> bool {
            self.flags & $bit != 0
        }

        $(#[$set_doc])*
        #[inline]
        #[must_use]
        pub const fn $set(mut self, on: bool) -> Self {
            if on { self.flags |= $bit } else { self.flags &= !$bit }
            self
        }
    };
}

impl Packet {
    /// A data packet of `size` bytes of `flow` on `route`.
    #[inline]
    #[must_use]
    pub const fn data(created: Time, flow: FlowId, number: u64, size: u16, route: RouteId) -> Self {
        Self {
            created,
            number,
            tag: 0,
            route,
            slot_and_dscp: 0,
            size,
            precedence: 0,
            flags: 0,
            flow,
        }
    }

    /// Returns the properties that queues and counters keep of it.
    #[inline(always)]
    #[must_use]
    pub const fn queued_info(&self) -> QueuedInfo {
        QueuedInfo(self.size as u32 | (self.precedence as u32) << 16 | (self.flags as u32) << 24)
    }

    /// Size on the wire.
    #[inline]
    #[must_use]
    pub const fn wire_size(&self) -> Size {
        Size::from_bytes(self.size as u64)
    }

    /// Its ECN field.
    #[inline]
    #[must_use]
    pub const fn ecn(&self) -> Ecn {
        match self.flags & ECN {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The packet with its ECN field set.
    #[inline]
    #[must_use]
    pub const fn with_ecn(mut self, ecn: Ecn) -> Self {
        self.flags = (self.flags & !ECN) | ecn as u8;
        self
    }

    /// Returns true if it may be marked instead of dropped.
    #[inline]
    #[must_use]
    pub const fn is_ecn_capable(&self) -> bool {
        self.flags & ECN != 0
    }

    /// Its PCN state; `None` for traffic that is not PCN-capable (RFC 6660, section 4).
    #[inline]
    #[must_use]
    pub const fn pcn(&self) -> Option<PcnMark> {
        match self.ecn() {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(PcnMark::Unmarked),
            Ecn::Ect1 => Some(PcnMark::Threshold),
            Ecn::Ce => Some(PcnMark::Excess),
        }
    }

    /// The packet as PCN traffic in state `mark`.
    #[inline]
    #[must_use]
    pub const fn with_pcn(self, mark: PcnMark) -> Self {
        self.with_ecn(match mark {
            PcnMark::Unmarked => Ecn::Ect0,
            PcnMark::Threshold => Ecn::Ect1,
            PcnMark::Excess => Ecn::Ce,
        })
    }

    /// The packet with a precedence.
    #[inline]
    #[must_use]
    pub const fn with_precedence(mut self, precedence: u8) -> Self {
        self.precedence = precedence;
        self
    }

    /// The packet with class and colour.
    #[inline]
    #[must_use]
    pub const fn with_marking(mut self, marking: Marking) -> Self {
        self.precedence = marking.precedence;
        self.set_dscp(marking.dscp);
        self
    }

    /// Differentiated services codepoint, 0 to 63 (RFC 2474): the class for schedulers.
    #[inline]
    #[must_use]
    pub const fn dscp(&self) -> u8 {
        ((self.slot_and_dscp & DSCP) >> 24) as u8
    }

    /// Set its DSCP, of which the lower six bits count.
    #[inline]
    pub const fn set_dscp(&mut self, dscp: u8) {
        self.slot_and_dscp = self.slot_and_dscp & !DSCP | (dscp as u32) << 24 & DSCP;
    }

    /// ACK: the slot in which its SACK blocks and its counters of marks are stored. See
    /// [`crate::SackBlocks`]. A report stores missing frames there, or packets that arrived.
    #[inline]
    #[must_use]
    pub const fn sack_slot(&self) -> SackSlot {
        SackSlot::of_number(self.slot_and_dscp & SLOT)
    }

    /// Set the slot of its SACK blocks.
    #[inline]
    pub const fn set_sack_slot(&mut self, slot: SackSlot) {
        self.slot_and_dscp = self.slot_and_dscp & !SLOT | slot.number() as u32;
    }

    /// The data packet with its sender's smoothed round-trip time, for conditioners that adapt to
    /// it.
    #[inline]
    #[must_use]
    pub const fn with_srtt(mut self, srtt: Span) -> Self {
        self.tag = SRTT | srtt.ps();
        self
    }

    /// The data packet of a sender in slow start, for conditioners that go by it; said last.
    #[inline]
    #[must_use]
    pub const fn in_slow_start(mut self) -> Self {
        self.tag |= SLOW_START;
        self
    }

    /// Returns true if its sender reports that it is in slow start.
    #[inline]
    #[must_use]
    pub const fn is_in_slow_start(&self) -> bool {
        !self.is_feedback() && self.tag & SLOW_START != 0
    }

    /// The smoothed round-trip time of its sender; `None` where the sender does not report or does
    /// not know it, and for acknowledgements and packets of calls.
    #[inline]
    #[must_use]
    pub const fn srtt(&self) -> Option<Span> {
        if self.is_feedback() || self.tag & SRTT == 0 {
            return None;
        }
        Some(Span::from_ps(self.tag & !(SRTT | SLOW_START)))
    }

    /// Returns its kind.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> PacketKind {
        match self.flags & (FEEDBACK | REQUEST | RETRANSMISSION) {
            FEEDBACK => PacketKind::Ack,
            NOTIFICATION => PacketKind::Notification,
            REPORT => PacketKind::Report,
            RESOURCE_CELL => PacketKind::ResourceCell,
            data if data & REQUEST != 0 => match self.slot_and_dscp & REQUEST_KIND {
                POLL => PacketKind::Poll,
                SYN => PacketKind::Syn,
                _ => PacketKind::Probe,
            },
            _ => PacketKind::Data,
        }
    }

    /// The packet as one of `kind`, not a retransmission.
    #[inline]
    #[must_use]
    pub const fn with_kind(mut self, kind: PacketKind) -> Self {
        let (bits, request) = match kind {
            PacketKind::Data => (0, 0),
            PacketKind::Probe => (REQUEST, 0),
            PacketKind::Poll => (REQUEST, POLL),
            PacketKind::Syn => (REQUEST, SYN),
            PacketKind::Ack => (FEEDBACK, 0),
            PacketKind::Notification => (NOTIFICATION, 0),
            PacketKind::Report => (REPORT, 0),
            PacketKind::ResourceCell => (RESOURCE_CELL, 0),
        };
        self.slot_and_dscp = self.slot_and_dscp & !REQUEST_KIND | request;
        self.flags = self.flags & !(FEEDBACK | REQUEST | RETRANSMISSION) | bits;
        self
    }

    /// Returns true if it is neither [data nor a request](PacketKind) of its flow, but goes back to
    /// a source or steers one: such packets are counted apart.
    #[inline]
    #[must_use]
    pub const fn is_feedback(&self) -> bool {
        self.flags & FEEDBACK != 0
    }

    /// Returns true if it is a [probe](PacketKind::Probe) of a call.
    #[inline]
    #[must_use]
    pub const fn is_probe(&self) -> bool {
        self.is_request(0)
    }

    /// Returns true if it is a [poll](PacketKind::Poll) by a source of frames.
    #[inline]
    #[must_use]
    pub const fn is_poll(&self) -> bool {
        self.is_request(POLL)
    }

    /// Returns true if it is a [SYN](PacketKind::Syn).
    #[inline]
    #[must_use]
    pub const fn is_syn(&self) -> bool {
        self.is_request(SYN)
    }

    #[inline]
    const fn is_request(&self, kind: u32) -> bool {
        self.flags & (FEEDBACK | REQUEST) == REQUEST && self.slot_and_dscp & REQUEST_KIND == kind
    }

    /// Returns true if it is data sent again.
    #[inline]
    #[must_use]
    pub const fn is_retransmission(&self) -> bool {
        self.flags & (FEEDBACK | RETRANSMISSION) == RETRANSMISSION
    }

    /// The data packet as a retransmission.
    #[inline]
    #[must_use]
    pub const fn as_retransmission(mut self) -> Self {
        self.flags |= RETRANSMISSION;
        self
    }

    /// The acknowledgement with the sending time of the packet that it answers (RFC 7323).
    #[inline]
    #[must_use]
    pub const fn with_timestamp_echo(mut self, created: Time) -> Self {
        self.tag = created.ps();
        self
    }

    /// Of an acknowledgement: when the packet that it answers was sent (RFC 7323).
    #[inline]
    #[must_use]
    pub const fn timestamp_echo(&self) -> Time {
        Time::from_ps(self.tag)
    }

    /// Of an acknowledgement with accurate ECN feedback: the ACE field, 0 to 7 (RFC 9768, section
    /// 3.2.2). It takes the place of ECN-Echo, of CWR and of the flag AE, for which the bit of
    /// [`Packet::is_last`] stands: an acknowledgement without data has no use for that.
    #[inline]
    #[must_use]
    pub const fn ace(&self) -> u8 {
        (self.flags & LAST) >> 4 | (self.flags & (ECE | CWR)) >> 3
    }

    /// The acknowledgement with the lower three bits of `count` as its ACE field.
    #[inline]
    #[must_use]
    pub const fn with_ace(mut self, count: u8) -> Self {
        let bits = (count & 0b100) << 4 | (count & 0b011) << 3;
        self.flags = self.flags & !(LAST | ECE | CWR) | bits;
        self
    }

    /// All one-bit and two-bit fields together, for the digest and for traces.
    #[inline]
    #[must_use]
    pub const fn flag_bits(&self) -> u8 {
        self.flags
    }

    /// Returns true if it is an acknowledgement with ECN-Echo (RFC 3168, section 6.1).
    #[inline]
    #[must_use]
    pub const fn ece(&self) -> bool {
        self.flags & (FEEDBACK | ECE) == FEEDBACK | ECE
    }

    /// Returns true if it is data that its receiver is to hand on at once (TCP's PSH).
    #[inline]
    #[must_use]
    pub const fn is_pushed(&self) -> bool {
        self.flags & (FEEDBACK | PUSHED) == PUSHED
    }

    /// The acknowledgement with ECN-Echo set (or not).
    #[inline]
    #[must_use]
    pub const fn with_ece(mut self, on: bool) -> Self {
        if on {
            self.flags |= ECE
        } else {
            self.flags &= !ECE
        }
        self
    }

    /// The data packet as one that is pushed.
    #[inline]
    #[must_use]
    pub const fn as_pushed(mut self) -> Self {
        self.flags |= PUSHED;
        self
    }

    flag!(
        /// Congestion Window Reduced of the TCP header (RFC 3168, section 6.1).
        cwr,
        /// The packet with CWR set (or not).
        with_cwr,
        CWR
    );
    flag!(
        /// Returns true if it carries the last data of a finite transfer (TCP's PSH), or of a
        /// frame.
        is_last,
        /// The packet as the last of a transfer, or of a frame (or not).
        as_last,
        LAST
    );
}

impl Message for Packet {
    const BLANK: Self = Self::data(Time::ZERO, FlowId::new(0), 0, 0, RouteId::new(0));

    #[inline(always)]
    fn received(&self, at: Time, digest: &mut Digest) {
        let header = u64::from(self.size)
            | u64::from(self.precedence) << 16
            | u64::from(self.flag_bits()) << 24
            | u64::from(self.flow.number()) << 32;
        digest.take_in(at.ps(), self.number.rotate_left(32) ^ header ^ self.tag.rotate_left(16));
    }
}

#[cfg(test)]
mod tests;
