// Makes the page: one file with style, script, worker and engine in it.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { parse } from "smol-toml";

const OUT = "../python/forebay/lab/page.html";

const lessons = readdirSync("lessons")
  .filter((name) => name.endsWith(".lesson.toml"))
  .sort((a, b) => parseInt(a, 10) - parseInt(b, 10))
  .map((name) => {
    const { text, ...lesson } = parse(readFileSync(`lessons/${name}`, "utf-8"));
    const id = name.replace(/^\d+-|\.lesson\.toml$/g, "");
    const scenario = readFileSync(`lessons/${name.replace(".lesson", "")}`, "utf-8");
    // Lines of a paragraph are one; an empty line ends it.
    const joined = (words) => words.trim().replace(/\n/g, " ");
    const { question, because } = lesson;
    const paragraphs = text.trim().split("\n\n").map(joined);
    const words = { text: paragraphs, question: joined(question), because: joined(because) };
    return { id, ...lesson, ...words, scenario };
  });

async function bundle(entry, options = {}) {
  const made = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    minify: true,
    charset: "ascii",
    legalComments: "none",
    loader: { ".css": "text" },
    ...options,
  });
  return made.outputFiles[0].text;
}

// A script ends at its first closing tag, wherever that stands.
const inScript = (text) => text.replaceAll("</script", "<\\/script");

const worker = await bundle("src/worker.ts");
const define = {
  WORKER: JSON.stringify(worker),
  LESSONS: JSON.stringify(lessons),
};
const page = await bundle("src/page.ts", { define });
const style = [
  readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf-8"),
  readFileSync("src/style.css", "utf-8"),
].join("\n");
const module = gzipSync(readFileSync("dist/forebay.wasm"), { level: 9 }).toString("base64");
const licence = readFileSync("node_modules/uplot/LICENSE", "utf-8").trim();
const version = /^version = "(.*)"/m.exec(readFileSync("../Cargo.toml", "utf-8"))[1];
const put = {
  STYLE: style,
  PAGE: inScript(page),
  MODULE: module,
};
let html = readFileSync("src/page.html", "utf-8").replace("VERSION", version);
html = html.replace("<!--LICENCES-->", () => `<!-- uPlot:\n${licence}\n-->`);
for (const [name, text] of Object.entries(put)) {
  html = html.replace(`/*${name}*/`, () => text);
}
mkdirSync("../python/forebay/lab", { recursive: true });
writeFileSync(OUT, html);
// Programs of the tests, which node runs.
for (const name of readdirSync("tests").filter((name) => name.endsWith(".ts"))) {
  await build({
    entryPoints: [`tests/${name}`],
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["playwright-core"],
    define,
    outfile: `dist/${name.replace(".ts", ".mjs")}`,
  });
}
console.log(`lab: ${OUT.slice(3)}, ${Math.round(html.length / 1000)} kB`);
