//! WebRTC's str0m as hosts on networks of Forebay: two peers with ICE, DTLS and SRTP as released,
//! and a video of which one sends as much as its bandwidth estimation allows.

mod dtls;
mod peer;
mod video;

pub use peer::Peer;
pub use video::{Camera, HIGHEST_BPS, LOWEST_BPS, Screen};

use std::net::SocketAddr;

use forebay_host::{Member, Stack, Transfer};

/// A video call, as a stack whose server sends the video and whose client watches it. It has no
/// end, whatever bytes a table asks for.
pub struct Call;

impl Call {
    /// The two peers of a call from `sender` to `receiver`, whose random numbers come from `seed`.
    #[must_use]
    pub fn peers(sender: SocketAddr, receiver: SocketAddr, seed: u64) -> [Peer; 2] {
        let mut peers = [Peer::new(sender, true, seed), Peer::new(receiver, false, !seed)];
        let [one, other] = &mut peers;
        one.join(other);
        peers
    }
}

impl Stack for Call {
    fn name(&self) -> &str {
        "str0m"
    }

    fn version(&self) -> &str {
        "str0m 0.25.0"
    }

    fn pair(&self, transfer: &Transfer) -> [Member; 2] {
        let [one, other] = Self::peers(transfer.server, transfer.client, transfer.seed);
        [Member::new(one, Camera::default()), Member::new(other, Screen::default())]
    }
}
