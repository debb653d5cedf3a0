"""Scenarios from Python: nodes, links, rings, aggregates and flows, the same TOML as a file.

    from forebay import Network, conditioner, queue, traffic

    net = Network("two flows and a bottleneck", duration="30 s", warm_up="5 s")
    sender, router, receiver = net.nodes("sender", "router", "receiver")
    net.link("access", sender, router, rate="100 Mbit/s", delay="1 ms")
    net.link("bottleneck", router, receiver, rate="10 Mbit/s", delay="10 ms",
             queue=queue.red(min_threshold="20 packets", max_threshold="60 packets"))
    net.flows("bulk", sender, receiver, count=2)
    results = net.run(replications=5)
    results.summary()

Nothing is checked here that the engine checks: a wrong value, key or unit is refused by `run` and
`check` with its key path, exactly as in a file.
"""

# ruff: noqa: PLC0415 (slow to import, seldom needed)

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError, read_text, warn_of
from forebay.paths import as_key, joined, names_of
from forebay.run.jobs import Job, edited, expanded
from forebay.run.jobs import check as check_job
from forebay.run.limits import memory_size, seconds
from forebay.run.results import Results, run_replications
from forebay.run.store import write_text
from forebay.scenario.catalogue import catalogue
from forebay.scenario.mechanism import Mechanism, plain
from forebay.scenario.notebook import network_html
from forebay.toml import inline, parse

if TYPE_CHECKING:
    from forebay.run.sweep_folder import SweepResults

__all__ = ["Network", "Node"]

WITHOUT = "without "
"""How a line of differences begins that names what is not there; no key path has a space outside
quotes."""


