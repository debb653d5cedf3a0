//! The SACK scoreboard against RFC 6675's definitions over a set of segments.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use forebay_mechanisms::element::tcp::scoreboard::{NextSegment, Scoreboard};
use forebay_network::SackBlocks;

/// Duplicate acknowledgements that make a loss: DupThresh.
const THRESHOLD: u64 = 3;

#[derive(Arbitrary, Debug)]
enum Step {
    SendNew(u8),
    /// An acknowledgement with up to three blocks, given by offset and length.
    Sack([(u8, u8); 3]),
    /// The cumulative acknowledgement moves.
    Advance(u8),
    Retransmit,
    Enter,
    Forget,
}

/// Pipe, IsLost and NextSeg are those that RFC 6675, sections 4 and 5, defines by loops over all
/// segments.
pub fn scoreboard(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut pair = Pair { max: 10, ..Pair::default() };
    while let Ok(step) = Step::arbitrary(&mut bytes) {
        pair.step(&step);
        pair.compare();
        if bytes.is_empty() {
            break;
        }
    }
}

/// A scoreboard and what it should know.
#[derive(Default)]
struct Pair {
    board: Scoreboard,
    sacked: BTreeSet<u64>,
    una: u64,
    max: u64,
    /// HighRxt + 1 and RescueRxt + 1.
    high_rxt: u64,
    rescue: u64,
}

impl Pair {
    fn step(&mut self, step: &Step) {
        match step {
            Step::SendNew(count) => self.max += u64::from(*count % 16),
            Step::Sack(blocks) => self.sack(blocks),
            Step::Advance(by) => {
                self.una = (self.una + u64::from(*by % 32)).min(self.max);
                // The receiver acknowledges all that it holds in order.
                while self.sacked.contains(&self.una) {
                    self.una += 1;
                }
                self.sacked = self.sacked.split_off(&self.una);
                self.board.advance(self.una);
            }
            Step::Retransmit => self.retransmit(),
            Step::Enter if self.una < self.max => {
                self.board.enter(self.una);
                (self.high_rxt, self.rescue) = (self.una + 1, self.una + 1);
            }
            Step::Enter => {}
            Step::Forget => {
                self.board.forget_retransmissions(self.una);
                self.high_rxt = self.una;
            }
        }
    }

    fn sack(&mut self, offsets: &[(u8, u8); 3]) {
        let mut blocks = SackBlocks::default();
        let before = self.sacked.len() as u64;
        for (offset, length) in offsets {
            // What lies at `una` is what the receiver lacks.
            let first = self.una + 1 + u64::from(*offset % 64);
            let end = (first + u64::from(*length % 16)).min(self.max);
            if first < end {
                blocks.push(first, end);
                self.sacked.extend(first..end);
            }
        }
        let news = self.board.update(&blocks, self.una, self.max);
        assert_eq!(news, self.sacked.len() as u64 - before, "news");
    }

    fn retransmit(&mut self) {
        match self.board.next_segment(self.una, self.max, THRESHOLD, false) {
            Some(NextSegment::Hole(number)) => {
                self.board.retransmitted(number, self.una);
                self.high_rxt = number + 1;
            }
            Some(NextSegment::Rescue(_)) => {
                self.board.rescued(self.max);
                self.rescue = self.max;
            }
            Some(NextSegment::New) | None => {}
        }
    }

    /// IsLost: DupThresh SACKed segments above.
    fn is_lost(&self, number: u64) -> bool {
        self.sacked.range(number + 1..).nth(THRESHOLD as usize - 1).is_some()
    }

    fn is_hole(&self, number: u64) -> bool {
        !self.sacked.contains(&number)
    }

    /// SetPipe, segment by segment.
    fn pipe(&self) -> u64 {
        let holes = (self.una..self.max).filter(|number| self.is_hole(*number));
        holes.map(|n| u64::from(!self.is_lost(n)) + u64::from(n < self.high_rxt)).sum()
    }

    /// NextSeg: rules 1 to 4 in their order.
    fn next_segment(&self, new: bool) -> Option<NextSegment> {
        let highest = self.sacked.last().copied().unwrap_or(0);
        let from = self.high_rxt.max(self.una);
        let hole = (from..highest).find(|number| self.is_hole(*number));
        if let Some(number) = hole.filter(|number| self.is_lost(*number)) {
            return Some(NextSegment::Hole(number));
        }
        if new {
            return Some(NextSegment::New);
        }
        if let Some(number) = hole {
            return Some(NextSegment::Hole(number));
        }
        let top = (self.una..self.max).rev().find(|number| self.is_hole(*number))?;
        (self.una > self.rescue).then_some(NextSegment::Rescue(top))
    }

    fn compare(&self) {
        let (una, max) = (self.una, self.max);
        assert_eq!(self.board.is_empty(), self.sacked.is_empty());
        assert_eq!(self.board.pipe(una, max, THRESHOLD), self.pipe(), "pipe");
        for new in [true, false] {
            let chosen = self.board.next_segment(una, max, THRESHOLD, new);
            assert_eq!(chosen, self.next_segment(new), "next segment, new {new}");
        }
        let lost = (una..max).filter(|number| self.is_hole(*number) && self.is_lost(*number));
        let below = self.board.lost_below(THRESHOLD);
        let told = (una..below.max(una)).filter(|number| self.is_hole(*number));
        assert!(lost.eq(told), "lost");
    }
}
