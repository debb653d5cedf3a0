// The page in headless Chromium: what a reader does, and what the page shows then. A JSON object of
// facts on standard output, for tests/python/test_lab_page.py.
// `node dist/browser.mjs PAGE.html SCREENSHOTS EXAMPLE.toml ...`

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

import type { Page } from "playwright-core";

import type { Lesson } from "../src/lessons";
import { complaints, digest, end, linkTo, open, requests, session, words } from "./session";

declare const LESSONS: Lesson[];

const [file, screenshots, ...examples] = process.argv.slice(2);
const url = pathToFileURL(file!).href;

const SMALL = `
name = "small"
duration = "10 s"
[links.wire]
from = "A"
to = "B"
rate = "10 Mbit/s"   # the rate
delay = "2 ms"
queue = { droptail = { limit = "50 packets" } }
[flows.bulk]
from = "A"
to = "B"
tcp = {}
`;
const MARKUP = SMALL.replaceAll('"A"', '"<img src=x onerror=alert(1)>"').replace(
  'name = "small"',
  'name = "<b>bold</b>"',
);

const facts: Record<string, unknown> = {};

const link = (text: string): Promise<string> => linkTo(url, text);

async function everyExample(page: Page): Promise<void> {
  const found: Record<string, string> = {};
  for (const example of examples) {
    await open(page, await link(readFileSync(example, "utf-8")));
    // An example that the page refuses is not waited for: the module may be an older one.
    const refused = await page.getAttribute("#editor", "aria-invalid");
    found[basename(example)] = await (refused ? words(page, "problem") : digest(page));
  }
  facts.digests = found;
}

async function opening(page: Page): Promise<void> {
  await open(page, url);
  await page.waitForFunction(() => document.querySelector("#live td"));
  await page.waitForTimeout(2500);
  await page.screenshot({ path: `${screenshots}/wide-light.png`, fullPage: true });
}

async function wrongText(page: Page): Promise<void> {
  await open(page, await link(SMALL));
  await page.click("#tab-text");
  await page.fill("#editor", SMALL.replace('"10 Mbit/s"', "10"));
  await page.waitForFunction(() => !document.getElementById("problem")!.hidden);
  facts.wrong_rate = await words(page, "problem");
  facts.wrong_marked = await page.getAttribute("#editor", "aria-invalid");
  await page.screenshot({ path: `${screenshots}/wrong.png` });
  await page.fill("#editor", SMALL.replace("[links.wire]", "[links.wire"));
  await page.waitForFunction(() => document.getElementById("problem")!.textContent!.includes("]"));
  facts.wrong_toml = await words(page, "problem");
  await page.fill("#editor", `${SMALL}\n`);
  await page.waitForFunction(() => document.getElementById("problem")!.hidden);
  facts.mended = await page.getAttribute("#editor", "aria-invalid");
}

