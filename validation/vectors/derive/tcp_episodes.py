"""Episodes of TCP: a reference sender, a network that harms what it sends, and a receiver.

The network loses, delays, duplicates and marks segments, and loses acknowledgements, as a seed has
it. Written down are the acknowledgements that reach the sender, and what it says and sends on each
and when its timers expire; so another sender can be told the same, and must do the same.
"""

from __future__ import annotations

import heapq
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, Protocol

from tcp_rfc6675 import Rfc6675
from tcp_rfc9937 import RackSender
from tcp_sender import MS, Ack, Settings

__all__ = ["SENDERS", "expected_of_sender"]

US = MS // 1000

# Time from which nothing is lost, so that episodes end.
LOSSES_END = 20_000_000


class Reference(Protocol):
    """A sender as an episode drives it."""

    cwnd: Fraction
    ssthresh: Fraction | float
    una: int
    sent: list[tuple[int, bool]]

    def write(self, segments: int, now: int) -> None:
        """The application writes."""

    def acknowledge(self, ack: Ack, now: int) -> None:
        """An acknowledgement arrives."""

    def expire(self, now: int) -> None:
        """The timer expires."""

    def timer(self) -> int | None:
        """Time at which it does."""

    def stated_flight(self) -> int | None:
        """Segments in flight, or `None` where the standard does not say."""


# By the name of the file of vectors.
SENDERS: dict[str, Callable[[Settings], Reference]] = {
    "rfc6675": Rfc6675,
    "rfc8985": RackSender,
}


@dataclass(frozen=True)
class Segment:
    """A segment on its way: number, time and rank among all that were sent, and flags."""

    number: int
    rank: int
    sent: int
    cwr: bool
    marked: bool


class Receiver:
    """A receiver: cumulative acknowledgements, at most three SACK blocks, the most recent first
    (RFC 2018, section 4), duplicates in the first (RFC 2883), ECN-Echo until CWR (RFC 3168, section
    6.1.3) and the timestamp of RFC 7323, section 4.3."""

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self.next = self.acked = 0
        self.held: set[int] = set()
        self.recent: list[int] = []
        self.echoed: Segment | None = None
        self.ece = False
        self.waiting = 0
        self.due: int | None = None
        self.duplicate = False

    def arrive(self, segment: Segment, now: int) -> bool:
        """A segment arrives. Returns true if it is to be acknowledged at once."""
        number = segment.number
        self.ece = (self.ece and not segment.cwr) or segment.marked
        if number <= self.acked and (self.echoed is None or segment.sent >= self.echoed.sent):
            self.echoed = segment
        self.duplicate = number < self.next or number in self.held
        in_order = number == self.next and not self.held
        if not self.duplicate:
            self.held.add(number)
            self.recent = [number, *self.recent]
        while self.next in self.held:
            self.held.remove(self.next)
            self.next += 1
        self.waiting += 1
        if in_order and self.delay and self.waiting < 2:
            self.due = now + self.delay
            return False
        return True

    def block(self, number: int) -> tuple[int, int]:
        """The block of what is held around a segment."""
        first = end = number
        while first - 1 in self.held:
            first -= 1
        while end in self.held:
            end += 1
        return first, end

    def answer(self, cause: int) -> tuple[int, list[tuple[int, int]], bool, int | None]:
        """The acknowledgement that is due since segment `cause` arrived: number, blocks, ECN-Echo,
        and the rank of the segment whose timestamp is echoed. Before the first is expected, that is
        the timestamp with which the connection was opened."""
        duplicate = [(cause, cause + 1)] if self.duplicate else []
        self.recent = [n for n in self.recent if n in self.held]
        blocks = list(dict.fromkeys(self.block(n) for n in self.recent))
        self.acked, self.waiting, self.due = self.next, 0, None
        rank = None if self.echoed is None else self.echoed.rank
        return self.next, [*duplicate, *blocks][:3], self.ece, rank


class Network:
    """A link with a rate and a delay each way, and what it does to segments by chance."""

    def __init__(self, random: Random) -> None:
        def one_of(*values: float) -> float:
            return values[int(random.random() * len(values))]

        self.random = random
        self.service = int(10 ** (2.3 + 1.4 * random.random()))
        self.delay = int(10 ** (3.4 + 1.3 * random.random()))
        self.room = int(one_of(5, 12, 30, 10**6))
        self.loss = one_of(0, 0.01, 0.03, 0.1)
        self.burst = one_of(0, 0.5, 0.8)
        self.late = one_of(0, 0, 0.02, 0.1)
        self.lateness = 2 * self.delay * one_of(0.05, 0.3, 1)
        self.twice = one_of(0, 0, 0.02, 0.1)
        self.marks = one_of(0, 0, 0.02, 0.1)
        self.ack_loss = one_of(0, 0, 0.05, 0.3)
        self.ack_late = one_of(0, 0, 0.02, 0.1)
        self.free = 0
        self.losing = False

    def happens(self, probability: float) -> bool:
        """Returns true with that probability."""
        return self.random.random() < probability

    def carry(self, now: int) -> Iterator[tuple[int, bool]]:
        """Times in microseconds at which a segment arrives that is sent at `now`, and whether it is
        marked: none if it is lost, two if it is duplicated."""
        self.losing = self.happens(self.burst if self.losing else self.loss) and now < LOSSES_END
        start = max(now, self.free)
        if self.losing or start - now > self.room * self.service:
            return
        self.free = start + self.service
        at, marked = self.free + self.delay, self.happens(self.marks)
        if self.happens(self.late):
            at += int(self.lateness * self.random.random())
        yield at, marked
        if self.happens(self.twice):
            yield at + int(self.lateness * self.random.random()), marked

    def answer(self, now: int) -> Iterator[int]:
        """Time at which an acknowledgement arrives, if it does."""
        at = now + self.delay
        if self.happens(self.ack_late):
            at += int(self.lateness * self.random.random())
        if not self.happens(self.ack_loss):
            yield at


