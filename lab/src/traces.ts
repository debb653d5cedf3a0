// Traces that grow with time: queue, window, throughput and delay.

import uPlot from "uplot";

import type { Band } from "./band";
import { colour, dark } from "./colours";
import { html } from "./dom";
import type { Layout, Tables } from "./engine";
import type { Plot } from "./vector";

/** A horizontal line at a value that a law goes by. */
export interface Threshold {
  link: string;
  name: string;
  /** In the unit of the chart. */
  value: number;
  chart: "queue" | "delay";
}

interface Line {
  /** What the legend calls it. */
  label: string;
  table: string;
  /** Where there is no such column, `instead` is shown. */
  column: string;
  instead?: string;
  scale: number;
  dash?: number[];
}

interface Chart {
  id: string;
  title: string;
  unit: string;
  lines: Line[];
  plot: uPlot | null;
  thresholds: Threshold[];
}

/** Most lines in a chart: more could not be told apart. */
const MOST = 7;
/** What a band is. */
const BAND = "mean and 95 % interval";
const DASHES = [[], [8, 3], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4], [12, 4]];
/** The nearest that a legend can show. */
const STYLES = ["solid", "dashed", "dotted", "dashed", "dashed", "dotted", "dashed"];

export class Traces {
  private charts: Chart[] = [];
  private columns: Tables = {};
  private duration = 1;
  /** The run that this one is compared with, and whether its values are taken off. */
  private kept: Tables | null = null;
  private difference = false;
  private band: Band | null = null;
  /** The chart of a quantity that the reader has chosen. */
  private extra: Chart | null = null;

  constructor(private readonly root: HTMLElement) {
    new ResizeObserver(() => this.fit()).observe(root.parentElement!);
    dark.addEventListener("change", () => this.build());
  }

  /** All that was sampled, by table and column. */
  get tables(): Tables {
    return this.columns;
  }

  /** Empty traces of a network. */
  begin(layout: Layout, thresholds: Threshold[]): void {
    this.columns = {};
    this.duration = layout.duration_s;
    const wanted = [...charts(layout, thresholds), ...(this.extra ? [this.extra] : [])];
    const shape = (of: Chart[]): string => JSON.stringify(of.map(({ id, lines }) => [id, lines]));
    if (shape(wanted) === shape(this.charts)) {
      // The plots stay: their lines are replaced by the first samples.
      wanted.forEach((chart, at) => (this.charts[at]!.thresholds = chart.thresholds));
      return;
    }
    this.destroy();
    this.charts = wanted;
    this.build();
  }

  /** Forget what the reader has chosen, for another network. */
  forget(): void {
    this.charts = this.charts.filter((each) => each !== this.extra);
    this.extra?.plot?.destroy();
    this.extra = null;
  }

  /** Show the run `kept` behind this one, or the difference from it. */
  compare(kept: Tables | null, difference: boolean): void {
    this.kept = kept;
    this.difference = difference && kept !== null;
    this.build();
  }

  /** The names of all quantities that were sampled, of any place. */
  quantities(): string[] {
    const names = Object.values(this.columns).flatMap((columns) => Object.keys(columns));
    return [...new Set(names)].filter((name) => name !== "time_s").sort();
  }

  /** Draw a quantity of all places that have it, in a chart of its own, or no longer. */
  showQuantity(name: string): void {
    const tables = Object.keys(this.columns).filter((table) => name in this.columns[table]!);
    const [scale, unit] = unitOf(name);
    const lines = tables.slice(0, MOST).map((table) => {
      return { label: table.replace(/^series\/\w+\./, ""), table, column: name, scale };
    });
    const title = name.replace(/_(bps|s|bytes|packets)$/, "").replace(/_/g, " ");
    const chart = { id: "extra", title, unit, lines, plot: null, thresholds: [] };
    this.charts = this.charts.filter((each) => each !== this.extra);
    this.extra = lines.length > 0 ? chart : null;
    this.charts.push(...(this.extra ? [this.extra] : []));
    this.build();
  }

