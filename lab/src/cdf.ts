// The cumulative distribution of one-way delay of each group of flows.

import uPlot from "uplot";

import { colour, dark } from "./colours";
import { html } from "./dom";
import type { Delays, Layout } from "./engine";
import { chartHeight } from "./traces";
import type { Plot } from "./vector";

/** Most lines: more could not be told apart. */
const MOST = 7;

export class DelayCdf {
  private plot: uPlot | null = null;
  private delays: Delays | null = null;
  private kept: Delays | null = null;
  private names: string[] = [];

  constructor(private readonly root: HTMLElement) {
    new ResizeObserver(() => this.fit()).observe(root);
    dark.addEventListener("change", () => this.build());
  }

  begin(layout: Layout): void {
    const names = layout.flows.slice(0, MOST).map(({ name }) => name);
    const same = names.join("\n") === this.names.join("\n");
    this.names = names;
    this.delays = null;
    if (!same) {
      this.build();
    }
  }

  show(delays: Delays): void {
    this.delays = delays;
    this.refresh();
  }

  /** The distribution behind this one, or none. */
  compare(kept: Delays | null): void {
    const same = (kept === null) === (this.kept === null);
    this.kept = kept;
    if (same) {
      this.refresh();
    } else {
      this.build();
    }
  }

  canvases(): { title: string; canvas: HTMLCanvasElement }[] {
    return this.plot ? [{ title: TITLE, canvas: this.plot.ctx.canvas }] : [];
  }

  /** Its curves. */
  lines(): Plot {
    const [x, ...curves] = this.data();
    const lines = this.names.map((label, at) => {
      return { label, colour: colour(at), dash: [], y: joined(curves[at] ?? []) };
    });
    return { title: TITLE, x: [...(x ?? [])], lines };
  }

  private refresh(): void {
    this.plot?.setData(this.data());
  }

  private data(): uPlot.AlignedData {
    const of = (delays: Delays | null, at: number): uPlot.AlignedData => {
      const group = delays?.groups[at];
      return group ? steps(group, delays.shares) : [[], []];
    };
    const lines = this.names.map((_, at) => of(this.delays, at));
    const before = this.kept ? this.names.map((_, at) => of(this.kept, at)) : [];
    return uPlot.join([...lines, ...before]);
  }

  private build(): void {
    this.plot?.destroy();
    this.plot = null;
    const head = html("h3", {}, "CDF of one-way delay ", html("span", {}, "share up to, ms"));
    this.root.replaceChildren(head);
    this.root.hidden = this.names.length === 0;
    if (this.root.hidden) {
      return;
    }
    const style = getComputedStyle(this.root);
    const [ink, grid] = ["--ink", "--grid"].map((name) => style.getPropertyValue(name).trim());
    const axis = { stroke: ink!, grid: { stroke: grid!, width: 1 }, ticks: { stroke: grid! } };
    const line = (label: string, at: number, faint: boolean): uPlot.Series => ({
      label: faint ? `${label}, kept` : label,
      stroke: colour(at) + (faint ? "80" : ""),
      width: faint ? 3 : 1.5,
      spanGaps: true,
      points: { show: false },
      value: (_, value) => (value === null || value === undefined ? "" : value.toFixed(3)),
    });
    const kept = this.kept ? this.names.map((name, at) => line(name, at, true)) : [];
    const options: uPlot.Options = {
      width: Math.max(240, this.root.clientWidth - 12),
      height: chartHeight(),
      scales: { x: { time: false }, y: { range: [0, 1] } },
      axes: [
        { ...axis, size: 34, values: (_, ticks) => ticks.map((tick) => `${tick}`) },
        { ...axis, size: 52 },
      ],
      series: [
        {
          label: "delay",
          value: (_, value) => (value === null ? "--" : `${Number(value.toPrecision(4))} ms`),
        },
        ...this.names.map((name, at) => line(name, at, false)),
        ...kept,
      ],
    };
    this.plot = new uPlot(options, this.data(), this.root);
  }

  private fit(): void {
    const width = Math.max(240, this.root.clientWidth - 12);
    if (this.plot && Math.abs(this.plot.width - width) > 1) {
      this.plot.setSize({ width, height: this.plot.height });
    }
  }
}

/** A curve over gaps, where other curves have a point and this one none. */
function joined(curve: ArrayLike<number | null | undefined>): (number | null)[] {
  let last: number | null = null;
  const known = Array.from(curve, (value) => value ?? null);
  const end = known.findLastIndex((value) => value !== null);
  return known.map((value, at) => (at > end ? null : (last = value ?? last)));
}

const TITLE = "CDF of one-way delay (ms)";

/** The points of a distribution, without two at one delay: of those the last counts. */
function steps(delays: number[], shares: number[]): uPlot.AlignedData {
  const [x, y]: [number[], number[]] = [[], []];
  delays.forEach((delay, at) => {
    const ms = delay * 1e3;
    if (x.at(-1) === ms) {
      y[y.length - 1] = shares[at]!;
    } else {
      x.push(ms);
      y.push(shares[at]!);
    }
  });
  // A single delay is a step.
  if (x.length === 1) {
    x.unshift(x[0]! * 0.999);
    y.unshift(0);
  }
  return [x, y];
}
