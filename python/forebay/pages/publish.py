"""What a sweep leaves in its folder when its runs are there: summary, tables and page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forebay.errors import MachineError
from forebay.extras import is_installed
from forebay.pages.page import REPORT
from forebay.pages.sweep import sweep_report
from forebay.run.journal import Journal
from forebay.run.summary import SUMMARY, files, source_of, write_summary
from forebay.run.sweep import Planned, Sweep

__all__ = ["publish"]


def publish(
    sweep: Sweep, planned: Sequence[Planned], journal: Journal, folder: Path
) -> dict[str, Any]:
    """Write summary and page, unless they are there and of the same runs; the document.

    Raises `MachineError` if the journal lacks runs that were made.
    """
    source, names = source_of(sweep, planned, journal), (*files(), REPORT)
    if not is_installed("matplotlib"):
        source += " without plots"
    if journal.is_made(source, names):
        found: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        return found
    document = write_summary(sweep, planned, journal, folder)
    asked = len(planned) * sweep.replications
    lacking = asked - document["runs"] - len(document["failed"])
    if lacking:
        raise MachineError(
            f"{journal.path}: {lacking} of {asked} runs were made and are not found there; the "
            "disk or the machine is at fault; the same command makes them again"
        )
    sweep_report(folder)
    journal.made(source, names)
    return document
