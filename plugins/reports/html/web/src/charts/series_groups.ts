// Decides which series share a chart, and which charts form a collapsible group.
import type { Series } from "../data/raw";
import { Axis } from "../data/codes";

/** Whether the series has a point that can be drawn. */
export const hasPoints = (s: Pick<Series, "x" | "y">): boolean =>
  s.x.some((x, i) => Number.isFinite(x) && typeof s.y[i] === "number" && Number.isFinite(s.y[i]));

/** Series of the whole model whose names differ only in a number: "fit-memory-8", "fit-memory-32". */
const numbered = /^(.+-)\d{1,18}$/;
const familyId = ({ id, of }: Series): string | undefined => (of[0] === Axis.model ? numbered.exec(id)?.[1] : undefined);

/** "memory for … sequences" for curves that differ in a number; undefined for others. */
export function familyTitle(group: readonly Series[]): string | undefined {
  const last = group[group.length - 1]!, id = familyId(last);
  if (group.length < 2 || id === undefined) return undefined;
  const at = last.title.lastIndexOf(last.id.slice(id.length));
  if (at < 0) return last.y_title;
  return `${last.title.slice(0, at)}…${last.title.slice(at + last.id.length - id.length)}`;
}

/** Series with the same meaning, in the report's order. */
export function byMeaning(all: readonly Series[]): Series[][] {
  const groups = new Map<string, Series[]>();
  for (const s of all.filter(hasPoints)) {
    const family = familyId(s), name = family === undefined ? [s.id, s.title] : [family];
    const key = [...name, s.x_title, s.x_unit, s.y_title, s.y_unit].join("\u0000");
    const list = groups.get(key);
    if (list) list.push(s);
    else groups.set(key, [s]);
  }
  return [...groups.values()];
}

const fewestFolded = 4;

export interface Folded {
  /** The quantity of their x axis, such as "time". */
  over: string;
  charts: Series[][];
}

/** Groups many charts of the whole model over one x, such as those of the system recorder. */
export function arranged(charts: readonly Series[][]): { single: Series[][]; folded: Folded[] } {
  const groups = new Map<string, Series[][]>();
  for (const chart of charts) {
    const { of, x_title, x_unit } = chart[0]!;
    const key = [of[0] === Axis.model && chart.length === 1, x_title, x_unit].join("\u0000");
    groups.set(key, [...groups.get(key) ?? [], chart]);
  }
  const isFolded = (key: string, list: Series[][]) => key.startsWith("true") && list.length >= fewestFolded;
  const folded = [...groups].filter(([key, list]) => isFolded(key, list))
    .map(([, list]) => ({ over: list[0]![0]!.x_title, charts: list }));
  return { folded, single: charts.filter((chart) => !folded.some((group) => group.charts.includes(chart))) };
}
