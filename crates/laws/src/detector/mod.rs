//! Congestion detection at ports: whose source is notified to slow down.

mod contract;
mod discard;
mod input_rate;
mod queue_length;
pub(crate) mod rate_meter;

use forebay_parameters::{Category, Entry, Problem, Section};
use forebay_units::{Span, Time};

use crate::LinkFacts;
use forebay_network::FlowId;

pub use contract::{CongestionDetector, CongestionNotification};

/// Makes a detector from its section of the scenario.
pub type BuildDetector = &'static (
             dyn Fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn CongestionDetector>, Problem>
                 + Send
                 + Sync
         );

/// The category of congestion detectors.
pub enum Detectors {}

impl Category for Detectors {
    const NAME: &'static str = "detector";
    const CONTRACT: &'static str = "When a link notifies a source to slow down.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str = "detector such as \"input_rate\"";
    type Build = BuildDetector;
}

/// Every detector.
pub static DETECTORS: &[Entry<BuildDetector>] =
    &[discard::ENTRY, input_rate::ENTRY, queue_length::ENTRY];

/// Time of each source's last notification, so that none is notified more often than a hold-off
/// allows.
struct Spacing {
    hold_off: Span,
    /// Times by flow.
    last: Vec<Option<Time>>,
}

impl Spacing {
    fn new(hold_off: Span) -> Self {
        Self { hold_off, last: Vec::new() }
    }

    /// Returns true if the source of `flow` may be notified now, which then counts as done: if the
    /// last notification was more than the hold-off ago.
    fn allows(&mut self, flow: FlowId, now: Time) -> bool {
        let flow = flow.index();
        if self.last.len() <= flow {
            self.last.resize(flow + 1, None);
        }
        let last = &mut self.last[flow];
        if last.is_some_and(|last| now.since(last) <= self.hold_off) {
            return false;
        }
        *last = Some(now);
        true
    }
}
