//! Traffic: what an application sends, and when.

mod adaptive_video;
mod bulk;
mod cbr;
mod connections;
mod file;
mod on_off;
mod packmime;
mod pareto;
mod poisson;
mod pool;
mod pulses;
mod requests;
mod stores;
mod tmix;
mod trace;
mod transfers;
mod video;
mod voice;

use std::sync::Arc;

use forebay_kernel::math::exp;
use forebay_kernel::{Stream, Streams};
use forebay_network::Traffic;
use forebay_parameters::{Category, Entry, Problem, Section, choice};
use forebay_units::{Rate, Size, Span};

pub use adaptive_video::VideoPlan;

pub use pool::{Asking, Datagram, Datagrams, TrafficPool};
pub use stores::pool_of;
use stores::{Drawing, Fixed};

/// Makes the traffic of one flow after another, each with draws from the flow's own stream.
pub type TrafficFactory = Box<dyn Fn(&mut Stream) -> Box<dyn Traffic> + Send + Sync>;

/// Makes the traffic of a group of so many flows, given the stream of each.
pub type PoolFactory =
    Box<dyn Fn(u32, &mut dyn FnMut(u32) -> Stream) -> Box<dyn TrafficPool> + Send + Sync>;

/// A kind of traffic as read from its section of the scenario.
pub struct TrafficKind {
    /// Makes one flow's traffic.
    pub make: TrafficFactory,
    /// Makes the traffic of all flows of a group.
    pub pool: PoolFactory,
    /// The largest burst: over UDP, the largest packet (the mean, where sizes are random). `None`
    /// if only TCP can carry it.
    pub largest: Option<Size>,
    /// The long-run mean rate on the wire, headers included; `None` where there is none: a bulk
    /// transfer takes what it gets, and files come to an end.
    pub mean_rate: Option<Rate>,
    /// Mean number of bytes that a flow sends in all, where it sends only so many.
    pub in_all: Option<f64>,
    /// True if it never runs out of what it sends, so that TCP alone decides how much that is.
    pub endless: bool,
    /// True if a burst of nothing is a pause: TCP gives up what was not sent.
    pub pauses: bool,
    /// True if each burst is a transfer over TCP, whose completion time is of interest.
    pub transfers: bool,
    /// True if each transfer is sent on a fresh connection.
    pub fresh: bool,
    /// Plan of the clients if the senders write on request, each burst being a time to think and
    /// the size of an answer.
    pub requests: Option<RequestPlan>,
    /// True if one process, and not one for each flow, is behind the flows between two nodes.
    pub common: bool,
    /// Plan of the video if what is asked for are chunks of it, each at a bit rate that the client
    /// chooses.
    pub video: Option<Arc<VideoPlan>>,
}

/// Plan by which clients ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestPlan {
    /// Size of a request on the wire, in bytes.
    pub request: u16,
    /// Objects that a client asks for before it thinks.
    pub objects: u32,
    /// Connections of a client.
    pub connections: u32,
    /// Time after which a request is repeated for the first time.
    pub retry: Span,
}

impl RequestPlan {
    /// That time, unless said otherwise (RFC 6298, section 2.1).
    pub const RETRY: Span = Span::from_s(1);
}

