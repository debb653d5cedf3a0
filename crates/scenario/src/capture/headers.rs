//! Headers of captured packets: Ethernet, IPv4, TCP and UDP, with their checksums.

use std::net::SocketAddr;

use etherparse::{
    Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TransportHeader, UdpHeader,
    ether_type,
};
use forebay_network::{Ecn, SackBlocks};

/// The most bytes of a packet without data that are kept: all headers with the longest TCP options.
pub(super) const MAX_KEPT_BYTES: usize =
    Ethernet2Header::LEN + Ipv4Header::MIN_LEN + TcpHeader::MAX_LEN;

/// The longest options of TCP.
const MAX_OPTION_BYTES: usize = TcpHeader::MAX_LEN - TcpHeader::MIN_LEN;
/// The data of every packet whose stack is a model, which are not kept.
static DATA: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// One end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    address: [u8; 4],
    port: u16,
}

impl End {
    /// A port of node `number`: 10.0.0.1 is the address of the first node, and so on.
    pub(super) const fn of_node(number: u32, port: u16) -> Self {
        Self { address: ((10 << 24) | ((number + 1) & 0xff_ffff)).to_be_bytes(), port }
    }

    /// The end at an address of IPv4; `None` for another.
    pub(super) fn at(address: SocketAddr) -> Option<Self> {
        match address {
            SocketAddr::V4(v4) => Some(Self { address: v4.ip().octets(), port: v4.port() }),
            SocketAddr::V6(_) => None,
        }
    }
}

/// Facts that every packet has: its two ends, its link and its class.
#[derive(Clone, Copy)]
pub(super) struct Envelope {
    pub(super) from: End,
    pub(super) to: End,
    /// The nodes at the near and the far end of the link.
    pub(super) hop: [u32; 2],
    /// DSCP and ECN field.
    pub(super) class: (u8, Ecn),
}

/// A TCP segment.
#[derive(Clone, Default)]
pub(super) struct Tcp {
    /// Without ports and options.
    pub(super) header: TcpHeader,
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
    let mut header = segment.header.clone();
    (header.source_port, header.destination_port) = (envelope.from.port, envelope.to.port);
    header.set_options_raw(&options(segment)).expect("options fit");
    let header = TransportHeader::Tcp(header);
    let longest = DATA.len() - Ipv4Header::MIN_LEN - header.header_len();
    let data = usize::try_from(segment.data).unwrap_or(longest).min(longest);
    packet(envelope, IpNumber::TCP, header, &DATA[..data])
}

/// A datagram of `size` bytes with its IP header, as it is on the wire without its data, and its
/// length with them.
pub(super) fn udp(envelope: &Envelope, size: u16) -> (Vec<u8>, u32) {
    let data = size.saturating_sub((Ipv4Header::MIN_LEN + UdpHeader::LEN) as u16);
    packet(envelope, IpNumber::UDP, udp_header(envelope, data), &DATA[..usize::from(data)])
}

/// A datagram with its data, as it is on the wire.
pub(super) fn datagram(envelope: &Envelope, data: &[u8]) -> (Vec<u8>, u32) {
    let header = udp_header(envelope, data.len() as u16);
    let (mut bytes, length) = packet(envelope, IpNumber::UDP, header, data);
    bytes.extend(data);
    (bytes, length)
}

fn udp_header(envelope: &Envelope, data: u16) -> TransportHeader {
    TransportHeader::Udp(UdpHeader {
        source_port: envelope.from.port,
        destination_port: envelope.to.port,
        length: data + UdpHeader::LEN as u16,
        checksum: 0,
    })
}

