// The printed page, which replaces the views: the map, the first rows of the table, all findings.
import { useLayoutEffect, useState } from "preact/hooks";
import { firstOpen, isRun, moduleOf, runText, treeRows } from "../grid/tree_rows";
import { shortened } from "../format/text";
import { useApp } from "../state/app";
import { usualMetrics } from "./columns";
import { FindingCard } from "./findings";
import { cellOfRow } from "./rows";
import { TileView } from "./tile_view";
import { ValueCell } from "./value";

const rowsAtMost = 120, columnsAtMost = 6;
const pageWidth = 700;  // CSS pixels of an A4 page between its margins

/** Whether the page is being printed; the sheet exists only then. */
function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useLayoutEffect(() => {
    const media = matchMedia("print");
    const follow = () => setPrinting(media.matches);
    follow();
    const begin = () => setPrinting(true), end = () => setPrinting(false);
    media.addEventListener("change", follow);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      media.removeEventListener("change", follow);
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

export function PrintSheet() {
  return usePrinting() ? <Sheet /> : null;
}

function Sheet() {
  const app = useApp();
  const { report } = app;
  return (
    <div class="print-sheet">
      <h2>{report.metrics[app.metric]?.title} by module</h2>
      <TileView picture={{ kind: "icicle", width: pageWidth, height: 130, levels: 4 }} label="map" />
      <PrintTable />
      <h2>Findings</h2>
      {report.summary.findings.map((finding, i) => <FindingCard key={i} finding={finding} />)}
      <ul>{report.summary.warnings.map((text, i) => <li key={i}>{shortened(text, 500)}</li>)}</ul>
      <p class="quiet">tmeter {report.summary.run.version} · {report.summary.run.command}</p>
    </div>
  );
}

function PrintTable() {
  const app = useApp();
  const { tree, report, values } = app;
  const metrics = usualMetrics(report, values, false).slice(0, columnsAtMost);
  const { rows, levels } = treeRows(tree, { open: firstOpen(tree, rowsAtMost), fold: true, unfolded: new Set(), flat: false });
  return (
    <table>
      <thead><tr><th>Module</th><th>Type</th>{metrics.map((i) => <th key={i} class="numeric">{report.metrics[i]!.title}</th>)}</tr></thead>
      <tbody>
        {rows.slice(0, rowsAtMost).map((row, r) => (
          <tr key={row}>
            <th scope="row" style={{ paddingLeft: `${levels[r]! * 10}px` }}>
              {isRun(row) ? runText(tree, row).repeat : shortened(tree.label(row), 60)}</th>
            <td>{isRun(row) ? "" : shortened(tree.type(row), 30)}</td>
            {metrics.map((i) => <td key={i} class="numeric">
              <ValueCell cell={cellOfRow(app, i, row)} metric={report.metrics[i]!} doubt={report.doubtOf(i, moduleOf(row))} /></td>)}
          </tr>))}
      </tbody>
      {rows.length > rowsAtMost ? <tfoot><tr><td colSpan={2 + metrics.length}>and {rows.length - rowsAtMost} more rows</td></tr></tfoot> : null}
    </table>
  );
}
