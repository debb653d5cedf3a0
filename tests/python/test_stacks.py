"""Tables of stacks: networks, the protocol of programs, comparison, exit status."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.errors import UserError
from forebay.run.jobs import Job, check
from forebay.stacks import python_stacks
from forebay.stacks.networks import STACK, network_of, ready_networks
from forebay.stacks.programs import speech

PROGRAM = shlex.join([sys.executable, str(Path(__file__).with_name("stacks_program.py"))])

NETWORK = """
duration = "4 s"
warm_up = "1 s"

[links.bottleneck]
from = "server"
to = "client"
rate = "5 Mbit/s"
delay = "10 ms"
queue.droptail.limit = "50 packets"

[flows.stack]
from = "server"
to = "client"
start = { uniform = ["0 s", "50 ms"] }
tcp = { control = "cubic" }

[flows.cubic]
from = "server"
to = "client"
start = { uniform = ["0 s", "50 ms"] }
tcp = { control = "cubic" }

[flows.ping]
from = "client"
to = "server"
udp = { echo = true }
traffic = { poisson = { rate = "8 kbit/s", size = "100 B", sizes = "fixed" } }
"""

TABLE = """
networks = ["line.toml"]
replications = 3
against = "model"
[stacks.model]
model = "cubic"
[stacks.theirs]
program = "PROGRAM"
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of a model and of a program's stack `own cubic`, which is the same, on one network;
    the current folder is its."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.toml").write_text(NETWORK, encoding="utf-8")
    path = tmp_path / "table.toml"
    path.write_text(TABLE.replace("PROGRAM", "own cubic"), encoding="utf-8")
    return path


def rows(folder: Path, column: str) -> dict[str, dict[str, Any]]:
    """The rows of a stack, by quantity."""
    document = json.loads((folder / "table.json").read_text(encoding="utf-8"))
    return {row["quantity"]: row for row in document["rows"] if row["column"] == column}


@pytest.mark.parametrize("name", ready_networks())
def test_ready_networks_are_sound(name: str) -> None:
    """Each network that comes with Forebay can be run and has a group for the stack, from the
    server to the client, and its head says where its figures come from."""
    network = network_of(name, Path())
    found = check(Job(network.text, str(network.path)))
    assert not found["warnings"]
    assert found["resolved"][f"flows.{STACK}.from"] == '"server"'
    assert found["resolved"][f"flows.{STACK}.to"] == '"client"'
    assert network.called == name
    head = network.text.partition("name =")[0]
    assert "Source:" in head
    assert "sound" in head
    # Twenty seconds at 20 Mbit/s are 33,333 packets of 1500 B, each with half as many
    # acknowledgements: what takes a real stack less than a second.
    assert found["expected_packets"] < 1.5 * 4 * 33_333


def test_there_are_twelve_networks() -> None:
    """The networks are those that the guide lists: one that is not in the wheel would be missing
    from a table without notice."""
    guide = Path(__file__).resolve().parents[2] / "docs/guides/stacks-table.md"
    listed = [
        line.split("`")[1]
        for line in guide.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and line.count("|") == 5
    ]
    assert len(ready_networks()) == 12
    assert sorted(listed) == sorted(ready_networks())


def test_a_program_gives_what_the_model_gives(table: Path, forebay: front.Forebay) -> None:
    """A program that runs the model by the protocol has its very numbers, replication by
    replication, and what it does not tell has no value: nothing is lost or made up on the way."""
    found = forebay("stacks", str(table), "--with", PROGRAM, "--out", "out")
    assert found.status == 0, found.err
    model, theirs = rows(Path("out"), "model"), rows(Path("out"), "theirs")
    assert set(model) == set(theirs)
    assert {"goodput", "share.cubic", "ping_p95.ping"} < set(model)
    for quantity, row in model.items():
        if quantity == "resent":
            assert row["mean"] is not None
            assert theirs[quantity]["mean"] is None
        else:
            assert theirs[quantity]["values"] == row["values"]
            assert theirs[quantity]["digest"] == row["digest"]
    assert len(set(model["goodput"]["values"])) > 1
    # All pairs differ by 0, so that nothing is beyond chance.
    document = json.loads(Path("out/table.json").read_text(encoding="utf-8"))
    compared = document["against"]["differences"]
    assert len(compared) == len(model) - 1
    assert all(each["difference"] == 0.0 and not each["is"] for each in compared)


