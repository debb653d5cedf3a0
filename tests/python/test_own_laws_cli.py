"""Laws of one's own at the command line: where they are named, what of them is said and kept, and
what a bad one costs.

What a process has loaded stays, so each command here has a process of its own.
"""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import front
import pytest

from forebay.cli.commands import COMMANDS
from forebay.run.limits import wall_time

pytestmark = pytest.mark.long

RUNNING = (
    *("run", "sweep", "find", "suite", "stacks"),
    *("reproduce", "transports", "linux", "tcp-script"),
)
READING = ("check", "mechanisms", "schema")
SCRIPTS = Path(__file__).resolve().parents[2] / "validation/tcp-scripts"

SHORT_QUEUE = '''
"""A law of one's own."""

import forebay
from forebay.laws import DROP_OVERFLOW, PASS


@forebay.law(kind="queue", source="RFC 7567, section 2", example="most = 20")
class short_queue:
    """A queue that drops what finds a number of packets waiting.

    most: Packets that may wait.
    """

    most: int = 20

    def enqueue(law, at):
        return DROP_OVERFLOW if at.waiting_packets >= law.most else PASS
'''

# Half of the runs draw 1 for their first packet; which do follows from seed and replication.
BROKEN = '''
import forebay
from forebay.laws import PASS, State, below


@forebay.law(kind="queue", draws=True)
class short_queue:
    """A queue that is wrong in some runs."""

    drawn: State[int]
    wrong: State[int]

    def enqueue(law, at):
        if not law.drawn:
            law.drawn = 1
            law.wrong = below(at, 2)
        return 7 if law.wrong else PASS
'''
ENDLESS = BROKEN.replace(
    "return 7 if law.wrong else PASS",
    """while law.wrong:
            law.drawn += 1
        return PASS""",
)
ALWAYS = BROKEN.replace("below(at, 2)", "1")

SCENARIO = """
name = "bottleneck"
duration = "2 s"

[links.bn]
from = "A"
to = "B"
rate = "2 Mbit/s"
delay = "5 ms"
queue = { short_queue = {} }

[flows.noise]
from = "A"
to = "B"
udp = {}
traffic = { poisson = { rate = "2 Mbit/s", size = "500 B" } }
"""
SWEEP = """
scenario = "bn.toml"
replications = 6
quantities = ["flows.noise.delivered_packets"]
"""


