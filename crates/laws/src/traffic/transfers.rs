//! Transfers that begin at random, whatever becomes of those before: open-loop traffic.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Frequency, Rate, Span};

use super::{BuildTraffic, TrafficKind, rate_of};
use crate::sizes::{SizeDistribution, Sizes};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "transfers",
    summary: "Transfers over TCP that begin at the times of a Poisson process, each on a fresh \
              connection: the workload of flow completion times.",
    source: "Alizadeh et al. (pFabric), SIGCOMM 2013, section 5; Paxson and Floyd, IEEE/ACM \
             Transactions on Networking 3 (1995) 226-244",
    example: r#"
        rate = "5 /s"
        sizes = { lognormal = { mean = "10 kB" } }
    "#,
    fields: TransfersParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Connection that a transfer is sent on.
    pub enum Connections {
        /// A fresh one: it begins with the initial window and knows no round-trip time. While
        /// another transfer of the same flow is on its way, it follows on the connection of that.
        Fresh = "fresh",
        /// One for all transfers of a flow, which keeps what it has learnt; after an idle time
        /// longer than the retransmission timeout its window is the initial one (`idle_restart`).
        Persistent = "persistent",
    }
}

parameters! {
    /// Parameters of transfers. Each flow of the group has transfers of its own, one behind the
    /// other: with `count` flows, that many can be on their way at a time. The result `queued`
    /// counts those that found another in their way; it is small where flows are many for their
    /// load.
    pub struct TransfersParameters {
        /// Mean number of transfers that begin on each flow of the group. Or give `load`.
        rate: Option<Frequency>, "-";
        /// Mean rate of the data of each flow, without headers. Or give `rate`.
        load: Option<Rate>, "-";
        /// Sizes of the transfers.
        sizes: Inner<Sizes>, "-";
        /// Connection that a transfer is sent on.
        connection: Connections = "fresh", "RFC 9293, section 3.5; RFC 5681, section 4.1";
    }
}

/// Transfers in a second on one flow, at most: each is an event, so that a run with billions of
/// them would not end in any useful time.
const MAX_PER_SECOND: f64 = 1e6;

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let TransfersParameters { rate, load, sizes, connection } = TransfersParameters::read(section)?;
    let sizes = sizes.build(section, |build, inner| build(inner))?;
    let (key, per_second) = match (rate, load) {
        (Some(rate), None) => ("rate", rate.per_second()),
        (None, Some(load)) => ("load", load.bps() as f64 / 8.0 / sizes.mean()),
        (Some(_), Some(_)) => {
            let message = "there is a rate already; it is the load over the mean size";
            return Err(section.fail("load", message));
        }
        (None, None) => {
            let message = "is missing; give rate = \"5 /s\", or load = \"1 Mbit/s\"";
            return Err(section.fail("rate", message));
        }
    };
    if per_second <= 0.0 {
        return Err(section.fail(key, "is zero; allowed is above 0"));
    }
    if per_second > MAX_PER_SECOND {
        let message = format!(
            "{per_second:.3e} transfers in a second on each flow are too many; allowed are up to \
             {MAX_PER_SECOND:.0}"
        );
        return Err(section.fail(key, message));
    }
    let gap = Span::from_seconds(1.0 / per_second);
    let mean_rate = Some(rate_of(8.0 * sizes.mean() * per_second));
    let kind = at_random(sizes, (gap, Gaps::Exponential), connection);
    Ok(TrafficKind { mean_rate, ..kind })
}

choice! {
    /// Distribution of times between transfers.
    pub enum Gaps {
        /// Exponential.
        Exponential = "exponential",
        /// Uniform from half of the mean to one and a half times it.
        Uniform = "uniform",
    }
}

