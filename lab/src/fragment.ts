// A scenario in the fragment of a link, with the lesson that it belongs to, or a lesson alone. What
// comes from a link is bounded, and checked like any other text.

/** The contents of a link. */
export interface Shared {
  text: string;
  set: string[];
  replication: number;
  /** The lesson that it is an answer to, if it is one. */
  lesson?: string | undefined;
}

/** Most characters of a fragment, and most characters of what it holds. */
const LONGEST = 60_000;
const LARGEST = 400_000;
const KEY = "#s=";
const LESSON = "#lesson=";

/** The fragment for a lesson as it begins. */
export function ofLesson(id: string): string {
  return LESSON + id;
}

/** The lesson that a fragment names, or null. */
export function lessonIn(fragment: string): string | null {
  return fragment.startsWith(LESSON) ? fragment.slice(LESSON.length) : null;
}

/** The fragment for a scenario; throws an `Error` if it would be too long. */
export async function write(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const packed = await through(bytes, new CompressionStream("deflate-raw"), LONGEST);
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  const code = btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  if (code.length > LONGEST) {
    throw new Error("the scenario is too large for a link: export it as a file");
  }
  return KEY + code;
}

/** The contents of a fragment; null if it holds no scenario. Throws an `Error` if it is damaged. */
export async function read(fragment: string): Promise<Shared | null> {
  if (!fragment.startsWith(KEY)) {
    return null;
  }
  if (fragment.length > LONGEST + KEY.length) {
    throw new Error(`the link is too long; allowed are ${LONGEST} characters`);
  }
  let found: Partial<Record<keyof Shared, unknown>>;
  try {
    const code = fragment.slice(KEY.length).replace(/-/g, "+").replace(/_/g, "/");
    const packed = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), LARGEST);
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`the link holds no scenario: ${reason}`);
  }
  const { text, set, replication, lesson } = found ?? {};
  const words = Array.isArray(set) && set.every((word) => typeof word === "string");
  if (typeof text !== "string" || !words || !Number.isSafeInteger(replication)) {
    throw new Error("the link holds no scenario: text, set and replication are expected");
  }
  const named = typeof lesson === "string" ? lesson : undefined;
  return { text, set, replication: Math.max(0, replication as number), lesson: named };
}

/** The bytes that a stream makes of others; throws an `Error` if that is more than `most` bytes. */
export async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`more than ${most} bytes`);
    }
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
