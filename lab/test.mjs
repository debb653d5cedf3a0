// The unit tests of the page's modules that need no page: tests/unit/*.test.ts, for node's runner.
// `npm test`; `npm test -- scales` for one of them.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { build } from "esbuild";

const wanted = process.argv[2] ?? "";
const files = readdirSync("tests/unit").filter(
  (name) => name.endsWith(".test.ts") && name.includes(wanted),
);
if (files.length === 0) {
  console.error(`lab: no test in lab/tests/unit has "${wanted}" in its name`);
  process.exit(1);
}
// Beside the packages, so that uPlot and the like are found.
const folder = mkdtempSync("node_modules/.unit-");
await build({
  entryPoints: files.map((name) => `tests/unit/${name}`),
  bundle: true,
  platform: "node",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir: folder,
});
run({ files: files.map((name) => join(folder, name.replace(/ts$/, "mjs"))), concurrency: true })
  .on("test:fail", () => {
    process.exitCode = 1;
  })
  .on("end", () => rmSync(folder, { recursive: true }))
  .compose(spec)
  .pipe(process.stdout);
