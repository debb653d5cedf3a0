//! The run of a network whose hosts are ready, and the comparison of two.

use std::collections::BTreeMap;

use forebay_network::Ecn;
use forebay_scenario::{Control, Report as Invariants, RunOptions, Scenario};

use crate::error::HostError;
use crate::host::{Departure, HostRef};
use crate::report::{HostReport, Report};
use crate::script::Scripted;
use crate::transport::{GroupEnds, between};

/// A network whose hosts are ready.
pub(crate) struct Wired {
    pub(crate) scenario: Scenario,
    pub(crate) groups: BTreeMap<String, GroupEnds>,
    pub(crate) hosts: Vec<HostRef>,
    /// The nodes at which each is.
    pub(crate) nodes: Vec<Vec<String>>,
    pub(crate) options: RunOptions,
}

impl Wired {
    pub(crate) fn run(self, seed: Option<u64>, control: &Control) -> Result<Report, HostError> {
        let Self { scenario, groups, hosts, nodes, options } = self;
        let options = RunOptions { seed, ..options };
        let (result, tables) = between(groups, || scenario.run(&options, control))?;
        let mut reports = Vec::new();
        let mut logs = Vec::new();
        for (host, nodes) in hosts.iter().zip(nodes) {
            let mut host = host.lock();
            reports.push(HostReport::of(&host, nodes, scenario.duration()));
            let script = host.script.take();
            if let Some(reason) = script.as_ref().and_then(Scripted::unfollowed) {
                return Err(HostError::Wrong(format!("script of host {} {reason}", host.name)));
            }
            logs.push(script.map(|script| script.log).unwrap_or_default());
        }
        Ok(Report { hosts: reports, result, tables, logs })
    }

    /// Repeat the run of `report`, watched.
    pub(crate) fn check(
        self,
        seed: Option<u64>,
        control: &Control,
        report: &Report,
    ) -> Result<Invariants, HostError> {
        let Self { scenario, groups, options, .. } = self;
        let options = RunOptions { seed, record: false, ..options };
        Ok(between(groups, || scenario.check(&options, control, &report.result))?)
    }
}

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
