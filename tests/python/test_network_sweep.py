"""Sweeps from Python: the journal, the folder and the resumption of `forebay sweep`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import front
import numpy as np
import pytest

from forebay import Network, UserError, queue, traffic
from forebay.run.journal import JOURNAL

QUANTITIES = ["links.wire.utilization", "flows.noise.mean_delay_s"]


def network() -> Network:
    """A Poisson source on a link: 2 Mbit/s on 10 Mbit/s."""
    net = Network("noise", duration="3 s", warm_up="1 s")
    net.link("wire", "A", "B", rate="10 Mbit/s", delay="2 ms")
    poisson = traffic.poisson(rate="2 Mbit/s", size="500 B")
    return net.flows("noise", "A", "B", udp={}, traffic=poisson)


def kept(folder: Path) -> list[tuple[int, bytes]]:
    """The runs that a journal holds, with their numbers and times: one that was made again differs
    in both."""
    with closing(sqlite3.connect(folder / JOURNAL)) as database:
        return database.execute("SELECT id, clock FROM runs ORDER BY id").fetchall()


def test_no_run_is_made_again(tmp_path: Path) -> None:
    """A sweep that is called again makes no run again, and with more replications those that the
    folder lacks: two points with 2 replications are 4 runs, with 3 they are 2 more."""
    grid = {"links.wire.rate": ["5 Mbit/s", "10 Mbit/s"]}
    first = network().sweep(QUANTITIES, out=tmp_path / "out", grid=grid, replications=2)
    before = kept(tmp_path / "out")
    assert (first.made, len(before)) == (4, 4)
    second = network().sweep(QUANTITIES, out=tmp_path / "out", grid=grid, replications=2)
    assert second.made == 0
    assert kept(tmp_path / "out") == before
    assert second.intervals() == first.intervals()
    third = network().sweep(QUANTITIES, out=tmp_path / "out", grid=grid, replications=3)
    assert third.made == 2
    assert kept(tmp_path / "out")[:4] == before


def test_the_command_continues_it(forebay: front.Forebay, tmp_path: Path) -> None:
    """The command continues what Python began: it makes no run again, gives the same summary, and
    the command that is kept is that one."""
    out = tmp_path / "out"
    grid = {"links.wire.queue": ["codel", queue.red(gentle=True)]}
    swept = network().sweep(QUANTITIES, out=out, grid=grid, replications=2)
    before = kept(out)
    assert swept.document["command"] == f"forebay sweep {out / 'sweep.toml'} --out {out}"
    document = forebay("sweep", out / "sweep.toml", "--out", out, "--json").document()
    assert kept(out) == before
    assert document["summary"] == swept.document["summary"]
    # And Python what the command continued.
    assert network().sweep(QUANTITIES, out=out, grid=grid, replications=2).made == 0


def test_it_has_the_page_of_the_command(forebay: front.Forebay, tmp_path: Path) -> None:
    """A sweep from Python has the page of the command, word by word but for the command that it
    names, which of Python leads to the folder; it is there again if it was gone."""
    out, page = tmp_path / "out", tmp_path / "out" / "report.html"
    grid = {"links.wire.rate": ["5 Mbit/s", "10 Mbit/s"]}
    network().sweep(QUANTITIES, out=out, grid=grid, replications=2)
    made = page.read_text(encoding="utf-8")
    assert "wire: utilization" in made
    page.unlink()
    network().sweep(QUANTITIES, out=out, grid=grid, replications=2)
    assert page.read_text(encoding="utf-8") == made
    assert forebay("sweep", out / "sweep.toml", "--out", out).status == 0
    assert page.read_text(encoding="utf-8") == made.replace(f" --out {out}", "")


def test_a_page_of_others_stays(tmp_path: Path) -> None:
    """A page in the folder that is not ours is refused before anything runs, and stays."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"report\.html"):
        network().sweep(QUANTITIES, out=out, grid={"links.wire.rate": ["5 Mbit/s"]})
    assert [path.name for path in out.iterdir()] == ["report.html"]
    assert (out / "report.html").read_text(encoding="utf-8") == "mine"


