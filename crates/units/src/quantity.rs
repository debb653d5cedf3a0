//! Reading and printing quantities such as `"34 Mbit/s"`, `"2.5 ms"` and `"45 kB"`.
//!
//! A number without a unit is refused: that is the commonest way to be wrong by a factor of eight.
//! Prefixes are decimal (1 kB = 1000 B); the binary `KiB`, `MiB` exist beside them. Numbers are
//! read exactly as decimals: `"0.1 ms"` is 100,000,000 ps and not the nearest double.

use crate::{Frequency, PS_PER_S, Rate, Size, Span};

/// Fault in the text of a quantity. Printed after the place where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantityError(pub String);

impl std::fmt::Display for QuantityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

const SPAN_UNITS: &[(&str, u64)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", PS_PER_S),
    ("min", 60 * PS_PER_S),
    ("h", 3600 * PS_PER_S),
];

const RATE_UNITS: &[(&str, u64)] = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
];

const SIZE_UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

const FREQUENCY_UNITS: &[(&str, u64)] = &[
    ("/s", 3600 * Frequency::HOURLY),
    ("/min", 60 * Frequency::HOURLY),
    ("/h", Frequency::HOURLY),
];

/// Read how often something happens: `"450 /h"`. Units /s, /min, /h.
///
/// # Errors
/// Missing or unknown unit; negative; not a number; finer than a millionth an hour.
pub fn parse_frequency(text: &str) -> Result<Frequency, QuantityError> {
    read(text, "frequency", "\"450 /h\"", FREQUENCY_UNITS, "a millionth an hour")
        .map(Frequency::from_micro_per_hour)
}

/// Print a frequency in its largest exact unit; reading it back gives the same frequency.
#[must_use]
pub fn show_frequency(frequency: Frequency) -> String {
    show(frequency.micro_per_hour(), FREQUENCY_UNITS)
}

/// Read a duration: `"2.5 ms"`. Units ps, ns, us, ms, s, min, h.
///
/// # Errors
/// Missing, unknown or foreign unit; negative; not a number; finer than a picosecond; over 213
/// days.
pub fn parse_span(text: &str) -> Result<Span, QuantityError> {
    read(text, "duration", "\"2.5 ms\"", SPAN_UNITS, "1 ps").map(Span::from_ps)
}

/// Read a data rate: `"34 Mbit/s"`. Units bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (or bps ... Gbps).
///
/// # Errors
/// Missing, unknown or foreign unit; negative; not a number; finer than 1 bit/s; above 1.8e19
/// bit/s.
pub fn parse_rate(text: &str) -> Result<Rate, QuantityError> {
    read(text, "data rate", "\"34 Mbit/s\"", RATE_UNITS, "1 bit/s").map(Rate::from_bps)
}

/// Read an amount of data: `"45 kB"`. Units B, kB, MB, GB, TB (decimal), KiB, MiB, GiB (binary).
///
/// # Errors
/// Missing, unknown or foreign unit; negative; not a number; a fraction of a byte; over 1.8e19 B.
pub fn parse_size(text: &str) -> Result<Size, QuantityError> {
    read(text, "size", "\"1500 B\"", SIZE_UNITS, "1 B").map(Size::from_bytes)
}

/// Read a number of packets: `"78 packets"`.
///
/// # Errors
/// As the other readers.
pub fn parse_packets(text: &str) -> Result<u64, QuantityError> {
    const UNITS: &[(&str, u64)] = &[("packets", 1), ("packet", 1), ("pkt", 1)];
    read(text, "number of packets", "\"78 packets\"", UNITS, "1 packet")
}

/// Read a number of bandwidth-delay products, in millionths of one: `"0.5 BDP"`.
///
/// # Errors
/// As the other readers; finer than a millionth.
pub fn parse_bdp(text: &str) -> Result<u64, QuantityError> {
    let kind = "number of bandwidth-delay products";
    read(text, kind, "\"0.5 BDP\"", &[("BDP", 1_000_000)], "a millionth of one")
}

/// The unit of a quantity: `ms` of `"2.5 ms"`; empty if it has none.
#[must_use]
pub fn unit_of(text: &str) -> &str {
    split(text.trim()).1
}

/// Print a duration in its largest exact unit up to seconds; reading it back gives the same span.
#[must_use]
pub fn show_span(span: Span) -> String {
    show(
        span.ps(),
        &[("s", PS_PER_S), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)],
    )
}

/// Print a data rate in its largest exact unit; reading it back gives the same rate.
#[must_use]
pub fn show_rate(rate: Rate) -> String {
    let units = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)];
    show(rate.bps(), &units)
}

