"""What the paper's sentences mean in numbers.

*About*, and values without a qualification, mean within 10 %, as in grades; a *range* reaches
10 % further at either end. *The same throughput* means within 2 %, which grades call exact.
A transport *has timeouts* where more than 1 % of its queries have one, what figures show as other
than none.
"""

from __future__ import annotations

from forebay.study import (
    CLOSE,
    EXACT,
    Bounds,
    Point,
    Quantities,
    Truth,
    Values,
    all_of,
    at,
    every,
    for_each,
)

NONE = 0.01
RTTS_US = (100, 300)
SERVERS = (5, 10, 15, 20, 25, 30, 35, 40)
FEW = (5, 10)
FAIR = {"s1_bps": 50e6, "s3_bps": 50e6, "s2_bps": 475e6}
"""Fair shares of figure 17."""

PORT_BYTES = 700e3
"""What one busy port of the Triumph gets (figure 1)."""

PACKET_BYTES = 1538

MUCH_FASTER = 1.5
"""Times that "much faster" means: more than what a single timeout of 10 ms adds in every second
query to one of 9 ms."""

TCP_1G: Point = {"experiment": "long", "control": "tcp", "rate_gbps": 1, "flows": 2}
TCP_10G: Point = {"experiment": "long", "control": "tcp", "rate_gbps": 10, "flows": 2}


def _long(rate: int, k: int) -> Point:
    return {"experiment": "long", "control": "dctcp", "rate_gbps": rate, "flows": 2, "k": k}


def _analysis(flows: int) -> Point:
    fixed: Point = {"experiment": "analysis", "control": "dctcp", "rate_gbps": 10, "k": 40}
    return {**fixed, "flows": flows}


def analysis_predicts_few_flows(run: Quantities) -> Truth:
    """With 2 and 10 flows the longest and the shortest simulated queue differ from the analysis by
    at most a tenth of the longest one that it predicts."""

    def near(flows: int, end: str) -> Truth:
        point = _analysis(flows)
        expected = at(run, point, f"{end}_expected_packets")
        slack = CLOSE * at(run, point, "highest_expected_packets")
        return at(run, point, f"{end}_packets").within(expected - slack, expected + slack)

    return all_of(near(flows, end) for flows in (2, 10) for end in ("highest", "lowest"))


def many_flows_vary_less(run: Quantities) -> Truth:
    """With 40 flows the simulated amplitude is less than that of the analysis."""
    point = _analysis(40)
    return at(run, point, "amplitude_packets") < at(run, point, "amplitude_expected_packets")


@for_each({"slow_port": (1, 20e-3, 30e-3), "fast_port": (10, 80e-3, 150e-3)})
def converges_within(run: Quantities, case: tuple[int, float, float]) -> Truth:
    """The mean over round trips of 100 and 300 us is in the printed range."""
    rate, low, high = case
    mean = Values(_convergence(run, "dctcp", rate)).mean()
    return mean.within((1 - CLOSE) * low, (1 + CLOSE) * high)


def converges_slower_than_tcp(run: Quantities) -> Truth:
    """At either rate DCTCP takes 2 to 3 times as long as TCP, in the mean over round trips."""
    return all_of(
        slow.within((1 - CLOSE) * 2.0 * fast, (1 + CLOSE) * 3.0 * fast)
        for rate in (1, 10)
        for slow in [Values(_convergence(run, "dctcp", rate)).mean()]
        for fast in [Values(_convergence(run, "tcp", rate)).mean()]
    )


def needs_a_tenth_of_the_buffer(run: Quantities) -> Truth:
    """DCTCP's longest queue is at least 90 % shorter than TCP's, within a tenth of that, and its
    throughput no less than TCP's by more than 2 %."""
    longest = at(run, _long(1, 20), "max_queue_packets")
    rate = at(run, _long(1, 20), "goodput_bps")
    saved = 1.0 - 0.9 * (1 - CLOSE)
    return (longest <= saved * at(run, TCP_1G, "max_queue_packets")) & (
        rate >= (1 - EXACT) * at(run, TCP_1G, "goodput_bps")
    )


def queue_is_about_k(run: Quantities) -> Truth:
    """The mean queue at K = 20 and two flows is within 10 % of 20 packets."""
    return at(run, _long(1, 20), "mean_queue_packets").around(20.0)


def tcp_queue_is_ten_times_as_long(run: Quantities) -> Truth:
    """TCP's mean queue is at least ten times DCTCP's, within a tenth of that: an order of
    magnitude."""
    short = at(run, _long(1, 20), "mean_queue_packets")
    return at(run, TCP_1G, "mean_queue_packets") >= (1 - CLOSE) * 10.0 * short


def tcp_fills_the_dynamic_buffer(run: Quantities) -> Truth:
    """TCP's longest queue, in bytes, is within 10 % of 700 kB."""
    return (PACKET_BYTES * at(run, TCP_1G, "max_queue_packets")).around(PORT_BYTES)


def throughput_insensitive_at_1g(run: Quantities) -> Truth:
    """At K of 5, 10, 20 and 40 the throughput is within 2 % of TCP's."""
    rates = [at(run, _long(1, k), "goodput_bps") for k in (5, 10, 20, 40)]
    return every(rates).similar(at(run, TCP_1G, "goodput_bps"), EXACT)


def throughput_insensitive_at_10g(run: Quantities) -> Truth:
    """At K of 65 and 100 the throughput is within 2 % of TCP's."""
    rates = [at(run, _long(10, k), "goodput_bps") for k in (65, 100)]
    return every(rates).similar(at(run, TCP_10G, "goodput_bps"), EXACT)


