"""Sources of datagrams on Linux: their words in the script, and what the program makes of them.

Times are those of the laws, from a generator with a seed; one test sends over the loopback.
"""

from __future__ import annotations

import itertools
import json
import math
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.cli.commands import main
from forebay.linux import datagrams

EXAMPLES = Path(__file__).parents[2] / "examples"
BORROW = str(EXAMPLES / "borrow.toml")


def sender(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    """The words of the sender of the flow `voice` of `borrow.toml`, of which there are ten."""
    settings = [word for each in given for word in ("--set", each)]
    assert main(["linux", BORROW, *settings]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if 'datagrams.py" send' in line]
    words = line.partition(' "$out/datagrams.py" send 10.128.5.1 5203 ')[2]
    return words.removesuffix(") &")


def traffic(law: str) -> str:
    """Another law for that flow."""
    return f"flows.voice.traffic={law}"


def test_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Sources on Linux send at the rates and with the codepoints of the scenario."""
    # 80 kbit/s of 200 B are a packet each 20 ms, of 172 B without the headers of UDP and IP; for
    # 20 s, ten sources, no jitter, a random phase each; EF is 46, times 4 is 184.
    assert sender(capsys) == "20 10 184 cbr 0.02 172 0.0 1"
    # A header of RTP is data to UDP: the packet stays as long as it is.
    assert sender(capsys, 'flows.voice.udp.header="40 B"') == "20 10 184 cbr 0.02 172 0.0 1"
    assert sender(capsys, traffic('{ voice = { codec = "g729_20ms" } }')) == (
        "20 10 184 cbr 0.02 32 0 1"
    )
    on_off = '{ on_off = { rate = "80 kbit/s", size = "200 B", on = "400 ms", off = "600 ms" } }'
    assert sender(capsys, traffic(on_off)) == "20 10 184 on_off 0.02 172 0.4 0.6"
    # 600 Mbit/s for 1 ms are 50 packets of 1500 B.
    pulses = '{ pulses = { rate = "600 Mbit/s", size = "1500 B", random_phase = false } }'
    assert sender(capsys, traffic(pulses)) == "20 10 184 pulses 2e-05 1472 50 0.021 0"
    # Maglaris et al.: 0.8781, 0.1108 and 0.572; packets of 1356 B with a header of 40 B.
    video = '{ video = { line_rate = "100 Mbit/s" } }'
    assert sender(capsys, traffic(video)) == (
        "20 10 184 video 30.0 25645 0.8781 0.1108 0.572 1316 40 100000000"
    )
    assert main(["linux", BORROW, "--json"]) == 0
    script = json.loads(capsys.readouterr().out)["script"]
    assert '"$out/datagrams.py" receive 5203 22 "$out/flow2.delays" &' in script


@pytest.mark.parametrize(
    ("law", "told"),
    [
        (
            '{ poisson = { rate = "80 kbit/s", size = "39 B" } }',
            "poisson.size: a datagram has 12 B",
        ),
        (
            '{ voice = { codec = "g711_20ms", silence_suppression = true } }',
            "voice.silence_suppression: not mapped; the nearest is traffic.on_off",
        ),
        ('{ pareto = { rate = "1 Mbit/s", size = "99 B" } }', "pareto: not mapped"),
        (
            '{ video = { line_rate = "1 Mbit/s", header = "8 B" } }',
            "video.header: a datagram has 28 B of IP and UDP",
        ),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], law: str, told: str) -> None:
    """A source that Linux has no program for is refused by its key path, never replaced by
    another."""
    assert main(["linux", BORROW, "--set", traffic(law)]) == 2
    assert f"flows.voice.traffic.{told}" in capsys.readouterr().err


def test_echoes_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Datagrams that are to be answered are refused by their key path: the program answers none,
    and round-trip times would be missing without a word."""
    assert main(["linux", BORROW, "--set", "flows.voice.udp={ echo = true }"]) == 2
    assert "flows.voice.udp.echo: datagrams.py answers no datagrams" in capsys.readouterr().err


def drawn(law: str, *numbers: float) -> Iterator[tuple[float, int]]:
    """Times and sizes of a source."""
    datagrams._DRAWS.seed(7)
    return datagrams._LAWS[law](*numbers)


def until(end: float, source: Iterator[tuple[float, int]]) -> list[tuple[float, int]]:
    """Those before a time."""
    return list(itertools.takewhile(lambda each: each[0] < end, source))


def test_pulses() -> None:
    """Pulses have the length and the start of the scenario's."""
    times = [when for when, _ in itertools.islice(drawn("pulses", 2e-5, 1472, 50, 0.021, 0), 101)]
    assert times[:2] == [0.0, 2e-5]
    assert times[49] == pytest.approx(49 * 2e-5)
    assert times[50] == pytest.approx(0.021)
    assert times[100] == pytest.approx(0.042)
    first = next(drawn("pulses", 2e-5, 1472, 50, 0.021, 1))[0]
    assert 0 < first < 0.021


def test_on_off() -> None:
    """A source of ON and OFF times is silent for the scenario's share of the time."""
    gap, on, off, end = 0.02, 1.004, 1.590, 40_000.0
    rows = until(end, drawn("on_off", gap, 172, on, off))
    # An ON time has a packet at its start and each gap later: 1 / (1 - exp(-gap / on)) on average.
    # 15,420 cycles have a standard deviation of 1.1 % of that; 5 of them are 5.5 %.
    expected = end / (1 - math.exp(-gap / on)) / (on + off)
    assert len(rows) == pytest.approx(expected, rel=0.055)
    times = [when for when, _ in rows]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    # Most packets are within ON times, one gap apart.
    assert sum(each < 1.0001 * gap for each in gaps) > 0.9 * len(gaps)


def test_video() -> None:
    """Frames of video have the scenario's mean size, and are cut and spaced as there."""
    frames, pixels, a, b, mean, line = 30.0, 25_645, 0.8781, 0.1108, 0.572, 100e6
    rows = until(1000.0, drawn("video", frames, pixels, a, b, mean, 1316, 40, line))
    by_frame: dict[int, int] = {}
    for when, size in rows:
        # UDP carries the 12 B of RTP, too.
        assert 12 < size <= 1316 + 12
        at = round((when - rows[0][0]) * frames - 0.1)
        by_frame[at] = by_frame.get(at, 0) + size - 12
    # The draft's 400 kbit/s: b m / (1 - a) is 0.51991 bit a pixel. The mean of 30,000 frames with
    # this correlation has a standard deviation of 1 %; frames below zero, left out, add 0.2 %.
    assert 8 * sum(by_frame.values()) / 1000 == pytest.approx(400_000, rel=0.055)
    sizes = [by_frame.get(at, 0) for at in range(30_000)]
    centre = math.fsum(sizes) / len(sizes)
    spread = math.fsum((size - centre) ** 2 for size in sizes)
    lag = math.fsum((x - centre) * (y - centre) for x, y in itertools.pairwise(sizes)) / spread
    # Bartlett: the estimate's standard deviation is 0.0028; cutting at zero takes a little, too.
    assert lag == pytest.approx(a, abs=0.02)
    # Within a frame the next packet follows when the line has sent the one before.
    (first, size), (second, _) = rows[:2]
    assert size == 1316 + 12
    assert second - first == pytest.approx(8 * (1316 + 40) / line)


def _sent(folder: Path, port: int, *words: str) -> list[list[float]]:
    """Returns what a receiver notes of the datagrams of a sender: the time at which each came, and
    its source."""
    program = [sys.executable, datagrams.__file__]
    file = folder / "delays"
    receive = ["receive", str(port), "1.5", str(file)]
    with subprocess.Popen([*program, *receive]) as receiver:
        time.sleep(0.3)
        subprocess.run([*program, "send", "127.0.0.1", str(port), *words], check=True)
        assert receiver.wait(10) == 0
    return [[float(word) for word in line.split()] for line in file.read_text().splitlines()]


def test_sender_and_receiver(tmp_path: Path) -> None:
    """Senders and receivers agree in number, spacing, times and sizes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rows = _sent(tmp_path, port, "0.5", "3", "184", "cbr", "0.02", "172", "0.0", "1")
    # Every 20 ms for 0.5 s, each from within its first 20 ms: 25, or 24 if the last is late.
    for source in range(3):
        times = [when for when, _, index, _ in rows if index == source]
        assert len(times) in (24, 25)
    assert all(0.0 <= delay < 1.0 for _, delay, _, _ in rows)
    assert {size for *_, size in rows} == {200}
    rows = _sent(tmp_path, port, "0.5", "1", "0", "poisson", "0.002", "12")
    # 250 on average. A Poisson number is beyond 5 standard deviations of 16 once in a million.
    assert 170 < len(rows) < 330
