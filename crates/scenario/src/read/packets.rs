//! The packets of a capture in the formats pcap (pcap-savefile(5)) and pcapng
//! (draft-ietf-opsawg-pcapng), as the table that the traffic `trace` reads.
//!
//! A capture is read block by block, so that memory is needed for the table alone.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::fmt::Write as _;

/// Link types that are read: IP itself, or what stands before it.
const LINK_TYPES: &str = "Ethernet (1), raw IP (101), Linux cooked (113 and 276)";
/// The longest record or block: more is taken for damage.
const MAX_RECORD_BYTES: u64 = 1 << 24;
/// Picoseconds of a second.
const PS: u128 = 1_000_000_000_000;

/// Gives the next bytes of a file, as many as it likes: how many, 0 at its end, or why it cannot be
/// read.
pub type Bytes<'f> = &'f mut dyn FnMut(&mut [u8]) -> Result<usize, String>;

/// The table of the packets in `file` if it is a capture, of at most `most` bytes; nothing if it
/// is none.
///
/// # Errors
/// What is wrong with the capture, and at which offset.
pub fn packets_of(file: Bytes<'_>, most: usize) -> Result<Option<String>, String> {
    let mut input = Input { file, offset: 0, swapped: false };
    let mut magic = [0; 4];
    if input.fill(&mut magic)? < 4 {
        return Ok(None);
    }
    let text = "time_s,size_bytes,protocol,source,source_port,destination,destination_port\n";
    let mut table = Table { text: text.to_owned(), first: None, most };
    match u32::from_le_bytes(magic) {
        0xa1b2_c3d4 => classic(&mut input, 1_000_000, &mut table)?,
        0xa1b2_3c4d => classic(&mut input, 1_000, &mut table)?,
        0x0a0d_0d0a => next_generation(&mut input, &mut table)?,
        number => match number.swap_bytes() {
            0xa1b2_c3d4 => {
                input.swapped = true;
                classic(&mut input, 1_000_000, &mut table)?;
            }
            0xa1b2_3c4d => {
                input.swapped = true;
                classic(&mut input, 1_000, &mut table)?;
            }
            _ if magic.iter().any(|byte| !(9..127).contains(byte)) && !is_text(&magic) => {
                let [a, b, c, d] = magic;
                return Err(format!(
                    "is neither text nor a capture: it begins with {a:02x} {b:02x} {c:02x} \
                     {d:02x}; captures in the formats pcap and pcapng are read"
                ));
            }
            _ => return Ok(None),
        },
    }
    if table.first.is_none() {
        return Err("holds no IP packets".to_owned());
    }
    Ok(Some(table.text))
}

/// Returns true if a file that begins so can be text in UTF-8.
fn is_text(start: &[u8]) -> bool {
    let cut = |error: std::str::Utf8Error| error.error_len().is_none();
    !start.contains(&0) && std::str::from_utf8(start).map_or_else(cut, |_| true)
}

/// A file, and how far it has been read.
struct Input<'f> {
    file: Bytes<'f>,
    offset: u64,
    /// True if numbers are big-endian.
    swapped: bool,
}

impl Input<'_> {
    /// Fill `bytes` as far as the file goes; how many were read.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, String> {
        let mut count = 0;
        while count < bytes.len() {
            match (self.file)(&mut bytes[count..])? {
                0 => break,
                more => count += more,
            }
        }
        self.offset += count as u64;
        Ok(count)
    }

    /// The next `count` bytes, or `None` at the end of the file.
    fn take(&mut self, count: u64, what: &str) -> Result<Option<Vec<u8>>, String> {
        let from = self.offset;
        if count > MAX_RECORD_BYTES {
            let most = format!("{count} B; allowed are up to {MAX_RECORD_BYTES} B");
            return Err(format!("offset {from}: {what} would have {most}"));
        }
        let mut bytes = vec![0; count as usize];
        match self.fill(&mut bytes)? as u64 {
            0 if count > 0 => Ok(None),
            read if read < count => Err(format!(
                "offset {from}: the file ends within {what}: {read} of {count} B are there"
            )),
            _ => Ok(Some(bytes)),
        }
    }

    /// As [`Input::take`], where the file may not end.
    fn need(&mut self, count: u64, what: &str) -> Result<Vec<u8>, String> {
        let end = format!("offset {}: the file ends before {what}", self.offset);
        self.take(count, what)?.ok_or(end)
    }

    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self.swapped { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }

    fn half(&self, bytes: &[u8], at: usize) -> u16 {
        let half = [bytes[at], bytes[at + 1]];
        if self.swapped { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) }
    }
}

