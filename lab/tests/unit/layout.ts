// Layouts of networks for tests.

import type { FlowLayout, Layout, LinkLayout } from "../../src/engine";

/** A layout of these links and flows, of 10 s without a warm-up. */
export function layoutOf(of: {
  links?: (Pick<LinkLayout, "name"> & Partial<LinkLayout>)[];
  flows?: (Pick<FlowLayout, "name"> & Partial<FlowLayout>)[];
  aggregates?: string[];
}): Layout {
  const link = { from: "a", to: "b", rate_bps: 1e7, delay_s: 0.01, ring: false };
  const flow = { transport: "tcp", count: 1, there: [], back: [] };
  return {
    links: (of.links ?? []).map((each) => ({ ...link, ...each })),
    flows: (of.flows ?? []).map((each) => ({ ...flow, ...each })),
    aggregates: of.aggregates ?? [],
    duration_s: 10,
    warm_up_s: 0,
    expected_packets: 1000,
  };
}
