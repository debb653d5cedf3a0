"""Checks of the guard, with counts made up: neither valgrind nor a build is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import counting
import guard
import history

HERE = history.Compiler("1.90.0", "x86_64-unknown-linux-gnu")
COUNTS = {"s1-af": 800.0, "s3-mm1": 400.0}


def record(factor: float = 1.0, compiler: history.Compiler = HERE) -> history.Record:
    """A record in which one benchmark costs so many times 800 instructions."""
    counts = {"s1-af": 800.0 * factor, "s3-mm1": 400.0}
    return history.Record("a label", "0.1.0", compiler, counts)


@pytest.mark.parametrize("factor", [1.0, 1.0199, 0.9801])
def test_counts_within_two_percent_pass(factor: float) -> None:
    """Counts within two percent of the record pass, as a guard that warns without cause is
    ignored."""
    assert guard.check(record(factor), record())[0] == 0


@pytest.mark.parametrize(("factor", "word"), [(1.03, "more"), (0.97, "fewer")])
def test_three_percent_more_or_fewer_are_refused(factor: float, word: str) -> None:
    """Three percent more or fewer are refused: speed is not lost in small steps, nor won and then
    lost again unseen."""
    status, lines = guard.check(record(factor), record())
    text = "\n".join(lines)
    assert status == 1
    assert f"s1-af: {word} than recorded" in text
    assert "s3-mm1:" not in text
    assert "make instructions-record" in text


def test_a_history_with_three_percent_fewer_is_refused(tmp_path: Path) -> None:
    """A history with three percent fewer is refused, so that the record itself is guarded."""
    path = tmp_path / "history.toml"
    history.append(path, record())
    assert guard.check(record(), history.last(history.load(path)))[0] == 0
    history.append(path, record(0.97))
    assert guard.check(record(), history.last(history.load(path)))[0] == 1


def test_another_compiler_is_said_and_not_judged() -> None:
    """Counts of another compiler are reported and not judged, as such a number says nothing."""
    other = history.Compiler("1.91.0", HERE.target)
    status, lines = guard.check(record(2.0, other), record())
    assert status == 0
    assert any("NOT JUDGED" in line and "1.91.0" in line for line in lines)


def test_a_benchmark_without_a_record_is_refused() -> None:
    """A benchmark without a record is refused, and one that is no longer counted."""
    assert [v.reason for v in history.judge(COUNTS, {"s1-af": 800.0})] == ["", "new, not recorded"]
    assert not history.judge({"s1-af": 800.0}, COUNTS)[1].fits
    assert guard.check(record(), None)[0] == 1


def test_set_up_cancels() -> None:
    """Set-up cancels: the count is of carrying packets, not of reading the scenario."""
    # 10^6 instructions of set-up and 500 a hop: 1e6 + 500 * 1000 and 1e6 + 500 * 3000.
    short, long = counting.Counted(1_500_000, 1000), counting.Counted(2_500_000, 3000)
    assert counting.per_hop(short, long) == 500.0
    with pytest.raises(counting.CountingError):
        counting.per_hop(long, short)


def test_another_trajectory_is_named(tmp_path: Path) -> None:
    """A benchmark of which another build has another trajectory is named: what tests find in order
    in their build says nothing of the one that is released."""
    runner = tmp_path / "runner"
    runner.write_text('#!/bin/sh\necho \'{"digest": "1f"}\'\n')
    runner.chmod(0o755)
    assert counting.other_trajectories(runner, {"s1-af": "1f", "s3-mm1": "2f"}) == ["s3-mm1"]


def test_every_benchmark_is_counted_and_recorded() -> None:
    """Every benchmark is counted and recorded."""
    scenarios = {path.stem for path in counting.SCENARIOS.glob("*.toml")}
    assert scenarios
    assert counting.PLANS.keys() == scenarios
    recorded = history.last(history.load(guard.HISTORY))
    assert recorded is not None
    assert recorded.counts.keys() == scenarios, "make instructions-record"


def test_a_broken_history_is_named_with_its_place(tmp_path: Path) -> None:
    """A broken history is named with its place, without a traceback."""
    path = tmp_path / "history.toml"
    history.append(path, record())
    good = path.read_text(encoding="utf-8")
    path.write_text(good + '\n[[record]]\nlabel = "x"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"history\.toml, record 2: .*counts"):
        history.load(path)
    # A heading, four words and two counts: the next is the eighth.
    path.write_text(good + "label =\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"history\.toml: .*line 8"):
        history.load(path)


def test_what_is_recorded_is_what_is_read(tmp_path: Path) -> None:
    """Records are read as they were written."""
    path = tmp_path / "history.toml"
    strange = history.Record('a "label" \\ and é', "0.2.0", HERE, {"s1-af": 12.34, "b": 800.0})
    history.append(path, record())
    history.append(path, strange)
    assert history.load(path)[0] == record()
    # To a tenth of an instruction.
    assert history.load(path)[1].counts == {"s1-af": 12.3, "b": 800.0}
    assert history.load(path)[1].label == strange.label


def test_without_valgrind_it_says_so_and_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without valgrind the guard says that nothing was checked, and passes."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert guard.main([]) == 0
    assert "NOT CHECKED" in capsys.readouterr().out


def test_the_history_is_drawn(tmp_path: Path) -> None:
    """The history is drawn as it is in the file."""
    path, picture = tmp_path / "history.toml", tmp_path / "history.svg"
    for factor in (1.0, 0.5):
        history.append(path, record(factor))
    assert guard.main(["--draw", "--history", str(path), "--picture", str(picture)]) == 0
    text = picture.read_text(encoding="utf-8")
    assert all(word in text for word in ("s1-af", "s3-mm1", "a label", "rustc 1.90.0"))