/// Read the rest of a file of the format pcap, whose fractions of seconds are so many picoseconds.
fn classic(input: &mut Input<'_>, unit: u128, table: &mut Table) -> Result<(), String> {
    let header = input.need(20, "the file header")?;
    let link = LinkType::of(input.word(&header, 16) as u16, 20)?;
    loop {
        let offset = input.offset;
        let Some(record) = input.take(16, "the header of a packet")? else { return Ok(()) };
        let word = |at| u128::from(input.word(&record, at));
        let time = word(0) * PS + word(4) * unit;
        let kept = input.word(&record, 8);
        let bytes = input.need(kept.into(), "a packet")?;
        table.add((offset, time), link, &bytes, input.word(&record, 12))?;
    }
}

/// An interface of a pcapng file.
struct Interface {
    link: Result<LinkType, String>,
    /// Ticks of its clock in a second, and what is added to times, in seconds.
    ticks: u128,
    from: i64,
}

/// Read the rest of a file of the format pcapng, behind the type of its first block.
fn next_generation(input: &mut Input<'_>, table: &mut Table) -> Result<(), String> {
    const SECTION: u32 = 0x0a0d_0d0a;
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut kind = SECTION;
    loop {
        let offset = input.offset - 4;
        let at = |message: &str| format!("offset {offset}: {message}");
        let mut body = input.need(4, "the length of a block")?;
        if kind == SECTION {
            body.extend(input.need(4, "the byte order of a section")?);
            input.swapped = match &body[4..8] {
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                other => {
                    return Err(at(&format!(
                        "the byte order of a section is {other:02x?}; allowed is 1a2b3c4d"
                    )));
                }
            };
            interfaces.clear();
        }
        let length = u64::from(input.word(&body, 0));
        let read = if kind == SECTION { 12 } else { 8 };
        if length < read + 4 || !length.is_multiple_of(4) {
            return Err(at(&format!("a block of {length} B; lengths are multiples of 4 from 12")));
        }
        let mut rest = input.need(length - read, "a block")?;
        rest.truncate(rest.len() - 4);
        match kind {
            1 if rest.len() >= 8 => interfaces.push(interface(input, &rest, offset)?),
            6 if rest.len() >= 20 => enhanced(input, &interfaces, (offset, &rest), table)?,
            1 | 6 => return Err(at(&format!("a block of {length} B is too short for its type"))),
            2 | 3 => {
                return Err(at(&format!(
                    "a packet in a block of type {kind}, which has no full time; allowed are \
                     enhanced packets (6)"
                )));
            }
            _ => {}
        }
        let Some(next) = input.take(4, "the type of a block")? else { return Ok(()) };
        kind = input.word(&next, 0);
        if next == [0x0a, 0x0d, 0x0d, 0x0a] {
            kind = SECTION;
        }
    }
}

