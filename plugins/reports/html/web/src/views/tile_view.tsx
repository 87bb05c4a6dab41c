// Tiles of the module tree. A click selects, a double click or Enter zooms, arrows move between tiles. A run of identical modules
// is one tile; a click on it draws its modules one by one.
import { useMemo } from "preact/hooks";
import { tiles, weights, type Picture, type Tile } from "../charts/tiles";
import { isRun, moduleOf, reveal, runText } from "../grid/tree_rows";
import { joined, percent, scaledValue } from "../format/units";
import { shortened } from "../format/text";
import { useApp, type App } from "../state/app";
import { heat, typeColor } from "./colors";
import { cellOfRow, foundInside } from "./rows";
import { shareOf } from "./value";

const legible = 36;  // pixels a label needs
const high = 34, letter = 6.3;  // pixels for a value below the name, and about the width of a letter

interface Props {
  picture: Omit<Picture, "isFolded">;
  label: string;
  /** Modules found by a search; all others are grey. */
  matches?: Uint8Array | undefined;
  /** The metric whose heat colours the tiles; undefined: the type colours them. */
  heatOf?: number | undefined;
  /** Runs that are drawn one by one; true: all. */
  unfolded?: ReadonlySet<number> | true;
  onUnfold?: (first: number) => void;
}

interface Drawn {
  app: App;
  tiles: Tile[];
  selected: number | undefined;
  focusable: number | undefined;
  look: (tile: Tile) => { background: string; class: string };
  onUnfold: (first: number) => void;
}

const none: ReadonlySet<number> = new Set();

export function TileView({ picture, label, matches, heatOf, unfolded = none, onUnfold = () => undefined }: Props) {
  const app = useApp();
  const { tree, values, metric, zoom } = app;
  const selected = app.selection?.kind === "module" ? app.selection.index : undefined;
  const weight = useMemo(() => weights(tree, values.numbers(metric)), [tree, metric]);
  const isFolded = useMemo(() => foldingOf(app, selected, unfolded, matches !== undefined), [unfolded, selected, zoom, matches === undefined]);
  const drawn = useMemo(() => tiles(tree, weight, zoom, { ...picture, isFolded }),
                        [weight, zoom, picture.kind, picture.width, picture.height, picture.levels, isFolded]);
  const look = useMemo(() => looks(app, drawn, matches, heatOf), [drawn, matches, heatOf]);
  const focusable = drawn.some((tile) => tile.row === selected) ? selected : drawn[0]?.row;
  if (drawn.length === 0) return <p class="empty">nothing to draw: {app.report.metrics[metric]?.title} is 0 here</p>;
  const all: Drawn = { app, tiles: drawn, selected, focusable, look, onUnfold };
  return (
    <div class={`tiles ${picture.kind}`} role="group" aria-label={label}
         style={{ width: `${picture.width}px`, height: `${picture.height}px` }}
         onKeyDown={(event) => onKey(event, all)}>
      {drawn.map((tile) => <TileButton key={tile.row} {...all} tile={tile} />)}
    </div>
  );
}

/** Runs are folded except those the user opened and those around the selection. A selection in the drawn repetition opens none. */
function foldingOf({ tree, zoom }: App, selected: number | undefined, unfolded: ReadonlySet<number> | true, isSearched: boolean) {
  if (unfolded === true || isSearched) return () => false;
  const open = new Set(unfolded);
  for (const m of [selected, zoom]) if (m !== undefined) reveal(tree, m, new Set(), open);
  return (first: number) => !open.has(first);
}

/** Colours of the tiles. Modules that a search did not find are grey. */
function looks({ tree, values }: App, drawn: Tile[], matches: Uint8Array | undefined, heatOf: number | undefined): Drawn["look"] {
  const numbers = heatOf === undefined ? undefined : values.numbers(heatOf);
  const leaves = drawn.filter((tile) => tile.isLeaf);
  const most = numbers && leaves.reduce((a, { row }) => Math.max(a, numbers[moduleOf(row)] || 0), Number.MIN_VALUE);
  const found = matches && foundInside(tree, matches);
  return ({ row, level, isLeaf }) => {
    const m = moduleOf(row);
    if (!isLeaf) return { background: `var(--branch-${level % 3})`, class: " branch" };
    if (found && !found[m]) return { background: "var(--surface-2)", class: " other" };
    if (numbers) return { background: heat((numbers[m] || 0) / most!), class: " hot" };
    return { background: typeColor(tree, m), class: "" };
  };
}

