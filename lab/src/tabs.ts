// The two tabs beside the drawing: controls and text.

import { byId } from "./dom";

/** Show the tab that is clicked, or chosen by an arrow key. */
export function listenToTabs(): void {
  const tabs = ["controls", "text"];
  const choose = (chosen: string): void => {
    for (const name of tabs) {
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", String(name === chosen));
      tab.tabIndex = name === chosen ? 0 : -1;
      byId(name).hidden = name !== chosen;
    }
  };
  for (const name of tabs) {
    byId(`tab-${name}`).addEventListener("click", () => choose(name));
    byId(`tab-${name}`).addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        const other = tabs.find((each) => each !== name)!;
        choose(other);
        byId(`tab-${other}`).focus();
      }
    });
  }
}
