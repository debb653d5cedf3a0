"""The command `completion`: what makes a shell complete the words of a `forebay` command.

The script of each shell asks `forebay --complete WORD ...` for the words that can stand in place of
the last one, which may be empty or only begun. So it completes what there is when the key is
pressed: studies below `FOREBAY_STUDIES`, the mechanisms of the engine that is installed. Where the
answer is empty, the shell completes names of files.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Iterable, Mapping, Sequence

from forebay.cli.parser import Parser
from forebay.cli.set_keys import set_words
from forebay.errors import UserError

__all__ = ["SCRIPTS", "candidates"]

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
"""Script that each shell is to run when it begins."""


def candidates(top: Parser, commands: Mapping[str, Parser], words: Sequence[str]) -> Iterable[str]:
    """Words that can stand in place of the last of those behind `forebay`; empty where a file can,
    or nothing is known. `top` is the parser of all `commands`."""
    *before, begun = words or [""]
    try:
        known = _known(top, commands, before, begun)
        return [word for word in known if word.startswith(begun)]
    except UserError:
        # Such as no studies: who runs the command is told.
        return []


def _known(
    top: Parser, commands: Mapping[str, Parser], before: Sequence[str], begun: str
) -> Iterable[str]:
    if not before:
        return [*commands, *_options(top)]
    command = commands.get(before[0])
    if command is None:
        return []
    given, action = _place(command, before[1:])
    if begun.startswith("-") and (action is None or not action.option_strings):
        found = _options(command).items()
        # What may be given several times has a list.
        return [n for n, each in found if isinstance(each.default, list) or n not in before]
    if action is None:
        return []
    scenarios = {"scenario", "sweep_file"} & {each.dest for each in command.actions}
    if "--set" in action.option_strings and scenarios and given:
        return set_words(given[0], begun)
    return action.choices or command.completers.get(action.dest, tuple)()


def _options(parser: Parser) -> dict[str, Action]:
    return {name: action for action in parser.actions for name in action.option_strings}


def _place(command: Parser, words: Sequence[str]) -> tuple[list[str], Action | None]:
    """The arguments among `words`, and the option or argument that the next word is a value of."""
    options = _options(command)
    given: list[str] = []
    option: Action | None = None
    for word in words:
        if option is not None:
            option = None
        elif word in options:
            option = options[word] if options[word].nargs != 0 else None
        elif not word.startswith("-"):
            given.append(word)
    arguments = [action for action in command.actions if not action.option_strings]
    if arguments and arguments[-1].nargs == "+":
        return given, option or arguments[min(len(given), len(arguments) - 1)]
    return given, option or next(iter(arguments[len(given) :]), None)
