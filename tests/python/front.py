"""Shared parts of the command line's tests: running it, a small scenario, a small study."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forebay.cli.commands import main
from forebay.run.journal import JOURNAL
from forebay.run.laws import law_files

PATIENCE_S = 120

SCENARIO = """
name = "small"
duration = "5 s"
warm_up = "1 s"

[links.wire]
from = "A"
to = "B"
rate = "10 Mbit/s"
delay = "2 ms"
queue = { droptail = { limit = "50 packets" } }

[flows.bulk]
from = "A"
to = "B"
count = 2
tcp = {}

[flows.chatter]
from = "A"
to = "B"
udp = {}
traffic = { poisson = { rate = "2 Mbit/s", size = "500 B" } }
"""

# Five calls without end hold all five lines: every new call is blocked. Their 400 kbit/s are above
# AR, so that every packet is threshold-marked once the bucket has run dry, and with all others far
# below SR, so that none is excess-traffic-marked.
CALLS = """
name = "calls"
duration = "5 s"
warm_up = "1 s"

[links.core]
from = "A"
to = "B"
rate = "10 Mbit/s"
delay = "2 ms"
duplex = false
residual = "1500 B"
conditioners = [
  { ar_meter = { rate = "200 kbit/s", size = "4 kB", threshold = "2 kB" } },
  { sr_meter = { rate = "5 Mbit/s", size = "40 kB", slow_down = "500 B" } },
]

[aggregates.lines]
rtt = { uniform = ["20 ms", "80 ms"] }
admission = { capacity = { calls = 5 } }
termination = "per_packet"
probing = { packets = 3 }

[flows.phones]
from = "A"
to = "B"
aggregate = "lines"
calls = { rate = "10 /s", initial = 5, surges = [{ at = "4.9 s", calls = 2 }] }
traffic = { voice = { codec = "g711_20ms" } }

[flows.video]
from = "A"
to = "B"
calls = { initial = 1 }
linked = [{ voice = { codec = "g729_20ms" } }, { video = { line_rate = "100 Mbit/s" } }]
"""


@dataclass
class Answer:
    """Answer of a command."""

    status: int
    out: str
    err: str

    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


class Forebay:
    """The command line, in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *arguments: object) -> Answer:
        """Run a command. It must load no law of one's own: other tests would have it, too."""
        self._capfd.readouterr()
        laws = law_files()
        status = main([str(argument) for argument in arguments])
        assert law_files() == laws, "a command with laws needs a process of its own: `Typed`"
        out, err = self._capfd.readouterr()
        return Answer(status, out, err)

    def refused(self, *arguments: object) -> str:
        """The message of a command that must refuse its input, checked for form."""
        answer = self(*arguments)
        assert answer.status == 2, answer
        assert answer.out == ""
        assert "Traceback" not in answer.err
        lines = answer.err.splitlines()
        assert lines
        assert all(line.startswith("forebay: error: ") for line in lines), answer.err
        return answer.err


class Typed:
    """Commands, each in a process of its own, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "FOREBAY_LAWS_COMPILE": "no", "FOREBAY_LAWS": ""}

    def __call__(self, *words: object, laws: str = "", status: int = 0) -> Answer:
        """Run a command, with `laws` as FOREBAY_LAWS; it must end with a status."""
        return self.process("-m", "forebay", *words, laws=laws, status=status)

    def process(self, *words: object, laws: str = "", status: int = 0) -> Answer:
        """Run Python."""
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=self.folder,
            env={**self.environment, "FOREBAY_LAWS": laws},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)

    def again(self, command: str) -> Answer:
        """Run a command as results state it."""
        program, *words = shlex.split(command)
        assert program == "forebay"
        return self(*words)


STUDY_SCENARIO = """
duration = "60 s"       # assumed: long enough for the intervals
warm_up = "1 s"         # assumed: the link fills within a millisecond

[links.wire]
from = "A"              # Figure 1
to = "B"                # Figure 1
rate = "10 Mbit/s"      # section 2, "a # in quotes"
queue = { droptail = { limit = "100 packets" } }   # assumed: never full at these loads

