//! Faults of a script, and their places.

use std::fmt;

/// A script that cannot be read, or asks for what the model does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Name of the script.
    pub script: String,
    /// Line, counted from 1; `None` for what stands on none.
    pub line: Option<u32>,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// Message that says what was read and what is allowed.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.script)?;
        if let Some(line) = self.line {
            write!(f, "line {line}, column {}: ", self.column)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// A problem at a place of the text, before the name of the script is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slip {
    /// Offset in bytes; `None` for what stands at no place.
    pub(crate) at: Option<usize>,
    pub(crate) message: String,
}

/// A slip at the offset `at`.
pub(crate) fn slip<T>(at: usize, message: impl Into<String>) -> Result<T, Slip> {
    Err(Slip { at: Some(at), message: message.into() })
}

/// Line and column of the offset `at`, counted from 1.
pub(crate) fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let column = before.chars().rev().take_while(|c| *c != '\n').count();
    let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    (count(line), count(column))
}

/// Returns what was read, as a message quotes it: shortened, and without control characters.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_QUOTED: usize = 40;
    let shown: String = text.chars().take(MAX_QUOTED).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(MAX_QUOTED).is_some() { "..." } else { "" };
    format!("\"{shown}{more}\"")
}
