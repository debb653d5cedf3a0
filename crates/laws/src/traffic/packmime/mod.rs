//! PackMime-HTTP: connections of a cloud of web clients to a cloud of servers.

mod cloud;
mod noise;
mod sizes;

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Frequency;

use super::connections::of_connections;
use super::{BuildTraffic, TrafficKind};
use cloud::Cloud;

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "packmime",
    summary: "Web traffic as PackMime-HTTP generates it: connections between clouds of clients and \
              servers begin at a mean rate, with long memory, whatever becomes of those before.",
    source: "Cao, Cleveland, Gao, Jeffay, Smith and Weigle, Stochastic Models for Generating \
             Synthetic HTTP Source Traffic, INFOCOM 2004; ns-2.35 packmime",
    example: r#"
        rate = "5 /s"
    "#,
    fields: PackMimeParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the web. Clients are at the nodes `to` and servers at `from`: clients take
    /// the connections in turn. With `count` of them that many connections can be open at a time,
    /// and the result `queued` counts those that had to wait.
    pub struct PackMimeParameters {
        /// Mean number of connections that begin, between all clients and servers of the group, or
        /// between each two nodes where these are several: 0.5 to 10,000 in a second.
        rate: Frequency, "INFOCOM 2004, section III";
        /// Share of connections that carry several requests, 0 to 1; the others carry one.
        persistent: f64 = 0.09, "ns-2.35 packmime_ranvar.cc: P_PERSISTENT";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let PackMimeParameters { rate, persistent } = PackMimeParameters::read(section)?;
    let rate = rate.per_second();
    if !(0.5..=10_000.0).contains(&rate) {
        let message = format!("{rate} in a second is out of range; allowed are 0.5 to 10,000");
        return Err(section.fail("rate", message));
    }
    section.within("persistent", persistent, 0.0, 1.0)?;
    Ok(of_connections(move |stream| Cloud::new(rate, persistent, stream), MEAN_REQUEST))
}

/// The mean size of a request in bytes.
const MEAN_REQUEST: u16 = 567;

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    /// Rates without a meaning are refused, and shares that are none.
    #[test]
    fn rates_that_cannot_be_are_refused() {
        let path = |rate: &str, persistent: f64| {
            let parameters = [("rate", rate.into()), ("persistent", persistent.into())];
            read(&build, &parameters).err().map(|problem| problem.path)
        };
        assert_eq!(path("0.1 /s", 0.1).as_deref(), Some("rate"));
        assert_eq!(path("10001 /s", 0.1).as_deref(), Some("rate"));
        assert_eq!(path("5 /s", 1.5).as_deref(), Some("persistent"));
        assert_eq!(path("5 /s", 1.0), None);
    }
}
