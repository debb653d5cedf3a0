"""Percentiles that stand on too few samples are said to, wherever intervals are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forebay import Network, traffic
from forebay.cli.commands import main
from forebay.run.columns import columns, percentile_note
from forebay.samples import samples_needed


def _network() -> Network:
    """50 packets a second for 3 s, of which 2 s are measured: 100 packets."""
    net = Network("few packets", duration="3 s", warm_up="1 s")
    net.link("wire", "A", "B", rate="1 Mbit/s", delay="1 ms")
    net.flows("voice", "A", "B", udp={}, traffic=traffic.cbr(rate="80 kbit/s", size="200 B"))
    return net


def test_a_percentile_needs_a_sample_beyond_it() -> None:
    """A percentile needs a sample beyond it, or is noted: of 100 samples one lies beyond the 99th
    percentile, 1/(1 - 0.99) = 100, as 20 for 95 % and 1000 for 99.9 %."""
    assert [samples_needed(f"{p}_delay_s") for p in ("p95", "p99", "p999")] == [20, 100, 1000]
    assert samples_needed("p50_delay_s") == samples_needed("mean_delay_s") == 1
    delays, times = columns("flows"), columns("transfers")
    enough, few = {"delivered_packets": 100}, {"delivered_packets": 99}
    assert percentile_note(delays["p99_delay_s"], [enough, enough], "skewed") == "skewed"
    assert percentile_note(delays["p99_delay_s"], [enough, few], "skewed") == "few samples"
    assert percentile_note(delays["p95_delay_s"], [few], "") == ""
    assert percentile_note(times["p95_completion_s"], [{"completed": 19}], "") == "few samples"
    assert percentile_note(times["p95_completion_s"], [{"completed": 20}], "") == ""


def test_a_sweep_says_which_percentiles_stand_on_few_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sweep notes percentiles that rest on few samples, such as the 99.9th of 100 packets; a run
    shows none."""
    (tmp_path / "few.toml").write_text(_network().to_toml(), encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "few.toml"\nreplications = 2\n'
        'quantities = ["flows.voice.p95_delay_s", "flows.voice.p999_delay_s"]\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert main(["sweep", str(sweep), "--out", str(out)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "few samples (1 of 2): a percentile stands on fewer packets" in shown
    summary = json.loads((out / "sweep.json").read_text(encoding="utf-8"))["summary"]
    notes = {row["quantity"].rpartition(".")[2]: row["note"] for row in summary}
    assert notes["p95_delay_s"] != "few samples"
    assert notes["p999_delay_s"] == "few samples"
    assert "few samples" in (out / "report.html").read_text(encoding="utf-8")


def test_results_of_replications_say_so_too() -> None:
    """`Results` of replications note the same percentiles as a sweep of the same runs."""
    results = _network().run(replications=2)
    rows = {row["quantity"]: row for row in results.intervals() if row["name"] == "voice"}
    assert rows["p999_delay_s"]["note"] == "few samples"
    assert rows["p95_delay_s"]["note"] != "few samples"
    assert "p95_delay_s" in repr(results)
