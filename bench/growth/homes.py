#!/usr/bin/env python3
"""Access networks of any number of homes, made from benchmark s9-access; 10,000 are a city.

    python bench/growth/homes.py 10000 > city.toml
    forebay run city.toml --until "5 s"

Homes are those of the benchmark, again and again. Each 200 have a cable of their own; fewer have
one of their share of the rate. So the load of a home and of a cable is the same in all of them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

__all__ = ["PER_CABLE", "scenario"]

FILE = Path(__file__).resolve().parents[1] / "scenarios" / "s9-access.toml"

PER_CABLE = 200
"""Homes on a cable: those of the benchmark."""


def scenario(homes: int, seconds: float | None = None) -> str:
    """The text of the scenario with so many homes, counted from the start if `seconds` long."""
    title, text = f"{homes} homes", FILE.read_text(encoding="utf-8")
    text = text[text.index("name = ") :]
    if homes != PER_CABLE:
        text = _changed(text, 'name = "s9-access"', f'name = "{title}"')
    if seconds is not None:
        text = _changed(text, 'duration = "12 s"', f'duration = "{seconds:.9f} s"')
        text = _changed(text, 'warm_up = "4 s"\n', "")
    text = re.sub(r"each = \[(.*?)\]", lambda found: _each(found[1], homes), text, flags=re.DOTALL)
    text = _changed(text, "[links.cable]", f'{_cables(homes)}\n\n[sites.links."cable{{cable}}"]')
    text = _changed(text, 'rate = "1 Gbit/s"\ndelay = "2 ms"', 'rate = "{down}"\ndelay = "2 ms"')
    text = _changed(text, 'rate = "50 Mbit/s"', 'rate = "{up}"')
    for node in ("head", "tail"):
        text = text.replace(f'"{node}"', f'"{node}{{cable}}"')
    return f"# Made by bench/growth/homes.py from benchmark s9-access: {title}.\n{text}"


def _changed(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"{FILE}: {old!r} stands {text.count(old)} times in it, not once")
    return text.replace(old, new)


def _each(listed: str, homes: int) -> str:
    """The list of sites like those that are `listed` for one cable, for so many homes."""
    numbers = [int(number) for number in re.findall(r'"(\d+)"', listed)]
    sites = [
        f'  {{ site = "{first + number}", cable = "{_cable(first)}" }},'
        for first in range(0, homes, PER_CABLE)
        for number in numbers
        if first + number < homes
    ]
    return "\n".join(["each = [", *sites, "]"])


def _cables(homes: int) -> str:
    """The list of cables, with their rates: 5 Mbit/s down and 250 kbit/s up for each home."""
    lines = ["[[sites]]", "each = ["]
    for first in range(0, homes, PER_CABLE):
        share = min(PER_CABLE, homes - first) / PER_CABLE
        rates = f'down = "{1000 * share:g} Mbit/s", up = "{50 * share:g} Mbit/s"'
        lines.append(f'  {{ cable = "{_cable(first)}", {rates} }},')
    return "\n".join([*lines, "]"])


def _cable(first: int) -> str:
    """What is added to the names of a cable, by the first of its homes: nothing for the first."""
    return str(first // PER_CABLE) if first else ""


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal() or int(sys.argv[1]) < 1:
        sys.exit(f"usage: {sys.argv[0]} HOMES")
    sys.stdout.write(scenario(int(sys.argv[1])))
