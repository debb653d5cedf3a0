"""Completion in a shell: the words that can come next, and what makes shells ask for them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import front
import pytest

from forebay.cli.bench import names as benchmarks
from forebay.cli.commands import COMMANDS, PARSER
from forebay.cli.completion import SCRIPTS, candidates
from forebay.scenario.catalogue import catalogue
from forebay.study.folders import study_folders


def of(*words: str) -> list[str]:
    """Candidates for the last of the words."""
    return candidates(PARSER, COMMANDS, words)


def test_every_command_is_offered() -> None:
    """Every command is offered."""
    assert set(COMMANDS) | {"--help", "--version"} <= set(of(""))
    assert of("sw") == ["sweep"]
    assert of("nonsense", "") == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_offered_once(name: str) -> None:
    """Every option is offered, and once given only if it may be given again."""
    options = {word for each in COMMANDS[name].actions for word in each.option_strings}
    assert set(of(name, "--")) == options - {"-h"}
    if "--json" in options:
        assert of(name, "--js") == ["--json"]
        assert of(name, "--json", "--js") == []
    if name == "run":
        assert of(name, "--set", "a=1", "--se") == ["--seed", "--set"]


def test_names_are_offered_where_they_belong() -> None:
    """Names of studies, mechanisms and benchmarks are offered where they belong alone."""
    studies = list(study_folders())
    assert of("reproduce", "") == [*studies, "all"]
    assert of("transports", "") == studies
    assert set(of("mechanisms", "")) >= set(catalogue().names()) | {"queue"}
    assert of("mechanisms", "fq_c") == ["fq_codel"]
    assert of("bench", "") == benchmarks()
    assert "bufferbloat" in of("new", "")
    # A file comes next: names of files are the shell's.
    assert of("new", "edge", "") == of("run", "") == of("run", "--out", "") == []
    assert of("run", "x.toml", "--format", "") == ["csv", "parquet", "both"]
    # What stands behind an option with a value is that value, not the argument.
    assert of("reproduce", "--jobs", "2", "a") == [
        name for name in [*studies, "all"] if name.startswith("a")
    ]
    assert of("reproduce", "--jobs", "") == []


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        ("li", ["links."]),
        ("links.", ["links.wire."]),
        ("links.wire.ra", ["links.wire.rate=", "links.wire.rate_steps="]),
        ("links.wire.que", ["links.wire.queue.", "links.wire.queue="]),
        ("links.wire.queue=fq", ["links.wire.queue=fq_codel", "links.wire.queue=fq_pie"]),
        ("links.wire.queue.red.min", ["links.wire.queue.red.min_threshold="]),
        ("flows.bulk.tcp.control=cu", ["flows.bulk.tcp.control=cubic"]),
        ("record.delays=", ["record.delays=true", "record.delays=false"]),
        ("links.nothing.x.y.", []),
        ("no.such=", []),
    ],
)
def test_keys_of_the_scenario_are_offered(begun: str, offered: list[str], tmp_path: Path) -> None:
    """The key paths of the scenario on the line are offered for `--set`."""
    path = tmp_path / "one.toml"
    path.write_text(front.SCENARIO, encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "one.toml"\n', encoding="utf-8")
    for words in (
        ("run", str(path), "--set"),
        ("run", "--seed", "3", str(path), "--json", "--set", "a=1", "--set"),
        ("check", str(path), "--set"),
        ("sweep", str(sweep), "--set"),
    ):
        assert sorted(of(*words, begun)) == sorted(offered), words


def test_without_a_scenario_no_keys_are_offered(tmp_path: Path) -> None:
    """Without a scenario that can be read no keys are offered, and there is no traceback."""
    (tmp_path / "broken.toml").write_text("x = [", encoding="utf-8")
    assert of("run", "--set", "li") == []
    assert of("run", str(tmp_path / "none.toml"), "--set", "li") == []
    assert of("run", str(tmp_path / "broken.toml"), "--set", "li") == []
    assert of("tcp-script", "x.pkt", "--set", "li") == []


def test_studies_of_ones_own_are_offered(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Completion knows the same studies as the command, also those of one's own."""
    assert of("reproduce", "") == ["tiny", "all"]
    monkeypatch.setenv("FOREBAY_STUDIES", str(tiny / "nothing"))
    assert of("reproduce", "") == []


def test_the_command_prints_a_script(forebay: front.Forebay) -> None:
    """`completion` prints the script of a shell, and refuses a shell that it does not know."""
    for shell, text in SCRIPTS.items():
        assert forebay("completion", shell).out == text
        assert "forebay --complete" in text
    assert 'SHELL: "basch" (did you mean "bash"?)' in forebay.refused("completion", "basch")
    assert "SHELL" in forebay.refused("completion")
    assert forebay("--complete", "sw").out == "sweep\n"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command `forebay` that shells find, whatever is installed."""
    path = tmp_path / "bin" / "forebay"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m forebay "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent), prepend=":")
    (tmp_path / "my.toml").touch()
    (tmp_path / "one.toml").write_text(front.SCENARIO, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes(command: Path) -> None:
    """bash reads the script and completes commands, names, options and values."""
    script = """
eval "$(forebay completion bash)"
ask() {
    COMP_LINE="$1" COMP_POINT=${#1} COMPREPLY=()
    _forebay
    echo "${COMPREPLY[*]}"
}
ask 'forebay mech'
ask 'forebay mechanisms fq_'
ask 'forebay run --ti'
ask 'forebay run my'
ask 'forebay sweep --executor '
ask 'forebay run one.toml --set links.wire.queue=fq_c'
"""
    answer = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [
        "mechanisms", "fq_codel fq_pie", "--timeout --ties", "", "local dask:", "fq_codel",
    ]  # fmt: skip
    assert answer.stderr == ""


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes(command: Path) -> None:
    """fish reads the script and completes names, options and files."""
    asked = ["forebay mechanisms fq_", "forebay run --ti", "forebay run my"]
    lines = "; ".join(f"complete -C '{line}'" for line in asked)
    script = f"forebay completion fish | source; {lines}"
    answer = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True)
    words = [line.partition("\t")[0] for line in answer.stdout.splitlines()]
    assert words == ["fq_codel", "fq_pie", "--ties", "--timeout", "my.toml"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_reads_the_script(command: Path) -> None:
    """zsh reads the script and completes names and files."""
    script = """
autoload -U compinit && compinit -u -D
eval "$(forebay completion zsh)"
compadd() { shift; print -r -- "$@" }
_files() { print files }
words=(forebay mechanisms fq_) CURRENT=3; _forebay
words=(forebay new "") CURRENT=3; _forebay
words=(forebay run my) CURRENT=3; _forebay
"""
    answer = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True)
    first, second, third = answer.stdout.splitlines()
    assert (first, third) == ("fq_codel fq_pie", "files")
    assert "bufferbloat" in second.split()
