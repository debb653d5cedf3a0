//! Resource-management cells: by which sources under explicit-rate control and the ports on their
//! way exchange rates (ATM Forum, Traffic Management Specification 4.0, section 5.10).

use forebay_network::{Packet, PacketKind};

/// A rate in packets a second as resource-management cells carry it, in 16 bits: 2^e (1 + m/512)
/// with e of 5 bits and m of 9, or zero. One unit of m is 0.1 to 0.2 % of the rate.
///
/// Source: ATM Forum af-tm-0056.000, section 5.10.3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct CellRate(u16);

const MANTISSA_BITS: u32 = 9;
/// Set in every rate but zero.
const NOT_ZERO: u16 = 1 << 14;
/// Fields of a binary64 number (IEEE 754).
const F64_MANTISSA_BITS: u32 = 52;
const F64_BIAS: u64 = 1023;

impl CellRate {
    /// The highest: 2^31 (1 + 511/512), 4.29e9 packets a second.
    pub const MAX: Self = Self(NOT_ZERO | 0x3FFF);

    /// A rate is written as more than this part of itself.
    pub const KEPT: f64 = 511.0 / 512.0;

    /// The highest that is not above `rate`: a port must not allow more than it meant. Below one
    /// packet a second that is zero.
    #[must_use]
    pub fn at_most(rate: f64) -> Self {
        // A rate that was read and calculated with is written as it was.
        let rate = rate * (1.0 + 1e-12);
        if rate.is_nan() || rate < 1.0 {
            return Self(0);
        }
        if rate >= Self::MAX.per_second() {
            return Self::MAX;
        }
        let bits = rate.to_bits();
        let exponent = (bits >> F64_MANTISSA_BITS) - F64_BIAS;
        let mantissa = bits >> (F64_MANTISSA_BITS - MANTISSA_BITS) & ((1 << MANTISSA_BITS) - 1);
        Self(NOT_ZERO | (exponent << MANTISSA_BITS | mantissa) as u16)
    }

    /// In packets a second.
    #[must_use]
    pub fn per_second(self) -> f64 {
        if self.0 & NOT_ZERO == 0 {
            return 0.0;
        }
        let exponent = self.0 >> MANTISSA_BITS & 0x1F;
        let mantissa = self.0 & ((1 << MANTISSA_BITS) - 1);
        (1_u64 << exponent) as f64 * (1.0 + f64::from(mantissa) / 512.0)
    }
}

/// Fields of a resource-management cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceCell {
    /// True if it is on its way back to its source (field DIR).
    pub backward: bool,
    /// The rate that the source was allowed when it sent the cell (CCR).
    pub current: CellRate,
    /// The most that all ports asked so far allow it (ER).
    pub explicit: CellRate,
    /// Rate that the source is promised (MCR).
    pub minimum: CellRate,
}

impl ResourceCell {
    /// Returns the fields of `packet`, which is a [resource-management
    /// cell](PacketKind::ResourceCell).
    #[inline]
    #[must_use]
    pub const fn of(packet: &Packet) -> Self {
        Self {
            backward: packet.is_last(),
            current: CellRate(packet.tag as u16),
            explicit: CellRate((packet.tag >> 16) as u16),
            minimum: CellRate((packet.tag >> 32) as u16),
        }
    }

    /// `packet` as this resource-management cell.
    #[must_use]
    pub const fn written(self, packet: Packet) -> Packet {
        let mut packet = packet.with_kind(PacketKind::ResourceCell).as_last(self.backward);
        packet.tag =
            self.current.0 as u64 | (self.explicit.0 as u64) << 16 | (self.minimum.0 as u64) << 32;
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};
    use forebay_units::Time;

    /// Rates are the numbers of the format, so that ports and sources read what was written. By the
    /// formula: 1 is 2^0, 353208 (149.76 Mbit/s in cells) is 2^18 (1 + 177/512) = 352768 rounded
    /// down, 14151 (6 Mbit/s) is 2^13 (1 + 372/512) = 14144.
    #[test]
    fn rates_are_the_numbers_of_the_format() {
        let read = |rate: f64| CellRate::at_most(rate).per_second();
        assert_eq!(CellRate::at_most(1.0).0, 0x4000);
        assert_eq!(CellRate::at_most(353_208.0).0, 0x4000 | 18 << 9 | 177);
        assert_eq!((read(353_208.0), read(14_151.0)), (352_768.0, 14_144.0));
        assert_eq!((read(0.99), read(f64::NAN), read(-1.0)), (0.0, 0.0, 0.0));
        assert_eq!(read(f64::INFINITY), 2147483648.0 * (1.0 + 511.0 / 512.0));
        assert_eq!(read(1023.5), 1023.0);
    }

    /// Rates are rounded down, so that a port allows no more than it means, and hardly less: of
    /// every rate that can be written the code is exact, and others lose less than a part in 512.
    #[test]
    fn rates_are_rounded_down_by_less_than_a_unit() {
        for code in 0x4000..0x8000_u16 {
            let rate = CellRate(code).per_second();
            assert_eq!(CellRate::at_most(rate).0, code);
            assert_eq!(CellRate::at_most(rate / 1179.2 * 1179.2).0, code);
            let between = CellRate::at_most(rate * (1.0 + 0.9 / 1024.0)).per_second();
            assert!(between <= rate * (1.0 + 0.9 / 1024.0) && between >= rate, "{rate} {between}");
            let below = CellRate::at_most(rate * (1.0 - 1e-9));
            assert!(code == 0x4000 || below.per_second() > rate * CellRate::KEPT * (1.0 - 1e-9));
        }
    }

    /// Cells keep their fields apart: what is written is read back, and a port that writes one rate
    /// leaves the others alone.
    #[test]
    fn cells_keep_their_fields_apart() {
        let packet = Packet::data(Time::ZERO, FlowId::new(1), 2, 53, RouteId::new(3));
        let [current, explicit, minimum] = [7.0, 1e6, 3e3].map(CellRate::at_most);
        for backward in [false, true] {
            let cell = ResourceCell { backward, current, explicit, minimum };
            let written = cell.written(packet);
            assert_eq!(written.kind(), PacketKind::ResourceCell);
            assert_eq!(ResourceCell::of(&written), cell);
            let lower = ResourceCell { explicit: CellRate::at_most(5.0), ..cell };
            assert_eq!(ResourceCell::of(&lower.written(written)), lower);
        }
    }
}
