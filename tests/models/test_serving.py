"""The plugin serving, compared with hand calculations on the decoder fixtures, and its bad input."""
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402
from support import MODELS, SOURCE, report, tmeter  # noqa: E402
from test_blueprint import small_llama  # noqa: E402

# Elements of keys and values for one token: layers × 2 × key/value heads × width.
TOKEN = {"gpt2_like": 4 * 2 * 256, "llama_like": 4 * 2 * 2 * 32, "mixtral": 2 * 2 * 2 * 16, "qwen2_moe": 2 * 2 * 2 * 16}
WEIGHTS = {"gpt2_like": 4 * 3_448_320, "llama_like": 4 * 3_283_200, "mixtral": 4 * 386_368, "qwen2_moe": 4 * 276_160}


def served(name, **options):
    return report(MODELS / f"{name}.pt2", "--plugins=serving",
                  *(f"--set=serving.{k.replace('_', '-')}={v}" for k, v in options.items()))


class Memory(unittest.TestCase):
    def test_by_engine(self):
        # 1,000 tokens are 1,024 cells of llama.cpp and 63 pages of vLLM.
        tokens = {"transformers": 1000, "llama.cpp": 1024, "vllm": 63 * 16}
        for name in TOKEN:
            for engine, cells in tokens.items():
                with self.subTest(model=name, engine=engine):
                    totals = served(name, engine=engine, context=1000, sequences=3)["totals"]
                    self.assertEqual(totals["serving_cache_bytes"], 3 * cells * TOKEN[name] * 2)
                    self.assertEqual(totals["serving_weight_bytes"], WEIGHTS[name])
                    self.assertEqual(totals["serving_bytes"], WEIGHTS[name] + 3 * cells * TOKEN[name] * 2)
                    self.assertEqual(totals["serving_token_bytes"], TOKEN[name] * 2)
                    self.assertEqual(totals["serving_state_bytes"], 0)

    def test_element_types(self):
        # A row of 64 elements is two blocks of q8_0.
        for kind, row in (("f32", 256), ("bf16", 128), ("fp8", 64), ("q8_0", 2 * 34), ("q4_0", 2 * 18)):
            with self.subTest(kind):
                totals = served("llama_like", engine="llama.cpp", context=256, cache_type=kind)["totals"]
                self.assertEqual(totals["serving_cache_bytes"], 256 * 4 * 2 * row)

    def test_the_recorded_length_unless_given(self):
        self.assertEqual(served("llama_like")["totals"]["serving_cache_bytes"], 32 * TOKEN["llama_like"] * 2)

    def test_several_devices(self):
        """8 heads, 2 of keys and values: with 4 devices vLLM has each head of keys and values on 4 / 2 of them; the others move layers."""
        for engine, devices, times in (("vllm", 2, 1), ("vllm", 4, 2), ("vllm", 8, 4), ("llama.cpp", 4, 1), ("transformers", 3, 1)):
            with self.subTest(engine=engine, devices=devices):
                totals = served("llama_like", engine=engine, context=256, sequences=3, devices=devices)["totals"]
                self.assertEqual(totals["serving_cache_bytes"], 3 * 256 * TOKEN["llama_like"] * 2 * times)
                self.assertEqual(totals["serving_bytes"], WEIGHTS["llama_like"] + totals["serving_cache_bytes"])
        for devices in (3, 16, 1024):
            with self.subTest(devices=devices):
                document = served("llama_like", engine="vllm", devices=devices)
                self.assertIsNone(document["totals"].get("serving_bytes"))
                reason = next(m for m in document["metrics"] if m["id"] == "serving_bytes")["provenance"]["text"]
                self.assertIn(f"vLLM does not share 8 heads with 2 of keys and values among {devices} devices", reason)

    def test_a_latent_vector_is_on_every_device(self):
        rows = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, rows["deepseek_v3"]["config"], tensors_of(rows["deepseek_v3"]["tensors"]))
            one, eight = (report(folder, "--plugins=serving", "--set=serving.engine=vllm", f"--set=serving.devices={n}",
                                 "--set=serving.context=1024")["totals"]["serving_cache_bytes"] for n in (1, 8))
        self.assertEqual((one, eight), (1024 * 70_272, 8 * 1024 * 70_272))

    def test_an_engine_takes_its_share_of_the_memory(self):
        """vLLM takes 0.92 (gpu_memory_utilization of vllm/config/cache.py), the others take all."""
        for engine, share, options in (("vllm", 0.92, {}), ("vllm", 0.5, {"memory_share": 0.5}), ("transformers", 1, {}), ("llama.cpp", 1, {})):
            with self.subTest(engine, share=share):
                totals = served("llama_like", engine=engine, context=256, memory="64MiB", **options)["totals"]
                self.assertEqual(totals["serving_max_sequences"], (int((64 << 20) * share) - WEIGHTS["llama_like"]) // (256 * TOKEN["llama_like"] * 2))

    def test_each_layer(self):
        """Two windows of 127 tokens, two layers with the context: by operator, module and model."""
        for name, layers in (("gpt_oss", 36), ("qwen3_next", 48), ("gemma3n_text", 30)):
            rows = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}
            if name not in rows:
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_folder(folder, rows[name]["config"], tensors_of(rows[name]["tensors"]))
                document = report(folder, "--plugins=serving", "--set=serving.context=1000", "--set=serving.sequences=2")
                totals, modules = document["totals"], {m["path"]: m["values"].get("serving_layer_bytes") for m in document["modules"]}
                self.assertEqual(totals["serving_layer_bytes"], totals["serving_cache_bytes"] + totals["serving_state_bytes"])
                own = [v for path, v in modules.items() if re.fullmatch(r"(model\.)?layers\.\d+", path) and v]
                self.assertEqual((len(own), sum(own)), (layers, totals["serving_layer_bytes"]))
                if name == "gpt_oss":
                    self.assertEqual(sorted(set(own)), [2 * 127 * 1024 * 2, 2 * 1000 * 1024 * 2])

    def test_compute_buffers_of_llama_cpp(self):
        """The sizes that llama.cpp logs ("CUDA0 compute buffer size", "Metal …", "Vulkan0 …", 2024 to 2026) with all layers on one device and flash attention."""
        sys.path.insert(0, str(SOURCE / "tests" / "predictions"))
        from served import write_llama
        logged = {("Llama 3 8B", 4096, 14336, 8, 128256): {512: 258.50, 2048: 258.50}, ("Llama 3.2 1B", 2048, 8192, 4, 128256): {1024: 254.50},
                  ("Llama 3.2 3B", 3072, 8192, 8, 128256): {4096: 256.50}, ("Qwen2.5 7B", 3584, 18944, 4, 152064): {4096: 304.00, 16384: 304.00, 32768: 304.00},
                  ("Qwen2.5 0.5B", 896, 4864, 1, 151936): {512: 298.50, 32768: 298.50}}
        for (name, hidden, feed_forward, heads, vocabulary), sizes in logged.items():
            with tempfile.TemporaryDirectory() as folder:
                write_llama(folder, {"layers": 1, "hidden": hidden, "feed-forward": feed_forward, "key-heads": heads, "vocabulary": vocabulary}, "float16")
                for context, mib in sizes.items():
                    with self.subTest(name, context=context):
                        document = report(folder, "--plugins=serving", "--set=serving.engine=llama.cpp", f"--set=serving.context={context}")
                        self.assertEqual(document["totals"]["serving_compute_bytes"], mib * 2**20)
                for sets, why in ((("engine=llama.cpp", "context=131072"), "ggml-alloc decides"), (("engine=vllm",), "in a run at start-up"), (("engine=own",), "serving.engine=own has no rule"),
                                  (("engine=transformers",), "reserves none"), (("engine=llama.cpp", "devices=2"), "a pipeline of devices")):
                    document = report(folder, "--plugins=serving", *(f"--set=serving.{s}" for s in sets))
                    self.assertIsNone(document["totals"].get("serving_compute_bytes"))
                    self.assertIn(why, next(m for m in document["metrics"] if m["id"] == "serving_compute_bytes")["provenance"]["text"])
        for name in ("mixtral", "qwen2_moe"):
            self.assertIsNone(served(name, engine="llama.cpp", context=256)["totals"].get("serving_compute_bytes"))

    def test_the_polynomial(self):
        """gpt-oss by llama.cpp: 18 layers with the context, 18 with 768 cells, 1,024 elements of 2 bytes a token each."""
        rows = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, rows["gpt_oss"]["config"], tensors_of(rows["gpt_oss"]["tensors"]))
            document = report(folder, "--plugins=serving", "--set=serving.engine=llama.cpp")
        formula, = (f for f in document["findings"] if f["rule"] == "serving-formula")
        weights = document["totals"]["serving_weight_bytes"]
        self.assertEqual(formula["text"], f"serving_bytes = {weights:,} + sequences · ({18 * 768 * 2048:,} + {18 * 2048:,} · context)")
        self.assertIn("for contexts of 1,024, 2,048, 4,096 …", formula["evidence"])

    def test_a_user_defined_engine(self):
        """A context of 1,000, padded to a multiple of 64, is 1,024; a window of 128 and 100 extra are 228, padded 256."""
        rows = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, rows["gpt_oss"]["config"], tensors_of(rows["gpt_oss"]["tensors"]))
            settings = pathlib.Path(folder) / "own.toml"
            settings.write_text('[plugin.serving]\nengine = "own"\nown-padding = 64\nown-window-extra = 100\ncontext = 1000\n', encoding="utf-8")
            totals = report(folder, "--plugins=serving", "--config", settings)["totals"]
            self.assertEqual(totals["serving_cache_bytes"], (18 * 1024 + 18 * 256) * 1024 * 2)
            fit = report(folder, "--plugins=fit", "--config", settings, "--set=fit.memory=1TB")["totals"]
            self.assertEqual(fit["fit_bytes"], totals["serving_bytes"])
        totals = served("mixtral", engine="own", context=10, cache_type="q8_0")["totals"]
        self.assertEqual(totals["serving_cache_bytes"], 10 * 2 * 2 * 34)  # a row of 32 elements is one block

    def test_the_states_of_a_user_defined_engine(self):
        rows = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, rows["mamba2"]["config"], tensors_of(rows["mamba2"]["tensors"]))
            two, four, llama = (report(folder, "--plugins=serving", *(f"--set=serving.{s}" for s in sets))["totals"]["serving_state_bytes"]
                                for sets in (("engine=own",), ("engine=own", "own-state-bytes=4"), ("engine=llama.cpp",)))
        self.assertEqual((2 * two, four), (llama, llama))

    def test_query_heads_that_read_the_cache_separately(self):
        """A step reads the whole cache `own-reads` times, and stores it once. Other engines ignore the option."""
        for engine, times in (("own", 8), ("llama.cpp", 1)):
            once, often = (served("mixtral", engine=engine, context=256, **{"own-reads": n})["totals"] for n in (1, 8))
            self.assertEqual(often["serving_bytes"], once["serving_bytes"])
            self.assertEqual(often["serving_step_bytes"] - once["serving_step_bytes"], (times - 1) * once["serving_cache_bytes"])

    def test_the_largest_context_and_the_most_sequences_that_fit(self):
        for engine in ("transformers", "llama.cpp", "vllm"):
            with self.subTest(engine):
                load = {"engine": engine, "context": 500, "sequences": 2, "memory": "64MiB", "memory_share": 1}
                totals = served("llama_like", **load)["totals"]
                context, sequences = totals["serving_max_context"], totals["serving_max_sequences"]
                for key, most in (("context", context), ("sequences", sequences)):
                    at, above = (served("llama_like", **{**load, key: most + more})["totals"]["serving_bytes"] for more in (0, 1))
                    self.assertLessEqual(at, 64 << 20)
                    self.assertGreater(above, 64 << 20)


