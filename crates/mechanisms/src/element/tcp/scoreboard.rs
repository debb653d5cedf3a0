//! State of the segments above the cumulative acknowledgement as a sender knows it (RFC 6675).

use forebay_network::SackBlocks;

use super::prr::Prr;
use super::ranges::Ranges;

/// The scoreboard of RFC 6675, in segments. Numbers that the RFC gives as "the highest octet" are
/// kept here as the next one: `una` is HighACK + 1, `max` is HighData + 1, and so on.
///
/// All segments but the last of a write carry one SMSS, so "more than (DupThresh - 1) * SMSS bytes
/// above" and "at least DupThresh segments above" are the same, and the other condition of IsLost
/// (DupThresh discontiguous ranges above) implies it. What pipe is in bytes the sender says, which
/// knows the short segments.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: Ranges,
    /// The blocks of the last acknowledgement that had any: nothing that they report is news.
    seen: SackBlocks,
    /// HighRxt + 1.
    high_rxt: u64,
    /// SACKed segments below `high_rxt`.
    below: u64,
    /// RescueRxt + 1.
    rescue: u64,
    /// Proportional rate reduction in this recovery.
    pub(super) prr: Prr,
}

/// Choice of NextSeg.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextSegment {
    /// Retransmit this segment (rules 1 and 3).
    Hole(u64),
    /// Send a segment never sent before (rule 2).
    New,
    /// Retransmit this segment without moving HighRxt (rule 4).
    Rescue(u64),
}

impl Scoreboard {
    /// Update(): note SACK blocks. How many segments are news.
    pub fn update(&mut self, blocks: &SackBlocks, una: u64, max: u64) -> u64 {
        let mut news = 0;
        for block in blocks.as_slice() {
            if self.seen.as_slice().contains(block) {
                continue;
            }
            let (first, end) = (block.0.max(una), block.1.min(max));
            if first < end {
                let (fresh, below) = self.sacked.insert(first, end, self.high_rxt);
                news += fresh;
                self.below += below;
            }
        }
        self.seen = *blocks;
        news
    }

    /// The cumulative acknowledgement moved to `una`.
    pub fn advance(&mut self, una: u64) {
        self.below -= self.sacked.remove_below(una, self.high_rxt);
    }

    /// Segments reported by SACK.
    pub(super) fn ranges(&self) -> &Ranges {
        &self.sacked
    }

