// The worker: runs the engine in slices, and reads messages between them.

import type { Request } from "./engine";
import { Engine, Reached, ScenarioError } from "./engine";
import type { Catalogue, FromWorker, Pace, ToWorker } from "./protocol";

/** Milliseconds of work between two reads of messages: of a run at its pace, and of one that passes
 * at once. */
const BUDGET = 12;
const LONG_BUDGET = 40;
/** Milliseconds between two pictures. */
const FRAME = 33;
/** Milliseconds between two distributions of delays, which take longer to make. */
const LONG_FRAME = 250;
/** Events of a slice: a fraction of a millisecond. */
const SLICE = 5_000;

interface Run {
  id: number;
  engine: Engine;
  /** Simulated time at which it stands. */
  reached: number;
  /** The time up to which it passes at once. */
  target: number;
  over: boolean;
}

let module: WebAssembly.Module;
let checker: Engine;
let run: Run | null = null;
let pace: Pace = { playing: false, speed: null };
let timer: ReturnType<typeof setTimeout> | undefined;
let posted = false;
/** A channel that brings the next tick at once, which a timer does not: browsers delay timers in a
 * row. */
const immediate = new MessageChannel();
let lastFrame = 0;
let lastDelays = 0;

const post = (message: FromWorker): void => postMessage(message);

/** Report a mistake in a scenario; anything else is a failure of the engine. */
function attempt(id: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    // A text that is wrong ends no run.
    run = run?.id === id ? null : run;
    if (error instanceof ScenarioError) {
      post({ kind: "wrong", id, problem: error.problem });
    } else {
      post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    }
  }
}

function begin(id: number, request: Request, from: number): void {
  run = null;
  attempt(id, () => {
    const engine = new Engine(module);
    const layout = engine.begin(request);
    run = { id, engine, reached: 0, target: from, over: false };
    post({ kind: "begun", id, layout });
  });
}

/** Run until `target` or for `BUDGET` milliseconds; then show what is there. */
function pass(current: Run): void {
  const start = performance.now();
  const budget = current.target === Infinity ? LONG_BUDGET : BUDGET;
  let sampled = false;
  while (!current.over && current.reached < current.target) {
    const reached = current.engine.advance(SLICE);
    if (reached !== Reached.nothing) {
      current.reached = current.engine.reached();
      current.over = reached === Reached.end;
      sampled = true;
    }
    if (performance.now() - start > budget) {
      break;
    }
  }
  show(current, sampled);
}

function show(current: Run, sampled: boolean): void {
  const { id, engine, over } = current;
  if (sampled) {
    post({ kind: "snapshot", id, snapshot: engine.look() });
    const now = performance.now();
    if (over || now - lastDelays > LONG_FRAME) {
      lastDelays = now;
      post({ kind: "delays", id, delays: engine.delays() });
    }
  }
  if (over) {
    post({ kind: "over", id, result: engine.result() });
  }
}

/** Continue by an event. */
function stepEvent(current: Run): void {
  const report = current.engine.step();
  post({ kind: "stepped", id: current.id, report });
  current.over = report.over;
  if (report.arrived || report.over) {
    current.reached = current.engine.reached();
    current.target = Math.max(current.target, current.reached);
    show(current, true);
  }
}

function tick(): void {
  posted = false;
  clearTimeout(timer);
  timer = undefined;
  const current = run;
  if (!current || current.over) {
    return;
  }
  const now = performance.now();
  const behind = current.reached < current.target;
  if (pace.playing) {
    const passed = Math.min(now - lastFrame, 200) / 1000;
    if (pace.speed === null) {
      current.target = Infinity;
    } else if (!behind) {
      // Where the machine is too slow for the speed, the run falls behind, and does not leap later.
      current.target += passed * pace.speed;
    }
  }
  lastFrame = now;
  attempt(current.id, () => pass(current));
  schedule();
}

function schedule(): void {
  if (posted || !run || run.over) {
    return;
  }
  if (run.reached < run.target) {
    posted = true;
    immediate.port2.postMessage(null);
  } else if (pace.playing && timer === undefined) {
    timer = setTimeout(tick, FRAME);
  }
}

immediate.port1.onmessage = tick;

self.onmessage = ({ data }: MessageEvent<ToWorker>): void => {
  switch (data.kind) {
    case "module":
      module = data.module;
      checker = new Engine(module);
      post({ kind: "ready", catalogue: checker.catalogue() as Catalogue });
      return;
    case "check":
      attempt(data.id, () => {
        post({ kind: "checked", id: data.id, described: checker.check(data.request) });
      });
      return;
    case "change":
      attempt(data.id, () => {
        post({ kind: "changed", id: data.id, changed: checker.change(data.request) });
      });
      return;
    case "start":
      pace = data.pace;
      begin(data.id, data.request, data.from);
      lastFrame = performance.now();
      schedule();
      return;
    case "pace":
      pace = data.pace;
      lastFrame = performance.now();
      if (run && (!pace.playing || run.target === Infinity)) {
        run.target = Math.min(run.target, run.reached);
      }
      schedule();
      return;
    case "step":
      if (run && !run.over) {
        // To the next sample, wherever it is.
        run.target = Math.max(run.target, run.reached + Number.EPSILON * (1 + run.reached));
        attempt(run.id, () => pass(run!));
        schedule();
      }
      return;
    case "event":
      if (run && !run.over) {
        attempt(run.id, () => stepEvent(run!));
      }
  }
};
