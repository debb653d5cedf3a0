"""`forebay run --replications`: several runs of a scenario file, as means with intervals."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import front
import pytest
from scipy import stats

from forebay import Network, traffic
from forebay.run.paper_formats import written


def test_means_and_intervals_are_those_of_the_single_runs(
    scenario: Path, forebay: front.Forebay
) -> None:
    """Means and intervals are those of the runs that `--replication N` makes.

    Student's interval of eight values: mean +- t(7; 0.975) * s / sqrt(8).
    """
    single = [
        json.loads(forebay("run", scenario, "--replication", number, "--json").out)
        for number in range(4, 12)
    ]
    words = ("run", scenario, "--replication", "4", "--replications", "8", "--json")
    document = json.loads(forebay(*words).out)
    assert [row["digest"] for row in document["replications"]] == [row["digest"] for row in single]
    assert [row["replication"] for row in document["replications"]] == list(range(4, 12))
    links = [row for row in document["intervals"] if row["place"] == "links"]
    plain = [row for row in links if not row["note"] and row["quantity"] != "drop_reasons"]
    assert plain
    for row in plain:
        values = [
            float(link[row["quantity"]])
            for run in single
            for link in run["links"]
            if link["name"] == row["name"]
        ]
        half = stats.t.ppf(0.975, 7) * statistics.stdev(values) / 8**0.5
        mean = statistics.fmean(values)
        assert row["mean"] == pytest.approx(mean)
        assert (row["low"], row["high"]) == pytest.approx((mean - half, mean + half))


def test_a_folder_gets_document_table_and_scenario(
    scenario: Path, forebay: front.Forebay, tmp_path: Path
) -> None:
    """A folder gets the document, the table and the scenario, and keeps its other files."""
    out = tmp_path / "kept"
    answer = forebay("run", scenario, "--replications", "2", "--out", out)
    assert answer.status == 0
    assert "2 replications" in answer.out
    document = json.loads((out / "replications.json").read_text(encoding="utf-8"))
    with (out / "intervals.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in document["intervals"]]
    assert (out / "scenario.toml").read_text(encoding="utf-8") == scenario.read_text(
        encoding="utf-8"
    )
    assert forebay("run", scenario, "--replications", "2", "--out", out).status == 0
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "intervals.csv").write_text("mine", encoding="utf-8")
    assert "intervals.csv" in forebay.refused(
        "run", scenario, "--replications", "2", "--out", foreign
    )
    assert (foreign / "intervals.csv").read_text(encoding="utf-8") == "mine"


def test_what_is_hardly_meant_is_said_once(scenario: Path, forebay: front.Forebay) -> None:
    """A warning on the scenario is printed once, for several runs as for one.

    A propagation delay of two hours: none on Earth is so long.
    """
    words = ("run", scenario, "--set", "links.wire.delay=2 h", "--until", "2 s")
    warnings = [
        [line for line in forebay(*words, *more).err.splitlines() if "warning" in line]
        for more in ((), ("--replications", "3"))
    ]
    assert "links.wire.delay" in warnings[0][0]
    assert warnings[1] == warnings[0]


def test_the_command_repeats_it(scenario: Path, forebay: front.Forebay) -> None:
    """The command that is printed repeats the numbers."""
    words = ("run", scenario, "--replications", "2", "--seed", "7", "--replication", "3", "--json")
    first = json.loads(forebay(*words).out)
    again = json.loads(forebay(*first["command"].split()[1:], "--json").out)
    assert again == first


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--replications", "1"), "2 to 10000000"),
        (("--replications", "many"), "whole number"),
        (("--replications", "2", "--ties", "shuffle"), "--replications, --ties"),
        (("--replications", "2", "--set", "duraton=1"), "duraton"),
    ],
)
def test_what_is_wrong_is_named(
    scenario: Path, forebay: front.Forebay, more: tuple[str, ...], message: str
) -> None:
    """Wrong options are refused by name, without a traceback."""
    assert message in forebay.refused("run", scenario, *more)


@pytest.mark.parametrize(
    "words",
    [("run", "small.toml"), ("reproduce", "af"), ("transports", "af")],
)
def test_too_many_replications_are_refused_at_once(
    forebay: front.Forebay, words: tuple[str, ...]
) -> None:
    """Too many replications are refused at once, before jobs fill the memory."""
    message = forebay.refused(*words, "--replications", "1000000000")
    assert '--replications: "1000000000"; allowed is a whole number, 2 to 10000000' in message


def test_too_many_replications_are_refused_in_python() -> None:
    """Too many replications are refused from Python, too, before a kernel runs out of memory."""
    net = Network("short", duration="1 s")
    net.link("wire", "A", "B", rate="10 Mbit/s")
    with pytest.raises(ValueError, match="1000000000 replications; allowed are at most 10000000"):
        net.run(replications=1_000_000_000)


def test_portions_of_replications_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Portions of replications are the whole: no run is left out, made twice, or another one."""
    net = Network("short", duration="1 s")
    net.link("wire", "A", "B", rate="10 Mbit/s")
    net.flows("noise", "A", "B", udp={}, traffic=traffic.poisson(rate="1 Mbit/s", size="500 B"))
    whole = net.run(replications=7, first=3).digests
    monkeypatch.setattr("forebay.run.results.AT_ONCE", 3)
    assert net.run(replications=7, first=3).digests == whole
    assert len(set(whole)) == 7


