// A queue as a vessel: how high it is filled, what its glass holds, and what is said of both.

import type { Limit } from "./laws";
import { show } from "./quantity";

/** Limits up to here are the height of the glass: in that of a deeper queue, in packets or in bytes
 * of packets of 1500 B, what waits would hardly be seen. */
const DEEP = { packets: 1_000, size: 1_500_000 };
/** The height of the glass of a queue without a limit at first, in packets. */
const LEAST = 10;

/** The drawing of a queue. */
export interface Level {
  /** Shares of the height of the glass: what waits, and the most that has waited. */
  now: number;
  most: number;
  /** True if the glass ends at the limit of the queue; else it is open above. */
  closed: boolean;
  /** The backlog, and the limit of the queue or the most that was seen. */
  words: string;
}

/** The level at which `now` waits, and `most` was seen to wait, in the unit of the limit. */
export function levelOf(now: number, most: number, limit: Limit | null): Level {
  const whole = limit?.whole ?? null;
  const bytes = whole?.kind === "size";
  const deep = bytes ? DEEP.size : DEEP.packets;
  const room = niceAbove(Math.max(most, bytes ? 1500 * LEAST : LEAST));
  const closed = whole !== null && (whole.value <= deep || room >= whole.value);
  const top = closed ? whole.value : room;
  const share = (value: number): number => (top > 0 ? Math.min(1, value / top) : 0);
  const amount = (value: number): string =>
    bytes ? show({ value, kind: "size" }, 3) : String(Math.round(value));
  const beside = whole ? `limit ${amount(whole.value)}` : `most ${amount(most)}`;
  const words = `${amount(now)}, ${beside}`;
  return { now: share(now), most: share(most), closed, words };
}

/** The words below a queue of which some classes have limits. */
export function classWords(limit: Limit | null): string {
  const each = (limit?.classes ?? []).map(([number, most]) => {
    const amount = most.kind === "packets" ? String(most.value) : show(most, 3);
    return `class ${number}: limit ${amount}`;
  });
  return each.length > 2 ? `${each[0]}, ...` : each.join(", ");
}

/** The limits of a queue, in words. */
export function aboutLimit(limit: Limit | null): string {
  if (limit?.whole) {
    return `limit ${show(limit.whole)}`;
  }
  const classes = (limit?.classes ?? []).map(
    ([number, most]) => `limit of class ${number}: ${show(most)}`,
  );
  return classes.join(", ") || "no limit";
}

function niceAbove(value: number): number {
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * size).find((nice) => nice >= value)!;
}
