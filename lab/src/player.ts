// The worker from the page's side: requests with answers, and what a run shows.

import { ScenarioError } from "./engine";
import type { Delays, Described, Layout, Look, Problem, Request, Result, Told } from "./engine";
import type { Catalogue, FromWorker, Pace, ToWorker } from "./protocol";

/** Who hears what a run shows. */
export interface Audience {
  begun(layout: Layout): void;
  look(look: Look): void;
  delays(delays: Delays): void;
  told(told: Told): void;
  over(result: Result): void;
  wrong(problem: Problem): void;
  failed(message: string): void;
}

interface Waiting {
  done(described: Described): void;
  wrong(error: Error): void;
}

/** Runs scenarios in a worker, one at a time. */
export class Player {
  private worker: Worker;
  private next = 0;
  private current = -1;
  private readonly waiting = new Map<number, Waiting>();

  constructor(
    private readonly source: string,
    private readonly module: WebAssembly.Module,
    private readonly audience: Audience,
    private readonly ready: (catalogue: Catalogue) => void,
  ) {
    this.worker = this.spawn();
  }

  /** What the scenario consists of; rejects with a `ScenarioError` if it is wrong. */
  check(request: Request): Promise<Described> {
    const id = this.next++;
    this.say({ kind: "check", id, request });
    return new Promise((done, wrong) => this.waiting.set(id, { done, wrong }));
  }

  /** Run from the start, at once up to the time `from`, and from there at a pace. */
  start(request: Request, from: number, pace: Pace): void {
    this.current = this.next++;
    this.say({ kind: "start", id: this.current, request, from, pace });
  }

  pace(pace: Pace): void {
    this.say({ kind: "pace", pace });
  }

  /** Run to the next sample. */
  step(): void {
    this.say({ kind: "step" });
  }

  /** Run to the next event that is about a packet. */
  event(): void {
    this.say({ kind: "event" });
  }

  /** End for good. */
  end(): void {
    this.worker.terminate();
  }

  /** End whatever the worker does, even if it does not listen. */
  stop(): void {
    this.worker.terminate();
    this.current = -1;
    for (const { wrong } of this.waiting.values()) {
      wrong(new Error("stopped"));
    }
    this.waiting.clear();
    this.worker = this.spawn();
  }

  private say(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private spawn(): Worker {
    const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>): void => this.hear(data);
    worker.onerror = (event): void => this.audience.failed(event.message);
    worker.postMessage({ kind: "module", module: this.module });
    return worker;
  }

  private hear(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        this.ready(message.catalogue);
        return;
      case "checked":
        this.waiting.get(message.id)?.done(message.described);
        this.waiting.delete(message.id);
        return;
      case "failed":
        this.audience.failed(message.message);
        return;
      case "wrong": {
        const waiting = this.waiting.get(message.id);
        if (waiting) {
          this.waiting.delete(message.id);
          waiting.wrong(new ScenarioError(message.problem));
        } else if (message.id === this.current) {
          this.audience.wrong(message.problem);
        }
        return;
      }
      default:
        // What an earlier run still says is of no interest.
        if (message.id === this.current) {
          this.tell(message);
        }
    }
  }

  private tell(message: FromWorker): void {
    if (message.kind === "begun") {
      this.audience.begun(message.layout);
    } else if (message.kind === "look") {
      this.audience.look(message.look);
    } else if (message.kind === "delays") {
      this.audience.delays(message.delays);
    } else if (message.kind === "told") {
      this.audience.told(message.told);
    } else if (message.kind === "over") {
      this.audience.over(message.result);
    }
  }
}