def red_needs_twice_the_buffer(run: Quantities) -> Truth:
    """The longest queue of the tuned RED is about twice that of DCTCP at K = 65."""
    longest = at(run, {**TCP_10G, "red": "tuned"}, "max_queue_packets")
    ours = at(run, _long(10, 65), "max_queue_packets")
    return longest.within((1 - CLOSE) * 2.0 * ours, (1 + CLOSE) * 2.0 * ours)


def steps_vary_less_than_tcp(run: Quantities) -> Truth:
    """In the mean over the periods of figure 16 Jain's index of DCTCP is at least 0.99 from a
    second after each change on, and its flows' throughputs vary less than TCP's."""
    ours: Point = {"experiment": "steps", "control": "dctcp", "rate_gbps": 1}
    theirs: Point = {**ours, "control": "tcp"}
    return (at(run, ours, "jain_ratio") >= 0.99) & (
        at(run, ours, "variation_ratio") < at(run, theirs, "variation_ratio")
    )


def middle_senders_get_475(run: Quantities) -> Truth:
    """A sender of S2 gets 475 Mbit/s within 10 %."""
    return at(run, _hops("dctcp"), "s2_bps").around(475e6)


def within_ten_percent_of_fair(run: Quantities) -> Truth:
    """The mean of each group is within 10 % of its fair share."""
    return all_of(at(run, _hops("dctcp"), name).around(share) for name, share in FAIR.items())


def tcp_is_less_fair_over_hops(run: Quantities) -> Truth:
    """A sender of S1, which passes two bottlenecks, gets less with TCP than with DCTCP, and TCP has
    timeouts."""
    ours, theirs = (at(run, _hops(control), "s1_bps") for control in ("dctcp", "tcp"))
    return (theirs < ours) & (at(run, _hops("tcp"), "timeouts_count") > 0.0)


def tcp_times_out_above_ten(run: Quantities) -> Truth:
    """With either timeout TCP has no timeouts with 5 and 10 servers, and some with more."""
    return all_of(
        found <= NONE if servers in FEW else found > NONE
        for rto in (300, 10)
        for servers in SERVERS
        for found in [_incast(run, "tcp", servers, "timeouts_ratio", rto=rto)]
    )


def dctcp_times_out_from_35(run: Quantities) -> Truth:
    """DCTCP has no timeouts up to 30 servers and has with 40, which are more than 10 % above 35;
    there its mean completion time is within 10 % of TCP's."""
    before = [_incast(run, "dctcp", n, "timeouts_ratio") for n in SERVERS if n <= 30]
    after, ours, theirs = (
        _incast(run, "dctcp", 40, "timeouts_ratio"),
        _incast(run, "dctcp", 40, "mean_s"),
        _incast(run, "tcp", 40, "mean_s"),
    )
    return (every(before) <= NONE) & (after > NONE) & ours.similar(theirs)


def dctcp_is_faster_up_to_35(run: Quantities) -> Truth:
    """From 15 to 30 servers TCP takes at least half as long again as DCTCP, with either timeout."""
    return all_of(
        _incast(run, "tcp", servers, "mean_s", rto=rto)
        >= MUCH_FASTER * _incast(run, "dctcp", servers, "mean_s")
        for rto in (300, 10)
        for servers in (15, 20, 25, 30)
    )


def dynamic_buffers_mitigate(run: Quantities) -> Truth:
    """With dynamic buffers TCP has timeouts with 40 servers, and fewer than with static ones."""
    found = _incast(run, "tcp", 40, "timeouts_ratio", buffer="dynamic")
    return (found > NONE) & (found < _incast(run, "tcp", 40, "timeouts_ratio"))


def most_queries_of_all_time_out(run: Quantities) -> Truth:
    """More than 55 % of TCP's queries have a timeout."""
    return at(run, {"experiment": "all-to-all", "control": "tcp"}, "timeouts_ratio") > 0.55


def short_requests_take_below_1_ms(run: Quantities) -> Truth:
    """The median is below 1 ms."""
    return at(run, {"experiment": "build-up", "control": "dctcp"}, "median_s") < 1e-3


def seven_percent_time_out(run: Quantities) -> Truth:
    """7 % within a tenth."""
    return at(run, _pressure("tcp"), "timeouts_ratio").around(0.07)


def long_flows_get_the_same(run: Quantities) -> Truth:
    """The sums over all long flows differ by at most 2 %."""
    ours, theirs = (at(run, _pressure(control), "long_bps") for control in ("dctcp", "tcp"))
    return ours.similar(theirs, EXACT)


def _convergence(run: Quantities, control: str, rate: int) -> list[Bounds]:
    fixed: Point = {"experiment": "converge", "control": control, "rate_gbps": rate}
    return [at(run, {**fixed, "rtt_us": rtt}, "convergence_s") for rtt in RTTS_US]


def _hops(control: str) -> Point:
    return {"experiment": "hops", "control": control}


def _pressure(control: str) -> Point:
    return {"experiment": "pressure", "control": control, "background": True}


def _incast(
    run: Quantities,
    control: str,
    servers: int,
    quantity: str,
    *,
    rto: int = 10,
    buffer: str = "static",
) -> Bounds:
    point: Point = {"experiment": "incast", "control": control, "servers": servers}
    return at(run, {**point, "buffer": buffer, "rto_ms": rto}, quantity)
