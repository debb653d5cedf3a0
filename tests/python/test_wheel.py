"""Distributions: what is built of the sources holds every file of the package, and no other."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import wheel_check

ROOT = Path(__file__).resolve().parents[2]
WHEEL = Path("forebay-0.1.0-cp311-abi3-any.whl")
OTHERS = {"forebay/_native.abi3.so", "forebay-0.1.0.dist-info/METADATA"}
"""Files that a wheel has beside the sources of the package."""


def test_a_source_distribution_is_whole(tmp_path: Path) -> None:
    """maturin includes every file that the package needs, behind symbolic links too.

    A wheel is made of the same patterns; `make wheel` checks it when it has built it.
    """
    maturin = Path(sys.executable).with_name("maturin")
    words = [maturin, "sdist", "-m", "crates/native/Cargo.toml", "-o", tmp_path]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("*.tar.gz")
    lab = (ROOT / "python" / wheel_check.PAGE).exists()
    found = wheel_check.files_of(path)
    assert wheel_check.problems(path, found, wheel_check.needed(), lab) == []


def test_the_package_has_studies_templates_and_benchmarks() -> None:
    """The list that distributions are held to names each kind of file that commands read."""
    assert wheel_check.needed() >= {
        "forebay/py.typed",
        "forebay/cli/commands.py",
        "forebay/pages/templates/base.html.j2",
        "forebay/scenario/templates/bufferbloat.toml",
        "forebay/benchmarks/s1-af.toml",
        "forebay/studies/af/paper.toml",
        "forebay/studies/af/result.json",
        "forebay/studies/af/about.md",
        "forebay/studies/redn/predicates/axes.py",
        "forebay/suites/rfc7928/suite.toml",
        "forebay/suites/ccwg/suite.toml",
        "forebay/suites/bufferbloat/suite.toml",
        "forebay/suites/bbr-draft/suite.toml",
        "forebay/suites/rfc8867/rates.py",
        "forebay/suites/tcpeval/times.py",
    }


def test_a_whole_wheel_is_accepted(tmp_path: Path) -> None:
    """A wheel with the files of the checkout, the engine and its metadata has nothing wrong."""
    wanted = wheel_check.needed()
    path = tmp_path / WHEEL
    with zipfile.ZipFile(path, "w") as wheel:
        for name in sorted(wanted | OTHERS | {wheel_check.PAGE}):
            wheel.writestr(name, "")
    found = wheel_check.files_of(path)
    assert wheel_check.problems(path, found, wanted) == []
    assert wheel_check.main([str(path)]) == 0


@pytest.mark.parametrize(
    "name",
    [
        wheel_check.PAGE,
        "forebay/_native.abi3.so",
        "forebay/studies/redn/predicates/axes.py",
        "forebay/benchmarks/s1-af.toml",
    ],
)
def test_a_wheel_that_lacks_a_file_is_refused(name: str) -> None:
    """A file that is missing is named, whether it is written, built or behind a link."""
    wanted = wheel_check.needed()
    found = wanted | OTHERS | {wheel_check.PAGE}
    (told,) = wheel_check.problems(WHEEL, found - {name}, wanted)
    assert name.partition(".")[0] in told


@pytest.mark.parametrize(
    "name", ["tests/conftest.py", "forebay/studies/af/runs.sqlite", "forebay/notes.txt"]
)
def test_a_stray_file_is_refused(name: str) -> None:
    """What is no file of the package is named; so is the page where it was to be left out."""
    wanted = wheel_check.needed()
    found = wanted | OTHERS | {name}
    assert wheel_check.problems(WHEEL, found, wanted, lab=False) == [
        f"{WHEEL}: holds {name}, which is no file of the package"
    ]
    (told,) = wheel_check.problems(WHEEL, wanted | OTHERS | {wheel_check.PAGE}, wanted, lab=False)
    assert wheel_check.PAGE in told