function TileButton({ app, tile, selected, focusable, look, onUnfold }: Drawn & { tile: Tile }) {
  const { tree, zoom } = app;
  const { row, width, height, isLeaf } = tile;
  const m = moduleOf(row), run = isRun(row) ? runText(tree, row) : undefined;
  const name = shortened(run ? run.names : tree.label(m), 40);
  const { background, class: kind } = look(tile);
  const metric = app.report.metrics[app.metric]!.title;
  const isBelow = isLeaf && height > high && width > 2 * legible;
  const before = isBelow ? 0 : name.length + (run ? run.repeat.length + 3 : 1);
  const texts = [tileText(app, row), tileText(app, row, false)].map((text) => `${text}${tile.isEach ? " each" : ""}`);
  const text = texts.find((each) => letter * (before + each.length) < width - 10);  // the longest that fits
  return (
    <button type="button" tabIndex={row === focusable ? 0 : -1} data-row={row} data-tip={tipOf(app, row)}
            aria-label={`${shortened(run ? `${run.repeat} ${run.names}` : tree.title(m), 80)} ${text ?? texts[0]}, ${metric}${text === texts[1] ? `, ${texts[0]}` : ""}`}
            aria-pressed={run ? undefined : m === selected}
            class={`tile${kind}${row === selected ? " selected" : ""}`}
            style={{ transform: `translate(${tile.x}px, ${tile.y}px)`, width: `${width}px`, height: `${height}px`, background }}
            onClick={() => (run ? onUnfold(m) : app.update({ selection: { kind: "module", index: m } }))}
            onDblClick={() => { if (!run) app.update({ zoom: m === zoom ? Math.max(0, tree.parent(m)) : m }); }}>
      {width > legible && height > 12
        ? <span class={isBelow ? "tile-text below" : "tile-text"}>
            {run ? <><span class="badge">{run.repeat}</span>{" "}</> : null}
            <span class="tile-name">{name}</span>
            {text ? <>{" "}<small>{text}</small></> : null}
          </span>
        : null}
    </button>
  );
}

/** "16.3 % · 667.94 M"; without room the first alone. */
function tileText(app: App, row: number, hasRoom = true): string {
  const { report, metric } = app;
  const cell = cellOfRow(app, metric, row), about = report.metrics[metric]!;
  const share = shareOf(cell, about);
  const texts = [Number.isNaN(share) ? "" : percent(share), joined(scaledValue(cell, about, report.doubtOf(metric, moduleOf(row))))].filter(Boolean);
  return texts.slice(0, hasRoom ? 2 : 1).join(" · ");
}

export function tileValue(app: App, row: number): string {
  return `${app.report.metrics[app.metric]!.title} ${tileText(app, row)}`;
}

function tipOf(app: App, row: number): string {
  const { tree } = app, m = moduleOf(row);
  if (isRun(row)) return `${shortened(runText(tree, row).names, 200)}\nidentical modules, drawn once; a click draws each\n${tileValue(app, row)}`;
  return [shortened(tree.title(m), 200), shortened(tree.text(m), 200), tileValue(app, row)].filter(Boolean).join("\n");
}

/** The neighbour of a tile in the direction of an arrow key. */
function neighbour(all: Tile[], row: number, key: string): number | undefined {
  if (key === "ArrowDown") return all.find((tile) => tile.inside === row)?.row;
  const { inside } = all.find((tile) => tile.row === row) ?? {};
  if (key === "ArrowUp" || inside === undefined) return inside;
  const siblings = all.filter((tile) => tile.inside === inside).map((tile) => tile.row);
  return siblings[siblings.indexOf(row) + (key === "ArrowRight" ? 1 : -1)];
}

function onKey(event: KeyboardEvent, { app, tiles: all, onUnfold }: Drawn): void {
  const row = Number((event.target as HTMLElement).dataset["row"]);
  if (event.key === "Enter" && isRun(row)) onUnfold(moduleOf(row));
  else if (event.key === "Enter") app.update({ zoom: row, selection: { kind: "module", index: row } });
  else if (event.key === "Backspace") app.update({ zoom: Math.max(0, app.tree.parent(app.zoom)) });
  else if (event.key.startsWith("Arrow")) {
    const next = neighbour(all, row, event.key);
    if (next !== undefined) {
      if (!isRun(next)) app.update({ selection: { kind: "module", index: next } });
      const box = event.currentTarget as HTMLElement;
      requestAnimationFrame(() => box.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus());
    }
  } else return;
  event.preventDefault();
}
