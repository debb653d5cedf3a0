"""Two against three drop precedences: grid points, quantities, sensitivity, figures."""

from __future__ import annotations

from forebay.drawing import Figure
from forebay.report.plot import shares, time_series
from forebay.study.definition import Recording, Replications, Run, Variant
from forebay.study.grades import Point
from forebay.study.results import Outcome

CBS_KB = {1: 5, 2: 10, 3: 50}
"""Committed burst size of section 2's scenarios in kB (Tables 2.1 and 2.2)."""

CUSTOMERS = (1, 2, 3, 4)
TCP_CUSTOMERS = (1, 2, 3)
QUEUE = "links.bottleneck.queue.rio"

TWO_PRECEDENCES = (
    f'{QUEUE}.min_threshold=["180 kB", "90 kB"]',
    f'{QUEUE}.max_threshold=["360 kB", "180 kB"]',
    f"{QUEUE}.max_probability=[0.02, 0.05]",
)

REPLICATIONS = Replications(
    first=8,
    cap=30,
    quick_first=4,
    quick_cap=16,
    quick_events=4_000_000_000,
    quick_overrides=('duration="42 s"',),
    variant=3,
)


def overrides(point: Point) -> list[str]:
    """The grid point of section 3 (with `scenario`, `udp_mbps`) or of section 4 (with `cbs_kb`)."""
    in_section_4 = "cbs_kb" in point
    cbs = point["cbs_kb"] if in_section_4 else CBS_KB[int(point["scenario"])]
    udp = 25 if in_section_4 else point["udp_mbps"]
    assignments = [] if point["precedences"] == 3 else list(TWO_PRECEDENCES)
    for customer in CUSTOMERS:
        cir = 20 if in_section_4 and customer == 3 else 2
        assignments.append(f"links.c{customer}.conditioner={_marker(point, customer, cir, cbs)}")
        if point.get("ras"):
            assignments.append(f"links.c{customer}.shaper={_shaper(point, customer, cir)}")
    if in_section_4:
        assignments.append('links.c2.delay="100 ms"')
    if udp:
        assignments.append(f'flows.customer4.traffic.poisson.rate="{udp} Mbit/s"')
    return assignments


def without(point: Point) -> list[str]:
    """At a UDP rate of 0 there is no UDP source."""
    return ["flows.customer4"] if point.get("udp_mbps") == 0 else []


def quantities(run: Run, point: Point) -> dict[str, float]:
    """IP-level throughput behind the bottleneck, and how packets were marked and dropped."""
    groups = {group["name"]: group for group in run.document["groups"]}
    found = {
        f"customer{customer}_bps": float(groups[f"customer{customer}"]["throughput_bps"])
        for customer in CUSTOMERS
        if f"customer{customer}" in groups
    }
    found["tcp_sum_bps"] = sum(found[f"customer{customer}_bps"] for customer in TCP_CUSTOMERS)
    if "customer4_bps" in found:
        found["udp_bps"] = found["customer4_bps"]
    bottleneck = run.link("bottleneck")
    found["bottleneck_utilization_ratio"] = float(bottleneck["utilization"])
    found["bottleneck_queue_packets"] = float(bottleneck["mean_queue_packets"])
    for customer in CUSTOMERS:
        departed = run.link(f"c{customer}")["departed_packets"]
        total = sum(departed)
        for precedence, name in enumerate(("green", "yellow", "red")):
            share = departed[precedence] / total if total else 0.0
            found[f"customer{customer}_{name}_ratio"] = share
    return found


def _marker(point: Point, customer: int, cir: int, cbs: object) -> str:
    """Tables 2.1 and 2.2: excess TCP is yellow, excess UDP red; with two precedences all is 1."""
    if point["precedences"] == 2:
        return f'{{ token_bucket = {{ cir = "{cir} Mbit/s", cbs = "{cbs} kB" }} }}'
    pir = 139 if customer in TCP_CUSTOMERS else 2
    return (
        f'{{ trtcm = {{ cir = "{cir} Mbit/s", cbs = "{cbs} kB", '
        f'pir = "{pir} Mbit/s", pbs = "{cbs} kB" }} }}'
    )