def test_a_sweep_is_what_single_runs_are(tmp_path: Path) -> None:
    """A point of a sweep is what the same network gives alone, run by run."""
    swept = network().sweep(
        QUANTITIES,
        out=tmp_path / "out",
        variants={"slow": {"links.wire.rate": "4 Mbit/s"}, "as it is": {}},
        replications=3,
    )
    slow = swept.at("slow")
    assert slow.digests == network().set("links.wire.rate", "4 Mbit/s").run(replications=3).digests
    assert swept.at("as it is").digests == network().run(replications=3).digests
    assert [point["variant"] for point, _ in swept.by_point()] == ["slow", "as it is"]
    row = next(row for row in swept.intervals() if row["variant"] == "slow")
    assert row["mean"] == slow.interval("links", "wire", "utilization").mean
    # 2 Mbit/s of 4 and of 10, within a tenth.
    means = [each["mean"] for each in swept.intervals() if "utilization" in each["quantity"]]
    assert means == pytest.approx([0.5, 0.2], rel=0.1)
    assert swept.summary().num_rows == 4


def test_points_are_found_by_their_values(tmp_path: Path) -> None:
    """Points are found by their values, also of arrays and rows that change together, and what is
    wrong is said."""
    swept = network().sweep(
        QUANTITIES[:1],
        out=tmp_path / "out",
        grid={"flows.noise.count": np.array([1, 2])},
        zip=[{"links.wire.rate": ["5 Mbit/s", "10 Mbit/s"], "links.wire.delay": ["1 ms", "2 ms"]}],
        replications=1,
    )
    assert len(swept.points) == 4
    point = {"links.wire.rate": "5 Mbit/s", "flows.noise.count": 2}
    assert swept.at(point).documents[0]["groups"][0]["flows"] == 2
    with pytest.raises(KeyError, match="2 points"):
        swept.at({"links.wire.rate": "5 Mbit/s"})
    with pytest.raises(KeyError, match="no point"):
        swept.at(point | {"links.wire.delay": "2 ms"})
    with pytest.raises(KeyError, match="did you mean"):
        swept.at({"links.wire.rat": "5 Mbit/s"})
    assert swept.to_markdown().count("\n") == 6
    assert "4 points, 4 runs, 4 of them made now" in repr(swept)


def test_what_is_wrong_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """A wrong network, quantity or folder is refused, and files of others stay."""
    out = tmp_path / "out"
    with pytest.raises(UserError, match=r"links\.wire\.rate"):
        network().set("links.wire.rate", "5 MB/s").sweep(QUANTITIES, out=out)
    with pytest.raises(UserError, match="utilisation"):
        network().sweep(["links.wire.utilisation"], out=out, replications=1)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "sweep.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"sweep\.toml is there"):
        network().sweep(QUANTITIES, out=foreign, replications=1)
    assert (foreign / "sweep.toml").read_text(encoding="utf-8") == "mine"


def test_a_run_beyond_its_limit_has_failed(tmp_path: Path) -> None:
    """A run beyond its limit has failed, which is a warning and is kept with the command that
    repeats it; 1000 packets are sent in 2 s of 500 packets/s and more."""
    with pytest.warns(RuntimeWarning, match="run failed"):
        swept = network().sweep(QUANTITIES, out=tmp_path / "out", replications=1, max_packets=100)
    assert len(swept.failed) == 1
    assert "--max-packets 100" in swept.failed[0]["command"]
    assert json.loads((tmp_path / "out" / "sweep.json").read_text())["runs"] == 0
    with pytest.raises(KeyError, match="no run"):
        swept.at({})
    again = network().sweep(QUANTITIES, out=tmp_path / "out", replications=1, retry=True)
    assert (again.made, again.failed) == (1, [])
