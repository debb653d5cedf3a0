"""Cells: single queues, priorities, finite buffers, vacations, tandems, periodic sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from measuring import Cell, Sampled
from theory import (
    birth_death,
    cobham,
    exceptional_first,
    md1k,
    ndd1_wait,
    pollaczek_khinchine,
)

from forebay.run.jobs import Run

__all__ = ["CELLS"]

# 1000 B at 8 Mbit/s take 1 ms, the unit of time of the theory. Exponential sizes are whole bytes;
# with a mean of 1000 B that moves the mean by 5e-7 and the second moment by less than 1e-6.
SERVICE_S = 1e-3
MBPS = 8.0
# The longest relaxation time here, of M/M/1 at load 0.9, is 1 / (1 - sqrt(0.9))^2 = 380 services;
# a tenth of the measured time is never less than five of them.
PILOT_S = 24.0


def _poisson(name: str, load: float, size: str, sizes: str = "fixed", precedence: int = 0) -> str:
    traffic = f'rate = "{round(load * MBPS * 1e6)} bit/s", size = "{size}", sizes = "{sizes}"'
    return (
        f'[flows.{name}]\nfrom = "a"\nto = "b"\nudp = {{}}\nprecedence = {precedence}\n'
        f"traffic = {{ poisson = {{ {traffic} }} }}\n"
    )


def _server(flows: str, queue: str = '"droptail"', more: str = "") -> Callable[[float], str]:
    def text(seconds: float) -> str:
        warm_up = seconds / 10.0
        return (
            f'duration = "{warm_up + seconds:.6f} s"\nwarm_up = "{warm_up:.6f} s"\n'
            f'[links.server]\nfrom = "a"\nto = "b"\nrate = "{MBPS} Mbit/s"\nduplex = false\n'
            f"{more}queue = {queue}\n{flows}"
        )

    return text


def _delay(name: str) -> Callable[[Run], float]:
    return lambda run: float(run.group(name)["mean_delay_s"]) / SERVICE_S


def _waiting(run: Run) -> float:
    return float(run.link("server")["mean_queue_packets"])


def _busy(run: Run) -> float:
    return float(run.link("server")["utilization"])


def _loss(name: str) -> Callable[[Run], float]:
    return lambda run: run.group(name)["dropped_packets"] / run.group(name)["sent_packets"]


def _mm1() -> list[Cell]:
    """Time in the system 1/(1 - rho), waiting rho^2/(1 - rho), busy rho (Kleinrock I, 3.2)."""
    cells = []
    for load in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        text = _server(_poisson("x", load, "1000 B", "exponential"))
        known = [
            ("delay", _delay("x"), 1.0 / (1.0 - load)),
            ("waiting", _waiting, load**2 / (1.0 - load)),
        ]
        known += [("busy", _busy, load)] if load in (0.2, 0.5, 0.7, 0.9) else []
        for what, quantity, theory in known:
            cells.append(
                Cell("M/M/1", f"load {load}, {what}", Sampled(text, quantity, theory, PILOT_S))
            )
    return cells


def _rates() -> list[Cell]:
    """M/M/1 at a slow and at a fast link: time in the system in services, and packets waiting."""
    cells = []
    for rate, size, load in ((64e3, 200, 0.6), (10e9, 1500, 0.75)):
        service_s = 8 * size / rate

        def text(seconds: float, rate: float = rate, size: int = size, load: float = load) -> str:
            # As many services as at 8 Mbit/s and 1000 B.
            seconds *= 8 * size / rate / SERVICE_S
            traffic = f'rate = "{round(load * rate)} bit/s", size = "{size} B"'
            return (
                f'duration = "{1.1 * seconds:.9f} s"\nwarm_up = "{0.1 * seconds:.9f} s"\n'
                f'[links.server]\nfrom = "a"\nto = "b"\nrate = "{rate:.0f} bit/s"\nduplex = false\n'
                '[flows.x]\nfrom = "a"\nto = "b"\nudp = {}\n'
                f'traffic = {{ poisson = {{ {traffic}, sizes = "exponential" }} }}\n'
            )

        def delay(run: Run, service_s: float = service_s) -> float:
            return float(run.group("x")["mean_delay_s"]) / service_s

        for what, quantity, theory in (
            ("delay", delay, 1.0 / (1.0 - load)),
            ("waiting", _waiting, load**2 / (1.0 - load)),
        ):
            title = f"{rate:.0e} bit/s, {size} B, load {load}, {what}"
            cells.append(Cell("M/M/1", title, Sampled(text, quantity, theory, PILOT_S)))
    return cells


def _md1() -> list[Cell]:
    """Pollaczek and Khinchine with fixed sizes, from one source or merged from four."""
    cells = []
    for load in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        wait = load / (2.0 * (1.0 - load))
        one = _server(_poisson("x", load, "1000 B"))
        for what, quantity, theory in (
            ("delay", _delay("x"), 1.0 + wait), ("waiting", _waiting, load * wait),
        ):  # fmt: skip
            cells.append(
                Cell("M/D/1", f"load {load}, {what}", Sampled(one, quantity, theory, PILOT_S))
            )
    for load in (0.4, 0.75):
        flows = "".join(_poisson(f"x{i}", load / 4, "1000 B") for i in range(4))
        for name in ("x0", "x3"):
            theory = 1.0 + load / (2.0 * (1.0 - load))
            check = Sampled(_server(flows), _delay(name), theory, PILOT_S)
            cells.append(Cell("M/D/1", f"load {load} of four, delay of {name}", check))
    return cells


# Loads and sizes (kB, which is services) of the classes; 0 for exponential sizes of mean 1.
MIXTURES: Sequence[Sequence[tuple[float, float]]] = (
    ((0.1, 0.125), (0.7, 4.0)),
    ((0.3, 0.25), (0.3, 2.0)),
    ((0.2, 0.0), (0.4, 0.5)),
    ((0.2, 0.1), (0.2, 1.0), (0.2, 8.0)),
    ((0.5, 0.0), (0.3, 0.064)),
    ((0.05, 16.0), (0.45, 1.5)),
    ((0.6, 0.5), (0.2, 1.5)),
)


def _moments(load: float, size: float) -> tuple[float, float, float]:
    """Arrival rate, mean and second moment of the service of a class of `MIXTURES`."""
    mean, square = (size, size**2) if size else (1.0, 2.0)
    return load / mean, mean, square


def _class_flow(number: int, load: float, size: float, precedence: int = 0) -> str:
    text = f"{round(1000 * size)} B" if size else "1000 B"
    return _poisson(f"x{number}", load, text, "fixed" if size else "exponential", precedence)


def _mg1() -> list[Cell]:
    cells = []
    for mixture in MIXTURES:
        classes = [_moments(*entry) for entry in mixture]
        text = _server("".join(_class_flow(i, *entry) for i, entry in enumerate(mixture)))
        wait = pollaczek_khinchine(classes)
        title = " + ".join(f"{load} of {size or 'exp'}" for load, size in mixture)
        for i in (0, len(mixture) - 1):
            check = Sampled(text, _delay(f"x{i}"), wait + classes[i][1], PILOT_S)
            cells.append(Cell("M/G/1", f"{title}, delay of class {i}", check))
    return cells


def _priority() -> list[Cell]:
    cells = []
    for mixture in (MIXTURES[0], MIXTURES[2], MIXTURES[3], MIXTURES[4], MIXTURES[5]):
        classes = [_moments(*entry) for entry in mixture]
        flows = "".join(_class_flow(i, *entry, precedence=i) for i, entry in enumerate(mixture))
        classes_text = ", ".join(['"droptail"'] * len(mixture))
        queue = f"{{ priority = {{ classes = [{classes_text}] }} }}"
        title = " before ".join(f"{load} of {size or 'exp'}" for load, size in mixture)
        for i, wait in enumerate(cobham(classes)):
            check = Sampled(_server(flows, queue), _delay(f"x{i}"), wait + classes[i][1], PILOT_S)
            cells.append(Cell("priority M/G/1", f"{title}, delay of class {i}", check))
    return cells


def _finite() -> list[Cell]:
    """M/M/1/K and M/D/1/K: loss, and waiting packets. A limit leaves out the packet in service."""
    cells = []
    for capacity in (1, 2, 5, 10, 20):
        for load in (0.6, 0.9, 1.0, 1.3):
            states = birth_death(load, lambda _n: 1.0, capacity)
            queue = f'{{ droptail = {{ limit = "{capacity - 1} packets" }} }}'
            text = _server(_poisson("x", load, "1000 B", "exponential"), queue)
            # Rare losses take too many packets; there the waiting packets are compared instead.
            if states[-1] > 1e-2:
                check = Sampled(text, _loss("x"), states[-1], PILOT_S)
                cells.append(Cell("M/M/1/K", f"K {capacity}, load {load}, loss", check))
            else:
                check = Sampled(text, _waiting, _mean_waiting(states), PILOT_S)
                cells.append(Cell("M/M/1/K", f"K {capacity}, load {load}, waiting", check))
    for capacity in (2, 4, 8):
        for load in (0.7, 0.9, 1.1):
            states = md1k(load, capacity)
            queue = f'{{ droptail = {{ limit = "{capacity - 1} packets" }} }}'
            text = _server(_poisson("x", load, "1000 B"), queue)
            if states[-1] > 5e-3:
                check = Sampled(text, _loss("x"), states[-1], PILOT_S)
                cells.append(Cell("M/D/1/K", f"K {capacity}, load {load}, loss", check))
            check = Sampled(text, _waiting, _mean_waiting(states), PILOT_S)
            cells.append(Cell("M/D/1/K", f"K {capacity}, load {load}, waiting", check))
    return cells


def _mean_waiting(states: Sequence[float]) -> float:
    return math.fsum(max(n - 1, 0) * p for n, p in enumerate(states))


def _thresholds() -> list[Cell]:
    """Two classes with partial buffer sharing: a birth-death chain in which the second class, half
    of the load, enters while fewer than the threshold wait (Kroener et al. 1991)."""
    cells = []
    for load, limit, threshold in ((0.9, 9, 4), (1.2, 9, 6), (1.5, 5, 2)):

        def admitted(n: int, threshold: int = threshold) -> float:
            return 1.0 if n <= threshold else 0.5

        states = birth_death(load, admitted, limit + 1)
        queue = (
            f'{{ partial_buffer_sharing = {{ limit = "{limit} packets", '
            f'threshold = "{threshold} packets", high = 1 }} }}'
        )
        flows = _poisson("x0", load / 2, "1000 B", "exponential", 0)
        flows += _poisson("x1", load / 2, "1000 B", "exponential", 1)
        # n in the system are n - 1 waiting.
        second = math.fsum(p for n, p in enumerate(states) if n - 1 >= threshold)
        title = f"load {load}, limit {limit}, threshold {threshold}"
        for what, quantity, theory in (
            ("loss of the second class", _loss("x1"), second),
            ("waiting", _waiting, _mean_waiting(states)),
        ):
            check = Sampled(_server(flows, queue), quantity, theory, PILOT_S)
            cells.append(Cell("partial buffer", f"{title}, {what}", check))
    return cells


def _red() -> list[Cell]:
    """RED whose average is the queue (weight 1) and whose drops are independent: M/M/1 in which a
    packet that finds q waiting is dropped with RED's probability of q."""
    cells = []
    for load, low, high, most, gentle in (
        (0.9, 2, 8, 0.2, False), (1.2, 0, 12, 0.5, False), (1.5, 3, 6, 0.1, False),
        (1.2, 2, 6, 0.3, True), (2.0, 1, 5, 0.5, True),
    ):  # fmt: skip

        def dropped(n: int, law: tuple[float, ...] = (low, high, most, gentle)) -> float:
            low, high, most, gentle = law
            q = max(n - 1, 0)
            if q < low:
                return 0.0
            if q < high:
                return most * (q - low) / (high - low)
            if gentle and q < 2 * high:
                return most + (1.0 - most) * (q - high) / high
            return 1.0

        top = 2 * high + 1
        states = birth_death(load, lambda n, dropped=dropped: 1.0 - dropped(n), top)
        queue = (
            f'{{ red = {{ min_threshold = "{low} packets", max_threshold = "{high} packets", '
            f'max_probability = {most}, weight = 1.0, spacing = "geometric", '
            f"gentle = {str(gentle).lower()} }} }}"
        )
        text = _server(_poisson("x", load, "1000 B", "exponential"), queue)
        loss = math.fsum(p * dropped(n) for n, p in enumerate(states))
        title = f"load {load}, {low} to {high} packets, {most}{', gentle' * gentle}"
        for what, quantity, theory in (
            ("loss", _loss("x"), loss), ("waiting", _waiting, _mean_waiting(states)),
        ):  # fmt: skip
            cells.append(
                Cell(
                    "RED's probability",
                    f"{title}, {what}",
                    Sampled(text, quantity, theory, PILOT_S),
                )
            )
    return cells


