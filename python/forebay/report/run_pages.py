"""The page of a single run: its network, what matters of it, and all the rest folded."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.pages.scenario import scenario_section
from forebay.pages.sections import MARKS, Section, Table, warned, write_page
from forebay.report.row_figures import precedences, purposes, throughputs
from forebay.report.run_figures import Recorded, delays, details, timeline
from forebay.run.columns import columns, shown_kinds
from forebay.run.documents import read_document
from forebay.run.resolved import SHAPE, assigned_value
from forebay.run.shown import ALWAYS, Most, proof_tables, shown_tables, tells_hosts
from forebay.run.store import check_columns, read_tables, table_path
from forebay.scenario.fabric_drawing import draw_fabric
from forebay.scenario.network import Network
from forebay.scenario.topology import draw, topology_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["LINKS", "RUN", "capital", "most_of", "network_section", "run_report", "table_of"]


def _rows(kind: str) -> list[dict[str, Any]]:
    """The shape of a kind of rows, as far as tables show it. Results of earlier versions may lack
    what is not in the main tables of `ALWAYS`."""
    number = (float, [float], None)
    return [
        {"name": str}
        | {
            f"{column.name}{'' if kind in ALWAYS and not column.table else '?'}": (
                number if column.is_number else str
            )
            for column in columns(kind).values()
            if column.head
        }
    ]


RUN = {
    **MARKS,
    "scenario_hash": str,
    "seed": int,
    "replication": int,
    "digest": str,
    "simulated_s": float,
    "events": int,
    "warnings?": [str],
    "checks?": {"invariants": int, "each": {"*": int}},
    "ties?": {
        **dict.fromkeys(("packets", "orders", "quantities"), int),
        "differing": [{"quantity": str, **dict.fromkeys(("listed", "low", "high"), (float, None))}],
    },
    "scenario?": SHAPE,
    **{f"{kind}{'' if kind in ALWAYS else '?'}": _rows(kind) for kind in shown_kinds()},
}
"""Parts of a run's document that the page shows."""

MAX_ALL = 600
"""Rows of all kinds together that are on the page."""
MAX_ROWS = 40
"""Rows of a table where there are more than those."""
MAX_UNFOLDED_ROWS = 16
"""Rows of a table that is not folded."""
LINKS = [kind.name for kind in shown_kinds().values() if kind.of == "links"]
"""The kinds of rows in the section of links."""


def run_report(folder: Path) -> Path:
    """The page of what `forebay run --out` wrote; its path. Raises `UserError` if it is damaged."""
    document = read_document(folder / "run.json", RUN)
    recorded, distribution = _recorded(folder)
    groups = document["groups"]
    sections = warned(document.get("warnings", [])) + network_section(
        folder, document, document["links"]
    )
    sections += [scenario_section(document["scenario"])] if "scenario" in document else []
    drawn = [
        *purposes(document),
        throughputs(groups),
        delays(distribution, groups) if distribution else None,
        precedences(document["links"]),
        timeline(recorded),
    ]
    tables = _Tables(document)
    main, *further = tables.of("groups")
    first = Section("What matters", figures=[figure for figure in drawn if figure], tables=further)
    sections += [first] if first.figures or first.tables else []
    sections.append(Section("Flows", tables=[main, *tables.single(), *tables.others()]))
    links = [table for kind in LINKS for table in tables.of(kind)]
    sections.append(Section("Links", tables=links))
    proofs = [Table(heads, rows, capital(title)) for title, heads, rows in proof_tables(document)]
    sections += [Section("Checks", tables=proofs)] if proofs else []
    if recorded:
        figures, left = details(recorded, len(groups))
        told = f"Recorded too, and in the tables beside this page: {'; '.join(left)}."
        sections.append(Section("Recorded series", told if left else "", folded=figures))
    keys = ("version", "build", "scenario_hash", "seed", "replication", "digest", "simulated_s",
            "events")  # fmt: skip
    return write_page(folder, document, sections, keys)


