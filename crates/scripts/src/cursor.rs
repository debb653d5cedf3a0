//! A place in the text of a script, and what can be read there.

use crate::problem::{Slip, quoted, slip};

/// Reads a text from its beginning to its end.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// At the beginning of `text`.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The offset of what comes next, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the text that has not been read.
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The text from the offset `from` up to here.
    pub(crate) fn since(&self, from: usize) -> &'t str {
        &self.text[from..self.at]
    }

    /// The next character.
    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Pass white space and comments.
    pub(crate) fn skip(&mut self) -> Result<(), Slip> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let Some(length) = self.rest().find("*/") else {
                    return slip(self.at, "this comment has no end; a comment ends with */");
                };
                self.at += length + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// The longest run of characters that are `wanted`.
    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Returns true if `sign` is next; it is passed then.
    pub(crate) fn accept(&mut self, sign: &str) -> bool {
        let there = self.rest().starts_with(sign);
        if there {
            self.at += sign.len();
        }
        there
    }

    /// Pass blanks and then `sign`.
    pub(crate) fn expect(&mut self, sign: &str, what: &str) -> Result<(), Slip> {
        self.skip()?;
        if self.accept(sign) { Ok(()) } else { self.unlike(what) }
    }

    /// The text up to `end`, which is passed. `None` if it does not come.
    pub(crate) fn until(&mut self, end: &str) -> Option<&'t str> {
        let rest = self.rest();
        let length = rest.find(end)?;
        self.at += length + end.len();
        Some(&rest[..length])
    }

    /// A word of letters, digits and underscores; empty if none is next.
    pub(crate) fn word(&mut self) -> &'t str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// A whole number of at most `most`.
    pub(crate) fn number(&mut self, what: &str, most: u64) -> Result<u64, Slip> {
        self.skip()?;
        let from = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return self.unlike(what);
        }
        match digits.parse() {
            Ok(number) if number <= most => Ok(number),
            _ => slip(from, format!("{} is too large for {what}; at most {most}", quoted(digits))),
        }
    }

    /// The error that `allowed` was expected here.
    pub(crate) fn unlike<T>(&self, allowed: &str) -> Result<T, Slip> {
        let rest = self.rest();
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        let read = match (rest.is_empty(), word.is_empty()) {
            (true, _) => "the end of the script".to_owned(),
            (_, true) => "the end of the line".to_owned(),
            _ => quoted(word),
        };
        slip(self.at, format!("{read}; allowed is {allowed}"))
    }
}
