//! Traffic.

use forebay_kernel::Stream;
use forebay_laws::traffic::{BuildTraffic, TrafficKind};
use forebay_network::Traffic;
use forebay_parameters::{Entry, Problem};

use super::convert::span_ps;
use super::{Build, Exported, Given, Guest, describe};
use crate::abi::{self, NEVER, TrafficFacts, decision, flag, kind};

impl Build for BuildTraffic {
    fn describe<L: Exported>(entry: &'static Entry<Self>) -> Result<abi::Law, String> {
        describe::<L, Source>(entry)
    }
}

/// The traffic of a flow.
struct Source {
    kind: TrafficKind,
    /// Made by the first burst, with draws from the stream that it is drawn from.
    flow: Option<Box<dyn Traffic>>,
}

impl Guest for Source {
    type Build = BuildTraffic;
    type Facts = TrafficFacts;
    const KIND: u32 = kind::TRAFFIC;

    fn make(build: BuildTraffic, given: &Given<'_>) -> Result<Self, Problem> {
        build(given.section).map(|kind| Self { kind, flow: None })
    }

    fn flags(&self) -> u32 {
        let endless = if self.kind.endless { flag::ENDLESS } else { 0 };
        let transfers = if self.kind.transfers { flag::TRANSFERS } else { 0 };
        flag::DRAWS | endless | transfers
    }

    fn decisions(&self) -> Vec<usize> {
        vec![decision::NEXT, decision::DESCRIBE]
    }

    fn decide(
        &mut self,
        decision: usize,
        facts: &mut TrafficFacts,
        stream: Option<&mut Stream>,
    ) -> Result<i32, String> {
        if decision == decision::DESCRIBE {
            let bytes = |size: forebay_units::Size| i64::try_from(size.bytes()).unwrap_or(NEVER);
            let bps = |rate: forebay_units::Rate| i64::try_from(rate.bps()).unwrap_or(NEVER);
            facts.largest = self.kind.largest.map_or(NEVER, bytes);
            facts.mean_rate = self.kind.mean_rate.map_or(NEVER, bps);
            return Ok(0);
        }
        let stream = stream.ok_or("was handed no random stream")?;
        let flow = self.flow.get_or_insert_with(|| (self.kind.make)(stream));
        let Some(burst) = flow.next(stream) else { return Ok(0) };
        facts.gap = span_ps(burst.gap);
        facts.bytes = i64::try_from(burst.size.bytes()).unwrap_or(NEVER);
        Ok(1)
    }

    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}

    fn check(&mut self) -> Result<(), String> {
        let kind = &self.kind;
        let beyond = [
            (kind.pauses, "pauses"),
            (kind.fresh, "fresh connections"),
            (kind.requests.is_some(), "requests"),
            (kind.video.is_some(), "a video"),
        ];
        match beyond.iter().find(|(has, _)| *has) {
            None => Ok(()),
            Some((_, what)) => {
                Err(format!("has {what}, which version 1 of the interface cannot carry"))
            }
        }
    }
}
