"""Tags as users meet them: on the terminal, in documents, in expressions, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from forebay import Network, conditioner, queue, tcp, traffic, udp
from forebay.cli.commands import main

HOMES = 6


def street(**of_link: object) -> Network:
    """Homes behind one link of 10 Mbit/s, each with a game and downloads."""
    net = Network("street", duration="10 s", warm_up="1 s")
    net.link("access", "isp", "street", rate="10 Mbit/s", delay="5 ms", **of_link)
    for home in range(HOMES):
        net.link(f"line{home}", "street", f"home{home}", rate="50 Mbit/s", tags=["lines"])
        net.flows(
            f"game{home}",
            "isp",
            f"home{home}",
            tags=["games"],
            udp=udp(),
            traffic=traffic.cbr(rate="100 kbit/s", size="100 B"),
        )
        net.flows(
            f"web{home}",
            "isp",
            f"home{home}",
            tags=["web"],
            tcp=tcp(),
            traffic=traffic.file(size="1 MB"),
        )
    return net


def test_a_line_asks_of_all_that_have_a_tag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Percentiles over all packets of a tag, the worst member, fairness, sums over links and hosts
    are one expression each, with intervals over replications; the terminal has rows by tag."""
    net = street(queue=queue.fq_codel())
    net.host("home0", tags=["paid"]).host("home1", tags=["paid"])
    file = tmp_path / "street.toml"
    net.save(file)
    asked = (
        "tags.games.p99_delay",
        "worst(groups[games].p99_delay)",
        "transfers_by_tag.web.p50_completion",
        "jain(groups[web].goodput)",
        "max(links[lines].utilization)",
        "sum(hosts[paid].received_packets)",
    )
    words = [word for quantity in asked for word in ("--quantity", quantity)]
    assert main(["run", str(file), "--replications", "3", *words]) == 0
    shown = capsys.readouterr().out
    assert all(quantity in shown for quantity in asked)
    assert "transfers_by_tag" in shown
    assert main(["run", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "groups of flows, by tag" in shown
    assert "transfers by tag: completion times and slowdowns" in shown


def test_a_tag_lies_between_the_best_and_the_worst_of_its_groups() -> None:
    """Counters of a tag are sums of those of its groups, and percentiles of all packets together
    lie between those of its groups, wherever these stand: in any run."""
    found = street(queue=queue.fq_codel()).run(replications=3)
    for tag in ("games", "web"):
        for quantity in ("p50_delay_s", "p95_delay_s", "mean_delay_s"):
            of_groups = found.values_of(f"min(groups[{tag}].{quantity})")
            worst = found.values_of(f"max(groups[{tag}].{quantity})")
            own = found.values_of(f"tags.{tag}.{quantity}")
            for low, value, high in zip(of_groups, own, worst, strict=True):
                assert None not in (low, value, high)
                assert float(low or 0) * 0.992 <= float(value or 0) <= float(high or 0) * 1.008
        sent = found.values_of(f"sum(groups[{tag}].sent_packets)")
        assert found.values("tags", tag, "sent_packets") == sent
    assert found.tags.num_rows == 2 * 3
    assert found.to_pandas("tags")["groups"].tolist() == [HOMES] * 6


def test_laws_go_by_tags_from_python() -> None:
    """A classifier gives all games a class of strict priority by their tag, and a policer holds the
    downloads together to 2 Mbit/s: what V-24 asked for."""
    rate = "2 Mbit/s"
    policer = conditioner.only(
        flows="web", of=conditioner.token_bucket(cir=rate, cbs="15 kB", excess="drop")
    )
    first = queue.priority(
        flow_groups=["games"], classes=[queue.droptail(limit="50 packets"), queue.fq_codel()]
    )
    free, held = (street(queue=first, **extra).run() for extra in ({}, {"conditioner": policer}))
    # At most one segment of 1,514 B is ahead of a game's packet on the link, and the games of all
    # homes come at once: 6 packets of 128 B at most.
    most = 5e-3 + (1514 + HOMES * 128) * 8 / 10e6 + 1e-3
    assert free.values("tags", "games", "max_delay_s")[0] < most
    (goodput,) = held.values("tags", "web", "throughput_bps")
    # The bucket's 15 kB come on top: 0.013 Mbit/s over nine seconds.
    assert goodput < 2.02e6
    (unheld,) = free.values("tags", "web", "throughput_bps")
    assert unheld > 2 * goodput


def test_an_unknown_tag_is_answered_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip in a tag costs no search: the message names those that there are, status 2."""
    file = tmp_path / "street.toml"
    street().save(file)
    assert main(["run", str(file), "--quantity", "mean(groups[game].goodput)"]) == 2
    message = capsys.readouterr().err
    assert 'no groups with the tag "game"' in message
    assert "games, web" in message
    assert main(["run", str(file), "--set", 'flows.web0.tags=["games", "games"]']) == 2
    assert 'flows.web0.tags: "games" is there twice' in capsys.readouterr().err
