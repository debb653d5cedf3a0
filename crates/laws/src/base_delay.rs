//! The base delay of a path: the least delay of the last minutes (RFC 6817, section 2.4.2).

use std::collections::VecDeque;

use forebay_units::{Span, Time};

/// The least delay of each of the last minutes (base_delays).
pub(crate) struct BaseDelay {
    least: VecDeque<Span>,
    /// Number of minutes that count (BASE_HISTORY).
    history: usize,
    /// The minute of the last.
    minute: u64,
}

impl BaseDelay {
    pub(crate) fn new(history: u32) -> Self {
        Self { least: VecDeque::new(), history: history as usize, minute: 0 }
    }

    /// A delay was measured (update_base_delay()).
    pub(crate) fn note(&mut self, delay: Span, now: Time) {
        let minute = now.ps() / Span::from_s(60).ps();
        match self.least.back_mut() {
            Some(least) if minute == self.minute => *least = (*least).min(delay),
            _ => {
                self.least.push_back(delay);
                if self.least.len() > self.history {
                    self.least.pop_front();
                }
                self.minute = minute;
            }
        }
    }

    /// The base delay, once measured.
    pub(crate) fn get(&self) -> Option<Span> {
        self.least.iter().min().copied()
    }
}
