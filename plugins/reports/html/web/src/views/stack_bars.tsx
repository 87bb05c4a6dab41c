// Below the totals: the memory that a device needs, by kind, and the memory that it has.
import { stacksOf, type Stack } from "../charts/stack";
import type { Report } from "../data/report";
import { percent } from "../format/units";
import { formatOf } from "./axes";

export function StackBars({ report }: { report: Report }) {
  return <>{stacksOf(report.metrics).map((stack) => <StackBar key={stack.parts[0]!.metric.id} {...stack} />)}</>;
}

function StackBar({ parts, sum, capacity }: Stack) {
  const text = formatOf(parts[0]!.metric), limit = capacity?.value ?? 0, whole = Math.max(sum, limit);
  const isAbove = limit > 0 && sum > limit, rest = Math.abs(limit - sum);
  const heading = capacity ? `${capacity.metric.title}: ${text(sum)} of ${text(limit)}` : text(sum);
  return (
    <section class="stack" aria-label={heading}>
      <p class={isAbove ? "stack-head uncertain" : "stack-head"}>{heading}</p>
      <div class="stack-bar" aria-hidden="true">
        {parts.map(({ metric, value }, i) => (
          <span key={metric.id} style={{ width: `${(100 * value) / whole}%`, background: `var(--kind-${i % 8})` }}
                data-tip={`${metric.title} ${text(value)}\n${metric.convention}`} />
        ))}
        {isAbove ? <i style={{ left: `${(100 * limit) / whole}%` }} /> : null}
      </div>
      <ul>
        {parts.map(({ metric, value }, i) => (
          <li key={metric.id}><b style={{ background: `var(--kind-${i % 8})` }} />{metric.title} {text(value)} ({percent(value / sum)})</li>
        ))}
        {capacity ? <li>{isAbove ? `${text(rest)} too much` : `${text(rest)} free`}</li> : null}
      </ul>
    </section>
  );
}