async function slider(page: Page): Promise<void> {
  await open(page, await link(SMALL));
  await page.selectOption("#speed", "1");
  await page.waitForFunction(() => document.querySelector("progress")!.value > 0.1);
  const control = page.locator('input[type="range"][data-path="links.wire.rate"]');
  await control.focus();
  for (let press = 0; press < 8; press++) {
    await page.keyboard.press("ArrowRight");
  }
  await page.waitForTimeout(400);
  facts.after_slider = await page.evaluate(() => ({
    share: document.querySelector("progress")!.value,
    button: document.getElementById("play")!.textContent,
    text: document.querySelector<HTMLTextAreaElement>("#editor")!.value,
  }));
  facts.slider_digest = await digest(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#toml")]);
  await download.saveAs(`${screenshots}/changed.toml`);
  // Without a press of a button, the run that is over is made again.
  await page.evaluate(async () => {
    const signature = document.getElementById("signature")!;
    const done = new Promise((resolve) => {
      new MutationObserver(() => signature.textContent && resolve(0)).observe(signature, {
        childList: true,
      });
    });
    const range = document.querySelector<HTMLInputElement>('[data-path="links.wire.delay"]')!;
    range.value = String(Number(range.value) + 10);
    range.dispatchEvent(new Event("input"));
    await done;
  });
  facts.rerun_digest = await page.textContent('#signature code[data-name="digest"]');
}

async function exporting(page: Page): Promise<void> {
  await open(page, await link(SMALL));
  facts.exported_digest = await digest(page);
  for (const kind of ["csv", "png", "svg", "python"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#${kind}`)]);
    await download.saveAs(`${screenshots}/export.${kind}`);
  }
  await page.click("#link");
  await page.waitForFunction(() => location.hash.length > 20);
  const address = page.url();
  await open(page, address);
  facts.from_link = await words(page, "name");
}

/** A slider from one end to the other. */
async function move(page: Page, path: string, share: number): Promise<void> {
  await page.evaluate(
    ([path, share]) => {
      const slider = document.querySelector<HTMLInputElement>(`[data-path="${path}"]`)!;
      slider.value = String(Number(slider.max) * (share as number));
      slider.dispatchEvent(new Event("input"));
    },
    [path, share] as const,
  );
}

async function comparing(page: Page): Promise<void> {
  await open(page, await link(SMALL));
  await digest(page);
  await page.selectOption("#compare", "kept");
  const row = async (): Promise<string> => (await page.textContent("#differences tbody tr")) ?? "";
  const over = (): Promise<unknown> =>
    page.waitForFunction(() => {
      const words = document.querySelector("#differences caption")?.textContent ?? "";
      return words.includes("at 10 s against the kept one at 10 s");
    });
  await over();
  const same = await row();
  await move(page, "links.wire.rate", 0.25);
  await page.waitForFunction((same) => {
    return document.querySelector("#differences tbody tr")?.textContent !== same;
  }, same);
  await page.waitForSelector('#signature code[data-name="digest"]');
  await over();
  const drawings = await page.locator(".drawing svg").count();
  facts.difference = { same, other: await row(), drawings };
  await page.selectOption("#compare", "difference");
  facts.difference_title = await page.textContent("#trace-queue h3");
  await page.screenshot({ path: `${screenshots}/difference.png`, fullPage: true });
  await page.selectOption("#compare", "band");
  await page.waitForFunction(() => {
    return document.getElementById("happened")!.textContent!.includes("10 of 10");
  });
  facts.band_title = await page.textContent("#trace-queue h3");
  await page.screenshot({ path: `${screenshots}/band.png`, fullPage: true });
}

/** A law that goes by the time that packets wait, and the pictures of a run with it. */
async function pictures(page: Page): Promise<void> {
  const law = 'codel = { target = "5 ms", interval = "100 ms" }';
  const codel = SMALL.replace('droptail = { limit = "50 packets" }', law);
  await open(page, await link(codel));
  await page.waitForFunction(() => document.querySelector(".legend .count"));
  await page.waitForTimeout(600);
  for (const kind of ["svg", "png"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#${kind}`)]);
    await download.saveAs(`${screenshots}/packets.${kind}`);
  }
  await page.screenshot({ path: `${screenshots}/target.png`, fullPage: true });
}

async function packets(page: Page): Promise<void> {
  await open(page, await link(SMALL));
  await page.waitForFunction(() => document.querySelector(".legend .count"));
  await page.waitForTimeout(300);
  facts.legend = await page.textContent(".legend");
  facts.dots = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>(".packets")!;
    const pixels = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
    return pixels.filter((value, at) => at % 4 === 3 && value > 0).length;
  });
  await page.click("#event");
  await page.waitForFunction(() => document.getElementById("happened")!.textContent !== "");
  facts.happened = await words(page, "happened");
  await page.selectOption("#quantity", "queue_bytes");
  facts.extra = await page.textContent("#trace-extra h3");
  facts.cdf_points = await page.locator("#trace-cdf canvas").count();
  const changed = await words(page, "happened");
  await page.locator("body").press(",");
  await page.waitForFunction((before) => {
    return document.getElementById("happened")!.textContent !== before;
  }, changed);
}

/** What must not stop the page: a wrong value while it runs, a run without end, one too large. */
async function burdens(page: Page): Promise<void> {
  const share = (): Promise<number> =>
    page.evaluate(() => document.querySelector("progress")!.value);
  await open(page, await link(SMALL));
  await page.click("#tab-text");
  await page.fill("#editor", "nonsense");
  await page.waitForFunction(() => !document.getElementById("problem")!.hidden);
  const before = await share();
  await page.waitForFunction((from) => document.querySelector("progress")!.value > from, before);
  await open(page, await link(SMALL.replace('"10 s"', '"1000000 s"')));
  await page.selectOption("#speed", "max");
  await page.waitForTimeout(500);
  await page.click("#stop");
  facts.stopped = await words(page, "play");
  const large = SMALL.replace("tcp = {}", "count = 10000000\ntcp = {}");
  await open(page, await link(large));
  await page.waitForFunction(() => !document.getElementById("problem")!.hidden);
  facts.too_large = await words(page, "problem");
  await open(page, `${url}#s=${"A".repeat(70_000)}`);
  facts.long_link = await words(page, "problem");
}

/** Controls without a name, by their markup. */
const nameless = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const controls = document.querySelectorAll<HTMLInputElement>("input, select, textarea, button");
    const named = (each: HTMLInputElement): boolean =>
      Boolean(each.labels?.length || each.ariaLabel || each.textContent?.trim());
    return [...controls].filter((each) => !named(each)).map((each) => each.outerHTML);
  });

