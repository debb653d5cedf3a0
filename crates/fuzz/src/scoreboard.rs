//! The record of segments against RFC 6675's definitions over a set of segments.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use forebay_elements::tcp::segments::{Cause, Segments};
use forebay_network::SackBlocks;
use forebay_units::Time;

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
    let mut pair = Pair::new();
    while let Ok(step) = Step::arbitrary(&mut bytes) {
        pair.step(&step);
        pair.compare();
        if bytes.is_empty() {
            break;
        }
    }
}

/// A record of segments of 1 B each, and what it should know.
struct Pair {
    segments: Segments,
    sacked: BTreeSet<u64>,
    una: u64,
    max: u64,
    /// HighRxt + 1 and RescueRxt + 1.
    high_rxt: u64,
    rescue: u64,
    /// RecoveryPoint + 1.
    point: u64,
}

impl Pair {
    fn new() -> Self {
        let (segments, sacked) = (Segments::new(0, false, false), BTreeSet::new());
        let mut pair = Self { segments, sacked, una: 0, max: 0, high_rxt: 0, rescue: 0, point: 0 };
        pair.send_new(10);
        pair
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::SendNew(count) => self.send_new(u64::from(*count % 16)),
            Step::Sack(blocks) => self.sack(blocks),
            Step::Advance(by) => {
                self.una = (self.una + u64::from(*by % 32)).min(self.max);
                // The receiver acknowledges all that it holds in order.
                while self.sacked.contains(&self.una) {
                    self.una += 1;
                }
                self.sacked = self.sacked.split_off(&self.una);
                self.segments.advance(self.una, Time::ZERO, |_, _| {});
            }
            Step::Retransmit => self.retransmit(),
            Step::Enter if self.una < self.max => {
                self.segments.forget_resent();
                self.segments.begin_recovery(self.max);
                self.high_rxt = self.una;
                (self.rescue, self.point) = (self.una + 1, self.max);
            }
            Step::Enter => {}
            Step::Forget => {
                self.segments.forget_resent();
                self.high_rxt = self.una;
            }
        }
        self.segments.lose_by_count(THRESHOLD);
    }

    fn send_new(&mut self, count: u64) {
        let new = self.max..self.max + count;
        new.for_each(|number| self.segments.sent(number, 1, Cause::New, Time::ZERO));
        self.max += count;
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
        let news = self.segments.sack(&blocks, self.una, Time::ZERO, |_, _| {});
        assert_eq!(news, self.sacked.len() as u64 - before, "news");
    }

    /// NextSeg() without new data.
    fn next(&mut self) -> Option<(u64, Cause)> {
        let lost = self.segments.first_lost().map(|number| (number, Cause::Lost));
        lost.or_else(|| self.segments.guess())
    }

    fn retransmit(&mut self) {
        let Some((number, cause)) = self.next() else { return };
        self.segments.sent(number, 1, cause, Time::ZERO);
        if cause == Cause::Rescue {
            self.rescue = self.point;
        } else {
            self.high_rxt = number + 1;
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

    /// NextSeg: rules 1, 3 and 4 in their order.
    fn next_by_definition(&self) -> Option<(u64, Cause)> {
        let highest = self.sacked.last().copied().unwrap_or(0);
        let from = self.high_rxt.max(self.una);
        let hole = (from..highest).find(|number| self.is_hole(*number));
        if let Some(number) = hole {
            let cause = if self.is_lost(number) { Cause::Lost } else { Cause::Guess };
            return Some((number, cause));
        }
        let top = (self.una..self.max).rev().find(|number| self.is_hole(*number))?;
        (self.una > self.rescue).then_some((top, Cause::Rescue))
    }

    fn compare(&mut self) {
        assert_eq!(self.segments.sacked(), self.sacked.len() as u64);
        assert_eq!(self.segments.in_flight(), self.pipe(), "pipe");
        assert_eq!(self.next(), self.next_by_definition(), "next segment");
    }
}
