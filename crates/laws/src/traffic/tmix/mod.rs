//! Connections after connection vectors, as Tmix replays them.

mod vectors;

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, parameters};
use forebay_units::{Frequency, Rate, Size, Span};

use super::connections::of_connections;
use super::{BuildTraffic, TrafficKind, packet_size};
use crate::sizes::{Sizes, bounded_pareto, lognormal};
use vectors::{Exchanges, Trains, Vectors};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "tmix",
    summary: "Connections after connection vectors: trains of connections between clients and \
              servers, each a list of requests, responses and times to think, begin at a mean \
              rate, whatever becomes of those before.",
    source: "Weigle, Adurthi, Hernandez-Campos, Jeffay and Smith, Tmix: A Tool for Generating \
             Realistic TCP Application Workloads in ns-2, CCR 36(3), 2006 (model); \
             draft-irtf-iccrg-tcpeval-01 (use); the values are assumed, as its vectors are lost",
    example: r#"
        rate = "20 /s"
    "#,
    fields: TmixParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of connection vectors. Clients are at the nodes `to` and servers at `from`:
    /// clients take the connections in turn. With `count` of them that many connections can be open
    /// at a time, and the result `queued` counts those that had to wait.
    ///
    /// Tmix replays vectors that were measured on a link. The vectors here are drawn: they differ
    /// with the seed, and have stated distributions. A connection has 1 exchange or, a share
    /// `persistent` of them, 2, 3, ...: in the mean 1 + persistent / (1 - next_exchange) exchanges,
    /// 1.4167 with the defaults. Responses have 24.16 kB in the mean with the defaults, and
    /// connections 34.22 kB of them.
    pub struct TmixParameters {
        /// Mean number of connections that begin, between all clients and servers of the group, or
        /// between each two nodes where these are several: up to 100,000 in a second. Or give
        /// `load`.
        rate: Option<Frequency>, "-";
        /// Mean rate on the wire of the segments that carry responses, as often as a connection
        /// begins: the rate of connections is the load over the mean number of bits of one, by
        /// `segment` and `header`. Segments that are sent again, and those without data, come on
        /// top. Or give `rate`.
        load: Option<Rate>, "draft-irtf-iccrg-tcpeval-01: offered load";
        /// Data of a full segment, which `load` counts with: the `mss` of the flows.
        segment: Size = "1448 B", "RFC 9293, section 3.7.1; RFC 894; RFC 7323, appendix A";
        /// Headers of a segment, which `load` counts with.
        header: Size = "52 B", "RFC 9293, section 3.1; RFC 7323, appendix A";
        /// Probability with which another connection of the same train follows a connection, 0 to
        /// 0.99: a train has 1 / (1 - next_connection) connections in the mean, and trains begin
        /// at the times of a Poisson process.
        next_connection: f64 = 0.5, "assumed: clients ask for several things at a time";
        /// Mean of the exponential times from one connection of a train to the next, 1 us to 60 s.
        train_gap: Span = "1 s", "assumed: as times to think";
        /// Share of connections that have more than one exchange, 0 to 1.
        persistent: f64 = 0.25, "assumed: one exchange is the common case, Weigle et al. 2006";
        /// Probability with which, from the second exchange of a connection on, another follows, 0
        /// to 0.99.
        next_exchange: f64 = 0.4, "assumed: few connections have many exchanges";
        /// Sizes of requests. What does not fit into a packet of 1500 B with its headers is cut
        /// off. If left out, lognormal with a median of 350 B and a sigma of 1.
        requests: Option<Inner<Sizes>>,
            "assumed: the median is near the 422 B of PackMime-HTTP";
        /// Sizes of the responses that are not of the tail. If left out, lognormal with a median of
        /// 3 kB and a sigma of 1.6.
        responses: Option<Inner<Sizes>>,
            "assumed: lognormal as in Barford and Crovella, SIGMETRICS 1998, section 3.2";
        /// Sizes of the responses of the tail. If left out, Pareto from 30 kB to 100 MB with a
        /// shape of 1.2.
        tail: Option<Inner<Sizes>>,
            "assumed: near the tail index of Barford and Crovella, SIGMETRICS 1998, table 2";
        /// Share of responses of the tail, 0 to 1.
        tail_share: f64 = 0.1, "assumed: most of the data is then of the tail";
        /// Mean of the exponential times from the end of a response to the next request on the
        /// connection.
        think: Span = "1 s", "assumed: of the order of a second, not of a round trip";
        /// Time that a server takes to answer. It passes before the request is sent.
        server: Span = "20 ms", "assumed: below the 100 ms that servers of PackMime-HTTP take";
    }
}

