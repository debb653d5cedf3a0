//! State of their sender that segments tell the conditioners on their way.

use forebay_network::Packet;
use forebay_units::Span;

use super::phase::Phase;
use super::rto::smooth;
use super::settings::Settings;
use super::tcb::Tcb;

/// Few groups come here: those on whose way a conditioner adapts to its flows.
impl Tcb {
    /// A round-trip time was measured, one of `expected` in this round trip.
    #[cold]
    pub(super) fn smooth_signalled(&mut self, rtt: Span, expected: u64, settings: &Settings) {
        let (before, tick) = (self.signalled_srtt, settings.signal_tick);
        self.signalled_srtt = if tick > Span::ZERO {
            in_ticks(before, rtt, tick)
        } else if before < 0.0 {
            rtt.ps() as f64
        } else {
            smooth(before, rtt.ps() as f64, settings.rules.share_of(expected))
        };
    }

    /// `packet` with the smoothed round-trip time, once there is one, and with whether its sender
    /// is in slow start.
    #[cold]
    pub(super) fn signalling(&self, packet: Packet, settings: &Settings) -> Packet {
        let (srtt, tick) = (self.signalled_srtt, settings.signal_tick);
        let packet = if srtt < 0.0 {
            packet
        } else if tick > Span::ZERO {
            packet.with_srtt(tick.times(srtt as u64 / EIGHTHS))
        } else {
            packet.with_srtt(Span::from_ps(srtt as u64))
        };
        let window = &self.window;
        let grows = self.phase != Phase::Recovery && window.cwnd < window.ssthresh;
        if grows { packet.in_slow_start() } else { packet }
    }
}

/// Scale of a smoothed round-trip time in ticks.
const EIGHTHS: u64 = 8;

/// The smoothed round-trip time after `rtt` was measured, in eighths of ticks; `before` is negative
/// if there was none (ns-2, tcp.cc, `rtt_update`).
fn in_ticks(before: f64, rtt: Span, tick: Span) -> f64 {
    // The nearest whole number of ticks, which a floor finds from half a tick on.
    let measured = ((rtt.ps() + tick.ps() / 2) / tick.ps()).max(1);
    if before < 0.0 {
        return (measured * EIGHTHS) as f64;
    }
    let eighths = before as u64;
    (eighths + measured - eighths / EIGHTHS).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips count in whole ticks, as the clock of ns-2 has them: with ticks of 100 ms, 30 ms
    /// count one tick, 149 ms one and 150 ms two. From one tick (8 eighths), twos add 2 - 1 = 1
    /// eighth each: after eight of them it is 16 eighths, two whole ticks, and twos change nothing
    /// more. From there ones take an eighth off the first time, to 15; 15 / 8 = 1 in whole ticks,
    /// and ones change nothing more.
    #[test]
    fn round_trips_count_in_whole_ticks() {
        let tick = Span::from_ms(100);
        let after = |before, ms| in_ticks(before, Span::from_ms(ms), tick);
        assert_eq!([0, 30, 149, 150, 249].map(|ms| after(-1.0, ms)), [8.0, 8.0, 8.0, 16.0, 16.0]);
        let mut srtt = 8.0;
        let rising: Vec<f64> = (0..9)
            .map(|_| {
                srtt = after(srtt, 200);
                srtt
            })
            .collect();
        assert_eq!(rising, [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 16.0]);
        assert_eq!([after(16.0, 100), after(15.0, 100)], [15.0, 15.0]);
    }
}
