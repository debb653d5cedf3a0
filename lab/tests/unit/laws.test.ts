// Limits of queues and the values that their laws go by, from the parameters of a scenario.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lawsOf } from "../../src/laws";
import { aboutLimit, classWords, levelOf } from "../../src/vessels";
import { layoutOf } from "./layout";

const LINK = { links: [{ name: "core" }] };

test("a queue has the limit of its law", () => {
  const { limits } = lawsOf({ "links.core.queue.droptail.limit": "50 packets" }, layoutOf(LINK));
  assert.deepEqual(limits.get("core"), { whole: { value: 50, kind: "packets" }, classes: [] });
});

test("the way back has a queue of its own", () => {
  const layout = layoutOf({ links: [{ name: "core" }, { name: "core.reverse" }] });
  const { limits } = lawsOf({ "links.core.reverse.queue.droptail.limit": "7 packets" }, layout);
  assert.equal(limits.get("core.reverse")?.whole?.value, 7);
  assert.equal(limits.has("core"), false);
});

test("of a queue inside a shaper the smaller limit counts", () => {
  const resolved = {
    "links.core.queue.tbf.limit": "100 packets",
    "links.core.queue.tbf.queue.droptail.limit": "40 packets",
  };
  assert.equal(lawsOf(resolved, layoutOf(LINK)).limits.get("core")?.whole?.value, 40);
});

test("limits of all classes are added up; those of some are shown one by one", () => {
  const class0 = { "links.core.queue.wfq.classes[0].limit": "10 packets" };
  const both = { ...class0, "links.core.queue.wfq.classes[1].limit": "30 packets" };
  const whole = lawsOf(both, layoutOf(LINK)).limits.get("core")!;
  assert.deepEqual(whole, { whole: { value: 40, kind: "packets" }, classes: [] });
  const some = { ...class0, "links.core.queue.wfq.classes[1].limit": "absent" };
  const limit = lawsOf(some, layoutOf(LINK)).limits.get("core")!;
  assert.deepEqual(limit, { whole: null, classes: [[0, { value: 10, kind: "packets" }]] });
  assert.equal(classWords(limit), "class 0: limit 10");
  assert.equal(aboutLimit(limit), "limit of class 0: 10 packets");
});

test("a threshold of a law is a line of the chart of queues", () => {
  const resolved = { "links.core.queue.red.min_threshold": "10 packets" };
  assert.deepEqual(lawsOf(resolved, layoutOf(LINK)).thresholds, [
    { place: "core", name: "min threshold, 10 packets", value: 10, chart: "queue" },
  ]);
});

test("a target is a delay beyond that of propagation", () => {
  const layout = layoutOf({
    links: [
      { name: "access", delay_s: 0.002 },
      { name: "core", delay_s: 0.01 },
    ],
    flows: [{ name: "bulk", there: ["access", "core"] }],
  });
  const { thresholds } = lawsOf({ "links.core.queue.codel.target": "5 ms" }, layout);
  assert.equal(thresholds[0]!.name, "target of 5 ms + 12 ms of propagation");
  // 2 ms and 10 ms on the way, 5 ms in the queue.
  assert.ok(Math.abs(thresholds[0]!.value - 17) < 1e-9);
  assert.equal(thresholds[0]!.chart, "delay");
});

test("a vessel with a limit ends there", () => {
  const limit = { whole: { value: 50, kind: "packets" as const }, classes: [] };
  const level = levelOf(10, 25, limit);
  assert.deepEqual(level, { now: 0.2, most: 0.5, closed: true, words: "10, limit 50" });
  assert.equal(levelOf(80, 80, limit).now, 1);
  assert.equal(aboutLimit(limit), "limit 50 packets");
});

test("a vessel without a limit, or with a far one, is open above what was seen", () => {
  const open = levelOf(5, 30, null);
  assert.equal(open.closed, false);
  assert.equal(open.words, "5, most 30");
  // The glass is the next of 1, 2, 5 times a power of ten: 50.
  assert.equal(open.most, 0.6);
  const deep = { whole: { value: 10_000, kind: "packets" as const }, classes: [] };
  assert.equal(levelOf(5, 62, deep).closed, false);
  assert.equal(levelOf(5, 62, deep).most, 0.62);
  assert.equal(levelOf(0, 6_000, deep).closed, true);
  assert.equal(aboutLimit(null), "no limit");
});

test("a limit of nothing is empty, and a number", () => {
  const none = { whole: { value: 0, kind: "packets" as const }, classes: [] };
  assert.deepEqual(levelOf(0, 0, none), { now: 0, most: 0, closed: true, words: "0, limit 0" });
});
