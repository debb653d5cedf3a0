//! Packets as a script writes them: `[ect0] P. 1:1001(1000) ack 1 win 257 <sack 1:2,nop,nop>`.

use std::fmt;

use forebay_network::{Ecn, EcnCounts};
use forebay_parameters::did_you_mean;

use crate::cursor::Cursor;
use crate::language::{IGNORED_FLAGS, IGNORED_OPTIONS, names};
use crate::problem::{Slip, quoted, slip};

/// A TCP segment in the units of a script: numbers count bytes, and the first byte of data has
/// number 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// The ECN field of the IP header, by the names of the language; `None` where a script leaves
    /// it open.
    pub ecn: Option<EcnField>,
    /// Flags of the TCP header.
    pub flags: Flags,
    /// Sequence number of the first byte.
    pub first: u64,
    /// The number after that of the last byte; as `first` without data.
    pub end: u64,
    /// The next byte expected from the other side.
    pub ack: Option<u64>,
    /// SACK blocks, the first as it stands first in the option.
    pub sack: Vec<(u64, u64)>,
    /// TS val and TS ecr, in ms.
    pub timestamps: Option<(u64, u64)>,
    /// The AccECN option.
    pub counts: Option<EcnOption>,
    /// The options may be any: `<...>`.
    pub any_options: bool,
    /// Offers of a SYN.
    pub offers: Offers,
}

/// Flags of the TCP header that matter to the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// `S`.
    pub syn: bool,
    /// `F`.
    pub fin: bool,
    /// `E`: ECN-Echo.
    pub ece: bool,
    /// `W`: congestion window reduced.
    pub cwr: bool,
    /// `A`: with these two, the ACE field of accurate ECN feedback.
    pub ae: bool,
}

impl Flags {
    /// The ACE field (RFC 9768, figure 3).
    pub(crate) fn ace(self) -> u8 {
        u8::from(self.ae) << 2 | u8::from(self.cwr) << 1 | u8::from(self.ece)
    }
}

/// The fields of an AccECN option that a script names: `<ECN e1b 1001 ceb 0>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnOption {
    /// Bytes that arrived as ECT(0), from 1 on.
    pub e0b: Option<u32>,
    /// Bytes that arrived marked, from 0 on.
    pub ceb: Option<u32>,
    /// Bytes that arrived as ECT(1), from 1 on.
    pub e1b: Option<u32>,
}

impl EcnOption {
    pub(crate) fn of(counts: EcnCounts) -> Self {
        let EcnCounts { ect0, ce, ect1 } = counts;
        Self { e0b: Some(ect0), ceb: Some(ce), e1b: Some(ect1) }
    }

    /// The option of a packet that a script injects. Fields that it leaves out have not moved.
    pub(crate) fn as_sent(self) -> EcnCounts {
        let first = |field: Option<u32>| field.unwrap_or(1);
        EcnCounts { ect0: first(self.e0b), ce: self.ceb.unwrap_or(0), ect1: first(self.e1b) }
    }

    /// Returns true if `seen` has what this asks for.
    fn admits(self, seen: Self) -> bool {
        let fine = |wanted: Option<u32>, found| wanted.is_none() || wanted == found;
        fine(self.e0b, seen.e0b) && fine(self.ceb, seen.ceb) && fine(self.e1b, seen.e1b)
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Slip> {
        let mut option = Self::default();
        loop {
            cursor.skip()?;
            let mut ahead = cursor.clone();
            let field = match ahead.word() {
                "e0b" => &mut option.e0b,
                "ceb" => &mut option.ceb,
                "e1b" => &mut option.e1b,
                _ => return Ok(option),
            };
            *cursor = ahead;
            let count = cursor.number("a count of bytes below 16777216", (1 << 24) - 1)?;
            *field = u32::try_from(count).ok();
        }
    }
}

impl fmt::Display for EcnOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ECN")?;
        let fields = [("e0b", self.e0b), ("ceb", self.ceb), ("e1b", self.e1b)];
        fields
            .iter()
            .filter_map(|(name, count)| count.map(|count| (name, count)))
            .try_for_each(|(name, count)| write!(f, " {name} {count}"))
    }
}

/// Offers in the options of a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offers {
    /// Maximum segment size in bytes.
    pub mss: Option<u64>,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
}

/// ECN field that a script names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnField {
    /// Exactly this codepoint.
    Is(Ecn),
    /// Either codepoint of an ECN-capable transport: `[ect01]`.
    Capable,
}