/// Connections in a second, at most.
const MAX_PER_SECOND: f64 = 1e5;

/// The largest probability that another follows: of 0.99, 100 are one train or connection.
const MAX_NEXT: f64 = 0.99;

/// The bounds of the mean time between connections of a train.
const GAPS: [Span; 2] = [Span::from_us(1), Span::from_s(60)];

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = TmixParameters::read(section)?;
    check(section, &parameters)?;
    let exchanges = exchanges(section, &parameters)?;
    let rate = rate(section, &parameters, &exchanges)?;
    let TmixParameters { next_connection, train_gap, .. } = parameters;
    let request = exchanges.requests.mean().clamp(1.0, f64::from(u16::MAX)) as u16;
    let process = move |stream: Stream| {
        let trains = Trains::new(rate, next_connection, train_gap.seconds(), stream.member(0));
        Vectors::new(trains, exchanges.clone(), stream)
    };
    Ok(of_connections(process, request))
}

fn check(section: &Section<'_>, parameters: &TmixParameters) -> Result<(), Problem> {
    let TmixParameters { next_connection, next_exchange, .. } = *parameters;
    let TmixParameters { persistent, tail_share, train_gap, segment, header, .. } = *parameters;
    section.within("next_connection", next_connection, 0.0, MAX_NEXT)?;
    section.within("next_exchange", next_exchange, 0.0, MAX_NEXT)?;
    section.within("persistent", persistent, 0.0, 1.0)?;
    section.within("tail_share", tail_share, 0.0, 1.0)?;
    if !(GAPS[0]..=GAPS[1]).contains(&train_gap) {
        let message =
            format!("{} s is out of range; allowed are 1 us to 60 s", train_gap.seconds());
        return Err(section.fail("train_gap", message));
    }
    packet_size(section, "segment", segment)?;
    if header.bytes() > 0 {
        packet_size(section, "header", header)?;
    }
    Ok(())
}

/// The exchanges of connections.
fn exchanges(section: &Section<'_>, parameters: &TmixParameters) -> Result<Exchanges, Problem> {
    let TmixParameters { requests, responses, tail, .. } = parameters;
    let sizes = |given: &Option<Inner<Sizes>>, median: f64, sigma: f64| match given {
        Some(given) => given.build(section, |build, inner| build(inner)),
        None => Ok(lognormal(median, sigma)),
    };
    Ok(Exchanges {
        requests: sizes(requests, 350.0, 1.0)?,
        responses: sizes(responses, 3e3, 1.6)?,
        tail: match tail {
            Some(tail) => tail.build(section, |build, inner| build(inner))?,
            None => bounded_pareto(30e3, 1.2, 100e6),
        },
        tail_share: parameters.tail_share,
        persistent: parameters.persistent,
        next: parameters.next_exchange,
        think: parameters.think,
        server: parameters.server,
    })
}

