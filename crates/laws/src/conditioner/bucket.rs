//! Token buckets that count exactly.
//!
//! Tokens are integers in units of a picobit, 10^-12 bit: a rate in bit/s times a time in ps gives
//! them without rounding, and a byte is 8 10^12 of them. So a meter never gains or loses a token by
//! arithmetic, however often it is asked. They are counted in 128 bits. A bucket up to a megabyte
//! that never is in debt can count in 64, which takes less work.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use forebay_network::{BucketState, DropReason, Packet, Paid, Verdict};
use forebay_parameters::{Probe, Problem, Section, choice};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

/// Content of the bucket of a law that has one.
pub(crate) const TOKENS: Probe =
    Probe { name: "tokens", unit: "bytes", meaning: "Tokens in the bucket, negative in debt." };
/// Content of the bucket of the committed rate.
pub(crate) const COMMITTED_TOKENS: Probe =
    Probe { name: "committed_tokens", unit: "bytes", meaning: "Tokens in the committed bucket." };
/// Content of the bucket beyond the committed one.
pub(crate) const EXCESS_TOKENS: Probe =
    Probe { name: "excess_tokens", unit: "bytes", meaning: "Tokens in the excess bucket." };
/// Content of the bucket of the peak rate.
pub(crate) const PEAK_TOKENS: Probe =
    Probe { name: "peak_tokens", unit: "bytes", meaning: "Tokens in the peak bucket." };

choice! {
    /// Treatment of the colour that a packet arrives with.
    pub enum Mode {
        /// It does not: every packet is taken as uncoloured.
        Blind = "blind",
        /// It does: a packet never leaves with a better colour than it came with.
        Aware = "aware",
    }
}

choice! {
    /// Treatment of packets out of profile.
    pub enum Excess {
        /// They are marked.
        Mark = "mark",
        /// They are dropped.
        Drop = "drop",
    }
}

impl Mode {
    /// The best colour that `packet` can get.
    #[inline]
    pub(crate) fn best(self, packet: &Packet) -> u8 {
        match self {
            Self::Blind => GREEN,
            Self::Aware => packet.precedence,
        }
    }
}

impl Excess {
    /// The verdict on a packet out of profile.
    #[inline]
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Mark => Verdict::Accept,
            Self::Drop => Verdict::Drop(DropReason::Policed),
        }
    }
}

/// Precedence of conforming packets.
pub(crate) const GREEN: u8 = 0;
/// Precedence of packets in excess of the committed part of the profile.
pub(crate) const YELLOW: u8 = 1;
/// Precedence of packets out of profile.
pub(crate) const RED: u8 = 2;

/// Picobits in a byte.
const PER_BYTE: i128 = 8 * PS_PER_S as i128;

/// Tokens that arrive at `rate` during `span`.
#[inline]
pub(crate) fn earned(rate: Rate, span: Span) -> u128 {
    u128::from(rate.bps()) * u128::from(span.ps())
}

/// The tokens for `bytes`.
#[inline]
pub(crate) const fn tokens(bytes: u64) -> i128 {
    // Below 1.5 10^32, which leaves room for any debt that a run could pile up.
    bytes as i128 * PER_BYTE
}

/// The whole numbers in which a bucket counts its tokens.
pub(crate) trait Count:
    Copy + Ord + Add<Output = Self> + Sub<Output = Self> + AddAssign + SubAssign + Into<i128>
{
    /// None.
    const NONE: Self;

    /// The tokens for `bytes`.
    fn tokens(bytes: u64) -> Self;

    /// Tokens that arrive at `rate` during `span`, or `most` if these are fewer, which are not
    /// negative.
    fn earned(rate: Rate, span: Span, most: Self) -> Self;
}

impl Count for i128 {
    const NONE: Self = 0;

    #[inline]
    fn tokens(bytes: u64) -> Self {
        tokens(bytes)
    }

    #[inline]
    fn earned(rate: Rate, span: Span, most: Self) -> Self {
        earned(rate, span).min(most as u128) as Self
    }
}

impl Count for i64 {
    const NONE: Self = 0;

    #[inline]
    fn tokens(bytes: u64) -> Self {
        bytes as Self * PER_BYTE as Self
    }

    #[inline]
    fn earned(rate: Rate, span: Span, most: Self) -> Self {
        rate.bps().saturating_mul(span.ps()).min(most as u64) as Self
    }
}

/// Returns true if the tokens of a full bucket that holds `depth` can be counted by an `i64`.
pub(crate) fn is_small(depth: Size) -> bool {
    i64::try_from(tokens(depth.bytes())).is_ok()
}

/// A bucket of tokens. It may be in debt, and it may be fuller than full until tokens are next
/// poured in: meters that allow neither never bring it there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket<N = i128> {
    level: N,
    depth: N,
}

impl<N: Count> Bucket<N> {
    /// A full bucket that holds `depth`.
    pub fn full(depth: Size) -> Self {
        let depth = N::tokens(depth.bytes());
        Self { level: depth, depth }
    }

