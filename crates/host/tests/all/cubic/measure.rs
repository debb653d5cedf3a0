//! The window of CUBIC over time, of real stacks and of the model, against RFC 9438.

#![expect(clippy::disallowed_methods, reason = "bounds for comparison, which no run depends on")]
#![allow(dead_code, reason = "the test and the example use parts of it")]

use forebay_host::{Network, Report, Script, Stack};
use forebay_network::record::Column;

/// Constants of RFC 9438, section 4.1.2 and 4.6.
pub const C: f64 = 0.4;
pub const BETA: f64 = 0.7;
/// Bytes of a segment of the stacks, and of the model.
const DATAGRAM: f64 = 1472.0;
const SEGMENT: f64 = 1448.0;

/// A path of 1 Gbit/s, which no window here fills, so that no queue lengthens the round trips, and
/// a flow with data without end.
pub struct Cell {
    /// Round-trip time in seconds.
    pub rtt: f64,
    /// Times in seconds after which the next datagram is lost.
    pub losses: &'static [f64],
    /// Length in seconds.
    pub length: f64,
}

/// A long path: the cubic function is above the estimate of Reno's window. The second loss comes
/// when the window is above the last maximum, the third when it is below.
pub const LONG: Cell = Cell { rtt: 0.1, losses: &[0.65, 8.0, 12.0], length: 20.0 };
/// A short path: the estimate of Reno's window is above the cubic function.
pub const SHORT: Cell = Cell { rtt: 0.01, losses: &[0.045], length: 1.2 };

/// A reduction of the window, and the window from there to the next one. Windows are in segments,
/// times in seconds since the reduction.
#[derive(Debug)]
pub struct Epoch {
    pub before: f64,
    pub after: f64,
    /// W_max by section 4.7.
    pub maximum: f64,
    pub windows: Vec<(f64, f64)>,
}

impl Epoch {
    /// K by equation 2.
    pub fn k(&self) -> f64 {
        ((self.maximum - self.after) / C).cbrt()
    }

    /// Equation 1.
    pub fn cubic(&self, time: f64) -> f64 {
        C * (time - self.k()).powi(3) + self.maximum
    }

    /// Time at which equation 1 is at `share` of W_max.
    pub fn due(&self, share: f64) -> f64 {
        self.k() - ((1.0 - share) * self.maximum / C).cbrt()
    }

    /// First time at which the window is at least `window`.
    pub fn reaches(&self, window: f64) -> Option<f64> {
        self.windows.iter().find(|(_, now)| *now >= window).map(|(time, _)| *time)
    }

    /// Time for which the window does not grow.
    pub fn stalls(&self) -> Option<f64> {
        self.windows.iter().find(|(_, now)| *now >= self.after + 1.0).map(|(time, _)| *time)
    }

    /// The largest distance of the window from equation 1, as a part of that, up to `1.2 * K`, and
    /// where it is.
    pub fn distance(&self) -> (f64, f64) {
        let within = self.windows.iter().filter(|(time, _)| *time <= 1.2 * self.k());
        let apart = within.map(|(time, window)| (window / self.cubic(*time) - 1.0, *time));
        apart.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs())).unwrap_or_default()
    }

    /// Segments by which the window grows in a round trip of `rtt` between two times.
    pub fn growth(&self, rtt: f64, from: f64, to: f64) -> Option<f64> {
        let at = |time: f64| self.windows.iter().find(|(now, _)| *now >= time);
        let ((first, low), (last, high)) = (at(from)?, at(to)?);
        Some((high - low) / (last - first) * rtt)
    }
}

