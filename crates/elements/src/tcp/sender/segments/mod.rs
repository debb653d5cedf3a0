//! The segments that a sender has outstanding: one record of each.

mod by_number;
mod order;
#[cfg(test)]
mod tests;

use forebay_network::{LostSegment, RateSample, SackBlocks};
use forebay_units::Time;

use super::rate::{Delivery, Rate, Transmission, Volume};
pub(super) use by_number::ByNumber;

/// State of an outstanding segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Sent, and not known to have arrived or to be lost.
    InFlight,
    /// Reported by SACK.
    Sacked,
    /// Found lost, and not sent again.
    Lost,
    /// Found lost, and sent again.
    Resent,
    /// Sent again though not found lost (RFC 6675, NextSeg, rule 3): it may be in the network
    /// twice, and SetPipe() counts it so.
    Doubled,
}

/// Number of states.
const STATES: usize = 5;

/// Reason for which a segment is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It is new.
    New,
    /// It is lost, however the sender knows.
    Lost,
    /// It may be lost, and the window has room (RFC 6675, NextSeg, rule 3).
    Guess,
    /// It is the highest, and may rescue the end of a recovery (RFC 6675, NextSeg, rule 4). Nothing
    /// that is counted changes.
    Rescue,
    /// It is to elicit an acknowledgement (RFC 8985, section 7). Nothing that is counted changes.
    Probe,
}

/// A segment that was sent and is not acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Time of its last transmission.
    pub sent: Time,
    /// Its bytes of data.
    bytes: u16,
    /// True if it was sent more than once.
    pub repeated: bool,
    /// The low bits of the numbers of the segments sent before and after it, of those in the
    /// network; its own at the ends.
    earlier: u32,
    later: u32,
    state: State,
    /// True if it was counted as delivered, which a receiver that reneges does not undo.
    delivered: bool,
}

impl Segment {
    /// Its last transmission.
    const fn last(&self) -> Transmission {
        Transmission { sent: self.sent, bytes: self.bytes, repeated: self.repeated }
    }

    /// Returns true if the receiver has reported it.
    pub fn is_sacked(&self) -> bool {
        self.state == State::Sacked
    }

    /// Copies of it thought to be in the network (RFC 6675, section 4).
    const fn copies(&self) -> u64 {
        match self.state {
            State::Sacked | State::Lost => 0,
            State::InFlight | State::Resent => 1,
            State::Doubled => 2,
        }
    }
}

/// Bytes and number of the segments in each state.
#[derive(Debug, Default)]
struct Counts {
    volumes: [u64; STATES],
    numbers: [u32; STATES],
}

impl Counts {
    #[inline(always)]
    const fn add(&mut self, state: State, bytes: u16) {
        self.volumes[state as usize] += bytes as u64;
        self.numbers[state as usize] += 1;
    }

    #[inline(always)]
    const fn remove(&mut self, state: State, bytes: u16) {
        self.volumes[state as usize] -= bytes as u64;
        self.numbers[state as usize] -= 1;
    }
}

/// The outstanding segments of a connection, in the order of their numbers and in that of their
/// last transmissions, with all that is known of them. Volumes are in bytes of data.
///
/// A connection of which nothing was lost and whose law takes no samples has none.
#[derive(Debug)]
pub struct Segments {
    /// The segments from `base` on, which is SND.UNA, up to `end`.
    list: ByNumber<Segment>,
    base: u64,
    end: u64,
    counts: Counts,
    /// Bytes found lost so far, in all.
    found: u64,
    /// No segment below this one is in [`State::Lost`].
    lost_from: u64,
    /// The number after the highest SACKed segment.
    highest_sacked: u64,
    /// Segments below this one have enough SACKed ones above them to be lost; SACKed segments from
    /// it on.
    counted_to: u64,
    above: u64,
    /// RescueRxt + 1 (RFC 6675, section 2), and what it becomes by a rescue.
    rescue: u64,
    recovery_point: u64,
    /// If the order of last transmissions is kept; number of the segments in the network, and those
    /// sent first and last of them.
    ordered: bool,
    listed: u64,
    oldest: u64,
    newest: u64,
    /// The blocks of the last acknowledgement that had any: nothing that they report is news.
    seen: SackBlocks,
    delivery: Delivery,
    rate: Option<Box<Rate>>,
}

impl Segments {
    /// No segment, the next being segment `first`; with samples of the delivery rate, if `rated`,
    /// and the order of last transmissions, if `ordered`.
    #[must_use]
    pub fn new(first: u64, rated: bool, ordered: bool) -> Self {
        Self {
            list: ByNumber::new(),
            base: first,
            end: first,
            counts: Counts::default(),
            found: 0,
            lost_from: 0,
            highest_sacked: 0,
            counted_to: first,
            above: 0,
            rescue: 0,
            recovery_point: 0,
            ordered,
            listed: 0,
            oldest: 0,
            newest: 0,
            seen: SackBlocks::default(),
            delivery: Delivery::default(),
            rate: rated.then(|| Box::new(Rate::new())),
        }
    }

