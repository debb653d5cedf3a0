//! Stacks at fault: each ends its run with a message that says which stack, when, and what it did.

use std::net::SocketAddr;

use super::windowed::{Idle, LINE, Windowed};
use forebay_host::{
    App, Datagram, Endpoint, HostError, Network, Progress, Span, Time, Transmit, fail,
};

/// An endpoint that misbehaves in one way from 50 ms on.
struct Faulty {
    fault: Fault,
    peer: SocketAddr,
    sent: u64,
    due: Time,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Endless,
    Past,
    Panics,
    Jumbo,
    Stray,
    Random,
    Busy,
    Late,
    Raises,
}

impl Endpoint for Faulty {
    fn receive(&mut self, _now: Time, _datagram: Datagram<'_>) {}

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        if now < self.due {
            return None;
        }
        let first = self.sent == 0;
        self.sent += 1;
        let size = match self.fault {
            Fault::Endless => 100,
            Fault::Jumbo if first => 1_473,
            Fault::Stray if first => 100,
            // An address in memory differs from run to run.
            Fault::Random if first => {
                use std::hash::{BuildHasher, Hasher};
                #[expect(clippy::disallowed_types, reason = "random numbers are the fault here")]
                let hasher = std::hash::RandomState::new().build_hasher();
                100 + (hasher.finish() % 1_000) as usize
            }
            Fault::Panics => panic!("no such stream: {}", self.sent),
            _ => return None,
        };
        bytes.resize(size, 0);
        let stray = SocketAddr::from(([192, 0, 2, 1], 9));
        Some(Transmit::to(if self.fault == Fault::Stray { stray } else { self.peer }))
    }

    fn timeout(&mut self) -> Option<Time> {
        match self.fault {
            Fault::Past if self.sent > 0 => Some(Time::ZERO + Span::from_ms(20)),
            _ if self.sent == 0 => Some(self.due),
            _ => None,
        }
    }

    fn wake(&mut self, _now: Time) {}
}

struct Restless(Fault);

impl App<Faulty> for Restless {
    fn advance(&mut self, now: Time, endpoint: &mut Faulty) -> Progress {
        match self.0 {
            _ if now < endpoint.due => Progress::Waiting,
            Fault::Busy => Progress::Busy,
            Fault::Late => Progress::Until(Time::ZERO),
            Fault::Raises => fail("its application raised an error".to_owned()),
            _ => Progress::Waiting,
        }
    }
}

fn network(fault: Fault) -> Network {
    let mut network = Network::from_toml(LINE);
    let peer = network.attach("b", Windowed::default(), Idle);
    let due = Time::ZERO + Span::from_ms(50);
    let endpoint = Faulty { fault, peer: network.address(peer), sent: 0, due };
    network.attach("a", endpoint, Restless(fault));
    network
}

fn message(fault: Fault) -> String {
    match network(fault).run(None) {
        Err(HostError::Stopped(message)) => message,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("the run has a result"),
    }
}

/// Each fault ends the run, with the host, the time and what was wrong.
#[test]
fn faults_end_the_run_and_say_where() {
    let expected = [
        (Fault::Endless, "does not stop transmitting: 65536 datagrams"),
        (Fault::Past, "asks to be called again at once, 1000 times without sending anything"),
        (Fault::Busy, "asks to be called again at once, 1000 times without sending anything"),
        (Fault::Late, "asks to be called again at once, 1000 times without sending anything"),
        (Fault::Panics, "panicked: no such stream: 1"),
        (Fault::Jumbo, "sends a datagram of 1473 B, 1501 B with headers; the MTU is 1500 B"),
        (
            Fault::Stray,
            "sends to 192.0.2.1:9, where no host is that it reaches; from 10.0.0.2:4433",
        ),
    ];
    for (fault, words) in expected {
        let message = message(fault);
        let begins = format!("host a at 0.05 s: its stack {words}");
        assert!(message.starts_with(&begins), "{message}");
    }
}

/// An error that a language raises as it likes ends the run likewise, in its own words.
#[test]
fn errors_of_other_languages_end_the_run() {
    assert_eq!(message(Fault::Raises), "host a at 0.05 s: its application raised an error");
}

/// Random numbers of a stack's own are found by a second run, and the first datagram in which the
/// two differ is named.
#[test]
fn randomness_that_leaks_is_found() {
    let error = Network::run_twice(None, || Ok(network(Fault::Random))).unwrap_err();
    let HostError::Differs(message) = error else { panic!("{error}") };
    let begins = "two runs of the same seed differ in datagram 0: ";
    assert!(message.starts_with(begins), "{message}");
    assert!(message.contains("B from a at 0.05 s (DSCP 0, not ECT) in the first, "), "{message}");
}

/// Errors of a scenario are told as for any scenario, and a host without a stack is one.
#[test]
fn scenarios_without_sense_are_refused() {
    let wrong = Network::from_toml(&LINE.replace("8 Mbit/s", "8")).run(None).unwrap_err();
    assert!(matches!(wrong, HostError::Scenario(_)), "{wrong}");
    let mut unknown = Network::from_toml(LINE);
    unknown.attach("nowhere", Windowed::default(), Idle);
    unknown.attach("a", Windowed::default(), Idle);
    let unknown = unknown.run(None).unwrap_err().to_string();
    assert!(unknown.contains("nowhere"), "{unknown}");
    let mut empty = Network::from_toml(LINE);
    empty.reserve("a");
    empty.reserve("b");
    let empty = empty.run(None).unwrap_err().to_string();
    assert_eq!(empty, "host a: no stack was put there");
}
