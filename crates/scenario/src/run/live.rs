//! A run that is watched: it continues when it is told to, and is looked at in between.
//!
//! What is looked at are counters, probes and series between events, which never change a run: the
//! result, with its digest, is that of [`Scenario::run`].

use forebay_elements::calls::{CallCount, CallResult};
use forebay_network::record::{Column, RecordTable};
use forebay_network::{DropReason, FlowCount, LinkCount};
use forebay_units::{Span, Time};
use serde_json::{Map, Value as Json, json};

use crate::read::names::FLOWS;
use crate::results::RunResult;
use crate::results::delays::group_delays;
use crate::results::elements::visit_calls;
use crate::results::series::Series;
use crate::run::control::{Control, RunOptions};
use crate::run::stopped::Stopped;
use crate::run::watch::Watcher;
use crate::run::{Run, Scenario};

/// Shares of the delays of a flow at which their distribution is given: each percentile, and what
/// lies beyond.
const SHARES: [f64; 104] = {
    let mut shares = [0.0; 104];
    let mut at = 0;
    while at < 100 {
        shares[at] = at as f64 / 100.0;
        at += 1;
    }
    shares[100] = 0.995;
    shares[101] = 0.999;
    shares[102] = 0.9999;
    shares[103] = 1.0;
    shares
};
/// Most events of a step, of which none may be about a packet.
const MAX_STEP_EVENTS: u64 = 100_000;

/// A run that continues when told to. It borrows its scenario and its control, which are kept by
/// who watches it.
pub struct LiveRun<'s> {
    scenario: &'s Scenario,
    options: RunOptions,
    seed: u64,
    run: Run<'s>,
    interval: Span,
    over: bool,
    /// Samples that were given already.
    given: usize,
    /// Observer of each packet, if there is one.
    watcher: Option<Watcher>,
    /// Drops of each link in the warm-up, by reason, once it is over.
    early: Vec<Map<String, Json>>,
    /// Groups of calls: the name of the table of each, and at each sample the share of new calls
    /// that have been blocked since counting began.
    blocking: Vec<(String, Vec<f64>)>,
}

impl<'s> LiveRun<'s> {
    /// Wire the network of `scenario`, to be sampled about `samples` times. With `watched`, packets
    /// can be seen one by one, which takes time.
    ///
    /// # Errors
    /// If it exceeds the limits of `options`.
    pub fn begin(
        scenario: &'s Scenario,
        options: &RunOptions,
        control: &'s Control,
        (samples, watched): (u64, bool),
    ) -> Result<Self, Stopped> {
        let (mut run, seed) = scenario.wired(scenario.plan(None)?, options, control)?;
        let interval = Span::from_ps((run.plan.parameters.duration.ps() / samples.max(1)).max(1));
        run.series = Some(Series::new(interval, &run.plan, &run.wired));
        let options = options.clone();
        let watcher = watched.then(|| Watcher::of(&run.plan));
        if let Some(watcher) = &watcher {
            run.wired.network.attach(Box::new(watcher.clone()));
        }
        let calls = run.plan.flows.iter().filter(|flow| flow.has_calls());
        let blocking = calls.map(|flow| (table_of(&flow.name), Vec::new())).collect();
        let early = vec![Map::new(); run.plan.links.len()];
        let (over, given) = (false, 0);
        Ok(Self { scenario, options, seed, run, interval, over, given, watcher, early, blocking })
    }

    /// Continue for about `events` events, at most to the next sample; whether that was reached, or
    /// the end.
    ///
    /// # Errors
    /// If the run exceeds its limits.
    pub fn advance(&mut self, events: u64) -> Result<bool, Stopped> {
        self.run.chunk = events.max(1);
        self.keep_early();
        self.over = self.over || self.run.advance()?;
        if self.run.arrived {
            self.sample_blocking();
        }
        if self.run.arrived && !self.over {
            // Where the end is reached, that is said at once.
            self.over = self.run.stop >= self.end() && self.run.advance()?;
        }
        Ok(self.over || self.run.arrived)
    }

    /// Keep what was dropped in the warm-up: where the run continues, counting begins anew.
    fn keep_early(&mut self) {
        let warm_up = Time::ZERO + self.run.plan.parameters.warm_up;
        if self.run.arrived && !self.run.warm && self.run.stop >= warm_up {
            let links = &self.run.wired.network.counters().links;
            self.early = links.iter().map(drops_of).collect();
        }
    }

