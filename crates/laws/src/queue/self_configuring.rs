//! Self-Configuring RED and REDn: the maximum probability of each precedence grows when its average
//! exceeds the maximum threshold and shrinks when it falls below the minimum threshold.

use forebay_parameters::{Entry, Length, Parameters, Problem, Section, parameters};

use super::redn::{RednShape, Shape};
use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::dynamic_redn::{DynamicOptions, DynamicRedn, Dynamics, PROBES};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "self_configuring",
    summary: "Self-Configuring RED (one precedence) and REDn: maximum probabilities that grow and \
              shrink when averages leave their thresholds.",
    source: "Feng, Kandlur, Saha and Shin, IEEE INFOCOM 1999; Liu 2001, figure 1.2",
    example: r#"
        min_threshold = "3 packets"
        max_threshold = "9 packets"
        actual_threshold = "2 packets"
        weight = 0.05
        limit = "25 packets"
    "#,
    fields: SelfConfiguringParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of Self-Configuring RED and REDn.
    pub struct SelfConfiguringParameters {
        ..shape: RednShape;
        /// Drop probability at the maximum threshold with which every precedence starts, above 0.
        max_probability: f64 = 0.1, "Liu 2001, section 4.1";
        /// Actual queue below which nothing is dropped early, whatever the average: what Adaptive
        /// REDn has beside its middle threshold. 0 packets: none.
        actual_threshold: Length = "0 packets", "Liu 2001, section 3.2 and eq. 3.1";
        ..common: DynamicOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = SelfConfiguringParameters::read(section)?;
    let dynamics = Dynamics {
        increment: parameters.common.increment,
        decrement: parameters.common.decrement,
        actual_threshold: parameters.actual_threshold,
        actual_queue: parameters.common.actual_queue,
        spared_count: parameters.common.spared_count,
        middle: None,
    };
    let (common, probability) = (&parameters.common.redn, parameters.max_probability);
    let shape = Shape::of(&parameters.shape, common, probability, None);
    let law =
        DynamicRedn::build(section, facts, (&shape, parameters.common.redn.options()), &dynamics)?;
    Ok(Queue::under(law))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::redn::built;
    use forebay_parameters::Value;
    use forebay_units::Rate;

    const RATE: Rate = Rate::from_bps(10_000_000);

    /// The law differs from Adaptive REDn by more than its name: its maximum probability is the
    /// dynamic one, and there is no middle threshold.
    #[test]
    fn there_is_no_middle_threshold() {
        let law = built(&ENTRY, RATE, &[("precedences", 1.into())]).unwrap();
        let mut names = Vec::new();
        law.probes(&mut |name, _| names.push(name.to_owned()));
        let expected = [
            "average.0",
            "actual.0",
            "max_probability.0",
            "region.0",
            "region_changes.0",
            "increases.0",
            "decreases.0",
            "changed_s.0",
        ];
        assert_eq!(names, expected);
        assert_eq!(built(&ENTRY, RATE, &[("middle_threshold", "1 packets".into())]).err(), {
            Some("middle_threshold".to_owned())
        });
    }

    /// Factors that move the wrong way, and a maximum probability that cannot move, are refused by
    /// their key.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        assert!(built(&ENTRY, RATE, &[]).is_ok(), "everything has a default");
        for (key, value) in [
            ("increment", Value::from(1.0)),
            ("increment", 0.5.into()),
            ("decrement", 1.0.into()),
            ("decrement", (-3.0).into()),
            ("max_probability", 0.0.into()),
            ("max_probability", 1.5.into()),
            ("actual_threshold", "1 kB".into()),
            ("precedences", 0.into()),
            ("precedences", 65.into()),
        ] {
            assert_eq!(built(&ENTRY, RATE, &[(key, value)]).err().as_deref(), Some(key));
        }
    }
}
