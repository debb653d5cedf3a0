"""Files that a command writes must be what it would write now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.report.readme import results_markdown
from forebay.scenario.catalogue import catalogue
from forebay.study.loading import load_study
from manual.stub import stub
from tidy.source import Finding, Source

__all__ = ["check", "check_results", "check_stub"]

REFERENCE = "docs/reference/"
STUB = "python/forebay/__init__.pyi"
WHY = "it would describe another version than the one it comes with; run"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Type stub and results of studies that are not those of this version, and pages that are
    committed although the program makes them."""
    there = {source.path: source.text for source in sources}
    yield from check_stub(there, stub(catalogue()))
    for path in sorted(there):
        if path.startswith(REFERENCE):
            yield Finding(path, 1, "a page that `make site` makes", "it would go stale; remove it")
        if path.startswith("studies/") and path.endswith("/result.json"):
            yield from check_results(Path(path).parent.name, there)


def check_stub(there: Mapping[str, str], wanted: str) -> Iterator[Finding]:
    """A type stub that is missing or differs from that of the engine, `wanted`."""
    if STUB not in there:
        yield Finding(STUB, 1, "missing", f"{WHY} `make docs`")
    elif there[STUB] != wanted:
        line = _first_difference(there[STUB].splitlines(), wanted.splitlines())
        yield Finding(STUB, line, "not what the engine gives", f"{WHY} `make docs`")


def check_results(study: str, there: Mapping[str, str]) -> Iterator[Finding]:
    """The page of a study whose results are not those in its `result.json`: results.md, or the
    README of a study without it."""
    readme = f"studies/{study}/results.md"
    if readme not in there:
        readme = f"studies/{study}/README.md"
    record = f"studies/{study}/result.json"
    document = json.loads(there[record])
    loaded = load_study(study)
    known = {claim.id for claim in loaded.paper.claims}
    known |= {statement.id for statement in loaded.paper.statements}
    if gone := [row["id"] for row in document["claims"] if row["id"] not in known]:
        what = f"paper.toml has no claim {gone[0]!r}, and {len(gone) - 1} others of the record"
        yield Finding(record, 1, what, f"{WHY} `make record`")
        return
    wanted = results_markdown(loaded, document)
    if wanted.strip() not in there.get(readme, ""):
        what = "its table of results is not that of result.json"
        yield Finding(readme, 1, what, f"{WHY} `make record`")


def _first_difference(found: Sequence[str], wanted: Sequence[str]) -> int:
    pairs = enumerate(zip(found, wanted, strict=False), 1)
    return next((n for n, (a, b) in pairs if a != b), min(len(found), len(wanted)) + 1)
