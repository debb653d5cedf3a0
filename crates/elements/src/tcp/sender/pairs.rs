//! Segments that leave in pairs, as from a sender whose device takes several at a time.

use forebay_units::{Span, Time};

use super::phase::Phase;
use super::{Sender, float};

/// Longest time since the last segment was sent, and until the next acknowledgement, for a segment
/// to wait for a second one.
const SOON: Span = Span::from_ms(1);

impl Sender<'_, '_> {
    /// Returns true if segment `number`, never sent before, is pushed: as the second of two that
    /// leave together, or as the last that the application has written.
    #[inline]
    pub(super) fn is_pushed(&mut self, number: u64, now: Time) -> bool {
        let second = self.tcb.unpaired && self.tcb.last_sent == now;
        (self.tcb.unpaired, self.tcb.waits) = (!second, false);
        second || number + 1 == self.tcb.end
    }

    /// Returns the bytes that wait though the window has room for them: it is the window that
    /// limits the flow.
    #[inline]
    pub(super) fn waiting(&self) -> f64 {
        if self.tcb.waits { float(self.settings.mss) } else { 0.0 }
    }

    /// Returns true if a segment for which alone the window has room waits for a second one: where
    /// the acknowledgement that makes room for that is near (Linux, net/ipv4/tcp_output.c:
    /// tcp_tso_should_defer). In recovery none waits, nor after a pause, nor with a window of up to
    /// three segments, of which one is a third, nor here where segments are paced. `used` bytes
    /// count against the window.
    pub(super) fn waits_for_second(&self, used: f64) -> bool {
        let (c, mss) = (&*self.tcb, float(self.settings.mss));
        if c.phase != Phase::Open || c.nxt + 1 >= c.end {
            return false;
        }
        let now = self.cx.now();
        let second = c.unpaired && c.last_sent == now;
        if second || c.una == c.max || c.window.cwnd <= 3.0 * mss {
            return false;
        }
        if now.since(c.last_sent) > SOON || used + 2.0 * mss <= c.window.cwnd {
            return false;
        }
        if c.control.pacing_rate().is_some() {
            return false;
        }
        let first = self.segments.as_ref().and_then(|segments| segments.get(c.una));
        match (first.filter(|first| !first.is_sacked()), c.rto.srtt()) {
            (Some(first), Some(srtt)) => {
                let near = SOON.min(Span::from_ps(srtt.ps() / 2));
                first.sent + srtt <= now + near
            }
            _ => false,
        }
    }
}
