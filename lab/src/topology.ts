// The drawing of the network: links as wide as they are used, queues as vessels that fill, drops
// where they happen.

import { html, setAll, svg } from "./dom";
import type { Counted, Fact, Layout, LinkCounts, LinkLayout, Snapshot } from "./engine";
import type { Limit, Limits } from "./laws";
import type { Way } from "./packets";
import { PacketDots } from "./packets";
import type { Point } from "./places";
import { placeNodes } from "./places";
import { show } from "./quantity";
import { aboutLimit, classWords, levelOf } from "./vessels";

/** Larger networks are not drawn: their parts would not be seen. */
const MOST_LINKS = 160;
const MOST_LABELS = 28;
/** Shorter queues are none: a queue is shown once it has been longer. */
const EMPTY = 3;
/** Size of a vessel. */
const VESSEL = { width: 26, height: 64 };

interface Drawn {
  layout: LinkLayout;
  line: SVGLineElement;
  vessel: SVGGElement;
  title: SVGTitleElement;
  glass: SVGRectElement;
  level: SVGRectElement;
  /** The most that was seen, as a line across the glass. */
  mark: SVGLineElement;
  amount: SVGTextElement;
  caption: SVGTextElement;
  lost: SVGTextElement;
  early: SVGTextElement;
  limit: Limit | null;
  /** The most that was seen to wait, in the unit of the limit. */
  most: number;
  shown: boolean;
  bottom: number;
  way: Way;
  drops: number;
  until: number;
}

export class Topology {
  private drawn = new Map<string, Drawn>();
  private layout: Layout | null = null;
  private limits: Limits = new Map();
  private last: Snapshot | null = null;
  private readonly dots: PacketDots;

  constructor(private readonly root: HTMLElement) {
    this.dots = new PacketDots(root);
    new ResizeObserver(() => this.redraw()).observe(root);
  }

  /** Draw a network, with nothing in it yet. If it is the `same` as before, the picture stays until
   * the first look, as it is replaced within milliseconds where a control is moved. */
  begin(layout: Layout, limits: Limits, same: boolean): void {
    const known = JSON.stringify([...limits]) === JSON.stringify([...this.limits]);
    this.layout = layout;
    this.limits = limits;
    if (!same || !known) {
      this.last = null;
      this.draw();
    }
    for (const drawn of this.drawn.values()) {
      [drawn.until, drawn.most] = [0, 0];
    }
    this.dots.begin(layout);
  }

  /** Stop the packets where they are, or let them move. */
  move(moving: boolean): void {
    this.dots.move(moving);
  }

  /** Show what an event did. */
  happen(facts: Fact[]): void {
    for (const { link, what, backlog_packets: backlog } of facts) {
      const drawn = this.drawn.get(link ?? "");
      // What waits of a queue that is limited in bytes is known at samples.
      if (drawn && backlog !== undefined && drawn.limit?.whole?.kind !== "size") {
        this.fill(drawn, backlog, backlog);
      }
      drawn?.vessel.classList.toggle("dropping", what === "dropped");
    }
  }

  /** The packets that are seen over the picture. */
  packets(): SVGElement[] {
    return this.dots.shapes();
  }

  /** The picture as it stands. */
  picture(): SVGSVGElement | null {
    return this.root.querySelector("svg");
  }

  look(look: Snapshot): void {
    this.last = look;
    const counts = new Map(look.counted.links.map((link) => [link.name, link]));
    for (const [name, drawn] of this.drawn) {
      const series = look.series[`series/links.${name}`];
      const last = (column: string): number => series?.[column]?.at(-1) ?? 0;
      // A station of a ring has several queues; what is known of all is a mean.
      const packets = last(series?.queue_packets ? "queue_packets" : "mean_queue_packets");
      const bytes = drawn.limit?.whole?.kind === "size";
      this.fill(drawn, packets, bytes ? last("queue_bytes") : packets);
      const counted = counts.get(name);
      const rate = counted?.rate_bps || drawn.layout.rate_bps;
      this.use(drawn, last("throughput_bps") / Math.max(1, rate));
      this.lose(drawn, counted, look.counted);
    }
    this.dots.look(look);
  }

  private redraw(): void {
    if (this.layout && this.picture()?.getAttribute("width") !== String(this.width())) {
      const last = this.last;
      const seen = new Map([...this.drawn].map(([name, { most }]) => [name, most]));
      this.draw();
      for (const [name, drawn] of this.drawn) {
        drawn.most = seen.get(name) ?? 0;
      }
      if (last) {
        this.look({ ...last, packets: null });
      }
    }
  }

  private width(): number {
    return Math.max(260, Math.floor(this.root.clientWidth));
  }

