// The first screen: how big, how heavy, and how far the values can be trusted.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Provenance, provenanceName, severityName } from "../data/codes";
import { isKnown, kindOf, valueOf } from "../data/cell";
import type { Report } from "../data/report";
import type { Metric } from "../data/raw";
import { countOf, exact, joined, percent, scaledValue, yesNo } from "../format/units";
import { shareable, type App } from "../state/app";
import { aboutValue } from "./metric_text";
import { useNarrow } from "./size";

const cardWidth = 150, others = 3;  // coverage, findings, "more"

/** The number of metrics whose cards fit one row beside the others, at least four; the rest is shown on demand. */
const atFirst = (): number => Math.max(4, Math.floor((innerWidth - 50) / cardWidth) - others);

export function Cards({ report, app }: { report: Report; app?: App }) {
  const [all, setAll] = useState(false);
  const folded = useNarrow();
  const totals = report.metrics.map((metric, index) => ({ metric, index }))
    .filter(({ metric }) => hasTotal(metric));
  const main = totals.filter(({ metric }) => !metric.detail);
  const shown = main.slice(0, atFirst());
  const rest = totals.filter((each) => !shown.includes(each));
  const cards = (
    <section class="cards-box" aria-label="totals">
      <div class="cards">
        <Trust report={report} app={app} />
        {shown.map((each) => <MetricCard key={each.metric.id} {...{ report, app, ...each }} />)}
        {rest.length > 0
          ? <button type="button" class="card more no-print" onClick={() => setAll(!all)} aria-expanded={all}>
              {all ? "fewer" : `${rest.length} more`}
            </button>
          : null}
      </div>
      {all
        ? <div class="plugins">{byPlugin(rest).map(([plugin, own]) => (
            <div key={plugin} class="plugin-cards" role="group" aria-label={plugin}>
              <h2>{plugin}</h2>
              <div class="cards">{own.filter((each) => !isZero(each.metric)).map((each) => <MetricCard key={each.metric.id} {...{ report, app, ...each }} />)}</div>
              <Zeros metrics={own.map(({ metric }) => metric).filter(isZero)} />
            </div>))}</div>
        : null}
    </section>
  );
  if (!folded) return cards;
  return (
    <details class="totals">
      <summary>{inShort(report, main)}</summary>
      {cards}
    </details>
  );
}

/** In the order of the report. Plugins of tmeter have the short names that options use. */
function byPlugin<T extends { metric: Metric }>(all: T[]): [plugin: string, own: T[]][] {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const name = each.metric.plugin.replace(/^org\.tmeter\./, "");
    groups.set(name, [...groups.get(name) ?? [], each]);
  }
  return [...groups];
}

/** "0: buffers, missing": a card for each would add nothing. */
function Zeros({ metrics }: { metrics: Metric[] }) {
  if (metrics.length === 0) return null;
  return (
    <p class="zeros quiet">0: {metrics.map((metric, i) => (
      <span key={metric.id} data-tip={aboutValue(metric.total, metric, "none")}>{i > 0 ? ", " : ""}{metric.title}</span>))}</p>
  );
}

const mostInShort = 3;

/** "4.09 G MACs · 25.56 M params · 2 findings" */
function inShort(report: Report, totals: { metric: Metric; index: number }[]): string {
  const known = totals.filter(({ metric }) => isKnown(metric.total)).slice(0, mostInShort);
  const texts = known.map(({ metric, index }) => `${joined(scaledValue(metric.total, metric, report.doubtOf(index, 0)))} ${metric.title}`);
  const n = report.summary.findings.length + report.summary.warnings.length;
  return [...texts, n > 0 && countOf(n, "finding")].filter(Boolean).join(" · ") || "totals";
}

const isZero = (metric: Metric) => isKnown(metric.total) && valueOf(metric.total) === 0 && metric.unit !== yesNo;
const hasTotal = (metric: Metric) =>
  !metric.of_tensors && kindOf(metric.total) !== "none" && metric.provenance !== Provenance.unavailable;

type CardProps = { report: Report; metric: Metric; index: number; app: App | undefined };