    /// Note the share of calls that have been blocked, if a sample was taken.
    fn sample_blocking(&mut self) {
        let rows = self.run.series.as_ref().map_or(0, Series::rows);
        if self.blocking.iter().all(|(_, shares)| shares.len() >= rows) {
            return;
        }
        let Self { run, blocking, .. } = self;
        visit_calls(&run.plan, &mut run.wired, |at, own| {
            let table = table_of(&run.plan.flows[at].name);
            let shares = blocking.iter_mut().find(|(name, _)| *name == table);
            let (_, shares) = shares.expect("every group of calls has shares");
            let lost: u64 = own.iter().map(CallCount::lost).sum();
            let offered: u64 = own.iter().map(CallCount::offered).sum();
            // Of no call there is no share.
            let share = if offered == 0 { f64::NAN } else { lost as f64 / offered as f64 };
            shares.resize(rows, share);
        });
    }

    /// Continue to the next event that is about a packet, at most to the end: what happened, as
    /// JSON. Of a run that is not watched, this is one event, and nothing is said of it.
    ///
    /// # Errors
    /// If the run exceeds its limits.
    pub fn step(&mut self) -> Result<Json, Stopped> {
        let mut arrived = false;
        if let Some(watcher) = &self.watcher {
            watcher.lock().listen();
        }
        for _ in 0..MAX_STEP_EVENTS {
            arrived |= self.advance(1)?;
            let heard = self.watcher.as_ref().is_none_or(|watcher| watcher.lock().has_heard());
            if self.over || heard {
                break;
            }
        }
        let facts = self.watcher.as_ref().map(|watcher| watcher.lock().heard());
        let events = self.run.counted.0;
        Ok(json!({ "facts": facts.unwrap_or_default(), "events": events, "arrived": arrived }))
    }

    /// Packets that crossed a link, and drops, since this was asked last, as JSON: columns in the
    /// order of links and groups in [`LiveRun::layout`], thinned to one in so many. Null if the
    /// run is not watched.
    #[must_use]
    pub fn packets(&mut self) -> Json {
        self.watcher.as_ref().map_or(Json::Null, |watcher| watcher.lock().take())
    }

    /// The distribution of the one-way delays of each group of flows, as counted, as JSON: the
    /// delays in seconds that so many shares of all do not exceed.
    #[must_use]
    pub fn delays(&mut self) -> Json {
        let groups =
            group_delays(&self.run.plan, &mut self.run.wired).into_iter().map(|(delays, most)| {
                let seconds = |ps| Span::from_ps(ps).seconds();
                let quantiles = || delays.quantiles(SHARES, most.ps()).map(seconds);
                delays.least().map_or(Json::Null, |_| json!(quantiles().as_slice()))
            });
        let groups: Vec<_> = groups.collect();
        json!({ "shares": SHARES.as_slice(), "groups": groups, "since_s": self.since().seconds() })
    }

    /// Time at which counting began: the start, or the end of the warm-up once that is reached.
    fn since(&self) -> Time {
        let warm_up = Time::ZERO + self.run.plan.parameters.warm_up;
        if self.run.warm { warm_up } else { Time::ZERO }
    }

    /// Returns true if the end was reached.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The nodes, links and flows of the network, as JSON: what joins what, and which way flows
    /// take.
    #[must_use]
    pub fn layout(&self) -> Json {
        let plan = &self.run.plan;
        let name = |link: &usize| plan.links[*link].name.clone();
        let names = |way: &[usize]| -> Vec<String> { way.iter().map(name).collect() };
        let links = plan.links.iter().map(|link| {
            json!({
                "name": link.name,
                "from": link.from,
                "to": link.to,
                "rate_bps": link.rate.bps(),
                "delay_s": link.delay.seconds(),
                "ring": link.inner.is_some(),
            })
        });
        let flows = plan.flows.iter().map(|flow| {
            json!({
                "name": flow.name,
                "transport": flow.kind,
                "count": flow.count,
                "there": names(&flow.there),
                "back": names(&flow.back),
            })
        });
        json!({
            "links": links.collect::<Vec<_>>(),
            "flows": flows.collect::<Vec<_>>(),
            "aggregates": plan.aggregates.iter().map(|it| &it.name).collect::<Vec<_>>(),
            "duration_s": plan.parameters.duration.seconds(),
            "warm_up_s": plan.parameters.warm_up.seconds(),
        })
    }

