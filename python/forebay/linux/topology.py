"""Nodes as namespaces, links as veth pairs, addresses and routes."""

from __future__ import annotations

from collections import deque

from forebay.linux.values import Remarks, View

__all__ = ["Topology"]


class Topology:
    """The nodes and links of a scenario, with the names and addresses that they get."""

    def __init__(self, values: dict[str, str], remarks: Remarks) -> None:
        self.links = {name: View(values, f"links.{name}") for name in _names(values, "links")}
        self.flows = {name: View(values, f"flows.{name}") for name in _names(values, "flows")}
        for section in ("rings", "aggregates"):
            for name in _names(values, section):
                remarks.refuse(
                    f"{section}.{name}", "Linux has none; the nearest is links and flows"
                )
        self.ends = {
            name: (link.text("from"), link.text("to")) for name, link in self.links.items()
        }
        for name, link in self.links.items():
            if link.get("duplex") == "false":
                remarks.note(f"links.{name}.duplex", "a veth pair has a way back, of the same rate")
        nodes = dict.fromkeys(node for ends in self.ends.values() for node in ends)
        self.namespaces = {node: f"fb-n{i}" for i, node in enumerate(nodes)}
        self.numbers = {name: i for i, name in enumerate(self.links)}

    def wire(self, link: str) -> str:
        """The namespace that stands for the wire of a link."""
        return f"fb-w{self.numbers[link]}"

    def device(self, link: str, end: int) -> str:
        """The device of a link at its sender (0) or receiver (1)."""
        return f"l{self.numbers[link]}{'ab'[end]}"

    def address(self, link: str, end: int) -> str:
        """The address of that device."""
        high, low = divmod(self.numbers[link], 256)
        return f"10.{high}.{low}.{end + 1}"

    def host(self, node: str) -> str:
        """An address of a node by which all others reach it."""
        index = list(self.namespaces).index(node)
        high, low = divmod(index, 256)
        return f"10.{128 + high}.{low}.1"

    def next_hops(self, target: str) -> dict[str, tuple[str, int]]:
        """Of each other node the link and its own end of it, on a way of fewest hops."""
        found: dict[str, tuple[str, int]] = {}
        waiting = deque([target])
        while waiting:
            node = waiting.popleft()
            for link, ends in self.ends.items():
                if node not in ends:
                    continue
                end = 1 - ends.index(node)
                other = ends[end]
                if other != target and other not in found:
                    found[other] = (link, end)
                    waiting.append(other)
        return found

    def commands(self) -> list[str]:
        """The commands that build it."""
        lines = []
        for node, space in self.namespaces.items():
            lines += [f"# node {node}", f"ip netns add {space}", f"ip -n {space} link set lo up"]
            lines += [f"ip -n {space} addr add {self.host(node)}/32 dev lo"]
            lines += [f"ip netns exec {space} sysctl -qw net.ipv4.ip_forward=1"]
            lines += [f"ip netns exec {space} sysctl -qw net.ipv4.conf.all.rp_filter=0"]
        for link in self.links:
            lines += self._pair(link)
        for node in self.namespaces:
            for other, (link, end) in self.next_hops(node).items():
                via, dev = self.address(link, 1 - end), self.device(link, end)
                space, mine = self.namespaces[other], self.host(other)
                route = f"{self.host(node)}/32 via {via} dev {dev} src {mine}"
                lines.append(f"ip -n {space} route add {route}")
        return lines

    def _pair(self, link: str) -> list[str]:
        wire = self.wire(link)
        lines = [
            f"# link {link}: the namespace between its ends is the wire",
            f"ip netns add {wire}",
        ]
        for end, node in enumerate(self.ends[link]):
            space, dev = self.namespaces[node], self.device(link, end)
            lines += [f"ip -n {space} link add {dev} type veth peer name {dev}w netns {wire}"]
            lines += [f"ip -n {space} addr add {self.address(link, end)}/30 dev {dev}"]
            for where, name in ((space, dev), (wire, f"{dev}w")):
                lines += [f"ip netns exec {where} ethtool -K {name} tso off gso off gro off tx off"]
                lines += [f"ip -n {where} link set {name} txqueuelen 1000 up"]
        for end in (0, 1):
            into, out = f"{self.device(link, end)}w", f"{self.device(link, 1 - end)}w"
            lines += [f"tc -n {wire} qdisc add dev {into} ingress"]
            lines += [
                f"tc -n {wire} filter add dev {into} ingress matchall "
                f"action mirred egress redirect dev {out}"
            ]
        return lines


def _names(values: dict[str, str], section: str) -> list[str]:
    return list(dict.fromkeys(key.split(".")[1] for key in values if key.startswith(f"{section}.")))
