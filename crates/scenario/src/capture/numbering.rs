//! Between the segments that the model counts and the bytes that TCP headers count.

/// First byte of each segment of a connection, learnt as the segments are sent: all are full but
/// those that end a write, and a SYN or a FIN takes a number as a byte does. Kept are only the
/// places where a segment is not full.
#[derive(Debug)]
pub(super) struct Numbering {
    mss: i64,
    /// The next segment that was not sent before.
    next: u64,
    /// Shifts of numbers against those of full segments, each with the segment from which on it
    /// holds.
    shifts: Vec<(u64, i64)>,
    /// Sequence number of the last SYN.
    syn: u64,
    /// SYNs of the other side, each of which takes a number there.
    opened: u64,
    /// True if a SYN was sent and no data since.
    opening: bool,
}

impl Numbering {
    /// No segment has been sent. Initial sequence numbers are 0, so the first byte is 1.
    pub(super) fn new(mss: u64, handshake: bool) -> Self {
        let (first, opened) = if handshake { (0, 0) } else { (1, 1) };
        let mss = i64::try_from(mss).expect("a segment fits a packet");
        Self { mss, next: 0, shifts: vec![(0, first)], syn: 0, opened, opening: false }
    }

    /// A SYN is sent, or sent `again`.
    pub(super) fn open(&mut self, again: bool) {
        if !again || self.opened == 0 {
            self.syn = self.byte(self.next);
            self.opened += 1;
            self.shift(1);
        }
        self.opening = true;
    }

    /// Segment `number` with `bytes` of data is sent, and with a FIN if it `closes`.
    pub(super) fn send(&mut self, number: u64, bytes: u64, closes: bool) {
        self.opening = false;
        if number == self.next {
            self.next += 1;
            self.shift(i64::try_from(bytes + u64::from(closes)).unwrap_or(0) - self.mss);
        }
    }

    /// The first byte of segment `number`.
    pub(super) fn byte(&self, number: u64) -> u64 {
        let at = self.shifts.partition_point(|(from, _)| *from <= number);
        let full = (number as i64).wrapping_mul(self.mss);
        full.wrapping_add(self.shifts[at.saturating_sub(1)].1) as u64
    }

    /// Sequence number of the last SYN.
    pub(super) fn syn(&self) -> u64 {
        self.syn
    }

    /// The next byte of the other side, which sends no data.
    pub(super) fn of_peer(&self) -> u64 {
        self.opened
    }

    /// Returns true if an acknowledgement answers a SYN, where nothing else tells: no data is on
    /// its way.
    pub(super) fn is_opening(&self) -> bool {
        self.opening
    }

    fn shift(&mut self, by: i64) {
        let last = self.shifts.last_mut().expect("there is one for the first segment");
        let entry = (self.next, last.1 + by);
        if last.0 == self.next {
            *last = entry;
        } else if by != 0 {
            self.shifts.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sequence numbers follow from the segments that were sent, without gaps or overlaps: with
    /// 1000 B in a full segment the SYN is byte 0, segment 0 begins with 1; segment 1 has 300 B, so
    /// segment 2 begins with 1301; it has no data but a FIN, which is a byte.
    #[test]
    fn numbers_follow_from_what_was_sent() {
        let mut numbering = Numbering::new(1000, true);
        numbering.open(false);
        assert!(numbering.is_opening());
        numbering.send(0, 1000, false);
        numbering.send(1, 300, false);
        numbering.send(0, 1000, false);
        numbering.send(2, 0, true);
        assert!(!numbering.is_opening());
        assert_eq!([0, 1, 2, 3].map(|number| numbering.byte(number)), [1, 1001, 1301, 1302]);
        assert_eq!((numbering.syn(), numbering.of_peer()), (0, 1));
        // A fresh connection continues the numbers: its SYN is the next byte.
        numbering.open(false);
        numbering.open(true);
        assert_eq!((numbering.syn(), numbering.byte(3), numbering.of_peer()), (1302, 1303, 2));
    }

    /// The first byte is number 1 on a connection that exists from the start, as after a SYN.
    #[test]
    fn without_a_handshake_the_first_byte_is_one() {
        let mut numbering = Numbering::new(536, false);
        (0..3).for_each(|number| numbering.send(number, 536, false));
        assert_eq!((numbering.byte(0), numbering.byte(3), numbering.of_peer()), (1, 1609, 1));
    }
}
