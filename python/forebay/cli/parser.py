"""The parser of commands: argparse, with messages that name what was read and what is allowed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from forebay.errors import UserError, nearest

__all__ = ["Argument", "Parser", "Whole", "argument"]

# Its words stay English, as ours are: it would look for a translation of each in many folders.
argparse._ = str  # type: ignore[attr-defined]

Argument = Callable[["Parser"], argparse.Action]
"""Adds one argument or option to a parser: several commands may share it."""


def argument(*names: str, **details: Any) -> Argument:
    """An argument or option; `names` and `details` are those of `Parser.add_argument`."""
    return lambda parser: parser.add_argument(*names, **details)


class Parser(argparse.ArgumentParser):
    """Reads the words of a command, or of all commands.

    It raises `UserError` for what it cannot read. `actions` are its arguments and options in the
    order of the help, which are added when they are needed: a process has one command to read, of
    many. `completers` give, by `dest`, the values that a shell offers for those that
    have no `choices`. `refused` has the reasons why it lacks options that other commands have.
    """

    def __init__(self, **details: Any) -> None:
        self.refused: dict[str, str] = {}
        self._actions_added: list[argparse.Action] = []
        self._later: list[Argument] = []
        self.completers: dict[str, Callable[[], Iterable[str]]] = {}
        super().__init__(**details, formatter_class=_Layout, allow_abbrev=False)

    def later(self, *arguments: Argument) -> None:
        """Have these arguments and options added when they are needed; usage follows from them."""
        self._later = [*arguments]
        self.usage = f"{self.prog} [OPTIONS]"

    @property
    def actions(self) -> list[argparse.Action]:
        """The arguments and options."""
        if self._later:
            adding, self._later = self._later, []
            for action in [each(self) for each in adding]:
                if not action.option_strings:
                    name = str(action.metavar)
                    self.usage = f"{self.usage} {f'[{name}]' if action.nargs == '?' else name}"
        return self._actions_added

    def add_argument(
        self, *names: Any, complete: Callable[[], Iterable[str]] | None = None, **details: Any
    ) -> argparse.Action:
        """The same as argparse's. `type` may raise `UserError` with what was read and is allowed;
        `complete` gives values for completion in a shell that are known only when asked for."""
        if isinstance(details.get("type"), Whole):
            details["help"] += f" [{details['type']}]"
        if "type" in details:
            details["type"] = _reader(details["type"])
        action = super().add_argument(*names, **details)
        self._actions_added.append(action)
        if complete is not None:
            self.completers[action.dest] = complete
        return action

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """The values, and no words that are left. Raises `UserError` for those: a parser of all
        commands would not know the options of the one that they stand behind."""
        _ = self.actions
        values, left = super().parse_known_args(args, namespace)
        if left and left[0].startswith("-"):
            name = left[0].partition("=")[0]
            if name in self.refused:
                self.error(f"{name}: {self.refused[name]}")
            options = [word for action in self.actions for word in action.option_strings]
            self.error(f'no option "{name}"{nearest(name, options)}')
        if left:
            self.error(f'"{left[0]}" is one argument too many')
        return values, left

    def refuse(self, name: str, reason: str) -> None:
        """Have the option `name` answered by the reason why there is none, which the help tells."""
        self.refused[name] = reason
        self.epilog = f"{reason[:1].upper()}{reason[1:]}."

    def error(self, message: str) -> NoReturn:
        """Raise `UserError`."""
        raise UserError(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not among the choices of `action`."""
        if action.choices is not None and value not in action.choices:
            allowed = list(action.choices)
            told = f"are {', '.join(allowed)}" if len(allowed) > 1 else f"is {allowed[0]}"
            raise argparse.ArgumentError(
                action, f'"{value}"{nearest(value, allowed)}; allowed {told}'
            )


class _Layout(argparse.HelpFormatter):
    """Help of 80 columns, which every terminal has, and of commands in rows of their own, not below
    one of the word that stands for them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=80)

    def add_argument(self, action: argparse.Action) -> None:
        if isinstance(action, argparse._SubParsersAction):
            self.add_arguments(action._get_subactions())
        else:
            super().add_argument(action)


class Whole:
    """Reads whole numbers from `least` to `most`, or without upper limit."""

    def __init__(self, least: int, most: int | None = None) -> None:
        self.least = least
        self.most = most

    def __call__(self, word: str) -> int:
        """The number that `word` is. Raises `UserError` with what is allowed."""
        try:
            number = int(word)
        except ValueError:
            number = self.least - 1
        if number < self.least or (self.most is not None and number > self.most):
            raise UserError(f'"{word}"; allowed is a whole number, {self}')
        return number

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """`read`, whose `UserError` argparse puts behind the name of the option."""

    def value(word: str) -> Any:
        try:
            return read(word)
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value
