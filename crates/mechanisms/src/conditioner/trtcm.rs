//! The two rate three colour marker.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::quantity::show_rate;
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::{Bucket, Excess, GREEN, Mode, RED, YELLOW, check_depth, earned};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "trtcm",
    summary: "Two rate three colour marker: a committed and a peak rate, each with its burst.",
    source: "RFC 2698",
    fields: TrTcmParameters::FIELDS,
    build,
};

parameters! {
    /// Parameters of the two rate three colour marker.
    pub struct TrTcmParameters {
        /// Committed information rate. IP headers count.
        cir: Rate, "RFC 2698, section 2";
        /// Committed burst size, at least 20 B. The bucket is full at the start.
        cbs: Size, "RFC 2698, section 2";
        /// Peak information rate, at least the committed one.
        pir: Rate, "RFC 2698, section 2";
        /// Peak burst size, at least 20 B. The bucket is full at the start.
        pbs: Size, "RFC 2698, section 2";
        /// Whether the colour that a packet arrives with counts: blind or aware.
        mode: Mode = "blind", "RFC 2698, section 3";
        /// What becomes of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2698, section 4";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let TrTcmParameters {
        cir,
        cbs,
        pir,
        pbs,
        mode,
        excess,
    } = TrTcmParameters::read(section)?;
    check_depth(section, "cbs", cbs, false)?;
    check_depth(section, "pbs", pbs, false)?;
    if pir < cir {
        let message = format!(
            "\"{}\" is below the committed rate; allowed is at least \"{}\"",
            show_rate(pir),
            show_rate(cir)
        );
        return Err(section.fail("pir", message));
    }
    let (committed, peak) = (Bucket::full(cbs), Bucket::full(pbs));
    Ok(Box::new(TrTcm {
        cir,
        committed,
        pir,
        peak,
        last: Time::ZERO,
        mode,
        excess,
    }))
}

struct TrTcm {
    cir: Rate,
    committed: Bucket,
    pir: Rate,
    peak: Bucket,
    last: Time,
    mode: Mode,
    excess: Excess,
}

impl Conditioner for TrTcm {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let span = now.since(self.last);
        self.committed.pour(earned(self.cir, span));
        self.peak.pour(earned(self.pir, span));
        self.last = self.last.max(now);
        let best = self.mode.best(packet);
        if best >= RED || !self.peak.covers(packet.size) {
            packet.precedence = RED;
            return self.excess.verdict();
        }
        self.peak.take(packet.size);
        if best == GREEN && self.committed.covers(packet.size) {
            self.committed.take(packet.size);
            packet.precedence = GREEN;
        } else {
            packet.precedence = YELLOW;
        }
        Verdict::Accept
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        let committed = self.committed.covers_at(size, self.cir, self.last, now);
        Some(committed.max(self.peak.covers_at(size, self.pir, self.last, now)))
    }

    fn smallest_burst(&self) -> Option<u64> {
        Some(self.committed.depth().min(self.peak.depth()))
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        tell("committed_tokens", self.committed.bytes());
        tell("peak_tokens", self.peak.bytes());
    }
}
