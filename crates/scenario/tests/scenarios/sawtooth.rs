//! One TCP flow over a queue with tail drop: the sawtooth of its window in closed form.
//!
//! A link of C packets a second with room for B waiting packets, and a round trip of T without
//! queueing, hold C T + B packets (T holds one transmission). A window of one packet more overflows
//! the queue; that shows one round trip of (C T + B) / C later, when the window has not grown
//! again: the peak is W = floor(C T + B) + 1 packets. Repairing the loss takes another such round
//! trip. The window then grows again from its reduced value: what a window w below the peak holds,
//! takes a round trip of max(T, w / C), in which min(w, C T') of T' are sent.

use forebay_kernel::math::cbrt;

use crate::support::{floats, flow, link, read, run_with, table, words};

/// Bits of a packet: 1460 B of data and 40 B of headers.
const BITS: f64 = 12_000.0;

/// One case: a link, its queue, and what the flow does.
#[derive(Clone, Copy, Debug)]
struct Case {
    mbps: f64,
    rtt_ms: f64,
    buffer: f64,
    delayed_ack: bool,
}

/// A sawtooth: packets at the peak, seconds between peaks, utilisation of the link.
#[derive(Clone, Copy, Debug)]
struct Sawtooth {
    peak: f64,
    period: f64,
    utilization: f64,
}

impl Case {
    /// The cells of the grid.
    fn all() -> impl Iterator<Item = Self> {
        let cells = [10.0, 20.0].into_iter().flat_map(|mbps| {
            [20.0, 40.0, 100.0].into_iter().flat_map(move |rtt_ms| {
                [60.0, 100.0].into_iter().map(move |buffer| (mbps, rtt_ms, buffer))
            })
        });
        cells.flat_map(|(mbps, rtt_ms, buffer)| {
            [false, true].map(|delayed_ack| Self { mbps, rtt_ms, buffer, delayed_ack })
        })
    }

    /// C, packets a second.
    fn rate(&self) -> f64 {
        self.mbps * 1e6 / BITS
    }

    /// T in seconds: propagation both ways, and the transmission of the packet itself.
    fn round_trip(&self) -> f64 {
        self.rtt_ms / 1e3 + 1.0 / self.rate()
    }

    /// C T + B.
    fn capacity(&self) -> f64 {
        self.rate() * self.round_trip() + self.buffer
    }

    fn peak(&self) -> f64 {
        self.capacity().floor() + 1.0
    }

    /// The two round trips at the peak, of the loss and of its repair, which keep the link busy as
    /// long as what remains of the window fills the path.
    fn at_the_peak(&self) -> f64 {
        2.0 * self.capacity() / self.rate()
    }

    /// Reno (RFC 5681): from W / 2 to W by one packet a round trip.
    fn reno(&self) -> Sawtooth {
        let (rate, base, peak) = (self.rate(), self.round_trip(), self.peak());
        let (mut window, mut time, mut sent) = (peak / 2.0, 0.0, 0.0);
        while window < peak {
            let round_trip = base.max(window / rate);
            time += round_trip;
            sent += window;
            window += 1.0;
        }
        self.sawtooth(time, sent)
    }

    /// CUBIC (RFC 9438) without fast convergence: from 0.7 W along W_cubic(t) = 0.4 (t - K)^3 + W
    /// with K = cbrt(0.3 W / 0.4) (equations 1 and 2), or along W_est where that is larger, which
    /// grows by 3 * 0.3 / 1.7 of a packet a round trip (section 4.3): integrated in steps of 1 ms.
    /// The loss is detected at W_cubic(K) = W. (Were it detected later, above the former peak, the
    /// next epoch would start from a higher peak, pass the capacity more slowly and be detected
    /// nearer to it: detection at K is where this settles.)
    fn cubic(&self) -> Sawtooth {
        let (rate, base, peak) = (self.rate(), self.round_trip(), self.peak());
        let k = cbrt(0.3 * peak / 0.4);
        let alpha = 3.0 * 0.3 / 1.7;
        let (mut window, mut estimate, mut time, mut sent) = (0.7 * peak, 0.7 * peak, 0.0, 0.0);
        const STEP: f64 = 1e-3;
        while window < peak - 1e-9 && time < k {
            let throughput = rate.min(window / base);
            estimate += alpha * throughput * STEP / window;
            sent += throughput * STEP;
            time += STEP;
            let past = time - k;
            window = (0.4 * past * past * past + peak).max(estimate);
        }
        self.sawtooth(time, sent)
    }

