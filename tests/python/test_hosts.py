"""Hosts as users meet them: by the command, from Python, and in a script for Linux."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forebay import Network, conditioner, queue, tcp, traffic
from forebay.cli.commands import main


def homes(**parameters: str) -> Network:
    """Two homes, each its own node and server, with one and nine uploads through 50 Mbit/s.

    Round trips of 2.4 ms: CUBIC's decrease to 0.7 of these and of CAKE's target, 5 ms, leaves a
    queue of 2.8 ms, so that a single upload takes all that its home may have.
    """
    net = Network("homes", duration="8 s", warm_up="3 s")
    net.link(
        "access",
        "street",
        "isp",
        rate="50 Mbit/s",
        delay="1 ms",
        queue=queue.cake(**parameters),  # type: ignore[arg-type]
    )
    for home, count in (("h1", 1), ("h9", 9)):
        net.link(home, home, "street", rate="1 Gbit/s", delay="100 us")
        net.link(f"srv{home}", "isp", f"srv{home}", rate="1 Gbit/s", delay="100 us")
        net.flows(home, home, f"srv{home}", count=count, tcp=tcp())
    return net


def run_json(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> dict[str, object]:
    """Returns what `forebay run --json` prints for a scenario."""
    assert main(["run", str(path), "--json", *words]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize("isolation", ["triple_isolate", "dual_srchost", "srchost"])
def test_two_homes_share_an_uplink(
    isolation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A home with nine uploads gets no more than one with a single one: both get 24 Mbit/s of 50,
    within 2 % of each other, by the command and from Python."""
    net = homes(isolation=isolation)
    path = tmp_path / "homes.toml"
    path.write_text(net.to_toml())
    document = run_json(capsys, path)
    rows = {row["name"]: row for row in document["hosts"]}  # type: ignore[attr-defined]
    one, nine = (rows[home]["throughput_bps"] for home in ("h1", "h9"))
    assert one == pytest.approx(nine, rel=0.02)
    assert one + nine == pytest.approx(50e6, rel=0.02)
    assert rows["srvh9"]["received_throughput_bps"] == nine
    results = net.run()
    assert results.values("hosts", "h1", "throughput_bps") == [one]
    assert results.digests == [document["digest"]]


def test_counted_flows_are_a_spelling_of_hosts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scenario with `flows_per_source` runs as one that names its hosts: four machines of three
    flows each behind one node, in a group each and in one group."""
    link = """
        duration = "4 s"
        [links.dsl]
        from = "home"
        to = "isp"
        rate = "10 Mbit/s"
        delay = "5 ms"
    """
    flows = 'from = "home"\nto = "isp"\ncount = 3\ntcp = {}\n'
    named, counted = f'{link}queue = "cake"\n', f"{link}queue = {{ cake = {{ flows_per_source = 3, "
    counted += "flows_per_destination = 3 } }\n"
    for machine in "abcd":
        named += f'[flows.{machine}]\nhost = "{machine}"\nto_host = "s{machine}"\n{flows}'
        counted += f"[flows.{machine}]\n{flows}"
    digests = []
    for name, text in (("named", named), ("counted", counted)):
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        digests.append(run_json(capsys, path)["digest"])
    assert digests[0] == digests[1]


def test_check_says_which_host_a_group_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` says which host a group has, since hosts are what CAKE shares between."""
    path = tmp_path / "homes.toml"
    path.write_text(homes().to_toml())
    words = ["--set", 'flows.h1.host="laptop"']
    assert main(["check", str(path), "--json", *words]) == 0
    resolved = json.loads(capsys.readouterr().out)["resolved"]
    assert resolved["flows.h1.host"] == "laptop"
    assert resolved["flows.h1.to_host"] == "srvh1"
    assert resolved["flows.h9.host"] == "h9"
    assert main(["check", str(path), "--set", 'flows.h1.host="h9"']) == 2
    told = capsys.readouterr().err
    assert "flows.h1.host" in told
    assert "node of its own" in told


def test_named_hosts_stand_in_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named hosts have a table of what each sent and received; a scenario that names none has no
    such table."""
    path = tmp_path / "homes.toml"
    path.write_text(homes().to_toml())
    assert main(["run", str(path)]) == 0
    assert "hosts:" not in capsys.readouterr().out
    assert main(["run", str(path), "--set", 'flows.h1.host="laptop"']) == 0
    shown = capsys.readouterr().out
    assert "hosts: what they send" in shown
    assert "laptop" in shown


def test_subscribers_are_policed_one_by_one() -> None:
    """Subscribers are policed one by one: each home has a bucket of 4 Mbit/s whatever number of
    flows it sends, and one has a bucket of its own."""
    net = Network("police", duration="4 s", warm_up="1 s")
    bucket = conditioner.token_bucket(cir="4 Mbit/s", cbs="30 kB", excess="drop")
    net.link(
        "line",
        "a",
        "b",
        rate="100 Mbit/s",
        delay="1 ms",
        conditioners=[
            conditioner.per_flow(of=bucket, keys="src"),
            conditioner.only(
                src="three",
                of=conditioner.token_bucket(cir="2 Mbit/s", cbs="30 kB", excess="drop"),
            ),
        ],
    )
    for host, count in (("one", 1), ("two", 2), ("three", 3)):
        net.flows(
            host,
            "a",
            "b",
            host=host,
            count=count,
            udp={},
            traffic=traffic.cbr(rate="6 Mbit/s", size="1000 B"),
        )
    results = net.run()
    for host, rate in (("one", 4e6), ("two", 4e6), ("three", 2e6)):
        assert results.interval("hosts", host, "throughput_bps").mean == pytest.approx(
            rate, rel=0.02
        )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("queue", '{ sfq = { keys = "src" } }'),
        (
            "conditioner",
            '{ only = { src = "h1", of = { token_bucket = { cir = "1 Mbit/s", cbs = "9 kB", '
            'excess = "drop" } } } }',
        ),
    ],
)
def test_what_needs_a_filter_of_hosts_has_no_script(
    key: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scenario that needs a filter of hosts has no script for Linux and says so: a script without
    it polices everybody, or shares between flows."""
    path = tmp_path / "homes.toml"
    path.write_text(homes().to_toml())
    assert main(["linux", str(path), "--set", f"links.access.{key}={value}"]) == 2
    assert "not mapped to tc's filters" in capsys.readouterr().err


def test_a_script_says_where_its_hosts_are_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script says where Linux has other hosts: in a script each group of flows has its own, which
    those of this scenario have, too, until two share a server."""
    path = tmp_path / "homes.toml"
    path.write_text(homes().to_toml())
    assert main(["linux", str(path)]) == 0
    note = "each group of flows has hosts of its own on Linux"
    told = capsys.readouterr()
    assert note not in told.out + told.err
    assert main(["linux", str(path), "--set", 'flows.h9.to="srvh1"']) == 0
    told = capsys.readouterr()
    assert note in told.out + told.err