@pytest.fixture
def typed(tmp_path: Path) -> front.Typed:
    """Commands in a folder with laws, a scenario and a sweep."""
    for name, text in (
        ("short.py", SHORT_QUEUE),
        ("broken.py", BROKEN),
        ("endless.py", ENDLESS),
        ("always.py", ALWAYS),
        ("bn.toml", SCENARIO),
        ("sweep.toml", SWEEP),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return front.Typed(tmp_path)


def kept_scenarios(folder: Path) -> dict[str, int]:
    """Number of runs in the journal of a folder by scenario hash."""
    with closing(sqlite3.connect(folder / "runs.sqlite")) as journal:
        return dict(journal.execute("SELECT scenario, count(*) FROM runs GROUP BY scenario"))


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_read_scenarios_take_laws(name: str) -> None:
    """Commands that read scenarios take laws by the same options, so that none is left behind."""
    options = {word for action in COMMANDS[name].actions for word in action.option_strings}
    assert ("--laws" in options) == (name in RUNNING or name in READING)
    # law-check is told its file as what it checks.
    assert ("--law-timeout" in options) == (name in RUNNING or name == "law-check")


@pytest.mark.parametrize("name", ["lab", "report"])
def test_commands_that_cannot_load_laws_say_so(forebay: front.Forebay, name: str) -> None:
    """The lab and reports refuse laws with the reason, which their help has as well."""
    message = forebay.refused(name, "somewhere", "--laws", "short.py")
    assert "laws of one's own" in message
    assert "laws of one's own" in " ".join(forebay(name, "--help").out.split())


def test_times_of_the_clock_are_read_with_units() -> None:
    """Times on the clock are read with a unit, or as seconds."""
    assert [wall_time(word) for word in ("2", "0.5 s", "500ms", "2 min")] == [2.0, 0.5, 0.5, 120.0]


@pytest.mark.parametrize("word", ["0", "soon", "1 fortnight", "-1 s", "nan s"])
def test_times_that_mean_nothing_are_refused(forebay: front.Forebay, word: str) -> None:
    """Times that mean nothing are refused, so that no law goes without a limit."""
    message = forebay.refused("run", "x.toml", f"--law-timeout={word}")
    assert "--law-timeout" in message
    assert '"10 s"' in message


def test_laws_are_named_by_an_option_or_the_environment(typed: front.Typed) -> None:
    """Laws named by the option or by the environment are the same, and a scenario alone loads
    none: no file of data runs code."""
    missing = typed("run", "bn.toml", status=2)
    assert 'links.bn.queue: unknown "short_queue"' in missing.err
    assert missing.err.endswith("; a law of one's own is loaded by --laws FILE\n")
    given = typed("run", "bn.toml", "--json", "--laws", "short.py").document()
    set_there = typed("run", "bn.toml", "--json", laws=f"short.py{os.pathsep}").document()
    both = typed("run", "bn.toml", "--json", "--laws", "short.py", laws="short.py").document()
    assert given["digest"] == set_there["digest"] == both["digest"]
    assert given["scenario_hash"] == set_there["scenario_hash"]
    (law,) = given["laws"]
    assert (law["category"], law["name"], law["ran_as"]) == ("queue", "short_queue", "python")
    # Beyond 20 packets in the queue nothing waits; as much arrives as the link can send.
    (link,) = (row for row in given["links"] if row["name"] == "bn")
    assert link["max_queue_packets"] == 20
    assert link["drops"] > 0


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("shrt.py", None, "shrt.py"),
        ("", None, "allowed is a Python file or a shared library"),
        ("bn.toml", None, "bn.toml"),
        ("none.py", "x = 1", "has no laws"),
        ("slip.py", "def (", "line 1"),
        ("lacks.py", "import no_such_library_at_all", "no_such_library_at_all"),
        ("lib.so", "not a library", "lib.so"),
        ("fifo.py", SHORT_QUEUE.replace("short_queue", "red"), "red"),
    ],
)
def test_files_that_hold_no_law_are_refused(
    typed: front.Typed, path: str, text: str | None, told: str
) -> None:
    """Files that hold no law are refused in one message, which names option and file."""
    if text is not None:
        (typed.folder / path).write_text(text)
    for words, laws, option in (
        (["--laws", path], "", "--laws"),
        ([], path, "FOREBAY_LAWS"),
    ):
        if not path and laws == path and option != "--laws":
            continue
        err = typed("check", "bn.toml", *words, laws=laws, status=2).err
        assert err.startswith(f"forebay: error: {option}: ")
        assert told in err
        assert "Traceback" not in err


def test_the_catalogue_says_where_laws_came_from(typed: front.Typed) -> None:
    """Pages and lists of mechanisms say from which file a law was loaded, and that it is code."""
    page = typed("mechanisms", "short_queue", "--laws", "short.py").out
    assert "RFC 7567, section 2" in page
    assert "Loaded from short.py: contents " in page
    assert "interpreted" in page
    assert "load only what you trust" in page
    assert "Packets that may wait." in " ".join(page.split())
    assert "short.py" in typed("mechanisms", "queue", "--laws", "short.py").out
    (told,) = typed("mechanisms", "short_queue", "--json", "--laws", "short.py").document()
    assert told["origin"]["name"] == "short_queue"
    (others,) = typed("mechanisms", "red", "--json").document()
    assert "origin" not in others
    assert "short_queue" in typed("schema", "--laws", "short.py").out
    assert "--laws" in typed("--complete", "mechanisms", "--la").out.split()
    assert "short_queue" not in typed("schema").out


def test_linux_has_no_such_law(typed: front.Typed) -> None:
    """A scenario with a law of one's own is refused for Linux, which has none, by its name."""
    err = typed("linux", "bn.toml", "--laws", "short.py", status=2).err
    assert "links.bn.queue.short_queue: Linux has no short_queue: it is a law of short.py" in err


def test_the_lab_says_that_its_page_loads_no_laws(typed: front.Typed) -> None:
    """A scenario with an unknown law is refused for the lab with the reason that may be meant."""
    err = typed("lab", "bn.toml", "--write", "lab.html", status=2).err
    assert 'unknown "short_queue"' in err
    assert "cannot load laws of one's own" in err


