// The operator graph of the selected module. Boxes are coloured by a metric; a double click on a module
// opens it. The layout is computed only when the view is shown.
import { useMemo, useRef, useState } from "preact/hooks";
import { drawingOf } from "../charts/drawing";
import { edgeText } from "../charts/edge_text";
import { isEnd, laidOut, mostBoxes, pictured, type Box, type Flow } from "../charts/flow";
import type { Repeat } from "../charts/repeats";
import { Answers } from "../data/answers";
import { aggregate, valueOf } from "../data/cell";
import { Aggregation } from "../data/codes";
import type { Values } from "../data/values";
import { textOf, type Operators } from "../data/raw";
import { shortened } from "../format/text";
import { joined, scaledValue } from "../format/units";
import { useApp, type App } from "../state/app";
import { heat } from "./colors";
import { Check, Choice } from "./menu";
import { shortOp } from "./names";
import { useOperators } from "./operator_table";
import { SaveButton } from "./save";
import { useSize } from "./size";

export function OperatorGraph() {
  const app = useApp();
  const data = useOperators(app);
  const [shown, setShown] = useState(() => (app.selection?.kind === "module" ? app.selection.index : app.zoom));
  const [metric, setMetric] = useState(app.metric);
  const [fold, setFold] = useState(true);
  // Selecting a box inside the module does not change the graph.
  useMemo(() => {
    const m = app.selection?.kind === "module" ? app.selection.index : undefined;
    if (m !== undefined && !app.tree.contains(shown, m)) setShown(m);
  }, [app.selection]);
  if (!data) return <p class="empty" role="status">reading the operators …</p>;
  const options = data.values.metrics.map((i) => [i, app.report.metrics[i]!.title] as const);
  return (
    <>
      <div class="toolbar">
        <Choice label="Colour" value={metric} options={options} onChange={setMetric} />
        <Check label="Fold repeats" checked={fold} onChange={setFold} tip="Draw consecutive equal boxes once" />
        <nav class="crumbs" aria-label="module of the graph">
          {app.tree.ancestors(shown).map((m) => (
            <button key={m} type="button" class="plain" aria-current={m === shown ? "location" : undefined}
                    onClick={() => setShown(m)}>{shortened(app.tree.label(m), 30)}</button>))}
        </nav>
      </div>
      <Drawing app={app} {...data} module={shown} metric={metric} fold={fold} onOpen={setShown} />
    </>
  );
}

interface DrawingProps {
  app: App;
  operators: Operators;
  values: Values;
  module: number;
  metric: number;
  fold: boolean;
  onOpen: (module: number) => void;
}

function Drawing(props: DrawingProps) {
  const { app, operators, module, fold } = props;
  const { draft, repeats } = useMemo(() => pictured(app.tree, operators, module, fold), [module, fold]);
  const flow = useMemo(() => (draft.boxes.size <= mostBoxes
    ? laidOut(draft, (edge) => edgeText(edge, operators, app.report.summary.inputs), repeats) : undefined), [draft]);
  if (!flow) {
    return (
      <p class="empty">
        {draft.boxes.size.toLocaleString("en-US")} boxes are too many to read. {fold ? "Open" : "Fold repeats, or open"} one of the modules inside:{" "}
        {app.tree.children(module).slice(0, 30).map((m) => (
          <button key={m} type="button" class="link" onClick={() => props.onOpen(m)}>{shortened(app.tree.label(m), 40)}</button>))}
      </p>
    );
  }
  if (flow.boxes.length === 0) return <p class="empty">no operator runs in this module</p>;
  return <Picture {...props} flow={flow} repeats={repeats} />;
}

const smallest = 0.6;  // the zoom at which boxes are still legible

