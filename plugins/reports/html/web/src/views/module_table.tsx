// The tree of modules as a table: sorted, searched, filtered by type, collapsed, repeats drawn once.
import { useMemo, useState } from "preact/hooks";
import type { ModuleTree } from "../data/modules";
import { asCsv, asTsv, Grid, type Column, type Sort } from "../grid/grid";
import { firstOpen, isRun, moduleOf, reveal, runText, treeRows } from "../grid/tree_rows";
import { shortened } from "../format/text";
import { useApp, type App } from "../state/app";
import { typeColor } from "./colors";
import { ColumnMenu, usualMetrics, valueColumn } from "./columns";
import { CopyButton } from "./copy";
import { Check, Menu, Search } from "./menu";
import { Icicle } from "./icicle";
import { cellOfRow, matching } from "./rows";
import { SaveButton } from "./save";

const rowsAtFirst = 60;

/** The state of the table, kept while another view is shown. */
class TableState {
  open: Set<number>;
  unfolded = new Set<number>();
  columns: number[];
  query = "";
  types = new Set<string>();
  fold = true;
  flat = false;
  sort: Sort | undefined;
  constructor(app: App) {
    this.open = firstOpen(app.tree, rowsAtFirst);
    this.columns = usualMetrics(app.report, app.values, false);
  }
}
const states = new WeakMap<ModuleTree, TableState>();

function useTableState(app: App): [TableState, (change: Partial<TableState>) => void] {
  let state = states.get(app.tree);
  if (!state) states.set(app.tree, (state = new TableState(app)));
  const [, redraw] = useState(0);
  return [state, (change) => {
    Object.assign(state, change);
    redraw((n) => n + 1);
  }];
}

export function ModuleTable() {
  const app = useApp();
  const { tree, report, values } = app;
  const [state, update] = useTableState(app);
  const selected = app.selection?.kind === "module" ? app.selection.index : undefined;
  useMemo(() => { if (selected !== undefined) show(tree, state, selected); }, [selected]);

  const matches = useMemo(() => matching(tree, state.query, state.types), [state.query, state.types]);
  const columns = useMemo(() => [
    ...nameColumns(tree, state.flat),
    ...state.columns.map((i) => valueColumn(report.metrics[i]!, (row) => cellOfRow(app, i, row),
                                            (row) => report.doubtOf(i, moduleOf(row)))),
  ], [state.columns, state.flat]);
  const { rows, levels } = useMemo(
    () => treeRows(tree, { ...state, matches, compare: comparison(app, state.sort) }),
    [state.open, state.unfolded, state.fold, state.flat, state.sort, matches]);

  const setOpen = (row: number, open: boolean) => {
    const next = new Set(state.open);
    if (open) next.add(row);
    else next.delete(row);
    update({ open: next });
  };
  const select = (row: number) => {
    if (isRun(row)) setOpen(row, !state.open.has(row));
    else app.update({ selection: { kind: "module", index: row } });
  };
  return (
    <>
      <div class="strip"><Icicle height={104} levels={4} matches={matches} /></div>
      <div class="toolbar">
        <Search label="Search modules and types" value={state.query} onInput={(query) => update({ query })} />
        {tree.hasTypes ? <TypeMenu tree={tree} chosen={state.types} onChange={(types) => update({ types })} /> : null}
        <ColumnMenu report={report} available={values.metrics} shown={state.columns}
                    onChange={(shown) => update({ columns: shown })} />
        <Check label="Fold repeats" checked={state.fold} onChange={(fold) => update({ fold, unfolded: new Set() })} />
        <Check label="Flat list" checked={state.flat} onChange={(flat) => update({ flat })} />
        <button type="button" class="plain" onClick={() => update({ open: allOpen(tree) })}>Expand all</button>
        <button type="button" class="plain" onClick={() => update({ open: new Set([0]), unfolded: new Set() })}>Collapse</button>
        <CopyButton label="Copy as TSV" text={() => asTsv({ columns, rows })}
                    tip="All rows of the table as shown; Ctrl+C in the table does the same" />
        <SaveButton what="modules" ending="csv" content={() => asCsv({ columns, rows })} tip="All rows of the table as shown, as a file" />
      </div>
      <Grid id="modules" label="modules" columns={columns} rows={rows} selected={selected} onSelect={select}
            onEnter={(row) => app.update({ zoom: moduleOf(row), view: "map" })}
            sort={state.sort} onSort={(key) => update({ sort: nextSort(state.sort, key) })}
            {...(state.flat ? {} : { tree: {
              level: (position: number) => levels[position] ?? 0,
              isOpen: (row: number) => (isRun(row) || tree.children(row).length > 0
                ? state.open.has(row) || (matches !== undefined && !isRun(row)) : undefined),
              setOpen,
            } })}
            empty="no module matches" />
    </>
  );
}

