"""Piece of CAKE: the cells of its measurements, and what is measured of them."""

from __future__ import annotations

from forebay.study import Network, Point, Replications, Run

__all__ = ["CLASSES", "PINGS", "REPLICATIONS", "STATISTICS", "grid_point", "quantities"]

CLASSES = {"be": "BE", "bk": "CS1", "cs5": "CS5", "ef": "EF"}
"""Codepoints of the four flows each way of `rrul_diffserv`, by the names of the data set."""

PINGS = {"icmp": "BE", "be": "BE", "bk": "CS1", "ef": "EF"}
"""Codepoints of the pings of `rrul_diffserv`; ICMP has none."""

STATISTICS = ("mean", "p50", "p95", "p99")

TINS = {"cake": "besteffort", "cake_diff3": "diffserv3", "cake_diff4": "diffserv4"}

PATTERNS = ("flows.tcp", "flows.ping")
"""Sections of scenario.toml after which those of every flow and ping are made."""

WAYS = ("links.access", "links.access.reverse")

UPLOADS = 32
DOWN_MBPS = 10

VOIP_RATE = "2 Mbit/s"
VOIP_PACKET = "214 B"
"""160 B of voice, 12 B of RTP, and headers as those of pings: a frame of G.711, sent faster."""

SLOW_MBPS = 2
SLOW_QUANTUM = "300 B"
"""Quantum of FQ-CoDel below that rate, in place of a full packet, as scripts for access links have
it."""

FRAME = "1514 B"

REPLICATIONS = Replications(
    first=20, cap=40, quick_first=2, quick_cap=6, quick_events=600_000_000, variant=5
)


def grid_point(network: Network, point: Point) -> None:
    """One cell: `test` with its flows, `up_mbps`, and the `queue` of both routers."""
    for way, rate in zip(WAYS, (point["up_mbps"], DOWN_MBPS), strict=True):
        if point["queue"] == "fq_codel":
            network.set(f"{way}.queue", _fq_codel(int(rate)))
        else:
            network.set(f"{way}.queue.cake.rate", f"{rate} Mbit/s")
            network.set(f"{way}.queue.cake.tins", TINS[str(point["queue"])])
    tcp, ping = (network.take(path) for path in PATTERNS)
    there, back = ({"from": tcp[a], "to": tcp[b]} for a, b in (("from", "to"), ("to", "from")))
    if point["test"] == "voip":
        network.set("flows.up", tcp | {"count": UPLOADS})
        network.set("flows.ping_icmp", ping)
        network.set("flows.voip", there | _voip())
        return
    for name, dscp in CLASSES.items():
        network.set(f"flows.up_{name}", tcp | there | {"dscp": dscp})
        network.set(f"flows.down_{name}", tcp | back | {"dscp": dscp})
    for name, dscp in PINGS.items():
        network.set(f"flows.ping_{name}", ping | {"dscp": dscp})


def _fq_codel(mbps: int) -> dict[str, object]:
    """FQ-CoDel under a bucket of one frame, as HTB's is."""
    queue: dict[str, object] = {"ecn": False, "mtu_scope": "all"}
    if mbps < SLOW_MBPS:
        queue["quantum"] = SLOW_QUANTUM
    return {"tbf": {"rate": f"{mbps} Mbit/s", "burst": FRAME, "queue": {"fq_codel": queue}}}


def _voip() -> dict[str, object]:
    """A stream of packets of one size."""
    traffic = {"cbr": {"rate": VOIP_RATE, "size": VOIP_PACKET}}
    return {"dscp": "EF", "udp": {"header": "42 B"}, "traffic": traffic}


def many_pings(network: Network, point: Point) -> None:
    """A sensitivity run: a ping every 20 ms."""
    for name in PINGS:
        network.set(f"flows.ping_{name}.traffic.cbr.rate", "39200 bit/s")


def quantities(run: Run, point: Point) -> dict[str, float]:
    """What flows deliver, without headers, and the round-trip times of pings."""
    found: dict[str, float] = {}
    pings = PINGS
    if point["test"] == "voip":
        pings = {"icmp": PINGS["icmp"]}
        found["up_sum_bps"] = float(run.group("up")["goodput_bps"])
        found["up_avg_bps"] = found["up_sum_bps"] / UPLOADS
        voip = run.group("voip")
        found["voip_bps"] = float(voip["throughput_bps"])
        found["voip_delay_s"] = float(voip["mean_delay_s"])
    else:
        for way in ("up", "down"):
            rates = {name: float(run.group(f"{way}_{name}")["goodput_bps"]) for name in CLASSES}
            found |= {f"{way}_{name}_bps": rate for name, rate in rates.items()}
            found[f"{way}_sum_bps"] = sum(rates.values())
            found[f"{way}_avg_bps"] = found[f"{way}_sum_bps"] / len(rates)
        found["total_bps"] = found["up_sum_bps"] + found["down_sum_bps"]
    for name in pings:
        row = run.row("round_trips", f"ping_{name}")
        found |= {f"ping_{name}_{word}_s": float(row[f"{word}_rtt_s"]) for word in STATISTICS}
    found["ping_avg_mean_s"] = sum(found[f"ping_{name}_mean_s"] for name in pings) / len(pings)
    return found
