"""Fits the curves of plugins/common/machine/curves.inc and the shares `curve.*` of the hardware profiles to recorded measurements.

    python tests/predictions/fit.py             prints both, and their errors on measurements that are left out
    python tests/predictions/fit.py --write     writes both

    time = call + sqrt(arithmetic² + traffic²)
    arithmetic = (max(wide · (MACs + edge · outputs), block · threads.resident · depth) / gain + fill) / (peak.mac · share)
    wide = columns, rounded up / columns
    traffic = (bytes + again · (1 - hit)) / (peak.dram · memory)
    hit = max(0, 1 - reuse · rows in flight / cache.l2)
    all-reduce = call + 2 · (n − 1) / n · bytes / (link.bandwidth · share)

`share` belongs to a device and its units. If the device was measured, it is fitted (`curve.fitted.*`). Otherwise it is transferred
(`curve.transferred.*`): on vector units min(most, rise · sqrt(TDP / peak)), TDP in W, peak in TFLOP/s, because a board with
little power lowers its clock; on tensor cores the share of the fitted devices. `memory` of operators without MACs is fitted to a device, too
(`curve.memory`). A layer norm reads a row twice, a softmax of more than 1,024 columns three times (PyTorch 2.1, SoftMax.cu and
layer_norm_kernel.cu): `again` is the traffic after the first read. It hits the L2 if the rows that are processed at the same time
fit there: threads.resident / threads of a row, times the row's bytes. `reuse` is fitted for each of the two. All other constants belong to a kind of operator and are the same on all devices.

Kinds of products: `product` on vector units and `tensor` on tensor cores each have a share. For `convolution`, `tensorConvolution`
and `tensor8` (float8) the share is a multiple of that of the device's units. A 3 × 3 convolution of stride 1 on vector units has `gain` times
fewer MACs by Winograd's algorithm. `depth` is MACs / outputs, the MACs that one output needs in sequence. A convolution takes at
least the time of `block` outputs for each thread that the device holds. `columns` is the smaller number of the rows and columns of a product,
or the output channels of a convolution: kernels compute COLUMNS of them at once. A convolution uses tensor cores (cuDNN 7) only with multiples of 8 channels;
others reach the share `narrow` of peak.op, and their channels are rounded up to 4. A kernel smaller than its stride reads a part
of its input. `eager` is the time that NeuSight's loop in PyTorch adds to a call.

Recorded: operators.csv (sitar-lab/NeuSight, MIT, commit 6945927, scripts/asplos/data/dataset/test: float32 with TF32 off, ms, median
of repeats, a sample of the shapes) and products.csv (microsoft/vidur, MIT, commit 7d47513, data/profiling/compute: float16,
time_stats.*.median of projections, a sample), deepbench.csv (baidu-research/DeepBench, Apache-2.0, commit da81ba7, results/train: products and
forward convolutions by NVIDIA's libraries; one layout of each product), float8.csv (deepseek-ai/DeepGEMM, MIT, commit 55ab91f, README: dense
products, followed by those of experts), all_reduce.csv (profiling/network/h100_dgx; its A100 tables show an eighth of NVLink's
rate and are left out).
"""
import csv
import math
import pathlib
import re
import statistics
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROFILES = ROOT / "plugins" / "metrics" / "energy" / "hardware"
CURVES = ROOT / "plugins" / "common" / "machine" / "curves.inc"

# columns of the recorded tables → profiles; NeuSight's A100 are PCIe boards, Vidur's is SXM with 80 GB, DeepBench's P100 has PCIe
VECTOR = {"P4": "nvidia-p4", "P100": "nvidia-p100-pcie", "T4": "nvidia-t4", "V100": "nvidia-v100-pcie", "A100-40": "nvidia-a100-pcie",
          "A100-80": "nvidia-a100-80gb-pcie", "L4": "nvidia-l4", "H100": "nvidia-h100-sxm"}
