"""Small networks in which laws of each category are tried.

A place is a scenario with the law in it. Together those of a category ask of a law what the
engine's own are asked: every kind of packet, load and trouble that networks have for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["Place", "Scenario", "Section", "halves", "main_place", "parameter_place", "places_of"]

Scenario = dict[str, Any]
"""A scenario as tables."""

Section = Mapping[str, Any]
"""A mechanism as a scenario chooses it: its name, with its parameters."""


@dataclass(frozen=True, slots=True)
class Place:
    """A network with the law in it. `about` says what it is; `link` is the one whose counters are
    told. With `empties`, nothing may wait on that link at the end."""

    name: str
    about: str
    scenario: Scenario
    link: str = "bn"
    empties: bool = False


def places_of(
    category: str, law: Section, is_scheduler: bool = False, marking: Section | None = None
) -> list[Place]:
    """The places of a category, that of `main_place` first; `marking` is a queue with its parameter
    `ecn` switched on, if it has one."""
    if category != "queue":
        return list(_PLACES[category](law))
    found = list(_queue_places(law, is_scheduler))
    if marking is not None:
        link = {"rate": "10 Mbit/s", "queue": marking}
        found.append(Place("marks", "ecn = true, and the same TCP", _network("4 s", link, _ECN)))
    return found


def main_place(category: str, law: Section) -> Place:
    """A place of 4 s in which the law has to decide much."""
    return places_of(category, law)[0]


def parameter_place(category: str, law: Section, udp: bool = False) -> Place:
    """A place of 0.5 s, for parameters of which many are tried; traffic is sent by UDP there if
    `udp`."""
    place = places_of(category, law)[1 if udp else 0]
    return Place("parameters", "0.5 s of it", {**place.scenario, "duration": "500 ms"}, place.link)


def halves(category: str, laws: tuple[Section, Section]) -> tuple[Scenario, Scenario, Scenario]:
    """Two networks that share nothing, with a law each, and both of them in one scenario."""
    first, second = (
        _renamed(main_place(category, law).scenario, mark)
        for law, mark in zip(laws, ("-1", "-2"), strict=True)
    )
    both = {"links": {**first["links"], **second["links"]}}
    both["flows"] = {**first["flows"], **second["flows"]}
    return first, second, {**first, **both}


def _renamed(scenario: Scenario, mark: str) -> Scenario:
    """The scenario with other names of its links, flows and nodes."""

    def moved(part: Mapping[str, Any]) -> dict[str, Any]:
        return {**part, "from": part["from"] + mark, "to": part["to"] + mark}

    found = dict(scenario)
    for kind in ("links", "flows"):
        found[kind] = {name + mark: moved(part) for name, part in scenario[kind].items()}
    return found


def _network(duration: str, link: Mapping[str, Any], flows: Mapping[str, Any]) -> Scenario:
    """A link from `a` to `b`, with one of 100 Mbit/s in front of it, from `s`, so that packets of
    several sources meet; its flows go all the way unless they say otherwise."""
    access: dict[str, Any] = {"from": "s", "to": "a", "rate": "100 Mbit/s", "delay": "2 ms"}
    access["queue"] = {"droptail": {"limit": "1000 packets"}}
    given = {"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "10 ms"}
    ends = {"from": "s", "to": "b"}
    return {
        "duration": duration,
        "links": {"access": access, "bn": {**given, **link}},
        "flows": {name: {**ends, **flow} for name, flow in flows.items()},
    }


def _poisson(rate: str, size: str = "500 B", sizes: str = "exponential") -> dict[str, Any]:
    return {"udp": {}, "traffic": {"poisson": {"rate": rate, "size": size, "sizes": sizes}}}


def _trace(rows: Iterable[tuple[float, int]]) -> dict[str, Any]:
    text = "time_s,size_bytes\n" + "".join(f"{time:.6f},{size}\n" for time, size in rows)
    return {"udp": {}, "traffic": {"trace": {"file": {"text": text}}}}


def _coloured(rate: str) -> dict[str, Any]:
    """Sources of four precedences and classes, with this rate each."""
    classes = ("BE", "AF11", "AF41", "EF")
    return {
        f"colour-{number}": {**_poisson(rate), "precedence": number, "dscp": dscp}
        for number, dscp in enumerate(classes)
    }


_ECN = {
    "capable": {"count": 2, "tcp": {"ecn": True}},
    "scalable": {"count": 2, "tcp": {"ecn": True, "control": {"prague": {}}}},
    "plain": {"count": 2, "tcp": {}},
}
"""ECT(0), ECT(1) and Not-ECT side by side."""

_BURSTS = {"udp": {}, "traffic": {"pulses": {"rate": "10 Mbit/s", "size": "1000 B",
                                            "on": "30 ms", "off": "400 ms"}}}  # fmt: skip

_NONE: Section = MappingProxyType({})
"""Nothing beside what a place has."""

_DAYS = 99 * 86_400.0
"""A pause, in seconds."""

_PAUSE = _trace((start + 0.004 * n, 1000) for start in (0.0, _DAYS) for n in range(60))
"""Twice the rate of a link of 1 Mbit/s for a quarter of a second, and again after `_DAYS`."""


# ---- Queues ----------------------------------------------------------------------------


def _queue_places(law: Section, is_scheduler: bool) -> Iterable[Place]:
    def place(name: str, about: str, flows: Section, duration: str = "4 s", **link: Any) -> Place:
        return Place(name, about, _network(duration, {"queue": law, **link}, flows))

    fast = {"rate": "10 Mbit/s"}
    yield place("overload", "twice the rate of the link, four classes", _coloured("500 kbit/s"))
    yield place("bursts", "ten times the rate of the link, in bursts", {"bursts": _BURSTS})
    yield place("tcp", "four TCP flows", {"tcp": {"count": 4, "tcp": {}}}, **fast)
    yield place("ecn", "TCP with ECT(0), ECT(1) and without ECN", _ECN, **fast)
    sizes = {"large": _poisson("1 Mbit/s", "65535 B", "fixed"),
             "small": _poisson("400 kbit/s", "29 B", "fixed")}  # fmt: skip
    yield place("sizes", "packets of 29 B and of 65,535 B", sizes)
    flows = {"many": {"count": 100, **_poisson("20 kbit/s")}}
    yield place("flows", "a hundred flows", flows)
    back = {"there": {"count": 2, "tcp": {"ecn": True}},
            "back": {"from": "b", "to": "s", "count": 2, "tcp": {}}}  # fmt: skip
    yield place("reverse", "both ways, with acknowledgements", back, reverse={"queue": law})
    if not is_scheduler:
        other = {"droptail": {"limit": "20 packets"}}
        classes = {"priority": {"classes": [law, other, law]}}
        yield place("class", "two classes of a scheduler", _coloured("500 kbit/s"), queue=classes)
        shares = {"drr": {"classes": [law, law], "classify": "precedence"}}
        yield place("shares", "classes that send in turn", _coloured("500 kbit/s"), queue=shares)
    steps = [{"at": "1 s", "rate": "300 kbit/s"}, {"at": "2 s", "rate": "3 Mbit/s"}]
    yield place("rates", "a link that changes its rate", _coloured("400 kbit/s"), rate_steps=steps)
    failure = {"down": ["1 s"], "up": ["2 s"]}
    yield place("failure", "a link that fails for a second", _ECN, failure=failure, **fast)
    meter = {"token_bucket": {"cir": "400 kbit/s", "cbs": "3 kB"}}
    slow = _coloured("400 kbit/s")
    yield place("meter", "behind a meter, which colours", slow, conditioner=meter)
    shaper = {"leaky": {"rate": "900 kbit/s", "limit": "30 kB"}}
    yield place("shaper", "behind a shaper", {"bursts": _BURSTS}, shaper=shaper)
    yield place("pause", "99 days without a packet", {"pause": _PAUSE}, f"{_DAYS + 10} s")
    burst = {"burst": _trace((0.0001 * n, 1000) for n in range(200))}
    drained = place("drain", "200 packets at once, and 1,000 s to send them", burst, "1000 s")
    yield Place(drained.name, drained.about, drained.scenario, empties=True)


# ---- Conditioners ----------------------------------------------------------------------


def _conditioner_places(law: Section) -> Iterable[Place]:
    def place(name: str, about: str, flows: Section, duration: str = "4 s", **link: Any) -> Place:
        before = {"queue": {"droptail": {"limit": "20 packets"}}, "conditioner": law}
        return Place(name, about, _network(duration, {**before, **link}, flows))

    fast = {"rate": "10 Mbit/s"}
    yield place("overload", "twice the rate of the link, four classes", _coloured("500 kbit/s"))
    yield place("bursts", "ten times the rate of the link, in bursts", {"bursts": _BURSTS})
    yield place("tcp", "four TCP flows", {"tcp": {"count": 4, "tcp": {}}}, **fast)
    yield place("ecn", "TCP with ECT(0), ECT(1) and without ECN", _ECN, **fast)
    sizes = {"large": _poisson("500 kbit/s", "65535 B", "fixed"),
             "small": _poisson("400 kbit/s", "29 B", "fixed")}  # fmt: skip
    yield place("sizes", "packets of 29 B and of 65,535 B", sizes)
    rio = {"rio": {"min_threshold": ["20 packets", "10 packets"], "limit": "60 packets",
                   "max_threshold": ["40 packets", "20 packets"],
                   "max_probability": [0.02, 0.1]}}  # fmt: skip
    yield place("rio", "before a queue that goes by colour", _coloured("400 kbit/s"), queue=rio)
    classes: list[Section] = [{"droptail": {"limit": "20 packets"}}, {"codel": {}}]
    lanes = {"priority": {"classify": "precedence", "classes": classes}}
    yield place("lanes", "before a scheduler", _coloured("400 kbit/s"), queue=lanes)
    shaper = {"leaky": {"rate": "900 kbit/s", "limit": "30 kB"}}
    yield place("shaper", "behind a shaper", {"bursts": _BURSTS}, shaper=shaper)
    green = {"ras": {"green": True, "cir": "300 kbit/s", "cir_threshold": "2 kB",
                     "mir": "900 kbit/s", "mir_threshold": "8 kB", "limit": "12 kB"}}  # fmt: skip
    yield place("green", "behind a shaper that waits for green", _coloured("400 kbit/s"),
                shaper=green)  # fmt: skip
    yield place("each", "one for each of twenty flows",
                {"many": {"count": 20, **_poisson("100 kbit/s")}},
                conditioner={"per_flow": {"of": law}})  # fmt: skip
    two = _network("4 s", {}, _coloured("400 kbit/s"))
    two["links"]["bn"]["conditioners"] = [law, law]
    yield Place("twice", "two, one behind the other", two)
    yield place("pause", "99 days without a packet", {"pause": _PAUSE}, f"{_DAYS + 10} s")


# ---- Congestion controls ---------------------------------------------------------------


def _control_places(law: Section) -> Iterable[Place]:
    def place(
        name: str,
        about: str,
        tcp: Section = _NONE,
        flow: Section = _NONE,
        duration: str = "4 s",
        **link: Any,
    ) -> Place:
        given = {"rate": "10 Mbit/s", "queue": {"droptail": {"limit": "40 packets"}}}
        flows = {"own": {"tcp": {"control": law, **tcp}, **flow}}
        return Place(name, about, _network(duration, {**given, **link}, flows))

    several = {"count": 3}
    beside = place("buffer", "three flows and a buffer of 40 packets", flow=several)
    yield beside
    rival = {**beside.scenario["flows"], "cubic": {"from": "s", "to": "b", "tcp": {}}}
    yield Place("rival", "beside CUBIC", {**beside.scenario, "flows": rival})
    loss = {"loss": {"probability": 0.03}}
    yield place("loss", "3 % of packets lost on the wire", impairment=loss, duration="10 s")
    lossy = {"impairment": {"loss": {"probability": 0.1}}}
    yield place("acks", "10 % of acknowledgements lost", reverse=lossy)
    jitter = {"jitter": {"mean": "8 ms", "reorder": True}}
    yield place("reordering", "packets overtake each other", impairment=jitter)
    copies = {"duplication": {"probability": 0.05}}
    yield place("copies", "5 % of packets come twice", impairment=copies)
    marks = {"red": {"ecn": True, "min_threshold": "5 packets", "max_threshold": "20 packets",
                     "max_probability": 0.2, "mean_packet": "1500 B"}}  # fmt: skip
    yield place("ecn", "marks instead of drops", {"ecn": True}, several, queue=marks)
    step: Section = {"dualpi2": {}}
    yield place("l4s", "a queue of low latency", {"ecn": True}, several, queue=step)
    outage = {"outage": {"down": ["1 s", "4 s"], "up": ["3 s", "4.3 s"]}}
    yield place("outages", "nothing passes for 2 s: timeouts", impairment=outage, duration="10 s")
    files = {"traffic": {"file": {"size": "60 kB", "count": 8, "interval": "3 s"}}}
    yield place("idle", "a file every 3 s", flow=files, duration="25 s")
    transfers = {"rate": "10 /s", "sizes": {"constant": {"size": "20 kB"}}}
    web = {"count": 2, "traffic": {"transfers": transfers}}
    yield place("transfers", "connections that come and go", flow=web)
    trickle = {"traffic": {"cbr": {"rate": "500 kbit/s", "size": "300 B"}}}
    yield place("trickle", "an application that has little to send", flow=trickle)
    small = {"window": "2 packets", "initial_window": "1 packets", "mss": "536 B"}
    yield place("tiny", "windows of one and two segments", small)
    tight = {"droptail": {"limit": "2 packets"}}
    yield place("tight", "a buffer of two packets", flow=several, queue=tight, rate="1 Mbit/s")
    yield place("slow", "a link of 20 kbit/s", flow=several, rate="20 kbit/s", duration="30 s")
    yield place("long", "a round trip of 1.2 s", delay="600 ms", duration="20 s")
    yield place("short", "100 Mbit/s and no delay", delay="0 s", rate="100 Mbit/s",
                duration="500 ms")  # fmt: skip
    for profile, about in (("rfc", "TCP of the RFCs"), ("1990s", "TCP of the 1990s")):
        options = {"profile": profile}
        yield place(f"tcp-{profile}", about, options, several, impairment=loss, duration="10 s")
    yield place("paced", "paced by TCP", {"pacing": "window"}, several)


# ---- Traffic and impairments -----------------------------------------------------------


def _traffic_places(law: Section) -> Iterable[Place]:
    def place(name: str, about: str, flow: Section, duration: str = "4 s", **link: Any) -> Place:
        given = {"rate": "10 Mbit/s", "queue": {"droptail": {"limit": "50 packets"}}}
        flows = {"own": {"traffic": law, **flow}}
        return Place(name, about, _network(duration, {**given, **link}, flows))

    udp: Section = {"udp": {}}
    tcp: Section = {"tcp": {}}
    yield place("tcp", "written to two TCP connections", {"count": 2, **tcp})
    yield place("udp", "sent by UDP", udp)
    yield place("many", "twenty sources by UDP", {"count": 20, **udp})
    yield place("many-tcp", "twenty connections", {"count": 20, **tcp})
    late: Section = {"start": {"uniform": ["0 s", "2 s"]}, "stop": "3 s"}
    yield place("stop", "sources that start late and stop early", {"count": 5, **late, **tcp})
    loss = {"loss": {"probability": 0.05}}
    yield place("loss", "TCP with 5 % of packets lost", tcp, impairment=loss)
    slow = {"rate": "100 kbit/s"}
    yield place("minute", "a minute over a slow link", {"count": 2, **tcp}, "60 s", **slow)


def _impairment_places(law: Section) -> Iterable[Place]:
    def place(name: str, about: str, flows: Section, duration: str = "4 s", **link: Any) -> Place:
        given = {"queue": {"droptail": {"limit": "20 packets"}}, "impairment": law}
        return Place(name, about, _network(duration, {**given, **link}, flows))

    fast: dict[str, Any] = {"rate": "10 Mbit/s", "reverse": {"impairment": law}}
    yield place("overload", "twice the rate of the link, four classes", _coloured("500 kbit/s"))
    yield place("tcp", "both ways of four TCP flows", {"tcp": {"count": 4, "tcp": {}}}, **fast)
    yield place("ecn", "both ways of TCP with ECN and without", _ECN, **fast)
    yield place("bursts", "bursts", {"bursts": _BURSTS})
    sizes = {"large": _poisson("500 kbit/s", "65535 B", "fixed"),
             "small": _poisson("400 kbit/s", "29 B", "fixed")}  # fmt: skip
    yield place("sizes", "packets of 29 B and of 65,535 B", sizes)
    back = {"back": {"from": "b", "to": "s", **_poisson("800 kbit/s")}, **_coloured("100 kbit/s")}
    yield place("reverse", "both ways", back, reverse={"impairment": law})
    steps = [{"at": "1 s", "rate": "300 kbit/s"}, {"at": "2 s", "rate": "3 Mbit/s"}]
    yield place("rates", "a link that changes its rate", _coloured("400 kbit/s"), rate_steps=steps)
    yield place("pause", "99 days without a packet", {"pause": _PAUSE}, f"{_DAYS + 10} s")


_PLACES: dict[str, Callable[[Section], Iterable[Place]]] = {
    "conditioner": _conditioner_places,
    "control": _control_places,
    "traffic": _traffic_places,
    "impairment": _impairment_places,
}
