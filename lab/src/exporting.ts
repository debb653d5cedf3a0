// Files of what is seen: the scenario, the samples, a picture.

import type { Scenario } from "./document";
import type { Tables } from "./engine";

/** Hand a file to the reader. */
export function save(name: string, contents: Blob): void {
  const url = URL.createObjectURL(contents);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** All samples, a row for each time and a column for each quantity of each place. */
export function csv(tables: Tables): string {
  const heads = ["time_s"];
  const columns: (number | null)[][] = [Object.values(tables)[0]?.time_s ?? []];
  for (const [table, values] of Object.entries(tables)) {
    for (const [name, column] of Object.entries(values)) {
      if (name !== "time_s") {
        heads.push(`${table.replace("series/", "")}.${name}`);
        columns.push(column);
      }
    }
  }
  const rows = columns[0]!.map((_, row) => columns.map((column) => column[row] ?? "").join(","));
  return [heads.map(cell).join(","), ...rows, ""].join("\n");
}

/** A program that runs the scenario, with its changes, and prints its digest and its results. */
export function python({ text, set, replication, name }: Scenario): string {
  // In a text of three quotes, a backslash and three quotes need a backslash.
  const inside = text.replace(/\\/g, "\\\\").replace(/"""/g, '\\"\\"\\"');
  const changes = set.map((each) => {
    const at = each.indexOf("=");
    const [path, value] = [each.slice(0, at), `value = ${each.slice(at + 1)}`];
    return `network.set(${JSON.stringify(path)}, loads(${JSON.stringify(value)})["value"])\n`;
  });
  return [
    changes.length > 0 ? "from tomllib import loads\n\n" : "",
    "from forebay import Network\n\n",
    `SCENARIO = """\\\n${inside}"""\n\n`,
    `network = Network.from_text(SCENARIO, ${JSON.stringify(name)})\n`,
    ...changes,
    `results = network.run(first=${replication})\n`,
    "print(results.digests[0])\n",
    "print(results)\n",
  ].join("");
}

/** The drawing and the charts in one picture. */
export async function png(
  drawing: SVGSVGElement | null,
  dots: SVGElement[],
  charts: { title: string; canvas: HTMLCanvasElement }[],
  caption: string,
): Promise<Blob> {
  const style = getComputedStyle(document.body);
  const ratio = devicePixelRatio;
  const image = drawing ? await rastered(drawing, dots) : null;
  const width = Math.max(image?.width ?? 0, ...charts.map(({ canvas }) => canvas.width / ratio));
  // Two charts fit beside each other where the page has them so.
  const each = Math.max(...charts.map(({ canvas }) => canvas.width / ratio), 1);
  const columns = Math.max(1, Math.floor((width + 40) / each));
  const row = Math.max(...charts.map(({ canvas }) => canvas.height / ratio), 0) + 26;
  const total = (image?.height ?? 0) + row * Math.ceil(charts.length / columns) + 28;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [(width + 40) * ratio, total * ratio];
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, width + 40, total);
  context.fillStyle = style.color;
  let top = 0;
  if (image) {
    context.drawImage(image, 10, 0, image.width, image.height);
    top = image.height;
  }
  context.font = "600 13px system-ui, sans-serif";
  charts.forEach(({ title, canvas: chart }, number) => {
    const left = 10 + (number % columns) * (each + 20);
    const from = top + row * Math.floor(number / columns);
    context.fillText(title, left + 2, from + 15);
    context.drawImage(chart, left, from + 20, chart.width / ratio, chart.height / ratio);
  });
  context.font = "11px system-ui, sans-serif";
  context.fillText(caption, 12, total - 10);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture could be made")))),
  );
}

/** The drawing with its styles and the packets over it, as it is to be drawn outside the page. */
export function styled(drawing: SVGSVGElement, dots: SVGElement[]): SVGSVGElement {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const from = drawing.querySelectorAll<SVGElement>("*");
  const wanted = ["fill", "stroke", "stroke-width", "stroke-opacity", "font", "text-anchor"];
  copy.querySelectorAll<SVGElement>("*").forEach((element, at) => {
    const style = getComputedStyle(from[at]!);
    for (const name of [...wanted, "paint-order", "visibility", "stroke-linecap", "fill-opacity"]) {
      element.style.setProperty(name, style.getPropertyValue(name));
    }
  });
  copy.append(...dots);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return copy;
}

async function rastered(drawing: SVGSVGElement, dots: SVGElement[]): Promise<HTMLImageElement> {
  const copy = styled(drawing, dots);
  const text = new XMLSerializer().serializeToString(copy);
  const image = new Image(Number(copy.getAttribute("width")), Number(copy.getAttribute("height")));
  const loaded = new Promise((done, failed) => {
    image.onload = done;
    image.onerror = failed;
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await loaded;
  return image;
}

function cell(word: string): string {
  return /[",\n]/.test(word) ? `"${word.replace(/"/g, '""')}"` : word;
}
