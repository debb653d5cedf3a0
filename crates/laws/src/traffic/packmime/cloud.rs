//! Connections of a cloud of web clients, one after the other.

use std::collections::VecDeque;

use forebay_kernel::{Stream, math};
use forebay_units::Span;

use super::super::connections::{Connection, Connections, Exchange};
use super::noise::{Noise, exponential_of};
use super::sizes::{Quantiles, two_to, whole};

/// The process by which connections come. All draws are from one stream, in the order of the
/// connections, whatever becomes of them.
pub(super) struct Cloud {
    stream: Stream,
    quantiles: Quantiles,
    arrivals: Arrivals,
    responses: Responses,
    requests: Noise,
    persistent: f64,
}

impl Cloud {
    /// A cloud with `rate` connections in a second, of which a share `persistent` has several
    /// exchanges.
    pub(super) fn new(rate: f64, persistent: f64, stream: Stream) -> Self {
        let v = math::ln(rate) * std::f64::consts::LOG2_E;
        Self {
            stream,
            quantiles: Quantiles::read(),
            arrivals: Arrivals::new(rate, v),
            responses: Responses::new(v),
            requests: Noise::new(0.31, logistic(0.123 + 0.494 * v)),
            persistent,
        }
    }

    fn request(&mut self) -> u64 {
        let above = math::exp(-exponential_of(self.requests.next(&mut self.stream)));
        self.quantiles.request(above)
    }

    /// The exchanges that follow `first` on a persistent connection. Their requests are as large,
    /// and so are the responses if the first only says that nothing has changed.
    fn persist(&mut self, exchanges: &mut VecDeque<Exchange>, first: Exchange) {
        let stream = &mut self.stream;
        let pages = pages(stream);
        let between_pages = PowerOfTwo::new((3.22, 0.73), 1.85, 1.21, stream);
        let between_objects = PowerOfTwo::new((-4.15, 3.12), 2.35, 1.57, stream);
        let sizes = PowerOfTwo::new((10.62, 0.94), 3.22, 2.43, stream);
        for page in 0..pages {
            for object in 0..objects(pages, stream) {
                if (page, object) == (0, 0) {
                    continue;
                }
                let gaps = if object == 0 { &between_pages } else { &between_objects };
                let gap = Span::from_seconds(gaps.draw(stream));
                let response = match first.response > VALIDATION {
                    true => whole(sizes.draw(stream)),
                    false => first.response,
                };
                exchanges.push_back(Exchange { gap, response, ..first });
            }
        }
    }
}

impl Connections for Cloud {
    fn next(&mut self) -> Connection {
        let begins = self.arrivals.next(&mut self.stream);
        let several = self.stream.happens(self.persistent);
        let request = self.request();
        let response = self.responses.next(&self.quantiles, &mut self.stream);
        let first = Exchange { gap: Span::ZERO, request, response };
        let mut exchanges = VecDeque::from([first]);
        if several {
            self.persist(&mut exchanges, first);
        }
        for exchange in &mut exchanges {
            exchange.gap = exchange.gap + server_delay(&mut self.stream);
        }
        Connection { begins, exchanges }
    }
}

/// The largest response in bytes that says that nothing has changed.
const VALIDATION: u64 = 275;

/// Arrivals of connections: Weibull gaps whose ranks are those of noise with long memory.
struct Arrivals {
    noise: Noise,
    /// 1 over the shape, and the scale in s.
    power: f64,
    scale: f64,
    seconds: f64,
}

impl Arrivals {
    fn new(rate: f64, v: f64) -> Self {
        let power = 1.0 / logistic(0.352 + 0.388 * v);
        Self {
            noise: Noise::new(0.33, logistic(0.333 + 0.414 * v)),
            power,
            scale: 1.0 / (rate * math::gamma(1.0 + power)),
            seconds: 0.0,
        }
    }

    fn next(&mut self, stream: &mut Stream) -> Span {
        let gap = self.scale * math::pow(exponential_of(self.noise.next(stream)), self.power);
        self.seconds += gap;
        Span::from_seconds(self.seconds)
    }
}

/// Responses of connections: runs of downloads and of validations in turn.
struct Responses {
    /// Shapes of the lengths of runs, of validations and of downloads.
    shapes: [f64; 2],
    download: bool,
    left: u64,
}

/// Scales of the lengths of runs, of validations and of downloads.
const RUNS: [f64; 2] = [0.775, 3.11];

impl Responses {
    fn new(v: f64) -> Self {
        let shapes = [logistic(0.718 + 0.357 * v), logistic(1.293 + 0.316 * v)];
        Self { shapes, download: false, left: 0 }
    }

    fn next(&mut self, quantiles: &Quantiles, stream: &mut Stream) -> u64 {
        if self.left == 0 {
            self.download = !self.download;
            let of = usize::from(self.download);
            self.left = weibull(self.shapes[of], RUNS[of], stream).ceil().max(1.0) as u64;
        }
        self.left -= 1;
        quantiles.response(self.download, stream)
    }
}

/// Pages that a persistent connection carries.
fn pages(stream: &mut Stream) -> u64 {
    if stream.happens(0.82) {
        return 1;
    }
    (1.0 + weibull(1.0, 0.417, stream)).ceil() as u64
}

/// Objects of a page, of so many that the connection carries. A page alone has two at least.
fn objects(pages: u64, stream: &mut Stream) -> u64 {
    if pages > 1 && stream.happens(0.69) {
        return 1;
    }
    ((1.0 + weibull(1.0, 1.578, stream)).ceil() as u64).max(2)
}

