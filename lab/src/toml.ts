// Changing one value in the text of a scenario, with everything else as it is: comments, order,
// layout. This reads as much of TOML as scenarios use. What it gives is compared with the engine's
// own reading before it is taken (see `document.ts`), so a text that it misreads is left alone.

/** A part of the text. */
interface Span {
  from: number;
  to: number;
}

interface Entry {
  path: string[];
  value: Span;
}

/** `text` with `value` at the key path; null if there is no place for it. */
export function setValue(text: string, path: string[], value: string): string | null {
  const found = scan(text);
  for (const entry of found.entries) {
    if (!isPrefix(entry.path, path)) {
      continue;
    }
    const rest = path.slice(entry.path.length);
    const old = text.slice(entry.value.from, entry.value.to);
    const changed = inside(old, rest, value);
    return changed === null ? null : splice(text, entry.value, changed);
  }
  const table = found.tables
    .filter((table) => isPrefix(table.path, path) && table.path.length < path.length)
    .sort((a, b) => b.path.length - a.path.length)[0]!;
  const line = `${path.slice(table.path.length).map(quoteKey).join(".")} = ${value}\n`;
  const before = table.end > 0 && text[table.end - 1] !== "\n" ? "\n" : "";
  return splice(text, { from: table.end, to: table.end }, before + line);
}

/** The keys of a path such as `links."a b".rate`. */
export function splitPath(path: string): string[] {
  return keys(path, 0).path;
}

/** A value with `value` at `rest` within it. */
function inside(old: string, rest: string[], value: string): string | null {
  if (rest.length === 0) {
    return value;
  }
  if (old.startsWith('"')) {
    // A mechanism by its name alone: `queue = "codel"`.
    return old === `"${rest[0]}"` && rest.length > 1
      ? `{ ${quoteKey(rest[0]!)} = { ${rest.slice(1).map(quoteKey).join(".")} = ${value} } }`
      : null;
  }
  if (!old.startsWith("{")) {
    return null;
  }
  for (const entry of inline(old)) {
    if (isPrefix(entry.path, rest)) {
      const inner = old.slice(entry.value.from, entry.value.to);
      const changed = inside(inner, rest.slice(entry.path.length), value);
      return changed === null ? null : splice(old, entry.value, changed);
    }
  }
  const added = `${rest.map(quoteKey).join(".")} = ${value}`;
  const body = old.slice(1, -1).trim();
  return body ? `{ ${body}, ${added} }` : `{ ${added} }`;
}

/** All entries of tables, and where each table ends. */
function scan(text: string): { entries: Entry[]; tables: { path: string[]; end: number }[] } {
  const entries: Entry[] = [];
  let table = { path: [] as string[], end: 0 };
  const tables = [table];
  let at = 0;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).trim();
    if (line.startsWith("[")) {
      const isList = line.startsWith("[[");
      const header = keys(text, text.indexOf("[", at) + (isList ? 2 : 1));
      table = { path: isList ? ["[]"] : header.path, end: Math.min(end + 1, text.length) };
      tables.push(table);
      at = end + 1;
    } else if (line === "" || line.startsWith("#")) {
      at = end + 1;
    } else {
      const key = keys(text, at);
      const from = skipSpace(text, key.end + 1);
      const to = valueEnd(text, from);
      entries.push({ path: [...table.path, ...key.path], value: { from, to } });
      at = lineEnd(text, to) + 1;
      table.end = Math.min(at, text.length);
    }
  }
  return { entries, tables };
}

/** The entries of an inline table. */
function inline(table: string): Entry[] {
  const entries: Entry[] = [];
  let at = skipSpace(table, 1);
  while (at < table.length - 1) {
    const key = keys(table, at);
    const from = skipSpace(table, key.end + 1);
    const to = valueEnd(table, from);
    if (to <= at) {
      break;
    }
    entries.push({ path: key.path, value: { from, to } });
    at = skipSpace(table, to);
    if (table[at] === ",") {
      at = skipSpace(table, at + 1);
    }
  }
  return entries;
}

/** A dotted key that begins at `at`: its parts, and where it ends, before `=` or `]`. */
function keys(text: string, at: number): { path: string[]; end: number } {
  const path: string[] = [];
  let part = "";
  let end = at;
  // The number of a list, as in `classes[1]`, belongs to its key; another bracket ends a header.
  let inside = false;
  for (; end < text.length && (inside || !"=]\n".includes(text[end]!)); end++) {
    const c = text[end]!;
    inside = c === "[" || (inside && c !== "]");
    if (c === '"' || c === "'") {
      const close = text.indexOf(c, end + 1);
      part += text.slice(end + 1, close < 0 ? text.length : close);
      end = close < 0 ? text.length : close;
    } else if (c === ".") {
      path.push(part.trim());
      part = "";
    } else {
      part += c;
    }
  }
  path.push(part.trim());
  return { path, end };
}

/** Where the value that begins at `from` ends. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  let at = from;
  let last = from;
  while (at < text.length) {
    const c = text[at]!;
    if (c === '"' || c === "'") {
      at = stringEnd(text, at);
      last = at;
      continue;
    }
    if (c === "#") {
      at = lineEnd(text, at);
      continue;
    }
    if (depth === 0 && (c === "\n" || c === "," || c === "}" || c === "]")) {
      return last;
    }
    depth += c === "{" || c === "[" ? 1 : c === "}" || c === "]" ? -1 : 0;
    at++;
    if (c.trim() !== "") {
      last = at;
    }
  }
  return last;
}

function stringEnd(text: string, from: number): number {
  const quote = text[from]!;
  const triple = quote.repeat(3);
  if (text.startsWith(triple, from)) {
    const close = text.indexOf(triple, from + 3);
    return close < 0 ? text.length : close + 3;
  }
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\" && quote === '"') {
      at++;
    } else if (text[at] === quote) {
      return at + 1;
    }
  }
  return text.length;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function skipSpace(text: string, at: number): number {
  let to = at;
  while (to < text.length && (text[to] === " " || text[to] === "\t" || text[to] === "\n")) {
    to++;
  }
  return to;
}

function splice(text: string, { from, to }: Span, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

function isPrefix(head: string[], path: string[]): boolean {
  return head.every((key, place) => path[place] === key);
}

function quoteKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
