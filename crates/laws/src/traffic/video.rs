//! Variable-bit-rate video: frame sizes of a first-order autoregressive process.

use forebay_kernel::Stream;
use forebay_kernel::math::exp;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{BuildTraffic, TrafficKind, packet_size, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "video",
    summary: "Video frames whose bits per pixel follow a first-order autoregressive process, in \
              packets.",
    source: "Maglaris et al., IEEE Trans. Comm. 36(7), July 1988 (process); \
             draft-babiarz-pcn-explicit-marking-02, section 4.7 (packets)",
    example: r#"line_rate = "10 Mbit/s""#,
    fields: VideoParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of video.
    ///
    /// Frame n has lambda(n) = a lambda(n-1) + b w(n) bit a pixel, w normal with variance 1. The
    /// coefficients a, b and the mean of w are those of Maglaris et al. (1988) as the literature
    /// quotes them: with that paper's 30 frames/s of 250,000 pixels they give its 3.9 Mbit/s. How
    /// frames become packets is the draft's.
    pub struct VideoParameters {
        /// Link speed at which the source sends the packets of a frame one after the other.
        line_rate: Rate, "draft-babiarz-pcn-explicit-marking-02, section 4.7";
        /// Frames per second.
        frames_per_second: f64 = 30.0, "Maglaris et al. 1988, IEEE Trans. Comm. 36(7)";
        /// Pixels per frame. The default gives the draft's 400 kbit/s of video, without headers and
        /// before negative frames are left out: 400,000 / 30 / 0.51991 bit a pixel.
        pixels: u32 = 25_645, "draft-babiarz-pcn-explicit-marking-02, section 4.7: 400 kbit/s";
        /// Coefficient a: correlation of the bits of successive frames.
        correlation: f64 = 0.8781, "Maglaris et al. 1988, IEEE Trans. Comm. 36(7)";
        /// Coefficient b: bit per pixel for each unit of w.
        gain: f64 = 0.1108, "Maglaris et al. 1988, IEEE Trans. Comm. 36(7)";
        /// Mean of w.
        innovation_mean: f64 = 0.572, "Maglaris et al. 1988, IEEE Trans. Comm. 36(7)";
        /// Largest packet, header included.
        mtu: Size = "1356 B", "draft-babiarz-pcn-explicit-marking-02, section 4.7";
        /// Header of each packet.
        header: Size = "40 B", "draft-babiarz-pcn-explicit-marking-02, section 4.7";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = VideoParameters::read(section)?;
    check(section, &parameters)?;
    let coder = Coder::new(&parameters);
    let VideoParameters { line_rate, frames_per_second, mtu, header, .. } = parameters;
    let (payload, header) = (mtu.bytes() - header.bytes(), header.bytes());
    let packets = Packets { payload, header, line_rate };
    let bits_per_second = frames_per_second * coder.mean_of(|bytes| packets.bits(bytes));
    // Frames that the line cannot keep up with follow each other without a pause.
    let mean_rate = Some(rate_of(bits_per_second).min(line_rate));
    let interval = Span::from_seconds(1.0 / frames_per_second);
    let make = move |stream: &mut Stream| Video::new(coder, packets, interval, stream);
    Ok(TrafficKind::new(make, Some(mtu), mean_rate))
}

fn check(section: &Section<'_>, parameters: &VideoParameters) -> Result<(), Problem> {
    let VideoParameters { line_rate, frames_per_second, pixels, mtu, header, .. } = *parameters;
    if line_rate.bps() == 0 {
        return Err(section.fail("line_rate", "is zero; allowed are rates above 0"));
    }
    if frames_per_second <= 0.0 {
        let message = format!("{frames_per_second} is not a frame rate; allowed is above 0");
        return Err(section.fail("frames_per_second", message));
    }
    section.within("frames_per_second", frames_per_second, 0.0, 1e6)?;
    if pixels == 0 {
        return Err(section.fail("pixels", "is zero; allowed are numbers from 1"));
    }
    // Nearer to 1, the source could fall silent for millions of frames at once.
    section.within("correlation", parameters.correlation, 0.0, 0.999_999)?;
    section.within("gain", parameters.gain, 1e-6, 1e3)?;
    // Below 0, more than half of the frames would be negative, up to all.
    section.within("innovation_mean", parameters.innovation_mean, 0.0, 1e3)?;
    packet_size(section, "mtu", mtu)?;
    if mtu <= header {
        let message =
            format!("{} B leave no room behind a header of {} B", mtu.bytes(), header.bytes());
        return Err(section.fail("mtu", message));
    }
    Ok(())
}

/// The autoregressive process of frame sizes.
#[derive(Clone, Copy)]
struct Coder {
    pixels: f64,
    correlation: f64,
    gain: f64,
    innovation_mean: f64,
}

impl Coder {
    fn new(parameters: &VideoParameters) -> Self {
        let VideoParameters { pixels, correlation, gain, innovation_mean, .. } = *parameters;
        Self { pixels: f64::from(pixels), correlation, gain, innovation_mean }
    }

    /// Mean and standard deviation of the stationary distribution, which is normal, in bit per
    /// pixel.
    fn stationary(&self) -> (f64, f64) {
        let mean = self.gain * self.innovation_mean / (1.0 - self.correlation);
        (mean, self.gain / (1.0 - self.correlation * self.correlation).sqrt())
    }

    /// Bit per pixel of the frame after one of `lambda`.
    fn step(&self, lambda: f64, stream: &mut Stream) -> f64 {
        self.correlation * lambda + self.gain * (self.innovation_mean + stream.normal())
    }

    /// Whole bytes of a frame of `lambda` bit per pixel; only positive bits are sent.
    fn bytes(&self, lambda: f64) -> u64 {
        let bits = lambda * self.pixels;
        if bits > 0.0 { ((bits / 8.0).ceil() as u64).max(1) } else { 0 }
    }

    /// The mean of a function of the frame's bytes in the long run: the midpoint rule over eight
    /// standard deviations on both sides, which lack 1e-15 of the distribution.
    fn mean_of(&self, f: impl Fn(u64) -> f64) -> f64 {
        const STEPS: u32 = 16_384;
        let (mean, deviation) = self.stationary();
        let (mut sum, mut weights) = (0.0, 0.0);
        for step in 0..STEPS {
            let z = 16.0 * ((f64::from(step) + 0.5) / f64::from(STEPS) - 0.5);
            let weight = exp(-0.5 * z * z);
            sum += weight * f(self.bytes(mean + deviation * z));
            weights += weight;
        }
        sum / weights
    }
}

/// Rule by which a frame becomes packets.
#[derive(Clone, Copy)]
struct Packets {
    /// Bytes of video in a full packet.
    payload: u64,
    header: u64,
    line_rate: Rate,
}

impl Packets {
    /// Bits on the wire of a frame of `bytes`.
    fn bits(&self, bytes: u64) -> f64 {
        8.0 * (bytes as f64 + self.header as f64 * bytes.div_ceil(self.payload) as f64)
    }
}

/// A frame is made at a random time within 1/F of the start, and others every 1/F; the packets of
/// each are sent one by one from the end of its interval of 1/F on, the next when the line has sent
/// the one before. A frame that is not over when the next is due delays it.
struct Video {
    coder: Coder,
    packets: Packets,
    interval: Span,
    /// Bit per pixel of the next frame.
    lambda: f64,
    /// End of the interval of the frame being sent, since the start of the flow.
    due: Span,
    /// Bytes of that frame not sent yet.
    left: u64,
    /// Time at which the packet before was sent, and time at which the line is free again.
    sent: Span,
    free: Span,
}

impl Video {
    fn new(coder: Coder, packets: Packets, interval: Span, stream: &mut Stream) -> Self {
        let due = interval.scaled(stream.uniform());
        let (mean, deviation) = coder.stationary();
        let lambda = mean + deviation * stream.normal();
        let (sent, free) = (Span::ZERO, Span::ZERO);
        Self { coder, packets, interval, lambda, due, left: 0, sent, free }
    }

    /// Advance to the next frame, which may be empty.
    fn next_frame(&mut self, stream: &mut Stream) {
        self.due = self.due + self.interval;
        self.left = self.coder.bytes(self.lambda);
        self.lambda = self.coder.step(self.lambda, stream);
    }
}

impl Traffic for Video {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        while self.left == 0 && self.due < Span::MAX {
            self.next_frame(stream);
        }
        let at = self.due.max(self.free);
        // Longer than every run: nothing more comes.
        if at == Span::MAX {
            return None;
        }
        let payload = self.left.min(self.packets.payload);
        self.left -= payload;
        let size = Size::from_bytes(payload + self.packets.header);
        let gap = at - self.sent;
        self.sent = at;
        self.free = at + self.packets.line_rate.transmission_time(size);
        Some(Burst { gap, size })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_kernel::math::pow;
    use forebay_parameters::Value;

    const FRAME: Span = Span::from_ps(33_333_333_333);

    fn video(others: &[(&str, Value)]) -> TrafficKind {
        let fast = ("line_rate", Value::from("10 Gbit/s"));
        let given: Vec<_> = std::iter::once(fast).chain(others.iter().cloned()).collect();
        read(&build, &given).unwrap()
    }

    /// The picture of Maglaris et al., 250,000 pixels, in packets that hold nearly every frame
    /// whole, without header.
    fn picture(others: &[(&str, Value)]) -> TrafficKind {
        let given =
            [("pixels", 250_000.into()), ("mtu", "65535 B".into()), ("header", "0 B".into())];
        video(&[&given[..], others].concat())
    }

    /// Bit per pixel of `count` frames of a picture; those that send nothing count as zero.
    fn frames(kind: &TrafficKind, count: usize) -> Vec<f64> {
        let mut stream = Streams::new(4, 0).named("video");
        let mut traffic = (kind.make)(&mut stream);
        let mut frames = Vec::new();
        while frames.len() <= count {
            let burst = traffic.next(&mut stream).unwrap();
            let intervals = (burst.gap.seconds() / FRAME.seconds()).round() as usize;
            frames.resize(frames.len() + intervals, 0.0);
            if let Some(frame) = frames.last_mut() {
                *frame += burst.size.bits() as f64 / 250_000.0;
            }
        }
        // Packets of the last one may be missing.
        frames.pop();
        frames.truncate(count);
        frames
    }

    /// Mean, variance, and autocorrelation at lags 1 and 8.
    fn statistics(frames: &[f64]) -> [f64; 4] {
        let n = frames.len() as f64;
        let mean = frames.iter().sum::<f64>() / n;
        let covariance = |lag: usize| {
            let products = frames.iter().zip(&frames[lag..]).map(|(x, y)| (x - mean) * (y - mean));
            products.sum::<f64>() / n
        };
        let variance = covariance(0);
        [mean, variance, covariance(1) / variance, covariance(8) / variance]
    }

    /// Checks that `frames` agree with a = 0.8781, b = 0.1108 and w of mean 0.572.
    ///
    /// lambda is normal with mean m = b 0.572 / (1 - a) = 0.519915 and variance s^2 = b^2 / (1 -
    /// a^2) = 0.0536237. With c = m/s = 2.24519, the frames max(lambda, 0) have mean m Phi(c) + s
    /// phi(c) = 0.520909 and second moment (m^2 + s^2) Phi(c) + m s phi(c), hence variance
    /// 0.0524421. Their autocorrelation at lag k is a sum of w_j a^(jk) over j >= 1 with weights
    /// that add up to 1 (Hermite expansion); w_1 = (s Phi(c))^2 / 0.0524421 = 0.99738, so it lies
    /// between w_1 a^k and w_1 a^k + (1 - w_1) a^(2k).
    ///
    /// Bounds add five standard errors: of the mean, s sqrt((1 + a) / (1 - a) / n); of the
    /// variance, sqrt(2 (1 + a^2) / (1 - a^2) / n) of it; of the autocorrelation at lag k, by
    /// Bartlett's formula, the root of ((1 + a^2)(1 - a^2k)/(1 - a^2) - 2k a^2k) / n.
    fn agree(frames: &[f64]) -> [bool; 4] {
        let (n, a, square) = (frames.len() as f64, 0.8781, 0.8781 * 0.8781);
        let [mean, variance, lag_1, lag_8] = statistics(frames);
        let near = |x: f64, low: f64, high: f64, error: f64| {
            (low - 5.0 * error..=high + 5.0 * error).contains(&x)
        };
        let correlated = |x: f64, lag: f64| {
            let (once, twice) = (pow(a, lag), pow(a, 2.0 * lag));
            let ratio = (1.0 + square) / (1.0 - square);
            let error = ((ratio * (1.0 - twice) - 2.0 * lag * twice) / n).sqrt();
            near(x, 0.99738 * once, 0.99738 * once + 0.00262 * twice, error)
        };
        let of_mean = 0.231_568 * ((1.0 + a) / (1.0 - a) / n).sqrt();
        let of_variance = 0.052_442_1 * (2.0 * (1.0 + square) / (1.0 - square) / n).sqrt();
        [
            near(mean, 0.520_909, 0.520_909, of_mean),
            near(variance, 0.052_442_1, 0.052_442_1, of_variance),
            correlated(lag_1, 1.0),
            correlated(lag_8, 8.0),
        ]
    }

    /// Frames follow the published autoregressive process, and wrong ones are told from it: with a
    /// = 0.5, and b and the mean of w so chosen that mean and variance stay, only the
    /// autocorrelation is wrong; with b 10 % larger and the mean of w as much smaller, the variance
    /// is; with a mean of w 5 % larger, the mean is.
    #[test]
    fn frames_follow_the_autoregressive_process() {
        const N: usize = 1_000_000;
        let of = |others: &[(&str, Value)]| agree(&frames(&picture(others), N));
        assert_eq!(of(&[]), [true; 4]);
        let gain = 0.231_568 * 0.75_f64.sqrt();
        let mean = 0.519_914_7 * 0.5 / gain;
        let memory = of(&[
            ("correlation", 0.5.into()),
            ("gain", gain.into()),
            ("innovation_mean", mean.into()),
        ]);
        assert_eq!(memory, [true, true, false, false]);
        let wide = of(&[("gain", (1.1 * 0.1108).into()), ("innovation_mean", 0.52.into())]);
        assert!(!wide[1]);
        assert!(!of(&[("innovation_mean", 0.6006.into())])[0]);
    }

    /// Flows start stationary and out of step. The first frame of a flow has the moments of all
    /// frames (see `agree`), here with independent flows: standard errors are s/sqrt(n) and
    /// sqrt(2/n) of the variance. Its packet leaves one interval after a phase that is uniform on
    /// the interval: mean 3/2, standard error 0.2887/sqrt(n); the 1.2 % of flows whose first frame
    /// is empty start later.
    #[test]
    fn flows_start_stationary_and_out_of_step() {
        const FLOWS: u64 = 100_000;
        let n = FLOWS as f64;
        let kind = picture(&[]);
        let (mut firsts, mut phases) = (Vec::new(), Vec::new());
        for flow in 0..FLOWS {
            let mut stream = Streams::new(8, 0).numbered("video", flow);
            let burst = (kind.make)(&mut stream).next(&mut stream).unwrap();
            let intervals = burst.gap.seconds() / FRAME.seconds();
            assert!(intervals >= 1.0 - 1e-9);
            if intervals < 2.0 {
                phases.push(intervals);
                firsts.push(burst.size.bits() as f64 / 250_000.0);
            } else {
                firsts.push(0.0);
            }
        }
        let [mean, variance, ..] = statistics(&firsts);
        assert!((mean - 0.520_909).abs() < 5.0 * 0.231_568 / n.sqrt(), "{mean}");
        assert!((variance / 0.052_442_1 - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{variance}");
        let phase = phases.iter().sum::<f64>() / phases.len() as f64;
        assert!((phase - 1.5).abs() < 5.0 * 0.2887 / n.sqrt(), "{phase}");
        let empty = 1.0 - phases.len() as f64 / n;
        // Phi(-2.24519) = 0.012378.
        assert!((empty - 0.012_378).abs() < 5.0 * (0.0124 / n).sqrt(), "{empty}");
    }

    /// A source whose frames have `bits` bits, or alternately `bits` and as many below zero.
    fn regular(bits: f64, alternating: bool, line_rate: Rate) -> Video {
        let correlation = if alternating { -1.0 } else { 1.0 };
        let coder = Coder { pixels: bits, correlation, gain: 0.0, innovation_mean: 0.0 };
        let packets = Packets { payload: 1316, header: 40, line_rate };
        let (sent, free) = (Span::ZERO, Span::ZERO);
        let due = Span::from_ms(7);
        Video { coder, packets, interval: FRAME, lambda: 1.0, due, left: 0, sent, free }
    }

    /// Frames are cut at the MTU as in section 4.7 of the draft: 30,000 bit are 3750 B, which fill
    /// two packets of 1316 B and leave 1118 B for a third; each has 40 B more. What fills its
    /// packets needs no empty one, and bits fill up a byte.
    #[test]
    fn frames_are_cut_at_the_mtu() {
        let rate = Rate::from_bps(100_000_000);
        for (bits, sizes) in [
            (30_000.0, &[1356, 1356, 1158][..]),
            (2.0 * 1316.0 * 8.0, &[1356, 1356]),
            (2.0 * 1316.0 * 8.0 + 1.0, &[1356, 1356, 41]),
            (0.25, &[41]),
        ] {
            let mut stream = Streams::new(1, 0).named("video");
            let mut video = regular(bits, false, rate);
            for _frame in 0..3 {
                let mut size = || video.next(&mut stream).unwrap().size.bytes();
                assert!(sizes.iter().all(|expected| size() == *expected), "{bits}");
            }
        }
    }

    /// Packets of a frame leave one by one at its end, as in section 4.7: the first at the end of
    /// the frame's interval (here the phase of 7 ms and 1/F), the next when a line of 100 Mbit/s
    /// has sent 1356 B, 108.48 us later, and the next frame 1/F after the first.
    #[test]
    fn packets_of_a_frame_leave_one_by_one_at_its_end() {
        let mut stream = Streams::new(1, 0).named("video");
        let mut video = regular(30_000.0, false, Rate::from_bps(100_000_000));
        let packet = Span::from_ps(108_480_000);
        let mut gap = || video.next(&mut stream).unwrap().gap;
        assert_eq!([gap(), gap(), gap()], [Span::from_ms(7) + FRAME, packet, packet]);
        for _frame in 0..100 {
            assert_eq!([gap(), gap(), gap()], [FRAME - packet.times(2), packet, packet]);
        }
    }

    /// A frame that is not positive sends nothing for its interval, which passes all the same.
    #[test]
    fn frames_below_zero_send_nothing() {
        let mut stream = Streams::new(1, 0).named("video");
        let mut video = regular(8_000.0, true, Rate::from_bps(100_000_000));
        assert_eq!(video.next(&mut stream).unwrap().gap, Span::from_ms(7) + FRAME);
        for _frame in 0..100 {
            let burst = video.next(&mut stream).unwrap();
            assert_eq!((burst.gap, burst.size), (FRAME.times(2), Size::from_bytes(1040)));
        }
    }

    /// Frames longer than their interval follow each other at the rate of the line: 3870 B need
    /// 309.6 ms at 100 kbit/s, far more than an interval, so packets follow each other as the line
    /// sends them, 108.48 ms after one of 1356 B and 92.64 ms after one of 1158 B.
    #[test]
    fn frames_longer_than_their_interval_follow_each_other() {
        let slow = Rate::from_bps(100_000);
        let mut stream = Streams::new(1, 0).named("video");
        let mut video = regular(30_000.0, false, slow);
        let (full, rest) = (Span::from_us(108_480), Span::from_us(92_640));
        let mut gap = || video.next(&mut stream).unwrap().gap;
        assert_eq!([gap(), gap(), gap()], [Span::from_ms(7) + FRAME, full, full]);
        for _frame in 0..100 {
            assert_eq!([gap(), gap(), gap()], [rest, full, full]);
        }
        assert_eq!(video_rate(&[("line_rate", "100 kbit/s".into())]), 100_000.0);
    }

    fn video_rate(parameters: &[(&str, Value)]) -> f64 {
        read(&build, parameters).unwrap().mean_rate.unwrap().bps() as f64
    }

    /// The mean rate is that of the draft and of the paper. The default number of pixels is the
    /// nearest that gives 400,000 bit/s at 30 frames/s of m = 0.5199147 bit a pixel. On the wire,
    /// with Q the normal tail, frames of P pixels have a sum over j >= 0 of Q((8j/P - m)/s) bytes
    /// and a sum over k >= 0 of Q((8 * 1316 k/P - m)/s) packets: 400,879.8 bit/s in 1.767075
    /// packets of 40 B more each a frame, 417,843.8 bit/s. The picture of Maglaris et al. has
    /// 250,000 * 0.520909 bit a frame, and 4 bit more to whole bytes if it is positive (0.987622):
    /// 3,906,936 bit/s, the paper's 3.9 Mbit/s.
    #[test]
    fn the_mean_rate_is_that_of_the_draft_and_of_the_paper() {
        let pixels = 400_000.0 / 30.0 / 0.519_914_7_f64;
        assert_eq!(pixels.round(), 25_645.0);
        let rate = video(&[]).mean_rate.unwrap().bps() as f64;
        assert!((rate / 417_843.8 - 1.0).abs() < 5e-5, "{rate}");
        let rate = picture(&[]).mean_rate.unwrap().bps() as f64;
        assert!((rate / 3_906_936.0 - 1.0).abs() < 1e-5, "{rate}");
    }

    /// Impossible parameters are refused under their keys: no source runs for ever or panics.
    #[test]
    fn impossible_parameters_are_refused() {
        let wrong: [(&str, Value); 14] = [
            ("line_rate", "0 bit/s".into()),
            ("frames_per_second", 0.0.into()),
            ("frames_per_second", (-30.0).into()),
            ("frames_per_second", 2e6.into()),
            ("pixels", 0.into()),
            ("correlation", 1.0.into()),
            ("correlation", (-0.1).into()),
            ("gain", 0.0.into()),
            ("gain", (-0.1).into()),
            ("innovation_mean", (-0.572).into()),
            ("mtu", "40 B".into()),
            ("mtu", "0 B".into()),
            ("mtu", "65536 B".into()),
            ("frames", 30.0.into()),
        ];
        for (key, value) in wrong {
            let parameters = [("line_rate", "1 Gbit/s".into()), (key, value)];
            let problem = read(&build, &parameters).err().unwrap();
            assert_eq!(problem.path, key, "{}", problem.message);
        }
        assert_eq!(read(&build, &[]).err().unwrap().path, "line_rate");
    }
}
