// The tables of flows and links.

import type { Theory } from "./calls";
import { callTable } from "./calls";
import { html } from "./dom";
import type { Counted, FlowCounts, Layout, Result, Row, Snapshot } from "./engine";
import { show } from "./quantity";

/** Most groups of flows that are shown while a run lasts; at its end all are. */
const MOST_LIVE = 40;
/** Most flows whose delays are listed one by one. */
const MOST_FLOWS = 200;
const HEADS = [
  "flows",
  "throughput",
  "mean delay",
  "sent",
  "dropped",
  "marked",
  "retransmitted",
  "timeouts",
];

/** The columns that are compared. */
const COUNTS = [
  "sent_packets",
  "delivered_packets",
  "dropped_packets",
  "marked_packets",
  "retransmissions",
  "timeouts",
] as const satisfies (keyof FlowCounts)[];
const COUNT_HEADS = ["sent", "delivered", "dropped", "marked", "retransmitted", "timeouts"];

export class Tables {
  private layout: Layout | null = null;
  private counted: Counted | null = null;
  private kept: Counted | null = null;
  private theories = new Map<string, Theory>();

  constructor(
    private readonly calls: HTMLElement,
    private readonly live: HTMLElement,
    private readonly final: HTMLElement,
    private readonly difference: HTMLElement,
  ) {}

  /** Show how far what is counted differs from what the kept run has, or nothing of it. */
  compare(kept: Counted | null): void {
    this.kept = kept;
    this.compared();
  }

  private compared(): void {
    const [now, then] = [this.counted, this.kept];
    if (!now || !then) {
      this.difference.replaceChildren();
      return;
    }
    const before = new Map(then.flows.map((flow) => [flow.name, flow]));
    const rows = now.flows.slice(0, MOST_LIVE).flatMap((flow) => {
      const other = before.get(flow.name);
      return other ? [[flow.name, ...COUNTS.map((key) => against(flow[key], other[key]))]] : [];
    });
    const times = [now, then].map(({ time_s }) => show({ value: time_s, kind: "time" }));
    const caption =
      `This variant at ${times[0]} against the kept one at ${times[1]}, on the same random ` +
      `numbers: packets, and the difference${most(now.flows.length)}`;
    this.difference.replaceChildren(table(caption, ["flows", ...COUNT_HEADS], rows));
  }

  /** Begin with a network, and what Erlang's formula gives for its calls. */
  begin(layout: Layout, theories: Map<string, Theory>): void {
    this.layout = layout;
    this.theories = theories;
    this.calls.replaceChildren();
    this.final.replaceChildren();
  }

  private showCalls(rows: Row[], caption: string): void {
    if (rows.length > 0) {
      const { heads, rows: cells } = callTable(rows, this.theories);
      this.calls.replaceChildren(table(caption, heads, cells));
    }
  }

  /** A phrase for the time since which packets and calls are counted. */
  private since({ since_s: since }: Counted): string {
    const warmUp = this.layout?.warm_up_s ?? 0;
    const until = show({ value: warmUp, kind: "time" });
    if (warmUp === 0) {
      return "since the start";
    }
    return since < warmUp
      ? `in the warm-up, which results leave out: it ends at ${until}`
      : `since the end of the warm-up at ${until}`;
  }

  /** Show the counts so far, and rates of the last sample. */
  look({ series, counted }: Snapshot): void {
    this.counted = counted;
    this.compared();
    const rows = counted.flows.slice(0, MOST_LIVE).map((flow, at) => {
      const table = series[`series/flows.${flow.name}`];
      const last = (column: string): number | null => table?.[column]?.at(-1) ?? null;
      const about = this.layout?.flows[at];
      return [
        `${flow.name} (${kind(about?.count ?? 1, about?.transport ?? "")})`,
        rate(last("throughput_bps")),
        time(last("mean_delay_s")),
        flow.sent_packets,
        flow.dropped_packets,
        flow.marked_packets,
        flow.retransmissions,
        flow.timeouts,
      ];
    });
    const time_s = show({ value: counted.time_s, kind: "time" });
    const caption =
      `At ${time_s}: rates and delays of the last sample, packets ${this.since(counted)}` +
      most(counted.flows.length);
    this.showCalls(counted.calls, `Calls at ${time_s}: ${this.since(counted)}`);
    this.live.replaceChildren(table(caption, HEADS, rows));
  }

