//! Quantile functions of the sizes of requests and responses.

use forebay_kernel::{Stream, math};

/// Points of the quantile functions, with the columns variable, state, argument, x, y and unit.
const POINTS: &str = include_str!("quantiles.csv");

/// The quantile functions of sizes, piecewise linear.
pub(super) struct Quantiles {
    /// Responses that say that nothing has changed: bytes over p.
    validation: Curve,
    /// Responses with an object: base-2 logarithms of bytes over that of 1 - p.
    download: Curve,
    /// Requests: bytes over 2 p, for p below 1/2.
    below: Curve,
    /// Requests: base-2 logarithms of bytes over that of 2 (1 - p), for p above 1/2.
    above: Curve,
}

impl Quantiles {
    /// Those of PackMime-HTTP.
    pub(super) fn read() -> Self {
        Self {
            validation: Curve::of("response,validation"),
            download: Curve::of("response,download"),
            below: Curve::of("request,below the median"),
            above: Curve::of("request,above the median"),
        }
    }

    /// The size of a response, in bytes.
    pub(super) fn response(&self, download: bool, stream: &mut Stream) -> u64 {
        let p = stream.uniform();
        if download {
            whole(two_to(self.download.at(log2(1.0 - p))))
        } else {
            whole(self.validation.at(p))
        }
    }

    /// The size of a request in bytes that a share `1 - above` of them does not exceed.
    pub(super) fn request(&self, above: f64) -> u64 {
        if above > 0.5 {
            whole(self.below.at(2.0 * (1.0 - above)))
        } else {
            whole(two_to(self.above.at(log2(2.0 * above))))
        }
    }
}

/// 2 to the power of `x`.
pub(super) fn two_to(x: f64) -> f64 {
    math::exp(x * std::f64::consts::LN_2)
}

/// So many whole bytes, from 1 on.
pub(super) fn whole(bytes: f64) -> u64 {
    (bytes as u64).max(1)
}

fn log2(x: f64) -> f64 {
    math::ln(x) * std::f64::consts::LOG2_E
}

/// A function by points with rising x, linear in between and on beyond the ends.
struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// The points of the rows that begin with `head`.
    fn of(head: &str) -> Self {
        let rows = POINTS.lines().filter(|row| row.starts_with(head));
        let point = |row: &str| {
            let mut cells = row.split(',').skip(3).map(str::parse::<f64>);
            let mut number = || cells.next().and_then(Result::ok).expect("x and y are numbers");
            (number(), number())
        };
        Self(rows.map(point).collect())
    }

    fn at(&self, x: f64) -> f64 {
        let after = self.0.partition_point(|point| point.0 < x).clamp(1, self.0.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.0[after - 1], self.0[after]);
        y0 + (y1 - y0) / (x1 - x0) * (x - x0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// Sizes are those of the published quantiles: a request has a median of 421.788 B, whole bytes
    /// of which are 421; a quarter is below 348.4 B, which lies between 343.443 at 0.45456 and
    /// 351.619 at 0.50506 of the lower half; an eighth of the upper half, log2 = -3, exceeds
    /// 2^9.9160 = 966.1 B, by the points (-3.05982, 9.93459) and (-2.88032, 9.87896).
    #[test]
    fn requests_have_the_published_quantiles() {
        let sizes = Quantiles::read();
        assert_eq!(sizes.request(0.5 + 1e-12), 421);
        let quarter = 343.443 + (351.619 - 343.443) * (0.5 - 0.45456) / (0.50506 - 0.45456);
        assert_eq!(sizes.request(0.75), quarter as u64);
        let log = 9.934_59 + (9.878_96 - 9.934_59) * (3.059_82 - 3.0) / (3.059_82 - 2.880_32);
        assert_eq!(sizes.request(0.0625), f64::exp2(log) as u64);
    }

    /// Responses are small or have a heavy tail: validations end at 272 B, and the median of
    /// downloads is 2^11.143 = 2.26 kB, by the points (-1.10347, 11.4133) and (-0.91986, 10.9303).
    /// Of 100,000 draws the share below it deviates by 0.0016; the bound is five of that.
    #[test]
    fn responses_have_the_published_quantiles() {
        let (sizes, mut stream) = (Quantiles::read(), Streams::new(2, 0).named("sizes"));
        assert!((0..10_000).all(|_| (4..=272).contains(&sizes.response(false, &mut stream))));
        let log = 11.4133 + (10.9303 - 11.4133) * (1.103_47 - 1.0) / (1.103_47 - 0.919_86);
        let median = f64::exp2(log);
        let below =
            (0..100_000).filter(|_| (sizes.response(true, &mut stream) as f64) < median).count();
        assert!((below as f64 / 1e5 - 0.5).abs() < 0.008, "{below}");
    }
}
