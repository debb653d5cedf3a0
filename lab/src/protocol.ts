// The messages between the page and its worker, and the catalogue of mechanisms.

import type {
  Changed,
  ChangeRequest,
  Delays,
  Described,
  Layout,
  Problem,
  Request,
  Result,
  Snapshot,
  StepReport,
} from "./engine";

/** The pace of a run: simulated seconds in a second, or `null` for no limit. */
export interface Pace {
  playing: boolean;
  speed: number | null;
}

export type ToWorker =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "check"; id: number; request: Request }
  | { kind: "change"; id: number; request: ChangeRequest }
  | { kind: "start"; id: number; request: Request; from: number; pace: Pace }
  | { kind: "pace"; pace: Pace }
  | { kind: "step" }
  | { kind: "event" };

export type FromWorker =
  | { kind: "ready"; catalogue: Catalogue }
  | { kind: "checked"; id: number; described: Described }
  | { kind: "changed"; id: number; changed: Changed }
  | { kind: "begun"; id: number; layout: Layout }
  | { kind: "snapshot"; id: number; snapshot: Snapshot }
  | { kind: "delays"; id: number; delays: Delays }
  | { kind: "stepped"; id: number; report: StepReport }
  | { kind: "over"; id: number; result: Result }
  | { kind: "wrong"; id: number; problem: Problem }
  | { kind: "failed"; message: string };

/** A parameter, as the schema of scenario files has it. */
export interface Field {
  name: string;
  meaning: string;
  kind: string;
  list: boolean;
  choices: string[];
  choice_meanings: string[];
  default: unknown;
  optional: boolean;
  source: string;
}

export interface Mechanism {
  name: string;
  summary: string;
  source: string;
  example: string;
  fields: Field[];
  probes: { name: string; unit: string; meaning: string }[];
}

export interface Catalogue {
  categories: { name: string; contract: string; place: string; entries: Mechanism[] }[];
  sections: { name: string; summary: string; fields: Field[]; mechanisms: string[] }[];
}