/// The reductions in a window over time; drops within two round trips are one.
pub fn epochs(windows: &[(f64, f64)], rtt: f64) -> Vec<Epoch> {
    let mut found: Vec<Epoch> = Vec::new();
    let mut maximum = 0.0;
    let mut begun = f64::NEG_INFINITY;
    for pair in windows.windows(2) {
        let [(_, before), (time, now)] = [pair[0], pair[1]];
        match found.last_mut() {
            Some(epoch) if time - begun <= 2.0 * rtt => {
                // A window that falls step by step is a new one when it has fallen.
                if now < epoch.after {
                    epoch.after = now;
                    epoch.windows.clear();
                }
                epoch.windows.push((time - begun, now));
            }
            _ if now < 0.95 * before => {
                begun = time;
                maximum = if before < maximum { before * (1.0 + BETA) / 2.0 } else { before };
                found.push(Epoch { before, after: now, maximum, windows: vec![(0.0, now)] });
            }
            Some(epoch) => epoch.windows.push((time - begun, now)),
            None => {}
        }
    }
    found
}

fn network(cell: &Cell, length: f64, more: &str) -> Network {
    Network::from_toml(&format!(
        r#"
name = "path"
duration = "{length:.3} s"

[links.path]
from = "server"
to = "client"
rate = "1 Gbit/s"
delay = "{delay} s"
queue.droptail.limit = "10000 packets"
{more}"#,
        delay = cell.rtt / 2.0,
    ))
}

const FLOW: &str = r#"
[flows.download]
from = "server"
to = "client"
"#;

/// The window of `stack` in `cell`, in segments over time: one datagram is lost after each of the
/// times.
pub fn of_stack(stack: &dyn Stack, cell: &Cell) -> Vec<(f64, f64)> {
    let run = |script: &Script, length: f64| {
        let mut network = network(cell, length, &format!("{FLOW}tcp = {{}}\n"));
        network.take_over("download", stack, 7).expect("the cell is sound");
        let [server, client] = network.pairs_of("download")[0];
        network.script(server, client, script.clone());
        (network.run(None).expect("the cell runs"), server)
    };
    let mut script = Script::new();
    for loss in cell.losses {
        // Up to the loss both runs are the same.
        let (report, server) = run(&script, loss + 0.1);
        let next = report.sent(server).iter().find(|sent| sent.time.seconds() >= *loss);
        script = script.lose(next.expect("the flow has data").number);
    }
    let (report, server) = run(&script, cell.length);
    let received = report.received(server).iter();
    received
        .filter_map(|it| Some((it.time.seconds(), it.probes.get("cwnd_bytes")? / DATAGRAM)))
        .collect()
}

/// The window of the model's CUBIC in `cell`, sampled ten times a round trip. The link fails for a
/// tenth of a round trip after each of the times.
pub fn of_model(cell: &Cell) -> Vec<(f64, f64)> {
    let rtt = cell.rtt;
    let list = |times: Vec<f64>| {
        let times: Vec<String> = times.iter().map(|time| format!("\"{time:.4} s\"")).collect();
        times.join(", ")
    };
    let down = list(cell.losses.to_vec());
    let up = list(cell.losses.iter().map(|time| time + rtt / 10.0).collect());
    let more = format!(
        r#"impairment.outage = {{ down = [{down}], up = [{up}] }}
{FLOW}tcp = {{ control.cubic = {{ alpha_law = "rfc9438", hystart = false }}, pacing = "window" }}

[record]
series = "{step} s"
series_of = ["flows.download"]
"#,
        step = rtt / 10.0,
    );
    let mut network = network(cell, cell.length, &more);
    network.record();
    let report = network.run(None).expect("the cell runs");
    let [time, window] = ["time_s", "mean_cwnd_bytes"].map(|name| column(&report, name));
    time.iter().zip(&window).map(|(time, bytes)| (*time, bytes / SEGMENT)).collect()
}

fn column(report: &Report, name: &str) -> Vec<f64> {
    let table = report.table("series/flows.download").expect("the series is recorded");
    let found = table.columns.iter().find(|(known, _)| known == name);
    match found {
        Some((_, Column::Float(values))) => values.clone(),
        _ => panic!("no {name}: {:?}", table.columns.iter().map(|it| &it.0).collect::<Vec<_>>()),
    }
}
