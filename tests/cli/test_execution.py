"""The executor from outside: reports of real runs, and the message for every failure of a run.

tests/python/test_execution.py compares outputs with PyTorch; these tests need no PyTorch.
"""
import json
import os
import re
import struct
import unittest
import zipfile

from support import BUILD, FIXTURES, HAVE_TORCH, LIBTORCH, MODELS, SANITIZED, SANITIZES_THREADS, CliTest, main, tmeter

TIED = MODELS / "tied.pt2"  # tokens: i64[5], an embedding of 12 rows; the one fixture with weights
IN_HOUSE = FIXTURES / "in_house"
#: The catalogue's rows that come from the "C" tool (docs/features.md), and the metrics that implement them.
CATALOGUE = {
    "F1 parameters": "params params_trainable buffers param_bytes",
    "F2 work": "macs flops",
    "F5 memory": "output_bytes read_bytes written_bytes peak_activation_bytes",
    "F6 roofline": "arithmetic_intensity predicted_time memory_bound overhead_bound",
    "A1 statistics": "mean std min max sparsity entropy skewness kurtosis median nan inf",
    "A2 norms": "l1_norm l2_norm spectral_norm",
    "A3 pruning": "loss_at_50 loss_at_90 kept_2_4 dead_filters",
    "A4 quantization": "sqnr_int8_channel sqnr_int4_group128 sqnr_fp8_e4m3 sqnr_nf4 sqnr_mxfp4 quantized_bytes",
    "A5 compression": "coded_bytes coded_ratio alignment cache_line_use",
    "X1 time": "infer_time infer_time_p5 infer_time_p95 throughput op_time op_time_p95 time_share",
    "X2 memory": "measured_peak_bytes allocated_bytes freed_bytes workspace_bytes",
    "X3 profile": "cycles instructions cache_hits branch_misses context_switches thread_use parallel_efficiency best_threads "
                  "achieved_flops achieved_bandwidth of_roofline",
    "X4 system": "cpu_utilisation cpu_frequency resident_peak disk_read network_received gpu_utilisation gpu_memory_peak",
    "E1 measured": "measured_energy measured_power",
    "E2 estimated": "energy energy_low energy_high energy_static",
    "E3 efficiency": "flops_per_joule power temperature throttled co2",
}
#: Metrics that any machine can measure.
MEASURED = ("infer_time", "throughput", "op_time", "time_share", "measured_peak_bytes", "allocated_bytes", "thread_use",
            "cpu_utilisation", "resident_peak", "best_threads", "predicted_time", "energy", "flops_per_joule")
DIGEST = ("--set", "torch-backend.output-digest=true")


def npy(description, shape, data, order="False"):
    header = f"{{'descr': '{description}', 'fortran_order': {order}, 'shape': ({', '.join(map(str, shape))},), }}".encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def safetensors(header, data):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