    const fn volume(&self, state: State) -> u64 {
        self.counts.volumes[state as usize]
    }

    const fn number_of(&self, state: State) -> u64 {
        self.counts.numbers[state as usize] as u64
    }

    /// Data thought to be in the network (pipe of RFC 6675, section 4): what was sent, but for what
    /// SACK has reported and what was found lost, and what was sent again.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.volume(State::InFlight) + self.volume(State::Resent) + 2 * self.volume(State::Doubled)
    }

    /// The same in segments.
    #[must_use]
    pub const fn segments_in_flight(&self) -> u64 {
        self.number_of(State::InFlight)
            + self.number_of(State::Resent)
            + 2 * self.number_of(State::Doubled)
    }

    /// Returns the number of segments that are SACKed.
    #[must_use]
    pub const fn sacked(&self) -> u64 {
        self.number_of(State::Sacked)
    }

    /// Data found to be lost so far, in all.
    #[must_use]
    pub const fn found_lost(&self) -> u64 {
        self.found
    }

    /// Segments counted as sent again.
    pub(super) const fn resent(&self) -> u64 {
        self.number_of(State::Resent) + self.number_of(State::Doubled)
    }

    /// The same without content, the next segment being segment `first`.
    pub(super) fn begin_at(&mut self, first: u64) {
        let list = std::mem::replace(&mut self.list, ByNumber::new());
        *self = Self { list, ..Self::new(first, self.rate.is_some(), self.ordered) };
    }

    /// Segment `number`, if it is outstanding.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&Segment> {
        (self.base <= number && number < self.end).then(|| &self.list[number])
    }

    /// SACKed segments as half-open ranges.
    pub(super) fn sacked_ranges(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in (self.base..self.end).filter(|number| self.list[*number].is_sacked()) {
            match ranges.last_mut() {
                Some(last) if last.1 == number => last.1 += 1,
                _ => ranges.push((number, number + 1)),
            }
        }
        ranges
    }

    /// Segment `number` with `bytes` of data is sent for `cause`, perhaps again; the next is the
    /// one after the last.
    #[inline(always)]
    pub fn sent(&mut self, number: u64, bytes: u16, cause: Cause, now: Time) {
        if number != self.end {
            self.send_again(number, cause, now);
            return;
        }
        self.counts.add(State::InFlight, bytes);
        if self.rate.is_some() {
            self.stamp(number, self.in_flight() == u64::from(bytes), now);
        }
        let segment = Segment {
            sent: now,
            bytes,
            repeated: false,
            earlier: 0,
            later: 0,
            state: State::InFlight,
            delivered: false,
        };
        self.list.put(self.base, number, segment);
        self.end += 1;
        if self.ordered {
            self.append(number);
        }
    }

    /// Note the state in which segment `number` is sent, which is counted already; `idle`
    /// tells that nothing was in flight before.
    #[inline]
    fn stamp(&mut self, number: u64, idle: bool, now: Time) {
        let volume = Volume { in_flight: self.in_flight(), lost: self.found };
        if let Some(rate) = &mut self.rate {
            rate.sent(self.base, number, volume, &self.delivery, idle, now);
        }
    }

    fn send_again(&mut self, number: u64, cause: Cause, now: Time) {
        let idle = self.in_flight() == 0;
        let Some(segment) = self.get(number) else { return };
        match cause {
            _ if segment.is_sacked() => return,
            Cause::Lost if segment.copies() > 0 => drop(self.lose(number)),
            Cause::Rescue => self.rescue = self.recovery_point,
            Cause::New | Cause::Lost | Cause::Guess | Cause::Probe => {}
        }
        let state = self.list[number].state;
        if state == State::Lost {
            self.change(number, State::Resent);
        } else {
            self.unlink(number);
            if state == State::InFlight && cause == Cause::Guess {
                self.change(number, State::Doubled);
            }
        }
        self.stamp(number, idle, now);
        let segment = &mut self.list[number];
        (segment.sent, segment.repeated) = (now, true);
        if self.ordered {
            self.append(number);
        }
    }

    /// Have segment `number` be in `state`.
    #[inline]
    fn change(&mut self, number: u64, state: State) {
        let segment = &mut self.list[number];
        let before = std::mem::replace(&mut segment.state, state);
        self.counts.remove(before, segment.bytes);
        self.counts.add(state, segment.bytes);
    }

    /// Segment `number`, if it is in the network, is lost. Returns its last transmission then.
    pub fn lose(&mut self, number: u64) -> Option<Transmission> {
        let segment = self.get(number)?;
        if segment.copies() == 0 {
            return None;
        }
        let last = segment.last();
        self.unlink(number);
        self.find_lost(number, State::Lost);
        self.lost_from = self.lost_from.min(number);
        Some(last)
    }

    /// Segment `number` is found lost, and in `state` from now on.
    #[inline]
    fn find_lost(&mut self, number: u64, state: State) {
        self.change(number, state);
        let bytes = self.list[number].bytes;
        self.found += u64::from(bytes);
        if let Some(rate) = &mut self.rate {
            rate.lost(number, bytes, self.found, &self.delivery);
        }
    }

    /// The retransmission timer expired: all that has not arrived is lost.
    pub(super) fn lose_all(&mut self) {
        self.lose_below(u64::MAX);
    }

    /// All below `end` that is in the network is lost.
    pub(super) fn lose_below(&mut self, end: u64) {
        for number in self.base..end.min(self.end) {
            self.lose(number);
        }
    }

    /// Losses turn out to be none: what is lost and was not sent again is in the network. The
    /// SACKed segments above each are counted anew.
    pub(super) fn unmark_lost(&mut self) {
        for number in self.base..self.end {
            if self.list[number].state == State::Lost {
                self.change(number, State::InFlight);
            }
        }
        (self.counted_to, self.above) = (self.base, self.sacked());
        if self.ordered {
            self.order_anew();
        }
    }

    /// Segments below `end` that were sent once and that SACK has reported.
    pub(super) fn originals_sacked_below(&self, end: u64) -> u64 {
        let below = (self.base..end.min(self.end)).map(|number| &self.list[number]);
        below.filter(|it| it.is_sacked() && !it.repeated).count() as u64
    }

    /// Forget what SACK has reported: the receiver might have reneged (RFC 2018, section 8).
    pub(super) fn forget_sacked(&mut self) {
        for number in self.base..self.end {
            if self.list[number].is_sacked() {
                self.change(number, State::Lost);
            }
        }
        (self.above, self.counted_to, self.highest_sacked) = (0, self.base, 0);
        (self.lost_from, self.seen) = (self.base, SackBlocks::default());
    }

    /// Nothing counts as sent again: another recovery may begin (RFC 6675, section 5, step 4).
    pub fn forget_resent(&mut self) {
        if self.resent() == 0 {
            return;
        }
        for number in self.base..self.end {
            match self.list[number].state {
                State::Resent => {
                    self.unlink(number);
                    self.change(number, State::Lost);
                }
                State::Doubled => self.change(number, State::InFlight),
                _ => {}
            }
        }
        self.lost_from = self.base;
    }

    /// Update() of RFC 6675: SACK `blocks` arrive, of which what lies below `from` is acknowledged.
    /// Each segment that they report for the first time is passed to `arrived`; their number is
    /// returned.
    pub fn sack(
        &mut self,
        blocks: &SackBlocks,
        from: u64,
        now: Time,
        mut arrived: impl FnMut(u64, &Segment),
    ) -> u64 {
        let before = self.sacked();
        let (from, max) = (from.max(self.base), self.end);
        for (index, block) in blocks.as_slice().iter().enumerate() {
            let seen = self.seen.as_slice();
            if seen.get(index) == Some(block) {
                continue;
            }
            let (mut number, end) = (block.0.max(from), block.1.min(max));
            if number >= end {
                continue;
            }
            // What a block before it had reported, it has but made longer.
            let known = |seen: &&(u64, u64)| seen.0 <= number && number < seen.1 && seen.1 <= max;
            if let Some(seen) = seen.iter().find(known) {
                number = seen.1;
            }
            (number..end).for_each(|number| self.deliver(number, now, &mut arrived));
            self.highest_sacked = self.highest_sacked.max(end);
        }
        self.seen = *blocks;
        self.sacked() - before
    }

    /// All segments below `una` are acknowledged. Each that had not been reported is passed to
    /// `arrived`; their number is returned.
    pub fn advance(&mut self, una: u64, now: Time, mut arrived: impl FnMut(u64, &Segment)) -> u64 {
        let mut news = 0;
        while self.base < una.min(self.end) {
            let segment = self.list[self.base];
            self.counts.remove(segment.state, segment.bytes);
            if segment.is_sacked() {
                self.above -= u64::from(self.base >= self.counted_to);
            } else {
                news += 1;
                self.arrive(self.base, now, &mut arrived);
            }
            self.base += 1;
        }
        (self.base, self.end) = (self.base.max(una), self.end.max(una));
        self.counted_to = self.counted_to.max(una);
        news
    }

    /// The receiver has segment `number`, unless that is known.
    #[inline]
    pub fn deliver(&mut self, number: u64, now: Time, mut arrived: impl FnMut(u64, &Segment)) {
        if self.get(number).is_none_or(Segment::is_sacked) {
            return;
        }
        self.above += u64::from(number >= self.counted_to);
        self.arrive(number, now, &mut arrived);
        self.change(number, State::Sacked);
        self.list[number].delivered = true;
    }

    /// Segment `number` has arrived, which is news: have loss detection and sampling know.
    #[inline(always)]
    fn arrive(&mut self, number: u64, now: Time, arrived: &mut impl FnMut(u64, &Segment)) {
        let segment = &self.list[number];
        if !segment.delivered {
            arrived(number, segment);
            let newest = self.delivery.note(number, &segment.last());
            if let Some(rate) = &mut self.rate {
                rate.delivered(segment.sent, newest, now);
            }
        }
        if segment.state != State::Lost {
            self.unlink(number);
        }
    }

    /// Find lost what has `threshold` SACKed segments above it (IsLost() of RFC 6675, section 4).
    ///
    /// All segments but the last of a write carry one SMSS, so "more than (DupThresh - 1) * SMSS
    /// bytes above" and "at least DupThresh segments above" are the same, and the other condition
    /// (DupThresh discontiguous ranges above) implies it.
    pub fn lose_by_count(&mut self, threshold: u64) {
        while self.above >= threshold
            && let Some(segment) = self.get(self.counted_to)
        {
            match segment.state {
                State::Sacked if self.above == threshold => return,
                State::Sacked => self.above -= 1,
                State::InFlight => {
                    self.lose(self.counted_to);
                }
                // One copy of two remains.
                State::Doubled => self.find_lost(self.counted_to, State::Resent),
                State::Lost | State::Resent => {}
            }
            self.counted_to += 1;
        }
    }

    /// The lowest segment that is lost and was not sent again.
    #[inline]
    pub fn first_lost(&mut self) -> Option<u64> {
        if self.number_of(State::Lost) == 0 { None } else { self.find_first_lost() }
    }

    fn find_first_lost(&mut self) -> Option<u64> {
        let mut rest = self.lost_from.max(self.base)..self.end;
        let found = rest.find(|number| self.list[*number].state == State::Lost)?;
        self.lost_from = found;
        Some(found)
    }

    /// NextSeg(), rules 3 and 4, of RFC 6675, where nothing is lost and no new data may be sent:
    /// the first hole that was not sent again; else one rescue of the highest segment, once the
    /// cumulative acknowledgement has passed RescueRxt.
    #[must_use]
    pub fn guess(&self) -> Option<(u64, Cause)> {
        let mut holes = self.counted_to.max(self.base)..self.highest_sacked.min(self.end);
        if let Some(hole) = holes.find(|number| self.list[*number].state == State::InFlight) {
            return Some((hole, Cause::Guess));
        }
        if self.base <= self.rescue {
            return None;
        }
        let last = (self.base..self.end).rfind(|number| !self.list[*number].is_sacked())?;
        Some((last, Cause::Rescue))
    }

    /// A recovery begins up to segment `point`: there is one rescue in it, once the first segment
    /// has arrived (RFC 6675, section 5, step 4.3).
    pub const fn begin_recovery(&mut self, point: u64) {
        (self.rescue, self.recovery_point) = (self.base + 1, point);
    }
}

