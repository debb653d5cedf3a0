"""The command line: what it prints, how it fails, how fast it answers."""

# ruff: noqa: TID251 (measures how long a command takes)

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.cli.run import command_line
from forebay.native import VERSION
from forebay.run.jobs import Job


def spawn(*arguments: str) -> list[str]:
    """The command line as a process of its own."""
    return [sys.executable, "-m", "forebay", *arguments]


@pytest.mark.parametrize("command", ["--help", "studies"])
def test_first_answers_come_at_once(command: str) -> None:
    """First answers come at once: the contract is 0.3 s.

    Processor time of the best of three, so that a busy machine fails no test.
    """
    spent = []
    for _ in range(3):
        before = os.times()
        subprocess.run(spawn(command), check=True, capture_output=True)
        after = os.times()
        spent.append(
            after.children_user + after.children_system
            - before.children_user - before.children_system
        )  # fmt: skip
    assert min(spent) < 0.3


def test_help_names_every_command(forebay: front.Forebay) -> None:
    """The help names every command of the contract."""
    out = forebay("--help").out
    contract = "studies suite reproduce run sweep check mechanisms report bench"
    assert all(f"\n  {name} " in out for name in contract.split())


def test_version_is_the_engines(forebay: front.Forebay) -> None:
    """The version is that of the engine, with its build, to which results can be traced; it is that
    of the package, which refuses an engine of another."""
    from forebay import _native

    out = forebay("--version").out
    assert out == f"forebay {_native.version()} (build {_native.build()})\n"
    assert re.fullmatch("[0-9a-f]{16}", _native.build())
    assert _native.version() == VERSION


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rnu"], 'did you mean "run"'),
        (["run", "--sed", "1"], "--seed"),
        (["run"], "SCENARIO.toml"),
        (["run", "x.toml", "--seed", "-1"], "--seed"),
        (["run", "x.toml", "--replication", "two"], "--replication"),
        (["run", "x.toml", "--threads", "0"], "--threads"),
        (["run", "x.toml", "--threads", "two"], "--threads"),
        (["reproduce", "aff"], 'did you mean "af"'),
        (["reproduce", "af", "--replications", "1"], "--replications"),
        (["reproduce", "af", "--jobs", "0"], "--jobs"),
        (["reproduce", "af", "--claims", "t3.1/ud5/two/tcp"], 'did you mean "t3.1/udp5/two/tcp"'),
        (["mechanisms", "rde"], 'did you mean "red"'),
        (["bench", "s1-aff"], 'did you mean "s1-af"'),
        (["report", "no-such-folder"], "no such folder"),
        (["check", "no-such-folder/a.toml"], "there is no folder"),
    ],
)
def test_slips_on_the_command_line_are_explained(
    forebay: front.Forebay, arguments: list[str], expected: str
) -> None:
    """Slips on the command line are explained."""
    assert expected in forebay.refused(*arguments)


