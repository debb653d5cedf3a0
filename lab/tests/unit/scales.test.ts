// Scales of axes and sliders: 16 times up and down in equal factors, 8 % of room above.

import assert from "node:assert/strict";
import { test } from "node:test";
import { digits, STEPS, scaleOf, upright } from "../../src/scales";

const near = (value: number, expected: number): void =>
  assert.ok(Math.abs(value - expected) <= 1e-9 * Math.abs(expected), `${value}, not ${expected}`);

test("an upright axis begins at zero and has room above", () => {
  const [low, high] = upright(2, 10);
  assert.equal(low, 0);
  near(high, 10.8);
});

test("an upright axis goes below zero where values do", () => {
  const [low, high] = upright(-5, -1);
  near(low, -5.4);
  assert.equal(high, 0);
});

test("an upright axis without values, or of nothing but zero, is no point", () => {
  assert.deepEqual(upright(null, null), [0, 1]);
  assert.deepEqual(upright(0, 0), [0, 1]);
});

test("numbers on axes have three digits, and powers of ten outside 0.001 to a million", () => {
  assert.equal(digits(0), "0");
  assert.equal(digits(1.2345), "1.23");
  assert.equal(digits(-0.001), "-0.001");
  assert.equal(digits(0.0005), "5.0e-4");
  assert.equal(digits(1e6), "1.0e+6");
  assert.equal(digits(123456), "123000");
});

test("a slider begins in its middle and leads sixteen times up and down", () => {
  const scale = scaleOf({ value: 8e6, kind: "rate" }, "links.a.rate");
  near(scale.to(8e6), STEPS / 2);
  near(scale.from(0), 5e5);
  // 128 Mbit/s in two digits.
  near(scale.from(STEPS), 1.3e8);
  near(scale.to(16e6) - scale.to(8e6), STEPS / 8);
});

test("a share is at most 1", () => {
  const scale = scaleOf({ value: 0.25, kind: "number" }, "links.a.queue.red.max_probability");
  near(scale.from(STEPS), 1);
  const other = scaleOf({ value: 0.25, kind: "number" }, "flows.a.traffic.on_off.shape");
  near(other.from(STEPS), 4);
});

test("packets, bytes and whole numbers are whole, and one at least", () => {
  for (const kind of ["packets", "number"] as const) {
    const scale = scaleOf({ value: 8, kind }, "flows.a.count");
    assert.equal(scale.from(0), 1);
    assert.equal(scale.from(STEPS), 128);
    for (let step = 0; step <= STEPS; step += 10) {
      assert.ok(Number.isInteger(scale.from(step)));
    }
  }
  near(scaleOf({ value: 8, kind: "size" }, "flows.a.tcp.mss").from(0), 1);
});

test("a slider that begins at zero has equal steps from there", () => {
  const scale = scaleOf({ value: 0, kind: "rate" }, "links.a.rate");
  assert.equal(scale.from(0), 0);
  near(scale.from(STEPS), 1e7);
  near(scale.from(STEPS / 2), 5e6);
  near(scale.to(5e6), STEPS / 2);
});

test("a step leads back to its value, but for the digits of a slider", () => {
  const scale = scaleOf({ value: 0.02, kind: "time" }, "links.a.delay");
  for (let step = 0; step <= STEPS; step += 20) {
    const again = scale.to(scale.from(step));
    // Two digits are 5 % at most, of 256 in all.
    assert.ok(Math.abs(again - step) <= (STEPS * Math.log(1.05)) / Math.log(256));
  }
});
