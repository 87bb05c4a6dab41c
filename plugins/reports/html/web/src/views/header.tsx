// The model of the report and its inputs.
import type { Report } from "../data/report";
import { UnitKind } from "../data/codes";
import { joined, scaled } from "../format/units";
import { shortened } from "../format/text";
import { useTheme } from "../state/theme";

export function Header({ report }: { report: Report }) {
  const { model, inputs, symbols } = report.summary;
  const [theme, nextTheme] = useTheme();
  const bytes = Number(model.size);
  const facts = [
    model.file && shortened(model.file, 80),
    bytes > 0 && joined(scaled(bytes, UnitKind.byte, "B")),
    [model.format, model.producer && `(${model.producer})`].filter(Boolean).join(" "),
    model.part && `part ${shortened(model.part, 60)}`,
  ].filter(Boolean);
  return (
    <header class="top">
      <div class="title">
        <h1>{shortened(model.name || model.file || "model", 100)}</h1>
        <p class="facts">{facts.map((fact, i) => <span key={i}>{fact}</span>)}</p>
        {inputs.length > 0
          ? <p class="facts">
              {inputs.slice(0, 3).map((input, i) => (
                <span key={i} data-tip={input.origin ? `shape ${input.origin}` : undefined}>
                  <b>{shortened(input.name || `input ${i}`, 40)}</b> {shortened(input.text, 80)}
                </span>
              ))}
              {inputs.length > 3 ? <span>and {inputs.length - 3} more inputs</span> : null}
              {symbols.slice(0, 4).map((s) => <span key={s.name}>{shortened(s.name, 30)} = {s.value}</span>)}
            </p>
          : null}
      </div>
      <div class="brand">
        <span class="tool">tmeter {report.summary.run.version}</span>
        <button type="button" class="plain no-print" onClick={nextTheme} aria-label="switch between light and dark"
                data-tip={theme === "system" ? "colours follow the system" : `${theme} colours`}>◐</button>
      </div>
    </header>
  );
}