/// Words of the language for the ECN field.
pub(crate) const ECN_FIELDS: [(&str, EcnField); 5] = [
    ("noecn", EcnField::Is(Ecn::NotEct)),
    ("ect0", EcnField::Is(Ecn::Ect0)),
    ("ect1", EcnField::Is(Ecn::Ect1)),
    ("ce", EcnField::Is(Ecn::Ce)),
    ("ect01", EcnField::Capable),
];

/// The largest number of a byte, and of a timestamp.
const MAX_NUMBER: u64 = u32::MAX as u64;

impl Segment {
    /// Bytes of data.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.end.saturating_sub(self.first)
    }

    /// Returns true if it opens a connection: the first SYN.
    pub(crate) fn opens(&self) -> bool {
        self.flags.syn && self.ack.is_none()
    }

    /// Returns true if `seen` is what a script expects that asks for this segment.
    #[must_use]
    pub fn admits(&self, seen: &Self) -> bool {
        let ecn = match (self.ecn, seen.ecn) {
            (None, _) => true,
            (Some(EcnField::Capable), Some(EcnField::Is(field))) => {
                matches!(field, Ecn::Ect0 | Ecn::Ect1)
            }
            (wanted, found) => wanted == found,
        };
        // The two halves of the option count by who sends: `val` of data, `ecr` of
        // acknowledgements. The other one is 0 in what is seen.
        let half = |(value, echo): (u64, u64)| if self.length() > 0 { value } else { echo };
        let timestamps = match (self.timestamps, seen.timestamps) {
            (None, _) => true,
            (Some(wanted), Some(found)) => half(wanted) == half(found),
            (Some(_), None) => false,
        };
        let counts = match (self.counts, seen.counts) {
            (None, None) => true,
            (Some(wanted), Some(found)) => wanted.admits(found),
            _ => false,
        };
        let options = self.any_options || (timestamps && counts && self.sack == seen.sack);
        let header = (self.flags, self.first, self.end, self.ack)
            == (seen.flags, seen.first, seen.end, seen.ack);
        ecn && header && options
    }

    /// Read what stands behind `<` or `>`.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Slip> {
        let mut segment = Self::default();
        cursor.skip()?;
        if cursor.accept("[") {
            segment.ecn = Some(read_ecn(cursor)?);
            cursor.skip()?;
        }
        let from = cursor.at();
        let flags = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
        segment.flags = read_flags(flags, from)?;
        segment.read_numbers(cursor)?;
        if word_is_next(cursor, "ack")? {
            segment.ack = Some(cursor.number("a sequence number", MAX_NUMBER)?);
        }
        if word_is_next(cursor, "win")? {
            let from = cursor.at();
            if cursor.number("a window", MAX_NUMBER)? == 0 && segment.length() == 0 {
                return slip(
                    from,
                    "a window of 0: the window of the model's receiver is constant, set by \
                     --window",
                );
            }
        }
        cursor.skip()?;
        // An option list cannot be taken for the next event, which begins with a time.
        if cursor.accept("<") {
            segment.read_options(cursor)?;
        }
        Ok(segment)
    }

    fn read_numbers(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Slip> {
        self.first = cursor.number("a sequence number as in 1:1001(1000)", MAX_NUMBER)?;
        let from = cursor.at();
        cursor.expect(":", "\":\" as in 1:1001(1000)")?;
        self.end = cursor.number("a sequence number as in 1:1001(1000)", MAX_NUMBER)?;
        cursor.expect("(", "\"(\" as in 1:1001(1000)")?;
        let length = cursor.number("a number of bytes as in 1:1001(1000)", MAX_NUMBER)?;
        cursor.expect(")", "\")\" as in 1:1001(1000)")?;
        if self.first.checked_add(length) == Some(self.end) {
            return Ok(());
        }
        let (first, end) = (self.first, self.end);
        slip(
            from,
            format!("{first}:{end} does not hold {length} bytes; allowed is an equal number"),
        )
    }

    fn read_options(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Slip> {
        loop {
            cursor.skip()?;
            let from = cursor.at();
            if cursor.accept("...") {
                self.any_options = true;
            } else {
                match cursor.word() {
                    "sack" => self.read_blocks(cursor)?,
                    "TS" => {
                        let value = read_half(cursor, "val")?;
                        let echo = read_half(cursor, "ecr")?;
                        self.timestamps = Some((value, echo));
                        self.offers.timestamps = true;
                    }
                    "ECN" => self.counts = Some(EcnOption::read(cursor)?),
                    "mss" => self.offers.mss = Some(cursor.number("a segment size", 65_535)?),
                    "sackOK" => self.offers.sack = true,
                    name if IGNORED_OPTIONS.iter().any(|ignored| ignored.what == name) => {
                        cursor.skip()?;
                        cursor.take_while(|c| c.is_ascii_digit());
                    }
                    name => return slip(from, unknown_option(name)),
                }
            }
            cursor.skip()?;
            if cursor.accept(">") {
                return Ok(());
            }
            cursor.expect(",", "\",\" or \">\" behind an option")?;
        }
    }

    fn read_blocks(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Slip> {
        loop {
            let from = cursor.at();
            let first = cursor.number("a SACK block such as 1001:2001", MAX_NUMBER)?;
            cursor.expect(":", "\":\" of a SACK block such as 1001:2001")?;
            let end = cursor.number("a SACK block such as 1001:2001", MAX_NUMBER)?;
            if first >= end {
                return slip(from, format!("block {first}:{end} is empty; its end comes later"));
            }
            if self.sack.len() == 4 {
                return slip(from, "a fifth block; an option has room for four (RFC 2018)");
            }
            self.sack.push((first, end));
            cursor.skip()?;
            if !cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
                return Ok(());
            }
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = ECN_FIELDS.iter().find(|(_, field)| Some(*field) == self.ecn) {
            write!(f, "[{name}] ")?;
        }
        let flags = [
            (self.flags.syn, "S"),
            (self.flags.fin, "F"),
            (self.flags.ece, "E"),
            (self.flags.cwr, "W"),
            (self.flags.ae, "A"),
            (self.ack.is_some(), "."),
        ];
        flags.iter().filter(|(set, _)| *set).try_for_each(|(_, sign)| f.write_str(sign))?;
        write!(f, " {}:{}({})", self.first, self.end, self.length())?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        let mut options = Vec::new();
        if !self.sack.is_empty() {
            let blocks: Vec<String> =
                self.sack.iter().map(|(first, end)| format!("{first}:{end}")).collect();
            options.push(format!("sack {}", blocks.join(" ")));
        }
        if let Some((value, echo)) = self.timestamps {
            options.push(format!("TS val {value} ecr {echo}"));
        }
        options.extend(self.counts.map(|counts| counts.to_string()));
        if self.any_options {
            options.push("...".to_owned());
        }
        if !options.is_empty() {
            write!(f, " <{}>", options.join(","))?;
        }
        Ok(())
    }
}

fn read_ecn(cursor: &mut Cursor<'_>) -> Result<EcnField, Slip> {
    let from = cursor.at();
    let name = cursor.word();
    let known = || ECN_FIELDS.iter().map(|(name, _)| *name);
    let Some((_, field)) = ECN_FIELDS.iter().find(|(known, _)| *known == name) else {
        let all = known().collect::<Vec<_>>().join(", ");
        return slip(from, format!("{}; allowed in [] is one of {all}", quoted(name)));
    };
    cursor.expect("]", "\"]\" behind an ECN field")?;
    Ok(*field)
}

fn read_flags(text: &str, from: usize) -> Result<Flags, Slip> {
    let mut flags = Flags::default();
    if text.is_empty() {
        return slip(from, "no flags; a packet begins with some of S, F, P, E, W, A and \".\"");
    }
    for flag in text.chars() {
        match flag {
            'S' => flags.syn = true,
            'F' => flags.fin = true,
            'E' => flags.ece = true,
            'W' => flags.cwr = true,
            'A' => flags.ae = true,
            '.' => {}
            _ if IGNORED_FLAGS.iter().any(|ignored| ignored.what.starts_with(flag)) => {}
            _ => {
                let message = format!(
                    "flag {} of {}; the model has S, F, P, E, W, A and \".\" alone",
                    quoted(&flag.to_string()),
                    quoted(text)
                );
                return slip(from, message);
            }
        }
    }
    Ok(flags)
}

/// Returns true if `word` is next; it is passed then.
fn word_is_next(cursor: &mut Cursor<'_>, word: &str) -> Result<bool, Slip> {
    cursor.skip()?;
    let mut ahead = cursor.clone();
    let there = ahead.word() == word;
    if there {
        *cursor = ahead;
    }
    Ok(there)
}

fn read_half(cursor: &mut Cursor<'_>, word: &str) -> Result<u64, Slip> {
    if word_is_next(cursor, word)? {
        return cursor.number("a timestamp in ms", MAX_NUMBER);
    }
    cursor.unlike(&format!("\"{word}\" of an option such as TS val 100 ecr 0"))
}

fn unknown_option(name: &str) -> String {
    let known = names(&["sack", "TS", "ECN", "mss", "sackOK"], IGNORED_OPTIONS);
    let near = did_you_mean(name, known.iter().copied());
    format!("option {}{near}; the model has {}", quoted(name), known.join(", "))
}
