"""Results as notebooks show them: pieces of HTML."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from forebay import text
from forebay.errors import printable
from forebay.run.columns import columns, unit_in
from forebay.run.laws import law_sentence
from forebay.run.words import name_of

__all__ = ["figure_class", "html_table", "html_text", "results_html"]

ROWS = 24
"""Rows of a table at most; the rest is a line of text."""
NUMBER = ' style="text-align: right"'


def results_html(
    document: Mapping[str, Any],
    count: int,
    intervals: Sequence[Mapping[str, Any]],
    plots: Sequence[Any],
) -> str:
    """The quantities that matter with their intervals, and plots.

    `document` is that of the first of `count` replications.
    """
    rows = []
    for row in intervals:
        place, quantity = row["place"], row["quantity"]
        if not columns(place)[quantity].headline:
            continue
        unit = unit_in(place, quantity)
        spread = text.spread(row, unit) if row["replications"] > 1 else ""
        spread = f"± {spread}" if spread and spread[0].isdecimal() else spread
        mean = text.quantity(row["mean"], unit)
        rows.append([f"{place} {row['name']}", name_of(quantity), mean, spread])
    head = (
        f"<p><b>{html_text(document['name'])}</b>: {count} "
        f"{'replications' if count > 1 else 'replication'} of {document['simulated_s']:g} s</p>"
    )
    head += "".join(
        f"<p>law: {html_text(law_sentence(law))}</p>" for law in document.get("laws", [])
    )
    head += "".join(f"<p>warning: {html_text(told)}</p>" for told in document.get("warnings", []))
    return head + html_table(("of", "quantity", "mean", "95 %"), rows) + _images(plots)


def html_text(words: str) -> str:
    """A text from outside, of which a browser takes nothing for anything but text."""
    return escape(printable(words))


def _images(plots: Sequence[Any]) -> str:
    """As images, so that two drawings of one page do not share the names of their parts."""
    found = []
    for figure in plots:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg")
        data = b64encode(buffer.getvalue()).decode()
        style = "max-width: 46%; background: white"
        found.append(f'<img alt="" style="{style}" src="data:image/svg+xml;base64,{data}">')
    return "".join(found)


def html_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None
) -> str:
    """An HTML table; the column `marked` holds HTML already."""
    head = "".join(f"<th>{html_text(word)}</th>" for word in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{NUMBER if cell[:1].isdecimal() else ''}>"
            f"{cell if place == marked else html_text(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows[:ROWS]
    )
    left = f"<p>{len(rows) - ROWS} more rows</p>" if len(rows) > ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}"


def figure_class() -> Any:
    """matplotlib's figure, which notebooks show as SVG without its `pyplot`."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that notebooks show."""

        def _repr_svg_(self) -> str:
            buffer = io.StringIO()
            self.savefig(buffer, format="svg")
            return buffer.getvalue()

    return Picture