  /** The result of the whole run. */
  over(result: Result): void {
    const groups = result.groups.map((group) => [
      `${group.name} (${kind(Number(group.flows), String(group.transport))})`,
      rate(Number(group.throughput_bps)),
      time(Number(group.mean_delay_s)),
      Number(group.sent_packets),
      Number(group.dropped_packets),
      Number(group.marked_packets),
      Number(group.retransmissions),
      Number(group.timeouts),
    ]);
    const over = `means over ${show({ value: result.measured_s, kind: "time" })}`;
    const caption = `Result: ${over}${this.leaving()}`;
    this.showCalls(result.calls ?? [], `Calls, result: ${over}${this.leaving()}`);
    this.live.replaceChildren(table(caption, HEADS, groups));
    const heads = ["link", "used", "throughput", "mean queue", "longest", "drops", "marks"];
    const links = result.links.map((link) => [
      link.name,
      `${(100 * Number(link.utilization)).toFixed(1)} %`,
      rate(Number(link.throughput_bps)),
      `${Number(link.mean_queue_packets).toPrecision(3)} packets`,
      `${Number(link.max_queue_packets)} packets`,
      Number(link.drops),
      Number(link.marks),
    ]);
    const delays = ["flow", "goodput", "median delay", "95 %", "99 %"];
    const flows = result.flows
      .slice(0, MOST_FLOWS)
      .map((flow) => [
        flow.name,
        rate(Number(flow.goodput_bps)),
        time(Number(flow.p50_delay_s)),
        time(Number(flow.p95_delay_s)),
        time(Number(flow.p99_delay_s)),
      ]);
    this.final.replaceChildren(table(`Links${this.leaving()}`, heads, links));
    if (flows.length > 0) {
      const all = result.flows.length;
      const first = all > MOST_FLOWS ? `, the first ${MOST_FLOWS} of ${all}` : "";
      this.final.append(table(`Flows${first}${this.leaving()}`, delays, flows));
    }
  }

  /** A phrase that results leave the warm-up out, where there is one. */
  private leaving(): string {
    const warmUp = this.layout?.warm_up_s ?? 0;
    const until = show({ value: warmUp, kind: "time" });
    return warmUp > 0 ? `, without the warm-up, which ended at ${until}` : "";
  }
}

function table(caption: string, heads: string[], rows: (string | number)[][]): HTMLElement {
  const head = html("tr", {}, ...heads.map((word) => html("th", { scope: "col" }, word)));
  const body = rows.map(([name, ...cells]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, String(name)),
      ...cells.map((cell) => html("td", {}, typeof cell === "number" ? grouped(cell) : cell)),
    ),
  );
  const inner = html(
    "table",
    {},
    html("caption", {}, caption),
    html("thead", {}, head),
    html("tbody", {}, ...body),
  );
  const about = { class: "scroll", tabindex: 0, role: "region", "aria-label": caption };
  return html("div", about, inner);
}

/** A phrase that groups are left out, while a run lasts. */
function most(groups: number): string {
  return groups > MOST_LIVE ? `; the first ${MOST_LIVE} of ${groups} groups` : "";
}

/** The contents of a group; calls come and go, and are not counted as flows. */
function kind(count: number, transport: string): string {
  return transport === "calls" ? transport : `${count} ${transport}`;
}

/** A count, and how far it is from another. */
function against(now: number, then: number): string {
  const sign = now > then ? "+" : now < then ? "\u2212" : "\u00b1";
  return `${grouped(now)} (${sign}${grouped(Math.abs(now - then))})`;
}

function rate(bps: number | null): string {
  return bps === null ? "" : show({ value: bps, kind: "rate" }, 3);
}

function time(seconds: number | null): string {
  return seconds === null ? "" : show({ value: seconds, kind: "time" }, 3);
}

function grouped(value: number): string {
  return value.toLocaleString("en");
}
