"""Scenarios and results from Python."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import front
import pytest

import forebay
from forebay import Network, UserError
from forebay.cli.bench import SCENARIOS
from forebay.run.jobs import Job, Run, RunFailedError, check, run_jobs
from forebay.scenario.catalogue import catalogue
from forebay.stats import replication_interval


def small() -> Network:
    """The same network as front.SCENARIO, built in Python."""
    net = Network("small", duration="5 s", warm_up="1 s")
    a, b = net.nodes("A", "B")
    net.link(
        "wire", a, b, rate="10 Mbit/s", delay="2 ms",
        queue=forebay.queue.droptail(limit="50 packets"),
    )  # fmt: skip
    net.flows("bulk", a, b, count=2)
    net.flows("chatter", a, b, udp={},
              traffic=forebay.traffic.poisson(rate="2 Mbit/s", size="500 B"))  # fmt: skip
    return net


def phones() -> Network:
    """The same network as front.CALLS, built in Python."""
    net = Network("calls", duration="5 s", warm_up="1 s")
    net.link(
        "core", "A", "B", rate="10 Mbit/s", delay="2 ms", duplex=False, residual="1500 B",
        conditioners=[
            forebay.conditioner.ar_meter(rate="200 kbit/s", size="4 kB", threshold="2 kB"),
            forebay.conditioner.sr_meter(rate="5 Mbit/s", size="40 kB", slow_down="500 B"),
        ],
    )  # fmt: skip
    net.aggregate(
        "lines", rtt={"uniform": ["20 ms", "80 ms"]}, admission=forebay.admission.capacity(calls=5),
        termination=forebay.termination.per_packet(), probing={"packets": 3},
    )  # fmt: skip
    surge = {"at": "4.9 s", "calls": 2}
    net.flows(
        "phones", "A", "B", aggregate="lines", traffic=forebay.traffic.voice(codec="g711_20ms"),
        calls=forebay.calls(rate="10 /s", initial=5, surges=[surge]),
    )  # fmt: skip
    voice, video = forebay.traffic.voice, forebay.traffic.video
    net.flows("video", "A", "B", calls={"initial": 1},
              linked=[voice(codec="g729_20ms"), video(line_rate="100 Mbit/s")])  # fmt: skip
    return net


@pytest.mark.parametrize(("built", "text"), [(small, front.SCENARIO), (phones, front.CALLS)])
def test_builders_make_what_the_file_says(built: Callable[[], Network], text: str) -> None:
    """A network built in Python is the one that the file describes, with the same digest."""
    from_file = Network.from_text(text)
    assert built().check() == from_file.check()
    assert built().run().digests == from_file.run().digests


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_scenarios_survive_the_way_through_python(path: Path, tmp_path: Path) -> None:
    """A scenario that goes through Python is the same afterwards, wherever it was not changed."""
    net = Network.from_toml(path)
    net.save(tmp_path / path.name)
    # What is hardly meant in a benchmark is not what this is about: checked without a warning.
    found = check(net.job())
    assert check(Network.from_toml(tmp_path / path.name).job()) == found
    again = Network.from_text(path.read_text())
    assert check(again.job())["scenario_hash"] == found["scenario_hash"]


COMMENTED = """\
# Two hosts.
duration = "1 s"

[links.wire]  # the only one
from = "a"
to = "b"
rate = "10 Mbit/s"  # as measured
delay = "1 ms"

# Who sends.
[flows.bulk]
from = "a"
to = "b"

[flows.more]  # a second group
from = "b"
to = "a"
"""


def test_a_file_that_is_changed_in_python_keeps_its_comments(tmp_path: Path) -> None:
    """A scenario that was read from a file and changed in Python keeps its author's comments."""
    net = Network.from_text(COMMENTED)
    assert net.to_toml() == COMMENTED
    changed = net.copy().set("links.wire.rate", "2 Mbit/s").remove("flows.more", "links.wire.delay")
    changed.flows("voice", "b", "a", udp={}, count=2)
    expected = COMMENTED.replace('"10 Mbit/s"', '"2 Mbit/s"').replace('delay = "1 ms"\n', "")
    expected = expected[: expected.index("\n[flows.more]")]
    changed.save(tmp_path / "changed.toml")
    text = (tmp_path / "changed.toml").read_text(encoding="utf-8")
    assert text.startswith(expected)
    assert Network.from_text(text).to_dict() == changed.to_dict()
    assert net.to_toml() == COMMENTED


