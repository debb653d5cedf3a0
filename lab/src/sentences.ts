// Events in words.

import type { Fact } from "./engine";
import { show } from "./quantity";

/** A sentence about an act of an event on a packet. */
export function sentence(fact: Fact): string {
  const time = `${Number(fact.time_s.toPrecision(9))} s`;
  const kind = fact.feedback ? "acknowledgement" : "packet";
  const names = ["", ", yellow", ", red"];
  const colour = names[fact.precedence] ?? `, precedence ${fact.precedence}`;
  const packet = `${kind} ${fact.number} of ${fact.flow} (${fact.size_bytes} B${colour})`;
  const more: Record<string, string> = {
    queued: `; ${fact.backlog_packets} wait`,
    dropped: `: ${fact.reason}`,
    delivered: ` after ${show({ value: fact.delay_s ?? 0, kind: "time" })}`,
  };
  const place = fact.link ? ` at ${fact.link}` : "";
  return `${time}: ${packet} ${fact.what}${place}${more[fact.what] ?? ""}`;
}
