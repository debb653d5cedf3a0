// The scenario on the page: its text, and changes beside it that the text has no place for.

import type { Described, Request } from "./engine";
import type { Player } from "./player";
import { setValue, splitPath } from "./toml";

/** What is run. */
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

/** What the engine is asked for. */
export function request(scenario: Scenario): Request {
  const { text, name, set, replication } = scenario;
  return { text, name, set, replication, samples: SAMPLES, max_memory: MEMORY };
}

/** The scenario with a parameter changed, and what it consists of then. Where it can be, the text
 * is changed: if the engine reads the same from it as with the change beside it. Rejects with a
 * `ScenarioError` if the value is not allowed. */
export async function change(
  player: Player,
  scenario: Scenario,
  path: string,
  value: string,
): Promise<[Scenario, Described]> {
  // What was said of a mechanism goes with it.
  const stale = [`${path}=`, `${path}.`];
  const others = scenario.set.filter((each) => !stale.some((head) => each.startsWith(head)));
  const beside = { ...scenario, set: [...others, `${path}=${value}`] };
  const wanted = await player.check(request(beside));
  const text = setValue(scenario.text, splitPath(path), value);
  if (text !== null) {
    const inside = { ...scenario, text, set: others };
    const found = await player.check(request(inside)).catch(() => null);
    if (found && sameTree(found, wanted)) {
      return [inside, found];
    }
  }
  return [beside, wanted];
}

function sameTree(a: Described, b: Described): boolean {
  const [left, right] = [JSON.stringify(a.resolved), JSON.stringify(b.resolved)];
  return a.scenario_hash === b.scenario_hash && left === right;
}

/** The command that gives the same run. */
export function command({ set, replication }: Scenario, file: string): string {
  const words = ["forebay", "run", quoted(file)];
  set.forEach((each) => words.push("--set", quoted(each)));
  if (replication > 0) {
    words.push("--replication", String(replication));
  }
  return words.join(" ");
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./=-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
