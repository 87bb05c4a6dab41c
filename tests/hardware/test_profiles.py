"""Every installed hardware profile can be read, each of its values has a unit and a document, and the values are those of the
data sheets.

FACTS is copied from the documents in their own units (FLOP/s of a data sheet, gigabytes, lanes). The profile's values are
computed from it here and must be equal.
"""
import json
import math
import pathlib
import re
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import MODELS, SOURCE, CliTest, tmeter  # noqa: E402

FOLDER = SOURCE / "plugins" / "metrics" / "energy" / "hardware"
DOCUMENTED = SOURCE / "docs" / "hardware-profiles.md"
MODEL = MODELS / "dynamic_mlp.pt2"

# The table of docs/hardware-profiles.md; families by type may also be given by class and type.
BY_TYPE = {"energy.mac": "J", "energy.op": "J", "peak.mac": "MAC/s", "peak.op": "op/s"}
BY_CLASS = {"efficiency": "ratio", "bandwidth": "B/s"}
SINGLE = {"energy.dram": "J/B", "power.static": "W", "peak.dram": "B/s", "overhead.operator": "s", "overhead.launch": "s",
          "capacity.dram": "B", "cache.l1": "B", "cache.l2": "B", "cache.l3": "B", "link.bandwidth": "B/s", "power.tdp": "W", "vector.width": "B", "threads.resident": "threads",
          "curve.fitted.vector": "ratio", "curve.fitted.tensor": "ratio", "curve.transferred.vector": "ratio",
          "curve.transferred.tensor": "ratio", "curve.memory": "ratio", "curve.fitted.convolution": "ratio",
          **{f"curve.{end}.{units}": "ratio" for end in ("low", "high") for units in ("vector", "tensor", "convolution")},
          "thermal.leakage": "W/K", "thermal.reference": "°C", "thermal.throttle": "°C", "thermal.slowdown": "1/K"}
TYPES = {"float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64"}
CLASSES = {"convolution", "matmul", "attention", "recurrent", "embedding", "normalization", "softmax", "pooling", "activation",
           "elementwise", "reduction", "interpolation", "gather", "sort", "creation", "random", "copy", "other"}

T, G, MIB = 1e12, 1e9, 2**20
MAC = 1 / 2  # a data sheet counts a multiply-add as two
DENSE = 1 / 2  # from a rate printed with 2:4 sparsity
PCIE4_X16 = 16e9 * 16 * 128 / 130 / 8
PCIE5_X16 = 2 * PCIE4_X16

