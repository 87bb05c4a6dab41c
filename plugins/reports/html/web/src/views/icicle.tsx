// The strip above the table: where the cost is, at a glance.
import { useRef } from "preact/hooks";
import { useApp } from "../state/app";
import { useSize } from "./size";
import { TileView } from "./tile_view";

export function Icicle({ height, levels }: { height: number; levels: number }) {
  const app = useApp();
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const title = app.report.metrics[app.metric]?.title ?? "";
  return (
    <div class="icicle-box" ref={box}>
      {width > 0
        ? <TileView picture={{ kind: "icicle", width, height, levels }} label={`share of ${title} by module`} />
        : null}
    </div>
  );
}
