// Places of nodes in a unit square: along the ways of flows, or on a circle.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeNodes } from "../../src/places";
import { layoutOf } from "./layout";

test("nodes stand along the way of a flow", () => {
  const places = placeNodes(
    layoutOf({
      links: [
        { name: "second", from: "b", to: "c" },
        { name: "first", from: "a", to: "b" },
      ],
      flows: [{ name: "bulk", there: ["first", "second"] }],
    }),
  );
  assert.deepEqual(places.get("a"), { x: 0, y: 0.5 });
  assert.deepEqual(places.get("b"), { x: 0.5, y: 0.5 });
  assert.deepEqual(places.get("c"), { x: 1, y: 0.5 });
});

test("a way there and back is one way", () => {
  const places = placeNodes(
    layoutOf({
      links: [
        { name: "wire", from: "a", to: "b" },
        { name: "wire.reverse", from: "b", to: "a" },
      ],
      flows: [{ name: "bulk", there: ["wire"], back: ["wire.reverse"] }],
    }),
  );
  assert.equal(places.get("a")!.x, 0);
  assert.equal(places.get("b")!.x, 1);
});

test("nodes of a layer stand apart, and links between layers do not cross", () => {
  const places = placeNodes(
    layoutOf({
      links: [
        { name: "a1", from: "a1", to: "b1" },
        { name: "a2", from: "a2", to: "b2" },
        { name: "b2", from: "b2", to: "c2" },
        { name: "b1", from: "b1", to: "c1" },
      ],
      flows: [
        { name: "two", there: ["a2", "b2"] },
        { name: "one", there: ["a1", "b1"] },
      ],
    }),
  );
  const above = (layer: string): boolean => places.get(`${layer}1`)!.y < places.get(`${layer}2`)!.y;
  assert.notEqual(places.get("a1")!.y, places.get("a2")!.y);
  assert.equal(above("a"), above("b"));
  assert.equal(above("b"), above("c"));
});

test("a circle of links has its places, too", () => {
  const places = placeNodes(
    layoutOf({
      links: [
        { name: "ab", from: "a", to: "b" },
        { name: "bc", from: "b", to: "c" },
        { name: "ca", from: "c", to: "a" },
      ],
      flows: [{ name: "around", there: ["ab", "bc", "ca"] }],
    }),
  );
  assert.equal(places.size, 3);
  for (const { x, y } of places.values()) {
    assert.ok(x >= 0 && x <= 1 && y >= 0 && y <= 1);
  }
});

test("stations of a ring stand on a circle, and their hosts outside it", () => {
  const stations = ["s0", "s1", "s2", "s3"];
  const spans = stations.map((from, at) => {
    return { name: `span${at}`, from, to: stations[(at + 1) % 4]!, ring: true };
  });
  const layout = layoutOf({ links: [...spans, { name: "access", from: "host", to: "s1" }] });
  const places = placeNodes(layout);
  const away = (name: string): number => {
    const { x, y } = places.get(name)!;
    return Math.hypot(x - 0.5, y - 0.5);
  };
  for (const station of stations) {
    assert.ok(Math.abs(away(station) - away("s0")) < 1e-12);
  }
  // Neighbours are a quarter of the circle apart.
  const [first, second] = [places.get("s0")!, places.get("s1")!];
  const span = Math.hypot(first.x - second.x, first.y - second.y);
  assert.ok(Math.abs(span - Math.SQRT2 * away("s0")) < 1e-12);
  assert.ok(away("host") > away("s1"));
});
