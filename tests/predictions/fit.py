"""The curves of plugins/common/machine/curves.inc and the shares `curve.*` of the hardware profiles, fitted on recorded measurements.

    python tests/predictions/fit.py             prints both and how far they are from measurements that they never saw
    python tests/predictions/fit.py --write     writes both

    time = call + sqrt(arithmetic² + traffic²)
    arithmetic = (MACs + fill) / (peak.mac · share)
    traffic = bytes / (peak.dram · memory)
    all-reduce = call + 2 · (n − 1) / n · bytes / (link.bandwidth · share)

`share` belongs to a device and its units. Where the device was measured it is fitted (`curve.fitted.*`). Otherwise it is carried over
(`curve.transferred.*`): on vector units min(most, rise · sqrt(TDP / peak)), TDP in W, peak in TFLOP/s, for a board that is short of
power lowers its clock; on tensor cores the share of the fitted devices. `memory` of operators without MACs is fitted to a device too
(`curve.memory`). Everything else belongs to the kind of operator and holds for all devices.

Recorded: operators.csv (sitar-lab/NeuSight, MIT, commit 6945927, scripts/asplos/data/dataset/test: float32 with TF32 off, ms, median
of repeats, a sample of the shapes) and products.csv (microsoft/vidur, MIT, commit 7d47513, data/profiling/compute: float16,
time_stats.*.median of projections, a sample), all_reduce.csv (profiling/network/h100_dgx; its A100 tables show an eighth of NVLink's
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

# columns of the recorded tables → profiles; NeuSight's A100 are PCIe boards, Vidur's is SXM with 80 GB
VECTOR = {"P4": "nvidia-p4", "P100": "nvidia-p100-pcie", "T4": "nvidia-t4", "V100": "nvidia-v100-pcie", "A100-40": "nvidia-a100-pcie",
          "A100-80": "nvidia-a100-80gb-pcie", "L4": "nvidia-l4", "H100": "nvidia-h100-sxm"}
TENSOR = {"A100": "nvidia-a100-80gb", "A40": "nvidia-a40", "H100": "nvidia-h100-sxm"}
VECTOR_FITTED = ("P4", "P100", "T4", "V100", "A100-40")
TENSOR_FITTED = ("A100", "A40")

# 90 % quantile of Student's t by degrees of freedom, here devices: their scatter is known from few
STUDENT = {2: 1.886, 3: 1.638, 4: 1.533, 5: 1.476}

# How much of the scatter between devices a band on another device has, by the number of devices that it is known from. The first
# whose bands hold is taken (LeaveOneOut).
RULES = {"shapes alone": lambda _: 0.0, "shapes and devices, normal": lambda _: 1.282, "shapes and devices, Student's t": STUDENT.get}
RULE = "shapes and devices, Student's t"

GROUPS = {"linear": "product", "bmm": "product", "softmax": "softmax", "ln": "normalization"}
OPERANDS = {"add": 3, "mul": 3, "div": 3}  # tensors read and written; others 2


def profile(name):
    return tomllib.loads((PROFILES / f"{name}.toml").read_text(encoding="utf-8"))


class Device:
    def __init__(self, name, dtype):
        p = profile(name)
        self.name, self.dram = name, p["peak"]["dram"]["value"]
        self.mac = p["peak"]["mac"][dtype]["value"]
        self.watts = p["power"]["tdp"]["value"] / (2 * self.mac / 1e12)


class Case:
    """One operator on one device. `seen`: the fit may use it, if it may use the device."""

    def __init__(self, group, device, macs, moved, seconds, seen):
        self.group, self.device, self.macs, self.moved, self.seconds, self.seen = group, device, macs, moved, seconds, seen


def read(name):
    with open(HERE / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def vector_cases():
    devices = {column: Device(name, "float32") for column, name in VECTOR.items()}
    for i, row in enumerate(read("operators.csv")):
        sizes = [int(n) for n in row["sizes"].split("x")]
        macs = 0
        if GROUPS.get(row["operator"]) == "product":
            b, m, n, k = sizes
            macs = b * m * n * k
            moved = 4 * (b * m * k + (n * k if row["operator"] == "linear" else b * n * k) + b * m * n)
        else:
            moved = 4 * OPERANDS.get(row["operator"], 2) * sizes[0] * sizes[1]
        for column, device in devices.items():
            if row[column]:
                yield column, Case(GROUPS.get(row["operator"], "other"), device, macs, moved, float(row[column]) / 1e3, i % 2 == 0)


def tensor_cases():
    devices = {column: Device(name, "float16") for column, name in TENSOR.items()}
    for i, row in enumerate(read("products.csv")):
        m, k, n = (int(row[c]) for c in ("tokens", "inputs", "outputs"))
        for column, device in devices.items():
            yield column, Case("tensor", device, m * k * n, 2 * (m * k + k * n + m * n), float(row[column]) / 1e3, i % 2 == 0)


def reduce_cases():
    """(devices, bytes, seconds, seen) of H100 boards with NVLink"""
    for i, row in enumerate(read("all_reduce.csv")):
        yield int(row["devices"]), int(row["bytes"]), float(row["H100"]) / 1e3, i % 2 == 0


class Reduce:
    """The all-reduce: least mean |log| on every second row, by trying a grid."""

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
    """Parameters as a list, so that the search can move them."""
    FIELDS = {"product": ["rise", "most", "fill", "memory", "call"], "tensor": ["share", "fill", "memory", "call"]}
    CALL = 4e-6  # of operators without MACs, whose recorded shapes are too large to tell: Vidur's norms of one token
    START = {"rise": 0.22, "most": 0.9, "share": 0.75, "fill": 1e8, "memory": 0.7, "call": 1e-5}
    CEILING = {"most": 1, "share": 1, "memory": 1}

    def __init__(self, group):
        self.fields = self.FIELDS.get(group, ["memory"])
        self.values = {"call": self.CALL} | {f: self.START[f] for f in self.fields}

    def share(self, device):
        v = self.values
        return min(v["most"], v["rise"] * math.sqrt(device.watts)) if "rise" in v else v.get("share", 1)

    def seconds(self, case, share=None, of_memory=1):
        v = self.values
        arithmetic = (case.macs + v.get("fill", 0)) / (case.device.mac * (share or self.share(case.device))) if case.macs else 0
        return v["call"] + math.hypot(arithmetic, case.moved / (case.device.dram * v["memory"] * of_memory))

    def loss(self, cases):
        """Mean of the devices' mean |log(predicted / measured)|."""
        by_device = {}
        for c in cases:
            by_device.setdefault(c.device.name, []).append(abs(math.log(self.seconds(c) / c.seconds)))
        return statistics.fmean(statistics.fmean(v) for v in by_device.values())


