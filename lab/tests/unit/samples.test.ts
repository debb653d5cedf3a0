// Columns of samples: a row for each time, `null` where there is no value.

import assert from "node:assert/strict";
import { test } from "node:test";
import { append, mean, minus, scaled } from "../../src/samples";

test("samples are added at the end of their columns", () => {
  const to = {};
  append(to, { a: { time_s: [1, 2], x: [5, 6] } });
  append(to, { a: { time_s: [3], x: [7] }, b: { time_s: [3] } });
  assert.deepEqual(to, { a: { time_s: [1, 2, 3], x: [5, 6, 7] }, b: { time_s: [3] } });
});

test("a column that begins later has no values before", () => {
  const to = {};
  append(to, { a: { time_s: [1, 2] } });
  append(to, { a: { time_s: [3], x: [7] } });
  assert.deepEqual(to, { a: { time_s: [1, 2, 3], x: [null, null, 7] } });
});

test("a line is its column in the unit of its chart", () => {
  const from = { a: { x: [1, null, 3], y: [4] } };
  assert.deepEqual(scaled(from, { table: "a", column: "x", scale: 10 }), [10, null, 30]);
});

test("where a line has no column, another one stands for it, or none", () => {
  const from = { a: { y: [4] } };
  const line = { table: "a", column: "x", instead: "y", scale: 1 };
  assert.deepEqual(scaled(from, line), [4]);
  assert.deepEqual(scaled(from, { ...line, instead: "z" }), []);
  assert.deepEqual(scaled(from, { ...line, table: "b" }), []);
});

test("a difference is where both have a value", () => {
  assert.deepEqual(minus([5, 6, null, 8], [1, null, 3]), [4, null, null, null]);
});

test("a mean is of the values that there are", () => {
  assert.equal(mean([1, null, 3]), 2);
  assert.equal(mean([null]), 0);
  assert.equal(mean([]), 0);
});
