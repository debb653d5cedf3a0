// The engine: the functions of the WebAssembly module, with documents in place of bytes.

/** The fault of a scenario, or the reason why a run cannot continue. */
export interface Problem {
  message: string;
  path: string;
  line: number | null;
}

/** A scenario and how to run it: `Request` of crates/wasm. */
export interface Request {
  text: string;
  name: string;
  set?: string[];
  seed?: number;
  replication?: number;
  samples?: number;
  /** True if packets are to be seen one by one. */
  watched?: boolean;
  max_memory?: number;
}

/** A change of one parameter: `ChangeRequest` of crates/wasm. */
export interface ChangeRequest {
  scenario: Request;
  /** Key path and value, as in an assignment. */
  path: string;
  value: string;
}

/** A scenario after a change, and its description. */
export interface Changed {
  text: string;
  set: string[];
  described: Described;
}

export interface Described {
  name: string;
  scenario_hash: string;
  duration_s: number;
  warm_up_s: number;
  nodes: number;
  links: number;
  flows: number;
  expected_packets: number;
  expected_memory: number;
  resolved: Record<string, string>;
  warnings: string[];
}

export interface LinkLayout {
  name: string;
  from: string;
  to: string;
  rate_bps: number;
  delay_s: number;
  ring: boolean;
}

export interface FlowLayout {
  name: string;
  transport: string;
  count: number;
  there: string[];
  back: string[];
}

export interface Layout {
  links: LinkLayout[];
  flows: FlowLayout[];
  aggregates: string[];
  duration_s: number;
  warm_up_s: number;
  expected_packets: number;
}

export interface FlowCounts {
  name: string;
  sent_packets: number;
  delivered_packets: number;
  dropped_packets: number;
  marked_packets: number;
  retransmissions: number;
  timeouts: number;
}

export interface Counted {
  time_s: number;
  since_s: number;
  events: number;
  packet_hops: number;
  links: LinkCounts[];
  flows: FlowCounts[];
  calls: Row[];
}

export interface LinkCounts {
  name: string;
  drops: Record<string, number>;
  /** Drops in the warm-up, once that is over. */
  early_drops: Record<string, number>;
  marks: number;
  rate_bps: number;
}

/** Columns of numbers by table and name; null where there is no value. */
export type Tables = Record<string, Record<string, (number | null)[]>>;

/** Packets that crossed a link and drops, since the snapshot before: columns, with links and groups
 * by their numbers in the layout. */
export interface Packets {
  /** One in so many is here. */
  one_in: number;
  crossings: {
    link: number[];
    from_s: number[];
    to_s: number[];
    group: number[];
    class: number[];
    precedence: number[];
    marked: boolean[];
    feedback: boolean[];
  };
  drops: {
    link: number[];
    time_s: number[];
    reason: string[];
    group: number[];
    precedence: number[];
  };
}

export interface Snapshot {
  series: Tables;
  counted: Counted;
  packets: Packets | null;
}

/** An act of an event on a packet. */
export interface Fact {
  time_s: number;
  what: string;
  link: string | null;
  flow: string;
  number: number;
  size_bytes: number;
  precedence: number;
  marked: boolean;
  feedback: boolean;
  backlog_packets?: number;
  reason?: string;
  delay_s?: number;
}

/** The facts of the events of a step, and where the run is after it. */
export interface StepReport {
  facts: Fact[];
  events: number;
  arrived: boolean;
  over: boolean;
  packets: Packets | null;
}

/** Delays in seconds that the shares of all do not exceed, by group of flows. */
export interface Delays {
  shares: number[];
  groups: (number[] | null)[];
  /** The time at which counting began. */
  since_s: number;
}

export type Row = Record<string, unknown> & { name: string };

/** The document of `forebay run --json`, without what a clock says. */
export interface Result {
  name: string;
  digest: string;
  scenario_hash: string;
  version: string;
  seed: number;
  replication: number;
  simulated_s: number;
  measured_s: number;
  events: number;
  packet_hops: number;
  flows: Row[];
  groups: Row[];
  links: Row[];
  calls?: Row[];
}

/** A mistake of the user: it has a place in the scenario. */
export class ScenarioError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** The place of a run after a slice. */
export const Reached = { nothing: 0, sample: 1, end: 2, limit: 3 } as const;

interface Exports {
  memory: WebAssembly.Memory;
  prepare(): void;
  input(length: number): number;
  output(): number;
  output_length(): number;
  failure(): number;
  failure_length(): number;
  catalogue(): void;
  check(): void;
  change(): void;
  begin(): void;
  advance(events: number): number;
  reached(): number;
  look(): void;
  step(): void;
  delays(): void;
  result(): void;
}

/** One instance of the module, which holds one run at most. */
export class Engine {
  private readonly exports: Exports;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
    this.exports.prepare();
  }

  catalogue(): unknown {
    return this.call(() => this.exports.catalogue());
  }

  /** The description of a scenario; throws a `ScenarioError` if it is wrong. */
  check(request: Request): Described {
    this.write(request);
    return this.call(() => this.exports.check()) as Described;
  }

  /** The scenario with a parameter changed; throws a `ScenarioError` if the value is wrong. */
  change(request: ChangeRequest): Changed {
    this.write(request);
    return this.call(() => this.exports.change()) as Changed;
  }

  begin(request: Request): Layout {
    this.write(request);
    return this.call(() => this.exports.begin()) as Layout;
  }

  /** Continue for about so many events, at most to the next sample; what was reached. */
  advance(events: number): number {
    const reached = this.guarded(() => this.exports.advance(events));
    if (reached === Reached.limit) {
      this.answer();
    }
    return reached;
  }

  /** Simulated time of the last sample that was reached, in seconds. */
  reached(): number {
    return this.exports.reached();
  }

  look(): Snapshot {
    return this.call(() => this.exports.look()) as Snapshot;
  }

  /** Continue to the next event that is about a packet. */
  step(): StepReport {
    return this.call(() => this.exports.step()) as StepReport;
  }

  /** The distribution of delays so far. */
  delays(): Delays {
    return this.call(() => this.exports.delays()) as Delays;
  }

  result(): Result {
    return this.call(() => this.exports.result()) as Result;
  }

  private write(request: Request | ChangeRequest): void {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  private call(work: () => void): unknown {
    this.guarded(work);
    return this.answer();
  }

  private answer(): unknown {
    const document = JSON.parse(this.read(this.exports.output(), this.exports.output_length()));
    const problem = (document as { error?: Problem }).error;
    if (problem) {
      throw new ScenarioError(problem);
    }
    return document;
  }

  /** A failure of the engine stops the module; its reason is left behind. */
  private guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const reason = this.read(this.exports.failure(), this.exports.failure_length());
      throw new Error(reason ? `the engine failed: ${reason}` : String(error));
    }
  }

  private read(at: number, length: number): string {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }
}
