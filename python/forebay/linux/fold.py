"""The same script with fewer programs: in a kernel of its own, to start one takes 70 ms.

A script has a line for each device, address and setting, for its reader. Here those of one
namespace are handed to one `ip -batch`, `tc -batch` or shell, in an order in which everything
exists before it is used.
"""

from __future__ import annotations

import re

from forebay.linux.guard import GUARD, NAMESPACE

__all__ = ["fold"]

_LINE = re.compile(rf"({NAMESPACE}|(?:ip|tc) -n \S+|ip netns exec \S+ (?=sysctl|ethtool)) ?(.*)")

_PHASES = (
    NAMESPACE,
    r"ip -n \S+ link add",
    r"ip netns exec",
    r"ip -n \S+ (link set|addr|neigh)",
    r"ip -n \S+ route",
    r"tc",
)
"""Phases of the commands: all of one must be there before the next can be made."""


def fold(script: str) -> str:
    """The script for a kernel that ends with it: what it makes is not removed, either."""
    rows: list[tuple[int, str, str]] = []
    others: list[str] = []
    place = 0
    for line in script.replace(f"{GUARD}\n", "").splitlines():
        if found := _LINE.fullmatch(line):
            place = place if rows else len(others)
            phase = next(n for n, start in enumerate(_PHASES) if re.match(start, line))
            rows.append((phase, found[1].strip(), found[2]))
        else:
            others.append(line)
    groups: dict[tuple[int, str], list[str]] = {}
    for phase, start, words in sorted(rows, key=lambda row: row[0]):
        groups.setdefault((phase, start), []).append(words)
    folded = [line for key, words in groups.items() for line in _together(key[1], words)]
    return "\n".join([*others[:place], *folded, *others[place:]]) + "\n"


def _together(start: str, words: list[str]) -> list[str]:
    """The lines of one group."""
    if start == NAMESPACE:
        return ["ip -batch - <<'END'", *(f"netns add {name}" for name in words), "END"]
    if start.startswith("ip netns exec"):
        switch = "sysctl -qw "
        settings = [word.removeprefix(switch) for word in words if word.startswith(switch)]
        rest = [word for word in words if not word.startswith(switch)]
        all_ = [switch + " ".join(settings)] if settings else []
        return [f"{start} sh -e <<'END'", *all_, *rest, "END"]
    return [f"{start} -batch - <<'END'", *words, "END"]
