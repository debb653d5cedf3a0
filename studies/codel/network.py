"""Networks of the article's experiments, made of the patterns of scenario.toml.

A grid point names its `family` and the `queue` of the bottleneck, in both directions (`codel`,
`droptail`, `red`):

- `edge`: `rate_kbps`, 512 or 1500;
- `dynamic`: `buffer`, 830 or 10 packets, while the rate changes;
- `static`: `rate_kbps`, `rtt_ms`, `load` (see `LOADS`) and the size `packet` of packets in bytes;
- `standing` and `burst`: the networks of section "Understanding Queues".
"""

from __future__ import annotations

import math
from typing import Any

from forebay.study import Network, Point

__all__ = ["ACCESS_MS", "LOADS", "STEPS", "edge_buffer", "grid_point", "packet_bytes", "rate_at"]

NOMINAL_RTT_MS = 100
"""Round-trip time of which buffers and windows are made (script: nominal_rtt), at every path."""

ACCESS_MS = 20
"""Delay of an access link (script: accessdly), but for that of the one endless FTP of the edge."""

STATIC_BUFFER = 8
"""Buffer of the runs at static rates, in BDP (section "Simulation Experiments")."""

WINDOW = 16
"""Window of receivers in BDP (script: window_)."""

HEADER = 52
"""Bytes of IP, TCP and timestamps in a full packet."""

LOADS: dict[str, tuple[int, float, int]] = {
    "ftp1": (1, 0, 0),
    "ftp4": (4, 0, 0),
    "ftp20": (20, 0, 0),
    "mixed": (4, 5, 1),
    "light": (1, 0.5, 1),
    "web2": (0, 2, 0),
    "web5": (0, 5, 0),
    "web10": (0, 10, 0),
}
"""Endless FTPs, web connections a second, and CBR sources of the static runs: within the 0 to 50
FTPs and 0 to 80 connections of section "Simulation Experiments"."""

STEPS = ((0, 100), (50, 10), (100, 1), (150, 50), (200, 1), (250, 100))
"""Rates of the dynamic runs in Mbit/s, by their times in seconds."""


def rate_at(seconds: float) -> float:
    """Rate of the dynamic runs at a time, in bit/s."""
    return 1e6 * next(rate for at, rate in reversed(STEPS) if seconds > at or not at)


RED = {
    "max_probability": 0.1,
    "gentle": True,
    "spacing": "wait",
    "idle_correction": "ns2",
    "mean_packet": "500 B",
    "ns2_guards": True,
}
"""RED with what ns-2 takes by itself (assumed: the article gives no parameters)."""


def packet_bytes(point: Point) -> int:
    """Size of a full packet: 500 B below 1 Mbit/s (script: psize), unless the point tells it."""
    if "packet" in point:
        return int(point["packet"])
    return 500 if float(point.get("rate_kbps", 1500)) < 1000 else 1500


def edge_buffer(point: Point) -> int:
    """Packets of one BDP at the consumer edge (script: buffersize)."""
    return _bdp(1e3 * float(point["rate_kbps"]), packet_bytes(point))


def _bdp(bps: float, size: int) -> int:
    """Packets that are sent in the nominal round trip (script: bdp)."""
    return _rounded(bps * NOMINAL_RTT_MS / (8e3 * size))


def _rounded(value: float) -> int:
    """The nearest whole number, from a half upwards, as Tcl rounds."""
    return math.floor(value + 0.5)


def grid_point(network: Network, point: Point) -> None:
    """The network of a grid point."""
    family = point["family"]
    if family == "edge":
        _Dumbbell(network, point, float(point["rate_kbps"])).edge()
    elif family == "dynamic":
        _Dumbbell(network, point, STEPS[0][1] * 1e3).dynamic()
    elif family == "static":
        _Dumbbell(network, point, float(point["rate_kbps"])).static()
    else:
        _single(network, str(family))


