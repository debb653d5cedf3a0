//! Tests of channels: what is sent ahead, what a receiver knows, and of what it is notified. The
//! messages are numbers.

use forebay_units::Span;

use super::*;
use crate::{Forward, MAX_CHANNELS};

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

const fn receiver(number: usize) -> ReceiverId {
    ReceiverId::new(number)
}

const fn channel(number: usize) -> ChannelId {
    ChannelId::new(number)
}

/// The receivers that are to be notified.
fn notified<M>(table: &ChannelTable<M>) -> Vec<usize> {
    table.notified.iter().map(|receiver| receiver.index()).collect()
}

fn elements(numbers: &[usize]) -> Vec<ElementId> {
    numbers.iter().copied().map(ElementId::new).collect()
}

/// Receivers 0, with links 7 and 8 as senders, and 1, with a host group as the only one.
fn table() -> ChannelTable<u64> {
    let mut table = ChannelTable::new(&[(elements(&[7, 8]), true), (elements(&[3]), false)]);
    table.notify_before(receiver(0), Time::ZERO);
    table.notify_before(receiver(1), Time::ZERO);
    table
}

fn send(table: &mut ChannelTable<u64>, to: usize, by: usize, messages: &[(u64, u64)]) {
    for (number, ps) in messages {
        table.send(receiver(to), channel(by), number, at(*ps));
    }
}

/// All messages that arrive by 10^6 ps, with their times.
fn taken(table: &mut ChannelTable<u64>, by: usize) -> Vec<(u64, u64)> {
    let inputs = table.inputs_mut(receiver(by));
    let next = || inputs.take(at(1_000_000)).map(|(number, at)| (*number, at.ps()));
    std::iter::from_fn(next).collect()
}

/// Input is known up to the least clock of its channels, also when all of it has been taken: a
/// receiver neither advances beyond a message that a channel has yet to bring, nor waits for ever.
#[test]
fn input_is_known_up_to_the_least_channel_clock() {
    let mut table = table();
    assert_eq!(table.inputs(receiver(0)).safe_until(), Time::ZERO);
    send(&mut table, 0, 0, &[(1, 50), (2, 60)]);
    assert_eq!(table.inputs(receiver(0)).safe_until(), Time::ZERO);
    send(&mut table, 0, 1, &[(3, 55)]);
    assert_eq!(table.inputs(receiver(0)).safe_until(), at(55));
    assert_eq!(taken(&mut table, 0).len(), 3);
    assert_eq!(table.inputs(receiver(0)).safe_until(), at(55));
    send(&mut table, 0, 1, &[(4, 90)]);
    assert_eq!(table.inputs(receiver(0)).safe_until(), at(60));
    // Nothing is known of a receiver without channels.
    assert_eq!(InputChannels::<u64>::default().safe_until(), Time::ZERO);
}

/// Messages are taken once they have arrived, by time and then by channel, so in the order of the
/// links that bring them; those from links count as hops.
#[test]
fn messages_are_taken_by_time_and_then_by_channel() {
    let mut table = table();
    send(&mut table, 0, 1, &[(1, 10), (2, 20), (3, 31)]);
    send(&mut table, 0, 0, &[(4, 20), (5, 25)]);
    send(&mut table, 1, 0, &[(6, 5)]);
    assert_eq!((table.held(), table.inputs(receiver(0)).waiting()), (6, 2));
    assert_eq!(table.inputs(receiver(0)).next(), (channel(1), at(10)));
    assert_eq!(table.inputs(receiver(0)).first(), Some((&1, at(10))));
    assert_eq!(table.inputs_mut(receiver(0)).take(at(9)), None);
    assert_eq!(table.inputs_mut(receiver(0)).take(at(10)), Some((&1, at(10))));
    assert_eq!(taken(&mut table, 0), [(4, 20), (2, 20), (5, 25), (3, 31)]);
    assert_eq!(taken(&mut table, 1), [(6, 5)]);
    assert_eq!((table.held(), table.inputs(receiver(0)).next_at()), (0, Time::NEVER));
    // Those from links have crossed one.
    assert_eq!((table.inputs(receiver(0)).taken, table.inputs(receiver(1)).taken), (5, 0));
    // The digest is of what was taken, in order.
    let mut digest = Digest::default();
    for (number, ps) in [(1, 10), (4, 20), (2, 20), (5, 25), (3, 31_u64)] {
        u64::received(&number, at(ps), &mut digest);
    }
    assert_eq!((table.digest(receiver(0)), table.digest(receiver(9))), (digest, Digest::default()));
}

