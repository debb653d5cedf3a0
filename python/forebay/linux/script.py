"""The shell script of a scenario, or the commands of tc for one of its links."""

from __future__ import annotations

from forebay.errors import UserError, nearest
from forebay.linux.flows import flow_commands
from forebay.linux.links import delay_words, rate_commands
from forebay.linux.topology import Topology
from forebay.linux.values import Remarks, View

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["link_script", "network_script"]

_HEAD = """#!/bin/sh
set -eu
if [ "$(id -u)" -ne 0 ]; then echo "must be run as root" >&2; exit 1; fi"""

_WHY = """\
# Rate and queue are where a link's sender has them; the delay is in the namespace of its wire,
# since the packets that netem holds would otherwise count as waiting in the queue."""

_TSQ = """# TCP small queues (net.ipv4.tcp_limit_output_bytes) hold packets back in the sender; a
# simulated sender has no such limit."""


def network_script(values: dict[str, str], allowed: Sequence[str]) -> tuple[str, Remarks]:
    """The script that builds a scenario and runs its flows."""
    remarks = Remarks(allowed)
    topology = Topology(values, remarks)
    lines = [_WHY]
    for name, link in topology.links.items():
        for end, way in enumerate((link, _reverse(link))):
            lines.append(f"# {way.path}")
            space = topology.namespaces[topology.ends[name][end]]
            for command in rate_commands(way, topology.device(name, end), remarks):
                lines.append(command.replace("tc ", f"tc -n {space} ", 1))
            out = f"{topology.device(name, 1 - end)}w"
            delay = " ".join(delay_words(way, remarks))
            lines.append(f"tc -n {topology.wire(name)} qdisc replace dev {out} root {delay}")
    flows = flow_commands(topology, values["duration"], remarks)
    remarks.unused()
    spaces = [*topology.namespaces.values(), *map(topology.wire, topology.links)]
    # Only what this script has made goes: it ends before where one of them is there already.
    check = [
        f"for n in {' '.join(spaces)}; do",
        '  if [ -e "/run/netns/$n" ]; then echo "namespace $n is there" >&2; exit 1; fi',
        "done",
        "clean() {",
        '  for p in $(jobs -p); do kill "$p" 2>/dev/null || true; done',
        f"  for n in {' '.join(spaces)}; do",
        '    for p in $(ip netns pids "$n" 2>/dev/null); do kill "$p" 2>/dev/null || true; done',
        '    ip netns del "$n" 2>/dev/null || true',
        "  done",
        "}",
        "trap clean EXIT",
        "trap 'exit 130' INT TERM",
    ]
    body = [_HEAD, *_told(remarks), *check, *topology.commands(), *lines, _TSQ, *flows, "wait"]
    return "\n".join(body) + "\n", remarks


def link_script(
    values: dict[str, str], name: str, device: str, allowed: Sequence[str]
) -> tuple[str, Remarks]:
    """The commands of tc for the rate and the queue of one link."""
    remarks = Remarks(allowed)
    links = Topology(values, remarks).links
    if name not in links:
        near = nearest(name, links)
        raise UserError(f'--link: no link "{name}"{near}; there are {", ".join(links)}')
    commands = rate_commands(links[name], device, remarks)
    if links[name].get("delay") not in (None, "0 ps") or links[name].chosen("impairment"):
        words = " ".join(delay_words(links[name], remarks))
        remarks.note(f"links.{name}.delay", f"not on this device; behind it: {words}")
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
