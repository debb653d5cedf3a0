"""Networks of the experiments, made of the patterns of scenario.toml.

A grid point names its `experiment` and what varies within it: `control` (`dctcp`, or `tcp` with
tail drop), `rate_gbps` of all hosts, the threshold `k` of marks in packets, `flows` or `servers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from forebay.study import Network, Point

__all__ = ["PACKET", "grid_point", "hosts_of", "packet_time_s", "rtt_s"]

PACKET = 1538
"""Bytes of a full packet on the wire of the test bed; 1500 in simulations of the paper."""

RTT_US = 100
"""Round-trip time of an empty rack (section 2.3.3)."""

K = {1: 20, 10: 65}
"""Thresholds by the rate of a port in Gbit/s (section 3.5)."""

MARKED = ("dctcp", "prague")
"""Controls behind a step of marks; Prague is that of an extension."""

RED = {
    "floyd": {"min_threshold": 50, "max_threshold": 150},
    "tuned": {"min_threshold": 150, "max_threshold": 300},
}
"""Thresholds of figure 15 in packets; that of the tuned one to which `max_th` is raised is not
told, and taken as twice `min_th`."""

SIMULATED_ACCESS = 10
"""Rate of senders' links over that of the bottleneck in simulations of the paper, assumed: so that
the queue of a flow that sends alone is at the switch as well."""

STEP_S = 3.0
"""Time between starts, and between stops, of the flows of figure 16, where the paper has 30 s."""

LATE_S = (0.3, 0.32)
"""When the second flow of two starts: at random within these times."""


def rtt_s(point: Point) -> float:
    """Round-trip time without queues."""
    return float(point.get("rtt_us", RTT_US)) * 1e-6


def packet_time_s(point: Point) -> float:
    """Time that a full packet of a simulation of the paper takes at a port of a host."""
    return 1500 * 8e-9 / float(point["rate_gbps"])


def hosts_of(prefix: str, count: int) -> list[str]:
    """Names of several hosts."""
    return [f"{prefix}{number}" for number in range(1, count + 1)]


def grid_point(network: Network, point: Point) -> None:
    """The network of a grid point."""
    rig = _Rig(network, point)
    _EXPERIMENTS[str(point["experiment"])](rig)


class _Rig:
    """Patterns of scenario.toml, and the network that is made of them."""

    def __init__(self, network: Network, point: Point) -> None:
        self.network = network
        self.point = point
        self.host_link = network.take("links.host")
        network.remove("links.receiver")
        self.long = network.take("flows.long")
        self.query = network.take("flows.query")
        self.control = str(point["control"])

    def time(self, duration: float, warm_up: float = 0.0) -> None:
        """Duration of the run, and when measuring begins, in seconds."""
        self.network.set("duration", f"{duration:g} s").set("warm_up", f"{warm_up:g} s")

    def record(self, **record: Any) -> None:
        """What a run records."""
        self.network.set("record", record)

    def queue(self, rate: int) -> Any:
        """Queue of a port of a switch."""
        if self.control in MARKED:
            return {"step": {"threshold": f"{self.point.get('k', K[rate])} packets"}}
        if "red" in self.point:
            thresholds = RED[str(self.point["red"])]
            packets = {key: f"{value} packets" for key, value in thresholds.items()}
            return {"red": packets | {"max_probability": 0.1, "weight": 2.0**-9, "ecn": True}}
        return "droptail"

    def hosts(self, names: Iterable[str], switch: str = "tor", *, faster: int = 1) -> None:
        """Hosts behind a switch, on links so many times faster than those of the experiment."""
        rate = int(self.point.get("rate_gbps", 1))
        for name in names:
            link = self.host_link | {"from": name, "to": switch, "rate": f"{faster * rate} Gbit/s"}
            link["reverse"] = link["reverse"] | {"queue": self.queue(rate)}
            self.network.set(f"links.{name}", link)

    def tcp(self, flow: dict[str, Any]) -> dict[str, Any]:
        """A flow of the grid point's congestion control."""
        tcp = dict(flow["tcp"])
        if self.control == "prague":
            tcp |= {"control": "prague"}
        if self.control == "tcp":
            tcp |= {"control": "reno", "ecn": "red" in self.point}
        if "rto_ms" in self.point:
            tcp["rto_min"] = tcp["rto_initial"] = f"{self.point['rto_ms']} ms"
        return flow | {"tcp": tcp}

    def send(self, name: str, source: Any, target: Any, **more: Any) -> None:
        """Flows that send all the time."""
        self.network.set(
            f"flows.{name}", self.tcp(self.long) | {"from": source, "to": target} | more
        )

    def ask(self, servers: list[str], client: Any, part: int, think: str = "", **more: Any) -> None:
        """A client, or several, that ask `servers` for `part` bytes each."""
        requests = dict(self.query["traffic"]["requests"])
        fan_in = len(servers) - (0 if isinstance(client, str) else 1)
        requests |= {"connections": fan_in, "objects": fan_in}
        requests["sizes"] = {"constant": {"size": f"{part} B"}}
        if think:
            requests["think"] = think
        if "rto_ms" in self.point:
            requests["retry"] = f"{self.point['rto_ms']} ms"
        flow = self.tcp(self.query) | {"traffic": {"requests": requests}}
        self.network.set("flows.query", flow | {"from": servers, "to": client} | more)
        self.record(transfers=True, reductions=True)

    def static(self) -> None:
        """A buffer for each port instead of dynamic ones (section 4.2.1): see deviations.toml."""
        limit = {"static": {"limit": "100 kB"}}
        self.network.remove("switches.tor.sharing").set("switches.tor.sharing", limit)

    def as_simulated(self) -> None:
        """The paper's simulations instead of its test bed: no host delays, packets of 1500 B, an
        acknowledgement each, a buffer for each port, and one bottleneck. What hosts add is at most
        a packet's time there, against phase effects."""
        bits = (1 + 1 / SIMULATED_ACCESS) * (1500 + 40) * 8
        delay = (1e6 * rtt_s(self.point) - bits * 1e-3 / int(self.point["rate_gbps"])) / 4
        self.network.remove("switches.tor")
        self.host_link["impairment"] = {
            "jitter": {"mean": f"{0.5e9 * packet_time_s(self.point):g} ns"}
        }
        self.host_link["reverse"].pop("impairment")
        self.host_link["delay"] = f"{delay:.3f} us"
        self.long["tcp"] |= {"header": "40 B", "delayed_ack": False}


