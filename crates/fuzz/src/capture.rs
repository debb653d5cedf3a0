//! Captures of packets, in the formats pcap and pcapng.

use forebay_scenario::packets_of;

/// Bytes of a table, at most.
const MAX_TABLE: usize = 1 << 16;

/// A capture is a table with seven columns in each row, or is refused with a reason, and the same
/// however few bytes of it are read at a time.
pub fn capture(data: &[u8]) {
    let whole = read(data, usize::MAX);
    assert_eq!(whole, read(data, 7));
    match whole {
        Ok(Some(table)) => {
            assert!(table.lines().all(|row| row.split(',').count() == 7), "{table}");
        }
        Ok(None) => {}
        Err(reason) => assert!(!reason.is_empty()),
    }
}

fn read(data: &[u8], most: usize) -> Result<Option<String>, String> {
    let mut rest = data;
    let mut next = |buffer: &mut [u8]| {
        let length = buffer.len().min(rest.len()).min(most);
        let (read, left) = rest.split_at(length);
        buffer[..length].copy_from_slice(read);
        rest = left;
        Ok(length)
    };
    packets_of(&mut next, MAX_TABLE)
}
