//! A vector of a shared memory: packets that arrive and leave, and which of them may wait.
//!
//! `validation/vectors/README.md` defines the fields.

use std::collections::{BTreeMap, VecDeque};

use forebay_elements::link::{MemorySize, SharedMemory};
use forebay_laws::sharing::{SHARINGS, SharingFacts};
use forebay_network::{FlowId, Packet, RouteId};
use forebay_parameters::Value;
use forebay_units::{Size, Time};

use crate::support::{build, parameters};
use crate::vector::Keys;

/// Packets that arrive or leave one after another.
struct Event {
    port: usize,
    packet: Packet,
    count: u64,
    leave: bool,
}

/// A vector as its file has it.
pub struct MemoryVector {
    pub name: String,
    pub title: String,
    pub mechanism: String,
    pub source: String,
    size: MemorySize,
    parameters: Value,
    events: Vec<Event>,
    /// The packets taken in by each event, and what is held after it, as the file writes that.
    taken: Vec<Value>,
    held: Vec<Value>,
}

impl MemoryVector {
    /// Returns true if `text` is one.
    pub fn is_one(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("memory ="))
    }

    /// Read the vector called `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut file = Keys::of(name, parameters(text))?;
        let mut memory = Keys::of("memory", file.must("memory")?)?;
        let size = MemorySize {
            memory: Size::from_bytes(memory.number("bytes")?),
            reserved: Size::from_bytes(memory.number_or("reserved_bytes", 0)?),
            ports: memory.number("ports")? as usize,
            queues: memory.number_or("queues", 1)? as usize,
        };
        memory.end()?;
        let mut expected = Keys::of("expected", file.must("expected")?)?;
        let events = file.list("events")?.unwrap_or_default();
        let vector = Self {
            name: name.to_owned(),
            title: file.text("title")?,
            mechanism: file.text("mechanism")?,
            source: file.text("source")?,
            size,
            parameters: file.must("parameters")?,
            events: events.into_iter().map(event).collect::<Result<_, _>>()?,
            taken: expected.list("taken")?.unwrap_or_default(),
            held: expected.list("held")?.unwrap_or_default(),
        };
        expected.end()?;
        file.end()?;
        Ok(vector)
    }

    /// Runs the vector; the error says what is not as the vector says.
    pub fn run(&self) -> Result<(), String> {
        let name = &self.mechanism;
        let entry = SHARINGS.iter().find(|entry| entry.name == *name);
        let entry = entry.ok_or_else(|| format!("no sharing law is called {name}"))?;
        let shared = self.size.shared().ok_or("more is reserved than there is")?;
        let facts = SharingFacts { shared, queues: self.size.queues };
        let law = build(&self.parameters, |section| (entry.build)(section, &facts))
            .map_err(|problem| problem.to_string())?;
        let (mut memory, now) = (SharedMemory::new(self.size, law), Time::ZERO);
        let mut waiting = BTreeMap::<(usize, u8), VecDeque<Packet>>::new();
        for (row, event) in self.events.iter().enumerate() {
            let Event { port, packet, count, leave } = event;
            let queue = waiting.entry((*port, packet.precedence)).or_default();
            let mut taken = 0;
            for _ in 0..*count {
                if *leave {
                    let first = queue.pop_front().ok_or("none waits of those that leave")?;
                    memory.remove(*port, &first, now);
                } else if memory.admits(*port, packet, now) {
                    memory.add(*port, packet, now);
                    queue.push_back(*packet);
                    taken += 1;
                }
            }
            if self.taken.get(row).map(Value::show) != Some(taken.to_string()) {
                return Err(format!("row {row}: {taken} are taken"));
            }
            let held: Vec<&[u64]> = memory.held().collect();
            if self.held.get(row).map(written) != Some(format!("{held:?}")) {
                return Err(format!("row {row}: {held:?} B are held"));
            }
        }
        Ok(())
    }
}

/// Lists of numbers as they are written.
fn written(value: &Value) -> String {
    match value {
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| written(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.show(),
    }
}

fn event(value: Value) -> Result<Event, String> {
    let mut keys = Keys::of("events", value)?;
    let (size, precedence) = (keys.number("size_bytes")?, keys.number_or("precedence", 0)?);
    let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, size as u16, RouteId::new(0));
    let event = Event {
        port: keys.number("port")? as usize,
        packet: packet.with_precedence(precedence as u8),
        count: keys.number_or("count", 1)?,
        leave: matches!(keys.take("leave"), Some(Value::Bool(true))),
    };
    keys.end()?;
    Ok(event)
}
