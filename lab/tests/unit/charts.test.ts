// The charts of a network, and their units.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chartsOf, fitUnit, roomOf, unitOf } from "../../src/charts";
import { layoutOf } from "./layout";

test("a quantity has the unit that the end of its name says", () => {
  assert.deepEqual(unitOf("throughput_bps"), [1e-6, "Mbit/s"]);
  assert.deepEqual(unitOf("mean_delay_s"), [1e3, "ms"]);
  assert.deepEqual(unitOf("queue_bytes"), [1e-3, "kB"]);
  assert.deepEqual(unitOf("queue_packets"), [1, "packets"]);
  assert.deepEqual(unitOf("blocking_ratio"), [100, "%"]);
  assert.deepEqual(unitOf("alpha"), [1, ""]);
});

test("a chart of rates takes the unit in which the largest has few digits", () => {
  const layout = layoutOf({ flows: [{ name: "bulk" }] });
  const chart = chartsOf(layout, []).find(({ id }) => id === "throughput")!;
  assert.equal(fitUnit(chart, 5e6), false);
  assert.equal(chart.unit, "Mbit/s");
  assert.equal(fitUnit(chart, 64_000), true);
  assert.equal(chart.unit, "kbit/s");
  assert.equal(chart.places[0]!.lines[0]!.scale, 1e-3);
  assert.equal(fitUnit(chart, 50), true);
  assert.equal(chart.unit, "bit/s");
  assert.equal(fitUnit(chart, 0), false);
});

test("a chart of anything but rates keeps its unit", () => {
  const chart = chartsOf(layoutOf({ links: [{ name: "core" }] }), [])[0]!;
  assert.equal(fitUnit(chart, 1e9), false);
  assert.equal(chart.unit, "packets");
});

test("a network has a chart of queues, throughput, delay and what its transport has", () => {
  const ids = (of: Parameters<typeof layoutOf>[0]): string[] =>
    chartsOf(layoutOf(of), []).map(({ id }) => id);
  const common = ["queue", "throughput", "delay"];
  assert.deepEqual(ids({ flows: [{ name: "a", transport: "tcp" }] }), [...common, "window"]);
  assert.deepEqual(ids({ flows: [{ name: "a", transport: "udp" }] }), [...common, "drops"]);
  const calls = { flows: [{ name: "a", transport: "calls" }], aggregates: ["trunk"] };
  assert.deepEqual(ids(calls), ["blocking", ...common, "calls"]);
});

test("ways back of links are not drawn, and windows of TCP alone", () => {
  const charts = chartsOf(
    layoutOf({
      links: [{ name: "core" }, { name: "core.reverse" }],
      flows: [{ name: "bulk" }, { name: "voice", transport: "udp" }],
    }),
    [],
  );
  const names = (id: string): string[] =>
    charts.find((each) => each.id === id)!.places.map(({ name }) => name);
  assert.deepEqual(names("queue"), ["core"]);
  assert.deepEqual(names("window"), ["bulk"]);
  assert.deepEqual(names("throughput"), ["bulk", "voice"]);
});

test("a law that compares an average has that drawn beside the queue", () => {
  const threshold = { place: "core", name: "min threshold", value: 10, chart: "queue" as const };
  const layout = layoutOf({ links: [{ name: "core" }, { name: "edge" }] });
  const [queue] = chartsOf(layout, [threshold]);
  const lines = queue!.places.map((place) => place.lines.map(({ column }) => column));
  assert.deepEqual(lines, [["queue_packets", "average"], ["queue_packets"]]);
  // Two lines a place leave room for half as many places as seven lines are.
  assert.equal(roomOf(queue!), 3);
});

test("thresholds name their places where there are several", () => {
  const at = (place: string) => ({ place, name: "limit", value: 10, chart: "queue" as const });
  const layout = layoutOf({ links: [{ name: "core" }, { name: "edge" }] });
  assert.deepEqual(
    chartsOf(layout, [at("core")])[0]!.thresholds.map(({ name }) => name),
    ["limit"],
  );
  assert.deepEqual(
    chartsOf(layout, [at("core"), at("edge")])[0]!.thresholds.map(({ name }) => name),
    ["core limit", "edge limit"],
  );
});

test("lines of one colour differ in their dashes", () => {
  // Colours begin anew after seven.
  const flows = Array.from({ length: 14 }, (_, at) => ({ name: `f${at}` }));
  const chart = chartsOf(layoutOf({ flows }), []).find(({ id }) => id === "throughput")!;
  const dashes = chart.places.map(({ lines }) => JSON.stringify(lines[0]!.dash));
  for (let at = 0; at < 7; at++) {
    assert.notEqual(dashes[at], dashes[at + 7]);
  }
});
