"""The page of the lab in headless Chromium, as a reader uses it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import chromium
import pytest

PROGRAM = chromium.BUILT / "browser.mjs"
EXAMPLES = sorted((chromium.ROOT / "examples").glob("*.toml"))


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The page, and a browser to open it."""
    chromium.needs(chromium.PAGE, PROGRAM, chromium.PLAYWRIGHT, chromium.CHROMIUM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of downloads and screenshots."""
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def facts(folder: Path) -> Any:
    """Returns what `lab/tests/browser.ts` did and saw."""
    words = ["node", str(PROGRAM), str(chromium.PAGE), str(folder), *map(str, EXAMPLES)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=1200)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def digest_of(file: Path) -> str:
    """The digest that the command line gives."""
    words = [sys.executable, "-m", "forebay", "run", str(file), "--json"]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    return str(json.loads(told.stdout)["digest"])


def test_the_page_asks_nothing_of_the_network_and_has_no_errors(facts: Any) -> None:
    """The page asks nothing of the network and has no errors: it opens from disk and reports
    nowhere what is looked at."""
    assert facts["requests"] == []
    assert facts["complaints"] == []


def test_every_example_has_the_digest_of_the_command_line(facts: Any) -> None:
    """Every example has the digest of the command line."""
    assert facts["digests"] == {path.name: digest_of(path) for path in EXAMPLES}


def test_what_is_wrong_is_shown_with_its_key_path(facts: Any) -> None:
    """Mistakes are shown with their key path and line."""
    assert "line 7: links.wire.rate: 10 has no unit" in facts["wrong_rate"]
    assert facts["wrong_marked"] == "true"
    assert "line 4" in facts["wrong_toml"]
    assert facts["mended"] is None


def test_a_slider_changes_the_text_and_the_run_that_is_on(facts: Any, folder: Path) -> None:
    """A slider changes the text and the run in progress, which does not begin from zero."""
    after = facts["after_slider"]
    # The run was at a tenth of its 10 s, and passes as time does.
    assert 0.1 < after["share"] < 0.6
    assert after["button"] == "Pause"
    assert 'rate = "10 Mbit/s"' not in after["text"]
    assert "   # the rate" in after["text"]
    changed = folder / "changed.toml"
    assert changed.read_text(encoding="utf-8") == after["text"]
    assert facts["slider_digest"] == digest_of(changed)


def test_a_change_is_seen_without_a_press_of_a_button(facts: Any) -> None:
    """A change after the end of a run is shown without a press of a button."""
    assert len(facts["rerun_digest"]) == 16
    assert facts["rerun_digest"] != facts["slider_digest"]


def test_a_link_is_a_scenario(facts: Any) -> None:
    """A link is a scenario: it opens the same one elsewhere, and a damaged link is refused."""
    assert facts["from_link"] == "small"
    assert "the link holds no scenario" in facts["damaged_link"]


def test_names_bring_no_markup(facts: Any) -> None:
    """Names bring no markup: a link from a stranger runs no script in the page."""
    assert facts["markup"] == {"images": 0, "bold": 0, "name": "<b>bold</b>"}


def test_keys_pause_and_step(facts: Any) -> None:
    """Keys pause and step a run: no mouse is needed."""
    assert facts["keys"]["paused"] == "Play"
    assert facts["keys"]["stepped"] == pytest.approx(1)
    assert facts["after_stop"] == 16


def test_samples_and_a_picture_are_exported(facts: Any, folder: Path) -> None:
    """Samples and a picture are exported for reports."""
    rows = (folder / "export.csv").read_text(encoding="utf-8").splitlines()
    heads = rows[0].split(",")
    assert heads[0] == "time_s"
    assert {"links.wire.queue_packets", "flows.bulk.throughput_bps"} <= set(heads)
    # The page takes 600 samples.
    assert len(rows) == 601
    assert (folder / "export.png").read_bytes().startswith(b"\x89PNG")


def test_a_program_from_the_page_makes_the_same_run(facts: Any, folder: Path) -> None:
    """A program exported from the page makes the same run in Python."""
    ran = subprocess.run(
        [sys.executable, str(folder / "export.python")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[0] == facts["exported_digest"]


def test_a_drawing_for_print_is_well_formed(facts: Any, folder: Path) -> None:
    """A drawing for print is well formed and has all curves."""
    root = ElementTree.parse(folder / "export.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    curves = [path.get("d", "") for path in root.iter(f"{space}path")]
    # Queue, throughput, delay, window and the distribution of delay, of which each has a curve.
    assert len([curve for curve in curves if curve.count("L") > 20]) >= 5
    assert "bulk" in {text.text for text in root.iter(f"{space}text")}


def test_a_drawing_has_the_packets_and_what_laws_go_by(facts: Any, folder: Path) -> None:
    """A drawing has what is seen on the page: packets on their way, and the delay at which CoDel
    begins to drop, 5 ms beyond the propagation delay of 2 ms."""
    root = ElementTree.parse(folder / "packets.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    dots = [each for each in root.iter(f"{space}circle") if each.get("class") == "packet"]
    assert len(dots) > 2
    assert "target of 5 ms + 2 ms of propagation" in {
        text.text for text in root.iter(f"{space}text")
    }
    assert (folder / "packets.png").read_bytes().startswith(b"\x89PNG")


def test_two_variants_run_side_by_side_on_the_same_random_numbers(facts: Any) -> None:
    """Two variants run side by side on the same random numbers: equal variants show no difference,
    others do."""
    found = facts["difference"]
    # Sent, delivered, dropped, marked, retransmitted and timeouts, each with its difference.
    assert found["same"].count("(\u00b10)") == 6
    assert found["other"].count("(\u00b10)") < 6
    assert found["drawings"] == 2
    assert "difference" in facts["difference_title"]
    assert "95 % interval" in facts["band_title"]


def test_packets_and_events_are_shown(facts: Any) -> None:
    """Packets and events are shown with what they are and belong to."""
    assert "bulk" in facts["legend"]
    assert "drawn" in facts["legend"]
    assert facts["dots"] > 50
    assert facts["cdf_points"] == 1
    assert facts["extra"] == "queue kB"
    first = facts["happened"].splitlines()[0]
    assert re.match(r"[0-9.e-]+ s: (packet|acknowledgement) \d+ of bulk \(\d+ B\) \w+", first)


def test_nothing_hangs_the_page(facts: Any) -> None:
    """Nothing hangs the page: long runs can be stopped, and scenarios that are too large or links
    that are too long are refused."""
    assert facts["stopped"] == "Play"
    assert "may take 1.50 GB" in facts["too_large"]
    assert "too long" in facts["long_link"]


def test_every_control_has_a_name(facts: Any) -> None:
    """Every control has a name for screen readers."""
    assert facts["nameless"] == []


def test_a_narrow_screen_shows_the_whole_page(facts: Any) -> None:
    """A narrow screen shows the whole page without scrolling sideways."""
    assert facts["narrow_width"] == 360
    assert facts["narrow_order"] == sorted(facts["narrow_order"])


def test_every_lesson_tells_right_answers_from_wrong_ones(facts: Any) -> None:
    """Every lesson tells right answers from wrong ones."""
    assert len(facts["lessons"]) == 10
    expected = {"begin": "false", "right": "true", "wrong": "false"}
    assert facts["lessons"] == dict.fromkeys(facts["lessons"], expected)