def test_the_99th_percentile_is_shown_where_samples_suffice(
    scenario: Path, forebay: front.Forebay
) -> None:
    """The 99th percentile of delay is shown where at least 100 packets stand behind it: 4 s of
    500 packets/s do, and 4 s of 10 packets/s, 40 in all, do not."""
    scenario.write_text(
        front.SCENARIO + "[flows.rare]\nfrom = 'A'\nto = 'B'\nudp = {}\n"
        "traffic = { cbr = { rate = '8 kbit/s', size = '100 B' } }\n",
        encoding="utf-8",
    )
    out = forebay("run", scenario, "--replications", "2").out
    shown: dict[str, list[str]] = {}
    name = ""
    for line in out.partition("links")[0].splitlines():
        words = line.split()
        name = name if not words or line.startswith(" ") else words[0]
        shown.setdefault(name, []).extend(word for word in words if word.startswith("p9"))
    assert shown["chatter"] == ["p95_delay_s", "p99_delay_s"]
    assert shown["rare"] == ["p95_delay_s"]


def test_many_groups_are_shortened(scenario: Path, forebay: front.Forebay) -> None:
    """Of many groups the terminal shows the first, and says where all are."""
    more = "".join(
        f"[flows.more{n}]\nfrom = 'A'\nto = 'B'\nudp = {{}}\n"
        "traffic = { cbr = { rate = '8 kbit/s', size = '100 B' } }\n"
        for n in range(48)
    )
    scenario.write_text(front.SCENARIO + more, encoding="utf-8")
    out = forebay("run", scenario, "--replications", "2").out
    # Fifty groups, of which twelve are shown.
    assert "flows: the first 12; 38 more: --out or --json has all" in out
    assert "more47" not in out


