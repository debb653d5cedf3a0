// Where nodes are drawn: in layers along the ways of flows, or on a circle if there is a ring.

import type { Layout } from "./engine";

export interface Point {
  x: number;
  y: number;
}

/** Each node's place in a unit square: x along the ways of flows, y across. */
export function placeNodes(layout: Layout): Map<string, Point> {
  const ring = layout.links.filter((link) => link.ring);
  return ring.length > 0 ? onCircle(layout) : inLayers(layout);
}

function onCircle(layout: Layout): Map<string, Point> {
  const stations: string[] = [];
  for (const { from, to, ring } of layout.links) {
    for (const node of ring ? [from, to] : []) {
      if (!stations.includes(node)) {
        stations.push(node);
      }
    }
  }
  const places = new Map<string, Point>();
  stations.forEach((node, number) => {
    const angle = (2 * Math.PI * number) / stations.length - Math.PI / 2;
    places.set(node, { x: 0.5 + 0.36 * Math.cos(angle), y: 0.5 + 0.36 * Math.sin(angle) });
  });
  // Hosts stand outside their station.
  for (const { from, to } of layout.links) {
    const station = places.get(from) ?? places.get(to);
    for (const node of station ? [from, to] : []) {
      if (!places.has(node)) {
        const away = { x: station!.x - 0.5, y: station!.y - 0.5 };
        places.set(node, { x: 0.5 + 1.35 * away.x, y: 0.5 + 1.35 * away.y });
      }
    }
  }
  return places;
}

function inLayers(layout: Layout): Map<string, Point> {
  const depth = depths(layout);
  const layers: string[][] = [];
  for (const [node, at] of depth) {
    layers[at] = [...(layers[at] ?? []), node];
  }
  order(layers, layout);
  const places = new Map<string, Point>();
  layers.forEach((layer, at) => {
    layer.forEach((node, number) => {
      const x = layers.length > 1 ? at / (layers.length - 1) : 0.5;
      places.set(node, { x, y: (number + 0.5) / layer.length });
    });
  });
  return places;
}

/** The layer of each node: the longest way of any flow to it, without circles. */
function depths(layout: Layout): Map<string, number> {
  const links = new Map(layout.links.map((link) => [link.name, link]));
  const ways = layout.flows.map((flow) => flow.there.flatMap((name) => links.get(name) ?? []));
  const depth = new Map<string, number>();
  const all = new Set(layout.links.flatMap(({ from, to }) => [from, to]));
  // Where flows go both ways, the first decides which end is left.
  const seen = new Set<string>();
  const edges: [string, string][] = [];
  for (const { from, to } of ways.flat()) {
    if (!seen.has(`${to}\n${from}`) && !seen.has(`${from}\n${to}`)) {
      edges.push([from, to]);
    }
    seen.add(`${from}\n${to}`);
  }
  for (const { from, to } of layout.links) {
    if (!seen.has(`${to}\n${from}`) && !seen.has(`${from}\n${to}`)) {
      seen.add(`${from}\n${to}`);
      edges.push([from, to]);
    }
  }
  for (const node of all) {
    depth.set(node, 0);
  }
  for (let round = 0; round < all.size; round++) {
    let changed = false;
    for (const [from, to] of edges) {
      const wanted = depth.get(from)! + 1;
      if (depth.get(to)! < wanted && wanted < all.size) {
        depth.set(to, wanted);
        changed = true;
      }
    }
    if (!changed) {
      break;
    }
  }
  // A source stands just before what it feeds.
  for (const node of all) {
    const next = edges.filter(([from]) => from === node).map(([, to]) => depth.get(to)!);
    if (!edges.some(([, to]) => to === node) && next.length > 0) {
      depth.set(node, Math.max(0, Math.min(...next) - 1));
    }
  }
  const used = [...new Set(depth.values())].sort((a, b) => a - b);
  return new Map([...depth].map(([node, at]) => [node, used.indexOf(at)]));
}

/** Order each layer so that links cross less: by the mean place of neighbours, both ways. */
function order(layers: string[][], layout: Layout): void {
  for (let round = 0; round < 4; round++) {
    const place = new Map<string, number>();
    const number = (layer: string[]): void => {
      for (const [at, node] of layer.entries()) {
        place.set(node, (at + 0.5) / layer.length);
      }
    };
    layers.forEach(number);
    for (const layer of round % 2 ? [...layers].reverse() : layers) {
      const weight = new Map(
        layer.map((node) => {
          const near = layout.links.flatMap(({ from, to }) =>
            from === node ? [place.get(to)!] : to === node ? [place.get(from)!] : [],
          );
          const mean = near.reduce((sum, y) => sum + y, 0) / Math.max(1, near.length);
          return [node, mean] as const;
        }),
      );
      layer.sort((a, b) => weight.get(a)! - weight.get(b)!);
      number(layer);
    }
  }
}
