// Parameters, buffers and constants, each with a small picture of its histogram if it has one.
import { useMemo, useState } from "preact/hooks";
import { Axis, tensorKindName } from "../data/codes";
import type { Values } from "../data/values";
import { textOf, type Curves, type Distribution, type RawCount } from "../data/raw";
import { integerOf } from "../data/cell";
import { Spark } from "../charts/histogram";
import { asCsv, asTsv, Grid, type Column, type Sort } from "../grid/grid";
import { shortened } from "../format/text";
import { countOf, grouped } from "../format/units";
import { useApp, type App } from "../state/app";
import { useLoaded } from "../state/load";
import { ColumnMenu, usualMetrics, valueColumn } from "./columns";
import { CopyButton } from "./copy";
import { PathText } from "./path_text";
import { matcher } from "./filters";
import { Check, Search } from "./menu";
import { byNumber, nextSort } from "./module_table";
import { SaveButton } from "./save";

interface Data {
  values: Values;
  curves: Curves;
}

export function TensorTable() {
  const app = useApp();
  const data = useLoaded(async () => {
    const [values, curves] = await Promise.all([app.report.values(Axis.tensor), app.report.curves()]);
    return { values, curves };
  }, [app.report]);
  return data ? <Loaded {...data} /> : <p class="empty" role="status">reading the tensors …</p>;
}

/** By tensor: the first distribution a plugin gave for it. */
function histograms({ distributions }: Curves): Map<number, Distribution> {
  const byTensor = new Map<number, Distribution>();
  for (const d of distributions)
    if (d.of[0] === Axis.tensor && !byTensor.has(d.of[1])) byTensor.set(d.of[1], d);
  return byTensor;
}

/** Two metrics that add up over modules, then the metrics about tensors as such. */
function usualTensorMetrics(app: App, values: Values): number[] {
  return [...usualMetrics(app.report, values, false).slice(0, 2), ...usualMetrics(app.report, values, true)];
}

function Loaded({ values, curves }: Data) {
  const app = useApp();
  const { tensors, report, tree } = app;
  const [query, setQuery] = useState("");
  const [inside, setInside] = useState(false);
  const [parametersOnly, setParametersOnly] = useState(false);
  const [shown, setShown] = useState(() => usualTensorMetrics(app, values));
  const [sort, setSort] = useState<Sort>();
  const scope = app.selection?.kind === "module" ? app.selection.index : 0;
  const pictures = useMemo(() => histograms(curves), [curves]);

  const matching = useMemo(() => {
    const matches = matcher(query);
    return tensors.name.map((_, i) => i).filter((i) =>
      matches(`${tensors.name[i]} ${textOf(tensors.type, i)}`) &&
      (!parametersOnly || tensors.kind[i] === 0) &&
      (!inside || tree.contains(scope, tensors.owner[i]!)));
  }, [query, parametersOnly, inside ? scope : -1]);
  const rows = useMemo(() => {
    if (!sort) return matching;
    return [...matching].sort(byNumber(sortValues(app, values, sort.key), sort.descending ? -1 : 1));
  }, [matching, sort]);
  const columns = useMemo(() => columnsOf(app, values, pictures, shown), [shown, pictures]);
  const selected = app.selection?.kind === "tensor" ? app.selection.index : undefined;
  return (
    <>
      <div class="toolbar">
        <Search label="Search tensors, types, shapes" value={query} onInput={setQuery} />
        <ColumnMenu report={report} available={values.metrics} shown={shown} onChange={setShown} />
        <Check label="Parameters only" checked={parametersOnly} onChange={setParametersOnly} />
        {scope > 0
          ? <Check label={`Only in ${shortened(tree.path(scope), 40)}`} checked={inside} onChange={setInside} />
          : null}
        <CopyButton label="Copy as TSV" text={() => asTsv({ columns, rows })} />
        <SaveButton what="tensors" ending="csv" content={() => asCsv({ columns, rows })} tip="All rows of the table as shown, as a file" />
        <span class="quiet">{countOf(rows.length, "tensor")}</span>
      </div>
      <Grid id="tensors" label="tensors" columns={columns} rows={rows} selected={selected} sort={sort}
            onSort={(key) => setSort(nextSort(sort, key))}
            onSelect={(row) => app.update({ selection: { kind: "tensor", index: row } })}
            empty="no tensor matches" />
    </>
  );
}

const elements = (count: RawCount): string => grouped(integerOf(count) ?? 0n);

function columnsOf({ tensors, report }: App, values: Values, pictures: Map<number, Distribution>, shown: number[]): Column[] {
  const kind = (row: number) => tensorKindName(tensors.kind[row]!) + (tensors.tied_to[row]! >= 0 ? ", tied" : "");
  const type = (row: number) => textOf(tensors.type, row);
  const columns: Column[] = [
    { key: "name", title: "Tensor", width: "minmax(var(--name-width), 1fr)", text: (row) => tensors.name[row] ?? "",
      cell: (row) => <PathText text={tensors.name[row] || "(no name)"} /> },
    { key: "kind", title: "Kind", width: "7rem", text: kind, cell: (row) => <span class="quiet">{kind(row)}</span> },
    { key: "type", title: "Type", width: "12rem", text: type, cell: (row) => <span title={type(row)}>{shortened(type(row), 40)}</span> },
    { key: "numel", title: "Elements", width: "8rem", numeric: true,
      text: (row) => String(integerOf(tensors.numel[row]!) ?? ""), cell: (row) => elements(tensors.numel[row]!) },
  ];
  if (pictures.size > 0)
    columns.push({ key: "picture", title: "Distribution", width: "8rem", text: () => "",
      cell: (row) => { const d = pictures.get(row); return d ? <Spark distribution={d} /> : null; } });
  return [...columns, ...shown.map((i) => valueColumn(report.metrics[i]!, (row) => values.cell(i, row)))];
}

function sortValues({ tensors, report }: App, values: Values, key: string): ArrayLike<number> {
  const ranks = (texts: readonly string[]) => {
    const sorted = [...new Set(texts)].sort();
    const rank = new Map(sorted.map((text, i) => [text, i]));
    return texts.map((text) => rank.get(text)!);
  };
  if (key === "name") return ranks(tensors.name);
  if (key === "kind") return tensors.kind;
  if (key === "type") return ranks(tensors.type.at.map((i) => tensors.type.texts[i] ?? ""));
  if (key === "numel") return tensors.numel.map((n) => Number(integerOf(n) ?? 0n));
  const metric = report.metrics.findIndex((m) => m.id === key);
  return metric >= 0 ? values.numbers(metric) : tensors.kind;
}