def test_results_name_the_law_and_how_to_repeat_them(typed: front.Typed) -> None:
    """Results name the file, contents and running of a law, and the command that gives them again
    loads it."""
    shown = typed("run", "bn.toml", "--laws", "short.py", "--out", "out").out
    assert "law: queue short_queue of short.py, contents " in shown
    document = json.loads((typed.folder / "out/run.json").read_text())
    assert document["command"] == "forebay run bn.toml --laws short.py"
    assert typed.again(f"{document['command']} --json").document()["digest"] == document["digest"]
    typed("report", "out")
    assert "queue short_queue of short.py" in (typed.folder / "out/report.html").read_text()


def test_a_kept_scenario_says_which_file_it_needs(typed: front.Typed) -> None:
    """A scenario that is kept with results says which file of laws it needs, and with that file it
    gives the same again, kept a second time as it was."""
    first = typed("run", "bn.toml", "--laws", "short.py", "--out", "out", "--json").document()
    kept = typed.folder / "out/scenario.toml"
    text = kept.read_text()
    assert text.startswith("# needs --laws: queue short_queue of short.py, contents ")
    words = ("run", "out/scenario.toml", "--laws", "short.py", "--out", "out", "--json")
    assert typed(*words).document()["digest"] == first["digest"]
    assert kept.read_text() == text


def test_a_law_that_answers_nonsense_ends_its_run(typed: front.Typed) -> None:
    """A law that returns what is not allowed ends the run with its name, the simulated time, what
    it returned and what is allowed: never as a bug of Forebay."""
    err = typed("run", "bn.toml", "--laws", "always.py", status=2).err
    assert len(err.splitlines()) == 1
    for part in ('"short_queue" at links.bn.queue', " s, enqueue: ", "returned 7", "allowed"):
        assert part in err


def test_other_replications_are_finished_and_kept(typed: front.Typed) -> None:
    """Replications beside one that a law ended are finished, shown and kept, and the command says
    what happened."""
    words = ("run", "bn.toml", "--replications", 8, "--out", "out", "--laws", "broken.py")
    answer = typed(*words, status=2)
    assert "returned 7" in answer.err
    document = json.loads((typed.folder / "out/replications.json").read_text())
    numbers = [row["replication"] for row in document["replications"]]
    assert 0 < len(numbers) < 8
    assert "returned 7" in document["failed"]
    for number in range(8):
        status = 0 if number in numbers else 2
        typed("run", "bn.toml", "--laws", "broken.py", "--replication", number, status=status)


def test_a_law_that_fails_costs_its_run_of_a_sweep(typed: front.Typed) -> None:
    """A law that fails in some runs of a sweep costs these alone: they are listed with reason and
    command, and not made again by themselves."""
    answer = typed("sweep", "sweep.toml", "--out", "out", "--laws", "broken.py", status=1)
    document = json.loads((typed.folder / "out/sweep.json").read_text())
    assert document["runs"] + len(document["failed"]) == 6
    assert document["runs"] > 0
    assert document["command"] == "forebay sweep sweep.toml --laws broken.py"
    (law,) = document["laws"]
    assert law["name"] == "short_queue"
    for failed in document["failed"]:
        assert "returned 7" in failed["reason"]
        assert f"repeat it: {failed['command']}" in answer.err
    program, *words = shlex.split(document["failed"][0]["command"])
    assert program == "forebay"
    assert "returned 7" in typed(*words, status=2).err
    before = kept_scenarios(typed.folder / "out")
    typed("sweep", "sweep.toml", "--out", "out", "--laws", "broken.py", "--retry", status=1)
    assert kept_scenarios(typed.folder / "out") == before
    assert "short_queue of broken.py" in (typed.folder / "out/report.html").read_text()


