"""What autograd keeps on meta tensors: figures of torch 2.15 and torchvision 0.29 (saved_tensors_hooks; batch 2, 224 × 224, float32)."""

import json
import os
import subprocess

import pytest
import torch
import torchvision

# On meta tensors attention runs as products.
KEPT = {
    "resnet18": (44_398_080, "fused"),
    "resnet50": (172_031_488, "fused"),
    "mobilenet_v2": (156_555_520, "fused"),
    "vit_b_16": (309_851_216, "math"),
    "convnext_tiny": (218_311_752, "fused"),
}


@pytest.mark.parametrize("name", KEPT)
def test_bytes_kept_on_meta_tensors(name, tmp_path):
    kept, attention = KEPT[name]
    with torch.device("meta"):
        model = getattr(torchvision.models, name)().train()
        image = torch.empty(2, 3, 224, 224)
    file = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(model, (image,), strict=False), file)
    command = [f"{os.environ['BUILD']}/bin/tmeter", file, "--plugins=training", "--set", f"training.attention={attention}", "--report", "json"]
    totals = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["totals"]
    assert totals["saved_bytes"] == kept
