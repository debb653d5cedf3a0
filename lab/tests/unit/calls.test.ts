// Erlang's loss formula, and where it holds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { callTable, erlangB, formulas, theories } from "../../src/calls";
import { layoutOf } from "./layout";

/** The formula as Erlang wrote it in 1917: (A^n / n!) over the sum of A^k / k!. */
function asWritten(load: number, lines: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; k <= lines; k++) {
    term *= load / k;
    sum += term;
  }
  return term / sum;
}

const PLAIN: Record<string, string> = {
  "aggregates.trunk.admission.capacity.calls": "10",
  "flows.phones.aggregate": '"trunk"',
  "flows.phones.calls.batch": "1",
  "flows.phones.calls.sources": "absent",
  "flows.phones.calls.media_delay": "0 s",
  "flows.phones.calls.rate": "0.1 /s",
  "flows.phones.calls.holding": "100 s",
  "flows.phones.start": "0 s",
  "flows.phones.stop": "absent",
};
const LAYOUT = layoutOf({ flows: [{ name: "phones", transport: "calls" }], aggregates: ["trunk"] });

test("the recursion gives what the formula says", () => {
  for (const [load, lines] of [
    [10, 10],
    [10, 18],
    [0.5, 1],
    [100, 117],
  ] as const) {
    assert.ok(Math.abs(erlangB(load, lines) / asWritten(load, lines) - 1) < 1e-12);
  }
  // Of one line that is offered as much as it can carry, half of the calls are lost.
  assert.equal(erlangB(1, 1), 0.5);
  assert.equal(erlangB(3, 0), 1);
});

test("the formula holds for calls at random that share lines", () => {
  const theory = theories(PLAIN, LAYOUT).get("phones")!;
  assert.equal(theory.load, 10);
  assert.equal(theory.lines, 10);
  assert.equal(theory.blocking, erlangB(10, 10));
});

test("the formula holds for the load of all groups that share the lines", () => {
  const layout = layoutOf({
    flows: [
      { name: "phones", transport: "calls" },
      { name: "more", transport: "calls" },
    ],
    aggregates: ["trunk"],
  });
  const more = Object.entries(PLAIN)
    .filter(([path]) => path.startsWith("flows.phones"))
    .map(([path, value]) => [path.replace("phones", "more"), value]);
  const found = theories({ ...PLAIN, ...Object.fromEntries(more) }, layout);
  assert.equal(found.get("phones")!.load, 20);
  assert.equal(found.get("more")!.load, 20);
});

test("the formula does not hold where calls come or are admitted otherwise", () => {
  const others: Record<string, string>[] = [
    { "flows.phones.calls.batch": "2" },
    { "flows.phones.calls.sources": "40" },
    { "flows.phones.calls.media_delay": "1 s" },
    { "flows.phones.calls.surges[0].factor": "2" },
    { "flows.phones.start": "5 s" },
    { "flows.phones.stop": "60 s" },
    { "flows.phones.calls.holding": "absent" },
    { "aggregates.trunk.admission.capacity.calls": "absent" },
    { "aggregates.trunk.termination": "chosen" },
    { "aggregates.trunk.probing.packets": "5" },
  ];
  for (const other of others) {
    assert.equal(theories({ ...PLAIN, ...other }, LAYOUT).size, 0, JSON.stringify(other));
  }
});

test("a line of the chart of blocking is a percentage with its name", () => {
  const [line] = formulas(new Map([["phones", { load: 10, lines: 10, blocking: 0.2 }]]));
  assert.equal(line!.value, 20);
  assert.equal(line!.name, "Erlang's formula, 10 erlang, 10 lines: 20 %");
  assert.equal(line!.place, "phones");
  assert.equal(line!.chart, "blocking");
});

test("the table of calls counts all that were offered and all that were lost", () => {
  const row = {
    name: "phones",
    admitted: 60,
    blocked: 40,
    refused: 0,
    blocking_ratio: 0.4,
    mean_present: 6.543,
  };
  const { heads, rows } = callTable(
    [row, { ...row, name: "other" }],
    new Map([["phones", { load: 10, lines: 10, blocking: 0.25 }]]),
  );
  const shown = Object.fromEntries(heads.map((head, at) => [head, rows[0]![at]]));
  assert.equal(shown.new, 100);
  assert.equal(shown.blocked, 40);
  assert.equal(shown["share blocked"], "40 %");
  assert.equal(shown["Erlang's formula"], "25 %");
  assert.equal(shown["mean present"], "6.54");
  assert.equal(rows[1]!.at(-1), "does not hold here");
});