async function keys(page: Page): Promise<void> {
  await open(page, await link(SMALL));
  await page.locator("body").press(" ");
  const paused = await words(page, "play");
  await page.waitForTimeout(150);
  const time = (): Promise<number> =>
    page.evaluate(() => document.querySelector("progress")!.value);
  const before = await time();
  await page.locator("body").press(".");
  await page.waitForFunction((from) => document.querySelector("progress")!.value > from, before);
  await page.waitForTimeout(150);
  facts.nameless = await nameless(page);
  // A sample of 600 is a step.
  facts.keys = { paused, stepped: ((await time()) - before) * 600 };
  await page.click("#stop");
  await page.click("#again");
  facts.after_stop = (await digest(page)).length;
}

async function strangers(page: Page): Promise<void> {
  await open(page, await link(MARKUP));
  await digest(page);
  facts.markup = {
    images: await page.locator("img").count(),
    bold: await page.locator("b").count(),
    name: await words(page, "name"),
  };
  await open(page, `${url}#s=AAAA`);
  facts.damaged_link = await words(page, "problem");
}

async function lessons(page: Page): Promise<void> {
  const found: Record<string, Record<string, string | undefined>> = {};
  for (const lesson of LESSONS) {
    const answers: Record<string, string | undefined> = {};
    for (const [name, changes] of Object.entries({ right: lesson.right, wrong: lesson.wrong })) {
      await open(page, url);
      await page.selectOption("#lesson", lesson.id);
      await page.selectOption("#speed", "max");
      await page.waitForSelector("#grade[data-right]");
      answers.begin = await page.getAttribute("#grade", "data-right").then(String);
      await page.evaluate((changes) => {
        for (const [path, value] of Object.entries(changes)) {
          const control = document.querySelector<HTMLInputElement>(`[data-path="${path}"]`)!;
          const box = control.parentElement!.querySelector<HTMLInputElement>("input[type=text]");
          const target = box ?? control;
          if (target.type === "checkbox") {
            target.checked = value === "true";
          } else {
            // Of a mechanism, `{ codel = {} }`, its name is chosen.
            target.value = value.replace(/^"|"$/g, "").replace(/^\{ (\w+) .*$/, "$1");
          }
          target.dispatchEvent(new Event("change"));
        }
      }, changes);
      await page.waitForTimeout(600);
      await page.waitForSelector('#signature code[data-name="digest"]');
      answers[name] = String(await page.getAttribute("#grade", "data-right"));
      await page.screenshot({ path: `${screenshots}/lesson-${lesson.id}-${name}.png` });
    }
    found[lesson.id] = answers;
  }
  facts.lessons = found;
}

const wide = { viewport: { width: 1400, height: 900 }, colorScheme: "light" as const };
await session(wide, [opening, wrongText, slider, exporting, keys, strangers]);
await session(wide, [comparing, packets, pictures, burdens]);
await session(wide, [lessons]);
await session(wide, [everyExample]);
await session({ viewport: { width: 360, height: 740 }, colorScheme: "dark" }, [
  async (page) => {
    await open(page, await link(SMALL));
    await digest(page);
    facts.narrow_width = await page.evaluate(() => document.documentElement.scrollWidth);
    facts.narrow_order = await page.evaluate(() => {
      const top = (id: string): number => document.getElementById(id)!.getBoundingClientRect().top;
      return ["stage", "traces", "controls", "tables"].map(top);
    });
    await page.screenshot({ path: `${screenshots}/narrow-dark.png`, fullPage: true });
  },
]);
await end();
const own = (address: string): boolean => /^(blob:|data:|about:)/.test(address);
const foreign = requests.filter((address) => !own(address) && !address.startsWith(url));
facts.requests = [...new Set(foreign)];
facts.complaints = complaints;
process.stdout.write(JSON.stringify(facts, null, 1));
