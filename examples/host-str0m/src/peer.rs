//! A peer of a call as a stack without a clock.

use std::collections::VecDeque;
use std::net::SocketAddr;

use forebay_host::{Clock, Datagram, Endpoint, Time, Transmit};
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::{MediaKind, MediaTime, Mid};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcError};

use crate::dtls;
use crate::video::HIGHEST_BPS;

/// The bandwidth estimate that a call begins with, in bits per second.
const INITIAL_BPS: u64 = 300_000;

fn video() -> Mid {
    "video".into()
}

/// One end of a call, by the direct API of str0m, without SDP.
pub struct Peer {
    clock: Clock,
    rtc: Rtc,
    local: SocketAddr,
    /// State of its random numbers, which str0m takes from the generator of the thread.
    random: u64,
    outbox: VecDeque<(SocketAddr, Vec<u8>)>,
    events: VecDeque<Event>,
    timeout: Time,
    estimate_bps: Option<f64>,
    error: Option<String>,
}

impl Peer {
    /// One at `local`, which sends the video or receives it.
    pub(crate) fn new(local: SocketAddr, sends: bool, seed: u64) -> Self {
        dtls::install();
        let clock = Clock::new();
        let mut random = seed;
        let rtc = seeded(&mut random, || {
            let config = Rtc::builder().set_dtls_cert(dtls::certificate());
            let config = config.enable_bwe(sends.then_some(Bitrate::bps(INITIAL_BPS)));
            let mut rtc = config.build(clock.instant(Time::ZERO));
            let (ssrc, resent) = (1.into(), Some(2.into()));
            rtc.bwe().set_bitrate(Bitrate::ZERO, Bitrate::bps(HIGHEST_BPS));
            let mut api = rtc.direct_api();
            api.declare_media(video(), MediaKind::Video);
            if sends {
                api.declare_stream_tx(ssrc, resent, video(), None);
            } else {
                api.expect_stream_rx(ssrc, resent, video(), None);
                api.enable_twcc_feedback();
            }
            api.set_ice_controlling(sends);
            rtc
        });
        let (outbox, events) = (VecDeque::new(), VecDeque::new());
        let (timeout, estimate_bps, error) = (Time::ZERO, None, None);
        Self { clock, rtc, local, random, outbox, events, timeout, estimate_bps, error }
    }

    /// Tell both what signalling would: addresses, credentials and fingerprints.
    pub(crate) fn join(&mut self, other: &mut Self) {
        self.hear(other);
        other.hear(self);
        for (peer, active) in [(self, true), (other, false)] {
            let started = seeded(&mut peer.random, || peer.rtc.direct_api().start_dtls(active));
            started.expect("DTLS starts once");
        }
    }

    fn hear(&mut self, other: &mut Self) {
        let host = |at| Candidate::host(at, "udp").expect("addresses of hosts are valid");
        self.rtc.add_local_candidate(host(self.local));
        self.rtc.add_remote_candidate(host(other.local));
        let its = other.rtc.direct_api();
        let (credentials, fingerprint) =
            (its.local_ice_credentials(), its.local_dtls_fingerprint().clone());
        let mut api = self.rtc.direct_api();
        api.set_remote_ice_credentials(credentials);
        api.set_remote_fingerprint(fingerprint);
    }

    /// The estimate of the bandwidth in bits per second, once the call is up; of the sender alone.
    #[must_use]
    pub fn estimate_bps(&self) -> Option<f64> {
        self.estimate_bps
    }

    /// The next event of the stack, but for estimates.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The error with which the stack has ended, if it has.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Write a frame of so many bytes, which was captured at `now`.
    pub fn write(&mut self, now: Time, bytes: usize) {
        let instant = self.clock.instant(now);
        let written = self.with(|rtc| {
            let codecs = rtc.codec_config();
            let vp8 = codecs.find(|codec| codec.spec().codec == Codec::Vp8).map(|codec| codec.pt());
            let (vp8, writer) = (vp8.expect("there is VP8"), rtc.writer(video()));
            let writer = writer.expect("the sender has declared its video");
            let captured = MediaTime::from_90khz(ticks(now));
            writer.write(vp8, instant, captured, vec![0; bytes])
        });
        self.note(written);
    }

    /// Do `what` with the random numbers of this peer.
    fn with<T>(&mut self, what: impl FnOnce(&mut Rtc) -> T) -> T {
        let Self { rtc, random, .. } = self;
        seeded(random, || what(rtc))
    }

    fn note(&mut self, result: Result<(), RtcError>) {
        if let Err(error) = result {
            self.error = Some(error.to_string());
        }
    }

    /// Take what the stack has until it waits.
    fn poll(&mut self) {
        loop {
            match self.with(Rtc::poll_output) {
                Ok(Output::Timeout(at)) => {
                    self.timeout = self.clock.time(at);
                    return;
                }
                Ok(Output::Transmit(datagram)) => {
                    self.outbox.push_back((datagram.destination, datagram.contents.into()));
                }
                Ok(Output::Event(Event::EgressBitrateEstimate(kind))) => {
                    if let BweKind::Twcc { estimate, .. } = kind {
                        self.estimate_bps = Some(estimate.as_f64());
                    }
                }
                Ok(Output::Event(event)) => self.events.push_back(event),
                Err(error) => {
                    self.error = Some(error.to_string());
                    self.timeout = Time::NEVER;
                    return;
                }
            }
        }
    }
}

impl Endpoint for Peer {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        // What no peer of WebRTC would send is none of its business.
        let Ok(contents) = datagram.bytes.try_into() else { return };
        let (source, destination) = (datagram.from, datagram.to);
        let receive = Receive { proto: Protocol::Udp, source, destination, contents };
        let input = Input::Receive(self.clock.instant(now), receive);
        if self.rtc.accepts(&input) {
            let result = self.with(|rtc| rtc.handle_input(input));
            self.note(result);
            self.poll();
        }
    }

    fn transmit(&mut self, _now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        if self.outbox.is_empty() {
            self.poll();
        }
        let (to, contents) = self.outbox.pop_front()?;
        bytes.extend_from_slice(&contents);
        Some(Transmit::to(to))
    }

    fn timeout(&mut self) -> Option<Time> {
        Some(self.timeout)
    }

    fn wake(&mut self, now: Time) {
        let now = self.clock.instant(now);
        let result = self.with(|rtc| rtc.handle_input(Input::Timeout(now)));
        self.note(result);
        self.poll();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(estimate) = self.estimate_bps {
            visit("bwe_bps", estimate);
        }
    }
}

/// `time` in ticks of the clock of video in RTP, 90 kHz.
fn ticks(time: Time) -> u64 {
    const PS_PER_SECOND: u128 = 1_000_000_000_000;
    u64::try_from(u128::from(time.ps()) * 90_000 / PS_PER_SECOND).unwrap_or(u64::MAX)
}

/// Do `what` with the generator of this thread in the state `random`, which it leaves advanced.
fn seeded<T>(random: &mut u64, what: impl FnOnce() -> T) -> T {
    let outside = fastrand::get_seed();
    fastrand::seed(*random);
    let made = what();
    *random = fastrand::get_seed();
    fastrand::seed(outside);
    made
}
