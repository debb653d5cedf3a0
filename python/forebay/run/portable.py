"""A scenario as one text that needs no files beside it: for the lab's page, for stored runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import tomli_w

from forebay.errors import MAX_FILE_BYTES, UserError, printable
from forebay.run.jobs import Job, check, data_file, expanded
from forebay.run.laws import law_sentence

__all__ = ["portable_text"]

NEEDS = "# needs --laws: "
"""How a line begins that names a law of one's own which the scenario has."""

DATA_FILES = ("schedule", "trace")
"""Keys of a link, or of its way back, that name files."""


def portable_text(job: Job) -> str | None:
    """The text of a job's scenario if it stands by itself, else one with the contents of the files
    that it includes or names, with the same hash; `None` if files are needed all the same.

    Of laws of one's own, it says in lines at its beginning which files it needs. Raises `UserError`
    for a wrong scenario.
    """
    wanted = check(job.but(overrides=()))["scenario_hash"]
    needed = _laws_needed(job)
    name = Path(job.name).name
    if _hash_alone(job.text, name) == wanted:
        lines = job.text.splitlines(keepends=True)
        return needed + "".join(line for line in lines if not line.startswith(NEEDS))
    text = needed + tomli_w.dumps(_in_one_piece(job))
    if len(text.encode()) > MAX_FILE_BYTES:
        # No scenario file may be so long.
        return None
    return text if _hash_alone(text, name) == wanted else None


def _laws_needed(job: Job) -> str:
    """Lines that name the laws of one's own that a job has; empty if it has none."""
    return "".join(f"{NEEDS}{printable(law_sentence(row))}\n" for row in check(job).get("laws", ()))


def _hash_alone(text: str, name: str) -> str | None:
    """Hash of the scenario without the files beside it; nothing if it cannot be read so."""
    with tempfile.TemporaryDirectory() as folder:
        job = Job(text, f"{folder}/{name}")
        try:
            return str(check(job)["scenario_hash"])
        except UserError:
            return None


def _in_one_piece(job: Job) -> dict[str, Any]:
    """The tables of a scenario with the contents of all files that it names."""
    tables = expanded(job.text, job.name)
    for link in tables.get("links", {}).values():
        for direction in (link, link.get("reverse", {})):
            for key in DATA_FILES:
                _fill_in(job, direction, key)
    for flow in tables.get("flows", {}).values():
        traffic = flow.get("traffic")
        recorded = traffic.get("trace") if isinstance(traffic, dict) else None
        if isinstance(recorded, dict):
            _fill_in(job, recorded, "file")
    return tables


def _fill_in(job: Job, section: dict[str, Any], key: str) -> None:
    """Put what a file holds in place of its name; of a capture, the table of its packets."""
    if isinstance(section.get(key), str):
        section[key] = {"text": data_file(job.name, section[key])}
