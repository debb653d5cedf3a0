// Frames of the moving picture of the README: the page in headless Chromium.
// `node dist/picture.mjs PAGE.html FOLDER`; docs/images/moving.py joins them.

import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { chromium } from "playwright-core";

const [file, folder] = process.argv.slice(2);
const SIZE = { width: 1280, height: 760 };
const FRAMES = 34;
/** Milliseconds from frame to frame: the picture shows them twice as fast. */
const TAKEN = 440;
/** The frame at which a variant is kept, and those while the buffer is made smaller. */
const KEPT = 12;
const MOVED = [16, 22];

/** Frames of the first lesson: its buffer fills, is kept, and is made smaller. */
async function take(page: Page): Promise<void> {
  await page.goto(pathToFileURL(file!).href);
  await page.waitForSelector("body[data-ready]");
  const start = Date.now();
  for (let frame = 0; frame < FRAMES; frame++) {
    if (frame === KEPT) {
      await page.selectOption("#compare", "kept");
    } else if (frame > MOVED[0]! && frame <= MOVED[1]!) {
      await page.evaluate(() => {
        const slider = document.querySelector<HTMLInputElement>('#controls input[type="range"]')!;
        slider.value = String(Number(slider.value) - 12);
        slider.dispatchEvent(new Event("input"));
      });
    }
    await page.waitForTimeout(Math.max(0, start + frame * TAKEN - Date.now()));
    await page.screenshot({ path: `${folder}/${String(frame).padStart(3, "0")}.png` });
  }
}

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
await take(page);
await browser.close();