TENSOR = {"A100": "nvidia-a100-80gb", "A40": "nvidia-a40", "H100": "nvidia-h100-sxm", "T4": "nvidia-t4"}
# Boards without a profile, from NVIDIA's data: lanes and boost clock, memory, power; tensor cores of the V100: 640 · 64 MACs a clock.
# The H800 is an H100 SXM with fewer NVLinks and less float64. The last number is that of multiprocessors, each with 2,048 threads.
BOARDS = {"V100-SXM2": (5120 * 1.53e9, 900e9, 300, 80), "M40": (3072 * 1.114e9, 288e9, 250, 24), "1080Ti": (3584 * 1.582e9, 484e9, 250, 28),
          "TitanXp": (3840 * 1.582e9, 547.7e9, 250, 30), "TitanX-Pascal": (3584 * 1.531e9, 480e9, 250, 28), "TitanX-Maxwell": (3072 * 1.075e9, 336.5e9, 250, 24)}
V100_TENSOR = 640 * 64 * 1.53e9
# DeepBench's workbooks (sheet Specs) name CUDA 7.5 for both Maxwell boards and a driver of CUDA 8.0's first release for TitanX-Pascal; for the others
# CUDA 8.0.88 and later. The older libraries compute OLD_COLUMNS at once. Of the three, only the M40 is fitted: its share also applies to TitanX-Maxwell.
OLD, OLD_COLUMNS = ("M40", "TitanX-Maxwell", "TitanX-Pascal"), 128
SHARE_OF = {"TitanX-Maxwell": "M40"}
# The best of 1, 32, 64 and 128 for the fitted shapes; convolutions in float32 do not distinguish 1 from 32.
COLUMNS = {"product": 32, "convolution": 32, "tensorConvolution": 64}
# The devices that a fit may use, by kind.
VECTOR_FITTED = ("P4", "P100", "T4", "V100", "A100-40")
TENSOR_FITTED = ("A100", "A40")
FITTED = {"tensor": TENSOR_FITTED, "convolution": ("V100-SXM2", "P100", "T4"), "tensorConvolution": ("V100-SXM2",), "tensor8": ("H800",)}


# Measured by DeepBench; used only for the band of products on tensor cores.
FOR_BAND = {("tensor", "V100-SXM2")}


def may_fit(group, column):
    return column in FITTED.get(group, VECTOR_FITTED) or (group, column) in FOR_BAND


def is_old_and_fitted(group, column):
    """Whether only the device's share is fitted, and no curve uses its points."""
    return (group, column) == ("product", OLD[0])


# 90 % quantile of Student's t by degrees of freedom: the scatter is known from few devices
STUDENT = {1: 3.078, 2: 1.886, 3: 1.638, 4: 1.533, 5: 1.476, 6: 1.44}

# The factor of the scatter between devices in a band on another device, by the number of devices from which it is known. LeaveOneOut
# takes the first rule whose bands hold.
RULES = {"shapes alone": lambda _: 0.0, "shapes and devices, normal": lambda _: 1.282, "shapes and devices, Student's t": STUDENT.get}
RULE = "shapes and devices, Student's t"

GROUPS = {"linear": "product", "bmm": "product", "softmax": "softmax", "ln": "normalization"}
UNITS = {"product": "vector", "tensor": "tensor", "convolution": "convolution"}  # kinds with a share of their own → its name in profiles
BASE = {"convolution": "product", "tensorConvolution": "tensor", "tensor8": "tensor"}  # kinds whose share is a multiple of another kind's
SCATTER_OF = {"tensorConvolution": "convolution", "tensor8": "tensor"}  # kinds measured on one device → the kind that provides their scatter between devices
ROWS = ("softmax", "normalization")  # operators that read a row again
OPERANDS = {"add": 3, "mul": 3, "div": 3}  # tensors read and written; 2 for other kinds


def profile(name):
    return tomllib.loads((PROFILES / f"{name}.toml").read_text(encoding="utf-8"))


class Device:
    def __init__(self, name, dtype):
        if name in BOARDS:
            self.name, (self.mac, self.dram, watts, multiprocessors) = name, BOARDS[name]
            self.op, self.threads = self.mac, 2048 * multiprocessors
            self.watts = watts / (2 * self.mac / 1e12)
            if dtype == "float16":
                self.mac = V100_TENSOR
            return
        p = profile(name)
        self.name, self.dram = name, p["peak"]["dram"]["value"]
        self.mac, self.op = p["peak"]["mac"][dtype]["value"], p["peak"]["op"]["float32"]["value"]
        self.watts = p["power"]["tdp"]["value"] / (2 * self.mac / 1e12)
        self.cache, self.threads = p["cache"]["l2"]["value"], p["threads"]["resident"]["value"]


