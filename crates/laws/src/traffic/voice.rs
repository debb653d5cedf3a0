//! Voice: a codec's packets, with or without silence suppression.

use forebay_kernel::Stream;
use forebay_kernel::math::{exp, exp_m1, ln_1p};
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Size, Span};

use super::{BuildTraffic, TrafficKind, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "voice",
    summary: "A voice codec's packets; with silence suppression, while the speaker talks.",
    source: "draft-babiarz-pcn-explicit-marking-02, sections 2.1, 3.1 and 3.2; ITU-T P.59 (ON and \
             OFF times)",
    example: r#"codec = "g711_20ms""#,
    fields: VoiceParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Voice codecs and their packets, 40 B of IP, UDP and RTP header included.
    pub enum Codec {
        /// G.711: 200 B every 20 ms, 80 kbit/s.
        G711Frame20 = "g711_20ms",
        /// G.711: 120 B every 10 ms, 96 kbit/s.
        G711Frame10 = "g711_10ms",
        /// G.729: 60 B every 20 ms, 24 kbit/s.
        G729Frame20 = "g729_20ms",
        /// The dual-rate codec of the draft, at its higher rate: 360 B every 20 ms, 144 kbit/s.
        DualRate = "dual_rate",
    }
}

impl Codec {
    /// Size and interval of its packets.
    const fn packets(self) -> (Size, Span) {
        let (bytes, ms) = match self {
            Self::G711Frame20 => (200, 20),
            Self::G711Frame10 => (120, 10),
            Self::G729Frame20 => (60, 20),
            Self::DualRate => (360, 20),
        };
        (Size::from_bytes(bytes), Span::from_ms(ms))
    }
}

choice! {
    /// The state of an ON/OFF source when its flow starts.
    pub enum Start {
        /// ON with the long-run probability on / (on + off).
        Stationary = "stationary",
        /// ON or OFF, equally likely.
        Either = "either",
        /// ON.
        On = "on",
        /// OFF.
        Off = "off",
    }
}

