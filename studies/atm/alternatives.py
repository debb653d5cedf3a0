"""Alternatives that the thesis describes beside its own choices, and argues against: exact
selective discard (chapter 4), detection by queue length (5.1), forward notification (5.2), on/off
sources and a constant increase for all (5.3). Each is a `change` of a grid point, made on top of
what network.py makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forebay.study import Network, Point

CONSTANT_BPS = 10e3
"""The increase of a network-wide constant (section 5.3): what 2 % are to a data source, and next to
that to a video source."""
NOMINAL_BPS = {"voice": 64e3, "video": 512e3, "data": 500e3}
BACK_BPS = 1.1 * 21e6
"""Rate that others send along the way back of the notifications, if that is congested: at the same
priority, 10 % more than it carries."""
FINE = "50 ms"
"""One interval of the detector: how finely some runs are recorded."""


def exact_discard(network: Network, _: Point) -> None:
    """A full queue is searched for a cell with CLP=1, which makes room for one with CLP=0."""
    for number, limit in enumerate((512, 1024)):
        network.set(
            f"links.satellite.queue.priority.classes.{number}",
            {"push_out": {"limit": f"{limit} packets"}},
        )


def policed(network: Network, _: Point) -> None:
    """Policing without control: what arrives does not depend on what is lost."""
    network.remove("links.satellite.detector")
    network.set_each("flows.*.paced.pace", "uncontrolled")


def policed_exact(network: Network, point: Point) -> None:
    """The same with exact selective discard."""
    policed(network, point)
    exact_discard(network, point)


def queue_length(network: Network, _: Point) -> None:
    """The port is congested where a queue is 90 % occupied, whatever the input rate."""
    network.set("links.satellite.detector", {"queue_length": {"threshold": 0.9}})


def queue_length_shared(network: Network, point: Point) -> None:
    """The same, with queues that drop no cell before they are full."""
    queue_length(network, point)
    for number, limit in enumerate((512, 1024)):
        law = f"links.satellite.queue.priority.classes.{number}.partial_buffer_sharing"
        network.set(f"{law}.threshold", f"{limit} packets")


def forward(network: Network, _: Point) -> None:
    """The port marks the cells whose sources it would notify; the destination notifies them."""
    rate = network.section("links.satellite.detector.input_rate")
    marks = {key: rate[key] for key in ("interval", "weight", "memory", "threshold", "share")}
    network.remove("links.satellite.detector")
    network.set("links.satellite.conditioner", {"efci": marks})
    for link in ("satellite", "egress"):
        network.set(f"links.{link}.duplex", True)
    network.set_each("flows.*.paced.efcn", {"interval": rate["interval"], "share": 0.5})


def far_port(network: Network, _: Point) -> None:
    """Congestion is detected far from the sources: the satellite link is in front of the port, and
    the round trip as long as ever."""
    network.set("links.user.delay", "270 ms")
    network.set("links.satellite.delay", "5 ms")


def far_forward(network: Network, point: Point) -> None:
    """Forward notification from a port far from the sources."""
    far_port(network, point)
    forward(network, point)


def busy_way_back(network: Network, _: Point) -> None:
    """Others overload the link on which notifications travel, at their priority."""
    traffic = {"cbr": {"rate": f"{BACK_BPS:g} bit/s", "size": "53 B"}}
    network.set("flows.others", {"from": "S1", "to": "user", "udp": {}, "traffic": traffic})


def on_off(network: Network, _: Point) -> None:
    """A notification turns a source off for a round trip; then it sends at its nominal rate."""
    network.set_each("flows.*.paced.pace.steps.cut", 1.0)
    network.set_each("flows.*.paced.pace.steps.cut_discard", 1.0)
    network.set_each("flows.*.paced.pace.steps.floor", 0.0)
    network.set_each("flows.*.paced.pace.steps.ceiling", 1.0)
    network.set_each("flows.*.paced.pace.steps.increase", 1.0)


def constant_increase(network: Network, _: Point) -> None:
    """All sources rise by one number of bit/s each round trip."""
    for kind, nominal in NOMINAL_BPS.items():
        network.set_each(f"flows.{kind}.paced.pace.steps.increase", CONSTANT_BPS / nominal)


def sampled(network: Network, _: Point) -> None:
    """The thesis's own choice, recorded at each interval of the detector."""
    kinds = network.section("flows")
    network.record(series=FINE, series_of=["links.satellite", *(f"flows.{kind}" for kind in kinds)])


DISCARDING = ("policed", "policed-exact")
"""Two queues for the same arrivals, whose runs differ more than the queues do."""
CHANGES: Mapping[str, Callable[[Network, Point], None]] = {
    "exact-discard": exact_discard,
    "policed": policed,
    "policed-exact": policed_exact,
    "queue-length": queue_length,
    "queue-length-shared": queue_length_shared,
    "forward": forward,
    "far-port": far_port,
    "far-forward": far_forward,
    "busy-way-back": busy_way_back,
    "on-off": on_off,
    "constant-increase": constant_increase,
    "sampled": sampled,
}


def apply(network: Network, point: Point) -> None:
    """Make the change of a grid point, if it is one of these."""
    if change := CHANGES.get(str(point.get("change", ""))):
        change(network, point)