N = 131_072  # tokens of context


class Folders(unittest.TestCase):
    """Default configurations of transformers 5.23 (tests/blueprint/transformers.jsonl), 131,072 tokens, bf16."""

    # type → engine → (layers, tokens that one keeps, elements of a token) of each kind of layer
    KEPT = {
        "gpt_oss": {  # every second of 36 layers has a window of 128; 8 heads of 64
            "transformers": [(18, N, 1024), (18, 127, 1024)],
            "llama.cpp": [(18, N, 1024), (18, 768, 1024)],  # 128 + 512, padded to 256
            "vllm": [(18, N, 1024), (18, (520 + 1) * 16, 1024)],  # 127 + 8192 tokens are 520 pages, and one more
        },
        "deepseek_v3": {engine: [(61, N, 576)] for engine in ("transformers", "llama.cpp", "vllm")},
        "llama4_text": {  # three of four layers see a chunk of 8,192; 8 heads of 128
            "transformers": [(12, N, 2048), (36, 8191, 2048)],
            "llama.cpp": [(12, N, 2048), (36, 8704, 2048)],
            "vllm": [(12, N, 2048), (36, 8192 + 8192, 2048)],
        },
    }

    def test_windows_chunks_and_latent_vectors(self):
        rows = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}
        for name, engines in self.KEPT.items():
            with tempfile.TemporaryDirectory() as folder:
                write_folder(folder, rows[name]["config"], tensors_of(rows[name]["tensors"]))
                for engine, layers in engines.items():
                    with self.subTest(model=name, engine=engine):
                        totals = report(folder, "--plugins=serving", f"--set=serving.engine={engine}",
                                        f"--set=serving.context={N}", "--set=serving.cache-type=bf16")["totals"]
                        self.assertEqual(totals["serving_cache_bytes"], sum(n * tokens * width * 2 for n, tokens, width in layers))


