// The limits of queues, and the thresholds that their laws go by.

import type { Threshold } from "./charts";
import type { Layout } from "./engine";
import { splitPath } from "./key-path";
import type { Quantity } from "./quantity";
import { read, show } from "./quantity";

/** Keys of laws whose values the time is compared with that packets wait. */
const WAITS = new Set(["target", "step", "ce_threshold"]);

/** The most that a queue may hold, as far as its laws say. */
export interface Limit {
  /** All of it together, in packets or bytes; null if that has no limit. */
  whole: Quantity | null;
  /** The classes of it that have one each, by their numbers, where not all have. */
  classes: [number, Quantity][];
}

/** The limit of each queue that has one. */
export type Limits = Map<string, Limit>;

/** The limits of queues, and the thresholds of their laws, from the parameters of a scenario. */
export function lawsOf(
  resolved: Record<string, string>,
  layout: Layout,
): { limits: Limits; thresholds: Threshold[] } {
  const limits: Limits = new Map();
  const thresholds: Threshold[] = [];
  const laws = queuesOf(resolved);
  for (const { name } of layout.links) {
    const parameters = laws.get(name) ?? [];
    const limit = limitOf(parameters);
    if (limit) {
      limits.set(name, limit);
    }
    if (limit?.whole?.kind === "packets") {
      const { value } = limit.whole;
      thresholds.push({ place: name, name: `limit, ${show(limit.whole)}`, value, chart: "queue" });
    }
    for (const [[, key, ...deeper], value] of parameters) {
      // Of the law itself, `red.min_threshold`, and not of queues inside it.
      const quantity = read(value);
      if (!key || deeper.length > 0 || !quantity) {
        continue;
      }
      if (quantity.kind === "time" && WAITS.has(key)) {
        thresholds.push(...waits(name, key, quantity, layout));
      }
      if (quantity.kind === "packets" && key.includes("threshold")) {
        const label = `${key.replace(/_/g, " ")}, ${show(quantity)}`;
        thresholds.push({ place: name, name: label, value: quantity.value, chart: "queue" });
      }
    }
  }
  return { limits, thresholds };
}

/** The parameters of the queue of each link: keys below `queue`, and what stands there. */
function queuesOf(resolved: Record<string, string>): Map<string, [string[], string][]> {
  const found = new Map<string, [string[], string][]>();
  for (const [path, value] of Object.entries(resolved)) {
    if (!path.startsWith("links.") || !path.includes(".queue")) {
      continue;
    }
    const [, link, ...keys] = splitPath(path);
    const back = keys[0] === "reverse";
    if (keys[back ? 1 : 0] === "queue") {
      const name = back ? `${link}.reverse` : link!;
      const known = found.get(name) ?? [];
      known.push([keys.slice(back ? 2 : 1), value]);
      found.set(name, known);
    }
  }
  return found;
}

/** The limit of a queue, also of one inside a shaper, and that of its classes together. */
function limitOf(parameters: [string[], string][]): Limit | null {
  let whole: Quantity | null = null;
  const classes = new Map<number, Quantity | null>();
  for (const [keys, value] of parameters) {
    if (keys.at(-1) !== "limit") {
      continue;
    }
    const limit = read(value);
    const number = keys.map((key) => /^classes\[(\d+)\]$/.exec(key)?.[1]).find(Boolean);
    if (number !== undefined) {
      classes.set(Number(number), limit);
    } else if (limit && (whole === null || limit.value < whole.value)) {
      whole = limit;
    }
  }
  const all = [...classes.values()];
  const known = all.filter((limit) => limit !== null);
  if (whole || known.length === 0) {
    return whole && { whole, classes: [] };
  }
  const { kind } = known[0]!;
  if (known.length === all.length && known.every((limit) => limit.kind === kind)) {
    const value = known.reduce((sum, limit) => sum + limit.value, 0);
    return { whole: { value, kind }, classes: [] };
  }
  const limited = [...classes].filter((each): each is [number, Quantity] => each[1] !== null);
  return { whole: null, classes: limited };
}

/** The one-way delays, in ms, of flows over a link whose packets wait there as long as its law
 * allows, and nowhere else: one for each propagation delay that they have. */
function waits(link: string, key: string, wait: Quantity, layout: Layout): Threshold[] {
  const delays = new Map(layout.links.map(({ name, delay_s: delay }) => [name, delay]));
  const over = layout.flows.filter(({ there }) => there.includes(link));
  const bases = new Map<string, string[]>();
  for (const { name, there } of over) {
    const base = there.reduce((sum, each) => sum + (delays.get(each) ?? 0), 0);
    const words = show({ value: base, kind: "time" });
    bases.set(words, [...(bases.get(words) ?? []), name]);
  }
  return [...bases].map(([words, flows]) => {
    const more = flows.length > 2 ? ` and ${flows.length - 2} more` : "";
    const of = bases.size > 1 ? `${flows.slice(0, 2).join(", ")}${more}: ` : "";
    const law = `${key.replace(/_/g, " ")} of ${show(wait)}`;
    const name = `${of}${law} + ${words} of propagation`;
    const value = 1e3 * (read(words)!.value + wait.value);
    return { place: link, name, value, chart: "delay" };
  });
}
