"""`forebay law-check`: sound laws pass, and each wrong one is rejected by the check that is meant
for it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from forebay.extras import is_installed
from forebay.laws import header

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "own-law").glob("*.py"))
PATIENCE_S = 300.0
WIDTH = 100


class Wrong(NamedTuple):
    """A wrong law: its text, the check that rejects it, words of what that tells."""

    name: str
    text: str
    check: str
    told: str
    compile: str = "no"


def queue(body: str, options: str = "", before: str = "", kind: str = "queue") -> str:
    """The text of a law with these lines in its class."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return (
        f"import math, random, time\nimport forebay\nfrom forebay.laws import *\n{before}\n"
        f'@forebay.law(kind="{kind}", source="tests"{options})\nclass wrong:\n'
        f'    """A wrong law.\n\n    limit: Packets that may wait.\n    weight: A number.\n'
        f'    ratio (1): A quotient.\n    """\n\n{lines}\n'
    )


WRONG = [
    Wrong("global-state", queue(
        "def enqueue(law, at):\n    SEEN[0] += 1\n    return 3 if SEEN[0] % 7 == 0 else 0",
        before="SEEN = [0]"), "repeats", "again: "),
    Wrong("global-instances", queue(
        "def enqueue(law, at):\n    SEEN[0] += 1\n    return 3 if SEEN[0] % 7 == 0 else 0",
        before="SEEN = [0]"), "instances", "alone, and"),
    Wrong("global-threads", queue(
        "def enqueue(law, at):\n    SEEN[0] += 1\n    return 3 if SEEN[0] % 7 == 0 else 0",
        before="SEEN = [0]"), "threads", "alone, "),
    Wrong("global-parameter", queue(
        "weight: int = 5\ndef create(law, at):\n    WEIGHT[0] = law.weight\n"
        "def enqueue(law, at):\n    return 3 if at.waiting_packets > WEIGHT[0] else 0",
        before="WEIGHT = [0]"), "instances", "alone, and"),
    Wrong("random", queue(
        "def enqueue(law, at):\n    return 2 if random.random() < 0.1 else 0"),
        "repeats", "in another process"),
    Wrong("clock", queue(
        "def enqueue(law, at):\n    return 2 if time.perf_counter_ns() % 8 == 0 else 0"),
        "repeats", "again: "),
    Wrong("hash", queue(
        'def enqueue(law, at):\n    return 3 if at.waiting_packets > 3 + hash("law") % 97 else 0'),
        "repeats", "in another process"),
    Wrong("transparent", queue(
        "count: State[int]\ndef enqueue(law, at):\n    law.count += 1\n"
        "    return 3 if law.count % 9 == 0 else 0", ", transparent=True"),
        "repeats", "observed, in the same process"),
    Wrong("marks-all", queue(
        "def enqueue(law, at):\n    return MARK if at.waiting_packets > 5 else PASS"),
        "overload", "a mark, of a packet that is not ECN-capable"),
    Wrong("own-limit", queue(
        'limit: Length = "7 packets"\ndef enqueue(law, at):\n    return DROP_OVERFLOW if '
        "at.waiting_packets > law.limit else PASS", ", own_limit=True"),
        "limit", "holds 8 packets of 1000 B with 7 packets"),
    Wrong("zero-weight", queue(
        "weight: float = 0.5\ndef enqueue(law, at):\n"
        "    return 2 if at.waiting_packets > 10 / law.weight else 0"),
        "parameters", "ZeroDivisionError"),
    Wrong("ratio", queue(
        "ratio: Probe[float]\ndef enqueue(law, at):\n    law.ratio = math.nan\n    return 0"),
        "probes", "ratio is no number in"),
    Wrong("catch-up", queue(
        "next: State[int]\ndef enqueue(law, at):\n    while law.next < at.now:\n"
        "        law.next += 10**9\n    return 0"), "pause", "it did not return within 2 s"),
    Wrong("forgets", queue(
        "sent: State[int]\nfirst: State[int]\nlast: State[int]\nhandles: State[int, 256]\n"
        "def enqueue(law, at):\n    law.handles[law.last % 256] = at.handle\n"
        "    law.last += 1\n    return PASS\n"
        "def dequeue(law, at):\n    if law.first == law.last or law.first == 150: return NONE\n"
        "    at.handle = law.handles[law.first % 256]\n    law.first += 1\n    return SEND\n"
        "def ready_at(law, at):\n    at.time = NEVER", ", shapes=True", kind="discipline"),
        "drain", "50 of 200 packets wait for ever"),
    Wrong("duplicates", queue(
        "last: State[int]\ndef enqueue(law, at):\n    law.last = at.handle\n    return 0\n"
        "def dequeue(law, at):\n    if at.waiting_packets == 0: return NONE\n"
        "    at.handle = law.last\n    return SEND", kind="discipline"),
        "overload", "wrote handle"),
    Wrong("timeout-window", queue(
        "def acknowledged(law, at):\n    at.cwnd += at.smss * at.acked / at.cwnd\n"
        "def congested(law, at):\n    at.ssthresh = at.cwnd = max(at.cwnd / 2, 2 * at.smss)\n"
        "    if at.signal == SIGNAL_TIMEOUT: at.cwnd = math.nan", kind="control"),
        "outages", "wrote cwnd NaN; allowed are"),
    Wrong("ecn-rate", queue(
        "def acknowledged(law, at):\n    at.cwnd += at.smss * at.acked / at.cwnd\n"
        "def congested(law, at):\n    at.ssthresh = at.cwnd = max(at.cwnd / 2, 2 * at.smss)\n"
        "    if at.signal == SIGNAL_ECN: at.pacing_rate = -1.0", kind="control"),
        "ecn", "wrote pacing_rate -1; allowed are"),
    Wrong("no-threshold", queue(
        "def acknowledged(law, at):\n    at.cwnd += at.smss * at.acked / at.cwnd\n"
        "def congested(law, at):\n    at.cwnd = max(at.cwnd / 2, at.smss)", kind="control"),
        "buffer", "wrote ssthresh inf; allowed are"),
    Wrong("endless-bursts", queue(
        "def describe(law, at):\n    at.largest = 1000\n    at.mean_rate = 10**6\n"
        "def next(law, at):\n    at.gap = 0\n    at.bytes = 1000\n    return 1", kind="traffic"),
        "udp", "wrote gap 0 ps again; allowed are"),
    Wrong("no-example", queue(
        "weight: float\ndef enqueue(law, at):\n    return 0"), "overload", "weight"),
    Wrong("overflow", queue(
        "total: State[int]\ndef enqueue(law, at):\n    law.total += 1\n"
        "    return 3 if (law.total * 10**12) ** 2 % 7 == 3 else 0"),
        "interpreted", "interpreted", "numba"),
]  # fmt: skip


