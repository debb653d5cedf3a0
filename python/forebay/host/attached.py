"""Hosts on a network: which, where, and who exchanges datagrams with whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forebay.errors import UserError
from forebay.host.contract import Address, ApplicationMaker, StackMaker
from forebay.native import native
from forebay.run.results import Results
from forebay.scenario.network import Network

__all__ = ["Host", "Hosts", "attach", "connect", "repeat"]


@dataclass(frozen=True, eq=False)
class Host:
    """A host of a network at a `node`, from the time `start` on. `attach` makes it."""

    node: str
    endpoint: StackMaker
    application: ApplicationMaker
    start: str
    hosts: Hosts = field(repr=False)
    places: list[tuple[str, str]] = field(default_factory=list)

    @property
    def address(self) -> Address:
        """Its first address. Raises `UserError` for a start or a move at what is no time."""
        return self.hosts.addresses()[self.hosts.members.index(self)]

    def move(self, node: str, at: str) -> Host:
        """Have it leave its address for a new one at `node` at a time such as `"5 s"`; `node` can
        be the same. What comes to the old address is lost. Returns the host."""
        self.places.append((str(node), at))
        return self


@dataclass(eq=False)
class Hosts:
    """The hosts of a network, as a job of `forebay.run.jobs` has them."""

    members: list[Host] = field(default_factory=list)
    peers: list[tuple[int, int]] = field(default_factory=list)

    def copy(self) -> Hosts:
        """The same hosts, to which others can be added."""
        made = Hosts(peers=list(self.peers))
        made.members = [
            replace(host, hosts=made, places=list(host.places)) for host in self.members
        ]
        return made

    def addresses(self) -> Sequence[Address]:
        """The first address of each. Raises `UserError` for what is no time."""
        engine = native()
        try:
            addresses: Sequence[Address] = engine.host_addresses(self.as_native())
        except engine.ScenarioError as error:
            raise UserError(str(error)) from None
        return addresses

    def as_native(self) -> dict[str, Any]:
        """The hosts as the engine takes them."""
        hosts = [
            {
                "node": host.node,
                "start": host.start,
                "moves": host.places,
                "endpoint": host.endpoint,
                "application": host.application,
            }
            for host in self.members
        ]
        return {"hosts": hosts, "peers": self.peers, "taken": []}


def attach(
    network: Network,
    node: str,
    endpoint: StackMaker,
    application: ApplicationMaker,
    *,
    start: str = "0 s",
) -> Host:
    """Make a stack with its application a host at a node of a network.

    For each run `endpoint(now)` makes the stack (`forebay.host.Stack`), when the host starts, and
    `application()` the application (`forebay.host.Application`). It exchanges datagrams with all
    other hosts, unless `connect` says which. `Network.run` then runs them, and raises `StackError`
    (`forebay.errors`) where one ends a run: it raises, does not stop sending, asks to be woken
    again and again at one time, sends more than the MTU of 1500 B holds (1472 B), or to where no
    host is.
    """
    for what, made in (("endpoint", endpoint), ("application", application)):
        if not callable(made):
            raise UserError(
                f"{what} of the host at {node}: read {made!r}; allowed is a function that makes it "
                "for each run"
            )
    if network.attached is None:
        network.attached = Hosts()
    hosts: Hosts = network.attached
    host = Host(str(node), endpoint, application, start, hosts)
    hosts.members.append(host)
    return host


def connect(one: Host, other: Host) -> None:
    """Have two hosts exchange datagrams; those of which no such thing is said then exchange none.
    Raises `UserError` for hosts of two networks."""
    if one.hosts is not other.hosts:
        raise UserError(f"hosts at {one.node} and {other.node}: are of two networks")
    members = one.hosts.members
    one.hosts.peers.append((members.index(one), members.index(other)))


def repeat(network: Network, **options: Any) -> Results:
    """Run a network with hosts twice each time, the second time watched by all invariants, and
    compare every datagram; `options` are those of `Network.run`.

    Raises `StackError` if a stack goes by a clock or by random numbers of its own, so that results
    hang on more than the seed, with the first datagram that differs.
    """
    return network.run(check=True, **options)