[flows.noise]
from = "A"              # Figure 1
to = "B"                # Figure 1
udp = {}                # section 2
traffic = { poisson = { rate = "2 Mbit/s", size = "500 B" } }   # section 2
"""

STUDY_CITATION = """
[paper]
study = "tiny"
title = "A tiny study"
authors = ["A. N. Author"]
venue = "Nowhere"
date = "2000"
"""

# A Poisson source far below the link's rate: what is delivered is what is offered, so the true mean
# of the throughput is the offered rate. The value 9.99 is wrong on purpose.
STUDY_PAPER = (
    STUDY_CITATION
    + """
[[table]]
id = "t1"
place = "Table 1"
how_read = "printed"
unit = "Mbit/s"
decimals = 2
trend = "none"
row_id = "rate{rate_mbps}"
row_label = "{rate_mbps} Mbit/s"
columns = [
  { id = "got", label = "throughput", quantity = "got_bps" },
  { id = "wrong", label = "misprint", quantity = "got_bps" },
]
rows = [
  { point = { rate_mbps = 2 }, values = [2.00, 9.99] },
  { point = { rate_mbps = 4 }, values = [4.00, "-"] },
]

[[statement]]
id = "more-gives-more"
place = "section 3"
how_read = "quoted"
text = "more load gives more throughput"
predicate = "more_gives_more"

[[statement]]
id = "all-is-lost"
place = "section 3"
how_read = "quoted"
text = "nothing <arrives>"
predicate = "all_is_lost"
"""
)

STUDY_PREDICATES = '''
"""Predicates of the tiny study."""
from forebay.study.grades import surely_greater, surely_less

def more_gives_more(run):
    """More load, more throughput."""
    return surely_greater(run.value("got_bps", rate_mbps=4), run.value("got_bps", rate_mbps=2))

def all_is_lost(run):
    """Nothing arrives."""
    return surely_less(run.value("got_bps", rate_mbps=2), 1.0)
'''

STUDY_MODULE = '''
"""The tiny study."""
from forebay.report.plot import time_series
from forebay.study import Recording, Replications

REPLICATIONS = Replications(first=3, cap=6, quick_first=2, quick_cap=3, variant=2)
RECORDINGS = [Recording("two", {"rate_mbps": 2}, "500 ms")]

def grid_point(network, point):
    network.set("flows.noise.traffic.poisson.rate", f"{point['rate_mbps']} Mbit/s")

def quantities(run, point):
    return {"got_bps": run.group("noise")["throughput_bps"]}

def figures(outcome):
    drawn = time_series(outcome, "two", "links.wire", {"queue_packets": "queue"}, title="Queue",
                        ylabel="queue (packets)", thresholds={"limit": 100})
    return [drawn] if drawn else []
'''

STUDY_SENSITIVITY = """
[[variant]]
id = "slow"
title = "half the rate"
why = "To see it halve."
set = { "flows.noise.traffic.poisson.rate" = "1 Mbit/s" }
claims = ["t1/rate2/got"]
"""

STUDY_DEVIATIONS = """
[[deviation]]
title = "load"
paper = "not stated"
ours = "2 and 4 Mbit/s"
reason = "to have some"
variant = "slow"

[[explanation]]
claims = "t1/*/wrong"
text = "The published value is a misprint."
"""


STUDY_FILES = {
    "paper.toml": STUDY_PAPER,
    "scenario.toml": STUDY_SCENARIO,
    "predicates.py": STUDY_PREDICATES,
    "study.py": STUDY_MODULE,
    "sensitivity.toml": STUDY_SENSITIVITY,
    "deviations.toml": STUDY_DEVIATIONS,
}
"""A study of an analytically known network."""


def write_study(root: Path, files: Mapping[str, str] = STUDY_FILES) -> Path:
    """Write the files of a study `tiny` below `root`; its folder."""
    folder = root / "tiny"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def runs_kept(folder: Path) -> int:
    """Returns the number of runs that the journal of a folder holds, while others write to it; none
    without one."""
    if not (folder / JOURNAL).is_file():
        return 0
    with closing(sqlite3.connect(folder / JOURNAL, timeout=60)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM runs").fetchone()[0])
        except sqlite3.OperationalError:
            # It was begun a moment ago.
            return 0
