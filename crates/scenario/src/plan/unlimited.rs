//! Queues without limit that TCP can fill.
//!
//! Tail drop without limit is right at a link that is faster than all that feeds it. Where more can
//! come than the link carries, and TCP decides how much that is, nothing ever tells a sender to
//! slow down: the queue grows for as long as the run lasts, and its delay is no finding.

use std::collections::BTreeSet;

use crate::plan::flows::FlowPlan;
use crate::plan::links::LinkPlan;

/// Load that can come to a queue without limit.
#[derive(Clone, Default)]
struct Load<'p> {
    /// Rate of the sources that no other link of their way holds down, in bit/s.
    sources: f64,
    /// The other links that hold flows down.
    limits: BTreeSet<usize>,
    /// The first group of TCP flows among them.
    tcp: Option<&'p str>,
}

/// Warn of every link whose queue is tail drop without limit, and to which more can come than it
/// carries, TCP among it.
///
/// A flow brings at most what its sources send (TCP that never runs out: any rate), and what the
/// slowest other link of its way carries, counted once for all flows that it holds down. A slower
/// link behind counts, one behind of the same rate does not: the queue is at the first of them.
/// Flows that are shaped or policed, or whose rate nothing tells, are left out.
pub(crate) fn warn_of_unlimited_queues(links: &[LinkPlan<'_>], flows: &[FlowPlan]) {
    if !links.iter().any(is_unlimited) {
        return;
    }
    let mut loads = vec![Load::default(); links.len()];
    for flow in flows {
        let rate = if flow.facts.endless {
            f64::INFINITY
        } else if let Some(rate) = flow.mean_rate() {
            rate.bps() as f64 * f64::from(flow.count) / flow.abreast()
        } else {
            continue;
        };
        let is_bounded = |link: &usize| links[*link].bounds_load() || links[*link].holds_back;
        if flow.policing.is_some() || flow.there.iter().any(is_bounded) {
            continue;
        }
        for (place, number) in flow.there.iter().enumerate() {
            if is_unlimited(&links[*number]) {
                loads[*number].add(flow, rate, slowest_other(links, &flow.there, place));
            }
        }
    }
    for (link, load) in links.iter().zip(&loads) {
        let held_down: f64 = load.limits.iter().map(|other| links[*other].rate.bps() as f64).sum();
        if let Some(flow) = load.tcp
            && load.sources + held_down > link.rate.bps() as f64
        {
            let message = format!(
                "is tail drop without limit, and TCP (flows.{flow}) can fill it for as long as the \
                 run lasts: give it a limit, such as {{ droptail = {{ limit = \"100 packets\" }} \
                 }}, or another queue"
            );
            link.warn("queue", message);
        }
    }
}

impl<'p> Load<'p> {
    /// Add `flow`, whose sources send at `rate` in bit/s, and of whose way another link, with its
    /// rate, is the slowest.
    fn add(&mut self, flow: &'p FlowPlan, rate: f64, slowest: Option<(usize, f64)>) {
        match slowest {
            Some((other, most)) if most < rate => {
                self.limits.insert(other);
            }
            _ => self.sources += rate,
        }
        if flow.facts.adapts {
            self.tcp.get_or_insert(&flow.name);
        }
    }
}

fn is_unlimited(link: &LinkPlan<'_>) -> bool {
    link.holds_all() && !link.bounds_load()
}

/// The slowest link of `way` that holds down what comes to the one at `place`, with its rate.
fn slowest_other(links: &[LinkPlan<'_>], way: &[usize], place: usize) -> Option<(usize, f64)> {
    let rate_of = |number: &usize| links[*number].rate.bps();
    let (before, here, behind) = (&way[..place], way[place], &way[place + 1..]);
    let slower = behind.iter().filter(|number| rate_of(number) < rate_of(&here));
    let slowest = before.iter().chain(slower).min_by_key(|number| rate_of(number));
    slowest.map(|number| (*number, rate_of(number) as f64))
}
