// Findings with evidence, gain, action and targets; then the warnings.
import { useState } from "preact/hooks";
import { severityName } from "../data/codes";
import { valueOf } from "../data/cell";
import type { Finding } from "../data/raw";
import { bounded, shortened, visible } from "../format/text";
import { joined, percent, scaledValue } from "../format/units";
import { useApp } from "../state/app";
import { nameOf, selectionOf, useNamesOf } from "./names";

export function Findings() {
  const { findings, warnings } = useApp().report.summary;
  return (
    <div class="findings">
      {findings.length > 0 ? <h2>Findings</h2> : null}
      {findings.map((finding, i) => <FindingCard key={i} finding={finding} />)}
      {warnings.length > 0 ? <h2>Warnings</h2> : null}
      <ul class="warnings">{warnings.map((text, i) => <li key={i}>{visible(bounded(text, 2000))}</li>)}</ul>
    </div>
  );
}

const targetsAtFirst = 6;

export function FindingCard({ finding }: { finding: Finding }) {
  const app = useApp();
  const [all, setAll] = useState(false);
  const severity = severityName(finding.severity);
  const targets = finding.targets.filter((target) => selectionOf(target));
  const shown = all ? targets : targets.slice(0, targetsAtFirst);
  const operators = useNamesOf(shown);
  return (
    <article class={`finding severity-${severity}`}>
      <h3><span class="chip">{severity}</span> {shortened(finding.text, 1000)}</h3>
      {finding.evidence ? <p class="evidence">{visible(bounded(finding.evidence, 4000))}</p> : null}
      {finding.changes.length > 0
        ? <p class="gain">{finding.changes.map((change, i) => <Change key={i} change={change} />)}</p> : null}
      {finding.action ? <p><b>What to do:</b> {visible(bounded(finding.action, 4000))}</p> : null}
      {shown.length > 0
        ? <p class="targets">
            {shown.map((target, i) => (
              <button key={i} type="button" class="link" onClick={() => app.jump(selectionOf(target)!)}>
                {shortened(nameOf(app, target, operators), 80)}
              </button>
            ))}
            {targets.length > shown.length
              ? <button type="button" class="plain" onClick={() => setAll(true)}>{targets.length - shown.length} more</button>
              : null}
          </p>
        : null}
      <p class="quiet small">{finding.rule} · {finding.plugin}</p>
    </article>
  );
}

function Change({ change: [id, from, to] }: { change: Finding["changes"][number] }) {
  const metric = useApp().report.metrics.find((m) => m.id === id);
  const text = (cell: typeof from) => (metric ? joined(scaledValue(cell, metric)) : String(cell));
  const share = (valueOf(to) - valueOf(from)) / valueOf(from);
  const relative = Number.isFinite(share) && share !== 0 ? ` (${share > 0 ? "+" : "−"}${percent(Math.abs(share))})` : "";
  return <span class="change">{metric?.title ?? id}: {text(from)} → <b>{text(to)}</b>{relative}</span>;
}
