"""The pages of commands and of invariants, as the program has them."""

from __future__ import annotations

import json

from forebay.cli.commands import COMMANDS
from forebay.run.jobs import native

__all__ = ["command_line", "invariants"]


def command_line() -> str:
    """Every command with its options, as the program has them."""
    lines = ["# Command line", ""]
    lines += ["Progress goes to stderr if that is a terminal; `--json` prints one JSON document on"]
    lines += ["stdout and nothing else. `NO_COLOR` is respected.", ""]
    lines += ["| exit status | meaning |", "|---|---|", "| 0 | done |"]
    lines += [
        "| 1 | something else went wrong, a script of `tcp-script` fails, `find` finds none |"
    ]
    lines += ["| 2 | the input is wrong: one message on stderr says where and what is allowed |"]
    lines += ["| 130 | interrupted (Ctrl-C, or SIGTERM of `find`, `reproduce`, `sweep`); "]
    lines[-1] += "finished runs are kept |"
    for name, command in COMMANDS.items():
        lines += ["", f"## {name}", "", str(command.description), "", "```"]
        lines += [str(command.usage), "```", ""]
        lines += ["| option | meaning |", "|---|---|"]
        for action in command.actions:
            if action.dest == "help":
                continue
            option = " ".join([*action.option_strings, str(action.metavar or "")]).rstrip()
            # As argparse writes a percent sign.
            row = option, str(action.help).replace("%%", "%")
            option, meaning = (words.replace("|", "\\|") for words in row)
            lines.append(f"| `{option}` | {meaning} |")
        lines.append("| `-h, --help` | Show this message and exit. |")
    return "\n".join(lines) + "\n"


def invariants() -> str:
    """Returns the page of what must hold in any run, as the engine checks it."""
    lines = ["# What must hold in any run", ""]
    lines += ["`forebay run --check` repeats a run, observed, and checks these invariants; so do"]
    lines += [
        "`forebay sweep --check` and `Network.run(check=True)`. One that is broken is a bug in"
    ]
    lines += ["Forebay: the command says which, where, when and by which numbers, and ends with"]
    lines += ["status 1. Checking changes nothing: the last of them is that the observed run gave"]
    lines += ["the same as the one that was not. `checks` in the JSON document of the run says how"]
    lines += ["often each was checked."]
    group = ""
    for entry in json.loads(native().invariants()):
        if entry["group"] != group:
            group = entry["group"]
            lines += ["", f"## {group}", "", "| name | what holds | source |", "|---|---|---|"]
        lines += [f"| `{entry['name']}` | {entry['sentence']} | {entry['source'] or '-'} |"]
    return "\n".join(lines) + "\n"
