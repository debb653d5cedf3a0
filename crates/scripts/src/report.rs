//! Outcome of a script: what was expected beside what was seen.

use forebay_units::Time;

use crate::language::NAMES;
use crate::problem::place;
use crate::script::{Action, Script};
use crate::seen::Seen;
use crate::segment::Segment;

/// Outcome of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Packets and assertions that were compared.
    pub checks: usize,
    /// First difference of the model from the script: lines of the script, those that were expected
    /// and not seen behind `-`, what was seen instead behind `+`. Empty if there is none.
    pub difference: Vec<String>,
}

impl Report {
    /// Returns true if all that the script expects was seen, and nothing else.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.difference.is_empty()
    }
}

/// Reaction to one stimulus: all that follows it up to the next one.
#[derive(Default)]
struct Reaction<'s> {
    stimulus: Option<usize>,
    expected: Vec<(usize, &'s Segment)>,
    seen: Vec<(Time, Segment)>,
    /// Assertions that do not hold: event, text, and what the quantities were.
    broken: Vec<(usize, String, String)>,
}

/// Number of lines shown before a difference.
const CONTEXT: usize = 3;

/// Number of packets of a difference shown on either side.
const SHOWN: usize = 20;

/// Compare what a run of `script` has `seen` with what the script expects.
pub(crate) fn judge(script: &Script, seen: &[Seen]) -> Report {
    let (mut checks, mut reaction) = (0, Reaction::default());
    for one in seen {
        match one {
            Seen::Sent(at, segment) => reaction.seen.push((*at, segment.clone())),
            Seen::Values(index, values) => {
                checks += reaction.assert(script, *index, values);
            }
            Seen::Reached(index) => match script.events.get(*index).map(|event| &event.action) {
                Some(Action::Expect(segment)) => {
                    checks += 1;
                    reaction.expected.push((*index, segment));
                }
                Some(Action::Inject(_) | Action::Write(_)) => {
                    if let Some(difference) = reaction.difference(script) {
                        return Report { checks, difference };
                    }
                    reaction = Reaction { stimulus: Some(*index), ..Reaction::default() };
                }
                _ => {}
            },
        }
    }
    Report { checks, difference: reaction.difference(script).unwrap_or_default() }
}

impl Reaction<'_> {
    /// Note which assertions of event `index` do not hold. How many there are.
    fn assert(&mut self, script: &Script, index: usize, values: &[f64; NAMES.len()]) -> usize {
        let Some(Action::Assert(assertions)) = script.events.get(index).map(|e| &e.action) else {
            return 0;
        };
        for assertion in assertions.iter().filter(|assertion| !assertion.holds(values)) {
            let named = assertion.names.iter().map(|at| {
                let value = values.get(*at).copied().unwrap_or(f64::NAN);
                format!("{} is {value}", NAMES[*at].name)
            });
            let named = named.collect::<Vec<_>>().join(", ");
            let text = format!("line {}: assert {}", assertion.line, assertion.text);
            self.broken.push((index, text, named));
        }
        assertions.len()
    }

    /// The difference between what was expected and what was seen, if there is one.
    fn difference(&self, script: &Script) -> Option<Vec<String>> {
        let fits = |&((index, wanted), (at, found)): &(&(usize, &Segment), &(Time, Segment))| {
            script.events[*index].at == *at && wanted.admits(found)
        };
        let agree = self.expected.iter().zip(&self.seen).take_while(fits).count();
        let (missing, extra) = (&self.expected[agree..], &self.seen[agree..]);
        if missing.is_empty() && extra.is_empty() && self.broken.is_empty() {
            return None;
        }
        let mut lines = Vec::new();
        let context = &self.expected[..agree];
        let context = context.iter().map(|(index, _)| *index);
        let before: Vec<usize> = self.stimulus.into_iter().chain(context).collect();
        let hidden = before.len().saturating_sub(CONTEXT);
        if hidden > 1 {
            lines.push(line(script, ' ', before[0]));
            lines.push("   ...".to_owned());
        }
        let shown = if hidden > 1 { &before[hidden..] } else { &before[..] };
        lines.extend(shown.iter().map(|index| line(script, ' ', *index)));
        lines.extend(missing.iter().take(SHOWN).map(|(index, _)| line(script, '-', *index)));
        for (at, segment) in extra.iter().take(SHOWN) {
            // Where a script names no ECN field, they do not matter.
            let ecn = segment.ecn.filter(|_| script.names_ecn());
            let shown = Segment { ecn, ..segment.clone() };
            lines.push(row('+', None, *at, &format!("> {shown}")));
        }
        let more = missing.len().max(extra.len()).saturating_sub(SHOWN);
        if more > 0 {
            lines.push(format!("   ... and {more} more"));
        }
        for (index, text, values) in &self.broken {
            let at = script.events[*index].at;
            lines.push(format!("-  {:>14} {text}", seconds(at)));
            lines.push(format!("+  {:>14} {values}", seconds(at)));
        }
        Some(lines)
    }
}

fn line(script: &Script, mark: char, index: usize) -> String {
    let event = &script.events[index];
    row(mark, Some(place(&script.text, event.offset).0), event.at, &event.text)
}

fn row(mark: char, line: Option<u32>, at: Time, text: &str) -> String {
    let line = line.map_or(String::new(), |line| format!("line {line}: "));
    format!("{mark}  {:>14} {line}{text}", seconds(at))
}

/// `at` in seconds with as many decimals as it needs, six at least.
fn seconds(at: Time) -> String {
    const PS: u64 = forebay_units::PS_PER_S;
    let decimals = format!("{:012}", at.ps() % PS);
    let (short, long) = decimals.split_at(6);
    format!("{}.{short}{}", at.ps() / PS, long.trim_end_matches('0'))
}