FACTS = {
    # ISSCC 2014: float multiply and add of 32, 16 bit; integer of 8 bit, in pJ
    "horowitz-45nm": {"energy.mac.float32": (3.7 + 0.9) / T, "energy.mac.float16": (1.1 + 0.4) / T,
                      "energy.mac.int8": (0.2 + 0.03) / T, "energy.dram": 1300 / T / 8},
    # ISCA 2021, table 2
    "jouppi-7nm": {"energy.mac.float32": (1.31 + 0.38) / T, "energy.mac.bfloat16": (0.21 + 0.11) / T,
                   "energy.mac.int8": (0.07 + 0.007) / T},
    "nvidia-a100": {"threads.resident": 108 * 2048, "peak.mac.bfloat16": 312 * T * MAC, "peak.mac.float32": 19.5 * T * MAC, "peak.mac.int8": 624 * T * MAC,
                    "peak.dram": 1555 * G, "capacity.dram": 40 * G, "cache.l2": 40 * MIB, "link.bandwidth": 600 * G / 2,
                    "power.tdp": 400, "overhead.launch": 2260.5 / G},
    "nvidia-h100-sxm": {"threads.resident": 132 * 2048, "peak.mac.bfloat16": 989.4 * T * MAC, "peak.mac.float16": 989.4 * T * MAC, "peak.mac.float32": 67 * T * MAC,
                        "peak.mac.int8": 3958 * T * DENSE * MAC, "peak.mac.float8_e4m3fn": 3958 * T * DENSE * MAC,
                        "peak.mac.convolution.float32": 989 * T * DENSE * MAC, "peak.mac.float64": 67 * T * MAC,
                        "peak.dram": 3.35 * T, "capacity.dram": 80 * G, "cache.l2": 50 * MIB, "link.bandwidth": 900 * G / 2,
                        "power.tdp": 700, "overhead.launch": 2374.6 / G},
    "nvidia-h200": {"threads.resident": 132 * 2048, "peak.mac.bfloat16": 1979 * T * DENSE * MAC, "peak.mac.float32": 67 * T * MAC,
                    "peak.mac.int8": 3958 * T * DENSE * MAC, "peak.dram": 4.8 * T, "capacity.dram": 141 * G,
                    "link.bandwidth": 900 * G / 2, "power.tdp": 700},
    "nvidia-b200": {"threads.resident": 148 * 2048, "peak.mac.bfloat16": 4500 * T * DENSE * MAC, "peak.mac.float8_e4m3fn": 9000 * T * DENSE * MAC,
                    "peak.mac.float32": 75 * T * MAC, "peak.mac.float64": 37 * T * MAC, "peak.dram": 7.7 * T,
                    "capacity.dram": 180 * G, "link.bandwidth": 1800 * G / 2, "power.tdp": 1000},
    "nvidia-l4": {"threads.resident": 58 * 1536, "peak.mac.float16": 242 * T * DENSE * MAC, "peak.mac.int8": 485 * T * DENSE * MAC, "peak.mac.float32": 30.3 * T * MAC,
                  "peak.mac.convolution.float32": 120 * T * DENSE * MAC, "peak.dram": 300 * G, "capacity.dram": 24 * G,
                  "link.bandwidth": 64 * G / 2, "power.tdp": 72},
    # NVIDIA prints 5.5 and 22 for the P4. The others: lanes and boost clocks, 3584 at 1.303 GHz, 2560 at 1.59 GHz, 5120 at 1.37 GHz, 6912 at 1.41 GHz, 10752 at 1.74 GHz
    "nvidia-p4": {"threads.resident": 20 * 2048, "peak.mac.float32": 5.5 * T * MAC, "peak.mac.int8": 22 * T * MAC, "peak.dram": 256 / 8 * 6 * G,
                  "capacity.dram": 8 * G, "power.tdp": 75},
    "nvidia-p100-pcie": {"threads.resident": 56 * 2048, "peak.mac.float32": 3584 * 1.303 * G, "peak.mac.float16": 2 * 3584 * 1.303 * G, "peak.op.float64": 1792 * 1.303 * G,
                         "peak.dram": 4096 / 8 * 1.43 * G, "capacity.dram": 16 * G, "power.tdp": 250},
    "nvidia-t4": {"threads.resident": 40 * 1024, "peak.mac.float32": 2560 * 1.59 * G, "peak.mac.float16": 40 * 512 * 1.59 * G, "peak.mac.int8": 40 * 1024 * 1.59 * G,
                  "peak.dram": 256 / 8 * 10 * G, "capacity.dram": 16 * G, "power.tdp": 70},
    "nvidia-v100-pcie": {"threads.resident": 80 * 2048, "peak.mac.float32": 5120 * 1.37 * G, "peak.mac.float16": 80 * 512 * 1.37 * G, "peak.mac.float64": 2560 * 1.37 * G,
                         "peak.dram": 900 * G, "capacity.dram": 32 * G, "power.tdp": 250},
    "nvidia-a100-pcie": {"threads.resident": 108 * 2048, "peak.mac.float32": 6912 * 1.41 * G, "peak.mac.float16": 108 * 1024 * 1.41 * G, "peak.op.float64": 3456 * 1.41 * G,
                         "peak.dram": 1555 * G, "capacity.dram": 40 * G, "link.bandwidth": 64 * G / 2, "power.tdp": 250},
    "nvidia-a100-80gb": {"threads.resident": 108 * 2048, "peak.mac.float32": 6912 * 1.41 * G, "peak.mac.float16": 108 * 1024 * 1.41 * G, "peak.dram": 2039 * G,
                         "capacity.dram": 80 * G, "link.bandwidth": 600 * G / 2, "power.tdp": 400},
    "nvidia-a100-80gb-pcie": {"threads.resident": 108 * 2048, "peak.mac.float32": 6912 * 1.41 * G, "peak.mac.bfloat16": 108 * 1024 * 1.41 * G, "peak.dram": 1935 * G,
                              "capacity.dram": 80 * G, "power.tdp": 300},
    "nvidia-a40": {"threads.resident": 84 * 1536, "peak.mac.float32": 10752 * 1.74 * G, "peak.mac.float16": 336 * 128 * 1.74 * G, "peak.dram": 384 / 8 * 14.5 * G,
                   "capacity.dram": 48 * G, "power.tdp": 300},
    # 128 multiprocessors at 2.52 GHz: 128 lanes, and tensor cores with 512 FLOP per cycle in float16
    "nvidia-rtx-4090": {"threads.resident": 128 * 1536, "peak.mac.float32": 128 * 128 * 2.52 * G, "peak.mac.float16": 128 * 512 * 2.52 * G * MAC,
                        "peak.mac.int8": 660.6 * T * MAC, "peak.mac.float8_e5m2": 330.3 * T * MAC,
                        "peak.dram": 384 / 8 * 21 * G, "capacity.dram": 24 * G, "cache.l2": 73728 * 1024,
                        "link.bandwidth": PCIE4_X16, "power.tdp": 450},
    "nvidia-jetson-agx-orin": {"peak.mac.float32": 5.3 * T * MAC, "peak.mac.int8": 170 * T * DENSE * MAC,
                               "peak.dram": 256 / 8 * 6.4 * G, "capacity.dram": 64 * G, "cache.l2": 4 * MIB, "power.tdp": 60},
    # 38 cores of 128 lanes at 1.398 GHz; LPDDR5-6400 on 512 bit is 409.6 GB/s, which Apple states as 400
    "apple-m2-max": {"peak.mac.float32": 38 * 128 * 1.398 * G, "peak.dram": 400 * G, "capacity.dram": 96 * G,
                     "cache.l3": 48 * MIB},
    # 2 cores of 4 units of 128 x 128 at 1.05 GHz (ISCA 2023)
    "google-tpu-v4": {"peak.mac.bfloat16": 2 * 4 * 128 * 128 * 1.05 * G, "peak.mac.int8": 275 * T * MAC, "peak.dram": 1200 * G,
                      "capacity.dram": 32 * 1024 * MIB},
    "google-tpu-v5e": {"peak.mac.bfloat16": 197 * T * MAC, "peak.mac.int8": 393 * T * MAC, "peak.dram": 819 * G,
                       "capacity.dram": 16 * G, "link.bandwidth": 400 * G / 2},
    # 40 cores, 2.3 GHz, two FMA units of 512 bit; eight channels of DDR4-3200
    "intel-xeon-8380": {"peak.mac.float32": 40 * 2.3 * G * 2 * 512 / 32, "peak.dram": 8 * 8 * 3.2 * G, "power.tdp": 270,
                        "vector.width": 512 / 8, "cache.l2": 40 * 1.25 * MIB, "cache.l3": 40 * 1.5 * MIB, "link.bandwidth": PCIE4_X16},
    # 16 and 96 cores, two FMA pipes of 256 bit
    "amd-ryzen-9-7950x": {"peak.mac.float32": 16 * 4.5 * G * 2 * 256 / 32, "peak.mac.float64": 16 * 4.5 * G * 2 * 256 / 64,
                          "peak.dram": 2 * 8 * 5.2 * G, "cache.l2": 16 * MIB, "cache.l3": 2 * 32 * MIB,
                          "link.bandwidth": PCIE5_X16, "power.tdp": 170, "thermal.throttle": 95, "vector.width": 256 / 8},
    "amd-epyc-9654": {"peak.mac.float32": 96 * 2.4 * G * 2 * 256 / 32, "peak.dram": 460.8 * G, "capacity.dram": 6 * T,
                      "cache.l2": 96 * MIB, "cache.l3": 12 * 32 * MIB, "link.bandwidth": PCIE5_X16, "power.tdp": 360},
    # LiteRT's page states 153.6 GFLOPS for the board, its maker 17 GB/s
    "raspberry-pi-5": {"peak.mac.float32": 153.6 * G * MAC, "peak.dram": 17 * G, "capacity.dram": 8 * G,
                       "cache.l2": 4 * 0.5 * MIB, "cache.l3": 2 * MIB, "link.bandwidth": 500e6, "thermal.throttle": 80},
}
ROUNDING = 0.01  # documents print two or three digits