def test_quantities_have_bounds_that_follow_from_the_network(
    table: Path, forebay: front.Forebay
) -> None:
    """Two alike flows share a full line: goodput together is 5 Mbit/s less headers, 1448 / 1500, in
    the 3 s that are counted, and what had come before and was waiting for a retransmission: the 50
    packets of the queue and 10 on the wire at most. A packet waits for at most 50 others: 50 * 1500
    B * 8 / 5 Mbit/s = 120 ms, 2.4 ms to send it, 10 ms of propagation."""
    table.write_text(TABLE.split("[stacks.theirs]")[0], encoding="utf-8")
    assert forebay("stacks", str(table), "--out", "out").status == 0
    all_rows = rows(Path("out"), "model")
    found = {name: row["mean"] for name, row in all_rows.items()}
    pairs = zip(all_rows["goodput"]["values"], all_rows["share.cubic"]["values"], strict=True)
    for goodput, share in pairs:
        full = 5e6 * 1448 / 1500
        assert 0.9 * full < goodput / share <= full + 60 * 1448 * 8 / 3
    assert 0.0124 <= found["delay_p50"] <= found["delay_p95"] <= 0.1324
    assert 0.02 < found["ping_p50.ping"] <= found["ping_p95.ping"]
    assert 0.0 < found["share.cubic"] < 1.0


def test_what_became_worse_than_a_baseline_is_status_1(table: Path, forebay: front.Forebay) -> None:
    """A baseline finds no change in the same stack and names what a slower one lost: a window of 20
    kB over 20 ms and more allows 8 Mbit/s at most, and over a full queue of 120 ms 1.1 Mbit/s. The
    file has neither clock nor machine: two runs write the same."""
    # Six: of three, that vary by chance, Holm's method asks for twenty standard errors.
    words = ["stacks", str(table), "--with", PROGRAM, "--replications", "6"]
    for name in ("first", "second"):
        found = forebay(*words, "--out", name, "--save-baseline", f"{name}.json")
        assert found.status == 0, found.err
    assert Path("first.json").read_bytes() == Path("second.json").read_bytes()
    again = forebay(*words, "--out", "first", "--baseline", "first.json")
    assert again.status == 0, again.err
    table.write_text(TABLE.replace("PROGRAM", "slow reno"), encoding="utf-8")
    slower = forebay(*words, "--baseline", "first.json", "--markdown", "comment.md")
    assert slower.status == 1
    assert "worse than the baseline: line, theirs, goodput" in slower.err
    comment = Path("comment.md").read_text(encoding="utf-8")
    assert "| line | theirs | goodput |" in comment
    assert "other settings: theirs" in slower.err


def test_an_aborted_table_goes_on_where_it_was(table: Path, forebay: front.Forebay) -> None:
    """Runs that the folder holds are not made again: with more replications only the new ones are,
    and a program that would fail now is not asked for the old ones."""
    assert forebay("stacks", str(table), "--with", PROGRAM, "--out", "out").status == 0
    before = rows(Path("out"), "theirs")["goodput"]["values"]
    words = ["stacks", str(table), "--with", PROGRAM, "--replications", "4", "--out", "out"]
    found = forebay(*words)
    assert found.status == 0, found.err
    assert rows(Path("out"), "theirs")["goodput"]["values"][:3] == before


@pytest.mark.parametrize(
    ("stack", "why"),
    [
        ("broken", "connection lost at 3.2 s"),
        ("mute", "its process ended with exit status 7 after saying: it has had enough"),
        ("liar", 'its result has no group "stack"'),
    ],
)
def test_runs_that_fail_are_named(
    table: Path, forebay: front.Forebay, stack: str, why: str
) -> None:
    """A stack that gives up, ends its process or answers nonsense costs its own cells, and no
    other: exit status 1 with the reason, while the model has its numbers, and no baseline is
    stored of half a table."""
    table.write_text(TABLE.replace("PROGRAM", stack), encoding="utf-8")
    words = ["stacks", str(table), "--with", PROGRAM, "--out", "out"]
    found = forebay(*words, "--save-baseline", "base.json")
    assert found.status == 1
    assert f"run failed: line, theirs, replication 0: {why}" in found.err
    assert rows(Path("out"), "model")["goodput"]["mean"] > 0
    assert not rows(Path("out"), "theirs")
    assert not Path("base.json").exists()


def test_a_stack_whose_runs_do_not_repeat_is_named(table: Path, forebay: front.Forebay) -> None:
    """A table says of which stack runs do not repeat, and why, so that no digit of it is taken for
    one that comes again; of others it says nothing of the kind."""
    text = table.read_text(encoding="utf-8")
    words = ("--with", PROGRAM, "--markdown", "comment.md", "--out")
    for stack, named in (("own cubic", False), ("slow reno", True)):
        table.write_text(text.replace("own cubic", stack), encoding="utf-8")
        assert forebay("stacks", str(table), *words, stack).status == 0
        said = Path("comment.md").read_text(encoding="utf-8")
        reason = "its runs do not repeat digit by digit: it draws from the operating system"
        assert (f"{stack}, test 1.0 ({reason})" in said) == named


