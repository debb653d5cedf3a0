//! Writing captures in the format pcapng (draft-ietf-opsawg-pcapng), little-endian.

/// Link type of Ethernet.
const ETHERNET: u16 = 1;
/// Block types.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Options of these blocks.
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;

/// Direction in which a packet passes the interface of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// It came in.
    In = 1,
    /// It goes out.
    Out = 2,
}

/// A packet of a capture.
pub(super) struct Frame<'f> {
    /// In nanoseconds.
    pub(super) time: u64,
    pub(super) way: Way,
    /// The bytes of it that are kept.
    pub(super) bytes: &'f [u8],
    /// Its length.
    pub(super) length: u32,
}

/// The beginning of a file with the packets of the interface `name`, of each of which at most
/// `most` bytes are kept; `writer` is the name of the program.
pub(super) fn begin(name: &str, writer: &str, most: u32) -> Vec<u8> {
    let mut body = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    // Version 1.0, and a section whose length is not told.
    body.extend([1, 0, 0, 0]);
    body.extend(u64::MAX.to_le_bytes());
    option(&mut body, USER_APPLICATION, writer.as_bytes());
    let mut file = Vec::new();
    block(&mut file, SECTION_HEADER, body);
    let mut body = u32::from(ETHERNET).to_le_bytes().to_vec();
    body.extend(most.to_le_bytes());
    option(&mut body, INTERFACE_NAME, name.as_bytes());
    // Nanoseconds: ten to the power of minus nine seconds.
    option(&mut body, TIME_RESOLUTION, &[9]);
    block(&mut file, INTERFACE_DESCRIPTION, body);
    file
}

/// Append a packet.
pub(super) fn add(file: &mut Vec<u8>, frame: &Frame<'_>) {
    let mut body = Vec::with_capacity(frame.bytes.len() + 40);
    let kept = u32::try_from(frame.bytes.len()).expect("headers are short");
    for word in [0, (frame.time >> 32) as u32, frame.time as u32, kept, frame.length] {
        body.extend(word.to_le_bytes());
    }
    body.extend(frame.bytes);
    pad(&mut body);
    option(&mut body, PACKET_FLAGS, &(frame.way as u32).to_le_bytes());
    block(file, ENHANCED_PACKET, body);
}

/// Append a block; every body ends with options, whose end is marked here.
fn block(file: &mut Vec<u8>, kind: u32, mut body: Vec<u8>) {
    body.extend([0; 4]);
    let length = u32::try_from(body.len() + 12).expect("blocks are short").to_le_bytes();
    file.extend(kind.to_le_bytes());
    file.extend(length);
    file.extend(body);
    file.extend(length);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend(u16::try_from(value.len()).expect("names are short").to_le_bytes());
    body.extend(value);
    pad(body);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}
