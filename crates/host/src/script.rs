//! Scripts of datagrams: what becomes of some that a host sends to another, by their numbers.
//!
//! A script acts where datagrams enter the network: what it loses enters no link, so that no
//! counter of links and flows has it; the log in the report does ([`Logged`]). What it holds back
//! enters later, and the delays of flows do not count that time. Links, queues and cross traffic
//! beyond it are those of the scenario.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::str::FromStr;

use forebay_network::Ecn;
use forebay_units::{Span, Time, quantity};

/// Fate of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fate {
    /// True if it does not enter the network. Then nothing else counts.
    pub lost: bool,
    /// True if it is marked CE.
    pub marked: bool,
    /// Time by which it is held back, so that later ones overtake it.
    pub held: Span,
    /// Copies that follow it at once.
    pub copies: u32,
}

/// Fates of datagrams that a host sends to another, by their numbers: the first one is 1.
///
/// As text, a line each, with `#` before comments:
///
/// ```text
/// lose 12 13
/// mark 20
/// hold 25 30 ms
/// duplicate 40
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    fates: BTreeMap<u64, Fate>,
}

impl Script {
    /// A script by which nothing happens: its datagrams are logged.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same that loses datagram `number`.
    #[must_use]
    pub fn lose(self, number: u64) -> Self {
        self.with(number, |fate| fate.lost = true)
    }

    /// The same that marks datagram `number` CE, as a congested queue does. It must be capable of
    /// ECN, or the run ends.
    #[must_use]
    pub fn mark(self, number: u64) -> Self {
        self.with(number, |fate| fate.marked = true)
    }

    /// The same that holds datagram `number` back by `span`.
    #[must_use]
    pub fn hold(self, number: u64, span: Span) -> Self {
        self.with(number, |fate| fate.held = span)
    }

    /// The same that sends a copy right behind datagram `number`.
    #[must_use]
    pub fn duplicate(self, number: u64) -> Self {
        self.with(number, |fate| fate.copies += 1)
    }

    fn with(mut self, number: u64, set: impl FnOnce(&mut Fate)) -> Self {
        set(self.fates.entry(number).or_default());
        self
    }
}

impl FromStr for Script {
    type Err = String;

    /// The script of a text.
    ///
    /// # Errors
    /// What was read, in which line, and what is allowed.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut script = Self::new();
        for (line, whole) in (1..).zip(text.lines()) {
            let read = whole.split('#').next().unwrap_or_default().trim();
            if !read.is_empty() {
                script = script.read(read).map_err(|error| format!("line {line}: {error}"))?;
            }
        }
        Ok(script)
    }
}

impl Script {
    fn read(self, line: &str) -> Result<Self, String> {
        let (what, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let set: fn(Self, u64) -> Self = match what {
            "lose" => Self::lose,
            "mark" => Self::mark,
            "duplicate" => Self::duplicate,
            "hold" => {
                let (number, span) =
                    rest.trim().split_once(char::is_whitespace).unwrap_or((rest, ""));
                let span = quantity::parse_span(span.trim()).map_err(|error| error.to_string())?;
                return Ok(self.hold(read_number(number)?, span));
            }
            _ => return Err(format!("read {what}; allowed are lose, mark, hold and duplicate")),
        };
        let numbers: Vec<&str> = rest.split_whitespace().collect();
        if numbers.is_empty() {
            return Err(format!("{what} needs numbers of datagrams"));
        }
        numbers.into_iter().try_fold(self, |script, number| Ok(set(script, read_number(number)?)))
    }
}

fn read_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("read {text}, which is no number of a datagram"))
}

/// A datagram that a host with a script sent or received.
#[derive(Clone, PartialEq, Debug)]
pub struct Logged {
    /// Its number, from 1: among those that the host sent to the script's other host, or received
    /// from it.
    pub number: u64,
    /// Time at which the stack sent or received it.
    pub time: Time,
    /// Its bytes, without headers of UDP and IP.
    pub size: u64,
    /// Its ECN field: as the stack sent it, or as it arrived.
    pub ecn: Ecn,
    /// Its fate by the script, where it was sent.
    pub fate: Fate,
    /// Inner quantities of the stack right after it was sent or received.
    pub probes: BTreeMap<String, f64>,
}

