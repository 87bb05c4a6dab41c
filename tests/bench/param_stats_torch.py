#!/usr/bin/env python3
"""The statistics of param-stats as a user would compute them with PyTorch, for comparison with tmeter.

    python tests/bench/param_stats_torch.py weights.safetensors > stats.json

Each tensor is read once and converted to float64 for sums, which an accuracy
of 1e-6 needs. No spectral norms. Prints JSON; time
and rate go to stderr. Needs torch, numpy, safetensors; uses the threads that torch takes by default.
"""
import json
import sys
import time

import numpy as np
import torch
from safetensors import safe_open

QUANTILES = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
NAMES = ["q01", "q05", "q25", "median", "q75", "q95", "q99"]
THRESHOLD = 0.01  # of the root mean square


def entropy_bits(counts):
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def coded_bytes(tensor):
    """Order-0 entropy of each byte position."""
    raw = tensor.contiguous().flatten().view(torch.uint8).numpy().reshape(-1, tensor.element_size())
    return sum(len(raw) * entropy_bits(np.bincount(raw[:, i], minlength=256)) for i in range(raw.shape[1])) / 8


def quantiles(x):
    # torch.quantile refuses more than 16 million elements.
    return np.quantile(x.numpy(), QUANTILES).tolist()


def statistics(tensor):
    x = tensor.flatten().to(torch.float64)
    nan, inf = int(x.isnan().sum()), int(x.isinf().sum())
    if nan or inf:
        x = x[x.isfinite()]
    if not x.numel():
        return {"finite": 0, "nan": nan, "inf": inf}
    mean = x.mean()
    d = x - mean
    variance = (d * d).mean()
    low, high = x.min(), x.max()
    rms = (x * x).mean().sqrt()
    out = {
        "finite": x.numel(), "nan": nan, "inf": inf,
        "mean": mean, "std": variance.sqrt(), "min": low, "max": high,
        "sparsity": (x == 0).sum() / tensor.numel(),
        "near_zero": (x.abs() <= THRESHOLD * rms).sum() / tensor.numel(),
        "skewness": (d**3).mean() / variance**1.5,
        "kurtosis": (d**4).mean() / variance**2 - 3,
        "l1_norm": x.abs().sum(), "l2_norm": x.norm(),
        "coded_bytes": coded_bytes(tensor),
    }
    out.update(zip(NAMES, quantiles(x)))
    counts, _ = np.histogram(x.numpy(), bins=256)
    out["entropy"] = entropy_bits(counts)
    out["histogram"] = counts.reshape(64, 4).sum(axis=1).tolist()
    return {k: float(v) if isinstance(v, torch.Tensor) else v for k, v in out.items()}


def main():
    path = sys.argv[1]
    start, size, result = time.perf_counter(), 0, {}
    with safe_open(path, framework="pt") as file:
        for name in file.keys():
            tensor = file.get_tensor(name)
            result[name] = statistics(tensor)
            size += tensor.numel() * tensor.element_size()
    seconds = time.perf_counter() - start
    json.dump({"seconds": seconds, "bytes": size, "tensors": result}, sys.stdout)
    print(f"{seconds:.2f} s, {size / seconds / 1e9:.3f} GB/s", file=sys.stderr)


if __name__ == "__main__":
    main()
