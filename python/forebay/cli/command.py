"""A command of the command line: one table of parameters, from which reader and help are made."""

# ruff: noqa: PLC0415 (a parser takes longer to import than a short run takes)

from __future__ import annotations

from forebay.cli.options import HELP
from forebay.errors import UserError

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from forebay.cli.options import Parameter

__all__ = ["Command"]


class Command:
    """A command: the function that does it, and its parameters in the order of the help.

    It has the function's name, with hyphens. The function's docstring is its summary, one sentence;
    what it returns is the exit status, 0 if it returns none.
    """

    __slots__ = ("function", "name", "parameters", "summary")

    def __init__(
        self, function: Callable[..., int | None], parameters: Sequence[Parameter]
    ) -> None:
        self.function = function
        self.parameters = parameters
        self.name = function.__name__.replace("_", "-")
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
                parameter = arguments[0] if arguments[0].many else arguments.pop(0)
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
        missing = [each for each in arguments if not (each.many and values[each.key])]
        return None if missing else values

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
