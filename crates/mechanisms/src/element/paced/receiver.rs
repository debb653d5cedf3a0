//! The far ends of paced flows that answer.

use forebay_network::{Context, Element, Packet, ResourceCell};
use forebay_units::Size;

/// The receivers of a group of paced flows: they count as a sink does, and can send packets back
/// to the sources.
///
/// What comes back to a source, as [notifications](Packet::is_notice) do, is counted as an
/// acknowledgement.
pub struct PacedReceivers {
    /// The route to the sources, if they answer.
    back: Option<u32>,
    /// Precedence with which answers set out.
    precedence: u8,
    /// Bytes of each packet that are not payload.
    header: u16,
    /// Answers sent so far.
    answers: u64,
}

impl PacedReceivers {
    /// Receivers whose answers take route number `back`, if they answer, with `precedence`; of each
    /// packet `header` bytes are no payload.
    ///
    /// # Panics
    /// If the header is larger than packets can be: scenario reading refuses it.
    #[must_use]
    pub fn new(back: Option<u32>, precedence: u8, header: Size) -> Self {
        let header = u16::try_from(header.bytes()).expect("a header fits into a packet");
        Self { back, precedence, header, answers: 0 }
    }

    /// Send an answer of `size` bytes to the source of `packet`, made what it is by `write`.
    pub fn answer(
        &mut self,
        packet: &Packet,
        size: u16,
        write: impl FnOnce(Packet) -> Packet,
        cx: &mut Context<'_>,
    ) {
        let Some(back) = self.back else { return };
        let blank = Packet::data(cx.now(), packet.flow, self.answers, size, back)
            .with_precedence(self.precedence);
        self.answers += 1;
        cx.send(write(blank).as_ack(true));
    }

    /// Send a resource-management cell back as it came; its age is that of the whole round trip.
    #[cold]
    fn turn_around(&mut self, packet: &Packet, cell: ResourceCell, cx: &mut Context<'_>) {
        let cell = ResourceCell { backward: true, ..cell };
        let turned = |mut blank: Packet| {
            blank.created = packet.created;
            blank.with_resource_cell(cell)
        };
        self.answer(packet, packet.size, turned, cx);
    }
}

impl Element for PacedReceivers {
    fn sends(&self) -> &[u32] {
        self.back.as_slice()
    }

    #[inline]
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        if let Some(cell) = packet.resource_cell() {
            self.turn_around(packet, cell, cx);
            return;
        }
        cx.hand_over(packet.flow, u64::from(packet.size.saturating_sub(self.header)));
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("receivers of paced flows set no timers");
    }
}
