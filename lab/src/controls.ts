// A control for each parameter of the scenario, from the schema of scenario files.

import { html } from "./dom";
import { splitPath } from "./key-path";
import type { Catalogue, Field } from "./protocol";
import type { Quantity } from "./quantity";
import { literal, read, show } from "./quantity";
import { STEPS, scaleOf } from "./scales";

/** Takes a change: the key path, and the value as TOML. */
export type TakeChange = (path: string, value: string) => void;

/** The group of controls that a lesson names. */
const LESSON = "In this lesson";
/** Most groups that are open at first. */
const MOST_OPEN = 12;
/** The field of a parameter in the schema, or nothing. */
export function fieldOf(catalogue: Catalogue, path: string): Field | undefined {
  const keys = splitPath(path);
  const last = keys.at(-1)!;
  const parent = keys.at(-2);
  for (const { entries } of catalogue.categories) {
    const entry = entries.find(({ name }) => name === parent);
    const field = keys.length > 2 && entry?.fields.find(({ name }) => name === last);
    if (field) {
      return field;
    }
  }
  const section = keys
    .slice(0, -1)
    .map((key, at) => (at === 1 ? "NAME" : key.replace(/\[\d+\]$/, "[]")))
    .join(".");
  const found = catalogue.sections.find(({ name }) => name === (section || "scenario"));
  return found?.fields.find(({ name }) => name === last);
}

export class Controls {
  private sliders = new Map<string, ((value: string) => void)[]>();
  private fields = new Map<string, Field | undefined>();
  private origin = new Map<string, Quantity>();
  private shape = "";
  /** The lines below each value: its meaning, or why it is refused. */
  private said = new Map<string, HTMLElement[]>();

  constructor(
    private readonly root: HTMLElement,
    private readonly catalogue: Catalogue,
    private readonly changed: TakeChange,
  ) {}

  /** Begin anew: sliders are about the values of a new scenario. */
  forget(): void {
    this.origin.clear();
    this.shape = "";
  }

  /** Say what is wrong with the value of a parameter, until a value is taken. */
  refuse(path: string, message: string): void {
    for (const line of this.said.get(path) ?? []) {
      line.textContent = message;
    }
  }

  /** Show the parameters of a scenario: those that its text names are in view, or `only` these. */
  show(resolved: Record<string, string>, text: string, only: string[]): void {
    const choices = mechanisms(resolved, this.catalogue);
    const values = { ...resolved, ...choices };
    const paths = Object.keys(values).filter(
      (path) => path in choices || this.isControl(path, values[path]!),
    );
    paths.sort((a, b) => Number(b in choices) - Number(a in choices));
    const shape = [...paths, ...only].join("\n");
    if (shape === this.shape) {
      for (const path of paths) {
        for (const put of this.sliders.get(path) ?? []) {
          put(values[path]!);
        }
      }
      return;
    }
    this.shape = shape;
    this.sliders.clear();
    this.said.clear();
    this.root.replaceChildren();
    const chosen = only.filter((path) => paths.includes(path));
    if (chosen.length > 0) {
      this.root.append(this.group(LESSON, [chosen], values, true));
    }
    const isNamed = namedIn(text);
    let opened = only.length > 0 ? MOST_OPEN : 0;
    for (const [name, members] of grouped(paths)) {
      const own = members.filter((path) => isNamed(path));
      const rest = members.filter((path) => !isNamed(path));
      const open = own.length > 0 && opened++ < MOST_OPEN;
      this.root.append(this.group(name, [own, rest], values, open));
    }
  }

  /** The field of a parameter; looked up once, as a network can have thousands of them. */
  private field(path: string): Field | undefined {
    if (!this.fields.has(path)) {
      this.fields.set(path, fieldOf(this.catalogue, path));
    }
    return this.fields.get(path);
  }

  private isControl(path: string, value: string): boolean {
    if (path.startsWith("record.") || path === "name") {
      return false;
    }
    if (value === "absent" || value === "chosen") {
      return false;
    }
    const plain = read(value) !== null || value === "true" || value === "false";
    return plain || (this.field(path)?.choices.length ?? 0) > 0;
  }

