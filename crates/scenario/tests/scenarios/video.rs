//! Adaptive video against timelines derived by hand.

use forebay_scenario::{Control, RunOptions, Scenario, TransferResult, VideoResult};

use crate::support::{read, run_with};

/// A client that plays `video` over a link of `mbps`, 5 ms each way, for 10.5 s. Segments have 1000
/// B on the wire, 960 of them data, and leave all at once; requests have 1000 B.
fn scenario(mbps: u32, video: &str) -> String {
    format!(
        "duration = \"10.5 s\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"{mbps} Mbit/s\"\ndelay = \"5 ms\"\n\
         [flows.v]\nfrom = \"a\"\nto = \"b\"\n\
         tcp = {{ profile = \"rfc\", mss = \"960 B\", initial_window = \"1000 packets\", \
         delayed_ack = false }}\n\
         [flows.v.traffic.adaptive_video]\nchunk = \"1 s\"\nrequest = \"1000 B\"\n{video}\n"
    )
}

/// Returns the results of a video, of a run in which all invariants hold.
fn seen(text: &str) -> VideoResult {
    let scenario = read(text);
    let (result, _) = run_with(&scenario, 0, false);
    let report = scenario.check(&RunOptions::default(), &Control::default(), &result).unwrap();
    assert_eq!(report.breaches(), []);
    assert!(result.rows::<TransferResult>().is_empty());
    let [video] = result.rows::<VideoResult>() else { panic!("there is one group") };
    video.clone()
}

/// Checks a time to 2 ms: acknowledgements, which take 40 us at most, may delay a request.
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-3, "{found}, not {expected}");
}

/// Throughput decides the bit rate, the buffer when to ask, and play is counted to the chunk. At 8
/// Mbit/s a request arrives after 6 ms. A chunk of 1 s at 768 kbit/s is 100 segments, 1 ms each, so
/// it has arrived after 6 + 100 + 5 = 111 ms: 6.9 Mbit/s, and the next is of 3.84 Mbit/s, 500
/// segments. It is there 511 ms later, at 622 ms; 0.489 s of the first are left. With 1.489 s in a
/// buffer of 2 s the next waits 489 ms, and arrives at 1.622 s; and so on each second. In 10.5 s
/// that makes one chunk and ten, 10.389 s of play, and 1.489 - 0.878 = 0.611 s left.
#[test]
fn throughput_decides_and_the_buffer_paces() {
    let video = "rates = [\"768 kbit/s\", \"3.84 Mbit/s\"]\nbuffer = \"2 s\"\n\
                 selection = \"throughput\"";
    let seen = seen(&scenario(8, video));
    assert_eq!((seen.viewers, seen.chunks, seen.switches, seen.rebufferings), (1, 11, 1, 0));
    near(seen.mean_rate_bps.unwrap() / 1e6, (0.768 + 10.0 * 3.84) / 11.0);
    near(seen.mean_startup_s.unwrap(), 0.111);
    near(seen.playing_s, 10.389);
    near(seen.buffered_s, 0.611);
    assert_eq!((seen.rebuffering_s, seen.rebuffering_ratio), (0.0, 0.0));
}

/// A buffer that runs empty is noticed, with the time without play. At 4 Mbit/s a chunk of 3.84
/// Mbit/s takes 7 + 500 * 2 + 5 = 1012 ms, 12 longer than it plays: ten have arrived after 10.12 s,
/// and after each but the last the buffer was empty for 12 ms.
#[test]
fn what_comes_too_late_is_waited_for() {
    let seen = seen(&scenario(4, "rates = [\"3.84 Mbit/s\"]\nbuffer = \"9 s\""));
    assert_eq!((seen.chunks, seen.switches, seen.rebufferings), (10, 0, 9));
    near(seen.rebuffering_s, 9.0 * 0.012);
    near(seen.playing_s, 9.38);
    near(seen.rebuffering_ratio, 0.108 / (0.108 + 9.38));
    near(seen.mean_startup_s.unwrap(), 1.012);
}

/// Play before the window of measurement does not count, and what is in the buffer where it begins
/// is kept: from 5.05 s on 5.45 s pass, in which chunks 5 to 10 arrive, at 5.06, 6.072 and so on to
/// 10.12 s. The buffer has been empty since 5.048 s, for 2 ms that do not count and 10 that do, and
/// five times for 12.
#[test]
fn a_window_begins_where_the_warm_up_ends() {
    let text = scenario(4, "rates = [\"3.84 Mbit/s\"]\nbuffer = \"9 s\"");
    let seen = seen(&text.replace("\n[links", "\nwarm_up = \"5.05 s\"\n[links"));
    assert_eq!((seen.chunks, seen.rebufferings, seen.mean_startup_s), (6, 5, None));
    near(seen.rebuffering_s, 0.01 + 5.0 * 0.012);
    near(seen.playing_s, 5.45 - 0.07);
}

/// The buffer has a say by default, and a full one leads to the highest bit rate: with 1 s of
/// reservoir and 4 s of cushion, a buffer of 6 s fills at 768 kbit/s, and the highest bit rate
/// follows, of which 8 Mbit/s carry two at a time.
#[test]
fn a_full_buffer_leads_to_the_highest_bit_rate() {
    let video = "rates = [\"768 kbit/s\", \"3.84 Mbit/s\"]\nbuffer = \"6 s\"\n\
                 reservoir = \"1 s\"\ncushion = \"4 s\"";
    let seen = seen(&scenario(8, video));
    assert!(seen.switches >= 1 && seen.rebufferings == 0, "{seen:?}");
    assert!(seen.mean_rate_bps.unwrap() > 1.5e6, "{seen:?}");
}

/// A wrong video is refused at its place, and video needs TCP.
#[test]
fn wrong_videos_are_refused() {
    let problem = |text: &str| {
        let error = Scenario::parse(text, "test.toml", &[]).err();
        error.map_or(String::new(), |error| error.to_string())
    };
    let text = scenario(8, "rates = [\"2 Mbit/s\", \"1 Mbit/s\"]");
    assert!(problem(&text).contains("flows.v.traffic.adaptive_video.rates"), "{}", problem(&text));
    let udp = scenario(8, "rates = [\"1 Mbit/s\"]");
    let start = udp.find("tcp =").unwrap();
    let end = start + udp[start..].find('\n').unwrap();
    let udp = udp.replace(&udp[start..end], "udp = {}");
    assert!(problem(&udp).contains("only TCP can carry it"), "{}", problem(&udp));
}
