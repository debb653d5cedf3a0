"""The command `completion`: what makes a shell complete the words of a `forebay` command.

The script of each shell asks `forebay --complete WORD ...` for the words that can stand in place of
the last one, which may be empty or only begun. So it completes what there is when the key is
pressed: studies below `FOREBAY_STUDIES`, the mechanisms of the engine that is installed. Where the
answer is empty, the shell completes names of files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from forebay.cli.options import HELP
from forebay.cli.set_keys import set_words
from forebay.errors import UserError, nearest

if TYPE_CHECKING:
    from forebay.cli.command import Command
    from forebay.cli.options import Parameter

__all__ = ["candidates", "script"]

BASH = r"""# forebay: in ~/.bashrc: eval "$(forebay completion bash)"
_forebay() {
    # A word with "=" or ":" in it is several words to bash.
    local IFS=$'\n' line="${COMP_LINE:0:COMP_POINT}" words
    IFS=' ' read -r -a words <<<"$line"
    [[ "$line" == *' ' ]] && words+=("")
    COMPREPLY=($(forebay --complete "${words[@]:1}" 2>/dev/null))
    # Of "dask:" bash puts in only what is behind the colon, and of "rate=" what is behind "=".
    local last="${words[${#words[@]} - 1]}"
    [[ "$last" == *[:=]* ]] && COMPREPLY=("${COMPREPLY[@]#"${last%"${last##*[:=]}"}"}")
    # Behind "links." and "rate=" more is to come.
    [[ "${COMPREPLY[0]}" == *[.=] ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _forebay forebay
"""

ZSH = r"""#compdef forebay
# forebay: in ~/.zshrc, behind compinit: eval "$(forebay completion zsh)"
_forebay() {
    local -a found
    found=("${(@f)$(forebay --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found:#}")
    # Behind "links." and "rate=" more is to come.
    local -a open=("${(@M)found:#*[.=]}") whole=("${(@)found:#*[.=]}")
    (( ${#open} )) && compadd -S '' -- "${open[@]}"
    (( ${#whole} )) && compadd -- "${whole[@]}"
    (( ${#found} )) || _files
}
compdef _forebay forebay
"""

FISH = r"""# forebay: in ~/.config/fish/config.fish: forebay completion fish | source
function __forebay_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (forebay --complete $words[2..-1] 2>/dev/null | string match -v '')
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c forebay -f -a '(__forebay_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def script(shell: str) -> str:
    """What a shell is to run when it begins. Raises `UserError` for a shell that has none."""
    if shell not in SCRIPTS:
        known = ", ".join(SCRIPTS)
        raise UserError(f'no completion for "{shell}"{nearest(shell, SCRIPTS)}; there is {known}')
    return SCRIPTS[shell].rstrip("\n")


def candidates(commands: Mapping[str, Command], words: Sequence[str]) -> list[str]:
    """What can stand in place of the last of the words behind `forebay`; empty where a file can,
    or nothing is known."""
    *before, begun = words or [""]
    try:
        known = _known(commands, before, begun)
        return [word for word in known if word.startswith(begun)]
    except UserError:
        # Such as no studies: who runs the command is told.
        return []


def _known(commands: Mapping[str, Command], before: Sequence[str], begun: str) -> Iterable[str]:
    if not before:
        return [*commands, *HELP, "--version"]
    command = commands.get(before[0])
    if command is None:
        return []
    options = {each.name: each for each in command.parameters if each.is_option}
    previous = options.get(before[-1])
    if previous is not None and previous.metavar and len(before) > 1:
        scenario = _scenario(command, before[1:-1], options)
        if previous.name == "--set" and scenario is not None:
            return set_words(scenario, begun)
        return previous.names()
    if begun.startswith("-"):
        free = [name for name, each in options.items() if each.many or name not in before]
        return [*free, *HELP]
    argument = _argument(command, before[1:], options)
    return argument.names() if argument is not None else []


def _scenario(
    command: Command, before: Sequence[str], options: Mapping[str, Parameter]
) -> str | None:
    """The scenario or sweep that is named before, if the command takes one."""
    keys = {each.key for each in command.parameters if not each.is_option}
    if not keys & {"scenario", "sweep_file"}:
        return None
    values = {at + 1 for at, word in enumerate(before) if word in options and options[word].metavar}
    named = [w for at, w in enumerate(before) if at not in values and not w.startswith("-")]
    return named[0] if named else None


def _argument(
    command: Command, before: Sequence[str], options: Mapping[str, Parameter]
) -> Parameter | None:
    """The argument that comes next behind `before`."""
    given, value_next = 0, False
    for word in before:
        option = options.get(word)
        given += option is None and not value_next and not word.startswith("-")
        value_next = option is not None and bool(option.metavar)
    arguments = [each for each in command.parameters if not each.is_option]
    if arguments and arguments[-1].many:
        given = min(given, len(arguments) - 1)
    return arguments[given] if given < len(arguments) else None
