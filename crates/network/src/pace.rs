//! The contracts of rate-based congestion control: what a source wants to send, how its rate
//! follows what the network tells it, and when a port of the network tells it something or which
//! rate.

use forebay_kernel::Stream;
use forebay_units::{Rate, Span, Time};

use crate::Packet;

/// What a port tells a source: the type of a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CongestionNotification {
    /// The input rate of the port is high: slow down a little.
    Rate = 0,
    /// The port has dropped a packet of the source: slow down a lot.
    Discard = 2,
}

impl CongestionNotification {
    /// The type that [`Packet::tag`] of a notification names.
    #[must_use]
    pub const fn of(packet: &Packet) -> Self {
        if packet.tag == Self::Discard as u64 { Self::Discard } else { Self::Rate }
    }

    /// Its place among counters by type.
    #[must_use]
    pub const fn place(self) -> usize {
        match self {
            Self::Rate => 0,
            Self::Discard => 1,
        }
    }
}

/// Watches what arrives at a port and says whose source is to be notified.
pub trait CongestionDetector: Send {
    /// A packet has arrived, whatever becomes of it. Told once of each, before
    /// [`CongestionDetector::judge`] is asked about it.
    fn arrives(&mut self, _packet: &Packet, _now: Time) {}

    /// A packet was taken in, or `dropped`: what its source is to be told, if anything. What is
    /// answered is sent, if there is a way back to the source.
    fn judge(
        &mut self,
        packet: &Packet,
        dropped: bool,
        now: Time,
    ) -> Option<CongestionNotification>;

    /// A packet has arrived and was taken in: both in one.
    fn passes(&mut self, packet: &Packet, now: Time) -> Option<CongestionNotification> {
        self.arrives(packet, now);
        self.judge(packet, false, now)
    }

    /// Inner quantities worth plotting, such as input rates: told by name.
    fn probes(&self, _tell: &mut dyn FnMut(&str, f64)) {}
}

/// Divides a port among the sources that take explicit rates from it. Rates are in bit/s.
pub trait ExplicitRate: Send {
    /// A packet has arrived whose source takes no rate from the port: what such packets use is
    /// gone.
    fn passes(&mut self, packet: &Packet, now: Time);

    /// A packet has arrived whose source does; `current` is the rate that a resource-management
    /// cell tells, if it is one.
    fn arrives(&mut self, packet: &Packet, current: Option<f64>, now: Time);

    /// The most that the source of `flow` may send, asked when a cell on its way back tells it.
    fn allows(&mut self, flow: u32, now: Time) -> f64;

    /// Inner quantities worth plotting, such as the load factor: told by name.
    fn probes(&self, _tell: &mut dyn FnMut(&str, f64)) {}
}

/// How long a phase lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// So long, whatever was sent.
    For(Span),
    /// Until so many bytes on the wire have been sent, in whole packets: the slower, the longer.
    Volume(u64),
}

/// Where in a session a phase stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Session {
    /// Between sessions: nothing is sent.
    Idle,
    /// A session begins with it.
    Begins,
    /// It is another phase of the same session.
    GoesOn,
}

/// A time in which a source wants to send at one rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phase {
    /// The nominal rate, which the source scales; zero for silence.
    pub rate: Rate,
    /// How long it lasts.
    pub lasts: Lasts,
    /// Its place in a session.
    pub session: Session,
}

/// What a paced source wants to send, at nominal rates: it knows nothing of congestion.
pub trait Activity: Send {
    /// The next phase, the previous one having lasted `took` (zero before the first).
    fn next(&mut self, took: Span, stream: &mut Stream) -> Phase;
}

/// How fast a source goes, and until when that holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Its rate over the nominal rate.
    pub scale: f64,
    /// Whether notifications have pushed it down to its floor.
    pub at_floor: bool,
    /// When [`PaceControl::expired`] is to be called; [`Time::NEVER`] for no such time.
    pub next: Time,
}

/// How the rate of a paced source follows notifications.
pub trait PaceControl: Send {
    /// A session begins.
    fn begin(&mut self, now: Time) -> Pace;

    /// A notification has arrived in a session; `None` if it is ignored.
    fn notified(&mut self, notice: CongestionNotification, now: Time) -> Option<Pace>;

    /// The time has come that the latest [`Pace`] named.
    fn expired(&mut self, now: Time) -> Pace;

    /// A packet may go at `now`: how fast the source goes from now on if a resource-management cell
    /// that tells it is to go instead. `in_rate` unless that would come on top of what the rate
    /// allows, for sources that could not send for long. Asked of controls by explicit rates alone.
    fn resource_cell(&mut self, _in_rate: bool, _now: Time) -> Option<Pace> {
        None
    }

    /// A resource-management cell has come back that allows `explicit` over the nominal rate.
    fn allowed(&mut self, _explicit: f64, _now: Time) -> Option<Pace> {
        None
    }
}