def fitted(group, cases):
    """Moves one parameter at a time by a factor that shrinks. The result depends on the cases alone."""
    curve = Curve(group)
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
    """Of one device: the share, in thousandths, with the least mean |log|."""
    products = [c for c in cases if c.macs]
    loss = {s: sum(abs(math.log(curve.seconds(c, s / 1000) / c.seconds)) for c in products) for s in range(150, 1001, 5)}
    return min(loss, key=loss.get) / 1000


def own_memory(curve, cases):
    """Of one device: the share of peak.dram, in thousandths, with the least mean |log|."""
    loss = {s: sum(abs(math.log(curve.seconds(c, of_memory=s / 1000 / curve.values["memory"]) / c.seconds)) for c in cases)
            for s in range(400, 1001, 5)}
    return min(loss, key=loss.get) / 1000


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


class Fit:
    def __init__(self):
        self.fit([(column, c, column in VECTOR_FITTED) for column, c in vector_cases()] +
                 [(column, c, column in TENSOR_FITTED) for column, c in tensor_cases()])
        self.bands = {g: (self.known_band(g), self.foreign_band(g)) for g in self.groups}

    def fit(self, cases):
        """`cases`: (column, case, whether the fit may use the device)"""
        self.cases = cases
        self.groups = list(dict.fromkeys(c.group for _, c, _ in self.cases))
        self.curves = {g: fitted(g, self.of(g, fit=True, seen=True)) for g in self.groups}
        self.shares = {}  # (profile, "product" or "tensor") → share fitted on the device
        for group in ("product", "tensor"):
            for column in self.columns(group):
                cases = [c for k, c, _ in self.cases if k == column and c.group == group and c.seen]
                self.shares[cases[0].device.name, group] = own_share(self.curves[group], cases)
        self.memory = {}  # profile → share of peak.dram
        for column in self.columns("other"):
            cases = [c for k, c, _ in self.cases if k == column and c.group == "other" and c.seen]
            self.memory[cases[0].device.name] = own_memory(self.curves["other"], cases)

    def columns(self, group):
        """Of the devices that the fit may use."""
        return list(dict.fromkeys(k for k, c, f in self.cases if f and c.group == group))

    def of(self, group, fit=None, seen=None):
        return [c for _, c, f in self.cases if c.group == group and (fit is None or f == fit) and (seen is None or c.seen == seen)]

    def share(self, group, device):
        return self.shares.get((device.name, group)) or self.curves[group].share(device)

    def ratio(self, case):
        """predicted / measured"""
        general = self.curves["other"].values["memory"]
        of_memory = 1 if case.macs else self.memory.get(case.device.name, general) / general
        return self.curves[case.group].seconds(case, self.share(case.group, case.device), of_memory) / case.seconds

    @staticmethod
    def band(ratios):
        """Factors of the expected time between which 80 % of the measured times are, rounded outwards."""
        return math.floor(100 / quantile(ratios, 0.9)) / 100, math.ceil(100 / quantile(ratios, 0.1)) / 100

    def known_band(self, group):
        """Of the shapes that were fitted; those left out are for the test."""
        return self.band([self.ratio(c) for c in self.of(group, fit=True, seen=True)])

    def foreign_band(self, group, rules=(RULE,)):
        """A device that was not measured: the scatter of shapes on one device, and that of devices when each is predicted from the others.
        The prediction interval of one more device, both parts independent. With several rules a band for each."""
        cases = self.of(group, fit=True)
        names = list(dict.fromkeys(c.device.name for c in cases))
        off = []
        for name in names:
            curve = fitted(group, [c for c in cases if c.device.name != name and c.seen])
            off.append(statistics.median(math.log(curve.seconds(c) / c.seconds) for c in cases if c.device.name == name))
        low, high = (math.log(f) for f in self.known_band(group))
        bands = []
        for rule in rules:
            devices = RULES[rule](len(off)) * math.sqrt(statistics.fmean(o * o for o in off) * (1 + 1 / len(off)))
            bands.append((math.floor(100 * math.exp(-math.hypot(low, devices))) / 100, math.ceil(100 * math.exp(math.hypot(high, devices))) / 100))
        return bands if len(bands) > 1 else bands[0]

    def inside(self, group, band, column=None):
        """Shares of cases within the band: of a device, or of all devices that the fit may not use."""
        ratios = [self.ratio(c) for k, c, f in self.cases if c.group == group and (k == column if column else not f)]
        return [band[0] <= 1 / r <= band[1] for r in ratios]


