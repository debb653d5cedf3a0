//! Scripts on QUIC stacks: what RFC 9002 and RFC 9438 ask of a sender when datagrams are lost,
//! marked or overtaken.

use forebay_host::quic::{noq, quinn};
use forebay_host::script::{Logged, Script};
use forebay_host::{Ecn, Network, Report, Span, Stack};

/// A path without a queue: 1 Gbit/s is more than a window of 300 kB in 40 ms, so that nothing but
/// the script changes what happens. A datagram takes 12 us there.
const PATH: &str = r#"
name = "path"
duration = "3 s"

[links.path]
from = "server"
to = "client"
rate = "1 Gbit/s"
delay = "20 ms"

[flows.download]
from = "server"
to = "client"
tcp = {}
traffic.file.size = "300 kB"
"#;

/// A datagram of the third round trip of slow start, at a window above 24 kB and below 96 kB.
const NUMBER: u64 = 40;

fn stacks() -> [Box<dyn Stack>; 2] {
    [
        Box::new(quinn::Configured::new("quinn cubic", "cubic").expect("it has CUBIC")),
        Box::new(noq::Configured::new("noq cubic", "cubic").expect("it has CUBIC")),
    ]
}

/// A download, and what its server sent and received.
struct Download {
    report: Report,
    sent: Vec<Logged>,
    received: Vec<Logged>,
}

impl Download {
    /// One in which what the server sends fares as `script` says, run twice and watched.
    fn of(stack: &dyn Stack, script: Script) -> Self {
        let mut server = None;
        let report = Network::run_twice(None, || {
            let mut network = Network::from_toml(PATH);
            network.take_over("download", stack, 7)?;
            let [from, to] = network.pairs_of("download")[0];
            network.script(from, to, script.clone());
            server = Some(from);
            Ok(network)
        });
        let (report, server) = (report.expect("it runs"), server.expect("it was made"));
        assert!(report.hosts.iter().all(|host| host.failed.is_none()), "{:?}", report.hosts);
        let (sent, received) = (report.sent(server).to_vec(), report.received(server).to_vec());
        Self { report, sent, received }
    }

    /// The windows before and after each reduction, in bytes.
    fn reductions(&self) -> Vec<[f64; 2]> {
        let windows = self.received.iter().filter_map(|it| it.probes.get("cwnd_bytes").copied());
        let windows: Vec<f64> = windows.collect();
        let pairs = windows.windows(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|[before, after]| after < before).collect()
    }

    /// The fourth last datagram of a burst, whose datagrams leave together: what is held back for a
    /// moment is behind the burst.
    fn burst(&self) -> u64 {
        let ends = |it: &&[Logged]| it[0].time == it[3].time && it[3].time < it[4].time;
        let burst = self.sent[NUMBER as usize..].windows(5).find(ends);
        burst.expect("datagrams leave in bursts")[0].number
    }

    /// Bytes that the server sent in all.
    fn bytes(&self) -> u64 {
        self.sent.iter().map(|datagram| datagram.size).sum()
    }
}

/// Bytes by which the two downloads may differ beside what is sent again: headers, and the frames
/// beside data, of a few datagrams.
const BESIDE: u64 = 150;

/// Check that the window was reduced once, by `beta_cubic` 0.7 (RFC 9438, section 4.6), in units of
/// whole bytes. What the same acknowledgement acknowledges may count before: up to the packets that
/// are waited for before one is lost (RFC 9002, section 6.1.1), 3, and one.
fn assert_one_reduction(download: &Download, of: &str) {
    let reductions = download.reductions();
    let [[before, after]] = reductions[..] else { panic!("{of}: {reductions:?}") };
    let least = (0.7 * before).floor();
    assert!((least..=0.7 * (before + 4.0 * 1472.0)).contains(&after), "{of}: {before} {after}");
}

/// Check how many datagrams of full size `download` sends more than `plain`, and that it sends no
/// other data again.
fn assert_sent_again(download: &Download, plain: &Download, again: u64, of: &str) {
    assert_eq!(download.sent.len() - plain.sent.len(), again as usize, "{of}");
    let more = download.bytes().abs_diff(plain.bytes() + again * 1472);
    assert!(more <= BESIDE, "{of}: {more} B more");
}

/// Lost datagrams of one round trip reduce the window once, as all were sent before the reduction
/// (RFC 9002, section 7.3.2), and nothing but what was lost is sent again.
#[test]
fn losses_of_a_round_trip_reduce_the_window_once() {
    for stack in stacks() {
        let plain = Download::of(&*stack, Script::new());
        assert!(plain.reductions().is_empty());
        let lose = Script::new().lose(NUMBER);
        for (script, again) in [(lose.clone(), 1), (lose.lose(NUMBER + 2).lose(NUMBER + 4), 3)] {
            let download = Download::of(&*stack, script);
            let of = format!("{}, {again} lost", stack.name());
            assert_one_reduction(&download, &of);
            assert_sent_again(&download, &plain, again, &of);
            assert_eq!(download.report.hosts[0].figures["lost_packets"], again as f64, "{of}");
        }
    }
}

