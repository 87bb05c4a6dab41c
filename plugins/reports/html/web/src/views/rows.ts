// The content of a row of the module tree: a module, or a run of identical ones.
import { aggregate, type RawCell } from "../data/cell";
import type { ModuleTree } from "../data/modules";
import { isRun, moduleOf, runMembers } from "../grid/tree_rows";
import type { App } from "../state/app";
import { matcher } from "./filters";

/** The value of a run covers all its modules. */
export const cellOfRow = ({ tree, values, report }: Pick<App, "tree" | "values" | "report">, metric: number, row: number): RawCell => (isRun(row)
  ? aggregate(runMembers(tree, moduleOf(row)).map((m) => values.cell(metric, m)), report.metrics[metric]!.aggregation)
  : values.cell(metric, row));

/** Modules of the selected types, if any, whose path and type contain all words; undefined: no search. */
export function matching(tree: ModuleTree, query: string, types: ReadonlySet<string> = new Set()): Uint8Array | undefined {
  if (query.trim() === "" && types.size === 0) return undefined;
  const isMatch = matcher(query);
  return Uint8Array.from({ length: tree.count }, (_, m) =>
    Number((types.size === 0 || types.has(tree.type(m))) && isMatch(`${tree.path(m)} ${tree.type(m)}`)));
}

/** The modules found, and those inside them. */
export function foundInside(tree: ModuleTree, matches: Uint8Array): Uint8Array {
  const found = matches.slice();
  for (let m = 1; m < tree.count; ++m) if (found[tree.parent(m)]) found[m] = 1;
  return found;
}
