// The worker from the page's side: requests with answers, and what a run shows.

import type {
  Changed,
  ChangeRequest,
  Delays,
  Described,
  Layout,
  Problem,
  Request,
  Result,
  Snapshot,
  StepReport,
} from "./engine";
import { ScenarioError } from "./engine";
import type { Catalogue, FromWorker, Pace, ToWorker } from "./protocol";

/** The receiver of what a run reports. */
export interface RunListener {
  begun(layout: Layout): void;
  snapshot(snapshot: Snapshot): void;
  delays(delays: Delays): void;
  stepped(report: StepReport): void;
  over(result: Result): void;
  wrong(problem: Problem): void;
  failed(message: string): void;
}

/** A request that waits for its answer. */
interface Waiting {
  done(answer: Described | Changed): void;
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
    private readonly listener: RunListener,
    private readonly ready: (catalogue: Catalogue) => void,
  ) {
    this.worker = this.spawn();
  }

  /** The description of a scenario; rejects with a `ScenarioError` if it is wrong. */
  check(request: Request): Promise<Described> {
    return this.ask((id) => ({ kind: "check", id, request }));
  }

  /** The scenario with a parameter changed; rejects with a `ScenarioError` if that is wrong. */
  change(request: ChangeRequest): Promise<Changed> {
    return this.ask((id) => ({ kind: "change", id, request }));
  }

  private ask<Answer extends Described | Changed>(
    message: (id: number) => ToWorker,
  ): Promise<Answer> {
    const id = this.next++;
    this.post(message(id));
    return new Promise((done, wrong) => {
      this.waiting.set(id, { done: (answer) => done(answer as Answer), wrong });
    });
  }

  /** Run from the start, at once up to the time `from`, and from there at a pace. */
  start(request: Request, from: number, pace: Pace): void {
    this.current = this.next++;
    this.post({ kind: "start", id: this.current, request, from, pace });
  }

  pace(pace: Pace): void {
    this.post({ kind: "pace", pace });
  }

  /** Run to the next sample. */
  step(): void {
    this.post({ kind: "step" });
  }

  /** Run to the next event that is about a packet. */
  event(): void {
    this.post({ kind: "event" });
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

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private spawn(): Worker {
    const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>): void => this.receive(data);
    worker.onerror = (event): void => this.listener.failed(event.message);
    worker.postMessage({ kind: "module", module: this.module });
    return worker;
  }

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        this.ready(message.catalogue);
        return;
      case "checked":
        this.answer(message.id, message.described);
        return;
      case "changed":
        this.answer(message.id, message.changed);
        return;
      case "failed":
        this.listener.failed(message.message);
        return;
      case "wrong": {
        const waiting = this.waiting.get(message.id);
        if (waiting) {
          this.waiting.delete(message.id);
          waiting.wrong(new ScenarioError(message.problem));
        } else if (message.id === this.current) {
          this.listener.wrong(message.problem);
        }
        return;
      }
      default:
        // What an earlier run still says is of no interest.
        if (message.id === this.current) {
          this.dispatch(message);
        }
    }
  }

  private answer(id: number, answer: Described | Changed): void {
    this.waiting.get(id)?.done(answer);
    this.waiting.delete(id);
  }

  private dispatch(message: FromWorker): void {
    if (message.kind === "begun") {
      this.listener.begun(message.layout);
    } else if (message.kind === "snapshot") {
      this.listener.snapshot(message.snapshot);
    } else if (message.kind === "delays") {
      this.listener.delays(message.delays);
    } else if (message.kind === "stepped") {
      this.listener.stepped(message.report);
    } else if (message.kind === "over") {
      this.listener.over(message.result);
    }
  }
}
