#!/usr/bin/env python3
"""The long proofs, in portions that resume.

    validate.py                         every portion that is not done with this tree
    validate.py list                    the portions, their minutes, and which are done
    validate.py NAME ... [-- ARGUMENT ...]   these, with arguments for their command

Portions are those of portions.toml. What each prints goes to out/validation/NAME.log, its last line
to the terminal; with arguments all goes to the terminal. A portion that passed with the same tree,
or a part of one, is not run again unless it is named; with arguments it counts as not done. Exit
status: 0 all passed, 1 one failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "validation"
STATE = OUT / "state.json"
PORTIONS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("portions.toml").read_text(encoding="utf-8")
)


def main(arguments: list[str]) -> int:
    """Run or list portions; the exit status."""
    names, own = _split(arguments)
    if names == ["list"]:
        return _list()
    for name in names:
        if name not in PORTIONS:
            near = difflib.get_close_matches(name, PORTIONS, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            print(f'validate: no portion "{name}"{hint}', file=sys.stderr)
            print(f"validate: there are {', '.join(PORTIONS)}", file=sys.stderr)
            return 2
    if own and len(names) != 1:
        print("validate: arguments are for one portion, which is to be named", file=sys.stderr)
        return 2
    failed = []
    try:
        for name in names or PORTIONS:
            if not _run(name, own, again=bool(names)):
                failed.append(name)
    except KeyboardInterrupt:
        print("\nvalidate: interrupted; the same command continues", file=sys.stderr)
        return 130
    if failed:
        print(f"validate: FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Names of portions, and the arguments for a command."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def _list() -> int:
    done = _done()
    print(f"{'portion':18} {'minutes':>7}  {'done':>6}  what it proves")
    for name, portion in PORTIONS.items():
        parts = portion.get("parts", 1)
        state = f"{len(done.get(name, []))} of {parts}"
        print(f"{name:18} {portion['minutes']:7}  {state:>6}  {portion['proves']}")
    return 0


def _run(name: str, own: list[str], again: bool) -> bool:
    """Run what is left of a portion; whether it passed."""
    portion = PORTIONS[name]
    parts = range(portion.get("parts", 1))
    done = [] if own else _done().get(name, [])
    left = [part for part in parts if part not in done] or (list(parts) if again else [])
    if not left:
        print(f"validate: {name}: done with this tree", flush=True)
        return True
    minutes = portion["minutes"] / len(parts)
    passed = True
    for part in left:
        which = f"{name} {part + 1}/{len(parts)}" if len(parts) > 1 else name
        about = "" if own else f"; about {minutes:.0f} minutes"
        print(f"validate: {which}: {portion['proves']}{about}", flush=True)
        begun = time.monotonic()
        ok, last = _execute(name, portion["command"], part, own)
        passed &= ok
        taken = (time.monotonic() - begun) / 60
        print(f"validate: {which}: {'' if ok else 'FAILED: '}{last} ({taken:.1f} minutes)")
        if ok and not own:
            _keep(name, part)
    return passed


def _execute(name: str, command: str, part: int, own: list[str]) -> tuple[bool, str]:
    """Returns whether a command ended well, and its last line; its output is in its log."""
    filled = command.replace("{python}", sys.executable).replace("{part}", str(part))
    given = shlex.join(own) or PORTIONS[name].get("arguments", "")
    words = ["bash", "-c", filled.replace("{arguments}", given)]
    if own:
        return subprocess.run(words, cwd=ROOT, check=False).returncode == 0, "ended"
    OUT.mkdir(parents=True, exist_ok=True)
    log = OUT / f"{name}.log"
    with log.open("w", encoding="utf-8") as file:
        status = subprocess.run(
            words, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False
        ).returncode
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
    if status:
        print("\n".join(lines[-30:]))
        return False, f"see {log.relative_to(ROOT)}"
    return True, last


def _tree() -> str:
    """Returns what the proofs are of: the commit, and what differs from it."""
    digest = hashlib.blake2b(digest_size=8)
    for command in ("git rev-parse HEAD", "git diff HEAD"):
        digest.update(subprocess.run(command.split(), cwd=ROOT, capture_output=True).stdout)
    return digest.hexdigest()


def _done() -> dict[str, list[int]]:
    """The parts that passed with this tree, by portion."""
    if not STATE.exists():
        return {}
    state = json.loads(STATE.read_text(encoding="utf-8"))
    return state["done"] if state["tree"] == _tree() else {}


def _keep(name: str, part: int) -> None:
    done = _done()
    done[name] = sorted({*done.get(name, []), part})
    STATE.write_text(json.dumps({"tree": _tree(), "done": done}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
