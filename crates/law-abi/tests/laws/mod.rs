//! Laws for the tests of libraries, each the least of its kind.

pub mod refused;

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, Verdict};

/// A drop policy that drops nothing.
pub struct Open;

impl DropPolicy for Open {
    fn admit(&mut self, _: &Arrival<'_>, _: &mut Stream) -> Verdict {
        Verdict::Accept
    }

    fn is_transparent(&self) -> bool {
        true
    }
}

/// A queue with a parameter of every type.
pub mod everything {
    use std::cell::RefCell;

    use forebay_laws::LinkFacts;
    use forebay_laws::queue::{BuildQueue, Queue};
    use forebay_parameters::{
        Choice, Entry, Length, Parameter, Parameters, Problem, Section, choice, parameters,
    };
    use forebay_units::{Frequency, Rate, Size, Span};

    pub const ENTRY: Entry<BuildQueue> = Entry {
        name: "everything",
        summary: "A queue with every parameter.",
        source: "-",
        example: "rate = \"1 bit/s\", size = \"1 B\", length = \"1 B\", each = \"1 /s\", \
                  spans = [], labels = []",
        fields: EverythingParameters::FIELDS,
        probes: &[],
        build: &build,
    };

    choice! {
        /// Two words.
        pub enum Word {
            /// The lower one.
            Low = "low",
            /// The higher one.
            High = "high",
        }
    }

    parameters! {
        /// All types.
        pub struct EverythingParameters {
            /// A number,
            /// over two lines.
            number: f64 = 0.5, "-";
            /// A whole number.
            whole: u32 = 3, "-";
            /// True or false.
            flag: bool = true, "-";
            /// A word.
            word: Word = "high", "-";
            /// A duration.
            span: Span = "5 ms", "-";
            /// A rate.
            rate: Rate, "-";
            /// A size.
            size: Size, "-";
            /// A queue length.
            length: Length, "-";
            /// A frequency.
            each: Frequency, "-";
            /// A text.
            label: String = "a \"b\"", "-";
            /// Durations.
            spans: Vec<Span>, "-";
            /// Queue lengths.
            lengths: Option<Vec<Length>>, "-";
            /// Texts.
            labels: Vec<String>, "-";
            /// A number, or none.
            maybe: Option<f64>, "-";
            /// A queue length, or none.
            limit: Option<Length>, "-";
        }
    }

    thread_local! {
        static READ: RefCell<String> = const { RefCell::new(String::new()) };
    }

    /// The parameters that were read last on this thread.
    pub fn read() -> String {
        READ.take()
    }

    fn list<T: Parameter>(values: &[T]) -> String {
        values.iter().map(Parameter::show).collect::<Vec<_>>().join(", ")
    }

    fn build(section: &Section<'_>, _: &LinkFacts) -> Result<Queue, Problem> {
        let p = EverythingParameters::read(section)?;
        let _ = p.word.word();
        let lengths = p.lengths.as_deref().map_or_else(|| "absent".to_owned(), list);
        READ.set(format!(
            "{} {} {} {:?} {} {} {} {} {} {} | {} | {} | {} | {:?} {:?}",
            p.number,
            p.whole,
            p.flag,
            p.word,
            p.span.show(),
            p.rate.show(),
            p.size.show(),
            p.length.show(),
            p.each.show(),
            p.label,
            list(&p.spans),
            lengths,
            p.labels.join(", "),
            p.maybe,
            p.limit
        ));
        Ok(Queue::under(super::Open))
    }
}

/// A drop policy that draws, and panics at 13 ps.
pub mod draws {
    use forebay_kernel::Stream;
    use forebay_laws::LinkFacts;
    use forebay_laws::queue::{BuildQueue, Queue};
    use forebay_network::{Arrival, DropPolicy, DropReason, Verdict};
    use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};

    pub const ENTRY: Entry<BuildQueue> = Entry {
        name: "draws",
        summary: "Drops by chance.",
        source: "-",
        example: "probability = 0.5",
        fields: DrawsParameters::FIELDS,
        probes: &[
            Probe { name: "drops", unit: "packets", meaning: "Drops." },
            Probe { name: "silent", unit: "1", meaning: "Nothing." },
        ],
        build: &build,
    };

    parameters! {
        /// Parameters.
        pub struct DrawsParameters {
            /// Probability of a drop.
            probability: f64, "-";
        }
    }

    struct Draws(f64, u32);

    fn build(section: &Section<'_>, _: &LinkFacts) -> Result<Queue, Problem> {
        let DrawsParameters { probability } = DrawsParameters::read(section)?;
        if probability > 1.0 {
            let message = format!("{probability} is not a probability");
            return Err(section.fail("probability", message));
        }
        Ok(Queue::under(Draws(probability, 0)))
    }

    impl DropPolicy for Draws {
        fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
            assert!(arrival.now.ps() != 13, "unlucky at {}", arrival.now.ps());
            if !stream.happens(self.0) {
                return Verdict::Accept;
            }
            self.1 += 1;
            Verdict::Drop(DropReason::Early)
        }

        fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
            visit("drops", f64::from(self.1));
            visit("unknown", 1.0);
        }
    }
}

