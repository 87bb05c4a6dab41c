// The strip above the table, which shows where the cost is. Modules found by the table's search keep their colour.
import { useRef } from "preact/hooks";
import { useApp } from "../state/app";
import { useSize } from "./size";
import { TileView } from "./tile_view";

export function Icicle({ height, levels, matches }: { height: number; levels: number; matches: Uint8Array | undefined }) {
  const app = useApp();
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const title = app.report.metrics[app.metric]?.title ?? "";
  return (
    <div class="icicle-box" ref={box}>
      {width > 0
        ? <TileView picture={{ kind: "icicle", width, height, levels }} label={`share of ${title} by module`} matches={matches} />
        : null}
    </div>
  );
}