def _recorded(folder: Path) -> tuple[Recorded, Mapping[str, Sequence[Any]]]:
    """Series by place and the distribution of delay, as far as they were recorded."""

    import numpy as np

    series: dict[str, dict[str, np.ndarray]] = {}
    distribution: Mapping[str, Sequence[Any]] = {}
    for name, table in read_tables(folder).items():
        path = table_path(folder, name)
        if name.startswith("series/"):
            check_columns(
                path, table, {"time_s": "", **dict.fromkeys(table.column_names, "numbers")}
            )
            columns = {key: np.array(table[key].to_numpy(), float) for key in table.column_names}
            if table.num_rows:
                series[name.removeprefix("series/")] = columns
        elif name == "delays":
            kinds = {"group": "words", "to_s": "numbers", "packets": "whole numbers"}
            check_columns(path, table, kinds)
            distribution = table.to_pydict()
    return series, distribution


def network_section(
    folder: Path, document: Mapping[str, Any], links: Sequence[Mapping[str, Any]]
) -> list[Section]:
    """The topology of the scenario beside the run, with what the command changed in it, and its
    fabrics with the utilization of `links`, the rows of the run or means over replications."""
    try:
        network = Network.from_toml(folder / "scenario.toml")
        for change in _changes(document["command"]):
            path, _, value = change.partition("=")
            network.set(path, assigned_value(value))
        scenario = network.to_dict()
        topology, title = topology_of(scenario), f"Topology of {document['name']}"
        drawn = "".join(draw(topology, title, look=look) for look in ("level", "upright"))
    except (UserError, ValueError, TypeError):
        # The scenario may have been moved away since; the run's figures do not need it.
        return []
    said = "Solid lines lead both ways, dashed ones one way; squares are where flows begin or end."
    sections = [Section("Network", said, svg=drawn)] if drawn else []
    return sections + _fabrics(scenario, links)


def _fabrics(scenario: Mapping[str, Any], links: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Drawings of fabrics, with the loads of their links."""
    loads = {link["name"]: float(link.get("utilization") or 0.0) for link in links}
    said = (
        "Switches pod beside pod, hosts as short lines below them. Colour and width of a line are "
        "the load of its busier direction; a link tells its own where it is pointed at."
    )
    fabrics = scenario.get("fabrics", {})
    drawn = [draw_fabric(name, own, loads, f"Fabric {name}") for name, own in fabrics.items()]
    named = zip(fabrics, drawn, strict=True)
    return [Section(f"Fabric {name}", said, svg=svg) for name, svg in named if svg]


def _changes(command: str) -> list[str]:
    words = shlex.split(command)
    return [value for option, value in itertools.pairwise(words) if option == "--set"]


class _Tables:
    """The tables of a run; where they are long together, each has its first rows and extremes."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._most = most_of(document, "run.json has all")

    def of(self, kind: str) -> list[Table]:
        """The tables of a kind of rows, large ones folded, but for the first of groups or links."""
        rows = self._document.get(kind, [])
        found = shown_tables(kind, rows, wide=True, most=self._most)
        return [
            table_of(kind, number, heads, cells, capital(title), self._most)
            for number, (title, heads, cells) in enumerate(found)
        ]

    def single(self) -> list[Table]:
        """The tables of flows where these are not the groups, folded."""
        flows = self._document.get("flows", [])
        tables = self.of("flows") if len(flows) not in (1, len(self._document["groups"])) else []
        for table in tables:
            table.folded = True
        for table in tables[1:]:
            table.caption += ", of single flows"
        return tables

    def others(self) -> list[Table]:
        """The tables of hosts where they tell more than groups, of transfers, calls and so on."""
        kinds = [kind for kind in shown_kinds() if kind not in ("flows", "groups", "hosts", *LINKS)]
        kinds = ["hosts", *kinds] if tells_hosts(self._document) else kinds
        return [table for kind in kinds for table in self.of(kind)]


def most_of(document: Mapping[str, Any], where: str) -> Most | None:
    """How much of long tables is shown: all of them unless there are many rows together."""
    rows = sum(len(document.get(kind, ())) for kind in shown_kinds())
    return Most(MAX_ROWS, MAX_ROWS - 8, where) if rows > MAX_ALL else None


def table_of(
    kind: str,
    number: int,
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    caption: str,
    most: Most | None,
) -> Table:
    """The table with a number among those of its kind of rows: a large one is folded, but for the
    first of groups or links."""
    folded = len(cells) > MAX_UNFOLDED_ROWS and (
        number > 0 or kind not in ALWAYS or most is not None
    )
    return Table(heads, cells, caption, folded)


def capital(title: str) -> str:
    """A title with a capital letter."""
    return f"{title[0].upper()}{title[1:]}"
