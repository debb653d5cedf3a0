"""Limits of runs at the command line and in Python, files that are refused, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forebay import Network, UserError, traffic
from forebay.cli.commands import main
from forebay.run.jobs import Job, run_jobs
from forebay.run.limits import LimitError, available_memory, memory_size, seconds

LINK = """
duration = "{duration}"
[links.wire]
from = "A"
to = "B"
rate = "1 Mbit/s"
delay = "10 ms"
queue = {{ droptail = {{ limit = "50 packets" }} }}
[flows.load]
from = "A"
to = "B"
udp = {{}}
traffic = {{ cbr = {{ rate = "{rate}", size = "64 B" }} }}
"""
FLOOD = LINK.format(duration="10 h", rate="10 Tbit/s")
SHORT = LINK.format(duration="1 s", rate="512 kbit/s")


@pytest.fixture
def flood(tmp_path: Path) -> str:
    """A scenario that takes years."""
    path = tmp_path / "flood.toml"
    path.write_text(FLOOD)
    return str(path)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--timeout", "0.2"], "it took longer than 0.2 s, which is the limit"),
        (["--max-packets", "1000"], "more than 1000 packets, which is the limit"),
        (["--max-memory", "1 kB"], "may take 1.00 kB"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_above_a_limit_is_one_line_and_no_result(
    flood: str,
    options: list[str],
    reason: str,
    as_json: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A run above a limit ends in one line and has no result: nothing that was cut off passes for
    one."""
    assert main(["run", flood, *options, *(["--json"] if as_json else [])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert reason in err
    assert "flood.toml" in err


@pytest.mark.parametrize("command", ["run", "sweep"])
@pytest.mark.parametrize(
    "words",
    [
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--timeout", "soon"],
        ["--max-packets", "0"],
        ["--max-packets", "1e6"],
        ["--max-memory", "4"],
        ["--max-memory", "-1 GB"],
        ["--max-memory", "nan GB"],
        ["--max-memory", "1e99 GB"],
    ],
)
def test_limits_that_mean_nothing_are_refused(
    flood: str, command: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Limits that mean nothing are refused: a slip leaves no run without a limit."""
    assert main([command, flood, *words]) == 2
    err = capsys.readouterr().err
    assert words[0] in err
    assert words[1] in err
    assert "allowed is" in err


def test_sizes_and_times_are_read_with_their_units() -> None:
    """Sizes and times are read with their units."""
    assert memory_size("4 GB") == 4_000_000_000
    assert memory_size("1.5kB") == 1500
    assert memory_size("2 MiB") == 2 * 1024 * 1024
    assert seconds("1.5") == 1.5
    found = available_memory()
    assert found is None or found > 1_000_000


def test_limits_change_no_result(tmp_path: Path) -> None:
    """Limits that are kept change nothing that is reported."""
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    documents = []
    for limits in ({}, {"max_packets": 1001, "max_memory": 10**9, "timeout": 1e6}):
        run_jobs([Job(SHORT, **limits)], lambda _at, run: documents.append(dict(run.document)))
    for document in documents:
        del document["wall_s"], document["setup_s"]
    assert documents[0] == documents[1]
    # 512 kbit/s in packets of 512 bits.
    assert documents[0]["expected_packets"] == 1000


def test_a_run_above_a_limit_costs_no_other_run() -> None:
    """A run above a limit costs no other run of a sweep."""
    jobs = [Job(SHORT, "a"), Job(FLOOD, "b", max_packets=100, replication=2), Job(SHORT, "c")]
    done: list[int] = []
    with pytest.raises(LimitError, match="b, replication 2, seed None: its sources") as error:
        run_jobs(jobs, lambda index, _run: done.append(index), 1)
    assert sorted(done) == [0, 2]
    assert error.value.reason.startswith("its sources sent more than 100 packets")


def test_networks_take_limits() -> None:
    """Networks in Python take limits, too."""
    net = Network("flood", duration="10 h")
    net.link("wire", "a", "b", rate="1 Mbit/s")
    net.flows("load", "a", "b", udp={}, traffic=traffic.cbr(rate="1 Gbit/s", size="64 B"))
    with pytest.raises(UserError, match=r"links\.wire\.queue: .* would take about"):
        net.run(max_memory="1 GB")
    with pytest.raises(UserError, match="sent more than 5 packets"):
        net.run(max_packets=5, max_memory="100 TB")
    with pytest.raises(UserError, match=r"longer than 0\.1 s"):
        net.run(timeout=0.1, max_memory="100 TB")
    with pytest.raises(UserError, match="allowed is a number of seconds"):
        net.run(timeout=-1)


def _states(folder: Path) -> dict[str, list[str]]:
    """Commands that would not end, or not soon, by what they are at."""
    wide = [
        f'[links.l{n}]\nfrom = "a"\nto = "b{n}"\nrate = "1 Mbit/s"\n'
        'queue.droptail.limit = "50 packets"\n'
        f'[flows.f{n}]\nfrom = "a"\nto = "b{n}"\ncount = 200000\nstart = {{ uniform = ["0 s", '
        '"1 s"] }\ntcp = {}\n'
        for n in range(100)
    ]
    texts = {
        "events": FLOOD,
        "series": FLOOD.replace("10 Tbit/s", "1 kbit/s").replace("10 h", "1 ms")
        + '[record]\nseries = "1 ps"\n',
        "set-up": 'duration = "1 s"\n' + "".join(wide),
        "queue": LINK.format(duration="1 h", rate="1 Tbit/s").replace(
            'queue = { droptail = { limit = "50 packets" } }', ""
        ),
    }
    commands = {}
    for state, text in texts.items():
        path = folder / f"{state}.toml"
        path.write_text(text)
        command = ["run", str(path), "--max-memory", "1000 TB"]
        commands[state] = [*command, "--out", str(folder / "out")] if state == "series" else command
    return commands


@pytest.mark.parametrize("state", ["events", "series", "set-up", "queue"])
def test_ctrl_c_ends_a_run(tmp_path: Path, state: str) -> None:
    """Ctrl-C ends a run in any of its phases: each of these takes hours, or all memory."""
    code = "import sys; from forebay.cli.commands import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *_states(tmp_path)[state]]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.strip() == "forebay: error: interrupted"


@pytest.mark.parametrize("command", ["run", "check", "sweep"])
def test_what_is_no_file_of_text_is_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that is no file of text is refused in one line: devices and pipes are not read for
    ever, nor large files until memory ends."""
    fifo, large, binary = (tmp_path / name for name in ("fifo.toml", "large.toml", "binary.toml"))
    os.mkfifo(fifo)
    with large.open("wb") as file:
        file.truncate(16_000_001)
    binary.write_bytes(b"duration = \xff")
    named = os.fsdecode(bytes(tmp_path) + b"/\xff\xfe.toml")
    Path(named).write_text("links = 1")
    for path, reason in [
        ("/dev/zero", "is no regular file"),
        (str(fifo), "is no regular file"),
        (str(large), "has more than 16,000,000 bytes"),
        (str(tmp_path), "is a folder"),
        (str(binary), "not UTF-8"),
        (named, ""),
        (named + "x", "no such file"),
        ("a\0b", "no file can have this name"),
    ]:
        assert main([command, path]) == 2, path
        out, err = capsys.readouterr()
        assert out == ""
        assert reason in err
        assert len(err.splitlines()) == 1, err


def test_a_file_of_many_bytes_is_read_up_to_the_limit(tmp_path: Path) -> None:
    """A file is read up to the limit of 16 MB, which is enough for a hundred thousand links."""
    path = tmp_path / "padded.toml"
    path.write_text(SHORT + "#" * (15_999_999 - len(SHORT)) + "\n")
    assert main(["check", str(path), "--json"]) == 0


def test_packets_expected_are_in_the_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number of packets expected is in the document, as a measure of how long a run takes."""
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    assert main(["run", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expected_packets"] == 1000
