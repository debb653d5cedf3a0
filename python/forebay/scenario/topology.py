"""The topology of a network as a drawing: nodes in layers, links with rate and delay.

Nodes stand in columns by their distance from where most flows begin, so that data run from left to
right; within a column they are ordered by their neighbours', which avoids most crossings. It is an
SVG whose colours are those of the page.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from forebay.errors import printable

__all__ = ["Link", "Topology", "draw", "topology_of"]

COLUMN, ROW, LETTER = 215.0, 66.0, 7.0
"""Distances between nodes, and the width of a letter, in the units of the drawing."""
LAYER = 112.0
"""Distance between layers that are below each other."""
NEAR = 0.32
"""Place of a label along a line that meets others at its far end."""
HALF_HEIGHT = 14.0
"""Half the height of a node."""
MARGIN = 30.0
BOLD = 'font-weight="600"'
MAX_NODES = 40
"""Maximum number of nodes of a drawing that can be read."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its name, its ends and what is written beside it."""

    name: str
    ends: tuple[str, str]
    label: str
    duplex: bool = True


@dataclass(slots=True)
class Topology:
    """Links, and how many groups of flows begin and end at each node."""

    links: list[Link] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)
    targets: dict[str, int] = field(default_factory=dict)
    rings: dict[str, tuple[list[str], str]] = field(default_factory=dict)
    """Stations of each ring in order, and what is written beside its spans."""

    @property
    def nodes(self) -> list[str]:
        """Nodes that links touch, in the order of the scenario."""
        return list(dict.fromkeys(node for link in self.links for node in link.ends))


def topology_of(scenario: Mapping[str, Any]) -> Topology:
    """The topology of a scenario, given as nested dictionaries (`Network.to_dict`)."""
    found = Topology()
    for name, link in _tables(scenario, "links"):
        ends = (str(link.get("from", "?")), str(link.get("to", "?")))
        label = _label(link)
        found.links.append(Link(name, ends, label, link.get("duplex", True) is not False))
    for name, ring in _tables(scenario, "rings"):
        stations = [str(station) for station in ring.get("stations", [])]
        found.rings[name] = (stations, _label(ring))
        for index, station in enumerate(stations):
            ends = (station, stations[(index + 1) % len(stations)])
            found.links.append(Link(f"{name}[{index}]", ends, _label(ring)))
    for _, flows in _tables(scenario, "flows"):
        for key, counts in (("from", found.sources), ("to", found.targets)):
            named = flows.get(key, "?")
            for node in map(str, named if isinstance(named, list) else [named]):
                counts[node] = counts.get(node, 0) + 1
    return found


def draw(topology: Topology, title: str = "Topology", *, look: str = "") -> str:
    """The drawing as SVG; empty without nodes or with too many of them to be read.

    With the `look` `upright` data run downwards, which fits a phone; it is a class of the drawing,
    by which the page tells it from one that is `level`.
    """
    nodes = topology.nodes
    if not nodes or len(nodes) > MAX_NODES:
        return ""
    alone = _lone_ring(topology)
    upright = look == "upright"
    places = _ring_places(topology.rings[alone][0]) if alone else _places(topology, upright)
    width = max(x for x, _ in places.values()) + 2 * MARGIN + _half_width(max(nodes, key=len))
    height = max(y for _, y in places.values()) + MARGIN + 18
    least, most = (0.5, 1.0) if upright else (0.85, 1.15)
    bundles = _bundled(topology.links)
    degrees = Counter(node for link in bundles for node in link.ends)
    lines = [_line(link, places, degrees, upright and not alone) for link in bundles]
    # Labels stand above all lines, on a ground of their own.
    labels = [label for _, label in lines] if not alone else [_middle(alone, topology, places)]
    parts = [line for line, _ in lines] + labels
    parts += [_node(name, places[name], topology) for name in nodes]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" '
        f'class="{f"topology {look}".strip()}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{most * width:.0f}px;min-width:{least * width:.0f}px" '
        f'font-size="12" font-family="sans-serif">'
        f"{''.join(parts)}</svg>"
    )
    return printable(svg)


def _tables(scenario: Mapping[str, Any], section: str) -> list[tuple[str, Mapping[str, Any]]]:
    tables = scenario.get(section, {})
    if not isinstance(tables, Mapping):
        return []
    return [(name, table) for name, table in tables.items() if isinstance(table, Mapping)]


def _label(link: Mapping[str, Any]) -> str:
    reverse = link.get("reverse")
    back = reverse.get("rate") if isinstance(reverse, Mapping) else None
    rate = str(link.get("rate") or ("varying rate" if _varies(link) else ""))
    rates = f"{rate}, back {back}" if back and back != rate else rate
    return ", ".join(str(part) for part in (rates, link.get("delay")) if part)


