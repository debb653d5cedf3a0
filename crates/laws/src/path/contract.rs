//! Contract of path selection: which of several ways that are equally short a packet takes.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_units::Time;

/// Chooses among the ways from one switch that are equally short. Each switch has one of its own.
pub trait PathSelection: Send {
    /// The way that `packet` takes, out of `ways`, of which there are two or more: a number from 0.
    /// Asked of each packet that has a choice, in the order in which they reach the switch. A way
    /// keeps its number as long as no link of the fabric fails or comes back.
    fn choose(&mut self, packet: &Packet, ways: u32, now: Time, stream: &mut Stream) -> u32;
}

/// Makes the law of one switch after another; it may draw from the stream of the switch, from which
/// [`PathSelection::choose`] draws thereafter.
pub type PathFactory = Arc<dyn Fn(&mut Stream) -> Box<dyn PathSelection> + Send + Sync>;

/// The number that the packets of one direction of a flow have in common, as they have addresses
/// and ports.
#[inline]
#[must_use]
pub fn direction(packet: &Packet) -> u64 {
    u64::from(packet.flow.number()) << 1 | u64::from(packet.is_feedback())
}

/// A number from 0 to `ways` - 1 that follows from `direction` and `salt`, and looks like chance.
#[inline]
#[must_use]
pub fn hashed(direction: u64, salt: u64, ways: u32) -> u32 {
    // The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    let mut z = direction.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    ((u128::from(z) * u128::from(ways)) >> 64) as u32
}

/// 64 bits drawn from `stream`: the salt of a switch.
pub(super) fn salt(stream: &mut Stream) -> u64 {
    stream.below(u64::MAX)
}
