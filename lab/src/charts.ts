// The charts of a network, and the lines that can be in each.

import type uPlot from "uplot";

import { type Choice, MOST } from "./choice";
import type { Layout } from "./engine";

/** A horizontal line at a value that a law goes by, or that a formula gives. */
export interface Threshold {
  /** The link, or the group of flows, that it is about. */
  place: string;
  name: string;
  /** In the unit of the chart. */
  value: number;
  chart: "queue" | "delay" | "blocking";
}

export interface Line {
  /** Its name in the legend. */
  label: string;
  table: string;
  /** The column that is drawn; `instead` where there is none of that name. */
  column: string;
  instead?: string;
  scale: number;
  /** Its place in the network: the colour is that of its packets. */
  number: number;
  dash: number[];
}

/** A link or a group of flows, of which a chart can have lines; the first tells how large it is. */
export interface Place {
  name: string;
  lines: Line[];
}

/** A chart as the network has it. */
export interface Wanted {
  id: string;
  title: string;
  unit: string;
  places: Place[];
  thresholds: Threshold[];
}

/** The same with what is drawn of it. */
export interface Chart extends Wanted {
  choice: Choice;
  plot: uPlot | null;
}

const DASHES = [[], [8, 3], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4], [12, 4]];

/** The dashes of the line with this number: another where colours begin anew. */
function dashes(number: number): number[] {
  return DASHES[(number + Math.floor(number / DASHES.length)) % DASHES.length]!;
}

/** The lines of the places that are drawn, the largest first. */
export function linesOf({ places, choice }: Chart): Line[] {
  return choice.shown.flatMap((name) => places.find((each) => each.name === name)?.lines ?? []);
}

/** The thresholds of a chart, without those of places that are left out. */
export function thresholdsOf({ places, thresholds, choice }: Chart): Threshold[] {
  const shown = new Set(choice.shown);
  const out = new Set(places.map(({ name }) => name).filter((name) => !shown.has(name)));
  return thresholds.filter(({ place }) => !out.has(place));
}

/** The number of places of a chart that are drawn at first. */
export function roomOf({ places }: Wanted): number {
  return Math.max(1, Math.floor(MOST / Math.max(1, ...places.map(({ lines }) => lines.length))));
}

/** A chart of the quantity `column` of places, which are tables. */
export function chartOf(
  about: { id: string; title: string; unit: string },
  tables: { name: string; table: string }[],
  { column, scale }: { column: string; scale: number },
): Wanted {
  const places = tables.map(({ name, table }, number) => {
    return { name, lines: [{ label: name, table, column, scale, number, dash: dashes(number) }] };
  });
  return { ...about, places, thresholds: [] };
}

/** The charts of a network: where queues can form, and each group of flows. */
export function chartsOf(layout: Layout, thresholds: Threshold[]): Wanted[] {
  const flows = layout.flows.map(({ name }) => ({ name, table: `series/flows.${name}` }));
  const calls = flows.filter((_, at) => layout.flows[at]!.transport === "calls");
  const tcp = layout.flows.some(({ transport }) => transport === "tcp");
  const aggregates = layout.aggregates.map((name) => {
    return { name, table: `series/aggregates.${name}` };
  });
  const present = { id: "calls", title: "Calls present", unit: "" };
  const blocked = { id: "blocking", title: "New calls blocked, so far", unit: "%" };
  const charts = [
    queues(layout, thresholds),
    chartOf({ id: "throughput", title: "Throughput", unit: "Mbit/s" }, flows, {
      column: "throughput_bps",
      scale: 1e-6,
    }),
    chartOf({ id: "delay", title: "Mean one-way delay", unit: "ms" }, flows, {
      column: "mean_delay_s",
      scale: 1e3,
    }),
    tcp
      ? windows(layout)
      : aggregates.length > 0
        ? chartOf(present, aggregates, { column: "present_flows", scale: 1 })
        : drops(layout),
  ];
  if (calls.length > 0) {
    charts.unshift(chartOf(blocked, calls, { column: "blocking_ratio", scale: 100 }));
  }
  for (const chart of charts) {
    chart.thresholds = thresholds.filter((each) => each.chart === chart.id);
    const named = new Set(chart.thresholds.map(({ place }) => place)).size > 1;
    if (named) {
      chart.thresholds = chart.thresholds.map((each) => {
        return { ...each, name: `${each.place} ${each.name}` };
      });
    }
  }
  return charts;
}

function links(layout: Layout): { name: string; table: string }[] {
  const forward = layout.links.filter(({ name }) => !name.endsWith(".reverse"));
  return forward.map(({ name }) => ({ name, table: `series/links.${name}` }));
}

function queues(layout: Layout, thresholds: Threshold[]): Wanted {
  const about = { id: "queue", title: "Queue", unit: "packets" };
  const chart = chartOf(about, links(layout), { column: "queue_packets", scale: 1 });
  // Laws with thresholds compare them with an average.
  const averaging = new Set(
    thresholds
      .filter(({ name, chart }) => chart === "queue" && name.includes("threshold"))
      .map(({ place }) => place),
  );
  for (const place of chart.places) {
    const line = place.lines[0]!;
    line.instead = "mean_queue_packets";
    if (averaging.has(place.name)) {
      const label = `${place.name}, average`;
      const { table, number } = line;
      place.lines.push({ label, table, column: "average", scale: 1, number, dash: [6, 4] });
    }
  }
  return chart;
}

function windows(layout: Layout): Wanted {
  const about = { id: "window", title: "Mean congestion window", unit: "kB" };
  const flows = layout.flows.map(({ name }) => ({ name, table: `series/flows.${name}` }));
  const chart = chartOf(about, flows, { column: "mean_cwnd_bytes", scale: 1e-3 });
  chart.places = chart.places.filter((_, at) => layout.flows[at]!.transport === "tcp");
  return chart;
}

function drops(layout: Layout): Wanted {
  const about = { id: "drops", title: "Drops in each sample", unit: "packets" };
  return chartOf(about, links(layout), { column: "drops", scale: 1 });
}

/** In what a quantity is drawn, by the unit at the end of its name. */
export function unitOf(name: string): [number, string] {
  const units: [RegExp, number, string][] = [
    [/_bps$|_rate$/, 1e-6, "Mbit/s"],
    [/_s$/, 1e3, "ms"],
    [/_bytes$|tokens$|_depth$/, 1e-3, "kB"],
    [/_packets$|drops$|marks$/, 1, "packets"],
    [/_ratio$/, 100, "%"],
  ];
  const [, scale, unit] = units.find(([end]) => end.test(name)) ?? [/$/, 1, ""];
  return [scale, unit];
}

const RATES: [string, number][] = [
  ["Mbit/s", 1e-6],
  ["kbit/s", 1e-3],
  ["bit/s", 1],
];

/** Take the unit in which the largest of `values`, in bit/s, is a number of a few digits; whether
 * that is another than before. */
export function fitUnit(chart: Wanted, largest: number): boolean {
  if (!chart.unit.endsWith("bit/s") || largest <= 0) {
    return false;
  }
  const [unit, scale] = RATES.find(([, factor]) => largest * factor >= 0.1) ?? RATES.at(-1)!;
  if (unit === chart.unit) {
    return false;
  }
  chart.unit = unit;
  for (const line of chart.places.flatMap(({ lines }) => lines)) {
    line.scale = scale;
  }
  return true;
}
