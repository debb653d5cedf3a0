"""BBR, version 3, as draft-ietf-ccwg-bbr (text of August 2026) defines it, section 5.

Names are those of the draft in lower case. What it draws by chance (PickProbeWait()) is drawn at
the ends of its range; a vector may ask only for what all of them agree on.
"""

from __future__ import annotations

import tomllib
from collections import deque
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from samples import Events, Instant, Sample, Sampler, Segment

__all__ = ["expected_of_bbr3"]

STATES = ["Startup", "Drain", "Down", "Cruise", "Refill", "Up", "ProbeRtt"]
PROBE_BW = {"Down", "Cruise", "Refill", "Up"}
GAINS = {
    "Startup": ("2.77", "2"),
    "Drain": ("0.5", "2"),
    "Down": ("0.9", "2"),
    "Cruise": ("1", "2"),
    "Refill": ("1", "2"),
    "Up": ("1.25", "2.25"),
    "ProbeRtt": ("1", "0.5"),
}
LOSS_THRESH = Fraction(2, 100)
BETA = Fraction(7, 10)
HEADROOM = Fraction(15, 100)
MARGIN = Fraction(1, 100)
MIN_PIPE = 4
BUDGET = 3


class Windowed:
    """UpdateWindowedMaxFilter(): the highest value of the last `length` units of virtual time."""

    def __init__(self) -> None:
        """Without a value."""
        self.values: deque[tuple[int, Fraction]] = deque()

    def update(self, value: Fraction, time: int, length: int) -> None:
        """A value, at a virtual time."""
        self.values.append((time, value))
        while self.values[0][0] <= time - length:
            self.values.popleft()

    def max(self) -> Fraction:
        """The highest value."""
        return max((value for _, value in self.values), default=Fraction(0))


