//! Runs of noq's BBRv3 for docs/stacks/noq-bbr3.md, with its state as probes: `bbr_cases.py` asks
//! for them, a line of JSON each.

#![expect(clippy::disallowed_methods, reason = "it is a program")]

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{BufRead, Write as _};

use forebay_host::quic::noq::{self, proto};
use forebay_host::{
    App, Datagram, Endpoint, HostError, Member, Network, Progress, Span, Stack, Time, Transfer,
    Transmit,
};
use forebay_network::record::Column;
use forebay_units::quantity::{parse_size, parse_span};
use proto::congestion::Bbr3;
use serde_json::{Value, json};

/// The text that `Bbr3` shows by `Debug`, up to its packets: all quantities that the draft names.
#[derive(Default)]
struct Shown(String);

impl fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        if self.0.ends_with("packets: ") { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Shown {
    /// The field called `name`.
    fn field(&self, name: &str) -> Option<&str> {
        let start = self.0.find(&format!(" {name}: "))? + name.len() + 3;
        self.0[start..].split(',').next()
    }

    /// A number that is below all bounds that mean none.
    fn number(&self, name: &str) -> Option<f64> {
        self.field(name)?.parse().ok().filter(|value: &f64| *value < 1e18)
    }

    /// A duration, in seconds.
    fn seconds(&self, name: &str) -> Option<f64> {
        let text = self.field(name)?;
        let (unit, factor) = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]
            .into_iter()
            .find(|(unit, _)| text.ends_with(unit))?;
        text.trim_end_matches(unit).parse::<f64>().ok().map(|value| value * factor)
    }

    /// The number of a state in `forebay.suite.bbr`.
    fn state(&self) -> Option<f64> {
        Some(match self.field("state")? {
            "Startup" => 0.0,
            "Drain" => 1.0,
            "ProbeBw(Down)" => 2.0,
            "ProbeBw(Cruise)" => 3.0,
            "ProbeBw(Refill)" => 4.0,
            "ProbeBw(Up)" => 5.0,
            "ProbeRtt" => 6.0,
            _ => return None,
        })
    }
}

/// noq with the inner state of its BBRv3 as probes.
struct Watched(noq::Quic);

impl Endpoint for Watched {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        self.0.receive(now, datagram);
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        self.0.transmit(now, bytes)
    }

    fn timeout(&mut self) -> Option<Time> {
        self.0.timeout()
    }

    fn wake(&mut self, now: Time) {
        self.0.wake(now);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(visit);
        let connection = self.0.connections().next();
        let control = connection.and_then(|it| it.congestion_state(proto::PathId::ZERO));
        let Some(control) =
            control.and_then(|it| it.clone_box().into_any().downcast::<Bbr3>().ok())
        else {
            return;
        };
        let mut shown = Shown::default();
        let _ = write!(shown, "{control:?}");
        let flag = |name| shown.field(name).map(|it| f64::from(u8::from(it == "true")));
        let bits = |name| shown.number(name).map(|bytes| 8.0 * bytes);
        let probes = [
            ("state", shown.state()),
            ("pacing_gain", shown.number("pacing_gain")),
            ("full_bandwidth", flag("full_bw_reached")),
            ("bandwidth_bps", bits("bw")),
            ("max_bandwidth_bps", bits("max_bw")),
            ("min_rtt_s", shown.seconds("min_rtt").filter(|value| *value < 1e6)),
            ("inflight_bytes", shown.number("inflight")),
            ("extra_acked_bytes", shown.number("extra_acked")),
            ("inflight_longterm_bytes", shown.number("inflight_longterm")),
            ("inflight_shortterm_bytes", shown.number("inflight_shortterm")),
            ("bandwidth_shortterm_bps", bits("bw_shortterm")),
            ("pacing_rate_bps", bits("pacing_rate")),
        ];
        for (name, value) in probes {
            value.into_iter().for_each(|value| visit(name, value));
        }
    }
}

/// An application of `noq::Quic` on a watched one.
struct On<A>(A);

impl<A: App<noq::Quic>> App<Watched> for On<A> {
    fn advance(&mut self, now: Time, endpoint: &mut Watched) -> Progress {
        self.0.advance(now, &mut endpoint.0)
    }

