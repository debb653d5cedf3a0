//! Connection vectors: what connections carry, and when they begin.

use std::collections::VecDeque;
use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_units::Span;

use super::super::connections::{Connection, Connections, Exchange};
use crate::sizes::{SizeDistribution, mean_segments};

/// Distributions of the exchanges of a connection.
#[derive(Clone)]
pub(super) struct Exchanges {
    pub(super) requests: Arc<dyn SizeDistribution>,
    /// Sizes of responses: of most, and of a share `tail_share`.
    pub(super) responses: Arc<dyn SizeDistribution>,
    pub(super) tail: Arc<dyn SizeDistribution>,
    pub(super) tail_share: f64,
    /// Share of connections with more than one exchange, and the probability that another follows
    /// the second or a later one.
    pub(super) persistent: f64,
    pub(super) next: f64,
    /// Mean time before the second exchange and each later one.
    pub(super) think: Span,
    pub(super) server: Span,
}

impl Exchanges {
    /// The mean number of exchanges of a connection: the first, and of a share of connections 1 +
    /// next + next^2 + ... more.
    pub(super) fn mean(&self) -> f64 {
        1.0 + self.persistent / (1.0 - self.next)
    }

    /// The mean number of bytes of a response in segments with up to `segment` bytes of data and
    /// `header` of headers each.
    pub(super) fn mean_response(&self, segment: u64, header: u64) -> f64 {
        let of = |sizes: &dyn SizeDistribution| match header {
            0 => sizes.mean(),
            _ => sizes.mean() + header as f64 * mean_segments(sizes, segment as f64),
        };
        let (body, tail) = (of(&*self.responses), of(&*self.tail));
        body + self.tail_share * (tail - body)
    }

    fn draw(&self, stream: &mut Stream) -> VecDeque<Exchange> {
        let mut exchanges = VecDeque::from([self.exchange(self.server, stream)]);
        let mut next = self.persistent;
        while stream.happens(next) {
            let gap = self.think.scaled(stream.exponential()) + self.server;
            exchanges.push_back(self.exchange(gap, stream));
            next = self.next;
        }
        exchanges
    }

    fn exchange(&self, gap: Span, stream: &mut Stream) -> Exchange {
        let request = self.requests.draw(stream).bytes();
        let sizes = if stream.happens(self.tail_share) { &self.tail } else { &self.responses };
        Exchange { gap, request, response: sizes.draw(stream).bytes() }
    }
}

/// Times at which connections begin, in trains: these begin at the times of a Poisson process, and
/// have been doing so for ever.
///
/// As the times within trains are exponential, all that is to be known of trains is how many go on.
pub(super) struct Trains {
    stream: Stream,
    /// Trains that begin in a second.
    rate: f64,
    /// Probability that another connection follows, and the mean time until it does in s.
    next: f64,
    gap: f64,
    /// Trains of which another connection will follow.
    open: u64,
    seconds: f64,
}

impl Trains {
    /// Trains with `rate` connections in a second.
    pub(super) fn new(rate: f64, next: f64, gap: f64, mut stream: Stream) -> Self {
        // Of the connections a share `next` is followed by another after the gap: by Little's law
        // that many trains are open in the mean, and as they begin at Poisson times and know
        // nothing of each other, their number has a Poisson distribution: events of a Poisson
        // process of rate 1 in the time of the mean.
        let (mean, mut time, mut open) = (rate * next * gap, stream.exponential(), 0);
        while time < mean {
            open += 1;
            time += stream.exponential();
        }
        Self { stream, rate: rate * (1.0 - next), next, gap, open, seconds: 0.0 }
    }

    /// The time of the next connection since the first could begin.
    fn next(&mut self) -> Span {
        let following = self.open as f64 / self.gap;
        let all = self.rate + following;
        self.seconds += self.stream.exponential() / all;
        if self.stream.uniform() * all < following {
            self.open -= 1;
        }
        self.open += u64::from(self.stream.happens(self.next));
        Span::from_seconds(self.seconds)
    }
}

/// The process of connections with such trains and exchanges.
pub(super) struct Vectors {
    trains: Trains,
    exchanges: Exchanges,
    stream: Stream,
}

impl Vectors {
    /// Those of `trains`, with draws of their exchanges from `stream`: the same for each rate.
    pub(super) const fn new(trains: Trains, exchanges: Exchanges, stream: Stream) -> Self {
        Self { trains, exchanges, stream }
    }
}

impl Connections for Vectors {
    fn next(&mut self) -> Connection {
        let begins = self.trains.next();
        Connection { begins, exchanges: self.exchanges.draw(&mut self.stream) }
    }
}