    /// Counters since the warm-up, or in it: of each link, each group of flows and each group of
    /// calls, as JSON; drops of links in the warm-up apart, once that is over. At a sample or at
    /// the end.
    #[must_use]
    pub fn counted(&mut self) -> Json {
        let since = self.since();
        let plan = &self.run.plan;
        let now = self.run.stop;
        // What a link that changes has offered since the sample before, as a rate.
        let before = Time::from_ps(now.ps().saturating_sub(self.interval.ps()));
        let passed = now.since(before).seconds();
        let counters = self.run.wired.network.counters();
        let counts = counters.links.iter().zip(&self.early);
        let links = plan.links.iter().zip(counts).map(|(link, (count, early))| {
            let marks = count.total(|packets| packets.marked + packets.threshold_marked);
            let rate = match link.offered((before, now)) {
                Some(bits) if passed > 0.0 => bits / passed,
                _ => link.rate.bps() as f64,
            };
            json!({
                "name": link.name,
                "drops": drops_of(count),
                "early_drops": early,
                "marks": marks,
                "rate_bps": rate,
            })
        });
        let links: Vec<_> = links.collect();
        let mut first = 0;
        let flows = plan.flows.iter().map(|flow| {
            let own = &counters.flows[first..first + flow.count as usize];
            first += flow.count as usize;
            let sum = |of: fn(&FlowCount) -> u64| own.iter().map(of).sum::<u64>();
            json!({
                "name": flow.name,
                "sent_packets": sum(|flow| flow.sent.packets),
                "delivered_packets": sum(|flow| flow.delivered.packets),
                "dropped_packets": sum(|flow| flow.dropped.packets),
                "marked_packets": sum(|flow| flow.marked),
                "retransmissions": sum(|flow| flow.retransmissions),
                "timeouts": sum(|flow| flow.timeouts),
            })
        });
        let flows: Vec<_> = flows.collect();
        json!({
            "time_s": now.seconds(),
            "since_s": since.seconds(),
            "events": self.run.counted.0,
            "packet_hops": self.run.counted.1,
            "links": links,
            "flows": flows,
            "calls": self.run.tables_of(now.since(since)).rows::<CallResult>(),
        })
    }

    /// The samples taken since this was called last: columns of numbers by table, as JSON. What has
    /// no value is null.
    #[must_use]
    pub fn samples(&mut self) -> Json {
        let series = self.run.series.as_ref().expect("a run that is watched is sampled");
        let first = std::mem::replace(&mut self.given, series.rows());
        let mut tables = series.tables_from(first);
        for (name, shares) in &self.blocking {
            let own = tables.iter_mut().filter(|table| table.name == *name);
            let column = || ("blocking_ratio".to_owned(), Column::Float(shares[first..].to_vec()));
            own.for_each(|table| table.columns.push(column()));
        }
        json_tables(tables)
    }

    /// The result of the run.
    ///
    /// # Panics
    /// If it is not over.
    #[must_use]
    pub fn result(&mut self) -> RunResult {
        assert!(self.over, "a run has a result when it is over");
        let counted = self.run.counted;
        let mut result = self.run.result(counted);
        self.scenario.sign(&mut result, self.seed, &self.options);
        result
    }

    fn end(&self) -> Time {
        Time::ZERO + self.run.plan.parameters.duration
    }

    /// Simulated time of the sample that was reached, or is to be reached next.
    #[must_use]
    pub fn reached(&self) -> Time {
        self.run.stop
    }
}

/// The name of the series of a group of flows.
fn table_of(flow: &str) -> String {
    format!("series/{FLOWS}.{flow}")
}

/// Packets that a link dropped, by reason, without reasons of which there are none.
fn drops_of(count: &LinkCount) -> Map<String, Json> {
    let numbers = DropReason::ALL
        .into_iter()
        .map(|reason| (reason, count.total(|packets| packets.dropped[reason as usize])));
    let some = numbers.filter(|(_, number)| *number > 0);
    some.map(|(reason, number)| (reason.name().to_owned(), json!(number))).collect()
}

fn json_tables(tables: Vec<RecordTable>) -> Json {
    let columns = |table: RecordTable| -> Map<String, Json> {
        let value = |column| match column {
            Column::Float(values) => json!(values),
            Column::Whole(values) => json!(values),
            Column::Word(words) => json!(words),
            Column::Name(names) => json!(names),
            Column::Byte(bytes) => json!(bytes),
        };
        table.columns.into_iter().map(|(name, column)| (name, value(column))).collect()
    };
    let tables = tables.into_iter().map(|mut table| {
        let name = std::mem::take(&mut table.name);
        (name, Json::Object(columns(table)))
    });
    Json::Object(tables.collect())
}
