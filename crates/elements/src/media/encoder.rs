//! An encoder and the buffer between it and the network.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_units::{Span, Time};

use super::MediaParameters;

/// Makes frames for a rate, and cuts them into packets.
pub(super) struct Encoder {
    frame_rate: f64,
    size_scale: f64,
    reaction: Span,
    /// Most data in a packet, and its header, in bytes.
    payload: u64,
    header: u64,
    stream: Stream,
    /// The rate for which frames are made, in bit/s.
    rate: f64,
    /// Rates that the encoder is still to follow, each with the time from which on it does.
    ordered: VecDeque<(Time, f64)>,
    /// Data of the frames that wait, in bytes.
    frames: VecDeque<u64>,
    /// Data and headers that wait, in bits of packets.
    waiting: f64,
}

impl Encoder {
    pub(super) fn new(of: &MediaParameters, stream: Stream) -> Self {
        Self {
            frame_rate: of.frame_rate,
            size_scale: of.size_scale,
            reaction: of.reaction,
            payload: of.payload.bytes(),
            header: of.header.bytes(),
            stream,
            rate: of.start().bps() as f64,
            ordered: VecDeque::new(),
            frames: VecDeque::new(),
            waiting: 0.0,
        }
    }

    /// Time from frame to frame.
    pub(super) fn interval(&self) -> Span {
        Span::from_seconds(1.0 / self.frame_rate)
    }

    /// The time that it takes to follow a new rate.
    pub(super) fn reaction(&self) -> Span {
        self.reaction
    }

    /// The rate for which the latest frame was made, in bit/s.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Frames from `time` on are made for `rate`.
    pub(super) fn set_rate(&mut self, rate: f64, time: Time) {
        self.ordered.push_back((time, rate));
    }

    /// Make the frame that is due at `now`.
    pub(super) fn frame(&mut self, now: Time) {
        while let Some(&(from, rate)) = self.ordered.front()
            && from <= now
        {
            self.rate = rate;
            self.ordered.pop_front();
        }
        // Laplace: exponential to either side; within as much of the mean on both sides, so that
        // the mean stays.
        let off = if self.size_scale > 0.0 {
            let side = if self.stream.happens(0.5) { 1.0 } else { -1.0 };
            side * (self.size_scale * self.stream.exponential()).min(1.0)
        } else {
            0.0
        };
        let bytes = self.rate / self.frame_rate / 8.0 * (1.0 + off);
        // A cast saturates.
        let packets = (bytes / (self.payload + self.header) as f64).ceil().max(1.0) as u64;
        let headers = packets.saturating_mul(self.header);
        let data = (bytes.round() as u64).saturating_sub(headers).max(1);
        self.frames.push_back(data);
        self.waiting += self.bits(data);
    }

    /// The bits that the packets with `data` bytes of one frame have.
    fn bits(&self, data: u64) -> f64 {
        (data as f64 + data.div_ceil(self.payload) as f64 * self.header as f64) * 8.0
    }

    /// The size in bytes of the next packet in the buffer.
    pub(super) fn next_size(&self) -> Option<u16> {
        let data = (*self.frames.front()?).min(self.payload);
        Some(u16::try_from(data + self.header).expect("checked when read"))
    }

    /// Take the next packet out of the buffer: its size in bytes.
    pub(super) fn pop(&mut self) -> Option<u16> {
        let size = self.next_size()?;
        let left = self.frames.front_mut()?;
        *left -= u64::from(size) - self.header;
        if *left == 0 {
            self.frames.pop_front();
        }
        let bits = f64::from(size) * 8.0;
        self.waiting = if self.frames.is_empty() { 0.0 } else { self.waiting - bits };
        Some(size)
    }

    /// Returns the data and headers that wait, in bits of packets.
    pub(super) fn waiting_bits(&self) -> f64 {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use forebay_kernel::Streams;
    use forebay_units::{Rate, Size};

    use super::*;

    fn encoder(rate: u64, size_scale: f64) -> Encoder {
        let parameters = MediaParameters {
            frame_rate: 25.0,
            min_rate: Rate::from_bps(1),
            max_rate: Rate::from_bps(1_000_000_000),
            start_rate: Some(Rate::from_bps(rate)),
            reaction: Span::from_ms(100),
            size_scale,
            payload: Size::from_bytes(1000),
            header: Size::from_bytes(40),
            report: Size::from_bytes(64),
            ecn: false,
        };
        Encoder::new(&parameters, Streams::new(1, 0).named("frames"))
    }

    /// A frame with its headers has the bits of its interval, so that media take of a link what
    /// their rate says: 500 kbit/s are 2500 B a frame at 25 frames/s, in three packets with 40 B of
    /// header each: 1000, 1000 and 380 B of data.
    #[test]
    fn a_frame_with_its_headers_has_the_bits_of_its_interval() {
        let mut encoder = encoder(500_000, 0.0);
        assert_eq!(encoder.interval(), Span::from_ms(40));
        encoder.frame(Time::ZERO);
        assert_eq!(encoder.waiting_bits(), 20_000.0);
        let sizes: Vec<u16> = std::iter::from_fn(|| encoder.pop()).collect();
        assert_eq!((sizes, encoder.waiting_bits()), (vec![1040, 1040, 420], 0.0));
    }

    /// A frame has a packet with a byte of data even when the rate is less than its headers.
    #[test]
    fn every_frame_has_data() {
        let mut encoder = encoder(1, 0.0);
        encoder.frame(Time::ZERO);
        assert_eq!((encoder.pop(), encoder.pop()), (Some(41), None));
    }

    /// An encoder follows a new rate from the first frame after its time on, not at once.
    #[test]
    fn a_new_rate_counts_from_its_time_on() {
        let mut encoder = encoder(500_000, 0.0);
        encoder.set_rate(250e3, Time::ZERO + Span::from_ms(100));
        encoder.frame(Time::ZERO + Span::from_ms(80));
        assert_eq!(encoder.rate(), 500e3);
        encoder.frame(Time::ZERO + Span::from_ms(120));
        assert_eq!((encoder.rate(), encoder.waiting_bits()), (250e3, 30_000.0));
    }

    /// Sizes of frames keep their mean rate and vary by a Laplace distribution: the mean of 1 + X
    /// with a Laplace X of scale 0.15, cut at 1, is 1, and the mean of |X| is 0.15 * (1 - exp(-1 /
    /// 0.15)) = 0.1498.
    #[test]
    fn sizes_of_frames_are_laplace_about_their_mean() {
        let mut encoder = encoder(10_000_000, 0.15);
        let (mut sum, mut off) = (0.0, 0.0);
        for _ in 0..100_000 {
            encoder.frame(Time::ZERO);
            let relative = encoder.waiting_bits() / 400e3;
            (sum, off) = (sum + relative, off + (relative - 1.0).abs());
            while encoder.pop().is_some() {}
        }
        // Standard errors: of the mean 0.15 * sqrt(2 / 1e5) = 0.00067, of the mean of |X| 0.00047.
        assert!((sum / 1e5 - 1.0).abs() < 0.0027, "{}", sum / 1e5);
        assert!((off / 1e5 - 0.1498).abs() < 0.0019, "{}", off / 1e5);
    }
}