@pytest.mark.parametrize(
    ("old", "new", "words", "told"),
    [
        ('"line.toml"', '"bufferblot"', [], 'did you mean "bufferbloat"?'),
        ('"line.toml"', '"lines.toml"', [], "lines.toml: no such file"),
        ('"own cubic"', '"own cubik"', ["--with", PROGRAM], 'did you mean "own cubic"?'),
        ('model = "cubic"', 'model = "cubik"', ["--with", PROGRAM], 'did you mean "cubic"?'),
        ('against = "model"', 'against = "modell"', [], 'did you mean "model"?'),
        ('program = "own cubic"', 'prgram = "own cubic"', [], 'did you mean "program"?'),
        ('program = "own cubic"', 'python = "aioquick"', [], 'did you mean "aioquic"?'),
        ('program = "own cubic"', 'python = "no_such:make"', [], "no module no_such"),
        ('program = "own cubic"', 'python = "none.py:make"', [], "none.py: no such file"),
        ('program = "own cubic"', "", [], "give one of model, program and python"),
        ("", "", [], "a program built from forebay-host: --with PROGRAM"),
        ("", "", ["--with", "no-such-program"], "no-such-program: no such program"),
        ("", "", ["--with", sys.executable], "forebay-host"),
        ("", "", ["--with", PROGRAM, "--networks", "lin"], 'did you mean "line"?'),
        ("", "", ["--with", PROGRAM, "--baseline", "none.json"], "--baseline: none.json"),
    ],
)
def test_wrong_input_is_status_2(
    table: Path, forebay: front.Forebay, old: str, new: str, words: list[str], told: str
) -> None:
    """What a user got wrong is named with what is allowed, before anything runs."""
    text = TABLE.replace("PROGRAM", "own cubic")
    assert old in text
    table.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = forebay("stacks", str(table), *words)
    assert found.status == 2
    assert told in found.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[flows.stack]", "[flows.other]", "flows.stack: missing"),
        ('tcp = { control = "cubic" }', "udp = {}", "flows.stack.tcp: missing"),
        ('control = "cubic" }', 'control = "cubic", mss = "1 kB" }', "allowed are control, ecn"),
        ('to = "client"\nstart', 'to = "client"\ndscp = "EF"\nstart', "flows.stack.dscp"),
        (
            'tcp = { control = "cubic" }',
            'tcp = {}\ntraffic = { file = { size = "1 MB", count = 2 } }',
            "flows.stack.traffic.file.count",
        ),
    ],
)
def test_a_network_asks_of_a_stack_what_it_can_be_told(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    """A key of the group under test that a stack cannot be told is refused, so that the model is
    not run with it and the stack beside it without."""
    path = tmp_path / "line.toml"
    path.write_text(NETWORK.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=told):
        network_of("line.toml", tmp_path)


def test_a_python_stack_says_how_to_get_what_it_needs(
    table: Path, forebay: front.Forebay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the module that drives stacks in Python the table is refused with the extra that
    installs what it needs."""
    monkeypatch.setattr(python_stacks, "HOST", "forebay.no_such_host")
    text = TABLE.replace('program = "PROGRAM"', 'python = "aioquic"')
    table.write_text(text, encoding="utf-8")
    found = forebay("stacks", str(table))
    assert found.status == 2
    assert "pip install 'forebay[stacks]'" in found.err


def test_ecn_is_asked_for_with_models_that_need_it(table: Path, forebay: front.Forebay) -> None:
    """Prague is refused without ECN; as a stack it has it in a network that does not ask for it,
    and the other stacks there have not."""
    text = TABLE.replace('program = "PROGRAM"', 'model = "prague"')
    table.write_text(text, encoding="utf-8")
    path = Path("line.toml")
    marks = path.read_text(encoding="utf-8").replace(
        'queue.droptail.limit = "50 packets"', "queue.codel = { ecn = true }"
    )
    path.write_text(marks, encoding="utf-8")
    found = forebay("stacks", str(table), "--out", "out")
    assert found.status == 0, found.err
    assert rows(Path("out"), "theirs")["marked"]["mean"] > 0.0
    assert rows(Path("out"), "model")["marked"]["mean"] == 0.0


def test_answers_are_taken_by_their_cell() -> None:
    """An answer counts for the cell that was asked for, and for no other; what is no answer fails
    it with what was read, and what comes unasked is not taken for one."""
    heard = speech(["program"], {}).heard
    assert "answered cell 3, and was asked for 4" in heard(4, '{"cell": 3, "result": {}}')
    assert "answered no cell: Segmentation" in heard(4, "Segmentation fault")
    assert heard(4, '{"cell": 4, "error": "lost"}') == 'F"lost"'
    assert heard(4, '{"cell": 4, "result": {"digest": "00"}}').startswith("F")
