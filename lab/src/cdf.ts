// The cumulative distribution of one-way delay of each group of flows.

import uPlot from "uplot";

import { Choice, MOST } from "./choice";
import { colour, dark } from "./colours";
import { html } from "./dom";
import type { Delays, Layout } from "./engine";
import { show } from "./quantity";
import { chartHeight, widthIn } from "./traces";
import type { Plot } from "./vector";

export class DelayCdf {
  private plot: uPlot | null = null;
  private delays: Delays | null = null;
  private kept: Delays | null = null;
  private names: string[] = [];
  private warmUp = 0;
  private readonly choice = new Choice(() => this.choose());

  constructor(private readonly root: HTMLElement) {
    new ResizeObserver(() => this.fit()).observe(root);
    dark.addEventListener("change", () => this.build());
  }

  begin(layout: Layout): void {
    const names = layout.flows.map(({ name }) => name);
    const same = names.join("\n") === this.names.join("\n") && layout.warm_up_s === this.warmUp;
    [this.names, this.warmUp] = [names, layout.warm_up_s];
    this.delays = null;
    this.choice.begin(names, MOST);
    if (!same) {
      this.build();
    }
  }

  show(delays: Delays): void {
    this.delays = delays;
    if (this.rank(false)) {
      this.build();
    } else {
      this.refresh();
    }
  }

  /** The run is over: how large everything is, is known. */
  over(): void {
    if (this.rank(true)) {
      this.build();
    }
  }

  /** Draw the groups with the longest delays, by their medians. */
  private rank(end: boolean): boolean {
    const { shares = [], groups = [] } = this.delays ?? {};
    const middle = shares.findIndex((share) => share >= 0.5);
    return this.choice.rank((name) => groups[this.names.indexOf(name)]?.[middle] ?? 0, end);
  }

  private choose(): void {
    this.rank(true);
    this.build();
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
    return this.plot ? [{ title: this.title, canvas: this.plot.ctx.canvas }] : [];
  }

  /** Its curves. */
  lines(): Plot {
    const [x, ...curves] = this.data();
    const lines = this.shown().map((at, row) => {
      const y = joined(curves[row] ?? []);
      return { label: this.names[at]!, colour: colour(at), dash: [], y };
    });
    return { title: this.title, x: [...(x ?? [])], lines };
  }

  /** The groups that are drawn, by their numbers in the network. */
  private shown(): number[] {
    return this.choice.shown.map((name) => this.names.indexOf(name));
  }

  /** The title: the unit, since when packets count, and of how many groups if some are left out. */
  private get title(): string {
    const words = ["ms", this.since(), this.choice.words].filter(Boolean);
    return `CDF of one-way delay (${words.join(", ")})`;
  }

  /** Of which packets it is: those of the warm-up count for it only as long as that lasts. */
  private since(): string {
    if (this.warmUp === 0) {
      return "";
    }
    const until = show({ value: this.warmUp, kind: "time" });
    return (this.delays?.since_s ?? 0) < this.warmUp ? "in the warm-up" : `since ${until}`;
  }

  private refresh(): void {
    this.plot?.setData(this.data());
    const about = this.root.querySelector("h3 span");
    if (about) {
      about.textContent = this.about();
    }
  }

  private about(): string {
    return ["ms", this.since()].filter(Boolean).join("; ");
  }

  private data(): uPlot.AlignedData {
    const of = (delays: Delays | null, at: number): uPlot.AlignedData => {
      const group = delays?.groups[at];
      return group ? steps(group, delays.shares) : [[], []];
    };
    const lines = this.shown().map((at) => of(this.delays, at));
    const before = this.kept ? this.shown().map((at) => of(this.kept, at)) : [];
    return uPlot.join([...lines, ...before]);
  }

  private build(): void {
    this.plot?.destroy();
    this.plot = null;
    const head = html("h3", {}, "CDF of one-way delay ", html("span", {}, this.about()));
    this.root.replaceChildren(head, this.choice.root);
    this.root.hidden = this.names.length === 0;
    if (this.choice.shown.length === 0) {
      return;
    }
    const style = getComputedStyle(this.root);
    const [ink, grid] = ["--ink", "--grid"].map((name) => style.getPropertyValue(name).trim());
    const axis = { stroke: ink!, grid: { stroke: grid!, width: 1 }, ticks: { stroke: grid! } };
    const line = (at: number, faint: boolean): uPlot.Series => ({
      label: faint ? `${this.names[at]}, kept` : this.names[at]!,
      stroke: colour(at) + (faint ? "80" : ""),
      width: faint ? 3 : 1.5,
      spanGaps: true,
      points: { show: false },
      value: (_, value) => (value === null || value === undefined ? "" : value.toFixed(3)),
    });
    const kept = this.kept ? this.shown().map((at) => line(at, true)) : [];
    const options: uPlot.Options = {
      width: widthIn(this.root),
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
        ...this.shown().map((at) => line(at, false)),
        ...kept,
      ],
    };
    this.plot = new uPlot(options, this.data(), this.root);
  }

  private fit(): void {
    const width = widthIn(this.root);
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
  return known.map((value, at) => {
    last = value ?? last;
    return at > end ? null : last;
  });
}

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
