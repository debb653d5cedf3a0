// The page: what the reader does becomes runs, and what runs show becomes pictures.

import { Controls } from "./controls";
import { change, command, request } from "./document";
import type { Scenario } from "./document";
import { byId, html } from "./dom";
import { ScenarioError } from "./engine";
import type { Described, Layout, Look, Problem, Result } from "./engine";
import { csv, png, save } from "./exporting";
import * as fragment from "./fragment";
import { grade, show as showLesson, showGrade } from "./lessons";
import type { Lesson } from "./lessons";
import { Player } from "./player";
import type { Catalogue, Pace } from "./protocol";
import { read, show } from "./quantity";
import { Tables } from "./tables";
import { Topology } from "./topology";
import { Traces } from "./traces";
import type { Threshold } from "./traces";

declare const WORKER: string;
declare const LESSONS: Lesson[];

/** Milliseconds after the last key before a text is read. */
const REST = 300;
/** Seconds that a whole run lasts at the speed that is set at first. */
const SPAN = 20;

class Page {
  private scenario: Scenario = { text: "", name: "page.toml", set: [], replication: 0 };
  private described: Described | null = null;
  private lesson: Lesson | null = null;
  private layout: Layout | null = null;
  private reached = 0;
  /** Up to where the run passes at once. */
  private from = 0;
  private result: Result | null = null;
  private playing = false;
  private player!: Player;
  private controls!: Controls;
  /** The last change of each parameter that waits while one is made. */
  private pending = new Map<string, string>();
  private changing = false;
  private readonly topology = new Topology(byId("topology"));
  private readonly traces = new Traces(byId("traces"));
  private readonly tables = new Tables(byId("live"), byId("final"));
  private readonly editor = byId<HTMLTextAreaElement>("editor");

  async open(): Promise<void> {
    const module = await compiled();
    await new Promise<void>((done) => {
      this.player = new Player(WORKER, module, this.audience(), (catalogue: Catalogue) => {
        this.controls ??= new Controls(byId("controls"), catalogue, (path, value) => {
          this.pending.set(path, value);
          void this.applyChanges();
        });
        done();
      });
    });
    this.listen();
    addEventListener("hashchange", () => void this.fromLink());
    await this.fromLink();
    document.body.dataset.ready = "true";
  }

  /** The scenario of the link, or the one that came with the page, or the first lesson. */
  private async fromLink(): Promise<void> {
    let damage = "";
    try {
      const shared = await fragment.read(location.hash);
      if (shared) {
        this.setLesson(null);
        await this.load({ ...shared, name: "link.toml" });
        return;
      }
    } catch (error) {
      damage = error instanceof Error ? error.message : String(error);
    }
    const given = givenScenario();
    if (given) {
      await this.load({ ...given, set: [], replication: 0 });
    } else if (LESSONS[0]) {
      await this.openLesson(LESSONS[0]);
    }
    if (damage) {
      this.complain(damage);
    }
  }

  private async openLesson(lesson: Lesson): Promise<void> {
    this.setLesson(lesson);
    const { id, scenario } = lesson;
    await this.load({ text: scenario, name: `${id}.toml`, set: [], replication: 0 });
  }

  private setLesson(lesson: Lesson | null): void {
    this.lesson = lesson;
    const root = byId("lesson-text");
    root.hidden = !lesson;
    byId<HTMLSelectElement>("lesson").value = lesson?.id ?? "";
    if (lesson) {
      showLesson(root, lesson);
    }
  }

  /** Take over another scenario, and run it from the beginning. */
  private async load(scenario: Scenario): Promise<void> {
    this.scenario = scenario;
    this.editor.value = scenario.text;
    byId<HTMLInputElement>("replication").value = String(scenario.replication);
    this.controls.forget();
    const described = await this.checked(scenario);
    if (described) {
      this.accept(scenario, described);
      this.start(0, true);
    }
  }

  /** What a scenario consists of; null if it is wrong, which is said then. */
  private async checked(scenario: Scenario): Promise<Described | null> {
    try {
      return await this.player.check(request(scenario));
    } catch (error) {
      this.showError(error);
      return null;
    }
  }

  private accept(scenario: Scenario, described: Described): void {
    this.scenario = scenario;
    this.described = described;
    this.complain(described.warnings.join("\n"));
    byId("name").textContent = described.name;
    if (this.editor.value !== scenario.text) {
      this.editor.value = scenario.text;
    }
    this.controls.show(described.resolved, scenario.text, this.lesson?.controls ?? []);
    const beside = byId("beside");
    beside.hidden = scenario.set.length === 0;
    beside.textContent = `Changed beside the text:\n${scenario.set.join("\n")}`;
  }

  /** Run from the beginning, at once up to the time `from`. */
  private start(from: number, playing: boolean): void {
    this.result = null;
    [this.from, this.reached] = [from, 0];
    this.setPlaying(playing);
    this.player.start(request(this.scenario), from, this.pace());
  }

  /** Run what has changed up to where the reader was, and further if it was playing. */
  private rerun(): void {
    // An earlier change may be on its way to there still.
    const reached = Math.max(this.reached, this.from);
    this.start(this.result ? Infinity : reached, this.playing);
  }