    /// The sawtooth whose growth takes `time` and sends `sent` packets.
    fn sawtooth(&self, time: f64, sent: f64) -> Sawtooth {
        let (rate, top) = (self.rate(), self.at_the_peak());
        let period = time + top;
        let utilization = ((sent + rate * top) / (rate * period)).min(1.0);
        Sawtooth { peak: self.peak(), period, utilization }
    }

    /// Simulates a flow over some eight periods, the first three of them not counted.
    fn simulated(&self, control: &str, byte_counting: bool, period: f64) -> Sawtooth {
        let Self { mbps, rtt_ms, buffer, delayed_ack } = self;
        let (warm_up, duration) = ((3.0 * period).ceil() + 5.0, (8.0 * period).ceil() + 5.0);
        let delay = rtt_ms / 2.0;
        let scenario = read(&format!(
            "duration = \"{duration} s\"\nwarm_up = \"{warm_up} s\"\n\
             [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"{mbps} Mbit/s\"\n\
             delay = \"{delay} ms\"\nqueue = {{ droptail = {{ limit = \"{buffer} packets\" }} }}\n\
             reverse = {{ rate = \"1 Gbit/s\" }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n\
             tcp = {{ profile = \"rfc\", \
             mss = \"1460 B\", control = {control}, delayed_ack = {delayed_ack}, \
             byte_counting = {byte_counting} }}\n[record]\nreductions = true\n"
        ));
        let (result, tables) = run_with(&scenario, 0, true);
        assert_eq!(flow(&result, "f").counted.timeouts, 0, "{self:?}");
        let log = table(&tables, "reductions");
        let (times, before) = (floats(log, "time_s"), floats(log, "before_bytes"));
        let first = times.partition_point(|time| *time < warm_up);
        assert!(words(log, "signal")[first..].iter().all(|s| *s == "loss"), "{self:?}");
        let (times, before) = (&times[first..], &before[first..]);
        let gaps = times.len() - 1;
        assert!(gaps >= 2, "{self:?}: {} reductions", times.len());
        Sawtooth {
            peak: before.iter().sum::<f64>() / before.len() as f64 / 1460.0,
            period: (times[gaps] - times[0]) / gaps as f64,
            utilization: link(&result, "l").utilization,
        }
    }
}

fn apart(a: f64, b: f64) -> f64 {
    (a / b - 1.0).abs()
}

/// Reno in steady state is RFC 5681's: peak within a packet of the closed form (a window that is no
/// whole number may grow once more), period within 3 % (windows are whole packets, and an
/// acknowledgement for two of them comes up to one packet late), utilisation within 1.5 % of the
/// link (what is sent in bursts at the smallest window can leave it idle).
#[test]
fn reno() {
    for case in Case::all() {
        let form = case.reno();
        let found = case.simulated("\"reno\"", true, form.period);
        let told = format!("{case:?}: {form:?}, found {found:?}");
        assert!((found.peak - form.peak).abs() <= 1.0, "{told}");
        assert!(apart(found.period, form.period) < 0.03, "{told}");
        assert!((found.utilization - form.utilization).abs() < 0.015, "{told}");
    }
}

/// Growth by acknowledgement is told apart by the test above: it takes twice as long where
/// acknowledgements are delayed (RFC 3465, section 2.1).
#[test]
fn growth_by_acknowledgement_is_told_apart() {
    let case = Case { mbps: 10.0, rtt_ms: 40.0, buffer: 60.0, delayed_ack: true };
    let form = case.reno();
    let found = case.simulated("\"reno\"", false, 2.0 * form.period);
    // The two round trips at the peak stay as they are.
    let twice = 2.0 * (form.period - case.at_the_peak()) + case.at_the_peak();
    assert!(apart(found.period, form.period) > 0.5, "{form:?}, found {found:?}");
    assert!(apart(found.period, twice) < 0.05, "{form:?}, found {found:?}");
}

/// CUBIC in steady state is RFC 9438's: peak within a packet, period within 6 % (near the peak the
/// curve is flat: a packet's difference in where the loss falls moves it by cbrt(1 / 0.4) = 1.4 s
/// of some 4 at once, so that periods vary), utilisation within 1.5 %.
#[test]
fn cubic() {
    for case in Case::all() {
        let form = case.cubic();
        let control = "{ cubic = { fast_convergence = false } }";
        let found = case.simulated(control, true, form.period);
        let told = format!("{case:?}: {form:?}, found {found:?}");
        assert!((found.peak - form.peak).abs() <= 1.0, "{told}");
        assert!(apart(found.period, form.period) < 0.06, "{told}");
        assert!((found.utilization - form.utilization).abs() < 0.015, "{told}");
    }
}
