"""Reading command lines with argparse: whatever is not plain, all that is wrong, and the help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from forebay.cli.options import HELP
from forebay.errors import UserError, nearest

if TYPE_CHECKING:
    from forebay.cli.command import Command
    from forebay.cli.options import Parameter

__all__ = ["page", "parse"]


def parse(command: Command, words: Sequence[str]) -> dict[str, Any]:
    """The value of every parameter of `command`, by key. Raises `UserError`."""
    parser = _parser(command)
    values, left = parser.parse_known_args(words)
    if left and left[0].startswith("-"):
        name = left[0].partition("=")[0]
        options = [each.name for each in command.parameters if each.is_option]
        parser.error(f'no option "{name}"{nearest(name, [*options, *HELP])}')
    if left:
        parser.error(f'"{left[0]}" is one argument too many')
    return vars(values)


def page(command: Command) -> str:
    """What `--help` prints."""
    return _parser(command).format_help().rstrip()


class _Parser(argparse.ArgumentParser):
    """Refuses slips as everything else that a user can get wrong is refused."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")


def _parser(command: Command) -> _Parser:
    parser = _Parser(
        f"forebay {command.name}",
        command.usage(),
        command.summary,
        formatter_class=_layout,
        allow_abbrev=False,
    )
    for parameter in command.parameters:
        _add(parser, parameter)
    return parser


def _layout(prog: str) -> argparse.HelpFormatter:
    # Every terminal has 80 columns.
    return argparse.HelpFormatter(prog, max_help_position=24, width=80)


def _add(parser: _Parser, parameter: Parameter) -> None:
    meaning = parameter.row()[1].replace("%", "%%")
    read = _reader(parameter.read)
    if not parameter.is_option:
        count = "+" if parameter.many else None if parameter.required else "?"
        parser.add_argument(
            parameter.key, metavar=parameter.name, type=read, nargs=count, help=meaning
        )
    elif not parameter.metavar:
        parser.add_argument(parameter.name, dest=parameter.key, action="store_true", help=meaning)
    else:
        parser.add_argument(
            parameter.name,
            dest=parameter.key,
            metavar=parameter.metavar,
            type=read,
            action="append" if parameter.many else "store",
            default=[] if parameter.many else parameter.default,
            help=meaning,
        )


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def value(word: str) -> Any:
        try:
            return read(word)
        except UserError as error:
            # argparse tells which option it was.
            raise argparse.ArgumentTypeError(str(error)) from None

    return value
