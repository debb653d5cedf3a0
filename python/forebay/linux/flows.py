"""Flows as runs of iperf3, or of a sender of our own, with the settings of their hosts."""

from __future__ import annotations

import math
from fractions import Fraction

from forebay.linux.classes import codepoint
from forebay.linux.sources import source_words
from forebay.linux.topology import Topology
from forebay.linux.values import Remarks, View, number

__all__ = ["flow_commands"]

_CONTROLS = ("reno", "cubic", "bbr", "dctcp", "vegas", "westwood", "highspeed", "scalable")
_EXITS = {"rfc9406": "HyStart++", "search": "SEARCH"}
"""Exits of slow start that CUBIC of Linux does not have."""
_STREAMS = 128
"""Parallel streams that iperf3 can have."""

_UNMAPPED = {
    "media": "no program of Linux has an encoder that follows reports as this one",
    "calls": "no program of Linux makes calls",
    "paced": "no program of Linux sends at rates that links tell",
    "policing": "no program of Linux polices calls",
    "linked": "no program of Linux sends several kinds of traffic as one",
}
"""Kinds of flows that only simulated hosts have."""

_APPLICATIONS = {
    "adaptive_video": "iperf3 has no client that asks for chunks at rates that it chooses",
    "requests": "iperf3 has no client that asks, thinks and asks again",
    "transfers": "iperf3 begins no transfers at random times, each on a connection of its own",
}
"""Applications over TCP that iperf3 is not."""


def flow_commands(topology: Topology, duration: str, remarks: Remarks) -> list[str]:
    """The commands that start all flows, in the background."""
    servers, clients = [], []
    for index, (name, flow) in enumerate(topology.flows.items()):
        if flow.get("route"):
            remarks.refuse(f"{flow.path}.route", "not mapped; the nearest is the shortest path")
        client, server = topology.host(name, 0), topology.host(name, 1)
        port, target = 5201 + index, topology.host_address(name, 1)
        settings, words = _traffic(flow, remarks)
        servers.append(f"# flow {name}")
        for setting in settings:
            servers += [f"ip netns exec {host} sysctl -qw {setting}" for host in (client, server)]
        servers += _route(topology, name, flow, remarks)
        begin = _start(flow, remarks)
        # A client whose connection does not end gets some seconds more than all others.
        patience = math.ceil(number(duration) - begin) + 10
        if flow.below("udp"):
            # A datagram that waits at the end of the run still arrives.
            life = f"{float(number(duration)) + 2:g}"
            run = f'python3 "$out/datagrams.py" receive {port} {life} "$out/flow{index}.delays"'
            servers.append(f"ip netns exec {server} {run} &")
            span = number(flow.get("stop") or duration) - begin
            count, tos = flow.get("count") or "1", _class(flow, remarks)
            words = [target, str(port), f"{float(span):g}", count, str(tos), *words]
            run = f'python3 "$out/datagrams.py" send {" ".join(words)}'
        else:
            servers.append(f"ip netns exec {server} iperf3 -s -D -1 -p {port}")
            time = [] if "-n" in words else _seconds(flow, duration, remarks)
            field = _class(flow, remarks)
            words = [*time, *words, *(["-S", str(field)] if field else [])]
            run = f'iperf3 -c {target} -p {port} {" ".join(words)} -J >"$out/flow{index}.json"'
        clients.append(
            f"(sleep {float(begin):g}; exec timeout {patience} ip netns exec {client} {run}) &"
        )
    # A server that does not listen yet would refuse its client.
    return [*servers, "sleep 1", *clients]


def _seconds(flow: View, duration: str, remarks: Remarks) -> list[str]:
    """Options for the time that iperf3 sends: whole seconds, at least to the end of the run."""
    stop = flow.get("stop")
    span = number(stop or duration) - _start(flow, remarks)
    if stop is None:
        return ["-t", str(max(1, math.ceil(span)))]
    seconds = max(1, round(span))
    if seconds != span:
        remarks.note(f"{flow.path}.stop", f"iperf3 has whole seconds: it sends for {seconds} s")
    return ["-t", str(seconds)]


