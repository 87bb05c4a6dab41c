"""FlopCounterMode with corrections: it has no formula for matrix times vector, grouped products, recurrent layers and the fused
layers of nn.MultiheadAttention and nn.TransformerEncoder in evaluation mode."""

import copy
import math


def reference(model, inputs):
    """FLOPs of one call."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    if isinstance(model, torch.jit.ScriptModule):
        for _ in range(3):  # the second run is optimized, which FlopCounterMode would disturb
            model(*copy.deepcopy(inputs))
    # The fused kernels of recurrent layers on the CPU and of transformers are one operator each, without a formula.
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(
        display=False, custom_mapping=formulas()
    ) as counter:
        if isinstance(inputs, dict):
            model(**copy.deepcopy(inputs))
        else:
            model(*copy.deepcopy(inputs))
    return counter.get_total_flops()


def one_expert_after_the_other(model):
    """Replaces a single operator of the library, which has no formula, by copies of its steps."""
    model = copy.deepcopy(model)
    config = getattr(model, "config", None)
    for part in (config, *(getattr(config, name, None) for name in getattr(config, "sub_configs", {}))):
        if getattr(part, "_experts_implementation", None) is not None:
            part._experts_implementation = "eager"
    return model


def formulas():
    import torch

    def vector(matrix, *_, out_shape=None, **__):
        return 2 * math.prod(matrix)

    def added_vector(_, matrix, *__, out_shape=None, **___):
        return 2 * math.prod(matrix)

    def grouped(a, b, *_, out_shape=None, **__):
        return 2 * math.prod(a) * b[-1] if len(a) == 2 else 2 * math.prod(out_shape) * a[-1]

    def triangular(a, b, *_, out_shape=None, **__):  # a product and a sum for each pair below the diagonal
        return math.prod(b) * (a[-1] - 1)

    aten = torch.ops.aten
    made = {aten.mv: vector, aten.dot: vector, aten.addmv: added_vector, aten._grouped_mm: grouped,
            aten.linalg_solve_triangular: triangular}  # fmt: skip
    if hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        made[torch.ops.transformers.grouped_mm_fallback] = grouped
    return made
