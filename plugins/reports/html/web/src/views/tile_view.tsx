// Tiles of the module tree. A click selects, a double click or Enter zooms, arrows walk the tree.
import { useMemo } from "preact/hooks";
import { tiles, weights, type Picture, type Tile } from "../charts/tiles";
import { figure, joined, percent } from "../format/units";
import { shortened } from "../format/text";
import { useApp, type App } from "../state/app";
import { typeColor } from "./colors";
import { shareOf } from "./figure";

const legible = 36;  // pixels a label needs

export function TileView({ picture, label }: { picture: Picture; label: string }) {
  const app = useApp();
  const { tree, figures, metric, zoom } = app;
  const weight = useMemo(() => weights(tree, figures.values(metric)), [tree, metric]);
  const drawn = useMemo(() => tiles(tree, weight, zoom, picture),
                        [weight, zoom, picture.kind, picture.width, picture.height, picture.levels]);
  const selected = app.selection?.kind === "module" ? app.selection.index : undefined;
  const focusable = drawn.some((tile) => tile.module === selected) ? selected : drawn[0]?.module;
  if (drawn.length === 0) return <p class="empty">nothing to draw: {app.report.metrics[metric]?.title} is 0 here</p>;
  return (
    <div class={`tiles ${picture.kind}`} role="group" aria-label={label}
         style={{ width: `${picture.width}px`, height: `${picture.height}px` }}
         onKeyDown={(event) => onKey(event, app)}>
      {drawn.map((tile) => <TileButton key={tile.module} {...{ app, tile, selected, focusable }} />)}
    </div>
  );
}

function TileButton({ app, tile, selected, focusable }: {
  app: App; tile: Tile; selected: number | undefined; focusable: number | undefined;
}) {
  const { tree, zoom } = app;
  const m = tile.module;
  const name = tree.label(m);
  const state = m === selected ? " selected" : "";
  return (
    <button type="button" tabIndex={m === focusable ? 0 : -1} data-module={m} data-tip={tipOf(app, m)}
            aria-label={`${shortened(tree.title(m), 80)}, ${tileFigure(app, m)}`}
            aria-pressed={m === selected}
            class={`tile${tile.isLeaf ? "" : " branch"}${state}`}
            style={{
              transform: `translate(${tile.x}px, ${tile.y}px)`, width: `${tile.width}px`, height: `${tile.height}px`,
              background: tile.isLeaf ? typeColor(tree, m) : `var(--branch-${tile.level % 3})`,
            }}
            onClick={() => app.update({ selection: { kind: "module", index: m } })}
            onDblClick={() => app.update({ zoom: m === zoom ? Math.max(0, tree.parent(m)) : m })}>
      {tile.width > legible && tile.height > 12 ? <span>{shortened(name, 40)}</span> : null}
    </button>
  );
}

export function tileFigure({ report, figures, metric }: App, m: number): string {
  const cell = figures.cell(metric, m), about = report.metrics[metric]!;
  const share = shareOf(cell, about);
  const text = `${about.title} ${joined(figure(cell, about, report.doubtOf(metric, m)))}`;
  return Number.isNaN(share) ? text : `${text}, ${percent(share)}`;
}

function tipOf(app: App, m: number): string {
  const { tree } = app;
  return `${shortened(tree.title(m), 200)}\n${shortened(tree.text(m), 200)}\n${tileFigure(app, m)}`;
}

/** The neighbour of a module that an arrow leads to; -1: none. */
function neighbour({ tree, zoom }: App, m: number, key: string): number {
  if (key === "ArrowDown") return tree.children(m)[0] ?? -1;
  if (m === zoom) return -1;
  if (key === "ArrowUp") return tree.parent(m);
  const siblings = tree.children(tree.parent(m));
  return siblings[siblings.indexOf(m) + (key === "ArrowRight" ? 1 : -1)] ?? -1;
}

function onKey(event: KeyboardEvent, app: App): void {
  const m = Number((event.target as HTMLElement).dataset["module"]);
  if (event.key === "Enter") app.update({ zoom: m, selection: { kind: "module", index: m } });
  else if (event.key === "Backspace") app.update({ zoom: Math.max(0, app.tree.parent(app.zoom)) });
  else if (event.key.startsWith("Arrow")) {
    const next = neighbour(app, m, event.key);
    if (next >= 0) {
      app.update({ selection: { kind: "module", index: next } });
      const box = event.currentTarget as HTMLElement;
      requestAnimationFrame(() => box.querySelector<HTMLElement>(`[data-module="${next}"]`)?.focus());
    }
  } else return;
  event.preventDefault();
}
