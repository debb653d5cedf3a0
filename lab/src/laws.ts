// What queues hold, and what their laws go by.

import type { Layout } from "./engine";
import { read, show } from "./quantity";
import type { Threshold } from "./traces";

/** What queues hold, and what their laws go by, from the parameters of the scenario. */
export function lawsOf(
  resolved: Record<string, string>,
  layout: Layout,
): { capacities: Map<string, number>; thresholds: Threshold[] } {
  const capacities = new Map<string, number>();
  const thresholds: Threshold[] = [];
  for (const { name } of layout.links) {
    const queue = `links.${name}.queue.`;
    for (const [path, value] of Object.entries(resolved)) {
      // Of the law itself, `red.limit`, and not of queues inside it.
      const [, key, ...deeper] = path.startsWith(queue) ? path.slice(queue.length).split(".") : [];
      const quantity = read(value);
      if (!key || deeper.length > 0 || quantity?.kind !== "packets") {
        continue;
      }
      if (key === "limit") {
        capacities.set(name, quantity.value);
      }
      if (key === "limit" || key.includes("threshold")) {
        const label = `${key.replace(/_/g, " ")}, ${show(quantity)}`;
        thresholds.push({ link: name, name: label, packets: quantity.value });
      }
    }
  }
  return { capacities, thresholds };
}