def _varies(link: Mapping[str, Any]) -> bool:
    return any(key in link for key in ("profile", "schedule", "trace"))


def _layers(topology: Topology) -> dict[str, int]:
    """The column of each node: its distance from a node where flows begin and none end."""
    nodes = topology.nodes
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for link in topology.links:
        near[link.ends[0]].append(link.ends[1])
        near[link.ends[1]].append(link.ends[0])

    def balance(node: str) -> int:
        return topology.sources.get(node, 0) - topology.targets.get(node, 0)

    starts = [node for node in nodes if balance(node) > 0] or nodes[:1]
    # Where flows begin halfway too, only the ends of the network are its left edge.
    starts = [node for node in starts if len(set(near[node])) == 1] or starts
    layers: dict[str, int] = {}
    while len(layers) < len(nodes):
        reached = [node for node in starts if node not in layers]
        reached = reached or [next(node for node in nodes if node not in layers)]
        layers.update(dict.fromkeys(reached, 0))
        while reached:
            far = [node for at in reached for node in near[at] if node not in layers]
            for at in reached:
                layers.update({node: layers[at] + 1 for node in near[at] if node not in layers})
            reached = list(dict.fromkeys(far))
    return layers


def _places(topology: Topology, upright: bool) -> dict[str, tuple[float, float]]:
    layers = _layers(topology)
    columns: dict[int, list[str]] = {}
    for node in topology.nodes:
        columns.setdefault(layers[node], []).append(node)
    tallest = max(map(len, columns.values()))
    left = MARGIN + max(_half_width(node) for node in columns[0])
    step = max(COLUMN, *(LETTER * len(link.label) + 130 for link in topology.links))
    rank: dict[str, float] = {}
    for layer in sorted(columns):
        near = {
            node: [rank[a if b == node else b] for link in topology.links
                   for a, b in [link.ends] if node in (a, b) and (a if b == node else b) in rank]
            for node in columns[layer]
        }  # fmt: skip
        columns[layer].sort(key=lambda node: sum(near[node]) / len(near[node]) if near[node] else 0)
        for index, node in enumerate(columns[layer]):
            rank[node] = index + (tallest - len(columns[layer])) / 2
    if upright:
        widest = max(map(_half_width, topology.nodes))
        letters = max(len(part) for link in topology.links for part in _stacked(link))
        # Where lines meet, labels are nearer to each other than nodes.
        apart = max(2 * widest + 14, (6.2 * letters + 10) / (1 - NEAR))
        left = MARGIN + max(widest, 3.1 * letters)
        return {
            node: (left + apart * rank[node], MARGIN + HALF_HEIGHT + LAYER * layers[node])
            for node in topology.nodes
        }
    return {
        node: (left + step * layer, MARGIN + HALF_HEIGHT + ROW * rank[node])
        for layer, names in columns.items()
        for node in names
    }


def _lone_ring(topology: Topology) -> str:
    """The ring that the network consists of, if it is one ring and nothing else."""
    if len(topology.rings) != 1:
        return ""
    ((name, (stations, _)),) = topology.rings.items()
    return name if len(stations) > 2 and len(topology.links) == len(stations) else ""