def _analysis(rig: _Rig) -> None:
    """Figure 12: N long flows in step, simulated."""
    rig.as_simulated()
    sources = hosts_of("s", int(rig.point["flows"]))
    rig.hosts(sources, faster=SIMULATED_ACCESS)
    rig.hosts(["receiver"])
    rig.send("long", sources, "receiver")
    rig.time(0.6, 0.2)
    rig.record(series="20 us", series_of=["links.receiver.reverse", "flows.long[0]"])


def _converge(rig: _Rig) -> None:
    """Section 3.5: a second flow joins, simulated."""
    rig.as_simulated()
    rig.hosts(["s1", "s2"], faster=SIMULATED_ACCESS)
    rig.hosts(["receiver"])
    if rig.control == "tcp":
        rig.network.set("links.receiver.reverse.queue", {"droptail": {"limit": "100 packets"}})
    rig.send("first", "s1", "receiver")
    rig.send("second", "s2", "receiver", start={"uniform": [f"{at:g} s" for at in LATE_S]})
    rig.time(2.0)
    rig.record(series="5 ms", series_of=["flows.first", "flows.second"])


def _long(rig: _Rig) -> None:
    """Figures 1, 13 to 15: long flows to one receiver."""
    sources = hosts_of("s", int(rig.point["flows"]))
    rig.hosts([*sources, "receiver"])
    rig.send("long", sources, "receiver")
    rig.time(6.0 if rig.point["rate_gbps"] == 1 else 2.0, 1.0)


def _many(rig: _Rig) -> None:
    """Section 4.1: up to 90 flows to one receiver; of five senders, which take them in turn."""
    sources = hosts_of("s", 5)
    rig.hosts([*sources, "receiver"])
    rig.send("long", sources, "receiver", count=rig.point["flows"])
    rig.time(10.0, 1.0)


