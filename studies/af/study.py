"""Two against three drop precedences: grid points, quantities, sensitivity."""

from __future__ import annotations

from typing import Any

from forebay.study import Network, Point, Replications, Run
from forebay_studies.af.figures import RECORDINGS, figures

__all__ = ["RECORDINGS", "REPLICATIONS", "figures", "grid_point", "quantities"]

CBS_KB = {1: 5, 2: 10, 3: 50}
"""Committed burst size of section 2's scenarios in kB (Tables 2.1 and 2.2)."""

CUSTOMERS = (1, 2, 3, 4)
TCP_CUSTOMERS = (1, 2, 3)
SOURCES = range(1, 11)
"""Hosts of a LAN with TCP (section 2)."""

PATTERNS = ("links.port", "links.far_port", "flows.tcp")
"""Sections of scenario.toml after which those of every TCP source are made."""

QUEUE = "links.bottleneck.queue.rio"

REPLICATIONS = Replications(
    first=8,
    cap=30,
    quick_first=4,
    quick_cap=16,
    quick_events=4_000_000_000,
    quick_overrides=('duration="40 s"',),
    variant=3,
)


def grid_point(network: Network, point: Point) -> None:
    """The grid point of section 3 (with `scenario`, `udp_mbps`) or of section 4 (with `cbs_kb`)."""
    in_section_4 = "cbs_kb" in point
    cbs = point["cbs_kb"] if in_section_4 else CBS_KB[int(point["scenario"])]
    udp = 25 if in_section_4 else point["udp_mbps"]
    if point["precedences"] == 2:
        network.set(f"{QUEUE}.min_threshold", ["180 kB", "90 kB"])
        network.set(f"{QUEUE}.max_threshold", ["360 kB", "180 kB"])
        network.set(f"{QUEUE}.max_probability", [0.02, 0.05])
    for customer in CUSTOMERS:
        cir = 20 if in_section_4 and customer == 3 else 2
        network.set(f"links.c{customer}.conditioner", _marker(point, customer, cir, cbs))
        if point.get("ras"):
            network.set(f"links.c{customer}.shaper", _shaper(point, customer, cir))
    _add_lans(network)
    if in_section_4:
        network.set("links.c2.delay", "100 ms")
    if udp:
        network.set("flows.customer4.traffic.poisson.rate", f"{udp} Mbit/s")
    else:
        network.remove("flows.customer4")


def _add_lans(network: Network) -> None:
    """Ten hosts on a switched LAN behind each of C1 to C3, and their destinations."""
    port, far_port, flow = (network.take(path) for path in PATTERNS)
    for customer in TCP_CUSTOMERS:
        for source in SOURCES:
            name = f"{customer}-{source}"
            host, far_host = f"H{name}", f"R{name}"
            near = {"from": host, "to": f"C{customer}"}
            far = {"from": f"D{customer}", "to": far_host}
            network.set(f"links.port{name}", port | near)
            network.set(f"links.far_port{name}", far_port | far)
            network.set(f"flows.customer{name}", flow | {"from": host, "to": far_host})


def _marker(point: Point, customer: int, cir: int, cbs: object) -> dict[str, Any]:
    """Tables 2.1 and 2.2: excess TCP is yellow, excess UDP red; with two precedences all is 1."""
    bucket = {"cir": f"{cir} Mbit/s", "cbs": f"{cbs} kB"}
    if point["precedences"] == 2:
        return {"token_bucket": bucket}
    return {"trtcm": bucket | {"pir": _peak(customer), "pbs": f"{cbs} kB"}}


def _shaper(point: Point, customer: int, cir: int) -> dict[str, Any]:
    """The Rate Adaptive Shaper. The draft gives none of its parameters: see deviations.toml."""
    common = {
        "cir": f"{cir} Mbit/s",
        "cir_threshold": "50 kB",
        "mir_threshold": "400 kB",
        "window": "3 s",
    }
    if point["precedences"] == 2:
        return {"ras": {"rates": "single", **common}}
    pir = {"pir": _peak(customer), "pir_threshold": "200 kB"}
    return {"ras": {"rates": "two", **pir, **common}}


def _peak(customer: int) -> str:
    return "139 Mbit/s" if customer in TCP_CUSTOMERS else "2 Mbit/s"


