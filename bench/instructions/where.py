"""Instructions of `s1-af` for each packet hop, by part of the engine.

    python bench/instructions/where.py          the table, and the picture of the page on speed

callgrind counts every line of source that the compiler kept apart; lines are gathered by the file
that they stand in and the function that they were built into. Two lengths of simulated time are
compared, as the guard does, so that set-up and output cancel.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from counting import PLANS, ROOT, build, run
from drawing import COLOURS, blank, save

NAME = "s1-af"
PICTURE = ROOT / "docs" / "images" / "where.svg"

#: Parts by the file of a line, where that says it all.
FILES = (
    ("event list", r"kernel/src/(event_list|ladder)\.rs"),
    ("digest", r"kernel/src/digest\.rs"),
    ("queue laws: RIO", r"laws/src/queue/"),
    ("conditioner: trTCM", r"laws/src/conditioner/"),
    ("TCP", r"elements/src/tcp/|laws/src/control/"),
    ("UDP source", r"elements/src/udp|laws/src/traffic/|kernel/src/(ziggurat|streams|math)"),
    ("links", r"elements/src/"),
    ("counters", r"network/src/counters\.rs"),
    ("engine", r"(network|engine)/src/|kernel/src/(channels|kway_merge)"),
)
#: Lines of the standard library belong to the part that they were built into.
FUNCTIONS = (
    ("queue laws: RIO", r"laws::queue::"),
    ("conditioner: trTCM", r"laws::conditioner::"),
    ("TCP", r"elements::tcp::|control::"),
    ("UDP source", r"elements::udp::|traffic::|ziggurat"),
    ("links", r"elements::"),
    ("engine", r"network::|engine::|Scenario::run"),
)
REST = "memory and the rest"


def part(file: str, function: str) -> str:
    """The part of the engine that a line of `file`, built into `function`, belongs to."""
    for table, text in ((FILES, file), (FUNCTIONS, function)):
        for name, pattern in table:
            if re.search(pattern, text):
                return name
    return REST


def attribute(profile: str) -> Counter[str]:
    """Instructions of each part, from the text that callgrind writes."""
    names: dict[str, str] = {}
    parts: Counter[str] = Counter()
    file = function = ""
    calls = False

    def named(kind: str, text: str) -> str:
        # A name is spelled out where it first stands, and is a number from then on.
        number, _, name = text.partition(" ")
        return names.setdefault(kind + number, name)

    for line in profile.splitlines():
        key, _, value = line.partition("=")
        match key:
            case "fl" | "fi" | "fe":
                file = named("file", value)
            case "fn":
                function = named("function", value)
            case "cfl" | "cfi":
                named("file", value)
            case "cfn":
                named("function", value)
            case "calls":
                # The next line is the cost of the callee, which has lines of its own.
                calls = True
            case _ if re.match(r"[+\-*\d]", line):
                if not calls:
                    parts[part(file, function)] += int(line.split()[1])
                calls = False
    return parts


def measure() -> dict[str, float]:
    """Instructions for each packet hop of `s1-af` by part, the most first."""
    runner, plan = build(), PLANS[NAME]
    (short, before), (long, after) = (
        run(runner, NAME, length) for length in (plan.short_s, plan.long_s)
    )
    parts = attribute(after)
    parts.subtract(attribute(before))
    hops = long.packet_hops - short.packet_hops
    return {name: count / hops for name, count in parts.most_common()}


def main() -> None:
    """Measure, print the table and draw it."""
    parts = measure()
    for name, count in parts.items():
        print(f"{name:20} {count:6.0f}  {count / sum(parts.values()):4.0%}")
    print(f"{'together':20} {sum(parts.values()):6.0f}")
    drawing, axes = blank(height=2.8)
    (axis,) = axes
    axis.barh(list(parts)[::-1], list(parts.values())[::-1], color=COLOURS[0])
    axis.set_xlabel("instructions for each packet hop")
    save(drawing, axes, PICTURE)


if __name__ == "__main__":
    main()