@pytest.mark.parametrize("command", ["run", "check"])
class TestWrongScenarioFiles:
    """Files that are no scenario."""

    def test_missing_file(self, forebay: front.Forebay, scenario: Path, command: str) -> None:
        """A missing file is refused with a path that is near it."""
        assert str(scenario) in forebay.refused(command, scenario.with_name("smal.toml"))

    def test_folder(self, forebay: front.Forebay, scenario: Path, command: str) -> None:
        """A folder is refused with the scenario in it."""
        message = forebay.refused(command, scenario.parent)
        assert "is a folder" in message
        assert str(scenario) in message

    def test_not_utf8(self, forebay: front.Forebay, tmp_path: Path, command: str) -> None:
        """A file that is not UTF-8 is refused with the line and the byte."""
        path = tmp_path / "latin.toml"
        path.write_bytes(b'# fine\nname = "caf\xe9"\n')
        message = forebay.refused(command, path)
        assert f"{path}: line 2: not UTF-8" in message
        assert "0xe9" in message

    @pytest.mark.parametrize("text", ["", " \n", "# nothing\n", "[links", "a = = 1", "{}"])
    def test_no_scenario(
        self, forebay: front.Forebay, tmp_path: Path, command: str, text: str
    ) -> None:
        """An empty or damaged file is refused with its path."""
        path = tmp_path / "odd.toml"
        path.write_text(text)
        assert str(path) in forebay.refused(command, path)

    def test_wrong_key(self, forebay: front.Forebay, scenario: Path, command: str) -> None:
        """A misspelt key is refused with its line and the nearest name, and does not silently get
        its default."""
        scenario.write_text(front.SCENARIO.replace('delay = "2 ms"', 'dealy = "2 ms"'))
        message = forebay.refused(command, scenario)
        assert f"{scenario}: line 10: links.wire.dealy: " in message
        assert 'did you mean "delay"' in message

    @pytest.mark.parametrize(
        ("assignment", "expected"),
        [
            ("links.wire.rate=10", "has no unit"),
            ("links.wire.rte=10 Mbit/s", 'did you mean "rate"'),
            ("flows.bulk.tcp.recovery=sak", 'did you mean "sack"'),
            ("nonsense", "PATH=VALUE"),
        ],
    )
    def test_wrong_assignment(
        self, forebay: front.Forebay, scenario: Path, command: str, assignment: str, expected: str
    ) -> None:
        """`--set` refuses what a file may not have."""
        assert expected in forebay.refused(command, scenario, "--set", assignment)


@pytest.mark.parametrize("bad", ["a-file", "a-file/below", "/proc/no/folder/here"])
def test_results_that_cannot_be_written_are_refused_first(
    forebay: front.Forebay, scenario: Path, bad: str
) -> None:
    """Results that cannot be written are refused before hours of runs."""
    (scenario.parent / "a-file").write_text("")
    message = forebay.refused("run", scenario, "--until", "5000000 s", "--out",
                              scenario.parent / bad)  # fmt: skip
    assert "--out" in message


def test_run_json_is_one_document_with_the_contracts_keys(
    forebay: front.Forebay, scenario: Path
) -> None:
    """`run --json` prints one document with the keys of the contract."""
    answer = forebay("run", scenario, "--json")
    assert answer.status == 0
    assert answer.err == ""
    document = answer.document()
    assert document.keys() >= {
        "digest", "simulated_s", "wall_s", "events", "packet_hops", "flows", "links", "seed",
        "replication", "scenario_hash", "version", "build",
    }  # fmt: skip
    assert f"(build {document['build']})" in forebay("--version").out
    assert document["simulated_s"] == 5.0
    assert len(document["flows"]) == 3
    assert all(
        flow.keys() >= {"name", "sent_packets", "delivered_packets", "dropped_packets",
                        "marked_packets", "throughput_bps", "goodput_bps", "mean_delay_s",
                        "p50_delay_s", "p95_delay_s", "p99_delay_s", "timeouts",
                        "retransmissions"}
        for flow in document["flows"]
    )  # fmt: skip
    assert all(
        link.keys() >= {"name", "utilization", "drops", "marks", "mean_queue_packets"}
        for link in document["links"]
    )


ODD = r"""
name = "caf\u00e9 \U0001F600 \"x\" \\ \u007f \t"
duration = "25.00007 us"
warm_up = "25.00005 us"

[links.wire]
from = "A"
to = "B"
rate = "8000 Tbit/s"
delay = "25 us"
queue = { droptail = { limit = "50 packets" } }

[flows.burst]
from = "A"
to = "B"
udp = {}
traffic = { cbr = { rate = "1 Mbit/s", size = "60 kB", random_phase = false } }
"""


def test_a_document_is_written_as_python_writes_it(forebay: front.Forebay, tmp_path: Path) -> None:
    """A document is written as Python's json module writes it, on the terminal and in the folder:
    programs that compare texts see equal runs as equal.

    60 kB take 60 ps at 8000 Tbit/s, and 25 us to the far end. 480000 bit in the 20 ps measured are
    2.4e16 bit/s.
    """
    path = tmp_path / 'odd "\u00fc" one.toml'
    path.write_text(ODD, encoding="utf-8")
    answer = forebay("run", path, "--json", "--out", tmp_path / "out")
    document = answer.document()
    assert answer.out == json.dumps(document, indent=1) + "\n"
    assert (tmp_path / "out" / "run.json").read_text(encoding="utf-8") == answer.out
    assert document["name"] == 'caf\u00e9 \U0001f600 "x" \\ \x7f \t'
    assert document["command"] == f"forebay run '{path}'"
    for field in ('throughput_bps": 2.4e+16', 'mean_delay_s": 2.500006e-05', 'measured_s": 2e-11'):
        assert field in answer.out