function MetricCard({ report, metric, index, app }: CardProps) {
  const doubt = report.doubtOf(index, 0);
  const { number, unit } = scaledValue(metric.total, metric, doubt);
  const usable = app !== undefined && shareable(report).includes(index);
  const current = app?.metric === index;
  const note = metric.provenance === Provenance.computed ? "" : provenanceName(metric.provenance);
  const content = (
    <>
      <span class="label">{metric.title}</span>
      <span class={isKnown(metric.total) ? "value" : "value quiet"}>{number} <small>{unit}</small></span>
      <span class="note">{note || ({ none: exactNote(metric, unit), bound: "lower bound", assumed: "rests on an assumption" }[doubt])}</span>
    </>
  );
  const tip = aboutValue(metric.total, metric, doubt);
  return usable
    ? <button type="button" class={current ? "card current" : "card"} data-tip={tip} aria-pressed={current}
              onClick={() => app.update({ metric: index })}>{content}</button>
    : <div class="card" tabIndex={0} role="group" aria-label={metric.title} data-tip={tip}>{content}</div>;
}

const fits = 18;  // characters in a card

/** All digits, unless the card shows them already; without the unit if the text does not fit. */
function exactNote(metric: Metric, shown: string): string {
  const text = exact(metric.total, metric);
  if (metric.unit === yesNo) return "";
  if (!/\d,\d/.test(text)) return shown === metric.unit ? "" : metric.unit;
  return text.length > fits ? text.split(" ")[0]! : text;
}

function Trust({ report, app }: { report: Report; app: App | undefined }) {
  const { coverage, findings, warnings } = report.summary;
  const severities = [3, 2, 1, 0].map((severity) => ({
    severity, n: findings.filter((f) => f.severity === severity).length,
  })).filter(({ n }) => n > 0);
  const show = (view: "findings" | "operators") => () => app?.update({ view });
  return (
    <>
      {coverage ? <CoverageCard {...{ coverage }} onClick={show("operators")} /> : null}
      <Card onClick={show("findings")} tip="Statements of analyses about the model, with evidence and advice">
        <span class="label">Findings</span>
        <span class="value chips">
          {severities.length === 0 ? <span class="quiet">none</span> : null}
          {severities.map(({ severity, n }) => (
            <span key={severity} class={`chip severity-${severityName(severity)}`}>{n} {severityName(severity)}</span>
          ))}
        </span>
        {warnings.length > 0 ? <span class="note uncertain">{countOf(warnings.length, "warning")}</span> : null}
      </Card>
    </>
  );
}

function CoverageCard({ coverage, onClick }: {
  coverage: NonNullable<Report["summary"]["coverage"]>; onClick: () => void;
}) {
  const { counted, zero_by_rule: zero, unknown } = coverage;
  const all = counted + zero + unknown;
  const width = (n: number) => ({ width: `${(100 * n) / Math.max(1, all)}%` });
  const missing = coverage.unknown_operators.map(([op, n]) => `${op} × ${n}`).slice(0, 12).join("\n");
  const tip = `Metric ${coverage.metric}, ${countOf(all, "operator call")}: ${counted} counted, ` +
    `${zero} zero by rule, ${unknown} without a rule${missing ? `:\n${missing}` : ""}`;
  return (
    <Card onClick={onClick} tip={tip}>
      <span class="label">Coverage</span>
      <span class={unknown > 0 ? "value uncertain" : "value"}>{all ? percent((counted + zero) / all) : "–"}</span>
      <span class="meter" aria-hidden="true">
        <span class="counted" style={width(counted)} /><span class="zero" style={width(zero)} />
        <span class="unknown" style={width(unknown)} />
      </span>
      <span class="note">{unknown > 0 ? `${unknown} of ${all} operators unknown` : countOf(all, "operator")}</span>
    </Card>
  );
}

function Card({ children, onClick, tip }: { children: ComponentChildren; onClick: () => void; tip: string }) {
  return <button type="button" class="card trust" data-tip={tip} onClick={onClick}>{children}</button>;
}
