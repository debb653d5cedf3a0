// The spread of replications: the 95 % confidence interval of the mean at each sample, from runs
// of the same scenario on other random numbers.

import type { Scenario } from "./document";
import { request } from "./document";
import type { Tables } from "./engine";
import { Player } from "./player";
import { append } from "./samples";

/** Replications of a band. */
export const REPLICATIONS = 10;
/** Student's t for 95 %, two-sided, by degrees of freedom from 1. */
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/** The edges of a band at each sample. */
export interface Band {
  time: (number | null)[];
  mean: Tables;
  low: Tables;
  high: Tables;
  replications: number;
}

/** Runs replications one after the other, in a worker of its own. */
export class Replications {
  private player: Player | null = null;
  private runs: Tables[] = [];

  constructor(
    private readonly source: string,
    private readonly module: WebAssembly.Module,
    /** Receives the band after each replication from the second on, or why there is none. */
    private readonly changed: (band: Band | string) => void,
  ) {}

  /** Begin with a scenario; what was under way is left. */
  begin(scenario: Scenario): void {
    this.end();
    this.next(scenario, 0);
  }

  end(): void {
    this.player?.end();
    this.player = null;
    this.runs = [];
  }

  private next(scenario: Scenario, number: number): void {
    const columns: Tables = {};
    const nothing = (): void => undefined;
    const listener = {
      begun: nothing,
      delays: nothing,
      stepped: nothing,
      snapshot: ({ series }: { series: Tables }): void => append(columns, series),
      over: (): void => {
        this.runs.push(columns);
        if (this.runs.length > 1) {
          this.changed(bandOf(this.runs));
        }
        if (number + 1 < REPLICATIONS) {
          run(number + 1);
        }
      },
      wrong: ({ message }: { message: string }): void => this.changed(message),
      failed: (message: string): void => this.changed(message),
    };
    const run = (which: number): void => {
      this.player?.end();
      this.next(scenario, which);
    };
    this.player = new Player(this.source, this.module, listener, nothing);
    const replication = scenario.replication + number;
    const wanted = { ...request({ ...scenario, replication }), watched: false };
    this.player.start(wanted, Infinity, { playing: true, speed: null });
  }
}

/** The interval of the mean of each column at each sample. */
export function bandOf(runs: Tables[]): Band {
  const [mean, low, high]: [Tables, Tables, Tables] = [{}, {}, {}];
  for (const [table, columns] of Object.entries(runs[0]!)) {
    [mean[table], low[table], high[table]] = [{}, {}, {}];
    for (const name of Object.keys(columns)) {
      const each = runs.map((run) => run[table]?.[name] ?? []);
      const edges = columns[name]!.map((_, at) => interval(each.map((column) => column[at])));
      mean[table]![name] = edges.map((edge) => edge && (edge[0] + edge[1]) / 2);
      low[table]![name] = edges.map((edge) => edge?.[0] ?? null);
      high[table]![name] = edges.map((edge) => edge?.[1] ?? null);
    }
  }
  const time = Object.values(runs[0]!)[0]?.time_s ?? [];
  return { time, mean, low, high, replications: runs.length };
}

/** The 95 % confidence interval of the mean of values; null of fewer than two. */
export function interval(values: (number | null | undefined)[]): [number, number] | null {
  const known = values.filter((value): value is number => typeof value === "number");
  if (known.length < 2) {
    return null;
  }
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const error = Math.sqrt(squares / (known.length - 1) / known.length);
  const half = STUDENT[known.length - 2]! * error;
  return [mean - half, mean + half];
}
