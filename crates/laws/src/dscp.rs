//! Differentiated services codepoints, by their names.

use forebay_parameters::{Node, Parameter, Value, did_you_mean};

/// A differentiated services codepoint (RFC 2474), 0 to 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Dscp(pub u8);

/// Names of codepoints, and numbers that each stands for: several for a class of Assured
/// Forwarding.
const NAMES: &[(&str, &[u8])] = &[
    // Default forwarding and class selectors: RFC 2474, section 4.
    ("BE", &[0]),
    ("DF", &[0]),
    ("CS0", &[0]),
    ("CS1", &[8]),
    ("CS2", &[16]),
    ("CS3", &[24]),
    ("CS4", &[32]),
    ("CS5", &[40]),
    ("CS6", &[48]),
    ("CS7", &[56]),
    // RFC 2597, section 6: class 1 to 4, drop precedence 1 to 3.
    ("AF11", &[10]),
    ("AF12", &[12]),
    ("AF13", &[14]),
    ("AF21", &[18]),
    ("AF22", &[20]),
    ("AF23", &[22]),
    ("AF31", &[26]),
    ("AF32", &[28]),
    ("AF33", &[30]),
    ("AF41", &[34]),
    ("AF42", &[36]),
    ("AF43", &[38]),
    // RFC 3246, section 2.7; RFC 5865; RFC 8622.
    ("EF", &[46]),
    ("VA", &[44]),
    ("LE", &[1]),
    ("AF1x", &[10, 12, 14]),
    ("AF2x", &[18, 20, 22]),
    ("AF3x", &[26, 28, 30]),
    ("AF4x", &[34, 36, 38]),
];

/// The numbers that `text` names, and otherwise the nearest of the allowed names.
fn named(text: &str, groups: bool) -> Result<&'static [u8], String> {
    let allowed = || NAMES.iter().filter(|(_, codes)| groups || codes.len() == 1);
    if let Some((_, codes)) = allowed().find(|(name, _)| *name == text) {
        return Ok(codes);
    }
    let hint = did_you_mean(text, allowed().map(|(name, _)| *name));
    let names: Vec<&str> = allowed().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    Err(format!("unknown codepoint \"{text}\"{hint}; allowed are 0 to 63 and {names}"))
}

fn number(n: i64) -> Result<u8, String> {
    let message =
        || format!("{n} is not a codepoint; allowed are 0 to 63 and names such as \"EF\"");
    u8::try_from(n).ok().filter(|n| *n < 64).ok_or_else(message)
}

impl Dscp {
    /// Number of codepoints.
    pub const COUNT: usize = 64;

    /// Its usual name; its number where it has none.
    #[must_use]
    pub fn name(self) -> String {
        let name = NAMES.iter().find(|(_, codes)| **codes == [self.0]);
        name.map_or_else(|| self.0.to_string(), |(name, _)| (*name).to_owned())
    }
}

impl Parameter for Dscp {
    const KIND: &'static str = "codepoint such as \"EF\" or 46";

    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(text) => named(text, false).map(|codes| Self(codes[0])),
            Value::Integer(n) => number(*n).map(Self),
            other => Err(format!("{} is not a {}", other.show(), Self::KIND)),
        }
    }

    fn show(&self) -> String {
        self.name()
    }
}

/// Codepoints that are treated alike: one, or a list of them, in which `"AF1x"` stands for the
/// three of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DscpSet(pub Vec<Dscp>);

impl Parameter for DscpSet {
    const KIND: &'static str = "codepoint such as \"EF\", \"AF1x\" or 46, or a list of them";

    fn read(node: &Node) -> Result<Self, String> {
        let mut all = Vec::new();
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        for item in items {
            match &item.value {
                Value::Text(text) => all.extend(named(text, true)?.iter().map(|code| Dscp(*code))),
                Value::Integer(n) => all.push(Dscp(number(*n)?)),
                other => return Err(format!("{} is not a {}", other.show(), Self::KIND)),
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(Self(all))
    }

    fn show(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|dscp| dscp.name()).collect();
        names.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: impl Into<Value>) -> Result<u8, String> {
        Dscp::read(&Node::new(value.into())).map(|dscp| dscp.0)
    }

    /// Names are those of the standards: class selectors are 8 k (RFC 2474, section 4.2.2.2), AFij
    /// is 8 i + 2 j (RFC 2597, section 6), EF 101110 (RFC 3246, section 2.7), VOICE-ADMIT 101100
    /// (RFC 5865), LE 000001 (RFC 8622).
    #[test]
    fn names_are_those_of_the_standards() {
        for k in 0..8 {
            assert_eq!(read(format!("CS{k}").as_str()), Ok(8 * k));
        }
        for (i, j) in (1..=4).flat_map(|i| (1..=3).map(move |j| (i, j))) {
            assert_eq!(read(format!("AF{i}{j}").as_str()), Ok(8 * i + 2 * j));
        }
        for (name, code) in [("EF", 0b10_1110), ("VA", 0b10_1100), ("LE", 1), ("BE", 0)] {
            assert_eq!(read(name), Ok(code));
        }
        for code in 0..64 {
            assert_eq!(read(i32::from(code)), Ok(code));
            let shown = Dscp(code).show();
            assert_eq!(read(shown.as_str()).or_else(|_| read(i32::from(code))), Ok(code));
        }
        let set = |value: Value| DscpSet::read(&Node::new(value)).map(|set| set.show());
        assert_eq!(set("AF2x".into()), Ok("AF21 AF22 AF23".to_owned()));
        let items = ["EF", "AF1x", "AF12"].map(|name| Node::new(name.into()));
        assert_eq!(set(Value::List(items.to_vec())), Ok("AF11 AF12 AF13 EF".to_owned()));
    }

    /// Wrong names are refused with the nearest: a misspelt class is taken neither for another nor
    /// for best effort.
    #[test]
    fn wrong_names_are_refused_with_the_nearest() {
        assert!(read("AF14").unwrap_err().contains("did you mean \"AF1"));
        assert!(read("ef").unwrap_err().contains("allowed are 0 to 63 and BE"));
        assert!(read("AF1x").is_err(), "a packet has one codepoint");
        for wrong in [-1, 64, 300] {
            assert!(read(wrong).unwrap_err().contains("allowed are 0 to 63"));
        }
        assert!(read(true).is_err() && read(4.6).is_err());
    }
}
