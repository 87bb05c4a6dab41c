"""Findings of the run over the zoo (tests/zoo/live.py): models whose libraries do unusual things in forward."""

import pytest
import torch

import tmeter


def test_hooks_by_which_transformers_collects_hidden_states():
    """DepthAnything installs them in its backbone at construction and does not run without them."""
    transformers = pytest.importorskip("transformers")
    backbone = transformers.Dinov2Config(
        hidden_size=32, num_hidden_layers=4, num_attention_heads=2, image_size=28, patch_size=14,
        out_indices=[1, 2, 3, 4], reshape_hidden_states=False,
    )  # fmt: skip
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=32, patch_size=14, neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8, head_hidden_size=4,
    )  # fmt: skip
    model = transformers.DepthAnythingForDepthEstimation(config).eval()
    image = torch.zeros(1, 3, 28, 28)
    result = tmeter.analyze(model, inputs={"pixel_values": image})
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(pixel_values=image)
    assert result.total("macs") == counter.get_total_flops() // 2
    assert result.total("params") == sum(p.numel() for p in model.parameters())


class Router(torch.nn.Module):
    """Like transformers' mixtures of experts: a conversion without effect."""

    def __init__(self):
        super().__init__()
        self.classifier = torch.nn.Linear(8, 4)

    def forward(self, x):
        self.classifier = self.classifier.to(torch.float32)
        return self.classifier(x)


def test_a_conversion_in_forward():
    result = tmeter.analyze(Router(), inputs=(2, 8), dynamic_batch=True)
    assert result.total("macs") == 2 * 8 * 4
    assert result.export.way.startswith("torch.export, non-strict")


def test_hooks_of_yours_are_left_out_still():
    model = torch.nn.Linear(3, 4)
    model.register_forward_hook(lambda m, i, o: o.sum().item())
    result = tmeter.analyze(model, inputs=(2, 3))
    assert "1 of your hooks were left out" in result.export.notes
