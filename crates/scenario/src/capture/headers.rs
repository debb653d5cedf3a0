//! Headers of captured packets: Ethernet, IPv4, TCP and UDP, with their checksums.
//!
//! Data are zeros, which add nothing to a checksum, so that checksums are right although the data
//! are not kept.

use forebay_network::SackBlocks;

/// The most bytes of a packet that are kept: all headers with the longest TCP options.
pub(super) const MOST: u32 = (ETHERNET + IP + 60) as u32;

const ETHERNET: usize = 14;
const IP: usize = 20;
const UDP: usize = 8;
/// Protocol numbers.
const TCP_PROTOCOL: u8 = 6;
const UDP_PROTOCOL: u8 = 17;
/// The longest options of TCP.
const MOST_OPTIONS: usize = 40;

/// One end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    /// The number of its node.
    pub(super) node: u32,
    pub(super) port: u16,
}

impl End {
    /// Its IPv4 address: 10.0.0.1 of the first node, and so on.
    fn address(self) -> [u8; 4] {
        ((10 << 24) | ((self.node + 1) & 0xff_ffff)).to_be_bytes()
    }
}

/// What all packets have: between whom, over which link, in which class.
#[derive(Clone, Copy)]
pub(super) struct Envelope {
    pub(super) from: End,
    pub(super) to: End,
    /// The nodes at the near and the far end of the link.
    pub(super) hop: [u32; 2],
    /// DSCP and ECN field.
    pub(super) class: u8,
}

/// Flags of TCP (RFC 9293, section 3.1; AE: RFC 9768).
pub(super) mod flags {
    pub(crate) const FIN: u16 = 1;
    pub(crate) const SYN: u16 = 1 << 1;
    pub(crate) const PSH: u16 = 1 << 3;
    pub(crate) const ACK: u16 = 1 << 4;
    pub(crate) const ECE: u16 = 1 << 6;
    pub(crate) const CWR: u16 = 1 << 7;
    pub(crate) const AE: u16 = 1 << 8;
}

/// A TCP segment.
#[derive(Clone, Default)]
pub(super) struct Tcp {
    pub(super) sequence: u64,
    pub(super) acknowledged: u64,
    pub(super) flags: u16,
    pub(super) window: u16,
    /// Of a SYN: maximum segment size and shift of the window.
    pub(super) offer: Option<(u16, u8)>,
    /// TS val and TS ecr in ms.
    pub(super) timestamps: Option<(u64, u64)>,
    /// SACK blocks in bytes.
    pub(super) blocks: Vec<(u64, u64)>,
    /// Carries the AccECN option, if there is one.
    pub(super) counts: SackBlocks,
    /// Bytes of data.
    pub(super) data: u64,
}

/// A TCP segment as it is on the wire without its data, and its length with them.
pub(super) fn tcp(envelope: &Envelope, segment: &Tcp) -> (Vec<u8>, u32) {
    let options = options(segment);
    let mut header = Vec::with_capacity(20 + options.len());
    header.extend(envelope.from.port.to_be_bytes());
    header.extend(envelope.to.port.to_be_bytes());
    // Numbers are those of 32 bits that come round.
    header.extend((segment.sequence as u32).to_be_bytes());
    header.extend((segment.acknowledged as u32).to_be_bytes());
    let words = ((20 + options.len()) / 4) as u16;
    header.extend((words << 12 | segment.flags).to_be_bytes());
    header.extend(segment.window.to_be_bytes());
    header.extend([0; 4]);
    header.extend(options);
    packet(envelope, TCP_PROTOCOL, (header, 16), segment.data)
}

/// A datagram of `size` bytes with its IP header, as it is on the wire without its data, and its
/// length with them.
pub(super) fn udp(envelope: &Envelope, size: u16) -> (Vec<u8>, u32) {
    let data = usize::from(size).saturating_sub(IP + UDP);
    let mut header = Vec::with_capacity(UDP);
    header.extend(envelope.from.port.to_be_bytes());
    header.extend(envelope.to.port.to_be_bytes());
    header.extend(((data + UDP) as u16).to_be_bytes());
    header.extend([0; 2]);
    packet(envelope, UDP_PROTOCOL, (header, 6), data as u64)
}

