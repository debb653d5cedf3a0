//! Segments that leave in pairs, as from a sender whose device takes several at a time.

use forebay_units::{Span, Time};

use super::connection::Phase;
use super::extension::Extension;
use super::sender_context::{SenderContext, float};

/// Longest time since the last segment was sent, and until the next acknowledgement, for a segment
/// to wait for a second one.
const SOON: Span = Span::from_ms(1);

impl SenderContext<'_, '_> {
    /// Returns true if segment `number`, never sent before, is pushed: as the second of two that
    /// leave together, or as the last that the application has written.
    #[inline]
    pub(super) fn is_pushed(&mut self, number: u64, now: Time) -> bool {
        let second = self.c.unpaired && self.c.last_sent == now;
        (self.c.unpaired, self.c.waits) = (!second, false);
        second || number + 1 == self.c.end
    }

    /// Returns the bytes that wait though the window has room for them: it is the window that
    /// limits the flow.
    #[inline]
    pub(super) fn waiting(&self) -> f64 {
        if self.c.waits { float(self.p.mss) } else { 0.0 }
    }

    /// Returns true if a segment for which alone the window has room waits for a second one: where
    /// the acknowledgement that makes room for that is near (Linux, net/ipv4/tcp_output.c:
    /// tcp_tso_should_defer). In recovery none waits, nor after a pause, nor with a window of up to
    /// three segments, of which one is a third, nor here where segments are paced.
    pub(super) fn waits_for_second(&self) -> bool {
        let (c, mss) = (&*self.c, float(self.p.mss));
        if !self.p.pushes || c.phase != Phase::Open || c.nxt + 1 >= c.end {
            return false;
        }
        let now = self.cx.now();
        let second = c.unpaired && c.last_sent == now;
        if second || c.una == c.max || c.window.cwnd <= 3.0 * mss {
            return false;
        }
        if now.since(c.last_sent) > SOON || self.in_flight() + 2.0 * mss <= c.window.cwnd {
            return false;
        }
        if self.p.l4s || c.control.pacing_rate().is_some() {
            return false;
        }
        let delivery = c.extension.as_deref().and_then(|it: &Extension| it.delivery.as_ref());
        let first_sent = delivery.and_then(|delivery| delivery.undelivered(c.una));
        match (first_sent, c.rto.srtt()) {
            (Some((sent, _)), Some(srtt)) => {
                let near = SOON.min(Span::from_ps(srtt.ps() / 2));
                sent + srtt <= now + near
            }
            _ => false,
        }
    }
}