def printed_thresholds(network: Network, point: Point) -> None:
    """A sensitivity run: RIO thresholds in the printed order."""
    thresholds = ["45 kB", "90 kB", "180 kB", "360 kB"][: int(point["precedences"]) + 1]
    network.set(f"{QUEUE}.min_threshold", thresholds[:-1])
    network.set(f"{QUEUE}.max_threshold", thresholds[1:])


def sources_at_routers(network: Network, point: Point) -> None:
    """A sensitivity run: no LANs, so that bursts enter the markers all at once."""
    for port in _ports(network):
        network.remove(f"links.{port}")
    for name, flow in network.to_dict()["flows"].items():
        customer = flow["from"][1]
        network.set(f"flows.{name}.from", f"C{customer}").set(f"flows.{name}.to", f"D{customer}")


def lans_of_100_mbps(network: Network, point: Point) -> None:
    """A sensitivity run: ports of 100BASE-TX for all hosts."""
    for port in _ports(network):
        network.set(f"links.{port}.rate", "100 Mbit/s")


def lans_of_1_ms(network: Network, point: Point) -> None:
    """A sensitivity run: LANs with a delay."""
    for port in _ports(network):
        network.set(f"links.{port}.delay", "1 ms")


def colour_aware(network: Network, point: Point) -> None:
    """A sensitivity run: hosts mark by their part of the customer's profile, and the customer's
    router goes by their marks. The buckets of a host are as deep as those of its router, which
    would not hold a packet if they were divided."""
    for customer in CUSTOMERS:
        router = network.section(f"links.c{customer}.conditioner.trtcm")
        network.set(f"links.c{customer}.conditioner.trtcm.mode", "aware")
        hosts = [f"port{customer}-{source}" for source in SOURCES]
        if customer not in TCP_CUSTOMERS:
            hosts = ["udp_port"]
        cir = float(router["cir"].split()[0]) / len(hosts)
        for host in hosts:
            pir = "10 Mbit/s" if customer in TCP_CUSTOMERS else router["pir"]
            marker = router | {"cir": f"{cir:g} Mbit/s", "pir": pir}
            network.set(f"links.{host}.conditioner", {"trtcm": marker})


def _ports(network: Network) -> list[str]:
    """The links of the LANs."""
    return [name for name in network.to_dict()["links"] if "port" in name]


def ras_by_cbs(network: Network, point: Point) -> None:
    """A sensitivity run: shaper thresholds at 1, 2 and 4 times CBS."""
    cbs = int(point["cbs_kb"])
    network.set_each("links.*.shaper.ras.cir_threshold", f"{cbs} kB")
    network.set_each("links.*.shaper.ras.mir_threshold", f"{4 * cbs} kB")
    if point["precedences"] == 3:
        network.set_each("links.*.shaper.ras.pir_threshold", f"{2 * cbs} kB")


def quantities(run: Run, point: Point) -> dict[str, float]:
    """IP-level throughput behind the bottleneck, and how packets entered it: how many of each
    precedence, all of one size."""
    found: dict[str, float] = {}
    for group in run.document["groups"]:
        name = f"{group['name'].partition('-')[0]}_bps"
        found[name] = found.get(name, 0.0) + float(group["throughput_bps"])
    found["tcp_sum_bps"] = sum(found[f"customer{customer}_bps"] for customer in TCP_CUSTOMERS)
    if "customer4_bps" in found:
        found["udp_bps"] = found["customer4_bps"]
    bottleneck = run.link("bottleneck")
    found["bottleneck_utilization_ratio"] = float(bottleneck["utilization"])
    found["bottleneck_queue_packets"] = float(bottleneck["mean_queue_packets"])
    for customer in CUSTOMERS:
        marked = run.link(f"c{customer}")
        departed = marked["departed_packets"]
        total = sum(departed)
        for precedence, name in enumerate(("green", "yellow", "red")):
            share = departed[precedence] / total if total else 0.0
            found[f"customer{customer}_{name}_ratio"] = share
        green = found[f"customer{customer}_green_ratio"] * float(marked["throughput_bps"])
        found[f"customer{customer}_green_bps"] = green
    return found
