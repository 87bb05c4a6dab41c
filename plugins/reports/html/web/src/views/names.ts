// The name of a target of a finding, a distribution or a series.
import { Axis } from "../data/codes";
import { textOf, type Operators, type Target } from "../data/raw";
import { useApp, type App, type Selection } from "../state/app";
import { useLoaded } from "../state/load";

/** "layer1.0.conv1 · conv2d #4", as in the tables of modules and operators; without `operators` only the number. */
export function nameOf({ tree, tensors }: App, [axis, index]: Target, operators?: Operators): string {
  if (axis === Axis.module) return tree.title(index);
  if (axis === Axis.tensor) return tensors.name[index] ?? "";
  if (axis === Axis.operator) {
    if (!operators) return `operator #${index}`;
    return `${tree.title(operators.module[index] ?? 0)} · ${shortOp(operators, index)} #${index}`;
  }
  if (axis === Axis.moduleCall) return operators ? tree.title(operators.calls.module[index] ?? 0) : `module call #${index}`;
  return "model";
}

/** "conv2d" of "aten::conv2d" */
export const shortOp = (operators: Operators, index: number): string => textOf(operators.op, index).replace(/^aten::/, "");

const fromOperators = new Set<number>([Axis.operator, Axis.moduleCall]);

/** The operators, read only if the name of a target depends on them. */
export function useNamesOf(targets: readonly Target[]): Operators | undefined {
  const { report } = useApp();
  const isWanted = targets.some(([axis]) => fromOperators.has(axis));
  return useLoaded(async () => (isWanted ? report.operators() : undefined), [report, isWanted]);
}

/** Other views show a module call by its module, and the model by the root. */
export function selectionOf([axis, index]: Target): Selection | undefined {
  if (axis === Axis.module) return { kind: "module", index };
  if (axis === Axis.tensor) return { kind: "tensor", index };
  if (axis === Axis.operator) return { kind: "operator", index };
  return axis === Axis.model ? { kind: "module", index: 0 } : undefined;
}
