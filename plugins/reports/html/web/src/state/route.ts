// The part of the page's address after "#": the view, the selected row, the metric, the zoom.
//   #modules?at=layer1.0.conv1&metric=macs     #operators?operator=17     #tensors?tensor=fc.weight
// Rows are named, not numbered, so that a link stays valid after a change of the model.

export const views = [
  "modules", "map", "graph", "operators", "tensors", "charts", "findings", "about",
] as const;
export type View = (typeof views)[number];

export interface Route {
  view: View;
  /** module path, operator number or tensor name, by kind */
  selection?: { kind: "module" | "operator" | "tensor"; name: string };
  metric?: string;
  zoom?: string;
}

const keys = { module: "at", operator: "operator", tensor: "tensor" } as const;

export function parseRoute(hash: string): Route {
  const [name = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parameters = new URLSearchParams(query);
  const route: Route = { view: views.find((view) => view === name) ?? "modules" };
  for (const [kind, key] of Object.entries(keys) as [keyof typeof keys, string][]) {
    const value = parameters.get(key);
    if (value !== null) route.selection = { kind, name: value };
  }
  const metric = parameters.get("metric"), zoom = parameters.get("zoom");
  if (metric) route.metric = metric;
  if (zoom) route.zoom = zoom;
  return route;
}

export function formatRoute(route: Route): string {
  const parameters = new URLSearchParams();
  if (route.selection) parameters.set(keys[route.selection.kind], route.selection.name);
  if (route.metric) parameters.set("metric", route.metric);
  if (route.zoom) parameters.set("zoom", route.zoom);
  const query = parameters.toString();
  return `#${route.view}${query ? `?${query}` : ""}`;
}
