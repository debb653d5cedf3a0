// A second run beside the first: the variant that was kept, on the same random numbers.

import type { DelayCdf } from "./cdf";
import type { Scenario } from "./document";
import { request } from "./document";
import type { Delays, Layout, Result, Snapshot, Tables } from "./engine";
import type { Limits } from "./laws";
import { Player } from "./player";
import type { Pace } from "./protocol";
import { append } from "./samples";
import { Topology } from "./topology";

/** The receiver of what the kept run reports. */
export interface KeptListener {
  snapshot(snapshot: Snapshot): void;
  over(result: Result): void;
}

/** The variant that was kept, in a worker of its own. */
export class Kept {
  /** All that was sampled of it. */
  readonly columns: Tables = {};
  result: Result | null = null;
  /** Simulated time that it has reached. */
  reached = 0;
  private player: Player;
  private readonly topology: Topology;

  constructor(
    place: { source: string; module: WebAssembly.Module; root: HTMLElement },
    private scenario: Scenario,
    private readonly about: { limits: Limits; cdf: DelayCdf; listener: KeptListener },
  ) {
    this.topology = new Topology(place.root);
    const { cdf, listener } = about;
    const nothing = (): void => undefined;
    const run = {
      begun: (layout: Layout): void => this.begin(layout),
      snapshot: (snapshot: Snapshot): void => {
        append(this.columns, snapshot.series);
        this.reached = snapshot.counted.time_s;
        this.topology.look(snapshot);
        listener.snapshot(snapshot);
      },
      delays: (delays: Delays): void => cdf.compare(delays),
      stepped: nothing,
      over: (result: Result): void => {
        this.result = result;
        listener.over(result);
      },
      // The scenario ran before: what ends it here is said where it runs next.
      wrong: nothing,
      failed: nothing,
    };
    this.player = new Player(place.source, place.module, run, nothing);
  }

  /** Run from the start, at once up to the time `from`. */
  start(from: number, pace: Pace): void {
    this.result = null;
    this.reached = 0;
    const watched = pace.speed !== null;
    this.player.start({ ...request(this.scenario), watched }, from, pace);
    this.topology.move(pace.playing);
  }

  /** Take other random numbers for the next start. */
  replicate(replication: number): void {
    this.scenario = { ...this.scenario, replication };
  }

  pace(pace: Pace): void {
    this.player.pace(pace);
    this.topology.move(pace.playing);
  }

  step(): void {
    this.player.step();
  }

  end(): void {
    this.player.end();
  }

  private begin(layout: Layout): void {
    for (const table of Object.keys(this.columns)) {
      delete this.columns[table];
    }
    this.topology.begin(layout, this.about.limits, false);
  }
}
