"""Files in the formats of other programs: flent's data, and the text trace of ns-2."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forebay import Network, queue, traffic
from forebay.cli.commands import main


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Two links of 10 Mbit/s in a row; two transfers, and datagrams of 100 B."""
    net = Network("two hops", duration="6 s", warm_up="1 s")
    net.link("first", "A", "R", rate="10 Mbit/s", delay="2 ms")
    law = queue.droptail(limit="20 packets")
    net.link("second", "R", "B", rate="5 Mbit/s", delay="5 ms", queue=law)
    net.flows("bulk", "A", "B", count=2)
    net.flows("call", "A", "B", udp={}, traffic=traffic.cbr(rate="8 kbit/s", size="100 B"))
    path = tmp_path / "two.toml"
    path.write_text(net.to_toml(), encoding="utf-8")
    return path


def test_flent_finds_the_fields_that_it_reads(scenario: Path, tmp_path: Path) -> None:
    """Flent finds the fields that it reads, in Mbit/s and ms (flent 2.3, `resultset.py` and
    `tests/tcp_nup.conf`). Goodputs in a run without an end of traffic add up to what the bottleneck
    carries: 5 Mbit/s times 1448/1500, less 8 kbit/s of datagrams."""
    file = tmp_path / "two.flent.gz"
    words = ["--set", "record.series=200ms", "--flent", str(file)]
    assert main(["run", str(scenario), *words]) == 0
    first = file.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(first))
    assert found.keys() == {"version", "metadata", "x_values", "results", "raw_values"}
    assert found["version"] == 4
    meta = found["metadata"]
    needed = ("NAME", "TITLE", "TIME", "T0", "LENGTH", "TOTAL_LENGTH", "STEP_SIZE", "HOST", "HOSTS")
    assert all(meta[name] is not None for name in needed)
    assert (meta["NAME"], meta["TITLE"]) == ("tcp_nup", "two hops")
    assert meta["TEST_PARAMETERS"] == {"upload_streams": "1"}
    assert meta["STEP_SIZE"] == pytest.approx(0.2)
    assert len(found["x_values"]) == 30
    assert all(len(values) == 30 for values in found["results"].values())
    assert {name: one["UNITS"] for name, one in meta["SERIES_META"].items()} == {
        "TCP upload::1": "Mbits/s",
        "TCP upload sum": "Mbits/s",
        "TCP upload avg": "Mbits/s",
        "TCP upload fairness": "Idx",
        "Ping (ms) ICMP": "ms",
        "Ping (ms) call": "ms",
    }
    late = found["results"]["TCP upload sum"][15:]
    assert sum(late) / len(late) == pytest.approx((5 - 0.008) * 1448 / 1500, rel=0.02)
    # Propagation of 7 ms, 0.08 and 0.16 ms of transmission, and 20 packets of 2.4 ms behind one
    # in transmission. In the first half slow start lets bursts wait at the first link, too; later
    # an acknowledgement of two segments releases three of each transfer at most, of 1.2 ms there.
    waits = found["results"]["Ping (ms) ICMP"]
    assert all(wait > 7.24 - 1e-9 for wait in waits if wait is not None)
    assert all(wait < 7.24 + 21 * 2.4 + 6 * 1.2 for wait in waits[15:] if wait is not None)
    sample = found["raw_values"]["TCP upload::1"][10]
    assert sample.keys() == {"t", "val", "tcp_rtt", "tcp_cwnd"}
    assert 14 < sample["tcp_rtt"] < 100
    assert main(["run", str(scenario), *words]) == 0
    assert file.read_bytes() == first


def test_flent_pings_are_round_trips(scenario: Path, tmp_path: Path) -> None:
    """Pings of datagrams that are answered are round-trip times, as flent measures them: twice 7.24
    ms and, behind up to 21 packets of 2.4 ms and more at the first link, as much as one way; the
    series that plots look for is of these, though other datagrams come first."""
    file = tmp_path / "two.flent.gz"
    ping = "flows.ping={ from = 'A', to = 'B', udp = { echo = true }, traffic = { cbr = "
    ping += "{ rate = '40 kbit/s', size = '100 B', random_phase = false } } }"
    words = ["--set", "record.series=200ms", "--flent", str(file), "--set", ping]
    assert main(["run", str(scenario), *words]) == 0
    found = json.loads(gzip.decompress(file.read_bytes()))
    results = found["results"]
    assert results["Ping (ms) ICMP"] == results["Ping (ms) ping"] != results["Ping (ms) call"]
    waits = results["Ping (ms) ping"]
    assert len(waits) == 30
    assert all(14.48 - 1e-9 < wait < 14.48 + 21 * 2.4 + 6 * 1.2 for wait in waits[15:])


def test_single_flows_are_streams_of_their_own(scenario: Path, tmp_path: Path) -> None:
    """Single flows are streams of their own and replace their group: no goodput is counted twice,
    and Jain's index is over the flows."""
    file = tmp_path / "two.flent.gz"
    of = 'record.series_of=["flows.bulk", "flows.bulk[0]", "flows.bulk[1]"]'
    words = ["--set", "record.series=200ms", "--set", of, "--flent", str(file)]
    assert main(["run", str(scenario), *words]) == 0
    found = json.loads(gzip.decompress(file.read_bytes()))
    meta = found["metadata"]["SERIES_META"]
    flows = [one["FLOW"] for name, one in meta.items() if name.startswith("TCP upload::")]
    assert sorted(flows) == ["bulk[0]", "bulk[1]"]
    for index in found["results"]["TCP upload fairness"]:
        assert index is None or 0.5 <= index <= 1


