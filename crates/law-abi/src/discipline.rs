//! Queues whose packets a law from outside orders itself, by their handles.

use forebay_kernel::Stream;
use forebay_laws::queue::{BuildQueue, Queue, fits, fullness};
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropReason, Ecn, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length};
use forebay_units::Time;

use crate::abi::{QueueFacts, decision, flag, verdict};
use crate::host::Dropped;
use crate::law::{OuterLaw, signed};
use crate::queue::{NO_FACTS, entry_of, verdict_of};
use crate::raw::Instance;
use crate::shown::{NO_PACKET, packet_facts, since};

/// The entry of a law that orders packets.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildQueue> {
    entry_of(law, |instance, limit| Queue::Disc(Box::new(Ordered::new(instance, limit))))
}

/// Packets in places whose numbers are their handles.
#[derive(Default)]
struct Places {
    places: Vec<Option<(Time, Packet)>>,
    free: Vec<usize>,
    backlog: Backlog,
}

impl Places {
    fn put(&mut self, packet: &Packet, now: Time) -> usize {
        self.backlog.add(packet);
        match self.free.pop() {
            Some(place) => {
                self.places[place] = Some((now, *packet));
                place
            }
            None => {
                self.places.push(Some((now, *packet)));
                self.places.len() - 1
            }
        }
    }

    /// Says which handles packets have that wait: the first of them.
    fn allowed(&self) -> String {
        const SHOWN: usize = 8;
        let held = self.places.iter().enumerate().filter(|(_, place)| place.is_some());
        let held: Vec<String> = held.map(|(handle, _)| handle.to_string()).collect();
        let first = held.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        match held.len() {
            0 => "no packet waits".to_owned(),
            1..=SHOWN => format!("allowed are those of packets that wait: {first}"),
            more => format!("allowed are those of the {more} packets that wait: {first} ..."),
        }
    }

    fn take(&mut self, handle: i64) -> Option<Packet> {
        let place = usize::try_from(handle).ok()?;
        let (_, packet) = self.places.get_mut(place)?.take()?;
        self.free.push(place);
        self.backlog.remove(packet.queued_info());
        Some(packet)
    }
}

struct Ordered {
    instance: Instance,
    limit: Option<Length>,
    facts: QueueFacts,
    waiting: Places,
    dropped: Dropped,
    /// Time from which on it may give a packet, as it has told when it gave none.
    ready: Time,
}

impl Ordered {
    fn new(instance: Instance, limit: Option<Length>) -> Self {
        let (waiting, dropped) = (Places::default(), Vec::new());
        Self { instance, limit, facts: NO_FACTS, waiting, dropped, ready: Time::NEVER }
    }

    /// Have the law decide, and hand what it drops to `discard`; `arriving` is the packet that it
    /// decides on, which it may not drop in this way.
    fn ask(
        &mut self,
        decision: usize,
        stream: &mut Stream,
        arriving: Option<i64>,
        discard: &mut Discard<'_>,
    ) -> i32 {
        let code = self.instance.decide_dropping(
            decision,
            &mut self.facts,
            Some(stream),
            Some(&mut self.dropped),
        );
        for (handle, reason) in std::mem::take(&mut self.dropped) {
            if Some(handle) == arriving {
                self.refuse(decision, "dropped the packet that arrives; allowed is a verdict");
            }
            let Some(Verdict::Drop(reason)) = verdict_of(reason) else {
                let told = format!("dropped a packet with verdict {reason}; allowed are 2 to 4");
                self.refuse(decision, &told)
            };
            let Some(packet) = self.waiting.take(handle) else {
                let told = format!("dropped handle {handle}; {}", self.waiting.allowed());
                self.refuse(decision, &told)
            };
            discard(packet, reason);
        }
        code
    }

    #[cold]
    fn refuse(&self, decision: usize, told: &str) -> ! {
        self.instance.end_run(decision, self.facts.head.now, told)
    }

    fn note_backlog(&mut self, now: Time) {
        self.facts.head.now = signed(now.ps());
        self.facts.waiting_packets = i64::from(self.waiting.backlog.packets);
        self.facts.waiting_bytes = signed(self.waiting.backlog.bytes);
    }

