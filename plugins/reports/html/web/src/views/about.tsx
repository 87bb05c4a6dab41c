// The meaning and origin of the values: metrics, inputs, options, plugins.
import { Axis, axisName } from "../data/codes";
import { bounded, shortened, visible } from "../format/text";
import { joined, scaledValue } from "../format/units";
import { useApp } from "../state/app";
import { provenance } from "./metric_text";

export function About() {
  const { report, tree } = useApp();
  const { run, model, inputs, outputs, symbols, formulas } = report.summary;
  const facts: [string, string][] = [
    ["Model", model.name], ["File", model.file], ["Format", model.format], ["Written by", model.producer],
    ["Part", model.part], ["tmeter", run.version], ["Analysed in", run.seconds && `${run.seconds} s`],
    ["Hardware", run.hardware], ["Command", run.command],
  ];
  return (
    <div class="about">
      <section tabIndex={0} aria-label="metrics">
        <h2>Metrics</h2>
        <table>
          <thead><tr><th>Metric</th><th>Model</th><th>Convention</th><th>Provenance</th><th>Of</th><th>Plugin</th></tr></thead>
          <tbody>
            {report.metrics.map((metric, i) => (
              <tr key={metric.id}>
                <th scope="row">{metric.title}<small>{metric.id}{metric.unit ? ` [${metric.unit}]` : ""}</small></th>
                <td class="numeric">{joined(scaledValue(metric.total, metric, report.doubtOf(i, 0)))}</td>
                <td>{visible(metric.convention)}{metric.description ? <small>{visible(metric.description)}</small> : null}</td>
                <td>{visible(provenance(metric))}</td>
                <td>{metric.axis === Axis.model ? "model" : axisName(metric.axis)}</td>
                <td class="quiet">{metric.plugin}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="quiet">– does not apply · ? unknown: an operator without a rule · n/a unavailable: see its provenance ·
          ≥ a lower bound: something inside has no value · ~ rests on an assumption that a warning names · 0 zero, measured or by rule (hovering shows which)</p>
      </section>
      {formulas.length > 0
        ? <section><h2>As functions of the sizes</h2>
            <dl>{formulas.filter((f) => f.module === 0).map((f, i) => (
              <div key={i}><dt>{report.metrics[f.metric]?.title}{f.partial ? " (at least)" : ""}</dt>
                <dd class="formula">{bounded(f.text, 4000)}</dd></div>))}
              {formulas.filter((f) => f.module > 0).slice(0, 40).map((f, i) => (
                <div key={`m${i}`}><dt>{report.metrics[f.metric]?.title} of {shortened(tree.path(f.module), 40)}</dt>
                  <dd class="formula">{bounded(f.text, 1000)}</dd></div>))}
            </dl></section>
        : null}
      <section>
        <h2>Inputs and outputs</h2>
        <dl>
          {inputs.map((input, i) => (
            <div key={i}><dt>{shortened(input.name || `input ${i}`, 60)}</dt>
              <dd>{shortened(input.text, 200)} <span class="quiet">{input.origin}</span></dd></div>))}
          {outputs.slice(0, 50).map((text, i) => <div key={`o${i}`}><dt>output {i}</dt><dd>{shortened(text, 200)}</dd></div>)}
          {symbols.map((s) => (
            <div key={s.name}><dt>{shortened(s.name, 40)}</dt>
              <dd>{s.value} <span class="quiet">from {s.min} to {s.max ?? "any"} {s.place ? `· ${s.place}` : ""}</span></dd></div>))}
        </dl>
      </section>
      <section>
        <h2>Run</h2>
        <dl>
          {facts.filter(([, text]) => text).map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{shortened(text, 500)}</dd></div>)}
          {run.plugins.map(([id, version]) => <div key={id}><dt>{id}</dt><dd>{version}</dd></div>)}
          {run.config.map(([key, value]) => <div key={key}><dt>{key}</dt><dd>{shortened(value, 200)}</dd></div>)}
        </dl>
      </section>
    </div>
  );
}
