//! Links that change: rates and delays over time, and traces of opportunities for delivery.

use forebay_parameters::{DataFile, Entry, Fault, Parameters, Problem, Section, parameters};
use forebay_units::quantity::{show_rate, show_span};
use forebay_units::{PS_PER_S, Rate, Span};

use super::kind::{Link, LinkKind, LinkReader};
use super::schedule::{Capacity, DelaySchedule, OPPORTUNITY_BYTES, Opportunities, RateSchedule};
use super::variable::Variable;
use crate::bounds::{MAX_DELAY, MAX_RATE_BPS};
use crate::inner::{InnerForm, InnerSection};

parameters! {
    /// Changes of a direction of a link over time.
    pub struct ChangeParameters {
        /// A file of rates over time, and of propagation delays if it has a column of these: CSV
        /// with the columns `time_s`, `rate_bps` and `delay_s`, in any order, the last optional.
        /// Each row holds until the next; before the first, `rate` and `delay` do.
        schedule: Option<DataFile>, "-";
        /// After what time `rate_steps` or the schedule begin again; they do not if left out.
        repeat: Option<Span>, "-";
        /// A file of opportunities for delivery in the format of mahimahi: on each line a time in
        /// whole milliseconds at which 1500 B can be delivered, in order; the last is when they
        /// begin again. Waiting packets share an opportunity, and what no packet uses is lost.
        /// In place of a rate, which then only queue laws see: the mean of the trace if left out.
        trace: Option<DataFile>, "Netravali et al., USENIX ATC 2015, section 4; mm-link(1)";
    }
}

parameters! {
    /// A rate from a time on.
    pub struct RateStepParameters {
        /// Time from which on the step holds, from the start of the run, or of a period if steps
        /// `repeat`.
        at: Span, "-";
        /// The rate from then on; 0 stalls the link.
        rate: Rate, "-";
    }
}

/// Links that change in the table of kinds.
pub const ENTRY: Entry<LinkKind> = Entry {
    name: "variable",
    summary: "A link whose rate, delay or opportunities for delivery change over time.",
    source: "Netravali et al., USENIX ATC 2015, section 4",
    example: "rate = \"1 Mbit/s\"\nrate_steps = [{ at = \"1 s\", rate = \"500 kbit/s\" }]",
    fields: ChangeParameters::FIELDS,
    probes: &[],
    build: LinkKind {
        in_place: true,
        sections: &[InnerSection {
            key: "rate_steps",
            summary: "Rates from given times on, of a link or its way back: a list of such \
                      tables. What is left of a packet in transmission continues at the new rate.",
            fields: RateStepParameters::FIELDS,
            form: InnerForm::List,
        }],
        ..LinkKind::new(&read)
    },
};

fn read(link: &LinkReader<'_, '_>) -> Result<Option<Box<dyn Link>>, Problem> {
    let section = link.own;
    let ChangeParameters { schedule, repeat, trace } =
        ChangeParameters::read_fields(section, ChangeParameters::FIELDS)?;
    let steps = read_steps(section)?;
    let given = [("rate_steps", !steps.is_empty()), ("schedule", schedule.is_some())];
    let mut given = given.into_iter().chain([("trace", trace.is_some())]).filter(|way| way.1);
    let way = given.next().map(|(key, _)| key);
    if let (Some(first), Some((other, _))) = (way, given.next()) {
        let message = format!("there is {first} already; a link changes in one way");
        return Err(section.fail(other, message));
    }
    if repeat.is_some() && !matches!(way, Some("rate_steps" | "schedule")) {
        return Err(section.fail("repeat", "there are no rate_steps and no schedule to repeat"));
    }
    let variable = match (way, schedule, trace) {
        (None, ..) => return Ok(None),
        (Some(_), _, Some(trace)) => of_trace(link, &trace)?,
        (Some(key), Some(file), None) => {
            let rows = rows(&file).map_err(|message| section.fail(key, message))?;
            of_rows(link, repeat, (key, rows))?
        }
        (Some(key), None, None) => of_rows(link, repeat, (key, steps))?,
    };
    Ok(Some(Box::new(variable)))
}

/// A time, the rate from then on and the delay, if that is given.
type Row = (Span, Rate, Option<Span>);

fn read_steps(section: &Section<'_>) -> Result<Vec<Row>, Problem> {
    let mut steps: Vec<Row> = Vec::new();
    for inner in section.sections("rate_steps")? {
        let step = RateStepParameters::read(&inner)?;
        if let Some((last, ..)) = steps.last().filter(|(last, ..)| *last >= step.at) {
            let (at, last) = (show_span(step.at), show_span(*last));
            return Err(
                inner.fail("at", format!("{at} comes after {last}; times must be in order"))
            );
        }
        if step.rate.bps() > MAX_RATE_BPS {
            let top = show_rate(Rate::from_bps(MAX_RATE_BPS));
            return Err(inner.fail("rate", format!("is too fast; allowed are up to {top}")));
        }
        check_time(step.at).map_err(|message| inner.fail("at", message))?;
        steps.push((step.at, step.rate, None));
    }
    Ok(steps)
}