  /** Show how far replications differ. */
  showBand(band: Band | null): void {
    const same = (band === null) === (this.band === null);
    this.band = band;
    if (same) {
      this.refresh();
    } else {
      this.build();
    }
  }

  /** Add samples. */
  add(series: Tables): void {
    append(this.columns, series);
    this.refresh();
  }

  /** Draw what has come, also of the run behind. */
  refresh(): void {
    for (const chart of this.charts) {
      chart.plot?.setData(this.data(chart));
    }
  }

  /** The canvas of each chart, with its title. */
  canvases(): { title: string; canvas: HTMLCanvasElement }[] {
    return this.charts.flatMap(({ plot, title, unit }) =>
      plot ? [{ title: `${title} (${unit})`, canvas: plot.ctx.canvas }] : [],
    );
  }

  /** The curves of each chart. */
  plots(): Plot[] {
    return this.charts.map((chart) => {
      const [x, ...curves] = this.data(chart);
      const lines = chart.lines.map(({ label, dash }, at) => {
        return { label, colour: colour(at), dash: dash ?? DASHES[at]!, y: [...curves[at]!] };
      });
      const thresholds = this.difference ? [] : chart.thresholds;
      return { title: `${chart.title} (${chart.unit})`, x: [...x!], lines, thresholds };
    });
  }

  private data(chart: Chart): uPlot.AlignedData {
    const first = chart.lines[0];
    const time = (first && this.columns[first.table]?.time_s) ?? [];
    if (this.band) {
      const { mean, low, high, time: times } = this.band;
      const means = chart.lines.map((line) => scaled(mean, line));
      const edges = chart.lines.flatMap((line) => [scaled(low, line), scaled(high, line)]);
      return [times as number[], ...means, ...edges];
    }
    const now = chart.lines.map((line) => scaled(this.columns, line));
    if (!this.kept) {
      return [time as number[], ...now];
    }
    // The kept run has samples at the same times unless its duration was another one.
    const then = (first && this.kept[first.table]?.time_s) ?? [];
    const before = chart.lines.map((line) => scaled(this.kept!, line));
    const same = then[0] === time[0] || time.length === 0;
    if (this.difference) {
      const pairs = same ? now.map((line, at) => minus(line, before[at]!)) : now.map(() => []);
      return [time as number[], ...pairs];
    }
    const longer = then.length > time.length ? then : time;
    return [longer as number[], ...now, ...(same ? before : before.map(() => []))];
  }

  private destroy(): void {
    for (const chart of this.charts) {
      chart.plot?.destroy();
      chart.plot = null;
    }
    this.root.replaceChildren();
  }

  private build(): void {
    this.destroy();
    const figures = this.charts.map(({ id, title, unit, lines }) => {
      const about = this.difference ? `${unit}, difference` : this.band ? `${unit}, ${BAND}` : unit;
      const head = html("h3", {}, `${title} `, html("span", {}, about));
      return html("figure", { id: `trace-${id}`, hidden: lines.length === 0 }, head);
    });
    // All of them first: the width of each depends on how many there are.
    this.root.append(...figures);
    for (const [at, chart] of this.charts.entries()) {
      const figure = figures[at]!;
      if (chart.lines.length === 0) {
        continue;
      }
      chart.plot = new uPlot(this.options(chart, figure), this.data(chart), figure);
    }
  }

