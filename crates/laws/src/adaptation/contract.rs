//! Adaptation of the rate of a media sender to what its receiver measures.

use forebay_network::SackBlocks;
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

/// Content of a report of a receiver to its sender.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Report {
    /// The law's own word, written and read by its two halves.
    pub word: u64,
    /// Numbers of packets that arrived, in up to four ranges, the highest first; none from a law
    /// that does not list them.
    pub arrived: SackBlocks,
}

/// The half of a law that is asked at the receiver: it measures, and says what is reported.
pub trait MediaReceiver: Send {
    /// A packet arrived.
    fn on_packet(&mut self, arrival: &Arrival);

    /// A report is sent at `now`: what it says, to be read by the sender's half.
    fn report(&mut self, now: Time) -> Report;
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
    /// A report arrived, with the round-trip time of the path.
    fn on_report(&mut self, report: &Report, rtt: Span, now: Time);

    /// The rates from now on while `waiting` bits wait in the sender's buffer.
    fn rates(&self, waiting: f64) -> MediaRates;

    /// A frame of `size` bits has been made, and joins `waiting` bits in the sender's buffer.
    /// Returns true if the rate of the encoder is another from now on.
    fn on_frame(&mut self, _size: f64, _waiting: f64, _now: Time) -> bool {
        false
    }

    /// May a packet of `size` bytes leave? If not, it is asked again after each report and frame.
    fn may_send(&self, _size: u16) -> bool {
        true
    }

    /// The packet of this number, counted from 0, and `size` bytes leaves.
    fn on_sent(&mut self, _number: u64, _size: u16, _now: Time) {}

    /// Visit what is worth plotting, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
