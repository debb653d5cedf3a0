"""Files that a command writes must be what it would write now."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from forebay.report.readme import results_markdown
from forebay.scenario import reference
from forebay.scenario.catalogue import catalogue
from forebay.study.loading import load_study
from tidy.source import ROOT, Finding, Source

__all__ = ["check", "check_results", "compare"]

REFERENCE = "docs/reference/"
STUB = "python/forebay/__init__.pyi"
WHY = "it would describe another version than the one it comes with; run"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Reference pages, type stub and results of studies that are not those of this version."""
    there = {source.path: source.text for source in sources}
    pages = reference.pages(catalogue()) | _pages_module().pages()
    wanted = {f"{REFERENCE}{name}": text for name, text in pages.items()}
    wanted[STUB] = reference.stub(catalogue())
    yield from compare(there, wanted)
    for path in sorted(there):
        if path.startswith("studies/") and path.endswith("/result.json"):
            yield from check_results(Path(path).parent.name, there)


def compare(there: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[Finding]:
    """Generated files that differ, are missing, or that nothing generates."""
    for path, text in sorted(wanted.items()):
        if path not in there:
            yield Finding(path, 1, "missing", f"{WHY} `make docs`")
        elif there[path] != text:
            line = _first_difference(there[path].splitlines(), text.splitlines())
            yield Finding(path, line, "not what the engine gives", f"{WHY} `make docs`")
    for path in sorted(there):
        if path.startswith(REFERENCE) and path not in wanted:
            yield Finding(path, 1, "a page of nothing", "what it described is gone; remove it")


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


def _pages_module() -> ModuleType:
    """`docs/pages.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("forebay_docs_pages", ROOT / "docs/pages.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("docs/pages.py cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
