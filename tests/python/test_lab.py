"""The lab: the page and what serves it, and the engine in it against the engine here."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import chromium
import front
import pytest

from forebay.cli import lab

ROOT = chromium.ROOT
MODULE = chromium.BUILT / "forebay.wasm"
PROGRAM = chromium.BUILT / "digest.mjs"
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
OF_THIS_RUN = ("build", "wall_s", "setup_s", "command")
"""Keys that the command line adds to the engine's result."""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page without an engine, in place of the one that may not be built."""
    path = tmp_path / "shell.html"
    path.write_text(f"<script>{lab.GIVEN}</script>", encoding="utf-8")
    monkeypatch.setattr(lab, "PAGE", path)
    return path


def given(page: str) -> Any:
    """The scenario in a page made of the shell."""
    return json.loads(page.removeprefix("<script>").removesuffix("</script>"))


def test_a_page_runs_every_example_to_the_same_result() -> None:
    """A page runs every example to the same result as the command line."""
    chromium.needs(MODULE, PROGRAM)
    files = [str(path) for path in EXAMPLES]
    found = []
    for events in ("1000", "4000000000"):
        program = ["node", str(PROGRAM), str(MODULE), events, *files]
        ran = subprocess.run(program, capture_output=True, text=True, check=True)
        found.append(json.loads(ran.stdout))
    for file in files:
        command = [sys.executable, "-m", "forebay", "run", file, "--json"]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        expected = {k: v for k, v in json.loads(told.stdout).items() if k not in OF_THIS_RUN}
        for result in found:
            assert result[file] == expected, f"{file}; is the module of these sources? make lab"


def test_where_a_browser_is_required_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a browser is required, a missing page or program fails the tests: they are not
    skipped."""
    monkeypatch.setattr(chromium, "REQUIRED", False)
    with pytest.raises(pytest.skip.Exception):
        chromium.needs(Path("nowhere"))
    monkeypatch.setattr(chromium, "REQUIRED", True)
    with pytest.raises(pytest.fail.Exception, match="there is no nowhere"):
        chromium.needs(Path("nowhere"))


def test_the_readme_opens_with_a_moving_picture_that_loads_quickly() -> None:
    """The README opens with a moving picture that loads quickly: at most 500 kB. An animated WebP
    has the chunk ANIM and a chunk ANMF for each frame."""
    head = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
    picture = re.search(r"\]\((docs/images/lab\.webp)\)", head)
    assert picture is not None
    contents = (ROOT / picture[1]).read_bytes()
    assert b"ANIM" in contents[:64]
    assert contents.count(b"ANMF") > 10
    assert len(contents) < 500_000


def test_a_scenario_stands_in_the_page_as_data(shell: Path, tmp_path: Path) -> None:
    """A scenario is in the page as data: a name in it cannot end the script that holds it and add
    its own."""
    path = tmp_path / "named.toml"
    name = "</script><script>alert(1)</script>"
    path.write_text(front.SCENARIO.replace('"small"', f'"{name}"'), encoding="utf-8")
    page = lab.page(path)
    assert page.count("<") == 2
    assert given(page) == {"text": path.read_text(encoding="utf-8"), "name": "named.toml"}


def test_without_a_scenario_the_page_has_none(shell: Path) -> None:
    """Without a scenario the page has none, and begins with its lessons."""
    assert lab.page(None) == "<script></script>"


def test_files_beside_a_scenario_go_into_the_page(shell: Path, tmp_path: Path) -> None:
    """Files beside a scenario go into the page, which cannot read files: it runs the same
    scenario."""
    (tmp_path / "rates.csv").write_text("time_s,rate_bps\n0,1e7\n1,5e6\n", encoding="utf-8")
    (tmp_path / "flows.toml").write_text(
        front.SCENARIO[front.SCENARIO.index("[flows.bulk]") :], encoding="utf-8"
    )
    head = front.SCENARIO[: front.SCENARIO.index("[flows.bulk]")]
    head = head.replace('rate = "10 Mbit/s"', 'schedule = "rates.csv"')
    path = tmp_path / "whole.toml"
    path.write_text('include = ["flows.toml"]\n' + head, encoding="utf-8")
    text = given(lab.page(path))["text"]
    assert "1,5e6" in text
    assert "poisson" in text
    assert "include" not in text


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["missing.toml"], 2, "missing.toml: no such file"),
        (["wrong.toml"], 2, 'wrong.toml: line 9: links.wire.rate: "ten"'),
        (["right.toml", "--port", "70000"], 2, '"70000"; allowed is a whole number, 0 to 65535'),
        (
            ["right.toml", "--write", "nowhere/page.html"],
            2,
            "page.html: there is no such folder",
        ),
    ],
)
def test_bad_input_is_refused(
    words: list[str],
    status: int,
    message: str,
    forebay: front.Forebay,
    shell: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bad input is refused before a page opens, without a traceback."""
    monkeypatch.chdir(tmp_path)
    Path("right.toml").write_text(front.SCENARIO, encoding="utf-8")
    wrong = front.SCENARIO.replace('rate = "10 Mbit/s"', 'rate = "ten"', 1)
    Path("wrong.toml").write_text(wrong, encoding="utf-8")
    answer = forebay("lab", *words)
    assert answer.status == status
    assert message in answer.err


def test_a_page_that_is_not_built_says_how_it_is(
    forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names a wheel that has the page, and in a checkout how it is built."""
    monkeypatch.setattr(lab, "PAGE", tmp_path / "none.html")
    answer = forebay("lab", "--write", str(tmp_path / "page.html"))
    assert answer.status == 1
    assert answer.err.count("\n") == 1
    assert "pip install --force-reinstall" in answer.err
    assert "make lab" in answer.err


def test_the_page_is_served_to_this_machine_alone() -> None:
    """The page is served to this machine alone: neither a neighbour on the network nor a page
    elsewhere reads the scenario."""
    with lab.server("the page", 0) as serving:
        assert serving.server_address[0] == "127.0.0.1"
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{serving.server_port}"
        for address in (f"{url}/", f"{url}/?lti=1&x"):
            with urllib.request.urlopen(address) as answer:
                assert answer.read() == b"the page"
        foreign = urllib.request.Request(f"{url}/", headers={"Host": "example.org"})
        for request in (f"{url}/other", f"{url}/other?x", foreign):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            assert refused.value.code == 404
            refused.value.close()
        serving.shutdown()
        thread.join()


def test_a_port_in_use_is_refused() -> None:
    """A port in use is refused without a traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(lab.UserError, match=r"--port: .* cannot be had"):
            lab.server("", taken.getsockname()[1])


def test_ctrl_c_ends_the_command_cleanly(tmp_path: Path, scenario: Path) -> None:
    """Ctrl-C ends the command cleanly."""
    program = (
        "import sys; from pathlib import Path; from forebay.cli import lab; "
        "from forebay.cli.commands import main; lab.PAGE = Path(sys.argv[1]); "
        "sys.exit(main(['lab', sys.argv[2], '--no-browser']))"
    )
    shell = tmp_path / "shell.html"
    shell.write_text(lab.GIVEN, encoding="utf-8")
    words = [sys.executable, "-c", program, str(shell), str(scenario)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("lab: http://127.0.0.1:")
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) == 0
        assert running.stderr.read() == ""
