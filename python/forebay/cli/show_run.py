"""Tables that `forebay run` shows: flows, calls, sources and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import text
from forebay.cli.terminal import MOST, Grid, print_page
from forebay.run.columns import shown_kinds
from forebay.run.laws import law_sentence
from forebay.run.shown import proof_tables, shown_tables, tells_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from forebay.run.expressions import Expression
    from forebay.run.jobs import Run

__all__ = ["show_run"]

MAX_FLOW_ROWS = 20


def show_run(run: Run, quantities: Sequence[Expression] = ()) -> None:
    """Tables of one run: flows, or groups if there are many flows, hosts where these tell more, all
    other kinds of rows that it has, what was checked, and the values of `quantities`."""
    document = run.document
    facts = [
        f": {document['simulated_s']:g} s simulated in {text.span(document['wall_s'])}, "
        f"{text.count(document['events'])} events, {text.count(document['packet_hops'])} packet "
        "hops",
        f"seed {document['seed']}, replication {document['replication']}, scenario "
        f"{document['scenario_hash']}, version {document['version']}, digest {document['digest']}",
        *(f"law: {law_sentence(law)}" for law in document.get("laws", ())),
    ]
    print_page(document["name"], facts, [*_tables(document), *_derived(document, quantities)])


def _tables(document: Mapping[str, Any]) -> Iterator[Grid]:
    # Large groups have no row for each flow.
    by_group = not 0 < len(document["flows"]) <= MAX_FLOW_ROWS
    left_out = {"flows" if by_group else "groups"}
    if not tells_hosts(document):
        left_out.add("hosts")
    for kind in shown_kinds():
        if kind not in left_out:
            yield from (Grid(*table) for table in shown_tables(kind, document[kind], most=MOST))
    yield from (Grid(*table) for table in proof_tables(document))


def _derived(document: Mapping[str, Any], quantities: Sequence[Expression]) -> Iterator[Grid]:
    reasons = document.get("lacking", {})
    rows = []
    for quantity in quantities:
        value = document["derived"][quantity.name]
        if isinstance(value, bool):
            rows.append([quantity.text, "true" if value else "false"])
        else:
            rows.append([quantity.title, text.quantity(value, quantity.unit_of([value]))])
    if rows:
        yield Grid("quantities", ["", "value"], rows)
    if reasons:
        yield Grid("no value", ["", "reason"], [list(item) for item in reasons.items()])
