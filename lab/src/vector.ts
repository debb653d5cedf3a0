// The drawing and the charts as lines in one SVG, for print.

import { setAll, svg } from "./dom";
import { styled } from "./exporting";

/** The curves of a chart. */
export interface Plot {
  title: string;
  x: (number | null | undefined)[];
  lines: { label: string; colour: string; dash: number[]; y: (number | null | undefined)[] }[];
  /** Horizontal lines with their names. */
  thresholds?: { name: string; value: number }[];
  /** The time before which nothing counts. */
  warmUp?: number;
}

const WIDTH = 460;
const HEIGHT = 240;
/** The part of a chart inside its axes. */
const INNER = { left: 56, top: 26, width: WIDTH - 72, height: HEIGHT - 92 };

/** A document with the drawing above and two charts in a row. */
export function vector(
  drawing: SVGSVGElement | null,
  dots: SVGElement[],
  plots: Plot[],
  caption: string,
): string {
  const shown = plots.filter(({ lines }) => lines.length > 0);
  const above = Number(drawing?.getAttribute("height") ?? 0) + 10;
  const width = Math.max(2 * WIDTH, Number(drawing?.getAttribute("width") ?? 0));
  const height = above + HEIGHT * Math.ceil(shown.length / 2) + 24;
  const style = getComputedStyle(document.body);
  const ink = style.color;
  const page = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  page.append(svg("rect", { width, height, fill: style.backgroundColor }));
  if (drawing) {
    page.append(styled(drawing, dots));
  }
  shown.forEach((plot, at) => {
    const [left, top] = [(at % 2) * (width / 2), above + HEIGHT * Math.floor(at / 2)];
    const chart = drawn(plot, ink);
    setAll(chart, { transform: `translate(${left} ${top})` });
    page.append(chart);
  });
  page.append(text(caption, { x: 10, y: height - 8, fill: ink }));
  page.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(page);
}

function text(words: string, about: Record<string, string | number>): SVGTextElement {
  const font = { "font-family": "system-ui, sans-serif", "font-size": 11 };
  return svg("text", { ...font, ...about }, words);
}

function drawn({ title, x, lines, thresholds = [], warmUp = 0 }: Plot, ink: string): SVGGElement {
  const { left, top, width, height } = INNER;
  const numbers = (values: (number | null | undefined)[]): number[] =>
    values.filter((value): value is number => typeof value === "number");
  const [times, values] = [numbers(x), lines.flatMap(({ y }) => numbers(y))];
  const bounds = (of: number[]): [number, number] => {
    const [low, high] = of.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [0, 0]);
    return low === high ? [0, 1] : [low, high];
  };
  const [[x0, x1], [y0, y1]] = [bounds(times), bounds(values)];
  const across = (value: number): number => left + ((value - x0) / (x1 - x0)) * width;
  const up = (value: number): number => top + height - ((value - y0) / (y1 - y0)) * height;
  const group = svg("g", {}, text(title, { x: left, y: 14, fill: ink, "font-weight": 600 }));
  const frame = { x: left, y: top, width, height, fill: "none", stroke: ink };
  group.append(svg("rect", { ...frame, "stroke-opacity": 0.4 }));
  if (warmUp > 0) {
    const shaded = { x: left, y: top, width: across(Math.min(warmUp, x1)) - left, height };
    group.append(svg("rect", { ...shaded, fill: ink, "fill-opacity": 0.08 }));
    group.append(text("warm-up", { x: left + 3, y: top + 11, fill: ink, "fill-opacity": 0.7 }));
  }
  for (const share of [0, 0.5, 1]) {
    const [at, value] = [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
    const below = { x: across(at), y: top + height + 14, "text-anchor": "middle", fill: ink };
    group.append(text(String(Number(at.toPrecision(3))), below));
    const beside = { x: left - 5, y: up(value) + 4, "text-anchor": "end", fill: ink };
    group.append(text(String(Number(value.toPrecision(3))), beside));
  }
  for (const { name, value } of thresholds.filter(({ value }) => value <= y1)) {
    const at = { x1: left, x2: left + width, y1: up(value), y2: up(value) };
    const dashes = { stroke: ink, "stroke-opacity": 0.6, "stroke-dasharray": "6 4" };
    const beside = { x: left + width - 4, y: up(value) - 3, "text-anchor": "end", fill: ink };
    group.append(svg("line", { ...at, ...dashes }), text(name, beside));
  }
  lines.forEach(({ label, colour, dash, y }, at) => {
    let pen = "M";
    const path = y.flatMap((value, row) => {
      const time = x[row];
      if (typeof value !== "number" || typeof time !== "number") {
        pen = "M";
        return [];
      }
      const point = `${pen}${across(time).toFixed(1)} ${up(value).toFixed(1)}`;
      pen = "L";
      return [point];
    });
    const stroke = { fill: "none", stroke: colour, "stroke-width": 1.2 };
    const dashes = { "stroke-dasharray": dash.join(" ") || "none" };
    group.append(svg("path", { d: path.join(""), ...stroke, ...dashes }));
    const [from, row] = [left + (at % 3) * 130, top + height + 32 + 14 * Math.floor(at / 3)];
    const key = { x1: from, y1: row - 4, x2: from + 16, y2: row - 4, ...stroke, ...dashes };
    group.append(svg("line", key), text(label, { x: from + 20, y: row, fill: ink }));
  });
  return group;
}