def test_a_law_that_does_not_return_costs_its_run_of_a_sweep(typed: front.Typed) -> None:
    """A law that does not return costs its run of a sweep, with its name and the simulated time as
    the reason; the process of a single run ends with them."""
    words = ("--laws", "endless.py", "--law-timeout", "500 ms")
    typed("sweep", "sweep.toml", "--out", "out", *words, status=1)
    document = json.loads((typed.folder / "out/sweep.json").read_text())
    assert document["runs"] + len(document["failed"]) == 6
    assert document["runs"] > 0
    for failed in document["failed"]:
        assert '"short_queue" at links.bn.queue' in failed["reason"]
        assert "did not return within 0.5 s" in failed["reason"]
        assert "--law-timeout 0.5" in failed["command"]
    err = typed.process("-m", "forebay", *shlex.split(failed["command"])[1:], status=2).err
    assert "did not return within 0.5 s" in err


def test_an_edited_law_mixes_with_no_runs_of_before(typed: front.Typed) -> None:
    """Runs of a law and of its edited file stay apart: a sweep that continues makes all of them
    anew, and takes the old ones again with the old file."""
    words = ("sweep", "sweep.toml", "--out", "out", "--laws", "short.py")
    first = typed(*words, "--json").document()
    path = typed.folder / "short.py"
    path.write_text(SHORT_QUEUE.replace("most: int = 20", "most: int = 2"))
    edited = typed(*words, "--resume", "--json").document()
    assert edited["runs"] == first["runs"] == 6
    assert edited["laws"][0]["contents"] != first["laws"][0]["contents"]
    assert edited["summary"][0]["mean"] < first["summary"][0]["mean"]
    assert sorted(kept_scenarios(typed.folder / "out").values()) == [6, 6]
    path.write_text(SHORT_QUEUE)
    assert typed(*words, "--resume", "--json").document()["summary"] == first["summary"]
    assert sorted(kept_scenarios(typed.folder / "out").values()) == [6, 6]


ELSEWHERE = """
import json, sys
from pathlib import Path
from forebay.laws import load
from forebay.run.executors import remote
from forebay.run.jobs import Job
from forebay.run.pool import Pool

load("short.py")
job = Job.read(Job(Path("bn.toml").read_text(), "bn.toml").line)
if sys.argv[1] == "changed":
    Path("short.py").write_text(Path("short.py").read_text() + "# another\\n")
elif sys.argv[1] == "missing":
    Path("short.py").unlink()
answers, places = [], [0]
pool = Pool(1)
pool.run(
    [job],
    lambda: places.pop() if places else None,
    lambda _at, run: answers.append(["done", run.document["laws"][0]["contents"]]),
    lambda _at, reason: answers.append(["failed", reason]),
    lambda _shares: None,
)
pool.close()
document, reason = remote(job.line)
answers.append(["done", document["laws"][0]["contents"]] if document else ["failed", reason])
print(json.dumps([job.laws, answers]))
"""


@pytest.mark.parametrize("state", ["same", "changed", "missing"])
def test_processes_elsewhere_have_the_same_law_or_none(typed: front.Typed, state: str) -> None:
    """A process elsewhere loads the same law, or its run fails with machine and path: no two runs
    of a sweep are made by two laws. So do processes of this machine, and workers of a cluster."""
    laws, answers = typed.process("-c", ELSEWHERE, state).document()
    ((path, contents),) = laws
    assert path == str(typed.folder / "short.py")
    for kind, what in answers:
        if state == "same":
            assert (kind, what) == ("done", contents)
        else:
            assert kind == "failed"
            assert what.startswith("on ")
            assert path in what
            assert ("no such file" in what) == (state == "missing")
            assert (contents in what) == (state == "changed")


def test_a_cluster_survives_a_law_that_does_not_return(typed: front.Typed) -> None:
    """A worker of a cluster survives a law that ends its process, and makes the next run."""
    script = """
import json
from pathlib import Path
from forebay.run.executors import remote
from forebay.run.jobs import Job
from forebay.run.laws import limit_calls, load_files

load_files(["endless.py"], "--laws")
limit_calls(0.5)
text = Path("bn.toml").read_text()
found = [remote(Job(text, "bn.toml", replication=number).line) for number in range(6)]
print(json.dumps([reason for _, reason in found]))
"""
    reasons = typed.process("-c", script).document()
    assert "" in reasons
    failed = [reason for reason in reasons if reason]
    assert failed
    assert all("did not return within 0.5 s" in reason for reason in failed)


NOTEBOOK = """
from forebay.cli.commands import main
{law}
raise SystemExit(main(["{command}", "{file}", *{words}]))
"""


