//! Opening and closing a connection (RFC 9293, sections 3.5 and 3.6).
//!
//! The sender opens it with its first write. What the receiver would send of its own but SYN-ACKs
//! is left out: data goes one way, the third acknowledgement is that of the first data, and the
//! receiver's FIN is not waited for.

use forebay_network::{Observation, Packet, PacketKind};
use forebay_units::Time;

use super::connection::Phase;
use super::rto::Rto;
use super::sender_context::SenderContext;

impl SenderContext<'_, '_> {
    /// The application has written before the connection is open: send the SYN, unless it is on its
    /// way.
    #[cold]
    pub(super) fn open(&mut self) {
        if self.c.deadline == Time::NEVER {
            let now = self.cx.now();
            self.cold.opened[self.index as usize] = now;
            self.send_syn(false);
        }
    }

    fn send_syn(&mut self, again: bool) {
        let now = self.cx.now();
        let mut packet = Packet::data(now, self.flow(), 0, self.p.overhead, self.p.route)
            .with_marking(self.p.marking)
            .with_kind(PacketKind::Probe);
        if again {
            packet = packet.as_retransmission();
        }
        self.c.phase = Phase::Opening { again };
        (self.c.timed_at, self.c.last_sent) = (now, now);
        self.set_timer(now + self.c.rto.timeout());
        self.cx.send(packet);
    }

    /// The timer expired before the SYN was answered (RFC 6298, sections 5.4 to 5.6).
    #[cold]
    pub(super) fn syn_timed_out(&mut self) {
        if !self.has_data() {
            self.end_if_done();
            return;
        }
        let flow = self.flow();
        self.cx.counters().flows[flow.index()].timeouts += 1;
        self.cx.observe(|| Observation::Timeout { flow });
        self.c.rto.back_off(&self.p.rules);
        self.send_syn(true);
    }

    /// An acknowledgement arrived while the connection is being opened: if it is the receiver's
    /// SYN, data can follow.
    #[cold]
    pub(super) fn opened(&mut self, packet: &Packet) {
        let Phase::Opening { again } = self.c.phase else { return };
        if !self.p.accurate && !packet.is_last() {
            return;
        }
        self.c.phase = Phase::Open;
        self.c.deadline = Time::NEVER;
        let now = self.cx.now();
        // Karn's algorithm: without timestamps it is not known which SYN was answered.
        let from = match (self.p.timestamps, again) {
            (true, _) => Some(packet.timestamp_echo()),
            (false, false) => Some(self.c.timed_at),
            (false, true) => None,
        };
        match from {
            Some(from) => {
                let measured = Rto::measure(&self.p.rules, from, now);
                self.c.rto.sample(measured, 1, &self.p.rules);
                if self.p.signals_srtt {
                    self.smooth_signalled(now.since(from), 1);
                }
                self.note_round_trip(now.since(from));
            }
            None => self.c.rto.begin_unmeasured(&self.p.rules),
        }
        if again {
            // RFC 5681, section 3.1: a loss before the first data.
            self.c.window.cwnd = self.c.window.smss;
        }
        self.c.control.opened(&self.c.window, from.map(|from| now.since(from)));
        self.send_allowed();
    }

    /// The application will not write any more, and what it has written last is on its way already,
    /// or given up: the FIN follows alone.
    #[cold]
    pub(super) fn close(&mut self) {
        let max = self.c.max;
        self.c.end = self.source_mut().close(max);
        self.c.short = self.source().first_short();
    }
}