impl TrafficKind {
    /// The kind of which `make` makes one flow's traffic, with draws from the flow's stream.
    pub fn new<T: Traffic + 'static>(
        make: impl Fn(&mut Stream) -> T + Send + Sync + 'static,
        largest: Option<Size>,
        mean_rate: Option<Rate>,
    ) -> Self {
        let one = Arc::new(make);
        let each = Arc::clone(&one);
        let make = move |stream: &mut Stream| Box::new(one(stream)) as Box<dyn Traffic>;
        let pool = move |count, stream: &mut dyn FnMut(u32) -> Stream| {
            let flow = |index| {
                let mut stream = stream(index);
                (each(&mut stream), stream)
            };
            pool_of((0..count).map(flow))
        };
        Self {
            make: Box::new(make),
            pool: Box::new(pool),
            largest,
            mean_rate,
            in_all: None,
            endless: false,
            pauses: false,
            transfers: false,
            fresh: false,
            requests: None,
            common: false,
            video: None,
        }
    }

    /// The same for traffic without any chance: its flows need no streams.
    fn fixed<T: Traffic + 'static>(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let one = Arc::new(make);
        let each = Arc::clone(&one);
        let make = move |_: &mut Stream| Box::new(one()) as Box<dyn Traffic>;
        let pool = move |count, _: &mut dyn FnMut(u32) -> Stream| {
            Box::new(Fixed::new((0..count).map(|_| each()))) as Box<dyn TrafficPool>
        };
        let (make, pool) = (Box::new(make), Box::new(pool));
        Self {
            make,
            pool,
            largest: None,
            mean_rate: None,
            in_all: None,
            endless: false,
            pauses: false,
            transfers: false,
            fresh: false,
            requests: None,
            common: false,
            video: None,
        }
    }

    /// The applications of `count` flows of the group whose component path is `path`.
    ///
    /// # Panics
    /// If they are 2^32 or more: a group has fewer.
    #[must_use]
    pub fn pool_of(&self, path: &str, count: usize, streams: &Streams) -> Box<dyn TrafficPool> {
        let name = format!("{path}.traffic");
        let mut stream = |index: u32| streams.numbered(&name, u64::from(index));
        (self.pool)(u32::try_from(count).expect("a group counts its flows so"), &mut stream)
    }

    /// The applications of several groups one after the other, each with its component path and
    /// number of flows.
    ///
    /// # Panics
    /// As [`TrafficKind::pool_of`].
    #[must_use]
    pub fn pool_of_parts<'p>(
        &self,
        parts: impl Iterator<Item = (&'p str, usize)>,
        streams: &Streams,
    ) -> Box<dyn TrafficPool> {
        let of_part = |(path, flows): (&str, usize)| {
            let name = format!("{path}.traffic");
            (0..flows as u64).map(|index| streams.numbered(&name, index)).collect::<Vec<_>>()
        };
        let all: Vec<Stream> = parts.flat_map(of_part).collect();
        let count = u32::try_from(all.len()).expect("a group counts its flows so");
        (self.pool)(count, &mut |index| all[index as usize].clone())
    }

    /// The same, which never runs out.
    fn without_end(self) -> Self {
        Self { endless: true, ..self }
    }

    /// The same, each burst of which is a transfer.
    fn of_transfers(self) -> Self {
        Self { transfers: true, ..self }
    }
}

/// The pool of Poisson traffic.
pub type PoissonPool = Drawing<poisson::Poisson>;

/// Reads a section of the scenario and gives the factory of its traffic.
pub type BuildTraffic =
    &'static (dyn Fn(&Section<'_>) -> Result<TrafficKind, Problem> + Send + Sync);

/// The category of kinds of traffic.
pub enum Traffics {}

impl Category for Traffics {
    const NAME: &'static str = "traffic";
    const CONTRACT: &'static str = "What an application sends, and when.";
    const PLACE: &'static str = "flows.NAME";
    const KIND: &'static str =
        "traffic such as { cbr = { rate = \"1 Mbit/s\", size = \"500 B\" } }";
    type Build = BuildTraffic;
}

/// The traffic of TCP flows that name none: bulk transfer.
pub static DEFAULT: &Entry<BuildTraffic> = &bulk::ENTRY;

/// Every kind of traffic.
pub static TRAFFICS: &[Entry<BuildTraffic>] = &[
    adaptive_video::ENTRY,
    bulk::ENTRY,
    cbr::ENTRY,
    file::ENTRY,
    on_off::ENTRY,
    packmime::ENTRY,
    pareto::ENTRY,
    poisson::ENTRY,
    pulses::ENTRY,
    requests::ENTRY,
    tmix::ENTRY,
    trace::ENTRY,
    transfers::ENTRY,
    video::ENTRY,
    voice::ENTRY,
];

/// The largest IP packet, in bytes.
const MAX_PACKET_BYTES: u64 = u16::MAX as u64;

