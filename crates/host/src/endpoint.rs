//! The contract of protocol stacks, [`Endpoint`], and of what runs on them, [`App`].

use std::net::SocketAddr;

use forebay_network::Ecn;
use forebay_units::Time;

/// A protocol stack without a clock: it is told the time with each call, and says when it wants to
/// be called again.
///
/// Where one is at work, it is asked in this order, again until nothing is left to do at the time:
/// [`App::advance`], [`transmit`](Self::transmit) until it returns `None`,
/// [`timeout`](Self::timeout), and [`wake`](Self::wake) if that time has come. Times never decrease
/// from call to call.
pub trait Endpoint: Send {
    /// A datagram has arrived.
    fn receive(&mut self, now: Time, datagram: Datagram<'_>);

    /// The next datagram to be sent at `now`: its bytes are appended to `bytes`, which is empty.
    /// `None` if there is none.
    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit>;

    /// The time at which it wants to be woken if nothing arrives before. A time that is not later
    /// than now means at once.
    fn timeout(&mut self) -> Option<Time>;

    /// The time that [`timeout`](Self::timeout) named has come.
    fn wake(&mut self, now: Time);

    /// Its address has changed to `local`, as of a host that leaves one access network for another.
    /// A stack that does not care notices it by what its peer does.
    fn moved(&mut self, _now: Time, _local: SocketAddr) {}

    /// Visit inner quantities worth plotting, by name: `cwnd_bytes`, `srtt_s`, `in_flight_bytes`.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// An application on a stack: it reads and writes, and says how far it is.
pub trait App<E: ?Sized>: Send {
    /// Read what has arrived and write what there is room for. Asked when the stack starts, after
    /// it has received a datagram, and after it was woken.
    fn advance(&mut self, now: Time, endpoint: &mut E) -> Progress;

    /// Bytes that it has read so far: the goodput of results.
    fn delivered(&self) -> u64 {
        0
    }

    /// Its own figures for the report, by name: such as a time of completion in seconds.
    fn figures(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// Progress of an [`App`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It wants to be asked again at once, after what it wrote was sent.
    Busy,
    /// It waits for the stack.
    Waiting,
    /// It waits for the stack, at most until then.
    Until(Time),
    /// It is done. It is asked further, as its peer may not be.
    Finished,
    /// It cannot continue, for this reason, such as that its connection was lost. That is an
    /// outcome, which the report has; the run continues.
    Failed(String),
}

/// A datagram that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram<'d> {
    /// The address that it came from.
    pub from: SocketAddr,
    /// The address that it was sent to.
    pub to: SocketAddr,
    /// Its ECN field, as the network has left it.
    pub ecn: Ecn,
    /// Its differentiated services codepoint, 0 to 63, as the network has left it.
    pub dscp: u8,
    /// Its bytes, without headers of UDP and IP.
    pub bytes: &'d [u8],
}

/// Destination and class of a datagram that is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The address of another host.
    pub to: SocketAddr,
    /// The ECN field that it sets out with.
    pub ecn: Ecn,
    /// Its differentiated services codepoint, 0 to 63; that of its flow in the scenario if absent.
    pub dscp: Option<u8>,
}

impl Transmit {
    /// One to `to` that is not capable of ECN.
    #[must_use]
    pub fn to(to: SocketAddr) -> Self {
        Self { to, ecn: Ecn::NotEct, dscp: None }
    }

    /// The same with an ECN field.
    #[must_use]
    pub fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }
}

/// A stack with its application, whatever their types are.
pub(crate) trait Party: Send {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>);
    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit>;
    fn timeout(&mut self) -> Option<Time>;
    fn wake(&mut self, now: Time);
    fn moved(&mut self, now: Time, local: SocketAddr);
    fn advance(&mut self, now: Time) -> Progress;
    fn delivered(&self) -> u64;
    fn figures(&self, visit: &mut dyn FnMut(&str, f64));
    fn probes(&self, visit: &mut dyn FnMut(&str, f64));
}

/// Both of them.
pub(crate) struct Both<E, A> {
    pub(crate) endpoint: E,
    pub(crate) app: A,
}

impl<E: Endpoint, A: App<E>> Party for Both<E, A> {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        self.endpoint.receive(now, datagram);
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        self.endpoint.transmit(now, bytes)
    }

    fn timeout(&mut self) -> Option<Time> {
        self.endpoint.timeout()
    }

    fn wake(&mut self, now: Time) {
        self.endpoint.wake(now);
    }

    fn moved(&mut self, now: Time, local: SocketAddr) {
        self.endpoint.moved(now, local);
    }

    fn advance(&mut self, now: Time) -> Progress {
        self.app.advance(now, &mut self.endpoint)
    }

    fn delivered(&self) -> u64 {
        self.app.delivered()
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.app.figures(visit);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.endpoint.probes(visit);
    }
}

/// A boxed endpoint is one: what C and Python bring.
impl<E: Endpoint + ?Sized> Endpoint for Box<E> {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        (**self).receive(now, datagram);
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        (**self).transmit(now, bytes)
    }

    fn timeout(&mut self) -> Option<Time> {
        (**self).timeout()
    }

    fn wake(&mut self, now: Time) {
        (**self).wake(now);
    }

    fn moved(&mut self, now: Time, local: SocketAddr) {
        (**self).moved(now, local);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        (**self).probes(visit);
    }
}