def test_what_a_text_has_no_place_for_is_written_all_the_same(tmp_path: Path) -> None:
    """A change that the text has no place for is in the saved scenario all the same."""
    net = Network.from_text(COMMENTED).set("name", "\U0001f310 \u00e9").set("duration", "3 s")
    assert Network.from_text(net.to_toml()).to_dict() == net.to_dict()
    one = Network.from_text("x = [{ a = 1 }]\n").set("x.0.a", 2).set('y."a=b"', 1).set("z", 1.5)
    assert Network.from_text(one.to_toml()).to_dict() == one.to_dict()


def test_replications_are_numbered_and_independent_of_threads() -> None:
    """Replications are numbered, differ from each other, and do not depend on threads."""
    one = small().run(replications=4, threads=1)
    three = small().run(replications=4, threads=3)
    assert one.digests == three.digests
    assert len(set(one.digests)) == 4
    assert small().run(replications=2, first=2).digests == one.digests[2:]
    assert small().run(seed=2).digests != small().run(seed=1).digests == one.digests[:1]


def test_results_tell_of_calls() -> None:
    """Results show calls, by replication, class and aggregate, with their blocking and
    termination.

    The five lines are taken for good: all new calls are blocked. Two more come with the reroute,
    for the last 0.1 s of the 4 s that count: a mean of 5 + 2 x 0.1 / 4 = 5.05. Calls of several
    flows have a row for each.
    """
    results = phones().run(replications=2)
    assert results.calls.column_names[:3] == ["replication", "name", "aggregate"]
    rows = results.calls.to_pylist()
    places = {(row["replication"], row["name"], row["aggregate"]) for row in rows}
    named = [("phones", "lines"), ("video[0]", ""), ("video[1]", "")]
    assert places == {(number, *place) for number in (0, 1) for place in named}
    assert len(rows) == len(places)
    for row in rows:
        if row["name"] == "phones":
            assert (row["admitted"], row["blocking_ratio"], row["terminated"]) == (0, 1.0, 0)
            assert (row["blocked"] > 0, row["rerouted"], row["max_present"]) == (True, 2, 7)
        else:
            assert (row["blocked"], row["mean_present"], row["present"]) == (0, 1.0, 1)
    # Each packet that arrives finds AR exceeded.
    link = results.links.to_pylist()[0]
    assert link["threshold_marks"] == sum(link["arrived_packets"]) > 0
    assert link["marks"] == 0
    assert results.interval("calls", "phones", "mean_present").mean == pytest.approx(5.05)
    summary = {(r["place"], r["name"], r["quantity"]): r for r in results.summary().to_pylist()}
    assert summary["calls", "phones", "mean_present"]["mean"] == pytest.approx(5.05)
    assert "calls phones: blocking_ratio 100.00 %" in repr(results)
    assert small().run().calls.num_rows == 0


def test_calls_are_recorded() -> None:
    """Calls are recorded: when they came, were blocked and ended, and how many were present."""
    recorded = phones().record(series="100 ms", calls=True).run()
    assert recorded.digests == phones().run().digests
    aggregate = recorded.series["aggregates.lines"].to_pydict()
    # 5 s at 100 ms; calls of no aggregate are in the series of their own group.
    assert aggregate["present_flows"] == [5.0] * 48 + [7.0] * 2
    assert set(recorded.series["flows.video"].to_pydict()["present_flows"]) == {2.0}
    events = Counter((row["flow"], row["event"]) for row in recorded.table("calls").to_pylist())
    assert events.pop(("phones", "blocked")) > 0
    assert events == {
        ("phones", "initial"): 5, ("phones", "rerouted"): 2,
        ("video[0]", "initial"): 1, ("video[1]", "initial"): 1,
    }  # fmt: skip
    assert recorded.table("admission").num_rows == 0
    for kind, quantity, place in [
        ("series", "present_flows", "aggregates"), ("bars", "blocking_ratio", "calls"),
        ("series", "arrived_bps", "links"),
    ]:  # fmt: skip
        assert "<svg" in recorded.plot(kind, quantity, place=place)._repr_svg_()


