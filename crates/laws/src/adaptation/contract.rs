//! Adaptation of the rate of a media sender to what its receiver measures.

use forebay_units::{Span, Time};

/// A packet of media as its receiver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of arrival.
    pub now: Time,
    /// Its one-way delay. Of use are differences alone: in practice clocks differ.
    pub delay: Span,
    /// Its number, counted from 0.
    pub number: u64,
    /// Its size on the wire, in bytes.
    pub size: u16,
    /// True if it is marked (ECN field CE).
    pub marked: bool,
}

/// The half of a law that is asked at the receiver: it measures, and says what is reported.
pub trait MediaReceiver: Send {
    /// A packet arrived.
    fn on_packet(&mut self, arrival: &Arrival);

    /// A report is sent at `now`: what it says, to be read by the sender's half.
    fn report(&mut self, now: Time) -> u64;
}

/// The rates of a sender, in bit/s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MediaRates {
    /// Rate for which the encoder is to produce frames.
    pub encoder: f64,
    /// Rate at which packets leave the sender's buffer.
    pub sending: f64,
}

/// The half of a law that is asked at the sender: what the reports make of its rates.
pub trait RateAdaptation: Send {
    /// A report arrived, which says `report`, with the round-trip time of the path.
    fn on_report(&mut self, report: u64, rtt: Span, now: Time);

    /// The rates from now on while `waiting` bits wait in the sender's buffer.
    fn rates(&self, waiting: f64) -> MediaRates;

    /// Visit what is worth plotting, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