class Node(str):
    """A host or router, by its name. Hosts and routers differ only in what links and flows touch
    them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Node({str(self)!r})"


class Network:
    """A network to simulate.

    `duration` is the simulated time; counting begins after `warm_up` (default `"0 s"`). `seed` is
    the root of all random streams (default 1). Quantities are words with a unit: `"34 Mbit/s"`,
    `"2.5 ms"`, `"45 kB"`, `"78 packets"`.
    """

    _source: str | None = None
    """The text that the network was read from, if that says all of it."""

    attached: Any = None
    """Hosts with stacks of one's own (`forebay.host.attach`), if it has some. No file has them."""

    def __init__(
        self,
        name: str = "network",
        *,
        duration: str,
        warm_up: str | None = None,
        seed: int | None = None,
    ) -> None:
        self._document: dict[str, Any] = {"name": name, "duration": duration}
        if warm_up is not None:
            self._document["warm_up"] = warm_up
        if seed is not None:
            self._document["seed"] = seed

    @classmethod
    def from_toml(cls, path: str | Path) -> Network:
        """The network of a scenario file. Raises `UserError` if it cannot be read."""
        path = Path(path)
        return cls.from_text(read_text(path), str(path))

    @classmethod
    def from_text(cls, text: str, name: str = "scenario") -> Network:
        """The network of a scenario's text; `name` is what errors call it, and in the folder of
        such a file is what the scenario includes."""
        network = cls.__new__(cls)
        network._document = parse(text, name)
        if network._document.keys() & {"include", "sites"}:
            network._document = expanded(text, name)
        else:
            network._source = text
        return network

    @property
    def name(self) -> str:
        """Name of the network in results."""
        return str(self._document.get("name", "network"))

    def node(self, name: str) -> Node:
        """A node; it is part of the network once a link touches it."""
        return Node(name)

    def nodes(self, *names: str) -> tuple[Node, ...]:
        """Several nodes."""
        return tuple(Node(name) for name in names)

    def link(self, name: str, from_: str, to: str, **parameters: Any) -> Network:
        """Add a link between two nodes, duplex unless `duplex=False`.

        Parameters are those of a link in a scenario file: `rate` (needed, unless `profile`,
        `schedule` or `trace` says it), `delay`, `queue`, `conditioner` or `conditioners` (a list),
        `shaper`, `impairment`, `residual` (size of the packets of lower priority that fill it),
        `rate_steps` (a list of dictionaries with `at` and `rate`), `repeat`, `schedule` and `trace`
        (files in the current folder), `failure` (a dictionary), and `reverse`, a dictionary for the
        way back where it differs. See `forebay mechanisms link`. Returns the network. Raises
        `ValueError` for a name already taken.
        """
        return self._add("links", name, {"from": str(from_), "to": str(to), **parameters})

    def ring(
        self,
        name: str,
        stations: Sequence[str],
        *,
        rate: str,
        fairness: Mechanism | str | Mapping[str, Any],
        **parameters: Any,
    ) -> Network:
        """Add a packet ring: nodes joined by two ringlets on which data run opposite ways.

        `stations` stand in the order of data on the outer ringlet, `rate` is that of each span, and
        `fairness` says how much the host of a station may send (`forebay.fairness`). Parameters are
        those of a ring in a scenario file: `delay` or `delays` (a list), `transit`, `high`,
        `station` (a dictionary of those that differ) and sizes of buffers. See `forebay mechanisms
        ring`. Returns the network. Raises `ValueError` for a name already taken.
        """
        nodes = [str(station) for station in stations]
        given = {"stations": nodes, "rate": rate, "fairness": fairness, **parameters}
        return self._add("rings", name, given)

    def fabric(
        self,
        name: str,
        *,
        rate: str,
        delay: str | None = None,
        path: Mechanism | str | Mapping[str, Any] | None = None,
        queue: Mechanism | str | Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Network:
        """Add a fabric: the switches of a data centre, their hosts, and the links between them.

        Its shape is a dictionary among `parameters`: `fat_tree={"k": 8}`, or
        `leaf_spine={"leaves": 4, "spines": 2, "hosts": 16}`. `rate` is that of the links of hosts,
        `delay` that of each link, `path` says which of several ways packets take (`forebay.path`;
        ECMP if left out), and `queue` is that of all ports. Parameters are those of a fabric in a
        scenario file: `hosts` (a dictionary of what differs on links of hosts), `buffer` (one of
        the memory that each switch has) and `failures` (a list of dictionaries). Flows name the
        fabric for all its hosts, or nodes such as `"dc.h0"`. See `forebay mechanisms fabrics`.
        Returns the network. Raises `ValueError` for a name already taken.
        """
        given = {"rate": rate, "delay": delay, "path": path, "queue": queue}
        return self._add("fabrics", name, {**given, **parameters})

    def switch(
        self,
        node: str,
        memory: str,
        *,
        sharing: Mechanism | str | Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Network:
        """Let all links that leave `node` draw on one memory for the packets that wait there.

        `sharing` says how much of it a queue may hold (`forebay.sharing`); dynamic thresholds if
        left out. Parameters are those of a switch in a scenario file: `reserved`, what each queue
        has for itself alone, and `queues` of a port. See `forebay mechanisms switches`. Returns the
        network. Raises `ValueError` for a node that is a switch already.
        """
        return self._add(
            "switches", str(node), {"memory": memory, "sharing": sharing, **parameters}
        )

    def aggregate(
        self,
        name: str,
        *,
        rtt: str | Mapping[str, Any] | None = None,
        admission: Mechanism | str | Mapping[str, Any] | None = None,
        termination: Mechanism | str | Mapping[str, Any] | None = None,
        probing: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Network:
        """Add an ingress-egress aggregate (RFC 5559): the control of calls between two edge nodes.

        Groups of calls join it by name: `flows(..., aggregate=name)`. `rtt` is the time from what
        the egress node sees to its effect at the source (default `"0 s"`), or `{"uniform": ["20
        ms", "80 ms"]}` for a random time for each call. `admission` blocks new calls
        (`forebay.admission`), `termination` ends some of those in progress
        (`forebay.termination`), `probing` has new calls send test packets; nothing of the kind
        happens where they are left out. See `forebay mechanisms aggregate`. Returns the network.
        Raises `ValueError` for a name already taken.
        """
        laws = {"admission": admission, "termination": termination, "probing": probing}
        return self._add("aggregates", name, {"rtt": rtt, **laws, **parameters})

    def flows(
        self,
        name: str,
        from_: str | Sequence[str],
        to: str | Sequence[str],
        *,
        tcp: Mapping[str, Any] | None = None,
        udp: Mapping[str, Any] | None = None,
        media: Mapping[str, Any] | None = None,
        calls: Mapping[str, Any] | None = None,
        paced: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Network:
        """Add a group of flows between two nodes, or lists of nodes, where the name of a fabric
        stands for all its hosts: TCP unless another transport is given.

        `tcp`, `udp`, `media`, `calls` and `paced` hold the transport's parameters
        (`tcp=forebay.tcp(mss="536 B")`, `calls=forebay.calls(rate="450 /h", holding="3 min")`), as
        does the name of a transport of an engine of one's own among `parameters`. The others are
        those of a group of flows in a scenario file: `count` (not for calls, which come and go),
        `pairs` of several nodes (`forebay.pairs`) and `load` instead of `count`,
        `traffic` (TCP: a bulk transfer by default; not for media), `linked` (instead of `traffic`:
        a list, the flows of one call), `aggregate` (for calls), `policing`, `late_after`, `start`,
        `stop`, `route`, `precedence`, and `host` and `to_host`, the names of machines behind the
        two nodes, where hosts are told apart that share one, `tags`, names in common with
        other groups. See `forebay mechanisms flow`. Returns
        the network. The `file` of recorded traffic is sought in the current folder. Raises
        `ValueError` for a name already taken.
        """
        given = {"tcp": tcp, "udp": udp, "media": media, "calls": calls, "paced": paced}
        transport = {key: value for key, value in given.items() if value is not None}
        if not transport and not parameters.keys() & set(catalogue().transports):
            transport = {"tcp": {}}
        return self._add(
            "flows", name, {"from": _ends(from_), "to": _ends(to), **transport, **parameters}
        )

    def host(self, name: str, **parameters: Any) -> Network:
        """Say what a host is beside its name: `tags`, the names that it has in common with others.

        `name` is that of a node where flows begin or end, or of a machine that they name (`host`,
        `to_host`). See `forebay mechanisms host`. Returns the network. Raises `ValueError` for a
        name already taken.
        """
        return self._add("hosts", name, parameters)

    def record(self, **parameters: Any) -> Network:
        """Record more than counters: `series="10 ms"`, `delays=True`, `calls=True`,
        `transfers=True`, `reductions=True`, `trace=1000`; `jitter=True` and `losses=True` for how
        delay varies from packet to packet and how many are lost in a row; `classes=True` has
        results count by class of queues; `capture=["line"]` captures packets at links
        (`Results.capture`).

        See `forebay mechanisms record`.
        """
        self._document["record"] = plain({**self._document.get("record", {}), **parameters})
        return self

    def set(self, path: str, value: Any) -> Network:
        """Set one key by its path, such as `links.bottleneck.rate`; tables on the way are made.

        An entry of a list is reached by its number, counted from 0, as in
        `links.core.conditioners.1.sr_meter.rate`; a name with a dot is in quotes, as in
        `links."up.link".rate`. Returns the network. Raises `ValueError` for a number that the list
        does not have.
        """
        *above, last = names_of(path)
        table: Any = self._document
        for part in above:
            at = _key(path, part, table)
            below = table[at] if isinstance(table, list) else table.get(at)
            if not isinstance(below, dict | list):
                below = table[at] = {}
            table = below
        table[_key(path, last, table)] = plain(value)
        return self

    def update(self, values: Mapping[str, Any]) -> Network:
        """Set several keys by their paths, in their order (see `set`). Returns the network."""
        for path, value in values.items():
            self.set(path, value)
        return self

    def set_each(self, pattern: str, value: Any) -> int:
        """Set one key of every section that a path with `*` names, such as `flows.*.tcp.ecn`.

        Each `*` stands for any one name. Only sections that the network has are changed; what is
        set in them may be new. A mechanism given by its name alone, such as `queue = "droptail"`,
        counts as a section without keys. Returns how many sections were changed.
        """
        *above, last = names_of(pattern)
        sections = list(_matching(self._document, above))
        for path in sections:
            self.set(joined([*path, last]), value)
        return len(sections)

    def section(self, path: str) -> dict[str, Any]:
        """A copy of a section, such as `flows.bulk`. Raises `KeyError` where there is none."""
        above, last = self._above(path)
        if not isinstance(above[last], dict):
            raise KeyError(f"{path} is no section")
        return copy.deepcopy(above[last])

    def remove(self, *paths: str) -> Network:
        """Remove sections or single keys. Returns the network. Raises `KeyError` for one that the
        network does not have."""
        for path in paths:
            above, last = self._above(path)
            del above[last]
        return self

    def take(self, path: str) -> dict[str, Any]:
        """Remove a section and return it: a pattern after which others are made."""
        found = self.section(path)
        self.remove(path)
        return found

    def copy(self) -> Network:
        """A network of its own that can be changed without changing this one."""
        made = Network.__new__(Network)
        made._document = copy.deepcopy(self._document)
        made._source = self._source
        made.attached = None if self.attached is None else self.attached.copy()
        return made

    def differences(self, other: Network) -> list[str]:
        """Lists the changes that make this network of another one: `PATH=VALUE`, or `without PATH`,
        a line each."""
        return list(_differences(other.to_dict(), self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """The scenario as nested dictionaries."""
        found: dict[str, Any] = plain(self._document)
        return found

    def to_toml(self) -> str:
        """The scenario as the text of a scenario file.

        Of a network that was read from a text, it is that text with what was changed since: its
        comments and its layout stay, unless it includes files or repeats sites.
        """
        return self._edited() or self._written()

    def _written(self) -> str:
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    def _edited(self) -> str | None:
        """The text that the network was read from, with what was changed since; `None` if there is
        none, or it has no place for that."""
        if self._source is None:
            return None
        wanted = self.to_dict()
        lines = list(_differences(parse(self._source, self.name), wanted))
        if not lines:
            return self._source
        removed = [line.removeprefix(WITHOUT) for line in lines if line.startswith(WITHOUT)]
        assignments = [line for line in lines if not line.startswith(WITHOUT)]
        try:
            text = edited(self._source, self.name, removed, assignments)
            return text if parse(text, self.name) == wanted else None
        except UserError:
            return None

    def save(self, path: str | Path) -> None:
        """Write a scenario file (see `to_toml`)."""
        write_text(Path(path), self.to_toml())

    def check(self) -> dict[str, Any]:
        """Check the network without running it; what it consists of, defaults included.

        What can be run and is hardly meant is issued as `ScenarioWarning`, and is in the result
        under `warnings`. Raises `UserError` with the key path, what was read and what is allowed.
        """
        found = check_job(self.job())
        warn_of(found["warnings"])
        return found

    def job(self) -> Job:
        """One run of the network, for `forebay.run.jobs.run_jobs`."""
        return Job(self._written(), self.name, hosts=self.attached)

    def run(
        self,
        *,
        replications: int = 1,
        seed: int | None = None,
        until: str | None = None,
        threads: int | None = None,
        first: int = 0,
        check: bool = False,
        max_packets: int | None = None,
        max_memory: int | str | None = None,
        timeout: float | None = None,
    ) -> Results:
        """Run independent replications on all cores and gather what they gave.

        `replications` are numbered from `first`; `seed` replaces the network's. `until` replaces
        the duration. The results do not depend on `threads` (default: all cores, a replication
        each); where more are given than there are replications, each of these runs on several, if
        the network has delays at which it can be divided. `check` repeats every run, observed, and
        checks everything that must hold in any run. On Ctrl-C the finished replications are
        returned. What can be run and is hardly meant is issued as `ScenarioWarning` before the runs
        begin, once for all replications, and is in `Results.warnings`. Raises `UserError` for a
        wrong network, `RunFailedError` if a run breaks what must hold: a bug in the engine, and,
        when all others are finished, `LawError` or `StackError` (`forebay.errors`) if a law or a
        stack of one's own ended one; its `finished` are the results of these.

        `max_packets` bounds the data packets that the sources of a run may send, `max_memory` what
        it may take, in bytes or as `"4 GB"` (default: what the machine has left), and `timeout` how
        many seconds it may last. A run that exceeds one fails: after all others, `LimitError` is
        raised, a `UserError` that says what was exceeded. No result depends on a limit.
        """
        record = "record" in self._document
        limits = _limits(max_packets, max_memory, timeout)
        job = self.job().but(seed=seed, until=until, record=record, check=check, **limits)
        numbers = range(first, first + replications)
        return run_replications(job, self.name, numbers, threads, _warn)

    def sweep(
        self,
        quantities: Sequence[str] = (),
        *,
        out: str | Path,
        grid: Mapping[str, Sequence[Any]] | None = None,
        variants: Mapping[str, Mapping[str, Any]] | None = None,
        zip: Sequence[Mapping[str, Sequence[Any]]] = (),
        derived: Mapping[str, str] | None = None,
        replications: int = 5,
        seed: int | None = None,
        jobs: int | None = None,
        executor: str = "local",
        retry: bool = False,
        max_packets: int | None = None,
        max_memory: int | str | None = None,
        timeout: float | None = None,
    ) -> SweepResults:
        """Run the network with other values of its parameters, as `forebay sweep` does.

        `quantities` are what is looked at, such as `flows.voice.p95_delay_s`, or expressions of
        such; `derived` are expressions by name (default: all of these). Every combination of
        `grid` (lists of values by key path) is run, every one of `variants` (settings by name) with
        it, and every row of lists in `zip` that change together. Values are those of `set`,
        mechanisms among them. Each point has so many `replications`.

        Runs are kept in the folder `out` from the moment at which they end: called again, also
        after an interrupt, with more points or replications, a sweep makes those that the folder
        does not hold. It has the same files as that of `forebay sweep`, with the page
        `OUT/report.html`, and the command continues it too (`forebay sweep OUT/sweep.toml --out
        OUT`). `jobs` are runs at a time (default: all cores), `executor` is that of the command,
        and `retry` has runs made again that gave no result before. Limits are those of `run`; a run
        that exceeds one fails, which is issued as `RuntimeWarning` and is in `SweepResults.failed`.

        Raises `UserError` for a wrong network or sweep, or a folder with files of others.
        """
        from forebay.pages.page import refuse_foreign_report
        from forebay.pages.publish import publish
        from forebay.run.sweep_folder import sweep_into

        asked = {
            "name": self.name,
            "replications": replications,
            "seed": seed,
            "quantities": list(quantities),
            "derived": derived or {},
            "variants": variants or {},
            "zip": [_lists(row) for row in zip],
            "grid": _lists(grid or {}),
        }
        if self.attached is not None:
            raise UserError("a sweep runs in processes, where stacks of one's own cannot be")
        job = self.job().but(**_limits(max_packets, max_memory, timeout))
        if Path(out).is_dir():
            refuse_foreign_report(Path(out), "out")
        how: Any = {"jobs": jobs, "executor": executor, "retry": retry}
        return sweep_into(Path(out), job, plain(asked), publish, **how)

    def _repr_html_(self) -> str:
        return network_html(self.name, self.to_dict())

    def __repr__(self) -> str:
        parts = {
            "links": "links",
            "rings": "rings",
            "fabrics": "fabrics",
            "switches": "switches",
            "flows": "groups of flows",
            "aggregates": "aggregates",
        }
        counted = {words: len(self._document.get(key, {})) for key, words in parts.items()}
        rare = ("rings", "fabrics", "switches", "aggregates")
        shown = [f"{n} {words}" for words, n in counted.items() if n or words not in rare]
        return f"<Network {self.name!r}: {', '.join(shown)}>"

    def _above(self, path: str) -> tuple[dict[str, Any], str]:
        """The table that holds the last name of a path, and that name."""
        *above, last = names_of(path)
        table: Any = self._document
        for part in above:
            table = table.get(part) if isinstance(table, dict) else None
        if not isinstance(table, dict) or last not in table:
            raise KeyError(f"the scenario has no section {path}")
        return table, last

    def _add(self, section: str, name: str, parameters: Mapping[str, Any]) -> Network:
        table = self._document.setdefault(section, {})
        if name in table:
            raise ValueError(f'{section}: "{name}" is already taken')
        table[name] = plain(parameters)
        return self


def _ends(nodes: str | Sequence[str]) -> str | list[str]:
    """The nodes at one end of flows as a scenario has them: one, or a list."""
    return str(nodes) if isinstance(nodes, str) else [str(node) for node in nodes]


def _lists(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Lists by key path, of any sequences and arrays."""
    return {name: of.tolist() if hasattr(of, "tolist") else list(of) for name, of in values.items()}


def _limits(
    max_packets: int | None, max_memory: int | str | None, timeout: float | None
) -> dict[str, Any]:
    """Fields of a job that bound what a run may take."""
    return {
        "max_packets": max_packets,
        "max_memory": memory_size(max_memory) if isinstance(max_memory, str) else max_memory,
        "timeout": None if timeout is None else seconds(timeout),
    }


def _warn(_packets: Sequence[int], warnings: Sequence[Sequence[str]]) -> None:
    """Issue the warnings of a network that is about to be run: all its runs have the same."""
    warn_of(warnings[0])


def _key(path: str, part: str, table: dict[str, Any] | list[Any]) -> Any:
    """Returns what `part` of a path is in `table`: a key, or the number of a list's entry."""
    if isinstance(table, dict):
        return part
    if part.isdecimal() and int(part) < len(table):
        return int(part)
    known = ", ".join(map(str, range(len(table)))) or "none"
    raise ValueError(f'{path}: "{part}" is no entry of the list; there are: {known}')


def _matching(table: Any, pattern: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The paths of the sections below `table` that a pattern names."""
    if not pattern:
        yield ()
        return
    first, *rest = pattern
    entries = {table: {}} if isinstance(table, str) else table
    if isinstance(table, list):
        entries = {str(number): entry for number, entry in enumerate(table)}
    for name in entries if first == "*" else [first]:
        below = entries.get(name) if isinstance(entries, dict) else None
        if isinstance(below, dict | list) or (isinstance(below, str) and rest):
            yield from ((name, *path) for path in _matching(below, rest))


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any], above: str = ""
) -> Iterator[str]:
    for name in [*after, *(name for name in before if name not in after)]:
        path = f"{above}{as_key(name)}"
        if name not in after:
            yield f"{WITHOUT}{path}"
        elif isinstance(after[name], dict) and isinstance(before.get(name), dict):
            yield from _differences(before[name], after[name], f"{path}.")
        elif name not in before or after[name] != before[name]:
            yield f"{path}={inline(after[name])}"
