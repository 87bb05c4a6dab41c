// The common state of all views: the report, the view, the selected row, the metric of bars and areas,
// the module that the map is zoomed to. Kept in the page's address.
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useReducer } from "preact/hooks";
import { Aggregation, Axis, Provenance } from "../data/codes";
import type { Report } from "../data/report";
import type { ModuleTree } from "../data/modules";
import type { Values } from "../data/values";
import type { Tensors } from "../data/raw";
import { kindOf } from "../data/cell";
import { formatRoute, parseRoute, type Route, type View } from "./route";

export type Kind = "module" | "operator" | "tensor";
export interface Selection {
  kind: Kind;
  index: number;
}

export interface State {
  view: View;
  selection: Selection | undefined;
  metric: number;
  zoom: number;
}

export interface App extends State {
  report: Report;
  tree: ModuleTree;
  values: Values;  // of modules
  tensors: Tensors;
  update: (change: Partial<State>) => void;
  /** Selects a row and shows it, if necessary in another view. */
  jump: (selection: Selection, view?: View) => void;
}

export const AppContext = createContext<App>(undefined as unknown as App);
export const useApp = (): App => useContext(AppContext);

/** The first metric of operators that adds up, else the first of parameters: as in the text report. */
export function mainMetric(report: Report): number {
  for (const axis of [Axis.operator, Axis.tensor]) {
    const at = report.metrics.findIndex((m) => m.axis === axis && isShareable(m) && !m.detail);
    if (at >= 0) return at;
  }
  return 0;
}

const isShareable = (m: Report["metrics"][number]) =>
  m.aggregation === Aggregation.sum && !m.of_tensors && m.provenance !== Provenance.unavailable &&
  kindOf(m.total) === "number" && m.total !== 0;

/** Metrics with meaningful shares: sums over the module tree. */
export const shareable = (report: Report): number[] =>
  report.metrics.flatMap((m, i) => (isShareable(m) ? [i] : []));

const longest = 300;  // length of a name in an address; longer ones are numbered

function nameOf(name: string, index: number): string {
  return name.length > longest ? `#${index}` : name;
}

function byNumber(name: string, count: number): number | undefined {
  const index = /^#\d+$/.test(name) ? Number(name.slice(1)) : NaN;
  return index < count ? index : undefined;
}

type Data = Pick<App, "report" | "tree" | "tensors">;

function resolve({ report, tree, tensors }: Data, route: Route): State {
  const metric = report.metrics.findIndex((m) => m.id === route.metric);
  const find: Record<Kind, (name: string) => number | undefined> = {
    module: (name) => tree.find(name) ?? byNumber(name, tree.count),
    operator: (name) => byNumber(`#${name}`, report.summary.counts.operators),
    tensor: (name) => {
      const at = tensors.name.indexOf(name);
      return at >= 0 ? at : byNumber(name, tensors.name.length);
    },
  };
  const index = route.selection && find[route.selection.kind](route.selection.name);
  return {
    view: route.view,
    selection: index === undefined ? undefined : { kind: route.selection!.kind, index },
    metric: metric >= 0 ? metric : mainMetric(report),
    zoom: (route.zoom && find.module(route.zoom)) || 0,
  };
}

function routeOf({ report, tree, tensors }: Data, state: State): Route {
  const names: Record<Kind, (index: number) => string> = {
    module: (index) => nameOf(tree.path(index), index),
    operator: String,
    tensor: (index) => nameOf(tensors.name[index] ?? "", index),
  };
  const route: Route = { view: state.view };
  const { selection } = state;
  if (selection) route.selection = { kind: selection.kind, name: names[selection.kind](selection.index) };
  if (state.metric !== mainMetric(report)) route.metric = report.metrics[state.metric]?.id ?? "";
  if (state.zoom) route.zoom = nameOf(tree.path(state.zoom), state.zoom);
  return route;
}

const home: Record<Kind, View> = { module: "modules", operator: "operators", tensor: "tensors" };
/** Views that show a selection of each kind: a jump does not leave them. */
const shows: Record<Kind, View[]> = {
  module: ["modules", "map", "graph"], operator: ["operators", "graph"], tensor: ["tensors"],
};

/** In a frame of a notebook, which is sandboxed, a page has no address of its own. */
function record(method: "replaceState" | "pushState", hash: string): void {
  try {
    history[method](null, "", hash);
  } catch {
    // the view changes nevertheless
  }
}

export function useAppState(data: Data & { values: Values }): App {
  const reduce = (state: State, change: Partial<State>): State => ({ ...state, ...change });
  const [state, update] = useReducer(reduce, undefined, () => resolve(data, parseRoute(location.hash)));

  useEffect(() => {
    const hash = formatRoute(routeOf(data, state));
    if (hash === location.hash) return;
    // "Back" undoes a change of the view, but not of the row.
    const method = parseRoute(location.hash).view === state.view ? "replaceState" : "pushState";
    if (location.hash || hash !== "#modules") record(method, hash);
  }, [state]);
  // Before the first paint, so that no change of the address is missed.
  useLayoutEffect(() => {
    const follow = () => update(resolve(data, parseRoute(location.hash)));
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    };
  }, []);

  const jump = (selection: Selection, view?: View) => {
    const stays = shows[selection.kind].includes(state.view);
    update({ selection, view: view ?? (stays ? state.view : home[selection.kind]) });
  };
  return { ...data, ...state, update, jump };
}