class Bbr3:
    """The law of one connection."""

    def __init__(self, case: dict[str, Any], chance: tuple[int, int]):
        """A connection with the first window of a case; `chance`: rounds and seconds drawn."""
        self.smss = case["mss_bytes"]
        self.chance = chance
        self.sampler = Sampler(self.smss)
        self.initial = self.cwnd = Fraction(case["window_bytes"])
        self.state = "Startup"
        self.pacing: Fraction | None = None
        self.max_bw_filter, self.extra_acked_filter = Windowed(), Windowed()
        self.cycle_count = self.round_count = self.next_round = 0
        self.round_start = False
        self.bw = self.full_bw = Fraction(0)
        self.full_bw_count = 0
        self.full_bw_now = self.full_bw_reached = False
        self.drain_start_round = 0
        self.min_rtt: Fraction | None = None
        self.min_rtt_stamp = self.probe_rtt_min_stamp = Fraction(0)
        self.probe_rtt_min: Fraction | None = None
        self.probe_rtt_done: Fraction | None = None
        self.probe_rtt_round_done = False
        self.extra_start, self.extra_delivered = Fraction(0), Fraction(0)
        self.prior_cwnd = Fraction(0)
        self.idle_restart = self.recovering = False
        self.longterm: Fraction | None = None
        self.shortterm: Fraction | None = None
        self.bw_shortterm: Fraction | None = None
        self.bw_latest, self.inflight_latest = Fraction(0), 0
        self.loss_round_delivered, self.loss_round_start = 0, False
        self.loss_in_round, self.loss_ranges, self.last_lost = False, 0, -2
        self.ack_phase = "init"
        self.probe_sample = self.too_high = self.precautionary = False
        self.up_rounds, self.up_acked = 0, Fraction(0)
        self.per_inc: Fraction | None = None
        self.rounds_since_up, self.wait, self.cycle_stamp = 0, 0, Fraction(0)

    # 5.2: events.

    def before_send(self, now: Fraction) -> None:
        """HandleRestartFromIdle()."""
        if self.sampler.in_flight or not self.sampler.app_limited:
            return
        self.idle_restart, self.extra_start = True, now
        if self.state in PROBE_BW:
            self.set_pacing(Fraction(1))
        elif self.state == "ProbeRtt":
            self.check_probe_rtt_done(now)

    def lost(self, now: Fraction, segment: Segment) -> None:
        """HandleLostPacket()."""
        if not self.loss_in_round:
            self.loss_round_delivered = self.sampler.delivered
            self.save_cwnd()
        self.loss_in_round = True
        self.loss_ranges += segment.number != self.last_lost + 1
        self.last_lost = segment.number
        lost = self.sampler.lost - segment.lost
        if not self.probe_sample or lost <= segment.in_flight * LOSS_THRESH:
            return
        before, lost_before = segment.in_flight - self.smss, lost - self.smss
        prefix = (LOSS_THRESH * before - lost_before) / (1 - LOSS_THRESH)
        self.too_high, self.probe_sample = True, False
        if not segment.app_limited:
            self.longterm = max(before + prefix, self.target() * BETA)
        if self.state == "Up":
            self.start_down(now)

    def acknowledged(self, rs: Sample, *, recovering: bool) -> None:
        """UpdateOnACK()."""
        leaves, self.recovering = self.recovering and not recovering, recovering
        self.update_latest(rs)
        self.update_congestion(rs, recovering=recovering)
        self.update_aggregation(rs)
        self.check_full_bw(rs)
        if self.state == "Startup" and self.full_bw_reached:
            self.state, self.drain_start_round = "Drain", self.round_count
        if self.state == "Drain" and (
            rs.in_flight <= self.inflight(self.bw) or self.round_count > self.drain_start_round + 3
        ):
            self.start_down(rs.now)
        self.update_cycle(rs)
        self.update_min_rtt(rs)
        self.check_probe_rtt(rs)
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest = rs.rate, rs.delivered
        self.bw = self.max_bw_filter.max()
        if self.bw_shortterm is not None:
            self.bw = min(self.bw, self.bw_shortterm)
        if self.pacing is None:
            self.pacing = Fraction("2.77") * self.initial / rs.rtt
        self.set_pacing(Fraction(GAINS[self.state][0]))
        if leaves:
            self.cwnd = max(self.cwnd, self.prior_cwnd)
        self.set_cwnd(rs)

    def enter_recovery(self, kind: str) -> None:
        """OnEnterFastRecovery() and OnEnterRTO(), of which NoteLoss() has saved the window."""
        self.recovering = True
        if kind == "timeout":
            self.cwnd = Fraction(self.sampler.in_flight + self.smss)

    # 5.5: the model.

    def update_latest(self, rs: Sample) -> None:
        """UpdateLatestDeliverySignals()."""
        self.bw_latest = max(self.bw_latest, rs.rate)
        self.inflight_latest = max(self.inflight_latest, rs.delivered)
        self.loss_round_start = rs.newest.delivered >= self.loss_round_delivered
        if self.loss_round_start:
            self.loss_round_delivered = rs.total

    def update_congestion(self, rs: Sample, *, recovering: bool) -> None:
        """UpdateCongestionSignals(), and CheckStartupHighLoss() of the round that ends."""
        self.round_start = rs.newest.delivered >= self.next_round
        if self.round_start:
            self.start_round()
            self.round_count += 1
            self.rounds_since_up += 1
        highest = rs.rate >= self.max_bw_filter.max()
        if rs.rate > 0 and (highest or not rs.newest.app_limited):
            self.max_bw_filter.update(rs.rate, self.cycle_count, 2)
        if not self.loss_round_start:
            return
        if self.state not in {"Startup", "Refill", "Up"} and self.loss_in_round:
            bw, volume = self.bw_shortterm, self.shortterm
            bw = self.max_bw_filter.max() if bw is None else bw
            volume = self.cwnd if volume is None else volume
            self.bw_shortterm = max(self.bw_latest, BETA * bw)
            self.shortterm = max(Fraction(self.inflight_latest), BETA * volume)
        too_many = self.loss_ranges >= 6 and rs.lost > rs.newest.in_flight * LOSS_THRESH
        if self.state == "Startup" and recovering and too_many:
            self.full_bw_reached = True
            self.longterm = max(self.bdp(Fraction(1)), Fraction(self.inflight_latest))
        self.loss_in_round, self.loss_ranges = False, 0

    def update_aggregation(self, rs: Sample) -> None:
        """UpdateACKAggregation()."""
        expected = self.bw * (rs.now - self.extra_start)
        if self.extra_delivered <= expected:
            self.extra_delivered, self.extra_start, expected = Fraction(0), rs.now, Fraction(0)
        self.extra_delivered += rs.newly_acked
        extra = min(self.extra_delivered - expected, self.cwnd)
        length = 10 if self.full_bw_reached else 1
        self.extra_acked_filter.update(extra, self.round_count, length)

    def check_full_bw(self, rs: Sample) -> None:
        """CheckFullBWReached()."""
        if self.full_bw_now or not self.round_start or rs.newest.app_limited:
            return
        if rs.rate >= self.full_bw * Fraction(5, 4):
            self.reset_full_bw(rs.rate)
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= 3
        self.full_bw_reached |= self.full_bw_now

    def reset_full_bw(self, rate: Fraction) -> None:
        """ResetFullBW(), with a new baseline."""
        self.full_bw, self.full_bw_count, self.full_bw_now = rate, 0, False

    def start_round(self) -> None:
        """StartRound()."""
        self.next_round = self.sampler.delivered

    # 5.3.3: ProbeBW.

    def start_down(self, now: Fraction) -> None:
        """StartProbeBW_DOWN(), with PickProbeWait()."""
        self.loss_in_round, self.bw_latest, self.inflight_latest = False, Fraction(0), 0
        self.per_inc = None
        self.rounds_since_up, self.wait = self.chance
        self.cycle_stamp, self.ack_phase = now, "stopping"
        self.start_round()
        self.state = "Down"

    def start_refill(self) -> None:
        """StartProbeBW_REFILL()."""
        self.shortterm = self.bw_shortterm = None
        self.up_rounds, self.up_acked = 0, Fraction(0)
        self.precautionary, self.ack_phase = False, "refilling"
        self.start_round()
        self.state = "Refill"

    def start_up(self, rs: Sample) -> None:
        """StartProbeBW_UP()."""
        self.ack_phase = "starting"
        self.start_round()
        self.reset_full_bw(rs.rate)
        self.state = "Up"
        self.raise_slope()

    def raise_slope(self) -> None:
        """RaiseInflightLongtermSlope()."""
        growth = 1 << self.up_rounds
        self.up_rounds = min(self.up_rounds + 1, 30)
        self.per_inc = max(self.cwnd / growth, Fraction(self.smss))

    def update_cycle(self, rs: Sample) -> None:
        """UpdateProbeBWCyclePhase()."""
        if not self.full_bw_reached or self.adapt_longterm(rs):
            return
        if self.state in {"Down", "Cruise"} and self.is_time_to_probe(rs.now):
            self.start_refill()
        elif self.state == "Down" and self.is_time_to_cruise(rs):
            self.state = "Cruise"
        elif self.state == "Refill" and self.round_start:
            self.probe_sample = True
            self.start_up(rs)
        elif self.state == "Up" and self.is_time_to_go_down(rs):
            self.too_high = False
            self.start_down(rs.now)

    def is_time_to_probe(self, now: Fraction) -> bool:
        """IsTimeToProbeBW()."""
        rounds = min(self.target() / self.smss, Fraction(63))
        return now > self.cycle_stamp + self.wait or self.rounds_since_up >= rounds

    def is_time_to_cruise(self, rs: Sample) -> bool:
        """IsTimeToCruise()."""
        headroom = self.with_headroom()
        if headroom is not None and rs.in_flight > headroom:
            return False
        return rs.in_flight <= self.inflight(self.max_bw_filter.max())

    def is_time_to_go_down(self, rs: Sample) -> bool:
        """IsTimeToGoDown()."""
        bound = self.longterm
        if self.too_high and bound is not None and rs.in_flight >= bound:
            self.precautionary = True
            return True
        if rs.cwnd_limited and bound is not None and self.cwnd >= bound:
            self.reset_full_bw(rs.rate)
            return False
        return self.full_bw_now

    def adapt_longterm(self, rs: Sample) -> bool:
        """AdaptLongTermModel()."""
        if self.ack_phase == "starting" and self.round_start:
            self.ack_phase = "feedback"
        if self.ack_phase == "stopping" and self.round_start:
            self.probe_sample, self.ack_phase = False, "init"
            if self.state in PROBE_BW and not rs.newest.app_limited:
                self.cycle_count += 1
            if self.state in PROBE_BW and self.precautionary and not self.too_high:
                self.start_refill()
                return True
        safe = rs.lost <= rs.newest.in_flight * LOSS_THRESH
        if safe and self.longterm is not None:
            self.longterm = max(self.longterm, Fraction(rs.newest.in_flight))
            if self.state == "Up":
                self.probe_upward(rs)
        return False

    def probe_upward(self, rs: Sample) -> None:
        """ProbeInflightLongtermUpward()."""
        assert self.longterm is not None
        if not rs.cwnd_limited or self.cwnd < self.longterm:
            return
        self.up_acked += rs.newly_acked
        assert self.per_inc is not None
        if self.up_acked >= self.per_inc:
            delta = self.up_acked // self.per_inc
            self.up_acked -= delta * self.per_inc
            self.longterm += delta * self.smss
        if self.round_start:
            self.raise_slope()

    # 5.3.4: ProbeRTT.

    def update_min_rtt(self, rs: Sample) -> None:
        """UpdateMinRTT()."""
        least = self.probe_rtt_min
        self.expired = least is not None and rs.now > self.probe_rtt_min_stamp + 5
        if least is None or rs.rtt < least or self.expired:
            self.probe_rtt_min, self.probe_rtt_min_stamp = rs.rtt, rs.now
        assert self.probe_rtt_min is not None
        old = rs.now > self.min_rtt_stamp + 10
        if self.min_rtt is None or self.probe_rtt_min < self.min_rtt or old:
            self.min_rtt, self.min_rtt_stamp = self.probe_rtt_min, self.probe_rtt_min_stamp

    def check_probe_rtt(self, rs: Sample) -> None:
        """CheckProbeRTT(), with HandleProbeRTT()."""
        if self.state != "ProbeRtt" and self.expired and not self.idle_restart:
            self.state = "ProbeRtt"
            self.save_cwnd()
            self.probe_rtt_done, self.ack_phase = None, "stopping"
            self.start_round()
        if self.state == "ProbeRtt":
            self.sampler.limit()
            if self.probe_rtt_done is None:
                if rs.in_flight <= self.probe_rtt_cwnd():
                    self.probe_rtt_done = rs.now + Fraction(2, 10)
                    self.probe_rtt_round_done = False
                    self.start_round()
            else:
                self.probe_rtt_round_done |= self.round_start
                if self.probe_rtt_round_done:
                    self.check_probe_rtt_done(rs.now)
        self.idle_restart = False

    def check_probe_rtt_done(self, now: Fraction) -> None:
        """CheckProbeRTTDone(), with ExitProbeRTT()."""
        if self.probe_rtt_done is None or now <= self.probe_rtt_done:
            return
        self.probe_rtt_min_stamp = now
        self.cwnd = max(self.cwnd, self.prior_cwnd)
        self.shortterm = self.bw_shortterm = None
        if self.full_bw_reached:
            self.start_down(now)
            self.state = "Cruise"
        else:
            self.state = "Startup"

    # 5.6: control parameters.

    def save_cwnd(self) -> None:
        """SaveCwnd()."""
        first = not self.recovering and self.state != "ProbeRtt"
        self.prior_cwnd = self.cwnd if first else max(self.prior_cwnd, self.cwnd)

    def bdp(self, gain: Fraction, bw: Fraction | None = None) -> Fraction:
        """BDPMultiple()."""
        if self.min_rtt is None:
            return self.initial
        return gain * (self.bw if bw is None else bw) * self.min_rtt

    def quantized(self, volume: Fraction) -> Fraction:
        """QuantizationBudget(): without offload, a quantum is one segment."""
        volume = max(volume, Fraction(BUDGET * self.smss), Fraction(MIN_PIPE * self.smss))
        return volume + 2 * self.smss if self.state == "Up" else volume

    def inflight(self, bw: Fraction) -> Fraction:
        """Inflight(1.0) at a bandwidth."""
        return self.quantized(self.bdp(Fraction(1), bw))

    def target(self) -> Fraction:
        """TargetInflight()."""
        return min(self.bdp(Fraction(1)), self.cwnd)

    def with_headroom(self) -> Fraction | None:
        """InflightWithHeadroom()."""
        if self.longterm is None:
            return None
        headroom = max(Fraction(self.smss), HEADROOM * self.longterm)
        return max(self.longterm - headroom, Fraction(MIN_PIPE * self.smss))

    def probe_rtt_cwnd(self) -> Fraction:
        """ProbeRTTCwnd()."""
        return max(self.bdp(Fraction(1, 2)), Fraction(MIN_PIPE * self.smss))

    def set_pacing(self, gain: Fraction) -> None:
        """SetPacingRateWithGain()."""
        rate = gain * self.bw * (1 - MARGIN)
        if self.pacing is None or self.full_bw_reached or rate > self.pacing:
            self.pacing = rate

    def set_cwnd(self, rs: Sample) -> None:
        """SetCwnd()."""
        volume = self.bdp(Fraction(GAINS[self.state][1])) + self.extra_acked_filter.max()
        most = self.quantized(volume)
        if self.full_bw_reached:
            self.cwnd = min(self.cwnd + rs.newly_acked, most)
        elif self.cwnd < most or rs.total < self.initial:
            self.cwnd += rs.newly_acked
        least = Fraction(MIN_PIPE * self.smss)
        self.cwnd = max(self.cwnd, least)
        if self.state == "ProbeRtt":
            self.cwnd = min(self.cwnd, self.probe_rtt_cwnd())
        caps = [self.shortterm]
        if self.state in {"Cruise", "ProbeRtt"}:
            caps.append(self.with_headroom())
        elif self.state in PROBE_BW:
            caps.append(self.longterm)
        bounds = [cap for cap in caps if cap is not None]
        if bounds:
            self.cwnd = min(self.cwnd, max(least, min(bounds)))

    def quantities(self) -> dict[str, Fraction | None]:
        """Its named quantities; nothing where a bound is infinite."""
        return {
            "state": Fraction(STATES.index(self.state)),
            "cwnd_bytes": self.cwnd,
            "pacing_rate_bps": self.pacing and 8 * self.pacing,
            "pacing_gain": Fraction(GAINS[self.state][0]),
            "bandwidth_bps": 8 * self.bw,
            "max_bandwidth_bps": 8 * self.max_bw_filter.max(),
            "min_rtt_s": self.min_rtt,
            "extra_acked_bytes": self.extra_acked_filter.max(),
            "inflight_longterm_bytes": self.longterm,
            "inflight_shortterm_bytes": self.shortterm,
        }