fn interface(input: &Input<'_>, body: &[u8], offset: u64) -> Result<Interface, String> {
    let link = LinkType::of(input.half(body, 0), offset);
    let mut interface = Interface { link, ticks: 1_000_000, from: 0 };
    let mut at = 8;
    while at + 4 <= body.len() {
        let (code, length) = (input.half(body, at), usize::from(input.half(body, at + 2)));
        let Some(value) = body.get(at + 4..at + 4 + length) else { break };
        match (code, value) {
            (0, _) => break,
            (9, [resolution]) => {
                let power = u32::from(resolution & 0x7f);
                let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                interface.ticks =
                    base.checked_pow(power).filter(|it| *it <= PS * PS).ok_or_else(|| {
                        format!("offset {offset}: a clock with 1/{base}^{power} s is too fine")
                    })?;
            }
            (14, value) if length == 8 => {
                let (low, high) = (input.word(value, 0), input.word(value, 4));
                let (low, high) = if input.swapped { (high, low) } else { (low, high) };
                interface.from = (u64::from(high) << 32 | u64::from(low)) as i64;
            }
            _ => {}
        }
        at += 4 + length.next_multiple_of(4);
    }
    Ok(interface)
}

fn enhanced(
    input: &Input<'_>,
    interfaces: &[Interface],
    (offset, body): (u64, &[u8]),
    table: &mut Table,
) -> Result<(), String> {
    let number = input.word(body, 0) as usize;
    let Some(interface) = interfaces.get(number) else {
        let known = interfaces.len();
        return Err(format!("offset {offset}: interface {number}; {known} were described before"));
    };
    let ticks = u128::from(input.word(body, 4)) << 32 | u128::from(input.word(body, 8));
    let (seconds, rest) = (ticks / interface.ticks, ticks % interface.ticks);
    let from = i128::from(interface.from) * PS as i128;
    let time = seconds * PS + rest * PS / interface.ticks;
    let time = u128::try_from(time as i128 + from).unwrap_or(0);
    let kept = input.word(body, 12) as usize;
    let Some(bytes) = body[20..].get(..kept) else {
        let room = body.len() - 20;
        return Err(format!("offset {offset}: {kept} B of a packet in a block with {room} B"));
    };
    table.add((offset, time), interface.link.clone()?, bytes, input.word(body, 16))
}

/// Kind of header before the IP header.
#[derive(Clone, Copy)]
enum LinkType {
    Ethernet,
    Raw,
    /// Bytes of the header, and where its protocol is.
    Cooked(usize, usize),
}

impl LinkType {
    fn of(number: u16, offset: u64) -> Result<Self, String> {
        match number {
            1 => Ok(Self::Ethernet),
            101 => Ok(Self::Raw),
            113 => Ok(Self::Cooked(16, 14)),
            276 => Ok(Self::Cooked(20, 0)),
            _ => Err(format!("offset {offset}: link type {number}; allowed are {LINK_TYPES}")),
        }
    }

    /// Offset of the IP header; `None` if the packet is not of IP.
    fn header(self, bytes: &[u8]) -> Option<usize> {
        let kind = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let is_ip = |kind: u16| kind == 0x0800 || kind == 0x86dd;
        match self {
            Self::Raw => Some(0),
            Self::Cooked(length, at) => kind(at).filter(|it| is_ip(*it)).map(|_| length),
            Self::Ethernet => {
                let mut at = 12;
                // Tags of VLANs.
                while matches!(kind(at)?, 0x8100 | 0x88a8) {
                    at += 4;
                }
                kind(at).filter(|it| is_ip(*it)).map(|_| at + 2)
            }
        }
    }
}

/// The table on its way.
struct Table {
    text: String,
    /// The time of the first packet.
    first: Option<u128>,
    most: usize,
}

