// Lessons: text, a scenario, controls, and a question that is graded by running.

import { html } from "./dom";
import type { Result, Row } from "./engine";

/** A bound on a quantity of the result: `links.NAME.column` or `groups.NAME.column`. */
export interface Condition {
  quantity: string;
  label: string;
  unit: string;
  /** The factor of the value in this unit. */
  scale: number;
  at_least?: number;
  at_most?: number;
}

/** A lesson, as the build reads it from lab/lessons. */
export interface Lesson {
  id: string;
  title: string;
  text: string[];
  controls: string[];
  question: string;
  conditions: Condition[];
  /** The explanation that a right answer gets. */
  because: string;
  /** Changes to the scenario that answer the question, and such that do not: for its test. */
  right: Record<string, string>;
  wrong: Record<string, string>;
  scenario: string;
}

export interface Grade {
  condition: Condition;
  value: number | null;
  kept: boolean;
}

/** Each condition of a lesson, held against a result. */
export function grade(lesson: Lesson, result: Result): Grade[] {
  return lesson.conditions.map((condition) => {
    const value = quantityOf(result, condition.quantity);
    const { at_least: least = -Infinity, at_most: most = Infinity } = condition;
    const scaled = value === null ? null : value * condition.scale;
    return { condition, value: scaled, kept: scaled !== null && scaled >= least && scaled <= most };
  });
}

function quantityOf(result: Result, path: string): number | null {
  const keys = path.split(".");
  const [part, column] = [keys[0]!, keys.at(-1)!];
  const rows = (result as unknown as Record<string, Row[]>)[part] ?? [];
  const value = rows.find(({ name }) => name === keys.slice(1, -1).join("."))?.[column];
  return typeof value === "number" ? value : null;
}

/** Show a lesson. */
export function show(root: HTMLElement, lesson: Lesson): void {
  root.replaceChildren(
    html("h2", {}, lesson.title),
    ...lesson.text.map((paragraph) => html("p", {}, paragraph)),
    html("p", { class: "question" }, html("strong", {}, "Question. "), lesson.question),
    html("div", { id: "grade", "aria-live": "polite" }),
  );
}

/** Take back what was said of an answer: it was of another run than the one that is shown. */
export function withdrawGrade(words: string): void {
  const root = document.getElementById("grade");
  if (root && root.textContent !== words) {
    delete root.dataset.right;
    root.replaceChildren(html("p", { class: "ungraded" }, words));
  }
}

/** Show how far an answer is right. */
export function showGrade(lesson: Lesson, grades: Grade[]): void {
  const root = document.getElementById("grade");
  if (!root) {
    return;
  }
  const right = grades.every(({ kept }) => kept);
  const rows = grades.map(({ condition, value, kept }) => {
    const { label, unit, at_least: least, at_most: most } = condition;
    const bounds = [
      least === undefined ? "" : `at least ${least} ${unit}`,
      most === undefined ? "" : `at most ${most} ${unit}`,
    ];
    const shown = value === null ? "none" : `${Number(value.toPrecision(3))} ${unit}`;
    const wanted = bounds.filter(Boolean).join(", ");
    const words = `${kept ? "\u2713" : "\u2717"} ${label}: ${shown} (${wanted})`;
    return html("li", { class: kept ? "kept" : "missed" }, words);
  });
  const verdict = right ? `Right. ${lesson.because}` : "Not yet: change the controls and look.";
  root.dataset.right = String(right);
  root.replaceChildren(html("ul", {}, ...rows), html("p", { class: "verdict" }, verdict));
}