class LeaveOneOut:
    """Which rule of RULES a band on another device follows: the first with 80 % of the measured times of every kind inside when each
    device that is fitted is predicted from the other four. The figures of H100, L4 and A100-80 do not enter it; `unseen` is the share of theirs."""

    def __init__(self, fit):
        known = [(k, c, f) for k, c, f in fit.cases if f and c.group != "tensor"]
        inside = {}
        for left in VECTOR_FITTED:
            part = Fit.__new__(Fit)
            part.fit([(k, c, k != left) for k, c, _ in known])
            for group in part.groups:
                for rule, band in zip(RULES, part.foreign_band(group, tuple(RULES))):
                    inside.setdefault((rule, group), []).extend(part.inside(group, band, left))
        self.known = {at: 100 * statistics.fmean(v) for at, v in inside.items()}
        self.unseen = {}
        for group in fit.groups:
            for rule, band in zip(RULES, fit.foreign_band(group, tuple(RULES))):
                self.unseen[rule, group] = 100 * statistics.fmean(fit.inside(group, band))
        groups = {g for _, g in self.known}
        self.chosen = next(r for r in RULES if all(self.known[r, g] >= 80 for g in groups))


def rows(fit):
    """curves.inc"""
    text = ["// Generated by tests/predictions/fit.py; the test docs.predictions compares.",
            "// kind, share of peak arithmetic, MACs to fill the device, share of peak.dram, s of a call,",
            "// band on measured devices, band on others"]
    for group in fit.groups:
        v = fit.curves[group].values
        (a, b), (c, d) = fit.bands[group]
        text.append(f"{{Kind::k{group.capitalize()}, {v.get('share', v.get('most', 1)):g}, {v.get('fill', 0):g}, {v['memory']:g}, {v['call']:g}, "
                    f"{{{a:g}, {b:g}}}, {{{c:g}, {d:g}}}}},")
    reduce = Reduce()
    (low, high), band = reduce.band, "{{{:g}, {:g}}}"
    text.append(f"{{Kind::kReduce, 1, 0, {reduce.share:g}, {reduce.call:g}, {band.format(low, high)}, {band.format(low, high)}}},")
    return "\n".join(text) + "\n"