/// A datagram that is marked CE reduces the window as a lost one does (RFC 9002, section 7.3.2),
/// and none is sent again.
#[test]
fn a_mark_reduces_the_window_without_retransmission() {
    for stack in stacks() {
        let plain = Download::of(&*stack, Script::new());
        assert_eq!(plain.sent[NUMBER as usize - 1].ecn, Ecn::Ect0, "{}", stack.name());
        let marked = Download::of(&*stack, Script::new().mark(NUMBER));
        assert_eq!(marked.report.hosts[1].marked, 1);
        assert_one_reduction(&marked, stack.name());
        assert_sent_again(&marked, &plain, 0, stack.name());
    }
}

/// A lost last datagram is repaired by a probe when the probe timeout has passed since it was sent
/// (RFC 9002, section 6.2.1), as none comes behind it that would show its loss.
///
/// The timeout is `smoothed_rtt + max(4 * rttvar, kGranularity) + max_ack_delay`: 1 ms and 25 ms
/// beside the smoothed round-trip time. `rttvar` is too small to count: it begins at half the first
/// round-trip time, 20 ms, and each of more than 50 samples that differ from the mean by less than
/// 0.1 ms takes a quarter of it away, so that 4 times it is below 0.5 ms.
#[test]
fn a_lost_tail_is_repaired_after_the_probe_timeout() {
    for stack in stacks() {
        let plain = Download::of(&*stack, Script::new());
        let last = plain.sent.iter().rev().find(|it| it.size > 600).unwrap();
        let download = Download::of(&*stack, Script::new().lose(last.number));
        let lost = &download.sent[last.number as usize - 1];
        assert_eq!((lost.time, lost.size), (last.time, last.size));
        let probe = &download.sent[last.number as usize];
        let heard = download.received.iter().rev().find(|it| it.time < probe.time).unwrap();
        let timeout = heard.probe("srtt_s") + 0.001 + 0.025;
        let waited = probe.time.seconds() - lost.time.seconds();
        assert!((waited - timeout).abs() < 1e-4, "{}: {waited} {timeout}", stack.name());
        assert_eq!(download.report.hosts[1].delivered, 300_000);
        // Section 6.2: "A PTO timer expiration event does not indicate packet loss". That comes
        // with the acknowledgement of the probe.
        assert_eq!(probe.probe("cwnd_bytes"), lost.probe("cwnd_bytes"), "{}", stack.name());
    }
}

/// A datagram that two others overtake is not lost, and nothing happens; one that three overtake is
/// (RFC 9002, section 6.1.1, `kPacketThreshold` 3).
#[test]
fn reordering_below_the_packet_threshold_changes_nothing() {
    for stack in stacks() {
        let plain = Download::of(&*stack, Script::new());
        let number = plain.burst();
        let hold = |number| Script::new().hold(number, Span::from_us(1));
        let two = Download::of(&*stack, hold(number + 1));
        assert!(two.reductions().is_empty(), "{}: {:?}", stack.name(), two.reductions());
        assert_sent_again(&two, &plain, 0, stack.name());
        let three = Download::of(&*stack, hold(number));
        assert_one_reduction(&three, stack.name());
        assert_sent_again(&three, &plain, 1, stack.name());
    }
}

/// A finding: when a datagram that was deemed lost arrives after all, noq takes its reduction
/// back, as RFC 9438 allows in section 4.9.2, and quinn does not: a round trip later its window is
/// still below what it was.
#[test]
fn noq_takes_the_reduction_for_a_spurious_loss_back() {
    for (stack, taken_back) in stacks().iter().zip([false, true]) {
        let number = Download::of(&**stack, Script::new()).burst();
        let late = Download::of(&**stack, Script::new().hold(number, Span::from_us(1)));
        let [[before, after]] = late.reductions()[..] else { panic!("{}", stack.name()) };
        let mut seen = late.received.iter().filter(|it| it.probes.contains_key("cwnd_bytes"));
        let reduced = seen.find(|it| it.probe("cwnd_bytes") == after).expect("it was reduced");
        let until = reduced.time + Span::from_ms(40);
        let later = seen.take_while(|it| it.time <= until).last().expect("the flow has data");
        let back = later.probe("cwnd_bytes") >= before;
        assert_eq!(back, taken_back, "{}: {before} {after} {later:?}", stack.name());
    }
}

/// A copy is dropped by the receiver (RFC 9000, section 12.3), and the sender sees none of it.
#[test]
fn a_copy_changes_nothing() {
    for stack in stacks() {
        let plain = Download::of(&*stack, Script::new());
        let copied = Download::of(&*stack, Script::new().duplicate(NUMBER));
        let received = |it: &Download| it.report.hosts[1].received;
        assert_eq!(received(&copied), received(&plain) + 1, "{}", stack.name());
        assert!(copied.reductions().is_empty(), "{}", stack.name());
        assert_sent_again(&copied, &plain, 0, stack.name());
    }
}

/// A script that names a datagram that is never sent, or marks one that is not capable of ECN, ends
/// the run with an error: a test would hold without what it tests.
#[test]
fn scripts_that_cannot_be_followed_are_errors() {
    let run = |script: Script| {
        let mut network = Network::from_toml(PATH);
        network.take_over("download", &*stacks()[0], 7).unwrap();
        let [server, client] = network.pairs_of("download")[0];
        network.script(client, server, script);
        network.run(None).unwrap_err().to_string()
    };
    let error = run(Script::new().lose(100_000));
    assert!(error.contains("script of host download.client has datagram 100000; "), "{error}");
    let error = run(Script::new().lose(0));
    assert!(error.contains("has datagram 0; "), "{error}");
}
