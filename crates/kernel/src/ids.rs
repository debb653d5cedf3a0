//! Identifiers: numbers, from 0 in each kind, that cannot be taken for those of another kind.

/// Defines a kind of identifier: an index from 0, in 32 bits.
///
/// One is made where the thing that it names is added, and becomes a number again only to index
/// what is kept for each such thing, and for digests and records.
#[macro_export]
macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The identifier of what is at `index`.
            ///
            /// # Panics
            /// If `index` does not fit into 32 bits, or is the greatest number that does: that
            /// stands for none.
            #[inline]
            #[must_use]
            pub const fn new(index: usize) -> Self {
                assert!(index < u32::MAX as usize, "a network has fewer than 2^32 - 1 of a kind");
                Self(index as u32)
            }

            /// The identifiers of the first `count`, in order: of all, if there are so many.
            pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
                (0..count).map(Self::new)
            }

            /// Position of what it identifies, in what is kept for each of its kind.
            #[inline(always)]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The identifier of which [`number`](Self::number) gave `number`.
            #[inline(always)]
            #[must_use]
            pub const fn of_number(number: u32) -> Self {
                Self(number)
            }

            /// The number itself, for digests, records and packed words.
            #[inline(always)]
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }
        }
    };
}

identifier! {
    /// An element: what events wake, and what sends on channels.
    ElementId
}

identifier! {
    /// A receiver of what is sent ahead: an element, with that of a host group its first member;
    /// after these a sink; after these an outbox.
    ReceiverId
}

identifier! {
    /// An input channel of a receiver.
    ChannelId
}

impl From<ElementId> for ReceiverId {
    #[inline(always)]
    fn from(element: ElementId) -> Self {
        Self(element.0)
    }
}

impl ReceiverId {
    /// The element, where it is one.
    #[inline(always)]
    #[must_use]
    pub const fn element(self) -> ElementId {
        ElementId(self.0)
    }
}

impl ChannelId {
    /// The only channel of a receiver that has one.
    pub const ONLY: Self = Self(0);
}

#[cfg(test)]
mod tests {
    crate::identifier! {
        /// An apple.
        Apple
    }

    /// Identifiers are indices in order, in four bytes: each finds what is kept under it.
    #[test]
    fn identifiers_are_indices_in_order() {
        let apples: Vec<Apple> = Apple::all(3).collect();
        assert_eq!(apples, [0, 1, 2].map(Apple::new));
        assert_eq!(apples.iter().map(|apple| apple.index()).collect::<Vec<_>>(), [0, 1, 2]);
        let last = Apple::new(u32::MAX as usize - 1);
        assert_eq!((last.number(), Apple::of_number(last.number())), (u32::MAX - 1, last));
        assert_eq!(size_of::<Apple>(), 4);
    }

    /// The number that stands for none identifies nothing.
    #[test]
    #[should_panic(expected = "fewer than 2^32 - 1")]
    fn the_greatest_number_identifies_nothing() {
        let _ = Apple::new(u32::MAX as usize);
    }
}
