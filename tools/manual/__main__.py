"""`python -m manual docs`, `python -m manual pictures` and `python -m manual site`."""

from __future__ import annotations

import sys

from forebay.run.store import write_text
from forebay.scenario.catalogue import catalogue
from manual import build, pictures, records, stub
from manual.sources import ROOT

USAGE = "usage: python -m manual docs | pictures | site"


def main(arguments: list[str]) -> None:
    """Write the committed files, or build the site."""
    if arguments == ["docs"]:
        records.main()
        write_text(ROOT / "python/forebay/__init__.pyi", stub.stub(catalogue()))
    elif arguments == ["pictures"]:
        pictures.pictures()
    elif arguments == ["site"]:
        build.build(ROOT / "site", ROOT / "out/site")
    else:
        raise SystemExit(USAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