class AsTransformersKeepsThem(unittest.TestCase):
    def test_every_decoder_type(self):
        """The bytes of the cache after a run on meta tensors, with keys and values separate from states (tests/blueprint/truth.py), for 300 tokens."""
        equal = 0
        for row in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl"):
            run = row.get("runs", [{}])[-1]
            if "cache" not in run or len(run["size"]) != 2:
                continue  # an encoder, or a pair whose cache depends on two lengths
            sequences, context = run["size"]
            with self.subTest(row["type"]), tempfile.TemporaryDirectory() as folder:
                write_folder(folder, row["config"], tensors_of(row["tensors"]))
                totals = report(folder, "--plugins=serving", "--set=serving.cache-type=f32", f"--set=serving.context={context}",
                                f"--set=serving.sequences={sequences}")["totals"]
                self.assertEqual([totals["serving_cache_bytes"], totals["serving_state_bytes"]], run["cache"])
                equal += 1
        self.assertGreaterEqual(equal, 80)


class ContextBeyondTheModels(unittest.TestCase):
    """docs/serving.md lists the sources of the engines' rules."""

    WORDS = {"transformers": "warns once", "llama.cpp": "gives a slot no more", "vllm": "does not start"}

    def findings(self, folder, context, engine="vllm"):
        document = report(folder, "--plugins=serving", f"--set=serving.context={context}", f"--set=serving.engine={engine}")
        return [f for f in document["findings"] if f["rule"] == "serving-context"]

    def folder(self, at, **config):
        own, tensors = small_llama(**config)
        write_folder(at, own, tensors)
        return at

    def test_each_engine(self):
        with tempfile.TemporaryDirectory() as at:
            self.folder(at, max_position_embeddings=512)
            for engine, words in self.WORDS.items():
                with self.subTest(engine):
                    self.assertEqual(self.findings(at, 512, engine), [])
                    finding, = self.findings(at, 513, engine)
                    self.assertEqual(finding["severity"], "warning")
                    self.assertIn("513 tokens is longer than the model's 512", finding["text"])
                    self.assertIn("max_position_embeddings of config.json", finding["evidence"])
                    self.assertIn(words, finding["evidence"])

    def test_stretched_positions(self):
        """As vLLM derives them: yarn from the original length, linear from the stated one; llama3 is stated as stretched."""
        yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 100}
        for scaling, longest in (({"type": "linear", "factor": 4.0}, 2048), (yarn, 800), ({"rope_type": "llama3", "factor": 8.0}, 512),
                                 ({"type": "linear", "factor": 1e30}, 512), ({"type": "linear", "factor": "x"}, 512)):
            with self.subTest(scaling), tempfile.TemporaryDirectory() as at:
                self.folder(at, max_position_embeddings=512, rope_scaling=scaling)
                self.assertEqual(self.findings(at, longest), [])
                self.assertEqual(len(self.findings(at, longest + 1)), 1)

    def test_gemma_3_states_its_stretched_length(self):
        """As in vLLM's `_get_and_verify_max_len` for every model type that contains "gemma3"."""
        row = next(r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl") if r.get("type") == "gemma3_text")
        with tempfile.TemporaryDirectory() as at:
            scaling = {"rope_type": "linear", "factor": 8.0}
            write_folder(at, row["config"] | {"max_position_embeddings": 512, "rope_scaling": scaling}, tensors_of(row["tensors"]))
            self.assertEqual(self.findings(at, 512), [])
            finding, = self.findings(at, 513)
            self.assertIn("longer than the model's 512", finding["text"])

    def test_one_of_several_stated_contexts(self):
        """vLLM takes the smallest, but `model_max_length` first (_get_and_verify_max_len); the others take the first."""
        for stated, vllm, others in (({"n_positions": 512, "max_position_embeddings": 2048}, 512, 2048),
                                     ({"max_position_embeddings": 512, "seq_length": 2048}, 512, 512),
                                     ({"max_position_embeddings": 512, "model_max_length": 2048}, 2048, 512),
                                     ({"max_position_embeddings": 512, "seq_len": -4, "max_seq_length": "8"}, 512, 512)):
            with self.subTest(stated), tempfile.TemporaryDirectory() as at:
                self.folder(at, **stated)
                for engine, longest in (("vllm", vllm), ("transformers", others), ("llama.cpp", others)):
                    self.assertEqual(self.findings(at, longest, engine), [])
                    self.assertEqual(len(self.findings(at, longest + 1, engine)), 1)

    def test_no_stated_context(self):
        for stated in ({}, {"max_position_embeddings": -1}, {"max_position_embeddings": "many"}):
            with self.subTest(stated), tempfile.TemporaryDirectory() as at:
                self.assertEqual(self.findings(self.folder(at, **stated), 1 << 20), [])
        self.assertEqual(self.findings(MODELS / "llama_like.pt2", 1 << 20), [])


class Speed(unittest.TestCase):
    """Bounds by hand on a profile of round numbers: 1e12 MAC/s of float32 and 1e9 B/s."""

    PROFILE = """name = "round"
title = "round numbers"
[peak.mac]
float32 = { value = 1e12, unit = "MAC/s", source = "made up" }
[peak.dram]
value = 1e9
unit = "B/s"
source = "made up"
"""

    def speeds(self, name, **options):
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "round.toml"
            profile.write_text(self.PROFILE, encoding="utf-8")
            sets = [f"--set=serving.{k}={v}" for k, v in options.items()]
            totals = report(MODELS / f"{name}.pt2", "--plugins=serving", "--hardware", profile, *sets)["totals"]
        return totals["serving_prefill_time"], totals["serving_step_time"], totals["serving_rate"]

    def test_llama(self):
        # Per token: 4 layers of projections and feed-forward, the head; per token of context: 4 × 8 × 32 × 2.
        token = 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688) + 256 * 1000
        attention = 4 * 8 * 32 * 2
        weights, read = 4 * 3_283_200, 4 * (3_283_200 - 1000 * 256)
        cache = 3 * 4096 * TOKEN["llama_like"] * 2
        prefill, step, rate = self.speeds("llama_like", context=4096, sequences=3)
        self.assertAlmostEqual(prefill, max(3 * 4096 * (token + attention * 4096) / 1e12, (weights + cache) / 1e9), delta=1e-9)
        self.assertAlmostEqual(step, max(3 * (token + attention * 4096) / 1e12, (read + cache) / 1e9), delta=1e-9)
        self.assertAlmostEqual(rate, 3 / step, delta=1e-6 * rate)

    def test_experts_that_a_batch_reads(self):
        # Mixtral's 2 layers have 8 experts each; a token chooses 2, and 4 sequences choose 8 · (1 − 0.75⁴).
        experts = 2 * 8 * 3 * 64 * 96
        table = 512 * 64
        read = 4 * (386_368 - table - experts + experts * (1 - 0.75**4))
        cache = 4 * 16 * TOKEN["mixtral"] * 2
        _, step, _ = self.speeds("mixtral", context=16, sequences=4)
        self.assertAlmostEqual(step, (read + cache) / 1e9, delta=2e-9)

    def test_each_layer(self):
        """MACs and bytes of a step agree with `flops` and the bytes of weights in each layer; Mixtral: experts chosen, experts read."""
        layer = 2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688
        at = {name: served("llama_like", context=context, sequences=3) for name, context in (("recorded", 32), ("long", 4096))}
        for name, document in at.items():
            context = {"recorded": 32, "long": 4096}[name]
            values = {m["path"]: m["values"] for m in document["modules"]}
            for i in range(4):
                own = values[f"layers.{i}"]
                self.assertEqual(own["serving_layer_step_macs"], 3 * (layer + 8 * 32 * 2 * context))
                self.assertEqual(own["serving_layer_prefill_macs"], context * own["serving_layer_step_macs"])
                self.assertEqual(own["serving_layer_step_bytes"], 4 * (layer + 2 * 256) + 3 * context * TOKEN["llama_like"] // 4 * 2)
                self.assertEqual(own["serving_layer_prefill_bytes"], own["serving_layer_step_bytes"])
            for metric in ("step_macs", "prefill_macs", "step_bytes"):
                self.assertEqual(document["totals"][f"serving_layer_{metric}"], document["totals"][f"serving_{metric}"])
        # the file has two sequences of 32 tokens; flops counts their prefill
        totals = report(MODELS / "llama_like.pt2", "--plugins=serving,flops", "--set=serving.sequences=2")
        for m in totals["modules"]:
            self.assertEqual(m["values"].get("serving_layer_prefill_macs", 0), m["values"].get("macs") or 0, m["path"])
        document = served("mixtral", context=16, sequences=4)
        expert, others = 3 * 64 * 96, 2 * 64 * 64 + 2 * 64 * 32 + 8 * 64
        for m in document["modules"]:
            if m["path"] in ("model.layers.0", "model.layers.1"):
                own = m["values"]
                self.assertEqual(own["serving_layer_step_macs"], 4 * (others + 2 * expert + 4 * 16 * 2 * 16), own)
                read = 4 * (others + 2 * 64 + 8 * expert * (1 - 0.75**4)) + 4 * 16 * TOKEN["mixtral"] // 2 * 2
                self.assertAlmostEqual(own["serving_layer_step_bytes"], read, delta=2)
                self.assertGreater(own["serving_layer_prefill_bytes"], own["serving_layer_step_bytes"])

    def test_expected(self):
        """By hand from the constants of curves.inc: 4 layers of 7 products and 2 of attention, and the head; 3 sequences on 2 devices."""
        row = {line.split(",")[0]: [float(n) for n in line.split("{")[1].split(",")[1:5]]
               for line in (SOURCE / "plugins/common/machine/curves.inc").read_text(encoding="utf-8").splitlines() if line.startswith("{Kind")}
        _, fill, memory, call = row["{Kind::kProduct"]
        _, _, link, reduce_call = row["{Kind::kReduce"]
        more = "".join(f'[{key}]\nvalue = {value}\nunit = "x"\nsource = "made up"\n' for key, value in
                       {"peak.op.float32": 1e12, "curve.transferred.vector": 0.5, "link.bandwidth": 1e9}.items())
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "round.toml"
            profile.write_text(self.PROFILE + more, encoding="utf-8")
            document = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", profile, "--set=serving.context=4096",
                              "--set=serving.sequences=3", "--set=serving.devices=2")
            one = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", profile, "--set=serving.devices=1")
        totals = document["totals"]
        products = sum(1 for n in document["nodes"] if n["values"].get("macs"))
        self.assertEqual(products, 4 * (7 + 1) + 1)
        macs = 3 * (4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688) + 256 * 1000 + 4 * 8 * 32 * 2 * 4096)
        moved = 4 * (3_283_200 - 1000 * 256) + 3 * 4096 * TOKEN["llama_like"] * 2
        arithmetic, traffic = (macs / products / 2 + fill) / 0.5e12, moved / products / 2 / (1e9 * memory)
        step = products * (call + (arithmetic**2 + traffic**2) ** 0.5) + 4 * 2 * (reduce_call + 2 * 1 / 2 * 3 * 256 * 4 / (1e9 * link))
        self.assertAlmostEqual(totals["serving_step_expected"] / step, 1, delta=1e-6)
        self.assertAlmostEqual(totals["serving_rate_expected"] * step / 3, 1, delta=1e-6)
        self.assertLess(totals["serving_step_expected_low"], step)
        self.assertLess(step, totals["serving_step_expected_high"])
        self.assertEqual([s["id"] for s in one["series"] if s["id"].startswith("serving-rate")],
                         [f"serving-rate-{n}" for n in (1024, 8192, 32768, 131072)])
        curve = next(s["points"] for s in one["series"] if s["id"] == "serving-rate-1024")
        self.assertEqual([n for n, _ in curve], [2**i for i in range(11)])

    def test_speculative_decoding(self):
        """α = 0.8, γ = 5: (1 − 0.8^6) / 0.2 = 3.68928 tokens a round (Leviathan et al. 2023, eq. 1). Bound: a step of 6 tokens, and 5 of the draft."""
        load = {"context": 4096, "sequences": 3}
        _, step, _ = self.speeds("llama_like", **load)
        token = 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688) + 256 * 1000
        read = 4 * (3_283_200 - 1000 * 256) + 3 * 4096 * TOKEN["llama_like"] * 2
        verify = max(6 * 3 * (token + 4 * 8 * 32 * 2 * 4096) / 1e12, read / 1e9)
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "round.toml"
            profile.write_text(self.PROFILE, encoding="utf-8")
            common = ["--plugins=serving", "--hardware", profile, *(f"--set=serving.{k}={v}" for k, v in load.items()),
                      "--set=serving.draft-tokens=5", "--set=serving.acceptance=0.8"]
            totals = report(MODELS / "llama_like.pt2", *common, "--set=serving.draft-cost=0.1")["totals"]
            self.assertAlmostEqual(totals["serving_accepted_tokens"], 3.68928, delta=1e-9)
            self.assertAlmostEqual(totals["serving_speculative_rate"], 3 * 3.68928 / (verify + 0.5 * step), delta=1e-6 * totals["serving_speculative_rate"])
            document = report(MODELS / "llama_like.pt2", *common)
            self.assertAlmostEqual(document["totals"]["serving_accepted_tokens"], 3.68928, delta=1e-9)
            self.assertIsNone(document["totals"]["serving_speculative_rate"])
            certain = report(MODELS / "llama_like.pt2", *common, "--set=serving.acceptance=1")["totals"]
            self.assertEqual(certain["serving_accepted_tokens"], 6)
        document = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", "nvidia-h100-sxm")
        self.assertIsNone(document["totals"]["serving_accepted_tokens"])
        drafted = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", "nvidia-h100-sxm", "--set=serving.draft-tokens=4",
                         "--set=serving.acceptance=0", "--set=serving.draft-cost=0")["totals"]
        self.assertEqual(drafted["serving_accepted_tokens"], 1)
        self.assertLessEqual(drafted["serving_speculative_expected"], drafted["serving_rate_expected"])
        self.assertLess(drafted["serving_speculative_expected_low"], drafted["serving_speculative_expected"])

    def test_quantized_weights(self):
        """3,283,200 parameters of float32 in 8 bits; a step reads a quarter of the bytes of weights and the whole cache."""
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "round.toml"
            profile.write_text(self.PROFILE, encoding="utf-8")
            totals = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", profile, "--set=serving.context=64")["totals"]
        cache = 64 * TOKEN["llama_like"] * 2
        for bits in (8, 4):
            self.assertEqual(totals[f"serving_bytes_{bits}bit"], 3_283_200 * bits // 8 + cache)
            step = ((3_283_200 - 256_000) * bits / 8 + cache) / 1e9
            self.assertAlmostEqual(totals[f"serving_rate_{bits}bit"] * step, 1, delta=1e-6)
        self.assertEqual(totals["serving_step_bytes"], 4 * (3_283_200 - 256_000) + cache)

    def test_no_curves(self):
        document = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", "intel-xeon-8380")
        self.assertIsNone(document["totals"].get("serving_step_expected"))
        self.assertIsNotNone(document["totals"].get("serving_step_time"))

    def test_several_devices_need_a_link(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "round.toml"
            profile.write_text(self.PROFILE + '[curve.fitted.vector]\nvalue = 0.5\nunit = "ratio"\nsource = "made up"\n'
                               '[peak.op.float32]\nvalue = 1e12\nunit = "op/s"\nsource = "made up"\n', encoding="utf-8")
            totals = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", profile, "--set=serving.devices=2")["totals"]
        self.assertIsNone(totals.get("serving_step_expected"))

    def test_no_rates(self):
        document = report(MODELS / "llama_like.pt2", "--plugins=serving", "--hardware", "horowitz-45nm")
        self.assertIsNone(document["totals"].get("serving_rate"))


class BadInput(unittest.TestCase):
    def refused(self, *words, **options):
        done = tmeter(MODELS / "llama_like.pt2", "--plugins=serving", *(f"--set=serving.{k}={v}" for k, v in options.items()))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_model_that_no_engine_serves(self):
        """The reason is printed once, and no column has an invented 0."""
        for name, more, why in (("resnet50", (), "not a decoder language model"), ("llama_like", ("--set=serving.cache-type=q8_0",), "transformers has no cache of q8_0")):
            with self.subTest(name):
                document = report(MODELS / f"{name}.pt2", "--plugins=serving", *more)
                totals = {k: v for k, v in document["totals"].items() if k.startswith("serving_") and k != "serving_weight_bytes"}
                self.assertEqual(set(totals.values()), {None})
                for m in document["metrics"]:
                    if m["id"] in totals:
                        self.assertEqual(m["provenance"]["kind"], "unavailable", m["id"])
                        self.assertIn(why, m["provenance"]["text"])
        for folder in ("checkpoints/net.safetensors", "models/resnet50.pt2"):
            done = tmeter(SOURCE / "tests" / "fixtures" / folder, "--plugins=serving")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.count("not a decoder language model (token ids"), 1, done.stdout)
        done = tmeter(MODELS / "resnet50.pt2", "--plugins=serving", "--assert", "serving_bytes < 1GiB")
        self.assertEqual(done.returncode, 3)
        self.assertIn("not a decoder language model", " ".join((done.stdout + done.stderr).split()))

    def test_options(self):
        self.refused("exllama", "llama.cpp", engine="exllama")
        self.refused("q9", **{"cache-type": "q9"})
        for memory in ("0", "many", "-1GiB", "nan", "1e400GiB", "GiB", "24 XB"):
            with self.subTest(memory):
                self.refused("serving.memory", memory=memory)
        self.refused("sequences", sequences=0)
        self.refused("devices", devices=0)
        self.refused("context", context=-1)
        self.refused("serving.draft-tokens needs serving.acceptance", **{"draft-tokens": 4})
        for value in ("-0.1", "1.01", "nan", "inf", "0x1", "1e400", "0,5", "0.5 "):
            with self.subTest(acceptance=value):
                self.refused("serving.acceptance", "a number of 0 to 1 is expected", acceptance=value)
                if value != "1.01":
                    self.refused("serving.draft-cost", "a number of 0 to 10 is expected", **{"draft-cost": value})
        for key, values in (("own-padding", (0, -1, 1 << 62, "x")), ("own-window-extra", (-1, 1 << 62)), ("own-state-bytes", (-1, 9)), ("own-reads", (0, 1025)),
                            ("memory-share", (-1, 1.1, "nan")), ("draft-tokens", (-1, 1025))):
            for value in values:
                with self.subTest(key, value=value):
                    self.refused(key, **{key: value})

    def test_a_cache_that_the_engine_does_not_have(self):
        document = served("llama_like", engine="transformers", cache_type="q8_0")
        self.assertIsNone(document["totals"].get("serving_bytes"))

    def test_sizes_beyond_63_bits(self):
        self.refused("serving.context", "2^63", context=1 << 30, sequences=1 << 30)
        self.refused("serving.own-reads", "2^63", context=1 << 30, sequences=1 << 16, engine="own", **{"own-reads": 1024})
        self.refused("serving.memory", "serving.devices", "2^63", memory="4000000TiB", devices=1024)
        for engine in ("transformers", "llama.cpp", "vllm", "own"):
            self.refused("2^63", context=1 << 30, sequences=1 << 30, engine=engine)
        totals = served("llama_like", context=1 << 30, memory="24GiB")["totals"]
        self.assertEqual(totals["serving_max_sequences"], 0)

    def test_other_models(self):
        for name in ("resnet50", "bert_like", "lstm"):
            with self.subTest(name):
                self.assertIsNone(report(MODELS / f"{name}.pt2", "--plugins=serving")["totals"].get("serving_bytes"))


if __name__ == "__main__":
    unittest.main()
