// Key paths as the engine's description of a scenario has them, and as assignments have them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assignmentPath, splitPath } from "../../src/key-path";

test("a path consists of its names", () => {
  assert.deepEqual(splitPath("duration"), ["duration"]);
  assert.deepEqual(splitPath("links.core.queue.red.limit"), [
    "links",
    "core",
    "queue",
    "red",
    "limit",
  ]);
});

test("a name in quotes may have dots, spaces and brackets", () => {
  assert.deepEqual(splitPath('links."up.link 1".rate'), ["links", "up.link 1", "rate"]);
  assert.deepEqual(splitPath("links.'a.b'.rate"), ["links", "a.b", "rate"]);
  assert.deepEqual(splitPath('flows."x[0]".count'), ["flows", "x[0]", "count"]);
  assert.deepEqual(splitPath('flows." x ".count'), ["flows", " x ", "count"]);
});

test("the number of a list's entry is part of its name", () => {
  assert.deepEqual(splitPath("queue.wfq.classes[1].limit"), [
    "queue",
    "wfq",
    "classes[1]",
    "limit",
  ]);
});

test("in an assignment the number of a list's entry is a name", () => {
  assert.equal(
    assignmentPath("links.a.queue.wfq.classes[1].limit"),
    "links.a.queue.wfq.classes.1.limit",
  );
  assert.equal(assignmentPath("a[0][12]"), "a.0.12");
  assert.equal(assignmentPath("links.a.rate"), "links.a.rate");
});

test("brackets in a quoted name stay in an assignment", () => {
  assert.equal(assignmentPath('flows."x[0]".traffic.on[1]'), 'flows."x[0]".traffic.on.1');
});
