//! Properties that CAKE takes from a packet: its tin, and its size on the wire.

use forebay_network::Packet;
use forebay_parameters::choice;
use forebay_units::Rate;

choice! {
    /// Classes of traffic.
    pub enum TinMode {
        /// One tin.
        BestEffort = "besteffort",
        /// Best effort, bulk and voice, with weights 16, 1 and 4.
        DiffServ3 = "diffserv3",
        /// Best effort, bulk, video and voice, with weights 16, 1, 8 and 4.
        DiffServ4 = "diffserv4",
        /// Eight, each with 7/8 of the weight and the rate of the one before: lower effort; high
        /// throughput (AF1x, CS1); all else; streaming (AF3x, AF4x, CS3); low latency (AF2x); CS2;
        /// voice and interactive (EF, VOICE-ADMIT, CS4, CS5); network control (CS6, CS7).
        DiffServ8 = "diffserv8",
        /// One for each of the eight class selectors (IP precedences), each with 7/8 of the weight
        /// and the rate of the one before.
        Precedence = "precedence",
    }
}

choice! {
    /// Framing of packets on the wire.
    pub enum Framing {
        /// As they are.
        None = "none",
        /// In ATM cells of 53 B with 48 B of payload.
        Atm = "atm",
        /// With a byte for each 64 B.
        Ptm = "ptm",
    }
}

impl TinMode {
    /// Bytes that each tin may send in a round.
    pub(in crate::queue) fn quanta(self) -> &'static [i64] {
        match self {
            Self::BestEffort => &[65_535],
            Self::DiffServ3 => &[1024, 64, 256],
            Self::DiffServ4 => &[1024, 64, 512, 256],
            // 7/8 of the one before, rounded down.
            Self::DiffServ8 | Self::Precedence => &[256, 224, 196, 171, 149, 130, 113, 98],
        }
    }

    /// The share of tin `tin` of `rate`: up to it, packets of the tin go before those of earlier
    /// tins.
    pub(in crate::queue) fn share(self, rate: Rate, tin: usize) -> Rate {
        let halved = |shifts: &[u32]| rate.bps() >> shifts[tin];
        let bps = match self {
            Self::BestEffort => rate.bps(),
            Self::DiffServ3 => halved(&[0, 4, 2]),
            Self::DiffServ4 => halved(&[0, 4, 1, 2]),
            Self::DiffServ8 | Self::Precedence => {
                (0..tin).fold(rate.bps(), |rate, _| (u128::from(rate) * 7 / 8) as u64)
            }
        };
        Rate::from_bps(bps.max(1))
    }

    /// The tin of `packet`, by its DSCP.
    pub(in crate::queue) fn tin_of(self, packet: &Packet) -> usize {
        match (self, packet.dscp()) {
            (Self::BestEffort, _) => 0,
            (Self::Precedence, dscp) => usize::from(dscp >> 3),
            (Self::DiffServ8, dscp) => match dscp {
                1 => 0,
                2 | 8 | 10 | 12 | 14 => 1,
                24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
                4 | 18 | 20 | 22 => 4,
                16 => 5,
                32 | 40 | 44 | 46 => 6,
                48 | 56 => 7,
                _ => 2,
            },
            (_, 1 | 8) => 1,
            (Self::DiffServ3, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::DiffServ4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Self::DiffServ4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            _ => 0,
        }
    }
}

/// Overhead of packets on the wire beside their sizes.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Overhead {
    pub(in crate::queue) bytes: u64,
    pub(in crate::queue) least: u64,
    pub(in crate::queue) framing: Framing,
}

impl Overhead {
    /// Returns the bytes that a packet of `size` bytes takes.
    pub(in crate::queue) fn on_wire(&self, size: u16) -> u64 {
        let bytes = u64::from(size).saturating_add(self.bytes).max(self.least);
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48).saturating_mul(53),
            Framing::Ptm => bytes.saturating_add(bytes.div_ceil(64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Node, Parameter};
    use forebay_units::Time;

    use crate::Dscp;

    /// Packets join the class that their codepoint says: by name, as tc-cake(8) and Linux
    /// (`net/sched/sch_cake.c`) have them, and by the class selector, the upper three bits.
    #[test]
    fn codepoints_have_their_tins() {
        let tins = |mode: TinMode, names: &str| -> Vec<usize> {
            let dscp = |name: &str| <Dscp as Parameter>::read(&Node::new(name.into())).unwrap();
            let packet = |name| {
                let route = RouteId::new(0);
                let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 100, route);
                packet.set_dscp(dscp(name).0);
                packet
            };
            names.split(' ').map(|name| mode.tin_of(&packet(name))).collect()
        };
        let names = "LE AF11 AF12 AF13 CS1 BE AF31 AF43 CS3 AF21 AF23 CS2 EF CS4 CS5 CS6 CS7";
        let eight = [0, 1, 1, 1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6, 7, 7];
        assert_eq!(tins(TinMode::DiffServ8, names), eight);
        let selectors = [0, 1, 1, 1, 1, 0, 3, 4, 3, 2, 2, 2, 5, 4, 5, 6, 7];
        assert_eq!(tins(TinMode::Precedence, names), selectors);
        let four = [1, 0, 0, 0, 1, 0, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3];
        assert_eq!(tins(TinMode::DiffServ4, names), four);
    }

    /// Each tin has 7/8 of what the one before has: of 8^7 bit/s the last has 7^7.
    #[test]
    fn eight_tins_fall_by_an_eighth() {
        for mode in [TinMode::DiffServ8, TinMode::Precedence] {
            let rates = (0..8).map(|tin| mode.share(Rate::from_bps(8_u64.pow(7)), tin).bps());
            let exact = (0..8).map(|tin| 7_u64.pow(tin) * 8_u64.pow(7 - tin));
            assert!(rates.eq(exact));
            let quanta = mode.quanta();
            assert!(quanta.windows(2).all(|pair| pair[1] == pair[0] * 7 / 8), "{quanta:?}");
            assert_eq!((quanta.len(), quanta[0]), (8, 256));
        }
        // A quarter of the rate is voice.
        assert_eq!(TinMode::DiffServ4.share(Rate::from_bps(100), 3), Rate::from_bps(25));
    }

    /// Shares and a shaper count the bytes that the wire carries. By hand: 40 B with 10 B are 50 B,
    /// at least 64 B; in cells 50 B are two, 106 B, 64 B also two, and 1500 B with 10 B 32 cells,
    /// 1696 B; in PTM 1510 B have 24 bytes more.
    #[test]
    fn packets_take_what_the_framing_takes() {
        let wire = |size, bytes, least, framing| Overhead { bytes, least, framing }.on_wire(size);
        assert_eq!(wire(40, 10, 0, Framing::None), 50);
        assert_eq!(wire(40, 10, 64, Framing::None), 64);
        assert_eq!(wire(40, 10, 0, Framing::Atm), 106);
        assert_eq!(wire(40, 10, 64, Framing::Atm), 106);
        assert_eq!(wire(1500, 10, 64, Framing::Atm), 1696);
        assert_eq!(wire(1500, 10, 64, Framing::Ptm), 1534);
        assert_eq!(wire(48, 0, 0, Framing::Atm), 53);
        assert_eq!(wire(64, 0, 0, Framing::Ptm), 65);
    }
}
