"""Laws of one's own in a process that knows them, as others may not: what is loaded stays.

Run with a task and a folder to write to; prints its answers as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import forebay
from forebay import Network, UserError, conditioner, impairment, queue, traffic
from forebay.laws import Law, load, loaded
from forebay.run.jobs import RunFailedError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "own-law"
NAMES = ("codel", "red", "priority", "token_bucket", "loss", "poisson", "reno")
WAYS = ("", "my_", "plain_")
"""Beginnings of names: of ours, of the law that is compiled, of the same text interpreted."""

HEAD = "import forebay\nfrom typing import Literal\nfrom forebay.laws import *\n"


LINE = '''
@forebay.law(kind="discipline", own_limit=True)
class my_line:
    """First in, first out; 64 packets wait.

    oldest: True to drop the oldest packet for want of room, instead of that which arrives.
    """

    oldest: bool = False
    handles: State[int, 64]
    first: State[int]
    waiting: Probe[int]

    def enqueue(law, at):
        if law.waiting == 64:
            if not law.oldest:
                return DROP_OVERFLOW
            drop(at, law._next(), DROP_OVERFLOW)
        law.handles[(law.first + law.waiting) % 64] = at.handle
        law.waiting += 1
        return PASS

    def dequeue(law, at):
        if law.waiting == 0:
            return NONE
        at.handle = law._next()
        return SEND

    def _next(law):
        handle = law.handles[law.first]
        law.first = (law.first + 1) % 64
        law.waiting -= 1
        return handle
'''


def overload(seed: int = 1, seconds: int = 6, **parts: Any) -> Network:
    """A link that five transfers and datagrams offer half as much again as it carries."""
    net = Network("overload", duration=f"{seconds} s", seed=seed)
    tcp = {key: parts.pop(key) for key in ("ecn", "control") if key in parts}
    given = parts.pop("traffic", traffic.poisson(rate="9 Mbit/s", size="700 B"))
    net.link("bn", "A", "B", rate="10 Mbit/s", delay="10 ms", **parts)
    if "control" in tcp:
        tcp["profile"] = "rfc"
    net.flows("bulk", "A", "B", count=5, tcp=tcp)
    net.flows("datagrams", "A", "B", udp={}, traffic=given)
    return net


def networks() -> Iterator[tuple[str, Callable[[str], Network]]]:
    """Networks, each by the beginning of the name of the law in it."""
    classes = [{"droptail": {"limit": "20 packets"}}, {"red": {"limit": "25 packets"}}]
    ours = conditioner.token_bucket(cir="2 Mbit/s", cbs="10 kB")
    by_colour = queue.priority(classes=classes, classify="precedence")

    def named(category: Any, name: str, **parameters: Any) -> Callable[[str], Any]:
        return lambda way: getattr(category, way + name)(**parameters)

    for seed in (1, 2, 3):
        for ecn in (False, True):
            codel = named(queue, "codel", ecn=ecn, interval=f"{20 * seed} ms")
            red = named(queue, "red", ecn=ecn, weight=0.02)
            for law, name in ((codel, "codel"), (red, "red")):
                yield (
                    f"{name} {seed} {ecn}",
                    lambda way, law=law, s=seed, e=ecn: overload(s, queue=law(way), ecn=e),
                )
    prior = named(queue, "priority", classes=classes, classify="precedence")
    yield "priority", lambda way: overload(queue=prior(way), conditioners=[ours])
    for excess in ("mark", "drop"):
        bucket = named(conditioner, "token_bucket", cir="2 Mbit/s", cbs="10 kB", excess=excess)
        yield (
            f"token_bucket {excess}",
            lambda way, law=bucket: overload(queue=by_colour, conditioners=[law(way)]),
        )
    lossy = named(impairment, "loss", probability=0.01)
    yield "loss", lambda way: overload(impairments=[lossy(way)])
    poisson = named(traffic, "poisson", rate="9 Mbit/s", size="700 B")
    yield "poisson", lambda way: overload(traffic=poisson(way))
    tail = queue.droptail(limit="64 packets")
    for oldest in (False, True):
        line = named(queue, "line", oldest=oldest)
        yield (
            f"line {oldest}",
            lambda way, law=line: overload(queue=law(way) if way else tail),
        )
    marking = queue.codel(ecn=True)
    for ecn in (False, True):
        yield (
            f"reno {ecn}",
            lambda way, e=ecn: overload(queue=marking, ecn=e, control=f"{way}reno"),
        )


@contextmanager
def compile_as(how: str) -> Iterator[None]:
    """Laws run so."""
    os.environ["FOREBAY_LAWS_COMPILE"] = how
    yield
    del os.environ["FOREBAY_LAWS_COMPILE"]


def load_both(folder: Path) -> list[Law]:
    """Load the examples compiled, and their texts under other names interpreted."""
    laws = []
    (folder / "my_line.py").write_text(HEAD + LINE, encoding="utf-8")
    paths = {name: EXAMPLES / f"{name}.py" for name in NAMES} | {"line": folder / "my_line.py"}
    for name, path in paths.items():
        with compile_as("numba"):
            laws += load(path)
        text = path.read_text(encoding="utf-8")
        other = folder / f"{name}.py"
        other.write_text(text.replace("class my_", "class plain_"), encoding="utf-8")
        with compile_as("no"):
            laws += load(other)
    return laws


def digests(folder: Path) -> Any:
    """Digests of networks with our law, with the compiled one, with the interpreted one."""
    ran_as = {law.name: law.ran_as for law in load_both(folder)}
    found = {name: [made(way).run().digests for way in WAYS] for name, made in networks()}
    return {"digests": found, "ran_as": ran_as}


def failing(folder: Path) -> Any:
    """What is said of runs whose law fails, compiled and interpreted."""
    found: dict[str, list[str]] = {}
    for name, draws, body in FAILURES:
        for how in ("numba", "no"):
            law, text = f"{name}_{how}", HEAD
            text += f'@forebay.law(kind="queue", compile="{how}", draws={draws})\nclass {law}:\n'
            path = folder / f"{law}.py"
            path.write_text(text + textwrap.indent(textwrap.dedent(body), "    "))
            found.setdefault(name, []).append(_outcome(path, law))
    return found


def _outcome(path: Path, name: str) -> str:
    def run() -> None:
        load(path)
        overload(seconds=1, queue=getattr(queue, name)()).run()

    return _error(run).replace(str(path), "FILE").replace(name, "NAME")


FAILURES = (
    (
        "divides",
        False,
        """
        left: State[int] = 3
        def enqueue(law, at):
            if at.waiting_packets > 5:
                law.left -= 1
            return int(1 / law.left < 0)
        """,
    ),
    (
        "raises",
        False,
        """
        def enqueue(law, at):
            if at.waiting_packets > 5:
                raise ValueError("too long")
        """,
    ),
    (
        "leaves",
        False,
        """
        seen: State[int, 4]
        def enqueue(law, at):
            law.seen[at.waiting_packets] += 1
        """,
    ),
    (
        "exceeds",
        False,
        """
        steps: list[float] = [1, 2, 3]
        def enqueue(law, at):
            return int(law.steps[at.waiting_packets] * 0)
        """,
    ),
    ("returns", False, "def enqueue(law, at):\n    return 7\n"),
    ("overflows", False, "def enqueue(law, at):\n    return at.now + 2**40\n"),
    ("draws", False, "def enqueue(law, at):\n    return 2 if happens(at, 0.5) else 0\n"),
    ("fraction", False, "def enqueue(law, at):\n    return 0.5\n"),
    ("no_number", False, "x: State[float]\ndef enqueue(law, at):\n    return int(law.x * 1e400)\n"),
    ("misspells", False, "def enqueue(law, at):\n    return at.sojorn\n"),
    (
        "refuses",
        False,
        """
        p: float = 1.5
        def create(law, at):
            if law.p > 1:
                refuse("p", f"{law.p} is no probability; allowed are 0 to 1")
        def enqueue(law, at):
            return 0
        """,
    ),
    ("creates", False, "def create(law, at):\n    1 / 0\ndef enqueue(law, at):\n    return 0\n"),
)
"""Laws that fail: name, the flag `draws`, the body of the class."""


def loading(folder: Path) -> Any:
    """What loading gives: again, changed, with modules beside it, and wrong."""
    answers: dict[str, Any] = {}
    law = (
        '@forebay.law(kind="queue", compile="no")\nclass {}:\n    def enqueue(law, at): return {}\n'
    )
    path = folder / "one.py"
    path.write_text(HEAD + law.format("one", 0))
    before = queue
    first = load(path)
    answers["again"] = load(path) == first
    copy = folder / "copy.py"
    copy.write_text(path.read_text())
    answers["same contents"] = load(copy) == first
    answers["known"] = [each.name for each in loaded()]
    answers["category"] = repr(before.one())
    path.write_text(HEAD + law.format("one", 2))
    answers["changed"] = _error(load, path)
    for number, side in enumerate(("left", "right")):
        (folder / side).mkdir()
        (folder / side / "shared.py").write_text(f"VALUE = {number}\n")
        text = HEAD + "import shared\n" + law.format(side, "shared.VALUE")
        (folder / side / "law.py").write_text(text)
        (made,) = load(folder / side / "law.py")
        answers[side] = _error(overload(seconds=1, queue=getattr(queue, side)()).run)
        answers[f"{side} contents"] = made.contents
    answers["shared"] = "shared" in sys.modules
    (folder / "left" / "shared.py").write_text("VALUE = 2\n")
    answers["changed beside"] = _error(load, folder / "left" / "law.py")
    for name, text in WRONG:
        file = folder / f"{name}.py"
        file.write_text(HEAD + text)
        answers[name] = _error(load, file).replace(str(file), "FILE")
    answers["missing"] = _error(load, folder / "nowhere.py")
    answers["suffix"] = _error(load, path.with_suffix(".toml"))
    return answers


WRONG = (
    ("syntax", "def x(:\n"),
    ("unknown", "nothing\n"),
    ("import", "import nothing_such\n"),
    ("exits", "raise SystemExit(3)\n"),
    ("empty", ""),
    ("taken", '@forebay.law(kind="queue")\nclass red:\n  def enqueue(law, at): return 0\n'),
    (
        "default",
        '@forebay.law(kind="queue")\nclass d:\n  t: Span = "5 parsec"\n  def enqueue(law, at): 0\n',
    ),
)
"""Files of laws that are refused."""


def _error(call: Callable[..., Any], *arguments: Any) -> str:
    try:
        call(*arguments)
    except (UserError, RunFailedError) as error:
        return str(error)
    return ""


def cells(folder: Path) -> Any:
    """What decorating in a notebook gives, and addresses."""
    answers: dict[str, Any] = {}
    text = (
        '@forebay.law(kind="queue", compile="no")\nclass cell:\n'
        "    seen: Probe[int]\n    def enqueue(law, at):\n        law.seen += {}\n"
    )
    names: dict[str, Any] = {"__name__": "__cells__"}
    sys.modules["__cells__"] = types.ModuleType("__cells__")
    exec(HEAD, names)

    def run_cell(number: int, text: str) -> str:
        return _error(exec, compile(text, f"<ipython-input-{number}>", "exec"), names)

    answers["first"] = run_cell(1, text.format(1))
    answers["again"] = run_cell(2, text.format(1))
    before = loaded()[0].contents
    answers["changed"] = run_cell(3, text.format(2))
    answers["now"] = (len(loaded()), loaded()[0].contents != before)
    answers["file"] = loaded()[0].file
    answers["digest"] = _same(queue.cell(limit="20 packets"), queue.droptail(limit="20 packets"))
    numba = importlib.import_module("numba")
    signature = numba.types.int32(numba.types.voidptr, numba.types.voidptr)
    passing = numba.cfunc(signature)(lambda law, at: 0)
    cffi = importlib.import_module("cffi").FFI()
    kept = cffi.callback("int32_t(void *, void *)", lambda law, at: 0)
    address = int(cffi.cast("intptr_t", kept))
    for name, call, ran_as in (("by_numba", passing, "numba"), ("by_cffi", address, "python")):
        forebay.laws.add("queue", name, {"dequeue": call}, contents=name, ran_as=ran_as)
        forebay.laws.add("queue", name, {"dequeue": call}, contents=name, ran_as=ran_as)
        law = getattr(queue, name)(limit="20 packets")
        answers[name] = _same(law, queue.droptail(limit="20 packets"))
    answers["other"] = _error(
        lambda: forebay.laws.add("queue", "by_cffi", {"dequeue": address}, contents="other")
    )
    return answers


def _same(law: Any, other: Any) -> bool:
    return bool(
        overload(seconds=2, queue=law).run().digests
        == overload(seconds=2, queue=other).run().digests
    )


def falling_back(folder: Path) -> Any:
    """What is said where numba is not installed, and where it cannot compile a law."""
    text = '@forebay.law(kind="queue")\nclass {}:\n    def enqueue(law, at):\n        {}\n'
    answers = []
    for name, body in (("dicts", "return {1: 0, 'a': 2}[1]"), ("plain", "return 0")):
        path = folder / f"{name}.py"
        path.write_text(HEAD + text.format(name, body))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (law,) = load(path)
        answers.append([law.ran_as, *(str(each.message) for each in caught)])
        sys.modules["numba"] = None  # type: ignore[assignment]
    return answers


if __name__ == "__main__":
    tasks = {each.__name__: each for each in (digests, failing, loading, cells, falling_back)}
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(tasks[sys.argv[1]](Path(sys.argv[2]))))
