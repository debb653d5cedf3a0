// The data that the page was made with: the engine, and a scenario if one was given.

import { byId } from "./dom";
import { through } from "./fragment";

/** The module, which the page holds compressed. */
export async function compiled(): Promise<WebAssembly.Module> {
  const code = byId("module").textContent ?? "";
  const packed = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
  const bytes = await through(packed, new DecompressionStream("gzip"), 64_000_000);
  return WebAssembly.compile(bytes);
}

/** The scenario that came with the page. */
export function givenScenario(): { text: string; name: string } | null {
  const text = byId("given").textContent?.trim() ?? "";
  return text.startsWith("{") ? JSON.parse(text) : null;
}
