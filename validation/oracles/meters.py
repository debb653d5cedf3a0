"""Reference meters in whole numbers, after the words of their standards, packet by packet.

Time is in ps, tokens are in 10^-12 bit, so that a rate in bit/s times a time gives whole tokens.
Each meter is a function that is told when a packet of how many bytes came with which colour, and
answers with the colour it leaves with (0 green, 1 yellow, 2 red).
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Meter", "drtcm", "gcra", "srtcm", "token_bucket", "trtcm"]

Meter = Callable[[int, int, int], int]

BYTE = 8 * 10**12
SECOND = 10**12


def token_bucket(cir: int, cbs: int) -> Meter:
    """One bucket: 0 while it holds the packet, else 1."""
    full = cbs * BYTE
    state = {"tokens": full, "last": 0}

    def colour(now: int, size: int, _before: int) -> int:
        state["tokens"] = min(full, state["tokens"] + cir * (now - state["last"]))
        state["last"] = now
        if state["tokens"] < size * BYTE:
            return 1
        state["tokens"] -= size * BYTE
        return 0

    return colour


def srtcm(cir: int, cbs: int, ebs: int, aware: bool) -> Meter:
    """RFC 2697, section 3: tokens at CIR go into Tc while it is below CBS, else into Te."""
    full_c, full_e = cbs * BYTE, ebs * BYTE
    state = {"c": full_c, "e": full_e, "last": 0}

    def colour(now: int, size: int, before: int) -> int:
        new = cir * (now - state["last"])
        into_c = min(new, full_c - state["c"])
        state["c"] += into_c
        state["e"] = min(full_e, state["e"] + new - into_c)
        state["last"] = now
        need = size * BYTE
        if (not aware or before == 0) and state["c"] >= need:
            state["c"] -= need
            return 0
        if (not aware or before <= 1) and state["e"] >= need:
            state["e"] -= need
            return 1
        return 2

    return colour


def trtcm(cir: int, cbs: int, pir: int, pbs: int, aware: bool) -> Meter:
    """RFC 2698, section 3: the peak bucket decides on red first, then the committed on yellow."""
    full_c, full_p = cbs * BYTE, pbs * BYTE
    state = {"c": full_c, "p": full_p, "last": 0}

    def colour(now: int, size: int, before: int) -> int:
        passed = now - state["last"]
        state["c"] = min(full_c, state["c"] + cir * passed)
        state["p"] = min(full_p, state["p"] + pir * passed)
        state["last"] = now
        need = size * BYTE
        if (aware and before == 2) or state["p"] < need:
            return 2
        state["p"] -= need
        if (aware and before == 1) or state["c"] < need:
            return 1
        state["c"] -= need
        return 0

    return colour


def drtcm(cir: int, cbs: int, eir: int, ebs: int, aware: bool) -> Meter:
    """RFC 4115, section 2: green by the committed bucket, else yellow by the excess bucket.

    A packet of B is to leave something: Tc(t) - B > 0. Tokens are bytes, and whole ones count."""
    full_c, full_e = cbs * BYTE, ebs * BYTE
    state = {"c": full_c, "e": full_e, "last": 0}

    def colour(now: int, size: int, before: int) -> int:
        passed = now - state["last"]
        state["c"] = min(full_c, state["c"] + cir * passed)
        state["e"] = min(full_e, state["e"] + eir * passed)
        state["last"] = now
        need = size * BYTE
        if (not aware or before == 0) and state["c"] // BYTE - size > 0:
            state["c"] -= need
            return 0
        if (not aware or before <= 1) and state["e"] // BYTE - size > 0:
            state["e"] -= need
            return 1
        return 2

    return colour


def gcra(rate: int, cell: int, tolerance: int) -> Meter:
    """ITU-T I.371, annex A, as the continuous-state leaky bucket (Forebay has the virtual
    scheduling form): a counter that leaks one a ps and gains T with each conforming cell. What
    does not conform has the bit of value 2 set in its precedence. `tolerance` is in ps."""
    increment, remainder = divmod(cell * 8 * SECOND, rate)
    assert remainder == 0, "choose a rate whose cell time is whole ps"
    state = {"counter": 0, "last": 0}

    def colour(now: int, _size: int, before: int) -> int:
        left = max(0, state["counter"] - (now - state["last"]))
        if left > tolerance:
            return before | 2
        state["counter"], state["last"] = left + increment, now
        return before

    return colour