  /** A group of controls, the first of them in view and the others behind them. */
  private group(
    name: string,
    [paths, rest = []]: [string[], string[]?],
    resolved: Record<string, string>,
    open: boolean,
  ): HTMLDetailsElement {
    const count = html("span", {}, ` ${paths.length + rest.length}`);
    const summary = html("summary", {}, name, count);
    const details = html("details", { open }, summary);
    // Closed groups are filled when they are opened: there may be hundreds of parameters.
    if (paths.length === 0) {
      return this.group(name, [rest], resolved, open);
    }
    const fill = (): void => {
      if (details.open && details.childElementCount === 1) {
        const controls = paths.map((path) => this.control(path, resolved[path]!, name === LESSON));
        details.append(...controls);
        if (rest.length > 0 && paths.length > 0) {
          const more = `${rest.length} more, as they are by default`;
          details.append(this.group(more, [rest], resolved, false));
        }
      }
    };
    details.addEventListener("toggle", fill);
    fill();
    return details;
  }

  private control(path: string, value: string, alone: boolean): HTMLElement {
    const field = this.field(path);
    const keys = splitPath(path);
    const label = keys.at(-1)!.replace(/_/g, " ");
    const id = `p-${alone ? "lesson-" : ""}${path.replace(/[^A-Za-z0-9]/g, "-")}`;
    const quantity = read(value);
    const row = html("div", { class: "control" });
    const name = html("label", { for: id, title: path }, label);
    if (alone) {
      name.append(html("span", {}, ` of ${keys.slice(1, -1).join(" ")}`));
    }
    row.append(name);
    if (quantity) {
      this.addSlider(row, { path, id, label, quantity });
    } else if (value === "true" || value === "false") {
      this.addSwitch(row, path, id, value === "true");
    } else if (field) {
      this.addChoice(row, path, id, field, value.replace(/^"|"$/g, ""));
    } else {
      this.addMechanism(row, path, id, value);
    }
    const initial = field?.default === null || field?.default === undefined ? "" : field.default;
    const about = [field?.meaning ?? "", initial === "" ? "" : `Default: ${String(initial)}.`];
    const meaning = about.filter(Boolean).join(" ");
    if (meaning) {
      const more = html("p", { id: `${id}-about`, class: "about" }, meaning);
      row.querySelector("input, select")?.setAttribute("aria-describedby", more.id);
      name.title = `${path}: ${meaning}`;
      row.append(more);
    }
    this.addRemark(row, path, value);
    return row;
  }

  /** The line below a value: its meaning where that is not plain, or why it is refused. */
  private addRemark(row: HTMLElement, path: string, value: string): void {
    const line = html("p", { class: "said", role: "status" }, remark(path, value));
    this.said.set(path, [...(this.said.get(path) ?? []), line]);
    this.follow(path, (now) => (line.textContent = remark(path, now)));
    row.append(line);
  }

  private addSlider(
    row: HTMLElement,
    about: { path: string; id: string; label: string; quantity: Quantity },
  ): void {
    const { path, id, label, quantity } = about;
    const origin = this.origin.get(path) ?? quantity;
    this.origin.set(path, origin);
    const scale = scaleOf(origin, path);
    const slider = html("input", { type: "range", id, min: 0, max: STEPS, "data-path": path });
    const box = html("input", { type: "text", "aria-label": `${label}, value`, size: 11 });
    const put = (now: Quantity): void => {
      slider.value = String(Math.round(scale.to(now.value)));
      slider.setAttribute("aria-valuetext", show(now));
      if (document.activeElement !== box) {
        box.value = show(now);
      }
    };
    put(quantity);
    slider.addEventListener("input", () => {
      const now = { value: scale.from(Number(slider.value)), kind: origin.kind };
      box.value = show(now);
      slider.setAttribute("aria-valuetext", box.value);
      this.changed(path, literal(now));
    });
    box.addEventListener("change", () => {
      const now = read(box.value);
      // What is no quantity is left to the engine, which says what is allowed.
      const value = now && now.kind === "number" ? show(now, 12) : JSON.stringify(box.value);
      this.changed(path, value);
    });
    this.follow(path, (value) => {
      const now = read(value);
      if (now && document.activeElement !== slider) {
        put(now);
      }
    });
    row.append(box, slider);
  }

