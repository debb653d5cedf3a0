#!/usr/bin/env python3
"""Check of a wheel or a source distribution: every file of the package, and no other.

usage: tools/wheel_check.py [--no-lab] FILE...

The files are compared with those of the checkout. Exit status 1 and a line for each that is
missing or stray; `--no-lab` accepts a distribution without the page of the lab.
"""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

__all__ = ["files_of", "needed", "problems"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = "forebay/lab/page.html"
"""What `make lab` builds; git ignores it."""
UNNEEDED = {
    "*/__pycache__/*": "made where it is imported",
    "forebay/_native.*so": "the engine of this checkout",
    "forebay/_native.*.pyd": "the engine of this checkout",
    "forebay/studies/*.svg": "drawn by `reproduce` again",
    "forebay/studies/*/results.md": "written by `reproduce` again",
    "forebay/suites/*/results.md": "written by `suite` again",
    "forebay/studies/*/transports.*[dn]": "written by `transports` again",
    "forebay/studies/*/journal.jsonl": "runs of this checkout, as what follows",
    "forebay/studies/*/runs.*": "",
    "forebay/studies/*/manifest.json": "",
    "forebay/studies/*/report.html": "",
    "forebay/studies/*/claims.csv": "",
    "forebay/studies/*/tables/*": "",
    "forebay/studies/*/recordings/*": "",
    PAGE: "asked for apart",
}
"""Files of the package that no distribution needs, and why; `*` stands for any characters."""
BESIDE = (
    *("pyproject.toml", "Cargo.toml", "Cargo.lock"),
    *("LICENSE-MIT", "LICENSE-APACHE", "LICENSE-DATA"),
)
"""What a source distribution is built with."""


def needed(root: Path = ROOT) -> set[str]:
    """The files of the package in a checkout, as `forebay/...`, links followed."""
    return {
        name
        for name in _below(root / "python", "forebay")
        if not any(fnmatch(name, pattern) for pattern in UNNEEDED)
    }


def _below(root: Path, package: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root / package, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            yield (Path(folder) / name).relative_to(root).as_posix()


def files_of(path: Path) -> list[str]:
    """The files in a wheel, or in a source distribution below its folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.namelist()
    with tarfile.open(path) as source:
        return [name.partition("/")[2] for name in source.getnames()]


def problems(path: Path, found: Iterable[str], wanted: set[str], lab: bool = True) -> list[str]:
    """Returns the faults of a distribution of these files, a sentence each.

    `wanted` are the files of its package; with `lab` the page of the lab is one of them.
    """
    found = set(found)
    wanted = wanted | {PAGE} if lab else wanted
    told = []
    if path.suffix == ".whl":
        native = {
            name for name in found if fnmatch(name, "forebay/_native.*") and "pyi" not in name
        }
        if len(native) != 1:
            told.append(f"{len(native)} modules forebay/_native.*; a wheel has one")
        package = {name for name in found - native if ".dist-info/" not in name}
    else:
        told += [f"lacks {name}" for name in BESIDE if name not in found]
        package = {name.removeprefix("python/") for name in found if name.startswith("python/")}
    advice = "; `include` in pyproject.toml names what is behind a link"
    for name in sorted(wanted - package):
        told.append(f"lacks {name}{'; make lab builds it' if name == PAGE else advice}")
    told += [f"holds {name}, which is no file of the package" for name in sorted(package - wanted)]
    return [f"{path}: {line}" for line in told]


def main(words: list[str]) -> int:
    """Check the files named; the exit status."""
    lab = "--no-lab" not in words
    paths = [Path(word) for word in words if word != "--no-lab"]
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    wanted = needed()
    told = [line for path in paths for line in problems(path, files_of(path), wanted, lab)]
    print(*told or [f"{path}: whole" for path in paths], sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