/// Print a size in its largest exact decimal unit; reading it back gives the same size.
#[must_use]
pub fn show_size(size: Size) -> String {
    show(size.bytes(), &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
}

fn read(
    text: &str,
    kind: &str,
    example: &str,
    units: &[(&str, u64)],
    resolution: &str,
) -> Result<u64, QuantityError> {
    let text = text.trim();
    let (number, unit) = split(text);
    if number.is_empty() {
        return Err(QuantityError(format!("\"{text}\" is not a {kind}; write it like {example}")));
    }
    if unit.is_empty() {
        return Err(QuantityError(format!(
            "\"{text}\" has no unit; write a {kind} like {example}"
        )));
    }
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(QuantityError(unknown_unit(text, unit, kind, units)));
    };
    let decimal = Decimal::parse(number)
        .ok_or_else(|| QuantityError(format!("\"{number}\" in \"{text}\" is not a number")))?;
    if decimal.negative {
        return Err(QuantityError(format!("\"{text}\" is negative; a {kind} is at least 0")));
    }
    decimal.scaled(scale).map_err(|problem| match problem {
        Inexact::TooFine => {
            QuantityError(format!("\"{text}\" is finer than the resolution of {resolution}"))
        }
        Inexact::TooLarge => QuantityError(format!("\"{text}\" is too large for a {kind}")),
    })
}

/// The number and the unit of `text`.
fn split(text: &str) -> (&str, &str) {
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_')))
        .map_or(text.len(), |at| exponent_end(text, at));
    (text[..split].trim(), text[split..].trim())
}

/// `"1e-3 s"` has an exponent and `"3 e"` does not: an `e` belongs to the number if digits follow.
fn exponent_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    if !matches!(bytes[at], b'e' | b'E') {
        return at;
    }
    let mut end = at + 1;
    if matches!(bytes.get(end), Some(b'+' | b'-')) {
        end += 1;
    }
    let digits = bytes[end..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 { at } else { end + digits }
}

fn unknown_unit(text: &str, unit: &str, kind: &str, units: &[(&str, u64)]) -> String {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let near = names.iter().find(|name| name.eq_ignore_ascii_case(unit));
    let hint = near.map_or(String::new(), |name| format!(" (did you mean \"{name}\"?)"));
    format!(
        "\"{unit}\" in \"{text}\" is not a unit of a {kind}{hint}; units are {}",
        names.join(", ")
    )
}

enum Inexact {
    TooFine,
    TooLarge,
}

/// A decimal number kept exactly: `digits * 10^exponent`.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, body) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match body.find(['e', 'E']) {
            Some(at) => (&body[..at], body[at + 1..].parse::<i32>().ok()?),
            None => (body, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: u128 = 0;
        let mut seen = false;
        for c in whole.chars().chain(fraction.chars()).filter(|c| *c != '_') {
            let digit = c.to_digit(10)?;
            digits = digits.checked_mul(10)?.checked_add(u128::from(digit))?;
            seen = true;
        }
        let places = i32::try_from(fraction.chars().filter(|c| *c != '_').count()).ok()?;
        seen.then_some(Self {
            negative: negative && digits > 0,
            digits,
            exponent: exponent.checked_sub(places)?,
        })
    }

    fn scaled(&self, scale: u64) -> Result<u64, Inexact> {
        let mut value = self.digits.checked_mul(u128::from(scale)).ok_or(Inexact::TooLarge)?;
        if value == 0 {
            return Ok(0);
        }
        let mut exponent = self.exponent;
        while exponent > 0 {
            value = value.checked_mul(10).ok_or(Inexact::TooLarge)?;
            exponent -= 1;
        }
        while exponent < 0 {
            if !value.is_multiple_of(10) {
                return Err(Inexact::TooFine);
            }
            value /= 10;
            exponent += 1;
        }
        u64::try_from(value).map_err(|_| Inexact::TooLarge)
    }
}