/// A discipline with room for two packets, of which the last goes first and the oldest makes room.
pub mod swaps {
    use forebay_kernel::Stream;
    use forebay_laws::LinkFacts;
    use forebay_laws::queue::{BuildQueue, Queue};
    use forebay_network::{Backlog, Departure, Discard, DropReason, Packet, QueueDisc, Verdict};
    use forebay_parameters::{Entry, Problem, Section};
    use forebay_units::Time;

    pub const ENTRY: Entry<BuildQueue> = Entry {
        name: "swaps",
        summary: "Last in, first out.",
        source: "-",
        example: "",
        fields: &[],
        probes: &[],
        build: &build,
    };

    #[derive(Default)]
    pub struct Swaps(Vec<Packet>);

    fn build(_: &Section<'_>, _: &LinkFacts) -> Result<Queue, Problem> {
        Ok(Queue::Disc(Box::new(Swaps::default())))
    }

    impl QueueDisc for Swaps {
        fn enqueue(
            &mut self,
            packet: &Packet,
            _: Option<Time>,
            _: Time,
            _: &mut Stream,
            discard: &mut Discard<'_>,
        ) -> Verdict {
            if self.0.len() == 2 {
                discard(self.0.remove(0), DropReason::Overflow);
            }
            self.0.push(*packet);
            Verdict::Accept
        }

        fn dequeue(&mut self, _: Time, _: &mut Stream, _: &mut Discard<'_>) -> Option<Departure> {
            let marked = self.0.len() == 2;
            self.0.pop().map(|packet| Departure { packet, marked })
        }

        fn backlog(&self) -> Backlog {
            Backlog::default()
        }
    }
}

/// A control that writes what it is told.
pub mod control {
    use forebay_law_abi::abi;
    use forebay_laws::control::{BuildControl, ControlFactory};
    use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
    use forebay_parameters::{Entry, Problem, Section};
    use forebay_units::Time;

    pub const ENTRY: Entry<BuildControl> = Entry {
        name: "control",
        summary: "A control.",
        source: "-",
        example: "",
        fields: &[],
        probes: &[],
        build: &build,
    };

    #[derive(Default)]
    struct Told(Option<f64>);

    fn build(_: &Section<'_>) -> Result<ControlFactory, Problem> {
        Ok(Box::new(|| Box::new(Told::default())))
    }

    impl CongestionControl for Told {
        fn acknowledged(&mut self, _: &mut Window, _: &Ack) {}

        fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _: Time) {
            let factor = match signal {
                Signal::Loss => 0.5,
                Signal::Ecn => 0.8,
                Signal::Timeout { first: true } => 0.1,
                Signal::Timeout { first: false } => 0.05,
            };
            window.ssthresh = factor * flight;
        }

        fn needs(&self) -> ControlNeeds {
            ControlNeeds { samples: true, ..ControlNeeds::default() }
        }

        fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
            assert!(sample.now.seconds() == 7.0 && sample.prior_delivered.is_none());
            window.cwnd += sample.newly_delivered as f64;
            self.0 = sample.rtt.map(|rtt| sample.newly_delivered as f64 / rtt.seconds());
        }

        fn pacing_rate(&self) -> Option<f64> {
            self.0
        }
    }

    /// Facts of a sender with a window and a flight of 10 kB.
    pub fn facts(head: abi::Head) -> abi::ControlFacts {
        abi::ControlFacts {
            head,
            cwnd: 10_000.0,
            ssthresh: 20_000.0,
            smss: 1000.0,
            pacing_rate: 0.0,
            rtt: abi::NEVER,
            srtt: abi::NEVER,
            ece: 0,
            acked: 0.0,
            slow_start_limit: 0.0,
            flight: 10_000.0,
            signal: 0,
            newly_acked: 0,
            newly_delivered: 0,
            newly_lost: 0,
            delivered: 0,
            prior_delivered: 0,
            delivery_rate: -1.0,
            app_limited: 0,
            one_way: 0,
            prior_in_flight: 0,
            in_flight: 0,
            sent_in_flight: 0,
            lost_since: 0,
            recovering: 0,
            cwnd_limited: 0,
            paced: 0,
            selective: 0,
            newly_marked: 0,
            una: 0,
            max: 0,
            segment: 0,
            bytes: 0,
        }
    }
}