def test_entries_of_lists_are_set_by_number() -> None:
    """An entry of a list is set by its number, and the others stay."""
    path = "links.core.conditioners.1.sr_meter.rate"
    changed = phones().set(path, "7 Mbit/s").check()["resolved"]
    assert changed["links.core.conditioners[1].sr_meter.rate"] == "7 Mbit/s"
    assert changed["links.core.conditioners[0].ar_meter.rate"] == "200 kbit/s"
    bare = phones().set("links.core.conditioners", ["x", "y"])
    bare.set("links.core.conditioners.0", forebay.conditioner.fixed(precedence=1))
    bare.set("links.core.conditioners.1.fixed.precedence", 2)
    assert bare.to_dict()["links"]["core"]["conditioners"] == [
        {"fixed": {"precedence": 1}}, {"fixed": {"precedence": 2}},
    ]  # fmt: skip
    for wrong in ("2", "x", "-1"):
        with pytest.raises(ValueError, match="no entry of the list; there are: 0, 1"):
            phones().set(f"links.core.conditioners.{wrong}.fixed.precedence", 1)


def test_results_are_tables() -> None:
    """Results are tables of flows, groups and links, with a row for each in each replication."""
    results = small().run(replications=2)
    assert results.flows.num_rows == 2 * 3
    assert results.groups.num_rows == 2 * 2
    assert results.links.num_rows == 2 * 2
    assert results.flows.column_names[:2] == ["replication", "name"]
    assert results.flows.to_pylist()[0]["group"] == "bulk"
    assert "2 replications of 5 s" in repr(results)


def test_summaries_are_the_intervals_of_the_rows() -> None:
    """A summary has the intervals of the rows, and one replication has none."""
    results = small().run(replications=4)
    rows = [row for row in results.groups.to_pylist() if row["name"] == "bulk"]
    expected = replication_interval([row["throughput_bps"] for row in rows])
    found = next(
        row
        for row in results.summary().to_pylist()
        if (row["name"], row["quantity"]) == ("bulk", "throughput_bps")
    )
    assert (found["mean"], found["low"], found["high"], found["note"]) == (
        expected.mean, expected.low, expected.high, expected.note,
    )  # fmt: skip
    alone = small().run().summary().to_pylist()
    assert all(row["low"] is None for row in alone)


def test_recording_changes_nothing_but_adds_tables() -> None:
    """Recording adds tables and changes nothing else."""
    plain = small().run(replications=2)
    recorded = small().record(series="100 ms", delays=True, trace=50).run(replications=2)
    assert plain.digests == recorded.digests
    assert plain.series == {}
    wire = recorded.series["links.wire"]
    # 5 s at 100 ms are 50 samples a replication.
    assert wire.num_rows == 2 * 50
    assert set(wire["replication"].to_pylist()) == {0, 1}
    assert recorded.table("trace").num_rows == 2 * 50
    with pytest.raises(KeyError, match="delays"):
        recorded.table("dealys")


