"""The functions of other tools, with their arguments and return types. Only the import line changes.

``tmeter.compat.torchinfo.summary``, ``torchmeter.Meter``, ``fvcore.FlopCountAnalysis``,
``fvcore.flop_count_table``, ``fvcore.parameter_count``, ``thop.profile``, ``thop.clever_format``,
``ptflops.get_model_complexity_info``, ``torchstat.stat`` and ``calflops.calculate_flops``. Values follow
each tool's own convention as docs/conventions.md defines it, without its errors.
Custom rules (Python functions that count) are refused, because tmeter cannot apply them. To count operators of
your own, write a tmeter plugin.
"""