  /** Make the changes that wait, one after the other; the last of each parameter counts. */
  private async applyChanges(): Promise<void> {
    if (this.changing) {
      return;
    }
    this.changing = true;
    try {
      for (;;) {
        const next = this.pending.entries().next();
        if (next.done) {
          break;
        }
        const [path, value] = next.value;
        this.pending.delete(path);
        await this.changeOne(path, value);
      }
    } finally {
      this.changing = false;
    }
  }

  private async changeOne(path: string, value: string): Promise<void> {
    try {
      const [scenario, described] = await change(this.player, this.scenario, path, value);
      this.accept(scenario, described);
      this.rerun();
    } catch (error) {
      this.showError(error);
    }
  }

  private async readEditor(): Promise<void> {
    const text = this.editor.value;
    if (text === this.scenario.text) {
      return;
    }
    const scenario = { ...this.scenario, text };
    const described = await this.checked(scenario);
    if (described && text === this.editor.value) {
      this.accept(scenario, described);
      this.rerun();
    }
  }

  private audience() {
    return {
      begun: (layout: Layout): void => {
        const same = JSON.stringify(layout) === JSON.stringify(this.layout);
        this.layout = layout;
        const { capacities, thresholds } = lawsOf(this.described!.resolved, layout);
        this.topology.begin(layout, capacities, same);
        this.traces.begin(layout, thresholds);
        this.tables.begin(layout);
        byId("signature").replaceChildren();
      },
      look: (look: Look): void => {
        this.reached = look.counted.time_s;
        this.topology.look(look);
        this.traces.add(look.series);
        this.tables.look(look);
        this.tell();
      },
      over: (result: Result): void => {
        this.result = result;
        this.setPlaying(false);
        this.tables.over(result);
        this.sign(result);
        if (this.lesson) {
          showGrade(this.lesson, grade(this.lesson, result));
        }
      },
      wrong: (problem: Problem): void => this.showError(new ScenarioError(problem)),
      failed: (message: string): void => {
        this.player.stop();
        this.setPlaying(false);
        this.complain(message);
      },
    };
  }

  /** What this run is, and how it is had again. */
  private sign(result: Result): void {
    const file = this.scenario.name;
    const part = (name: string, value: string): (Node | string)[] => {
      return [` ${name} `, html("code", { "data-name": name }, value)];
    };
    byId("signature").replaceChildren(
      "This run:",
      ...part("digest", result.digest),
      ", ",
      ...part("scenario", result.scenario_hash),
      `, seed ${result.seed}, replication ${result.replication}, `,
      `${result.events.toLocaleString("en")} events. `,
      `The same on the command line, with the text as ${file}: `,
      html("code", {}, command(this.scenario, file)),
    );
  }

  private tell(): void {
    const duration = this.layout?.duration_s ?? 1;
    const [now, whole] = [this.reached, duration].map((value) => {
      return `${Number(value.toPrecision(3))} s`;
    });
    byId<HTMLProgressElement>("progress").value = this.reached / duration;
    byId("clock").textContent = `${now} of ${whole}`;
  }

  private pace(): Pace {
    const word = byId<HTMLSelectElement>("speed").value;
    const duration = this.described?.duration_s ?? 1;
    const speed = word === "max" ? null : word === "span" ? duration / SPAN : Number(word);
    return { playing: this.playing, speed };
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing;
    byId("play").textContent = playing ? "Pause" : "Play";
  }

  private showError(error: unknown): void {
    if (error instanceof ScenarioError) {
      const { message, path } = error.problem;
      this.editor.setAttribute("aria-invalid", "true");
      this.complain(path && !message.includes(path) ? `${path}: ${message}` : message, true);
    } else if (!(error instanceof Error && error.message === "stopped")) {
      this.complain(error instanceof Error ? error.message : String(error));
    }
  }

  private complain(message: string, wrong = false): void {
    const problem = byId("problem");
    problem.hidden = message === "";
    problem.textContent = message;
    if (!wrong) {
      this.editor.removeAttribute("aria-invalid");
    }
  }

  private toggle(): void {
    if (this.result) {
      this.start(0, true);
      return;
    }
    this.setPlaying(!this.playing);
    this.player.pace(this.pace());
  }

  private step(): void {
    if (this.playing) {
      this.toggle();
    }
    this.player.step();
  }

  private listen(): void {
    const on = (id: string, event: string, work: () => void): void =>
      byId(id).addEventListener(event, work);
    on("play", "click", () => this.toggle());
    on("step", "click", () => this.step());
    on("again", "click", () => this.start(0, true));
    on("stop", "click", () => {
      this.player.stop();
      this.setPlaying(false);
      this.result = null;
      this.reached = 0;
    });
    on("speed", "change", () => this.player.pace(this.pace()));
    on("keep", "change", () => this.traces.keep(byId<HTMLInputElement>("keep").checked));
    on("replication", "change", () => {
      const number = Math.max(0, Math.trunc(Number(byId<HTMLInputElement>("replication").value)));
      this.scenario = { ...this.scenario, replication: number || 0 };
      this.rerun();
    });
    let rest: ReturnType<typeof setTimeout>;
    on("editor", "input", () => {
      clearTimeout(rest);
      rest = setTimeout(() => void this.readEditor(), REST);
    });
    this.listenToKeys();
    this.listenToExports();
    this.listenToTabs();
    this.listenToLessons();
  }

