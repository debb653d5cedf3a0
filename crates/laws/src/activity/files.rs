//! Transfers of files at a constant nominal rate, which take longer when the source is slowed.

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{ActivityKind, BuildActivity, check_mean, check_probability, check_rate};
use crate::activity::{Activity, Lasts, Phase, Session};

pub(super) const ENTRY: Entry<BuildActivity> = Entry {
    name: "files",
    summary: "Transfers of files at a constant nominal rate; slowed down, they take longer.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, section \
             6.2.1.3",
    example: r#"
        rate = "500 kbit/s"
        size = "20 kB"
    "#,
    fields: FilesParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of file transfers. Files start at the times of a Poisson process; one that would
    /// start while another is under way is not sent.
    pub struct FilesParameters {
        /// Nominal rate, all of each packet counted.
        rate: Rate, "COMSAT thesis, section 6.2.1.3";
        /// Size of a file on the wire; it is sent in whole packets.
        size: Size = "1 MB", "COMSAT thesis, section 6.2.1.3";
        /// Mean time between starts, exponential: a timer that runs from the start of each file,
        /// and is set again when it expires while the file is under way.
        gap: Span = "16 s", "COMSAT thesis, section 6.2.1.3";
        /// Probability that a file starts at once.
        start: f64 = 0.5, "COMSAT thesis, section 6.2.1.5";
    }
}

fn build(section: &Section<'_>) -> Result<ActivityKind, Problem> {
    let parameters = FilesParameters::read(section)?;
    check_rate(section, "rate", parameters.rate)?;
    check_mean(section, "gap", parameters.gap)?;
    check_probability(section, "start", parameters.start)?;
    if parameters.size.bytes() == 0 {
        return Err(section.fail("size", "is zero; allowed are sizes from 1 B"));
    }
    let bits = parameters.size.bytes() as f64 * 8.0;
    // The timer has no memory: after a file comes a whole mean of it.
    let cycle = bits / parameters.rate.bps() as f64 + parameters.gap.seconds();
    let peak_rate = parameters.rate;
    let make = move || -> Box<dyn Activity> { Box::new(Files::new(parameters.clone())) };
    let mean_rate = Rate::from_bps((bits / cycle) as u64);
    Ok(ActivityKind { make: Box::new(make), mean_rate, peak_rate, transfers: true })
}

struct Files {
    parameters: FilesParameters,
    state: State,
}

enum State {
    Fresh,
    Idle,
    Sending,
}

impl Files {
    fn new(parameters: FilesParameters) -> Self {
        Self { parameters, state: State::Fresh }
    }

    fn file(&mut self) -> Phase {
        self.state = State::Sending;
        let FilesParameters { rate, size, .. } = self.parameters;
        Phase { rate, lasts: Lasts::Volume(size.bytes()), session: Session::Begins }
    }

    fn pause(&mut self, time: Span) -> Phase {
        self.state = State::Idle;
        Phase { rate: Rate::from_bps(0), lasts: Lasts::For(time), session: Session::Idle }
    }

    fn draw(&self, stream: &mut Stream) -> Span {
        self.parameters.gap.scaled(stream.exponential())
    }
}

impl Activity for Files {
    fn next(&mut self, took: Span, stream: &mut Stream) -> Phase {
        match self.state {
            State::Fresh if stream.happens(self.parameters.start) => self.file(),
            State::Fresh => {
                let wait = self.draw(stream);
                self.pause(wait)
            }
            State::Idle => self.file(),
            State::Sending => {
                let mut timer = self.draw(stream);
                while timer <= took {
                    // A picosecond at least, so that this ends whatever is drawn.
                    timer = timer + self.draw(stream).max(Span::from_ps(1));
                }
                self.pause(timer - took)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    fn law() -> Files {
        Files::new(FilesParameters {
            rate: Rate::from_bps(500_000),
            size: Size::from_bytes(1_000_000),
            gap: Span::from_s(16),
            start: 1.0,
        })
    }

    /// Starts lie on one sequence of times, whatever each file took, as long as none falls into a
    /// transfer: slowed and unslowed sources can be compared on the same files.
    #[test]
    fn starts_do_not_depend_on_how_long_files_take() {
        let starts = |took: Span| {
            let (mut stream, mut law) = (Streams::new(5, 0).named("test"), law());
            let mut now = Span::ZERO;
            let mut starts = Vec::new();
            law.next(Span::ZERO, &mut stream);
            while starts.len() < 2000 {
                starts.push(now);
                let Lasts::For(pause) = law.next(took, &mut stream).lasts else {
                    panic!("a pause follows a file")
                };
                now = now + took + pause;
                law.next(pause, &mut stream);
            }
            starts
        };
        let (soon, late) = (starts(Span::from_ms(1)), starts(Span::from_s(40)));
        assert!(late[..500].iter().all(|start| soon.contains(start)), "other starts");
        assert!(late.windows(2).all(|pair| pair[1] - pair[0] > Span::from_s(40)));
    }

    /// A pause has a mean of 16 s by the memoryless timer, however long the file took: the offered
    /// load does not depend on transfers. 100,000 pauses: five standard errors are 0.25 s.
    #[test]
    fn pauses_are_a_mean_long_after_any_file() {
        for took in [Span::from_ms(1), Span::from_s(16), Span::from_s(100)] {
            let (mut stream, mut law) = (Streams::new(6, 0).named("test"), law());
            let mut sum = 0.0;
            for _ in 0..100_000 {
                law.next(Span::ZERO, &mut stream);
                let Lasts::For(pause) = law.next(took, &mut stream).lasts else {
                    panic!("a pause follows a file")
                };
                sum += pause.seconds();
            }
            assert!((sum / 1e5 - 16.0).abs() < 0.25, "{}", sum / 1e5);
        }
    }
}
