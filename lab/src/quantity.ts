// Quantities as the engine writes them, "34 Mbit/s" or "78 packets", as numbers and back.

/** A number in the base unit of its kind: bit/s, s, B, packets, or none. */
export interface Quantity {
  value: number;
  kind: Kind;
}

export type Kind = "rate" | "time" | "size" | "packets" | "frequency" | "number";

type Units = readonly (readonly [string, number])[];

const UNITS: Record<Kind, Units> = {
  rate: [
    ["Tbit/s", 1e12],
    ["Gbit/s", 1e9],
    ["Mbit/s", 1e6],
    ["kbit/s", 1e3],
    ["bit/s", 1],
  ],
  time: [
    ["h", 3600],
    ["min", 60],
    ["s", 1],
    ["ms", 1e-3],
    ["us", 1e-6],
    ["ns", 1e-9],
    ["ps", 1e-12],
  ],
  size: [
    ["TB", 1e12],
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
  ],
  packets: [["packets", 1]],
  frequency: [
    ["/s", 1],
    ["/min", 1 / 60],
    ["/h", 1 / 3600],
  ],
  number: [["", 1]],
};

/** Units that are read, and not chosen to write: a minute is rarely meant. */
const UNUSED = new Set(["h", "min", "TB", "/min", "/h"]);

const FORM = /^(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*([A-Za-z/]*)$/;

/** Read a quantity; null if the text is none. */
export function read(text: string): Quantity | null {
  const match = FORM.exec(text.trim());
  if (!match) {
    return null;
  }
  const unit = match[2] === "packet" ? "packets" : match[2]!;
  for (const [kind, units] of Object.entries(UNITS) as [Kind, Units][]) {
    const known = units.find(([name]) => name === unit);
    if (known) {
      return { value: Number(match[1]) * known[1], kind };
    }
  }
  return null;
}

/** Write a quantity in so many digits, in the unit that makes it short. */
export function show({ value, kind }: Quantity, digits = 4): string {
  const units = UNITS[kind].filter(([name]) => !UNUSED.has(name));
  const smallest = units[units.length - 1]!;
  const fallback = kind === "time" ? (["s", 1] as const) : smallest;
  const size = Math.abs(value);
  const [unit, factor] = units.find(([, factor]) => size >= factor * 0.99999) ?? fallback;
  const scaled = value / factor;
  // Bytes, bits and packets are whole.
  const whole = kind === "packets" || (factor === 1 && (kind === "size" || kind === "rate"));
  const number = whole ? Math.round(scaled) : Number(scaled.toPrecision(digits));
  return unit ? `${number} ${unit}` : `${number}`;
}

/** The same as a value of TOML: numbers are bare, quantities are quoted. */
export function literal(quantity: Quantity): string {
  const text = show(quantity);
  return quantity.kind === "number" ? text : `"${text}"`;
}
