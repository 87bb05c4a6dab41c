// The views as tabs, and the details of the selected row beside them.
import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, type App } from "../state/app";
import type { View } from "../state/route";
import { About } from "./about";
import { Charts, hasCharts } from "./charts";
import { Details } from "./details";
import { Findings } from "./findings";
import { OperatorGraph } from "./operator_graph";
import { ModuleMap } from "./module_map";
import { ModuleTable } from "./module_table";
import { OperatorTable } from "./operator_table";
import { useSlash } from "./search_key";
import { TensorTable } from "./tensor_table";

interface Tab {
  view: View;
  title: string;
  content: FunctionComponent;
  /** Undefined: the tab is always shown. */
  isThere?: (app: App) => boolean;
  count?: (app: App) => number;
}

const tabs: Tab[] = [
  { view: "modules", title: "Modules", content: ModuleTable, count: (app) => app.tree.count },
  { view: "map", title: "Map", content: ModuleMap },
  { view: "graph", title: "Graph", content: OperatorGraph, isThere: (app) => app.report.summary.counts.operators > 0 },
  { view: "operators", title: "Operators", content: OperatorTable,
    isThere: (app) => app.report.summary.counts.operators > 0, count: (app) => app.report.summary.counts.operators },
  { view: "tensors", title: "Tensors", content: TensorTable,
    isThere: (app) => app.tensors.name.length > 0, count: (app) => app.tensors.name.length },
  { view: "charts", title: "Charts", content: Charts, isThere: hasCharts },
  { view: "findings", title: "Findings", content: Findings,
    isThere: ({ report: { summary } }) => summary.findings.length + summary.warnings.length > 0,
    count: ({ report: { summary } }) => summary.findings.length + summary.warnings.length },
  { view: "about", title: "Conventions", content: About },
];

const doubleClick = 400;  // milliseconds

/**
 * Whether details are shown. Their appearance moves the content beside them, so they wait until the second click
 * of a double click has hit the same place as the first. A link that selects something shows them at once.
 */
function useDetails({ selection }: App): boolean {
  const wanted = selection !== undefined;
  const [open, setOpen] = useState(wanted);
  useEffect(() => {
    if (open === wanted) return;
    const timer = setTimeout(() => setOpen(wanted), wanted ? doubleClick : 0);
    return () => clearTimeout(timer);
  }, [wanted]);
  return wanted && open;
}

export function Workspace() {
  const app = useApp();
  const hasDetails = useDetails(app);
  const strip = useRef<HTMLDivElement>(null);
  const there = tabs.filter((tab) => tab.isThere?.(app) ?? true);
  const current = there.find((tab) => tab.view === app.view) ?? there[0]!;
  const Content = current.content;
  useSlash(app);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = there[(there.indexOf(current) + step + there.length) % there.length]!;
    app.update({ view: next.view });
    strip.current?.querySelector<HTMLElement>(`#tab-${next.view}`)?.focus();
    event.preventDefault();
  };
  return (
    <main>
      <div class="tabs" role="tablist" aria-label="views" ref={strip} onKeyDown={onKeyDown}>
        {there.map((tab) => (
          <button key={tab.view} type="button" role="tab" id={`tab-${tab.view}`} aria-controls="view"
                  aria-selected={tab === current} tabIndex={tab === current ? 0 : -1}
                  onClick={() => app.update({ view: tab.view })}>
            {tab.title}{tab.count ? <small>{tab.count(app).toLocaleString("en-US")}</small> : null}
          </button>
        ))}
      </div>
      <div class={hasDetails ? "workspace with-details" : "workspace"} data-view={current.view}>
        <div class="view" id="view" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${current.view}`}><Content /></div>
        {hasDetails ? <Details /> : null}
      </div>
    </main>
  );
}