impl Logged {
    /// The inner quantity called `name`, such as `cwnd_bytes`.
    ///
    /// # Panics
    /// If the stack did not show it.
    #[must_use]
    pub fn probe(&self, name: &str) -> f64 {
        let found = self.probes.get(name);
        let Self { number, probes, .. } = self;
        *found.unwrap_or_else(|| {
            panic!("datagram {number}: the stack showed no {name}, but {:?}", probes.keys())
        })
    }
}

/// Datagrams that a host exchanged with the other one of its script.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Log {
    pub(crate) sent: Vec<Logged>,
    pub(crate) received: Vec<Logged>,
}

/// A script at work at a host.
pub(crate) struct Scripted {
    pub(crate) script: Script,
    /// The addresses of the other host.
    pub(crate) peer: Vec<SocketAddr>,
    pub(crate) log: Log,
}

impl Scripted {
    /// Log a datagram of `size` bytes with the field `ecn` that the stack sends now; `probes` are
    /// its inner quantities behind it. Returns its fate.
    pub(crate) fn send(
        &mut self,
        time: Time,
        size: u64,
        ecn: Ecn,
        probes: BTreeMap<String, f64>,
    ) -> Fate {
        let number = self.log.sent.len() as u64 + 1;
        let fate = self.script.fates.get(&number).copied().unwrap_or_default();
        self.log.sent.push(Logged { number, time, size, ecn, fate, probes });
        fate
    }

    /// Log a datagram that has arrived.
    pub(crate) fn receive(
        &mut self,
        time: Time,
        size: u64,
        ecn: Ecn,
        probes: BTreeMap<String, f64>,
    ) {
        let (number, fate) = (self.log.received.len() as u64 + 1, Fate::default());
        self.log.received.push(Logged { number, time, size, ecn, fate, probes });
    }

    /// Reason why the script did not do all that it says, if it did not.
    pub(crate) fn unfollowed(&self) -> Option<String> {
        let sent = self.log.sent.len() as u64;
        let beyond = self.script.fates.keys().find(|number| !(1..=sent).contains(*number))?;
        Some(format!(
            "has datagram {beyond}; {sent} were sent, and the first is 1: it would test nothing"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text means what the calls mean, and several fates of a datagram add up.
    #[test]
    fn texts_are_scripts() {
        let text = "lose 12 13 # two\n\nmark 20\nhold 25 30 ms\nduplicate 20\n";
        let script = Script::new().lose(12).lose(13).mark(20).duplicate(20);
        assert_eq!(text.parse(), Ok(script.hold(25, Span::from_ms(30))));
    }

    /// A text that is wrong says in which line, what was read, and what is allowed: nothing of it
    /// is passed over, as a test would then hold without what it tests.
    #[test]
    fn errors_name_the_line() {
        for (text, error) in [
            ("mark 1\ndrop 2", "line 2: read drop; allowed are lose, mark, hold and duplicate"),
            ("lose", "line 1: lose needs numbers of datagrams"),
            ("lose x", "line 1: read x, which is no number of a datagram"),
        ] {
            assert_eq!(text.parse::<Script>(), Err(error.to_owned()));
        }
        assert!("hold 3".parse::<Script>().is_err_and(|error| error.starts_with("line 1: ")));
    }

    /// A script that names a datagram that was never sent has not been followed.
    #[test]
    fn datagrams_that_were_not_sent_are_reported() {
        let at = |number| Scripted {
            script: Script::new().lose(number),
            peer: Vec::new(),
            log: Log::default(),
        };
        for (number, fate) in [(1, true), (2, false), (0, false)] {
            let mut scripted = at(number);
            let came = scripted.send(Time::ZERO, 9, Ecn::NotEct, BTreeMap::new());
            assert_eq!(came.lost, fate);
            assert_eq!(scripted.unfollowed().is_none(), fate);
        }
    }
}
