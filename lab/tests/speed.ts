// Speed of the page: a scenario in headless Chromium beside the command line, and the time until
// the first picture. `node dist/speed.mjs FOREBAY PAGE.html SCENARIO.toml`; a JSON object.

import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

import { write } from "../src/fragment";

const [forebay, file, scenario] = process.argv.slice(2);
const RUNS = 9;

/** The middle one: the machine does other work, too. */
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

interface Told {
  wall_s: number;
  digest: string;
}

const native = Array.from({ length: RUNS }, (): Told => {
  const output = execFileSync(forebay!, ["run", scenario!, "--json"], { encoding: "utf-8" });
  return JSON.parse(output) as Told;
});

const text = readFileSync(scenario!, "utf-8");
const address = pathToFileURL(file!).href + (await write({ text, set: [], replication: 0 }));
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const page = await browser.newPage();
const start = Date.now();
await page.goto(address);
await page.waitForFunction(() => document.querySelector("#live td"));
const first = Date.now() - start;
await page.selectOption("#speed", "max");
await page.locator("#signature code").first().waitFor({ timeout: 300_000 });
const runs = await page.evaluate(async (count) => {
  const signature = document.getElementById("signature")!;
  const once = async (): Promise<{ wall_s: number; digest: string }> => {
    const start = performance.now();
    const over = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (signature.textContent) {
          observer.disconnect();
          resolve(0);
        }
      });
      observer.observe(signature, { childList: true });
    });
    document.getElementById("again")!.click();
    await over;
    const wall_s = (performance.now() - start) / 1000;
    return { wall_s, digest: signature.querySelector("code")!.textContent! };
  };
  const found = [];
  for (let run = 0; run < count; run++) {
    found.push(await once());
  }
  return found;
}, RUNS);
await browser.close();

const [page_s, native_s] = [runs, native].map((each) => median(each.map(({ wall_s }) => wall_s)));
const least = (of: Told[]): number => Math.min(...of.map(({ wall_s }) => wall_s));
const digests = new Set([...runs, ...native].map(({ digest }) => digest));
const facts = {
  scenario,
  page_bytes: statSync(file!).size,
  first_picture_s: first / 1000,
  page_s,
  native_s,
  share_of_native_speed: native_s! / page_s!,
  // Of the quickest run of each: what other work on the machine leaves alone.
  share_of_native_speed_at_best: least(native) / least(runs),
  same_digest: digests.size === 1,
};
process.stdout.write(`${JSON.stringify(facts, null, 1)}\n`);
