"""The command `studies`: what can be reproduced."""

# ruff: noqa: T201 (the command prints)

from __future__ import annotations

import textwrap

from forebay.cli.terminal import print_json
from forebay.errors import printable
from forebay.study.folders import describe, own_studies, study_folders

__all__ = ["list_studies"]


def list_studies(as_json: bool) -> None:
    """Print every study: its id, the paper, and how many of its results are compared.

    Claims that are no results of the paper are counted apart, as `checks`.
    """
    rows = [describe(folder) for folder in study_folders().values()]
    if as_json:
        print_json({"studies": rows})
        return
    width = max(len(row["id"]) for row in rows)
    for row in rows:
        about = f"{row['title']}. {row['authors']}; {row['venue']}, {row['date']}"
        lines = textwrap.wrap(about, 98 - width)
        print(f"{row['id']:<{width}}  {lines[0]}")
        for line in lines[1:]:
            print(" " * (width + 2) + line)
        counted = f"{row['numbers']} numbers and {row['statements']} statements compared"
        besides = f", {row['checks']} checks besides" if row["checks"] else ""
        print(f"{'':<{width}}  {counted}{besides}")
    print("\nre-do one: forebay reproduce STUDY (within two minutes: --quick)")
    own = own_studies()
    if own:
        folder = printable(own)
        print(f"FOREBAY_STUDIES is {folder}: `reproduce` and `report` run the Python modules there")
