// The scenario on the page: its text, and changes beside it that the text has no place for.

import type { Described, Request } from "./engine";
import { assignmentPath } from "./key-path";
import type { Player } from "./player";

/** A scenario, and the replication of it that is run. */
export interface Scenario {
  text: string;
  name: string;
  /** `PATH=VALUE` assignments on top of the text. */
  set: string[];
  replication: number;
}

/** Samples of a run: as many as a trace has room for. */
export const SAMPLES = 600;
/** Most memory that a run may take, in bytes: a module has 4 GB at most. */
const MEMORY = 1_500_000_000;

/** The request of a run to the engine. */
export function request(scenario: Scenario): Request {
  const { text, name, set, replication } = scenario;
  return { text, name, set, replication, samples: SAMPLES, max_memory: MEMORY };
}

/** The scenario with a parameter changed, and its description. Where it can be, the text changes,
 * and all else in it stays. Rejects with a `ScenarioError` if the value is not allowed. */
export async function change(
  player: Player,
  scenario: Scenario,
  path: string,
  value: string,
): Promise<[Scenario, Described]> {
  const before = request(scenario);
  const { text, set, described } = await player.change({
    scenario: before,
    path: assignmentPath(path),
    value,
  });
  return [{ ...scenario, text, set }, described];
}

/** The command that gives the same run. */
export function command({ set, replication }: Scenario, file: string): string {
  const words = ["forebay", "run", quoted(file)];
  for (const each of set) {
    words.push("--set", quoted(each));
  }
  if (replication > 0) {
    words.push("--replication", String(replication));
  }
  return words.join(" ");
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./=-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