PROFILES = {path.stem: tomllib.loads(path.read_text()) for path in sorted(FOLDER.glob("*.toml"))}


def leaves(table, prefix=""):
    """{dotted key: leaf}"""
    found = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= {prefix + key: value} if "value" in value else leaves(value, prefix + key + ".")
    return found


def unit_of(key):
    """The table's unit, or None for an unknown key."""
    if key in SINGLE:
        return SINGLE[key]
    family, _, rest = key.partition(".")
    if family in BY_CLASS:
        return BY_CLASS[family] if rest in CLASSES else None
    second, *names = rest.split(".")
    is_defined = names[-1:] and names[-1] in TYPES and set(names[:-1]) <= CLASSES and len(names) <= 2
    return BY_TYPE.get(f"{family}.{second}") if is_defined else None


class Shipped(unittest.TestCase):
    def test_every_profile_has_facts_of_a_data_sheet(self):
        self.assertGreaterEqual(len(PROFILES), 12)
        self.assertEqual(set(PROFILES), set(FACTS), "every profile needs facts from its data sheet in FACTS")

    def test_each_leaf_is_documented_and_cited(self):
        for name, profile in PROFILES.items():
            self.assertEqual(profile["name"], name)
            self.assertTrue(profile["title"])
            for key, leaf in leaves(profile).items():
                with self.subTest(profile=name, key=key):
                    self.assertEqual(set(leaf), {"value", "unit", "source"})
                    self.assertIsNotNone(unit_of(key), "not in docs/hardware-profiles.md")
                    self.assertEqual(leaf["unit"], unit_of(key))
                    self.assertTrue(math.isfinite(leaf["value"]) and leaf["value"] > 0)
                    # a year, or the number of a document
                    self.assertRegex(leaf["source"], r"\b(19|20)\d\d\b|\b\d{5,}\b|arXiv:|doi:|DS-\d+")

    def test_formulas_in_sources_give_the_value(self):
        """`…: 16 * 2 * 8 * 4.5e9` at the end of a source is the value, before the halving that "halved" announces."""
        checked = 0
        for name, profile in PROFILES.items():
            for key, leaf in leaves(profile).items():
                formula = re.search(r"[:,;] ([0-9][0-9.e+* /GTB s]*\*[0-9.e+* /GTB s]*)(, halved)?$", leaf["source"])
                if not formula:
                    continue
                number = re.sub(r"(\d) GT/s", r"\1e9", formula[1]).replace(" B", "")
                with self.subTest(profile=name, key=key, formula=formula[1]):
                    value = eval(number, {"__builtins__": {}})  # digits and operators only, by the pattern
                    self.assertAlmostEqual(value * (0.5 if formula[2] else 1) / leaf["value"], 1, delta=0.001)
                checked += 1
        self.assertGreater(checked, 20)

    def test_data_sheets(self):
        for name, facts in FACTS.items():
            self.assertGreaterEqual(len(facts), 3)
            found = leaves(PROFILES[name])
            for key, expected in facts.items():
                with self.subTest(profile=name, key=key):
                    self.assertAlmostEqual(found[key]["value"] / expected, 1, delta=ROUNDING)

    def test_rates_are_in_order(self):
        """A narrower type is at least as fast, no rate includes sparsity, and the cache is smaller than the memory."""
        chains = [("float64", "float32", "float16", "float8_e4m3fn"), ("float32", "bfloat16", "float8_e5m2")]
        for name, profile in PROFILES.items():
            found = {key: leaf["value"] for key, leaf in leaves(profile).items()}
            with self.subTest(profile=name):
                for chain in chains:
                    rates = [found[k] for t in chain if (k := f"peak.mac.{t}") in found]
                    self.assertEqual(rates, sorted(rates))
                if "peak.mac.int8" in found and "peak.mac.float16" in found:
                    self.assertIn(round(found["peak.mac.int8"] / found["peak.mac.float16"]), (1, 2, 4))
                if "capacity.dram" in found and "cache.l2" in found:
                    self.assertLess(found["cache.l2"], found["capacity.dram"] / 100)
                if "peak.dram" in found and "link.bandwidth" in found:
                    self.assertLess(found["link.bandwidth"], found["peak.dram"])
                # every machine does 1 to 1000 multiply-adds in the time of one byte of memory traffic
                best = max((v for k, v in found.items() if k.startswith("peak.mac.")), default=None)
                if best:
                    self.assertTrue(1 < best / found["peak.dram"] < 1000)

    def test_the_tables_compiled_into_energy_equal_the_profiles(self):
        source = (SOURCE / "plugins/common/energy/tables.cpp").read_text()
        names = dict(re.findall(r'\{"([a-z0-9-]+)", (k[A-Z]\w+)\}', source))
        self.assertEqual(set(names), {n for n, p in PROFILES.items() if any(k.startswith("energy.") for k in leaves(p))})
        for name, constant in names.items():
            body = re.search(rf"{constant}\[\] = \{{\n(.*?)\n\}};", source, re.S)[1]
            compiled = {key: float(value) for key, value in re.findall(r'\{"([a-z0-9_.]+)", ([0-9.e+-]+)\}', body)}
            used = {k: leaf["value"] for k, leaf in leaves(PROFILES[name]).items()
                    if k.startswith(("energy.", "peak.", "efficiency.")) or k == "power.static"}
            self.assertEqual(compiled, used, name)

    def test_the_page_lists_all_profiles_and_keys(self):
        page = DOCUMENTED.read_text()
        listed = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page.split("## The model")[0], re.M))
        self.assertEqual(listed, set(PROFILES))
        rows = dict(re.findall(r"^\| `([a-z0-9.A-Z]+)` \| (\S+) \|", page.split("## Writing a profile")[1], re.M))
        by_units = {k: u for k, u in SINGLE.items() if k.startswith(("curve.low.", "curve.high."))}
        single = {k: u for k, u in SINGLE.items() if k not in by_units} | {k.rpartition(".")[0] + ".UNITS": u for k, u in by_units.items()}
        self.assertEqual(rows, single | {k + ".DTYPE": u for k, u in BY_TYPE.items()} | {k + ".CLASS": u for k, u in BY_CLASS.items()})