def _shaper(point: Point, customer: int, cir: int) -> str:
    """The Rate Adaptive Shaper. The draft gives none of its parameters: see deviations.toml."""
    common = (
        f'cir = "{cir} Mbit/s", cir_threshold = "50 kB", mir_threshold = "400 kB", window = "3 s"'
    )
    if point["precedences"] == 2:
        return f'{{ ras = {{ rates = "single", {common} }} }}'
    pir = 139 if customer in TCP_CUSTOMERS else 2
    two = f'pir = "{pir} Mbit/s", pir_threshold = "200 kB"'
    return f'{{ ras = {{ rates = "two", {two}, {common} }} }}'


def _tcp(*settings: str) -> list[str]:
    return [f"flows.customer{c}.tcp.{setting}" for c in TCP_CUSTOMERS for setting in settings]


def _printed_thresholds(point: Point) -> list[str]:
    if point["precedences"] == 2:
        return [
            f'{QUEUE}.min_threshold=["45 kB", "90 kB"]',
            f'{QUEUE}.max_threshold=["90 kB", "180 kB"]',
        ]
    return [
        f'{QUEUE}.min_threshold=["45 kB", "90 kB", "180 kB"]',
        f'{QUEUE}.max_threshold=["90 kB", "180 kB", "360 kB"]',
    ]


def _ras(*settings: str) -> tuple[str, ...]:
    return tuple(f"links.c{c}.shaper.ras.{setting}" for c in CUSTOMERS for setting in settings)


def _ras_by_cbs(point: Point) -> list[str]:
    cbs = int(point["cbs_kb"])
    thresholds = [f'cir_threshold="{cbs} kB"', f'mir_threshold="{4 * cbs} kB"']
    if point["precedences"] == 3:
        thresholds.append(f'pir_threshold="{2 * cbs} kB"')
    return list(_ras(*thresholds))


SECTION_3 = ("t3.2/udp5/*", "t3.2/udp20/*", "t3.2/udp30/*", "t3.2/udp60/*")
SECTION_4 = ("t4.2/cbs5/*", "t4.2/cbs50/*", "t4.4/cbs5/*", "t4.4/cbs50/*")
SHAPED = ("t4.3/cbs5/*", "t4.3/cbs50/*", "t4.5/cbs5/*", "t4.5/cbs50/*")
BOTH = SECTION_3 + SECTION_4

VARIANTS = [
    Variant(
        "printed-thresholds",
        "RIO thresholds in the printed order",
        "The draft prints the smallest thresholds for precedence 0; its tables need the opposite.",
        _printed_thresholds,
        BOTH,
    ),
    Variant(
        "decoupled",
        "RIO-D: an average for each precedence alone",
        "The draft says that average i counts precedences 0 to i.",
        (f'{QUEUE}.coupling="decoupled"',),
        BOTH,
    ),
    Variant(
        "spacing-uniform",
        "early drops spaced uniformly by count",
        "Floyd and Jacobson's uniform spacing instead of ns-2's wait.",
        (f'{QUEUE}.spacing="uniform"',),
        BOTH,
    ),
    Variant(
        "spacing-geometric",
        "early drops independent of each other",
        "A simulator without the count would drop each packet with probability p.",
        (f'{QUEUE}.spacing="geometric"',),
        BOTH,
    ),
    Variant(
        "tick-500ms",
        "retransmission clock of 500 ms",
        "Stacks of 1999 counted time in ticks of 500 ms, with 3 s before the first measurement.",
        tuple(_tcp('rto_tick="500 ms"', 'rto_initial="3 s"')),
        BOTH,
    ),
    Variant(
        "delayed-ack",
        "delayed acknowledgements",
        "The draft does not say whether receivers delay acknowledgements.",
        tuple(_tcp("delayed_ack=true")),
        BOTH,
    ),
    Variant(
        "growth-by-ack",
        "delayed acknowledgements, and a window that grows by acknowledgements",
        "RFC 2581 allows to count acknowledgements instead of bytes; with delayed acknowledgements "
        "the window then grows half as fast.",
        tuple(_tcp("delayed_ack=true", "byte_counting=false")),
        BOTH,
    ),
    Variant(
        "limited-transmit",
        "limited transmit",
        "RFC 3042 came in 2001; senders without it wait for a timeout more often.",
        tuple(_tcp("limited_transmit=true")),
        BOTH,
    ),
    Variant(
        "warm-up-20s",
        "warm-up of 20 s",
        "The draft states none; 2 s are nine round trips of customer 2 in section 4.",
        ('warm_up="20 s"', 'duration="120 s"'),
        (*BOTH, *SHAPED),
    ),
    Variant(
        "no-warm-up",
        "no warm-up: measured from the start over 100 s",
        "The draft states none, and its TCP alone gets 33.98 of 34 Mbit/s: something of the start "
        "seems to be in its numbers.",
        ('warm_up="0 s"', 'duration="100 s"'),
        (*BOTH, *SHAPED),
    ),
    Variant(
        "reno",
        "Reno instead of SACK",
        "To see how much the recovery from several losses matters.",
        tuple(_tcp('recovery="reno"')),
        BOTH,
    ),
    Variant(
        "window-64kB",
        "receiver window of 64 kB",
        "The largest window without window scaling; RFC 2963, App. A.1, uses it.",
        tuple(_tcp('window="64 kB"')),
        BOTH,
    ),
    Variant(
        "initial-window-1",
        "initial window of one segment",
        "RFC 2001, the standard until April 1999.",
        tuple(_tcp('initial_window="rfc2001"')),
        BOTH,
    ),
    Variant(
        "idle-physical",
        "averages decay only while the link is idle",
        "The draft does not say when a precedence's average counts as idle.",
        (f'{QUEUE}.idle="physical"',),
        BOTH,
    ),
    Variant(
        "ras-by-cbs",
        "shaper thresholds at 1, 2 and 4 times CBS",
        "The draft gives none; RFC 2963, section 2.2, says that they depend on the bucket.",
        _ras_by_cbs,
        SHAPED,
    ),
    Variant(
        "ras-window-100ms",
        "shaper's rate estimator over 100 ms",
        "RFC 2963 names no time constant; Stoica et al. use 100 ms.",
        _ras('window="100 ms"'),
        SHAPED,
    ),
    Variant(
        "ras-green",
        "green shapers",
        "RFC 2963's variant that looks ahead at the marker; it came after the draft.",
        _ras("green=true"),
        SHAPED,
    ),
]