/// Connections in a second, by the rate or by the load.
fn rate(
    section: &Section<'_>,
    parameters: &TmixParameters,
    exchanges: &Exchanges,
) -> Result<f64, Problem> {
    let (key, rate) = match (parameters.rate, parameters.load) {
        (Some(rate), None) => ("rate", rate.per_second()),
        (None, Some(load)) => {
            let TmixParameters { segment, header, .. } = parameters;
            let response = exchanges.mean_response(segment.bytes(), header.bytes());
            ("load", load.bytes_per_second() / (exchanges.mean() * response))
        }
        (Some(_), Some(_)) => {
            let message = "there is a rate already; give one of them";
            return Err(section.fail("load", message));
        }
        (None, None) => {
            let message = "is missing; give rate = \"20 /s\", or load = \"60 Mbit/s\"";
            return Err(section.fail("rate", message));
        }
    };
    if rate <= 0.0 {
        return Err(section.fail(key, "is zero; allowed is above 0"));
    }
    if rate > MAX_PER_SECOND {
        let message = format!(
            "{rate:.3e} connections in a second are too many; allowed are up to {MAX_PER_SECOND:.0}"
        );
        return Err(section.fail(key, message));
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Node, Table, Value};

    fn table(key: &str, value: Value) -> Value {
        Value::Table(Table::from_iter([(key.to_owned(), Node::new(value))]))
    }

    fn constant(size: &str) -> Value {
        table("constant", table("size", size.into()))
    }

    /// Exchanges begin as often as the load asks: responses of 2000 B are 2 segments of 1448 B or
    /// less, 2104 B with their headers, of which a connection has 1.416667. 7,153,600 bit/s are 300
    /// connections in a second; with 536 B and 40 B of headers, 2160 B, 7,344,000 bit/s are, and
    /// without headers 6,800,000 bit/s. In 1000 s begin 300,000, without trains with a standard
    /// deviation of 548; the bound is five of that, 0.9 %.
    #[test]
    fn connections_begin_as_often_as_the_load_asks() {
        for (load, segment, header) in [
            ("7153600 bit/s", "1448 B", "52 B"),
            ("7344000 bit/s", "536 B", "40 B"),
            ("6800 kbit/s", "1448 B", "0 B"),
        ] {
            let kind = read(
                &build,
                &[
                    ("load", load.into()),
                    ("segment", segment.into()),
                    ("header", header.into()),
                    ("responses", constant("2 kB")),
                    ("tail_share", 0.0.into()),
                    ("next_connection", 0.0.into()),
                ],
            )
            .unwrap();
            let mut pool = (kind.pool)(1, &mut |_| Streams::new(5, 0).named("load"));
            let mut count = 0_i32;
            loop {
                assert_eq!(pool.next(0).unwrap().size, Size::from_bytes(2000));
                match pool.asking(0).begins {
                    Some(time) if time > Span::from_s(1000) => break,
                    begins => count += i32::from(begins.is_some()),
                }
            }
            assert!((count - 300_000).abs() < 5 * 548, "{load}: {count}");
        }
    }

    /// Requests fit into a packet: what does not is cut off.
    #[test]
    fn requests_fit_into_a_packet() {
        for (size, packet) in [("350 B", 390), ("1460 B", 1500), ("1 MB", 1500)] {
            let given = [("rate", "5 /s".into()), ("requests", constant(size))];
            let kind = read(&build, &given).unwrap();
            assert_eq!(kind.requests.unwrap().request, packet);
            let mut pool = (kind.pool)(1, &mut |_| Streams::new(5, 0).named("requests"));
            pool.next(0);
            assert_eq!(pool.asking(0).request, Some(packet));
        }
    }

    /// A rate or a load is asked for, and one of them; rates, shares, times and sizes that cannot
    /// be are refused under their key.
    #[test]
    fn what_cannot_be_is_refused() {
        let path = |given: &[(&str, Value)]| read(&build, given).err().map(|problem| problem.path);
        assert_eq!(path(&[]).as_deref(), Some("rate"));
        let both = [("rate", "5 /s".into()), ("load", "1 Mbit/s".into())];
        assert_eq!(path(&both).as_deref(), Some("load"));
        assert_eq!(path(&[("load", "60 Mbit/s".into())]), None);
        for (key, value) in
            [("rate", "0 /s"), ("rate", "100001 /s"), ("load", "0 bit/s"), ("load", "1 Tbit/s")]
        {
            assert_eq!(path(&[(key, value.into())]).as_deref(), Some(key), "{value}");
        }
        let with = |key, value| path(&[("rate", "5 /s".into()), (key, value)]);
        for (key, value) in [
            ("next_connection", 1.0.into()),
            ("next_exchange", 1.0.into()),
            ("next_exchange", (-0.1).into()),
            ("persistent", 1.1.into()),
            ("tail_share", 1.1.into()),
            ("train_gap", "0 s".into()),
            ("train_gap", "61 s".into()),
            ("segment", "0 B".into()),
            ("segment", "70 kB".into()),
            ("header", "70 kB".into()),
        ] {
            assert_eq!(with(key, value).as_deref(), Some(key));
        }
        for key in ["requests", "responses", "tail"] {
            assert_eq!(with(key, constant("0 B")), Some(format!("{key}.constant.size")));
        }
        assert_eq!(with("next_connection", 0.99.into()), None);
        assert_eq!(with("header", "0 B".into()), None);
    }
}
