"""Every way to run a scenario gives the same run: each example, and fifty random networks.

The ways are those of users: the installed command, plain, with `--check`, on two threads, with
everything recorded and with a capture; `Network.run`, checked and not; a sweep of one point,
checked; and the engine in the lab's page, where it is built. Examples end 2 s after their warm-up,
at most; two have ends of their own. The networks are `tests/networks`, written with
FOREBAY_WRITE_NETWORKS=1 by `crates/scenario/tests/invariants/fixed.rs`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forebay import Network, ScenarioWarning
from forebay.run.jobs import Job, Run, check, cores, load, run_jobs
from forebay.run.journal import Journal

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(Path(sys.executable).with_name("forebay"))
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
NETWORKS = sorted((ROOT / "tests" / "networks").glob("*.toml"))
ENDS = {"pcn.toml": 7.0, "ring.toml": 0.9}
"""Ends of the examples in which something happens later, or very much in a second."""

KINDS = ("adjustments", "calls", "classes", "delays", "jitter", "losses", "paces", "reductions",
         "transfers")  # fmt: skip
"""Records that can be asked for or not."""

LAB = ROOT / "lab" / "dist"
needs_lab = pytest.mark.skipif(
    not (
        (LAB / "forebay.wasm").exists() and (LAB / "digest.mjs").exists() and shutil.which("node")
    ),
    reason="the engine's WebAssembly module is not built (make lab), or there is no node",
)

OF_THE_WAY = (
    *("build", "checks", "classes", "command", "name", "regions", "scenario", "setup_s", "wall_s"),
)
"""Parts of a document that depend on how the run was made: clocks, the command, what the network is
called in it, in how many parts it ran, what is counted by class where that is recorded, and the
scenario that `--out` keeps."""


def until_of(file: Path) -> str:
    """The end of the run of a file, as the command line takes it."""
    facts = check(load(file))
    end = facts["duration_s"]
    if file.parent.name == "examples":
        end = min(end, ENDS.get(file.name, facts["warm_up_s"] + 2))
    return f"{end:.12g} s"


def plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """All of a run's document that must be the same whichever way it was made: of warnings, all but
    the place in the text that says them."""
    rest = {key: value for key, value in document.items() if key not in OF_THE_WAY}
    places = re.compile(r"^.*?: (line \d+: )?")
    return rest | {"warnings": [places.sub("", text) for text in rest.get("warnings", [])]}


@dataclass
class Way:
    """One way to run a scenario: the command that does, and where its document is."""

    words: list[str]
    sweep: Path | None = None

    def run(self) -> tuple[Mapping[str, Any] | None, str]:
        """The document of the run; none, and what was said, if there is none."""
        ran = subprocess.run(self.words, capture_output=True, text=True, check=False)
        if ran.returncode:
            return None, f"exit status {ran.returncode}: {ran.stderr.strip()}"
        if self.sweep is None:
            return json.loads(ran.stdout), ""
        with closing(Journal(self.sweep)) as journal:
            rows = [json.loads(line) for line in journal.dump()]
        return next(part for part in rows[0] if isinstance(part, dict)), ""


@dataclass
class Matrix:
    """The ways to run one file, and what they gave."""

    file: Path
    folder: Path
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.until = until_of(self.file)
        self.network = Network.from_toml(self.file)
        self.links = list(self.network.to_dict().get("links", {}))

    def ways(self) -> Iterator[Way]:
        """Those of the command line, the plain one first."""
        run = [COMMAND, "run", str(self.file), "--json", "--until", self.until]
        yield Way(run)
        yield Way([*run, "--check"])
        yield Way([*run, "--threads", "2"])
        yield Way([*run, *self.recording(), "--out", str(self.folder / "out")])
        for link in self.links[:1]:
            yield Way([*run, "--capture", f"{link}={self.folder / 'link.pcapng'}"])
        point, out = self.folder / "point.toml", self.folder / "point"
        point.write_text(
            f"scenario = {json.dumps(str(self.file))}\nreplications = 1\n"
            f'quantities = ["events"]\n[grid]\nduration = ["{self.until}"]\n',
            encoding="utf-8",
        )
        yield Way([COMMAND, "sweep", str(point), "--check", "--out", str(out)], sweep=out)

    def recording(self) -> Iterator[str]:
        """Options that have everything recorded."""
        values = {**dict.fromkeys(KINDS, "true"), "trace": "1000", "series": '"50 ms"'}
        values |= {"capture": json.dumps(self.links), "capture_packets": "1000"}
        for kind, value in values.items():
            yield from ("--set", f"record.{kind}={value}")

    def compare(self, repeat: str, document: Mapping[str, Any] | None, said: str) -> None:
        """Keep what is wrong with a run, with the one command that repeats it."""
        if document is None:
            self.faults.append(f"{said}\n  repeat: {repeat}")
            return
        found = plain(document)
        differ = [key for key in found | self.expected if found.get(key) != self.expected.get(key)]
        if differ:
            shown = {key: (found.get(key), self.expected.get(key)) for key in differ[:3]}
            text = f"{', '.join(differ)} differ: {shown!s:.2000}"
            self.faults.append(f"{text}\n  repeat: {repeat}\n  beside: {self.beside}")

    def run(self) -> list[str]:
        """Run it in every way; what is wrong."""
        first, *others = self.ways()
        self.beside = shlex.join(first.words)
        document, said = first.run()
        if document is None:
            return [f"{said}\n  repeat: {self.beside}"]
        self.expected = plain(document)
        with ThreadPoolExecutor(cores()) as pool:
            running = [(shlex.join(way.words), pool.submit(way.run)) for way in others]
            for checked in (False, True):
                self.compare(*self.from_python(checked))
            for repeat, outcome in running:
                self.compare(repeat, *outcome.result())
        return self.faults

    def from_python(self, checked: bool) -> tuple[str, Mapping[str, Any] | None, str]:
        """The run of `Network.run`, and the command that repeats it."""
        code = (
            f"from forebay import Network; n = Network.from_toml({str(self.file)!r}); "
            f"print(n.run(until={self.until!r}, check={checked}).documents[0])"
        )
        repeat = shlex.join([sys.executable, "-c", code])
        try:
            # What is warned of is run all the same.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ScenarioWarning)
                return repeat, self.network.run(until=self.until, check=checked).documents[0], ""
        except RuntimeError as error:
            return repeat, None, str(error)


def test_there_are_examples_and_fifty_networks() -> None:
    """The matrix has examples and fifty networks."""
    assert len(EXAMPLES) > 20
    assert len(NETWORKS) == 50


@pytest.mark.parametrize(
    "file",
    [*EXAMPLES, *(pytest.param(path, marks=pytest.mark.long) for path in NETWORKS)],
    ids=lambda path: path.stem,
)
def test_every_way_to_run_it_gives_the_same_run(file: Path, tmp_path: Path) -> None:
    """Every way to run a scenario gives the same run: digest and all results are equal."""
    faults = Matrix(file, tmp_path).run()
    assert not faults, "\n".join(faults)


def test_some_of_them_are_divided_on_two_threads() -> None:
    """Some networks are divided on two threads, so that `--threads 2` is tested: each impairment is
    in one that it does divide."""
    jobs = [Job(file.read_text(encoding="utf-8"), str(file), threads=2) for file in NETWORKS]
    divided: list[str] = []

    def done(index: int, run: Run) -> None:
        if run.document["regions"] > 1:
            divided.append(jobs[index].text)

    run_jobs(jobs, done)
    assert len(divided) >= 6
    for law in ("loss", "jitter", "duplication", "bit_errors", "gilbert_elliott", "outage"):
        used = [text for text in divided if re.search(rf"impairments? = .*\b{law} = ", text)]
        assert used, f"no divided network has the impairment {law}"


@needs_lab
def test_the_lab_gives_the_same_runs(tmp_path: Path) -> None:
    """The lab gives the same runs as the command line: the same networks, and the examples as long
    as the matrix runs them."""
    files = []
    for file in [*EXAMPLES, *NETWORKS]:
        text = file.read_text(encoding="utf-8")
        ends = f'duration = "{until_of(file)}"'
        changed, count = re.subn(r"^duration *= *\"[^\"]*\"", ends, text, count=1, flags=re.M)
        assert count == 1, file
        files.append(tmp_path / file.name)
        files[-1].write_text(changed, encoding="utf-8")
    words = [str(LAB / "digest.mjs"), str(LAB / "forebay.wasm"), "4000000000", *map(str, files)]
    ran = subprocess.run(["node", *words], capture_output=True, text=True, check=True)
    results = json.loads(ran.stdout)
    runs: dict[int, Run] = {}
    run_jobs([load(file) for file in files], runs.__setitem__)
    for index, file in enumerate(files):
        repeat = shlex.join(["node", *words[:3], str(file)])
        # The page shows warnings beside the keys that they are about.
        found, expected = results[str(file)] | {"warnings": []}, runs[index].document
        expected = plain(expected | {"warnings": []})
        assert plain(found) == expected, f"repeat: {repeat}; make lab builds it"