class Case:
    """One operator on one device. `seen`: a fit that may use the device may use the case. `row`: bytes of a row that is read again.
    `winograd`: a 3 × 3 convolution of stride 1. `channels`: of a convolution. `lab`: source of the measurement; DeepBench's products on tensor cores affect only the band."""

    def __init__(self, group, device, macs, moved, seconds, seen, row=0, winograd=False, lab="", outputs=0, columns=0, channels=0):
        self.group, self.device, self.macs, self.moved, self.seconds, self.seen = group, device, macs, moved, seconds, seen
        self.row, self.winograd, self.lab, self.is_for_band = row, winograd, lab, lab == DEEPBENCH and group == "tensor"
        self.eager = lab != DEEPBENCH and group == "product"
        self.outputs, self.is_narrow = outputs, group == "tensorConvolution" and channels % 8 != 0
        self.wide = 1
        if group in COLUMNS:
            self.wide = rounded_up(columns, OLD_COLUMNS if group == "product" and device.name in OLD else COLUMNS[group])
        if self.is_narrow:
            self.wide *= rounded_up(channels, 4)
        self.again = self.in_flight = 0
        if row:
            threads, times = row_kernel(group, row, 4)
            self.again = times * moved / 2
            self.in_flight = min(device.threads / threads * row, moved / 2)


DEEPBENCH = "DeepBench"


def rounded_up(n, step):
    """The factor by which rounding n up to a multiple of `step` increases the MACs."""
    return math.ceil(n / step) * step / n


