// What a target of a finding, a distribution or a series is called.
import { Axis } from "../data/codes";
import type { Target } from "../data/raw";
import type { App, Selection } from "../state/app";

export function nameOf({ tree, tensors }: App, [axis, index]: Target): string {
  if (axis === Axis.module) return tree.title(index);
  if (axis === Axis.tensor) return tensors.name[index] ?? "";
  if (axis === Axis.operator) return `operator ${index}`;
  return "model";
}

/** Module calls are shown by their module elsewhere; the model has no row of its own but the root. */
export function selectionOf([axis, index]: Target): Selection | undefined {
  if (axis === Axis.module) return { kind: "module", index };
  if (axis === Axis.tensor) return { kind: "tensor", index };
  if (axis === Axis.operator) return { kind: "operator", index };
  return axis === Axis.model ? { kind: "module", index: 0 } : undefined;
}
