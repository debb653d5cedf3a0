//! The control loop of an aggregate: laws at the egress and ingress nodes, and signals under way
//! between them.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_laws::pcn_edge::{
    AdmissionControl, AdmissionSignal, FlowTermination, Leaving, Termination, TerminationSignal,
};
use forebay_parameters::Spread;
use forebay_units::{Span, Time};

use super::parameters::ProbingParameters;
use super::table::{Call, CallTable};

/// The control of an ingress-egress aggregate as the scenario describes it. Without laws all calls
/// are admitted and none is terminated.
pub struct EdgePlan {
    /// Time from what the egress node sees to its effect at the source.
    pub rtt: Spread,
    /// Law that blocks new calls.
    pub admission: Option<Box<dyn AdmissionControl>>,
    /// Law that selects calls in progress that must end.
    pub termination: Option<Box<dyn FlowTermination>>,
    /// Probing for new calls.
    pub probing: Option<ProbingParameters>,
}

impl Default for EdgePlan {
    fn default() -> Self {
        let rtt = Spread::At(Span::ZERO);
        Self { rtt, admission: None, termination: None, probing: None }
    }
}

/// A signal from the egress node to the ingress node.
#[derive(Clone, Copy)]
pub(super) enum Signal {
    Admission(AdmissionSignal),
    Termination(TerminationSignal),
    /// A probe of this call arrived marked.
    Refuse(u64),
}

/// Signals on their way, by number: of two that arrive at one instant, the one sent first is first.
#[derive(Default)]
pub(super) struct Signals {
    /// From number `first` on; those that have arrived before others are gone.
    under_way: VecDeque<Option<Signal>>,
    first: u32,
}

impl Signals {
    /// Numbers begin anew after this one.
    pub(super) const LAST: u32 = (1 << 29) - 1;

    /// Keep `signal` until it arrives; its number.
    pub(super) fn keep(&mut self, signal: Signal) -> u32 {
        let behind = u32::try_from(self.under_way.len()).ok().filter(|len| *len < Self::LAST);
        self.under_way.push_back(Some(signal));
        let behind = behind.expect("memory ends before numbers do");
        self.first.wrapping_add(behind) & Self::LAST
    }

    pub(super) fn take(&mut self, number: u32) -> Signal {
        let place = number.wrapping_sub(self.first) & Self::LAST;
        let signal = self.under_way[place as usize].take().expect("a signal arrives once");
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.first = self.first.wrapping_add(1) & Self::LAST;
        }
        signal
    }
}

/// Answers of the laws to a packet that leaves the domain.
#[derive(Clone, Copy, Default)]
pub(super) struct Answers {
    pub(super) admission: Option<AdmissionSignal>,
    pub(super) termination: Option<TerminationSignal>,
}

/// The control of an aggregate in a run.
pub(super) struct Edge {
    pub(super) plan: EdgePlan,
    pub(super) signals: Signals,
    /// Bytes that entered the domain since the termination law's interval began.
    pub(super) entered: u64,
    /// Rate in bit/s at which they entered during the interval before.
    pub(super) sent_rate: f64,
    /// True if new calls are blocked, as last observed.
    pub(super) blocking: bool,
    /// Draws of round-trip times that belong to no call, and of calls to terminate.
    stream: Stream,
}

impl Edge {
    pub(super) fn new(plan: EdgePlan, stream: Stream) -> Self {
        let signals = Signals::default();
        Self { plan, signals, entered: 0, sent_rate: 0.0, blocking: false, stream }
    }

    /// Returns true if the packets that leave are observed.
    #[inline]
    pub(super) fn watches(&self) -> bool {
        self.plan.admission.is_some() || self.plan.termination.is_some()
    }

    /// Ask the laws at the egress node about a packet.
    #[inline]
    pub(super) fn leaves(&mut self, leaving: &Leaving) -> Answers {
        let EdgePlan { admission, termination, .. } = &mut self.plan;
        Answers {
            admission: admission.as_mut().and_then(|law| law.leaves(leaving)),
            termination: termination.as_mut().and_then(|law| law.leaves(leaving)),
        }
    }

    /// Returns true if a new call may in while `present` are.
    pub(super) fn admits(&self, present: u32) -> bool {
        self.plan.admission.as_ref().is_none_or(|law| law.admits(present))
    }

    /// The interval of the termination law has ended: measure what entered meanwhile.
    pub(super) fn close_interval(&mut self, interval: Span) {
        self.sent_rate = self.entered as f64 * 8.0 / interval.seconds();
        self.entered = 0;
    }

    /// Returns the action of the ingress node upon a signal of the termination law.
    pub(super) fn judge(&mut self, signal: TerminationSignal, now: Time) -> Termination {
        let sent = self.sent_rate;
        let law = self.plan.termination.as_mut();
        law.map_or(Termination::Nothing, |law| law.signalled(signal, sent, now))
    }

    /// Choose calls of `amount` bit/s in all: first, in random order, those marked since `since`,
    /// then others (RFC 6661, section 3.3.2). The last one chosen may exceed the amount.
    pub(super) fn choose(
        &mut self,
        calls: &CallTable,
        amount: f64,
        since: Time,
        rate: impl Fn(&Call) -> f64,
    ) -> Vec<u32> {
        let marked = |call: &Call| call.marked.is_some_and(|at| at >= since);
        let mut chosen = Vec::new();
        let mut left = amount;
        for wanted in [true, false] {
            let candidates = calls.living().filter(|(_, call)| marked(call) == wanted);
            let mut candidates: Vec<(u32, f64)> =
                candidates.map(|(place, call)| (place, rate(call))).collect();
            while left > 0.0 && !candidates.is_empty() {
                let at = self.stream.below(candidates.len() as u64) as usize;
                let (place, rate) = candidates.swap_remove(at);
                chosen.push(place);
                left -= rate;
            }
        }
        chosen
    }
}
