//! Bit errors: a packet with a wrong bit is discarded by the receiver of the link.

use forebay_kernel::{Stream, math};
use forebay_network::{DropReason, Packet};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildImpairment, Impairment, Passage, check_probability};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "bit_errors",
    summary: "Corrupts bits independently; a packet with a corrupted bit fails its checksum at the \
              far end and is lost, so large packets are lost more often.",
    source: "RFC 3819, section 8 (links with errors); the binary symmetric channel",
    example: "rate = 1e-6",
    fields: BitErrorParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of bit errors.
    pub struct BitErrorParameters {
        /// Bit error rate: probability with which a bit is corrupted, 0 to 1.
        rate: f64, "RFC 3819, section 8";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let BitErrorParameters { rate } = BitErrorParameters::read(section)?;
    check_probability(section, "rate", rate)?;
    Ok(Box::new(BitErrors { rate }))
}

struct BitErrors {
    rate: f64,
}

impl BitErrors {
    /// The probability with which at least one of the bits of a packet of `size` bytes is wrong:
    /// 1 - (1 - rate)^bits, without the loss of digits for small rates.
    fn of_packet(&self, size: u16) -> f64 {
        -math::exp_m1(8.0 * f64::from(size) * math::ln_1p(-self.rate))
    }
}

impl Impairment for BitErrors {
    fn pass(&mut self, packet: &Packet, _now: Time, stream: &mut Stream) -> Passage {
        if stream.happens(self.of_packet(packet.size)) {
            Passage::Lost(DropReason::Corrupted)
        } else {
            Passage::Passes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet survives only if all its bits do, for rates as small as 1e-12. Of 12,000 bits, a
    /// packet is lost with probability 1 - 0.999^12000 = 1 - e^(-12.006) = 0.9999939; at 1e-12,
    /// 1.2e-8 to first order; of one byte at 0.5, 1 - 2^-8.
    #[test]
    fn a_packet_survives_only_if_all_its_bits_do() {
        let of = |rate, size| BitErrors { rate }.of_packet(size);
        assert!((of(0.001, 1500) - 0.999_993_9).abs() < 1e-7);
        assert!((of(1e-12, 1500) - 1.2e-8).abs() < 1e-15);
        assert!((of(0.5, 1) - (1.0 - 1.0 / 256.0)).abs() < 1e-12);
        assert_eq!((of(0.0, 1500), of(1.0, 1)), (0.0, 1.0));
    }
}
