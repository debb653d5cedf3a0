//! Laws by which the rate of a paced source follows what the network tells it.

use forebay_units::Time;

use crate::detector::CongestionNotification;

/// Rate of a source, and the time until which it holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Its rate over the nominal rate.
    pub scale: f64,
    /// True if notifications have pushed it down to its floor.
    pub at_floor: bool,
    /// Time at which [`PaceControl::expired`] is to be called; [`Time::NEVER`] for no such time.
    pub next: Time,
}

/// Law by which the rate of a paced source follows notifications.
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