@pytest.mark.parametrize(
    "word", ["a", "", "it's", "a b", "$x", "é", "a\nb", '"', "\\", "@%+=:,./-_"]
)
def test_the_command_in_a_document_can_be_pasted(word: str) -> None:
    """The command in a document can be pasted: a shell reads the words that were run."""
    command = command_line(word, Job("", overrides=(word,), until=word))
    assert shlex.split(command) == ["forebay", "run", word, "--until", word, "--set", word]
    assert command == shlex.join(shlex.split(command))


def test_the_same_command_gives_the_same_run(forebay: front.Forebay, scenario: Path) -> None:
    """The same command gives the same run, and another seed, replication or end another one: anyone
    can check a published number."""

    def digest(*options: str) -> str:
        return str(forebay("run", scenario, "--json", *options).document()["digest"])

    assert digest() == digest()
    assert digest() == digest("--seed", "1", "--replication", "0")
    others = {digest("--replication", "1"), digest("--seed", "2"), digest("--until", "4 s")}
    assert len(others | {digest()}) == 4


def test_set_does_what_editing_the_file_does(forebay: front.Forebay, scenario: Path) -> None:
    """`--set` does what editing the file does."""
    assigned = forebay("check", scenario, "--json", "--set", "links.wire.delay=7 ms").document()
    scenario.write_text(front.SCENARIO.replace("2 ms", "7 ms"))
    edited = forebay("check", scenario, "--json").document()
    assert assigned["scenario_hash"] == edited["scenario_hash"]
    assert edited["resolved"]["links.wire.delay"] == "7 ms"


def test_tables_fit_and_name_everything(forebay: front.Forebay, scenario: Path) -> None:
    """Tables fit into 100 columns and name every group and link, without colour where no terminal
    reads them."""
    out = forebay("run", scenario, "--set", "flows.bulk.count=30").out
    assert max(map(len, out.splitlines())) <= 100
    assert "31 flows, by group" in out
    for name in ("bulk", "chatter", "wire", "wire.reverse"):
        assert any(line.startswith(f"{name} ") for line in out.splitlines())
    assert "\x1b" not in out


def test_a_link_is_as_full_as_its_offered_load(forebay: front.Forebay, scenario: Path) -> None:
    """A link is as full as the load that is offered to it.

    Only the Poisson flow: 2 Mbit/s of 10 is a utilization of 0.2. Of 300 s of packets of 500 B
    (150 000 packets) the relative standard deviation is 1/sqrt(150000) = 0.26 %; five of it is
    1.3 %.
    """
    scenario.write_text(front.SCENARIO.replace("[flows.bulk]", "[flows.rare]").replace(
        "count = 2\ntcp = {}", 'tcp = { profile = "rfc" }\nstart = "300.9 s"'))  # fmt: skip
    document = forebay("run", scenario, "--until", "301 s", "--json",
                       "--set", "flows.rare.traffic.file.size=1 B").document()  # fmt: skip
    used = next(link for link in document["links"] if link["name"] == "wire")["utilization"]
    assert used == pytest.approx(0.2, rel=0.013)


