//! Data beside a packet, which has no room for them: SACK blocks and ECN counters of an
//! acknowledgement, and the bytes of a datagram of a real protocol stack.

use std::net::SocketAddr;

/// SACK blocks of an acknowledgement (RFC 2018): half-open ranges of segment numbers, the most
/// recently changed first; and its AccECN option, if it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(u64, u64); 4],
    count: u8,
    ecn: Option<EcnCounts>,
}

/// The AccECN option of an acknowledgement (RFC 9768, section 3.2.3): the lower 24 bits of what the
/// receiver has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnCounts {
    /// Bytes of data that arrived as ECT(0) (EE0B).
    pub ect0: u32,
    /// Bytes of data that arrived marked (ECEB).
    pub ce: u32,
    /// Bytes of data that arrived as ECT(1) (EE1B).
    pub ect1: u32,
}

impl SackBlocks {
    /// Append a block; ignored when there is no room.
    pub fn push(&mut self, first: u64, end: u64) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (first, end);
            self.count += 1;
        }
    }

    /// The AccECN option beside the blocks.
    #[must_use]
    pub fn ecn(&self) -> Option<EcnCounts> {
        self.ecn
    }

    /// The blocks with an AccECN option.
    #[must_use]
    pub fn with_ecn(mut self, counts: EcnCounts) -> Self {
        self.ecn = Some(counts);
        self
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Bytes that a protocol stack wrote into a datagram, and its addresses. No digest and no law sees
/// them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    /// The address that it is sent from.
    pub from: SocketAddr,
    /// The address that it is sent to.
    pub to: SocketAddr,
    /// The bytes, without headers of UDP and IP.
    pub bytes: Vec<u8>,
}

/// Place in a [`SackTable`] of the SACK blocks of an acknowledgement, or of a payload. 24 bits, so
/// that a packet has room for its DSCP beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackSlot(u32);

impl SackSlot {
    /// No blocks.
    pub const NONE: Self = Self(0);

    /// Slot `number`, from 1 on; `None` beyond 2^24 - 1.
    #[inline]
    #[must_use]
    pub const fn new(number: usize) -> Option<Self> {
        if number >> 24 != 0 {
            return None;
        }
        Some(Self(number as u32))
    }

    /// The slot of a number below 2^24.
    #[inline]
    pub(crate) const fn of_number(number: u32) -> Self {
        Self(number)
    }

    /// Its number, 0 for none.
    #[inline]
    #[must_use]
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// Returns true if it stands for no blocks.
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.number() == 0
    }
}

/// The SACK blocks of acknowledgements in flight, and the payloads of datagrams, by the slot in
/// [`crate::Packet::sack_slot`].
#[derive(Default)]
pub struct SackTable {
    blocks: Vec<SackBlocks>,
    free: Vec<SackSlot>,
    /// Payloads by slot, up to the last one that had any: empty where no stack is real.
    payloads: Vec<Option<Payload>>,
}

impl SackTable {
    /// Store the blocks of an acknowledgement. Returns their slot. Where 2^24 - 1 acknowledgements
    /// with blocks are in flight, a further one goes without: blocks are advisory (RFC 2018,
    /// section 8).
    pub fn store(&mut self, blocks: SackBlocks) -> SackSlot {
        if let Some(slot) = self.free.pop() {
            self.blocks[slot.number() - 1] = blocks;
            return slot;
        }
        let Some(slot) = SackSlot::new(self.blocks.len() + 1) else { return SackSlot::NONE };
        self.blocks.push(blocks);
        slot
    }

    /// The blocks at `slot`, of an acknowledgement on its way.
    #[must_use]
    pub fn get(&self, slot: SackSlot) -> SackBlocks {
        if slot.is_none() { SackBlocks::default() } else { self.blocks[slot.number() - 1] }
    }

    /// Take the blocks of an acknowledgement that has arrived, and free their slot.
    #[inline]
    pub fn take(&mut self, slot: SackSlot) -> SackBlocks {
        if slot.is_none() {
            return SackBlocks::default();
        }
        self.free(slot);
        self.blocks[slot.number() - 1]
    }

    /// The slot of a copy of what is at `slot`, for a duplicate of a packet.
    pub fn copy(&mut self, slot: SackSlot) -> SackSlot {
        if slot.is_none() {
            return slot;
        }
        match self.payload(slot).cloned() {
            Some(payload) => self.store_payload(payload).unwrap_or_default(),
            None => self.store(self.blocks[slot.number() - 1]),
        }
    }

