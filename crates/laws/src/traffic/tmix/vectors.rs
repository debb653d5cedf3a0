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
/// As the times within trains are exponential, all that is to be known of trains is how many of
/// them have another connection to come.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::{bounded_pareto, lognormal};
    use forebay_kernel::Streams;

    fn stream(name: &str) -> Stream {
        Streams::new(9, 0).named(name)
    }

    /// Exchanges with the default distributions, of whose responses a share `tail_share` is of the
    /// tail.
    fn exchanges(tail_share: f64) -> Exchanges {
        Exchanges {
            requests: lognormal(350.0, 1.0),
            responses: lognormal(3e3, 1.6),
            tail: bounded_pareto(30e3, 1.2, 100e6),
            tail_share,
            persistent: 0.25,
            next: 0.4,
            think: Span::from_s(1),
            server: Span::from_ms(20),
        }
    }

    /// Returns true if a share `p` of `count` has been found `found` times, within five standard
    /// deviations.
    fn is_share(found: usize, count: usize, p: f64) -> bool {
        let n = count as f64;
        (found as f64 / n - p).abs() < 5.0 * (p * (1.0 - p) / n).sqrt()
    }

    /// Connections have 1 exchange with a probability of 0.75, and k = 2, 3, ... with 0.25 * 0.6 *
    /// 0.4^(k - 2): 0.15, 0.06, 0.024. The number of exchanges after the first has the mean 0.25 /
    /// 0.6 = 0.41667 and the second moment 0.25 (2 - 0.6) / 0.6^2 = 0.97222, so that the mean of
    /// 100,000 deviates by sqrt((0.97222 - 0.41667^2) / 1e5) = 0.00283; the bound is five of that.
    #[test]
    fn connections_have_their_number_of_exchanges() {
        let (law, mut stream) = (exchanges(0.1), stream("exchanges"));
        let numbers: Vec<usize> = (0..100_000).map(|_| law.draw(&mut stream).len()).collect();
        for (number, share) in [(1, 0.75), (2, 0.15), (3, 0.06), (4, 0.024)] {
            let found = numbers.iter().filter(|found| **found == number).count();
            assert!(is_share(found, numbers.len(), share), "{number}: {found}");
        }
        assert!((law.mean() - 1.416_667).abs() < 1e-6);
        let mean = numbers.iter().sum::<usize>() as f64 / 1e5;
        assert!((mean - law.mean()).abs() < 0.0142, "{mean}");
    }

    /// The server takes its 20 ms before the first exchange. Before the others come exponential
    /// times to think as well: a share of 1/e is above 1.02 s, and of e^-3 = 0.04979 above 3.02 s.
    #[test]
    fn clients_think_between_exchanges() {
        let (law, mut stream) = (exchanges(0.1), stream("thinking"));
        let (mut firsts, mut later) = (Vec::new(), Vec::new());
        for _ in 0..100_000 {
            let mut gaps = law.draw(&mut stream).into_iter().map(|exchange| exchange.gap);
            firsts.extend(gaps.next());
            later.extend(gaps);
        }
        assert!(firsts.iter().all(|gap| *gap == Span::from_ms(20)));
        assert!(later.len() > 40_000 && later.iter().all(|gap| *gap >= Span::from_ms(20)));
        for (ms, share) in [(1020, 0.367_879), (3020, 0.049_787)] {
            let above = later.iter().filter(|gap| **gap > Span::from_ms(ms)).count();
            assert!(is_share(above, later.len(), share), "{ms} ms: {above}");
        }
    }

    /// Sizes have the quantiles of their distributions. Of requests half are up to 350 B, and
    /// Phi(1) = 0.841345 up to 350 e = 951.4 B. Of responses are up to 3 kB 0.9 / 2, up to 30 kB
    /// 0.9 Phi(ln 10 / 1.6) = 0.9 Phi(1.43912) = 0.9 * 0.924941, and up to 300 kB 0.9
    /// Phi(2.87823) + 0.1 (1 - 10^-1.2) / (1 - 0.0003^1.2) = 0.9 * 0.998001 + 0.1 * 0.936959.
    #[test]
    fn sizes_have_their_quantiles() {
        let (law, mut stream) = (exchanges(0.1), stream("sizes"));
        let all: Vec<Exchange> = (0..200_000).flat_map(|_| law.draw(&mut stream)).collect();
        for (bytes, share) in [(350, 0.5), (951, 0.841_345)] {
            let found = all.iter().filter(|exchange| exchange.request <= bytes).count();
            assert!(is_share(found, all.len(), share), "{bytes} B: {found}");
        }
        for (bytes, share) in [(3000, 0.45), (30_000, 0.832_447), (300_000, 0.991_897)] {
            let found = all.iter().filter(|exchange| exchange.response <= bytes).count();
            assert!(is_share(found, all.len(), share), "{bytes} B: {found}");
        }
    }

    /// The mean of the responses of a connection is the closed form. Lognormal responses have a
    /// mean of 3000 e^1.28 = 10,789.9 B, and those of the tail one of 6 * 30,000 times (1 -
    /// 0.0003^0.2) / (1 - 0.0003^1.2), 144,470 B, together 24,157.9 B; 1.41667 of them 34,223.7 B,
    /// or without a tail 15,285.7 B. The second moments are 9e6 e^5.12 = 1.506e9, and 1.5 *
    /// 30,000^1.2 (1e8^0.8 - 30,000^0.8) = 8.875e11 of the tail, so that a response deviates by 299
    /// kB, or 37.3 kB, and a connection by sqrt(1.41667 * 299^2 + 0.7986 * 24.2^2) = 357 kB, or
    /// sqrt(1.41667 * 37.3^2 + 0.7986 * 10.8^2) = 45.4 kB. Of a million connections that is 357 B,
    /// or 45.4 B; the bound is five of these.
    #[test]
    fn the_mean_of_a_connection_is_the_closed_form() {
        for (tail_share, mean, deviation) in [(0.1, 34_223.7, 357.0), (0.0, 15_285.7, 45.4)] {
            let (law, mut stream) = (exchanges(tail_share), stream("means"));
            let stated = law.mean() * law.mean_response(1448, 0);
            assert!((stated / mean - 1.0).abs() < 1e-5, "{stated}");
            let mut bytes = 0;
            for _ in 0..1_000_000 {
                bytes += law.draw(&mut stream).iter().map(|each| each.response).sum::<u64>();
            }
            assert!((bytes as f64 / 1e6 - mean).abs() < 5.0 * deviation, "{bytes}");
        }
    }

    /// The mean on the wire counts headers: a million responses have as many segments of 536 B as
    /// stated. Without a tail their number deviates by 37.3 kB / 536 B = 69.6, in the mean by
    /// 0.070, of 20.6; the bound is five of that. Were a segment 10 B larger, it would be 0.37
    /// less.
    #[test]
    fn the_mean_on_the_wire_counts_headers() {
        let (law, mut stream) = (exchanges(0.0), stream("segments"));
        let found = (0..1_000_000)
            .map(|_| law.exchange(Span::ZERO, &mut stream).response.div_ceil(536))
            .sum::<u64>();
        let stated = (law.mean_response(536, 52) - law.mean_response(536, 0)) / 52.0;
        assert!((found as f64 / 1e6 - stated).abs() < 0.35, "{found} {stated}");
    }

    /// Trains have 1, 2, 3, ... connections with probabilities of 1/2, 1/4, 1/8, and begin 2 s
    /// apart at Poisson times for a connection a second: a share of 1/e of these times is above 2
    /// s. Within trains the times are 1 us here, and what is less than 1 ms apart is one train: of
    /// two trains that happens with a probability of 5e-4, and never are connections of one as far
    /// apart. Of n = 50,000 trains a share deviates by sqrt(p (1 - p) / n); the bounds are five of
    /// that, and 5e-4.
    #[test]
    fn trains_have_a_geometric_number_of_connections() {
        let mut trains = Trains::new(1.0, 0.5, 1e-6, stream("trains"));
        let (mut sizes, mut gaps, mut last) = (vec![1], Vec::new(), trains.next());
        while sizes.len() < 50_000 {
            let time = trains.next();
            match time - last > Span::from_ms(1) {
                true => {
                    gaps.push((time - last).seconds());
                    sizes.push(1);
                }
                false => *sizes.last_mut().unwrap() += 1,
            }
            last = time;
        }
        let bound = |p: f64| 5.0 * (p * (1.0 - p) / 5e4).sqrt() + 5e-4;
        for number in 1..=6_u32 {
            let p = 1.0 / f64::from(1 << number);
            let share = sizes.iter().filter(|size| **size == number).count() as f64 / 5e4;
            assert!((share - p).abs() < bound(p), "{number}: {share}");
        }
        let late = gaps.iter().filter(|gap| **gap > 2.0).count() as f64 / gaps.len() as f64;
        assert!((late - 0.367_879).abs() < bound(0.367_879), "{late}");
    }

    /// Connections come at their rate from the start, as often together as trains make them. The
    /// density of connections of the same train u behind one is p/g e^(-a u), with a = (1 - p) / g,
    /// so that the number in a window W has the mean r W and the variance r W + 2 r p/g (W/a - (1 -
    /// e^(-a W)) / a^2): with p = 1/2, g = 1 s and r = 20 /s in 1 s 20 and 28.522, in 10 s 200 and
    /// 520.54. Of n = 20,000 first windows the mean deviates by sqrt(variance / n), the variance by
    /// about sqrt(2.3 / n) of itself; the bounds are five of these. A Poisson process has too small
    /// a variance, and trains that only begin with the run too small a mean: 12 in 1 s.
    #[test]
    fn connections_come_at_their_rate_from_the_start() {
        let n = 20_000;
        for (window, mean, variance) in [(1, 20.0, 28.522), (10, 200.0, 520.54)] {
            let count = |number| {
                let own = Streams::new(9, 0).numbered("rate", number);
                let mut trains = Trains::new(20.0, 0.5, 1.0, own);
                let end = Span::from_s(window);
                std::iter::repeat_with(|| trains.next()).take_while(|time| *time < end).count()
            };
            let counts: Vec<f64> = (0..n).map(|number| count(number) as f64).collect();
            let n = n as f64;
            let found = counts.iter().sum::<f64>() / n;
            let spread = counts.iter().map(|x| (x - found) * (x - found)).sum::<f64>() / (n - 1.0);
            assert!((found - mean).abs() < 5.0 * (variance / n).sqrt(), "{window} s: {found}");
            let bound = 5.0 * variance * (2.3 / n).sqrt();
            assert!((spread - variance).abs() < bound, "{window} s: {spread}");
        }
    }

    /// Without trains connections come at the times of a Poisson process: times between them are
    /// exponential, of which at 20 /s a share of 1/e is above 50 ms.
    #[test]
    fn connections_without_trains_are_a_poisson_process() {
        let mut trains = Trains::new(20.0, 0.0, 1.0, stream("poisson"));
        let times: Vec<Span> = (0..100_000).map(|_| trains.next()).collect();
        let late = times.windows(2).filter(|two| two[1] - two[0] > Span::from_ms(50)).count();
        assert!(is_share(late, 99_999, 0.367_879), "{late}");
    }

    /// The same connections come whatever their rate, sooner or later: variants of a scenario with
    /// several loads are compared on the same sizes.
    #[test]
    fn connections_are_the_same_at_each_rate() {
        let carried = |rate| {
            let trains = Trains::new(rate, 0.5, 1.0, stream("web").member(0));
            let mut vectors = Vectors::new(trains, exchanges(0.1), stream("web"));
            (0..1000).map(|_| vectors.next().exchanges).collect::<Vec<_>>()
        };
        assert_eq!(carried(5.0), carried(50.0));
    }
}