class _Dumbbell:
    """The gateways and the patterns of sources, by the point's rate and size of packets."""

    def __init__(self, network: Network, point: Point, rate_kbps: float) -> None:
        self.network, self.point = network, point
        self.rate, self.size = rate_kbps * 1e3, packet_bytes(point)
        self.bdp = _bdp(self.rate, self.size)
        network.set("links.core.rate", _rate(self.rate))
        for link in network.to_dict()["links"]:
            if link != "core":
                limit = {"droptail": {"limit": f"{10 * self.bdp - 1} packets"}}
                network.set(f"links.{link}.rate", _rate(10 * self.rate))
                network.set(f"links.{link}.queue", limit)
        payload = self.size - HEADER
        network.set_each("flows.*.tcp.mss", f"{payload} B")
        network.set_each("flows.*.tcp.window", f"{WINDOW * self.bdp * payload} B")

    def edge(self) -> None:
        """The consumer edge: what scenario.toml has, at another rate or with another queue."""
        self.queues(self.bdp)

    def dynamic(self) -> None:
        """Four FTPs and web traffic over a link whose rate changes in both directions."""
        self.queues(int(self.point["buffer"]))
        self.network.set("links.ftp_server.delay", f"{ACCESS_MS} ms")
        self.sources(4, 5, 0)
        steps = [{"at": f"{at} s", "rate": f"{rate} Mbit/s"} for at, rate in STEPS[1:]]
        for direction in ("links.core", "links.core.reverse"):
            self.network.set(f"{direction}.rate_steps", steps)
        self.network.set("record.series", "100 ms").set("record.series_of", ["links.core"])

    def static(self) -> None:
        """One of the loads over a path of another round-trip time."""
        self.queues(STATIC_BUFFER * self.bdp)
        share = float(self.point["rtt_ms"]) / NOMINAL_RTT_MS
        self.network.set("links.core.delay", f"{10 * share:g} ms")
        for name in ("ftp", "web", "voice"):
            for side in ("server", "client"):
                extra = 1 if (name, side) == ("ftp", "client") else 0
                delay = ACCESS_MS * share + extra
                self.network.set(f"links.{name}_{side}.delay", f"{delay:g} ms")
        self.sources(*LOADS[str(self.point["load"])])

    def sources(self, ftps: int, web: float, cbrs: int) -> None:
        """Numbers of sources; none towards the servers. Each FTP has 1 ms more than the last."""
        network = self.network
        network.remove("flows.upload", "links.upload_server", "links.upload_client")
        network.remove("flows.voice_up")
        server, client, flow = (
            network.take(f"{path}")
            for path in ("links.ftp_server", "links.ftp_client", "flows.ftp")
        )
        first = float(str(client["delay"]).split()[0])
        for number in range(1, ftps + 1):
            near, far = f"S1x{number}", f"C1x{number}"
            network.set(f"links.ftp{number}_server", server | {"from": near})
            delay = {"to": far, "delay": f"{first + number - 1:g} ms"}
            network.set(f"links.ftp{number}_client", client | delay)
            network.set(f"flows.ftp{number}", flow | {"from": near, "to": far})
        if web:
            network.set("flows.web.traffic.packmime.rate", f"{web:g} /s")
        else:
            network.remove("flows.web", "links.web_server", "links.web_client")
        if not cbrs:
            network.remove("flows.voice", "links.voice_server", "links.voice_client")

    def queues(self, packets: int) -> None:
        """The point's queue in both directions; tail drop of ns-2 holds a packet less."""
        codel = self.network.section("links.core.queue.codel")
        made: dict[str, Any] = {
            "codel": codel | {"limit": f"{packets} packets", "mtu": f"{self.size} B"},
            "droptail": {"limit": f"{packets - 1} packets"},
            "red": self.red() | {"limit": f"{packets} packets"},
        }
        name = str(self.point["queue"])
        for direction in ("links.core", "links.core.reverse"):
            self.network.set(f"{direction}.queue", {name: made[name]})

    def red(self) -> dict[str, Any]:
        """RED as ns-2 sets it up by itself: thresholds for a delay of 5 ms, and a weight by the
        packets of 500 B that the link sends in a second (red.cc, initialize_params)."""
        packets = self.rate / (8 * 500)
        least = max(5.0, 5e-3 * packets / 2)
        return RED | {
            "min_threshold": f"{_rounded(least)} packets",
            "max_threshold": f"{_rounded(3 * least)} packets",
            "weight": 1 - math.exp(-1 / packets),
        }


def _single(network: Network, family: str) -> None:
    """A window of 25 packets over a pipe of 20, or three packets at 12 into 1.2 Mbit/s."""
    ftp = network.section("flows.ftp.tcp")
    document = network.to_dict()
    network.remove(*(f"links.{name}" for name in document["links"]))
    network.remove(*(f"flows.{name}" for name in document["flows"]))
    plain = {"queue": "droptail"}
    network.set(
        "links.fast", plain | {"from": "S", "to": "G", "rate": "12 Mbit/s", "delay": "1 us"}
    )
    slow = {"from": "G", "to": "C", "rate": "1.2 Mbit/s", "delay": "100 ms"}
    network.set("links.core", plain | slow)
    if family == "standing":
        reno = {"control": "reno", "window": f"{25 * 1448} B", "mss": "1448 B"}
        network.set("flows.ftp", {"from": "S", "to": "C", "tcp": ftp | reno})
        network.set("duration", "60 s").set("warm_up", "20 s")
        return
    once = {"rate": "12 Mbit/s", "size": "1500 B", "on": "3 ms", "off": "10 s"}
    three = {"pulses": once | {"random_phase": False}}
    network.set("flows.three", {"from": "S", "to": "C", "udp": {"header": "0 B"}, "traffic": three})
    network.set("duration", "1 s")


def _rate(bps: float) -> str:
    """A rate in the largest unit that keeps it short."""
    return f"{bps / 1e6:g} Mbit/s" if bps >= 1e6 else f"{bps / 1e3:g} kbit/s"