fn show(value: u64, units: &[(&str, u64)]) -> String {
    // The largest unit in which at most three decimals are needed keeps the text short and exact.
    for (name, scale) in units {
        let step = (scale / 1000).max(1);
        if value >= *scale && value.is_multiple_of(step) {
            let whole = value / scale;
            let thousandths = (value % scale) / step;
            if thousandths == 0 || *scale < 1000 {
                return format!("{whole} {name}");
            }
            let fraction = format!("{thousandths:03}");
            return format!("{whole}.{} {name}", fraction.trim_end_matches('0'));
        }
    }
    // The smallest unit, a power of ten, with all decimals.
    let (name, scale) = units[units.len() - 1];
    let decimals =
        format!("{}.{:0width$}", value / scale, value % scale, width = scale.ilog10() as usize);
    format!("{} {name}", decimals.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts are read exactly, or refused if they are finer than the unit; the values follow from
    /// the SI prefixes.
    #[test]
    fn texts_are_read_exactly() {
        assert_eq!(parse_span("2.5 ms").unwrap().ps(), 2_500_000_000);
        assert_eq!(parse_span("0.1ms").unwrap().ps(), 100_000_000);
        assert_eq!(parse_span("1e-3 s").unwrap().ps(), 1_000_000_000);
        assert_eq!(parse_rate("201.6 Mbit/s").unwrap().bps(), 201_600_000);
        assert!(parse_rate("9.8304 kbit/s").unwrap_err().0.contains("finer"));
        assert_eq!(parse_size("45 kB").unwrap().bytes(), 45_000);
        assert_eq!(parse_size("4.5e3 kB").unwrap().bytes(), 4_500_000);
        assert_eq!(parse_size("3e2 B").unwrap().bytes(), 300);
        assert_eq!(parse_size("1 KiB").unwrap().bytes(), 1024);
        assert_eq!(parse_packets("78 packets").unwrap(), 78);
        assert_eq!(parse_span("+3 µs").unwrap(), parse_span("3 us").unwrap());
        assert_eq!(parse_span("-0 s").unwrap().ps(), 0);
    }

    /// Every unit has its size; the values are those of the SI and of IEC 80000-13.
    #[test]
    fn every_unit_has_its_size() {
        for (text, ps) in [
            ("3 ps", 3),
            ("3 ns", 3_000),
            ("3 us", 3_000_000),
            ("3 µs", 3_000_000),
            ("3 ms", 3_000_000_000),
            ("3 s", 3_000_000_000_000),
            ("3 min", 180_000_000_000_000),
            ("3 h", 10_800_000_000_000_000),
        ] {
            assert_eq!(parse_span(text).unwrap().ps(), ps, "{text}");
        }
        for (text, bps) in [
            ("3 bit/s", 3),
            ("3 kbit/s", 3_000),
            ("3 Mbit/s", 3_000_000),
            ("3 Gbit/s", 3_000_000_000),
            ("3 Tbit/s", 3_000_000_000_000),
        ] {
            assert_eq!(parse_rate(text).unwrap().bps(), bps, "{text}");
            let short = text.replace("bit/s", "bps");
            let same = parse_rate(&short).map(Rate::bps);
            assert!(short == "3 Tbps" || same == Ok(bps), "{short}");
        }
        for (text, bytes) in [
            ("3 B", 3),
            ("3 kB", 3_000),
            ("3 MB", 3_000_000),
            ("3 GB", 3_000_000_000),
            ("3 TB", 3_000_000_000_000),
            ("3 KiB", 3_072),
            ("3 MiB", 3_145_728),
            ("3 GiB", 3_221_225_472),
        ] {
            assert_eq!(parse_size(text).unwrap().bytes(), bytes, "{text}");
        }
        for (text, micro_per_hour) in
            [("2 /s", 7_200_000_000), ("2 /min", 120_000_000), ("2 /h", 2_000_000)]
        {
            assert_eq!(parse_frequency(text).unwrap().micro_per_hour(), micro_per_hour, "{text}");
        }
    }

    /// An error prints its message.
    #[test]
    fn an_error_prints_its_message() {
        assert_eq!(QuantityError("too large".to_owned()).to_string(), "too large");
    }

    /// Wrong texts are refused with the reason, so that a slip in the unit does not run as another
    /// scenario.
    #[test]
    fn wrong_texts_are_refused_with_a_reason() {
        for (text, reason) in [
            ("34", "no unit"),
            ("34 Mb", "not a unit"),
            ("34 mbit/s", "did you mean \"Mbit/s\""),
            ("-1 Mbit/s", "negative"),
            ("fast", "not a data rate"),
            ("1.2.3 bit/s", "not a number"),
            ("0.5 bit/s", "finer"),
            ("1e30 bit/s", "too large"),
            ("2 ms", "not a unit"),
            ("", "not a data rate"),
            ("nan bit/s", "not a data rate"),
        ] {
            let error = parse_rate(text).unwrap_err().0;
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    /// Bandwidth-delay products are read exactly, to a millionth, and the unit of any quantity is
    /// found behind its number.
    #[test]
    fn bandwidth_delay_products_are_read_exactly() {
        assert_eq!(parse_bdp("1 BDP"), Ok(1_000_000));
        assert_eq!(parse_bdp("0.1BDP"), Ok(100_000));
        assert!(parse_bdp("1e-7 BDP").unwrap_err().0.contains("finer"));
        assert!(parse_bdp("1 bdp").unwrap_err().0.contains("did you mean \"BDP\"?"));
        assert_eq!(["2.5 ms", "1e-3s", "7", "x"].map(unit_of), ["ms", "s", "", "x"]);
    }

    /// Printed quantities read back the same: the canonical form of a scenario loses no digits.
    #[test]
    fn printed_quantities_read_back_the_same() {
        for ps in [0, 1, 999, 1_500, 135_529_412, 2_500_000_000, 60 * PS_PER_S, u64::MAX] {
            let span = Span::from_ps(ps);
            assert_eq!(parse_span(&show_span(span)).unwrap(), span);
        }
        for n in [0, 1, 999, 1_000, 1_234_567, 201_600_000, u64::MAX] {
            assert_eq!(parse_rate(&show_rate(Rate::from_bps(n))).unwrap().bps(), n);
            assert_eq!(parse_size(&show_size(Size::from_bytes(n))).unwrap().bytes(), n);
            let frequency = Frequency::from_micro_per_hour(n);
            assert_eq!(parse_frequency(&show_frequency(frequency)).unwrap(), frequency);
        }
        // Millionths an hour: 30001e-8 /s are 1.080036 /h.
        assert_eq!(show_frequency(Frequency::from_micro_per_hour(1_080_036)), "1.080036 /h");
        assert_eq!(show_span(Span::from_us(2500)), "2.5 ms");
        assert_eq!(show_rate(Rate::from_bps(34_000_000)), "34 Mbit/s");
    }
}
