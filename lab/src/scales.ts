// Scales: the axes of charts, and the sliders of parameters.

import type { Quantity } from "./quantity";

/** Steps of a slider. */
export const STEPS = 200;
/** The factor between where a slider began and either of its ends. */
const REACH = 16;

/** The ends of an upright axis: from zero, or from the least value where that is below it, to the
 * largest, with 8 % of room beyond what is not zero. */
export function upright(least: number | null, most: number | null): [number, number] {
  const [low, high] = [Math.min(0, least ?? 0) * 1.08, Math.max(0, most ?? 0) * 1.08];
  return low === high ? [0, 1] : [low, high];
}

/** A number on an axis, in three digits; as a power of ten below 0.001 and from a million on. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    return value.toExponential(1);
  }
  return String(Number(value.toPrecision(3)));
}

/** From a value to a step of its slider, and back. */
export interface Scale {
  to(value: number): number;
  from(step: number): number;
}

/** The scale of a slider that begins at a value: from a `REACH`th of it to `REACH` times as much,
 * by equal factors; by equal steps from zero where it begins there. Packets and whole numbers are
 * whole, these and bytes at least 1; a probability, a share or the like is at most 1. */
export function scaleOf({ value, kind }: Quantity, path: string): Scale {
  const share = kind === "number" && value <= 1 && /prob|share|weight|fraction|ratio/.test(path);
  if (value <= 0) {
    const most = { rate: 1e7, time: 0.2, size: 1e5, packets: 100, frequency: 10, number: 10 }[kind];
    return { to: (v) => (STEPS * v) / most, from: (step) => tidy((most * step) / STEPS) };
  }
  const most = share ? Math.min(1, value * REACH) : value * REACH;
  const least = Math.max(value / REACH, kind === "packets" || kind === "size" ? 1 : 0);
  const whole = kind === "packets" || (kind === "number" && Number.isInteger(value));
  const low = whole ? Math.max(1, Math.round(least)) : least;
  const span = Math.log(most / low) || 1;
  return {
    to: (v) => (STEPS * Math.log(Math.max(v, low) / low)) / span,
    from: (step) => {
      const raw = low * Math.exp((span * step) / STEPS);
      return whole ? Math.round(raw) : tidy(raw);
    },
  };
}

/** Two digits are as fine as a slider can be set. */
function tidy(value: number): number {
  return Number(value.toPrecision(2));
}
