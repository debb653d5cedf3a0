"""HTML that notebooks show of networks and mechanisms.

Colours are those of the notebook's page: text in its own colour, lines in a grey that can be seen
on light and dark ground alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from forebay.run.laws import law_sentence
from forebay.run.notebook import html_table, html_text
from forebay.scenario.catalogue import catalogue
from forebay.scenario.topology import draw, topology_of

__all__ = ["mechanism_html", "network_html"]


def network_html(name: str, document: Mapping[str, Any]) -> str:
    """The topology, and a table of the groups of flows."""
    svg = draw(topology_of(document), f"Topology of {name}")
    # Outside our own pages a ground behind letters would be of the wrong colour.
    svg = svg.replace("var(--paper, #ffffff)", "none")
    svg = svg.replace("var(--soft, #f3f5f7)", "none").replace("var(--quiet, #5b6167)", "#80868d")
    rows = [
        [
            group,
            str(flows.get("count", 1)),
            f"{_nodes(flows.get('from', '?'))} to {_nodes(flows.get('to', '?'))}",
            next((key for key in catalogue().transports if key in flows), "tcp"),
        ]
        for group, flows in document.get("flows", {}).items()
        if isinstance(flows, Mapping)
    ]
    heads = ("group of flows", "flows", "from, to", "transport")
    duration = html_text(str(document.get("duration", "")))
    return f"<p><b>{html_text(name)}</b>, {duration}</p>{svg}{html_table(heads, rows)}"


def _nodes(named: Any) -> str:
    """The nodes at one end of flows: one, or a list."""
    return ", ".join(map(str, named)) if isinstance(named, list) else str(named)


def mechanism_html(kind: str, name: str, parameters: Mapping[str, Any]) -> str:
    """The parameters of a mechanism: what was given, and the defaults of the others."""
    pages = {
        page.name: page
        for category in catalogue().categories
        if category.name == kind
        for page in category.pages
    }
    page = pages[name]
    rows = [
        [
            field.name,
            f"<b>{escape(str(parameters[field.name]))}</b>"
            if field.name in parameters
            else escape(field.default_text),
            field.meaning,
        ]
        for field in page.fields
    ]
    rows += [
        [key, f"<b>{escape(repr(value))}</b>", ""]
        for key, value in parameters.items()
        if key not in [field.name for field in page.fields]
    ]
    head = f"<p><b>{escape(f'{kind}.{name}')}</b>: {escape(page.summary)}</p>"
    if page.origin:
        head += f"<p>{html_text(f'law: {law_sentence(page.origin)}')}</p>"
    return head + html_table(("parameter", "value", "meaning"), rows, marked=1)