function Picture({ app, operators, values, module, metric, flow, repeats, onOpen }: DrawingProps & { flow: Flow; repeats: Repeat[] }) {
  const [chosen, setZoom] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const zoom = chosen ?? Math.max(smallest, Math.min(1, (width || flow.width) / flow.width));  // as wide as the view
  const drawing = useRef<SVGSVGElement>(null);
  const title = `graph of ${shortened(app.tree.title(module), 60)}`;
  const repeatOf = new Map(repeats.flatMap((repeat) => repeat.boxes.map((id, i) => [id, { times: repeat.times, last: repeat.last[i]! }] as const)));
  const about = app.report.metrics[metric]!;
  const answers = new Answers(operators);
  const given = (box: Box) => box.calls.flatMap((call) => answers.inside(call, metric));
  const cellOf = (box: Box) => aggregate([...box.operators.map((i) => values.cell(metric, i)), ...given(box)],
    about.aggregation === Aggregation.none ? Aggregation.max : about.aggregation);
  const most = Math.max(...flow.boxes.map((box) => valueOf(cellOf(box)) || 0), Number.MIN_VALUE);
  const select = (box: Box) => {
    if (box.kind === "operator" || box.kind === "stretch") app.update({ selection: { kind: "operator", index: box.index } });
    if (box.kind === "module") app.update({ selection: { kind: "module", index: box.index } });
  };
  return (
    <div class="graph-box" ref={box} tabIndex={0} role="region" aria-label="operator graph">
      <div class="graph-tools">
        <button type="button" class="plain" aria-label="larger" onClick={() => setZoom(Math.min(3, zoom * 1.25))}>+</button>
        <button type="button" class="plain" aria-label="smaller" onClick={() => setZoom(Math.max(0.2, zoom / 1.25))}>−</button>
        <button type="button" class="plain" onClick={() => setZoom(1)}>1:1</button>
        <button type="button" class="plain" onClick={() => setZoom(undefined)}>fit</button>
        <SaveButton what={title} ending="svg" content={() => drawingOf(drawing.current!, title)} tip="The graph as a vector drawing" />
      </div>
      <svg class="graph" ref={drawing} width={flow.width * zoom} height={flow.height * zoom}
           viewBox={`0 0 ${flow.width} ${flow.height}`} role="group" aria-label={`${flow.boxes.length} boxes`}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" class="arrow" />
          </marker>
        </defs>
        {flow.frames.map(({ repeat, x, y, width, height }) => (
          <g key={repeat.boxes[0]} class="frame" transform={`translate(${x - width / 2} ${y - height / 2})`}>
            <rect width={width} height={height} rx="8" /><text x="8" y="14">repeat {repeat.times} ×</text>
          </g>))}
        {flow.edges.map((edge) => (
          <g key={`${edge.from} ${edge.to}`}>
            <path class="edge" d={curve(edge.points)} marker-end="url(#arrow)" />
            <text class="edge-text" x={edge.x} y={edge.y + 4} text-anchor="middle">{edgeText(edge, operators, app.report.summary.inputs)}</text>
          </g>))}
        {flow.boxes.map((box) => {
          const cell = cellOf(box);
          return <BoxShape key={box.id} {...{ app, operators, module, box }} repeat={repeatOf.get(box.id)}
            text={joined(scaledValue(cell, about))} fill={isEnd(box) ? "none" : heat((valueOf(cell) || 0) / most)}
            loud={valueOf(cell) / most > 0.25} onSelect={() => select(box)}
            onOpen={() => { if (box.kind === "module") onOpen(box.index); }} />;
        })}
      </svg>
    </div>
  );
}

/** A smooth curve through the midpoints of dagre's points. */
function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const last = rest[rest.length - 1] ?? first;
  let path = `M${first.x} ${first.y}`;
  for (let i = 0; i + 1 < rest.length; ++i) {
    const a = rest[i]!, b = rest[i + 1]!;
    path += `Q${a.x} ${a.y} ${(a.x + b.x) / 2} ${(a.y + b.y) / 2}`;
  }
  return `${path}L${last.x} ${last.y}`;
}

