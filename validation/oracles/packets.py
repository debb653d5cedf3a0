"""Cells in which every packet or sample is compared: meters, and RED's average."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import meters
from measuring import Cell, Exact

from forebay.run.jobs import Run

__all__ = ["CELLS", "colours"]

PS = 10**12
# Facts of a packet in a trace: sent, coloured, enqueued, delivered.
ROWS = 4

Factory = Callable[[], meters.Meter]


def _metered(conditioner: str, precedences: tuple[int, ...], burst: bool) -> Callable[[int], str]:
    """Packets of 40 to 3000 B, in the mean at some 5 Mbit/s in all, in one or several colours."""

    def text(packets: int) -> str:
        share = 5.0 / len(precedences)
        traffic = (
            f'on_off = {{ rate = "{3 * share:g} Mbit/s", size = "700 B", on = "40 ms", '
            f'off = "80 ms" }}'
            if burst
            else f'poisson = {{ rate = "{share:g} Mbit/s", size = "700 B", sizes = "exponential" }}'
        )
        flows = "".join(
            f'[flows.x{p}]\nfrom = "a"\nto = "b"\nudp = {{}}\nprecedence = {p}\n'
            f"traffic = {{ {traffic} }}\n"
            for p in precedences
        )
        # 5 Mbit/s of 700 B are 893 packets a second: enough time for all, and half as much again.
        return (
            f'duration = "{packets / 893 * 1.5:.3f} s"\n'
            '[links.edge]\nfrom = "a"\nto = "b"\nrate = "1 Gbit/s"\nduplex = false\n'
            f"conditioner = {{ {conditioner} }}\n{flows}[record]\ntrace = {ROWS * packets}\n"
        )

    return text


def colours(factory: Factory) -> Callable[[Run], tuple[int, int]]:
    """Asks a reference about each packet in the order in which the link coloured them."""

    def compare(run: Run) -> tuple[int, int]:
        trace, meter = run.tables["trace"], factory()
        before: dict[tuple[str, int], int] = {}
        compared = differing = 0
        columns = ("time_s", "event", "flow", "number", "size_bytes", "precedence")
        for time, event, flow, number, size, precedence in zip(
            *(list(trace[name]) for name in columns), strict=True
        ):
            if event == "sent":
                before[flow, int(number)] = int(precedence)
            elif event == "coloured":
                # Times below 9000 s are whole ps in a float.
                now = round(float(time) * PS)
                expected = meter(now, int(size), before[flow, int(number)])
                compared += 1
                differing += expected != int(precedence)
        return compared, differing

    return compare


def _meter_cells() -> list[Cell]:
    cells = []
    for burst in (False, True):
        for cir, cbs in ((2_000_000, 4000), (4_900_000, 20_000), (1_333_333, 1500)):
            text = f'token_bucket = {{ cir = "{cir} bit/s", cbs = "{cbs} B" }}'
            factory = partial(meters.token_bucket, cir, cbs)
            cells.append(_cell("token bucket", f"{cir} bit/s, {cbs} B", text, factory, burst))
        for rate, tolerance_us in ((4_000_000, 0), (5_000_000, 1500), (6_400_000, 20_000)):
            # The time of one of 500 B is 1 ms, 0.8 ms, 0.625 ms.
            text = f'gcra = {{ rate = "{rate} bit/s", token = "500 B", '
            text += f'tolerance = "{tolerance_us} us" }}'
            factory = partial(meters.gcra, rate, 500, tolerance_us * 10**6)
            cells.append(_cell("GCRA", f"{rate} bit/s, {tolerance_us} us", text, factory, burst))
        for aware in (False, True):
            cells += _three_colours(aware, burst)
    return cells


# By standard: the reference, the names of its parameters in order, and their values (bit/s and B).
THREE_COLOURS = (
    ("srTCM", meters.srtcm, ("cir", "cbs", "ebs"),
     ((2_000_000, 4000, 8000), (3_333_331, 9000, 2000))),
    ("trTCM", meters.trtcm, ("cir", "cbs", "pir", "pbs"),
     ((2_000_000, 4000, 4_000_000, 6000), (1_234_567, 9000, 5_000_011, 3000))),
    ("RFC 4115", meters.drtcm, ("cir", "cbs", "eir", "ebs"),
     ((2_000_000, 4000, 1_000_000, 6000), (1_234_567, 9000, 3_000_017, 3000))),
)  # fmt: skip


def _three_colours(aware: bool, burst: bool) -> list[Cell]:
    cells = []
    mode = "aware" if aware else "blind"
    for family, reference, names, choices in THREE_COLOURS:
        for values in choices:
            quantities = [
                f"{value} {'bit/s' if name.endswith('ir') else 'B'}"
                for name, value in zip(names, values, strict=True)
            ]
            keys = [f'{name} = "{q}"' for name, q in zip(names, quantities, strict=True)]
            text = f'{reference.__name__} = {{ {", ".join(keys)}, mode = "{mode}" }}'
            factory = partial(reference, *values, aware)
            title = f"{', '.join(quantities)}, {mode}"
            cells.append(_cell(family, title, text, factory, burst, (0, 1, 2) if aware else (0,)))
    return cells


def _cell(
    family: str,
    title: str,
    conditioner: str,
    factory: Factory,
    burst: bool,
    precedences: tuple[int, ...] = (0,),
) -> Cell:
    check = Exact(_metered(conditioner, precedences, burst), colours(factory))
    return Cell(family, f"{title}, {'bursty' if burst else 'Poisson'}", check)


def _ewma_cells() -> list[Cell]:
    """RED's average under constant arrivals: one of 500 B each 2 ms at a link that takes 4 ms, or
    other times, so that the n-th packet finds a known queue and the average is a known sum."""
    cells = []
    for weight in (0.002, 0.01, 0.1, 0.5, 1.0):
        for gap_us, service_us in ((2000, 4000), (500, 4000)):

            def text(
                packets: int, weight: float = weight, gap: int = gap_us, s: int = service_us
            ) -> str:
                # A sample in the middle between two arrivals, each twentieth arrival.
                return (
                    f'duration = "{packets * gap} us"\n'
                    f'[links.l]\nfrom = "a"\nto = "b"\nrate = "{round(500 * 8e6 / s)} bit/s"\n'
                    'duplex = false\nqueue.red = { min_threshold = "1000000 packets", '
                    f'max_threshold = "2000000 packets", weight = {weight} }}\n'
                    f'[flows.x]\nfrom = "a"\nto = "b"\nudp = {{}}\nstart = "{gap // 2} us"\n'
                    f'traffic = {{ cbr = {{ rate = "{round(500 * 8e6 / gap)} bit/s", '
                    f'size = "500 B", random_phase = false }} }}\n'
                    f'[record]\nseries = "{gap} us"\n'
                )

            title = f"weight {weight}, a packet each {gap_us} us, service {service_us} us"
            check = Exact(text, _averages(weight, gap_us, service_us), packets=4000)
            cells.append(Cell("RED's average", title, check))
    return cells


def _averages(weight: float, gap_us: int, service_us: int) -> Callable[[Run], tuple[int, int]]:
    """The queue that arrival n = 0, 1, ... finds: those before it whose service has not begun.

    Service of packet k begins at the first arrival and k services, that is k s after it, as the
    server is never idle. One that begins at the very instant of an arrival may count or not; the
    times here meet, so the k-th has left by then if departures come before arrivals."""

    def compare(run: Run) -> tuple[int, int]:
        series = run.tables["series/links.l"]
        average, differing = Fraction(0), 0
        exact = Fraction(weight)
        expected = 0.0
        for n, (time, found) in enumerate(
            zip(list(series["time_s"]), list(series["average"]), strict=True)
        ):
            assert round(float(time) * 1e6) == (n + 1) * gap_us
            begun = min(n, n * gap_us // service_us + 1)
            waiting = n - begun
            if n < 60:
                # Fractions grow without end; after some steps floats differ by rounding only.
                average = (1 - exact) * average + exact * waiting
                expected = float(average)
            else:
                expected = (1.0 - weight) * expected + weight * waiting
            differing += abs(float(found) - expected) > 1e-9 * max(1.0, expected)
        return n + 1, differing

    return compare


CELLS: list[Cell] = [*_meter_cells(), *_ewma_cells()]
