"""Samples of delivery rates, as draft-ietf-ccwg-bbr, section 4.1, defines them.

The inputs of a vector are what a sender did and learned: when it sent segments, which of them were
delivered or found to be lost, and when its application had nothing to send. Volumes are in bytes,
times in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

__all__ = ["Events", "Instant", "Sample", "Sampler", "Segment"]


@dataclass
class Segment:
    """State of a segment (P in the draft)."""

    number: int
    sent: Fraction
    first_sent: Fraction
    delivered_time: Fraction
    delivered: int
    lost: int
    in_flight: int
    app_limited: bool
    gone: bool = False


@dataclass
class Sample:
    """Sample of an acknowledgement (RS in the draft)."""

    now: Fraction
    newest: Segment
    newly_acked: int
    delivered: int
    rate: Fraction
    lost: int
    cwnd_limited: bool
    in_flight: int
    total: int

    @property
    def rtt(self) -> Fraction:
        """RS.rtt: no segment is sent twice."""
        return self.now - self.newest.sent


@dataclass
class Sampler:
    """The state of a connection (C in the draft)."""

    smss: int
    delivered: int = 0
    delivered_time: Fraction = Fraction(0)
    first_sent: Fraction = Fraction(0)
    app_limited: int = 0
    lost: int = 0
    in_flight: int = 0
    min_rtt: Fraction | None = None
    last_acked: int = -1
    oldest: int = 0
    segments: list[Segment] = field(default_factory=list)

    def sent(self, now: Fraction) -> None:
        """OnPacketSent()."""
        if self.in_flight == 0:
            self.first_sent = self.delivered_time = now
        self.in_flight += self.smss
        limited = self.app_limited != 0
        self.segments.append(
            Segment(
                number=len(self.segments),
                sent=now,
                first_sent=self.first_sent,
                delivered_time=self.delivered_time,
                delivered=self.delivered,
                lost=self.lost,
                in_flight=self.in_flight,
                app_limited=limited,
            )
        )

    def limit(self) -> None:
        """MarkConnectionAppLimited()."""
        self.app_limited = max(self.delivered + self.in_flight, 1)

    def lose(self, number: int) -> Segment:
        """Segment `number` is marked as lost."""
        segment = self.segments[number]
        assert not segment.gone
        segment.gone = True
        self.lost += self.smss
        self.in_flight -= self.smss
        return segment

    def deliver(
        self, now: Fraction, count: int, lost: set[int]
    ) -> tuple[Segment, Fraction, Fraction]:
        """UpdateRateSample() for the oldest segments but those that are found to be lost.

        Returned are the newest of them, and the times that sending and acknowledging took.
        """
        found: tuple[Segment, Fraction, Fraction] | None = None
        while self.segments[self.oldest].gone:
            self.oldest += 1
        number = self.oldest
        while count:
            segment = self.segments[number]
            number += 1
            if segment.gone or segment.number in lost:
                continue
            count -= 1
            segment.gone = True
            self.delivered += self.smss
            self.in_flight -= self.smss
            self.delivered_time = now
            later = (segment.sent, segment.number) > (self.first_sent, self.last_acked)
            if found is None or later:
                send_elapsed = segment.sent - segment.first_sent
                found = segment, send_elapsed, now - segment.delivered_time
                self.last_acked, self.first_sent = segment.number, segment.sent
        assert found is not None
        return found

    def sample(
        self, now: Fraction, count: int, found: tuple[Segment, Fraction, Fraction], limited: bool
    ) -> Sample:
        """GenerateRateSample()."""
        newest, send_elapsed, ack_elapsed = found
        rtt = now - newest.sent
        self.min_rtt = rtt if self.min_rtt is None else min(self.min_rtt, rtt)
        if self.app_limited and self.delivered > self.app_limited:
            self.app_limited = 0
        interval, delivered = max(send_elapsed, ack_elapsed), self.delivered - newest.delivered
        true = interval >= self.min_rtt and interval > 0
        rate = delivered / interval if true else Fraction(0)
        lost = self.lost - newest.lost
        brought = count * self.smss
        return Sample(
            now, newest, brought, delivered, rate, lost, limited, self.in_flight, self.delivered
        )


@dataclass
class Instant:
    """Events of one time, in this order."""

    limits: int = 0
    ack: dict[str, Any] | None = None
    losses: list[int] = field(default_factory=list)
    recovery: str | None = None
    sends: int = 0


class Events:
    """The events of a vector by time, in nanoseconds."""

    def __init__(self, case: dict[str, Any]):
        """Those of a file."""
        self.at: dict[int, Instant] = {}
        for key in ("limits", "acks", "sends"):
            for row in case.get(key, []):
                for number in range(row.get("count", 1)):
                    instant = self._of(row["at_ns"] + number * row.get("every_ns", 0))
                    if key == "acks":
                        assert instant.ack is None, "one acknowledgement at a time"
                        instant.ack = row
                    elif key == "sends":
                        instant.sends += row.get("segments", 1)
                    else:
                        instant.limits += 1
        for row in case.get("losses", []):
            first, step = row["first"], row.get("step", 1)
            numbers = range(first, first + step * row.get("count", 1), step)
            self._of(row["at_ns"]).losses += numbers
        self.recoveries = case.get("recoveries", [])
        for row in self.recoveries:
            self._of(row["from_ns"]).recovery = row["kind"]

    def _of(self, at: int) -> Instant:
        return self.at.setdefault(at, Instant())

    def recovering(self, at: int) -> bool:
        """Returns True if losses are being repaired before and after the events of a time."""
        return any(row["from_ns"] < at < row["to_ns"] for row in self.recoveries)

    def __iter__(self) -> Iterator[tuple[int, Instant]]:
        return iter(sorted(self.at.items()))
