"""Published times and rates of whole serving runs, and tmeter's expectations from a folder without weights."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "blueprint"))
from folders import write_folder  # noqa: E402

HEAD, VOCABULARY = 128, 32000  # sizes of LLaMA-2


def program():
    return os.environ.get("TMETER", str(ROOT / "build" / "release" / "bin" / "tmeter"))  # the tests set it


def write_llama(folder, m, dtype):
    h, f, kv, vocabulary = m["hidden"], m["feed-forward"], m["key-heads"] * HEAD, m.get("vocabulary", VOCABULARY)
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": h, "num_hidden_layers": m["layers"],
              "num_attention_heads": h // HEAD, "num_key_value_heads": m["key-heads"], "intermediate_size": f, "vocab_size": vocabulary,
              "max_position_embeddings": 4096, "hidden_act": "silu", "tie_word_embeddings": False, "torch_dtype": dtype}
    shapes = {"model.embed_tokens": [vocabulary, h], "model.norm": [h], "lm_head": [vocabulary, h]}
    for i in range(m["layers"]):
        parts = {"self_attn.q_proj": [h, h], "self_attn.k_proj": [kv, h], "self_attn.v_proj": [kv, h], "self_attn.o_proj": [h, h],
                 "mlp.gate_proj": [f, h], "mlp.up_proj": [f, h], "mlp.down_proj": [h, f], "input_layernorm": [h], "post_attention_layernorm": [h]}
        shapes |= {f"model.layers.{i}.{name}": shape for name, shape in parts.items()}
    write_folder(folder, config, {f"{name}.weight": (dtype, shape) for name, shape in shapes.items()})


def serving_totals(folder, gpu, context, sequences, devices, engine="own", reads=1):
    """Totals of the plugin serving. TensorRT-LLM is not a known engine, and its work per sequence is unknown, so it is the engine `own`."""
    sets = {"context": context, "sequences": sequences, "devices": devices, "cache-type": gpu["cache"], "engine": engine, "own-reads": reads}
    done = subprocess.run([program(), folder, "--plugins=serving", "--hardware", gpu["profile"], "--report", "json",
                           *(f"--set=serving.{k}={v}" for k, v in sets.items())], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["totals"]


class Run:
    """Seconds of a run."""

    def __init__(self, gpu, kind, model, load, measured, bound, expected, low, high, sequences=0):
        self.gpu, self.kind, self.model, self.load, self.measured, self.sequences = gpu, kind, model, load, measured, sequences
        self.bound, self.expected, self.low, self.high = bound, expected, low, high

    @property
    def error(self):
        return 100 * (self.expected / self.measured - 1)

    @property
    def inside(self):
        return self.low <= self.measured <= self.high


KEYS = ("_time", "_expected", "_expected_low", "_expected_high")


def runs():
    data = tomllib.loads((HERE / "serving.toml").read_text(encoding="utf-8"))
    for name, gpu in data["gpu"].items():
        with tempfile.TemporaryDirectory() as at:
            folder = {}
            for model, m in data["model"].items():
                folder[model] = os.path.join(at, model)
                os.mkdir(folder[model])
                write_llama(folder[model], m, gpu["type"])
            for model, devices, prompt, ms in gpu["first"]:
                t = serving_totals(folder[model], gpu, prompt, 1, devices)
                yield Run(name, "first token", model, f"{devices} GPU, prompt {prompt}", ms / 1e3, *(t["serving_prefill" + k] for k in KEYS))
            for model, devices, batch, prompt, answer, rate in gpu["rate"]:
                m = data["model"][model]
                first = serving_totals(folder[model], gpu, prompt, batch, devices)
                group = m["hidden"] // HEAD // m["key-heads"]
                step = serving_totals(folder[model], gpu, prompt + answer // 2, batch, devices, reads=group)  # in the middle of the answer
                times = (first["serving_prefill" + k] + answer * step["serving_step" + k] for k in KEYS)
                yield Run(name, "whole run", model, f"{devices} GPU, batch {batch}, {prompt} + {answer}", batch * answer / (rate * devices), *times)


def steps():
    """Steps of vLLM, from The ML.ENERGY Leaderboard."""
    data = tomllib.loads((HERE / "mlenergy.toml").read_text(encoding="utf-8"))
    for name, m in data["model"].items():
        with tempfile.TemporaryDirectory() as folder:
            write_llama(folder, m, m["type"])
            for gpu, devices, sequences, context, ms in m["steps"]:
                t = serving_totals(folder, {"profile": data["profile"][gpu], "cache": "bf16"}, context, sequences, devices, "vllm")
                yield Run(gpu, "step", name, f"{devices} GPU, {sequences} sequences", ms / 1e3, *(t["serving_step" + k] for k in KEYS), sequences)


SEQUENCE = re.compile(r"kVllmSequence = ([0-9.e-]+)")
ENGINE = ROOT / "plugins" / "common" / "serving" / "engine.cpp"


def seen_steps(found):
    """Every second step on the H100, which determine the engine's work per sequence and the band."""
    return [r for r in found if r.gpu == "H100"][::2]


def sequence_seconds(found):
    """The work per sequence in microseconds with the least mean |log| on these steps."""
    now = float(SEQUENCE.search(ENGINE.read_text(encoding="utf-8")).group(1))

    def loss(us):
        return sum(abs(math.log((r.expected + r.sequences * (us * 1e-6 - now)) / r.measured)) for r in seen_steps(found))
    return min(range(0, 201), key=loss) * 1e-6


class Trained:
    """Tokens per second and MFU of training on one of many GPUs, measured by torchtitan."""

    def __init__(self, model, checkpointing, passes, measured, mfu, prefill, flops, embedding, tokens, peak):
        self.model, self.checkpointing, self.passes, self.measured, self.mfu = model, checkpointing, passes, measured, mfu
        self.expected = tokens / (passes * prefill)
        self.own_mfu, self.with_embedding = (100 * measured * f / peak for f in (flops, flops + 6 * embedding))

    @property
    def error(self):
        return 100 * (self.expected / self.measured - 1)


def trained():
    data = tomllib.loads((HERE / "torchtitan.toml").read_text(encoding="utf-8"))
    for name, m in data["model"].items():
        with tempfile.TemporaryDirectory() as folder:
            write_llama(folder, m, "bfloat16")
            gpu = {"profile": data["profile"], "cache": "bf16"}
            prefill = serving_totals(folder, gpu, data["tokens"], 1, 1)["serving_prefill_expected"]
            done = subprocess.run([program(), folder, "--plugins=training", f"--set=training.sequence={data['tokens']}", "--report", "json"],
                                  capture_output=True, text=True, check=True)
            flops = json.loads(done.stdout)["totals"]["training_flops_per_token"]
            for checkpointing, passes, measured, mfu in m["runs"]:
                yield Trained(name, checkpointing, passes, measured, mfu, prefill, flops, m["vocabulary"] * m["hidden"], data["tokens"], data["peak"])
