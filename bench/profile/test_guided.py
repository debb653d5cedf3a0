"""The build guided by a profile: what it runs, and when it does without."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("guided.sh")
SCENARIOS = SCRIPT.parents[1] / "scenarios"
SHOW = ["sh", "-c", 'echo "flags: $RUSTFLAGS"; exit 3']
"""In place of a build: shows what cargo would be told, and ends with a status of its own."""


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """An environment with a compiler, but with neither llvm-profdata nor a way to get it."""
    commands = tmp_path / "bin"
    commands.mkdir()
    rustc = "#!/bin/sh\necho 'commit-hash: 0123456789abcdef'\necho 'LLVM version: 999.1'\n"
    (commands / "rustc").write_text(rustc)
    (commands / "rustc").chmod(0o755)
    for name in ("sh", "sed", "cut", "dirname"):
        (commands / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    return {"PATH": str(commands)}


def _run(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", str(SCRIPT), *options, *SHOW]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_without_the_tool_the_build_is_a_plain_one_and_that_is_said(
    machine: dict[str, str],
) -> None:
    """Without llvm-profdata the build is a plain one, and says so: the first command of the README
    works, and its user learns that the engine can be faster."""
    done = _run(machine)
    assert done.returncode == 3
    assert "profile" not in done.stdout
    assert "no llvm-profdata of LLVM 999 here: built without a profile" in done.stderr


def test_the_profile_is_made_of_benchmarks_as_long_as_their_warm_up() -> None:
    """Runs of the profile are of benchmarks that exist, and longer than what these leave out: what
    fails in the middle of a build would be found late."""
    runs = re.findall(r"([a-z]\d+-[a-z0-9-]+):(\d+)", SCRIPT.read_text(encoding="utf-8"))
    assert {"s1-af", "s9-access", "s10-mix"} <= {name for name, _ in runs}
    for name, seconds in runs:
        scenario = tomllib.loads((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"))
        assert float(scenario.get("warm_up", "0 s").removesuffix(" s")) < int(seconds)


def test_a_build_for_this_processor_asks_for_its_instructions(machine: dict[str, str]) -> None:
    """`make fast` passes the option of its name on, which tells it from `make guided`."""
    done = _run(machine, "--native")
    assert done.returncode == 3
    assert "-Ctarget-cpu=native" in done.stdout
    assert "-Ctarget-cpu" not in _run(machine).stdout