  private draw(): void {
    const layout = this.layout!;
    this.drawn.clear();
    this.root.replaceChildren();
    if (layout.links.length > MOST_LINKS) {
      const message = `${layout.links.length} links: too many to be drawn; see the tables.`;
      this.root.append(html("p", { class: "note" }, message));
      this.dots.place([], { width: 0, height: 0 });
      return;
    }
    const width = this.width();
    const unit = placeNodes(layout);
    const { height, at, upright } = frame(layout, unit, width);
    const picture = svg("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": describe(layout),
    });
    const lines = svg("g", { class: "links" });
    const vessels = svg("g", { class: "vessels" });
    picture.append(lines, vessels);
    for (const link of layout.links) {
      this.addLink(link, [at(link.from), at(link.to)], lines, vessels);
    }
    const labels = unit.size <= MOST_LABELS;
    for (const node of unit.keys()) {
      picture.append(drawNode(node, at(node), { labels, upright }));
    }
    this.root.append(picture);
    const ways = layout.links.map(({ name }) => this.drawn.get(name)!.way);
    this.dots.place(ways, { width, height });
  }

  private addLink(
    link: LinkLayout,
    [a, b]: [Point, Point],
    lines: SVGGElement,
    vessels: SVGGElement,
  ): void {
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const along = { x: (b.x - a.x) / length, y: (b.y - a.y) / length };
    // The two directions of a link lie beside each other, as traffic keeps to the right.
    const side = { x: -along.y * 4, y: along.x * 4 };
    const from = { x: a.x + side.x, y: a.y + side.y };
    const to = { x: b.x + side.x, y: b.y + side.y };
    const line = svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: "wire" });
    const title = svg("title", {}, `${link.name}: ${about(link)}`);
    line.append(title);
    lines.append(line);
    // A queue stands on its link, or beside one that leads up or down, where its labels have room.
    const near = Math.min(length * 0.34, 56);
    const beside = Math.abs(along.y) > 0.7 ? 15 : 0;
    const middle = {
      x: from.x + along.x * near + side.x * beside,
      y: from.y + along.y * near,
    };
    const vessel = this.addVessel(link, middle, vessels);
    const way = { from, to, spill: { x: middle.x, y: middle.y + VESSEL.height / 2 + 46 } };
    this.drawn.set(link.name, { layout: link, line, ...vessel, way });
    if (vessel.limit?.whole) {
      this.reveal(this.drawn.get(link.name)!);
    }
  }

  private addVessel(
    link: LinkLayout,
    middle: Point,
    vessels: SVGGElement,
  ): Omit<Drawn, "layout" | "line" | "way"> {
    const [left, top] = [middle.x - VESSEL.width / 2, middle.y - VESSEL.height / 2];
    const bottom = top + VESSEL.height;
    const box = { x: left, y: top, width: VESSEL.width, height: VESSEL.height, rx: 3 };
    const below = (by: number, name: string): SVGTextElement =>
      svg("text", { x: middle.x, y: bottom + by, class: name });
    const parts = {
      vessel: svg("g", { class: "vessel", visibility: "hidden" }),
      title: svg("title"),
      glass: svg("rect", { ...box, class: "glass" }),
      level: svg("rect", { ...box, height: 0, class: "level" }),
      mark: svg("line", { x1: left, x2: left + VESSEL.width, class: "mark" }),
      amount: svg("text", { x: middle.x, y: top - 5, class: "amount" }),
      caption: below(13, "caption"),
      lost: below(26, "lost"),
      early: below(38, "early"),
    };
    const limit = this.limits.get(link.name) ?? null;
    const { vessel, title, glass, level, mark, amount, caption, lost, early } = parts;
    title.textContent = `queue of ${link.name}: ${about(link)}; ${aboutLimit(limit)}`;
    vessel.append(title, glass, level, mark, amount, caption, lost, early);
    vessels.append(vessel);
    return { ...parts, limit, most: 0, shown: false, bottom, drops: 0, until: 0 };
  }

  private reveal(drawn: Drawn): void {
    if (!drawn.shown) {
      drawn.shown = true;
      drawn.vessel.setAttribute("visibility", "visible");
      const classes = classWords(drawn.limit);
      const name = short(drawn.layout.name);
      drawn.caption.textContent = classes ? `${name} (${classes})` : name;
    }
  }

  /** Show what waits: packets, and the same in the unit of the limit. */
  private fill(drawn: Drawn, packets: number, waiting: number): void {
    if (packets >= EMPTY) {
      this.reveal(drawn);
    }
    drawn.most = Math.max(drawn.most, waiting);
    const { now, most, closed, words } = levelOf(waiting, drawn.most, drawn.limit);
    const up = (share: number): number => drawn.bottom - 1 - (VESSEL.height - 2) * share;
    setAll(drawn.level, { y: up(now), height: drawn.bottom - 1 - up(now) });
    setAll(drawn.mark, { y1: up(most), y2: up(most), "data-most": drawn.most });
    // The outline begins with the upper edge, which an open glass does not have.
    setAll(drawn.glass, { "stroke-dasharray": closed ? false : `0 ${VESSEL.width - 6} 999` });
    drawn.amount.textContent = words;
  }

  private use(drawn: Drawn, share: number): void {
    const used = Math.min(1, share);
    drawn.line.style.strokeWidth = String(1.5 + 4.5 * used);
    drawn.line.style.strokeOpacity = String(0.25 + 0.75 * used);
    drawn.line.dataset.use = used > 0.95 ? "full" : "part";
    drawn.line.querySelector("title")!.textContent =
      `${drawn.layout.name}: ${about(drawn.layout)}; used ${Math.round(100 * used)} %`;
  }

  /** Show what was dropped since the start, and how much of it in the warm-up. */
  private lose(drawn: Drawn, link: LinkCounts | undefined, counted: Counted): void {
    const { drops = {}, early_drops: early = {} } = link ?? {};
    const all: Record<string, number> = { ...early };
    for (const [reason, number] of Object.entries(drops)) {
      all[reason] = (all[reason] ?? 0) + number;
    }
    const sum = (of: Record<string, number>): number =>
      Object.values(of).reduce((sum, number) => sum + number, 0);
    const [total, now] = [sum(all), counted.time_s];
    const { duration_s: duration, warm_up_s: warmUp } = this.layout!;
    const warm = counted.since_s >= warmUp;
    const before = warm ? sum(early) : total;
    if (total > 0) {
      this.reveal(drawn);
    }
    const words = Object.entries(all).map(([reason, number]) => `${number} ${reason}`);
    drawn.lost.textContent = total > 0 ? `\u2715 ${words.join(", ")}` : "";
    drawn.early.textContent = before > 0 ? `${before} in warm-up` : "";
    if (total > drawn.drops) {
      drawn.until = now + duration / 100;
    }
    drawn.vessel.classList.toggle("dropping", now < drawn.until && now < duration);
    drawn.drops = total;
  }
}

