"""Command lines: each command has one table, from which its parser and its page are made."""

from __future__ import annotations

from forebay.errors import UserError

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

__all__ = ["HELP", "Command", "Parameter", "Whole", "argument", "flag", "option"]

HELP = ("-h", "--help")
"""The option that every command has: it asks for its help."""


class Parameter:
    """An option or an argument of a command.

    `name` is what one types, and for an argument what stands for it in the help. `key` is the
    keyword by which the command is handed the value. `metavar` stands for an option's value; a
    `flag` has none and is true where it is named. `read` makes the value of a word and raises
    `UserError` with what is allowed. `many`: all values are kept, in a list.
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
        values = self.read_plain(words)
        if values is None:
            from forebay.cli.parser import parse

            values = parse(self, words)
        return values

    def read_plain(self, words: Sequence[str]) -> dict[str, Any] | None:
        """The same without a parser, if `words` are plain; none if they are not.

        Importing argparse takes longer than all modules that a run needs. Plain words cannot be
        read in two ways: options by their full names, each value a word of its own, none that
        looks like an option, as many other words as there are arguments. All else, and whatever is
        wrong, is left to the parser, and a test compares the two.
        """
        options = {each.name: each for each in self.parameters if each.is_option}
        arguments = [each for each in self.parameters if not each.is_option]
        if not all(each.required for each in arguments):
            return None
        values = {each.key: [] if each.many else each.default for each in self.parameters}
        rest = iter(words)
        for word in rest:
            parameter = options.get(word)
            if parameter is None and arguments:
                parameter = arguments.pop(0)
            elif parameter is None:
                return None
            elif not parameter.metavar:
                values[parameter.key] = True
                continue
            else:
                word = next(rest, "-")
            if word.startswith("-"):
                return None
            try:
                value = parameter.read(word)
            except UserError:
                return None
            values[parameter.key] = [*values[parameter.key], value] if parameter.many else value
        return None if arguments else values

    def rows(self) -> Iterator[tuple[str, str]]:
        """How each parameter is written, and what it means."""
        yield from (each.row() for each in self.parameters)
        yield ", ".join(HELP), "Show this message and exit."

    def usage(self) -> str:
        """How it is called."""
        arguments = [each for each in self.parameters if not each.is_option]
        names = [each.name if each.required else f"[{each.name}]" for each in arguments]
        return " ".join(["forebay", self.name, "[OPTIONS]", *names])

    def help(self) -> str:
        """What `--help` prints."""
        from forebay.cli.parser import page

        return page(self)
