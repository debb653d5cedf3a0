//! The event list against a sorted set.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use forebay_kernel::{ElementId, EventList};
use forebay_units::{Span, Time};

/// An operation on an event list; times are from the clock on.
#[derive(Arbitrary, Debug)]
enum Step {
    /// Events of one target, `count` of them `gap` apart: many at once fill the ladder.
    Insert {
        after: u32,
        target: u16,
        count: u16,
        gap: u8,
    },
    Take {
        within: u32,
    },
    TakeBefore {
        after: u32,
        target: u16,
    },
    TakeAll {
        within: u16,
    },
    Advance,
    Refilled,
}

/// Events leave the list in the order of time, target and token, none is lost or made up, and the
/// bounds that it tells hold.
pub fn event_list(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut pair = Pair::default();
    while let Ok(step) = Step::arbitrary(&mut bytes) {
        pair.step(&step);
        pair.compare();
        if bytes.is_empty() {
            break;
        }
    }
    while pair.take(Time::NEVER) {}
    assert!(pair.list.is_empty() && pair.model.is_empty());
}

/// An event list and what it should hold.
#[derive(Default)]
struct Pair {
    list: EventList,
    model: BTreeSet<(Time, ElementId, u32)>,
    next_token: u32,
}

impl Pair {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Insert { after, target, count, gap } => self.insert(after, target, count, gap),
            Step::Take { within } => drop(self.take(self.after(within))),
            Step::TakeBefore { after, target } => self.take_before(after, element(target)),
            Step::TakeAll { within } => {
                let limit = self.after(u32::from(within));
                while self.take(limit) {}
            }
            Step::Advance => {
                if let Some((time, ..)) = self.model.first().copied() {
                    self.list.advance_to(time);
                }
            }
            Step::Refilled => {
                let told: Vec<_> = self.list.refilled().map(|event| event.time).collect();
                assert!(told.is_sorted(), "refilled out of order");
            }
        }
    }

    fn after(&self, ps: u32) -> Time {
        self.list.now() + Span::from_ps(u64::from(ps))
    }

    fn insert(&mut self, after: u32, target: u16, count: u16, gap: u8) {
        for number in 0..u32::from(count % 128) {
            let time = self.after(after) + Span::from_ps(u64::from(gap) * u64::from(number));
            // Tokens tell events of one instant and target apart.
            self.next_token += 1;
            self.list.insert(time, element(target), self.next_token);
            self.model.insert((time, element(target), self.next_token));
        }
    }

    /// Take the first event by `limit`; whether there was one.
    fn take(&mut self, limit: Time) -> bool {
        let got = self.list.take(limit).map(|event| (event.time, event.target, event.token));
        let due = self.model.first().copied().filter(|event| event.0 <= limit);
        assert_eq!(got, due, "taken by {limit:?}");
        due.is_some_and(|event| self.model.remove(&event))
    }

    fn take_before(&mut self, after: u32, target: ElementId) {
        let bound = (self.after(after), target);
        let got = self.list.take_before(bound).map(|event| (event.time, event.target, event.token));
        let due = self.model.first().copied().filter(|event| (event.0, event.1) < bound);
        assert_eq!(got, due, "taken before {bound:?}");
        if let Some(event) = due {
            self.model.remove(&event);
        }
    }

    fn compare(&mut self) {
        let first = self.model.first().map(|event| event.0);
        assert!(self.list.lower_bound() <= first.unwrap_or(Time::NEVER), "bound too late");
        assert_eq!(self.list.next_time(), first);
        assert_eq!(self.list.len(), self.model.len());
    }
}

fn element(number: u16) -> ElementId {
    ElementId::new(number.into())
}
