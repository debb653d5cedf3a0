"""Nodes as namespaces, links as veth pairs, hosts of flows, addresses and routes."""

from __future__ import annotations

from collections import deque

from forebay.linux.guard import NAMESPACE
from forebay.linux.sources import largest_packet
from forebay.linux.values import Remarks, View, number
from forebay.paths import SECTIONS, joined, names_below

__all__ = ["Topology"]


class Topology:
    """The nodes, links and flows of a scenario, with the names and addresses that they get.

    Each flow has a host of its own at either end, behind the node that the scenario names. TCP
    small queues (net.ipv4.tcp_limit_output_bytes) would otherwise keep a sender's packets out of
    the queue of its own node, and a sysctl holds for all that a namespace sends.
    """

    def __init__(self, values: dict[str, str], remarks: Remarks) -> None:
        self.links, self.flows, *others = (_views(values, section) for section in SECTIONS)
        for view in (view for views in others for view in views.values()):
            remarks.refuse(view.path, "Linux has none; the nearest is links and flows")
        for flow in self.flows.values():
            for key in ("from", "to"):
                if flow.text(key).startswith("["):
                    text = "a list of nodes; in Linux a group has one node at each end"
                    remarks.refuse(f"{flow.path}.{key}", text)
        self.ends = {
            name: (link.text("from"), link.text("to")) for name, link in self.links.items()
        }
        for link in self.links.values():
            if link.get("duplex") == "false":
                remarks.note(f"{link.path}.duplex", "a veth pair has a way back, of the same rate")
        nodes = dict.fromkeys(node for ends in self.ends.values() for node in ends)
        self.namespaces = {node: f"fb-n{i}" for i, node in enumerate(nodes)}
        self.numbers = {name: i for i, name in enumerate(self.links)}
        self.mtu = max([1500, *map(_packet, self.flows.values())])

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

    def host(self, flow: str, end: int) -> str:
        """The namespace of the host that sends (0) or receives (1) a flow."""
        return f"fb-f{list(self.flows).index(flow)}{'ab'[end]}"

    def host_address(self, flow: str, end: int, node: bool = False) -> str:
        """The address of that host, or of its node towards it."""
        high, low = divmod(2 * list(self.flows).index(flow) + end, 256)
        return f"10.{128 + high}.{low}.{2 if node else 1}"

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
            lines += [f"# node {node}", f"{NAMESPACE} {space}", f"ip -n {space} link set lo up"]
            lines += [f"ip netns exec {space} sysctl -qw net.ipv4.ip_forward=1"]
            lines += [f"ip netns exec {space} sysctl -qw net.ipv4.conf.all.rp_filter=0"]
        for link in self.links:
            lines += self._pair(link)
        for index, flow in enumerate(self.flows):
            lines += [f"# hosts of flow {flow}"]
            for end, key in enumerate(("from", "to")):
                lines += self._host(flow, end, f"h{index}{'ab'[end]}")
                lines += self._routes(flow, end, self.flows[flow].text(key))
        return lines

    def _host(self, flow: str, end: int, dev: str) -> list[str]:
        space = self.host(flow, end)
        node = self.namespaces[self.flows[flow].text(("from", "to")[end])]
        mine, gate = self.host_address(flow, end), self.host_address(flow, end, node=True)
        low, high = _macs(gate)
        lines = [
            f"{NAMESPACE} {space}",
            f"ip -n {space} link set lo up",
            f"ip -n {space} link add h0 address {low} type veth "
            f"peer name {dev} address {high} netns {node}",
            f"ip -n {space} addr add {mine}/30 dev h0",
            f"ip -n {node} addr add {gate}/30 dev {dev}",
        ]
        for where, name in ((space, "h0"), (node, dev)):
            lines += self._up(where, name)
        return [
            *lines,
            f"ip -n {space} neigh add {gate} lladdr {high} dev h0 nud permanent",
            f"ip -n {node} neigh add {mine} lladdr {low} dev {dev} nud permanent",
            f"ip -n {space} route add default via {gate} dev h0",
        ]

    def _routes(self, flow: str, end: int, target: str) -> list[str]:
        mine = self.host_address(flow, end)
        lines = []
        for other, (link, side) in self.next_hops(target).items():
            via, dev = self.address(link, 1 - side), self.device(link, side)
            lines.append(f"ip -n {self.namespaces[other]} route add {mine}/32 via {via} dev {dev}")
        return lines

    def _up(self, space: str, dev: str) -> list[str]:
        # Segments that the device cuts, or joins, would be packets that no scenario has.
        return [
            f"ip netns exec {space} ethtool -K {dev} tso off gso off gro off tx off >/dev/null",
            f"ip -n {space} link set {dev} mtu {self.mtu} txqueuelen 1000 up",
        ]

    def _pair(self, link: str) -> list[str]:
        wire = self.wire(link)
        lines = [
            f"# link {link}: the namespace between its ends is the wire",
            f"{NAMESPACE} {wire}",
        ]
        macs = _macs(self.address(link, 1))
        for end, node in enumerate(self.ends[link]):
            space, dev = self.namespaces[node], self.device(link, end)
            lines += [
                f"ip -n {space} link add {dev} address {macs[end]} type veth "
                f"peer name {dev}w netns {wire}",
                f"ip -n {space} addr add {self.address(link, end)}/30 dev {dev}",
                # Questions for an address would be lost in a queue that is full.
                f"ip -n {space} neigh add {self.address(link, 1 - end)} lladdr {macs[1 - end]} "
                f"dev {dev} nud permanent",
            ]
            for where, name in ((space, dev), (wire, f"{dev}w")):
                lines += self._up(where, name)
        for end in (0, 1):
            into, out = f"{self.device(link, end)}w", f"{self.device(link, 1 - end)}w"
            lines += [f"tc -n {wire} qdisc add dev {into} ingress"]
            lines += [
                f"tc -n {wire} filter add dev {into} ingress protocol all u32 match u32 0 0 "
                f"action mirred egress redirect dev {out}"
            ]
        return lines


def _macs(address: str) -> tuple[str, str]:
    """Addresses of Ethernet for both ends of a pair, made of the IP address of the second."""
    middle = ":".join(f"{int(part):02x}" for part in address.split(".")[1:3])
    return f"02:00:00:{middle}:01", f"02:00:00:{middle}:02"


def _packet(flow: View) -> int:
    """The largest packet of a flow, with its IP header."""
    if flow.below("udp"):
        return largest_packet(flow)
    options = 12 if flow.is_set("tcp.timestamps") else 0
    return round(number(flow.get("tcp.mss") or "0 B")) + 40 + options


def _views(values: dict[str, str], section: str) -> dict[str, View]:
    """Entries of a section of the scenario, by name."""
    names = names_below(values, section)
    return {name: View(values, joined([section, name])) for name in names}
