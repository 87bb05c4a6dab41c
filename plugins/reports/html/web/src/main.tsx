// The page of a report: the first screen from its summary, then the views as their data are decoded.
import { render } from "preact";
import { Report } from "./data/report";
import { Axis } from "./data/codes";
import { AppContext, useAppState, type App } from "./state/app";
import { failed, useLoaded } from "./state/load";
import { showTips } from "./views/tip";
import { showFailure } from "./views/failure";
import { Header } from "./views/header";
import { Cards } from "./views/cards";
import { StackBars } from "./views/stack_bars";
import { Workspace } from "./views/workspace";
import { PrintSheet } from "./views/print_sheet";
import { SkipLink } from "./views/skip";

type Data = Pick<App, "report" | "tree" | "values" | "tensors">;

async function load(report: Report): Promise<Data> {
  const [tree, values, tensors] = await Promise.all([
    report.modules(), report.values(Axis.module), report.tensors(),
  ]);
  return { report, tree, values, tensors };
}

function Page({ report }: { report: Report }) {
  const data = useLoaded(() => load(report), []);
  if (data) return <Loaded data={data} />;
  return (
    <>
      <Header report={report} />
      <Cards report={report} />
      <StackBars report={report} />
      <p class="empty" role="status">reading the tables …</p>
    </>
  );
}

function Loaded({ data }: { data: Data }) {
  const app = useAppState(data);
  return (
    <AppContext.Provider value={app}>
      <SkipLink />
      <Header report={data.report} />
      <Cards report={data.report} app={app} />
      <StackBars report={data.report} />
      <Workspace />
      <PrintSheet />
    </AppContext.Provider>
  );
}

async function start(): Promise<void> {
  const place = document.getElementById("tmeter-page")!;
  addEventListener(failed, (event) => showFailure(place, (event as CustomEvent).detail));
  try {
    const report = await Report.open(document);
    const { model } = report.summary;
    document.title = `${model.name || model.file || "model"} – tmeter`.slice(0, 200);
    render(<Page report={report} />, place);
    showTips(document);
  } catch (error) {
    showFailure(place, error);
  }
}

void start();
