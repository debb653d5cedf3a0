// Colours of groups of flows and of links, the same in charts and in the drawing.

/** Colours that colour-blind readers can tell apart (Okabe and Ito, 2008). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7f00"];
/** The same, lighter, on a dark page. */
const LIGHTER = ["#5ab4e8", "#f28e4b", "#3fc8a0", "#e3a3c8", "#f0c04a", "#a5d8f5", "#d8cf57"];

/** The query that matches while the page is dark. */
export const dark = matchMedia("(prefers-color-scheme: dark)");

/** The colour of the line, or of the group of flows, with this number. */
export function colour(number: number): string {
  const colours = dark.matches ? LIGHTER : COLOURS;
  return colours[number % colours.length]!;
}

/** The colour that meters and markers give a packet, by its drop precedence; the first, green, is
 * that of a packet that nothing has coloured, too, and is not drawn. */
export function precedenceColour(precedence: number): string | null {
  const [yellow, red] = dark.matches ? ["#ffd84a", "#ff7a66"] : ["#d9a400", "#c62010"];
  return precedence === 0 ? null : precedence === 1 ? yellow : red;
}