    /// Store the payload of a datagram. Returns its slot; `None` where 2^24 - 1 packets with slots
    /// are in flight.
    pub fn store_payload(&mut self, payload: Payload) -> Option<SackSlot> {
        let slot = self.store(SackBlocks::default());
        let place = slot.number().checked_sub(1)?;
        if place >= self.payloads.len() {
            self.payloads.resize(place + 1, None);
        }
        self.payloads[place] = Some(payload);
        Some(slot)
    }

    /// The payload at `slot`, of a datagram on its way; `None` if the packet has none.
    #[must_use]
    pub fn payload(&self, slot: SackSlot) -> Option<&Payload> {
        self.payloads.get(slot.number().checked_sub(1)?)?.as_ref()
    }

    /// Take the payload of a datagram that has arrived, and free its slot; `None` if it has none.
    pub fn take_payload(&mut self, slot: SackSlot) -> Option<Payload> {
        let payload = self.payloads.get_mut(slot.number().checked_sub(1)?)?.take()?;
        self.free.push(slot);
        Some(payload)
    }

    /// Free the slot of a packet that was dropped.
    pub(crate) fn free(&mut self, slot: SackSlot) {
        if let Some(payload) = self.payloads.get_mut(slot.number() - 1) {
            *payload = None;
        }
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(first: u64) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        blocks.push(first, first + 2);
        blocks
    }

    /// An acknowledgement has the four blocks that were added first, the most that fit into the
    /// options of a TCP header (RFC 2018, section 3).
    #[test]
    fn an_acknowledgement_has_at_most_four_blocks() {
        let mut blocks = SackBlocks::default();
        assert_eq!(blocks.as_slice(), []);
        (1..=5).for_each(|first| blocks.push(10 * first, 10 * first + 1));
        assert_eq!(blocks.as_slice(), [(10, 11), (20, 21), (30, 31), (40, 41)]);
    }

    /// A slot holds what was stored in it until it is taken or freed, and then is used again:
    /// memory does not grow with each acknowledgement.
    #[test]
    fn slots_hold_what_was_stored_until_it_is_taken() {
        let mut table = SackTable::default();
        let slots = [1, 5, 9].map(|first| table.store(blocks(first)));
        assert_eq!(slots.map(SackSlot::number), [1, 2, 3]);
        assert_eq!(table.take(SackSlot::NONE), SackBlocks::default());
        assert_eq!(table.take(slots[1]), blocks(5));
        // The slot is used again, and so is that of an acknowledgement that was dropped.
        assert_eq!(table.store(blocks(20)), slots[1]);
        table.free(slots[0]);
        let [again, fourth] = [30, 40].map(|first| table.store(blocks(first)));
        assert_eq!((again, fourth.number()), (slots[0], 4));
        let taken = [slots[0], slots[1], slots[2], fourth].map(|slot| table.take(slot));
        assert_eq!(taken, [blocks(30), blocks(20), blocks(9), blocks(40)]);
    }

    /// A payload lies at its slot until its packet has arrived or was dropped, and a duplicate of
    /// the packet has a copy: what a stack reads is what another wrote, whatever happened to
    /// packets in between, and memory does not grow with each datagram.
    #[test]
    fn payloads_lie_at_their_slots_until_their_packets_end() {
        let address = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let payload = |byte| Payload { from: address(1), to: address(2), bytes: vec![byte; 3] };
        let mut table = SackTable::default();
        let ack = table.store(blocks(1));
        let slot = table.store_payload(payload(7)).unwrap();
        let copy = table.copy(slot);
        assert_eq!(table.payload(ack), None);
        assert_eq!(table.take_payload(slot), Some(payload(7)));
        assert_eq!(table.take_payload(slot), None, "it was taken");
        assert_eq!(table.payload(copy), Some(&payload(7)));
        table.free(copy);
        // Both slots are used again, and hold nothing of before.
        let again = [blocks(3), blocks(5)].map(|blocks| table.store(blocks));
        assert_eq!(again.map(|slot| table.payload(slot).is_none()), [true; 2]);
        assert_eq!((table.blocks.len(), table.take(ack)), (3, blocks(1)));
    }

    /// A full table stores no more: with 2^24 - 1 acknowledgements in flight, the next goes without
    /// blocks, until one has arrived.
    #[test]
    fn a_full_table_stores_no_more() {
        let most = (1 << 24) - 1;
        let mut table = SackTable::default();
        table.blocks.resize(most - 1, SackBlocks::default());
        let last = table.store(blocks(1));
        assert_eq!(last.number(), most);
        assert_eq!(table.store(blocks(3)), SackSlot::NONE);
        assert_eq!((table.take(last), table.store(blocks(5))), (blocks(1), last));
        assert_eq!(SackSlot::new(1 << 24), None);
    }
}
