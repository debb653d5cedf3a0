//! Links of a fixed rate and delay: the kind of those that say nothing else.

use forebay_laws::queue::Queue;
use forebay_network::Element;
use forebay_parameters::{Entry, Problem};
use forebay_units::{Rate, Span, Time};

use super::LinkParts;
use super::discipline::Discipline;
use super::fifo::FifoLink;
use super::kind::{Link, LinkKind, LinkReader};
use super::queueing::Queueing;
use super::schedule::{Capacity, DelaySchedule, RateSchedule};
use super::scheduled::ScheduledLink;
use super::transmitter::Transmitter;
use super::variable::Variable;

/// Links of a fixed rate in the table of kinds. They come behind those that have keys.
pub const ENTRY: Entry<LinkKind> = Entry {
    name: "fixed",
    summary: "A link of a fixed rate and delay.",
    source: "-",
    example: "rate = \"1 Mbit/s\"",
    fields: &[],
    probes: &[],
    build: LinkKind { in_place: true, ..LinkKind::new(&read) },
};

fn read(link: &LinkReader<'_, '_>) -> Result<Option<Box<dyn Link>>, Problem> {
    Ok(Some(Box::new(Fixed { rate: link.rate()?, delay: link.delay })))
}

/// A link of a fixed rate and delay.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
}

impl Link for Fixed {
    fn rate(&self) -> Rate {
        self.rate
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn takes_background(&self) -> bool {
        true
    }

    fn pausing(&self, outages: &[(Time, Time)]) -> Option<Box<dyn Link>> {
        let mut steps: Vec<(Span, Rate)> = vec![(Span::ZERO, self.rate)];
        for (from, until) in outages {
            for (at, rate) in [(*from, Rate::from_bps(0)), (*until, self.rate)] {
                let at = at.since(Time::ZERO);
                // It can fail at the instant at which it came back.
                if steps.last().is_some_and(|(last, _)| *last == at) {
                    steps.pop();
                }
                if at < Span::MAX {
                    steps.push((at, rate));
                }
            }
        }
        let delays = DelaySchedule::new(vec![(Span::ZERO, self.delay)], None);
        let capacity = Capacity::Rates(RateSchedule::new(&steps, None));
        Some(Box::new(Variable { rate: self.rate, delay: self.delay, capacity, delays }))
    }

    /// The element that suits the queue.
    fn element(&self, parts: LinkParts) -> Box<dyn Element> {
        let LinkParts { link, conditioning, queue, background, notifier, share } = parts;
        let (queue, stream) = queue;
        let transmitter = Transmitter::new(link, self.rate, self.delay, background);
        // A congestion detector must see each packet at the time of its arrival, and a shared
        // memory its departure, so such a link does not schedule transmissions at arrival.
        let queue = match (&notifier, &share) {
            (None, None) => queue,
            _ => Queue::Disc(queue.into_discipline()),
        };
        let law = match queue {
            Queue::Fifo(policy) => {
                let queueing = Queueing::new(transmitter, conditioning, stream);
                return Box::new(FifoLink::new(policy, queueing));
            }
            Queue::Disc(law) => law,
        };
        let guards = (notifier, share);
        if law.is_work_conserving() {
            let discipline = Discipline::new(link, (law, stream), guards);
            return Box::new(ScheduledLink::<false>::new(transmitter, conditioning, discipline));
        }
        let discipline = Discipline::new(link, (law, stream), guards);
        Box::new(ScheduledLink::<true>::new(transmitter, conditioning, discipline))
    }
}
