// A session for the programs of the tests: Chromium, the page in it, and what went wrong there.

import type { BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";

import { write } from "../src/fragment";

/** Milliseconds after which something that is waited for has failed: long, as the machine may do
 * other work beside, and nothing here is about speed. */
const PATIENCE = 180_000;
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Addresses that the page has asked for, and errors and warnings of its console. */
export const requests: string[] = [];
export const complaints: string[] = [];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: QUIET });

/** Do each piece of work on one page. */
export async function session(
  options: BrowserContextOptions,
  work: ((page: Page) => Promise<void>)[],
): Promise<void> {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => void complaints.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => requests.push(request.url()));
  for (const each of work) {
    await each(page);
  }
  await context.close();
}

/** End the browser. */
export const end = (): Promise<void> => browser.close();

/** The address of the page at `url` with a scenario in it. */
export const linkTo = async (url: string, text: string): Promise<string> =>
  url + (await write({ text, set: [], replication: 0 }));

/** The text of the element with this id. */
export const words = (page: Page, id: string): Promise<string> =>
  page.evaluate((id) => document.getElementById(id)?.textContent ?? "", id);

export async function open(page: Page, address: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForSelector("body[data-ready]");
}

/** Run to the end; the digest. */
export async function digest(page: Page): Promise<string> {
  await page.selectOption("#speed", "max");
  const code = page.locator('#signature code[data-name="digest"]');
  await code.waitFor();
  return (await code.textContent()) ?? "";
}
