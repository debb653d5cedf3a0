// The page: what the reader does becomes runs, and what runs show becomes pictures.

import { REPLICATIONS, Replications } from "./band";
import { formulas, theories } from "./calls";
import { DelayCdf } from "./cdf";
import { Kept } from "./compare";
import { Controls } from "./controls";
import type { Scenario } from "./document";
import { change, command, request } from "./document";
import { byId, html } from "./dom";
import { compiled, givenScenario } from "./embedded";
import type {
  Delays,
  Described,
  Fact,
  Layout,
  Problem,
  Result,
  Snapshot,
  StepReport,
} from "./engine";
import { ScenarioError } from "./engine";
import { ExportButtons } from "./export-buttons";
import * as fragment from "./fragment";
import { listenToKeys } from "./keys";
import { lawsOf } from "./laws";
import type { Lesson } from "./lessons";
import { grade, showGrade, show as showLesson, withdrawGrade } from "./lessons";
import { Player, type RunListener } from "./player";
import type { Catalogue, Pace } from "./protocol";
import { show } from "./quantity";
import { sentence } from "./sentences";
import { Tables } from "./tables";
import { listenToTabs } from "./tabs";
import { Topology } from "./topology";
import { Traces } from "./traces";

declare const WORKER: string;
declare const LESSONS: Lesson[];

/** Milliseconds after the last key before a text is read. */
const REST = 300;
/** Milliseconds after the last change before packets are looked for again, and most packets of a
 * run in which they always are: seeing them takes three times as long. */
const SETTLED = 600;
const FEW_PACKETS = 100_000;
/** Seconds that a whole run lasts at the speed that is set at first. */
const SPAN = 20;

class Page {
  private scenario: Scenario = { text: "", name: "page.toml", set: [], replication: 0 };
  private described: Described | null = null;
  private lesson: Lesson | null = null;
  private layout: Layout | null = null;
  private reached = 0;
  /** The time up to which the run passes at once. */
  private from = 0;
  private result: Result | null = null;
  private playing = false;
  private player!: Player;
  private controls!: Controls;
  /** The last change of each parameter that waits while one is made. */
  private pending = new Map<string, string>();
  private changing = false;
  /** True while a control shows a value that was refused. */
  private refused = false;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private readonly topology = new Topology(byId("topology"));
  private readonly traces = new Traces(byId("charts"));
  private readonly cdf = new DelayCdf(byId("trace-cdf"));
  private readonly tables = new Tables(
    byId("calls"),
    byId("live"),
    byId("final"),
    byId("differences"),
  );
  private module!: WebAssembly.Module;
  private kept: Kept | null = null;
  private band: Replications | null = null;
  private readonly editor = byId<HTMLTextAreaElement>("editor");

