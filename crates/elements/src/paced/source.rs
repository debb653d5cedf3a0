//! A paced source: what it is sending, how fast, and what is due next.

use forebay_kernel::Stream;
use forebay_laws::activity::{Activity, Lasts, Phase, Session};
use forebay_laws::pace::{Pace, PaceControl};
use forebay_network::Packet;
use forebay_units::{PS_PER_S, Rate, Span, Time};

use super::PacedCount;
use super::framing::Report;
use super::outbox::{Outbox, Then};

/// A source. The packet that is being filled is sent when it is full; a change of rate stretches
/// or shortens what is left of it.
pub(super) struct Source {
    activity: Box<dyn Activity>,
    pub(super) control: Box<dyn PaceControl>,
    stream: Stream,
    pub(super) phase: Phase,
    /// Times at which the phase began and at which it ends; [`Time::NEVER`] for one that ends by
    /// its volume.
    began: Time,
    pub(super) phase_end: Time,
    /// Packets of the phase that are still to be sent, if it ends by its volume.
    left: Option<u64>,
    pub(super) pace: Pace,
    /// Time at which the packet that is being filled will be full; [`Time::NEVER`] if none is.
    pub(super) full_at: Time,
    /// Time to fill a packet at the present rate.
    gap: Span,
    /// Rest of the begun packet that is to be filled, while nothing is sent.
    rest: f64,
    /// Time for which the timer that counts is set.
    pub(super) armed: Time,
    /// Packets sent, and resource-management cells.
    pub(super) sent: u64,
    pub(super) resource_cells: u64,
    /// The explicit rate heard last, over the peak rate; none yet if not a number.
    pub(super) explicit: f64,
    /// Time up to which it is accounted for in its counters.
    accounted: Time,
    /// Its frames, if it has any.
    pub(super) outbox: Option<Box<Outbox>>,
    /// Time at which it polls, while it has nothing else to send; [`Time::NEVER`] otherwise.
    pub(super) polls_at: Time,
}

/// A source that does nothing.
const IDLE: Phase =
    Phase { rate: Rate::from_bps(0), lasts: Lasts::For(Span::ZERO), session: Session::Idle };

/// The pace between sessions.
const STILL: Pace = Pace { scale: 0.0, at_floor: false, next: Time::NEVER };

impl Source {
    /// A source that begins at `start`.
    pub(super) fn new(
        activity: Box<dyn Activity>,
        control: Box<dyn PaceControl>,
        stream: Stream,
        start: Time,
    ) -> Self {
        Self {
            activity,
            control,
            stream,
            phase: IDLE,
            began: start,
            phase_end: start,
            left: None,
            pace: STILL,
            full_at: Time::NEVER,
            gap: Span::MAX,
            rest: 1.0,
            armed: Time::NEVER,
            sent: 0,
            resource_cells: 0,
            explicit: f64::NAN,
            accounted: start,
            outbox: None,
            polls_at: Time::NEVER,
        }
    }

    /// Returns true if a session is under way.
    pub(super) fn in_session(&self) -> bool {
        self.phase.session != Session::Idle
    }

