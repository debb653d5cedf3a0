"""Predicates of section 4.3: what multiplexed TCP and UDP get."""

from __future__ import annotations

from forebay.study import Quantities, Truth, Values, all_of, at, every, values
from forebay_studies.redn.criteria import COLOURS, FACTOR, MBPS, MIX, REACHED, RTTS, VERY_CLOSE

UDP_FAIR = 0.42
MIX_LINK = 273.6 * MBPS


def _of(run: Quantities, mbps: int) -> Values:
    """Throughputs of the flows of one expected throughput, by RTT, in bit/s."""
    return values(run, MIX, f"b_{mbps}mbps_{{rtt}}ms_bps", rtt=RTTS)


def udp_extreme_bias(run: Quantities) -> Truth:
    """UDP gets more than twice its fair share of 42 % of the link."""
    return at(run, MIX, "udp_share_ratio") > FACTOR * UDP_FAIR


def udp_near_sending_rates(run: Quantities) -> Truth:
    """Every UDP flow gets within 10 % of what it sends: 8 Mbit/s, and 12."""
    sent = {3: 8 * MBPS, 5: 12 * MBPS}
    return all_of(every(_of(run, mbps)).within(VERY_CLOSE * bps, bps) for mbps, bps in sent.items())


def udp_spans_colours(run: Quantities) -> Truth:
    """UDP's conditioners send packets of every colour."""
    return every(values(run, MIX, "udp_{colour}_bps", colour=COLOURS)) > 0.0


def mix_only_1mbps_tcp(run: Quantities) -> Truth:
    """Of the TCP flows those expecting 1 Mbit/s attain it, and none of those expecting 10."""
    one, ten = (
        values(run, MIX, f"b_{mbps}mbps_{{rtt}}ms_reached_bps", rtt=RTTS) for mbps in (1, 10)
    )
    return (every(one) >= REACHED * MBPS) & (every(ten) < REACHED * 10 * MBPS)


def mix_tcp_shares_rest(run: Quantities) -> Truth:
    """At every RTT the TCP flow expecting 10 Mbit/s gets more than the one expecting 1, and TCP
    together what UDP leaves of the link, to 10 %."""
    rest = at(run, MIX, "tcp_share_ratio").similar(1.0 - at(run, MIX, "udp_share_ratio"))
    return rest & (every(_of(run, 10)) > _of(run, 1))


def mix_supposed_to_attain(run: Quantities) -> Truth:
    """Every TCP and UDP flow gets at least 98 % of its baseline expected throughput."""
    return all_of(every(_of(run, mbps)) >= REACHED * mbps * MBPS for mbps in (1, 3, 5, 10))


def drop_of_a_fifth_insufficient(run: Quantities) -> Truth:
    """With a fifth of what it sends taken away, UDP would still get more than its 42 %."""
    return 0.8 * at(run, MIX, "udp_sent_bps") > UDP_FAIR * MIX_LINK
