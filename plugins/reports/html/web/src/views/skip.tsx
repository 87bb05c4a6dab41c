// A link for keyboard users, the first on the page: it skips the totals and tabs.

/** The address keeps its view and row, so the link does not follow itself. */
function toView(event: Event): void {
  event.preventDefault();
  const view = document.getElementById("view");
  (view?.querySelector<HTMLElement>(".grid, .graph-box") ?? view)?.focus();
}

export const SkipLink = () => <a class="skip no-print" href="#view" onClick={toView}>Skip to the table</a>;
