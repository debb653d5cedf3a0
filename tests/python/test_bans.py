"""The configuration of ruff and import-linter: it refuses what it should, and nothing besides.

The bans of clippy.toml and deny.toml need a build to be tried, and are not tried here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
MODULE = "python/forebay/counting.py"
STUDY = "studies/af/counting.py"
TEST = "tests/python/test_counting.py"
SCRIPT = "tools/count.py"

PYTHON = (
    (MODULE, "print(1)\n", "T201"),
    (STUDY, "print(1)\n", "T201"),
    (SCRIPT, "print(1)\n", ""),
    (MODULE, "from time import monotonic as clock\n", "TID251"),
    (STUDY, "import datetime\n\nNOW = datetime.datetime.now()\n", "TID251"),
    ("docs/count.py", "import time\n\nBEGUN = time.perf_counter()\n", "TID251"),
    (SCRIPT, "import time\n\nBEGUN = time.perf_counter()\n", ""),
    (MODULE, "import time\n\ntime.sleep(1)\n", ""),
    (MODULE, "import random\n", "TID251"),
    (TEST, "from random import choice\n", "TID251"),
    (TEST, "import numpy as np\n\nnp.random.seed(1)\n", "NPY002"),
    (TEST, "import numpy as np\n\nSTREAM = np.random.default_rng(1)\n", ""),
    (MODULE, "import scipy.stats\n", "TID253"),
    (STUDY, "import scipy.stats\n", ""),
    (MODULE, "def f():\n    import scipy.stats\n", ""),
    (MODULE, "if TYPE_CHECKING:\n    import pyarrow as pa\n", ""),
    (MODULE, "def f():\n    from forebay.run.jobs import check\n", "PLC0415"),
    (MODULE, "# ruff: noqa: T201 (the command prints)\n", "RUF100"),
    (MODULE, "def f(a, b, c, d, e, f, g, *, h): ...\n", ""),
    (MODULE, "def f(a, b, c, d, e, f, g, h): ...\n", "PLR0917"),
    (MODULE, "def f():\n" + "    g()\n" * 40, ""),
    (MODULE, "def f():\n" + "    g()\n" * 41, "PLR0915"),
)
"""Files, and the rule that refuses them, if any does."""

RULES = {"T201", "TID251", "TID253", "NPY002", "PLC0415", "PLR0915", "PLR0917", "RUF100"}


@pytest.mark.parametrize(("path", "text", "rule"), PYTHON)
def test_what_is_banned_in_python_is_refused(path: str, text: str, rule: str) -> None:
    """Code that makes results depend on the clock, or that prints where it should return, is
    refused by its rule."""
    command = [TOOLS / "ruff", "check", "--output-format", "json", "--stdin-filename", path, "-"]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)
    codes = {finding["code"] for finding in json.loads(done.stdout)}
    assert codes & RULES == ({rule} if rule else set()), done


ARROWS = "packages import what is below them"
CIRCLES = "no modules import each other in a circle"
LINUX = "linux needs nothing of the front end but runs"

IMPORTS = (
    ("run/store", "forebay.study.claims", ARROWS),
    ("scenario/network", "forebay.cli.terminal", ARROWS),
    ("study/claims", "forebay.report.build", ARROWS),
    ("pages/sections", "forebay.scenario.network", ARROWS),
    ("report/build", "forebay.linux.script", ARROWS),
    ("errors", "forebay.run.jobs", ARROWS),
    ("cellar/__init__", "forebay.errors", ARROWS),
    ("linux/script", "forebay.scenario.network", LINUX),
    ("run/journal", "forebay.run.sweep", CIRCLES),
)
"""Modules, what they must not import, and the contract that this breaks."""


@pytest.mark.parametrize(("module", "wrong", "contract"), IMPORTS)
def test_packages_import_one_way(module: str, wrong: str, contract: str, tmp_path: Path) -> None:
    """Packages import one way: runs know no papers, and the reading of claims no terminal."""
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "studies", "benchmarks")
    shutil.copytree(ROOT / "python/forebay", tmp_path / "forebay", ignore=ignored)
    changed = tmp_path / f"forebay/{module}.py"
    changed.parent.mkdir(exist_ok=True)
    with changed.open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef _of_a_test() -> None:\n    import {wrong}\n")
    command = [TOOLS / "lint-imports", "--no-cache", "--no-logo", ROOT / "pyproject.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert f"{contract} BROKEN" in " ".join(done.stdout.split()), done.stdout
    assert done.returncode == 1
