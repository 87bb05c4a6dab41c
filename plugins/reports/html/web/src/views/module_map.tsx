// The map: a treemap or an icicle of any metric that adds up over the module tree, with zoom.
import { useRef, useState } from "preact/hooks";
import { shortened } from "../format/text";
import { shareable, useApp } from "../state/app";
import { useSize } from "./size";
import { tileFigure, TileView } from "./tile_view";
import { Choice } from "./menu";
import { typeColor } from "./colors";

export function ModuleMap() {
  const app = useApp();
  const [kind, setKind] = useState<"icicle" | "treemap">("treemap");
  const [levels, setLevels] = useState(4);
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const metrics = shareable(app.report).map((i) => [i, app.report.metrics[i]!.title] as const);
  return (
    <>
      <div class="toolbar">
        <Choice label="Area" value={app.metric} options={metrics} onChange={(metric) => app.update({ metric })} />
        <Choice label="As" value={kind} options={[["treemap", "treemap"], ["icicle", "icicle"]]} onChange={setKind} />
        <Choice label="Levels" value={levels} onChange={setLevels}
                options={[1, 2, 3, 4, 6, 9, 14].map((n) => [n, String(n)] as const)} />
        <Crumbs />
      </div>
      <div class="map" ref={box}>
        {width > 0 ? <TileView picture={{ kind, width, height, levels }} label={`${kind} of the module tree`} /> : null}
      </div>
      <Legend />
    </>
  );
}

/** From the model to the module the map is zoomed to. */
export function Crumbs() {
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
      <span class="quiet">{tileFigure(app, zoom)}</span>
    </nav>
  );
}

function Legend() {
  const { tree } = useApp();
  const seen = new Map<string, string>();
  for (let m = 0; m < tree.count && seen.size < 9; ++m) {
    const color = typeColor(tree, m);
    if (!seen.has(color) && color.includes("kind") && !color.includes("container") && !color.includes("other"))
      seen.set(color, tree.type(m));
  }
  return (
    <p class="legend">
      {[...seen].map(([color, type]) => (
        <span key={color}><i class="dot" style={{ background: color }} />{shortened(type, 30)}</span>
      ))}
      <span class="quiet">click: select · double click or Enter: zoom · Backspace: out · arrows: walk</span>
    </p>
  );
}
