// Operator calls one by one in the order they run, or one row for each operator.
import { useMemo, useState } from "preact/hooks";
import { Answers } from "../data/answers";
import { aggregate, valueOf, type RawCell } from "../data/cell";
import { Axis } from "../data/codes";
import type { Values } from "../data/values";
import { textOf, type Operators } from "../data/raw";
import { asCsv, asTsv, Grid, type Column, type Sort } from "../grid/grid";
import { shortened } from "../format/text";
import { countOf } from "../format/units";
import { useApp, type App } from "../state/app";
import { useLoaded } from "../state/load";
import { operatorColor } from "./colors";
import { ColumnMenu, usualMetrics, valueColumn } from "./columns";
import { CopyButton } from "./copy";
import { matcher } from "./filters";
import { Check, Search } from "./menu";
import { byNumber, nextSort } from "./module_table";
import { SaveButton } from "./save";

export interface OperatorData {
  operators: Operators;
  values: Values;
}

export function useOperators(app: App): OperatorData | undefined {
  return useLoaded(async () => {
    const [operators, values] = await Promise.all([app.report.operators(), app.report.values(Axis.operator)]);
    return { operators, values };
  }, [app.report]);
}

export function OperatorTable() {
  const app = useApp();
  const data = useOperators(app);
  return data ? <Loaded {...data} /> : <p class="empty" role="status">reading the operators …</p>;
}

function Loaded({ operators, values }: OperatorData) {
  const app = useApp();
  const [byName, setByName] = useState(false);
  const [query, setQuery] = useState("");
  const [inside, setInside] = useState(false);
  const [shown, setShown] = useState(() => usualMetrics(app.report, values, false));
  const [sort, setSort] = useState<Sort>();
  const scope = app.selection?.kind === "module" ? app.selection.index : 0;

  const calls = useMemo(() => matchingCalls(app, operators, query, inside ? scope : 0),
                        [query, inside ? scope : 0]);
  const table = useMemo(() => (byName
    ? nameTable(app, { operators, values }, calls, answeredTypes(app, operators, query, inside ? scope : 0), shown)
    : callTable(app, { operators, values }, calls, shown)), [byName, calls, shown]);
  const rows = useMemo(() => {
    if (!sort) return table.rows;
    const numbers = table.numbers(sort.key);
    return [...table.rows].sort(byNumber(numbers, sort.descending ? -1 : 1));
  }, [table, sort]);
  const selected = !byName && app.selection?.kind === "operator" ? app.selection.index : undefined;
  return (
    <>
      <div class="toolbar">
        <Search label="Search operators, modules, source" value={query} onInput={setQuery} />
        <ColumnMenu report={app.report} available={values.metrics} shown={shown} onChange={setShown} />
        <Check label="By operator" checked={byName} onChange={setByName} />
        {scope > 0
          ? <Check label={`Only in ${shortened(app.tree.path(scope), 40)}`} checked={inside} onChange={setInside} />
          : null}
        <CopyButton label="Copy as TSV" text={() => asTsv({ columns: table.columns, rows })} />
        <SaveButton what="operators" ending="csv" content={() => asCsv({ columns: table.columns, rows })} tip="All rows of the table as shown, as a file" />
        <span class="quiet">{countOf(calls.length, "call")}</span>
      </div>
      <Grid id="operators" label={byName ? "operators" : "operator calls"} columns={table.columns} rows={rows}
            selected={selected} sort={sort} onSort={(key) => setSort(nextSort(sort, key))}
            onSelect={(row) => {
              if (byName && row >= operators.op.texts.length) return;  // a type of modules
              if (byName) setQuery(operators.op.texts[row] ?? "");
              if (byName) setByName(false);
              else app.update({ selection: { kind: "operator", index: row } });
            }}
            empty="no operator matches" />
    </>
  );
}

function matchingCalls({ tree }: App, operators: Operators, query: string, scope: number): number[] {
  const matches = matcher(query);
  const calls: number[] = [];
  for (let i = 0; i < operators.module.length; ++i) {
    const m = operators.module[i]!;
    if (scope > 0 && !tree.contains(scope, m)) continue;
    if (!query || matches(`${textOf(operators.op, i)} ${tree.path(m)} ${textOf(operators.location, i)}`)) calls.push(i);
  }
  return calls;
}

/** Types of the modules whose calls have values of their own → those calls. */
function answeredTypes({ tree }: App, operators: Operators, query: string, scope: number): Map<string, number[]> {
  const matches = matcher(query);
  const types = new Map<string, number[]>();
  for (const call of new Answers(operators).calls) {
    const m = operators.calls.module[call]!;
    const type = tree.qualifiedType(m);
    if (scope > 0 && !tree.contains(scope, m)) continue;
    if (query && !matches(`${type} ${tree.path(m)}`)) continue;
    types.set(type, [...(types.get(type) ?? []), call]);
  }
  return types;
}

