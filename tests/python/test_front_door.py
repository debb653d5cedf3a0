"""The front door: README.md, `make help`, and what set-up says while one waits."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGETS = dict(
    re.findall(r"^([a-z-]+):.*?## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
)
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "validation/README.md")]


def make(*arguments: str) -> str:
    """The output of make, also where these tests are run by it."""
    command = ["make", "--no-print-directory", *arguments]
    others = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        command, cwd=ROOT, env=others, capture_output=True, text=True, check=True
    ).stdout


def test_the_readme_fits_a_first_minute() -> None:
    """README.md has at most 120 lines: two sentences, the picture, the installation and a first run
    stand before any table."""
    lines = README.splitlines()
    assert len(lines) <= 120
    places = [README.index(words) for words in ("![The lab", "## Install", "## Ten lines", "\n| ")]
    assert places == sorted(places)
    first = README.split("\n\n")[1]
    assert len(re.findall(r"[.!?](?:\s|$)", first)) == 2
    assert first.count(",") < 10


def test_every_target_says_when_and_how_long() -> None:
    """`make help` lists each target with its purpose and its time, in columns of a terminal."""
    shown = make("help").splitlines()
    assert len(shown) == len(TARGETS)
    for target, meaning in TARGETS.items():
        assert re.search(r"minute|second|hour", meaning) or target in ("help", "clean"), target
    assert max(map(len, shown)) <= 110


def test_pages_name_targets_that_are_there() -> None:
    """Each `make TARGET` of README and guides is one of the Makefile's, so that it can be typed."""
    families = tuple(re.findall(r"^([a-z-]+-)%:", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for path in [*PAGES, *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8")):
            made = target in TARGETS or target.startswith(families)
            assert made, f"{path.name}: make {target}"


def test_set_up_says_what_it_does_before_it_does_it() -> None:
    """Three stages are announced with the time that they take; cargo's own lines follow, so that
    the minutes of a first build are not silent."""
    told = make("--always-make", "--dry-run", "setup")
    stages = re.findall(r'echo "(\d)/3 [^"]*(?:second|minute)', told)
    assert stages == ["1", "2", "3"]
    (build,) = re.findall(r"maturin develop.*", told)
    assert "--quiet" not in build
    assert "guided" not in told
