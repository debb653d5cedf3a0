// Quantities as the engine writes them: units are those of the reference of scenario files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kind, literal, read, show } from "../../src/quantity";

test("a quantity is read in the base unit of its kind", () => {
  const known: [string, number, Kind][] = [
    ["34 Mbit/s", 34e6, "rate"],
    ["1.5 Gbit/s", 1.5e9, "rate"],
    ["2.5 ms", 0.0025, "time"],
    ["3 min", 180, "time"],
    ["45 kB", 45e3, "size"],
    ["78 packets", 78, "packets"],
    ["1 packet", 1, "packets"],
    ["450 /h", 0.125, "frequency"],
    ["0.002", 0.002, "number"],
    ["-3", -3, "number"],
    ["1e-3 s", 1e-3, "time"],
    [" 10 B ", 10, "size"],
  ];
  for (const [text, value, kind] of known) {
    const found = read(text);
    assert.equal(found?.kind, kind, text);
    assert.ok(Math.abs(found.value - value) <= 1e-12 * Math.abs(value), text);
  }
});

test("what is no quantity is none", () => {
  for (const text of [
    "",
    "ten",
    "10 Mb",
    "absent",
    "10 Mbit/s 5",
    "1.",
    ".5",
    "true",
    "10 mbit/s",
  ]) {
    assert.equal(read(text), null, text);
  }
});

test("a quantity is written in the unit that makes it short", () => {
  assert.equal(show({ value: 2.5e6, kind: "rate" }), "2.5 Mbit/s");
  assert.equal(show({ value: 0.25, kind: "time" }), "250 ms");
  assert.equal(show({ value: 0, kind: "time" }), "0 s");
  assert.equal(show({ value: 0, kind: "rate" }), "0 bit/s");
  assert.equal(show({ value: 1e3, kind: "size" }), "1 kB");
  assert.equal(show({ value: 0.3, kind: "number" }), "0.3");
});

test("minutes and hours are not written", () => {
  assert.equal(show({ value: 5400, kind: "time" }), "5400 s");
  assert.equal(show({ value: 0.125, kind: "frequency" }), "0.125 /s");
});

test("packets, bytes and bits are whole", () => {
  assert.equal(show({ value: 7.6, kind: "packets" }), "8 packets");
  assert.equal(show({ value: 99.5, kind: "size" }), "100 B");
  assert.equal(show({ value: 10.2, kind: "rate" }), "10 bit/s");
});

test("so many digits are written as are asked for", () => {
  assert.equal(show({ value: 1234567, kind: "rate" }, 3), "1.23 Mbit/s");
  assert.equal(show({ value: 1234567, kind: "rate" }), "1.235 Mbit/s");
});

test("what is written is read as the same", () => {
  const kinds: Kind[] = ["rate", "time", "size", "packets", "frequency", "number"];
  for (const kind of kinds) {
    for (let power = 0; power < 12; power++) {
      const value = 3 * 10 ** power;
      const again = read(show({ value, kind }));
      assert.equal(again?.kind, kind);
      assert.ok(Math.abs(again.value - value) < 1e-9 * value, `${value} ${kind}`);
    }
  }
});

test("in TOML, numbers are bare and quantities are quoted", () => {
  assert.equal(literal({ value: 0.5, kind: "number" }), "0.5");
  assert.equal(literal({ value: 0.002, kind: "time" }), '"2 ms"');
});