class Episode:
    """One episode."""

    def __init__(self, make: Callable[[Settings], Reference], seed: int, delay: int) -> None:
        random = Random(seed)
        self.network = Network(random)
        window = 2 + int(18 * random.random() ** 2)
        delayed = delay * (random.random() < 0.3)
        self.settings = Settings(window, 50 * MS, 60_000 * MS, delay * MS)
        self.sender = make(self.settings)
        self.receiver = Receiver(delayed * 1000)
        # What is to happen: time in microseconds, order, and either a write of the application, a
        # segment or an acknowledgement that arrives, or the receiver's timer.
        self.events: list[tuple[float, int, str, Any]] = []
        self.order = 0
        self.times: list[int] = []
        self.numbers: set[int] = set()
        self.rows: list[str] = []
        self.written = 0
        self.said: tuple[Any, ...] = (Fraction(0), Fraction(0))
        self.plan(0, "write", 50 + int(250 * random.random() ** 4))
        if random.random() < 0.5:
            # While the first is on its way or after it, and never with anything else.
            at = int(self.network.delay * 60 * random.random() ** 2) + 0.5
            self.plan(at, "write", 1 + int(30 * random.random() ** 3))

    def plan(self, at: float, kind: str, what: Any) -> None:
        """Have something happen."""
        self.order += 1
        heapq.heappush(self.events, (at, self.order, kind, what))

    def play(self) -> str:
        """All rows, under one with the initial window."""
        while True:
            at = self.events[0][0] * US if self.events else None
            timer = self.sender.timer()
            if timer is not None and timer == at:
                # Their order is no standard's.
                later, _, kind, what = heapq.heappop(self.events)
                self.plan(later + 1, kind, what)
            elif timer is not None and (at is None or timer < at):
                self.sender.expire(timer)
                self.note(timer, "timer")
            elif at is not None:
                self.happen()
            else:
                break
        assert self.sender.una == self.written, "the episode has not ended"
        return "\n".join([f"window {self.settings.window}", *self.rows])

    def happen(self) -> None:
        """The next event."""
        at, _, kind, what = heapq.heappop(self.events)
        now = int(at)
        if kind == "write":
            self.written += what
            self.sender.write(what, int(at * US))
            self.note(int(at * US), f"w{what}")
        elif kind == "segment":
            if self.receiver.arrive(what, now):
                self.answer(what.number, now)
            elif self.receiver.due is not None:
                self.plan(self.receiver.due, "delayed", what.number)
        elif kind == "delayed":
            if self.receiver.due == now:
                self.answer(what, now)
        else:
            number, blocks, ece, rank = what
            echo = 0 if rank is None else self.times[rank]
            self.sender.acknowledge(Ack(number, blocks, ece, echo), now * US)
            words = [f"a{number}"]
            if blocks:
                words.append("s" + ",".join(f"{first}-{end}" for first, end in blocks))
            words += ["e"] * ece + [f"t{rank}"] * (rank is not None)
            self.note(now * US, " ".join(words))

    def answer(self, cause: int, now: int) -> None:
        """The receiver acknowledges."""
        ack = self.receiver.answer(cause)
        for at in self.network.answer(now):
            self.plan(at, "ack", ack)

    def note(self, now: int, what: str) -> None:
        """A row: what happened, and what the sender says and has sent since."""
        sender, words = self.sender, []
        flight, windows = sender.stated_flight(), (sender.cwnd, sender.ssthresh)
        for key, value, before in zip("ch", windows, self.said[:2], strict=True):
            if value != before:
                words.append(f"{key}{plain(value)}")
        if sender.sent:
            words.append("x" + ",".join(f"{n}{'w' * cwr}" for n, cwr in sender.sent))
        for number, cwr in sender.sent:
            new = number not in self.numbers
            self.numbers.add(number)
            rank = len(self.times)
            self.times.append(now)
            for at, marked in self.network.carry(-(-now // US)):
                segment = Segment(number, rank, now, cwr, marked and new)
                self.plan(at, "segment", segment)
        sender.sent.clear()
        said = (*windows, flight)
        if words or what != "timer" or said != self.said:
            time = f"{now / US:.3f}".removesuffix(".000")
            words.insert(0, "f-" if flight is None else f"f{flight}")
            self.rows.append(f"{time} {what} > {' '.join(words)}")
        self.said = said


def plain(value: Fraction | float) -> str:
    """A number of bytes, which is exact."""
    return repr(float(value)).removesuffix(".0")


def expected_of_sender(path: Path) -> dict[str, list[str]]:
    """The episodes of a vector of a sender."""
    case = tomllib.loads(path.read_text())
    make, delay = SENDERS[path.stem], case["ack_delay_ms"]
    return {"episodes": [Episode(make, seed, delay).play() for seed in case["seeds"]]}