/// The headers of the packet of a transport `header` with `data`, and its length.
fn packet(
    envelope: &Envelope,
    protocol: IpNumber,
    mut header: TransportHeader,
    data: &[u8],
) -> (Vec<u8>, u32) {
    let segment = (header.header_len() + data.len()) as u16;
    let (from, to) = (envelope.from.address, envelope.to.address);
    // Identification 0 and Don't Fragment (RFC 6864), a time to live of 64.
    let mut ip = Ipv4Header::new(segment, 64, protocol, from, to).expect("it fits into a packet");
    ip.dscp = IpDscp::try_new(envelope.class.0).expect("a DSCP has six bits");
    ip.ecn = IpEcn::try_new(envelope.class.1 as u8).expect("the ECN field has two bits");
    ip.header_checksum = ip.calc_header_checksum();
    header.update_checksum_ipv4(&ip, data).expect("it fits into a packet");
    // Addresses that are administered locally.
    let [source, destination] = envelope.hop.map(|node| {
        let [a, b, c, d] = (node + 1).to_be_bytes();
        [2, 0, a, b, c, d]
    });
    let ethernet = Ethernet2Header { source, destination, ether_type: ether_type::IPV4 };
    let mut bytes = Vec::with_capacity(MAX_KEPT_BYTES);
    bytes.extend(ethernet.to_bytes());
    bytes.extend(ip.to_bytes());
    header.write(&mut bytes).expect("memory takes what is written");
    let length = bytes.len() + data.len();
    (bytes, length as u32)
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
    let mut all = Vec::with_capacity(MAX_OPTION_BYTES);
    for option in found {
        if aligned <= MAX_OPTION_BYTES {
            all.resize(all.len() + (option.len().next_multiple_of(4) - option.len()), NOP);
        }
        all.extend(option);
    }
    all.resize(all.len().next_multiple_of(4), NOP);
    debug_assert!(
        all.len() <= MAX_OPTION_BYTES,
        "a receiver sends no more blocks than there is room"
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::EcnCounts;

    const ENVELOPE: Envelope = Envelope {
        from: End::of_node(0, 49_152),
        to: End::of_node(1, 49_152),
        hop: [0, 1],
        class: (46, Ecn::NotEct),
    };

    /// The sum of 16-bit words with the carry added in (RFC 1071, section 1).
    fn sum(bytes: &[u8]) -> u32 {
        let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        words.fold(0, |sum, word| (sum + word) % 0xffff)
    }

    /// Checksums are right, so that receivers accept the packets. The sum over a header with its
    /// checksum is all ones (RFC 1071, section 1), which is 0 modulo all ones.
    #[test]
    fn checksums_are_right() {
        let (bytes, length) = udp(&ENVELOPE, 200);
        assert_eq!((bytes.len(), length), (42, 214));
        assert_eq!((bytes[15], sum(&bytes[14..34])), (0xb8, 0));
        assert_eq!(sum(&[&bytes[26..], &[0, 17, 0, 180]].concat()), 0);
        let segment = Tcp { data: 1448, timestamps: Some((7, 9)), ..Tcp::default() };
        let (bytes, length) = tcp(&ENVELOPE, &segment);
        // 14 B of Ethernet, 20 B of IP, 20 B of TCP and 12 B of timestamps.
        assert_eq!((bytes.len(), length), (66, 66 + 1448));
        assert_eq!(sum(&[&bytes[26..], &[0, 6], &1480_u16.to_be_bytes()].concat()), 0);
    }

    /// The data of a real stack are in its packets, and count in their checksums.
    #[test]
    fn real_data_are_kept() {
        let (bytes, length) = datagram(&ENVELOPE, b"data!");
        assert_eq!((bytes.len(), length, &bytes[42..]), (47, 47, &b"data!"[..]));
        // An odd byte is padded with zero (RFC 768).
        assert_eq!(sum(&[&bytes[26..], &[0, 0, 17, 0, 13]].concat()), 0);
        let real = End::at("10.0.0.2:49152".parse().unwrap());
        assert_eq!((real, End::at("[::1]:1".parse().unwrap())), (Some(ENVELOPE.to), None));
    }

    /// Options always fit into the header: with timestamps, counts of ECN and two blocks, 10, 11
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