    /// Returns the time at which something is due next.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.full_at.min(self.phase_end).min(self.pace.next).min(self.polls_at)
    }

    /// A packet has been filled: the next is begun. Whether it was the last of the phase.
    #[inline]
    pub(super) fn fill_next(&mut self) -> bool {
        self.sent += 1;
        self.full_at += self.gap;
        match &mut self.left {
            None => false,
            Some(left) => {
                *left -= 1;
                *left == 0
            }
        }
    }

    /// Something else goes instead of the packet that has been filled, which goes next.
    pub(super) fn skip_next(&mut self) {
        self.full_at += self.gap;
    }

    /// The phase ends at `now`, and the next begins; packets have `size` bytes.
    pub(super) fn change_phase(&mut self, size: u16, now: Time, count: &mut PacedCount) {
        self.account(now, count);
        let took = now.since(self.began);
        if self.left.is_some() {
            count.transfers.0 += 1;
            count.transfers.1 += took.ps();
            let arrived = self.outbox.as_ref().and_then(|outbox| outbox.arrived());
            count.arrival += arrived.map_or(0, |arrived| arrived.since(self.began).ps());
        }
        let before = self.phase;
        let phase = self.activity.next(took, &mut self.stream);
        match phase.session {
            Session::Begins => {
                self.pace = self.control.begin(now);
                count.sessions += 1;
                count.periods += 1;
            }
            Session::Idle => {
                self.pace = STILL;
                count.periods += 1;
            }
            Session::GoesOn => {}
        }
        self.keep_rest(now);
        // What was begun before a silence is lost: a packet is filled from the beginning.
        if before.rate.bps() == 0 || phase.session != Session::GoesOn {
            self.rest = 1.0;
        }
        (self.phase_end, self.left) = match phase.lasts {
            Lasts::For(span) => (now + span, None),
            Lasts::Volume(bytes) => {
                (Time::NEVER, Some(bytes.div_ceil(u64::from(size.max(1))).max(1)))
            }
        };
        (self.phase, self.began, self.polls_at) = (phase, now, Time::NEVER);
        if let (Some(outbox), Some(packets)) = (&mut self.outbox, self.left) {
            outbox.begin(packets, now);
        }
        self.fill(size, now);
    }

    /// From `now` on the source goes at `pace`.
    pub(super) fn change_pace(&mut self, pace: Pace, size: u16, now: Time, count: &mut PacedCount) {
        self.account(now, count);
        let same = pace.scale == self.pace.scale;
        self.pace = pace;
        if !same {
            self.keep_rest(now);
            self.fill(size, now);
        }
    }

    /// Nothing more is sent from `now` on.
    pub(super) fn stop(&mut self, now: Time, count: &mut PacedCount) {
        self.account(now, count);
        (self.phase, self.pace, self.left) = (IDLE, STILL, None);
        (self.phase_end, self.full_at) = (Time::NEVER, Time::NEVER);
        self.polls_at = Time::NEVER;
        self.outbox.iter_mut().for_each(|outbox| outbox.give_up());
    }

    /// `packet` of a frame, or a poll, has been filled: what it carries, and what comes next.
    /// Whether it was the last of the phase.
    pub(super) fn fill_framed(&mut self, packet: &mut Packet, count: &mut PacedCount) -> bool {
        let outbox = self.outbox.as_mut().expect("it has frames");
        let now = packet.created;
        *packet = outbox.fill(*packet, now, count);
        self.sent += 1;
        self.full_at += self.gap;
        self.go_on(now)
    }

    /// The time of a poll has come while there was nothing else to send.
    pub(super) fn poll(&mut self, size: u16, now: Time) {
        self.outbox.iter_mut().for_each(|outbox| outbox.polls());
        self.resume(size, now);
    }

    /// A report has come: whether the phase is over.
    pub(super) fn on_notification(&mut self, report: &Report, size: u16, now: Time) -> bool {
        let Some(outbox) = &mut self.outbox else { return false };
        outbox.on_notification(report);
        if self.left.is_none() {
            return false;
        }
        if self.polls_at < Time::NEVER && outbox.then() == Then::Goes {
            self.resume(size, now);
        }
        self.go_on(now)
    }

    /// Continues a transfer in frames, and returns true if it is over.
    fn go_on(&mut self, now: Time) -> bool {
        match self.outbox.as_ref().map(|outbox| outbox.then()) {
            Some(Then::Waits(until)) => {
                (self.full_at, self.polls_at) = (Time::NEVER, until.max(now));
            }
            Some(Then::Ends) => return true,
            Some(Then::Goes) | None => {}
        }
        false
    }

    /// There is something to send after a wait.
    fn resume(&mut self, size: u16, now: Time) {
        (self.polls_at, self.rest) = (Time::NEVER, 1.0);
        self.fill(size, now);
    }

    /// Remember how much of the packet is still to be filled.
    fn keep_rest(&mut self, now: Time) {
        if self.full_at < Time::NEVER {
            self.rest = self.full_at.since(now).ps() as f64 / self.gap.ps() as f64;
            self.full_at = Time::NEVER;
        }
    }

    /// Continue to fill the packet at the present rate.
    fn fill(&mut self, size: u16, now: Time) {
        let rate = self.phase.rate.bps() as f64 * self.pace.scale;
        if rate > 0.0 {
            let bits = f64::from(size) * 8.0;
            // Rounded up, so that no source exceeds its rate; a cast saturates.
            self.gap = Span::from_ps((bits * PS_PER_S as f64 / rate).ceil() as u64);
            if self.polls_at == Time::NEVER {
                self.full_at = now + self.gap.scaled(self.rest);
            }
        }
    }

    /// Count the time up to `now`.
    pub(super) fn account(&mut self, now: Time, count: &mut PacedCount) {
        let span = now.since(self.accounted).ps();
        if span == 0 {
            return;
        }
        self.accounted = now;
        if self.in_session() {
            count.session += span;
            let scale = (self.pace.scale * PacedCount::SCALE + 0.5) as u64;
            count.scaled += u128::from(scale) * u128::from(span);
            count.floor += if self.pace.at_floor { span } else { 0 };
            count.nominal += u128::from(self.phase.rate.bps()) * u128::from(span);
            let least = count.least.unwrap_or(f64::INFINITY);
            count.least = Some(least.min(self.pace.scale));
        }
    }
}