/// Taking all that there is until the end of time ends without a panic where nothing is left: at
/// the end of time nothing arrives.
#[test]
fn nothing_is_taken_from_empty_channels_at_the_end_of_time() {
    let mut table = table();
    for to in [0, 1] {
        send(&mut table, to, 0, &[(7, 5)]);
        let inputs = table.inputs_mut(receiver(to));
        assert_eq!(inputs.take(Time::NEVER), Some((&7, at(5))));
        assert_eq!(inputs.take(Time::NEVER), None);
    }
    assert_eq!(InputChannels::<u64>::default().take(Time::NEVER), None);
}

/// The first message is found for any number of channels, of two at one instant that of the lesser
/// channel: there is a case for each number.
#[test]
fn the_first_of_any_number_of_channels_is_found() {
    for count in 1..=MAX_CHANNELS {
        for earliest in 0..count {
            let mut table = ChannelTable::new(&[(ElementId::all(count).collect(), true)]);
            for channel in 0..count {
                // Two of one instant: that of the lesser number comes first.
                let ps = if channel == earliest {
                    10
                } else {
                    10 + channel.abs_diff(earliest) as u64 / 2
                };
                send(&mut table, 0, channel, &[(channel as u64, ps)]);
            }
            let first = earliest.saturating_sub(1);
            assert_eq!(
                table.inputs(receiver(0)).next(),
                (channel(first), at(10)),
                "{count} channels"
            );
            let mut all = Vec::new();
            table.inputs_mut(receiver(0)).take_all(at(10), &mut all);
            let tied = (first..count.min(earliest + 2)).map(|channel| (10, channel as u64));
            assert_eq!(all, tied.collect::<Vec<_>>());
            assert_eq!(table.inputs(receiver(0)).taken, all.len() as u64);
            assert_eq!(table.held(), (count - all.len()) as u64);
        }
    }
}

/// A receiver is notified of what arrives before the time for which it asked, and again only of
/// what arrives earlier still: a link is not woken for each packet.
#[test]
fn receivers_are_notified_of_what_arrives_before_they_asked() {
    let mut table = table();
    table.notify_before(receiver(0), at(50));
    send(&mut table, 0, 0, &[(1, 51)]);
    assert_eq!(notified(&table), []);
    send(&mut table, 0, 1, &[(2, 50)]);
    assert_eq!(notified(&table), [0]);
    // After that nothing later concerns it, but what arrives before that does.
    send(&mut table, 0, 1, &[(3, 51)]);
    assert_eq!(notified(&table), [0]);
    let mut table = ChannelTable::<u64>::new(&[(elements(&[1, 2]), true)]);
    // A fresh receiver has asked for all.
    send(&mut table, 0, 0, &[(1, 70)]);
    send(&mut table, 0, 0, &[(2, 80)]);
    assert_eq!(notified(&table), [0]);
    send(&mut table, 0, 1, &[(3, 60)]);
    assert_eq!((notified(&table), table.flush), (vec![0, 0], false));
}

/// A batched receiver is notified whenever 64 more messages wait in one channel, and of nothing
/// else, so it neither wakes for each packet nor holds ever more of them.
#[test]
fn batched_receivers_are_notified_of_full_batches_alone() {
    let mut table = table();
    send(&mut table, 0, 0, &[(0, 1)]);
    // What it asked for before does not count any more.
    table.notify_before(receiver(0), at(1000));
    table.notify_in_batches(receiver(0));
    assert!(table.inputs(receiver(0)).is_batched() && !table.inputs(receiver(1)).is_batched());
    // A batch is 64 messages more in one channel.
    for number in 1..64 {
        send(&mut table, 0, 0, &[(number, 10 * number)]);
        send(&mut table, 0, 1, &[(number, 10 * number)]);
    }
    assert_eq!((table.notified.len(), table.flush), (0, false));
    send(&mut table, 0, 0, &[(64, 640)]);
    assert_eq!((table.notified.len(), table.flush), (1, true));
    // And then with the next full batch, if none was taken.
    for number in 65..128 {
        send(&mut table, 0, 0, &[(number, 10 * number)]);
    }
    assert_eq!(table.notified.len(), 1);
    send(&mut table, 0, 0, &[(128, 1280)]);
    assert_eq!(table.notified.len(), 2);
    assert_eq!(taken(&mut table, 0).len(), 129 + 63);
}