    /// Let the tokens of `span` arrive at `rate`; what runs over is lost. Not where it is fuller
    /// than full.
    #[inline]
    pub fn collect(&mut self, rate: Rate, span: Span) {
        self.level += N::earned(rate, span, self.depth - self.level);
    }

    /// Returns true if a full bucket has the tokens for `size` bytes.
    #[inline]
    pub fn holds(&self, size: u16) -> bool {
        self.depth >= N::tokens(u64::from(size))
    }

    /// Returns true if there are tokens for `size` bytes.
    #[inline]
    pub fn covers(&self, size: u16) -> bool {
        self.level >= N::tokens(u64::from(size))
    }

    /// Take the tokens for `size` bytes out: what is not [covered](Self::covers) becomes a debt.
    #[inline]
    pub fn take(&mut self, size: u16) {
        self.level -= N::tokens(u64::from(size));
    }

    /// [Collect](Self::collect), and pay for `size` bytes if that is `due` and they are covered:
    /// gives whether it does. This changes from packet to packet, so nothing branches by it.
    #[inline]
    pub fn pays(&mut self, rate: Rate, span: Span, size: u16, due: bool) -> bool {
        self.collect(rate, span);
        let tokens = N::tokens(u64::from(size));
        let pays = due & (self.level >= tokens);
        self.level -= if pays { tokens } else { N::NONE };
        pays
    }

    /// The earliest time from `now` on at which `size` is covered, if nothing is taken before and
    /// tokens keep arriving at `rate` since `last`.
    pub fn covers_at(&self, size: Size, rate: Rate, last: Time, now: Time) -> Time {
        let needed = tokens(size.bytes());
        let (level, depth): (i128, i128) = (self.level.into(), self.depth.into());
        if needed > depth {
            return Time::NEVER;
        }
        let missing = u128::try_from(needed - level).unwrap_or(0);
        if missing == 0 {
            return now;
        }
        if rate.bps() == 0 {
            return Time::NEVER;
        }
        let wait = missing.div_ceil(u128::from(rate.bps()));
        now.max(last + Span::from_ps(u64::try_from(wait).unwrap_or(u64::MAX)))
    }

    /// Content when full, in bytes.
    pub fn depth(&self) -> u64 {
        (self.depth.into() / PER_BYTE) as u64
    }

    /// Its tokens in bytes.
    pub fn bytes(&self) -> f64 {
        self.level.into() as f64 / PER_BYTE as f64
    }

    /// State for checks: the bucket is never in debt, and `pays` for packets at a rate.
    pub fn state(&self, pays: Option<(Rate, Paid)>) -> BucketState {
        let depth = self.depth.into() as f64 / PER_BYTE as f64;
        BucketState { level: self.bytes(), least: 0.0, depth, pays }
    }
}

impl Bucket {
    /// From now on it holds `depth`; tokens beyond that are lost.
    #[inline]
    pub fn resize(&mut self, depth: i128) {
        self.depth = depth;
        self.level = self.level.min(depth);
    }

    /// Fill it.
    pub fn fill(&mut self) {
        self.level = self.depth;
    }

    /// Pour `tokens` in, which may be none; gives what runs over.
    #[inline]
    pub fn pour(&mut self, tokens: u128) -> u128 {
        let room = self.depth - self.level;
        match u128::try_from(room) {
            // The cast is exact: it is no more than `room`.
            Ok(room) if tokens <= room => {
                self.level += tokens as i128;
                0
            }
            _ => {
                self.level = self.depth;
                tokens.saturating_add_signed(-room)
            }
        }
    }

    /// Add tokens for `size`, whether or not there is room for them.
    #[inline]
    pub fn grant(&mut self, size: Size) {
        self.level += tokens(size.bytes());
    }

    /// Returns true if there are fewer tokens than for `size`.
    #[inline]
    pub fn is_below(&self, size: Size) -> bool {
        self.level < tokens(size.bytes())
    }

    /// Returns true if there are no tokens, or fewer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.level <= 0
    }

    /// Take the tokens for `size` bytes out, or those that there are.
    #[inline]
    pub fn drain(&mut self, size: u16) {
        self.level = (self.level - tokens(u64::from(size))).max(0);
    }
}

/// The smallest burst that lets any IP packet conform: an IPv4 header (RFC 791, section 3.1).
const MIN_BURST: u64 = 20;

/// Refuse a bucket that no packet fits into; `zero` allows a bucket that is left out by depth 0.
pub(crate) fn check_depth(
    section: &Section<'_>,
    key: &str,
    depth: Size,
    zero: bool,
) -> Result<(), Problem> {
    let bytes = depth.bytes();
    if bytes >= MIN_BURST || (zero && bytes == 0) {
        return Ok(());
    }
    let or_zero = if zero { "0 B or " } else { "" };
    let message = format!(
        "\"{bytes} B\" is smaller than a packet; allowed are {or_zero}sizes from \
         {MIN_BURST} B, at best the largest packet or more"
    );
    Err(section.fail(key, message))
}
