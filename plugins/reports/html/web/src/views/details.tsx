// Everything about the selected module, operator or tensor: facts, values, findings, curves.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Axis, Provenance, tensorKindName } from "../data/codes";
import { integerOf, type RawCell } from "../data/cell";
import { textOf, type Curves, type Metric, type Target } from "../data/raw";
import type { Doubt } from "../data/report";
import { Histogram } from "../charts/histogram";
import { bounded, shortened, visible } from "../format/text";
import { grouped, percent } from "../format/units";
import { useApp, type App, type Kind, type Selection } from "../state/app";
import { useLoaded } from "../state/load";
import { CopyButton } from "./copy";
import { FamiliesOfRow } from "./family_bars";
import { FindingCard } from "./findings";
import { aboutValue } from "./metric_text";
import { SeriesPlot } from "./charts";
import { shareOf, ValueCell } from "./value";

export const axisOf: Record<Kind, number> = { module: Axis.module, operator: Axis.operator, tensor: Axis.tensor };

export function Details() {
  const app = useApp();
  const selection = app.selection!;
  const Content = { module: ModuleDetails, operator: OperatorDetails, tensor: TensorDetails }[selection.kind];
  const box = useRef<HTMLElement>(null);
  // On a narrow screen the details are below the table and have to be scrolled into view.
  useEffect(() => box.current!.scrollIntoView({ block: "nearest" }), []);
  return (
    <aside class="details" ref={box} aria-label={`selected ${selection.kind}`}>
      <button type="button" class="plain close" aria-label="close details"
              onClick={() => app.update({ selection: undefined })}>×</button>
      <Content app={app} index={selection.index} />
      <CellList app={app} selection={selection} />
      {selection.kind === "tensor" ? <Families app={app} index={selection.index} /> : null}
      <CurvesOf app={app} selection={selection} />
      <FindingsOf app={app} selection={selection} />
    </aside>
  );
}

type Content = { app: App; index: number };

function Heading({ kind, name }: { kind: string; name: string }) {
  return (
    <header>
      <p class="kind">{kind}</p>
      <h2 class="long-name">{visible(bounded(name || "(no name)"))}</h2>
      <CopyButton label="Copy name" text={() => name} />
      <CopyButton label="Copy link" text={() => location.href} tip="The address of this file with this row selected" />
    </header>
  );
}

