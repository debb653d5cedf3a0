"""The scenarios of the cells: a queue or an impairment, and what is sent through it."""

from __future__ import annotations

from dataclasses import dataclass

from forebay.run.jobs import Job

LINUX_PIE = 'decay = "empty", high_delay = "250 ms", update_interval = "30 ms"'

LINUX_RED = 'mean_packet = "1500 B", count = "linux", spacing = "drawn"'

DROPTAIL = 'queue = { droptail = { limit = "50 packets" } }'

PATHS: dict[str, str | tuple[str, str]] = {
    "droptail": DROPTAIL,
    "red": f'queue = {{ red = {{ limit = "100 packets", {LINUX_RED} }} }}',
    "codel": 'queue = { codel = { limit = "1000 packets" } }',
    "codel-ecn": 'queue = { codel = { limit = "1000 packets", ecn = true } }',
    "pie": 'queue = { pie = { limit = "1000 packets" } }',
    "pie-linux": (
        f'queue = {{ pie = {{ limit = "1000 packets", mean_packet = "1514 B", {LINUX_PIE} }} }}',
        'queue = { pie = { limit = "1000 packets" } }',
    ),
    "fq_codel": 'queue = { fq_codel = { mtu_scope = "all" } }',
    "fq_pie": (
        f'queue = {{ fq_pie = {{ mean_packet = "1514 B", {LINUX_PIE} }} }}',
        "queue = { fq_pie = {} }",
    ),
    # iperf3 has one host for all its streams.
    "cake": "queue = { cake = { flows_per_source = 4, flows_per_destination = 4 } }",
    "sfq": "queue = { sfq = {} }",
    "drr": (
        'queue = { drr = { dscp = ["AF41"], quanta = ["3000 B", "1500 B"], classes = ['
        '{ droptail = { limit = "50 packets" } }, { droptail = { limit = "50 packets" } }] } }'
    ),
    "htb": (
        'queue = { htb = { dscp = ["AF41"], classes = ['
        '{ name = "line", rate = "9 Mbit/s" }, '
        '{ name = "gold", parent = "line", rate = "4 Mbit/s", ceil = "9 Mbit/s", '
        'queue = { droptail = { limit = "50 packets" } } }, '
        '{ name = "rest", parent = "line", rate = "2 Mbit/s", ceil = "9 Mbit/s", '
        'queue = { droptail = { limit = "50 packets" } } }] } }'
    ),
    "tbf": (
        'queue = { tbf = { rate = "8 Mbit/s", burst = "15 kB", '
        'queue = { droptail = { limit = "75 kB" } } } }'
    ),
    "policer": (
        'conditioner = { token_bucket = { cir = "8 Mbit/s", cbs = "30 kB", excess = "drop" } }\n'
        + DROPTAIL
    ),
    "loss": "impairment.loss = { probability = 0.01 }\n" + DROPTAIL,
    "jitter": 'impairment.jitter = { mean = "5 ms" }\n' + DROPTAIL,
    "red-ecn": (
        'queue = { red = { min_threshold = "10 packets", max_threshold = "40 packets", '
        f'max_probability = 1.0, weight = 0.5, limit = "100 packets", ecn = true, {LINUX_RED} }} }}'
    ),
    "fq_codel-ce": (
        'queue = { fq_codel = { mtu_scope = "all", ce_threshold = "2 ms", ecn = true } }'
    ),
}
"""Queues and impairments by name: the same on both sides, or the simulated one and that of which
Linux gets the words. Linux's PIE has no other decay, and makes 30 ms of 15."""

_SIMPLE = list(PATHS)[:10]
_SHARED = ("drr", "htb")
"""Those with two classes, and a flow more for the second."""
_WIRES = ("droptail", "tbf", "policer", "loss", "jitter")

TRAFFIC: dict[str, list[str]] = {
    "reno": list(PATHS)[:16],
    "cubic": list(PATHS)[:16],
    "bbr": _SIMPLE,
    "vegas": _SIMPLE,
    "dctcp": ["codel-ecn", "red-ecn", "fq_codel-ce"],
    "cbr": list(_WIRES),
    "poisson": list(_WIRES),
}
"""Traffic that is sent: four flows of a congestion control of TCP, or of datagrams; through
what."""

_UDP = {"cbr": "3 Mbit/s", "poisson": "2.25 Mbit/s"}
"""The rate of each of four sources: 12 and 9 Mbit/s in all."""

_HEAD = """
name = "{name}"
duration = "20 s"
warm_up = "5 s"
[links.line]
from = "a"
to = "b"
rate = "10 Mbit/s"
"""

_FLOW = """
[flows.{name}]
from = "a"
to = "b"
"""

_PROBE = """
[flows.probe]
from = "a"
to = "b"
udp = {}
traffic = { poisson = { rate = "40 kbit/s", size = "100 B" } }
"""
"""Fifty datagrams in a second: Poisson arrivals see time averages (RFC 2330, section 11.1.1)."""


@dataclass(frozen=True)
class Cell:
    """One cell: what is sent, and through what."""

    traffic: str
    path: str

    @property
    def name(self) -> str:
        """As in "reno through codel"."""
        return f"{self.traffic} through {self.path}"

    def job(self, linux: bool = False) -> Job:
        """The scenario, that of the simulator or that of which Linux gets the words."""
        paths = PATHS[self.path]
        path = paths if isinstance(paths, str) else paths[linux]
        text = _HEAD.format(name=self.name) + path + "\n" + _delays(path)
        if self.path in _SHARED:
            text += self._flows("gold", 2, 'dscp = "AF41"') + self._flows("bulk", 2)
        else:
            text += self._flows("bulk", 4)
        return Job(text + _PROBE, self.name)

    def _flows(self, name: str, count: int, more: str = "") -> str:
        if rate := _UDP.get(self.traffic):
            source = f'{{ rate = "{rate}", size = "1500 B" }}'
            what = f"udp = {{}}\ntraffic = {{ {self.traffic} = {source} }}"
        else:
            marked = self.path in ("codel-ecn", "red-ecn", "fq_codel-ce")
            what = f"tcp = {{ control = {{ {self.traffic} = {{}} }}, ecn = {str(marked).lower()} }}"
        return _FLOW.format(name=name) + f"count = {count}\n{more}\n{what}\n"


def _delays(path: str) -> str:
    """A round trip of 40 ms on the wire, of which up to 2 ms are random, unless `path` has more."""
    if "jitter" in path:
        return 'delay = "15 ms"\nreverse.delay = "20 ms"\n'
    if "loss" in path:
        # A link has one impairment each way.
        random = 'reverse.impairment.jitter = { mean = "1 ms" }\n'
        return 'delay = "20 ms"\nreverse.delay = "19 ms"\n' + random
    return 'delay = "19 ms"\nimpairment.jitter = { mean = "1 ms" }\nreverse.delay = "20 ms"\n'


CELLS = [Cell(traffic, path) for traffic, paths in TRAFFIC.items() for path in paths]
"""All of them."""
