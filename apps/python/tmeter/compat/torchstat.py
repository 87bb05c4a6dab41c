"""``from tmeter.compat.torchstat import stat``"""

from __future__ import annotations

from typing import Any

from ..specs import Shape
from ._common import analysed


def stat(model: Any, input_size: tuple[int, ...], query_granularity: int = 1) -> None:
    """Prints a table of layers: parameters, memory, MAdd, FLOPs, memory read and written.

    Like torchstat's, ``input_size`` is without the batch and nothing is returned. ``query_granularity``
    is the number of levels that are put together, 1 for all layers.
    """
    result = analysed(model, (Shape((1, *input_size)),), "torchstat")
    columns = "input_size,output_size,params,output_bytes,macs,flops,read_bytes,written_bytes"
    depth = "all" if query_granularity <= 1 else str(query_granularity)
    print(result.to_text(depth=depth, columns=columns, no_fold=True))