  private listenToKeys(): void {
    addEventListener("keydown", (event) => {
      const target = event.target as HTMLElement;
      const busy = target.closest("input, textarea, select, button, summary, [role=tab]");
      if (busy || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      if (event.key === " ") {
        event.preventDefault();
        this.toggle();
      } else if (event.key === ".") {
        this.step();
      }
    });
  }

  private listenToLessons(): void {
    const select = byId<HTMLSelectElement>("lesson");
    LESSONS.forEach(({ id, title }) => select.append(html("option", { value: id }, title)));
    select.addEventListener("change", () => {
      const lesson = LESSONS.find(({ id }) => id === select.value);
      if (location.hash) {
        history.replaceState(null, "", location.pathname + location.search);
      }
      if (lesson) {
        void this.openLesson(lesson);
      } else {
        this.setLesson(null);
        const given = givenScenario();
        void this.load(given ? { ...given, set: [], replication: 0 } : this.scenario);
      }
    });
  }

  private listenToTabs(): void {
    const tabs = ["controls", "text"];
    const choose = (chosen: string): void => {
      for (const name of tabs) {
        const tab = byId(`tab-${name}`);
        tab.setAttribute("aria-selected", String(name === chosen));
        tab.tabIndex = name === chosen ? 0 : -1;
        byId(name).hidden = name !== chosen;
      }
    };
    for (const name of tabs) {
      byId(`tab-${name}`).addEventListener("click", () => choose(name));
      byId(`tab-${name}`).addEventListener("keydown", (event) => {
        if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
          const other = tabs.find((each) => each !== name)!;
          choose(other);
          byId(`tab-${other}`).focus();
        }
      });
    }
  }

  private listenToExports(): void {
    const stem = (): string => this.scenario.name.replace(/\.toml$/, "");
    const guarded = (work: () => Promise<void> | void) => async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        this.showError(error);
      }
    };
    const on = (id: string, work: () => Promise<void> | void): void =>
      byId(id).addEventListener("click", guarded(work));
    on("toml", () => {
      const { text, set } = this.scenario;
      const beside = set.length > 0 ? `# ${command(this.scenario, this.scenario.name)}\n` : "";
      save(`${stem()}.toml`, new Blob([beside, text], { type: "application/toml" }));
    });
    on("csv", () => save(`${stem()}.csv`, new Blob([csv(this.traces.tables)])));
    on("png", async () => {
      const caption = `${this.described?.name}: ${this.result?.digest ?? "not at its end"}`;
      const picture = await png(this.topology.picture(), this.traces.canvases(), caption);
      save(`${stem()}.png`, picture);
    });
    on("link", async () => {
      const { text, set, replication } = this.scenario;
      history.replaceState(null, "", await fragment.write({ text, set, replication }));
      await navigator.clipboard?.writeText(location.href).catch(() => undefined);
      byId("link").textContent = "In the address";
      setTimeout(() => (byId("link").textContent = "Copy link"), 2000);
    });
  }
}

/** The module, which the page holds compressed. */
async function compiled(): Promise<WebAssembly.Module> {
  const code = byId("module").textContent ?? "";
  const packed = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
  const bytes = await fragment.through(packed, new DecompressionStream("gzip"), 64_000_000);
  return WebAssembly.compile(bytes);
}

/** The scenario that came with the page. */
function givenScenario(): { text: string; name: string } | null {
  const text = byId("given").textContent?.trim() ?? "";
  return text.startsWith("{") ? JSON.parse(text) : null;
}

/** What queues hold, and what their laws go by, from the parameters of the scenario. */
function lawsOf(
  resolved: Record<string, string>,
  layout: Layout,
): { capacities: Map<string, number>; thresholds: Threshold[] } {
  const capacities = new Map<string, number>();
  const thresholds: Threshold[] = [];
  for (const { name } of layout.links) {
    const queue = `links.${name}.queue.`;
    for (const [path, value] of Object.entries(resolved)) {
      // Of the law itself, `red.limit`, and not of queues inside it.
      const [, key, ...deeper] = path.startsWith(queue) ? path.slice(queue.length).split(".") : [];
      const quantity = read(value);
      if (!key || deeper.length > 0 || quantity?.kind !== "packets") {
        continue;
      }
      if (key === "limit") {
        capacities.set(name, quantity.value);
      }
      if (key === "limit" || key.includes("threshold")) {
        const label = `${key.replace(/_/g, " ")}, ${show(quantity)}`;
        thresholds.push({ link: name, name: label, packets: quantity.value });
      }
    }
  }
  return { capacities, thresholds };
}

void new Page().open().catch((error) => {
  const problem = byId("problem");
  problem.hidden = false;
  problem.textContent = `The lab cannot start: ${error instanceof Error ? error.message : error}`;
});
