"""The plugin fit: the verdict by hand, the largest sizes compared with runs at that size and at one more, and bad input."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402
from support import FIXTURES, MODELS, SOURCE, report, tmeter  # noqa: E402
from test_blueprint import small_llama  # noqa: E402
from test_blueprint_published import published  # noqa: E402

FIT = FIXTURES / "fit"
LLAMA = MODELS / "llama_like.pt2"
WEIGHTS = 4 * 3_283_200  # of LLAMA
TOKEN = 4 * 2 * 2 * 32 * 2  # layers × (keys and values) × heads × width, f16
ROWS = {r.get("type"): r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")}


def fitted(model, memory, *arguments, plugins="fit", **serving):
    sets = [f"--set=serving.{k.replace('_', '-')}={v}" for k, v in serving.items()]
    return report(model, f"--plugins={plugins}", f"--set=fit.memory={memory}", *sets, *arguments)


def findings_of(document, rule):
    return [f for f in document["findings"] if f["rule"] == rule]


class Verdict(unittest.TestCase):
    def test_to_the_byte(self):
        need = WEIGHTS + 32 * TOKEN  # the recorded length
        for memory, fits, free, missing in ((need, 1, 0, 0), (need + 5, 1, 5, 0), (need - 1, 0, 0, 1)):
            with self.subTest(memory):
                totals = fitted(LLAMA, memory)["totals"]
                self.assertEqual((totals["fits"], totals["fit_bytes"], totals["fit_free_bytes"], totals["fit_missing_bytes"]),
                                 (fits, need, free, missing))

    def test_the_largest_part_is_named(self):
        text, = (f["text"] for f in findings_of(fitted(LLAMA, "14MB", context=256, sequences=4096), "fit"))
        self.assertIn("serving 4096 sequences of 256 tokens does not fit into 13.35 MiB", text)
        self.assertIn("most of it is cache (f16)", text)
        text, = (f["text"] for f in findings_of(fitted(LLAMA, "1MB"), "fit"))
        self.assertIn("most of it is weights", text)
        texts = [f["text"] for f in fitted(LLAMA, "14MB", context=1)["findings"]]
        self.assertTrue(any("serving 1 sequence of 1 token fits" in t for t in texts), texts)
        self.assertTrue(any("sequences of 1 token fit" in t for t in texts), texts)

    def test_inference_of_other_models(self):
        """ResNet-50: torch's parameters and buffers, and the recorded peak (tests/fixtures/peak.json)."""
        document = fitted(MODELS / "resnet50.pt2", "24GiB")
        peak = document["totals"]["peak_activation_bytes"]
        self.assertEqual(document["totals"]["fit_bytes"], 4 * 25_557_032 + 4 * 53_120 + 53 * 8 + peak)
        self.assertEqual(document["totals"]["fits"], 1)
        self.assertIsNone(document["totals"]["fit_max_batch"])
        reason = next(m for m in document["metrics"] if m["id"] == "fit_max_batch")["provenance"]["text"]
        self.assertIn("the file fixes all sizes", reason)

    def test_memory_of_the_profile_and_of_serving(self):
        totals = report(LLAMA, "--plugins=fit", "--hardware", "nvidia-h100-sxm")["totals"]
        self.assertEqual(totals["fit_free_bytes"], 80_000_000_000 - WEIGHTS - 32 * TOKEN)
        totals = report(LLAMA, "--plugins=fit", "--set=serving.memory=20MB", "--hardware", "nvidia-h100-sxm")["totals"]
        self.assertEqual(totals["fit_free_bytes"], 20_000_000 - WEIGHTS - 32 * TOKEN)

    def test_several_devices(self):
        """`fit.memory` is the memory of each of serving.devices."""
        need = WEIGHTS + 32 * TOKEN
        for memory, devices, fits in ((need // 2, 2, 1), (need // 2 - 1, 2, 0), (need, 1, 1), (1 << 20, 16, 1)):
            with self.subTest(memory=memory, devices=devices):
                document = fitted(LLAMA, memory, devices=devices)
                totals = document["totals"]
                self.assertEqual((totals["fits"], totals["fit_free_bytes"]), (fits, max(0, memory * devices - need)))
                if devices > 1:
                    self.assertIn(f"into {devices} × ", findings_of(document, "fit")[0]["text"])
        one, two = (fitted(LLAMA, memory, devices=n)["totals"] for n, memory in ((1, 28_000_000), (2, 14_000_000)))
        self.assertEqual((one["fit_max_batch"], one["fit_max_context"]), (two["fit_max_batch"], two["fit_max_context"]))
        done = tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=4000000TiB", "--set=serving.devices=1024")
        self.assertEqual(done.returncode, 2)
        self.assertIn("fit.memory × serving.devices: the memory exceeds 2^63 bytes", done.stderr)

    def test_the_devices_that_an_engine_takes(self):
        """8 heads: transformers moves layers to 7 devices, vLLM shares the heads of each layer among 1, 2, 4 or 8."""
        need = WEIGHTS + 32 * TOKEN
        for engine, fewest in (("transformers", 7), ("vllm", 8)):
            with self.subTest(engine):
                document = fitted(LLAMA, need // 7 + 1, engine=engine, memory_share=1)
                self.assertEqual(document["totals"]["fit_devices"], fewest)
                remedy, = (f for f in findings_of(document, "fit-remedy") if "devices" in f["text"])
                self.assertEqual((remedy["text"], remedy["action"]), (f"at least {fewest} such devices are needed", f"--set serving.devices={fewest}"))
                self.assertEqual(fitted(LLAMA, need // 7 + 1, engine=engine, devices=fewest, memory_share=1)["totals"]["fits"], 1)
        document = fitted(LLAMA, 1000, engine="vllm")
        self.assertIsNone(document["totals"]["fit_devices"])

    def test_an_engine_takes_its_share_of_the_memory(self):
        document = fitted(LLAMA, 20_000_000, engine="vllm")
        self.assertEqual(document["totals"]["fit_memory_bytes"], 18_400_000)
        self.assertIn("it takes 17.55 MiB of 19.07 MiB (serving.memory-share)", findings_of(document, "fit")[0]["evidence"])
        self.assertEqual(fitted(LLAMA, 20_000_000, engine="vllm", memory_share=1)["totals"]["fit_memory_bytes"], 20_000_000)

    def test_assertions(self):
        for memory, status in (("14MB", 0), ("13.3MB", 3), ("12MB", 3)):
            with self.subTest(memory):
                done = tmeter(LLAMA, "--plugins=fit", f"--set=fit.memory={memory}", "--assert", "fits", "--assert", "fit.max_batch >= 8")
                self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("'fits' (fits is 0)", done.stderr)


class Remedies(unittest.TestCase):
    def remedies(self, document):
        return {f["text"].split(" take")[0]: f for f in findings_of(document, "fit-remedy")}

    def test_by_hand(self):
        """1,000 tokens of llama.cpp are 1,024 cells; a row of 64 elements is 128 bytes of f16, 68 of q8_0, 36 of q4_0."""
        found = self.remedies(fitted(LLAMA, "14MB", engine="llama.cpp", context=1000, sequences=2))
        need = WEIGHTS + 2 * 1024 * TOKEN
        for remedy, then in (
            ("a cache in q8_0", WEIGHTS + 2 * 1024 * 4 * 2 * 68), ("a cache in q4_0", WEIGHTS + 2 * 1024 * 4 * 2 * 36),
            ("weights in 16 bits", WEIGHTS // 2 + 2 * 1024 * TOKEN), ("weights in 8 bits", WEIGHTS // 4 + 2 * 1024 * TOKEN),
        ):  # fmt: skip
            with self.subTest(remedy):
                change, = found[remedy]["changes"]
                self.assertEqual((change["metric"], change["from"], change["to"]), ("fit_bytes", need, then))

    def test_unsupported_options_of_an_engine_are_not_advised(self):
        self.assertEqual([w for w in self.remedies(fitted(LLAMA, "14MB", engine="transformers")) if "cache" in w], [])
        self.assertIn("a cache in fp8", self.remedies(fitted(LLAMA, "14MB", engine="vllm", context=512)))

    def test_layers_and_devices(self):
        """A layer of 2 · 256² + 2 · 256 · 64 + 3 · 256 · 688 + 2 · 256 parameters; 32 tokens of its cache."""
        layer = 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688 + 2 * 256) + 32 * TOKEN // 4
        need = WEIGHTS + 32 * TOKEN
        document = fitted(LLAMA, need - layer - 1)
        host, = (f for f in findings_of(document, "fit-remedy") if "host's memory" in f["text"])
        self.assertIn("2 of 4 layers", host["text"])
        self.assertEqual(host["changes"][0]["to"], need - 2 * layer)
        devices, = (f for f in findings_of(fitted(LLAMA, need // 3), "fit-remedy") if "devices" in f["text"])
        self.assertIn("at least 4 such devices", devices["text"])

    def test_the_plan_of_quantization_advice(self):
        """The bytes of the plan replace those of the weights. Without readable weights there is no remedy."""
        trained = FIXTURES / "trained" / "model.pt2"
        document = fitted(trained, "300KB", plugins="fit,quantization-advice")
        totals = document["totals"]
        saved = sum(t["values"]["param_bytes"] - t["values"]["quantized_bytes"] for t in document["tensors"] if "quantized_bytes" in t["values"])
        self.assertGreater(saved, 0)
        change, = self.remedies(document)["weights by the plan of quantization-advice"]["changes"]
        self.assertEqual((change["from"], change["to"]), (totals["fit_bytes"], totals["fit_bytes"] - saved))
        change, = self.remedies(document)["weights in 8 bits"]["changes"]
        self.assertEqual(change["to"], totals["fit_bytes"] - totals["fit_weight_bytes"] // 4 * 3)  # of float32
        for model, plugins in ((trained, "fit"), (LLAMA, "fit,quantization-advice")):
            with self.subTest(plugins, model=model.name):
                self.assertNotIn("weights by the plan of quantization-advice", self.remedies(fitted(model, "1MB", plugins=plugins)))

    def test_training_by_trial(self):
        bert = MODELS / "dynamic_bert.pt2"
        for finding in findings_of(fitted(bert, "20MB", plugins="fit,training"), "fit-remedy"):
            if "--set training." not in finding["action"]:
                continue
            with self.subTest(finding["text"]):
                totals = report(bert, "--plugins=training", *finding["action"].split())["totals"]
                self.assertEqual(totals["step_peak_bytes"], finding["changes"][0]["to"])


class Largest(unittest.TestCase):
    """More than ten models: at the largest size the analysed value is within the memory, at one more it is above."""

    def holds(self, memory, bytes_at, most, step=1, name=""):
        with self.subTest(name, most=most):
            self.assertGreater(most, 0)
            self.assertLessEqual(bytes_at(most), memory)
            self.assertGreater(bytes_at(most + step), memory)

    def test_serving(self):
        """The value for comparison is serving_bytes of a run with that load."""
        folders = ("gpt_oss", "deepseek_v3", "llama4_text", "gemma3_text", "qwen3_moe", "granite")
        with tempfile.TemporaryDirectory() as at:
            models = [(MODELS / f"{n}.pt2", 24_000_000) for n in ("llama_like", "gpt2_like", "mixtral", "qwen2_moe")]
            for name in folders:
                write_folder(f"{at}/{name}", ROWS[name]["config"], tensors_of(ROWS[name]["tensors"]))
                models.append((f"{at}/{name}", None))
            for i, (model, memory) in enumerate(models):
                engine = ("transformers", "llama.cpp", "vllm")[i % 3]
                load = {"engine": engine, "context": 1000, "sequences": 2, "cache_type": "bf16", "memory_share": 1}
                weights = report(model, "--plugins=serving")["totals"]["serving_weight_bytes"]
                memory = memory or weights + 12_345_678_901
                totals = fitted(model, memory, **load)["totals"]
                for key, most in (("sequences", totals["fit_max_batch"]), ("context", totals["fit_max_context"])):
                    def bytes_at(n):
                        sets = [f"--set=serving.{k.replace('_', '-')}={v}" for k, v in {**load, key: n}.items()]
                        return report(model, "--plugins=serving", *sets)["totals"]["serving_bytes"]
                    self.holds(memory, bytes_at, most, name=f"{model} {key}")

    def bound(self, model, symbols, n, plugins, *metrics):
        totals = report(model, f"--plugins={plugins}", *(w for s in symbols for w in ("--bind", f"{s}={n}")))["totals"]
        return sum(totals[m] for m in metrics)

    # model → symbols and pixels or rows for each of them, by limit
    OPEN = {
        MODELS / "dynamic_mlp.pt2": {"batch": (["s77"], 1)},
        MODELS / "dynamic_bert.pt2": {"batch": (["s18"], 1), "context": (["s41"], 1)},
        FIT / "convnet.pt2": {"batch": (["s77"], 1), "image": (["s53", "s0"], 1)},
        FIT / "square.pt2": {"image": (["s0"], 1)},
        FIT / "unet.pt2": {"batch": (["s77"], 1), "image": (["s30", "s18"], 4)},
        FIT / "residual.pt2": {"batch": (["s77"], 1), "image": (["s53", "s0"], 1)},
        FIT / "vit.pt2": {"batch": (["s77"], 1)},
        FIT / "waves.pt2": {"batch": (["s77"], 1)},
        FIT / "mixer.pt2": {"batch": (["s77"], 1)},
        FIXTURES / "eager" / "bert-large.pt2": {"batch": (["s23"], 1)},
        FIT / "decoder.pt2": {"batch": (["s23"], 1), "context": (["s27"], 1)},
    }

    def test_inference(self):
        for model, sizes in self.OPEN.items():
            if model.stem == "decoder":  # an engine serves it
                continue
            memory = {"dynamic_mlp": 1_000_000, "dynamic_bert": 20_000_000, "mixer": 1_000_000, "bert-large": 2_000_000_000}.get(model.stem, 64_000_000)
            totals = fitted(model, memory)["totals"]
            for name, (symbols, pixels) in sizes.items():
                self.holds(memory, lambda n: self.bound(model, symbols, n, "memory", "param_bytes", "buffer_bytes", "peak_activation_bytes"),
                           totals[f"fit_max_{name}"] // pixels, name=f"{model.stem} {name}")

    def test_training(self):
        for model, sizes in self.OPEN.items():
            memory = {"dynamic_mlp": 3_000_000, "dynamic_bert": 70_000_000, "mixer": 1_000_000, "bert-large": 4_000_000_000}.get(model.stem, 64_000_000)
            totals = fitted(model, memory, plugins="fit,training")["totals"]
            for name, (symbols, pixels) in sizes.items():
                self.holds(memory, lambda n: self.bound(model, symbols, n, "training", "step_peak_bytes"),
                           totals[f"fit_max_training_{name}"] // pixels, name=f"{model.stem} {name}")

    def test_a_bounded_cache_has_no_longest_context(self):
        """Every layer of Mistral has a window: the search ends at 2^30 tokens."""
        with tempfile.TemporaryDirectory() as at:
            write_folder(at, ROWS["mistral"]["config"], tensors_of(ROWS["mistral"]["tensors"]))
            self.assertEqual(fitted(at, "1TB")["totals"]["fit_max_context"], 1 << 30)

    def test_an_incomplete_peak(self):
        """saved_bytes of an LSTM has no rule: no size is reported as fitting."""
        document = fitted(MODELS / "lstm.pt2", "1TB", plugins="fit,training")
        self.assertIsNone(document["totals"]["fits_training"])
        self.assertEqual(document["totals"]["fits"], 1)

    def test_an_image_by_hand(self):
        """The last relu: 2 · 32 · (n/2)² floats before and after, and the input of 2 · 3 · n²: 152 n² bytes in addition to 21,936. The relu for 499 is as large as for 500."""
        self.assertEqual(fitted(FIT / "convnet.pt2", 21_936 + 152 * 500**2)["totals"]["fit_max_image"], 500)
        self.assertEqual(fitted(FIT / "convnet.pt2", 21_935 + 152 * 500**2)["totals"]["fit_max_image"], 499)

    def test_a_mask_is_not_an_image(self):
        """The mask of a part of BERT, [batch, 1, 1, length], ends with an open dim like an image."""
        totals = fitted(MODELS / "dynamic_bert.pt2", "20MB", "--root", "layers.0")["totals"]
        self.assertIsNone(totals["fit_max_image"])
        self.assertGreater(totals["fit_max_batch"], 1)

    def test_the_range_of_the_file_is_kept(self):
        document = fitted(MODELS / "dynamic_bert.pt2", "24GiB", plugins="fit,training")
        totals = document["totals"]
        self.assertEqual((totals["fit_max_batch"], totals["fit_max_context"], totals["fit_max_training_batch"]), (64, 512, 64))
        self.assertIn("every batch that the file allows, to 64", str(findings_of(document, "fit-largest")))

    def test_the_largest_batch_may_be_zero(self):
        totals = fitted(MODELS / "dynamic_bert.pt2", "1MB", plugins="fit,training")["totals"]
        self.assertEqual((totals["fits"], totals["fit_max_batch"], totals["fits_training"], totals["fit_max_training_batch"]), (0, 0, 0, 0))
        totals = fitted(LLAMA, "1MB")["totals"]
        self.assertEqual((totals["fits"], totals["fit_max_batch"], totals["fit_max_context"]), (0, 0, 0))

    def test_the_table(self):
        """14 MB leave 867,200 bytes: 846 tokens of 1,024 bytes, shared by the sequences."""
        document = fitted(LLAMA, "14MB")
        series = next(s for s in document["series"] if s["id"] == "fit-context")
        self.assertEqual(series["points"], [[n, 846 // n] for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)])
        self.assertIn("1 × 846, 2 × 423, 4 × 211", findings_of(document, "fit-table")[0]["text"])
        curve = next(s for s in document["series"] if s["id"] == "fit-memory-8")
        self.assertEqual(curve["points"], [[n, WEIGHTS + 8 * n * TOKEN] for n in (1024 << i for i in range(8))])

    def test_every_report_shows_the_verdict(self):
        with tempfile.TemporaryDirectory() as at:
            targets = [f"{kind}={at}/{kind}" for kind in ("text", "full-text", "json", "html", "markdown", "xml", "csv")]
            done = tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=14MB", *(w for t in targets for w in ("--report", t)))
            self.assertEqual(done.returncode, 0, done.stderr)
            for kind in ("text", "full-text", "json", "html", "markdown", "xml"):
                with self.subTest(kind):
                    text = " ".join(pathlib.Path(at, kind).read_text().split())
                    if kind != "html":  # compressed inside
                        self.assertIn("serving 1 sequence of 32 tokens fits into 13.35 MiB", text)


class Drawn(unittest.TestCase):
    """Memory by kind as a bar, and memory by sequences and context as a table."""

    # LLAMA in 14 MB, 4 sequences of 256 tokens: 13,132,800 of weights, 1,048,576 of cache.
    LEGEND = ("█ weights 12.52 MiB (92.6 %)", "▓ cache 1.00 MiB (7.4 %)", "┃ 177.12 KiB too much")
    ROW = ("4,096", "16.52 MiB ✕", "44.52 MiB ✕")  # one sequence, 8 of them

    def drawn(self, kind, *arguments):
        return tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=14MB", "--set=serving.context=256", "--set=serving.sequences=4",
                      "--report", kind, *arguments).stdout

    def test_text_and_markdown(self):
        for kind in ("text", "markdown"):
            with self.subTest(kind):
                text = self.drawn(kind)
                self.assertIn("memory: 13.52 MiB of 13.35 MiB\n", text)
                bar = next(line.strip() for line in text.splitlines() if line.strip().startswith("██"))
                self.assertEqual((len(bar), bar.count("█"), bar.index("┃")), (76, 70, 75))
                for part in (*self.LEGEND, "memory for … sequences", *self.ROW, "12.77 MiB"):
                    self.assertIn(part, text)

    def test_ascii(self):
        text = self.drawn("text", "--set=text.ascii=true")
        self.assertTrue(text.isascii())
        self.assertIn("#" * 70 + "=" * 5 + "|", text)

    def test_free_memory_is_shown(self):
        text = tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=28MB", "--report", "text").stdout
        self.assertIn("· free 14.15 MiB", text)
        self.assertNotIn("┃", text)

    def test_a_saved_report_has_the_bar(self):
        with tempfile.TemporaryDirectory() as at:
            self.assertEqual(tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=14MB", "--report", f"json={at}/saved.json").returncode, 0)
            saved = json.loads(pathlib.Path(at, "saved.json").read_text())
            self.assertEqual({m["id"]: m["bar"] for m in saved["metrics"] if "bar" in m},
                             {f"fit_{p}_bytes": "part" for p in ("weight", "buffer", "activation", "cache", "state")} | {"fit_memory_bytes": "capacity"})
            shown = tmeter("show", f"{at}/saved.json", "--report", "text").stdout
            self.assertIn("█ weights 12.52 MiB", shown)
            self.assertIn("memory for … sequences", shown)


class Folder(unittest.TestCase):
    def test_a_model_of_405_billion_parameters(self):
        """811,706,777,600 bytes of bf16; 516,096 a token. 80 GB hold a tenth."""
        with tempfile.TemporaryDirectory() as at:
            write_folder(at, *published("llama", layers=126, hidden=16384, heads=128, key_heads=8, wide=53248, vocabulary=128256))
            document = report(at, "--plugins=serving,fit", "--hardware", "nvidia-h100-sxm", "--set=serving.context=32768", "--set=serving.sequences=32")
            totals = document["totals"]
            need = 811_706_777_600 + 32 * 32_768 * 516_096
            self.assertEqual((totals["fits"], totals["fit_bytes"], totals["fit_devices"]), (0, need, -(-need // 80_000_000_000)))
            self.assertIn("most of it is weights", findings_of(document, "fit")[0]["text"])

    def test_the_models_own_context_is_evidence_of_the_table(self):
        with tempfile.TemporaryDirectory() as at:
            write_folder(at, *small_llama(max_position_embeddings=512))
            self.assertIn("the model's own longest context is 512", findings_of(fitted(at, "24GiB"), "fit-table")[0]["evidence"])


class BadInput(unittest.TestCase):
    def test_memory(self):
        for memory in ("0", "many", "-1GiB", "nan", "1e400GiB", "GiB", "24 XB"):
            with self.subTest(memory):
                done = tmeter(LLAMA, "--plugins=fit", f"--set=fit.memory={memory}")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(f"fit.memory='{memory}': a size above 0 is expected, as in 24GiB or 80GB", done.stderr)

    def test_engines_and_caches(self):
        for option, words in (("engine=exllama", "llama.cpp"), ("cache-type=q9", "q8_0"), ("sequences=0", "sequences")):
            with self.subTest(option):
                done = tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=24GiB", f"--set=serving.{option}")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)

    def unavailable(self, *arguments):
        document = report(*arguments)
        self.assertIsNone(document["totals"]["fits"])
        return next(m for m in document["metrics"] if m["id"] == "fits")["provenance"]["text"]

    def test_missing_facts_are_reported(self):
        self.assertIn("horowitz-45nm' states no memory", self.unavailable(LLAMA, "--plugins=fit"))
        self.assertIn("no cache of q8_0", self.unavailable(LLAMA, "--plugins=fit", "--set=fit.memory=1GiB", "--set=serving.cache-type=q8_0"))
        done = tmeter(LLAMA, "--plugins=fit", "--assert", "fits")
        self.assertEqual(done.returncode, 3)
        self.assertIn("fits is not available", done.stderr)

    def test_weights_alone(self):
        with tempfile.TemporaryDirectory() as at:
            write_folder(at, None, small_llama()[1])
            document = report(at, "--plugins=fit", "--set=fit.memory=1GiB")
            self.assertIsNone(document["totals"]["fits"], json.dumps(document["totals"]))

    def test_a_load_beyond_63_bits(self):
        done = tmeter(LLAMA, "--plugins=fit", "--set=fit.memory=24GiB", f"--set=serving.context={1 << 30}", f"--set=serving.sequences={1 << 30}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("2^63", done.stderr)

    def test_an_unknown_operator_gives_no_value(self):
        """A model with an unknown peak is not reported as fitting."""
        with tempfile.TemporaryDirectory() as at:
            config, tensors = small_llama()
            write_folder(at, {**config, "model_type": "acme_llm"}, tensors)
            document = report(at, "--plugins=fit,training", "--set=fit.memory=24GiB")
            for metric in ("fits", "fit_max_batch", "fits_training"):
                self.assertIsNone(document["totals"][metric])


if __name__ == "__main__":
    unittest.main()
