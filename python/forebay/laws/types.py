"""Types in which a law of one's own declares its parameters and its state.

A class decorated by `forebay.law` has annotations: `target: Span = "5 ms"` is a parameter with a
default as a scenario has it, `count: State[int]` what the law remembers. In its methods all are
numbers.

| parameter | in scenarios | in methods |
|---|---|---|
| `Span` | `"5 ms"` | whole picoseconds |
| `Rate` | `"10 Mbit/s"` | whole bit/s |
| `Size` | `"1500 B"` | whole bytes |
| `Length` | `"20 packets"`, `"30 kB"` | `limit`, and `limit_in_packets`, 1 or 0 |
| `Frequency` | `"10 /s"` | number per second |
| `float`, `int`, `bool` | `0.5`, `3`, `true` | number, whole number from 0, 1 or 0 |
| `str` | `"text"` | text |
| `Literal["mark", "drop"]` | one of these words | the word, to compare |
| `list[...]` of one of these | `[3, 1]` | a sequence, not to be written to |
| `... | None` | may be left out | `NEVER` then; NaN, `None` or no values, see below |

A number that is left out is NaN, a word or text `None`, a list has no values, and all others are
`NEVER`.

What a law remembers is `State[Time]`, `State[Span]`, `State[int]`, `State[float]`, `State[bool]`,
with the value that it begins with, or 0; `State[int, 16]` is an array of 16. `Probe[...]` is state
that recorded series show; its unit follows the type, or is given: `Probe[float, "packets"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.errors import UserError

__all__ = ["Frequency", "Length", "Probe", "Rate", "Size", "Span", "State", "Time"]


class Quantity:
    """What a law remembers: of a type, once or `count` times, shown by series if `probe`."""

    __slots__ = ("count", "probe", "type", "unit")

    def __init__(self, given: Any, probe: bool) -> None:
        self.probe = probe
        self.count: int | None = None
        self.unit: str | None = None
        self.type, *others = given if isinstance(given, tuple) else (given,)
        name = "Probe" if probe else "State"
        if self.type not in STATE_TYPES:
            allowed = ", ".join(each.__name__ for each in STATE_TYPES)
            shown = getattr(self.type, "__name__", self.type)
            raise UserError(f"{name}[{shown}]: no type of state; allowed are {allowed}")
        for other in others:
            if isinstance(other, str) and probe:
                self.unit = other
            elif isinstance(other, int) and not probe and 1 <= other <= MAX_COUNT:
                self.count = other
            else:
                allowed = "a unit" if probe else f"a number of values, 1 to {MAX_COUNT}"
                raise UserError(f"{name}: {other!r} is not {allowed}")


MAX_COUNT = 65_536
"""Maximum number of values in an array of state."""

if TYPE_CHECKING:
    from typing import TypeAlias

    # A default is what a scenario has, and in methods it is a number.
    Time: TypeAlias = Any
    Span: TypeAlias = Any
    Rate: TypeAlias = Any
    Size: TypeAlias = Any
    Length: TypeAlias = Any
    Frequency: TypeAlias = Any
    State: Any
    Probe: Any
else:

    class Time:
        """A time since the start of the run, in whole picoseconds."""

    class Span:
        """A duration: `"5 ms"`; whole picoseconds."""

    class Rate:
        """A bit rate: `"10 Mbit/s"`; whole bit/s."""

    class Size:
        """An amount of data: `"1500 B"`; whole bytes."""

    class Length:
        """A length of a queue: `"20 packets"` or `"30 kB"`; packets or bytes."""

    class Frequency:
        """A number per second: `"10 /s"`."""

    class State:
        """What a law remembers: `State[int]`, `State[float, 16]`."""

        def __class_getitem__(cls, given: Any) -> Quantity:
            return Quantity(given, probe=False)

    class Probe:
        """What a law remembers and series show: `Probe[Span]`, `Probe[float, "packets"]`."""

        def __class_getitem__(cls, given: Any) -> Quantity:
            return Quantity(given, probe=True)


STATE_TYPES: tuple[Any, ...] = (Time, Span, int, float, bool, Size, Rate)
"""Types of state."""
