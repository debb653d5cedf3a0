// What queues hold, and what their laws go by.

import type { Layout } from "./engine";
import { read, show } from "./quantity";
import type { Quantity } from "./quantity";
import { isPrefix, splitPath } from "./toml";
import type { Threshold } from "./traces";

/** Keys of laws whose values the time is compared with that packets wait. */
const WAITS = new Set(["target", "step", "ce_threshold"]);

/** What queues hold, and what their laws go by, from the parameters of the scenario. */
export function lawsOf(
  resolved: Record<string, string>,
  layout: Layout,
): { capacities: Map<string, number>; thresholds: Threshold[] } {
  const capacities = new Map<string, number>();
  const thresholds: Threshold[] = [];
  for (const { name } of layout.links) {
    const queue = [...section(name), "queue"];
    for (const [path, value] of Object.entries(resolved)) {
      // Of the law itself, `red.limit`, and not of queues inside it.
      const keys = splitPath(path);
      const [, key, ...deeper] = isPrefix(queue, keys) ? keys.slice(queue.length) : [];
      const quantity = read(value);
      if (!key || deeper.length > 0 || !quantity) {
        continue;
      }
      if (quantity.kind === "time" && WAITS.has(key)) {
        thresholds.push(...waits(name, key, quantity, layout));
      }
      if (quantity.kind !== "packets") {
        continue;
      }
      if (key === "limit") {
        capacities.set(name, quantity.value);
      }
      if (key === "limit" || key.includes("threshold")) {
        const label = `${key.replace(/_/g, " ")}, ${show(quantity)}`;
        thresholds.push({ link: name, name: label, value: quantity.value, chart: "queue" });
      }
    }
  }
  return { capacities, thresholds };
}

/** The path of the section of a link: `links.NAME.reverse` for the way back of one. */
function section(link: string): string[] {
  const way = /^(.*)\.reverse$/.exec(link);
  return way ? ["links", way[1]!, "reverse"] : ["links", link];
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
    const of = bases.size > 1 ? `${flows.slice(0, 2).join(", ")}: ` : "";
    const law = `${key.replace(/_/g, " ")} of ${show(wait)}`;
    const name = `${of}${law} + ${words} of propagation`;
    const value = 1e3 * (read(words)!.value + wait.value);
    return { link, name, value, chart: "delay" };
  });
}