def test_a_run_that_fails_on_a_bug_is_told_with_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that fails on a bug of the engine is told with its scenario, replication and seed, so
    that it can be repeated, and the other runs are kept."""

    class Engine:
        ScenarioError = ValueError
        LimitError = OverflowError
        LawError = ArithmeticError
        StackError = EOFError

        @staticmethod
        def run_batch(
            jobs: list[Any],
            _threads: int,
            done: Callable[..., None],
            failed: Callable[..., None],
            *_calls: None,
        ) -> None:
            failed(1, RuntimeError("no slot"))
            done(0, '{"name": "x"}', {})

    monkeypatch.setattr("forebay.run.jobs.native", lambda: Engine)
    runs: list[Run] = []
    jobs = [Job("", "a"), Job("", "b", seed=7, replication=3)]
    with pytest.raises(RunFailedError, match="b, replication 3, seed 7: no slot"):
        run_jobs(jobs, lambda _index, run: runs.append(run))
    assert [run.document for run in runs] == [{"name": "x"}]


@pytest.mark.parametrize("series", [False, True])
def test_plots_are_drawings(tmp_path: Path, series: bool) -> None:
    """A plot shows itself as a drawing in a notebook, and is saved as one."""
    net = small().record(series="100 ms") if series else small()
    plot = net.run(replications=2).plot("series" if series else "bars")
    assert "<svg" in plot._repr_svg_()
    plot.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_slips_are_explained() -> None:
    """Slips in Python are explained, with the nearest name or with what is needed."""
    with pytest.raises(TypeError, match='did you mean "min_threshold"'):
        forebay.queue.red(min_treshold="5 packets")
    with pytest.raises(AttributeError, match='did you mean "red"'):
        forebay.queue.rde()
    with pytest.raises(TypeError, match="needs"):
        forebay.queue.rio()
    with pytest.raises(ValueError, match="already taken"):
        small().link("wire", "A", "C", rate="1 Mbit/s")
    with pytest.raises(UserError, match=r'links\.wire\.rte.*did you mean "rate"'):
        small().set("links.wire.rte", "1 Mbit/s").check()
    with pytest.raises(UserError, match="has no unit"):
        small().set("links.wire.rate", 10).run()
    with pytest.raises(ValueError, match="at least one"):
        small().run(replications=0)
    with pytest.raises(UserError, match="not valid TOML"):
        Network.from_text("[links")


def test_slips_about_calls_are_explained() -> None:
    """Slips in calls, aggregates and their results are explained, with the nearest name."""
    with pytest.raises(TypeError, match=r'calls.*did you mean "holding"'):
        forebay.calls(holdin="1 s")
    with pytest.raises(ValueError, match="already taken"):
        phones().aggregate("lines")
    with pytest.raises(UserError, match=r'aggregate "line" .did you mean "lines"'):
        phones().set("flows.phones.aggregate", "line").check()
    with pytest.raises(UserError, match=r"aggregates\.spare: is empty"):
        phones().aggregate("spare").check()
    results = phones().run()
    with pytest.raises(ValueError, match='did you mean "calls"'):
        results.values("call", "phones", "blocked")
    with pytest.raises(KeyError, match=r"there are .*phones"):
        results.values("calls", "phone", "blocked")
    with pytest.raises(KeyError, match='did you mean "blocked"'):
        results.values("calls", "phones", "bloked")
    with pytest.raises(ValueError, match="record"):
        results.plot("series", "present_flows", place="aggregates")


def test_every_mechanism_has_a_documented_signature() -> None:
    """Every mechanism has a function in Python, with its parameters, their defaults and its
    summary."""
    for category in catalogue().categories:
        functions = getattr(forebay, category.name)
        for page in category.pages:
            function = getattr(functions, page.name)
            signature = inspect.signature(function)
            assert list(signature.parameters) == [field.name for field in page.fields]
            assert page.summary in (function.__doc__ or "")
            for field in page.fields:
                default = signature.parameters[field.name].default
                assert (default is inspect.Parameter.empty) == field.required


def test_every_transport_has_a_documented_signature() -> None:
    """Every transport has a function in Python, with its parameters and their documentation."""
    for page in catalogue().sections:
        words = page.name.split(".")
        if words[:2] != ["flows", "NAME"] or len(words) != 3:
            continue
        function = getattr(forebay, words[2])
        expected = [field.name for field in page.fields] + list(page.mechanisms)
        assert list(inspect.signature(function).parameters) == expected
        assert all(name in function.__doc__ for name in [field.name for field in page.fields])
        assert function() == {}


def test_every_page_is_found_by_its_names() -> None:
    """Every page is found by its names, as by `forebay mechanisms link` that of links."""
    known = catalogue()
    for name, page in [
        ("red", "red"), ("queue.red", "red"), ("links", "links.NAME"), ("link", "links.NAME"),
        ("flow", "flows.NAME"), ("aggregate", "aggregates.NAME"), ("calls", "flows.NAME.calls"),
        ("surge", "flows.NAME.calls.surges[]"), ("aggregates.probing", "aggregates.NAME.probing"),
    ]:  # fmt: skip
        assert [found.name for found in known.named(name)] == [page]
    assert all(page in known.named(name) for page in known.pages() for name in page.called)
    assert known.named("nothing") == []


def test_defaults_written_out_are_the_defaults() -> None:
    """Defaults that are written out are those that hold where nothing is written.

    A queue with every documented default stated must be the same scenario as one with none.
    """
    for page in next(c for c in catalogue().categories if c.name == "queue").pages:
        if any(field.required for field in page.fields):
            continue
        stated = {f.name: f.default for f in page.fields if f.default is not None}
        function = getattr(forebay.queue, page.name)
        short, long = (
            # A default may be one that is warned of: no limit.
            check(small().set("links.wire.queue", law).job())["scenario_hash"]
            for law in (function(), function(**stated))
        )
        assert short == long, page.name


def test_reference_pages_cover_everything() -> None:
    """The reference pages cover every mechanism and every parameter."""
    from manual.mechanisms import address, mechanisms

    written = mechanisms(catalogue())
    for page in catalogue().pages():
        name, _, anchor = address(page).partition("#")
        _, _, behind = written[name].partition(f"## {page.name} {{#{anchor}}}\n")
        text = behind.partition("\n## ")[0]
        assert page.summary in text
        for field in page.fields:
            assert f"| `{field.name}`<br>" in text
        assert f"({name}.md#{anchor})" in written["mechanisms"]
    assert all(len(text.encode()) < 100_000 for text in written.values())