/// The link under rates and delays in `rows`, with what holds before them.
fn of_rows(
    link: &LinkReader<'_, '_>,
    repeat: Option<Span>,
    (key, rows): (&str, Vec<Row>),
) -> Result<Variable, Problem> {
    let (section, rate, delay) = (link.own, link.rate.or(link.there), link.delay);
    let (mut rates, mut delays) = (Vec::new(), Vec::new());
    let first = rows.first().filter(|(at, ..)| *at == Span::ZERO);
    if first.is_none() {
        rates.push((Span::ZERO, link.rate()?));
    }
    if first.is_none_or(|(.., delay)| delay.is_none()) {
        delays.push((Span::ZERO, delay));
    }
    for (at, rate, delay) in rows {
        rates.push((at, rate));
        delays.extend(delay.map(|delay| (at, delay)));
    }
    if rates.iter().all(|(_, rate)| rate.bps() == 0) {
        return Err(section.fail(key, "has no rate above 0; the link would never send"));
    }
    let (last, _) = rates[rates.len() - 1];
    if let Some(period) = repeat.filter(|period| *period <= last) {
        let (period, last) = (show_span(period), show_span(last));
        let message = format!("{period} is not after the last change, at {last}");
        return Err(section.fail("repeat", message));
    }
    check_time(repeat.unwrap_or_default()).map_err(|message| section.fail("repeat", message))?;
    let nominal = rate.unwrap_or(rates[0].1);
    if rate.is_none() && nominal.bps() == 0 {
        let message = "is missing, and the first rate is 0; queue laws need one above 0";
        return Err(section.fail("rate", message));
    }
    let delay = delays[0].1;
    let capacity = Capacity::Rates(RateSchedule::new(&rates, repeat));
    Ok(Variable { rate: nominal, delay, capacity, delays: DelaySchedule::new(delays, repeat) })
}

/// The link under a trace of opportunities.
fn of_trace(link: &LinkReader<'_, '_>, trace: &DataFile) -> Result<Variable, Problem> {
    let times = opportunities(trace).map_err(|message| link.own.fail("trace", message))?;
    let period = times.last().map_or(1, |last| u128::from(last.ps()));
    let bits = u128::from(8 * OPPORTUNITY_BYTES) * times.len() as u128;
    let mean = (bits * u128::from(PS_PER_S) / period).clamp(1, u128::from(MAX_RATE_BPS));
    let mean = Rate::from_bps(u64::try_from(mean).unwrap_or(MAX_RATE_BPS));
    let delays = DelaySchedule::new(vec![(Span::ZERO, link.delay)], None);
    let capacity = Capacity::Opportunities(Opportunities::new(&times));
    Ok(Variable { rate: link.rate.unwrap_or(mean), delay: link.delay, capacity, delays })
}

/// Times beyond this lie outside the clock.
const LAST_TIME: Span = MAX_DELAY;

fn check_time(at: Span) -> Result<(), String> {
    if at <= LAST_TIME {
        return Ok(());
    }
    Err(format!("{} is too long; allowed are up to {}", show_span(at), show_span(LAST_TIME)))
}

/// The opportunities of a trace in the format of mahimahi.
fn opportunities(trace: &DataFile) -> Result<Vec<Span>, String> {
    let mut times: Vec<Span> = Vec::new();
    for (line, text) in trace.lines() {
        let wrong = |read: &str, what: &str| {
            trace.wrong(line, Fault::quoting(format!("{read} {what}"), format!("it {what}")))
        };
        let ms: u64 = text
            .parse()
            .map_err(|_| wrong(&format!("\"{text}\""), "is not a time in whole milliseconds"))?;
        let at = Span::from_ms(1).times(ms);
        check_time(at).map_err(|quoting| {
            let plain = format!("a time is too long; allowed are up to {}", show_span(LAST_TIME));
            trace.wrong(line, Fault::quoting(quoting, plain))
        })?;
        if times.last().is_some_and(|last| *last > at) {
            let what = "comes after a later time; times must be in order";
            return Err(wrong(&format!("{ms} ms"), what));
        }
        times.push(at);
    }
    match times.last() {
        None => Err(trace.wrong(1, "there is no opportunity; a trace has one on each line")),
        Some(&Span::ZERO) => Err(trace.wrong(1, "all opportunities are at 0; a trace takes time")),
        Some(_) => Ok(times),
    }
}

/// The columns of a schedule.
const COLUMNS: [&str; 3] = ["time_s", "rate_bps", "delay_s"];

/// The rows of a schedule as CSV.
fn rows(file: &DataFile) -> Result<Vec<Row>, String> {
    let mut lines = file.lines();
    let (line, header) = lines.next().unwrap_or((1, ""));
    let columns =
        DataFile::columns(header, &COLUMNS, 2).map_err(|fault| file.wrong(line, fault))?;
    let mut rows: Vec<Row> = Vec::new();
    for (line, text) in lines {
        let row = row(text, &columns).map_err(|fault| file.wrong(line, fault))?;
        if rows.last().is_some_and(|(last, ..)| *last >= row.0) {
            return Err(file.wrong(line, "time_s is not after that of the row before"));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(file.wrong(line, "there are no rows below the names of the columns"));
    }
    Ok(rows)
}

fn row(text: &str, columns: &[usize]) -> Result<Row, Fault> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    if cells.len() != columns.len() {
        return Err(format!("{} cells for {} columns", cells.len(), columns.len()).into());
    }
    let mut values = [0.0; COLUMNS.len()];
    for (cell, column) in cells.into_iter().zip(columns) {
        let value: f64 = cell.parse().unwrap_or(f64::NAN);
        let (name, most) = match column {
            0 => (COLUMNS[0], LAST_TIME.seconds()),
            1 => (COLUMNS[1], MAX_RATE_BPS as f64),
            _ => (COLUMNS[2], MAX_DELAY.seconds()),
        };
        if !(0.0..=most).contains(&value) {
            let allowed = format!("allowed are numbers from 0 to {most}");
            let quoting = format!("{name} is \"{cell}\"; {allowed}");
            return Err(Fault::quoting(quoting, format!("{name}: {allowed}")));
        }
        values[*column] = value;
    }
    let [time, rate, delay] = values;
    let delay = columns.contains(&2).then(|| Span::from_seconds(delay));
    Ok((Span::from_seconds(time), Rate::from_bps((rate + 0.5) as u64), delay))
}