def _start(flow: View, remarks: Remarks) -> Fraction:
    text = flow.get("start") or "0 s"
    if not text.startswith("uniform"):
        return number(text)
    words = text.split()
    late = number(" ".join(words[3:5]))
    remarks.note(f"{flow.path}.start", f"all start at once, in the middle of {text}")
    return (number(" ".join(words[1:3])) + late) / 2


def _class(flow: View, remarks: Remarks) -> int:
    """The field of DSCP and ECN of a flow: its codepoint, or its precedence as class selector."""
    point = codepoint(flow.text("dscp")) if flow.get("dscp") else 0
    precedence = int(flow.get("precedence") or 0)
    if precedence and point:
        text = "a packet of Linux has one field for both; the nearest is dscp alone"
        remarks.refuse(f"{flow.path}.precedence", text)
    if precedence > 7:
        text = "class selectors have 7 at most; the nearest is 7"
        remarks.refuse(f"{flow.path}.precedence", text)
    return point << 2 or precedence << 5


def _traffic(flow: View, remarks: Remarks) -> tuple[list[str], list[str]]:
    """The sysctls of the flow's hosts, and the words of iperf3 or of datagrams.py."""
    for other, why in _UNMAPPED.items():
        if flow.below(other):
            remarks.refuse(f"{flow.path}.{other}", f"{why}; the nearest is traffic.cbr")
    if flow.below("udp"):
        if flow.is_set("udp.echo"):
            text = "datagrams.py answers no datagrams; the nearest is false"
            remarks.refuse(f"{flow.path}.udp.echo", text)
        return [], source_words(flow, remarks)
    if not flow.below("tcp"):
        remarks.refuse(flow.path, "no program of Linux has its transport; the nearest is tcp")
    count = int(flow.get("count") or "1")
    if count > _STREAMS:
        text = f"iperf3 has {_STREAMS} streams at most; the nearest is {_STREAMS}"
        remarks.refuse(f"{flow.path}.count", text)
    return _settings(flow, remarks), [*_connection(flow, remarks), "-P", str(count)]


def _connection(flow: View, remarks: Remarks) -> list[str]:
    tcp = flow.at("tcp")
    control = tcp.chosen("control") or "reno"
    if control not in _CONTROLS:
        near = "dctcp" if control == "prague" else "bbr" if control == "bbr3" else "vegas"
        path = f"{tcp.path}.control.{control}"
        remarks.refuse(path, f"Linux has no {control}; the nearest is {near}")
    _note_laws(tcp, control, remarks)
    # TCP_MAXSEG counts the 12 B of timestamps, the scenario's mss does not.
    mss = round(number(tcp.text("mss"))) + (12 if tcp.is_set("timestamps") else 0)
    words = ["-C", control, "-M", str(mss)]
    kind = flow.chosen("traffic")
    if kind == "file":
        words += ["-n", str(round(number(flow.text("traffic.file.size"))))]
        if flow.get("traffic.file.count") not in (None, "1"):
            remarks.refuse(f"{flow.path}.traffic.file.count", "iperf3 sends one; the nearest is 1")
    elif kind not in ("bulk", None):
        why = _APPLICATIONS.get(str(kind), "iperf3 has none")
        remarks.refuse(f"{flow.path}.traffic.{kind}", f"{why}; the nearest is bulk")
    if window := tcp.get("window"):
        size = round(number(window)) * (1 if window.endswith("B") else mss)
        words += ["-w", str(size)]
    return words


