//! Elements of hosts: a flow from one to another begins at [`Outgoing`] and ends at [`Incoming`].

use forebay_elements::{Completed, TransferCount};
use forebay_network::{Context, Element, FlowId, LogicalProcess, OwnCount, Packet};
use forebay_units::Span;

use crate::host::HostRef;

/// The hosts from which the flows of a group lead.
pub(crate) struct Outgoing {
    pub(crate) hosts: Vec<HostRef>,
}

/// Index of a host in its element, of a timer token or of a part.
fn place(number: u32) -> usize {
    number as usize
}

impl LogicalProcess for Outgoing {}

impl Element for Outgoing {
    fn start(&mut self, cx: &mut Context<'_>) {
        for (token, host) in (0..).zip(&self.hosts) {
            host.lock().schedule(token, cx);
        }
    }

    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("nothing leads to where flows of hosts begin");
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        self.hosts[place(token)].lock().wake(token, cx);
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        let host = match (part.checked_sub(1), &*self.hosts) {
            (Some(index), hosts) => hosts.get(place(index)),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        if let Some(host) = host {
            host.lock().party.probes(visit);
        }
    }
}

/// The hosts to which the flows of a group lead.
pub(crate) struct Incoming {
    pub(crate) first: FlowId,
    pub(crate) hosts: Vec<HostRef>,
    /// The file that each flow transfers, if they do.
    pub(crate) file: Option<File>,
    pub(crate) count: TransferCount,
}

/// A file that is transferred: its bytes, and the time that it takes on empty links.
#[derive(Clone, Copy)]
pub(crate) struct File {
    pub(crate) bytes: u64,
    pub(crate) ideal: Span,
}

impl Incoming {
    /// Count the transfer of the host at this place if its application has just read all of it.
    fn note(&mut self, at: usize, cx: &Context<'_>) {
        if let Some(File { bytes, ideal }) = self.file {
            let mut host = self.hosts[at].lock();
            if host.finished.is_some() && !std::mem::replace(&mut host.completed, true) {
                let completed = Completed { begun: host.start, bytes, ideal };
                self.count.add(&completed, false, cx.now());
            }
        }
    }
}

impl LogicalProcess for Incoming {}

impl Element for Incoming {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let Some(payload) = cx.sack_blocks().take_payload(packet.sack_slot()) else { return };
        let token = packet.flow.index_in(self.first);
        self.hosts[place(token)].lock().receive(packet, &payload, token, cx);
        self.note(place(token), cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        self.hosts[place(token)].lock().wake(token, cx);
        self.note(place(token), cx);
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        let open = |host: &&HostRef| {
            let host = host.lock();
            host.start <= now && !host.completed
        };
        self.count.set_unfinished(self.hosts.iter().filter(open).count() as u64);
        OwnCount::of(&mut self.count)
    }
}