impl Table {
    /// Add the packet at an offset and a time in picoseconds, of which `bytes` were kept of
    /// `length`, if it is of IP.
    fn add(
        &mut self,
        (offset, time): (u64, u128),
        link: LinkType,
        bytes: &[u8],
        length: u32,
    ) -> Result<(), String> {
        let Some(start) = link.header(bytes) else { return Ok(()) };
        let at = |message: &str| format!("offset {offset}: {message}");
        let ip = bytes.get(start..).unwrap_or_default();
        let few = || at(&format!("{} B of an IP packet were kept; its header is needed", ip.len()));
        let byte = |index: usize| ip.get(index).copied().ok_or_else(few);
        let short = |index| Ok::<_, String>(u16::from_be_bytes([byte(index)?, byte(index + 1)?]));
        let (size, protocol, addresses, ports) = match byte(0)? >> 4 {
            4 => {
                let four = ip.first_chunk::<20>().ok_or_else(few)?;
                let address = |at: usize| {
                    Ipv4Addr::new(four[at], four[at + 1], four[at + 2], four[at + 3]).to_string()
                };
                let fragment = short(6)? & 0x1fff != 0;
                let ports = usize::from(four[0] & 15) * 4;
                let ports = (!fragment).then_some(ports);
                (u32::from(short(2)?), four[9], [address(12), address(16)], ports)
            }
            6 => {
                let six = ip.first_chunk::<40>().ok_or_else(few)?;
                let address = |at: usize| {
                    let octets: [u8; 16] = six[at..at + 16].try_into().expect("it is that long");
                    Ipv6Addr::from(octets).to_string()
                };
                (u32::from(short(4)?) + 40, six[6], [address(8), address(24)], Some(40))
            }
            version => return Err(at(&format!("IP version {version}; allowed are 4 and 6"))),
        };
        // Where segmentation is left to the device, the header may say 0.
        let size = if size == 0 { length.saturating_sub(start as u32).min(65_535) } else { size };
        let port = |index: usize| match (protocol, ports) {
            (6 | 17, Some(ports)) => {
                short(ports + 2 * index).map_or(String::new(), |it| it.to_string())
            }
            _ => String::new(),
        };
        let since = time.checked_sub(*self.first.get_or_insert(time));
        let since =
            since.ok_or_else(|| at("a time before that of the first packet; reordercap sorts"))?;
        let [source, destination] = addresses;
        let (seconds, fraction) = (since / PS, since % PS);
        let (from, to) = (port(0), port(1));
        writeln!(
            self.text,
            "{seconds}.{fraction:012},{size},{protocol},{source},{from},{destination},{to}"
        )
        .expect("text takes what is written");
        if self.text.len() > self.most {
            let most = self.most;
            return Err(at(&format!("the table of packets passes {most} B; cut the capture")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An Ethernet frame with an IPv4 packet of 60 B from 10.0.0.1:5 to 10.0.0.2:7 over UDP, the
    /// data cut off.
    fn frame() -> Vec<u8> {
        let ip = [0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        [&[0; 12][..], &[8, 0], &ip, &[0, 5, 0, 7]].concat()
    }

    /// A file of the format pcap with packets at these times, in microseconds; big-endian if
    /// `swapped`.
    fn classic_file(times: &[(u32, u32)], swapped: bool, link: u32) -> Vec<u8> {
        let word = |number: u32| {
            if swapped { number.to_be_bytes() } else { number.to_le_bytes() }
        };
        let mut file = Vec::new();
        for number in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link] {
            file.extend(word(number));
        }
        for (seconds, us) in times {
            let kept = frame().len() as u32;
            for number in [*seconds, *us, kept, 74] {
                file.extend(word(number));
            }
            file.extend(frame());
        }
        file
    }

    fn read(file: &[u8]) -> Result<Option<String>, String> {
        packets_up_to(file, 1 << 20)
    }

    fn packets_up_to(mut file: &[u8], most: usize) -> Result<Option<String>, String> {
        // A few bytes at a time, as a file may give them.
        let mut next = |bytes: &mut [u8]| {
            let count = bytes.len().min(file.len()).min(7);
            bytes[..count].copy_from_slice(&file[..count]);
            file = &file[count..];
            Ok(count)
        };
        packets_of(&mut next, most)
    }

    /// Packets of either byte order are read with their times and sizes: 1 s and 250 us lie between
    /// the packets, which have 60 B, in either byte order.
    #[test]
    fn packets_of_either_byte_order_are_read() {
        for swapped in [false, true] {
            let file = classic_file(&[(1_700_000_000, 500), (1_700_000_001, 750)], swapped, 1);
            let table = read(&file).unwrap().unwrap();
            let rows: Vec<&str> = table.lines().skip(1).collect();
            let rest = "60,17,10.0.0.1,5,10.0.0.2,7";
            let wanted = [format!("0.000000000000,{rest}"), format!("1.000250000000,{rest}")];
            assert_eq!(rows, wanted);
        }
    }

    /// A capture that is not whole is refused with the place of its damage, and a text is not taken
    /// for a capture.
    #[test]
    fn what_is_no_whole_capture_is_refused() {
        let file = classic_file(&[(0, 0), (0, 100)], false, 1);
        // The header of the file has 24 B, that of a packet 16 B, the frame 38 B.
        let within = read(&file[..file.len() - 1]).unwrap_err();
        assert!(
            within.contains("offset 94: the file ends within a packet: 37 of 38 B"),
            "{within}"
        );
        assert!(read(&file[..80]).unwrap_err().contains("offset 78"));
        assert!(read(&file[..10]).unwrap_err().contains("file header"));
        let wireless = read(&classic_file(&[(0, 0)], false, 105)).unwrap_err();
        assert!(wireless.contains("link type 105; allowed are Ethernet (1)"), "{wireless}");
        assert!(read(&classic_file(&[], false, 1)).unwrap_err().contains("no IP packets"));
        let other = read(&[0x7f, b'E', 0, b'F', 1]).unwrap_err();
        assert!(other.contains("begins with 7f 45 00 46"), "{other}");
        assert_eq!(read(b"time_s,size_bytes\n0,1\n"), Ok(None));
        assert_eq!(read("\u{feff}time_s".as_bytes()), Ok(None));
        assert_eq!(read(b""), Ok(None));
        let most = packets_up_to(&classic_file(&[(0, 0)], false, 1), 10).unwrap_err();
        assert!(most.contains("passes 10 B"), "{most}");
    }

    /// Damaged blocks are refused: none is read beyond its end, or for ever.
    #[test]
    fn damaged_blocks_are_refused() {
        let block = |kind: u32, body: &[u8]| {
            let length = (body.len() as u32 + 12).to_le_bytes();
            [&kind.to_le_bytes()[..], &length, body, &length].concat()
        };
        let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[255; 8]].concat();
        let section = block(0x0a0d_0d0a, &section);
        let packet = |interface: u32, kept: u32| {
            let words = [interface, 0, 5, kept, 74];
            let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            block(6, &[&body[..], &frame(), &[0; 2]].concat())
        };
        let described = [&section[..], &block(1, &[1, 0, 0, 0, 0, 0, 0, 0])].concat();
        let file = |more: &[u8]| read(&[&described[..], more].concat());
        assert!(file(&packet(0, 38)).unwrap().is_some());
        assert!(file(&packet(1, 38)).unwrap_err().contains("offset 48: interface 1; 1 were"));
        assert!(file(&packet(0, 99)).unwrap_err().contains("99 B of a packet in a block with 40"));
        assert!(file(&block(3, &[0; 8])).unwrap_err().contains("type 3"));
        assert!(file(&[9, 0, 0, 0, 5, 0, 0, 0]).unwrap_err().contains("a block of 5 B"));
        let huge = file(&[9, 0, 0, 0, 252, 255, 255, 255]).unwrap_err();
        assert!(huge.contains("allowed are up to"), "{huge}");
        let cut = packet(0, 38);
        assert!(file(&cut[..30]).unwrap_err().contains("offset 56: the file ends within a block"));
        let wrong = [&section[..8], &[1, 2, 3, 4], &section[12..]].concat();
        assert!(read(&wrong).unwrap_err().contains("byte order"));
    }
}
