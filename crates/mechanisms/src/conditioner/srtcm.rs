//! The single rate three colour marker.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::{Bucket, Excess, GREEN, Mode, RED, YELLOW, check_depth, earned};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "srtcm",
    summary: "Single rate three colour marker: one rate, a committed and an excess burst.",
    source: "RFC 2697",
    fields: SrTcmParameters::FIELDS,
    build,
};

parameters! {
    /// Parameters of the single rate three colour marker.
    pub struct SrTcmParameters {
        /// Committed information rate: tokens arrive at it. IP headers count.
        cir: Rate, "RFC 2697, section 2";
        /// Committed burst size, for green: 0 B or at least 20 B. The bucket is full at the start.
        cbs: Size, "RFC 2697, section 2";
        /// Excess burst size, for yellow: 0 B or at least 20 B. Filled by tokens that the committed
        /// bucket has no room for; full at the start.
        ebs: Size, "RFC 2697, section 2";
        /// Whether the colour that a packet arrives with counts: blind or aware.
        mode: Mode = "blind", "RFC 2697, section 3";
        /// What becomes of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2697, section 4";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let SrTcmParameters {
        cir,
        cbs,
        ebs,
        mode,
        excess,
    } = SrTcmParameters::read(section)?;
    check_depth(section, "cbs", cbs, true)?;
    check_depth(section, "ebs", ebs, true)?;
    if cbs.bytes() == 0 && ebs.bytes() == 0 {
        let message = "is 0 B like ebs; allowed is one of both at most (RFC 2697, section 2)";
        return Err(section.fail("cbs", message));
    }
    let (committed, beyond) = (Bucket::full(cbs), Bucket::full(ebs));
    Ok(Box::new(SrTcm {
        cir,
        committed,
        beyond,
        last: Time::ZERO,
        mode,
        excess,
    }))
}

struct SrTcm {
    cir: Rate,
    committed: Bucket,
    /// The excess bucket.
    beyond: Bucket,
    last: Time,
    mode: Mode,
    excess: Excess,
}

impl Conditioner for SrTcm {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let spilt = self.committed.pour(earned(self.cir, now.since(self.last)));
        self.beyond.pour(spilt);
        self.last = self.last.max(now);
        let best = self.mode.best(packet);
        if best == GREEN && self.committed.covers(packet.size) {
            self.committed.take(packet.size);
            packet.precedence = GREEN;
        } else if best <= YELLOW && self.beyond.covers(packet.size) {
            self.beyond.take(packet.size);
            packet.precedence = YELLOW;
        } else {
            packet.precedence = RED;
            return self.excess.verdict();
        }
        Verdict::Accept
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        Some(self.committed.covers_at(size, self.cir, self.last, now))
    }

    fn smallest_burst(&self) -> Option<u64> {
        // Without a committed bucket nothing is meant to be green.
        Some(self.committed.depth()).filter(|depth| *depth > 0)
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        tell("committed_tokens", self.committed.bytes());
        tell("excess_tokens", self.beyond.bytes());
    }
}