  private options(chart: Chart, figure: HTMLElement): uPlot.Options {
    const ink = getComputedStyle(this.root).getPropertyValue("--ink").trim();
    const grid = getComputedStyle(this.root).getPropertyValue("--grid").trim();
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
    const line = ({ label, dash }: Line, number: number, faint: boolean): uPlot.Series => ({
      label: faint ? `${label}, kept` : label,
      stroke: colour(number) + (faint ? "80" : ""),
      dash: faint ? [] : (dash ?? DASHES[number % DASHES.length]!),
      width: faint ? 3 : 1.5,
      points: { show: false },
      value: (_, value) => (value === null || value === undefined ? "" : digits(value)),
    });
    const behind = this.kept !== null && !this.difference && !this.band;
    const kept = behind ? chart.lines.map((each, at) => line(each, at, true)) : [];
    const edges = this.band ? chart.lines.flatMap((_, at) => edge(at)) : [];
    return {
      width: Math.max(240, figure.clientWidth || 300),
      height: chartHeight(),
      legend: {
        live: true,
        markers: { dash: (_, place) => STYLES[(place - 1) % STYLES.length]! },
      },
      cursor: { drag: { x: true, y: false }, sync: { key: "traces" } },
      scales: {
        x: { time: false, range: (_, from, to) => this.range(from, to) },
        y: { range: (_, least, most) => upright(least, most) },
      },
      bands: chart.lines.flatMap((_, at) => {
        const first = 1 + chart.lines.length + 2 * at;
        const fill = `${colour(at)}38`;
        return this.band ? [{ series: [first + 1, first] as [number, number], fill }] : [];
      }),
      axes: [
        {
          ...axis,
          size: 34,
          space: 30 + 8 * String(Math.round(this.duration)).length,
          values: (_, ticks) => ticks.map((tick) => `${digits(tick)} s`),
        },
        { ...axis, size: 52, values: (_, ticks) => ticks.map(digits) },
      ],
      series: [
        { label: "time", value: (_, value) => (value === null ? "--" : `${digits(value)} s`) },
        ...chart.lines.map((each, at) => line(each, at, false)),
        ...kept,
        ...edges,
      ],
      hooks: {
        draw: [(plot) => drawThresholds(plot, this.difference ? [] : chart.thresholds, ink)],
      },
    };
  }

  /** The whole run, unless the reader has chosen a part of it. */
  private range(from: number, to: number): [number, number] {
    const times = Object.values(this.columns)[0]?.time_s;
    const zoomed = times && times.length > 1 && (from > times[0]! || to < times.at(-1)!);
    return zoomed ? [from, to] : [0, this.duration];
  }

  private fit(): void {
    for (const { plot } of this.charts) {
      const width = Math.max(240, plot?.root.parentElement?.clientWidth ?? 0);
      if (plot && plot.width !== width) {
        plot.setSize({ width, height: plot.height });
      }
    }
  }
}

/** In what a quantity is drawn, by the unit at the end of its name. */
function unitOf(name: string): [number, string] {
  const units: [RegExp, number, string][] = [
    [/_bps$|_rate$/, 1e-6, "Mbit/s"],
    [/_s$/, 1e3, "ms"],
    [/_bytes$|tokens$|_depth$/, 1e-3, "kB"],
    [/_packets$|drops$|marks$/, 1, "packets"],
  ];
  const [, scale, unit] = units.find(([end]) => end.test(name)) ?? [, 1, ""];
  return [scale!, unit!];
}

/** Higher on a screen that is far away. */
export function chartHeight(): number {
  return innerWidth > 2600 ? 330 : 190;
}

/** Add samples to columns. */
export function append(to: Tables, series: Tables): void {
  for (const [table, columns] of Object.entries(series)) {
    const known = (to[table] ??= {});
    const rows = known.time_s?.length ?? 0;
    for (const [name, values] of Object.entries(columns)) {
      // A column begins when its first value comes.
      const column = (known[name] ??= []);
      while (column.length < rows) {
        column.push(null);
      }
      column.push(...values);
    }
  }
}

function scaled(from: Tables, { table, column, instead, scale }: Line): (number | null)[] {
  const columns = from[table];
  const values = columns?.[column] ?? columns?.[instead ?? ""] ?? [];
  return values.map((value) => (value === null ? null : value * scale));
}

function minus(a: (number | null)[], b: (number | null)[]): (number | null)[] {
  return a.map((value, at) => {
    const other = b[at];
    return value === null || other === null || other === undefined ? null : value - other;
  });
}

/** The two edges of a band, which the legend does not name. */
function edge(number: number): uPlot.Series[] {
  const one = { stroke: `${colour(number)}70`, width: 0.5, points: { show: false }, class: "edge" };
  return [one, { ...one }];
}

/** From zero, or from the least where that is below it, with some room. */
function upright(least: number | null, most: number | null): [number, number] {
  const [low, high] = [Math.min(0, least ?? 0) * 1.08, Math.max(0, most ?? 0) * 1.08];
  return low === high ? [0, 1] : [low, high];
}

/** What is shown of a network: where queues can form, and each group of flows. */
function charts(layout: Layout, thresholds: Threshold[]): Chart[] {
  const laws = new Set(thresholds.map(({ link }) => link));
  const forward = layout.links.filter(({ name }) => !name.endsWith(".reverse"));
  const slowest = [...forward].sort((a, b) => a.rate_bps - b.rate_bps);
  const chosen = [...slowest].sort((a, b) => Number(laws.has(b.name)) - Number(laws.has(a.name)));
  const links = chosen.slice(0, layout.links.length > 3 ? 3 : MOST);
  const flows = layout.flows.slice(0, MOST);
  const ofLinks = (column: string, scale: number): Line[] =>
    links.map(({ name }) => ({ label: name, table: `series/links.${name}`, column, scale }));
  const ofFlows = (column: string, scale: number): Line[] =>
    flows.map(({ name }) => ({ label: name, table: `series/flows.${name}`, column, scale }));
  // Laws with thresholds compare them with an average.
  const averaging = new Set(
    thresholds
      .filter(({ name, chart }) => chart === "queue" && name.includes("threshold"))
      .map(({ link }) => link),
  );
  const averages = links
    .filter(({ name }) => averaging.has(name))
    .map(({ name }) => ({
      label: `${name}, average`,
      table: `series/links.${name}`,
      column: "average",
      scale: 1,
      dash: [6, 4],
    }));
  const tcp = layout.flows.some(({ transport }) => transport === "tcp");
  const calls = layout.aggregates.slice(0, MOST).map((name) => {
    return { label: name, table: `series/aggregates.${name}`, column: "present_flows", scale: 1 };
  });
  const shown = thresholds
    .filter(({ link }) => links.some(({ name }) => name === link))
    .map((each) => (laws.size > 1 ? { ...each, name: `${each.link} ${each.name}` } : each));
  const on = (id: string): Threshold[] => shown.filter((each) => each.chart === id);
  const chart = (id: string, title: string, unit: string, lines: Line[]): Chart => {
    return { id, title, unit, lines, plot: null, thresholds: [] };
  };
  const queues = ofLinks("queue_packets", 1).map((line) => {
    return { ...line, instead: "mean_queue_packets" };
  });
  const queue = [...queues, ...averages];
  const windows = ofFlows("mean_cwnd_bytes", 1e-3).filter(
    (_, at) => flows[at]!.transport === "tcp",
  );
  return [
    { ...chart("queue", "Queue", "packets", queue), thresholds: on("queue") },
    chart("throughput", "Throughput", "Mbit/s", ofFlows("throughput_bps", 1e-6)),
    {
      ...chart("delay", "Mean one-way delay", "ms", ofFlows("mean_delay_s", 1e3)),
      thresholds: on("delay"),
    },
    tcp
      ? chart("window", "Mean congestion window", "kB", windows)
      : calls.length > 0
        ? chart("calls", "Calls present", "", calls)
        : chart("drops", "Drops in each sample", "packets", ofLinks("drops", 1)),
  ];
}

function drawThresholds(plot: uPlot, thresholds: Threshold[], ink: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.globalAlpha = 0.6;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  const seen = new Set<string>();
  for (const { name, value } of thresholds) {
    if (seen.has(name) || value > (plot.scales.y!.max ?? 0)) {
      continue;
    }
    seen.add(name);
    const y = plot.valToPos(value, "y", true);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const room = y - bbox.top > 14 * devicePixelRatio;
    ctx.textBaseline = room ? "bottom" : "top";
    ctx.fillText(name, bbox.left + bbox.width - 4, y + (room ? -2 : 3) * devicePixelRatio);
  }
  ctx.restore();
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    return value.toExponential(1);
  }
  return String(Number(value.toPrecision(3)));
}
