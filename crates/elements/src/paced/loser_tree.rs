//! Whose turn is next among many who each wait for one time.

use forebay_units::Time;

/// Times by number, of which the soonest is known: a tournament of losers (Knuth, The Art of
/// Computer Programming 3, section 5.4.1). Of two with the same time the lower number comes first.
///
/// Nearly every change is one of the winner, as sources send again soon after they have sent. It
/// then meets those who lost against it, one for each doubling of their number, and there is no
/// jump that a processor would have to guess. Other changes have the whole tournament played anew.
pub(super) struct LoserTree {
    winner: Turn,
    /// Loser of each match `n`, from 1 on: the final is 1, and the winners of matches `2 n` and
    /// `2 n + 1` meet in match `n`.
    losers: Vec<Turn>,
    /// Time for which each waits; as many as a power of two.
    times: Vec<Time>,
}

/// A time and whose it is, as one number.
type Turn = u128;

fn turn(at: Time, number: usize) -> Turn {
    Turn::from(at.ps()) << 64 | number as Turn
}

impl LoserTree {
    /// So many who wait for nothing yet.
    pub(super) fn new(count: usize) -> Self {
        let players = count.next_power_of_two().max(2);
        let times = vec![Time::NEVER; players];
        let mut loser_tree = Self { winner: 0, losers: vec![0; players], times };
        loser_tree.play();
        loser_tree
    }

    /// The soonest time, [`Time::NEVER`] for none, and whose it is.
    #[inline(always)]
    pub(super) fn first(&self) -> (Time, usize) {
        (Time::from_ps((self.winner >> 64) as u64), self.winner as usize)
    }

    /// The first member waits for `at` from now on.
    #[inline(always)]
    pub(super) fn set_first(&mut self, at: Time) {
        let number = self.winner as usize;
        self.times[number] = at;
        let losers = self.losers.as_mut_slice();
        let mut winner = turn(at, number);
        let mut place = (losers.len() + number) / 2;
        while place > 0 && place < losers.len() {
            let other = losers[place];
            let loses = other < winner;
            losers[place] = if loses { winner } else { other };
            winner = if loses { other } else { winner };
            place /= 2;
        }
        self.winner = winner;
    }

    /// Number `number` waits for `at` from now on.
    pub(super) fn set(&mut self, number: usize, at: Time) {
        self.times[number] = at;
        self.play();
    }

    /// Play all matches.
    fn play(&mut self) {
        let players = self.times.len();
        let mut winners = vec![0; 2 * players];
        for (number, at) in self.times.iter().enumerate() {
            winners[players + number] = turn(*at, number);
        }
        for place in (1..players).rev() {
            let (one, other) = (winners[2 * place], winners[2 * place + 1]);
            winners[place] = one.min(other);
            self.losers[place] = one.max(other);
        }
        self.winner = winners[1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// Cells leave in the order of their times, and those of one instant in that of their sources:
    /// the first agrees with the least of all (time, number).
    #[test]
    fn the_first_is_the_least_of_all() {
        let mut stream = Streams::new(5, 0).named("turns");
        for count in [1, 2, 3, 7, 8, 33] {
            let mut loser_tree = LoserTree::new(count);
            let mut times = vec![Time::NEVER; count];
            assert_eq!(loser_tree.first(), (Time::NEVER, 0));
            for _ in 0..2000 {
                // Few times, so that many are equal.
                let never = stream.happens(0.2);
                let at = if never { Time::NEVER } else { Time::from_ps(stream.below(20)) };
                if stream.happens(0.5) {
                    let number = stream.below(count as u64) as usize;
                    times[number] = at;
                    loser_tree.set(number, at);
                } else {
                    let (_, number) = loser_tree.first();
                    times[number] = at;
                    loser_tree.set_first(at);
                }
                let least = times.iter().copied().zip(0..).min().unwrap();
                assert_eq!(loser_tree.first(), least, "{times:?}");
            }
        }
    }
}
