//! Rates and durations at which a paced source offers traffic.

use forebay_kernel::Stream;
use forebay_units::{Rate, Span};

/// Duration or volume of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// So long, whatever was sent.
    For(Span),
    /// Until so many bytes on the wire have been sent, in whole packets: the slower, the longer.
    Volume(u64),
}

/// Place of a phase in a session.
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
    /// Duration or volume of the phase.
    pub lasts: Lasts,
    /// Its place in a session.
    pub session: Session,
}

/// Traffic that a paced source offers, at nominal rates: it knows nothing of congestion.
pub trait Activity: Send {
    /// The next phase, the previous one having lasted `took` (zero before the first).
    fn next(&mut self, took: Span, stream: &mut Stream) -> Phase;
}
