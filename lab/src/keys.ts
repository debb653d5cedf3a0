// The keys that steer a run.

/** The commands that a run takes. */
export interface Steered {
  toggle(): void;
  step(): void;
  event(): void;
}

/** Space, full stop and comma, wherever the focus is, unless something is typed. */
export function listenToKeys(run: Steered): void {
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typing = target.closest("textarea, input:is([type=text], [type=number])");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === " ") {
      // A space is for the control that has the focus, if one has.
      if (!target.closest("input, select, button, summary, [role=tab]")) {
        event.preventDefault();
        run.toggle();
      }
    } else if (event.key === ".") {
      run.step();
    } else if (event.key === ",") {
      run.event();
    }
  });
}
