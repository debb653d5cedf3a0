//! Rates and delays that the clock can tell, and those that are hardly meant.

use forebay_parameters::{Problem, Section};
use forebay_units::quantity::{show_rate, show_span};
use forebay_units::{Rate, Span};

/// The fastest rate of a link, in bit/s: a byte takes a femtosecond.
pub const MAX_RATE_BPS: u64 = 8_000_000_000_000_000;

/// Check the rate of a link or ring: packets of a kilobit must take less than days, and
/// transmission times must fit the clock.
pub fn check_rate(section: &Section<'_>, rate: Rate) -> Result<(), Problem> {
    match rate.bps() {
        0 => Err(section.fail("rate", "is zero; a link needs a rate above 0")),
        bps if bps > MAX_RATE_BPS => {
            let top = show_rate(Rate::from_bps(MAX_RATE_BPS));
            let message = format!("{} is too fast; allowed are up to {top}", show_rate(rate));
            Err(section.fail("rate", message))
        }
        _ => Ok(()),
    }
}

/// The longest propagation delay: what is due after the end of a run must lie within the clock.
pub const MAX_DELAY: Span = Span::from_s(100 * 24 * 3600);
/// Threshold above which a propagation delay is hardly meant: light takes 43 minutes to Jupiter.
const UNUSUAL_DELAY: Span = Span::from_s(3600);

/// Refuse a propagation delay under `key` that the clock could not tell, and warn of hours.
pub fn check_delay(section: &Section<'_>, key: &str, delay: Span) -> Result<(), Problem> {
    if delay > MAX_DELAY {
        let (read, most) = (show_span(delay), show_span(MAX_DELAY));
        return Err(section.fail(key, format!("{read} is too long; allowed are up to {most}")));
    }
    if delay > UNUSUAL_DELAY {
        let message = format!(
            "{} is longer than {}: is it a propagation delay?",
            show_span(delay),
            show_span(UNUSUAL_DELAY)
        );
        section.warn(key, message);
    }
    Ok(())
}
