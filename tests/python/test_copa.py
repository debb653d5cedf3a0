"""Copa in Python is Copa in Rust: a law that the paper's authors published, written twice, in each
of the ways that Forebay has for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
LAWS = ROOT / "examples" / "own-law"
# With the features that a crate of the workspace asks for in the tests of Rust: what these built is
# not built again.
BUILD = "cargo build --quiet --package own-law --package forebay-fuzz"
LIBRARY = "libown_law.dylib" if sys.platform == "darwin" else "libown_law.so"

TRIAL = """
import sys
from forebay import Network, control, queue, tcp
from forebay.laws import load

for path in sys.argv[2:]:
    load(path)
for rate, delay, others, competes in (
    ("10 Mbit/s", "20 ms", 0, False),
    ("10 Mbit/s", "20 ms", 0, True),
    ("40 Mbit/s", "5 ms", 1, True),
):
    net = Network("copa", duration="8 s")
    law = queue.droptail(limit="80 packets")
    net.link("bn", "a", "b", rate=rate, delay=delay, queue=law)
    chosen = getattr(control, sys.argv[1])(competes=competes)
    net.flows("own", "a", "b", count=2, tcp=tcp(control=chosen))
    if others:
        net.flows("cubic", "a", "b", count=others, tcp=tcp(control="cubic"))
    print(*net.run().digests)
"""


def digests(name: str, *paths: Path, compile: str = "auto") -> list[str]:
    """The digests of some networks under the law of that name, of these files."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "FOREBAY_LAWS_COMPILE": compile,
    }
    command = [sys.executable, "-c", TRIAL, name, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_copa_has_the_same_digest_from_rust_and_python() -> None:
    """Copa as a library of Rust, in Python under numba, and interpreted is one law: with queues of
    its own making, in its competitive mode, and beside CUBIC."""
    subprocess.run(BUILD.split(), cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    rust = digests("copa", target / "debug" / LIBRARY)
    assert len(set(rust)) == 3
    assert digests("my_copa", LAWS / "copa.py", compile="numba") == rust
    assert digests("my_copa", LAWS / "copa.py", compile="no") == rust