def law_check(
    path: Path, folder: Path, *words: str, compile: str = "no"
) -> subprocess.CompletedProcess[str]:
    """`forebay law-check` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "forebay", "law-check", str(path), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=PATIENCE_S,
        env={**os.environ, "FOREBAY_LAWS_COMPILE": compile},
    )


def rows(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The checks of the only law of a file, by name."""
    document = json.loads(ran.stdout)
    (law,) = document["laws"]
    return {check["name"]: check for check in law["checks"]}


@pytest.mark.parametrize("wrong", [pytest.param(wrong, id=wrong.name) for wrong in WRONG])
def test_a_wrong_law_is_rejected_by_its_check(wrong: Wrong, tmp_path: Path) -> None:
    """Each check rejects the wrong law that it is meant for, with numbers and a command that
    repeats it: a battery that nothing fails proves nothing."""
    if wrong.compile == "numba" and not is_installed("numba"):
        pytest.skip("numba is not installed")
    path = tmp_path / "wrong.py"
    path.write_text(wrong.text, encoding="utf-8")
    words = ("--checks", f"wrong/{wrong.check}", "--json", "--law-timeout", "2 s")
    if wrong.check in ("repeats", "interpreted"):
        # What does not repeat itself is found in the places.
        words = ("--json", "--law-timeout", "2 s")
    ran = law_check(path, tmp_path, *words, compile=wrong.compile)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    check = rows(ran)[wrong.check]
    assert check["passed"] is False, check
    assert wrong.told in check["told"], check["told"]
    assert check["repeat"].startswith("forebay "), check


