// Prints the result of each scenario on the command line, run by the module in node: a JSON object
// by file. `node dist/digest.mjs dist/forebay.wasm SLICE FILE.toml ...`

import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { Engine, Reached, ScenarioError } from "../src/engine";

const [wasm, slice, ...files] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(wasm!));
const found: Record<string, unknown> = {};
for (const file of files) {
  const request = { text: readFileSync(file, "utf-8"), name: basename(file), samples: 100 };
  try {
    const engine = new Engine(module);
    engine.begin(request);
    let reached: number = Reached.nothing;
    while (reached !== Reached.end) {
      reached = engine.advance(Number(slice));
      if (reached !== Reached.nothing) {
        engine.look();
      }
    }
    found[file] = engine.result();
  } catch (error) {
    if (!(error instanceof ScenarioError)) {
      throw error;
    }
    found[file] = { error: error.problem };
  }
}
process.stdout.write(JSON.stringify(found));
