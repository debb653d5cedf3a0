"""Command lines: each command has one table, from which its parser and its page are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from forebay.errors import UserError, nearest

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["HELP", "Command", "Parameter", "Whole", "argument", "flag", "option"]

HELP = ("-h", "--help")
"""The option that every command has: it asks for its help."""


class Parameter:
    """An option or an argument of a command.

    `name` is what one types, and for an argument what stands for it in the help. `key` is the
    keyword by which the command is handed the value. `metavar` stands for an option's value; a
    `flag` has none and is true where it is named. `read` makes the value of a word and raises
    `argparse.ArgumentTypeError` with what is allowed. `many`: all values are kept, in a list.
    """

    __slots__ = ("default", "key", "many", "meaning", "metavar", "name", "read", "required")

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
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.key = name.removeprefix("--") if key is None else key
        self.metavar = metavar
        self.read = read
        self.default = default
        self.many = many
        self.required = required

    def row(self) -> tuple[str, str]:
        """How it is written, and what it means."""
        bounds = f" [{self.read}]" if isinstance(self.read, Whole) else ""
        return f"{self.name} {self.metavar}".rstrip(), self.meaning + bounds

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Have `parser` read it."""
        meaning = self.row()[1].replace("%", "%%")
        if not self.name.startswith("-"):
            count = None if self.required else "?"
            parser.add_argument(
                self.key, metavar=self.name, type=self.read, nargs=count, help=meaning
            )
        elif not self.metavar:
            parser.add_argument(self.name, dest=self.key, action="store_true", help=meaning)
        else:
            parser.add_argument(
                self.name,
                dest=self.key,
                metavar=self.metavar,
                type=self.read,
                action="append" if self.many else "store",
                default=[] if self.many else self.default,
                help=meaning,
            )


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
            raise argparse.ArgumentTypeError(self._refusal(word)) from None
        if number < self.least or (self.most is not None and number > self.most):
            raise argparse.ArgumentTypeError(self._refusal(word))
        return number

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"

    def _refusal(self, word: str) -> str:
        return f'"{word}"; allowed is a whole number, {self}'


class Command:
    """A command: the function that does it, and its parameters in the order of the help.

    It has the function's name. The function's docstring is its summary, one sentence; what it
    returns is the exit status, 0 if it returns none.
    """

    __slots__ = ("function", "name", "parameters", "summary")

    def __init__(
        self, function: Callable[..., int | None], parameters: Sequence[Parameter]
    ) -> None:
        self.function = function
        self.parameters = parameters
        self.name = function.__name__
        self.summary = function.__doc__ or ""

    def __call__(self, words: Sequence[str]) -> int:
        """Do what `words` ask for. Raises `UserError` if they ask for nothing that there is."""
        return self.function(**self.read(words)) or 0

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The value of every parameter, by key. Raises `UserError`."""
        parser = self._parser()
        values, left = parser.parse_known_args(words)
        if left and left[0].startswith("-"):
            name = left[0].partition("=")[0]
            options = [each.name for each in self.parameters if each.name.startswith("-")]
            parser.error(f'no option "{name}"{nearest(name, [*options, *HELP])}')
        if left:
            parser.error(f'"{left[0]}" is one argument too many')
        return vars(values)

    def rows(self) -> Iterator[tuple[str, str]]:
        """How each parameter is written, and what it means."""
        yield from (each.row() for each in self.parameters)
        yield ", ".join(HELP), "Show this message and exit."

    def usage(self) -> str:
        """How it is called."""
        arguments = [each for each in self.parameters if not each.name.startswith("-")]
        names = [each.name if each.required else f"[{each.name}]" for each in arguments]
        return " ".join(["forebay", self.name, "[OPTIONS]", *names])

    def help(self) -> str:
        """What `--help` prints."""
        return self._parser().format_help().rstrip()

    def _parser(self) -> _Parser:
        parser = _Parser(
            f"forebay {self.name}",
            self.usage(),
            self.summary,
            formatter_class=_layout,
            allow_abbrev=False,
        )
        for parameter in self.parameters:
            parameter.add_to(parser)
        return parser


class _Parser(argparse.ArgumentParser):
    """Refuses slips as everything else that a user can get wrong is refused."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")


def _layout(prog: str) -> argparse.HelpFormatter:
    # Every terminal has 80 columns.
    return argparse.HelpFormatter(prog, max_help_position=24, width=80)
