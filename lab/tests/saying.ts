// What the page says of a run, in headless Chromium: grades, charts, counters, vessels, links. A
// JSON object of facts on standard output, for tests/python/test_lab_says.py.
// `node dist/saying.mjs PAGE.html FOLDER EXAMPLES ADDRESS`, with the page served at ADDRESS.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import type { Page } from "playwright-core";

import { complaints, digest, end, linkTo, open, session, words } from "./session";

const [file, folder, examples, served] = process.argv.slice(2);
const url = pathToFileURL(file!).href;
const facts: Record<string, unknown> = {};
const LIMIT = "links.home.queue.droptail.limit";

/** Type a value beside the slider of a parameter; the grade in the same moment. */
const type = (page: Page, path: string, value: string): Promise<string> =>
  page.evaluate(
    ([path, value]) => {
      const slider = document.querySelector(`[data-path="${path}"]`)!;
      const box = slider.parentElement!.querySelector<HTMLInputElement>("input[type=text]")!;
      box.value = value!;
      box.dispatchEvent(new Event("change"));
      return document.getElementById("grade")!.textContent!;
    },
    [path, value],
  );

const right = (page: Page): Promise<string | null> => page.getAttribute("#grade", "data-right");

async function graded(page: Page, value: string): Promise<string | null> {
  await type(page, LIMIT, value);
  await page.waitForSelector("#grade[data-right]");
  return right(page);
}

/** A right answer, and its change while the run lasts, when it is over, and beside a kept one. */
async function grades(page: Page): Promise<void> {
  const found: Record<string, unknown> = {};
  await open(page, url);
  await page.selectOption("#speed", "max");
  found.answer = await graded(page, "30 packets");
  await page.selectOption("#speed", "0.1");
  await page.click("#again");
  found.again = [await right(page), await words(page, "grade")];
  found.changed = [await type(page, LIMIT, "400 packets"), await right(page)];
  await page.waitForFunction(() => document.querySelector("progress")!.value > 0);
  found.running = [await words(page, "grade"), await right(page)];
  await page.selectOption("#speed", "max");
  await page.waitForSelector("#grade[data-right]");
  found.over = await right(page);

  await graded(page, "30 packets");
  await page.selectOption("#compare", "kept");
  found.kept = [await type(page, LIMIT, "400 packets"), await right(page)];
  await page.waitForSelector("#grade[data-right]");
  found.kept_over = await right(page);
  await page.selectOption("#compare", "");

  await graded(page, "30 packets");
  found.refused = [await type(page, LIMIT, "many"), await right(page)];
  await page.waitForFunction(() => !document.getElementById("problem")!.hidden);
  found.refused_then = [await words(page, "grade"), await right(page)];
  const said = page.locator(`.control:has([data-path="${LIMIT}"]) .said`);
  found.refused_said = await said.first().textContent();

  await graded(page, "31 packets");
  await page.click("#tab-text");
  found.text = await page.evaluate(() => {
    const editor = document.querySelector<HTMLTextAreaElement>("#editor")!;
    editor.value = editor.value.replace("31 packets", "400 packets");
    editor.dispatchEvent(new Event("input"));
    return document.getElementById("grade")!.textContent;
  });
  facts.grades = found;
}

/** Nine links with a queue each, of which the last is the longest; the names of all in order. */
const NINE = [
  'duration = "20 s"',
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
    (n) => `
[links.l${n}]
from = "a${n}"
to = "b${n}"
rate = "${n} Mbit/s"
duplex = false
queue = { droptail = { limit = "${10 * n * n} packets" } }
[flows.f${n}]
from = "a${n}"
to = "b${n}"
udp = {}
traffic = { cbr = { rate = "${2 * n} Mbit/s", size = "500 B" } }`,
  ),
].join("\n");

/** What the legend of a chart names. */
const legend = (page: Page, id: string): Promise<(string | null)[]> =>
  page.evaluate((id) => {
    const rows = document.querySelectorAll(`#trace-${id} .u-legend .u-label`);
    return [...rows].slice(1).map((row) => row.textContent);
  }, id);

