//! Initial congestion windows, by the standard that sets them or as a number.

use forebay_parameters::{Length, Node, Parameter, Value};

/// The windows that have a name, each with its word in scenarios.
macro_rules! initial_windows {
    ($($(#[$doc:meta])* $window:ident = $word:literal,)+) => {
        /// The initial congestion window.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum InitialWindow {
            $($(#[$doc])* $window,)+
            /// So many segments.
            Segments(u64),
        }

        impl InitialWindow {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$window)),+];
            const ALLOWED: &'static str =
                concat!("one of ", $($word, ", ",)+ "or a number such as \"4 packets\"");
        }
    };
}

initial_windows! {
    /// One segment (RFC 2001).
    Rfc2001 = "rfc2001",
    /// min(4 MSS, max(2 MSS, 4380 B)), the experimental predecessor of RFC 3390 (RFC 2414).
    Rfc2414 = "rfc2414",
    /// Two segments, the most that RFC 2581 allows.
    Rfc2581 = "rfc2581",
    /// min(4 MSS, max(2 MSS, 4380 B)) (RFC 3390).
    Rfc3390 = "rfc3390",
    /// Four segments of up to 1095 B, three of up to 2190 B, two of more (RFC 5681, section 3.1).
    Rfc5681 = "rfc5681",
    /// min(10 MSS, max(2 MSS, 14600 B)) (RFC 6928).
    Rfc6928 = "rfc6928",
}

impl InitialWindow {
    /// The window in bytes for segments of `mss` bytes.
    #[must_use]
    pub fn bytes(self, mss: u64) -> u64 {
        match self {
            Self::Rfc2001 => mss,
            Self::Rfc2581 => 2 * mss,
            Self::Rfc2414 | Self::Rfc3390 => (4 * mss).min((2 * mss).max(4380)),
            Self::Rfc5681 => match mss {
                0..=1095 => 4 * mss,
                1096..=2190 => 3 * mss,
                _ => 2 * mss,
            },
            Self::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
            Self::Segments(n) => n.saturating_mul(mss),
        }
    }
}

impl Parameter for InitialWindow {
    const KIND: &'static str = Self::ALLOWED;

    fn read(node: &Node) -> Result<Self, String> {
        if let Value::Text(text) = &node.value
            && let Some((_, window)) = Self::WORDS.iter().find(|(word, _)| word == text)
        {
            return Ok(*window);
        }
        match Length::read(node) {
            Ok(Length::Packets(n)) => Ok(Self::Segments(n)),
            _ => Err(format!("{} is not {}", node.value.show(), Self::KIND)),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Segments(n) => format!("{n} packets"),
            named => Self::WORDS
                .iter()
                .find(|(_, window)| window == named)
                .map_or(String::new(), |(word, _)| (*word).to_owned()),
        }
    }
}
