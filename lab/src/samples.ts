// Samples of a run, as columns by table: gathered, scaled and compared.

import type { Tables } from "./engine";

/** The column of a line, and what its values are multiplied by. */
export interface Drawn {
  table: string;
  column: string;
  instead?: string;
  scale: number;
}

/** Add samples to the columns of each table; a column that begins later than others has `null` in
 * the rows before. */
export function append(to: Tables, series: Tables): void {
  for (const [table, columns] of Object.entries(series)) {
    const known = to[table] ?? {};
    to[table] = known;
    const rows = known.time_s?.length ?? 0;
    for (const [name, values] of Object.entries(columns)) {
      const column = known[name] ?? [];
      known[name] = column;
      while (column.length < rows) {
        column.push(null);
      }
      column.push(...values);
    }
  }
}

/** The values of a line of a chart, in its unit; of `instead` where there is no such column. */
export function scaled(from: Tables, { table, column, instead, scale }: Drawn): (number | null)[] {
  const columns = from[table];
  const values = columns?.[column] ?? columns?.[instead ?? ""] ?? [];
  return values.map((value) => (value === null ? null : value * scale));
}

/** The differences of two columns; `null` where one of them has no value. */
export function minus(a: (number | null)[], b: (number | null)[]): (number | null)[] {
  return a.map((value, at) => {
    const other = b[at];
    return value === null || other === null || other === undefined ? null : value - other;
  });
}

/** The mean of the values that there are; 0 if there are none. */
export function mean(values: (number | null)[]): number {
  const known = values.filter((value) => value !== null);
  return known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
}
