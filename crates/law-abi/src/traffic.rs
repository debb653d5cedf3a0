//! Traffic whose law is from outside.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_laws::traffic::{BuildTraffic, TrafficKind};
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Problem, Section};
use forebay_units::{Rate, Size, Span};

use crate::abi::{NEVER, TrafficFacts, decision, flag};
use crate::law::{CreateFacts, OuterLaw, again};
use crate::raw::{HEAD, Instance};

/// The entry of traffic.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildTraffic> {
    let build: BuildTraffic = Box::leak(Box::new(move |section: &Section<'_>| build(law, section)));
    law.entry(law.fields, build)
}

const NO_FACTS: TrafficFacts =
    TrafficFacts { head: HEAD, gap: 0, bytes: 0, largest: NEVER, mean_rate: NEVER };

fn build(law: &'static OuterLaw, section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let words = law.words(section, &[])?;
    let mut first = law.create(section, Arc::clone(&words), &CreateFacts::default())?;
    let mut facts = NO_FACTS;
    first.decide(decision::DESCRIBE, &mut facts, None);
    let positive = |key: &str, value: i64| match u64::try_from(value) {
        Ok(_) if value == NEVER => Ok(None),
        Ok(value) if value > 0 => Ok(Some(value)),
        _ => {
            let name = law.raw.name;
            Err(section.fail("", format!("the law \"{name}\" says that its {key} is {value}")))
        }
    };
    let largest = positive("largest burst in bytes", facts.largest)?.map(Size::from_bytes);
    let mean_rate = positive("mean rate in bit/s", facts.mean_rate)?.map(Rate::from_bps);
    let (raw, label, limit) = (law.raw, law.label(section), facts.largest);
    let make = move |_: &mut Stream| {
        let instance = again(raw, &words, label);
        let facts = TrafficFacts { largest: limit, ..NO_FACTS };
        Outer { instance, facts, bursts: 0, at_once: 0, passed: Span::ZERO }
    };
    let kind = TrafficKind::new(make, largest, mean_rate);
    Ok(TrafficKind { endless: raw.has(flag::ENDLESS), transfers: raw.has(flag::TRANSFERS), ..kind })
}

/// Most bursts without a gap between them: a law that has no end of them lets no time pass.
const MOST_AT_ONCE: u32 = 1_000_000;

struct Outer {
    instance: Instance,
    facts: TrafficFacts,
    /// The bursts that it has sent, how many of the last without a gap, and the sum of all gaps.
    bursts: u64,
    at_once: u32,
    passed: Span,
}

impl Traffic for Outer {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        (self.facts.gap, self.facts.bytes) = (0, 0);
        let largest = self.facts.largest;
        let code = self.instance.decide(decision::NEXT, &mut self.facts, Some(stream));
        self.facts.largest = largest;
        match code {
            0 => return None,
            1 => {}
            _ => self.refuse(&format!("returned {code}; allowed are 0 and 1")),
        }
        let TrafficFacts { gap, bytes, .. } = self.facts;
        let Ok(gap) = u64::try_from(gap) else {
            self.refuse(&format!("wrote gap {gap} ps; allowed are 0 or more"))
        };
        if bytes < 1 || bytes > largest {
            let most =
                if largest == NEVER { "or more".to_owned() } else { format!("to {largest}") };
            self.refuse(&format!("wrote {bytes} bytes; allowed are 1 {most}"));
        }
        let gap = Span::from_ps(gap);
        self.at_once = if gap == Span::ZERO { self.at_once + 1 } else { 0 };
        if self.at_once > MOST_AT_ONCE {
            let told = "wrote gap 0 ps again; allowed are one million bursts at one time";
            self.refuse(told);
        }
        self.bursts += 1;
        self.passed = Span::from_ps(self.passed.ps().saturating_add(gap.ps()));
        Some(Burst { gap, size: Size::from_bytes(bytes as u64) })
    }
}

impl Outer {
    #[cold]
    fn refuse(&self, told: &str) -> ! {
        // It is told no time: how far it had come.
        let (burst, passed) = (self.bursts + 1, self.passed.seconds());
        let told = format!("burst {burst}, {passed:.6} s after its start: {told}");
        self.instance.end_run(decision::NEXT, NEVER, &told)
    }
}