/// Samples, where the law takes them.
impl Segments {
    /// An acknowledgement arrives, if that has not been said since the last sample: `unsent` tells
    /// whether data waits to be sent.
    pub fn begin_sample(&mut self, unsent: bool, cwnd: f64, smss: f64) {
        let in_flight = self.in_flight();
        if self.rate.as_mut().is_some_and(|rate| rate.begin(in_flight, cwnd, smss)) {
            self.check_app_limited(unsent, cwnd);
        }
    }

    /// The connection may send from now on: note if the application limits it.
    pub fn check_app_limited(&mut self, unsent: bool, cwnd: f64) {
        let (in_flight, idle) = (self.in_flight(), !unsent && self.number_of(State::Lost) == 0);
        if let Some(rate) = &mut self.rate {
            rate.check_app_limited(in_flight, &self.delivery, idle, cwnd);
        }
    }

    /// The first of the losses of which the law is still to be notified.
    #[inline]
    pub fn next_loss(&mut self) -> Option<LostSegment> {
        self.rate.as_mut()?.next_loss()
    }

    /// The sample that the present acknowledgement gives, now that all that it tells is known; what
    /// does not come from segments is left out.
    #[inline(always)]
    pub fn sample(&mut self, now: Time) -> RateSample {
        let volume = Volume { in_flight: self.in_flight(), lost: self.found };
        let (mut sample, newest) = self.delivery.sample(volume, now);
        if let Some(rate) = &mut self.rate {
            rate.complete(&mut sample, newest, volume);
        }
        sample
    }
}