def _residual() -> list[Cell]:
    """A packet that finds the link idle first waits for a uniform part of V services, the rest of a
    packet of lower priority: M/G/1 with an exceptional first service in each busy period."""
    cells = []
    for load, size, sizes in (
        (0.3, 1.5, "fixed"), (0.6, 1.5, "fixed"), (0.8, 4.0, "fixed"),
        (0.3, 1.0, "exponential"), (0.6, 9.0, "exponential"), (0.8, 1.5, "exponential"),
    ):  # fmt: skip
        square = 1.0 if sizes == "fixed" else 2.0
        wait = pollaczek_khinchine([(load, 1.0, square)])
        wait += exceptional_first(load, size / 2.0, size**2 / 3.0)
        more = f'residual = "{round(1000 * size)} B"\n'
        text = _server(_poisson("x", load, "1000 B", sizes), more=more)
        check = Sampled(text, _delay("x"), 1.0 + wait, PILOT_S)
        cells.append(Cell("residual packets", f"load {load}, {sizes}, V {size}, delay", check))
    return cells


def _tandem() -> list[Cell]:
    """Links in series with fixed sizes: the wait in all is that of M/D/1 at the slowest, in
    whatever order they stand (Friedman, Operations Research 13 (1965) 121-131)."""
    cells = []
    for load, slowness in (
        (0.7, (1.0, 0.5)), (0.7, (0.5, 1.0)), (0.85, (1.0, 1.0, 1.0)), (0.8, (0.25, 1.0, 0.5)),
        (0.5, (0.8, 1.0)), (0.9, (0.5, 0.25, 1.0)),
    ):  # fmt: skip

        def text(seconds: float, load: float = load, slowness: Sequence[float] = slowness) -> str:
            warm_up = seconds / 10.0
            links = "".join(
                f'[links.l{i}]\nfrom = "{_node(i, slowness)}"\nto = "{_node(i + 1, slowness)}"\n'
                f'rate = "{MBPS / slow:g} Mbit/s"\nduplex = false\n'
                for i, slow in enumerate(slowness)
            )
            return (
                f'duration = "{warm_up + seconds:.6f} s"\nwarm_up = "{warm_up:.6f} s"\n'
                f"{links}{_poisson('x', load, '1000 B')}"
            )

        theory = load / (2.0 * (1.0 - load)) + sum(slowness)
        title = f"load {load}, services {', '.join(map(str, slowness))}, delay"
        cells.append(Cell("tandem of M/D/1", title, Sampled(text, _delay("x"), theory, PILOT_S)))
    return cells


