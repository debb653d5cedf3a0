"""A small suite for tests: three cells and a screening."""

from __future__ import annotations

from pathlib import Path

import pytest

SUITE = """
[suite]
title = "A small one"
source = "here"
law = "queue"
baseline = ["droptail"]
places = ["links.core.queue"]
fill = { limit = "{buffer}" }
metrics = ["goodput", "delay", "loss"]
trade_off = ["delay", "goodput"]
replications = 4
quick = 2
quick_without = ["*/slow*"]

[parameters]
rate = "8 Mbit/s"
buffer = "50 ms"
flows = "1"
noise = "500 kbit/s"

[grids]
speeds = [{ id = "slow", noise = "100 kbit/s" }, { id = "fast", noise = "1 Mbit/s" }]

[metrics.goodput]
quantity = "sum(groups[*].goodput)"
words = "goodput"
better = "more"
headline = true

[metrics.delay]
quantity = "groups.bulk.p95_queueing_delay"
words = "delay"
better = "less"
headline = true

[metrics.loss]
quantity = "groups.bulk.loss_ratio"
words = "loss"
better = "less"

[metrics.share]
quantity = "groups.{of}.share"
words = "share of {of}"

[cells.one]
title = "one flow"
section = "1"
weight = "must"
scenario = "line.toml"

[cells.two]
title = "two kinds of flows"
section = "2"
weight = "may"
scenario = "line.toml"
also = ["share"]
classes = ["bulk", "noise"]
parameters = { flows = "2" }
marking = { "flows.bulk.tcp.ecn" = true }
each = "speeds"
checks = [{ metric = "loss", least = "0 %", most = "100 %", text = "a loss ratio is a share" }]

[screening]
name = "vary"
title = "Sensitivity"
section = "3"
weight = "may"
cells = ["one"]
metrics = ["delay"]
trajectories = 4

[[report]]
section = "3"
asked = "what stays as it is"
says = "fixed"

[[report]]
section = "4"
asked = "what cells set"
says = "filled"

[[report]]
asked = "work for each packet"

[[choices]]
open = "the rate"
chosen = "8 Mbit/s"
reason = "as good as any"

[[omitted]]
section = "3"
what = "three flows"
reason = "two are enough"
"""

LINE = """
duration = "12 s"
warm_up = "2 s"

[links.core]
from = "A"
to = "B"
rate = "{rate}"
delay = "10 ms"
queue.droptail.limit = "{buffer}"

[flows.bulk]
from = "A"
to = "B"
count = "{flows:whole}"
start = { uniform = ["0 s", "20 ms"] }
tcp = {}

[flows.noise]
from = "A"
to = "B"
udp = {}
traffic = { poisson = { rate = "{noise}", size = "200 B" } }
"""


def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the suite `small`, found by `FOREBAY_SUITES`; the current folder is empty."""
    folder = tmp_path / "suites" / "small"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text(SUITE)
    (folder / "line.toml").write_text(LINE)
    monkeypatch.setenv("FOREBAY_SUITES", str(folder.parent))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return folder
