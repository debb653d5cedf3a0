//! ON/OFF traffic: constant rate while on, silence while off, both for exponential times.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_kernel::math::exp_m1;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{BuildTraffic, TrafficKind, interval, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "on_off",
    summary: "Exponential ON and OFF times; constant bit rate while on (voice with silence \
              suppression).",
    source: "ITU-T P.59; draft-babiarz-pcn-explicit-marking-02, section 2",
    example: r#"
        rate = "100 kbit/s"
        size = "250 B"
    "#,
    fields: OnOffParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of ON/OFF traffic.
    pub struct OnOffParameters {
        /// Bit rate on the wire while on.
        rate: Rate, "-";
        /// Packet size on the wire.
        size: Size, "-";
        /// Mean ON time.
        on: Span = "1.004 s", "draft-babiarz-pcn-explicit-marking-02, section 3.2";
        /// Mean OFF time.
        off: Span = "1.59 s", "draft-babiarz-pcn-explicit-marking-02, section 3.2";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let OnOffParameters { rate, size, on, off } = OnOffParameters::read(section)?;
    let gap = interval(section, rate, size)?;
    if on == Span::ZERO {
        return Err(section.fail("on", "is zero; allowed are times above 0"));
    }
    let pattern = Arc::new(Pattern { gap, size, on, off });
    let make = move |stream: &mut Stream| {
        // Stationary from the start: on with the long-run probability; both times are memoryless.
        let activity = on.seconds() / (on.seconds() + off.seconds());
        let (lead, left) = if stream.happens(activity) {
            (gap.scaled(stream.uniform()), on.scaled(stream.exponential()))
        } else {
            (off.scaled(stream.exponential()), on.scaled(stream.exponential()))
        };
        let lead = lead.min(BEGUN - Span::from_ps(1));
        OnOff { pattern: Arc::clone(&pattern), left, lead }
    };
    let mean_rate = Some(rate_of(mean_bits_per_second(gap, size, on, off)));
    Ok(TrafficKind::new(make, Some(size), mean_rate))
}

/// An ON time X, exponential with mean `on`, holds the packets at 0, gap, 2 gap, ... < X: in the
/// mean 1 + e^(-gap/on) + e^(-2 gap/on) + ... = 1 / (1 - e^(-gap/on)), every `on + off`.
fn mean_bits_per_second(gap: Span, size: Size, on: Span, off: Span) -> f64 {
    let packets = -1.0 / exp_m1(-gap.seconds() / on.seconds());
    size.bits() as f64 * packets / (on.seconds() + off.seconds())
}

/// A packet leaves at the start of each ON time and every `gap` after it while the ON time lasts.
pub(super) struct OnOff {
    pattern: Arc<Pattern>,
    /// Rest of the ON time after the packet sent last.
    left: Span,
    /// Time until the first packet; [`BEGUN`] afterwards.
    lead: Span,
}

/// Parameters that all flows of a group have in common.
struct Pattern {
    gap: Span,
    size: Size,
    on: Span,
    off: Span,
}

/// The lead of a flow that has sent its first packet.
const BEGUN: Span = Span::from_ps(u64::MAX);

impl Traffic for OnOff {
    #[inline(always)]
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        let Pattern { gap, size, on, off } = *self.pattern;
        if self.lead != BEGUN {
            let gap = std::mem::replace(&mut self.lead, BEGUN);
            return Some(Burst { gap, size });
        }
        if self.left > gap {
            self.left = self.left - gap;
            return Some(Burst { gap, size });
        }
        let gap = self.left + off.scaled(stream.exponential());
        self.left = on.scaled(stream.exponential());
        Some(Burst { gap, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// The mean rate follows the activity. With ON time X exponential (mean m) and packets at 0, g,
    /// 2g, ... < X, an ON time sends 1/(1-exp(-g/m)) packets in the mean, every m + off seconds.
    #[test]
    fn the_mean_rate_follows_the_activity() {
        let (gap, on, off) = (Span::from_ms(20), Span::from_ms(1004), Span::from_ms(1590));
        let size = Size::from_bytes(200);
        let pattern = Arc::new(Pattern { gap, size, on, off });
        let mut law = OnOff { pattern, left: on, lead: Span::ZERO };
        let mut stream = Streams::new(5, 0).named("voice");
        let mut time = 0.0;
        let packets = 1_000_000;
        for _ in 0..packets {
            time += law.next(&mut stream).unwrap().gap.seconds();
        }
        let expected = 1.0 / (1.0 - forebay_kernel::math::exp(-0.020 / 1.004)) / (1.004 + 1.590);
        // About 20,000 cycles, whose length has a coefficient of variation below 1: 5/sqrt(20000).
        assert!((f64::from(packets) / time / expected - 1.0).abs() < 0.035);
    }
}