def happen(law: Bbr3, events: Events, at: int, instant: Instant) -> None:
    """Applies the events of one time."""
    now, sampler = Fraction(at, 10**9), law.sampler
    if instant.limits:
        sampler.limit()
    row = instant.ack
    lost = set(instant.losses)
    found = sampler.deliver(now, row.get("segments", 1), lost) if row else None
    for number in instant.losses:
        law.lost(now, sampler.lose(number))
    if row and found:
        limited = row.get("cwnd_limited", False)
        rs = sampler.sample(now, row.get("segments", 1), found, limited)
        law.acknowledged(rs, recovering=events.recovering(at))
    if instant.recovery:
        law.enter_recovery(instant.recovery)
    for _ in range(instant.sends):
        law.before_send(now)
        sampler.sent(now)


def states(case: dict[str, Any], chance: tuple[int, int]) -> list[dict[str, Any]]:
    """The states that a vector asks for, with what is drawn by chance."""
    law, events, found = Bbr3(case, chance), Events(case), []
    for at, instant in events:
        happen(law, events, at, instant)
        for asked in (row for row in case["expected"]["state"] if row["at_ns"] == at):
            quantities = law.quantities()
            values = {name: quantities[name] for name in asked if name != "at_ns"}
            absent = [name for name, value in values.items() if value is None]
            assert not absent, f"{absent} at {at} ns: there is none"
            found.append({"at_ns": at, **values})
    return found


def expected_of_bbr3(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The states that a vector asks for."""
    case = tomllib.loads(path.read_text())
    found = [states(case, chance) for chance in product((0, 1), (2, 3))]
    assert all(other == found[0] for other in found), f"{path}: chance decides"
    return {"state": found[0]}
