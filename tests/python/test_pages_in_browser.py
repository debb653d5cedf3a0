"""The pages of a run and of a sweep in headless Chromium, wide and narrow, light and dark."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, PLAYWRIGHT, needs

from forebay import Network, traffic

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """A browser, and what drives it."""
    needs(PLAYWRIGHT, CHROMIUM)


PROGRAM = """
const [where, chromium, ...files] = process.argv.slice(1);
const playwright = await import(where);
const browser = await playwright.chromium.launch(
  {executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync"]});
const found = {};
for (const file of files) {
  const looks = [];
  for (const width of [1400, 400]) for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith("file:")) complaints.push(request.url());
    });
    await page.goto("file://" + file);
    looks.push(await page.evaluate(() => ({
      scroll: document.documentElement.scrollWidth,
      sideways: [...document.querySelectorAll(".pair figure .wide")]
        .filter((each) => each.scrollWidth > each.clientWidth + 1).length,
      background: getComputedStyle(document.body).backgroundColor,
      letters: [...document.querySelectorAll("figure svg text")]
        .filter((each) => each.checkVisibility())
        .map((each) => {
          const scale = each.getScreenCTM();
          return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(scale.a, scale.b);
        }),
    })));
    looks.at(-1).complaints = complaints;
    await page.close();
  }
  const page = await browser.newPage({viewport: {width: 1400, height: 900}});
  await page.goto("file://" + file);
  await page.evaluate(() => document.querySelectorAll("details").forEach((each) => {
    each.open = true;
  }));
  const columns = [];
  for (const wanted of ["throughput", "mean"]) {
    const button = page.locator("table.sort th button", {hasText: wanted}).first();
    if (await button.count() === 0) continue;
    for (let click = 0; click < 2; click += 1) {
      await button.click();
      columns.push(await button.evaluate((each) => {
        const head = each.parentElement;
        const rows = [...head.closest("table").tBodies[0].rows];
        return {sort: head.getAttribute("aria-sort"),
          cells: rows.map((row) => row.cells[head.cellIndex].textContent)};
      }));
    }
    break;
  }
  found[file] = {looks, columns};
}
await browser.close();
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run with three groups at 2 Mbit/s, 800 kbit/s and 90 kbit/s, and a sweep of two axes."""
    from forebay.cli.commands import main

    folder = tmp_path_factory.mktemp("pages")
    net = Network("three rates", duration="3 s", warm_up="1 s")
    net.link("wire", "A", "B", rate="5 Mbit/s", delay="5 ms")
    for name, rate in (("middle", "800 kbit/s"), ("least", "90 kbit/s"), ("most", "2 Mbit/s")):
        net.flows(name, "A", "B", udp={}, traffic=traffic.cbr(rate=rate, size="500 B"))
    net.record(series="100 ms", delays=True)
    scenario = folder / "rates.toml"
    scenario.write_text(net.to_toml(), encoding="utf-8")
    assert main(["run", str(scenario), "--out", str(folder / "run"), "--json"]) == 0
    assert main(["report", str(folder / "run")]) == 0
    sweep = folder / "sweep.toml"
    sweep.write_text(
        'scenario = "rates.toml"\nreplications = 2\n'
        'quantities = ["links.wire.utilization"]\n[grid]\n'
        '"links.wire.rate" = ["5 Mbit/s", "10 Mbit/s"]\n"flows.most.count" = [1, 2]\n'
        '"links.wire.delay" = ["1 ms", "5 ms", "20 ms"]\n',
        encoding="utf-8",
    )
    assert main(["sweep", str(sweep), "--out", str(folder / "sweep"), "--json"]) == 0
    return {name: folder / name / "report.html" for name in ("run", "sweep")}


@pytest.fixture(scope="module")
def facts(pages: dict[str, Path]) -> dict[str, Any]:
    """Returns what Chromium saw of each page."""
    files = [str(path) for path in pages.values()]
    words = ["node", "--input-type=module", "-e", PROGRAM, str(PLAYWRIGHT), str(CHROMIUM), *files]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    return {name: found[str(path)] for name, path in pages.items()}


@pytest.mark.parametrize("name", ["run", "sweep"])
def test_pages_fit_wide_and_narrow_light_and_dark(facts: dict[str, Any], name: str) -> None:
    """Pages fit wide and narrow screens, have a light and a dark form with letters of a readable
    size, and load nothing from elsewhere."""
    looks = facts[name]["looks"]
    assert [look["scroll"] for look in looks] == [1400, 1400, 400, 400]
    assert all(look["complaints"] == [] for look in looks)
    # Neither do its first drawings have to be.
    assert [look["sideways"] for look in looks] == [0, 0, 0, 0]
    light, dark, *_ = (look["background"] for look in looks)
    assert light != dark
    for look in looks:
        assert look["letters"]
        assert min(look["letters"]) >= 6.5


def test_a_click_on_a_head_sorts_the_table(facts: dict[str, Any]) -> None:
    """A click on a head sorts the table by value, both ways: 90 kbit/s come before 2 Mbit/s."""
    up, down = facts["run"]["columns"]
    assert (up["sort"], down["sort"]) == ("ascending", "descending")
    assert [cell.split()[1] for cell in up["cells"]] == ["kbit/s", "kbit/s", "Mbit/s"]
    assert down["cells"] == up["cells"][::-1]
    assert float(up["cells"][0].split()[0]) < float(up["cells"][1].split()[0])
    means = [float(cell.split()[0]) for cell in facts["sweep"]["columns"][0]["cells"]]
    assert means == sorted(means)
    assert len(set(means)) > 1


def test_a_page_says_what_it_is_from_in_words(pages: dict[str, Path]) -> None:
    """A page says in words what it is made from, without keys and lists of the program."""
    run, sweep = (path.read_text(encoding="utf-8") for path in pages.values())
    assert "simulated time" in run
    assert "simulated s<" not in run
    assert "seeds 1, runs 24." in sweep
