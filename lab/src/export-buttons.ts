// The buttons that hand the scenario, the samples and the picture on.

import type { Scenario } from "./document";
import { command } from "./document";
import { byId } from "./dom";
import type { Result, Tables } from "./engine";
import { csv, png, python, save } from "./exporting";
import * as fragment from "./fragment";
import type { Plot } from "./vector";
import { vector } from "./vector";

/** The contents of exported files. */
export interface Exported {
  scenario(): Scenario;
  /** The lesson that it is an answer to, if it is one. */
  lesson(): string | undefined;
  result(): Result | null;
  name(): string;
  tables(): Tables;
  drawing(): SVGSVGElement | null;
  /** The packets that are seen over the drawing. */
  dots(): SVGElement[];
  charts(): { title: string; canvas: HTMLCanvasElement }[];
  plots(): Plot[];
  wrong(error: unknown): void;
}

export class ExportButtons {
  constructor(private readonly of: Exported) {
    this.on("toml", () => this.toml());
    this.on("python", () => {
      this.save("py", new Blob([python(of.scenario())], { type: "text/x-python" }));
    });
    this.on("csv", () => this.save("csv", new Blob([csv(of.tables())], { type: "text/csv" })));
    this.on("png", async () => {
      this.save("png", await png(of.drawing(), of.dots(), of.charts(), this.caption()));
    });
    this.on("svg", () => {
      const picture = vector(of.drawing(), of.dots(), of.plots(), this.caption());
      this.save("svg", new Blob([picture], { type: "image/svg+xml" }));
    });
    this.on("link", () => this.link());
  }

  private on(id: string, work: () => Promise<void> | void): void {
    byId(id).addEventListener("click", () => {
      void (async () => work())().catch((error) => this.of.wrong(error));
    });
  }

  private save(kind: string, contents: Blob): void {
    save(`${this.of.scenario().name.replace(/\.toml$/, "")}.${kind}`, contents);
  }

  private caption(): string {
    return `${this.of.name()}: ${this.of.result()?.digest ?? "not at its end"}`;
  }

  private toml(): void {
    const scenario = this.of.scenario();
    const { text, set, name } = scenario;
    const beside = set.length > 0 ? `# ${command(scenario, name)}\n` : "";
    this.save("toml", new Blob([beside, text], { type: "application/toml" }));
  }

  private async link(): Promise<void> {
    const { text, set, replication } = this.of.scenario();
    const shared = { text, set, replication, lesson: this.of.lesson() };
    history.replaceState(null, "", await fragment.write(shared));
    await navigator.clipboard?.writeText(location.href).catch(() => undefined);
    byId("link").textContent = "In the address";
    setTimeout(() => (byId("link").textContent = "Copy link"), 2000);
  }
}
