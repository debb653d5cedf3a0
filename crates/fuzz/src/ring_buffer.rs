//! The ring buffer against the standard library's.

use std::collections::VecDeque;

use arbitrary::{Arbitrary, Unstructured};
use forebay_kernel::{Forward, RingBuffer};

#[derive(Arbitrary, Debug)]
enum Step {
    Push(u8),
    Pop,
    Skip(u8),
    Remove(u8),
    Narrow,
    /// Move values to another buffer until one is kept; values below `drop` are dropped.
    Forward {
        limit: u8,
        keep: u8,
        drop: u8,
    },
    Append,
}

/// A ring buffer holds what a `VecDeque` holds after the same steps.
pub fn ring_buffer(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (mut ring, mut other) = (RingBuffer::with_room(0u8), RingBuffer::with_room(0u8));
    let (mut model, mut moved) = (VecDeque::new(), VecDeque::new());
    while let Ok(step) = Step::arbitrary(&mut bytes) {
        match step {
            Step::Push(value) => {
                ring.push_back(value);
                model.push_back(value);
            }
            Step::Pop => {
                if let Some(due) = model.pop_front() {
                    assert_eq!(*ring.pop_front(), due);
                }
            }
            Step::Skip(count) => {
                let count = usize::from(count).min(model.len());
                ring.skip(count);
                model.drain(..count);
            }
            Step::Remove(index) => {
                assert_eq!(ring.remove(index.into()), model.remove(index.into()));
            }
            Step::Narrow => ring.narrow(8),
            Step::Forward { limit, keep, drop } => {
                let room = usize::from(limit).min(other.len() + other.room());
                let fate = |value: u8| match value {
                    value if value == keep => Forward::Keep,
                    value if value < drop => Forward::Drop,
                    _ => Forward::Move,
                };
                ring.forward_into(&mut other, limit.into(), |value, slot| {
                    *slot = *value;
                    fate(*value)
                });
                while moved.len() < room
                    && let Some(value) = model.front().copied()
                    && fate(value) != Forward::Keep
                {
                    model.pop_front();
                    moved.extend((fate(value) == Forward::Move).then_some(value));
                }
            }
            Step::Append => {
                ring.append(&mut other);
                model.append(&mut moved);
            }
        }
        assert!(ring.iter().eq(&model) && ring.iter().rev().eq(model.iter().rev()));
        assert!(other.iter().eq(&moved));
        assert_eq!(ring.as_slices().concat(), Vec::from_iter(model.iter().copied()));
        assert_eq!((ring.front(), ring.back()), (model.front(), model.back()));
        if bytes.is_empty() {
            break;
        }
    }
}
