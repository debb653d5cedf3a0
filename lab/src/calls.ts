// Calls that are let in or blocked, and what Erlang's formula gives for them.

import type { Threshold } from "./charts";
import type { Layout, Row } from "./engine";
import { splitPath } from "./key-path";
import { read } from "./quantity";

/** A group of calls that share lines in the way of Erlang's formula. */
export interface Theory {
  /** Offered load of all groups that share the lines, in erlang. */
  load: number;
  lines: number;
  /** Share of new calls that are blocked. */
  blocking: number;
}

/** Erlang's loss formula (1917): the share of calls that find all `lines` taken at an offered
 * load in erlang, by the recursion B(n) = A B(n-1) / (n + A B(n-1)) from B(0) = 1. */
export function erlangB(load: number, lines: number): number {
  let blocking = 1;
  for (let line = 1; line <= lines; line++) {
    blocking = (load * blocking) / (line + load * blocking);
  }
  return blocking;
}

/** The formula for each group of calls for which it holds: calls come one by one, at random and
 * for as long as the run lasts, from any number of sources, and a number of lines is all that
 * limits them. How long they last need not be exponential. */
export function theories(resolved: Record<string, string>, layout: Layout): Map<string, Theory> {
  const found = new Map<string, Theory>();
  const parameters = byName(resolved);
  const groups = layout.flows.filter(({ transport }) => transport === "calls");
  for (const name of layout.aggregates) {
    const lines = linesOf(parameters.get(`aggregates ${name}`) ?? new Map());
    const own = groups.flatMap((group) => {
      const of = parameters.get(`flows ${group.name}`);
      const aggregate = of?.get("aggregate");
      const member = aggregate === JSON.stringify(name) || aggregate === name;
      return of && member ? [{ group, of }] : [];
    });
    const loads = own.map(({ group, of }) => (group.count === 1 ? loadOf(of) : null));
    if (lines === null || loads.some((load) => load === null)) {
      continue;
    }
    const load = loads.reduce<number>((sum, each) => sum + each!, 0);
    const theory = { load, lines, blocking: erlangB(load, lines) };
    for (const { group } of own) {
      found.set(group.name, theory);
    }
  }
  return found;
}

/** Lines of the chart of blocking: the values of the formula. */
export function formulas(of: Map<string, Theory>): Threshold[] {
  return [...of].map(([place, { load, lines, blocking }]) => {
    const about = `${Number(load.toPrecision(3))} erlang, ${lines} lines`;
    const name = `Erlang's formula, ${about}: ${percent(blocking)}`;
    return { place, name, value: 100 * blocking, chart: "blocking" };
  });
}

/** The heads of the table of calls, and its rows. */
export function callTable(
  rows: Row[],
  of: Map<string, Theory>,
): { heads: string[]; rows: (string | number)[][] } {
  const heads = ["calls", "offered load", "lines", "mean present", "new", "blocked"];
  const cells = rows.map((row) => {
    const { name, admitted, blocked, refused, blocking_ratio: share, mean_present: mean } = row;
    const theory = of.get(name);
    const lost = Number(blocked) + Number(refused);
    const offered = Math.max(Number(admitted), Number(refused)) + Number(blocked);
    return [
      name,
      theory ? `${Number(theory.load.toPrecision(3))} erlang` : "",
      theory ? theory.lines : "",
      typeof mean === "number" ? mean.toPrecision(3) : "",
      offered,
      lost,
      offered > 0 ? percent(Number(share)) : "",
      theory ? percent(theory.blocking) : "does not hold here",
    ];
  });
  return { heads: [...heads, "share blocked", "Erlang's formula"], rows: cells };
}

/** The parameters of each aggregate and each group of flows, by their keys. */
function byName(resolved: Record<string, string>): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const [path, value] of Object.entries(resolved)) {
    if (/^(aggregates|flows)\./.test(path)) {
      const [section, name, ...keys] = splitPath(path);
      const known = found.get(`${section} ${name}`) ?? new Map();
      found.set(`${section} ${name}`, known.set(keys.join("."), value));
    }
  }
  return found;
}

/** The lines of an aggregate; null unless a number of lines is all that its admission goes by. */
function linesOf(aggregate: Map<string, string>): number | null {
  const lines = read(aggregate.get("admission.capacity.calls") ?? "");
  const others = [...aggregate].filter(([key, value]) => {
    return /^(termination|probing)(\.|$)/.test(key) && value !== "absent";
  });
  return lines && others.length === 0 ? lines.value : null;
}

/** The load that a group offers; null if it does not come as the formula has it. */
function loadOf(group: Map<string, string>): number | null {
  const number = (key: string): number | undefined => read(group.get(key) ?? "")?.value;
  const single = number("calls.batch") === 1 && group.get("calls.sources") === "absent";
  const plain = single && number("calls.media_delay") === 0;
  const surges = [...group.keys()].some((key) => key.startsWith("calls.surges"));
  const always = number("start") === 0 && group.get("stop") === "absent";
  const [rate, holding] = [number("calls.rate"), number("calls.holding")];
  return plain && !surges && always && rate && holding ? rate * holding : null;
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}