interface BoxProps {
  app: App;
  operators: Operators;
  module: number;
  box: Box;
  /** For a repeated box, which is drawn once: the number of repetitions, and its box in the last one. */
  repeat: { times: number; last: string } | undefined;
  text: string;
  fill: string;
  loud: boolean;
  onSelect: () => void;
  onOpen: () => void;
}

function BoxShape({ app, operators, module, box, repeat, text, fill, loud, onSelect, onOpen }: BoxProps) {
  const title = titleOf(app, operators, box, module, repeat?.last);
  const location = box.kind !== "module" ? textOf(operators.location, box.index) : "";
  const { selection } = app;
  const isSelected = selection !== undefined && selection.kind === (box.kind === "stretch" ? "operator" : box.kind) && selection.index === box.index;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") onOpen();
    if (event.key === " " || event.key === "Enter") { onSelect(); event.preventDefault(); }
  };
  if (isEnd(box)) {
    return (
      <g class={`box outside ${box.kind}`} data-tip={box.kind === "outside" ? undefined : shortened(endText(app, box), 400)} transform={`translate(${box.x - box.width / 2} ${box.y - box.height / 2})`}>
        <rect width={box.width} height={box.height} rx="22" /><text x={box.width / 2} y="27" text-anchor="middle">{title}</text>
      </g>
    );
  }
  const tip = [title, repeat && `repeat ${repeat.times} ×, drawn once; the value is for all`, location && `source ${location}`,
    whatIs(operators, box), text];
  return (
    <g class={`box ${box.kind}${isSelected ? " selected" : ""}${loud ? " loud" : ""}`} tabIndex={0} role="button"
       data-tip={shortened(tip.filter(Boolean).join(" · "), 400)}
       transform={`translate(${box.x - box.width / 2} ${box.y - box.height / 2})`}
       onClick={onSelect} onDblClick={onOpen} onKeyDown={onKeyDown}>
      <rect width={box.width} height={box.height} rx={box.kind === "module" ? 4 : 12} style={{ fill }} />
      <text x="10" y="18">{shortened(title, 25)}</text>
      <text x="10" y="35" class="sub">{shortened([text, repeat && `repeat ${repeat.times} ×`, location].filter(Boolean).join(" · "), 34)}</text>
    </g>
  );
}

/** "h.0" of "transformer.h.0": below the module of the graph, the last name that is not a number, and the numbers after it. */
function nameIn(tree: App["tree"], m: number, module: number): string {
  const names = tree.ancestors(m).slice(tree.ancestors(module).length).map((at) => tree.name(at));
  return names.slice(Math.max(0, names.map((name) => !/^\d*$/.test(name)).lastIndexOf(true))).join(".");
}

/** `last`: for a repeated box, which is drawn once, its box in the last repetition. */
function titleOf({ tree, report }: App, operators: Operators, box: Box, module: number, last?: string): string {
  if (box.kind === "operator") return shortOp(operators, box.index);
  if (box.kind === "stretch") return `${box.operators.length} operators`;
  if (box.kind === "module") {
    const end = last && tree.label(operators.calls.module[Number(last.slice(1))]!);
    return `${nameIn(tree, box.index, module)}${end ? ` … ${end}` : ""} ${tree.type(box.index)}`;
  }
  if (box.kind === "input") return shortened(`input ${endName(report, box)}`, 28);
  if (box.kind === "output") return report.summary.outputs.length > 1 ? `output ${box.index}` : "output";
  return box.id === "in" ? "from outside" : "to outside";
}

function whatIs(operators: Operators, box: Box): string {
  if (box.kind === "operator") return textOf(operators.results, box.index);
  if (box.kind === "stretch") return box.operators.map((i) => shortOp(operators, i)).join(", ");
  return `${box.operators.length} operator calls`;
}
const endName = (report: App["report"], { index }: Box): string => report.summary.inputs[index]?.name || String(index);
const endText = ({ report }: App, box: Box): string => (box.kind === "input"
  ? `input ${endName(report, box)} · ${report.summary.inputs[box.index]?.text ?? ""}` : `output ${box.index} · ${report.summary.outputs[box.index] ?? ""}`);
