"""The table of run.sh, from the lists that llvm-cov and coverage.py have written."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Number of files that are named.
MAX_FILES = 12


def main(folder: Path) -> None:
    """Print shares by crate and package, and the files with most lines that no test runs."""
    files = dict(rust(folder / "rust.json") | python(folder / "python.json"))
    groups: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, (run, lines) in files.items():
        for name in (group(path), "all " + ("Rust" if path.endswith(".rs") else "Python")):
            groups[name][0] += run
            groups[name][1] += lines
    for name, (run, lines) in sorted(groups.items()):
        print(f"{name:24} {run:6} of {lines:6} lines run  {100 * run / lines:5.1f} %")
    print("most lines that are not run:")
    missed = sorted(files.items(), key=lambda item: item[1][0] - item[1][1])
    for path, (run, lines) in missed[:MAX_FILES]:
        print(f"  {lines - run:4} of {lines:4}  {path}")


def rust(path: Path) -> dict[str, tuple[int, int]]:
    """Lines run and lines there are, by file, as llvm-cov exports them."""
    if not path.exists():
        return {}
    exported = json.loads(path.read_text())["data"][0]["files"]
    return dict(_within((each["filename"], each["summary"]["lines"]) for each in exported))


def _within(files: Iterator[tuple[str, dict[str, int]]]) -> Iterator[tuple[str, tuple[int, int]]]:
    for name, lines in files:
        if Path(name).is_relative_to(ROOT) and lines["count"]:
            yield str(Path(name).relative_to(ROOT)), (lines["covered"], lines["count"])


def python(path: Path) -> dict[str, tuple[int, int]]:
    """The same as coverage.py exports them."""
    if not path.exists():
        return {}
    exported = json.loads(path.read_text())["files"]
    return {
        name: (each["summary"]["covered_lines"], each["summary"]["num_statements"])
        for name, each in exported.items()
        if each["summary"]["num_statements"]
    }


def group(path: str) -> str:
    """The crate or the Python package of a file."""
    parts = Path(path).parts
    if parts[0] == "crates":
        return "/".join(parts[:2])
    return "/".join(parts[:3]) if len(parts) > 3 else "/".join(parts[:2])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
