//! SACK blocks that travel beside an acknowledgement, as a packet has no room for them.

/// SACK blocks of an acknowledgement (RFC 2018): half-open ranges of segment numbers, the most
/// recently changed first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(u64, u64); 4],
    count: u8,
}

impl SackBlocks {
    /// Append a block; ignored when there is no room.
    pub fn push(&mut self, first: u64, end: u64) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (first, end);
            self.count += 1;
        }
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The SACK blocks of acknowledgements in flight, by the slot in [`crate::Packet::sack_slot`]; slot
/// 0 stands for none.
#[derive(Default)]
pub struct SackTable {
    blocks: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackTable {
    /// Store the blocks of an acknowledgement. Returns their slot.
    ///
    /// # Panics
    /// If 2^32 acknowledgements are in flight.
    pub fn store(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.blocks[slot as usize - 1] = blocks;
            return slot;
        }
        self.blocks.push(blocks);
        u32::try_from(self.blocks.len()).expect("fewer than 2^32 acknowledgements are in flight")
    }

    /// Take the blocks of an acknowledgement that has arrived, and free their slot.
    #[inline]
    pub fn take(&mut self, slot: u32) -> SackBlocks {
        if slot == 0 {
            return SackBlocks::default();
        }
        self.free(slot);
        self.blocks[slot as usize - 1]
    }

    /// The slot of a copy of the blocks at `slot`, for a duplicate of an acknowledgement.
    pub fn copy(&mut self, slot: u32) -> u32 {
        if slot == 0 { 0 } else { self.store(self.blocks[slot as usize - 1]) }
    }

    /// Free the slot of an acknowledgement that was dropped.
    pub(crate) fn free(&mut self, slot: u32) {
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

    /// An acknowledgement would carry more blocks than fit into the options of a TCP header: four
    /// (RFC 2018, section 3); or of other ones than the receiver changed last.
    #[test]
    fn an_acknowledgement_has_at_most_four_blocks() {
        let mut blocks = SackBlocks::default();
        assert_eq!(blocks.as_slice(), []);
        (1..=5).for_each(|first| blocks.push(10 * first, 10 * first + 1));
        assert_eq!(blocks.as_slice(), [(10, 11), (20, 21), (30, 31), (40, 41)]);
    }

    /// A sender would be told what another receiver has, or memory grow with each acknowledgement.
    #[test]
    fn slots_hold_what_was_stored_until_it_is_taken() {
        let mut table = SackTable::default();
        let slots = [1, 5, 9].map(|first| table.store(blocks(first)));
        // Slot 0 stands for none.
        assert_eq!(slots, [1, 2, 3]);
        assert_eq!(table.take(0), SackBlocks::default());
        assert_eq!(table.take(slots[1]), blocks(5));
        // The slot is used again, and so is that of an acknowledgement that was dropped.
        assert_eq!(table.store(blocks(20)), slots[1]);
        table.free(slots[0]);
        assert_eq!([table.store(blocks(30)), table.store(blocks(40))], [slots[0], 4]);
        let taken = [slots[0], slots[1], slots[2], 4].map(|slot| table.take(slot));
        assert_eq!(taken, [blocks(30), blocks(20), blocks(9), blocks(40)]);
    }
}
