// The worker: runs the engine in slices, so that it hears of a pause in between.

import { Engine, Reached, ScenarioError } from "./engine";
import type { Request } from "./engine";
import type { Catalogue, FromWorker, Pace, ToWorker } from "./protocol";

/** Milliseconds of work between two looks at messages, and where a run is to pass at once. */
const BUDGET = 12;
const LONG_BUDGET = 40;
/** Milliseconds between two pictures. */
const FRAME = 33;
/** Milliseconds between two looks at the distribution of delays, which takes longer. */
const LONG_FRAME = 250;
/** Events of a slice: a fraction of a millisecond. */
const SLICE = 5_000;

interface Run {
  id: number;
  engine: Engine;
  /** Simulated time at which it stands. */
  reached: number;
  /** Up to where it passes at once. */
  target: number;
  over: boolean;
}

let module: WebAssembly.Module;
let checker: Engine;
let run: Run | null = null;
let pace: Pace = { playing: false, speed: null };
let timer: ReturnType<typeof setTimeout> | undefined;
let posted = false;
/** Brings the next tick at once, which a timer does not: browsers delay timers in a row. */
const again = new MessageChannel();
let lastFrame = 0;
let lastDelays = 0;

const say = (message: FromWorker): void => postMessage(message);

/** Report a mistake in a scenario; anything else is a failure of the engine. */
function attempt(id: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    // A text that is wrong ends no run.
    run = run?.id === id ? null : run;
    if (error instanceof ScenarioError) {
      say({ kind: "wrong", id, problem: error.problem });
    } else {
      say({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    }
  }
}

function begin(id: number, request: Request, from: number): void {
  run = null;
  attempt(id, () => {
    const engine = new Engine(module);
    const layout = engine.begin(request);
    run = { id, engine, reached: 0, target: from, over: false };
    say({ kind: "begun", id, layout });
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
    say({ kind: "look", id, look: engine.look() });
    const now = performance.now();
    if (over || now - lastDelays > LONG_FRAME) {
      lastDelays = now;
      say({ kind: "delays", id, delays: engine.delays() });
    }
  }
  if (over) {
    say({ kind: "over", id, result: engine.result() });
  }
}

/** Continue by an event. */
function stepEvent(current: Run): void {
  const told = current.engine.step();
  say({ kind: "told", id: current.id, told });
  current.over = told.over;
  if (told.arrived || told.over) {
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
    again.port2.postMessage(null);
  } else if (pace.playing && timer === undefined) {
    timer = setTimeout(tick, FRAME);
  }
}

again.port1.onmessage = tick;

self.onmessage = ({ data }: MessageEvent<ToWorker>): void => {
  switch (data.kind) {
    case "module":
      module = data.module;
      checker = new Engine(module);
      say({ kind: "ready", catalogue: checker.catalogue() as Catalogue });
      return;
    case "check":
      attempt(data.id, () => {
        say({ kind: "checked", id: data.id, described: checker.check(data.request) });
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
