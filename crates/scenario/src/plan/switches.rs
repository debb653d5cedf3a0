//! Reading switches whose ports share a memory.

use std::sync::{Arc, Mutex};

use forebay_elements::link::{MemorySize, Share, SharedMemory};
use forebay_laws::sharing::{self, BufferSharing, SharingFacts, Sharings};
use forebay_parameters::{Parameters, Problem, Section, choose_or, did_you_mean};
use forebay_units::Size;
use forebay_units::quantity::show_size;

use crate::plan::links::{LinkPlan, Port};
use crate::plan::sections::{SWITCH_MECHANISMS, SwitchParameters};
use crate::plan::topology::Topology;
use crate::read::names::{SWITCHES, check_names};

/// Queues of a port that a memory can tell apart: there are so many precedences.
const MAX_QUEUES: u32 = 64;

/// A memory that ports share, as its section describes it.
pub(crate) struct MemoryPlan<'a> {
    size: MemorySize,
    section: Section<'a>,
}

/// A switch whose ports share a memory.
pub(crate) struct SwitchPlan<'a> {
    /// Its name: that of its node.
    pub(crate) name: String,
    memory: MemoryPlan<'a>,
}

/// A memory of a run.
pub(crate) type Memory = Arc<Mutex<SharedMemory>>;

/// Read the memory that `ports` share from its section.
pub(crate) fn read_memory<'a>(
    section: &Section<'a>,
    ports: usize,
) -> Result<MemoryPlan<'a>, Problem> {
    let SwitchParameters { memory, reserved, queues } =
        SwitchParameters::read_among(section, SWITCH_MECHANISMS)?;
    if memory.bytes() == 0 {
        return Err(section.fail("memory", "is zero; a switch without a limit has no section"));
    }
    if !(1..=MAX_QUEUES).contains(&queues) {
        let message = format!("{queues} is out of range; allowed are 1 to {MAX_QUEUES}");
        return Err(section.fail("queues", message));
    }
    let size = MemorySize { memory, reserved, ports, queues: queues as usize };
    if size.shared().is_none() {
        let of = ports as u64 * u64::from(queues);
        let most = Size::from_bytes(memory.bytes() / of);
        let message = format!(
            "{} for each of {of} queues is more than the memory; allowed are up to {}",
            show_size(reserved),
            show_size(most)
        );
        return Err(section.fail("reserved", message));
    }
    let plan = MemoryPlan { size, section: section.clone() };
    plan.law()?;
    Ok(plan)
}

impl MemoryPlan<'_> {
    fn law(&self) -> Result<Box<dyn BufferSharing>, Problem> {
        let (entry, inner) = choose_or::<Sharings>(&self.section, "sharing", sharing::DEFAULT)?;
        let shared = self.size.shared().expect("it was checked when it was read");
        (entry.build)(&inner, &SharingFacts { shared, queues: self.size.queues })
    }

    /// Make the memory of a run, which is empty.
    pub(crate) fn make(&self) -> Memory {
        let law = self.law().expect("the law was read before");
        Arc::new(Mutex::new(SharedMemory::new(self.size, law)))
    }
}

impl SwitchPlan<'_> {
    /// Make the memory of a run, which is empty.
    pub(crate) fn make(&self) -> Memory {
        self.memory.make()
    }
}

impl<'a> SwitchPlan<'a> {
    /// The switch `name`, whose ports are `links` and share a memory as `section` has it; number
    /// `switch` of the network.
    pub(crate) fn new(
        name: String,
        section: &Section<'a>,
        (switch, links): (usize, &mut [LinkPlan<'a>]),
    ) -> Result<Self, Problem> {
        let memory = read_memory(section, links.len())?;
        for (number, link) in links.iter_mut().enumerate() {
            link.port = Some(Port { switch, number });
        }
        Ok(Self { name, memory })
    }
}

/// The share of a link in one of `memories`, if it has one.
pub(crate) fn share_of(link: &LinkPlan<'_>, memories: &[Memory]) -> Option<Share> {
    link.port.map(|port| Share::new(Arc::clone(&memories[port.switch]), port.number))
}

/// Read the switches of the scenario with this `root`, beside `switches` of fabrics, and let links
/// be their ports.
pub(crate) fn read_switches<'a>(
    root: &Section<'a>,
    topology: &Topology,
    links: &mut [LinkPlan<'a>],
    mut switches: Vec<SwitchPlan<'a>>,
) -> Result<Vec<SwitchPlan<'a>>, Problem> {
    let Some(all) = root.section(SWITCHES)? else { return Ok(switches) };
    check_names(&all)?;
    for name in all.keys() {
        let section = all.section(name)?.expect("the key is present");
        if topology.nodes().iter().all(|node| node != name) {
            let hint = did_you_mean(name, topology.nodes().iter().map(String::as_str));
            let message = format!("no link begins or ends at a node \"{name}\"{hint}");
            return Err(section.fail("", message));
        }
        let ports = |link: &&mut LinkPlan<'a>| link.from == name;
        let mut ports: Vec<_> = links.iter_mut().filter(ports).collect();
        if ports.is_empty() {
            return Err(section.fail("", "no link leaves this node, so that nothing waits there"));
        }
        if let Some(link) = ports.iter().find(|link| link.inner.is_some()) {
            let message = format!(
                "{} is part of a subnetwork, whose stations have buffers of their own; a switch \
                 has links of [links] alone",
                link.name
            );
            return Err(section.fail("", message));
        }
        if let Some(link) = ports.iter().find(|link| link.port.is_some()) {
            let message = format!("{} has a memory by its fabric already", link.from);
            return Err(section.fail("", message));
        }
        let memory = read_memory(&section, ports.len())?;
        for (number, link) in ports.iter_mut().enumerate() {
            link.port = Some(Port { switch: switches.len(), number });
        }
        switches.push(SwitchPlan { name: name.to_owned(), memory });
    }
    Ok(switches)
}
