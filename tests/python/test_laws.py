"""Laws of one's own in Python: what they declare, how they run, what is said when they fail."""

from __future__ import annotations

import ctypes
import json
import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

import forebay
from forebay import UserError
from forebay.laws import (
    Frequency,
    Length,
    Probe,
    Rate,
    Size,
    Span,
    State,
    Time,
    numbers,
    refuse,
)
from forebay.laws.compiled import compiled
from forebay.laws.declared import Declaration, Declared, declare
from forebay.laws.host import HOST
from forebay.laws.interpreted import callbacks
from forebay.laws.layout import facts_struct, layout, state_fields, state_struct
from forebay.laws.numbers import FLAGS, KINDS, NEVER
from forebay.laws.sources import files_of
from forebay.laws.table import address_of
from forebay.native import native

ROOT = Path(__file__).resolve().parents[2]
CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


def alone(task: str, folder: Path) -> Any:
    """What a task of laws_alone.py answers."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, str(Path(__file__).with_name("laws_alone.py")), task, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def declared(cls: type, kind: str = "queue", **flags: bool) -> Declaration:
    """A class as a law, which is not made known."""
    return declare(cls, Declared(kind, flags=flags), globals(), "here")


def test_numbers_are_those_of_the_engine() -> None:
    """Numbers that laws in Python return are those that the engine reads."""
    known = layout()["numbers"]
    for group in ("verdict", "packet_kind"):
        for name, value in known[group].items():
            assert getattr(numbers, name) == value, name
    for name, value in known["signal"].items():
        assert getattr(numbers, f"SIGNAL_{name}") == value
    assert {name.upper(): kind.number for name, kind in KINDS.items()} == known["kind"]
    assert {name.upper(): bit for name, (bit, _) in FLAGS.items()} == known["flag"]
    places = {name.lower(): place for name, place in known["decision"].items()}
    for name, kind in KINDS.items():
        for call, place in kind.calls.items():
            special = f"{name}_{call}"
            assert places[special if special in places else call] == place, (name, call)


def test_facts_lie_where_the_engine_puts_them() -> None:
    """Facts lie where the engine puts them, so that a law reads what it was told."""
    for name, fields in layout()["facts"].items():
        made = facts_struct(name)
        assert [getattr(made, field[0]).offset for field in fields] == [at for *_, at in fields]
        assert ctypes.sizeof(made) == layout()["sizes"][name]


def test_the_header_is_that_of_the_engine() -> None:
    """The header that the package has is that of the engine: what is compiled by it can be
    loaded."""
    assert forebay.laws.header().read_text(encoding="utf-8") == native().law_header()


class Everything:
    """Has a parameter of every type. And more words,
    on two lines.

    This is not its summary.

    span: Duration. [RFC 1, section 2]
    limit: Length
        of a queue. [RFC 2]
    word.one: The first word.
    seen (packets): Packets seen
    """

    span: Span = "5 ms"
    rate: Rate = "1 Mbit/s"
    size: Size = "1500 B"
    limit: Length = "5 packets"
    frequency: Frequency = "10 /s"
    number: float = 1
    whole: int = 3
    flag: bool = True
    word: Literal["one", "two"] = "two"
    text: str = "é"
    spans: list[Span] = ("1 ms", "2 ms")  # type: ignore[assignment]
    limits: list[Length] | None
    maybe: Span | None
    seen: Probe[int]
    last: Probe[Time] = NEVER
    table: State[float, 3] = (1.0, 2.0, 3.0)
    own: State[bool]

    def create(self, at: Any) -> None:
        """Checks nothing."""

    def enqueue(self, at: Any) -> int:
        """Passes all."""
        return 0

    def _helper(self) -> int:
        return 1


def test_a_class_declares_parameters_state_and_their_texts() -> None:
    """A class declares parameters with defaults as scenarios have them, and its docstring says
    what they mean, once for help, pages and messages."""
    law = declared(Everything)
    assert law.name == "everything"
    assert law.summary == "Has a parameter of every type. And more words, on two lines."
    texts = {each.name: each.text for each in law.parameters}
    assert (texts["span"].meaning, texts["span"].source) == ("Duration.", "RFC 1, section 2")
    assert (texts["limit"].meaning, texts["limit"].source) == ("Length of a queue.", "RFC 2")
    defaults = {each.name: each.default for each in law.parameters}
    assert defaults == {
        "span": '"5 ms"', "rate": '"1 Mbit/s"', "size": '"1500 B"', "limit": '"5 packets"',
        "frequency": '"10 /s"', "number": "1.0", "whole": "3", "flag": "true", "word": '"two"',
        "text": '"é"', "spans": '["1 ms", "2 ms"]', "limits": None, "maybe": None,
    }  # fmt: skip
    optional = {each.name for each in law.parameters if each.optional}
    assert optional == {"limits", "maybe"}
    (word,) = (each for each in law.parameters if each.name == "word")
    assert (word.choices, word.choice_meanings) == (("one", "two"), ("The first word.", ""))
    probes = {each.name: each.unit for each in law.quantities if each.probe}
    assert probes == {"seen": "packets", "last": "s"}
    # Parameters lie first, in their order: 8 bytes a word, a length and a list two of them.
    places = {field.name: field.offset for field in state_fields(law)}
    assert (places["span"], places["limit_in_packets"], places["frequency"]) == (0, 32, 40)
    assert (places["spans_at"], places["limits_count"], places["maybe"]) == (88, 112, 120)
    assert (places["seen"], places["table"], places["own"]) == (128, 144, 168)


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"deque": lambda law, at: 0}, 'no method of the kind queue (did you mean "dequeue"'),
        ({"enqueue": lambda law: 0}, "is called with the law and the facts"),
        ({}, "has the method enqueue or dequeue"),
        ({"x": dict}, "dict is no type of a parameter"),
        ({"x": 3}, "x: has no type"),
        ({"x": (int, "three")}, "x = 'three': its default is a number"),
        ({"x": (Span, 3)}, "x = 3: its default is a text"),
        ({"x": (Literal["one", "two"], "won")}, "allowed are one, two"),
        ({"x": (Probe[int], 0.5)}, "x = 0.5: it begins with a number of its type"),
        ({"x": (State[int, 2], (1, 2, 3))}, "it has 2 places"),
        ({"limit": (Length, None), "limit_in_packets": (int, 1)}, "is taken by limit"),
        ({"_x": (int, 1)}, "no name of a parameter"),
    ],
)
def test_wrong_declarations_are_refused(members: Mapping[str, Any], part: str) -> None:
    """What cannot be declared is refused where it stands, with what is allowed."""
    body: dict[str, Any] = {"__annotations__": {}, "enqueue": lambda law, at: 0}
    if not members or "deque" in members:
        del body["enqueue"]
    for name, value in members.items():
        kind, default = value if isinstance(value, tuple) else (value, None)
        if isinstance(value, int) or (callable(value) and not isinstance(value, type)):
            body[name] = value
            continue
        body["__annotations__"][name] = kind
        if default is not None:
            body[name] = default
    with pytest.raises(UserError) as caught:
        declared(type("wrong", (), body))
    assert str(caught.value).startswith("here: wrong: ")
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("function", "part"),
    [
        ("def enqueue(law, at):\n    global N\n    N = 1\n", "line 3: writes N"),
        ("def enqueue(law, at):\n    return 0 if law.x is None else 1\n", "compare it to NEVER"),
    ],
)
def test_what_networks_would_share_is_refused(function: str, part: str) -> None:
    """Methods that write variables of their module, or ask what no number answers, are refused
    before a run depends on it: networks run side by side."""
    names: dict[str, Any] = {}
    exec(function, names)
    body = {"__annotations__": {"x": Span | None}, "enqueue": names["enqueue"]}
    with pytest.raises(UserError, match=part):
        declared(type("wrong", (), body))


def test_flags_belong_to_kinds() -> None:
    """A flag of another kind is refused, as the engine does not look at it."""
    with pytest.raises(UserError, match="shapes is for laws of the kind discipline, scheduler"):
        declared(Everything, shapes=True)
    with pytest.raises(UserError, match="there is no 'draw'"):
        forebay.law(kind="queue", draw=True)


def scaled(law: Any, factor: float) -> int:
    """A span of the law, scaled."""
    return int(law.span * factor + 0.5)


class Mixed:
    """Uses what laws may use."""

    span: Span
    weights: list[float]
    limits: list[Length]
    word: Literal["one", "two"]
    other: Literal["one", "two"] | None
    table: State[int, 4]
    level: Probe[float] = 2.0
    calls: Probe[int]

    def create(self, at: Any) -> None:
        """Derives a value, or refuses."""
        if self.span == 0:
            refuse("span", f"is {self.span / 2}; allowed are times above 0 s")
        self.table[3] = len(self.weights)

    def enqueue(self, at: Any) -> int:
        """Counts, in ways that numbers, lists and words allow."""
        self.calls += 1
        self.table[at.bytes % 4] += self._next(at) // 7
        for weight in self.weights:
            self.level = 0.5 * self.level + weight * at.bytes
        if self.word == "one" or self.other not in (None, "one"):
            self.level -= self.limits[0] * self.limits_in_packets[1]
        if self.other is None:
            self.level += scaled(self, 1 / (1 + at.waiting_packets))
        return int(self.level) % 5

    def _next(self, at: Any) -> int:
        return at.bytes * 3 - self.table[1] + len(self.limits)


def made(functions: Mapping[str, Any], name: str) -> Callable[[Any, Any], int]:
    """A method that is called with two structs."""
    call = CALL(address_of(functions[name]))
    return lambda state, facts: call(ctypes.addressof(state), ctypes.addressof(facts))


def mixed_state(law: Declaration, word: int, other: int) -> tuple[Any, Any]:
    """A state of `Mixed` as the engine makes it, and what it points to."""
    lists = (ctypes.c_double * 2)(0.25, 0.5), (ctypes.c_int64 * 4)(30, 0, 20, 1)
    at = [ctypes.addressof(each) for each in lists]
    words = (7 * 10**9, at[0], 2, at[1], 2, word, other)
    state = state_struct(law)()
    memory = struct.pack(f"<{len(words)}q", *words)
    ctypes.memmove(ctypes.addressof(state), memory, len(memory))
    return state, lists


@pytest.mark.long
@pytest.mark.parametrize(("word", "other"), [(0, 0), (1, 1), (1, NEVER), (0, NEVER)])
def test_compiled_laws_are_interpreted_ones(word: int, other: int) -> None:
    """A compiled law leaves each byte of its state as the interpreter does, whatever it uses of
    numbers, arrays, lists, words and functions, so that runs have one digest."""
    law = declared(Mixed)
    build = compiled(law)
    assert not build.interpreted
    states, kept = zip(*(mixed_state(law, word, other) for _ in range(2)), strict=True)
    ways = (build.functions, callbacks(law))
    create, facts = facts_struct("forebay_create_facts")(), facts_struct(law.about.facts)()
    for functions, state in zip(ways, states, strict=True):
        assert made(functions, "create")(state, create) == 0
        assert state.table[3] == 2
        assert state.level == 2.0
    calls = [made(functions, "enqueue") for functions in ways]
    for number in range(500):
        facts.bytes, facts.waiting_packets = 40 + 97 * number % 1461, number * number % 31
        first, second = (call(state, facts) for call, state in zip(calls, states, strict=True))
        assert first == second >= 0, number
    size = 7 * 8
    whole = [ctypes.string_at(ctypes.addressof(state), ctypes.sizeof(state)) for state in states]
    assert whole[0][size:] == whole[1][size:]
    assert states[0].calls == 500
    assert len(kept) == 2


class Drawing:
    """Draws, and asks the engine for what is no arithmetic."""

    values: State[float, 12]

    def enqueue(self, at: Any) -> int:
        """Keeps what it was given."""
        self.values[0] = forebay.laws.uniform(at)
        self.values[1] = forebay.laws.exponential(at)
        self.values[2] = forebay.laws.normal(at)
        self.values[3] = forebay.laws.ln(self.values[1])
        self.values[4] = forebay.laws.exp(self.values[2])
        self.values[5] = forebay.laws.power(self.values[1], 0.3)
        self.values[6] = forebay.laws.cbrt(self.values[1])
        self.values[7] = forebay.laws.ln_1p(self.values[0])
        self.values[8] = forebay.laws.exp_m1(self.values[0])
        self.values[9] = forebay.laws.sqrt(self.values[0])
        self.values[10] = forebay.laws.seconds(forebay.laws.span(1.5))
        self.values[11] = forebay.laws.below(at, 1000)
        return int(forebay.laws.happens(at, 0.5))


@pytest.mark.long
def test_draws_are_those_of_the_engine() -> None:
    """Random numbers and functions are the engine's, compiled or not, so that a law draws as a
    mechanism does. The generator is xoshiro256++, whose first output from the state (1, 2, 3, 4)
    is 41943041 (prng.di.unimi.it); the upper 53 bits of it are 20480."""
    law = declared(Drawing, draws=True)
    build = compiled(law).functions
    values = []
    for functions in (build, callbacks(law)):
        stream, state = (ctypes.c_uint64 * 4)(1, 2, 3, 4), state_struct(law)()
        facts = facts_struct(law.about.facts)(random=ctypes.addressof(stream))
        decided = [made(functions, "enqueue")(state, facts) for _ in range(100)]
        values.append((decided, list(state.values), list(stream)))
    assert values[0] == values[1]
    stream = (ctypes.c_uint64 * 4)(1, 2, 3, 4)
    assert HOST.uniform(ctypes.addressof(stream)) == 20480 / 2**53
    kept = values[0][1]
    assert math.isclose(kept[3], math.log(kept[1]), rel_tol=1e-15)
    assert math.isclose(kept[4], math.exp(kept[2]), rel_tol=1e-15)
    assert math.isclose(kept[5], kept[1] ** 0.3, rel_tol=1e-15)
    assert kept[10] == 1.5


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("self.calls = at.bytes / 2", "calls holds whole numbers and is given one with a fraction"),
        ("self.table[0] = at.bytes / 2", "an array holds whole numbers"),
        ("return at.bytes / 2", "enqueue returns a float64; allowed are whole numbers"),
        ("self.cals = 1", 'there is no cals (did you mean "calls"?)'),
        ("return at.bites", 'there is no bites (did you mean "bytes"?)'),
        ('return int(self.word == "won")', "its words are one, two"),
    ],
)
def test_what_compiled_laws_get_wrong_is_said_at_once(line: str, part: str, tmp_path: Path) -> None:
    """Errors that the interpreter raises in a run are refused when the law is compiled, instead of
    being taken as something else."""
    path = tmp_path / "wrong.py"
    path.write_text(f"def enqueue(self, at):\n    {line}\n", encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    annotations = {"calls": State[int], "table": State[int, 4], "word": Literal["one", "two"]}
    body = {"__annotations__": annotations, "enqueue": names["enqueue"]}
    with pytest.raises(UserError) as caught:
        compiled(declared(type("wrong", (), body)))
    assert part in str(caught.value)


def test_contents_are_those_of_the_file_and_what_it_imports(tmp_path: Path) -> None:
    """The hash of a law covers its file and the modules beside it that it imports, also through
    others, and neither where they lie nor what they do not import."""
    for folder in ("one", "two"):
        (tmp_path / folder / "package").mkdir(parents=True)
        for name, text in (
            ("law.py", "import math\nimport first\nfrom package import inner\n"),
            ("first.py", "import second\n"),
            ("second.py", "VALUE = 1\n"),
            ("other.py", "VALUE = 1\n"),
            ("package/__init__.py", ""),
            ("package/inner.py", "from . import deep\n"),
            ("package/deep.py", "VALUE = 1\n"),
        ):
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
    first = files_of(tmp_path / "one" / "law.py")
    modules = {"first", "second", "package", "package.inner", "package.deep"}
    assert set(first.modules) == modules
    path = tmp_path / "two" / "law.py"
    assert files_of(path).contents == first.contents
    (tmp_path / "two" / "other.py").write_text("VALUE = 2\n", encoding="utf-8")
    assert files_of(path).contents == first.contents
    (tmp_path / "two" / "package" / "deep.py").write_text("VALUE = 2\n", encoding="utf-8")
    assert files_of(path).contents != first.contents


@pytest.mark.long
def test_laws_of_every_kind_have_the_digests_of_ours(tmp_path: Path) -> None:
    """Laws in Python that decide as mechanisms of the engine do give the same events at the same
    times, compiled and interpreted: every fact, draw and answer is what it should be."""
    found = alone("digests", tmp_path)
    for name, (ours, compiled_one, interpreted) in found["digests"].items():
        assert compiled_one == interpreted, name
        # Only that which drops the oldest packet is none of ours.
        assert (ours == interpreted) == (name != "line True"), name
    for name, ran_as in found["ran_as"].items():
        assert ran_as.startswith("numba" if name.startswith("my_") else "python"), name
    # Networks differ, so that equal digests say something.
    assert len({str(digests) for digests in found["digests"].values()}) >= 20


@pytest.mark.long
def test_runs_whose_law_fails_say_why(tmp_path: Path) -> None:
    """A law that fails ends the run with its name, the time, and why, with file and line; compiled
    ones as interpreted ones, so that an author need not know which it was."""
    found = alone("failing", tmp_path)
    parts = {
        "divides": "line 11: ZeroDivisionError: division by zero",
        "raises": "line 9: ValueError: too long",
        "leaves": "line 9: IndexError: invalid index",
        "exceeds": "line 9: IndexError: index out of bounds on dimension 1",
        "returns": "0.000000 s, enqueue: returned 7; allowed are 0 to 4",
        "overflows": "enqueue: returned 1099511627776",
        "draws": "it draws random numbers; add draws=True to forebay.law",
        "no_number": "line 8: ValueError: cannot convert float NaN to integer",
        "misspells": 'line 7: there is no sojorn (did you mean "sojourn"?)',
        "fraction": "allowed are whole numbers",
        "refuses": "links.bn.queue.NAME.p: 1.5 is no probability; allowed are 0 to 1",
        "creates": "line 7: ZeroDivisionError: division by zero",
    }
    for name, messages in found.items():
        for message in messages:
            assert parts[name] in message.replace("AttributeError: ", ""), name
    assert set(found) == set(parts)


@pytest.mark.long
def test_loading_again_does_nothing_and_changes_are_refused(tmp_path: Path) -> None:
    """What is loaded stays as it is: the same contents are loaded once, a file that has changed is
    refused by name, and modules beside a law are its own, whatever others are called."""
    found = alone("loading", tmp_path)
    assert found["again"]
    assert found["same contents"]
    assert found["known"] == ["one"]
    assert found["category"] == "queue.one()"
    assert "one.py: has changed since one was loaded from it" in found["changed"]
    assert "law.py: has changed since left was loaded" in found["changed beside"]
    assert found["left"] == ""
    assert "returned 1, a mark" in found["right"]
    assert found["left contents"] != found["right contents"]
    assert not found["shared"]
    parts = {
        "syntax": "FILE, line 4: SyntaxError",
        "unknown": "FILE, line 4: NameError: name 'nothing' is not defined",
        "import": "FILE, line 4: ModuleNotFoundError: No module named 'nothing_such'",
        "exits": "FILE, line 4: SystemExit: 3",
        "empty": "FILE: has no laws",
        "taken": 'there is a queue "red" already',
        "default": '"parsec" in "5 parsec" is not a unit of a duration',
        "missing": "there is no such file of laws",
    }
    for name, part in parts.items():
        assert part in found[name], name


@pytest.mark.long
def test_notebooks_and_addresses_make_laws(tmp_path: Path) -> None:
    """A cell of a notebook makes a law, once, and another in its place when it was edited; a C
    function that numba or cffi gives is one as well, and passing all packets is tail drop, to the
    same digest."""
    pytest.importorskip("cffi")
    found = alone("cells", tmp_path)
    assert (found["first"], found["again"], found["file"]) == ("", "", "notebook")
    assert (found["changed"], found["now"]) == ("", [1, True])
    assert [found[name] for name in ("digest", "by_numba", "by_cffi")] == [True, True, True]
    assert "by_cffi was loaded already, with other contents" in found["other"]


@pytest.mark.long
def test_what_cannot_be_compiled_runs_interpreted(tmp_path: Path) -> None:
    """A law runs where numba is not installed, or cannot compile it, and a warning says so, with
    the reason."""
    (dicts, *told), (plain, *also) = alone("falling_back", tmp_path)
    assert (dicts, plain) == ("python", "python")
    assert "law dicts: numba cannot compile it: " in told[0]
    assert also == [
        "law plain: numba is not installed (pip install 'forebay[laws]'); laws in Python run "
        "interpreted, many times slower"
    ]