interface Table {
  columns: Column[];
  rows: number[];
  numbers: (key: string) => ArrayLike<number>;
}

const rankOf = (texts: readonly string[]): Float64Array => {
  const order = texts.map((_, i) => i).sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1));
  const ranks = new Float64Array(texts.length);
  order.forEach((i, rank) => { ranks[i] = rank; });
  return ranks;
};

function callTable(app: App, { operators, values }: OperatorData, rows: number[], shown: number[]): Table {
  const { tree, report } = app;
  const text = (of: (row: number) => string, most = 80) => ({
    cell: (row: number) => <span title={shortened(of(row), 300)}>{shortened(of(row), most)}</span>, text: of,
  });
  const columns: Column[] = [
    { key: "index", title: "#", width: "4.2rem", numeric: true, cell: (row) => row, text: String },
    { key: "name", title: "Operator", width: "minmax(11rem, 1fr)",
      cell: (row) => <OperatorName operators={operators} row={row} />, text: (row) => textOf(operators.op, row) },
    { key: "module", title: "Module", width: "minmax(10rem, 1fr)", ...text((row) => tree.path(operators.module[row]!)) },
    { key: "results", title: "Result", width: "13rem", ...text((row) => textOf(operators.results, row)) },
    ...shown.map((i) => valueColumn(report.metrics[i]!, (row) => values.cell(i, row))),
  ];
  const numbers = (key: string): ArrayLike<number> => {
    if (key === "index") return operators.module.map((_, i) => i);
    if (key === "module") return operators.module;
    const texts = { name: operators.op, results: operators.results }[key];
    if (!texts) return values.numbers(report.metrics.findIndex((m) => m.id === key));
    const ranks = rankOf(texts.texts);
    return texts.at.map((i) => ranks[i]!);
  };
  return { columns, rows, numbers };
}

function OperatorName({ operators, row }: { operators: Operators; row: number }) {
  const name = textOf(operators.op, row);
  return <span class="type" title={shortened(name, 300)}>
    <i class="dot" style={{ background: operatorColor(namesOf(operators), name) }} /><span>{shortened(name, 60)}</span>
  </span>;
}

const callNames = new WeakMap<Operators, string[]>();

/** The operator of every call; always the same array. */
export function namesOf(operators: Operators): string[] {
  let names = callNames.get(operators);
  if (!names) callNames.set(operators, (names = operators.op.at.map((i) => operators.op.texts[i] ?? "")));
  return names;
}

/** Rows are the numbers of operators in the dictionary; then those of the types, in order. */
function nameTable({ report }: App, { operators, values }: OperatorData, calls: number[], types: Map<string, number[]>,
                   shown: number[]): Table {
  const answers = new Answers(operators), first = operators.op.texts.length;
  const names = [...operators.op.texts, ...types.keys()];

  const callsOf = new Map<number, number[]>();
  for (const call of calls) {
    const op = operators.op.at[call]!;
    const list = callsOf.get(op);
    if (list) list.push(call);
    else callsOf.set(op, [call]);
  }
  [...types.values()].forEach((list, i) => callsOf.set(first + i, list));
  const cells = new Map<string, RawCell>();
  const cellOf = (metric: number, op: number): RawCell => {
    const key = `${metric}:${op}`;
    if (!cells.has(key)) {
      const own = (callsOf.get(op) ?? []).map((call) => (op < first ? values.cell(metric, call) : answers.cell(call, metric)));
      cells.set(key, aggregate(own, report.metrics[metric]!.aggregation));
    }
    return cells.get(key) ?? null;
  };
  const name = (op: number) => names[op] ?? "";
  const columns: Column[] = [
    { key: "name", title: "Operator", width: "minmax(12rem, 1fr)", text: name,
      cell: (op) => <span class="type"><i class="dot" style={{ background: operatorColor(namesOf(operators), name(op)) }} />
        {shortened(name(op), 80)}</span> },
    { key: "calls", title: "Calls", width: "5.5rem", numeric: true, cell: (op) => (callsOf.get(op) ?? []).length.toLocaleString("en-US"),
      text: (op) => String((callsOf.get(op) ?? []).length) },
    ...shown.map((i) => valueColumn(report.metrics[i]!, (op) => cellOf(i, op))),
  ];
  const all = names.map((_, op) => op);
  const numbers = (key: string): ArrayLike<number> => {
    if (key === "name") return rankOf(names);
    if (key === "calls") return all.map((op) => callsOf.get(op)?.length ?? 0);
    const metric = report.metrics.findIndex((m) => m.id === key);
    return all.map((op) => valueOf(cellOf(metric, op)));
  };
  return { columns, rows: [...callsOf.keys()].sort((a, b) => callsOf.get(b)!.length - callsOf.get(a)!.length), numbers };
}
