"""Elements of one's own: an engine of a crate outside (`examples/own-element`), which has a
transport and two kinds of rows that Forebay does not know, at the command and in Python.

A process has one engine, so each command here has a process of its own.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import front
import numpy.random.mtrand
import pyarrow.parquet
import pytest

from forebay.run.journal import JOURNAL

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
BUILD = "cargo build --quiet --profile setup --package own-element-engine"
LIBRARY = {"darwin": "libown_element_engine.dylib", "win32": "own_element_engine.dll"}.get(
    sys.platform, "libown_element_engine.so"
)

SCENARIO = """
name = "own"
duration = "20 s"
warm_up = "10 s"

[links.line]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"

[flows.w]
from = "a"
to = "b"
constant_window = { window = 10 }
"""
# A packet of 1000 B takes 0.8 ms on the link, an acknowledgement of 40 B 0.032 ms, and each way
# takes 10 ms: no packet waits as long as less than 26 are outstanding. 10 are acknowledged in each
# round trip, and so many arrive in the 10 s that are measured.
ROUND_TRIP_S = 20.832e-3
ARRIVALS = 10.0 * 10 / ROUND_TRIP_S
NEAR = 2e-3

SWEEP = """
scenario = "own.toml"
replications = 2
quantities = ["windows.w.mean_rtt_s", "arrived"]
[derived]
arrived = "window_arrivals.w.new_packets / windows.w.acknowledged_packets"
[grid]
"flows.w.constant_window.window" = [5, 10]
"""


class Typed:
    """Commands with an engine of one's own, each in a process of its own, in one folder."""

    def __init__(self, folder: Path, engine: Path) -> None:
        self.folder = folder
        self.engine = engine

    def __call__(self, *words: object, status: int = 0, engine: object = None) -> front.Answer:
        """Run a command, perhaps with another `engine`; it must end with a status."""
        return self.process("-m", "forebay", *words, status=status, engine=engine)

    def process(self, *words: object, status: int = 0, engine: object = None) -> front.Answer:
        """Run Python."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "FOREBAY_ENGINE": str(self.engine if engine is None else engine),
        }
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=self.folder, env=environment,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return front.Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def engine() -> Path:
    """The engine of the example, of the libraries that the engine of this checkout is made of."""
    environment = {**os.environ, "PYO3_PYTHON": sys.executable}
    subprocess.run(BUILD.split(), cwd=ROOT, env=environment, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "setup" / LIBRARY


@pytest.fixture
def typed(tmp_path: Path, engine: Path) -> Typed:
    """Commands in a folder with a scenario and a sweep."""
    (tmp_path / "own.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return Typed(tmp_path, engine)


def test_the_front_end_names_no_element_from_outside() -> None:
    """What follows holds for any element: nothing in the package is written for the example."""
    for path in (ROOT / "python" / "forebay").rglob("*.py*"):
        if path.suffix in (".py", ".pyi"):
            assert "constant_window" not in path.read_text(encoding="utf-8"), path


def test_the_readme_of_the_example_can_be_typed(typed: Typed) -> None:
    """What the example's README has its readers type gives what it says: the two tables of rows on
    the terminal and on the page, and those of Python."""
    (typed.folder / "examples").symlink_to(ROOT / "examples")
    readme = (ROOT / "examples" / "own-element" / "README.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"^```sh\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    (program,) = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    build, export, *lines = commands.splitlines()
    assert build.split()[-1] == BUILD.split()[-1]
    assert export.startswith("export FOREBAY_ENGINE=")
    assert len(lines) == 4
    for line in lines:
        name, *words = shlex.split(line)
        assert name == "forebay"
        typed(*words)
    assert (typed.folder / "out" / "own" / "tables" / "results" / "windows.csv").is_file()
    assert (typed.folder / "out" / "own" / "report.html").is_file()
    assert "mean_rtt_s: double" in typed.process("-c", program).out


def test_rows_of_ones_own_are_shown_and_printed(typed: Typed) -> None:
    """A run shows both kinds of rows below their titles, and prints them as JSON: as theory has it,
    and with no invariant broken."""
    out = typed("run", "own.toml", "--quantity", "twice = 2 * windows.w.mean_rtt_s").out
    titles = " ".join(out.split())
    for title in ("constant windows name", "arrivals of constant windows name", "twice = 2 *"):
        assert title in titles
    document = typed("run", "own.toml", "--json", "--check").document()
    assert document["windows"][0]["mean_rtt_s"] == pytest.approx(ROUND_TRIP_S, rel=NEAR)
    assert document["window_arrivals"][0]["new_packets"] == pytest.approx(ARRIVALS, rel=NEAR)
    assert "engine" in typed("--version").out
    assert document["build"] in typed("--version").out


def test_rows_of_ones_own_are_in_files_and_pages(typed: Typed) -> None:
    """Both kinds of rows are written as CSV and Parquet and shown on the page of a run, which names
    the transport among the flows."""
    typed("run", "own.toml", "--out", "out", "--format", "both")
    typed("report", "out")
    page = (typed.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "Constant windows" in page
    assert "Arrivals of constant windows" in page
    assert "<code>constant_window, window 10</code>" in page
    tables = typed.folder / "out" / "tables" / "results"
    for kind, column in (("windows", "mean_rtt_s"), ("window_arrivals", "new_packets")):
        with (tables / f"{kind}.csv").open(encoding="utf-8", newline="") as file:
            (row,) = csv.DictReader(file)
        (stored,) = pyarrow.parquet.read_table(tables / f"{kind}.parquet").to_pylist()
        assert row["name"] == stored["name"] == "w"
        assert float(row[column]) == stored[column] > 0


def test_rows_of_ones_own_are_swept(typed: Typed) -> None:
    """A sweep takes columns and expressions of both kinds of rows, in workers that have the same
    engine: windows of 5 and 10 packets have the same round trip."""
    document = typed("sweep", "sweep.toml", "--jobs", 2, "--json").document()
    key = "flows.w.constant_window.window"
    means = {(row["quantity"], row[key]): row["mean"] for row in document["summary"]}
    for window in (5, 10):
        assert means["windows.w.mean_rtt_s", window] == pytest.approx(ROUND_TRIP_S, rel=NEAR)
        # What arrives is acknowledged half a round trip later. So at most a window is between the
        # two counts, of the 480 windows that 10 s have.
        assert means["arrived", window] == pytest.approx(1.0, abs=1 / 480)
    typed("report", "out/sweep")


def test_the_catalogue_has_a_transport_of_ones_own(typed: Typed) -> None:
    """Commands that list, explain and check know the transport; mistakes are named as any are."""
    assert "constant_window" in typed("mechanisms").out
    assert "Number of packets that are outstanding." in typed("mechanisms", "constant_window").out
    assert "constant_window" in typed("schema").out
    assert ": fine. " in typed("check", "own.toml").out
    wrong = SCENARIO.replace("window = 10", "widow = 10")
    (typed.folder / "wrong.toml").write_text(wrong, encoding="utf-8")
    assert 'did you mean "window"' in typed("check", "wrong.toml", status=2).err
    # The engine of the package has none of it.
    assert "constant_window" in typed("check", "own.toml", status=2, engine="").err


PROGRAM = """
import forebay