def errors(fit):
    """(group, device, whether fitted, cases, median and 90 % of |error|, share outside the band), all of cases that no fit saw"""
    for group in fit.groups:
        for column in dict.fromkeys(k for k, c, _ in fit.cases if c.group == group):
            known = column in (TENSOR_FITTED if group == "tensor" else VECTOR_FITTED)
            ratios = [fit.ratio(c) for k, c, _ in fit.cases if k == column and c.group == group and not (known and c.seen)]
            low, high = fit.bands[group][0 if known else 1]
            off = [abs(r - 1) * 100 for r in ratios]
            outside = sum(not low <= 1 / r <= high for r in ratios) / len(ratios)
            yield group, column, known, len(off), statistics.median(off), quantile(off, 0.9), 100 * outside


NEUSIGHT = "sitar-lab/NeuSight (2025), commit 6945927, dataset/test"
VIDUR = "microsoft/vidur (2024), commit 7d47513, profiling/compute"


def leaves(fit):
    """{profile: {key: (value, source)}} as the profiles state them"""
    off = {}
    for group, column, known, _, median, most, _ in errors(fit):
        off[group, (TENSOR if group == "tensor" else VECTOR)[column]] = f"median error of the other shapes {median:.1f} %, of nine in ten at most {most:.0f} %"
    product, tensor, out = fit.curves["product"], fit.curves["tensor"], {}
    for (name, group), share in fit.shares.items():
        units, source = ("tensor", VIDUR) if group == "tensor" else ("vector", NEUSIGHT)
        out.setdefault(name, {})["curve.fitted." + units] = (share, f"fitted by tests/predictions/fit.py on half of the products of {source}; {off[group, name]}")
    for name, share in fit.memory.items():
        out[name]["curve.memory"] = (share, f"fitted by tests/predictions/fit.py on half of the elementwise operators of {NEUSIGHT}; {off['other', name]}")
    for path in sorted(PROFILES.glob("nvidia-*.toml")):
        name = path.stem
        if name == "nvidia-jetson-agx-orin":  # its memory and its power are shared with a processor
            continue
        at = out.setdefault(name, {})
        if "curve.fitted.vector" not in at:
            at["curve.transferred.vector"] = (float(f"{product.share(Device(name, 'float32')):.3g}"),
                                              f"carried over by tests/predictions/fit.py from {len(VECTOR_FITTED)} devices of {NEUSIGHT}: "
                                              "what the board's power permits")
        if "curve.fitted.tensor" not in at and name not in ("nvidia-p100-pcie", "nvidia-p4"):  # no tensor cores
            at["curve.transferred.tensor"] = (tensor.values["share"], f"carried over by tests/predictions/fit.py from {len(TENSOR_FITTED)} devices of {VIDUR}")
    return out


def with_leaves(text, at):
    """The text of a profile with these leaves instead of its own."""
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
        print("%-14s %-8s fitted %d  n %d  median %.1f  90 %% %.1f  outside %.0f %%" % e)