def test_out_keeps_the_run_and_its_report(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """`--out` keeps the run: its document, scenario and tables, from which a report is made."""
    out = tmp_path / "kept"
    answer = forebay(
        "run", scenario, "--out", out, "--json", "--set", "record.series=100 ms",
        "--set", "record.delays=true",
    )  # fmt: skip
    assert json.loads((out / "run.json").read_text()) == answer.document()
    assert (out / "scenario.toml").read_text() == front.SCENARIO
    assert (out / "tables" / "series" / "links.wire.parquet").is_file()
    assert forebay("report", out).status == 0
    page = (out / "report.html").read_text()
    assert answer.document()["command"].replace("'", "&#39;") in page
    assert page.count("<svg") >= 3


def test_mechanisms_are_listed_with_their_sources(forebay: front.Forebay) -> None:
    """Mechanisms are listed with the publications that they follow, and described one by one with
    their parameters."""
    out = forebay("mechanisms").out
    assert max(map(len, out.splitlines())) <= 100
    catalogue = forebay("mechanisms", "--json").document()
    entries = [page for category in catalogue["categories"] for page in category["pages"]]
    assert len(entries) > 10
    for page in entries:
        assert page["source"]
        assert page["name"] in out
        told = forebay("mechanisms", f"{page['kind']}.{page['name']}").out
        assert all(field["name"] in told for field in page["fields"])
        assert max(map(len, told.splitlines())) <= 100


def test_a_category_is_listed_alone(forebay: front.Forebay) -> None:
    """A category is listed alone, and a misspelt one is refused with the nearest name."""
    out = forebay("mechanisms", "admission").out
    assert out.startswith("admission: ")
    assert all(name in out for name in ("capacity", "stop_timer"))
    assert "droptail" not in out
    names = {page["name"] for page in forebay("mechanisms", "admission", "--json").document()}
    assert {"capacity", "stop_timer"} <= names
    assert "droptail" not in names
    assert 'did you mean "admission"' in forebay.refused("mechanisms", "admision")


def test_calls_and_marks_are_shown(forebay: front.Forebay, tmp_path: Path) -> None:
    """Blocking, termination and threshold marks are shown on the terminal, not in JSON alone.

    All new calls are blocked (see front.CALLS), and two come with a reroute.
    """
    path = tmp_path / "calls.toml"
    path.write_text(front.CALLS, encoding="utf-8")
    lines = forebay("run", path).out.splitlines()
    assert max(map(len, lines)) <= 100
    at = next(number for number, line in enumerate(lines) if line.startswith("calls ("))
    row = next(line for line in lines[at:] if line.startswith("phones "))
    table = dict(zip(lines[at + 1].split(), row.replace(" %", "%").split(), strict=True))
    assert (table["admitted"], table["blocking"], table["rerouted"]) == ("0", "100.00%", "2")
    assert (table["terminated"], table["max"]) == ("0", "7")
    links = next(number for number, line in enumerate(lines) if line.startswith("links"))
    assert "ThM" in lines[links + 1].split()
    assert "marked" not in lines[links + 1].split()


def test_paced_sources_and_policing_are_shown(forebay: front.Forebay) -> None:
    """The tables for the terminal show how far sources were slowed, what policing did, and late
    packets.

    The floor of voice and video is half the nominal rate; files of data have none.
    """
    lines = forebay("run", Path(__file__).parents[2] / "examples" / "atm.toml").out.splitlines()
    assert max(map(len, lines)) <= 100

    def rows(title: str) -> dict[str, list[str]]:
        at = next(number for number, line in enumerate(lines) if line.startswith(title))
        cells = (line.replace(" %", "%").replace(" ms", "ms").split() for line in lines[at + 3 :])
        found = itertools.takewhile(lambda row: row[0] in ("data", "video"), cells)
        return {row[0]: row[1:] for row in found}

    paced = rows("paced sources")
    assert paced["data"][0] == "16"
    assert float(paced["data"][3].rstrip("%")) < 50.0 <= float(paced["video"][3].rstrip("%"))
    assert paced["video"][-2:] == ["0", "-"]
    assert paced["data"][-1] == "s"
    assert int(rows("notifications")["data"][0]) > 0
    assert int(rows("policing")["data"][-1]) > 0
    assert rows("late packets")["video"][1].endswith("ms")
    assert not any(line.startswith("frames") for line in lines)


def test_frames_are_shown(forebay: front.Forebay) -> None:
    """The terminal shows how many frames were sent, again, whole and lost, so what of the cells
    delivered is of use.

    Sources that hear of losses alone lose cells, and so frames; what is lost is sent again.
    """
    path = Path(__file__).parents[2] / "examples" / "atm.toml"
    more = ("flows.data.paced.frames={}", "links.satellite.detector=discard", "duration=60 s")
    options = [part for assignment in more for part in ("--set", assignment)]
    lines = forebay("run", path, *options).out.splitlines()
    assert max(map(len, lines)) <= 100
    at = next(number for number, line in enumerate(lines) if line.startswith("frames"))
    name, *counts = re.split(r"\s{2,}", lines[at + 3].strip())
    assert name == "data"
    at = next(number for number, line in enumerate(lines) if line.startswith("paced sources"))
    assert lines[at + 1].endswith("arrival")
    assert lines[at + 3].endswith(" s")
    sent, again, whole, lost = (int("".join(count.split())) for count in counts)
    assert 0 < again <= lost < whole < sent
    assert sent - whole - lost <= 2 * 16


def test_bench_reports_the_contracts_keys(forebay: front.Forebay) -> None:
    """`bench` reports the keys of the contract, by which speed is followed from one version to the
    next."""
    answer = forebay("bench", "s1-af", "--json")
    assert answer.status == 0
    (row,) = answer.document()["benchmarks"]
    assert row["name"] == "s1-af"
    assert row["simulated_s"] == 100.0
    assert row["ns_per_hop"] == pytest.approx(1e9 * row["wall_s"] / row["packet_hops"])
    assert row["ns_per_event"] == pytest.approx(1e9 * row["wall_s"] / row["events"])
    # A Python process with numpy takes tens of megabytes, and no benchmark takes many gigabytes.
    assert 10e6 < row["peak_rss_bytes"] < 8e9


def test_every_standard_benchmark_is_a_valid_scenario(forebay: front.Forebay) -> None:
    """Every standard benchmark is there and is a valid scenario."""
    from forebay.cli.bench import SCENARIOS, names

    assert {"s1-tcp-red", "s1-af", "s2-cbr", "s3-mm1", "s4-million", "s5-ensemble"} <= set(names())
    assert {"p1-dual-bottleneck", "p2-64-routers", "c1-cells"} <= set(names())
    for path in sorted(SCENARIOS.glob("*.toml")):
        assert forebay("check", path).status == 0


def test_a_run_on_two_cores_is_the_run_on_one(forebay: front.Forebay) -> None:
    """A run on two cores is the run on one: every number is the same, but the time that it took and
    the number of partitions that the network ran in."""
    from forebay.cli.bench import SCENARIOS

    def document(threads: int) -> dict[str, Any]:
        answer = forebay("run", SCENARIOS / "p1-dual-bottleneck.toml", "--until", "500 ms",
                         "--threads", str(threads), "--json")  # fmt: skip
        assert answer.status == 0
        return answer.document()

    one, two = document(1), document(2)
    assert one["regions"] == 1
    assert two["regions"] > 1
    for key in ("regions", "wall_s", "setup_s", "command"):
        one.pop(key)
        two.pop(key)
    assert one == two


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_interrupting_a_run_is_quick_and_quiet(scenario: Path) -> None:
    """Ctrl-C ends a run within seconds, with one line and no traceback."""
    child = subprocess.Popen(
        spawn("run", str(scenario), "--until", "1000000 s"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what it starts in the background ignore Ctrl-C, and so these tests.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(1.5)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert time.monotonic() - begun < 5
    assert out == ""
    # A line break first: the terminal has shown ^C.
    assert err.strip() == "forebay: error: interrupted"


def test_what_was_printed_before_a_mistake_is_not_lost() -> None:
    """Text that a command printed before a mistake is written out although its process ends with an
    error."""
    script = (
        "from forebay import __main__, errors\nfrom forebay.cli import commands\n"
        "def half(words):\n"
        "    print('half of it')\n"
        "    raise errors.UserError('and then a mistake')\n"
        "commands._run = half\n"
        "raise SystemExit(__main__.main())\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (2, "half of it\n")
    assert done.stderr == "forebay: error: and then a mistake\n"


def test_a_reader_that_leaves_is_no_error(scenario: Path) -> None:
    """A reader that leaves, as in `forebay mechanisms | head`, is no error."""
    command = " ".join(spawn("mechanisms", "--json")) + " | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr
