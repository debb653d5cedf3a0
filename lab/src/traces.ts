// Traces that grow with time: queue, window, throughput and delay.

import uPlot from "uplot";

import type { Band } from "./band";
import type { Chart, Line, Place, Threshold, Wanted } from "./charts";
import { chartOf, chartsOf, fitUnit, linesOf, roomOf, thresholdsOf, unitOf } from "./charts";
import { Choice } from "./choice";
import { colour, dark } from "./colours";
import { html } from "./dom";
import type { Layout, Tables } from "./engine";
import { append, mean, minus, scaled } from "./samples";
import { digits, upright } from "./scales";
import type { Plot } from "./vector";

/** The name of a band. */
const BAND = "mean and 95 % interval";
/** The nearest to the dashes of a line that a legend can show. */
const styleOf = ({ dash }: Line): string =>
  dash.length === 0 ? "solid" : dash[0]! < 5 ? "dotted" : "dashed";

export class Traces {
  private charts: Chart[] = [];
  private columns: Tables = {};
  private duration = 1;
  /** The time at which counting begins, in seconds. */
  private warmUp = 0;
  /** The choice of each chart, by its id. */
  private readonly choices = new Map<string, Choice>();
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
    [this.duration, this.warmUp] = [layout.duration_s, layout.warm_up_s];
    const wanted = chartsOf(layout, thresholds).map((each) => this.chart(each));
    wanted.push(...(this.extra ? [this.extra] : []));
    const shape = (of: Chart[]): string =>
      JSON.stringify(of.map(({ id, places, choice }) => [id, names(places), choice.shown]));
    if (shape(wanted) === shape(this.charts)) {
      // The plots stay: their lines are replaced by the first samples.
      for (const [at, { thresholds }] of wanted.entries()) {
        this.charts[at]!.thresholds = thresholds;
      }
      return;
    }
    this.destroy();
    this.charts = wanted;
    this.build();
  }

  /** A chart with what the reader has chosen of it. */
  private chart(wanted: Wanted): Chart {
    const choice = this.choices.get(wanted.id) ?? new Choice(() => this.choose());
    this.choices.set(wanted.id, choice);
    choice.begin(
      wanted.places.map(({ name }) => name),
      roomOf(wanted),
    );
    return { ...wanted, choice, plot: null };
  }

  /** Draw what was chosen; of charts without a choice, the largest. */
  private choose(): void {
    this.rank(true);
    this.build();
  }

  /** The run is over: how large everything is, is known. */
  over(): void {
    this.rank(true);
  }

  /** Draw the largest, in units in which they can be read. */
  private rank(end: boolean): void {
    const changed = this.charts.filter((chart) => {
      const sizes = new Map(chart.places.map((place) => [place.name, place.lines[0]!]));
      const size = (name: string): number => mean(scaled(this.columns, sizes.get(name)!));
      const other = chart.choice.rank(size, end);
      const largest = Math.max(0, ...linesOf(chart).map((line) => this.largest(line)));
      return fitUnit(chart, largest) || other;
    });
    if (changed.length > 0) {
      this.build();
    }
  }

  /** The largest value of a line before it is scaled. */
  private largest({ table, column }: Line): number {
    const values = this.columns[table]?.[column] ?? [];
    return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  }

  /** Forget what the reader has chosen, for another network. */
  forget(): void {
    this.charts = this.charts.filter((each) => each !== this.extra);
    this.extra?.plot?.destroy();
    this.extra = null;
    this.choices.clear();
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
    const title = name.replace(/_(bps|s|bytes|packets|ratio)$/, "").replace(/_/g, " ");
    const places = tables.map((table) => ({ name: table.replace(/^series\/\w+\./, ""), table }));
    const wanted = chartOf({ id: "extra", title, unit }, places, { column: name, scale });
    this.charts = this.charts.filter((each) => each !== this.extra);
    this.extra = tables.length > 0 ? this.chart(wanted) : null;
    this.charts.push(...(this.extra ? [this.extra] : []));
    this.rank(true);
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
    this.rank(false);
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
    return this.charts.flatMap((chart) =>
      chart.plot ? [{ title: titleOf(chart), canvas: chart.plot.ctx.canvas }] : [],
    );
  }

  /** The curves of each chart. */
  plots(): Plot[] {
    return this.charts.map((chart) => {
      const [x, ...curves] = this.data(chart);
      const lines = linesOf(chart).map(({ label, number, dash }, at) => {
        return { label, colour: colour(number), dash, y: [...curves[at]!] };
      });
      const thresholds = this.difference ? [] : thresholdsOf(chart);
      const title = titleOf(chart);
      return { title, x: [...x!], lines, thresholds, warmUp: this.warmUp };
    });
  }

  private data(chart: Chart): uPlot.AlignedData {
    const lines = linesOf(chart);
    const first = lines[0];
    const time = (first && this.columns[first.table]?.time_s) ?? [];
    if (this.band) {
      const { mean, low, high, time: times } = this.band;
      const means = lines.map((line) => scaled(mean, line));
      const edges = lines.flatMap((line) => [scaled(low, line), scaled(high, line)]);
      return [times as number[], ...means, ...edges];
    }
    const now = lines.map((line) => scaled(this.columns, line));
    if (!this.kept) {
      return [time as number[], ...now];
    }
    // The kept run has samples at the same times unless its duration was another one.
    const then = (first && this.kept[first.table]?.time_s) ?? [];
    const before = lines.map((line) => scaled(this.kept!, line));
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
    const figures = this.charts.map(({ id, title, unit, places, choice }) => {
      const about = this.difference ? `${unit}, difference` : this.band ? `${unit}, ${BAND}` : unit;
      const head = html("h3", {}, `${title} `, html("span", {}, about));
      return html("figure", { id: `trace-${id}`, hidden: places.length === 0 }, head, choice.root);
    });
    // All of them first: the width of each depends on how many there are.
    this.root.append(...figures);
    for (const [at, chart] of this.charts.entries()) {
      if (linesOf(chart).length > 0) {
        const figure = figures[at]!;
        chart.plot = new uPlot(this.options(chart, figure), this.data(chart), figure);
      }
    }
  }

  private options(chart: Chart, figure: HTMLElement): uPlot.Options {
    const style = getComputedStyle(this.root);
    const colourOf = (name: string): string => style.getPropertyValue(name).trim();
    const [ink, grid, paper] = [colourOf("--ink"), colourOf("--grid"), colourOf("--panel")];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
    const lines = linesOf(chart);
    const line = ({ label, number, dash }: Line, faint: boolean): uPlot.Series => ({
      label: faint ? `${label}, kept` : label,
      stroke: colour(number) + (faint ? "80" : ""),
      dash: faint ? [] : dash,
      width: faint ? 3 : 1.5,
      points: { show: false },
      value: (_, value) => (value === null || value === undefined ? "" : digits(value)),
    });
    const behind = this.kept !== null && !this.difference && !this.band;
    const kept = behind ? lines.map((each) => line(each, true)) : [];
    const edges = this.band ? lines.flatMap(({ number }) => edge(number)) : [];
    return {
      width: widthIn(figure),
      height: chartHeight(),
      // The last time stands below the right edge, and has room for half of its digits.
      padding: [null, 4 + 4 * String(Math.round(this.duration)).length, null, null],
      legend: {
        live: true,
        markers: { dash: (_, place) => styleOf(lines[(place - 1) % lines.length]!) },
      },
      cursor: { drag: { x: true, y: false }, sync: { key: "traces" } },
      scales: {
        x: { time: false, range: (_, from, to) => this.range(from, to) },
        y: { range: (_, least, most) => upright(least, reach(chart, most)) },
      },
      bands: lines.flatMap(({ number }, at) => {
        const first = 1 + lines.length + 2 * at;
        const fill = `${colour(number)}38`;
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
        ...lines.map((each) => line(each, false)),
        ...kept,
        ...edges,
      ],
      hooks: {
        drawClear: [(plot) => drawWarmUp(plot, this.warmUp, ink)],
        draw: [
          (plot) => {
            drawThresholds(plot, this.difference ? [] : thresholdsOf(chart), [ink, paper]);
          },
        ],
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
      const width = widthIn(plot?.root.parentElement ?? null);
      if (plot && plot.width !== width) {
        plot.setSize({ width, height: plot.height });
      }
    }
  }
}

/** The width of a chart within its figure, which has an edge of some pixels. */
export function widthIn(figure: HTMLElement | null): number {
  return Math.max(240, (figure?.clientWidth || 300) - 12);
}

/** Higher on a screen that is far away. */
export function chartHeight(): number {
  return innerWidth > 2600 ? 330 : 190;
}

/** The two edges of a band, which the legend does not name. */
function edge(number: number): uPlot.Series[] {
  const one = { stroke: `${colour(number)}70`, width: 0.5, points: { show: false }, class: "edge" };
  return [one, { ...one }];
}

function names(places: Place[]): [string, number][] {
  return places.map(({ name, lines }) => [name, lines.length]);
}

/** The title of a chart: its quantity, and how much is drawn where something is left out. */
function titleOf({ title, unit, choice }: Chart): string {
  return `${title} (${[unit, choice.words].filter(Boolean).join(", ")})`;
}

/** The largest value in view: that of a formula is, whatever the run gives. */
function reach(chart: Chart, most: number | null): number | null {
  const formulas = thresholdsOf(chart).filter((each) => each.chart === "blocking");
  const values = formulas.map(({ value }) => value);
  return values.length > 0 ? Math.max(most ?? 0, ...values) : most;
}

/** Shade the warm-up, which results leave out. */
function drawWarmUp(plot: uPlot, until: number, ink: string): void {
  const { ctx, bbox } = plot;
  const right = Math.min(plot.valToPos(until, "x", true), bbox.left + bbox.width);
  if (until <= 0 || !(right > bbox.left)) {
    return;
  }
  ctx.save();
  ctx.fillStyle = ink;
  ctx.globalAlpha = 0.08;
  ctx.fillRect(bbox.left, bbox.top, right - bbox.left, bbox.height);
  ctx.globalAlpha = 0.7;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText("warm-up", bbox.left + 3 * devicePixelRatio, bbox.top + 2 * devicePixelRatio);
  ctx.restore();
}

function drawThresholds(
  plot: uPlot,
  thresholds: Threshold[],
  [ink, paper]: [string, string],
): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.globalAlpha = 0.6;
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  const seen = new Set<string>();
  for (const { name, value } of thresholds) {
    if (seen.has(name) || value > (plot.scales.y!.max ?? 0)) {
      continue;
    }
    seen.add(name);
    const y = plot.valToPos(value, "y", true);
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const room = y - bbox.top > 14 * devicePixelRatio;
    ctx.textBaseline = room ? "bottom" : "top";
    const place = [bbox.left + bbox.width - 4, y + (room ? -2 : 3) * devicePixelRatio] as const;
    // The name can be read where a trace lies behind it.
    ctx.setLineDash([]);
    ctx.save();
    [ctx.strokeStyle, ctx.lineWidth] = [paper, 3 * devicePixelRatio];
    ctx.strokeText(name, ...place);
    ctx.restore();
    ctx.fillText(name, ...place);
  }
  ctx.restore();
}
