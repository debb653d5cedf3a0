"""Options and arguments of commands: what each is called, takes and means."""

from __future__ import annotations

from forebay.errors import UserError

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["HELP", "Parameter", "Whole", "argument", "flag", "option"]

HELP = ("-h", "--help")
"""The option that every command has: it asks for its help."""


class Parameter:
    """An option or an argument of a command.

    `name` is what one types, and for an argument what stands for it in the help. `key` is the
    keyword by which the command is handed the value. `metavar` stands for an option's value; a
    `flag` has none and is true where it is named. `read` makes the value of a word and raises
    `UserError` with what is allowed. `many`: all values are kept, in a list. `names` gives the
    values that there are, for completion in a shell; a file is meant where there are none.
    """

    __slots__ = (
        "default",
        "key",
        "many",
        "meaning",
        "metavar",
        "name",
        "names",
        "read",
        "required",
    )

    def __init__(
        self,
        name: str,
        meaning: str,
        *,
        key: str | None = None,
        metavar: str = "",
        read: Callable[[str], Any] = str,
        default: Any = None,
        many: bool = False,
        required: bool = False,
        names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.key = name.removeprefix("--") if key is None else key
        self.metavar = metavar
        self.read = read
        self.default = default
        self.many = many
        self.required = required
        self.names = names

    def row(self) -> tuple[str, str]:
        """How it is written, and what it means."""
        bounds = f" [{self.read}]" if isinstance(self.read, Whole) else ""
        return f"{self.name} {self.metavar}".rstrip(), self.meaning + bounds

    @property
    def is_option(self) -> bool:
        """Whether it is an option or a flag, not an argument."""
        return self.name.startswith("-")


def argument(name: str, key: str, meaning: str, **details: Any) -> Parameter:
    """An argument; see `Parameter`."""
    return Parameter(name, meaning, key=key, **{"required": True, **details})


def option(name: str, metavar: str, meaning: str, **details: Any) -> Parameter:
    """An option with a value; see `Parameter`."""
    return Parameter(name, meaning, metavar=metavar, **details)


def flag(name: str, meaning: str, **details: Any) -> Parameter:
    """An option without a value; see `Parameter`."""
    return Parameter(name, meaning, default=False, **details)


class Whole:
    """Reads whole numbers from `least` to `most`, or without upper limit."""

    __slots__ = ("least", "most")

    def __init__(self, least: int, most: int | None = None) -> None:
        self.least = least
        self.most = most

    def __call__(self, word: str) -> int:
        """The number that `word` is; what is allowed, in the error."""
        try:
            number = int(word)
        except ValueError:
            raise UserError(self._refusal(word)) from None
        if number < self.least or (self.most is not None and number > self.most):
            raise UserError(self._refusal(word))
        return number

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"

    def _refusal(self, word: str) -> str:
        return f'"{word}"; allowed is a whole number, {self}'
