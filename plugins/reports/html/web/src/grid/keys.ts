// The keyboard of a (tree) grid: arrows, Home, End, pages, opening and closing.
import type { GridProps } from "./grid";

interface Context extends GridProps {
  active: number;
  page: number;
}

type Action = (context: Context) => void;

function select(context: Context, position: number): void {
  const row = context.rows[Math.max(0, Math.min(context.rows.length - 1, position))];
  if (row !== undefined) context.onSelect(row);
}

function parentOf({ tree, active }: Context): number {
  const level = tree!.level(active);
  let at = active;
  while (at > 0 && tree!.level(at) >= level) --at;
  return at;
}

function close(context: Context): void {
  const row = context.rows[context.active];
  if (!context.tree || row === undefined) return;
  if (context.tree.isOpen(row)) context.tree.setOpen(row, false);
  else select(context, parentOf(context));
}

function open(context: Context): void {
  const row = context.rows[context.active];
  if (!context.tree || row === undefined) return;
  const isOpen = context.tree.isOpen(row);
  if (isOpen === false) context.tree.setOpen(row, true);
  else if (isOpen) select(context, context.active + 1);
}

const actions: Record<string, Action> = {
  ArrowDown: (c) => select(c, c.active + 1),
  ArrowUp: (c) => select(c, c.active - 1),
  PageDown: (c) => select(c, c.active + c.page),
  PageUp: (c) => select(c, c.active - c.page),
  Home: (c) => select(c, 0),
  End: (c) => select(c, c.rows.length - 1),
  ArrowLeft: close,
  ArrowRight: open,
  Enter: (c) => {
    const row = c.rows[c.active];
    if (row !== undefined) c.onEnter?.(row);
  },
};

/** Returns whether the key was handled. */
export function gridKeys(event: KeyboardEvent, context: Context): boolean {
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return false;
  if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && !context.tree) return false;
  action(context);
  return true;
}