/// The packet around a transport `header`, whose checksum is at `at`, with `data` bytes of data.
fn packet(
    envelope: &Envelope,
    protocol: u8,
    (mut header, at): (Vec<u8>, usize),
    data: u64,
) -> (Vec<u8>, u32) {
    let (from, to) = (envelope.from.address(), envelope.to.address());
    let longest = usize::from(u16::MAX) - IP - header.len();
    let segment = header.len() + usize::try_from(data).unwrap_or(longest).min(longest);
    let pseudo = [&from[..], &to, &[0, protocol], &(segment as u16).to_be_bytes()].concat();
    let sum = checksum(&[&pseudo, &header]);
    // RFC 768: a sum of 0 is sent as its complement, as 0 stands for none.
    let sum = if sum == 0 && protocol == UDP_PROTOCOL { u16::MAX } else { sum };
    header[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    let length = IP + segment;
    let mut ip = vec![0x45, envelope.class];
    ip.extend((length as u16).to_be_bytes());
    // Identification 0 and Don't Fragment (RFC 6864), a time to live of 64.
    ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    ip.extend(from);
    ip.extend(to);
    let sum = checksum(&[&ip]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut bytes = Vec::with_capacity(ETHERNET + IP + header.len());
    for node in envelope.hop.iter().rev() {
        // Addresses that are administered locally.
        bytes.extend([2, 0]);
        bytes.extend((node + 1).to_be_bytes());
    }
    bytes.extend([8, 0]);
    bytes.extend(ip);
    bytes.extend(header);
    (bytes, (ETHERNET + length) as u32)
}

/// The options of a segment, aligned as is usual where there is room for that.
fn options(segment: &Tcp) -> Vec<u8> {
    const NOP: u8 = 1;
    let mut found: Vec<Vec<u8>> = Vec::new();
    if let Some((mss, shift)) = segment.offer {
        let [high, low] = mss.to_be_bytes();
        // Maximum segment size, SACK permitted, window scale.
        found.push(vec![2, 4, high, low, NOP, 3, 3, shift, NOP, NOP, 4, 2]);
    }
    if let Some((value, echo)) = segment.timestamps {
        let mut option = vec![8, 10];
        option.extend((value as u32).to_be_bytes());
        option.extend((echo as u32).to_be_bytes());
        found.push(option);
    }
    if let Some(counts) = segment.counts.ecn() {
        // AccECN0: RFC 9768, section 3.2.3.
        let mut option = vec![172, 11];
        for count in [counts.ect0, counts.ce, counts.ect1] {
            option.extend(&count.to_be_bytes()[1..]);
        }
        found.push(option);
    }
    if !segment.blocks.is_empty() {
        let mut option = vec![5, (2 + 8 * segment.blocks.len()) as u8];
        for (first, end) in &segment.blocks {
            option.extend((*first as u32).to_be_bytes());
            option.extend((*end as u32).to_be_bytes());
        }
        found.push(option);
    }
    let aligned: usize = found.iter().map(|option| option.len().next_multiple_of(4)).sum();
    let mut all = Vec::with_capacity(MOST_OPTIONS);
    for option in found {
        if aligned <= MOST_OPTIONS {
            all.resize(all.len() + (option.len().next_multiple_of(4) - option.len()), NOP);
        }
        all.extend(option);
    }
    all.resize(all.len().next_multiple_of(4), NOP);
    debug_assert!(all.len() <= MOST_OPTIONS, "a receiver sends no more blocks than there is room");
    all
}

/// The checksum of parts of even lengths (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::EcnCounts;

    const ENVELOPE: Envelope = Envelope {
        from: End { node: 0, port: 49_152 },
        to: End { node: 1, port: 49_152 },
        hop: [0, 1],
        class: 0xb8,
    };

    /// A receiver would drop the packets. The sum over a header with its checksum is all ones
    /// (RFC 1071, section 1), so its complement is 0.
    #[test]
    fn checksums_are_right() {
        let (bytes, length) = udp(&ENVELOPE, 200);
        assert_eq!((bytes.len(), length), (42, 214));
        assert_eq!(checksum(&[&bytes[14..34]]), 0);
        let pseudo = [&bytes[26..34], &[0, 17, 0, 180]].concat();
        assert_eq!(checksum(&[&pseudo, &bytes[34..]]), 0);
        let segment = Tcp { data: 1448, timestamps: Some((7, 9)), ..Tcp::default() };
        let (bytes, length) = tcp(&ENVELOPE, &segment);
        // 14 B of Ethernet, 20 B of IP, 20 B of TCP and 12 B of timestamps.
        assert_eq!((bytes.len(), length), (66, 66 + 1448));
        let pseudo = [&bytes[26..34], &[0, 6], &1480_u16.to_be_bytes()].concat();
        assert_eq!(checksum(&[&pseudo, &bytes[34..]]), 0);
    }

    /// Options would run over the header: with timestamps, counts of ECN and two blocks, 10, 11
    /// and 18 bytes go into 40 unaligned, where aligned they would take 44.
    #[test]
    fn options_always_fit() {
        let counts = SackBlocks::default().with_ecn(EcnCounts::default());
        let blocks = vec![(1, 2), (5, 7)];
        let segment = Tcp { timestamps: Some((1, 2)), counts, blocks, ..Tcp::default() };
        assert_eq!(options(&segment).len(), 40);
        let alone = Tcp { blocks: vec![(1, 2)], ..Tcp::default() };
        assert_eq!(options(&alone)[..4], [1, 1, 5, 10]);
    }
}