/// Time in which a server answers: 1 over a Weibull variable in s, and at most 0.1 s.
fn server_delay(stream: &mut Stream) -> Span {
    Span::from_seconds(1.0 / weibull(0.63, 305.0, stream).max(10.0))
}

/// A quantity that is 2 to the power of a normal one, with a mean and a variance of each
/// connection.
struct PowerOfTwo {
    mean: f64,
    deviation: f64,
}

impl PowerOfTwo {
    /// One whose mean has the mean and variance `location`, and whose variance is `error` times a
    /// gamma variable of the given shape and mean 1.
    fn new(location: (f64, f64), shape: f64, error: f64, stream: &mut Stream) -> Self {
        let mean = location.0 + location.1.sqrt() * stream.normal();
        let scale = gamma_variable(shape, stream) / shape;
        Self { mean, deviation: (scale * error).sqrt() }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        two_to(self.mean + self.deviation * stream.normal())
    }
}

/// A gamma variable of the given shape, at least 1, and scale 1 (Marsaglia and Tsang, ACM TOMS
/// 26(3), 2000).
fn gamma_variable(shape: f64, stream: &mut Stream) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if math::ln(1.0 - stream.uniform()) < 0.5 * x * x + d * (1.0 - v + math::ln(v)) {
            return d * v;
        }
    }
}

fn weibull(shape: f64, scale: f64, stream: &mut Stream) -> f64 {
    scale * math::pow(stream.exponential(), 1.0 / shape)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + math::exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    fn cloud(rate: f64, persistent: f64) -> Cloud {
        Cloud::new(rate, persistent, Streams::new(4, 0).named("cloud"))
    }

    /// Connections come at their rate. Of 40 /s the white share is L(0.333 + 0.414 * 5.3219) =
    /// 0.9266, the shape L(2.4169) = 0.9181; gaps have the variance Gamma(1 + 2/k) / Gamma(1 +
    /// 1/k)^2 - 1 = 1.188 over 1600. The sum of n = 10,000 has a relative standard deviation
    /// of no more than sqrt(1.188) (n^-0.5 sqrt(0.9266) + n^-0.17 sqrt(0.0734)) = 0.072; three
    /// times that is the bound.
    #[test]
    fn connections_come_at_their_rate() {
        let mut cloud = cloud(40.0, 0.0);
        let last = (0..10_000).map(|_| cloud.next().begins).last().unwrap();
        assert!((last.seconds() / 250.0 - 1.0).abs() < 0.216, "{}", last.seconds());
    }

    /// Connections have one exchange, or several with as large a request, of which a share is
    /// persistent: 0.09 of 20,000 with a standard deviation of 0.002. Servers take up to 0.1 s.
    #[test]
    fn a_share_of_connections_is_persistent() {
        let mut cloud = cloud(5.0, 0.09);
        let mut several = 0;
        for _ in 0..20_000 {
            let exchanges = cloud.next().exchanges;
            assert!(exchanges[0].gap > Span::ZERO && exchanges[0].gap <= Span::from_ms(100));
            assert!(exchanges.iter().all(|exchange| exchange.request == exchanges[0].request));
            several += usize::from(exchanges.len() > 1);
        }
        assert!((several as f64 / 20_000.0 - 0.09).abs() < 0.01, "{several}");
    }

    /// Responses are downloads and validations in runs. At 2 /s (v = 1) the shapes are L(1.075) =
    /// 0.7455 and L(1.609) = 0.8332. The mean of the ceiling of a Weibull variable is the sum over
    /// n >= 0 of exp(-(n / scale)^shape): 1.509 for validations and 3.937 for downloads, a share
    /// of downloads of 0.723. Of 100,000 responses some 18,400 pairs of runs make it deviate by
    /// about 0.003; the bound is five of that.
    #[test]
    fn responses_come_in_runs() {
        let mean = |shape: f64, scale: f64| {
            (0..10_000).map(|n| math::exp(-math::pow(f64::from(n) / scale, shape))).sum::<f64>()
        };
        let (validations, downloads) = (mean(logistic(1.075), 0.775), mean(logistic(1.609), 3.11));
        let share = downloads / (downloads + validations);
        let (mut responses, quantiles) = (Responses::new(1.0), Quantiles::read());
        let mut stream = Streams::new(6, 0).named("runs");
        let count = (0..100_000)
            .filter(|_| {
                responses.next(&quantiles, &mut stream);
                responses.download
            })
            .count();
        assert!((count as f64 / 1e5 - share).abs() < 0.015, "{count} {share}");
    }

    /// Gamma variables have mean and variance of their shape. Of 100,000 with shape 1.85 the mean
    /// deviates by sqrt(1.85 / 1e5) = 0.0043, the variance by about 1.85 sqrt((2 + 6 / 1.85) / 1e5)
    /// = 0.0134; the bounds are five of these.
    #[test]
    fn gamma_variables_have_mean_and_variance_of_their_shape() {
        let mut stream = Streams::new(7, 0).named("gamma");
        let values: Vec<f64> = (0..100_000).map(|_| gamma_variable(1.85, &mut stream)).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e5;
        assert!((mean - 1.85).abs() < 0.022, "{mean}");
        assert!((variance - 1.85).abs() < 0.067, "{variance}");
    }
}