    /// Returns true if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Returns the number of segments that are SACKed.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked.total()
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.seen = SackBlocks::default();
        self.high_rxt = 0;
        self.below = 0;
        self.rescue = 0;
        self.prr = Prr::default();
    }

    /// Set HighRxt so that nothing counts as retransmitted. What lies at `una` is never SACKed.
    pub fn forget_retransmissions(&mut self, una: u64) {
        self.high_rxt = una;
        self.below = 0;
    }

    /// Recovery begins with the retransmission of the segment at `una`.
    pub fn enter(&mut self, una: u64) {
        self.forget_retransmissions(una);
        self.high_rxt = una + 1;
        self.rescue = una + 1;
    }

    /// After a timeout: what lies below `nxt` counts as sent again.
    pub fn resume(&mut self, una: u64, nxt: u64) {
        self.below = 0;
        self.high_rxt = nxt;
        debug_assert!(self.sacked.is_empty() || nxt <= una + 1);
    }

    /// Segment `number`, the first hole at or above HighRxt, was retransmitted.
    pub fn retransmitted(&mut self, number: u64, una: u64) {
        // What was skipped on the way to the hole is SACKed.
        self.below += number - self.high_rxt.max(una);
        self.high_rxt = number + 1;
    }

    /// The rescue retransmission of this recovery is spent: RescueRxt is `recovery_point`.
    pub fn rescued(&mut self, recovery_point: u64) {
        self.rescue = recovery_point;
    }

    /// The first segment from `number` on that was not SACKed.
    pub fn hole_from(&self, number: u64) -> u64 {
        self.sacked.gap_from(number)
    }

    /// Every unSACKed segment below this one satisfies IsLost.
    pub fn lost_below(&self, threshold: u64) -> u64 {
        self.sacked.nth_highest(threshold).unwrap_or(0)
    }

    /// Retransmitted segments that were not SACKed: all of pipe that lies below HighRxt, once.
    pub fn resent(&self, una: u64) -> u64 {
        self.high_rxt.saturating_sub(una) - self.below
    }

    /// SetPipe(): segments thought to be in the network.
    pub fn pipe(&self, una: u64, max: u64, threshold: u64) -> u64 {
        let not_lost = match self.sacked.nth_highest(threshold) {
            // From the threshold-th highest SACKed segment up, that many are SACKed.
            Some(lowest) => max - lowest - threshold,
            None => max - una - self.sacked.total(),
        };
        not_lost + self.resent(una)
    }

    /// Returns the number of times that SetPipe() counts segment `number`, which is outstanding: as
    /// not lost, and as retransmitted.
    pub(super) fn times_in_pipe(&self, number: u64, threshold: u64) -> u64 {
        if self.sacked.holding(number).is_some() {
            return 0;
        }
        u64::from(number >= self.lost_below(threshold)) + u64::from(number < self.high_rxt)
    }

    /// Returns true if [`Scoreboard::resent`] counts segment `number`, which is outstanding.
    pub(super) fn is_resent(&self, number: u64) -> bool {
        number < self.high_rxt && self.sacked.holding(number).is_none()
    }

    /// NextSeg(): what to send next; `new` tells whether new data may be sent.
    pub fn next_segment(
        &self,
        una: u64,
        max: u64,
        threshold: u64,
        new: bool,
    ) -> Option<NextSegment> {
        let highest = self.sacked.last().map_or(0, |range| range.1);
        let hole = self.hole_from(self.high_rxt.max(una));
        if hole < highest && hole < self.lost_below(threshold) {
            return Some(NextSegment::Hole(hole));
        }
        if new {
            return Some(NextSegment::New);
        }
        if hole < highest {
            return Some(NextSegment::Hole(hole));
        }
        let top = match self.sacked.last() {
            Some((first, end)) if end == max => first - 1,
            _ => max - 1,
        };
        (una > self.rescue && una < max).then_some(NextSegment::Rescue(top))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sack(scoreboard: &mut Scoreboard, numbers: &[u64], una: u64, max: u64) -> u64 {
        numbers
            .iter()
            .map(|n| {
                let mut blocks = SackBlocks::default();
                blocks.push(*n, n + 1);
                scoreboard.update(&blocks, una, max)
            })
            .sum()
    }

    /// Pipe counts what is neither lost nor arrived (RFC 6675, section 4): segments 1..10 sent,
    /// HighACK 0, {3, 4, 5} SACKed. 1 and 2 have three SACKed segments above and are lost; 6..10
    /// are not: pipe = 5. Retransmitting 1 puts it back: 6. With 6 and 7 SACKed, 8..10 and the
    /// retransmission remain: 4, and the next segment is 2.
    #[test]
    fn pipe_counts_what_is_neither_lost_nor_arrived() {
        let mut scoreboard = Scoreboard::default();
        assert_eq!(sack(&mut scoreboard, &[3, 4, 5], 1, 11), 3);
        assert_eq!(scoreboard.lost_below(3), 3);
        assert_eq!(scoreboard.pipe(1, 11, 3), 5);
        scoreboard.enter(1);
        assert_eq!(scoreboard.pipe(1, 11, 3), 6);
        assert_eq!(sack(&mut scoreboard, &[6, 7], 1, 11), 2);
        assert_eq!(scoreboard.pipe(1, 11, 3), 4);
        assert_eq!(scoreboard.next_segment(1, 11, 3, true), Some(NextSegment::Hole(2)));
        scoreboard.retransmitted(2, 1);
        assert_eq!(scoreboard.pipe(1, 11, 3), 5);
        // Repeated blocks are no news.
        assert_eq!(sack(&mut scoreboard, &[3, 7], 1, 11), 0);
    }

    /// The next segment follows the rules of RFC 6675's NextSeg in order: lost holes first, then
    /// new data, then holes that may only be late, then one rescue of the highest outstanding
    /// segment.
    #[test]
    fn the_next_segment_follows_the_rules_in_order() {
        let mut scoreboard = Scoreboard::default();
        // 1..10 sent; 2, 3, 4, 6 and 8 arrived: 1 and 5 have three above only if counted from 4
        // down.
        sack(&mut scoreboard, &[2, 3, 4, 6, 8], 1, 11);
        // The third highest SACKed segment is 4: only 1 is lost, and it has been retransmitted.
        scoreboard.enter(1);
        assert_eq!(scoreboard.lost_below(3), 4);
        assert_eq!(scoreboard.next_segment(1, 11, 3, true), Some(NextSegment::New));
        assert_eq!(scoreboard.next_segment(1, 11, 3, false), Some(NextSegment::Hole(5)));
        scoreboard.retransmitted(5, 1);
        assert_eq!(scoreboard.next_segment(1, 11, 3, false), Some(NextSegment::Hole(7)));
        scoreboard.retransmitted(7, 1);
        // 9 and 10 lie above every SACKed segment: only the rescue reaches them, and only once the
        // cumulative acknowledgement has passed the segment retransmitted first.
        assert_eq!(scoreboard.next_segment(1, 11, 3, false), None);
        scoreboard.advance(9);
        assert_eq!(scoreboard.next_segment(9, 11, 3, false), Some(NextSegment::Rescue(10)));
        scoreboard.rescued(11);
        assert_eq!(scoreboard.next_segment(9, 11, 3, false), None);
    }

    /// The incremental counts agree with their definition: pipe recomputed from RFC 6675's loop
    /// over all segments after every step of a long random episode.
    #[test]
    fn the_counts_agree_with_the_definition() {
        let mut stream = forebay_kernel::Streams::new(5, 0).named("scoreboard");
        let (mut scoreboard, mut una, mut max) = (Scoreboard::default(), 0u64, 40u64);
        let mut arrived = vec![false; 40];
        for _ in 0..20_000 {
            match stream.below(4) {
                0 => {
                    arrived.push(false);
                    max += 1;
                }
                1 => {
                    let n = una + 1 + stream.below(max - una);
                    if n < max {
                        arrived[n as usize] = true;
                        sack(&mut scoreboard, &[n], una, max);
                    }
                }
                2 => {
                    if let Some(NextSegment::Hole(n)) = scoreboard.next_segment(una, max, 3, false)
                    {
                        scoreboard.retransmitted(n, una);
                    }
                }
                _ => {
                    if max - una > 30 {
                        una += 1 + stream.below(5);
                        while una < max && arrived[una as usize] {
                            una += 1;
                        }
                        scoreboard.advance(una);
                    }
                }
            }
            let mut pipe = 0;
            for n in una..max {
                let above = arrived[n as usize + 1..].iter().filter(|a| **a).count();
                if !arrived[n as usize] {
                    pipe += u64::from(above < 3) + u64::from(n < scoreboard.high_rxt);
                }
            }
            assert_eq!(scoreboard.pipe(una, max, 3), pipe);
        }
    }
}