net = forebay.Network("own", duration="20 s", warm_up="10 s")
net.link("line", "a", "b", rate="10 Mbit/s", delay="10 ms")
net.flows("w", "a", "b", constant_window=forebay.constant_window(window=10))
assert list(net.to_dict()["flows"]["w"]) == ["from", "to", "constant_window"]
results = net.run(replications=2)
assert "constant_window" in dir(forebay) and "constant_window" in forebay.__all__
assert "windows" in dir(results)
assert results.to_pandas("windows")["name"].tolist() == ["w", "w"]
assert "mean" in results.to_latex("windows").replace("\\\\_", "_")
assert results.interval_of("windows.w.mean_rtt_s") == results.interval("windows", "w", "mean_rtt_s")
for owner, name in ((results, "windws"), (forebay, "constant_windw")):
    try:
        getattr(owner, name)
    except AttributeError as error:
        print(error)
print(results.windows.column("mean_rtt_s")[1].as_py())
print(results.window_arrivals.column("new_packets")[1].as_py())
"""


def test_python_has_a_transport_and_rows_of_ones_own(typed: Typed) -> None:
    """In Python the transport is a function as others are, and each kind of rows an attribute of
    results; of an unknown one, the message names the nearest."""
    rows, transport, round_trip, arrivals = typed.process("-c", PROGRAM).out.splitlines()
    assert "'windws' (did you mean \"windows\"?)" in rows
    assert "'constant_windw' (did you mean \"constant_window\"?)" in transport
    assert float(round_trip) == pytest.approx(ROUND_TRIP_S, rel=NEAR)
    assert float(arrivals) == pytest.approx(ARRIVALS, rel=NEAR)


def test_runs_of_an_engine_of_ones_own_are_kept_apart(typed: Typed) -> None:
    """What another engine has computed is not taken for its own, and a stored run names the engine
    that makes it again."""
    (typed.folder / "own.toml").write_text(front.SCENARIO, encoding="utf-8")
    swept = 'scenario = "own.toml"\nreplications = 2\nquantities = ["flows.bulk.throughput_bps"]\n'
    (typed.folder / "sweep.toml").write_text(swept, encoding="utf-8")
    builds = set()
    for engine in ("", typed.engine):
        typed("sweep", "sweep.toml", engine=engine)
        builds.add(typed("run", "own.toml", "--json", engine=engine).document()["build"])
    assert len(builds) == 2
    with closing(sqlite3.connect(typed.folder / "out" / "sweep" / JOURNAL)) as journal:
        stored = [json.loads(line) for (line,) in journal.execute("SELECT document FROM runs")]
    assert {document["build"] for document in stored} == builds
    assert len(stored) == 4
    typed("run", "own.toml", "--out", "stored")
    kept = json.loads((typed.folder / "stored" / "run.json").read_text(encoding="utf-8"))
    assert shlex.split(kept["command"])[:3] == ["env", f"FOREBAY_ENGINE={typed.engine}", "forebay"]


def test_what_is_no_engine_is_refused(typed: Typed) -> None:
    """A file that is missing, no library, or another library is named with what it is to be."""
    for path, told in (
        ("missing.so", "cannot be read"),
        (typed.folder, "cannot be read"),
        ("own.toml", "cannot be loaded"),
        (numpy.random.mtrand.__file__, "PyInit__native"),
    ):
        for command in (("run", "own.toml"), ("--version",)):
            err = typed(*command, status=2, engine=path).err
            assert err.startswith(f"forebay: error: FOREBAY_ENGINE: {path}: ")
            assert told in err
            assert "is to be the shared library of an engine of one's own" in err


def test_an_engine_for_another_version_is_refused(typed: Typed) -> None:
    """Versions must be equal: what Python asks of an engine may change between them."""
    program = (
        "import sys, forebay.native; forebay.native.VERSION = '99.0'; "
        "from forebay.cli.commands import main; sys.exit(main(['check', 'own.toml']))"
    )
    err = typed.process("-c", program, status=2).err
    assert "was built for Forebay" in err
    assert "this is 99.0" in err


def test_what_has_an_engine_of_its_own_refuses_elements_from_outside(typed: Typed) -> None:
    """The lab's page and Linux have no such transport, and say so."""
    assert "FOREBAY_ENGINE: the page" in typed("lab", "own.toml", "--write", "l", status=2).err
    assert "no program of Linux has its transport" in typed("linux", "own.toml", status=2).err
