// Key paths of parameters: names with dots between them. A name with a dot or a space in it is in
// quotes, and an entry of a list has its number in brackets: `links."up.link".queue.wfq.classes[1]`
// is the second class of a queue.

/** The names of a key path, without their quotes; the number of a list's entry is part of its name,
 * as in `classes[1]`. */
export function splitPath(path: string): string[] {
  const names = path.match(/(?:"[^"]*"|'[^']*'|[^."'])+/g) ?? [];
  return names.map((name) => name.trim().replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

/** The same path as assignments have it (`--set`): the number of a list's entry is a name of its
 * own, as in `classes.1`. */
export function assignmentPath(path: string): string {
  return path.replace(/"[^"]*"|'[^']*'|\[(\d+)\]/g, (part, entry?: string) =>
    entry === undefined ? part : `.${entry}`,
  );
}
