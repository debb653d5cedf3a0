"""The shell script of a scenario, or the commands of tc for one of its links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forebay.errors import UserError, nearest
from forebay.linux.flows import flow_commands
from forebay.linux.guard import GUARD
from forebay.linux.links import delay_words, rate_commands, wire_words
from forebay.linux.topology import Topology
from forebay.linux.values import Remarks, View, number

__all__ = ["link_script", "network_script"]

_HEAD = """\
#!/bin/sh
# Usage, as root: sh SCRIPT [FOLDER]. Counters, reports of iperf3 and delays go to FOLDER.
set -eu
out=${1:-results}
if [ "$(id -u)" -ne 0 ]; then echo "must be run as root" >&2; exit 1; fi"""

_WHY = """\
# Rate and queue are where a link's sender has them; the delay is in the namespace of its wire,
# since the packets that netem holds would otherwise count as waiting in the queue."""


def network_script(values: dict[str, str], allowed: Sequence[str]) -> tuple[str, Remarks]:
    """The script that builds a scenario, runs its flows and keeps what its devices count."""
    remarks = Remarks(allowed)
    topology = Topology(values, remarks)
    lines = [_WHY]
    for name, link in topology.links.items():
        for end, way in enumerate((link, _reverse(link))):
            lines.append(f"# {way.path}")
            space = topology.namespaces[topology.ends[name][end]]
            for command in rate_commands(way, topology.device(name, end), topology.mtu, remarks):
                lines.append(command.replace("tc ", f"tc -n {space} ", 1))
            out = f"{topology.device(name, 1 - end)}w"
            place = "root handle 1:"
            for words in wire_words(way, remarks):
                start = f"tc -n {topology.wire(name)} qdisc replace dev {out} {place}"
                lines.append(" ".join([start, *words]))
                place = "parent 1:1 handle 2:"
    flows = flow_commands(topology, values["duration"], remarks)
    remarks.unused()
    warm_up, duration = number(values.get("warm_up") or "0 s"), number(values["duration"])
    body = [
        _HEAD,
        *_programs(topology),
        *_told(remarks),
        'mkdir -p "$out"',
        GUARD,
        # A signal ends what is waited for; it would otherwise be heard at the end of the pause.
        'pause() { sleep "$1" & wait $!; }',
        *_sender(topology),
        *topology.commands(),
        *lines,
        *_counting(topology),
        *flows,
        f"pause {float(warm_up):g}",
        "count begin",
        f"pause {float(duration - warm_up):g}",
        "count end",
        "wait",
        'echo "counters, reports and delays are in $out"',
    ]
    return "\n".join(body) + "\n", remarks


def _programs(topology: Topology) -> list[str]:
    """Shell lines that end the script before it makes anything if a program that it needs is
    missing."""
    udp = [flow.below("udp") for flow in topology.flows.values()]
    needed = ["ip", "tc", "ethtool", "sysctl"]
    needed += ["ss", "iperf3"] if not all(udp) else []
    needed += ["python3"] if any(udp) else []
    return [
        f"for tool in {' '.join(needed)}; do",
        '  if ! command -v "$tool" >/dev/null; then echo "$tool is not installed" >&2; exit 1; fi',
        "done",
    ]


def _sender(topology: Topology) -> list[str]:
    """The program that sends and receives datagrams, where there are any."""
    if not any(flow.below("udp") for flow in topology.flows.values()):
        return []
    program = Path(__file__).with_name("datagrams.py").read_text(encoding="utf-8")
    return ["cat >\"$out/datagrams.py\" <<'PROGRAM'", *program.splitlines(), "PROGRAM"]


def _counting(topology: Topology) -> list[str]:
    """A function that writes the counters of all links and hosts at one time."""
    lines = ["count() {", '  date +%s.%N >"$out/time.$1"']
    for name, ends in topology.ends.items():
        for end, node in enumerate(ends):
            dev = topology.device(name, end)
            read = f"tc -n {topology.namespaces[node]} -s -j qdisc show dev {dev}"
            lines.append(f'  {read} >"$out/{dev}.$1.json"')
            read = f"tc -n {topology.wire(name)} -s -j qdisc show dev {dev}w"
            lines.append(f'  {read} >"$out/{dev}w.$1.json"')
    for flow in topology.flows:
        for end in (0, 1):
            host = topology.host(flow, end)
            lines.append(f'  ip -n {host} -s -j link show dev h0 >"$out/{host}.$1.json"')
        if not topology.flows[flow].below("udp"):
            # Segments sent again by all connections of a host, and each connection.
            host = topology.host(flow, 0)
            read = f"ip netns exec {host} sh -c 'cat /proc/net/snmp; ss -tinHO'"
            lines.append(f'  {read} >"$out/{host}.tcp.$1"')
    return [*lines, "}"]


def link_script(
    values: dict[str, str], name: str, device: str, allowed: Sequence[str]
) -> tuple[str, Remarks]:
    """The commands of tc for the rate and the queue of one link."""
    remarks = Remarks(allowed)
    topology = Topology(values, remarks)
    links = topology.links
    links |= {f"{name}.reverse": _reverse(link) for name, link in links.items()}
    if name not in links:
        near = nearest(name, links)
        raise UserError(f'--link: no link "{name}"{near}; there are {", ".join(links)}')
    commands = rate_commands(links[name], device, topology.mtu, remarks)
    if words := " ".join(delay_words(links[name], remarks)):
        remarks.note(f"{links[name].path}.delay", f"not on this device; behind it: {words}")
    remarks.unused()
    return "\n".join([*_told(remarks), *commands]) + "\n", remarks


def _reverse(link: View) -> View:
    """The way back: what it does not give is as forth, and its queue is its own."""
    values = dict(link.values)
    path = f"{link.path}.reverse"
    for key in ("rate", "delay"):
        if values.get(f"{path}.{key}", "absent") == "absent":
            values[f"{path}.{key}"] = values.get(f"{link.path}.{key}", "absent")
    return View(values, path)


def _told(remarks: Remarks) -> list[str]:
    lines = [f"# Linux differs: {note}" for note in remarks.notes]
    return [*lines, *(f"# approximated: {text}" for text in remarks.approximations)]