def test_the_page_has_every_table_with_intervals(
    scenario: Path, forebay: front.Forebay, tmp_path: Path
) -> None:
    """The page of replications has the tables, the drawings and the scenario of a run's page, with
    means and intervals in the cells: those of the document that is kept, and no other."""
    out = tmp_path / "kept"
    asked = ("--quantity", "ratio = flows.bulk.goodput / flows.chatter.goodput")
    asked = (*asked, "--quantity", "more = 2 * ratio")
    answer = forebay("run", scenario, "--replications", "4", "--out", out, *asked)
    assert f"forebay report {out}" in answer.out
    told = forebay("report", out)
    assert (told.status, told.err) == (0, "")
    page = (out / "report.html").read_text(encoding="utf-8")
    for title in ("3 flows, by group", "One-way delay: percentiles over packets",
                  "Links (queues in packets)", "Defaults that held", "Quantities asked for",
                  "Flows, by group: throughput, goodput"):  # fmt: skip
        assert title in page, title
    document = json.loads((out / "replications.json").read_text(encoding="utf-8"))
    # 4 s of 500 packets/s are above the 100 that the 99th percentile needs.
    for name, quantity in (("chatter", "throughput_bps"), ("chatter", "p99_delay_s")):
        row = next(row for row in document["intervals"]
                   if (row["name"], row["quantity"]) == (name, quantity))  # fmt: skip
        scale = 1e-6 if quantity == "throughput_bps" else 1e3
        ends = (scale * row["low"], scale * row["high"])
        assert f'<td class="n">{written(scale * row["mean"], ends, " ± ")}</td>' in page
    assert "ratio = flows.bulk.goodput / flows.chatter.goodput" in page
    assert "more = 2 * ratio" in page
    assert all(row["digest"] in page for row in document["replications"])
    # Documents of earlier versions have fewer parts.
    for name in ("scenario", "groups", "entries"):
        del document[name]
    (out / "replications.json").write_text(json.dumps(document), encoding="utf-8")
    assert forebay("report", out).status == 0


def test_the_newest_results_of_a_folder_have_the_page(
    scenario: Path, forebay: front.Forebay, tmp_path: Path
) -> None:
    """In a folder that got a run and replications the page is that of the later one."""
    out = tmp_path / "out"
    replications = ("--replications", "2")
    for more, told in ((replications, True), ((), False), (replications, True)):
        assert forebay("run", scenario, "--until", "2 s", "--out", out, *more).status == 0
        assert forebay("report", out).status == 0
        page = (out / "report.html").read_text(encoding="utf-8")
        assert ("Means over 2 replications" in page) == told


COLOURS = """
duration = "4 s"
record.classes = true

[links.wire]
from = "A"
to = "B"
rate = "10 Mbit/s"
conditioner.trtcm = { cir = "1 Mbit/s", cbs = "3 kB", pir = "2 Mbit/s", pbs = "3 kB" }
queue.rio = { min_threshold = ["40 packets", "20 packets", "5 packets"], \
max_threshold = ["80 packets", "40 packets", "15 packets"], \
max_probability = [0.02, 0.05, 0.1], mean_packet = "500 B" }

[flows.noise]
from = "A"
to = "B"
udp = {}
traffic.poisson = { rate = "20 Mbit/s", size = "500 B" }
"""


def test_colours_have_intervals(tmp_path: Path, forebay: front.Forebay) -> None:
    """What links did with packets of each colour is on the terminal, in the document and on the
    page, with intervals; shares of losses are those of the single runs, and sums are of counts."""
    scenario, out = tmp_path / "colours.toml", tmp_path / "out"
    scenario.write_text(COLOURS, encoding="utf-8")
    answer = forebay("run", scenario, "--replications", "3", "--out", out)
    assert "links by precedence (0 is green, 1 yellow, 2 red)" in answer.out
    assert "wire, precedence 2" in answer.out
    document = json.loads((out / "replications.json").read_text(encoding="utf-8"))
    runs = [
        json.loads(forebay("run", scenario, "--replication", n, "--json").out)["links"][0]
        for n in range(3)
    ]
    means = {
        (row["quantity"], row["entry"]): row["mean"]
        for row in document["entries"]
        if row["name"] == "wire"
    }
    for at in range(3):
        shares = [run["dropped_packets"][at] / run["arrived_packets"][at] for run in runs]
        assert means["dropped_ratio", at] == pytest.approx(statistics.fmean(shares))
    whole = statistics.fmean(sum(run["arrived_packets"]) for run in runs)
    assert means["arrived_packets", None] == pytest.approx(whole)
    assert forebay("report", out).status == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Links by precedence (in packets; of meters 0 is green, 1 yellow, 2 red)" in page
    assert "<h3>Links: packets by precedence</h3>" in page