choice! {
    /// Distribution of packet sizes.
    pub enum SizeLaw {
        /// All have the given size.
        Fixed = "fixed",
        /// Exponential with the given mean, rounded to the nearest whole byte and at least 1 B.
        Exponential = "exponential",
    }
}

impl SizeLaw {
    /// A size with mean `mean`.
    #[inline(always)]
    fn draw(self, mean: Size, stream: &mut Stream) -> Size {
        match self {
            Self::Fixed => mean,
            Self::Exponential => {
                // Whole bytes: the ceiling of an exponential is geometric on 1, 2, ...; its mean
                // lies half a byte above. Taking the draw half a byte down keeps the mean.
                let bytes = mean.bytes() as f64 * stream.exponential() + 0.5;
                // 32 bits saturate far above the largest packet, and take one conversion.
                Size::from_bytes(u64::from(bytes as u32).clamp(1, MAX_PACKET_BYTES))
            }
        }
    }

    /// The mean of the sizes that [`SizeLaw::draw`] gives, in bytes.
    fn mean(self, mean: Size) -> f64 {
        let m = mean.bytes() as f64;
        match self {
            Self::Fixed => m,
            // The mean is the sum over k of P(size >= k): 1 for k = 1, and e^(-(k - 1/2)/m), a
            // geometric series, for k = 2 to the largest size.
            Self::Exponential => {
                let terms = (MAX_PACKET_BYTES - 1) as f64;
                1.0 + exp(-1.5 / m) * (1.0 - exp(-terms / m)) / (1.0 - exp(-1.0 / m))
            }
        }
    }
}

/// The packet interval that `size` packets need for `rate`, refusing what cannot be.
fn interval(section: &Section<'_>, rate: Rate, size: Size) -> Result<Span, Problem> {
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; allowed are rates above 0"));
    }
    packet_size(section, "size", size)?;
    Ok(rate.transmission_time(size))
}

/// Refuse packets that IP cannot carry.
fn packet_size(section: &Section<'_>, key: &str, size: Size) -> Result<(), Problem> {
    if !(1..=MAX_PACKET_BYTES).contains(&size.bytes()) {
        let message = format!(
            "{} B is not a packet size; allowed are 1 B to {MAX_PACKET_BYTES} B",
            size.bytes()
        );
        return Err(section.fail(key, message));
    }
    Ok(())
}

/// The rate nearest to so many bit/s; too large ones saturate.
fn rate_of(bits_per_second: f64) -> Rate {
    Rate::from_bps((bits_per_second + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_parameters::{Echo, Node, Table, Value};

    /// Builds what `build` makes of a section with these parameters.
    pub(super) fn read(
        build: BuildTraffic,
        parameters: &[(&str, Value)],
    ) -> Result<TrafficKind, Problem> {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = parameters.iter().map(node).collect();
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        build(&Section::root(&node, &echo)?.with_registry(&crate::registry()))
    }

    /// The mean of exponential sizes counts the limits. Mean 1 B: the size is E + 1/2 rounded down,
    /// at least 1, so 1 + the sum of e^(-(k - 1/2)) over k >= 2 = 1 + e^-1.5 / (1 - 1/e) =
    /// 1.352987; mean 1000 B: 1000 B, as 1/(2 sinh(1/2000)) = 1000 - 4.2e-5, and sizes of 0 B, of
    /// probability 5.0e-4, are raised to 1 B; mean 60,000 B: the largest packet cuts the tail,
    /// 60000 (1 - e^(-65535/60000)) = 39,872.3 to half a byte.
    #[test]
    fn the_mean_of_exponential_sizes_counts_the_limits() {
        let mean = |bytes| SizeLaw::Exponential.mean(Size::from_bytes(bytes));
        assert!((mean(1) - 1.352_987).abs() < 1e-6, "{}", mean(1));
        assert!((mean(1000) - 1000.0).abs() < 1e-3, "{}", mean(1000));
        assert!((mean(60_000) - 39_872.3).abs() < 1.0, "{}", mean(60_000));
        assert_eq!(SizeLaw::Fixed.mean(Size::from_bytes(1000)), 1000.0);
    }
}
