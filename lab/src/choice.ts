// The places that a chart draws of many: the largest, or those that the reader has chosen.

import { html } from "./dom";

/** Most lines of a chart at first: more could not be told apart. */
export const MOST = 7;

export class Choice {
  /** The places that are left out, to be chosen from; hidden where none are. */
  readonly root = html("details", { class: "choice", hidden: true });
  private readonly summary = html("summary");
  private names: string[] = [];
  private drawn: string[] = [];
  private room = MOST;
  /** True once the reader has chosen: then sizes no longer count. */
  private chosen = false;
  private ranked = false;
  private rankings = 0;

  /** `changed` is called when the reader has chosen. */
  constructor(private readonly changed: () => void) {
    this.root.append(this.summary);
    this.root.addEventListener("toggle", () => this.list());
  }

  /** Begin with places in the order of the network, of which `room` are drawn at first. A choice
   * among the same places stays. */
  begin(names: string[], room: number): void {
    this.rankings = 0;
    const same = names.join("\n") === this.names.join("\n");
    if (same && (this.chosen || room === this.room)) {
      return;
    }
    [this.names, this.room, this.chosen, this.ranked] = [names, room, false, false];
    this.draw(names.slice(0, room));
  }

  /** The places that are drawn, the largest first once sizes are known. */
  get shown(): readonly string[] {
    return this.drawn;
  }

  /** In how many of all, where some are left out. */
  get words(): string {
    const [drawn, all] = [this.drawn.length, this.names.length];
    return drawn < all ? `${drawn} of ${all}` : "";
  }

  /** Draw the largest by their sizes so far; whether that changes what is drawn. Sizes are asked
   * for at the first, second, fourth, eighth time and so on, so that lines stay, and at the end. */
  rank(size: (name: string) => number, end: boolean): boolean {
    this.rankings += 1;
    const due = end || (this.rankings & (this.rankings - 1)) === 0;
    if (!due || this.chosen || this.names.length <= this.room) {
      return false;
    }
    const sizes = new Map(this.names.map((name) => [name, size(name)]));
    const all = [...this.names].sort((a, b) => sizes.get(b)! - sizes.get(a)!);
    const largest = all.slice(0, this.room);
    const same = largest.join("\n") === this.drawn.join("\n");
    const known = this.ranked;
    this.ranked = true;
    if (!same || !known) {
      this.draw(largest);
    }
    return !same;
  }

  private draw(names: string[]): void {
    this.drawn = names;
    const more = this.names.length - names.length;
    this.root.hidden = this.names.length <= this.room;
    const which = this.chosen ? "as chosen" : this.ranked ? "the largest" : "the first";
    this.summary.textContent = `${names.length} of ${this.names.length}, ${which}; ${more} more`;
    this.list();
  }

  /** The choice, which is made when it is opened: there may be hundreds of places. */
  private list(): void {
    if (!this.root.open) {
      return;
    }
    // The box that was clicked keeps the focus: the list is changed in place where it is there.
    const known = [...this.root.querySelectorAll<HTMLInputElement>("input")];
    if (known.map(({ value }) => value).join("\n") === this.names.join("\n")) {
      for (const box of known) {
        box.checked = this.drawn.includes(box.value);
      }
      return;
    }
    const boxes = this.names.map((name) => {
      const box = html("input", { type: "checkbox", value: name });
      box.checked = this.drawn.includes(name);
      box.addEventListener("change", () => this.choose(name, box.checked));
      return html("label", {}, box, ` ${name}`);
    });
    const largest = html("button", { type: "button" }, "The largest");
    largest.addEventListener("click", () => {
      this.chosen = false;
      this.rankings = 0;
      this.changed();
    });
    this.root.replaceChildren(this.summary, html("div", { class: "list" }, largest, ...boxes));
  }

  private choose(name: string, wanted: boolean): void {
    this.chosen = true;
    const others = this.drawn.filter((each) => each !== name);
    this.draw(wanted ? [...others, name] : others);
    this.changed();
  }
}