/// A channel that grows keeps its messages, in order.
#[test]
fn channels_grow_as_they_need() {
    let mut table = table();
    let messages: Vec<(u64, u64)> = (0..1000).map(|number| (number, 2 * number)).collect();
    for part in messages.chunks(300) {
        send(&mut table, 1, 0, part);
    }
    assert_eq!(taken(&mut table, 1), messages);
}

/// Forwarding moves the messages that are known from one channel to another, except those that are
/// dropped, up to one that is kept, and sets the clock of the receiver: a pass-through link hands
/// on no packet twice or too early.
#[test]
fn messages_are_forwarded_from_channel_to_channel() {
    let mut table = table();
    send(&mut table, 1, 0, &[(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)]);
    send(&mut table, 0, 1, &[(9, 12)]);
    let mut inputs = std::mem::take(table.inputs_mut(receiver(1)));
    let mut forward = |table: &mut ChannelTable<u64>, limit, drops: u64, keeps: u64| {
        let to = (table.inputs_mut(receiver(0)), channel(1));
        let first = inputs.forward_into(to, at(limit), |(number, time), slot| {
            *slot = (10 * number, *time + Span::from_ps(5));
            match *number {
                number if number == drops => Forward::Drop,
                number if number == keeps => Forward::Keep,
                _ => Forward::Move,
            }
        });
        (first, inputs.next_at(), inputs.digest)
    };
    // Up to 30 inclusive, without the second.
    let (first, next, digest) = forward(&mut table, 30, 2, 0);
    assert_eq!((first, next), (Some(at(15)), at(40)));
    let mut all = Digest::default();
    for (number, ps) in [(1_u64, 10), (2, 20), (3, 30)] {
        number.received(at(ps), &mut all);
    }
    assert_eq!(digest, all);
    let to = table.inputs(receiver(0));
    assert_eq!((to.channels[1].clock, to.channels[1].head), (at(35), at(12)));
    // The channel of four places has one left, which `send` must use.
    assert_eq!(forward(&mut table, 90, 0, 0).0, None);
    assert_eq!(taken(&mut table, 0), [(9, 12), (10, 15), (30, 35)]);
    // What is kept stays, and all behind it.
    assert_eq!(forward(&mut table, 90, 0, 5).0, Some(at(45)));
    assert_eq!(forward(&mut table, 90, 0, 5).0, None);
    assert_eq!((taken(&mut table, 0), inputs.next_at()), (vec![(40, 45)], at(50)));
    // They had not crossed a link.
    assert_eq!((inputs.taken, inputs.waiting()), (0, 1));
}

/// A batch is appended behind what its channel holds, and its receiver is notified: packets that
/// cross a boundary do not overtake those that crossed before.
#[test]
fn a_batch_is_appended_behind_what_is_there() {
    let mut table = table();
    let mut batch = empty_queue();
    table.append(receiver(0), channel(1), &mut batch);
    assert_eq!(table.held(), 0);
    send(&mut table, 0, 1, &[(1, 10)]);
    (2..=20).for_each(|number| batch.push_back((number, at(10 * number))));
    table.notify_before(receiver(0), at(20));
    table.append(receiver(0), channel(1), &mut batch);
    assert!(batch.is_empty());
    assert_eq!((notified(&table), table.inputs(receiver(0)).next_at()), (vec![0], at(10)));
    send(&mut table, 0, 0, &[(0, 300)]);
    assert_eq!(table.inputs(receiver(0)).safe_until(), at(200));
    // There is room for more behind it.
    send(&mut table, 0, 1, &[(21, 210)]);
    let expected: Vec<_> = (1..=21).map(|number| (number, 10 * number)).chain([(0, 300)]).collect();
    assert_eq!(taken(&mut table, 0), expected);
    // Into an empty channel, where the first of the batch is the next.
    batch.push_back((30, at(400)));
    table.append(receiver(0), channel(0), &mut batch);
    assert_eq!(
        (table.inputs(receiver(0)).next(), table.notified.len()),
        ((channel(0), at(400)), 1)
    );
}