def test_a_law_of_a_notebook_is_to_be_saved_for_a_sweep(typed: front.Typed) -> None:
    """A law that no file holds is refused by a sweep, whose runs are made in other processes, with
    what is to be done; a run in the same process has it."""
    law = SHORT_QUEUE.strip().partition("\n")[2]
    text = NOTEBOOK.format(law=law, command="sweep", file="sweep.toml", words=["--out", "out"])
    err = typed.process("-c", text, status=2).err
    assert 'queue "short_queue"' in err
    assert "save it in a file of its own" in err
    assert not (typed.folder / "out").exists()
    text = NOTEBOOK.format(law=law, command="run", file="bn.toml", words=["--json"])
    document = typed.process("-c", text).document()
    given = typed("run", "bn.toml", "--json", "--laws", "short.py").document()
    assert document["digest"] == given["digest"]
    assert document["command"] == "forebay run bn.toml"


def test_python_has_what_it_loads(typed: front.Typed) -> None:
    """A law that Python loads is in networks and results, under a name that mechanisms have."""
    script = """
import json
import forebay
from forebay.laws import load

before = forebay.queue.droptail
load("short.py")
net = forebay.Network("two nodes", duration="1 s")
net.link("bn", "A", "B", rate="2 Mbit/s", queue=forebay.queue.short_queue(most=5))
net.flows("f", "A", "B")
results = net.run(replications=2)
page = results._repr_html_() + forebay.queue.short_queue()._repr_html_()
print(json.dumps([results.laws, page, forebay.queue.short_queue.__doc__]))
"""
    laws, page, documentation = typed.process("-c", script).document()
    assert [law["name"] for law in laws] == ["short_queue"]
    assert page.count("short_queue of short.py") == 2
    assert "Packets that may wait." in documentation


def test_studies_load_laws(typed: front.Typed) -> None:
    """A study that has a law of one's own is reproduced, its command loads the law, and runs of
    another state of the law's file are refused, not mixed with."""
    files = {**front.STUDY_FILES}
    wire = 'queue = { droptail = { limit = "100 packets" } }'
    assert wire in files["scenario.toml"]
    files["scenario.toml"] = files["scenario.toml"].replace(
        wire, "queue = { short_queue = { most = 100 } }"
    )
    front.write_study(typed.folder / "studies", files)
    typed.environment["FOREBAY_STUDIES"] = str(typed.folder / "studies")
    words = ("reproduce", "tiny", "--quick", "--out", "out", "--json")
    assert 'unknown "short_queue"' in typed(*words, status=2).err
    document = typed(*words, "--laws", "short.py").document()
    assert document["command"].endswith("--laws short.py")
    words = (*words, "--laws", "short.py", "--resume")
    assert typed(*words).document()["claims"] == document["claims"]
    path = typed.folder / "short.py"
    path.write_text(SHORT_QUEUE.replace("PASS\n", "PASS  # as before\n"))
    assert "--resume: out/runs.sqlite: holds runs of another state" in typed(*words, status=2).err


def test_the_header_is_in_the_package(typed: front.Typed) -> None:
    """The folder of the C header is told, for compilers, and holds it."""
    folder = Path(typed("--include").out.strip())
    assert "forebay_laws_v1" in (folder / "forebay_law.h").read_text()


CONTROL = '''
import forebay


@forebay.law(kind="control", source="RFC 5681, section 3.1")
class steady:
    """A window of ten segments, whatever happens."""

    def acknowledged(law, at):
        at.cwnd = 10.0 * at.smss
        return 0

    def congested(law, at):
        at.cwnd = 10.0 * at.smss
        at.ssthresh = at.cwnd
        return 0
'''


def test_scripts_of_packets_choose_a_law(typed: front.Typed) -> None:
    """Scripts of packets choose a congestion control of one's own by its name."""
    (typed.folder / "steady.py").write_text(CONTROL)
    script = SCRIPTS / "rfc3465/delayed-acknowledgements.pkt"
    words = ("tcp-script", script, "--json", "--set", "control=steady")
    assert 'unknown "steady"' in typed(*words, status=2).err
    answer = typed.process("-m", "forebay", *words, "--laws", "steady.py", status=1)
    assert answer.document()["failed"] == 1
