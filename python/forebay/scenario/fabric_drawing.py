"""A fabric as a drawing: switches in tiers, pod beside pod, and the load of each link by colour and
width.

Hosts are short lines below their switch. It is an SVG whose colours are those of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from forebay.errors import printable

__all__ = ["draw_fabric"]

MAX_SWITCHES = 100
"""Maximum number of switches of a drawing that can be read: those of a fat tree of eight ports."""
STEP, TIER, HOST = 26.0, 84.0, 22.0
"""Distance between switches, and between tiers, and length of the lines of hosts."""
MARGIN = 34.0
LOADS = (0.1, 0.4, 0.7)
"""Limits of the classes of load that the drawing tells apart."""
COLOURS = ("var(--grid, #d9dbdd)", "var(--c1, #0072b2)", "var(--c5, #b37a00)", "var(--c2, #d55e00)")
WORDS = ("below 10 %", "below 40 %", "below 70 %", "from 70 %")


@dataclass(frozen=True, slots=True)
class _Shape:
    """A fabric in numbers: names of its tiers from below, how many switches a pod has in each (the
    last tier: in all), pods, and hosts of a switch of the lowest tier."""

    tiers: tuple[str, ...]
    sizes: tuple[int, ...]
    pods: int
    hosts: int

    def switches(self) -> int:
        """Number of switches."""
        return self.pods * sum(self.sizes[:-1]) + self.sizes[-1]

    def places(self) -> Iterator[tuple[str, float, float]]:
        """Each switch with its place, from above."""
        pod = STEP * (max(self.sizes[:-1]) + 1)
        width = self.pods * pod
        height = TIER * (len(self.tiers) - 1)
        for tier, (name, size) in enumerate(zip(self.tiers, self.sizes, strict=True)):
            y = MARGIN + height - TIER * tier
            if tier == len(self.tiers) - 1:
                for number in range(size):
                    yield f"{name}{number}", MARGIN + width * (number + 0.5) / size, y
                continue
            for number in range(self.pods * size):
                left = MARGIN + pod * (number // size)
                yield f"{name}{number}", left + pod * (number % size + 0.5) / size, y


def _shape_of(fabric: Mapping[str, Any]) -> _Shape | None:
    """The shape of a fabric that the scenario describes; `None` for one that is not known here."""
    try:
        if "fat_tree" in fabric:
            half = int(fabric["fat_tree"]["k"]) // 2
            return _Shape(("edge", "agg", "core"), (half, half, half * half), 2 * half, half)
        own = fabric["leaf_spine"]
        return _Shape(
            ("leaf", "spine"), (1, int(own["spines"])), int(own["leaves"]), int(own["hosts"])
        )
    except (KeyError, TypeError, ValueError):
        return None


def draw_fabric(
    name: str, fabric: Mapping[str, Any], loads: Mapping[str, float], title: str = "Fabric"
) -> str:
    """The fabric `name` as SVG, given the utilization of each link by name, 0 to 1.

    Empty for a shape that is not known, and for one of too many switches to be read.
    """
    shape = _shape_of(fabric)
    if shape is None or not 0 < shape.switches() <= MAX_SWITCHES:
        return ""
    places = {switch: (x, y) for switch, x, y in shape.places()}
    lines = [*_between(name, places, loads), *_hosts(name, shape, places, loads)]
    # The busiest are drawn last, above the others.
    lines.sort(key=lambda line: line[0])
    nodes = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="var(--soft, #f3f5f7)" '
        f'stroke="var(--ink, #1b1f23)"><title>{escape(f"{name}.{switch}")}</title></circle>'
        for switch, (x, y) in places.items()
    ]
    width = max(470.0, max(x for x, _ in places.values()) + MARGIN + 40)
    bottom = max(y for _, y in places.values()) + HOST
    parts = [line for _, line in lines] + nodes + _legend(shape, places, bottom + 30)
    return printable(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" '
        f'class="topology" viewBox="0 0 {width:.0f} {bottom + 46:.0f}" '
        f'style="max-width:{width:.0f}px;min-width:{0.7 * width:.0f}px" '
        f'font-size="12" font-family="sans-serif">'
        f"{''.join(parts)}</svg>"
    )


def _between(
    name: str, places: Mapping[str, tuple[float, float]], loads: Mapping[str, float]
) -> Iterator[tuple[float, str]]:
    """Lines between switches, with the load of the busier direction."""
    for link in loads:
        near, _, far = link.removeprefix(f"{name}.").partition("-")
        if near in places and far in places and places[near][1] > places[far][1]:
            load = max(loads[link], loads.get(f"{name}.{far}-{near}", 0.0))
            yield load, _line(places[near], places[far], load, f"{name}.{near}-{far}")


def _hosts(
    name: str,
    shape: _Shape,
    places: Mapping[str, tuple[float, float]],
    loads: Mapping[str, float],
) -> Iterator[tuple[float, str]]:
    """Short lines for hosts, below their switches."""
    lowest = shape.tiers[0]
    for switch in (switch for switch in places if switch.startswith(lowest)):
        x, y = places[switch]
        first = int(switch.removeprefix(lowest)) * shape.hosts
        for at in range(shape.hosts):
            host = f"h{first + at}"
            up, down = f"{name}.{host}-{switch}", f"{name}.{switch}-{host}"
            load = max(loads.get(up, 0.0), loads.get(down, 0.0))
            aside = STEP * 0.8 * ((at + 0.5) / shape.hosts - 0.5)
            yield load, _line((x, y), (x + aside, y + HOST), load, up)


def _line(near: tuple[float, float], far: tuple[float, float], load: float, link: str) -> str:
    place = sum(load >= limit for limit in LOADS)
    return (
        f'<line x1="{near[0]:.1f}" y1="{near[1]:.1f}" x2="{far[0]:.1f}" y2="{far[1]:.1f}" '
        f'stroke="{COLOURS[place]}" stroke-width="{1 + 0.7 * place:.1f}">'
        f"<title>{escape(link)}: {100 * load:.0f} %</title></line>"
    )


def _legend(shape: _Shape, places: Mapping[str, tuple[float, float]], y: float) -> list[str]:
    """Names of the tiers, and what colours and widths mean."""
    parts = [_words(4, places[tier + "0"][1] - 12, tier, "var(--quiet, #5b6167)")
             for tier, size in zip(shape.tiers, shape.sizes, strict=True) if size]  # fmt: skip
    for place, (colour, words) in enumerate(zip(COLOURS, WORDS, strict=True)):
        x = 8 + 112 * place
        parts.append(
            f'<line x1="{x}" y1="{y:.0f}" x2="{x + 22}" y2="{y:.0f}" stroke="{colour}" '
            f'stroke-width="{1 + 0.7 * place:.1f}"/>'
            f"{_words(x + 28, y + 4, words, 'var(--ink, #1b1f23)')}"
        )
    return parts


def _words(x: float, y: float, words: str, colour: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}">{words}</text>'
