"""Tensors that autograd saves, compared with saved_tensors_hooks, and on meta tensors."""

import json
import os
import subprocess

import pytest
import torch
import torchvision

# Bytes of torch 2.15 and torchvision 0.29 (saved_tensors_hooks; batch 2, 224 × 224, float32). On meta tensors attention runs as matrix products.
KEPT = {
    "resnet18": (44_398_080, "fused"),
    "resnet50": (172_031_488, "fused"),
    "mobilenet_v2": (156_555_520, "fused"),
    "vit_b_16": (309_851_216, "math"),
    "convnext_tiny": (218_311_752, "fused"),
}


def bytes_kept(file, *options):
    command = [f"{os.environ['BUILD']}/bin/tmeter", file, "--plugins=training", *options, "--report", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["totals"]["saved_bytes"]


@pytest.mark.parametrize("name", KEPT)
def test_bytes_kept_on_meta_tensors(name, tmp_path):
    expected, attention = KEPT[name]
    with torch.device("meta"):
        model = getattr(torchvision.models, name)().train()
        image = torch.empty(2, 3, 224, 224)
    file = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(model, (image,), strict=False), file)
    assert bytes_kept(file, "--set", f"training.attention={attention}") == expected


@pytest.mark.parametrize("places", [1, 7])
def test_pooling_to_one_place_is_a_mean(places, tmp_path):
    """A mean keeps nothing. The batch norm keeps its input of 8 · 49 elements and two numbers per channel."""
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(8), torch.nn.AdaptiveAvgPool1d(places))
    file = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(model, (torch.randn(2, 8, 49),), strict=False), file)
    saved = {}

    def pack(tensor):
        saved[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = model(torch.randn(2, 8, 49))
    own = {t.untyped_storage()._cdata for t in (*model.parameters(), *model.buffers())}
    expected = sum(t.untyped_storage().nbytes() for key, t in saved.items() if key not in own)
    assert result.requires_grad
    assert bytes_kept(file) == expected