parameters! {
    /// Parameters of voice.
    pub struct VoiceParameters {
        /// Codec: size and interval of the packets.
        codec: Codec, "draft-babiarz-pcn-explicit-marking-02, section 3.1";
        /// Send only while ON; ON and OFF times are exponential. Otherwise always.
        silence_suppression: bool = false,
            "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Mean ON time, with silence suppression.
        on: Span = "1.004 s", "draft-babiarz-pcn-explicit-marking-02, section 3.2";
        /// Mean OFF time, with silence suppression.
        off: Span = "1.59 s", "draft-babiarz-pcn-explicit-marking-02, section 3.2";
        /// State when the flow starts, with silence suppression.
        start: Start = "stationary", "draft-babiarz-pcn-explicit-marking-02, section 2.1";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let VoiceParameters { codec, silence_suppression, on, off, start } =
        VoiceParameters::read(section)?;
    if on == Span::ZERO {
        return Err(section.fail("on", "is zero; allowed are times above 0"));
    }
    let (size, interval) = codec.packets();
    // Without OFF times there is no silence to suppress.
    let activity = (silence_suppression && off > Span::ZERO).then(|| Activity::new(on, off));
    let share = activity.as_ref().map_or(1.0, |activity| activity.share);
    let mean_rate = Some(rate_of(share * size.bits() as f64 / interval.seconds()));
    let make = move |stream: &mut Stream| Voice::new(size, interval, activity, start, stream);
    Ok(TrafficKind::new(make, Some(size), mean_rate))
}

/// A source that is ON and OFF in turn for exponential times: a Markov chain of two states.
#[derive(Clone, Copy)]
struct Activity {
    /// Long-run share of ON: on / (on + off).
    share: f64,
    /// Sum of the rates of both transitions, 1/on + 1/off, per second.
    relaxation: f64,
}

impl Activity {
    fn new(on: Span, off: Span) -> Self {
        let (on, off) = (on.seconds(), off.seconds());
        Self { share: on / (on + off), relaxation: 1.0 / on + 1.0 / off }
    }

    /// The probability of ON a time `later`, given the state now: P(ON) relaxes exponentially from
    /// 1 or 0 to the long-run share.
    fn on_after(&self, later: Span, start: Start) -> f64 {
        let memory = exp(-self.relaxation * later.seconds());
        match start {
            Start::Stationary => self.share,
            Start::Either => self.share + (0.5 - self.share) * memory,
            Start::On => self.share + (1.0 - self.share) * memory,
            Start::Off => self.share * (1.0 - memory),
        }
    }

    /// The source seen at ticks `interval` apart.
    fn seen_every(&self, interval: Span) -> Ticks {
        let moved = -exp_m1(-self.relaxation * interval.seconds());
        Ticks {
            end_of_on: -ln_1p(-(1.0 - self.share) * moved),
            end_of_off: -ln_1p(-self.share * moved),
        }
    }
}

/// A source of two states seen at the ticks of a clock is again a Markov chain, so it stays ON, and
/// OFF, for geometric numbers of ticks. Times of ON and OFF between ticks are in the probabilities.
struct Ticks {
    /// -ln P(ON at the next tick | ON at this).
    end_of_on: f64,
    /// -ln P(OFF at the next tick | OFF at this).
    end_of_off: f64,
}

impl Ticks {
    /// Draws the number of ticks in a row that a state lasts: the whole part of an exponential is
    /// geometric.
    fn run(end: f64, stream: &mut Stream) -> u64 {
        ((stream.exponential() / end) as u64).saturating_add(1)
    }
}

/// The codec's clock runs freely from a random phase; a packet leaves at each tick that finds the
/// source ON. So the mean rate is exactly activity times the codec's rate, and an ON time may send
/// nothing.
struct Voice {
    size: Size,
    interval: Span,
    /// Time of the first packet, until it has left.
    first: Option<Span>,
    /// Number of packets left of this run of ticks that find the source ON.
    left: u64,
    /// `None` without silence suppression.
    ticks: Option<Ticks>,
}

impl Voice {
    fn new(
        size: Size,
        interval: Span,
        activity: Option<Activity>,
        start: Start,
        stream: &mut Stream,
    ) -> Self {
        let phase = interval.scaled(stream.uniform());
        let ticks = activity.map(|activity| activity.seen_every(interval));
        let (mut first, mut left) = (phase, 0);
        if let (Some(activity), Some(ticks)) = (activity, &ticks) {
            if !stream.happens(activity.on_after(phase, start)) {
                first = phase + interval.times(Ticks::run(ticks.end_of_off, stream));
            }
            left = Ticks::run(ticks.end_of_on, stream) - 1;
        }
        Self { size, interval, first: Some(first), left, ticks }
    }
}

impl Traffic for Voice {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        let size = self.size;
        if let Some(gap) = self.first.take() {
            return Some(Burst { gap, size });
        }
        let Some(ticks) = &self.ticks else {
            return Some(Burst { gap: self.interval, size });
        };
        if self.left > 0 {
            self.left -= 1;
            return Some(Burst { gap: self.interval, size });
        }
        let silent = Ticks::run(ticks.end_of_off, stream);
        self.left = Ticks::run(ticks.end_of_on, stream) - 1;
        Some(Burst { gap: self.interval.times(silent.saturating_add(1)), size })
    }

    fn constant_gap(&self) -> Option<Span> {
        self.ticks.is_none().then_some(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Choice, Value};

    const ON: f64 = 1.004;
    const OFF: f64 = 1.590;

    fn voice(codec: &str, suppressed: bool) -> TrafficKind {
        let parameters = [("codec", codec.into()), ("silence_suppression", suppressed.into())];
        read(&build, &parameters).unwrap()
    }

    /// Numbers of ticks in the runs of ON and of OFF ticks of G.711 at 20 ms over `packets`.
    fn runs(packets: usize) -> (Vec<f64>, Vec<f64>) {
        let kind = voice("g711_20ms", true);
        let mut stream = Streams::new(3, 0).named("voice");
        let mut traffic = (kind.make)(&mut stream);
        let (mut on, mut off, mut run) = (Vec::new(), Vec::new(), 1.0);
        traffic.next(&mut stream).unwrap();
        for _ in 1..packets {
            let ticks = traffic.next(&mut stream).unwrap().gap.seconds() / 0.020;
            let silent = (ticks - 1.0).round();
            assert!((ticks - 1.0 - silent).abs() < 1e-6, "packets leave at ticks only: {ticks}");
            if silent == 0.0 {
                run += 1.0;
            } else {
                on.push(run);
                off.push(silent);
                run = 1.0;
            }
        }
        (on, off)
    }

    /// Mean rates are activity times peak. In the long run a share p = on / (on + off) of all
    /// instants is ON, and the clock does not know when: so p of its ticks send, and the mean rate
    /// is p times the codec's. The share of ON in a time H has variance 2 p (1 - p) / (r H), with r
    /// = 1/on + 1/off the decay of its covariance: for H = 1,000,000 s a standard error of 0.14 %
    /// of p. Five of these exclude a clock that starts anew with each ON time, which would send T /
    /// (2 on) = 1 % more at 20 ms.
    #[test]
    fn mean_rates_are_activity_times_peak() {
        const H: f64 = 1e6;
        let p = ON / (ON + OFF);
        let error = (2.0 * (1.0 - p) / p / ((1.0 / ON + 1.0 / OFF) * H)).sqrt();
        for (codec, bytes, peak) in [
            ("g711_20ms", 200.0, 80_000.0),
            ("g711_10ms", 120.0, 96_000.0),
            ("g729_20ms", 60.0, 24_000.0),
            ("dual_rate", 360.0, 144_000.0),
        ] {
            for (suppressed, mean, bound) in [(false, peak, 1e-5), (true, p * peak, 5.0 * error)] {
                let kind = voice(codec, suppressed);
                let stated = kind.mean_rate.unwrap().bps() as f64;
                assert!((stated - mean).abs() <= 0.5, "{codec}: {stated} is not {mean}");
                let lbts = if suppressed { H } else { 1e4 };
                let mut stream = Streams::new(1, 0).named("voice");
                let mut traffic = (kind.make)(&mut stream);
                let (mut time, mut bits) = (Span::ZERO, 0.0);
                loop {
                    let burst = traffic.next(&mut stream).unwrap();
                    time = time + burst.gap;
                    if time.seconds() >= lbts {
                        break;
                    }
                    assert_eq!(burst.size.bytes() as f64, bytes);
                    bits += 8.0 * bytes;
                }
                let rate = bits / lbts;
                assert!((rate / mean - 1.0).abs() < bound, "{codec}: {rate} is not {mean}");
            }
        }
    }

    /// Rates are those of the draft: its section 3.2 gives 31, 37.2 and 9.3 kbit/s for the codecs
    /// with silence suppression, and section 3.1 a ratio of 15 to 1 between the fastest and the
    /// slowest flow: 144 / (24 * 1.004 / 2.594) = 15.50.
    #[test]
    fn rates_are_those_of_the_draft() {
        let rate = |codec, suppressed| voice(codec, suppressed).mean_rate.unwrap().bps() as f64;
        assert!((rate("g711_20ms", true) - 31_000.0).abs() <= 500.0);
        assert!((rate("g711_10ms", true) - 37_200.0).abs() <= 50.0);
        assert!((rate("g729_20ms", true) - 9_300.0).abs() <= 50.0);
        let ratio = rate("dual_rate", false) / rate("g729_20ms", true);
        assert!((ratio - 15.50).abs() < 0.005, "{ratio}");
    }

    /// Talkspurts and silences are exponential with the given means. With r = 1/on + 1/off, P(ON at
    /// the next tick | ON) = p + (1 - p) e^(-r T) = s, so runs of ON ticks are geometric: mean
    /// 1/(1 - s), coefficient of variation sqrt(s) (0.99: nearly the 1 of the exponential), and
    /// P(run > 50 ticks, 1 s) = s^50; likewise OFF with p and 1 - p exchanged. Bounds are five
    /// standard errors: of a mean, 1/sqrt(n) of it at a coefficient of variation near 1; of that
    /// coefficient, 1/sqrt(n) as well (kurtosis 9); of a frequency, sqrt(f (1 - f) / n).
    #[test]
    fn talkspurts_and_silences_are_exponential() {
        let memory = exp(-(1.0 / ON + 1.0 / OFF) * 0.020);
        let p = ON / (ON + OFF);
        let (on, off) = runs(4_000_000);
        for (runs, stay) in [(on, p + (1.0 - p) * memory), (off, 1.0 - p + p * memory)] {
            let n = runs.len() as f64;
            assert!(n > 50_000.0);
            let mean = runs.iter().sum::<f64>() / n;
            let square = runs.iter().map(|run| (run - mean) * (run - mean)).sum::<f64>() / n;
            let long = runs.iter().filter(|run| **run > 50.0).count() as f64 / n;
            let tail = forebay_kernel::math::pow(stay, 50.0);
            let error = 5.0 / n.sqrt();
            assert!((mean * (1.0 - stay) - 1.0).abs() < error, "mean {mean}");
            assert!((square.sqrt() / mean / stay.sqrt() - 1.0).abs() < error, "{square}");
            assert!((long - tail).abs() < error * (tail * (1.0 - tail)).sqrt(), "{long}: {tail}");
        }
    }

    /// The chain is the ON/OFF process of the draft seen at the ticks of a free-running clock: here
    /// that process runs from one change of state to the next, with its exponential times drawn,
    /// and is looked at at the ticks. Both must pass from ON to ON, and from OFF to OFF, equally
    /// often: bounds are five standard errors of a difference of frequencies. Times of half a tick
    /// make most of the ON times invisible.
    #[test]
    fn the_chain_is_the_process_seen_at_ticks() {
        const TICKS: u32 = 1_000_000;
        for (on, off) in [(1.004, 1.590), (0.010, 0.010), (0.010, 0.030)] {
            let mut stream = Streams::new(9, 0).named("process");
            let (mut is_on, mut until, mut was_on) = (true, on * stream.exponential(), true);
            let mut seen = [[0.0; 2]; 2];
            for tick in 1..=TICKS {
                let now = f64::from(tick) * 0.020;
                while until <= now {
                    is_on = !is_on;
                    until += if is_on { on } else { off } * stream.exponential();
                }
                seen[usize::from(was_on)][usize::from(is_on)] += 1.0;
                was_on = is_on;
            }
            let activity = Activity::new(Span::from_seconds(on), Span::from_seconds(off));
            let ticks = activity.seen_every(Span::from_ms(20));
            for (state, end) in [ticks.end_of_off, ticks.end_of_on].into_iter().enumerate() {
                let n: f64 = seen[state].iter().sum();
                let (stays, expected) = (seen[state][state] / n, exp(-end));
                let bound = 5.0 * (expected * (1.0 - expected) / n).sqrt();
                assert!((stays - expected).abs() < bound, "{on} {off}: {stays} {expected}");
            }
        }
    }

    /// The first packet has a random phase and the state asked for. The first tick lies uniformly
    /// in the interval T. With on = off = T/2 the relaxation is 4/T, and the first tick, at U T,
    /// finds ON with probability 1/2 (stationary), 1/2 + 1/2 E e^(-4U) = 1/2 + (1 - e^-4)/8 =
    /// 0.62271 (ON), and 1/2 less that eighth = 0.37729 (OFF). With off = 3 T/2 the share of ON is
    /// 1/4, the relaxation a = 8/(3 T), and either state makes it 1/4 + 1/4 (1 - e^-a)/a = 0.33724.
    /// Bounds are five standard errors: a frequency over n flows has sqrt(p (1 - p) / n), a mean of
    /// uniforms 0.2887/sqrt(n).
    #[test]
    fn the_first_packet_has_a_random_phase_and_the_state_asked_for() {
        const FLOWS: u64 = 100_000;
        let n = FLOWS as f64;
        let eighth = (1.0 - exp(-4.0)) / 8.0;
        let either = 0.25 + 0.25 * (1.0 - exp(-8.0 / 3.0)) / (8.0 / 3.0);
        for (start, off, p) in [
            ("stationary", "10 ms", 0.5),
            ("on", "10 ms", 0.5 + eighth),
            ("off", "10 ms", 0.5 - eighth),
            ("either", "30 ms", either),
        ] {
            let parameters = [
                ("codec", "g711_20ms".into()),
                ("silence_suppression", true.into()),
                ("on", "10 ms".into()),
                ("off", off.into()),
                ("start", start.into()),
            ];
            let kind = read(&build, &parameters).unwrap();
            let (mut at_once, mut phases) = (0.0, 0.0);
            for flow in 0..FLOWS {
                let mut stream = Streams::new(2, 0).numbered("voice", flow);
                let gap = (kind.make)(&mut stream).next(&mut stream).unwrap().gap;
                at_once += f64::from(u8::from(gap < Span::from_ms(20)));
                phases += (gap.seconds() / 0.020).fract();
            }
            let bound = 5.0 * (p * (1.0 - p) / n).sqrt();
            assert!((at_once / n - p).abs() < bound, "{start}: {} is not {p}", at_once / n);
            assert!((phases / n - 0.5).abs() < 5.0 * 0.2887 / n.sqrt(), "{start}: {phases}");
        }
    }

    /// Only voice without silence suppression promises a constant gap, and keeps it: the others do
    /// not share the timer of a constant interval. An OFF time of zero is no silence.
    #[test]
    fn only_constant_voice_promises_a_constant_gap() {
        let zero = [
            ("codec", "g729_20ms".into()),
            ("silence_suppression", true.into()),
            ("off", "0 s".into()),
        ];
        let constant = [voice("g729_20ms", false), read(&build, &zero).unwrap()];
        for kind in constant {
            let mut stream = Streams::new(1, 0).named("voice");
            let mut traffic = (kind.make)(&mut stream);
            assert_eq!(traffic.constant_gap(), Some(Span::from_ms(20)));
            assert!(traffic.next(&mut stream).unwrap().gap <= Span::from_ms(20));
            for _ in 0..1000 {
                assert_eq!(traffic.next(&mut stream).unwrap().gap, Span::from_ms(20));
            }
            assert_eq!(kind.mean_rate.unwrap().bps(), 24_000);
        }
        let mut stream = Streams::new(1, 0).named("voice");
        assert_eq!((voice("g729_20ms", true).make)(&mut stream).constant_gap(), None);
    }

    /// Impossible parameters are refused under their keys: no slip runs as another source, and no
    /// source that never sends runs for ever.
    #[test]
    fn impossible_parameters_are_refused() {
        let codecs: Vec<&str> = Codec::WORDS.iter().map(|(word, _)| *word).collect();
        assert_eq!(codecs, ["g711_20ms", "g711_10ms", "g729_20ms", "dual_rate"]);
        let wrong: [(&str, Value, &str); 4] = [
            ("codec", "g711_20".into(), "did you mean \"g711_20ms\""),
            ("on", "0 s".into(), "times above 0"),
            ("start", "talking".into(), "stationary, either, on, off"),
            ("off", 1.59.into(), "no unit"),
        ];
        for (key, value, reason) in wrong {
            let codec = if key == "codec" { value.clone() } else { "dual_rate".into() };
            let problem = read(&build, &[("codec", codec), (key, value)]).err().unwrap();
            assert_eq!(problem.path, key);
            assert!(problem.message.contains(reason), "{}", problem.message);
        }
    }
}