TRACE: Point = {"scenario": 2, "precedences": 3, "udp_mbps": 30}
TRACE_TWO: Point = {"scenario": 2, "precedences": 2, "udp_mbps": 30}

RECORDINGS = [
    Recording("three", TRACE, interval="50 ms"),
    Recording("two", TRACE_TWO, interval="50 ms"),
]


def figures(outcome: Outcome) -> list[Figure]:
    """Queue traces against the thresholds they are judged by, and how packets are marked."""
    drawn = [
        time_series(
            outcome,
            "three",
            "links.bottleneck",
            {
                "queue_bytes": "queue",
                "average.0": "average, precedence 0",
                "average.1": "average, precedences 0-1",
                "average.2": "average, precedences 0-2",
            },
            title="Queue at the bottleneck, three precedences, UDP 30 Mbit/s",
            ylabel="queue length (kB)",
            scale=1e-3,
            thresholds={"yellow max": 180, "yellow min, red max": 90, "red min": 45},
            window=(20.0, 40.0),
        ),
        time_series(
            outcome,
            "two",
            "links.bottleneck",
            {
                "queue_bytes": "queue",
                "average.0": "average, precedence 0",
                "average.1": "average, precedences 0-1",
            },
            title="Queue at the bottleneck, two precedences, UDP 30 Mbit/s",
            ylabel="queue length (kB)",
            scale=1e-3,
            thresholds={"max": 180, "min": 90},
            window=(20.0, 40.0),
        ),
    ]
    for precedences, parts in (
        (2, [("in profile", "green"), ("out of profile", "yellow")]),
        (3, [("green", "green"), ("yellow", "yellow"), ("red", "red")]),
    ):
        for customer, who in ((1, "TCP customer 1"), (4, "UDP customer")):
            rates = (5, 10, 20, 30, 45, 60)
            points: list[tuple[str, Point]] = [
                (f"{rate}", {"scenario": 2, "precedences": precedences, "udp_mbps": rate})
                for rate in rates
            ]
            drawn.append(
                shares(
                    outcome,
                    points,
                    [(label, f"customer{customer}_{name}_ratio") for label, name in parts],
                    title=f"Marking of the {who} by UDP rate (Mbit/s), {precedences} precedences",
                )
            )
    return [figure for figure in drawn if figure is not None]
