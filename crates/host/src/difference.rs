//! Comparison of two runs that are to be the same.

use forebay_network::Ecn;

use crate::host::Departure;
use crate::report::Report;

/// The first datagram in which two runs differ, in words.
pub(crate) fn difference(
    one: &[Departure],
    other: &[Departure],
    report: &Report,
) -> Option<String> {
    let place = match one.iter().zip(other).position(|(one, other)| one != other) {
        Some(place) => place,
        None if one.len() == other.len() => return None,
        None => one.len().min(other.len()),
    };
    let show = |departure: Option<&Departure>| match departure {
        None => "none".to_owned(),
        Some(Departure { time, host, size, class: (dscp, ecn) }) => {
            let name = &report.hosts[*host].name;
            let ecn = match ecn {
                Ecn::NotEct => "not ECT",
                Ecn::Ect0 => "ECT(0)",
                Ecn::Ect1 => "ECT(1)",
                Ecn::Ce => "CE",
            };
            format!("{size} B from {name} at {} s (DSCP {dscp}, {ecn})", time.seconds())
        }
    };
    Some(format!(
        "two runs of the same seed differ in datagram {place}: {} in the first, {} in the second; \
         a stack uses a clock or random numbers of its own",
        show(one.get(place)),
        show(other.get(place))
    ))
}