    /// Ask from when on it may give a packet, having given none.
    fn ask_ready(&mut self, now: Time) {
        self.facts.time = crate::abi::NEVER;
        self.instance.decide(decision::READY_AT, &mut self.facts, None);
        self.ready = ready_time(&self.instance, decision::READY_AT, self.facts.time, now);
    }
}

/// The time that a law has written, which must be later than `now`.
pub(crate) fn ready_time(instance: &Instance, decision: usize, time: i64, now: Time) -> Time {
    if time == crate::abi::NEVER {
        return Time::NEVER;
    }
    match u64::try_from(time).map(Time::from_ps) {
        Ok(time) if time > now => time,
        _ => {
            let told = format!("wrote time {time} ps; allowed are times after now, or never");
            instance.end_run(decision, signed(now.ps()), &told)
        }
    }
}

impl QueueDisc for Ordered {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        let backlog = self.waiting.backlog;
        let arrival = Arrival { now, packet, backlog, idle_since, empty_since: idle_since };
        if !fits(self.limit, &arrival) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.note_backlog(now);
        self.facts.packet = packet_facts(packet);
        self.facts.idle_since = since(idle_since);
        self.facts.empty_since = since(idle_since);
        let handle = self.waiting.put(packet, now) as i64;
        self.facts.handle = handle;
        let code = self.ask(decision::ENQUEUE, stream, Some(handle), discard);
        match verdict_of(code) {
            Some(Verdict::Mark) if !packet.is_ecn_capable() => self.refuse(
                decision::ENQUEUE,
                "returned 1, a mark, of a packet that is not ECN-capable; allowed are 0 and 2 to 4",
            ),
            Some(Verdict::Mark) => {
                if let Some((_, packet)) = &mut self.waiting.places[handle as usize] {
                    *packet = packet.with_ecn(Ecn::Ce);
                }
                Verdict::Mark
            }
            Some(Verdict::Drop(reason)) => {
                self.waiting.take(handle);
                Verdict::Drop(reason)
            }
            Some(Verdict::Accept) => Verdict::Accept,
            None => self.refuse(decision::ENQUEUE, &format!("returned {code}; allowed are 0 to 4")),
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.note_backlog(now);
        self.facts.packet = NO_PACKET;
        self.facts.handle = -1;
        let code = self.ask(decision::DEQUEUE, stream, None, discard);
        let waiting = self.waiting.backlog.packets;
        match code {
            verdict::NONE if waiting == 0 => None,
            verdict::NONE if self.instance.law().has(flag::SHAPES) => {
                self.ask_ready(now);
                None
            }
            verdict::NONE => {
                let told = format!(
                    "returned 0, none, and {waiting} packets wait; allowed are 1 and 2, and 0 \
                     where none waits or with the flag SHAPES"
                );
                self.refuse(decision::DEQUEUE, &told)
            }
            verdict::SEND | verdict::SEND_MARKED => {
                let handle = self.facts.handle;
                let Some(packet) = self.waiting.take(handle) else {
                    let told = format!("wrote handle {handle}; {}", self.waiting.allowed());
                    self.refuse(decision::DEQUEUE, &told)
                };
                let marked = code == verdict::SEND_MARKED;
                if marked && !packet.is_ecn_capable() {
                    let told = "returned 2, a mark, of a packet that is not ECN-capable; \
                                allowed is 1";
                    self.refuse(decision::DEQUEUE, told);
                }
                Some(Departure { packet, marked })
            }
            _ => self.refuse(decision::DEQUEUE, &format!("returned {code}; allowed are 0 to 2")),
        }
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog
    }

    fn fullness(&self, _precedence: u8) -> Option<f64> {
        fullness(self.limit, self.waiting.backlog)
    }

    fn is_work_conserving(&self) -> bool {
        !self.instance.law().has(flag::SHAPES)
    }

    fn ready_at(&self, _now: Time) -> Time {
        self.ready
    }

    fn is_transparent(&self) -> bool {
        self.instance.law().has(flag::TRANSPARENT)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.instance.probes(visit);
    }
}