def test_a_trace_follows_each_packet_in_the_columns_of_ns2(scenario: Path, tmp_path: Path) -> None:
    """A trace follows each packet in the columns of ns-2: 12 columns, `+` before `-`, `r` and `d`,
    one `d` a loss, hops one after the other, each as long as the link takes from `-` on, and each
    transmission after the one before."""
    file = tmp_path / "two.tr"
    command = ["run", str(scenario), "--set", "record.trace=100000", "--ns2", str(file), "--json"]
    assert main(command) == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["# node 0 A", "# node 1 R", "# node 2 B"]
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert {len(row) for row in rows} == {12}
    letters = Counter(row[0] for row in rows)
    assert letters.keys() == {"+", "-", "r", "d"}
    times = [float(row[1]) for row in rows]
    assert times == sorted(times)
    assert {row[4] for row in rows} == {"tcp", "ack", "cbr"}
    assert all(row[6] == "-------" for row in rows)
    under_way: dict[str, list[str]] = {}
    free_at: dict[tuple[str, str], float] = {}
    delays = {("0", "1"): 2e-3, ("1", "2"): 5e-3, ("2", "1"): 5e-3, ("1", "0"): 2e-3}
    for letter, time, *ends, _kind, size, _flags, _flow, source, target, _seq, packet in rows:
        if letter == "+":
            expected = under_way.get(packet, [])
            assert not expected or expected[2] == "at " + ends[0]
            under_way[packet] = [time, "+", ends[1]]
            assert expected or ends[0] == source.partition(".")[0]
        else:
            rate = 5e6 if "2" in ends else 10e6
            sending = int(size) * 8 / rate
            assert under_way[packet][1:] == ["-" if letter == "r" else "+", ends[1]]
            if letter == "-":
                assert float(time) > free_at.get((ends[0], ends[1]), 0.0) - 1e-9
                free_at[ends[0], ends[1]] = float(time) + sending
                under_way[packet] = [time, "-", ends[1]]
            if letter == "r":
                passed = float(time) - float(under_way[packet][0])
                assert passed == pytest.approx(delays[ends[0], ends[1]] + sending, abs=1e-9)
                assert ends[1] in ("1", target.partition(".")[0])
                under_way[packet] = [time, "r", "at " + ends[1]]
    assert letters["-"] == letters["r"]
    assert math.isclose(letters["+"], letters["r"] + letters["d"], rel_tol=0.01)


def test_a_link_that_changes_has_no_start_of_transmission(scenario: Path, tmp_path: Path) -> None:
    """A link that changes has no `-` lines in a trace: an impairment delays packets, and a link's
    rate may come from its profile, so the start of a transmission does not follow from a rate and a
    delay."""
    file = tmp_path / "late.tr"
    late = 'links.second.impairment={ jitter = { mean = "1 ms" } }'
    command = ["run", str(scenario), "--set", "record.trace=2000", "--set", late, "--json"]
    assert main([*command, "--ns2", str(file)]) == 0
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    begun = {tuple(row[2:4]) for row in rows if row[0] == "-"}
    assert begun == {("0", "1"), ("1", "0")}


def test_losses_of_a_trace_are_those_of_the_run(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Losses of a trace are those in the results of the run."""
    file = tmp_path / "two.tr"
    more = ["--set", "warm_up=0s", "--set", "record.trace=100000"]
    assert main(["run", str(scenario), *more, "--ns2", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    lost = [line for line in file.read_text(encoding="utf-8").splitlines() if line[0] == "d"]
    assert len(lost) == sum(link["drops"] for link in document["links"]) > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--flent", "x.flent.gz"], "record.series"),
        (["--ns2", "x.tr"], "record.trace"),
        (["--ns2", "x.tr", "--replications", "2"], "one run"),
        (["--flent", "x.flent.gz", "--replications", "2"], "one run"),
    ],
)
def test_what_there_is_no_file_of_is_said(
    words: list[str],
    told: str,
    scenario: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An export that a command cannot write is refused in one line, and no file is written."""
    monkeypatch.chdir(scenario.parent)
    assert main(["run", str(scenario), *words]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert told in complaint
    assert not list(scenario.parent.glob("x.*"))


def test_captures(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--capture` writes the link that it names to the file that it names, as `record.capture`
    does, and a wrong name is refused before the run."""
    out, file = tmp_path / "out", tmp_path / "one.pcapng"
    recorded = ["--set", 'record.capture=["second"]', "--out", str(out), "--until", "2 s"]
    assert main(["run", str(scenario), *recorded, "--capture", f"first.reverse={file}"]) == 0
    assert (out / "capture-second.pcapng").exists()
    given = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert file.read_bytes() == (out / "capture-first.reverse.pcapng").read_bytes()
    # The magic number of a section header block (the pcapng draft, section 4.1).
    assert file.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert "first.reverse" in given["command"]
    capsys.readouterr()
    for words, told in (
        ([f"frist={file}"], '--capture: no link "frist" (did you mean "first"'),
        (["first"], '--capture: "first"; allowed is LINK=FILE'),
        ([f"first={file}", "first=b"], '--capture: link "first" twice'),
    ):
        asked = [part for word in words for part in ("--capture", word)]
        assert main(["run", str(scenario), *asked]) == 2
        assert told in capsys.readouterr().err
    words = ["--replications", "2", "--capture", f"first={file}"]
    assert main(["run", str(scenario), *words]) == 2
    assert "--replications, --capture: such a file holds one run" in capsys.readouterr().err
    away = tmp_path / "no" / "one.pcapng"
    assert main(["run", str(scenario), "--until", "2 s", "--capture", f"first={away}"]) == 2
    assert f"--capture: link first: {away}: there is no such folder" in capsys.readouterr().err