def row_kernel(group, row, size):
    """The number of threads per row and of repeated reads, by the kernels of PyTorch 2.1 (plugins/common/machine/curves.cpp)."""
    if group == "normalization":
        return 128, 1
    columns = row // size
    if columns <= 1024:
        return 32, 0
    threads = 32
    while threads < min(columns * size // 16, 1024) / 2:  # vectors of 16 bytes
        threads *= 2
    return threads, 2


def read(name):
    with open(HERE / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def vector_cases():
    devices = {column: Device(name, "float32") for column, name in VECTOR.items()}
    for i, row in enumerate(read("operators.csv")):
        sizes = [int(n) for n in row["sizes"].split("x")]
        macs = outputs = columns = 0
        if GROUPS.get(row["operator"]) == "product":
            b, m, n, k = sizes
            macs, outputs, columns = b * m * n * k, b * m * n, min(m, n)
            moved = 4 * (b * m * k + (n * k if row["operator"] == "linear" else b * n * k) + b * m * n)
        else:
            moved = 4 * OPERANDS.get(row["operator"], 2) * sizes[0] * sizes[1]
        for column, device in devices.items():
            if row[column]:
                group = GROUPS.get(row["operator"], "other")
                yield column, Case(group, device, macs, moved, float(row[column]) / 1e3, i % 2 == 0, 4 * sizes[1] if group in ROWS else 0,
                                   outputs=outputs, columns=columns)


def tensor_cases():
    devices = {column: Device(name, "float16") for column, name in TENSOR.items()}
    for i, row in enumerate(read("products.csv")):
        m, k, n = (int(row[c]) for c in ("tokens", "inputs", "outputs"))
        for column, device in devices.items():
            if column not in row:
                continue
            yield column, Case("tensor", device, m * k * n, 2 * (m * k + k * n + m * n), float(row[column]) / 1e3, i % 2 == 0)


def deepbench_cases():
    of = {}
    for i, row in enumerate(read("deepbench.csv")):
        on_tensor_cores = row["type"] == "float16"
        sizes, e = [int(n) for n in row["sizes"].split("x")], 2 if on_tensor_cores else 4
        winograd = False
        if row["operator"] == "product":
            group, (m, n, k) = "tensor" if on_tensor_cores else "product", sizes
            macs, moved, out, columns, c = m * n * k, e * (m * n + m * k + n * k), m * n, min(m, n), 0
        else:
            group, (w, h, c, n, k, r, s, pad_h, pad_w, down, right) = "tensorConvolution" if on_tensor_cores else "convolution", sizes
            out = n * k * ((h + 2 * pad_h - r) // down + 1) * ((w + 2 * pad_w - s) // right + 1)
            part = min(1, r / down) * min(1, s / right)  # of the input
            macs, moved, columns = out * c * r * s, e * (n * c * h * w * part + k * c * r * s + out), k
            winograd = not on_tensor_cores and r == s == 3 and down == right == 1
        for column in list(row)[3:]:
            if not row[column]:
                continue
            name = (TENSOR if on_tensor_cores else VECTOR).get(column, column)
            device = of.setdefault((name, row["type"]), Device(name, row["type"]))
            yield column, Case(group, device, macs, moved, float(row[column]) / 1e3, i % 2 == 0, winograd=winograd, lab=DEEPBENCH, outputs=out, columns=columns,
                               channels=c)


def float8_cases():
    """Products in float8 with results in bfloat16. The fit uses every second dense one and no experts' product."""
    device = Device("nvidia-h100-sxm", "float8_e4m3fn")
    device.name = "H800"
    for i, row in enumerate(read("float8.csv")):
        g, m, n, k, rate = (int(v) for v in row.values())
        macs, moved = g * m * n * k, g * (m * k + n * k + 2 * m * n)
        yield "H800", Case("tensor8", device, macs, moved, 2 * macs / (rate * 1e12), i % 2 == 0 and g == 1)


def reduce_cases():
    """(devices, bytes, seconds, seen) of H100 boards with NVLink"""
    for i, row in enumerate(read("all_reduce.csv")):
        yield int(row["devices"]), int(row["bytes"]), float(row["H100"]) / 1e3, i % 2 == 0


class Reduce:
    """Fits the all-reduce by a grid search: least mean |log| on every second row."""

    def __init__(self):
        self.link = profile("nvidia-h100-sxm")["link"]["bandwidth"]["value"]
        cases = list(reduce_cases())
        grid = [(c / 1e6, s / 100) for c in range(5, 60) for s in range(30, 101, 2)]
        self.call, self.share = min(grid, key=lambda at: sum(abs(math.log(self.ratio(*c[:3], *at))) for c in cases if c[3]))
        self.band = Fit.band([self.ratio(*c[:3]) for c in cases if c[3]])
        self.left_out = [self.ratio(*c[:3]) for c in cases if not c[3]]

    def ratio(self, devices, moved, seconds, call=None, share=None):
        return ((call or self.call) + 2 * (devices - 1) / devices * moved / (self.link * (share or self.share))) / seconds


class Curve:
    """The parameters as a list for the search."""
    FIELDS = {"product": ["rise", "most", "edge", "fill", "memory", "call", "eager"], "tensor": ["share", "fill", "memory", "call"],
              "convolution": ["share", "gain", "block", "fill", "memory", "call"], "tensorConvolution": ["share", "narrow", "block", "fill", "memory", "call"],
              "tensor8": ["share", "fill", "call"], "softmax": ["reuse"], "normalization": ["reuse"]}
    CALL = 4e-6  # from Vidur's norms of one token, because recorded operators without MACs are too large to show it
    START = {"rise": 0.22, "most": 0.9, "share": 0.75, "fill": 1e8, "memory": 0.7, "call": 1e-5, "reuse": 1.0, "gain": 1.5, "edge": 20,
             "eager": 3e-5, "block": 2, "narrow": 0.6}
    CEILING = {"most": 1, "memory": 1}

    def __init__(self, group, others=None, base=None):
        """`base`: for `tensor8`, the curve of `tensor`. `others`: for operators that read a row again, the share of peak.dram of other operators
        without MACs, by profile ("" for unmeasured ones); for kinds of products, the share of the units by device."""
        self.fields = self.FIELDS.get(group, ["memory"])
        self.values = {"call": self.CALL} | {f: self.START[f] for f in self.fields}
        self.own, self.of_units = others if group in ROWS else {}, others if group in BASE else None
        if self.own:
            self.values["memory"] = self.own[""]
        if self.of_units:
            self.values["share"] = 1
        if group == "tensor8":  # few shapes of one device
            self.values["memory"] = base.values["memory"]

    def share(self, device):
        v = self.values
        if self.of_units:
            return v["share"] * self.of_units(device)
        return min(v["most"], v["rise"] * math.sqrt(device.watts)) if "rise" in v else min(v.get("share", 1), 1)

    def seconds(self, case, share=None, memory=None):
        v = self.values
        memory = memory or self.own.get(case.device.name) or v["memory"]
        moved = case.moved + (case.again * (1 - max(0, 1 - v.get("reuse", 1) * case.in_flight / case.device.cache)) if case.again else 0)
        macs = arithmetic = 0
        if case.macs:
            macs = case.wide * (case.macs + v.get("edge", 0) * case.outputs)
            if "block" in v:
                macs = max(macs, v["block"] * case.device.threads * case.macs / case.outputs)
            rate = case.device.op * v["narrow"] if case.is_narrow else case.device.mac * (share or self.share(case.device))
            arithmetic = (macs / (v.get("gain", 1) if case.winograd else 1) + v.get("fill", 0)) / rate
        return v["call"] + v.get("eager", 0) * case.eager + math.hypot(arithmetic, moved / (case.device.dram * memory))

    def loss(self, cases, share=None):
        """Mean over devices and labs of the mean |log(predicted / measured)|."""
        by_device = {}
        for c in cases:
            by_device.setdefault((c.device.name, c.lab), []).append(abs(math.log(self.seconds(c, share) / c.seconds)))
        return statistics.fmean(statistics.fmean(v) for v in by_device.values())


def fitted(group, cases, others=None, base=None):
    """Changes one parameter at a time by a shrinking factor. The result depends only on the arguments."""
    curve = Curve(group, others, base)
    best, step = curve.loss(cases), 1.5
    while step > 1.002:
        moved = False
        for field in curve.fields:
            for factor in (step, 1 / step):
                old = curve.values[field]
                curve.values[field] = min(old * factor, curve.CEILING.get(field, math.inf))
                loss = curve.loss(cases)
                if loss < best - 1e-9:
                    best, moved = loss, True
                    break
                curve.values[field] = old
        if not moved:
            step = math.sqrt(step)
    curve.values = {k: float(f"{v:.3g}") for k, v in curve.values.items()}
    return curve


def own_share(curve, cases):
    """The share of one device, in thousandths, with the least mean |log|; labs have equal weights."""
    products = [c for c in cases if c.macs]
    return min(range(150, 1001, 5), key=lambda share: curve.loss(products, share / 1000)) / 1000


def own_memory(curve, cases):
    """The share of peak.dram of one device, in thousandths, with the least mean |log|."""
    loss = {s: sum(abs(math.log(curve.seconds(c, memory=s / 1000) / c.seconds)) for c in cases) for s in range(400, 1001, 5)}
    return min(loss, key=loss.get) / 1000


def quantile(q, *lists):
    """The quantile of one list, interpolated between neighbours, or of several lists with equal weights."""
    if len(lists) == 1:
        values = sorted(lists[0])
        at = q * (len(values) - 1)
        low = math.floor(at)
        return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)
    weighed = sorted((v, 1 / len(values) / len(lists)) for values in lists for v in values)
    below = 0
    for value, weight in weighed:
        below += weight
        if below >= q:
            return value
    return weighed[-1][0]


class Fit:
    def __init__(self):
        cases = [*vector_cases(), *tensor_cases(), *deepbench_cases(), *float8_cases()]
        self.fit([(column, c, may_fit(c.group, column)) for column, c in cases])
        self.bands = {g: (self.known_band(g), self.foreign_band(g)) for g in self.groups}
        self.own_bands = {(name, g): self.known_band(g, name) for name, g in self.shares}

    def fit(self, cases):
        """`cases`: (column, case, whether the fit may use the device)"""
        self.cases = cases
        self.groups = list(dict.fromkeys(c.group for _, c, _ in self.cases))
        self.curves = {g: fitted(g, self.to_fit(g)) for g in self.groups if g not in ROWS and g not in BASE}
        self.shares = {}  # (profile, kind of UNITS) → share fitted on the device
        self.fit_shares("product")
        self.fit_shares("tensor")
        self.memory = {}  # profile → share of peak.dram
        for column in self.columns("other"):
            cases = [c for k, c, _ in self.cases if k == column and c.group == "other" and c.seen]
            self.memory[cases[0].device.name] = own_memory(self.curves["other"], cases)
        self.curves |= {g: fitted(g, self.to_fit(g), self.others(g), self.curves.get("tensor")) for g in self.groups if g in ROWS or g in BASE}
        self.fit_shares("convolution")

    def fit_shares(self, group):
        for column in dict.fromkeys(k for k, c, _ in self.cases if c.group == group):
            cases = [c for k, c, f in self.cases if k == column and c.group == group and c.seen and not c.is_for_band and (f or is_old_and_fitted(group, column))]
            if cases:
                self.shares[cases[0].device.name, group] = own_share(self.curves[group], cases)

    def others(self, group, but=None):
        """The parts of the curve that come from other kinds, fitted without the measurements of a device."""
        if group in ROWS:
            return self.memories(but)
        base = BASE.get(group)
        return base and (lambda d: self.shares.get((d.name, base)) if d.name != but and (d.name, base) in self.shares else self.curves[base].share(d))

    def memories(self, but=None):
        """Shares of peak.dram without that of a profile; "": the share of an unmeasured profile."""
        return {"": self.curves["other"].values["memory"]} | {name: m for name, m in self.memory.items() if name != but}

    def columns(self, group):
        """The cases on devices that the fit may use."""
        return list(dict.fromkeys(k for k, c, f in self.cases if f and c.group == group and not c.is_for_band))

    def of(self, group, fit=None, seen=None):
        return [c for _, c, f in self.cases if c.group == group and (fit is None or f == fit) and (seen is None or c.seen == seen)]

    def to_fit(self, group):
        return [c for c in self.of(group, fit=True, seen=True) if not c.is_for_band]

    def share(self, group, device):
        return self.shares.get((SHARE_OF.get(device.name, device.name), group)) or self.curves[group].share(device)  # a kind with a base uses that curve

    def ratio(self, case):
        """predicted / measured"""
        memory = None if case.macs else self.memory.get(case.device.name)
        return self.curves[case.group].seconds(case, self.share(case.group, case.device), memory) / case.seconds

    @staticmethod
    def band(*ratios):
        """Factors of the expected time that enclose 80 % of the measured times, rounded outwards. Lists have equal weights."""
        return math.floor(100 / quantile(0.9, *ratios)) / 100, math.ceil(100 / quantile(0.1, *ratios)) / 100

    def known_band(self, group, name=None, widest=False):
        """The band of the fitted shapes of one device or all, and of shapes that another lab measured on the same devices. Other shapes are
        for the test. Every lab's table of a device has the same weight. `widest`: the widest over labs and older libraries, because
        another device may be measured by any lab and with any library."""
        of = {}
        for column, c, f in self.cases:
            is_old = is_old_and_fitted(group, column)
            if c.group == group and c.seen and (c.device.name == name if name else f or (widest and is_old)):
                of.setdefault((c.lab, is_old), {}).setdefault(c.device.name, []).append(self.ratio(c))
        tables = [list(by_device.values()) for by_device in of.values()]
        bands = [self.band(*its) for its in (tables if widest else [sum(tables, [])])]
        low, high = min(b[0] for b in bands), max(b[1] for b in bands)
        if group in BASE and len(self.columns(group)) == 1:  # few shapes of one device
            base_low, base_high = self.known_band(BASE[group])
            low, high = min(low, base_low), max(high, base_high)
        return low, high

    def foreign_band(self, group, rules=(RULE,)):
        """The band of an unmeasured device: the scatter of shapes on one device, and that of devices when each is predicted from the others.
        It is the prediction interval of one more device with both parts independent. With several rules, one band for each."""
        source = group if len(self.columns(group)) > 1 else SCATTER_OF[group]  # one device gives no scatter between devices
        cases = self.of(source, fit=True)
        names = list(dict.fromkeys(c.device.name for c in cases))
        off = []
        for name in names:
            own = [c for c in cases if c.device.name == name]
            own = [c for c in own if not c.is_for_band] or own
            curve = fitted(source, [c for c in cases if c.device.name != name and c.seen and not c.is_for_band], self.others(source, but=name))
            off.append(statistics.median(math.log(curve.seconds(c) / c.seconds) for c in own))
        low, high = (math.log(f) for f in self.known_band(group, widest=True))
        bands = []
        for rule in rules:
            devices = RULES[rule](len(off)) * math.sqrt(statistics.fmean(o * o for o in off) * (1 + 1 / len(off)))
            bands.append((math.floor(100 * math.exp(-math.hypot(low, devices))) / 100, math.ceil(100 * math.exp(math.hypot(high, devices))) / 100))
        return bands if len(bands) > 1 else bands[0]

    def inside(self, group, band, column=None):
        """Shares of cases within the band, for one device or for all devices that the fit may not use."""
        ratios = [self.ratio(c) for k, c, f in self.cases if c.group == group and (k == column if column else not f)]
        return [band[0] <= 1 / r <= band[1] for r in ratios]


class LeaveOneOut:
    """The rule of RULES for a band on another device: the first with which, for every kind, 80 % of the measured times are inside when
    each fitted device is predicted from the others. Devices that are left out do not affect it; `unseen` is their share inside, `fitted` that of fitted devices."""
    GROUPS = ("product", "other", *ROWS)  # needs three or more devices

    def __init__(self, fit):
        fitted_cases = [(k, c, f) for k, c, f in fit.cases if f and c.group in self.GROUPS]
        inside = {}
        for left in dict.fromkeys(k for k, _, _ in fitted_cases):
            part = Fit.__new__(Fit)
            part.fit([(k, c, k != left) for k, c, _ in fitted_cases])
            for group in {c.group for k, c, _ in fitted_cases if k == left}:
                for rule, band in zip(RULES, part.foreign_band(group, tuple(RULES))):
                    inside.setdefault((rule, group), []).extend(part.inside(group, band, left))
        self.fitted = {at: 100 * statistics.fmean(v) for at, v in inside.items()}
        self.unseen = {}
        for group in fit.groups:
            if all(f for _, c, f in fit.cases if c.group == group):
                continue
            for rule, band in zip(RULES, fit.foreign_band(group, tuple(RULES))):
                self.unseen[rule, group] = 100 * statistics.fmean(fit.inside(group, band))
        groups = {g for _, g in self.fitted}
        self.chosen = next(r for r in RULES if all(self.fitted[r, g] >= 80 for g in groups))


def rows(fit):
    """curves.inc"""
    text = ["// Generated by tests/predictions/fit.py; the test docs.predictions compares.",
            "// kind, share of peak arithmetic, MACs to fill the device, share of peak.dram, s of a call,",
            "// share of a row's bytes that the L2 has to hold, gain of Winograd's algorithm, MACs more of an output, columns at once, outputs of a thread,",
            "// share of vector units, band on measured devices, band on others"]
    for group in fit.groups:
        v = fit.curves[group].values
        (a, b), (c, d) = fit.bands[group]
        text.append(f"{{Kind::k{group[0].upper()}{group[1:]}, {v.get('share', v.get('most', 1)):g}, {v.get('fill', 0):g}, {v['memory']:g}, {v['call']:g}, {v.get('reuse', 0):g}, {v.get('gain', 1):g}, "
                    f"{v.get('edge', 0):g}, {COLUMNS.get(group, 1)}, {v.get('block', 0):g}, {v.get('narrow', 0):g}, "
                    f"{{{a:g}, {b:g}}}, {{{c:g}, {d:g}}}}},")
    reduce = Reduce()
    (low, high), band = reduce.band, "{{{:g}, {:g}}}"
    text.append(f"{{Kind::kReduce, 1, 0, {reduce.share:g}, {reduce.call:g}, 0, 1, 0, 1, 0, 0, {band.format(low, high)}, {band.format(low, high)}}},")
    return "\n".join(text) + "\n"


def is_measured(group, column):
    """Whether points were fitted on the device."""
    return column in FITTED.get(group, VECTOR_FITTED) or is_old_and_fitted(group, column)


def left_out(fit):
    """(group, device, lab, whether points were fitted on the device) → predicted / measured of the cases that no fit and no band used"""
    found = {}
    for group in fit.groups:
        for column, c, may in fit.cases:
            if c.group == group and not (c.seen and (may or is_measured(group, column))):
                found.setdefault((group, column, c.lab, is_measured(group, column)), []).append(fit.ratio(c))
    return found


def is_outside(fit, group, column, is_fitted, ratio):
    """`column`: the device; its own band is used if it has one."""
    name = (TENSOR if group == "tensor" else VECTOR).get(column, column)
    low, high = fit.own_bands.get((name, group), fit.bands[group][0 if is_fitted else 1])
    return not low <= 1 / ratio <= high


def errors(fit):
    """(group, device, lab, whether fitted, cases, median and 90 % quantile of |error|, share outside the band)"""
    for (group, column, lab, is_fitted), ratios in left_out(fit).items():
        off = [abs(r - 1) * 100 for r in ratios]
        outside = statistics.fmean(is_outside(fit, group, column, is_fitted, r) for r in ratios)
        yield group, column, lab, is_fitted, len(off), statistics.median(off), quantile(0.9, off), 100 * outside


NEUSIGHT = "sitar-lab/NeuSight (2025), commit 6945927, dataset/test"
VIDUR = "microsoft/vidur (2024), commit 7d47513, profiling/compute"
DEEPBENCH_SOURCE = "baidu-research/DeepBench (2019), commit da81ba7, results/train"
SOURCES = {"product": ("products", NEUSIGHT), "tensor": ("products", VIDUR),
           "convolution": ("convolutions", DEEPBENCH_SOURCE)}


def leaves(fit):
    """{profile: {key: (value, source)}}, as stated in the profiles"""
    off = {}
    for group, column, lab, is_fitted, _, median, most, _ in errors(fit):
        if lab == DEEPBENCH and group != "convolution":
            continue
        off[group, (TENSOR if group == "tensor" else VECTOR).get(column)] = f"median error on the other shapes {median:.1f} %, at most {most:.0f} % on nine in ten"
    product, tensor, out = fit.curves["product"], fit.curves["tensor"], {}
    for (name, group), share in fit.shares.items():
        if name in BOARDS:
            continue
        units, (operators, source) = UNITS[group], SOURCES[group]
        if group == "product" and any(c.lab == DEEPBENCH for c in fit.of(group, True, True) if c.device.name == name):
            source += f" and of {DEEPBENCH_SOURCE}"
        out.setdefault(name, {})["curve.fitted." + units] = (share, f"fitted by tests/predictions/fit.py on half of the {operators} of {source}; {off[group, name]}")
        for end, value in zip(("low", "high"), fit.own_bands[name, group]):
            out[name][f"curve.{end}.{units}"] = (value, f"fitted by tests/predictions/fit.py on the same {operators} of {source}: one of ten measured times is {'shorter' if end == 'low' else 'longer'}")
    for name, share in fit.memory.items():
        out[name]["curve.memory"] = (share, f"fitted by tests/predictions/fit.py on half of the elementwise operators of {NEUSIGHT}; {off['other', name]}")
    for path in sorted(PROFILES.glob("nvidia-*.toml")):
        name = path.stem
        if name == "nvidia-jetson-agx-orin":  # the GPU shares memory and power with a processor
            continue
        at = out.setdefault(name, {})
        if "curve.fitted.vector" not in at:
            at["curve.transferred.vector"] = (float(f"{product.share(Device(name, 'float32')):.3g}"),
                                              f"carried over by tests/predictions/fit.py from {len(VECTOR_FITTED)} devices of {NEUSIGHT}: "
                                              "the share that the board's power permits")
        if "curve.fitted.tensor" not in at and name not in ("nvidia-p100-pcie", "nvidia-p4"):  # no tensor cores
            at["curve.transferred.tensor"] = (tensor.values["share"], f"carried over by tests/predictions/fit.py from {len(TENSOR_FITTED)} devices of {VIDUR}")
    return out


def with_leaves(text, at):
    """The text of a profile with these values in place of its own."""
    text = re.sub(r"\n\[curve\.[^\n]*\n(?:[^\n\[]+\n)+", "", text)
    return text + "".join(f'\n[{key}]\nvalue = {value:g}\nunit = "ratio"\nsource = "{source}"\n' for key, (value, source) in at.items())


if __name__ == "__main__":
    result = Fit()
    if "--write" in sys.argv:
        CURVES.write_text(rows(result), encoding="utf-8")
        for stem, its in leaves(result).items():
            file = PROFILES / f"{stem}.toml"
            file.write_text(with_leaves(file.read_text(encoding="utf-8"), its), encoding="utf-8")
    print(rows(result))
    print({g: c.values for g, c in result.curves.items()})
    for e in errors(result):
        print("%-18s %-14s %-9s fitted %d  n %d  median %.1f  90 %% %.1f  outside %.0f %%" % e)
