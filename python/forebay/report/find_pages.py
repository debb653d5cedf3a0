"""The page of a search, and what is said of one on the terminal: values, decisions, the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from forebay import text
from forebay.pages.sections import MARKS, Section, Table, write_page
from forebay.run.documents import read_document
from forebay.run.expressions import derived, read
from forebay.run.find import FOUND
from forebay.units import Unit

__all__ = ["Grid", "find_report", "grids_of", "said_of"]

VALUE = (float, str)
END = (float, str, None)
NUMBERS = dict.fromkeys(("mean", "low", "high"), (float, None))
SEARCH = {
    **MARKS,
    **dict.fromkeys(("parameter", "goal", "condition", "status"), str),
    "confidence": float,
    "level": float,
    "between": [VALUE],
    **dict.fromkeys(("value", "low", "high", "first_failing"), END),
    "derived?": {"*": str},
    "points": [
        {
            "step": int,
            "value": VALUE,
            "decision": str,
            "replications": int,
            "comparisons": [{"comparison": str, "unit": str, "note": str, **NUMBERS}],
            "quantities": [{"quantity": str, "note": str, **NUMBERS}],
            "reason?": str,
        }
    ],
}
"""Shape of the document of a search."""


class Grid(NamedTuple):
    """A table with its title."""

    title: str
    heads: list[str]
    rows: list[list[str]]


def find_report(folder: Path) -> Path:
    """The page of what `forebay find` wrote; its path. Raises `UserError` if it is damaged."""
    document = read_document(folder / FOUND, SEARCH)
    title = f"{document['parameter']}: the {document['goal']} value"
    tables = [Table(grid.heads, grid.rows, grid.title) for grid in grids_of(document)]
    rows = [row for point in document["points"] for row in point["comparisons"]]
    said = [*said_of(document), *text.notes(rows)]
    return write_page(
        folder, document, [Section(title, listed=said, tables=tables)], ("version", "build", "seed")
    )


def grids_of(document: Mapping[str, Any]) -> Iterator[Grid]:
    """A table of each comparison, and of each quantity, by value of the parameter."""
    points = sorted(document["points"], key=lambda point: int(point["step"]))
    names = derived(document.get("derived", {}), "derived")
    level = f"{100 * document['level']:.4g} %"
    condition = read(document["condition"], "condition", names)
    for number, comparison in enumerate(condition.comparisons):
        known = [each["comparisons"][number : number + 1] for each in points]
        unit = comparison.margin.unit_of(row["mean"] for one in known for row in one)
        rows = [
            [str(point["value"]), *_margin(point, number, unit), point["decision"]]
            for point in points
        ]
        heads = [document["parameter"], "left - right", f"one-sided {level}", "runs", "decision"]
        yield Grid(f"{comparison.text}, by means", heads, rows)
    for name in dict.fromkeys(row["quantity"] for each in points for row in each["quantities"]):
        quantity = read(name, "quantities", names)
        found = [
            (point, row)
            for point in points
            for row in point["quantities"]
            if row["quantity"] == name
        ]
        unit = quantity.unit_of(row["mean"] for _, row in found)
        rows = [
            [
                str(point["value"]),
                text.quantity(row["mean"], unit),
                text.spread(row, unit),
                str(point["replications"]),
            ]
            for point, row in found
        ]
        yield Grid(quantity.title, [document["parameter"], "mean", "± 95 %", "runs"], rows)


def _margin(point: Mapping[str, Any], number: int, unit: Unit) -> list[str]:
    """Mean of left side less right side, its bounds, and the number of runs."""
    runs = str(point["replications"])
    if number >= len(point["comparisons"]) or point["comparisons"][number]["mean"] is None:
        return ["-", "-", runs]
    row = point["comparisons"][number]
    ends = f"{text.quantity(row['low'], unit)} to {text.quantity(row['high'], unit)}"
    return [text.quantity(row["mean"], unit), "equal" if row["note"] == "equal" else ends, runs]


def said_of(document: Mapping[str, Any]) -> list[str]:
    """The answer in a sentence, and what has to be known of single values."""
    goal, parameter, value = document["goal"], document["parameter"], document["value"]
    sure = f"{100 * document['confidence']:g} %"
    if document["status"] == "none":
        end = document["between"][0 if goal == "largest" else 1]
        said = f"{parameter}: no value is found; the condition is not seen to hold even at {end}"
    elif document["status"] == "bound":
        said = f"{parameter} = {value}: the condition holds at both ends; no limit lies between"
    else:
        said = f"{parameter} = {value} is the {goal} value at which the condition holds"
        failing = document["first_failing"]
        said += f"; it fails at {failing}" if failing is not None else ""
    found = [f"{said} (confidence {sure})" if value is not None else said]
    points = sorted(document["points"], key=lambda point: int(point["step"]))
    missed: dict[str, list[str]] = {}
    for point in points:
        at = f"{parameter} = {point['value']}: "
        if point.get("reason"):
            found.append(f"{at}undecided: {point['reason']}")
        elif point["decision"] == "undecided":
            runs = point["replications"]
            found.append(f"{at}undecided after {runs} replications; it is taken as one that fails")
        for row in point["comparisons"]:
            if row.get("missed"):
                told = f"fewer than {100 * row['missed']:.2g} % of runs may have been missed"
                missed.setdefault(told, []).append(str(point["value"]))
    for told, values in missed.items():
        found.append(f"all runs gave the same at {', '.join(values)}; what happens in {told}")
    return found