def tokens(*numbers):
    return struct.pack(f"<{len(numbers)}q", *numbers)


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class Execution(CliTest):
    def run_it(self, model, *arguments, **kwargs):
        if "--threads" not in arguments:  # two threads that wait for each other are slow on a busy machine
            arguments = ("--threads", "1", *arguments)
        return tmeter(model, "--inference", "--run-for", "0.01s", *arguments, **kwargs)

    def facts(self, model, *arguments):
        done = self.run_it(model, "--report", "json", *DIGEST, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["run"]

    def refused(self, status, words, model, *arguments):
        return self.assert_refused(status, words, model, "--inference", "--run-for", "0.01s", *arguments)

    # Facts of the report.

    def test_facts(self):
        facts = self.facts(TIED, "--threads", "2", "--seed", "5")
        self.assertRegex(facts["engine"], r"^LibTorch \d+\.\d+\.\d+")
        self.assertEqual(facts["device"], "cpu")
        self.assertEqual(facts["weights"], "of the file")
        self.assertEqual(facts["inputs"], "made up, seed 5")
        self.assertEqual(facts["threads"], "2")
        with open("/proc/cpuinfo") as cpuinfo:
            if "model name" in cpuinfo.read():
                self.assertIn("device.name", facts)
        self.assertRegex(facts["output.0"], r"^float32\[5, 12\] sha256 [0-9a-f]{64}$")

    def test_threads_follow_openmp_by_default(self):
        for variables, threads in (({"OMP_NUM_THREADS": "1"}, "1"), ({"OMP_NUM_THREADS": "2,1", "MKL_NUM_THREADS": "1"}, "2"),
                                   ({"MKL_NUM_THREADS": "1"}, "1")):
            with self.subTest(**variables):
                done = tmeter(TIED, "--inference", "--run-for", "0.1", "--report", "json", env=variables)
                self.assertEqual(json.loads(done.stdout)["run"]["threads"], threads, done.stderr)
        done = tmeter(TIED, "--inference", "--threads", "2", "--run-for", "0.1", "--report", "json", env={"OMP_NUM_THREADS": "1"})
        self.assertEqual(json.loads(done.stdout)["run"]["threads"], "2")
        for value in ("two", "0", "1.5", "99999999999"):
            done = tmeter(TIED, "--inference", env={"OMP_NUM_THREADS": value})
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"tmeter: OMP_NUM_THREADS='{value}': a number from 1 to 1024 is expected; unset it, or "
                             "give --threads\n")
        self.assertEqual(tmeter(TIED, "--plugins=params", env={"OMP_NUM_THREADS": "two"}).returncode, 0)

    def test_a_file_without_weights_runs_with_random_weights_and_reports_them(self):
        facts = self.facts(MODELS / "resnet50.pt2", "--seed", "3")
        self.assertEqual(facts["weights"], "random, seed 3")
        self.assertRegex(facts["output.0"], r"^float32\[1, 1000\] sha256")

    def test_everything_at_once_has_every_row_of_the_catalogue(self):
        done = tmeter(TIED, "--inference", "--profile", "--plugins=all", "--run-for", "1s", "--threads", "2", "--report", "json",
                      "--set", "profile.scaling=true", "--set", "system.interval=10ms", "--hardware", "nvidia-a100", "--columns", "all")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        metrics = {m["id"]: m for m in document["metrics"]}
        for row, names in CATALOGUE.items():
            for name in names.split():
                with self.subTest(row, metric=name):
                    self.assertIn(name, metrics)
                    if document["totals_status"].get(name) == "unavailable":
                        self.assertTrue(metrics[name]["provenance"]["text"], "the reason is missing")
        for name in MEASURED:
            self.assertIsNotNone(document["totals"][name], name)
        self.assertIn("architecture", {f["rule"] for f in document["findings"]})  # T5

    def test_tokens_stay_within_the_vocabulary(self):
        for seed in range(5):  # the vocabulary has 12 tokens; LibTorch throws beyond it
            self.facts(TIED, "--seed", str(seed))

    def test_torchscript_runs(self):
        self.assertRegex(self.facts(MODELS / "resnet50.scripted.pt", "--input", "2x3x64x64")["output.0"],
                         r"^float32\[2, 1000\]")

    def test_peak_of_memory_is_as_predicted(self):
        """On any machine: convolutions' layouts differ where vectors are shorter, here by less than a tenth."""
        for name in ("tied", "dynamic_mlp", "bert_like", "gpt2_like", "llama_like", "transformer", "detr_like", "gru", "lstm",
                     "lstm_bidirectional", "no_grad_wrap", "qwen2_moe"):
            for threads in ("1", "2"):
                with self.subTest(model=name, threads=threads):
                    if name == "lstm_bidirectional" and LIBTORCH < (2, 12):
                        self.skipTest("LibTorch 2.6 and 2.8 take 11 % more memory in it, which the report says")
                    # One run is enough, however slow the machine is.
                    done = self.run_it(MODELS / f"{name}.pt2", "--threads", threads, "--plugins=memory,allocations,torch-backend,pt2,-latency",
                                       "--report", "json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    document = json.loads(done.stdout)
                    totals = document["totals"]
                    self.assertAlmostEqual(totals["predicted_peak_bytes"] / totals["measured_peak_bytes"], 1, delta=0.1)
                    self.assertNotIn("peak-differs", {f["rule"] for f in document["findings"]})

    # Input files.

    def test_a_npy_file_and_a_safetensors_file_with_the_same_numbers_give_the_same(self):
        data = tokens(1, 2, 3, 4, 11)
        array = self.file("x.npy", npy("<i8", [5], data))
        tensors = self.file("x.safetensors", safetensors({"tokens": {"dtype": "I64", "shape": [5], "data_offsets": [0, 40]}}, data))
        first, second = (self.facts(TIED, "--input-file", f) for f in (array, f"tokens={tensors}"))
        self.assertEqual(first["output.0"], second["output.0"])
        self.assertEqual(first["inputs"], f"of {array}")

    def test_input_files_that_do_not_fit(self):
        good = tokens(1, 2, 3, 4, 5)
        cases = [
            (npy("<i8", [4], good[:32]), ["int64[4] for 'tokens', which must be int64[5]", "--input or --bind"]),
            (npy("<f4", [5], good[:20]), ["float32[5] for 'tokens', which must be int64[5]"]),
            (npy("<i8", [5], good[:30]), ["is damaged: it ends before its last element"]),
            (npy("<i8", [2**40, 2**40], good), ["is damaged: it ends before its last element"]),
            (npy("<i8", [5], good, order="True"), ["is in Fortran order"]),
            (npy(">i8", [5], good), ["the type '>i8'"]),
            (npy("|O", [5], good), ["the type '|O'"]),
            (b"\x93NUMPY\x01\x00\xff\xff{'descr'", ["is damaged: its header is cut off"]),
            (b"hello", ["is not an .npy file"]),
            (b"", ["is not an .npy file"]),
        ]
        for content, words in cases:
            with self.subTest(words):
                path = self.file("x.npy", content)
                self.refused(2, [str(path), *words], TIED, "--input-file", path)

    def test_safetensors_files_that_do_not_fit(self):
        entry = {"dtype": "I64", "shape": [5], "data_offsets": [0, 40]}
        data = tokens(1, 2, 3, 4, 5)
        cases = [
            (safetensors({"tokens": {**entry, "data_offsets": [0, 48]}}, data), ["is damaged: the offset of 'tokens'"]),
            (safetensors({"tokens": {**entry, "shape": [-5]}}, data), ["is damaged: the shape of 'tokens'"]),
            (safetensors({"tokens": {**entry, "dtype": "I3"}}, data), ["of the unknown type I3"]),
            (safetensors({"tokens": 7}, data), ["is damaged: the description of 'tokens'"]),
            (safetensors({"a": entry, "b": entry}, data), ["the model has no input 'a'; it has tokens"]),
            (safetensors(b"{", data), ["its header is not JSON"]),
            (struct.pack("<Q", 1 << 60), ["is not a safetensors file"]),
            (safetensors({}, b""), ["holds no tensor"]),
        ]
        for content, words in cases:
            with self.subTest(words):
                path = self.file("x.safetensors", content)
                self.refused(2, [str(path), *words], TIED, "--input-file", path)

    def test_other_input_files(self):
        self.refused(2, ["x.txt does not end in .pt, .npy or .safetensors"], TIED, "--input-file", self.file("x.txt", b"1"))
        self.refused(2, ["x.pt does not hold tensors"], TIED, "--input-file", self.file("x.pt", b"PK\x03\x04"))
        for name, pickle in (("deep", b"\x80\x02" + b"]" * 200000 + b"a" * 199999 + b"."),
                             ("memo", b"\x80\x02]r\xf0\xff\xff\xff.")):
            with zipfile.ZipFile(self.folder / f"{name}.pt", "w") as archive:
                for record, content in (("data.pkl", pickle), ("version", b"3\n"), ("byteorder", b"little")):
                    archive.writestr(f"archive/{record}", content)
            self.refused(2, [f"{name}.pt does not hold tensors"], TIED, "--input-file", self.folder / f"{name}.pt")
        fifo, linked = self.folder / "fifo.npy", self.folder / "linked.npy"
        os.mkfifo(fifo)
        linked.symlink_to("/dev/zero")
        for path, why in ((self.folder, "is a folder"), (fifo, "is not a regular file"), (linked, "is not a regular file"),
                          ("/dev/zero", "is not a regular file")):
            for value in (path, f"tokens={path}"):
                self.refused(2, [str(path), why], TIED, "--input-file", value)
        self.refused(2, ["missing.npy"], TIED, "--input-file", self.folder / "missing.npy")
        good = self.file("x.npy", npy("<i8", [5], tokens(1, 2, 3, 4, 5)))
        self.refused(2, ["the model has no input 'images'; it has tokens"], TIED, "--input-file", f"images={good}")

    def test_a_token_beyond_the_vocabulary_is_the_operators_failure(self):
        path = self.file("x.npy", npy("<i8", [5], tokens(1, 2, 3, 4, 12)))
        done = self.run_it(TIED, "--input-file", path)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("aten::embedding of embedding: index out of range", done.stderr)

    # A company's own operators.

    def test_a_missing_operator_is_named_with_its_module_and_advice(self):
        for model in ("net.pt2", "scripted.pt"):
            with self.subTest(model):
                size = ("--input", "2x8x24") if model == "scripted.pt" else ()
                done = self.run_it(IN_HOUSE / model, *size)
                self.assertEqual(done.returncode, 6, done.stderr)
                for words in ("acme::gated_mlp (in mlp)", "--op-library"):
                    self.assertIn(words, done.stderr)

    def test_the_operators_library_makes_the_model_run(self):
        library = BUILD / "tests" / "libacme_operators.so"
        for model in ("net.pt2", "scripted.pt"):
            with self.subTest(model):
                size = ("--input", "2x8x24") if model == "scripted.pt" else ()
                facts = self.facts(IN_HOUSE / model, "--op-library", library, *size)
                self.assertRegex(facts["output.0"], r"^float32\[2, 8, 10\]")

    def test_an_operator_that_throws_is_named_with_its_module(self):
        done = self.run_it(IN_HOUSE / "dynamic.pt2", "--op-library", BUILD / "tests" / "libacme_operators.so",
                           "--input", "7x8x24")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("acme::gated_mlp of mlp: acme::gated_mlp does not take 7 samples", done.stderr)

    def test_files_that_are_not_libraries(self):
        text = self.file("libacme.so", b"no library")
        self.refused(2, [f"operator library {text} cannot be opened"], TIED, "--op-library", text)
        self.refused(2, ["missing.so"], TIED, "--op-library", self.folder / "missing.so")

    @unittest.skipIf(SANITIZES_THREADS, "an exception out of dlopen, which the sanitizer does not expect")
    def test_a_library_whose_initializer_throws(self):
        library = BUILD / "tests" / "libthrowing_library.so"
        self.refused(2, [f"operator library {library} cannot be opened: acme::gated_mlp is registered twice"],
                     TIED, "--op-library", library)

    def test_the_first_values_of_outputs(self):
        """On the screen and in the long report; python.execution compares them with PyTorch's."""
        done = tmeter(TIED, "--inference", "--run-for", "0.01", "--set", "torch-backend.output-values=3")
        line = next(text for text in done.stdout.splitlines() if text.startswith("output 0: "))
        self.assertEqual(len(re.findall(r"-?\d+\.\d+", line)), 3)
        self.assertTrue(line.endswith(", …"))
        long = tmeter(TIED, "--inference", "--run-for", "0.01", "--set", "torch-backend.output-values=3", "--report", "full-text").stdout
        self.assertIn("values of " + line, long)
        self.refused(2, ["output-values", "1000"], TIED, "--set", "torch-backend.output-values=1001")

    # Devices, threads, memory.

    def test_missing_devices(self):
        self.refused(2, ["no CUDA device"], TIED, "--device", "cuda:99")
        self.refused(2, ["'tpu' is not a device; give cpu, cuda or cuda:N"], TIED, "--device", "tpu")
        self.refused(2, ["'cuda:x' is not a device"], TIED, "--device", "cuda:x")

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_a_run_that_takes_more_memory_than_is_allowed(self):
        done = self.run_it(MODELS / "resnet50.pt2", "--max-memory", "150M")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("there is not enough memory: more than 143 MiB (--max-memory) is needed", done.stderr)

    def test_a_file_of_weights_alone(self):
        weights = self.file("w.safetensors", safetensors({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"\0" * 8))
        self.refused(2, ["holds weights only"], weights)


if __name__ == "__main__":
    main()
