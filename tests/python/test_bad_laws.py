"""Laws of one's own that are wrong: each ends its run, and that alone, with a message that names
the law, its place, the time, the decision, what came of it and what is allowed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from forebay.extras import is_installed
from forebay.laws import header

BAD_LAWS = Path(__file__).parent / "bad_laws"
CALL_LIMIT = "1 s"
PATIENCE_S = 60.0
BLAMES_FOREBAY = re.compile(r"Traceback|bug in Forebay|panicked|stack backtrace|EngineError")

pytestmark = pytest.mark.long

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


class Bad(NamedTuple):
    """A bad law: its file, where a scenario has it, the decision in which it is wrong, what is told
    of that. One of traffic is told no time, one that is created has none."""

    file: str
    place: str
    decision: str
    told: str
    has_time: bool = True

    @property
    def name(self) -> str:
        """Name in scenarios, and of the test."""
        return self.file.partition(".")[0]


NOT_ECT = "returned 1, a mark, of a packet that is not ECN-capable; allowed are 0 and 2 to 4"
BAD = [
    # In Python.
    Bad("raises.py", "queue", "enqueue", "raises.py, line 11: ZeroDivisionError: integer division"),
    Bad("returns_nothing.py", "scheduler", "select",
        "returned 0; allowed are the classes that have a packet to send: 1"),
    Bad("returns_text.py", "queue", "enqueue", "returned 'drop'; allowed are whole numbers"),
    Bad("returns_7.py", "queue", "enqueue", "returned 7; allowed are 0 to 4"),
    Bad("returns_minus_5.py", "queue", "enqueue", "returned -5, an error; allowed are 0 to 4"),
    Bad("nan_window.py", "control", "acknowledged",
        "wrote cwnd NaN; allowed are numbers above 0 up to 2^32"),
    Bad("negative_window.py", "control", "acknowledged",
        "wrote cwnd -130320; allowed are numbers above 0 up to 2^32"),
    # In C.
    Bad("mark_of_not_ect.c", "queue", "enqueue", NOT_ECT),
    Bad("unknown_handle.c", "queue", "dequeue",
        "wrote handle 99; allowed are those of packets that wait: 0"),
    Bad("handle_twice.c", "queue", "dequeue",
        "wrote handle 0; allowed are those of the 28 packets that wait: 1, 2, 3, 4, 5, 6, 7, 8"),
    Bad("drops_the_arriving.c", "queue", "enqueue",
        "dropped the packet that arrives; allowed is a verdict"),
    Bad("forgotten.c", "queue", "dequeue", "returned 0, none, and 1 packets wait; allowed are 1"),
    Bad("ready_in_the_past.c", "queue", "ready_at",
        "wrote time 99999999999 ps; allowed are times after now, or never"),
    Bad("empty_class.c", "scheduler", "select",
        "returned 0; allowed are the classes that have a packet to send: 1"),
    Bad("class_out_of_range.c", "scheduler", "select",
        "returned 64; allowed are the classes that have a packet to send: 1"),
    Bad("colour_64.c", "conditioner", "condition", "wrote precedence 64; allowed are 0 to 63"),
    Bad("negative_delay.c", "impairment", "passage",
        "wrote delay -1 ps; allowed are 0 or more"),
    Bad("negative_gap.c", "traffic", "next",
        "burst 1, 0.000000 s after its start: wrote gap -1000 ps; allowed are 0 or more", False),
    Bad("large_burst.c", "traffic", "next",
        "burst 1, 0.000000 s after its start: wrote 1500 bytes; allowed are 1 to 1000", False),
    Bad("infinite_rate.c", "control", "acknowledged",
        "wrote pacing_rate inf; allowed are finite numbers above 0, and 0 for none"),
    Bad("endless.c", "queue", "enqueue", f"it did not return within {CALL_LIMIT} (--law-timeout)"),
    Bad("slow_create.c", "queue", "create",
        f"it did not return within {CALL_LIMIT} (--law-timeout)", False),
]  # fmt: skip

BY_PLACE: Mapping[str, tuple[str, str]] = {
    "queue": ("links.bn.queue", "queue"),
    "scheduler": ("links.bn.queue", "queue"),
    "conditioner": ("links.bn.conditioner", "conditioner"),
    "impairment": ("links.bn.impairment", "impairment"),
    "traffic": ("flows.load.traffic", "traffic"),
    "control": ("flows.load.tcp.control", "control"),
}
"""Key path and category of the law in the scenario, by kind of place."""


def scenario_of(place: str, name: str) -> str:
    """A scenario with a law in it: thirty packets of precedence 1 at 0.1 s, on a link that takes
    8 ms for one."""
    parts = {
        "queue": {"link": f"queue = {{ {name} = {{}} }}"},
        "scheduler": {"link": f"queue.{name} = {{ classify = 'precedence', classes = "
                              "['droptail', 'droptail'] }"},
        "conditioner": {"link": f"conditioner = '{name}'"},
        "impairment": {"link": f"impairment = '{name}'"},
        "traffic": {"flow": f"udp = {{}}\ntraffic = '{name}'"},
        "control": {"flow": f"tcp = {{ control = '{name}' }}"},
    }[place]  # fmt: skip
    queue = "queue = { droptail = { limit = '20 packets' } }"
    link = parts.get("link", queue)
    if "queue" not in link:
        link += "\n" + queue
    rows = "0.1,1000\\n" * 30
    udp = f'udp = {{}}\ntraffic.trace.file.text = "time_s,size_bytes\\n{rows}"'
    flow = parts.get("flow", udp)
    return (
        "duration = '1 s'\n[links.bn]\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\ndelay = '10 ms'\n"
        f"{link}\n[flows.load]\nfrom = 'a'\nto = 'b'\nprecedence = 1\n{flow}\n"
    )


def compiled(file: str, folder: Path) -> Path:
    """The library of a law in C, or the file of one in Python."""
    source = BAD_LAWS / file
    if source.suffix == ".py":
        return source
    library = folder / f"{source.stem}.so"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC",
             "-ffp-contract=off", f"-I{header().parent}"]  # fmt: skip
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    return library


def forebay(*words: str, compile: str = "no") -> subprocess.CompletedProcess[str]:
    """A command in a process of its own: it may end that, and what it has loaded stays."""
    return subprocess.run(
        [sys.executable, "-m", "forebay", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, "FOREBAY_LAWS_COMPILE": compile},
    )


def run_with(bad: Bad, folder: Path, compile: str = "no") -> subprocess.CompletedProcess[str]:
    """A run of a scenario with a bad law."""
    path = folder / "bad.toml"
    path.write_text(scenario_of(bad.place, bad.name), encoding="utf-8")
    laws = ["--laws", str(compiled(bad.file, folder)), "--law-timeout", CALL_LIMIT]
    return forebay("run", str(path), *laws, compile=compile)


def refuse(ran: subprocess.CompletedProcess[str], *told: str) -> str:
    """The message of a command that has refused its input: one line, which says all of these."""
    assert ran.returncode == 2, ran.stderr
    assert not BLAMES_FOREBAY.search(ran.stderr), ran.stderr
    message = ran.stderr.strip()
    assert message.startswith("forebay: error: "), message
    assert "\n" not in message, message
    for words in told:
        assert words in message, f"{words!r} is not in: {message}"
    return message


def refuse_bad(bad: Bad, ran: subprocess.CompletedProcess[str]) -> None:
    """Fail unless the message has all that an author must know."""
    path, category = BY_PLACE[bad.place]
    message = refuse(ran, f'{category} "{bad.name}" at {path}', bad.told)
    time = r", \d+\.\d{6} s" if bad.has_time else ""
    rest = message.partition(f" at {path}")[2]
    assert re.match(f"{time}, {bad.decision}: ", rest), message


def marks_of(bad: Bad) -> list[pytest.MarkDecorator]:
    """What a test of a law needs."""
    return [needs_compiler] if bad.file.endswith(".c") else []


@pytest.mark.parametrize(
    "bad", [pytest.param(bad, marks=marks_of(bad), id=bad.name) for bad in BAD]
)
def test_a_bad_law_ends_its_run(bad: Bad, tmp_path: Path) -> None:
    """A law that does what is not allowed ends its run with status 2 and a message from which its
    author finds the fault: law, place, time, decision, what it gave, what is allowed."""
    refuse_bad(bad, run_with(bad, tmp_path))


@pytest.mark.skipif(not is_installed("numba"), reason="numba is not installed")
@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(bad, id=bad.name)
        for bad in BAD
        # numba compiles no texts in place of numbers: such a law is refused, or interpreted.
        if bad.file.endswith(".py") and bad.name != "returns_text"
    ],
)
def test_a_bad_law_ends_its_run_compiled(bad: Bad, tmp_path: Path) -> None:
    """A compiled law is refused as it is interpreted: with the same words."""
    refuse_bad(bad, run_with(bad, tmp_path, "numba"))


def test_a_law_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    """An error in the creation of a law refuses the scenario, with the line that chooses it and the
    line of the law: nothing has run yet."""
    bad = Bad("raises_in_create.py", "queue", "create", "")
    place = f"links.bn.queue.{bad.name}"
    fault = "raises_in_create.py, line 11: KeyError: 'limit'"
    refuse(run_with(bad, tmp_path), f"bad.toml: line 7: {place}", fault)


@needs_compiler
@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("version_2.c", "is made for version 2 of the interface of laws; this Forebay, "),
        ("only_version_2.c", "is made for version 2 of the interface of laws; this Forebay, "),
        ("wrong_size.c", 'law "wrong_size": its size is 8 B; a law of version 1 has '),
        ("taken_name.c", 'there is a queue "codel" already'),
    ],
)
def test_a_bad_table_is_refused(file: str, told: str, tmp_path: Path) -> None:
    """A library whose table is wrong is refused when it is loaded, by its path: with both versions,
    both sizes, or the name that is taken."""
    library = compiled(file, tmp_path)
    path = tmp_path / "bad.toml"
    path.write_text(scenario_of("queue", "codel"), encoding="utf-8")
    message = refuse(forebay("run", str(path), "--laws", str(library)), str(library), told)
    assert "--laws" in message


@needs_compiler
@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("crash.c", "its process ended with signal SIGSEGV"),
        ("endless.c", 'queue "endless" at links.bn.queue, 0.100000 s, enqueue: it did not return'),
    ],
)
def test_a_law_that_ends_its_process_costs_one_run(file: str, told: str, tmp_path: Path) -> None:
    """A sweep outlives laws that crash or do not return: the run fails, with the reason, and the
    others are made."""
    name, key = {"crash.c": ("crash", "crash"), "endless.c": ("endless", "loop")}[file]
    (tmp_path / "bad.toml").write_text(scenario_of("queue", name), encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        "scenario = 'bad.toml'\nreplications = 1\nquantities = ['links.bn.utilization']\n"
        f"[grid]\n'links.bn.queue.{name}.{key}' = [false, true]\n",
        encoding="utf-8",
    )
    laws = ["--laws", str(compiled(file, tmp_path)), "--law-timeout", CALL_LIMIT]
    ran = forebay("sweep", str(sweep), "--out", str(tmp_path / "out"), "--jobs", "1", *laws)
    assert ran.returncode == 1, ran.stderr
    assert told in ran.stdout + ran.stderr
    assert not BLAMES_FOREBAY.search(ran.stderr), ran.stderr
    document = json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert document["runs"] == 1, "the other run was made"


def test_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    """A file that has changed since it was loaded is refused: results of one process have one law
    of a name."""
    path = tmp_path / "changing.py"
    text = (BAD_LAWS / "returns_7.py").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; import forebay\n"
        "from forebay.errors import UserError\n"
        "path = Path(sys.argv[1]); forebay.laws.load(path)\n"
        "path.write_text(path.read_text().replace('7', '6'))\n"
        "try: forebay.laws.load(path)\n"
        "except UserError as error: sys.exit(f'forebay: error: {error}')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False,
        timeout=PATIENCE_S, env={**os.environ, "FOREBAY_LAWS_COMPILE": "no"},
    )  # fmt: skip
    message = f"{path}: has changed since returns_7 was loaded from it"
    assert message in ran.stderr, shlex.join([sys.executable, "-c", program, str(path)])


def test_there_are_twenty_bad_laws() -> None:
    """Every bad law of the folder is tried: one that no test names proves nothing."""
    used = {bad.file for bad in BAD} | {"raises_in_create.py", "version_2.c", "only_version_2.c"}
    used |= {"wrong_size.c", "taken_name.c", "crash.c"}
    files = {path.name for path in BAD_LAWS.iterdir() if path.suffix in (".c", ".py")}
    assert files == used
    assert len(files) >= 20
