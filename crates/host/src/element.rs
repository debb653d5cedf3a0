//! Elements of hosts: a flow from one to another begins at [`Outgoing`] and ends at [`Incoming`].

use forebay_network::{Context, Element, FlowId, LogicalProcess, Packet};

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
}

impl LogicalProcess for Incoming {}

impl Element for Incoming {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let Some(payload) = cx.sack_blocks().take_payload(packet.sack_slot()) else { return };
        let token = packet.flow.index_in(self.first);
        self.hosts[place(token)].lock().receive(packet, &payload, token, cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        self.hosts[place(token)].lock().wake(token, cx);
    }
}
