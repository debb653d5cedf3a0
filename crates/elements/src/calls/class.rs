//! A class of calls: when they arrive, and how one of them is made.

use std::sync::Arc;

use forebay_kernel::{Stream, Streams};
use forebay_laws::traffic::TrafficKind;
use forebay_units::{Span, Time};

use super::parameters::{BatchLaw, CallParameters, HoldingFrom, SurgeParameters, surge_times};
use super::table::Call;
use forebay_network::{FlowId, Marking, RouteId};

/// A class of calls as the scenario describes it.
pub struct ClassPlan {
    /// Component path, such as `flows.voice`: names the random streams.
    pub path: String,
    /// Its first flow; one for each medium.
    pub flow: FlowId,
    /// Number of the route that packets take.
    pub route: RouteId,
    /// Precedence with which packets set out.
    pub marking: Marking,
    /// Time at which calls begin to arrive.
    pub start: Time,
    /// Time from which no more arrive; [`Time::NEVER`] for no such time.
    pub stop: Time,
    /// The rest.
    pub parameters: CallParameters,
    /// Reroutes.
    pub surges: Vec<SurgeParameters>,
    /// The flows that make one call: they start together and have one holding time.
    pub media: Arc<[TrafficKind]>,
}

/// A class of calls in a run.
pub(super) struct Class {
    pub(super) plan: ClassPlan,
    /// Row of its first medium among the element's.
    pub(super) row: u32,
    /// Arrivals.
    stream: Stream,
    /// Times of calls that are still to be rerouted, the next one last.
    rerouted: Vec<Time>,
    /// Calls made or blocked so far: names their streams.
    serial: u64,
    call_path: String,
    media_paths: Vec<String>,
}

/// Values drawn for a call, whatever becomes of it.
pub(super) struct Draft {
    pub(super) serial: u64,
    pub(super) media_delay: Span,
    pub(super) holding: Option<Span>,
    pub(super) stream: Stream,
}

impl Class {
    pub(super) fn new(plan: ClassPlan, row: u32, streams: &Streams) -> Self {
        let stream = streams.named(&format!("{}.arrivals", plan.path));
        let mut surge = streams.named(&format!("{}.surges", plan.path));
        let mut rerouted: Vec<Time> = plan
            .surges
            .iter()
            .flat_map(|parameters| surge_times(parameters, || surge.uniform()).collect::<Vec<_>>())
            .collect();
        rerouted.sort_unstable_by(|a, b| b.cmp(a));
        let call_path = format!("{}.calls", plan.path);
        let path = |medium| {
            // The first medium has the name that the only one would have.
            let base = format!("{}.traffic", plan.path);
            if medium == 0 { base } else { format!("{base}.{medium}") }
        };
        let media_paths = (0..plan.media.len()).map(path).collect();
        Self { plan, row, stream, rerouted, serial: 0, call_path, media_paths }
    }

    /// Returns the time of the next arrival of calls after `from`; `None` if none will arrive.
    pub(super) fn next_arrival(&mut self, from: Time) -> Option<Time> {
        let CallParameters { rate, sources, .. } = self.plan.parameters;
        let rate = rate?.per_second() * f64::from(sources.unwrap_or(1));
        let at = from + Span::from_seconds(self.stream.exponential() / rate);
        (at < self.plan.stop).then_some(at)
    }

    /// Draws the number of calls that arrive now, while `present` are there.
    ///
    /// With finite sources, arrivals are drawn as if all were idle and those of busy ones thinned
    /// out: an exact way to a rate that depends on the state.
    pub(super) fn batch(&mut self, present: u32) -> u32 {
        let CallParameters { sources, batch, batch_law, .. } = self.plan.parameters;
        if let Some(sources) = sources {
            let idle = f64::from(sources.saturating_sub(present)) / f64::from(sources);
            return u32::from(self.stream.happens(idle));
        }
        match batch_law {
            BatchLaw::Fixed => {
                let more = batch.fract() > 0.0 && self.stream.happens(batch.fract());
                batch as u32 + u32::from(more)
            }
            BatchLaw::Geometric => {
                let mut calls = 1;
                while batch > 1.0 && !self.stream.happens(1.0 / batch) {
                    calls += 1;
                }
                calls
            }
        }
    }

    /// Returns the time of the next rerouted call, if one is still to come.
    pub(super) fn next_rerouted(&self) -> Option<Time> {
        self.rerouted.last().copied()
    }

    /// Returns the number of rerouted calls that come at `now`, and removes them from those to
    /// come.
    pub(super) fn take_rerouted(&mut self, now: Time) -> u32 {
        let before = self.rerouted.len();
        while self.rerouted.last().is_some_and(|at| *at <= now) {
            self.rerouted.pop();
        }
        (before - self.rerouted.len()) as u32
    }

    /// Draw what belongs to the next call.
    pub(super) fn draft(&mut self, streams: &Streams) -> Draft {
        let CallParameters { media_delay, holding, .. } = self.plan.parameters;
        let serial = self.serial;
        self.serial += 1;
        let mut stream = streams.numbered(&self.call_path, serial);
        let holding = holding.map(|mean| mean.scaled(stream.exponential()));
        let media_delay = media_delay.scaled(stream.uniform());
        Draft { serial, media_delay, holding, stream }
    }

    /// Returns the time at which a call with media from `media`, which arrived at `arrival`, ends.
    pub(super) fn end(&self, draft: &Draft, arrival: Time, media: Time) -> Time {
        let from = match self.plan.parameters.holding_from {
            HoldingFrom::Media => media,
            HoldingFrom::Arrival => arrival,
        };
        draft.holding.map_or(Time::NEVER, |holding| from + holding)
    }

    /// Make the flow of one medium of a call, with its first packet due after `media`.
    pub(super) fn flow(&self, medium: usize, serial: u64, media: Time, streams: &Streams) -> Call {
        let mut stream = streams.numbered(&self.media_paths[medium], serial);
        let traffic = (self.plan.media[medium].make)(&mut stream);
        let mut call = Call::new(traffic, stream, self.row + medium as u32);
        call.media = media;
        call.plan_packet(media);
        call
    }

    /// Mean rate of one medium in bit/s.
    pub(super) fn mean_rate(&self, medium: u32) -> f64 {
        self.plan.media[medium as usize].mean_rate.map_or(0.0, |rate| rate.bps() as f64)
    }
}

impl Call {
    /// Ask the application for its next packet, the previous one having left at `from`.
    #[inline]
    pub(super) fn plan_packet(&mut self, from: Time) {
        self.next = match self.traffic.next(&mut self.stream) {
            Some(burst) => {
                self.size = u16::try_from(burst.size.bytes()).unwrap_or(u16::MAX);
                from + burst.gap
            }
            None => Time::NEVER,
        };
    }
}