  /** Have `put` called with what a parameter is after each change. */
  private follow(path: string, put: (value: string) => void): void {
    this.sliders.set(path, [...(this.sliders.get(path) ?? []), put]);
  }

  private addSwitch(row: HTMLElement, path: string, id: string, on: boolean): void {
    const box = html("input", { type: "checkbox", id, "data-path": path });
    box.checked = on;
    box.addEventListener("change", () => this.changed(path, String(box.checked)));
    this.follow(path, (value) => (box.checked = value === "true"));
    row.append(box);
  }

  /** Another mechanism for a place, with what its parameters are by default. */
  private addMechanism(row: HTMLElement, path: string, id: string, chosen: string): void {
    const select = html("select", { id, "data-path": path });
    const category = this.catalogue.categories.find(({ name }) => name === path.split(".").at(-1));
    for (const { name, summary, fields } of category?.entries ?? []) {
      if (name === chosen || fields.every(({ optional }) => optional)) {
        select.append(html("option", { value: name, title: summary }, name));
      }
    }
    select.value = chosen;
    select.addEventListener("change", () => this.changed(path, `{ ${select.value} = {} }`));
    this.follow(path, (value) => (select.value = value));
    row.append(select);
  }

  private addChoice(
    row: HTMLElement,
    path: string,
    id: string,
    field: Field,
    chosen: string,
  ): void {
    const select = html("select", { id, "data-path": path });
    for (const [at, word] of field.choices.entries()) {
      select.append(html("option", { value: word, title: field.choice_meanings[at] ?? "" }, word));
    }
    select.value = chosen;
    select.addEventListener("change", () => this.changed(path, JSON.stringify(select.value)));
    this.follow(path, (value) => (select.value = value.replace(/^"|"$/g, "")));
    row.append(select);
  }
}

/** The mechanism at each place where one can be chosen: its name by the path of the place. */
function mechanisms(
  resolved: Record<string, string>,
  catalogue: Catalogue,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [path, value] of Object.entries(resolved)) {
    const keys = path.split(".");
    const category = catalogue.categories.find(({ name }) => name === keys.at(-2));
    if (value === "chosen" && category?.entries.some(({ name }) => name === keys.at(-1))) {
      found[keys.slice(0, -1).join(".")] = keys.at(-1)!;
    }
  }
  return found;
}

/** The meaning of a value, where that is not plain. */
function remark(path: string, value: string): string {
  const quantity = read(value);
  const none = quantity?.value === 0 && ["packets", "size"].includes(quantity.kind);
  const limit = none && splitPath(path).at(-1) === "limit";
  return limit ? "No packet can wait: one that cannot be sent at once is dropped." : "";
}

/** Paths by the section that they stand in, what is most often changed first. */
function grouped(paths: string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  const first = ["links", "flows", "rings", "aggregates"];
  const rank = (path: string): number => {
    const at = first.indexOf(path.split(".")[0]!);
    return at < 0 ? first.length : at;
  };
  for (const path of [...paths].sort((a, b) => rank(a) - rank(b))) {
    const keys = path.split(".");
    const name = keys.slice(0, -1).join(".") || "run";
    groups.set(name, [...(groups.get(name) ?? []), path]);
  }
  return groups;
}

/** A test whether a text itself says what stands at a path, as far as its words show. */
function namedIn(text: string): (path: string) => boolean {
  const keys = new Set([...text.matchAll(/([A-Za-z0-9_-]+)\s*=/g)].map((match) => match[1]!));
  const words = new Set(text.match(/[A-Za-z0-9_-]+/g));
  return (path) => {
    const [parent = "", key = ""] = ["", ...splitPath(path)].slice(-2);
    return keys.has(key) && (parent === "" || words.has(parent.replace(/\[\d+\]$/, "")));
  };
}
