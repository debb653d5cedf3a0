"""Command lines: each command has one table, from which its words are read and its help is made.

`argparse` and its like would do as well. But importing them takes a good part of the time of a
short run, and what they say of a slip does not name the nearest option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from forebay.errors import UserError, nearest

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["HELP", "Command", "Parameter", "Whole", "argument", "flag", "listing", "option"]

HELP = ("-h", "--help")
"""The option that every command has: it asks for its help."""

_WIDTH = 80
_INDENT = 24


class Parameter:
    """An option or an argument of a command.

    `name` is what one types, and for an argument what stands for it in the help. `key` is the
    keyword by which the command is handed the value. `metavar` stands for an option's value; a
    `flag` has none and is true where it is named. `read` makes the value of a word and raises
    `ValueError` with what is allowed. `many`: all values are kept, as a tuple.
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

    @property
    def is_option(self) -> bool:
        """Whether it is an option, and not an argument."""
        return self.name.startswith("-")

    def row(self) -> tuple[str, str]:
        """How it is written, and what it means."""
        bounds = f" [{self.read}]" if isinstance(self.read, Whole) else ""
        return f"{self.name} {self.metavar}".rstrip(), self.meaning + bounds


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
        """The number that `word` is. Raises `ValueError` with what is allowed."""
        try:
            number = int(word)
        except ValueError:
            raise ValueError(f"a whole number, {self}") from None
        if number < self.least or (self.most is not None and number > self.most):
            raise ValueError(f"a whole number, {self}")
        return number

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"


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
        options = {each.name: each for each in self.parameters if each.is_option}
        arguments = [each for each in self.parameters if not each.is_option]
        values = {each.key: () if each.many else each.default for each in self.parameters}
        left = iter(words)
        for word in left:
            if word == "--":
                break
            if not word.startswith("-") or word == "-":
                self._take_argument(word, arguments, values)
                continue
            name, equals, text = word.partition("=")
            found = options.get(name)
            if found is None:
                self._refuse(f'no option "{name}"{nearest(name, [*options, *HELP])}')
            if found.metavar:
                value = self._value(found, text if equals else next(left, None))
                values[found.key] = (*values[found.key], value) if found.many else value
            elif equals:
                self._refuse(f"{name} takes no value")
            else:
                values[found.key] = True
        for word in left:
            self._take_argument(word, arguments, values)
        if arguments and arguments[0].required:
            self._refuse(f"{arguments[0].name} is missing")
        return values

    def _take_argument(self, word: str, due: list[Parameter], values: dict[str, Any]) -> None:
        if not due:
            self._refuse(f'"{word}" is one argument too many')
        first = due.pop(0)
        values[first.key] = self._value(first, word)

    def _value(self, parameter: Parameter, word: str | None) -> Any:
        if word is None:
            self._refuse(f"{parameter.name} needs a value: {parameter.row()[0]}")
        try:
            return parameter.read(word)
        except ValueError as error:
            self._refuse(f'{parameter.name}: "{word}"; allowed is {error}')

    def _refuse(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see `forebay {self.name} --help`")

    def usage(self) -> str:
        """How it is called."""
        arguments = [each for each in self.parameters if not each.is_option]
        names = [each.name if each.required else f"[{each.name}]" for each in arguments]
        return " ".join(["forebay", self.name, "[OPTIONS]", *names])

    def rows(self) -> Iterator[tuple[str, str]]:
        """How each parameter is written, and what it means."""
        yield from (each.row() for each in self.parameters)
        yield ", ".join(HELP), "Show this message and exit."

    def help(self) -> str:
        """What `--help` prints."""
        return f"Usage: {self.usage()}\n\n{self.summary}\n\n{listing(self.rows())}"


def listing(rows: Iterator[tuple[str, str]]) -> str:
    """Names with what they mean beside them, no wider than 80 columns, which every terminal has."""
    import textwrap

    lines = []
    for name, meaning in rows:
        head = f"  {name}".ljust(_INDENT)
        if len(head) > _INDENT:
            lines.append(head)
            head = " " * _INDENT
        body = textwrap.wrap(meaning, _WIDTH - _INDENT, break_on_hyphens=False) or [""]
        lines += [(head + body[0]).rstrip(), *(" " * _INDENT + line for line in body[1:])]
    return "\n".join(lines)