/// Three transfers of one random size, at exponential gaps of 1 ms.
pub mod traffic {
    use forebay_kernel::Stream;
    use forebay_laws::traffic::{BuildTraffic, TrafficKind};
    use forebay_network::{Burst, Traffic};
    use forebay_parameters::{Entry, Problem, Section};
    use forebay_units::{Size, Span};

    pub const ENTRY: Entry<BuildTraffic> = Entry {
        name: "traffic",
        summary: "Three bursts.",
        source: "-",
        example: "",
        fields: &[],
        probes: &[],
        build: &build,
    };

    struct Three(Size, u32);

    fn build(_: &Section<'_>) -> Result<TrafficKind, Problem> {
        let make = |stream: &mut Stream| Three(Size::from_bytes(1 + stream.below(1000)), 3);
        let kind = TrafficKind::new(make, Some(Size::from_bytes(1500)), None);
        Ok(TrafficKind { transfers: true, ..kind })
    }

    impl Traffic for Three {
        fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
            self.1 = self.1.checked_sub(1)?;
            let gap = Span::from_ms(1).scaled(stream.exponential());
            Some(Burst { gap, size: self.0 })
        }
    }
}

/// A wire that goes by the size of packets.
pub mod wire {
    use forebay_kernel::Stream;
    use forebay_laws::impairment::{BuildImpairment, Impairment, Passage};
    use forebay_network::{DropReason, Packet};
    use forebay_parameters::{Entry, Problem, Section};
    use forebay_units::{Span, Time};

    pub const ENTRY: Entry<BuildImpairment> = Entry {
        name: "wire",
        summary: "A wire.",
        source: "-",
        example: "",
        fields: &[],
        probes: &[],
        build: &build,
    };

    struct Wire;

    fn build(_: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
        Ok(Box::new(Wire))
    }

    impl Impairment for Wire {
        fn pass(&mut self, packet: &Packet, _: Time, _: &mut Stream) -> Passage {
            match packet.size {
                0 => Passage::Passes,
                1 => Passage::Delayed(Span::from_ps(1000)),
                2 => Passage::Lost(DropReason::Lost),
                3 => Passage::Lost(DropReason::Corrupted),
                4 => Passage::Doubled,
                _ => Passage::Lost(DropReason::Outage),
            }
        }

        fn keeps_order(&self) -> bool {
            false
        }
    }
}

/// A marker that colours by the round-trip time in ms, and sets CE.
pub mod marker {
    use forebay_kernel::Stream;
    use forebay_laws::LinkFacts;
    use forebay_laws::conditioner::BuildConditioner;
    use forebay_network::{Conditioner, Ecn, Packet, Verdict};
    use forebay_parameters::{Entry, Problem, Section};
    use forebay_units::{Size, Span, Time};

    pub const ENTRY: Entry<BuildConditioner> = Entry {
        name: "marker",
        summary: "A marker.",
        source: "-",
        example: "",
        fields: &[],
        probes: &[],
        build: &build,
    };

    struct Marker;

    fn build(_: &Section<'_>, _: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
        Ok(Box::new(Marker))
    }

    impl Conditioner for Marker {
        fn condition(&mut self, packet: &mut Packet, _: Time, _: &mut Stream) -> Verdict {
            packet.precedence = packet.srtt().map_or(0, |srtt| (srtt.ps() / 1_000_000_000) as u8);
            packet.set_dscp(46);
            *packet = packet.with_ecn(Ecn::Ce);
            Verdict::Accept
        }

        fn green_at(&self, size: Size, now: Time) -> Option<Time> {
            Some(now + Span::from_ps(size.bytes()))
        }

        fn uses_rtt(&self) -> bool {
            true
        }
    }
}

/// A queue that is something else with other parameters.
pub mod changes {
    use forebay_kernel::Stream;
    use forebay_laws::LinkFacts;
    use forebay_laws::queue::{BuildQueue, Queue};
    use forebay_network::{Arrival, DropPolicy, Verdict};
    use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

    pub const ENTRY: Entry<BuildQueue> = Entry {
        name: "changes",
        summary: "Now this, now that.",
        source: "-",
        example: "mode = 0",
        fields: ChangesParameters::FIELDS,
        probes: &[],
        build: &build,
    };

    parameters! {
        /// Parameters.
        pub struct ChangesParameters {
            /// 0: transparent; 1: a discipline; 2: not transparent.
            mode: u32, "-";
        }
    }

    struct Opaque;

    impl DropPolicy for Opaque {
        fn admit(&mut self, _: &Arrival<'_>, _: &mut Stream) -> Verdict {
            Verdict::Accept
        }
    }

    fn build(section: &Section<'_>, _: &LinkFacts) -> Result<Queue, Problem> {
        Ok(match ChangesParameters::read(section)?.mode {
            0 => Queue::under(super::Open),
            1 => Queue::Disc(Box::new(super::swaps::Swaps::default())),
            _ => Queue::under(Opaque),
        })
    }
}
