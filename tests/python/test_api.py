"""Scenarios and results from Python."""

from __future__ import annotations

import inspect
from pathlib import Path

import front
import pytest

import forebay
from forebay import Network, UserError
from forebay.bench import SCENARIOS
from forebay.catalogue import catalogue
from forebay.stats import summarize


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


def test_builders_make_what_the_file_says() -> None:
    """Otherwise Python and the command line would simulate different networks."""
    from_file = Network.from_text(front.SCENARIO)
    assert small().check() == from_file.check()
    assert small().run().digests == from_file.run().digests


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_scenarios_survive_the_way_through_python(path: Path, tmp_path: Path) -> None:
    """Otherwise a scenario changed by hand in Python would also change where nobody touched it."""
    net = Network.from_toml(path)
    net.save(tmp_path / path.name)
    assert Network.from_toml(tmp_path / path.name).check() == net.check()
    assert (
        net.check()["scenario_hash"] == Network.from_text(path.read_text()).check()["scenario_hash"]
    )


def test_replications_are_numbered_and_independent_of_threads() -> None:
    """Otherwise results would depend on the machine, or a replication be counted twice."""
    one = small().run(replications=4, threads=1)
    three = small().run(replications=4, threads=3)
    assert one.digests == three.digests
    assert len(set(one.digests)) == 4
    assert small().run(replications=2, first=2).digests == one.digests[2:]
    assert small().run(seed=2).digests != small().run(seed=1).digests == one.digests[:1]


def test_results_are_tables() -> None:
    """Otherwise a notebook would have to dig in dictionaries."""
    results = small().run(replications=2)
    assert results.flows.num_rows == 2 * 3
    assert results.groups.num_rows == 2 * 2
    assert results.links.num_rows == 2 * 2
    assert results.flows.column_names[:2] == ["replication", "name"]
    assert results.flows.to_pylist()[0]["group"] == "bulk"
    assert "2 replications of 5 s" in repr(results)


def test_summaries_are_student_intervals_of_the_rows() -> None:
    """Otherwise the printed interval would not be that of the printed values."""
    results = small().run(replications=4)
    rows = [row for row in results.groups.to_pylist() if row["name"] == "bulk"]
    expected = summarize([row["throughput_bps"] for row in rows])
    found = next(
        row
        for row in results.summary().to_pylist()
        if (row["name"], row["quantity"]) == ("bulk", "throughput_bps")
    )
    assert (found["mean"], found["low"], found["high"]) == (
        expected.mean, expected.low, expected.high,
    )  # fmt: skip
    alone = small().run().summary().to_pylist()
    assert all(row["low"] is None for row in alone)


def test_recording_changes_nothing_but_adds_tables() -> None:
    """Otherwise looking closer would change what is looked at."""
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


@pytest.mark.parametrize("series", [False, True])
def test_plots_are_drawings(tmp_path: Path, series: bool) -> None:
    """Otherwise a notebook would show an object's name."""
    net = small().record(series="100 ms") if series else small()
    plot = net.run(replications=2).plot()
    assert "<svg" in plot._repr_svg_()
    plot.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_slips_are_explained() -> None:
    """Otherwise a typing error in a notebook would be a riddle."""
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


def test_every_mechanism_has_a_documented_signature() -> None:
    """Otherwise a mechanism could be used from a file but not from Python."""
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


def test_defaults_written_out_are_the_defaults() -> None:
    """Otherwise documentation and behaviour would differ.

    A queue with every documented default stated must be the same scenario as one with none.
    """
    for page in next(c for c in catalogue().categories if c.name == "queue").pages:
        if any(field.required for field in page.fields):
            continue
        stated = {f.name: f.default for f in page.fields if f.default is not None}
        function = getattr(forebay.queue, page.name)
        short = small().set("links.wire.queue", function()).check()["scenario_hash"]
        long = small().set("links.wire.queue", function(**stated)).check()["scenario_hash"]
        assert short == long, page.name


def test_the_stub_is_that_of_this_engine() -> None:
    """Otherwise editors would offer parameters that are gone; `make docs` writes it anew."""
    from forebay.reference import stub

    path = Path(forebay.__file__).with_suffix(".pyi")
    assert path.read_text() == stub(catalogue())


def test_reference_pages_cover_everything() -> None:
    """Otherwise a mechanism or a parameter would be undocumented."""
    from forebay.reference import file_name, pages

    written = pages(catalogue())
    for page in catalogue().pages():
        text = written[file_name(page)]
        assert page.summary in text
        for field in page.fields:
            assert f"| `{field.name}` |" in text
        assert f"({file_name(page)})" in written["README.md"]
