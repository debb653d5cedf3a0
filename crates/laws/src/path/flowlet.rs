//! Flowlets: a flow may change its way where it has paused for long enough that nothing is
//! reordered.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, parameters};
use forebay_units::{Span, Time};

use super::contract::{PathSelection, direction};
use super::{BuildPath, PathFactory};

pub(super) const ENTRY: Entry<BuildPath> = Entry {
    name: "flowlet",
    summary: "Flowlet switching: packets of a flow that follow each other closely take one way; \
              after a pause the flow takes another, at random.",
    source: "Sinha, Kandula and Katabi, Harnessing TCP's burstiness with flowlet switching, \
             HotNets 2004; Vanini et al. (LetFlow), NSDI 2017",
    example: "",
    fields: FlowletParameters::FIELDS,
    probes: &[],
    build: &|section| {
        let FlowletParameters { gap } = FlowletParameters::read(section)?;
        let make = move |_: &mut Stream| -> Box<dyn PathSelection> {
            Box::new(Flowlet { gap, last: BTreeMap::new() })
        };
        let make: PathFactory = Arc::new(make);
        Ok(make)
    },
};

parameters! {
    /// Parameters of flowlet switching.
    pub struct FlowletParameters {
        /// The pause after which a flow may take another way: one longer than the difference
        /// between the delays of ways reorders nothing.
        gap: Span = "500 us", "Vanini et al. (LetFlow), NSDI 2017";
    }
}

struct Flowlet {
    gap: Span,
    /// For each direction of a flow, the time of its last packet, and the way that it took.
    last: BTreeMap<u64, (Time, u32)>,
}

impl PathSelection for Flowlet {
    fn choose(&mut self, packet: &Packet, ways: u32, now: Time, stream: &mut Stream) -> u32 {
        let mut drawn = || stream.below(u64::from(ways)) as u32;
        let last = self.last.entry(direction(packet)).or_insert_with(|| (now, drawn()));
        // After a failure there may be fewer ways than there were.
        if now.since(last.0) > self.gap || last.1 >= ways {
            last.1 = drawn();
        }
        last.0 = now;
        last.1
    }
}

#[cfg(test)]
mod tests {
    use crate::path::tests::{Choices, law, packet};

    /// A flow keeps its way while its pauses are no longer than the gap, and chooses anew after
    /// longer ones; other flows do not matter.
    #[test]
    fn a_flow_changes_its_way_only_after_a_pause() {
        let mut law = law("flowlet", &[("gap", "100 us".into())]);
        let first = law.choose_at(&packet(1, 0), 4, 0);
        assert!((1..200).all(|n| law.choose_at(&packet(1, n), 4, 100 * n) == first));
        let after = 100 * 199;
        let pauses = (1..10_000).map(|n| {
            law.choose_at(&packet(2, n), 4, after + 50 * n);
            law.choose_at(&packet(1, 200 + n), 4, after + 101 * n)
        });
        // Over 4 ways, chi-square with 3 degrees of freedom is below 16.3 at the level 0.001.
        let chosen = Choices::of(pauses, 4);
        assert!(chosen.chi_square() < 16.3, "{chosen:?}");
    }

    /// A way that no longer exists is given up at once.
    #[test]
    fn a_way_that_has_failed_is_given_up() {
        let mut law = law("flowlet", &[("gap", "1 s".into())]);
        assert!((0..50).all(|flow| {
            law.choose_at(&packet(flow, 0), 8, 0);
            law.choose_at(&packet(flow, 1), 2, 1) < 2
        }));
    }
}
