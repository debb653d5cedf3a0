//! Opening and closing a connection (RFC 9293, sections 3.5 and 3.6).
//!
//! The sender opens it with its first write. What the receiver would send of its own but SYN-ACKs
//! is left out: data goes one way, the third acknowledgement is that of the first data, and the
//! receiver's FIN is not waited for.

use forebay_network::{Observation, Packet, PacketKind};
use forebay_units::Time;

use super::Sender;
use super::phase::Phase;
use super::rto::Rto;

impl Sender<'_, '_> {
    /// The application has written before the connection is open: send the SYN, unless it is on its
    /// way.
    #[cold]
    pub(super) fn open(&mut self) {
        if self.tcb.deadline == Time::NEVER {
            let now = self.cx.now();
            self.group.opened[self.index as usize] = now;
            self.send_syn(false);
        }
    }

    fn send_syn(&mut self, again: bool) {
        let now = self.cx.now();
        let mut packet =
            Packet::data(now, self.flow(), 0, self.settings.overhead, self.settings.route)
                .with_marking(self.settings.marking)
                .with_kind(PacketKind::Syn);
        if again {
            packet = packet.as_retransmission();
        }
        self.tcb.phase = if again { Phase::Reopening } else { Phase::Opening };
        (self.tcb.timed_at, self.tcb.last_sent) = (now, now);
        self.set_timer(now + self.tcb.rto.timeout());
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
        self.tcb.rto.back_off(&self.settings.rules);
        self.send_syn(true);
    }

    /// An acknowledgement arrived while the connection is being opened: if it is the receiver's
    /// SYN, data can follow.
    #[cold]
    pub(super) fn opened(&mut self, packet: &Packet) {
        let again = self.tcb.phase == Phase::Reopening;
        if !self.settings.accurate && !packet.is_last() {
            return;
        }
        self.tcb.phase = Phase::Open;
        self.tcb.deadline = Time::NEVER;
        let now = self.cx.now();
        // Karn's algorithm: without timestamps it is not known which SYN was answered.
        let from = match (self.settings.timestamps, again) {
            (true, _) => Some(packet.timestamp_echo()),
            (false, false) => Some(self.tcb.timed_at),
            (false, true) => None,
        };
        match from {
            Some(from) => {
                let measured = Rto::measure(&self.settings.rules, from, now);
                self.tcb.rto.sample(measured, 1, &self.settings.rules);
                if self.settings.signals_srtt {
                    self.tcb.smooth_signalled(now.since(from), 1, self.settings);
                }
                self.loss.on_handshake(now.since(from), now);
            }
            None => self.tcb.rto.begin_unmeasured(&self.settings.rules),
        }
        if again {
            // RFC 5681, section 3.1: a loss before the first data.
            self.tcb.window.cwnd = self.tcb.window.smss;
        }
        self.tcb.control.opened(&self.tcb.window, from.map(|from| now.since(from)));
        self.send_unprompted();
    }

    /// The application will not write any more, and what it has written last is on its way already,
    /// or given up: the FIN follows alone.
    #[cold]
    pub(super) fn end_data(&mut self) {
        let max = self.tcb.max;
        self.tcb.end = self.source_mut().close(max);
        self.tcb.short = self.source().first_short();
    }
}
