// Packets on their way, drawn one by one over the drawing of the network, and drops as they fall.
//
// A packet is known when it has crossed its link, so it sets out in the drawing when it has
// arrived, the time of a link later. Where links are too short for the eye, packets are slowed.

import { colour, precedenceColour } from "./colours";
import { html, svg } from "./dom";
import type { Layout, Packets, Snapshot } from "./engine";
import type { Point } from "./places";

/** The ends of a link in the drawing, and the place where drops of its queue fall. */
export interface Way {
  from: Point;
  to: Point;
  spill: Point;
}

/** Most packets that are drawn at a time. */
const MOST = 260;
/** Seconds that a packet takes over a link in the drawing, at least, and that a drop takes. */
const SHORTEST = 0.5;
const FALL = 0.7;
/** Most drops that are seen to fall at a time. */
const MOST_FALLING = 16;
/** Most seconds that the drawing takes for what lies between two looks. */
const LONGEST = 5;

interface Dot {
  link: number;
  /** Simulated times at which it sets out and arrives in the drawing. */
  from: number;
  to: number;
  group: number;
  precedence: number;
  marked: boolean;
  feedback: boolean;
  dropped: boolean;
}

export class PacketDots {
  private readonly canvas = html("canvas", { class: "packets", "aria-hidden": "true" });
  private readonly legend = html("p", { class: "legend" });
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  private ways: Way[] = [];
  private dots: Dot[] = [];
  private layout: Layout | null = null;
  /** Simulated time that is drawn, up to where it may go, and simulated seconds in a second. */
  private clock = 0;
  private until = 0;
  private speed = 0;
  private lastLook = 0;
  private lastFrame = 0;
  private asked = false;
  private moving = true;
  private seen = { groups: new Set<number>(), precedences: new Set<number>(), marked: false };

  constructor(private readonly root: HTMLElement) {}

  begin(layout: Layout): void {
    this.layout = layout;
    this.dots = [];
    [this.clock, this.until, this.speed] = [0, 0, 0];
    this.lastLook = performance.now();
    this.seen = { groups: new Set(), precedences: new Set(), marked: false };
    this.legend.replaceChildren();
    this.draw();
  }

  /** Lie over a drawing of this size with these links. */
  place(ways: Way[], { width, height }: { width: number; height: number }): void {
    this.ways = ways;
    const ratio = devicePixelRatio;
    [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.root.append(this.canvas, this.legend);
    this.draw();
  }

  /** The canvas, to be copied into a picture. */
  get picture(): HTMLCanvasElement {
    return this.canvas;
  }

  /** The packets and drops of the moment, as shapes of a drawing. */
  shapes(): SVGElement[] {
    return this.visible().flatMap(({ dot, way, share }) =>
      dot.dropped ? [dropShape(way, dot, share)] : packetShapes(way, dot, share),
    );
  }

  move(moving: boolean): void {
    this.moving = moving;
    this.lastFrame = performance.now();
    this.ask();
  }

  look({ packets, counted }: Snapshot): void {
    const now = performance.now();
    const passed = Math.min(Math.max(now - this.lastLook, 16) / 1000, LONGEST);
    this.lastLook = now;
    const ahead = counted.time_s - Math.max(this.clock, this.until);
    // What is left of the look before is passed at once.
    this.clock = Math.max(this.clock, this.until);
    this.until = counted.time_s;
    this.speed = ahead / passed;
    if (!packets || this.ways.length === 0 || this.still.matches) {
      return;
    }
    this.add(packets, passed);
    this.ask();
  }

  private add(packets: Packets, passed: number): void {
    const { crossings, drops } = packets;
    const slow = SHORTEST * this.speed;
    // As many are in view as set out while one passes.
    const inView = (crossings.link.length * SHORTEST) / passed;
    const every = 2 ** Math.max(0, Math.ceil(Math.log2(inView / MOST)));
    crossings.link.forEach((link, row) => {
      if (row % every !== 0) {
        return;
      }
      const [from, to] = [crossings.from_s[row]!, crossings.to_s[row]!];
      this.dots.push({
        link,
        from: to,
        to: to + Math.max(to - from, slow),
        group: crossings.group[row]!,
        precedence: crossings.precedence[row]!,
        marked: crossings.marked[row]!,
        feedback: crossings.feedback[row]!,
        dropped: false,
      });
    });
    const falling = Math.ceil((drops.link.length * FALL) / passed / MOST_FALLING);
    drops.link.forEach((link, row) => {
      if (row % Math.max(1, falling) !== 0) {
        return;
      }
      const [from, group] = [drops.time_s[row]!, drops.group[row]!];
      const precedence = drops.precedence[row]!;
      const to = from + FALL * this.speed;
      const of = { group, precedence, marked: false, feedback: false, dropped: true };
      this.dots.push({ link, from, to, ...of });
    });
    if (this.dots.length > 4 * MOST) {
      this.dots.splice(0, this.dots.length - 4 * MOST);
    }
    this.explain(packets.one_in * every);
  }

  private ask(): void {
    if (!this.asked && this.moving) {
      this.asked = true;
      requestAnimationFrame((now) => {
        this.asked = false;
        this.frame(now);
      });
    }
  }

  private frame(now: number): void {
    const passed = Math.min(Math.max(now - this.lastFrame, 0), 100) / 1000;
    this.lastFrame = now;
    // What was dropped, and who is on the way, comes to its end where the run does.
    this.clock = Math.min(this.clock + passed * this.speed, this.until);
    this.dots = this.dots.filter(({ to }) => to > this.clock);
    this.draw();
    if (this.clock < this.until) {
      this.ask();
    }
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context) {
      return;
    }
    const ratio = devicePixelRatio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (const { dot, way, share } of this.visible()) {
      (dot.dropped ? drawDrop : drawPacket)(context, way, dot, share);
    }
  }