def _node(index: int, links: Sequence[float]) -> str:
    return "a" if index == 0 else "b" if index == len(links) else f"n{index}"


def _periodic() -> list[Cell]:
    """N*D/D/1: the second period of a run is like all that follow, so runs are short and many."""
    cells = []
    for sources, period in ((5, 8), (10, 12), (10, 20), (19, 20), (20, 25), (30, 32), (40, 50)):

        def text(_seconds: float, sources: int = sources, period: int = period) -> str:
            rate = f'rate = "{round(MBPS * 1e6 / period)} bit/s", size = "1000 B"'
            return (
                f'duration = "{2 * period} ms"\nwarm_up = "{period} ms"\n'
                f'[links.server]\nfrom = "a"\nto = "b"\nrate = "{MBPS} Mbit/s"\nduplex = false\n'
                f'[flows.x]\nfrom = "a"\nto = "b"\nudp = {{}}\ncount = {sources}\n'
                f"traffic = {{ cbr = {{ {rate} }} }}\n"
            )

        theory = 1.0 + ndd1_wait(sources, period)
        check = Sampled(text, _delay("x"), theory, 0.0, replications=300, grow_runs=True)
        cells.append(Cell("N*D/D/1", f"{sources} sources, period {period}, delay", check))
    return cells


CELLS: list[Cell] = [
    *_mm1(), *_rates(), *_md1(), *_mg1(), *_priority(), *_finite(), *_thresholds(), *_red(),
    *_residual(), *_tandem(), *_periodic(),
]  # fmt: skip
