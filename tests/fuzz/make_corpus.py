"""make_corpus.py FOLDER: initial inputs, FOLDER/TARGET/…, from the fixtures and the repository. If the environment
variable TMETER names the program, it makes saved reports."""
import json
import os
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
LONGEST = 60_000

TEXTS = {
    "assertion": ["macs<=5G", "module(\"layer4\").macs < 1G", "coverage==100%", "unknown==0", "param_bytes>=1.5MiB",
                  "module('a.b').flops != 3e9"],
    "input": ["1x3x224x224", "x=8x3x320x320:f16", "[2x3,4x5]", "(1x3,true,0.5,none)", "ids=1x128:i64", "mask=none"],
    "sweep": ["s77=1,2,4", "x.0=1:64:2", "batch=1,8", "input_ids.0=1..9"],
    "limits": ["8GiB", "500MB", "60", "500ms", "2min", "1.5h", "1e3MiB"],
    "expression": ["Mul(Integer(2), Symbol('s77', positive=True, integer=True))", "2*s77 + 1", "(s0 - 1)//2",
                   "FloorDiv(Add(Symbol('s0', integer=True), Integer(1)), Integer(2))", "Max(1, s0)", "2**3**2",
                   "Mod(s0, 5)", "floor(s0/2) + ceiling(s0/2)", "Min(s0, 7) - -3"],
    "terminal": ["plain", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eabc", "a\tb\nc", "\x9b31m", "naïve ☃"],
    "index": ["tmeter plugin index 4\n", "tmeter plugin index 4\n13:a.tmeter.toml123:456:" + "1:x" * 9 + "2:1:a1:b" + "0:" * 9 +
              "1:1:l1:t1:1:c90:0:1:0:9:9:"],
}


def files():
    for path in sorted((FIXTURES / "models").glob("*.pt2"))[:8]:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith("models/model.json"):
                    yield "pt2", path.stem, archive.read(name)
        yield "zip", path.stem, path.read_bytes()
    for path in sorted((FIXTURES / "checkpoints").glob("*.pt")):
        data = path.read_bytes()
        yield "file", path.stem, data
        if zipfile.is_zipfile(path):
            yield "zip", path.stem, data
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if name.endswith("data.pkl"):
                        yield "pickle", path.stem, archive.read(name)
    for path in sorted(FIXTURES.glob("**/*.safetensors")):
        yield "file", path.stem, path.read_bytes()
    for path in sorted((FIXTURES / "gguf").glob("*.gguf")):
        yield "gguf", path.stem, path.read_bytes()
    for path in sorted((FIXTURES / "packed").glob("*/config.json")):
        yield "config", path.parent.name, path.read_bytes()
    yield from configurations()
    for path in sorted((ROOT / "plugins").glob("**/*.toml")):
        yield "hardware", path.stem, path.read_bytes()
        yield "manifest", path.stem, path.read_bytes()
    golden = (ROOT / "tests/unit/reports/golden/report.json").read_bytes()
    yield "report", "every_value", golden
    yield "merge", "every_value", golden
    yield from saved_reports()
    yield from shards()


def configurations():
    """Configurations of model types with the sizes of the target's weights (file_targets.cpp), so that mutations reach deep code."""
    sizes = {"num_hidden_layers": 1, "vocab_size": 100, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
    moe = {"num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
           "shared_expert_intermediate_size": 96, "first_k_dense_replace": 0, "num_dense_layers": 0, "mlp_only_layers": []}
    for line in (ROOT / "tests" / "blueprint" / "transformers.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "config" in row:
            own = {**row["config"], **{k: v for k, v in {**sizes, **moe}.items() if k in row["config"]}}
            own |= {} if "moe_intermediate_size" in own or "intermediate_size" not in own else {"intermediate_size": 128}
            yield "config", row["type"], json.dumps(own).encode()


def saved_reports():
    if "TMETER" not in os.environ:
        return
    for name, *options in [("dynamic_mlp", "--plugins=all", "--sweep=x.0=1,8", "--assert=macs>0"), ("tied", "--plugins=all"), ("gru",),
                           ("lstm", "--plugins=params")]:
        done = subprocess.run([os.environ["TMETER"], FIXTURES / "models" / f"{name}.pt2", *options, "--report", "json"],
                              capture_output=True, check=True)
        yield "report", name, done.stdout


def shards():
    """Reports of the shards of one checkpoint, in pairs."""
    if "TMETER" not in os.environ:
        return
    for options in (["--plugins=params"], ["--plugins=params,memory,flops,param-stats"]):
        reports = [subprocess.run([os.environ["TMETER"], shard, *options, "--report", "json"], capture_output=True, check=True).stdout
                   for shard in sorted((FIXTURES / "checkpoints").glob("model-0000?-of-00002.safetensors"))]
        yield "merge", options[0][10:].replace(",", "_"), b"\0".join(reports)


def main():
    folder = pathlib.Path(sys.argv[1])
    inputs = [(target, str(i), text.encode()) for target, texts in TEXTS.items() for i, text in enumerate(texts)]
    inputs.append(("settings", "all", b'plugins = ["flops"]\nhardware = "a100-sxm"\n[flops]\nconvention = "fvcore"\n'))
    inputs.append(("manifest", "own", b'schema = 1\nabi_minor = 0\nid = "a.b"\nname = "b"\nversion = "1.0.0"\n'
                                      b'needs = []\n[[loader]]\nname = "x"\n[[loader.match]]\nconditions = "zip:*"\n'))
    inputs.append(("pt2", "small", json.dumps({"graph_module": {"graph": {"nodes": []}}}).encode()))
    for target, name, data in [*inputs, *files()]:
        if len(data) <= LONGEST:
            (folder / target).mkdir(parents=True, exist_ok=True)
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