    fn delivered(&self) -> u64 {
        self.0.delivered()
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.figures(visit);
    }
}

/// A server that writes files on the first stream, one after each interval.
struct Writes {
    size: u64,
    interval: Span,
    count: u64,
    stream: Option<proto::StreamId>,
    start: Time,
    written: u64,
}

impl App<noq::Quic> for Writes {
    fn advance(&mut self, now: Time, stack: &mut noq::Quic) -> Progress {
        while stack.poll().is_some() {}
        let Some(connection) = stack.connection(0) else { return Progress::Waiting };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(proto::Dir::Bi);
            self.start = now;
        }
        let Some(stream) = self.stream else { return Progress::Waiting };
        let begun = (now.since(self.start).ps() / self.interval.ps() + 1).min(self.count);
        let mut sending = connection.send_stream(stream);
        let chunk = [0; 1 << 16];
        while self.written < begun * self.size {
            let left = (begun * self.size - self.written).min(chunk.len() as u64) as usize;
            let Ok(written) = sending.write(&chunk[..left]) else { break };
            self.written += written as u64;
        }
        if begun == self.count {
            return Progress::Waiting;
        }
        Progress::Until(self.start + Span::from_ps(begun * self.interval.ps()))
    }
}

/// noq's BBRv3, watched; `writes` are size, interval and number of files.
struct Bbr {
    writes: Option<(u64, Span, u64)>,
}

impl Stack for Bbr {
    fn name(&self) -> &str {
        "noq bbr3"
    }

    fn version(&self) -> &str {
        "noq-proto 1.4"
    }

    fn pair(&self, transfer: &Transfer) -> [Member; 2] {
        let Transfer { seed, .. } = *transfer;
        let transport = || noq::transport("bbr3");
        let server = noq::server_config(transport());
        let server = Watched(noq::Quic::server(noq::endpoint_config(seed), server));
        let client = noq::client_config(transport());
        let client = noq::Quic::client(noq::endpoint_config(!seed), client);
        let server = match self.writes {
            None => Member::new(server, On(noq::Serve::default())),
            Some((size, interval, count)) => {
                let (stream, start, written) = (None, Time::ZERO, 0);
                let app = Writes { size, interval, count, stream, start, written };
                Member::new(server, On(app))
            }
        };
        [server, Member::new(client, noq::Download::from(transfer.server, None))]
    }
}

/// A run that is asked for.
#[derive(serde::Deserialize)]
struct Request {
    text: String,
    set: Vec<String>,
    seed: u64,
    replication: u64,
    writes: Option<(String, String, u64)>,
}

impl Request {
    fn run(&self) -> Result<Value, HostError> {
        let wrong = |error: &dyn fmt::Display| HostError::Wrong(error.to_string());
        let writes = match &self.writes {
            None => None,
            Some((size, interval, count)) => Some((
                parse_size(size).map_err(|error| wrong(&error))?.bytes(),
                parse_span(interval).map_err(|error| wrong(&error))?,
                *count,
            )),
        };
        let mut network = Network::from_toml(&self.text);
        self.set.iter().for_each(|assignment| {
            network.set(assignment);
        });
        network.replication(self.replication).record();
        network.take_over("bulk", &Bbr { writes }, self.seed + self.replication)?;
        let report = network.run(Some(self.seed))?;
        let series = report.tables.iter().filter_map(|table| {
            let place = table.name.strip_prefix("series/")?;
            let columns: BTreeMap<&str, Value> = table
                .columns
                .iter()
                .filter_map(|(name, column)| match column {
                    Column::Float(values) => Some((name.as_str(), json!(values))),
                    Column::Whole(values) => Some((name.as_str(), json!(values))),
                    _ => None,
                })
                .collect();
            Some((place, columns))
        });
        let series: BTreeMap<&str, BTreeMap<&str, Value>> = series.collect();
        Ok(json!({ "result": report.result, "hosts": report.hosts, "series": series }))
    }
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("requests are text");
        let request: Request = serde_json::from_str(&line).expect("a line is a request");
        let answer = request.run().unwrap_or_else(|error| json!({ "error": error.to_string() }));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("somebody reads answers");
    }
}
