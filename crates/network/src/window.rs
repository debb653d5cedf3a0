//! The window of a sender.

/// The window of a sender, in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
    /// Sender maximum segment size.
    pub smss: f64,
}