def _note_laws(tcp: View, control: str, remarks: Remarks) -> None:
    """Notes where the laws of a congestion control differ from those of Linux."""
    path = f"{tcp.path}.control.{control}"
    if control == "cubic" and not tcp.is_set("control.cubic.hystart"):
        switch = "echo 0 >/sys/module/tcp_cubic/parameters/hystart"
        remarks.note(f"{path}.hystart", f"HyStart is on; off for all of the machine by: {switch}")
    elif control == "cubic" and (law := tcp.get("control.cubic.hystart_law")) in _EXITS:
        remarks.note(f"{path}.hystart_law", f"Linux has HyStart, not {_EXITS[law]}")
    if tcp.get(f"control.{control}.beta_ecn"):
        remarks.note(f"{path}.beta_ecn", "Linux answers marks as losses")
    if control == "cubic" and tcp.get("control.cubic.alpha_law") == "rfc9438":
        remarks.note(f"{path}.alpha_law", "alpha stays below 1 in Linux")
    if control == "highspeed" and tcp.get("control.highspeed.law") == "rfc3649":
        text = "Linux counts acknowledgements, not segments, by the rows of a table"
        remarks.note(f"{path}.law", text)


def _settings(flow: View, remarks: Remarks) -> list[str]:
    """The sysctls of both hosts of a flow over TCP."""
    tcp = flow.at("tcp")
    rack = tcp.get("loss_detection") == "rack"
    probe = tcp.is_set("tail_loss_probe") if tcp.get("tail_loss_probe") else rack
    if tcp.get("recovery") not in ("sack", "newreno", None):
        text = "Linux has no Reno without NewReno; the nearest is newreno"
        remarks.refuse(f"{tcp.path}.recovery", text)
    usuals = (
        ("delayed_ack_timeout", "40 ms"),
        ("pacing", "none"),
        ("quick_acks", "16"),
        ("rtt_gain", "sample"),
        ("slow_start_limit", None),
    )
    for key, usual in usuals:
        if tcp.get(key) not in (usual, None):
            remarks.note(f"{tcp.path}.{key}", f"Linux has its own, not {tcp.get(key)}")
    if (window := tcp.get("recovery_window")) not in ("prr", None):
        remarks.note(f"{tcp.path}.recovery_window", f"Linux has PRR, not {window}")
    if tcp.get("undo") != "both":
        remarks.note(f"{tcp.path}.undo", "Linux undoes recoveries, by DSACK and by timestamps")
    switches = {
        "tcp_ecn": tcp.is_set("ecn"),
        "tcp_timestamps": tcp.is_set("timestamps"),
        "tcp_sack": tcp.get("recovery") == "sack",
        "tcp_recovery": rack,
        "tcp_slow_start_after_idle": tcp.is_set("idle_restart"),
        "tcp_no_metrics_save": True,
    }
    lines = [f"net.ipv4.{name}={int(on)}" for name, on in switches.items()]
    lines.append(f"net.ipv4.tcp_early_retrans={3 if probe else 0}")
    return [*lines, f"net.ipv4.tcp_frto={2 if tcp.is_set('frto') else 0}"]


def _route(topology: Topology, name: str, flow: View, remarks: Remarks) -> list[str]:
    """The route of a sender over TCP: initial window and smallest retransmission timeout."""
    if flow.below("udp"):
        return []
    tcp = flow.at("tcp")
    words = []
    if given := tcp.get("initial_window"):
        mss = round(number(tcp.text("mss")))
        words += ["initcwnd", str(_initial_window(given, mss))]
    if rto := tcp.get("rto_min"):
        least = max(1, round(number(rto) * 1000))
        if least != number(rto) * 1000:
            remarks.note(f"{tcp.path}.rto_min", f"ip has whole milliseconds: {least} ms")
        words += ["rto_min", f"{least}ms"]
    via = topology.host_address(name, 0, node=True)
    host = topology.host(name, 0)
    return [f"ip -n {host} route change default via {via} dev h0 {' '.join(words)}"]


def _initial_window(text: str, mss: int) -> int:
    """The initial window in segments of `mss` bytes."""
    laws = {
        "rfc2001": mss,
        "rfc2581": 2 * mss,
        "rfc2414": min(4 * mss, max(2 * mss, 4380)),
        "rfc3390": min(4 * mss, max(2 * mss, 4380)),
        "rfc5681": (4 if mss < 1096 else 3 if mss < 2191 else 2) * mss,
        "rfc6928": min(10 * mss, max(2 * mss, 14_600)),
    }
    return max(1, laws[text] // mss) if text in laws else int(number(text))
