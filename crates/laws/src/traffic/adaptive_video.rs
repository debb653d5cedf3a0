//! Video in chunks, each of which the client asks for at the bit rate that it chooses: adaptive
//! streaming over HTTP.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Rate, Size, Span};

use super::transfers::Connections;
use super::{BuildTraffic, RequestPlan, TrafficKind, packet_size};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "adaptive_video",
    summary: "Clients at the far end of TCP connections that play video: they ask for it chunk by \
              chunk, each at a bit rate that follows the throughput or the buffer.",
    source: "Huang et al., A buffer-based approach to rate adaptation, SIGCOMM 2014; Yin et al., A \
             control-theoretic approach for dynamic adaptive video streaming, SIGCOMM 2015",
    example: r#"
        rates = ["100 kbit/s", "250 kbit/s", "500 kbit/s"]
        chunk = "500 ms"
        buffer = "6 s"
        reservoir = "1 s"
        cushion = "3 s"
    "#,
    fields: VideoParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Quantity that the bit rate of the next chunk follows.
    pub enum Selection {
        /// The video in the buffer, linearly between `reservoir` and `reservoir` + `cushion`, and
        /// only as far as the next bit rate is crossed (BBA-0).
        Buffer = "buffer",
        /// The throughput: the highest bit rate that the harmonic mean of the last five chunks
        /// covers.
        Throughput = "throughput",
    }
}

parameters! {
    /// Parameters of adaptive video. Clients are at the nodes `to`, and the server at `from`. The
    /// first chunk has the lowest bit rate. Video plays once a chunk has arrived, also after the
    /// buffer has run empty.
    pub struct VideoParameters {
        /// Bit rates of the video, from the lowest to the highest: 1 to 64 of them.
        rates: Vec<Rate>, "Huang et al. 2014, section 4";
        /// Quantity that the bit rate of the next chunk follows.
        selection: Selection = "buffer", "Huang et al. 2014, section 4; Yin et al. 2015, section 7";
        /// Video in a chunk.
        chunk: Span = "4 s", "Huang et al. 2014, section 2";
        /// Video that the buffer holds, at least one chunk: the next chunk is asked for when there
        /// is room for it.
        buffer: Span = "240 s", "Huang et al. 2014, section 4";
        /// Video in the buffer up to which the lowest bit rate is asked for.
        reservoir: Span = "90 s", "Huang et al. 2014, section 4 (BBA-0)";
        /// Above the reservoir and so much more, the highest. Above 0.
        cushion: Span = "126 s", "Huang et al. 2014, section 4 (BBA-0)";
        /// Size of a request on the wire. It is one packet, takes the way of acknowledgements and
        /// counts as one.
        request: Size = "400 B", "-";
        /// Connection that a chunk is sent on.
        connection: Connections = "persistent", "RFC 9112, section 9.3";
    }
}

/// Bit rates of a video, at most.
const MAX_RATES: usize = 64;

/// Chunks of whose throughput the mean is taken.
const SAMPLES: usize = 5;

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = VideoParameters::read(section)?;
    let VideoParameters { rates, selection, chunk, buffer, reservoir, cushion, .. } = &parameters;
    if rates.is_empty() || rates.len() > MAX_RATES {
        let message = format!("has {} bit rates; allowed are 1 to {MAX_RATES}", rates.len());
        return Err(section.fail("rates", message));
    }
    if rates[0].bps() == 0 || rates.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(section.fail("rates", "are not above 0 and each above the one before"));
    }
    let range = Span::from_ms(10)..=Span::from_s(3600);
    if !range.contains(chunk) {
        return Err(section.fail("chunk", "is out of range; allowed are 10 ms to 3600 s"));
    }
    if buffer < chunk {
        return Err(section.fail("buffer", "holds no chunk; allowed are spans from that of one"));
    }
    if *cushion == Span::ZERO {
        return Err(section.fail("cushion", "is zero; allowed is any time above 0 s"));
    }
    packet_size(section, "request", parameters.request)?;
    let video = VideoPlan {
        rates: rates.iter().map(|rate| rate.bps() as f64).collect(),
        selection: *selection,
        chunk: *chunk,
        buffer: *buffer,
        reservoir: *reservoir,
        cushion: *cushion,
    };
    let request = u16::try_from(parameters.request.bytes()).expect("a packet has a size");
    let kind = TrafficKind::fixed(|| OnRequest).of_transfers();
    Ok(TrafficKind {
        fresh: parameters.connection == Connections::Fresh,
        requests: Some(RequestPlan {
            request,
            objects: 1,
            connections: 1,
            retry: RequestPlan::RETRY,
        }),
        video: Some(Arc::new(video)),
        ..kind
    })
}