  /** The dots that have set out, and how far each has come. */
  private visible(): { dot: Dot; way: Way; share: number }[] {
    return this.dots.flatMap((dot) => {
      const way = this.ways[dot.link];
      const share = Math.min(1, (this.clock - dot.from) / (dot.to - dot.from));
      return way && dot.from <= this.clock ? [{ dot, way, share }] : [];
    });
  }

  /** Say what colours stand for, and how many packets are drawn. */
  private explain(oneIn: number): void {
    const { groups, precedences } = this.seen;
    let changed = this.legend.childElementCount === 0;
    for (const { group, precedence, marked, feedback } of this.dots) {
      const key = feedback ? -1 : group;
      changed ||= !groups.has(key) || !precedences.has(precedence) || marked !== this.seen.marked;
      groups.add(key);
      precedences.add(precedence);
      this.seen.marked ||= marked;
    }
    const count = oneIn === 1 ? "every packet" : `one packet in ${oneIn}`;
    if (changed) {
      this.legend.replaceChildren(...this.words(), html("span", { class: "count" }));
    }
    this.legend.querySelector(".count")!.textContent = `${count} is drawn`;
  }

  private words(): HTMLElement[] {
    const { groups, precedences, marked } = this.seen;
    const key = (style: string, word: string): HTMLElement => {
      return html("span", {}, html("i", { style, "aria-hidden": "true" }), word);
    };
    const names = [...groups].filter((group) => group >= 0).sort((a, b) => a - b);
    const words = names.slice(0, 8).map((group) => {
      return key(`background:${colour(group)}`, this.layout?.flows[group]?.name ?? "");
    });
    const border = (of: string): string => `background:none;border:2px solid ${of}`;
    for (const precedence of [...precedences].filter((each) => each > 0).sort()) {
      const names = ["green", "yellow", "red"];
      const name = names[precedence] ?? `precedence ${precedence}`;
      words.push(key(border(precedenceColour(precedence)!), name));
    }
    if (marked) {
      words.push(key("background:#fff;border:3px solid #000", "marked (CE)"));
    }
    if (groups.has(-1)) {
      words.push(key("background:var(--soft);transform:scale(0.6)", "acknowledgement"));
    }
    return words;
  }
}

function drawPacket(context: CanvasRenderingContext2D, way: Way, dot: Dot, share: number): void {
  const x = way.from.x + (way.to.x - way.from.x) * share;
  const y = way.from.y + (way.to.y - way.from.y) * share;
  const radius = dot.feedback ? 2 : 4;
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fillStyle = dot.feedback ? "#8a97a0" : colour(dot.group);
  context.fill();
  const ring = dot.feedback ? null : precedenceColour(dot.precedence);
  if (ring) {
    context.lineWidth = 2;
    context.strokeStyle = ring;
    context.stroke();
  }
  if (dot.marked) {
    context.beginPath();
    context.arc(x, y, 2.2, 0, 7);
    context.fillStyle = "#fff";
    context.strokeStyle = "#000";
    context.lineWidth = 1;
    context.fill();
    context.stroke();
  }
}

/** A packet that falls out of its queue. */
function drawDrop(context: CanvasRenderingContext2D, way: Way, dot: Dot, share: number): void {
  const aside = ((dot.from * 1e6) % 1) * 22 - 11;
  const x = way.spill.x + aside;
  const y = way.spill.y + 4 + 34 * share * share;
  context.globalAlpha = 1 - 0.8 * share;
  context.beginPath();
  context.moveTo(x - 3.5, y - 3.5);
  context.lineTo(x + 3.5, y + 3.5);
  context.moveTo(x + 3.5, y - 3.5);
  context.lineTo(x - 3.5, y + 3.5);
  context.lineWidth = 2.4;
  context.strokeStyle = precedenceColour(dot.precedence) ?? colour(dot.group);
  context.stroke();
  context.globalAlpha = 1;
}

function packetShapes(way: Way, dot: Dot, share: number): SVGElement[] {
  const cx = way.from.x + (way.to.x - way.from.x) * share;
  const cy = way.from.y + (way.to.y - way.from.y) * share;
  const ring = dot.feedback ? null : precedenceColour(dot.precedence);
  const fill = dot.feedback ? "#8a97a0" : colour(dot.group);
  const look = { fill, stroke: ring ?? "none", "stroke-width": 2 };
  const packet = svg("circle", { class: "packet", cx, cy, r: dot.feedback ? 2 : 4, ...look });
  const inner = { cx, cy, r: 2.2, fill: "#fff", stroke: "#000", "stroke-width": 1 };
  return dot.marked ? [packet, svg("circle", { class: "mark", ...inner })] : [packet];
}

function dropShape(way: Way, dot: Dot, share: number): SVGElement {
  const x = way.spill.x + ((dot.from * 1e6) % 1) * 22 - 11;
  const y = way.spill.y + 4 + 34 * share * share;
  const d = `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`;
  const stroke = precedenceColour(dot.precedence) ?? colour(dot.group);
  const look = { fill: "none", stroke, "stroke-width": 2.4, "stroke-opacity": 1 - 0.8 * share };
  return svg("path", { class: "drop", d, ...look });
}