/// Transfers of random sizes, after random times with a mean: from beginning to beginning, or from
/// the end of one to the beginning of the next where a client asks for them.
pub(super) fn at_random(
    sizes: Arc<dyn SizeDistribution>,
    (gap, law): (Span, Gaps),
    connection: Connections,
) -> TrafficKind {
    let make = move |_: &mut Stream| AtRandom { sizes: Arc::clone(&sizes), gap, law };
    let kind = TrafficKind::new(make, None, None).of_transfers();
    TrafficKind { fresh: connection == Connections::Fresh, ..kind }
}

struct AtRandom {
    sizes: Arc<dyn SizeDistribution>,
    /// Mean time before each.
    gap: Span,
    law: Gaps,
}

impl Traffic for AtRandom {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        let gap = self.gap.scaled(match self.law {
            Gaps::Exponential => stream.exponential(),
            Gaps::Uniform => 0.5 + stream.uniform(),
        });
        Some(Burst { gap, size: self.sizes.draw(stream) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Node, Table, Value};

    fn table(entries: &[(&str, Value)]) -> Value {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Value::Table(entries.iter().map(node).collect::<Table>())
    }

    fn built(key: &str, value: &str) -> Result<TrafficKind, Problem> {
        let constant = table(&[("constant", table(&[("size", "10 kB".into())]))]);
        read(&build, &[("sizes", constant), (key, value.into())])
    }

    /// Transfers begin at the times of a Poisson process: in windows of 1 s their number has a mean
    /// and a variance of 50. Of n windows the mean deviates by sqrt(50 / n), and the variance by
    /// about 50 sqrt(2 / n); the bounds are five of these. Regular ones, with no variance, fail. A
    /// load of 4 Mbit/s are 50 transfers of 10 kB.
    #[test]
    fn beginnings_are_a_poisson_process() {
        for (key, value) in [("rate", "50 /s"), ("load", "4 Mbit/s")] {
            let kind = built(key, value).unwrap();
            assert!(kind.transfers && kind.fresh && kind.largest.is_none());
            assert_eq!(kind.mean_rate, Some(Rate::from_bps(4_000_000)));
            let mut stream = Streams::new(1, 0).named("traffic");
            let mut traffic = (kind.make)(&mut stream);
            let windows = 10_000;
            let (mut counts, mut time) = (vec![0.0_f64; windows], 0.0);
            loop {
                let burst = traffic.next(&mut stream).unwrap();
                assert_eq!(burst.size.bytes(), 10_000);
                time += burst.gap.seconds();
                match counts.get_mut(time as usize) {
                    Some(count) => *count += 1.0,
                    None => break,
                }
            }
            let n = windows as f64;
            let mean = counts.iter().sum::<f64>() / n;
            let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0);
            assert!((mean - 50.0).abs() < 5.0 * (50.0 / n).sqrt(), "{mean}");
            assert!((variance - 50.0).abs() < 5.0 * 50.0 * (2.0 / n).sqrt(), "{variance}");
        }
    }

    /// Loads that cannot be are refused: none at all, without end at one instant, given twice, or
    /// given without sizes.
    #[test]
    fn loads_that_cannot_be_are_refused() {
        let path = |key, value| built(key, value).err().map(|problem| problem.path);
        assert_eq!(path("rate", "0 /s").as_deref(), Some("rate"));
        assert_eq!(path("load", "0 bit/s").as_deref(), Some("load"));
        assert_eq!(path("rate", "1000001 /s").as_deref(), Some("rate"));
        assert_eq!(path("load", "81 Gbit/s").as_deref(), Some("load"));
        assert_eq!(path("load", "79 Gbit/s"), None);
        let constant = || table(&[("constant", table(&[("size", "10 kB".into())]))]);
        let both = [("sizes", constant()), ("rate", "1 /s".into()), ("load", "1 Mbit/s".into())];
        assert_eq!(read(&build, &both).err().unwrap().path, "load");
        assert_eq!(read(&build, &[("sizes", constant())]).err().unwrap().path, "rate");
        assert_eq!(read(&build, &[("rate", "1 /s".into())]).err().unwrap().path, "sizes");
    }
}
