use super::*;
use forebay_network::RouteId;

/// Half of the free memory, or what else is said.
struct Multiple(f64);

impl BufferSharing for Multiple {
    fn threshold(&mut self, facts: &MemoryFacts) -> u64 {
        (self.0 * facts.free() as f64) as u64
    }
}

fn memory(bytes: u64, reserved: u64, (ports, queues): (usize, usize), alpha: f64) -> SharedMemory {
    let (memory, reserved) = (Size::from_bytes(bytes), Size::from_bytes(reserved));
    SharedMemory::new(MemorySize { memory, reserved, ports, queues }, Box::new(Multiple(alpha)))
}

fn packet(size: u16, precedence: u8) -> Packet {
    Packet::data(Time::ZERO, FlowId::new(0), 0, size, RouteId::new(0)).with_precedence(precedence)
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Offer packets of 1000 B to `port` until one is refused: how many it takes.
fn fill(memory: &mut SharedMemory, port: usize, precedence: u8) -> usize {
    let packet = packet(1000, precedence);
    (0..)
        .find(|_| {
            let admitted = memory.admits(port, &packet, at(0));
            if admitted {
                memory.add(port, &packet, at(0));
            }
            !admitted
        })
        .unwrap()
}

/// Alone, a queue with alpha = 1 takes half the memory, whatever order packets come in, and the
/// next finds its threshold at half of what is left: of 12 kB the first holds 6 kB (its seventh
/// packet finds 6 kB free and would be 7 kB), the second 3 kB, the third 1 kB of the 3 kB left
/// (a second packet would be 2 kB with 2 kB free: it is taken too, as 2 kB <= 2 kB). So thresholds
/// bind as the paper has them.
#[test]
fn queues_take_what_their_thresholds_allow() {
    let mut shared = memory(12_000, 0, (3, 1), 1.0);
    assert_eq!([0, 1, 2].map(|port| fill(&mut shared, port, 0)), [6, 3, 2]);
    assert_eq!((shared.refused.packets, shared.refused.bytes), (3, 3000));
}

/// A reservation is there when the shared part is full, so that no queue is locked out: with 2 kB
/// for each of two queues, the shared part has 8 kB, which one takes by alpha = 100 with its own 2
/// kB; the other still gets its 2 kB, and no more.
#[test]
fn a_reservation_is_there_when_the_shared_part_is_full() {
    let mut shared = memory(12_000, 2000, (2, 1), 100.0);
    assert_eq!(fill(&mut shared, 0, 0), 10);
    assert_eq!((shared.used, shared.facts(1, at(0)).free()), (8000, 0));
    assert_eq!(fill(&mut shared, 1, 0), 2);
    assert_eq!((shared.total, shared.used), (12_000, 8000));
}

/// A packet that lies partly in the reservation needs room for the rest alone: 1500 B in a queue
/// with 1000 B reserved take 500 B of what is shared.
#[test]
fn only_what_exceeds_the_reservation_is_shared() {
    let mut shared = memory(1500, 1000, (1, 1), 1.0);
    assert!(shared.admits(0, &packet(1500, 0), at(0)));
    shared.add(0, &packet(1500, 0), at(0));
    assert_eq!((shared.total, shared.used), (1500, 500));
    assert!(!shared.admits(0, &packet(1, 0), at(0)));
    shared.remove(0, &packet(1500, 0), at(1));
    assert_eq!((shared.total, shared.used), (0, 0));
}

/// Precedences beyond the last queue join it, so that any packet has one.
#[test]
fn a_packet_waits_in_the_queue_of_its_precedence_or_in_the_last() {
    let mut shared = memory(9000, 0, (2, 2), 1.0);
    for (precedence, size) in [(0, 10), (1, 20), (5, 40)] {
        shared.add(1, &packet(size, precedence), at(0));
    }
    assert_eq!(shared.held, [0, 0, 10, 60]);
}

/// The mean is over the window, and the maximum is of what was held for some time: 4 kB for 1 us
/// and 2 kB for 3 us of 4 us are 2.5 kB; 1 kB more that goes at once was never held.
#[test]
fn mean_and_maximum_are_of_what_is_held_for_some_time() {
    let mut shared = memory(9000, 0, (1, 1), 1.0);
    shared.add(0, &packet(9000, 0), at(0));
    shared.remove(0, &packet(7000, 0), at(5));
    shared.add(0, &packet(2000, 0), at(5));
    shared.reset(at(5));
    shared.add(0, &packet(1000, 0), at(5));
    shared.remove(0, &packet(1000, 0), at(5));
    shared.remove(0, &packet(2000, 0), at(6));
    let row = shared.row("s".to_owned(), at(9), Span::from_us(4));
    assert_eq!((row.mean_used_bytes, row.max_used_bytes), (2500.0, 4000));
}
