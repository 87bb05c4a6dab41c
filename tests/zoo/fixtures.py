"""Writes tests/fixtures/zoo: small versions of some prepared files, and their expected values.

Small versions are deflated, and a `.pt2` has no stack traces of its nodes. PyTorch also reads such files.
Expected values come from the reference, never from tmeter.
"""

import json
import sys
import zipfile
from pathlib import Path

import measure

MAX_BYTES = 350_000
MAX_TOTAL = 9_000_000

SCRIPTED = """
torchvision/alexnet torchvision/vgg11 torchvision/squeezenet1_1 torchvision/resnet18
torchvision/shufflenet_v2_x0_5 torchvision/regnet_x_400mf torchvision/vit_b_32 torchvision/swin_v2_t
torchvision/fasterrcnn_resnet50_fpn torchvision/maskrcnn_resnet50_fpn torchvision/retinanet_resnet50_fpn
torchvision/ssd300_vgg16 torchvision/fcn_resnet50 torchvision/deeplabv3_resnet50
torchvision/r3d_18 torchvision/mvit_v1_b torchvision/raft_small
timm/deit3_small_patch16_224 timm/convnext_atto timm/mambaout_femto timm/eva02_tiny_patch14_224
timm/levit_128s timm/mixer_b16_224 timm/poolformer_s12 timm/sequencer2d_s
""".split()

PT2 = """
torchvision/googlenet torchvision/maxvit_t torchvision/efficientnet_b0 torchvision/mnasnet1_0
torchvision/regnet_y_400mf torchvision/lraspp_mobilenet_v3_large torchvision/mvit_v2_s
torchvision/r2plus1d_18 torchvision/s3d torchvision/swin3d_t torchvision/raft_large torchvision/regnet_x_400mf
timm/beit_base_patch16_224 timm/convnextv2_nano timm/crossvit_9_dagger_240 timm/davit_tiny
timm/edgenext_small timm/fastvit_t8 timm/focalnet_tiny_srf timm/gcvit_xxtiny timm/ghostnetv2_100
timm/halonet26t timm/hiera_tiny_224 timm/lambda_resnet26t timm/mobilevit_s timm/nfnet_l0
timm/repvgg_a2 timm/rexnet_100 timm/swinv2_tiny_window8_256 timm/twins_svt_small timm/volo_d1_224
timm/xcit_nano_12_p16_224 timm/sequencer2d_s
transformers/bert transformers/albert transformers/deberta transformers/gpt2 transformers/llama-gqa
transformers/falcon transformers/mixtral transformers/qwen3-moe-batched transformers/deepseek-v3
transformers/mamba2 transformers/fnet transformers/t5 transformers/bart
transformers/whisper transformers/wav2vec2 transformers/vit transformers/segformer
transformers/detr transformers/clip transformers/layoutlmv3 transformers/patchtst
""".split()

CHOICE = {"scripted": SCRIPTED, "pt2": PT2}


def write(cache: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pt*"):
        old.unlink()
    expected = {}
    for form, ids in CHOICE.items():
        for id in ids:
            name, facts = one(cache, id, form, folder)
            expected[name] = facts
    text = json.dumps({"generator": "./dev zoo --fixtures", "fixtures": expected}, indent=1, sort_keys=True)
    (folder / "expected.json").write_text(text + "\n")
    total = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{len(expected)} fixtures, {total:,} bytes in {folder}")
    if total > MAX_TOTAL:
        sys.exit(f"zoo: that is more than {MAX_TOTAL:,} bytes")


def one(cache: Path, id: str, form: str, folder: Path) -> tuple[str, dict]:
    record = measure.read_record(cache, id)
    if "file" not in record.get(form, {}) or "macs" not in record.get("reference", {}):
        sys.exit(f"zoo: {id} is not prepared as {form}; run ./dev zoo --only {id} first")
    source = cache / id / record[form]["file"]
    target = folder / (id.replace("/", "-").replace("@", "-") + source.name.removeprefix("model"))
    shrink(source, target)
    if target.stat().st_size > MAX_BYTES:
        sys.exit(f"zoo: {target} is {target.stat().st_size:,} bytes; choose a smaller model")
    reference = record["reference"]
    keep = ("params", "macs", "device", "inputs", "published", "tied", "rows")
    facts = {"id": id, "form": form, "versions": record["versions"]}
    return target.name, facts | {k: reference[k] for k in keep if reference.get(k)}


def shrink(source: Path, target: Path) -> None:
    """The same archive, deflated, with a fixed time of day."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for info in old.infolist():
            data = old.read(info)
            if source.suffix == ".pt2" and "/models/" in info.filename and info.filename.endswith(".json"):
                data = without_stack_traces(data)
            new.writestr(zipfile.ZipInfo(info.filename), data, zipfile.ZIP_DEFLATED, 9)


def without_stack_traces(data: bytes) -> bytes:
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k != "stack_trace"}
        return [strip(v) for v in value] if isinstance(value, list) else value

    return json.dumps(strip(json.loads(data)), separators=(",", ":")).encode()