def _ring_places(stations: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Stations around an ellipse, clockwise from the left, whose spans leave room for names."""
    half = max(map(_half_width, stations))
    across = max(130.0, len(stations) * (half + 8) / 2)
    down = max(70.0, 0.45 * across)
    turns = [2 * math.pi * index / len(stations) for index in range(len(stations))]
    return {
        station: (
            MARGIN + half + across * (1 - math.cos(turn)),
            MARGIN + 14 + down * (1 - math.sin(turn)),
        )
        for station, turn in zip(stations, turns, strict=True)
    }


def _middle(name: str, topology: Topology, places: Mapping[str, tuple[float, float]]) -> str:
    """Text in the middle of a ring: its name, and what all of its spans have in common."""
    x = sum(at for at, _ in places.values()) / len(places)
    y = sum(at for _, at in places.values()) / len(places)
    label = topology.rings[name][1]
    return _text(x, y - 6, _short(name), BOLD) + _text(x, y + 15, f"{label} a span")


def _bundled(links: Sequence[Link]) -> list[Link]:
    """Parallel links as one line with all their names."""
    bundles: dict[frozenset[str], list[Link]] = {}
    for link in links:
        bundles.setdefault(frozenset(link.ends), []).append(link)
    return [
        group[0]
        if len(group) == 1
        else Link(", ".join(link.name for link in group), group[0].ends,
                  "; ".join(dict.fromkeys(link.label for link in group)))
        for group in bundles.values()
    ]  # fmt: skip


def _half_width(name: str) -> float:
    return max(22.0, LETTER * len(name) / 2 + 9)


def _line(
    link: Link,
    places: Mapping[str, tuple[float, float]],
    degrees: Mapping[str, int],
    upright: bool,
) -> tuple[str, str]:
    """A link's line and its label."""
    if upright and abs(places[link.ends[0]][1] - places[link.ends[1]][1]) > 1:
        return _downwards(link, places, degrees)
    left, right = sorted(link.ends, key=lambda node: places[node][0])
    (x1, y1), (x2, y2) = places[left], places[right]
    start, end = x1, x2
    if abs(x2 - x1) > 1:
        start, end = x1 + _half_width(left), x2 - _half_width(right)
    # Labels of lines that fan out stand where the lines are apart.
    share = 0.5
    if abs(y2 - y1) > 1:
        share = 0.36 if degrees[left] <= degrees[right] else 0.64
    x = start + share * (end - start)
    y = y1 + share * (y2 - y1)
    path = f"M{start:.0f} {y1:.0f} L{end:.0f} {y2:.0f}"
    if abs(x2 - x1) <= 1 and abs(y2 - y1) > ROW + 1:
        bend = x1 - 44
        path = f"M{x1:.0f} {y1:.0f} Q{bend:.0f} {(y1 + y2) / 2:.0f} {x2:.0f} {y2:.0f}"
        x = (x1 + bend) / 2
    label = _text(x, y - 6, _short(link.name), BOLD) + _text(x, y + 15, link.label)
    return _drawn(link, path), label


def _downwards(
    link: Link, places: Mapping[str, tuple[float, float]], degrees: Mapping[str, int]
) -> tuple[str, str]:
    """A link from a node to one of a lower layer."""
    upper, lower = sorted(link.ends, key=lambda node: places[node][1])
    (x1, y1), (x2, y2) = places[upper], places[lower]
    start, end = y1 + HALF_HEIGHT, y2 - HALF_HEIGHT
    share = 0.5
    if abs(x2 - x1) > 1:
        share = NEAR if degrees[upper] <= degrees[lower] else 1 - NEAR
    x, y = x1 + share * (x2 - x1), start + share * (end - start)
    path = f"M{x1:.0f} {start:.0f} L{x2:.0f} {end:.0f}"
    if abs(x2 - x1) <= 1 and y2 - y1 > LAYER + 1:
        bend = x1 - 60
        path = f"M{x1:.0f} {start:.0f} Q{bend:.0f} {(y1 + y2) / 2:.0f} {x2:.0f} {end:.0f}"
        x = (x1 + bend) / 2
    rows = _stacked(link)
    top = y - 7 * (len(rows) - 1) + 4
    label = [
        _text(x, top + 14 * number, row, "" if number else BOLD) for number, row in enumerate(rows)
    ]
    return _drawn(link, path), "".join(label)


def _stacked(link: Link) -> list[str]:
    """The name of a link and its label in rows, as narrow as can be."""
    parts = link.label.replace("; ", ", ").split(", ") if link.label else []
    return [_short(link.name), *parts[:3]]


def _drawn(link: Link, path: str) -> str:
    """The line of a path, with all that is to be said of it as its title."""
    dash = "" if link.duplex else ' stroke-dasharray="6 4"'
    title = f"{link.name}: {link.label}" + ("" if link.duplex else ", one way")
    return (
        f"<g><title>{escape(title)}</title>"
        f'<path d="{path}" fill="none" stroke="var(--quiet, #5b6167)" stroke-width="1.6"'
        f"{dash}/></g>"
    )


def _short(name: str) -> str:
    return name if len(name) <= 34 else f"{name[:32]}…"


def _text(x: float, y: float, words: str, style: str = "") -> str:
    halo = 'paint-order="stroke" stroke="var(--paper, #ffffff)" stroke-width="4"'
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" fill="currentColor" '
        f"{halo} {style}>{escape(words)}</text>"
    )


def _node(name: str, place: tuple[float, float], topology: Topology) -> str:
    x, y = place
    half = _half_width(name)
    touched = name in topology.sources or name in topology.targets
    counts = (topology.sources.get(name, 0), topology.targets.get(name, 0))
    title = f"{name}: {counts[0]} groups of flows begin, {counts[1]} end"
    fill = "var(--soft, #f3f5f7)" if touched else "var(--paper, #ffffff)"
    return (
        f"<g><title>{escape(title)}</title>"
        f'<rect x="{x - half:.0f}" y="{y - 14:.0f}" width="{2 * half:.0f}" height="28" '
        f'rx="{5 if touched else 14}" fill="{fill}" stroke="currentColor"/>'
        f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" fill="currentColor">'
        f"{escape(name)}</text></g>"
    )
