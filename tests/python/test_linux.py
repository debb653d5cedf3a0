"""The command `linux`: a scenario as commands of tc and ip.

Expected words are the options of tc's man pages with the numbers of the scenario.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from forebay.cli.commands import main

EXAMPLES = Path(__file__).parents[2] / "examples"
RED = EXAMPLES / "red.toml"


def tc(capsys: pytest.CaptureFixture[str], queue: str, *more: str) -> str:
    """The command for the queue of the bottleneck of `red.toml` with another one."""
    words = ["--set", f"links.bottleneck.queue={queue}", "--link", "bottleneck", "--dev", "eth0"]
    assert main(["linux", str(RED), *words, *more]) == 0
    return capsys.readouterr().out.splitlines()[-1]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said about input that has no script."""
    assert main(["linux", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ('{ droptail = { limit = "20 packets" } }', "pfifo limit 20"),
        ('{ droptail = { limit = "45 kB" } }', "bfifo limit 45000"),
        (
            '{ codel = { target = "7 ms", interval = "90 ms", ecn = true, limit = "80 packets" } }',
            "codel limit 80 target 7000us interval 90000us ecn",
        ),
        # RFC 8033: alpha 1/8 and beta 1 1/4 are 2 and 20 sixteenths.
        (
            '{ pie = { target = "20 ms", limit = "90 packets" } }',
            "pie limit 90 target 20000us tupdate 15000us alpha 2 beta 20",
        ),
        (
            '{ fq_codel = { queues = 64, quantum = "300 B" } }',
            "fq_codel limit 10240 flows 64 quantum 300 target 5000us interval 100000us",
        ),
        ("{ fq_pie = { ecn = true } }", "fq_pie limit 10240 flows 1024 target 15000us"),
        (
            '{ sfq = { depth = 9, perturb = "10 s", head_drop = true } }',
            "sfq limit 127 divisor 1024 quantum 1514 depth 9 perturb 10 headdrop",
        ),
        (
            '{ cake = { rate = "9 Mbit/s", tins = "diffserv4", overhead = "18 B" } }',
            "cake bandwidth 9000000bit rtt 100000us diffserv4 triple-isolate overhead 18",
        ),
        ('{ cake = { ack_filter = "aggressive" } }', "nowash ack-filter-aggressive"),
        ("dualpi2", "dualpi2 limit 10000 target 15000us tupdate 16000us alpha 0.16 beta 3.2"),
        (
            '{ tbf = { rate = "1 Mbit/s", burst = "3 kB", '
            'queue = { droptail = { limit = "9 kB" } } } }',
            "tbf rate 1000000bit burst 3000 limit 9000",
        ),
    ],
)
def test_queue_words(capsys: pytest.CaptureFixture[str], queue: str, words: str) -> None:
    """An engineer would configure another queue than the one that was simulated."""
    assert words in tc(capsys, queue)


def test_red_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Linux's RED would average, or drop, at other lengths than the scenario's."""
    line = tc(
        capsys,
        '{ red = { min_threshold = "10 packets", max_threshold = "30 packets", '
        'mean_packet = "1000 B", weight = 0.25, limit = "60 packets", ecn = true } }',
    )
    # W = 1/4. tc takes the least exponent with burst + 1 - 10 <= (1 - (1 - W)^burst) / W: with a
    # burst of 11 that is 2 against 1.999 for W = 1/2, which fails, and 3.83 for 1/4, which holds.
    words = "red min 10000 max 30000 limit 60000 avpkt 1000 burst 11 probability 0.1 ecn"
    assert line.endswith(words)


def test_impairments(capsys: pytest.CaptureFixture[str]) -> None:
    """A lossy link would lose another share of its packets on Linux."""
    for law, words in (
        ("{ loss = { probability = 0.01 } }", "netem limit 1000000 delay 20000us loss random 1%"),
        (
            "{ gilbert_elliott = { to_bad = 0.01, to_good = 0.1 } }",
            "loss gemodel 1% 10% 100% 0%",
        ),
        ("{ duplication = { probability = 0.5 } }", "duplicate 50%"),
        # Uniform on 0 to 4 ms behind 20 ms is 22 ms plus or minus 2 ms.
        ('{ jitter = { mean = "2 ms", reorder = true } }', "delay 22000us 2000us"),
    ):
        given = ["--set", f"links.bottleneck.impairment={law}", "--allow", "gentle"]
        assert main(["linux", str(RED), *given]) == 0
        assert words in capsys.readouterr().out


def test_dumbbell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The network on Linux would have other nodes, wires or ways."""
    file = tmp_path / "red.sh"
    assert main(["linux", str(RED), "--allow", "gentle", "--out", str(file)]) == 0
    assert capsys.readouterr().out == ""
    script = file.read_text()
    # Three nodes and two wires; two veth pairs a link; each node knows the two others.
    assert len(re.findall(r"^ip netns add", script, re.M)) == 5
    assert len(re.findall(r"type veth peer", script)) == 4
    assert len(re.findall(r"route add", script)) == 6
    assert "tbf rate 10000000bit burst 1600" in script
    assert "-C reno -M 1460 -P 8" in script
    assert subprocess.run(["bash", "-n", str(file)], check=False).returncode == 0
    if shutil.which("shellcheck"):
        assert subprocess.run(["shellcheck", str(file)], check=False).returncode == 0


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A program could not tell what is approximated."""
    assert main(["linux", str(RED), "--allow", "links.bottleneck.queue.red.gentle", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"script", "notes", "approximations"}
    assert document["approximations"][0].startswith("links.bottleneck.queue.red.gentle: ")


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    """Something else than the scenario would be built without a word."""
    assert "links.bottleneck.queue.red.gentle: " in refused(capsys, str(RED))
    one = ["--link", "bottleneck", "--dev", "eth0"]
    for queue, told in (
        ("cobalt", "links.bottleneck.queue.cobalt: Linux has no COBALT alone; the nearest is cake"),
        (
            '{ rio = { min_threshold = ["5 packets"], max_threshold = ["9 packets"], '
            "max_probability = [0.1] } }",
            "links.bottleneck.queue.rio: Linux has no RIO; the nearest is gred",
        ),
    ):
        given = ["--set", f"links.bottleneck.queue={queue}"]
        assert told in refused(capsys, str(RED), *given, *one)
    assert 'no link "botleneck"' in refused(capsys, str(RED), "--link", "botleneck", "--dev", "e0")
    assert "allowed is the name of a device" in refused(
        capsys, str(RED), "--link", "bottleneck", "--dev", "eth0; reboot"
    )
    assert "--link, --dev: " in refused(capsys, str(RED), "--link", "bottleneck")
    assert '--allow: no approximation "gentel"' in refused(
        capsys, str(EXAMPLES / "codel.toml"), "--allow", "gentel"
    )


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    """A scenario would give neither a script nor the key path for which it has none."""
    status = main(["linux", str(example)])
    told = capsys.readouterr()
    if status == 0:
        done = subprocess.run(["bash", "-n"], input=told.out, text=True, check=False)
        assert done.returncode == 0
        return
    assert status == 2
    assert re.match(r"forebay: error: (links|flows|rings|aggregates)\.[\w.\-]+: ", told.err)