function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return <dl class="facts-list">{facts.filter(([, value]) => value !== "" && value !== undefined)
    .map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

function ModuleDetails({ app, index }: Content) {
  const { tree } = app;
  const run = tree.runs.get(index);
  const children = tree.children(index);
  return (
    <>
      <Heading kind={shortened(tree.qualifiedType(index), 200)} name={tree.title(index)} />
      <p class="actions">
        {index !== app.zoom && children.length > 0
          ? <button type="button" class="plain" onClick={() => app.update({ zoom: index, view: "map" })}>Zoom map</button> : null}
        {app.report.summary.counts.operators > 0
          ? <button type="button" class="plain" onClick={() => app.update({ view: "graph" })}>Graph</button> : null}
      </p>
      <Facts facts={[
        ["as printed", bounded(visible(tree.text(index)), 2000)],
        ["input", shortened(tree.inputSize(index), 300)],
        ["output", shortened(tree.outputSize(index), 300)],
        ["calls", String(tree.calls(index))],
        ["inside", children.length ? `${children.length} modules, ${tree.size[index]! - 1} in all` : ""],
        ["repeats", run ? `${run.times} × (${run.window} ${run.window === 1 ? "module" : "modules"})` : ""],
      ]} />
    </>
  );
}

function ModuleLink({ app, m }: { app: App; m: number }) {
  return <button type="button" class="link" onClick={() => app.jump({ kind: "module", index: m })}>
    {shortened(app.tree.title(m), 100)}</button>;
}

function OperatorDetails({ app, index }: Content) {
  const operators = useLoaded(() => app.report.operators(), [app.report]);
  if (!operators) return null;
  const producers = [...new Set(operators.back[index]!.map((back) => index - back))];
  return (
    <>
      <Heading kind={`operator call ${index}`} name={textOf(operators.op, index)} />
      <Facts facts={[
        ["module", <ModuleLink app={app} m={operators.module[index]!} />],
        ["source", shortened(textOf(operators.location, index), 300)],
        ["result", shortened(textOf(operators.results, index), 400)],
        ["arguments", <pre>{visible(bounded(textOf(operators.arguments, index), 4000)).replaceAll("␊", "\n")}</pre>],
        ["reads", producers.length ? producers.slice(0, 20).map((at) => (
          <button key={at} type="button" class="link" onClick={() => app.jump({ kind: "operator", index: at })}>
            {at}: {shortened(textOf(operators.op, at), 40)}</button>)) : ""],
        ["tensors", operators.tensors[index]!.length ? operators.tensors[index]!.slice(0, 20).map((t) => (
          <button key={t} type="button" class="link" onClick={() => app.jump({ kind: "tensor", index: t })}>
            {shortened(app.tensors.name[t] ?? "", 60)}</button>)) : ""],
      ]} />
    </>
  );
}

function TensorDetails({ app, index }: Content) {
  const { tensors } = app;
  const tied = tensors.tied_to[index]!;
  return (
    <>
      <Heading kind={tensorKindName(tensors.kind[index]!)} name={tensors.name[index] ?? ""} />
      <Facts facts={[
        ["type", shortened(textOf(tensors.type, index), 200)],
        ["elements", grouped(integerOf(tensors.numel[index]!) ?? 0n)],
        ["module", tensors.owner[index]! >= 0 ? <ModuleLink app={app} m={tensors.owner[index]!} /> : ""],
        ["trainable", tensors.trainable[index] ? "yes" : "no"],
        ["tied to", tied >= 0 ? <button type="button" class="link"
          onClick={() => app.jump({ kind: "tensor", index: tied })}>{shortened(tensors.name[tied] ?? "", 80)}</button> : ""],
      ]} />
    </>
  );
}

function CellList({ app, selection: { kind, index } }: { app: App; selection: Selection }) {
  const { report } = app;
  const values = useLoaded(() => report.values(axisOf[kind]), [kind]);
  if (!values) return null;
  const rows = values.metrics
    .map((i) => ({ i, metric: report.metrics[i]!, cell: values.cell(i, index) }))
    .filter(({ metric, cell }) => cell !== null && metric.provenance !== Provenance.unavailable);
  return (
    <table class="cells">
      <tbody>{rows.map(({ i, metric, cell }) => (
        <CellRow key={i} metric={metric} cell={cell} doubt={kind === "module" ? report.doubtOf(i, index) : "none"} />))}</tbody>
    </table>
  );
}

function Families({ app, index }: Content) {
  const values = useLoaded(() => app.report.values(Axis.tensor), []);
  return values ? <FamiliesOfRow app={app} values={values} row={index} /> : null;
}

function CellRow({ metric, cell, doubt }: { metric: Metric; cell: RawCell; doubt: Doubt }) {
  const share = shareOf(cell, metric);
  return (
    <tr tabIndex={0} data-tip={aboutValue(cell, metric, doubt)}>
      <th scope="row">{metric.title}</th>
      <td class="numeric"><ValueCell cell={cell} metric={metric} doubt={doubt} /></td>
      <td class="quiet numeric">{Number.isNaN(share) ? "" : percent(share)}</td>
    </tr>
  );
}

const about = ({ kind, index }: Selection) => ([axis, at]: Target) =>
  at === index && (axis === axisOf[kind] || (axis === Axis.model && kind === "module" && index === 0));

function CurvesOf({ app, selection }: { app: App; selection: Selection }) {
  const none: Curves = { distributions: [], series: [] };
  const { distributions, series } = app.report.summary.counts;
  const curves = useLoaded(() => (distributions + series > 0 ? app.report.curves() : Promise.resolve(none)), []);
  const own = useMemo(() => ({
    distributions: (curves ?? none).distributions.filter((d) => about(selection)(d.of)),
    series: (curves ?? none).series.filter((s) => about(selection)(s.of))
      .map((s) => ({ s, chart: { x: s.x, curves: [{ title: s.y_title, y: s.y, color: "var(--accent)" }] } })),
  }), [curves, selection]);
  return (
    <>
      {own.distributions.map((d, i) => <Histogram key={i} distribution={d} name={selection.kind} />)}
      {own.series.map(({ s, chart }, i) => (
        <figure key={i}><figcaption>{s.title}</figcaption><SeriesPlot series={s} chart={chart} height={200} /></figure>))}
    </>
  );
}

function FindingsOf({ app, selection }: { app: App; selection: Selection }) {
  const own = app.report.summary.findings.filter((f) => f.targets.some(about(selection)));
  return <>{own.map((finding, i) => <FindingCard key={i} finding={finding} />)}</>;
}
