"""ARCHITECTURE.md and the glossary name what is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "ARCHITECTURE.md", ROOT / "docs" / "glossary.md")
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
PAGE = re.sub(r"```.*?```", "", TEXT, flags=re.S)
NAMES = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
TRACKED = subprocess.run(
    ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.split()

FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:rs|py|toml|md|sh|ts|json|txt)|[\w.-]+(?:/[\w.-]+)+/?")
PATH = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")
WORD = re.compile(r"[A-Za-z_]\w*")
ELSEWHERE = {"net/sched/sch_*", "sch_generic.h", "studies/ID", "suites/ID"}
"""Files of Linux, and a place whose name the reader fills in."""


def words() -> set[str]:
    """The words of all sources."""
    kinds = (".rs", ".py", ".pyi", ".ts")
    paths = [ROOT / name for name in TRACKED if name.endswith(kinds)]
    texts = (path.read_text(encoding="utf-8") for path in paths if path.is_file())
    return set(re.findall(r"\w+", "\n".join(texts)))


def missing(name: str, known: set[str]) -> bool:
    """True if a name is a file that is not tracked, or a name in code that no source has."""
    plain = name.removesuffix("()").rstrip("/")
    if FILE.fullmatch(name):
        inner = f"/{plain}/"
        ends = (plain, inner[:-1])
        return not any(
            path == ends[0] or path.endswith(ends[1]) or inner in f"/{path}" for path in TRACKED
        )
    if PATH.fullmatch(plain) or WORD.fullmatch(plain):
        return not set(plain.split("::")) <= known
    return False


def test_names_of_architecture_are_there() -> None:
    """Every file, type and function in backticks exists: a page that is not executed names what was
    renamed long ago."""
    known = words()
    wrong = [name for name in NAMES if name not in ELSEWHERE and missing(name, known)]
    assert wrong == []


@pytest.mark.parametrize("name", ["api.py", "network/src/nowhere.rs", "Element::probes_of"])
def test_a_name_that_is_nowhere_is_found(name: str) -> None:
    """The check above bites."""
    assert missing(name, {"Element", "probes"})
    assert len(NAMES) > 300