async function charts(page: Page): Promise<void> {
  await open(page, await linkTo(url, NINE));
  await digest(page);
  const found: Record<string, unknown> = {};
  for (const id of ["throughput", "queue", "cdf"]) {
    const summary = await page.textContent(`#trace-${id} .choice summary`);
    found[id] = { drawn: await legend(page, id), summary };
  }
  const chosen = "#trace-throughput .choice";
  await page.click(`${chosen} summary`);
  await page.check(`${chosen} input[value="f1"]`);
  await page.uncheck(`${chosen} input[value="f9"]`);
  found.chosen = await legend(page, "throughput");
  found.chosen_summary = await page.textContent(`${chosen} summary`);
  // The choice stays when the run is made again.
  await page.click("#again");
  await digest(page);
  found.kept = await legend(page, "throughput");
  await page.screenshot({ path: `${folder}/choice.png`, fullPage: true });
  await open(page, await linkTo(url, readFileSync(`${examples}/branches.toml`, "utf-8")));
  await digest(page);
  found.branches = [await legend(page, "throughput"), await legend(page, "queue")];
  facts.charts = found;
}

/** All that the drawing says of drops at the bottleneck, in the order in which it does. */
async function counters(page: Page): Promise<void> {
  // Slow start that ends by losses has the buffer overflow in the warm-up.
  const lesson = readFileSync(`${examples}/../lab/lessons/1-bufferbloat.toml`, "utf-8");
  const losing = 'mss = "1460 B", control.cubic.hystart = false';
  await open(page, await linkTo(url, lesson.replace('mss = "1460 B"', losing)));
  await page.selectOption("#speed", "10");
  await page.evaluate(() => {
    // The run that began when the page was opened ends here.
    document.getElementById("again")!.click();
    const seen: string[] = [];
    (window as unknown as { seen: string[] }).seen = seen;
    const note = (): void => {
      const vessel = [...document.querySelectorAll(".vessel")].find(
        (each) => each.querySelector(".caption")?.textContent === "home",
      );
      seen.push(vessel?.querySelector(".lost")?.textContent ?? "");
    };
    new MutationObserver(note).observe(document.getElementById("topology")!, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  await page.waitForFunction(() => document.querySelector("progress")!.value > 0.1);
  const during = [await words(page, "clock"), await page.textContent("#live caption")];
  const cdf_during = await page.textContent("#trace-cdf h3");
  await page.waitForFunction(() => document.querySelector("progress")!.value > 0.3);
  await digest(page);
  facts.counters = {
    during,
    cdf_during,
    seen: await page.evaluate(() => (window as unknown as { seen: string[] }).seen),
    lost: await vessel(page, "home", ".lost"),
    early: await vessel(page, "home", ".early"),
    cdf: await page.textContent("#trace-cdf h3"),
    links: await page.textContent("#final caption"),
    shaded: await words(page, "warm-up"),
  };
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#svg")]);
  await download.saveAs(`${folder}/warm-up.svg`);
  await page.screenshot({ path: `${folder}/warm-up.png`, fullPage: true });
}

/** What stands at the vessel of a link. */
const vessel = (page: Page, link: string, part: string): Promise<string> =>
  page.evaluate(
    ([link, part]) => {
      const found = [...document.querySelectorAll(".vessel")].find((each) =>
        each.querySelector("title")!.textContent!.startsWith(`queue of ${link}:`),
      );
      return found?.querySelector(part!)?.textContent ?? "";
    },
    [link, part],
  );

async function vessels(page: Page): Promise<void> {
  const found: Record<string, unknown> = {};
  for (const [lesson, link] of [
    ["policer", "shaped"],
    ["starvation", "line"],
    ["precedences", "core"],
    ["bufferbloat", "home"],
  ]) {
    await open(page, `${url}#lesson=${lesson}`);
    await digest(page);
    const parts = [".amount", ".caption", "title"].map((part) => vessel(page, link!, part));
    found[lesson!] = await Promise.all(parts);
    await page.screenshot({ path: `${folder}/vessel-${lesson}.png` });
  }
  await open(page, await linkTo(url, readFileSync(`${examples}/l4s.toml`, "utf-8")));
  await digest(page);
  found.l4s = [await vessel(page, "access", ".amount")];
  found.l4s_glass = await page.evaluate(() => {
    const access = [...document.querySelectorAll(".vessel")].find((each) =>
      each.querySelector("title")!.textContent!.startsWith("queue of access:"),
    )!;
    const at = (part: string, name: string): number =>
      Number(access.querySelector(part)!.getAttribute(name));
    const most = at(".glass", "y") + at(".glass", "height") - at(".mark", "y1");
    return { open: access.querySelector(".glass")!.hasAttribute("stroke-dasharray"), most };
  });
  facts.vessels = found;
}

async function erlang(page: Page): Promise<void> {
  await open(page, `${url}#lesson=erlang`);
  await digest(page);
  const rows = (): Promise<(string | null)[]> =>
    page.evaluate(() => {
      const cells = document.querySelectorAll("#calls tr > *");
      return [...cells].map((cell) => cell.textContent);
    });
  const found: Record<string, unknown> = { table: await rows() };
  found.chart = await page.textContent("#trace-blocking h3");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#svg")]);
  await download.saveAs(`${folder}/erlang.svg`);
  await page.screenshot({ path: `${folder}/erlang.png`, fullPage: true });
  await type(page, "aggregates.lines.admission.capacity.calls", "18");
  await page.waitForSelector("#grade[data-right]");
  found.eighteen = await rows();
  // Calls that come in batches are not what the formula is about.
  await open(
    page,
    await linkTo(
      url,
      readFileSync(`${examples}/erlang.toml`, "utf-8").replace("calls = {", "calls = { batch = 2,"),
    ),
  );
  await digest(page);
  found.batches = await rows();
  facts.erlang = found;
}

async function nothing(page: Page): Promise<void> {
  await open(page, url);
  await page.selectOption("#speed", "max");
  await page.waitForSelector("#grade[data-right]");
  await type(page, LIMIT, "0 packets");
  await page.waitForSelector("#grade[data-right]");
  const said = page.locator(`.control:has([data-path="${LIMIT}"]) .said`);
  facts.nothing = {
    amount: await vessel(page, "home", ".amount"),
    said: await said.first().textContent(),
    heights: await page.evaluate(() => {
      return [...document.querySelectorAll(".level")].map((each) => each.getAttribute("height"));
    }),
  };
}

async function links(page: Page): Promise<void> {
  const state = async (): Promise<unknown> => ({
    lesson: await page.inputValue("#lesson"),
    question: await page.locator("#lesson-text .question").textContent(),
    name: await words(page, "name"),
  });
  const found: Record<string, unknown> = {};
  await open(page, url);
  await page.selectOption("#lesson", "erlang");
  await page.waitForFunction(() => document.getElementById("name")!.textContent!.includes("lines"));
  found.chosen = await state();
  await page.reload();
  await page.waitForSelector("body[data-ready]");
  found.reloaded = await state();
  await type(page, "aggregates.lines.admission.capacity.calls", "18");
  await page.waitForFunction(() => {
    return document.querySelector<HTMLTextAreaElement>("#editor")!.value.includes("18");
  });
  await page.click("#link");
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const address = page.url();
  await open(page, address);
  found.linked = await state();
  await digest(page);
  found.linked_right = await right(page);
  await open(page, `${url}#lesson=none-such`);
  found.unknown = await words(page, "problem");
  await open(page, served!);
  found.served = { title: await page.title(), digest: await digest(page) };
  facts.links = found;
}

const wide = { viewport: { width: 1400, height: 900 }, colorScheme: "light" as const };
await session(wide, [grades, charts, counters, vessels, erlang, nothing, links]);
for (const width of [390, 1024]) {
  await session({ viewport: { width, height: 800 } }, [
    async (page) => {
      for (const lesson of ["bufferbloat", "policer", "erlang"]) {
        await open(page, `${url}#lesson=${lesson}`);
        await digest(page);
        await page.screenshot({ path: `${folder}/${lesson}-${width}.png`, fullPage: true });
      }
      const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
      facts[`width_${width}`] = scroll;
    },
  ]);
}
await end();
facts.complaints = complaints;
process.stdout.write(JSON.stringify(facts, null, 1));
