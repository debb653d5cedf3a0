// Confidence intervals of means: Student's t, two-sided, 95 %, as printed in tables.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bandOf, interval } from "../../src/band";

const near = (value: number | null | undefined, expected: number): void =>
  assert.ok(typeof value === "number" && Math.abs(value - expected) < 1e-9, `${value}`);

test("the interval of three values goes by two degrees of freedom", () => {
  // Mean 2, standard deviation 1, t = 4.303.
  const [low, high] = interval([1, 2, 3])!;
  near(low, 2 - 4.303 / Math.sqrt(3));
  near(high, 2 + 4.303 / Math.sqrt(3));
});

test("the interval of ten values goes by nine degrees of freedom", () => {
  // 1 to 10: mean 5.5, variance 82.5 / 9, t = 2.262.
  const [low, high] = interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])!;
  near(high - low, 2 * 2.262 * Math.sqrt(82.5 / 9 / 10));
  near((low + high) / 2, 5.5);
});

test("values that are missing are left out", () => {
  assert.deepEqual(interval([1, null, 3, undefined]), interval([1, 3]));
});

test("one value has no interval", () => {
  assert.equal(interval([4, null]), null);
  assert.equal(interval([]), null);
});

test("a band has the interval of each sample of each column", () => {
  const runs = [
    { a: { time_s: [1, 2], x: [4, 1] } },
    { a: { time_s: [1, 2], x: [4, 3] } },
    { a: { time_s: [1], x: [4] } },
  ];
  const { time, mean, low, high, replications } = bandOf(runs);
  assert.equal(replications, 3);
  assert.deepEqual(time, [1, 2]);
  assert.deepEqual(mean.a!.x, [4, 2]);
  near(low.a!.x![0], 4);
  near(high.a!.x![0], 4);
  // Of the two runs that last so long: standard deviation sqrt(2), t = 12.706.
  near(high.a!.x![1], 2 + 12.706);
});
