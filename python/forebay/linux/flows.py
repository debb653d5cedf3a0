"""Flows as runs of iperf3, with the sysctls of their senders."""

from __future__ import annotations

from fractions import Fraction

from forebay.linux.topology import Topology
from forebay.linux.values import Remarks, View, number

__all__ = ["flow_commands"]

_CONTROLS = ("reno", "cubic", "bbr", "dctcp", "vegas", "westwood", "highspeed", "scalable")


def flow_commands(topology: Topology, duration: str, remarks: Remarks) -> list[str]:
    """The commands that run all flows, in the background."""
    lines = []
    settings: dict[str, dict[str, str]] = {}
    for index, flow in enumerate(topology.flows.values()):
        port = 5201 + index
        server = topology.namespaces[flow.text("to")]
        client = topology.namespaces[flow.text("from")]
        begin = _start(flow, remarks)
        stop = number(flow.get("stop") or duration)
        target = topology.host(flow.text("to"))
        if flow.get("route"):
            remarks.refuse(f"{flow.path}.route", "not mapped; the nearest is the shortest path")
        if flow.get("precedence") not in (None, "0") or flow.get("dscp"):
            remarks.refuse(f"{flow.path}.dscp", "not mapped; the nearest is iperf3 -S")
        sysctls, words = _traffic(flow, remarks)
        lines += [f"# flow {flow.path.partition('.')[2]}"]
        lines += [f"ip netns exec {client} sysctl -qw {setting}" for setting in sysctls]
        lines += [f"ip netns exec {server} iperf3 -s -D -1 -p {port}"]
        options = " ".join(words)
        _one_setting(settings.setdefault(client, {}), sysctls, flow, remarks)
        seconds = max(1, round(stop - begin))
        if "-n" not in words and seconds != stop - begin:
            remarks.note(f"{flow.path}.stop", f"iperf3 has whole seconds: it sends for {seconds}")
        time = "" if "-n" in words else f" -t {seconds}"
        lines += [
            f"(sleep {float(begin):g}; ip netns exec {client} "
            f"iperf3 -c {target} -p {port}{time} {options}) &"
        ]
    return lines


def _one_setting(there: dict[str, str], sysctls: list[str], flow: View, remarks: Remarks) -> None:
    """Refuse a flow whose node has another setting already: a sysctl holds for all of a node."""
    for setting in sysctls:
        name, _, value = setting.partition("=")
        if there.setdefault(name, value) != value:
            key = {"tcp_sack": "recovery", "tcp_ecn": "ecn"}.get(name[9:], "timestamps")
            text = "a node of Linux has one for all its flows; the nearest is a node of its own"
            remarks.refuse(f"{flow.path}.tcp.{key}", text)


def _start(flow: View, remarks: Remarks) -> Fraction:
    text = flow.get("start") or "0 s"
    if not text.startswith("uniform"):
        return number(text)
    words = text.split()
    late = number(" ".join(words[3:5]))
    remarks.note(f"{flow.path}.start", f"all start at once, in the middle of {text}")
    return (number(" ".join(words[1:3])) + late) / 2


def _traffic(flow: View, remarks: Remarks) -> tuple[list[str], list[str]]:
    kind = flow.chosen("traffic")
    count = flow.get("count") or "1"
    for other in ("calls", "paced", "policing", "linked"):
        if flow.below(other):
            remarks.refuse(f"{flow.path}.{other}", "iperf3 has none; the nearest is traffic.cbr")
    if flow.below("udp"):
        path = f"{flow.path}.traffic.{kind}"
        if kind == "poisson":
            remarks.approximate(path, "iperf3 sends at a constant rate")
        elif kind != "cbr":
            remarks.refuse(path, "iperf3 has none; the nearest is traffic.cbr")
        law = flow.at(f"traffic.{kind}")
        header = round(number(flow.get("udp.header") or "28 B"))
        size, rate = round(number(law.text("size"))), number(law.text("rate"))
        payload = size - header
        if payload < 16:
            remarks.refuse(f"{path}.size", "iperf3 sends 16 B at least; the nearest is 44 B")
        # The rate of a scenario counts headers, that of iperf3 does not.
        net = round(rate * payload / size)
        return [], ["-u", "-b", str(net), "-l", str(payload), "-P", count]
    tcp = flow.at("tcp")
    control = tcp.chosen("control") or "reno"
    if control not in _CONTROLS:
        near = "dctcp" if control == "prague" else "bbr" if control == "bbr3" else "vegas"
        path = f"{tcp.path}.control.{control}"
        remarks.refuse(path, f"Linux has no {control}; the nearest is {near}")
    sysctls = [f"net.ipv4.tcp_ecn={1 if tcp.is_set('ecn') else 0}"]
    sysctls += [f"net.ipv4.tcp_timestamps={1 if tcp.is_set('timestamps') else 0}"]
    sysctls += [f"net.ipv4.tcp_sack={1 if tcp.get('recovery') == 'sack' else 0}"]
    sysctls += ["net.ipv4.tcp_no_metrics_save=1"]
    remarks.note(tcp.path, "Linux starts with a window of 10 packets, and has RACK, TLP and TSQ")
    # TCP_MAXSEG counts the 12 B of timestamps, the scenario's mss does not.
    mss = round(number(tcp.text("mss"))) + (12 if tcp.is_set("timestamps") else 0)
    words = ["-C", control, "-M", str(mss), "-P", count]
    if kind == "file":
        words += ["-n", str(round(number(flow.text("traffic.file.size"))))]
        if flow.get("traffic.file.count") not in (None, "1"):
            remarks.refuse(f"{flow.path}.traffic.file.count", "iperf3 sends one; the nearest is 1")
    elif kind not in ("bulk", None):
        remarks.refuse(f"{flow.path}.traffic.{kind}", "iperf3 has none; the nearest is bulk")
    if window := tcp.get("window"):
        size = round(number(window)) * (1 if window.endswith("B") else mss)
        words += ["-w", str(size)]
    return sysctls, words