/** The size of the drawing, and each node's place in it: upright where it is narrow. */
function frame(
  layout: Layout,
  unit: Map<string, Point>,
  width: number,
): { height: number; at: (node: string) => Point; upright: boolean } {
  const ring = layout.links.some((link) => link.ring);
  const columns = new Set([...unit.values()].map(({ x }) => x));
  const most = Math.max(
    ...[...columns].map((x) => [...unit.values()].filter((point) => point.x === x).length),
  );
  const upright = !ring && width < 130 * columns.size;
  // Vessels of one row and the next, with their labels, lie below each other.
  const margin = { x: upright ? 60 : 56, y: ring || most === 1 ? 62 : 26 };
  const rows = most > 1 ? 2 * margin.y + 160 * most : 200;
  let height = ring ? Math.min(width, 460) : Math.min(620, rows);
  if (upright) {
    height = Math.min(900, 60 + 116 * columns.size);
  }
  const at = (node: string): Point => {
    const { x, y } = unit.get(node)!;
    const across = ring ? y : most === 1 ? 0.5 : y;
    const [u, v] = upright ? [across, x] : [x, across];
    return {
      x: margin.x + u * (width - 2 * margin.x),
      y: (upright ? 40 : margin.y) + v * (height - (upright ? 80 : 2 * margin.y)),
    };
  };
  return { height, at, upright };
}

function drawNode(
  node: string,
  { x, y }: Point,
  { labels, upright }: { labels: boolean; upright: boolean },
): SVGGElement {
  const group = svg("g", { class: "node" });
  group.append(svg("circle", { cx: x, cy: y, r: labels ? 9 : 5 }), svg("title", {}, node));
  if (labels) {
    // Beside the node where links lead up and down.
    const beside = { x: x + 15, y: y + 4, class: "beside" };
    const place = upright ? beside : { x, y: y - 15, class: "above" };
    group.append(svg("text", place, short(node)));
  }
  return group;
}

function describe({ links, flows }: Layout): string {
  const ways = flows.map((flow) => `${flow.name}, ${flow.count} ${flow.transport}`);
  return `network of ${links.length} links; flows: ${ways.slice(0, 12).join("; ")}`;
}

function about(link: LinkLayout): string {
  const rate = show({ value: link.rate_bps, kind: "rate" });
  return `${link.from} to ${link.to}, ${rate}, ${show({ value: link.delay_s, kind: "time" })}`;
}

function short(name: string): string {
  return name.length > 18 ? `${name.slice(0, 17)}\u2026` : name;
}
