// "/" goes to the search field of the view; from a view without one, to that of the modules.
import { useEffect, useRef } from "preact/hooks";
import type { App } from "../state/app";

const isTyping = (at: EventTarget | null) => at instanceof Element && at.matches("input, select, textarea");

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>("#view .search");
  field?.focus();
  field?.select();
  return field !== null;
}

export function useSlash(app: App): void {
  const wanted = useRef(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      if (focusSearch()) return;
      wanted.current = true;
      app.update({ view: "modules" });
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  useEffect(() => {
    if (wanted.current) wanted.current = !focusSearch();
  }, [app.view]);
}
