// What leaves the page as words: sentences, commands, files, links and grades.

import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "../../src/document";
import type { Fact, Result } from "../../src/engine";
import { csv, python } from "../../src/exporting";
import * as fragment from "../../src/fragment";
import { grade, type Lesson } from "../../src/lessons";
import { sentence } from "../../src/sentences";

const FACT: Fact = {
  time_s: 1.5,
  what: "queued",
  link: "core",
  flow: "bulk",
  number: 7,
  size_bytes: 1500,
  precedence: 0,
  marked: false,
  feedback: false,
};

test("a fact is a sentence", () => {
  assert.equal(
    sentence({ ...FACT, backlog_packets: 3 }),
    "1.5 s: packet 7 of bulk (1500 B) queued at core; 3 wait",
  );
  assert.equal(
    sentence({ ...FACT, what: "dropped", precedence: 2, reason: "overflow" }),
    "1.5 s: packet 7 of bulk (1500 B, red) dropped at core: overflow",
  );
  assert.equal(
    sentence({ ...FACT, what: "delivered", link: null, feedback: true, delay_s: 0.0125 }),
    "1.5 s: acknowledgement 7 of bulk (1500 B) delivered after 12.5 ms",
  );
});

test("a command gives the run again, whatever a shell makes of its words", () => {
  const scenario = { text: "", name: "x.toml", set: [], replication: 0 };
  assert.equal(command(scenario, "x.toml"), "forebay run x.toml");
  const set = ["links.a.rate=5", `links.a.queue={ red = { limit = "it's" } }`];
  assert.equal(
    command({ ...scenario, set, replication: 3 }, "my net.toml"),
    "forebay run 'my net.toml' --set links.a.rate=5 " +
      `--set 'links.a.queue={ red = { limit = "it'\\''s" } }' --replication 3`,
  );
});

test("samples are a table with a row for each time", () => {
  const tables = {
    "series/links.a,b": { time_s: [1, 2], queue_packets: [5, null] },
    "series/flows.bulk": { time_s: [1, 2], throughput_bps: [1e6, 2e6] },
  };
  assert.equal(
    csv(tables),
    'time_s,"links.a,b.queue_packets",flows.bulk.throughput_bps\n1,5,1000000\n2,,2000000\n',
  );
});

test("a program holds the text of the scenario as it is", () => {
  const text = 'name = "a\\tb"\nnote = """\nc"""\n';
  const program = python({ text, set: ["links.a.b=[1]"], replication: 4, name: "x.toml" });
  // In a text of three quotes, `\\` is a backslash and `\"` a quote; three that are bare end it.
  const [, behind = ""] = program.split('SCENARIO = """\\\n');
  const [inside = ""] = behind.split(/(?<!\\)"""/);
  assert.equal(inside.replace(/\\(["\\])/g, "$1"), text);
  assert.match(program, /network\.set\("links\.a\.b", loads\("value = \[1\]"\)\["value"\]\)/);
  assert.match(program, /network\.run\(first=4\)/);
});

test("a link holds a scenario and its lesson", async () => {
  const shared = { text: "name = 'é'\n".repeat(100), set: ["a=1"], replication: 2, lesson: "red" };
  const link = await fragment.write(shared);
  assert.match(link, /^#s=[A-Za-z0-9_-]+$/);
  assert.deepEqual(await fragment.read(link), shared);
});

test("a link that a suite's page has is read", async () => {
  // `fragment` of forebay.suite.lab, of this text.
  const link = "#s=q1YqSa0oUbJSUMpLzE1VsFWIUYopNTBINQHSeUo6CkrFqSDZ6Fggsyi1ICczObEkMz8PKGRQCwA";
  assert.deepEqual(await fragment.read(link), {
    text: 'name = "ä"\n',
    set: [],
    replication: 0,
    lesson: undefined,
  });
});

test("a link to a lesson names it", async () => {
  assert.equal(fragment.lessonIn(fragment.ofLesson("erlang")), "erlang");
  assert.equal(fragment.lessonIn("#s=abc"), null);
  assert.equal(await fragment.read(fragment.ofLesson("erlang")), null);
  assert.equal(await fragment.read(""), null);
});

test("a damaged link is refused", async () => {
  const link = await fragment.write({ text: "x", set: [], replication: 0 });
  await assert.rejects(fragment.read(link.slice(0, -4)), /the link holds no scenario/);
  await assert.rejects(fragment.read("#s=%%%"), /the link holds no scenario/);
  const wrong = { text: 5, set: [], replication: 0 } as unknown as fragment.Shared;
  await assert.rejects(fragment.read(await fragment.write(wrong)), /text, set and replication/);
});

test("a link that would unpack to too much is refused", async () => {
  // 400,000 characters are allowed: as many of one kind take little room in a link.
  const link = await fragment.write({ text: "x".repeat(500_000), set: [], replication: 0 });
  assert.ok(link.length < 10_000);
  await assert.rejects(fragment.read(link), /more than 400000 bytes/);
  await assert.rejects(fragment.read(`#s=${"A".repeat(60_001)}`), /the link is too long/);
});

test("a replication in a link is none below zero", async () => {
  const link = await fragment.write({ text: "x", set: [], replication: -5 });
  assert.equal((await fragment.read(link))!.replication, 0);
});

test("an answer is graded by its result", () => {
  const condition = { quantity: "links.up.link.utilization", label: "", unit: "%", scale: 100 };
  const lesson = (bounds: object): Lesson =>
    ({ conditions: [{ ...condition, ...bounds }] }) as unknown as Lesson;
  const result = { links: [{ name: "up.link", utilization: 0.9 }] } as unknown as Result;
  const graded = (bounds: object) => grade(lesson(bounds), result)[0]!;
  assert.equal(graded({}).value, 90);
  assert.equal(graded({ at_least: 90 }).kept, true);
  assert.equal(graded({ at_most: 89 }).kept, false);
  assert.equal(graded({ at_least: 80, at_most: 95 }).kept, true);
  // What the result lacks is not kept.
  assert.equal(graded({ quantity: "links.other.utilization" }).kept, false);
});