  async open(): Promise<void> {
    this.module = await compiled();
    await new Promise<void>((done) => {
      this.player = new Player(WORKER, this.module, this.listener(), (catalogue: Catalogue) => {
        this.controls ??= new Controls(byId("controls"), catalogue, (path, value) => {
          this.pending.set(path, value);
          this.updateGrade();
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
        await this.openShared(shared);
        return;
      }
      const named = fragment.lessonIn(location.hash);
      const lesson = LESSONS.find(({ id }) => id === named);
      if (lesson) {
        await this.openLesson(lesson);
        return;
      }
      damage = named === null ? "" : noLesson(named);
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
      this.showProblem(damage);
    }
  }

  /** A scenario of a link, with the lesson that it answers. */
  private async openShared({ lesson, ...shared }: fragment.Shared): Promise<void> {
    const known = LESSONS.find(({ id }) => id === lesson) ?? null;
    this.setLesson(known);
    await this.load({ ...shared, name: known ? `${known.id}.toml` : "link.toml" });
    if (lesson !== undefined && !known) {
      this.showProblem(noLesson(lesson));
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
    this.compare("");
    this.scenario = scenario;
    this.editor.value = scenario.text;
    byId<HTMLInputElement>("replication").value = String(scenario.replication);
    this.controls.forget();
    this.traces.forget();
    byId("quantity").replaceChildren(html("option", { value: "" }, "nothing"));
    const described = await this.checked(scenario);
    if (described) {
      this.accept(scenario, described);
      this.start(0, true);
    }
  }

  /** The description of a scenario; null if it is wrong, which is shown then. */
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
    this.refused = false;
    this.showProblem(described.warnings.join("\n"));
    byId("name").textContent = described.name;
    if (this.editor.value !== scenario.text) {
      this.editor.value = scenario.text;
    }
    this.controls.show(described.resolved, scenario.text, this.lesson?.controls ?? []);
    const beside = byId("beside");
    beside.hidden = scenario.set.length === 0;
    beside.textContent = `Changed beside the text:\n${scenario.set.join("\n")}`;
  }

  /** Run from the beginning, at once up to the time `from`, and see packets if there is time. */
  private start(from: number, playing: boolean, unhurried = true): void {
    clearTimeout(this.settling);
    this.result = null;
    this.updateGrade();
    [this.from, this.reached] = [from, 0];
    this.setPlaying(playing);
    const pace = this.pace();
    // Packets that no one could follow are not looked for.
    const wanted = pace.speed !== null && from < Infinity;
    const few = (this.described?.expected_packets ?? 0) < FEW_PACKETS;
    const watched = wanted && (unhurried || few);
    if (wanted && !watched) {
      // The same run once more, with its packets, when no change comes for a while.
      this.settling = setTimeout(() => {
        if (!this.result) {
          this.start(Math.max(this.reached, this.from), this.playing);
        }
      }, SETTLED);
    }
    this.player.start({ ...request(this.scenario), watched }, from, pace);
    this.showFacts([]);
    this.band?.begin(this.scenario);
  }

  /** Grade the run whose settings are shown; of any other the grade is withdrawn. */
  private updateGrade(): void {
    const changing = this.pending.size > 0 || this.changing;
    if (this.refused && !changing) {
      withdrawGrade("A value was refused: this answer is graded when all are allowed.");
    } else if (changing || this.editor.value !== this.scenario.text) {
      withdrawGrade("The settings have changed: this answer is graded at the end of its run.");
    } else if (!this.result) {
      withdrawGrade("This answer is graded at the end of its run.");
    } else if (this.lesson) {
      showGrade(this.lesson, grade(this.lesson, this.result));
    }
  }

  /** The same for the run that was kept. */
  private startKept(): void {
    this.kept?.start(this.result ? Infinity : Math.max(this.reached, this.from), this.pace());
  }

  /** Compare this run with nothing, the variant that it is, or its replications. */
  private compare(word: string): void {
    byId<HTMLSelectElement>("compare").value = word;
    const withKept = word === "kept" || word === "difference";
    if (!withKept) {
      this.kept?.end();
      this.kept = null;
      this.cdf.compare(null);
      this.tables.compare(null);
      byId("kept-topology").replaceChildren();
    }
    byId("other").hidden = !withKept;
    document.querySelector<HTMLElement>(".which")!.hidden = !withKept;
    if (withKept && !this.kept && this.described && this.layout) {
      const { limits } = lawsOf(this.described.resolved, this.layout);
      const place = { source: WORKER, module: this.module, root: byId("kept-topology") };
      const listener = {
        snapshot: ({ counted }: Snapshot): void => {
          this.traces.refresh();
          this.tables.compare(counted);
        },
        over: (): void => undefined,
      };
      this.kept = new Kept(place, this.scenario, { limits, cdf: this.cdf, listener });
      this.startKept();
    }
    this.traces.compare(this.kept?.columns ?? null, word === "difference");
    this.compareReplications(word === "band");
  }

  private compareReplications(wanted: boolean): void {
    this.band?.end();
    this.band = null;
    this.traces.showBand(null);
    if (wanted) {
      this.band = new Replications(WORKER, this.module, (band) => {
        if (typeof band === "string") {
          this.showProblem(band);
          return;
        }
        this.traces.showBand(band);
        const of = `${band.replications} of ${REPLICATIONS}`;
        byId("happened").hidden = false;
        byId("happened").textContent = `Mean and its 95 % confidence interval: ${of} replications`;
      });
      this.band.begin(this.scenario);
    }
  }

  /** Run what has changed up to where the reader was, and further if it was playing. */
  private rerun(): void {
    // An earlier change may be on its way to there still.
    const reached = Math.max(this.reached, this.from, this.kept?.reached ?? 0);
    this.start(this.result ? Infinity : reached, this.playing, false);
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
      this.updateGrade();
    }
  }

  private async changeOne(path: string, value: string): Promise<void> {
    try {
      const [scenario, described] = await change(this.player, this.scenario, path, value);
      this.accept(scenario, described);
      this.rerun();
    } catch (error) {
      this.refused = true;
      this.controls.refuse(path, error instanceof Error ? error.message : String(error));
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

  private listener(): RunListener {
    return {
      begun: (layout: Layout): void => {
        const same = JSON.stringify(layout) === JSON.stringify(this.layout);
        this.layout = layout;
        const { resolved } = this.described!;
        const { limits, thresholds } = lawsOf(resolved, layout);
        const erlang = theories(resolved, layout);
        this.topology.begin(layout, limits, same);
        this.traces.begin(layout, [...thresholds, ...formulas(erlang)]);
        this.tables.begin(layout, erlang);
        this.cdf.begin(layout);
        showWarmUp(layout.warm_up_s);
        byId("signature").replaceChildren();
      },
      snapshot: (snapshot: Snapshot): void => {
        this.reached = snapshot.counted.time_s;
        this.topology.look(snapshot);
        this.traces.add(snapshot.series);
        this.offerQuantities();
        this.tables.look(snapshot);
        this.showProgress();
      },
      delays: (delays: Delays): void => this.cdf.show(delays),
      stepped: ({ facts }: StepReport): void => {
        this.showFacts(facts);
        this.reached = facts.at(-1)?.time_s ?? this.reached;
        this.topology.happen(facts);
        this.showProgress();
      },
      over: (result: Result): void => {
        this.result = result;
        this.setPlaying(false);
        this.tables.over(result);
        this.traces.over();
        this.cdf.over();
        this.showSignature(result);
        this.updateGrade();
      },
      wrong: (problem: Problem): void => this.showError(new ScenarioError(problem)),
      failed: (message: string): void => {
        this.player.stop();
        this.setPlaying(false);
        this.showProblem(message);
      },
    };
  }

  /** Offer what has been sampled, once it is known. */
  private offerQuantities(): void {
    const select = byId<HTMLSelectElement>("quantity");
    const known = [...select.options].map(({ value }) => value);
    for (const name of this.traces.quantities()) {
      if (!known.includes(name)) {
        select.append(html("option", { value: name }, name.replace(/_/g, " ")));
      }
    }
  }

  /** Show what an event did, in words. */
  private showFacts(facts: Fact[]): void {
    const line = byId("happened");
    line.hidden = facts.length === 0;
    line.textContent = facts.map(sentence).join("\n");
  }

  /** Show what identifies this run, and the command that repeats it. */
  private showSignature(result: Result): void {
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

  /** Show how far the run has come. */
  private showProgress(): void {
    const duration = this.layout?.duration_s ?? 1;
    const [now, whole] = [this.reached, duration].map((value) => {
      return `${Number(value.toPrecision(3))} s`;
    });
    byId<HTMLProgressElement>("progress").value = this.reached / duration;
    const warmUp = this.reached < (this.layout?.warm_up_s ?? 0) ? ", warm-up" : "";
    byId("clock").textContent = `${now} of ${whole}${warmUp}`;
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
    this.topology.move(true);
  }

  private showError(error: unknown): void {
    if (error instanceof ScenarioError) {
      const { message, path } = error.problem;
      this.editor.setAttribute("aria-invalid", "true");
      this.showProblem(path && !message.includes(path) ? `${path}: ${message}` : message, true);
    } else if (!(error instanceof Error && error.message === "stopped")) {
      this.showProblem(error instanceof Error ? error.message : String(error));
    }
  }

  private showProblem(message: string, wrong = false): void {
    const problem = byId("problem");
    problem.hidden = message === "";
    problem.textContent = message;
    if (!wrong) {
      this.editor.removeAttribute("aria-invalid");
    }
  }

  private toggle(): void {
    if (this.result) {
      this.restart();
      return;
    }
    this.setPlaying(!this.playing);
    this.setPace();
  }

  private restart(): void {
    this.start(0, true);
    this.kept?.start(0, this.pace());
  }

  private setPace(): void {
    this.player.pace(this.pace());
    this.kept?.pace(this.pace());
  }

  private step(): void {
    if (this.playing) {
      this.toggle();
    }
    this.player.step();
    this.kept?.step();
  }

  private stepEvent(): void {
    if (this.playing) {
      this.toggle();
    }
    this.player.event();
  }

  private listen(): void {
    const on = (id: string, event: string, work: () => void): void =>
      byId(id).addEventListener(event, work);
    on("play", "click", () => this.toggle());
    on("step", "click", () => this.step());
    on("event", "click", () => this.stepEvent());
    on("again", "click", () => this.restart());
    on("stop", "click", () => {
      this.compare("");
      clearTimeout(this.settling);
      this.player.stop();
      this.setPlaying(false);
      this.result = null;
      this.reached = 0;
    });
    on("speed", "change", () => this.setPace());
    on("quantity", "change", () => {
      this.traces.showQuantity(byId<HTMLSelectElement>("quantity").value);
    });
    on("compare", "change", () => this.compare(byId<HTMLSelectElement>("compare").value));
    on("replication", "change", () => {
      const number = Math.max(0, Math.trunc(Number(byId<HTMLInputElement>("replication").value)));
      this.scenario = { ...this.scenario, replication: number || 0 };
      this.kept?.replicate(this.scenario.replication);
      this.startKept();
      this.rerun();
    });
    let rest: ReturnType<typeof setTimeout>;
    on("editor", "input", () => {
      this.updateGrade();
      clearTimeout(rest);
      rest = setTimeout(() => void this.readEditor(), REST);
    });
    listenToKeys({
      toggle: () => this.toggle(),
      step: () => this.step(),
      event: () => this.stepEvent(),
    });
    this.listenToExports();
    listenToTabs();
    this.listenToLessons();
  }

  private listenToLessons(): void {
    const select = byId<HTMLSelectElement>("lesson");
    for (const { id, title } of LESSONS) {
      select.append(html("option", { value: id }, title));
    }
    select.addEventListener("change", () => {
      const lesson = LESSONS.find(({ id }) => id === select.value);
      // The address says which lesson it is, so that a reload shows it again.
      const fresh = lesson ? fragment.ofLesson(lesson.id) : "";
      history.replaceState(null, "", location.pathname + location.search + fresh);
      if (lesson) {
        void this.openLesson(lesson);
      } else {
        this.setLesson(null);
        const given = givenScenario();
        void this.load(given ? { ...given, set: [], replication: 0 } : this.scenario);
      }
    });
  }

  private listenToExports(): void {
    new ExportButtons({
      scenario: () => this.scenario,
      lesson: () => this.lesson?.id,
      result: () => this.result,
      name: () => this.described?.name ?? "",
      tables: () => this.traces.tables,
      drawing: () => this.topology.picture(),
      dots: () => this.topology.packets(),
      charts: () => [...this.traces.canvases(), ...this.cdf.canvases()],
      plots: () => [...this.traces.plots(), this.cdf.lines()],
      wrong: (error) => this.showError(error),
    });
  }
}

function noLesson(id: string): string {
  return `the link names a lesson that this page does not have: ${id.slice(0, 60)}`;
}

/** Explain the shaded part of each chart. */
function showWarmUp(until: number): void {
  const line = byId("warm-up");
  line.hidden = until === 0;
  const time = show({ value: until, kind: "time" });
  line.textContent = `Shaded: the warm-up, until ${time}; results count from there on.`;
}

void new Page().open().catch((error) => {
  const problem = byId("problem");
  problem.hidden = false;
  problem.textContent = `The lab cannot start: ${error instanceof Error ? error.message : error}`;
});
