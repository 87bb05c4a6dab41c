// The map: a treemap or an icicle of any metric that adds up over the module tree, with zoom and search, coloured by type or by
// the heat of another metric.
import { useMemo, useRef, useState } from "preact/hooks";
import { Provenance } from "../data/codes";
import { shortened } from "../format/text";
import { countOf, joined, percent, scaled } from "../format/units";
import { shareable, useApp, type App } from "../state/app";
import { useSize } from "./size";
import { tileValue, TileView } from "./tile_view";
import { Check, Choice, Search } from "./menu";
import { heat, typeColor } from "./colors";
import { foundInside, matching } from "./rows";

const allLevels = 99, byType = -1;

export function ModuleMap() {
  const app = useApp();
  const { report, tree } = app;
  const [kind, setKind] = useState<"icicle" | "treemap">("treemap");
  const [levels, setLevels] = useState(allLevels);
  const [color, setColor] = useState(byType);
  const [query, setQuery] = useState("");
  const [unfolded, setUnfolded] = useState<ReadonlySet<number> | true>(new Set());
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const matches = useMemo(() => matching(tree, query), [query]);
  const metrics = shareable(report).map((i) => [i, report.metrics[i]!.title] as const);
  const heats = useMemo(() => heatMetrics(app).map((i) => [i, report.metrics[i]!.title] as const), [report]);
  const heatOf = color === byType ? undefined : color;
  return (
    <>
      <div class="toolbar">
        <Search label="Highlight modules and types" value={query} onInput={setQuery} />
        <Choice label="Area" value={app.metric} options={metrics} onChange={(metric) => app.update({ metric })} />
        <Choice label="Colour" value={color} options={[[byType, "type"], ...heats]} onChange={setColor} />
        <Choice label="As" value={kind} options={[["treemap", "treemap"], ["icicle", "icicle"]]} onChange={setKind} />
        <Choice label="Levels" value={levels} onChange={setLevels}
                options={[...[1, 2, 3, 4, 6, 9].map((n) => [n, String(n)] as const), [allLevels, "all"]]} />
        {tree.runs.size > 0
          ? <Check label="Fold repeats" checked={unfolded !== true} onChange={(fold) => setUnfolded(fold ? new Set() : true)} /> : null}
        <Crumbs />
        {matches ? <Found app={app} matches={matches} /> : null}
      </div>
      <div class="map" ref={box}>
        {width > 0
          ? <TileView picture={{ kind, width, height, levels }} label={`${kind} of the module tree`} matches={matches} heatOf={heatOf}
                      unfolded={unfolded} onUnfold={(first) => setUnfolded(new Set([...(unfolded === true ? [] : unfolded), first]))} />
          : null}
      </div>
      <p class="legend">
        {heatOf === undefined ? <Types /> : <Heat app={app} metric={heatOf} />}
        <span class="quiet">click: select · double click or Enter: zoom in · Backspace: zoom out · arrows: move</span>
      </p>
    </>
  );
}

/** From the model to the module the map is zoomed to. */
function Crumbs() {
  const app = useApp();
  const { tree, zoom } = app;
  return (
    <nav class="crumbs" aria-label="zoom">
      {tree.ancestors(zoom).map((m) => (
        <button key={m} type="button" class="plain" aria-current={m === zoom ? "location" : undefined}
                onClick={() => app.update({ zoom: m })}>
          {shortened(tree.label(m), 30)}
        </button>
      ))}
      <span class="quiet">{tileValue(app, zoom)}</span>
    </nav>
  );
}

/** "48 modules found: 35.8 % of MACs" */
function Found({ app, matches }: { app: App; matches: Uint8Array }) {
  const { tree, values, report, metric } = app;
  const numbers = values.numbers(metric), found = foundInside(tree, matches);
  const outermost = Array.from({ length: tree.count }, (_, m) => m).filter((m) => found[m] && !found[tree.parent(m)]);
  const share = outermost.reduce((sum, m) => sum + (numbers[m] || 0), 0) / numbers[0]!;
  return <span role="status">{countOf(matches.reduce((a, b) => a + b, 0), "module")} found
    {Number.isFinite(share) ? `: ${percent(share)} of ${report.metrics[metric]!.title}` : ""}</span>;
}

/** The metrics in which a module has a value above 0. */
const heatMetrics = ({ report, values }: App): number[] =>
  values.metrics.filter((i) => report.metrics[i]!.provenance !== Provenance.unavailable && values.numbers(i).some((v) => v > 0));

function Heat({ app: { tree, values, report }, metric }: { app: App; metric: number }) {
  const about = report.metrics[metric]!;
  const most = values.numbers(metric).reduce((a, v, m) => (tree.children(m).length === 0 && v > a ? v : a), 0);
  return (
    <span>{about.title}: 0 <i class="scale" aria-hidden="true" style={{ background: `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((v) => heat(v * v)).join(", ")})` }} />
      {" "}{joined(scaled(most, about.unit_kind, about.unit))}</span>
  );
}

function Types() {
  const { tree } = useApp();
  const seen = new Map<string, string>();
  for (let m = 0; m < tree.count && seen.size < 9; ++m) {
    const color = typeColor(tree, m);
    if (!seen.has(color) && color.includes("kind") && !color.includes("container") && !color.includes("other"))
      seen.set(color, tree.type(m));
  }
  return <>{[...seen].filter(([, type]) => type).map(([color, type]) => (
    <span key={color}><i class="dot" style={{ background: color }} />{shortened(type, 30)}</span>))}</>;
}
