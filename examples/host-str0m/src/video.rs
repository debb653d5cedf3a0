//! The applications of a call: one sends a video, the other watches it.

use forebay_host::{App, Progress, Span, Time};
use str0m::Event;

use crate::Peer;

/// The lowest rate of the video in bits per second: RFC 8867, section 4.3.
pub const LOWEST_BPS: u64 = 150_000;
/// Its highest rate.
pub const HIGHEST_BPS: u64 = 1_500_000;
/// Frames per second.
const FRAMES: u64 = 30;
/// The share of the bandwidth estimate that frames have. The rest is left to headers of IP, UDP and
/// RTP, the tag of SRTP, and what is sent again.
const SHARE: f64 = 0.9;

/// A camera: 30 frames per second, each as large as the bandwidth estimate allows then.
#[derive(Default)]
pub struct Camera {
    next: Option<Time>,
    frames: u64,
    written: u64,
}

impl App<Peer> for Camera {
    fn advance(&mut self, now: Time, peer: &mut Peer) -> Progress {
        while let Some(event) = peer.event() {
            if matches!(event, Event::Connected) {
                self.next = Some(now);
            }
        }
        if let Some(error) = peer.error() {
            return Progress::Failed(error.to_owned());
        }
        let (Some(next), Some(estimate)) = (self.next, peer.estimate_bps()) else {
            return Progress::Waiting;
        };
        if next > now {
            return Progress::Until(next);
        }
        let rate = (SHARE * estimate).clamp(LOWEST_BPS as f64, HIGHEST_BPS as f64);
        let bytes = (rate / 8.0 / FRAMES as f64) as usize;
        peer.write(now, bytes);
        self.frames += 1;
        self.written += bytes as u64;
        let next = now + Span::from_ps(1_000_000_000_000 / FRAMES);
        self.next = Some(next);
        Progress::Until(next)
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("frames", self.frames as f64);
        visit("written_bytes", self.written as f64);
    }
}

/// A screen: it counts frames that are complete, and how long after their capture they are.
#[derive(Default)]
pub struct Screen {
    frames: u64,
    read: u64,
    delay_s: f64,
    longest_s: f64,
}

impl App<Peer> for Screen {
    fn advance(&mut self, now: Time, peer: &mut Peer) -> Progress {
        while let Some(event) = peer.event() {
            if let Event::MediaData(frame) = event {
                let delay = now.seconds() - frame.time.as_seconds();
                self.frames += 1;
                self.read += frame.data.len() as u64;
                self.delay_s += delay;
                self.longest_s = self.longest_s.max(delay);
            }
        }
        match peer.error() {
            Some(error) => Progress::Failed(error.to_owned()),
            None => Progress::Waiting,
        }
    }

    fn delivered(&self) -> u64 {
        self.read
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("frames", self.frames as f64);
        if self.frames > 0 {
            visit("mean_delay_s", self.delay_s / self.frames as f64);
            visit("longest_delay_s", self.longest_s);
        }
    }
}
