"""A study's pages: report.html, README.md, made of about.md, and results.md with the long tables.

`about.md`, beside a study's files, is written by hand. These lines in it are filled in; each stands
alone on its line:

    <!-- score -->                      counts by grade, command, version
    <!-- claims: GLOB, GLOB -->         a table of the claims whose ids match one of them
    <!-- figure: NAME | CAPTION -->     a figure, drawn into NAME.svg beside the page

A figure is one that `figures` of study.py makes, by its id, or the plot of a table of the paper, by
the id of the table. Without `about.md` the README has all tables, between markers if it has them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.drawing import Figure, slug, to_file
from forebay.errors import UserError, nearest, read_text
from forebay.report.readme import claims_table, long_tables, readme, score
from forebay.report.study_page import StudyFigures, draw_figures, write_study_report
from forebay.run.store import write_text

if TYPE_CHECKING:
    from forebay.study.assumptions import Notes
    from forebay.study.definition import Study
    from forebay.study.results import Outcome

__all__ = ["ABOUT", "check_about", "write_study_pages"]

ABOUT = "about.md"
RESULTS = "results.md"
COMMENT = re.compile(r"<!--\s*([\w-]+)\s*(?::\s*(.*?))?\s*-->")
GENERATED = "<!-- made by `forebay reproduce` of about.md; edit that -->"
WORDS = {"score": False, "claims": True, "figure": True}
"""Words that are filled in, and whether an argument follows them."""


@dataclass(frozen=True, slots=True)
class _Marker:
    """A line of about.md that is filled in."""

    place: str
    word: str
    about: str


def check_about(study: Study) -> None:
    """See, before anything runs, that a study's about.md can be filled in; raises `UserError`.

    Figures are known only when they are drawn.
    """
    for line in _lines(study):
        if isinstance(line, _Marker) and line.word == "claims":
            _matching(study, line)


def write_study_pages(
    outcome: Outcome, document: Mapping[str, Any], notes: Notes, folder: Path
) -> Path:
    """Write report.html, whose path it answers, README.md, results.md and the figures that about.md
    names.

    Raises `UserError` for a figure that a full run does not make.
    """
    study = outcome.study
    figures = draw_figures(outcome)
    page = write_study_report(outcome, document, notes, figures, folder)
    drawn: dict[str, str] = {}
    if (study.folder / ABOUT).is_file():
        known = _by_name(figures)
        filled = [_filled(outcome, document, line, known, drawn) for line in _lines(study)]
        text = "\n".join([GENERATED, *filled]) + "\n"
    else:
        text = readme(outcome, document)
    for name, svg in drawn.items():
        write_text(folder / f"{name}.svg", svg)
    write_text(folder / "README.md", text)
    write_text(folder / RESULTS, long_tables(outcome, document))
    return page


def _lines(study: Study) -> Iterator[str | _Marker]:
    """The lines of about.md, those that are filled in as markers; none if there is no such file.

    A comment of one line that looks like a marker and is none is refused.
    """
    path = study.folder / ABOUT
    if not path.is_file():
        return
    fenced = False
    for number, line in enumerate(read_text(path).splitlines(), 1):
        fenced ^= line.startswith("```")
        found = None if fenced else COMMENT.fullmatch(line.strip())
        if found is None:
            yield line
            continue
        word, about = found[1], (found[2] or "").strip()
        place = f"{path}: line {number}"
        if word not in WORDS:
            allowed = ", ".join(WORDS)
            raise UserError(f"{place}: read {word!r}{nearest(word, WORDS)}; allowed are {allowed}")
        if bool(about) != WORDS[word]:
            needs = "is followed by a colon and what it shows" if WORDS[word] else "stands alone"
            raise UserError(f"{place}: read {line.strip()!r}; {word} {needs}")
        yield _Marker(place, word, about)


def _filled(
    outcome: Outcome,
    document: Mapping[str, Any],
    line: str | _Marker,
    figures: Mapping[str, Figure],
    drawn: dict[str, str],
) -> str:
    """A line of the page, or what stands for it; figures are added to `drawn`."""
    if isinstance(line, str):
        return line
    if line.word == "score":
        return f"{score(document)}\n\nAll tables: [{RESULTS}]({RESULTS})."
    if line.word == "claims":
        wanted = _matching(outcome.study, line)
        rows = [row for row in document["claims"] if row["id"] in wanted]
        return claims_table(outcome.study, rows) or "None of these claims was measured."
    name, _, caption = (part.strip() for part in line.about.partition("|"))
    if name in figures:
        drawn[name] = to_file(figures[name])
        caption = caption or figures[name].title
        return f"![{caption}]({name}.svg)\n\n*{caption}*"
    if document["stopped"] or {"--quick", "--claims"} & set(document["command"].split()):
        return f"*Not drawn, as not all was run: {caption or name}*"
    allowed = ", ".join(figures)
    raise UserError(
        f"{line.place}: no figure {name!r}{nearest(name, figures)}; there are {allowed}"
    )


def _matching(study: Study, line: _Marker) -> set[str]:
    """The ids of the claims that a marker shows. Raises `UserError` if there are none."""
    paper = study.paper
    ids = [claim.id for claim in paper.claims] + [each.id for each in paper.statements]
    found: set[str] = set()
    for glob in map(str.strip, line.about.split(",")):
        matching = set(fnmatch.filter(ids, glob))
        if not matching:
            # Most globs are the beginning of an id, and a star.
            known = ids + [n.rsplit("/", at)[0] for n in ids for at in range(1, n.count("/") + 1)]
            hint = nearest(glob.rstrip("*/"), known)
            raise UserError(f'{line.place}: no claim matches "{glob}"{hint}')
        found |= matching
    return found


def _by_name(figures: StudyFigures) -> dict[str, Figure]:
    """The figures that about.md can name: a table's unless one of the study's own has its name."""
    tables = {slug(name): figure for name, figure in figures.tables.items()}
    return tables | {figure.id: figure for figure in figures.own}