def _steps(rig: _Rig) -> None:
    """Figure 16: five flows start one after the other, and stop in that order."""
    sources = hosts_of("s", 5)
    rig.hosts([*sources, "receiver"])
    for number, source in enumerate(sources):
        start, stop = number * STEP_S, (number + len(sources)) * STEP_S
        early = {"uniform": [f"{start:g} s", f"{start + 0.1:g} s"]}
        rig.send(f"step{number + 1}", source, "receiver", start=early, stop=f"{stop:g} s")
    rig.time((2 * len(sources) - 1) * STEP_S)
    rig.record(series="100 ms", series_of=["flows"])


def _hops(rig: _Rig) -> None:
    """Figure 17: two Triumphs with a Scorpion between them."""
    network, memory = rig.network, rig.network.take("switches.tor")
    network.remove("switches")
    for switch in ("triumph1", "scorpion", "triumph2"):
        network.set(f"switches.{switch}", memory)
    uplink: dict[str, Any] = {"rate": "10 Gbit/s", "queue": rig.queue(10)}
    uplink["reverse"] = {"queue": rig.queue(10)}
    network.set("links.up", uplink | {"from": "triumph1", "to": "scorpion"})
    network.set("links.down", uplink | {"from": "scorpion", "to": "triumph2"})
    s1, s2, s3 = hosts_of("a", 10), hosts_of("b", 20), hosts_of("c", 10)
    r2 = hosts_of("r", 20)
    rig.hosts([*s1, *s2], "triumph1")
    rig.hosts([*s3, *r2, "receiver"], "triumph2")
    rig.send("s1", s1, "receiver")
    rig.send("s3", s3, "receiver")
    for number, (source, target) in enumerate(zip(s2, r2, strict=True), 1):
        rig.send(f"s2x{number}", source, target)
    rig.time(3.0, 1.0)


def _incast(rig: _Rig) -> None:
    """Figures 18 and 19: a client asks n servers for 1 MB in all."""
    servers = hosts_of("s", int(rig.point["servers"]))
    rig.hosts([*servers, "receiver"])
    if rig.point["buffer"] == "static":
        rig.static()
    rig.ask(servers, "receiver", 1_000_000 // len(servers))
    rig.time(100.0 if rig.point["rto_ms"] == 300 else 10.0)


def _all_to_all(rig: _Rig) -> None:
    """Figure 20: 41 clients ask all others for 25 kB each."""
    everyone = hosts_of("h", 41)
    rig.hosts(everyone)
    rig.ask(everyone, everyone, 25_000, pairs={"incast": {"fan_in": 40}})
    rig.time(1.0)


def _build_up(rig: _Rig) -> None:
    """Figure 21: requests for 20 kB beside two long flows."""
    rig.hosts(["s1", "s2", "s3", "receiver"])
    rig.send("long", ["s1", "s2"], "receiver")
    rig.ask(["s3"], "receiver", 20_000, think="50 ms", start="500 ms")
    rig.time(15.0)


def _pressure(rig: _Rig) -> None:
    """Table 2: an incast of ten, beside long flows among 33 other hosts of the switch."""
    servers, others = hosts_of("s", 10), hosts_of("h", 33)
    rig.hosts([*servers, *others, "receiver"])
    rig.ask(servers, "receiver", 100_000, start={"uniform": ["500 ms", "510 ms"]})
    if rig.point["background"]:
        for ahead in (1, 2):
            for number, source in enumerate(others):
                target = others[(number + ahead) % len(others)]
                rig.send(f"long{number + 1}x{ahead}", source, target)
    rig.time(3.5, 0.5)


_EXPERIMENTS: dict[str, Callable[[_Rig], None]] = {
    "analysis": _analysis,
    "converge": _converge,
    "long": _long,
    "many": _many,
    "steps": _steps,
    "hops": _hops,
    "incast": _incast,
    "all-to-all": _all_to_all,
    "build-up": _build_up,
    "pressure": _pressure,
}
