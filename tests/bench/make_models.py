#!/usr/bin/env python3
"""Model files for README.md and docs/benchmarks.md that are too large to be committed.

    pip install torch==2.15.0 torchvision==0.29.2 transformers==5.23.0 diffusers==0.42.1
    python make_models.py MODEL OUTPUT.pt2

decoder         Llama 3 70B by its config.json, with open batch and length
unet            the UNet of Stable Diffusion 1.5 by its published config, one image of 512 × 512 pixels
pruned-resnet50 a ResNet-50 whose blocks' inner convolutions have lost a quarter of their filters
language-model  a decoder of 40 blocks and 89 million parameters, with random weights of different widths

All except the last are built on meta, and their files store no weights. Each takes a minute.
"""
import argparse
import pathlib

import torch
from torch.export import Dim, export, save


class Logits(torch.nn.Module):
    """A language model without its cache."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


def llama(**sizes):
    from transformers import LlamaConfig, LlamaForCausalLM
    return Logits(LlamaForCausalLM(LlamaConfig(**sizes))).to(torch.bfloat16).eval()


def decoder():
    with torch.device("meta"):
        model = llama(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64,
                      num_key_value_heads=8, vocab_size=128256, max_position_embeddings=8192, rope_theta=500000.0,
                      rms_norm_eps=1e-5)
        tokens = torch.zeros(2, 128, dtype=torch.int64)
    dims = {0: Dim("batch", min=1, max=1024), 1: Dim("seq", min=2, max=8192)}
    return export(model, (tokens,), dynamic_shapes={"input_ids": dims})


def unet():
    from diffusers import UNet2DConditionModel

    class Noise(torch.nn.Module):
        def __init__(self):
            super().__init__()
            # The defaults are the blocks of Stable Diffusion 1.x; its text encoder gives 768 channels.
            self.unet = UNet2DConditionModel(sample_size=64, cross_attention_dim=768, attention_head_dim=8)

        def forward(self, sample, timestep, text):
            return self.unet(sample, timestep, text, return_dict=False)[0]

    with torch.device("meta"):
        model = Noise().eval()
        inputs = torch.zeros(1, 4, 64, 64), torch.zeros(1), torch.zeros(1, 77, 768)
    return export(model, inputs)


def pruned_resnet50():
    from torch import nn
    from torchvision.models import resnet50
    from torch.utils.flop_counter import FlopCounterMode
    with torch.device("meta"):
        model = resnet50().eval()
        for block in (m for m in model.modules() if type(m).__name__ == "Bottleneck"):
            left = block.conv2.out_channels * 3 // 4
            block.conv1 = nn.Conv2d(block.conv1.in_channels, left, 1, bias=False)
            block.conv2 = nn.Conv2d(left, left, 3, stride=block.conv2.stride, padding=1, bias=False)
            block.conv3 = nn.Conv2d(left, block.conv3.out_channels, 1, bias=False)
            block.bn1, block.bn2 = nn.BatchNorm2d(left), nn.BatchNorm2d(left)
        model.eval()
        inputs = (torch.zeros(1, 3, 224, 224),)
    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    print(f"FlopCounterMode: {counter.get_total_flops():,} FLOPs")
    return export(model, inputs)


def language_model():
    torch.manual_seed(0)
    model = llama(hidden_size=384, intermediate_size=1152, num_hidden_layers=40, num_attention_heads=6,
                  num_key_value_heads=6, vocab_size=16384, max_position_embeddings=2048)
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            if p.dim() == 2:
                p.copy_(torch.distributions.StudentT(3.0 + i % 7).sample(p.shape) * 0.02)
    return export(model, (torch.zeros(1, 128, dtype=torch.int64),))


MODELS = {"decoder": decoder, "unet": unet, "pruned-resnet50": pruned_resnet50,
          "language-model": language_model}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("output", type=pathlib.Path)
    arguments = parser.parse_args()
    program = MODELS[arguments.model]()
    save(program, arguments.output)
    parameters = sum(p.numel() for p in program.parameters())
    print(f"{arguments.output}: {parameters:,} parameters, {arguments.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
