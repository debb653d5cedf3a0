"""Warnings of what is hardly meant: on the terminal, in Python, in results, pages and sweeps."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import front
import pytest

import forebay as package
from forebay import Network, ScenarioWarning, UserError, control, queue, tcp
from forebay.scenario.notebook import network_html

PRAGUE = "flows.f.tcp.ecn: is false: without marks prague is Reno"


def network(**parameters: object) -> Network:
    """A flow over one link with a limited queue."""
    net = Network("one", duration="2 s")
    net.link("core", "A", "B", rate="10 Mbit/s", delay="5 ms", queue=queue.droptail(limit="50 kB"))
    return net.flows("f", "A", "B", tcp=tcp(**parameters))


def test_python_is_warned() -> None:
    """Python warns of a scenario that is hardly meant, such as Prague without marks: `check` and
    `run` warn once each, at the caller's line and before anything runs, and results keep what was
    said."""
    net = network(control=control.prague())
    with pytest.warns(ScenarioWarning, match=PRAGUE) as caught:
        results = net.run(replications=3)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert [told.endswith(f": {PRAGUE}") for told in results.warnings] == [True]
    with pytest.warns(ScenarioWarning, match=PRAGUE) as caught:
        found = net.check()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found["warnings"] == results.warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ScenarioWarning, match=PRAGUE):
            net.run()
        assert network(control=control.prague(), ecn=True).run().warnings == []
    assert issubclass(package.ScenarioWarning, UserWarning)


def test_a_notebook_shows_warnings() -> None:
    """A notebook shows warnings above the table that they are about."""
    with pytest.warns(ScenarioWarning):
        results = network(control=control.prague()).run()
    assert PRAGUE in results._repr_html_()


def test_an_endless_buffer_is_warned_of(forebay: front.Forebay, tmp_path: Path) -> None:
    """A buffer without limit is warned of: beside active queue management in a sweep, its seconds
    of delay are no finding. Said once, with the points that it is about, on the terminal, in the
    document and in the page."""
    scenario = tmp_path / "small.toml"
    scenario.write_text(front.SCENARIO.replace("count = 2", "count = 1"), encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "small.toml"\nreplications = 2\nquantities = ["events"]\n[grid]\n'
        '"links.wire.queue" = ["droptail", "codel"]\n"links.wire.delay" = ["2 ms", "4 ms"]\n',
        encoding="utf-8",
    )
    answer = forebay("sweep", sweep, "--until", "2 s", "--out", tmp_path / "out", "--json")
    assert answer.status == 0
    (said,) = [line for line in answer.err.splitlines() if "warning" in line]
    assert "links.wire.queue: is tail drop without limit" in said
    assert said.endswith("(in 2 points: links.wire.queue = droptail)")
    (row,) = answer.document()["warnings"]
    assert (row["points"], row["where"]) == (2, {"links.wire.queue": ["droptail"]})
    assert "in 2 points: links.wire.queue = droptail" in (tmp_path / "out/report.html").read_text(
        encoding="utf-8"
    )
    bare = ("--set", "links.wire.queue=droptail")
    for words in (("check",), ("run", "--until", "2 s"), ("linux",)):
        answer = forebay(words[0], scenario, *words[1:], *bare)
        assert answer.status == 0
        assert "links.wire.queue: is tail drop without limit" in answer.err, words
    out = tmp_path / "run"
    answer = forebay("run", scenario, *bare, "--until", "2 s", "--out", out, "--json")
    assert len(answer.document()["warnings"]) == 1
    assert forebay("report", out).status == 0
    assert "is tail drop without limit" in (out / "report.html").read_text(encoding="utf-8")
    answer = forebay("run", scenario, *bare, "--replications", 2, "--until", "2 s", "--json")
    assert len(answer.document()["warnings"]) == 1
    assert answer.err.count("warning") == 1
    net = Network.from_toml(scenario)
    net.set("links.wire.queue", "droptail")
    with pytest.warns(ScenarioWarning, match="is tail drop without limit"):
        net.check()


# Escape, the right-to-left override, a line separator and a bell: what a terminal or a browser
# would act upon.
ODD = "x\x1b[31m\u202e\u2028\x07y"
SHOWN = "x\\x1b[31m\\u202e\\u2028\\x07y"


def test_names_are_shown_and_not_acted_upon(forebay: front.Forebay, tmp_path: Path) -> None:
    """Names are shown and not acted upon: a scenario from elsewhere colours, overwrites or turns
    round nothing of what a terminal or a page says."""
    scenario = tmp_path / "small.toml"
    name = json.dumps(ODD)
    scenario.write_text(front.SCENARIO.replace('"small"', name), encoding="utf-8")
    out = tmp_path / "out"
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        f'name = {name}\nscenario = "small.toml"\nreplications = 2\nquantities = ["events"]\n'
        f'[variants]\n{name} = {{}}\nb = {{ "links.wire.delay" = "1 ms" }}\n',
        encoding="utf-8",
    )
    until = ("--until", "2 s")
    for words in (
        ("check", scenario),
        ("run", scenario, *until, "--set", "record.delays=true", "--out", out),
        ("run", scenario, *until, "--replications", 2),
        ("sweep", sweep, *until, "--out", tmp_path / "swept"),
        ("report", out),
    ):
        answer = forebay(*words)
        assert answer.status == 0, answer.err
        for line in (answer.out + answer.err).splitlines():
            assert line.isprintable(), (words[0], line)
        assert SHOWN in answer.out or words[0] == "report"
    for page in (out / "report.html", tmp_path / "swept/report.html"):
        text = page.read_text(encoding="utf-8")
        assert SHOWN in text
        assert not set("\x1b\u202e\u2028\x07") & set(text)
    net = Network.from_toml(scenario)
    results = net.run(until="2 s")
    for shown in (repr(results), results._repr_html_(), repr(net), network_html(ODD, {})):
        assert SHOWN in shown
        assert not set("\x1b\u202e\u2028\x07") & set(shown)
    assert results.documents[0]["name"] == ODD


def test_a_file_from_elsewhere_is_not_quoted(forebay: front.Forebay, tmp_path: Path) -> None:
    """A file outside a scenario's folder is not quoted, so that no message passes on a line of it.
    A file in the folder of the scenario is quoted, so that its author finds the place; what it is
    depends on where it lies, not on the path that leads there."""
    secret = tmp_path / "secret"
    secret.write_text("daemon0:*:20228:0:99999\n1,2\n", encoding="utf-8")
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "own").write_text("daemon0:*:20228:0:99999\n", encoding="utf-8")
    (folder / "link").symlink_to("../secret")
    scenario = folder / "small.toml"
    scenario.write_text(front.SCENARIO, encoding="utf-8")
    keys = {
        "links.wire.schedule": "{}",
        "links.wire.trace": "{}",
        "flows.chatter.traffic": '{{ trace = {{ file = "{}" }} }}',
        "flows.bulk.traffic": '{{ transfers = {{ rate = "1 /s", '
        'sizes = {{ cdf = {{ file = "{}" }} }} }} }}',
    }
    for key, value in keys.items():
        for name in ("../secret", str(secret), "link", "../theirs/own", "own"):
            told = forebay.refused("check", scenario, "--set", f"{key}={value.format(name)}")
            message = told.partition(" (from --set")[0]
            if name.endswith("own"):
                assert "daemon0" in message, (key, name, told)
            else:
                assert "20228" not in message, (key, name, told)
                assert "daemon0" not in message, (key, name, told)
                assert "line 1: " in message, told
                assert "outside the folder of the scenario" in message, told


def test_files_can_be_held_below_a_folder(
    forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files can be held below a folder, for scenarios of others: links and ways back lead out of no
    folder, and messages do not tell what there is outside."""
    (tmp_path / "away.csv").write_text("time_s,rate_bps\n0,1e7\n", encoding="utf-8")
    (tmp_path / "common.toml").write_text("[record]\ndelays = true\n", encoding="utf-8")
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "in.csv").write_text("time_s,rate_bps\n0,1e7\n", encoding="utf-8")
    (folder / "link.csv").symlink_to("../away.csv")
    scenario = folder / "small.toml"
    scenario.write_text(front.SCENARIO, encoding="utf-8")
    including = folder / "including.toml"
    text = 'include = ["../common.toml"]\n' + front.SCENARIO
    including.write_text(text, encoding="utf-8")

    def schedule(name: str) -> tuple[object, ...]:
        return ("check", scenario, "--set", f"links.wire.schedule={name}")

    outside = ("../away.csv", "link.csv", "../gone.csv", str(tmp_path / "away.csv"))
    for name in ("in.csv", *outside[:2]):
        assert forebay(*schedule(name)).status == 0
    assert forebay("check", including).status == 0
    monkeypatch.setenv("FOREBAY_DATA_ROOT", str(folder))
    assert forebay(*schedule("in.csv")).status == 0
    messages = [forebay.refused(*schedule(name)).replace(name, "NAME") for name in outside]
    assert len(set(messages)) == 1
    assert f'"NAME" is no file below {folder}, where FOREBAY_DATA_ROOT has it be' in messages[0]
    assert "include" in forebay.refused("check", including)
    with pytest.raises(UserError, match="FOREBAY_DATA_ROOT"):
        Network.from_toml(including)
    roots = f"{folder}{';' if sys.platform == 'win32' else ':'}{tmp_path}"
    monkeypatch.setenv("FOREBAY_DATA_ROOT", roots)
    for name in ("in.csv", *outside[:2]):
        assert forebay(*schedule(name)).status == 0
    monkeypatch.setenv("FOREBAY_DATA_ROOT", str(tmp_path / "gone"))
    assert "names" in forebay.refused(*schedule("in.csv"))
