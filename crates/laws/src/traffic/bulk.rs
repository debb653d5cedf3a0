//! Bulk transfer: an application that always has more to send.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Size, Span};

use super::{BuildTraffic, TrafficKind};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "bulk",
    summary: "An infinite transfer over TCP: the connection alone decides the pace.",
    source: "draft-elloumi-diffserv-threevstwo-00, section 2 (infinite file transfer)",
    example: "",
    fields: BulkParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of bulk transfer.
    pub struct BulkParameters {
        /// Time for which there is data at a stretch, above 0; then nothing new is sent for the
        /// time `off`, over and over. What is outstanding is still delivered; what was not sent is
        /// given up. The connection stays, with its threshold, and `idle_restart` sets its window.
        /// Left out: there always is data.
        on: Option<Span>, "Liu 2001, section 4.1 (flows are disabled and enabled)";
        /// Time for which there is none at a stretch, above 0. With `on`.
        off: Option<Span>, "Liu 2001, section 4.1";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let BulkParameters { on, off } = BulkParameters::read(section)?;
    for (key, span) in [("on", on), ("off", off)] {
        if span == Some(Span::ZERO) {
            return Err(section.fail(key, "is zero; allowed are times above 0"));
        }
    }
    match (on, off) {
        (None, None) => Ok(TrafficKind::fixed(|| Bulk { begun: false }).without_end()),
        (Some(on), Some(off)) => {
            let paused = move || PausedBulk { on, off, sends: None };
            let kind = TrafficKind::fixed(paused).without_end();
            Ok(TrafficKind { pauses: true, ..kind })
        }
        (Some(_), None) => Err(section.fail("off", "is missing; it goes with on")),
        (None, Some(_)) => Err(section.fail("on", "is missing; it goes with off")),
    }
}

struct Bulk {
    begun: bool,
}

impl Traffic for Bulk {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        let first = !std::mem::replace(&mut self.begun, true);
        first.then_some(Burst { gap: Span::ZERO, size: Size::from_bytes(u64::MAX) })
    }
}

/// The same with pauses: a burst of nothing begins one.
struct PausedBulk {
    on: Span,
    off: Span,
    /// True if there is data; `None` before the first.
    sends: Option<bool>,
}

impl Traffic for PausedBulk {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        let (gap, size) = match self.sends {
            None => (Span::ZERO, u64::MAX),
            Some(true) => (self.on, 0),
            Some(false) => (self.off, u64::MAX),
        };
        self.sends = Some(size > 0);
        Some(Burst { gap, size: Size::from_bytes(size) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::read;

    /// Data and pauses take turns at the times asked for: with 50 s on and 30 s off, data begins at
    /// 0, 80 and 160 s, and ends at 50 and 130 s.
    #[test]
    fn data_and_pauses_take_turns() {
        let given = [("on", "50 s".into()), ("off", "30 s".into())];
        let kind = read(&build, &given).unwrap();
        assert!(kind.pauses && kind.endless);
        let mut stream = forebay_kernel::Streams::new(0, 0).named("test");
        let mut traffic = (kind.make)(&mut stream);
        let mut at = Span::ZERO;
        for (seconds, sends) in [(0, true), (50, false), (80, true), (130, false), (160, true)] {
            let burst = traffic.next(&mut stream).unwrap();
            at = at + burst.gap;
            assert_eq!((at, burst.size.bytes() > 0), (Span::from_s(seconds), sends));
        }
    }

    /// Half a pause is refused: an ON or OFF time that is zero, or is given without the other.
    #[test]
    fn half_a_pause_is_refused() {
        for (key, given) in [
            ("off", &[("on", "50 s".into())][..]),
            ("on", &[("off", "50 s".into())]),
            ("on", &[("on", "0 s".into()), ("off", "50 s".into())]),
            ("off", &[("on", "50 s".into()), ("off", "0 s".into())]),
        ] {
            assert_eq!(read(&build, given).err().unwrap().path, key);
        }
        assert!(!read(&build, &[]).unwrap().pauses);
    }
}