/** Opens the modules around a module, unless its row is visible already. */
function show(tree: ModuleTree, state: TableState, m: number): void {
  const open = new Set(state.open), unfolded = new Set(state.unfolded);
  reveal(tree, m, open, unfolded);
  if (open.size !== state.open.size) state.open = open;
  if (unfolded.size !== state.unfolded.size) state.unfolded = unfolded;
}

function nameColumns(tree: ModuleTree, flat: boolean): Column[] {
  return [
    {
      key: "name", title: "Module", width: "minmax(var(--name-width), 1fr)",
      cell: (row) => (isRun(row) ? <RunName tree={tree} row={row} /> : <Name tree={tree} m={row} flat={flat} />),
      text: (row) => (isRun(row) ? runTitle(tree, row) : tree.title(row)),
    },
    ...tree.hasTypes ? [typeColumn(tree)] : [],
  ];
}

const typeColumn = (tree: ModuleTree): Column => ({
  key: "type", title: "Type", width: "minmax(8.5rem, 0.3fr)",
  cell: (row) => (isRun(row) ? null : (
    <span class="type" title={shortened(tree.text(row), 300)}>
      {tree.type(row) ? <i class="dot" style={{ background: typeColor(tree, row) }} /> : null}<span>{shortened(tree.type(row), 60)}</span>
    </span>
  )),
  text: (row) => (isRun(row) ? "" : tree.type(row)),
});

function Name({ tree, m, flat }: { tree: ModuleTree; m: number; flat: boolean }) {
  const calls = tree.calls(m);
  return (
    <span class="name" title={shortened(tree.path(m), 300)}>
      {shortened(flat ? tree.title(m) : tree.label(m), 120)}
      {calls > 1 ? <small class="calls" title={`called ${calls} times`}> ×{calls}</small> : null}
    </span>
  );
}

function runTitle(tree: ModuleTree, row: number): string {
  const { repeat, names } = runText(tree, row);
  return `${names}: ${repeat}`;
}

function RunName({ tree, row }: { tree: ModuleTree; row: number }) {
  const { repeat, names } = runText(tree, row);
  return (
    <span class="name run" title="identical modules, drawn once; the values are for all of them">
      <span class="badge">{repeat}</span>{" "}{shortened(names, 81)}
    </span>
  );
}

function TypeMenu({ tree, chosen, onChange }: {
  tree: ModuleTree; chosen: Set<string>; onChange: (types: Set<string>) => void;
}) {
  const types = useMemo(() => {
    const counts = new Map<string, number>();
    for (let m = 0; m < tree.count; ++m) counts.set(tree.type(m), (counts.get(tree.type(m)) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 200);
  }, [tree]);
  const toggle = (type: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(type);
    else next.delete(type);
    onChange(next);
  };
  return (
    <Menu label={chosen.size ? `Types (${chosen.size})` : "Types"}>
      {chosen.size ? <button type="button" class="plain" onClick={() => onChange(new Set())}>all types</button> : null}
      {types.map(([type, count]) => (
        <Check key={type} label={shortened(type || "(none)", 60)} count={count} checked={chosen.has(type)}
               onChange={(on) => toggle(type, on)} />
      ))}
    </Menu>
  );
}

function allOpen(tree: ModuleTree): Set<number> {
  const open = new Set<number>();
  for (let m = 0; m < tree.count; ++m) if (tree.children(m).length > 0) open.add(m);
  for (const first of tree.runs.keys()) open.add(-first - 1);
  return open;
}

/** A first click sorts the largest first, names from a to z; a second reverses the order; a third ends sorting. */
export function nextSort(sort: Sort | undefined, key: string): Sort | undefined {
  const downFirst = key !== "name" && key !== "type";
  if (sort?.key !== key) return { key, descending: downFirst };
  return sort.descending === downFirst ? { key, descending: !downFirst } : undefined;
}

function comparison({ tree, report, values }: App, sort: Sort | undefined) {
  if (!sort) return undefined;
  const sign = sort.descending ? -1 : 1;
  if (sort.key === "name") return (a: number, b: number) => sign * byText(tree.path(a), tree.path(b));
  if (sort.key === "type") return (a: number, b: number) => sign * byText(tree.type(a), tree.type(b));
  const numbers = values.numbers(report.metrics.findIndex((m) => m.id === sort.key));
  return byNumber(numbers, sign);
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Rows without a number come last in both directions. */
export function byNumber(values: ArrayLike<number>, sign: number) {
  return (a: number, b: number): number => {
    const x = values[a]!, y = values[b]!;
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y);
  };
}
