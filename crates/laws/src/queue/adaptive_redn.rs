//! Adaptive REDn: Self-Configuring REDn with a minimum of the actual queue and a middle threshold.

use forebay_parameters::{Entry, Length, Parameter, Parameters, Problem, Section, parameters};
use forebay_units::Span;

use super::redn::{RednShape, Shape};
use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::dynamic_redn::{
    ADAPTIVE_PROBES, DynamicOptions, DynamicRedn, Dynamics, Middle, same_unit,
};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "adaptive_redn",
    summary: "Adaptive REDn: Self-Configuring REDn that rests while the actual queue is short, and \
              takes a static maximum probability above a middle threshold.",
    source: "Liu 2001, Adaptive REDn Gateway, thesis, Univ. of British Columbia, chapter 3",
    example: r#"
        min_threshold = "3 packets"
        middle_threshold = "6 packets"
        max_threshold = "12 packets"
        middle_interval = "500 ms"
        weight = 0.05
        limit = "25 packets"
        ecn = true
    "#,
    fields: AdaptiveRednParameters::FIELDS,
    probes: ADAPTIVE_PROBES,
    build: &build,
};

parameters! {
    /// Parameters of Adaptive REDn.
    pub struct AdaptiveRednParameters {
        ..shape: RednShape;
        /// Average queue from which on the larger one of the static and the dynamic maximum
        /// probability is in effect, of every precedence that has a middle threshold. Between
        /// minimum and maximum threshold. Left out: the packets that the link sends in 15 ms.
        middle_threshold: Option<Length>, "Liu 2001, section 3.3 and section 4.1";
        /// Actual queue below which nothing is dropped early, whatever the average. 0 packets:
        /// none. Left out: the minimum threshold.
        actual_threshold: Option<Length>, "Liu 2001, section 3.2, eq. 3.1 and section 4.1";
        /// The static maximum probability, with which the dynamic one of every precedence starts:
        /// drop probability at the maximum threshold, above 0.
        max_probability: f64 = 0.1, "Liu 2001, section 4.1";
        /// Lowest precedence that has a middle threshold, 0 to the number of precedences (none has
        /// one). Lower precedences have a dynamic maximum probability alone.
        first_middle: u32 = 1, "Liu 2001, section 3.3";
        /// Brings a lower dynamic maximum probability up to the static one, where the average
        /// exceeds the maximum threshold, before it grows by the increment; without this it grows
        /// from where it is, as in Self-Configuring REDn.
        raise_to_static: bool = true, "Liu 2001, figure 3.5";
        /// Adjust the static maximum probability of middle thresholds: it grows by the increment
        /// when the average has been at or above the middle threshold for so long, and again after
        /// each as long a time, up to 1; it shrinks as often by as much while the average is below,
        /// down to what is configured. At or above the middle threshold it alone is in use, and
        /// exceeds the dynamic one by the increment at least. Above 0. Left out: it is static.
        middle_interval: Option<Span>,
            "Liu 2001, chapter 5 (at run time, and larger); assumed: how";
        ..common: DynamicOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = AdaptiveRednParameters::read(section)?;
    let (common, probability) = (&parameters.common.redn, parameters.max_probability);
    let shape = Shape::of(&parameters.shape, common, probability, parameters.middle_threshold);
    let [min, middle, max] = shape.thresholds(facts, parameters.common.redn.red.mean_packet);
    let dynamics = Dynamics {
        increment: parameters.common.increment,
        decrement: parameters.common.decrement,
        actual_threshold: parameters.actual_threshold.unwrap_or(min),
        actual_queue: parameters.common.actual_queue,
        spared_count: parameters.common.spared_count,
        middle: Some(Middle {
            threshold: middle.amount() as f64,
            first: parameters.first_middle as usize,
            raise_to_static: parameters.raise_to_static,
            interval: parameters.middle_interval,
        }),
    };
    let law =
        DynamicRedn::build(section, facts, (&shape, parameters.common.redn.options()), &dynamics)?;
    same_unit(section, "middle_threshold", middle, min)?;
    if middle.amount() <= min.amount() || middle.amount() >= max.amount() {
        let message = format!(
            "\"{}\" is not between the minimum and the maximum threshold; allowed is more than \
             \"{}\" and less than \"{}\"",
            middle.show(),
            min.show(),
            max.show()
        );
        return Err(section.fail("middle_threshold", message));
    }
    if parameters.first_middle > parameters.shape.precedences {
        let message = format!(
            "{} is out of range; allowed are 0 to {}, the number of precedences",
            parameters.first_middle, parameters.shape.precedences
        );
        return Err(section.fail("first_middle", message));
    }
    if parameters.middle_interval == Some(Span::ZERO) {
        return Err(section.fail("middle_interval", "is zero; allowed are intervals above 0"));
    }
    Ok(Queue::under(law))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::redn::built;
    use forebay_network::DropPolicy;
    use forebay_parameters::Value;
    use forebay_units::Rate;

    const RATE: Rate = Rate::from_bps(10_000_000);

    fn probes(law: &dyn DropPolicy, wanted: &str) -> Vec<(String, f64)> {
        let mut found = Vec::new();
        law.probes(&mut |name, value| {
            if name.starts_with(wanted) {
                found.push((name.to_owned(), value));
            }
        });
        found
    }

    /// A run begins as figure 3.5 does: the dynamic and the effective maximum probability at the
    /// static one, every average below.
    #[test]
    fn everything_starts_at_the_static_maximum_probability() {
        let law = built(&ENTRY, RATE, &[("max_probability", 0.05.into())]).unwrap();
        for (name, value) in
            [("max_probability", 0.05), ("dynamic_probability", 0.05), ("region", 0.0)]
        {
            let expected: Vec<_> = (0..3).map(|i| (format!("{name}.{i}"), value)).collect();
            assert_eq!(probes(law.as_ref(), &format!("{name}.")), expected);
        }
    }

    /// Thresholds that cross, and factors that move the wrong way, are refused: 37 packets are the
    /// middle threshold of 10 Mbit/s, 18 the minimum and 250 the maximum.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        let wrong = |key: &str, value: Value| built(&ENTRY, RATE, &[(key, value)]).err();
        assert!(built(&ENTRY, RATE, &[]).is_ok(), "everything has a default");
        for (key, value) in [
            ("middle_threshold", Value::from("250 packets")),
            ("middle_threshold", "251 packets".into()),
            ("first_middle", 4.into()),
            ("increment", 1.0.into()),
            ("decrement", 1.0.into()),
            ("precedences", 0.into()),
            ("precedences", 65.into()),
            ("actual_threshold", "1 kB".into()),
            ("middle_interval", "0 s".into()),
        ] {
            assert_eq!(wrong(key, value).as_deref(), Some(key));
        }
        for (min, middle) in [("37 packets", "37 packets"), ("38 packets", "37 packets")] {
            let given = [("min_threshold", min.into()), ("middle_threshold", middle.into())];
            assert_eq!(built(&ENTRY, RATE, &given).err().as_deref(), Some("middle_threshold"));
        }
        let bytes = [
            ("min_threshold", "9 kB".into()),
            ("max_threshold", "90 kB".into()),
            ("middle_threshold", "20 packets".into()),
        ];
        assert_eq!(built(&ENTRY, RATE, &bytes).err().as_deref(), Some("middle_threshold"));
        assert_eq!(wrong("first_middle", 3.into()), None, "none has one");
        assert_eq!(wrong("actual_threshold", "0 packets".into()), None);
    }
}
