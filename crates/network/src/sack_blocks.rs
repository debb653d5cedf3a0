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

/// The SACK blocks of acknowledgements in flight, by the slot in [`crate::Packet::sack_slot`]; slot 0
/// stands for none.
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

    /// Free the slot of an acknowledgement that was dropped.
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }
}