class Read(CliTest):
    def test_every_profile_is_read_by_name_and_by_file(self):
        for name, profile in PROFILES.items():
            for hardware in (name, FOLDER / f"{name}.toml"):
                with self.subTest(hardware=str(hardware)):
                    done = tmeter("--plugins=flops,energy", "--hardware", hardware, MODEL, "--report=json")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    energy = {m["id"]: m for m in json.loads(done.stdout)["metrics"]}["energy"]
                    has = any(key.startswith("energy.mac.") for key in leaves(profile))
                    self.assertEqual(energy["provenance"]["kind"], "estimated" if has else "unavailable")

    def test_without_energies_one_line_gives_the_reason(self):
        without = [n for n, p in PROFILES.items() if not any(k.startswith("energy.") for k in leaves(p))]
        self.assertGreaterEqual(len(without), 10)
        for name in without:
            with self.subTest(profile=name):
                done = tmeter("--plugins=flops,energy", "--hardware", name, MODEL)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                lines = [line for line in done.stdout.splitlines() if "energy" in line]
                self.assertEqual(lines, [f"energy: unavailable: hardware profile '{name}' has no energy per MAC (energy.mac.*)"])

    def test_a_damaged_profile_is_reported_with_its_line(self):
        whole = (FOLDER / "nvidia-h100-sxm.toml").read_text()
        damages = {"value = 3.35e12": 'value = "fast"', 'source = "NVIDIA': 'origin = "NVIDIA', "[peak.dram]": "[peak.dram",
                   "value = 80e9": "value = -80e9", "value = 700": "value = inf"}
        for before, after in damages.items():
            with self.subTest(after=after):
                file = self.file("mine.toml", whole.replace(before, after, 1))
                done = tmeter("--plugins=flops,energy", "--hardware", file, MODEL)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"mine\.toml:\d+")
        cut = self.file("cut.toml", whole.encode()[:-2])
        self.assertEqual(tmeter("--plugins=flops,energy", "--hardware", cut, MODEL).returncode, 2)

    def test_a_misspelled_name(self):
        done = tmeter("--plugins=flops,energy", "--hardware", "nvidia-h100", MODEL)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("nvidia-h100-sxm", done.stderr)


if __name__ == "__main__":
    unittest.main()
