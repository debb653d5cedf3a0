//! WRED: one average, thresholds for each precedence.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

use super::red::{AVERAGE, Red};
use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::red_core::Core;
use crate::queue::parts::red_options::{PrecedenceCurves, WeightedOptions};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "wred",
    summary: "Weighted RED: one average of the whole queue, thresholds for each precedence.",
    source: "Cisco IOS, Weighted random early detection; ns-2 diffserv, WRED mode",
    example: r#"
        min_threshold = ["9 kB", "3 kB"]
        max_threshold = ["18 kB", "9 kB"]
        max_probability = [0.1, 0.5]
        weight = 0.05
        gentle = true
        limit = "25 kB"
    "#,
    fields: WredParameters::FIELDS,
    probes: &[AVERAGE],
    build: &build,
};

parameters! {
    /// Parameters of WRED.
    pub struct WredParameters {
        ..curves: PrecedenceCurves;
        ..common: WeightedOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = WredParameters::read(section)?;
    let (options, curves) = (parameters.common.options(), &parameters.curves);
    let (core, classes) = Core::build(section, facts, options, &curves.thresholds())?;
    Ok(Queue::under(Red::new(core, classes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::parts::red_options::Thresholds;
    use crate::queue::red::default_options;
    use forebay_kernel::Streams;
    use forebay_network::{
        Arrival, Backlog, DropPolicy, DropReason, FlowId, Packet, RouteId, Verdict,
    };
    use forebay_parameters::{Echo, Length};
    use forebay_units::{Rate, Time};

    /// The average does not depend on precedence, and the thresholds do. With weight 1/2 and 9
    /// packets waiting the one average goes from 0 to 4.5, at an arrival of any precedence:
    /// precedence 0 passes below its minimum of 5, precedence 1 is dropped by force at its maximum
    /// of 4 (6.75 then).
    #[test]
    fn one_average_many_thresholds() {
        let echo = Echo::default();
        let section = Section::empty("queue.wred".to_owned(), &echo);
        let mut options = default_options();
        options.weight = 0.5;
        let thresholds = Thresholds {
            min: &[Length::Packets(5), Length::Packets(1)],
            max: &[Length::Packets(15), Length::Packets(4)],
            probability: &[0.02, 0.1],
        };
        let facts = LinkFacts::of(Rate::from_bps(10_000_000));
        let (core, classes) = Core::build(&section, &facts, options, &thresholds).unwrap();
        let mut wred = Red::new(core, classes);
        let mut stream = Streams::new(0, 0).named("test");
        let backlog = Backlog { packets: 9, bytes: 9000 };
        for (precedence, average, verdict) in
            [(0, 4.5, Verdict::Accept), (1, 6.75, Verdict::Drop(DropReason::Forced))]
        {
            let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0))
                .with_precedence(precedence);
            let arrival = Arrival {
                now: Time::ZERO,
                packet: &packet,
                backlog,
                idle_since: None,
                empty_since: None,
            };
            assert_eq!(wred.admit(&arrival, &mut stream), verdict);
            assert_eq!(wred.average(), average);
        }
    }
}