def test_the_command_that_repeats_a_fault_does(tmp_path: Path) -> None:
    """The command that a failed check names fails in the same way: an author starts from there."""
    wrong = next(wrong for wrong in WRONG if wrong.name == "marks-all")
    path = tmp_path / "wrong.py"
    path.write_text(wrong.text, encoding="utf-8")
    ran = law_check(path, tmp_path, "--checks", "*/overload", "--json")
    words = rows(ran)["overload"]["repeat"].split()
    assert words[0] == "forebay"
    again = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert again.returncode == 2
    assert wrong.told in again.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_sound(path: Path, tmp_path: Path) -> None:
    """Every example of a law passes the battery of its category, as a reader of it expects, and
    what is printed fits a terminal."""
    ran = law_check(path, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert all(len(line) <= WIDTH for line in ran.stdout.splitlines()), ran.stdout
    assert ", 0 failed" in ran.stdout.splitlines()[-1]


@pytest.mark.skipif(not is_installed("numba"), reason="numba is not installed")
def test_compiled_laws_are_compared_with_interpreted_ones(tmp_path: Path) -> None:
    """A compiled law is run interpreted as well, with equal digests: the same text is one law."""
    path = ROOT / "examples" / "own-law" / "codel.py"
    ran = law_check(path, tmp_path, "--checks", "*/interpreted", "--json", compile="numba")
    check = rows(ran)["interpreted"]
    assert check["passed"], check["told"]


C_LAW = """
#include "forebay_law.h"
static int32_t create(void *state, void *facts) { return *(int64_t *)state > 9 ? -1 : 0; }
static int32_t enqueue(void *state, void *facts) { return FOREBAY_PASS; }
static const forebay_parameter parameters[] = {{sizeof(forebay_parameter), FOREBAY_WHOLE, 0, 0,
                                                "most", "MEANING", "tests", "5", 0}};
static const forebay_law law = {.size = sizeof(forebay_law), .kind = FOREBAY_QUEUE,
    .state_bytes = 8, .name = "wrong", .summary = "A law.", .source = "tests", .example = "",
    .parameters = parameters, .parameter_count = 1, .create = create, .decide = {enqueue}};
static const forebay_law *const laws[] = {&law};
static const forebay_laws table = {sizeof(forebay_laws), FOREBAY_LAWS_VERSION, 1, laws};
const forebay_laws *forebay_laws_v1(const forebay_host *host) { return &table; }
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize(
    ("meaning", "check", "told"),
    [
        ("", "table", "most has no meaning"),
        ("Most.", "parameters", "most = 64: refused without a reason"),
    ],
)
def test_a_wrong_library_is_rejected(meaning: str, check: str, told: str, tmp_path: Path) -> None:
    """A library is held to the same: its parameters are explained, and refused with a reason."""
    source, library = tmp_path / "wrong.c", tmp_path / "wrong.so"
    source.write_text(C_LAW.replace("MEANING", meaning), encoding="utf-8")
    flags = ["-shared", "-fPIC", f"-I{header().parent}", str(source), "-o", str(library)]
    subprocess.run(["cc", *flags], check=True)
    ran = law_check(library, tmp_path, "--checks", f"*/{check}", "--json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert told in rows(ran)[check]["told"]


def test_what_cannot_be_loaded_is_refused(tmp_path: Path) -> None:
    """A file that is no law ends with status 2, so that a script tells it from an unsound law."""
    ran = law_check(tmp_path / "none.py", tmp_path)
    assert ran.returncode == 2
    assert "none.py" in ran.stderr
    path = EXAMPLES[0]
    ran = law_check(path, tmp_path, "--checks", "*/nothing")
    assert ran.returncode == 2
    assert "no check matches" in ran.stderr