/// Sender that writes what is asked for.
struct OnRequest;

impl Traffic for OnRequest {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        None
    }
}

/// Plan by which a video is played.
#[derive(Clone, Debug)]
pub struct VideoPlan {
    /// Bit rates in bit/s, from the lowest.
    rates: Vec<f64>,
    selection: Selection,
    chunk: Span,
    buffer: Span,
    reservoir: Span,
    cushion: Span,
}

impl VideoPlan {
    /// Video in a chunk.
    #[must_use]
    pub fn chunk(&self) -> Span {
        self.chunk
    }

    /// The bit rate of `level`, in bit/s.
    #[must_use]
    pub fn rate(&self, level: usize) -> f64 {
        self.rates[level]
    }

    /// Bytes of a chunk at `level`.
    #[must_use]
    pub fn bytes(&self, level: usize) -> u64 {
        ((self.rates[level] * self.chunk.seconds() / 8.0 + 0.5) as u64).max(1)
    }

    /// Returns the time that the next request waits, if there is `buffered` video: until a chunk
    /// has room.
    #[must_use]
    pub fn wait(&self, buffered: Span) -> Span {
        let full = buffered + self.chunk;
        if full > self.buffer { full - self.buffer } else { Span::ZERO }
    }

    /// The level of the next chunk: the last was of level `last`, `buffered` video waits when it is
    /// asked for, and the last chunks, the latest last, came with `throughputs` in bit/s.
    #[must_use]
    pub fn select(&self, last: usize, buffered: Span, throughputs: &[f64]) -> usize {
        match self.selection {
            Selection::Buffer => self.by_buffer(last, buffered),
            Selection::Throughput => self.by_throughput(throughputs),
        }
    }

    /// BBA-0 (Huang et al. 2014, algorithm 1).
    fn by_buffer(&self, last: usize, buffered: Span) -> usize {
        let (rates, top) = (&self.rates, self.rates.len() - 1);
        if buffered <= self.reservoir {
            return 0;
        }
        if buffered >= self.reservoir + self.cushion {
            return top;
        }
        let share = (buffered - self.reservoir).seconds() / self.cushion.seconds();
        let map = rates[0] + (rates[top] - rates[0]) * share;
        if map >= rates[(last + 1).min(top)] {
            rates.partition_point(|rate| *rate < map).saturating_sub(1)
        } else if map <= rates[last.saturating_sub(1)] {
            rates.partition_point(|rate| *rate <= map).min(top)
        } else {
            last
        }
    }