/// An outbox is drained of all that was sent, once and in order, and no one is notified of it:
/// packets leave a partition exactly once.
#[test]
fn an_outbox_is_drained_of_all_that_was_sent() {
    let mut table = table().fresh(2);
    assert_eq!((table.count(), table.held()), (4, 0));
    assert_eq!(table.inputs(receiver(0)).upstreams().collect::<Vec<_>>(), elements(&[7, 8]));
    let mut batch = empty_queue();
    assert_eq!(table.drain_outbox(receiver(3), &mut batch), Time::NEVER);
    for round in 0..3 {
        let messages: Vec<_> = (0..50).map(|number| (number, 1000 * round + number + 1)).collect();
        send(&mut table, 3, 0, &messages);
        assert_eq!(table.drain_outbox(receiver(3), &mut batch), at(1000 * round + 1));
        assert_eq!((batch.len(), table.held()), (50, 0));
        let got: Vec<_> = batch.iter().map(|(number, at)| (*number, at.ps())).collect();
        assert_eq!(got, messages);
        assert_eq!(table.drain_outbox(receiver(3), &mut batch), Time::NEVER);
        batch.skip(50);
    }
    assert_eq!(notified(&table), []);
    // The others are as they were: 0 counts hops, 1 does not.
    send(&mut table, 0, 0, &[(1, 5)]);
    send(&mut table, 1, 0, &[(2, 5)]);
    assert_eq!((taken(&mut table, 0).len(), taken(&mut table, 1).len()), (1, 1));
    assert_eq!((table.inputs(receiver(0)).taken, table.inputs(receiver(1)).taken), (1, 0));
}

/// A connected receiver has one channel, that of its link, which counts no hops: a boundary proxy
/// gets the packets of its link by it.
#[test]
fn a_connected_receiver_has_one_channel() {
    let mut table = table();
    let link = ElementId::new(5);
    table.connect(receiver(0), link);
    assert_eq!(
        (table.inputs(receiver(0)).count(), table.inputs(receiver(0)).upstream(channel(0))),
        (1, link)
    );
    assert!(table.inputs(receiver(0)).is_single());
    send(&mut table, 0, 0, &[(1, 5)]);
    assert_eq!((taken(&mut table, 0).len(), table.inputs(receiver(0)).taken), (1, 0));
    assert_eq!(notified(&table), [0]);
}

/// Packets are prefetched for once, sixteen at a time, no more than the caches take.
#[test]
fn packets_are_prefetched_for_in_groups_of_sixteen() {
    let mut table = table();
    assert!(table.inputs_mut(receiver(0)).not_prefetched().is_none());
    let messages: Vec<_> = (1..=20).map(|number| (number, number)).collect();
    send(&mut table, 0, 1, &messages);
    let next = |table: &mut ChannelTable<u64>| {
        let next = table.inputs_mut(receiver(0)).not_prefetched();
        next.map(|(upstream, numbers)| (upstream, numbers.copied().collect::<Vec<_>>()))
    };
    assert_eq!(next(&mut table), Some((ElementId::new(8), (1..=16).collect())));
    assert_eq!(next(&mut table), None);
    (0..16).for_each(|_| {
        table.inputs_mut(receiver(0)).take_from(channel(1));
    });
    assert_eq!(next(&mut table), Some((ElementId::new(8), (17..=20).collect())));
    assert_eq!(table.inputs(receiver(0)).taken, 16);
}

/// Of more channels than can be merged, packets are taken in the same order, by time and then by
/// channel, and their receiver is notified as any other.
#[test]
fn more_channels_than_can_be_merged_are_taken_in_order() {
    let count = 3 * MAX_CHANNELS;
    let mut table = ChannelTable::new(&[(ElementId::all(count).collect(), true)]);
    table.notify_before(receiver(0), at(50));
    for by in (0..count).rev() {
        send(&mut table, 0, by, &[(by as u64, 100 - by as u64 / 2), (99, 200)]);
    }
    // Notified of the first that is early enough, and of earlier ones alone.
    assert!(notified(&table).is_empty());
    send(&mut table, 0, 5, &[(5, 201)]);
    let inputs = table.inputs_mut(receiver(0));
    assert_eq!((inputs.count(), inputs.upstreams().count()), (count, count));
    assert_eq!(inputs.next(), (channel(count - 2), at(100 - (count as u64 - 2) / 2)));
    assert_eq!(inputs.first(), Some((&(count as u64 - 2), inputs.next_at())));
    let mut all = Vec::new();
    inputs.take_all(at(100), &mut all);
    let mut expected: Vec<(u64, u64)> = (0..count as u64).map(|by| (100 - by / 2, by)).collect();
    expected.sort_unstable();
    assert_eq!((all, inputs.taken), (expected, count as u64));
    assert_eq!(table.held(), count as u64 + 1);
    // In batches, it is notified of many.
    table.notify_in_batches(receiver(0));
    for number in 0..MANY * BATCH {
        assert!(notified(&table).is_empty());
        send(&mut table, 0, 7, &[(0, 300 + number as u64)]);
    }
    assert_eq!((notified(&table), table.flush), (vec![0], true));
}
