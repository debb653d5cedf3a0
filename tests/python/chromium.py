"""Needs of tests in a browser, and whether these may be left out where one is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "lab" / "dist"
PAGE = ROOT / "python" / "forebay" / "lab" / "page.html"
PLAYWRIGHT = ROOT / "lab" / "node_modules" / "playwright-core" / "index.mjs"
CHROMIUM = Path("/usr/bin/chromium")

REQUIRED = os.environ.get("FOREBAY_REQUIRE_BROWSER") == "1"
"""True if a test that cannot run has failed."""


def needs(*paths: Path) -> None:
    """Skip what cannot run without node and `paths`, or fail it where it is `REQUIRED`."""
    missing = [str(path) for path in paths if not path.exists()]
    if shutil.which("node") is None:
        missing.append("node")
    if not missing:
        return
    words = (
        f"there is no {', no '.join(missing)}; `make lab` builds the page, and tests/install.sh "
        "installs Chromium"
    )
    if REQUIRED:
        pytest.fail(words)
    pytest.skip(words)
