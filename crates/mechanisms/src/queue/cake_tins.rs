//! What CAKE takes from a packet: its tin, and what it takes on the wire.

use forebay_network::Packet;
use forebay_parameters::choice;

choice! {
    /// Classes of traffic.
    pub enum TinMode {
        /// One tin.
        BestEffort = "besteffort",
        /// Best effort, bulk and voice, with weights 16, 1 and 4.
        DiffServ3 = "diffserv3",
        /// Best effort, bulk, video and voice, with weights 16, 1, 8 and 4.
        DiffServ4 = "diffserv4",
    }
}

choice! {
    /// How the wire frames packets.
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
    pub(super) fn quanta(self) -> &'static [i64] {
        match self {
            Self::BestEffort => &[65_535],
            Self::DiffServ3 => &[1024, 64, 256],
            Self::DiffServ4 => &[1024, 64, 512, 256],
        }
    }

    /// By which power of two each tin's share of the rate is divided: up to it, packets of the tin
    /// go before those of earlier tins.
    pub(super) fn shifts(self) -> &'static [u32] {
        match self {
            Self::BestEffort => &[0],
            Self::DiffServ3 => &[0, 4, 2],
            Self::DiffServ4 => &[0, 4, 1, 2],
        }
    }

    /// The tin of `packet`, by its DSCP.
    pub(super) fn tin_of(self, packet: &Packet) -> usize {
        match (self, packet.dscp()) {
            (Self::BestEffort, _) => 0,
            (_, 1 | 8) => 1,
            (Self::DiffServ3, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::DiffServ4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Self::DiffServ4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            _ => 0,
        }
    }
}

/// What packets take on the wire beside their sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overhead {
    pub(super) bytes: u64,
    pub(super) least: u64,
    pub(super) framing: Framing,
}

impl Overhead {
    /// What a packet of `size` bytes takes.
    pub(super) fn on_wire(&self, size: u16) -> u64 {
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

    /// Shares and a shaper would count other bytes than the wire carries. By hand: 40 B with 10 B
    /// are 50 B, at least 64 B; in cells 50 B are two, 106 B, 64 B also two, and 1500 B with 10 B
    /// 32 cells, 1696 B; in PTM 1510 B have 24 bytes more.
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