    /// The highest bit rate up to the harmonic mean of the last five throughputs (Yin et al. 2015,
    /// section 7: RB).
    fn by_throughput(&self, throughputs: &[f64]) -> usize {
        let recent = &throughputs[throughputs.len().saturating_sub(SAMPLES)..];
        let inverse: f64 = recent.iter().map(|bps| 1.0 / bps).sum();
        let mean = recent.len() as f64 / inverse;
        self.rates.partition_point(|rate| *rate <= mean).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_parameters::{Node, Value};

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Node::new((*item).into())).collect())
    }

    fn plan(given: &[(&str, Value)]) -> Result<Arc<VideoPlan>, Problem> {
        let rates = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "5 Mbit/s"];
        let mut all = vec![("rates", list(&rates))];
        all.retain(|(key, _)| given.iter().all(|(other, _)| other != key));
        all.extend(given.iter().cloned());
        read(&build, &all).map(|kind| kind.video.unwrap())
    }

    /// The buffer decides by the map of algorithm 1 of Huang et al. 2014 (BBA-0): with 90 s of
    /// reservoir and 126 s of cushion from 1 to 5 Mbit/s, f(B) = 1 + 4 (B - 90) / 126 Mbit/s. At
    /// 153 s that is 3 Mbit/s: 1 and 2 Mbit/s lead to the highest bit rate below that, 2; 3 stays,
    /// as f is between its neighbours 2 and 5; 5, whose lower neighbour is 3, leads to the lowest
    /// above 3, which is 5. At 137 s (2.492) 5 leads to 3, 2 and 3 stay, and 1 leads to 2.
    #[test]
    fn the_buffer_decides_as_bba_0_has_it() {
        let plan = plan(&[]).unwrap();
        let at = |seconds| [0, 1, 2, 3].map(|last| plan.select(last, Span::from_s(seconds), &[]));
        assert_eq!(at(0), [0; 4]);
        assert_eq!(at(90), [0; 4]);
        assert_eq!(at(153), [1, 1, 2, 3]);
        assert_eq!(at(137), [1, 1, 2, 2]);
        assert_eq!(at(216), [3; 4]);
        assert_eq!(at(240), [3; 4]);
    }

    /// The throughput is the harmonic mean of the last five chunks: that of 2 and 6 Mbit/s is 3;
    /// the five last of 100, 2, 2, 2, 2 and 6 have 5 / (4/2 + 1/6) = 2.308.
    #[test]
    fn the_throughput_decides_by_its_harmonic_mean() {
        let plan = plan(&[("selection", "throughput".into())]).unwrap();
        let level = |mbps: &[f64]| {
            let all: Vec<f64> = mbps.iter().map(|mbps| mbps * 1e6).collect();
            plan.select(0, Span::ZERO, &all)
        };
        assert_eq!(level(&[]), 0);
        assert_eq!(level(&[0.5]), 0);
        assert_eq!(level(&[2.0, 6.0]), 2);
        assert_eq!(level(&[100.0, 2.0, 2.0, 2.0, 2.0, 6.0]), 1);
        assert_eq!(level(&[9.0]), 3);
    }

    /// Chunks have the size of their bit rate, and are asked for when the buffer has room: 4 s at 2
    /// Mbit/s are 1 MB; of 240 s, 236 leave room for one, and with 238.5 the next waits 2.5 s.
    #[test]
    fn chunks_are_asked_for_when_there_is_room() {
        let plan = plan(&[]).unwrap();
        assert_eq!((plan.bytes(1), plan.chunk()), (1_000_000, Span::from_s(4)));
        assert_eq!(plan.wait(Span::from_s(236)), Span::ZERO);
        assert_eq!(plan.wait(Span::from_ms(238_500)), Span::from_ms(2500));
    }

    /// Videos that cannot be played are refused at the parameter that is wrong.
    #[test]
    fn wrong_videos_are_refused_where_they_are_wrong() {
        let path = |key, value| plan(&[(key, value)]).err().map_or(String::new(), |it| it.path);
        for wrong in [&[][..], &["0 bit/s"], &["2 Mbit/s", "1 Mbit/s"], &["1 Mbit/s"; 2]] {
            assert_eq!(path("rates", list(wrong)), "rates");
        }
        assert_eq!(path("chunk", "1 ms".into()), "chunk");
        assert_eq!(path("buffer", "3 s".into()), "buffer");
        assert_eq!(path("cushion", "0 s".into()), "cushion");
        assert_eq!(path("request", "0 B".into()), "request");
        assert_eq!(path("selection", "bola".into()), "selection");
    }
}
