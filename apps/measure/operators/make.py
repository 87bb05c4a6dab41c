#!/usr/bin/env python3
"""Makes operators.pt2, which `--hardware auto` runs to see what share of the machine's rates LibTorch's operators
reach: blocks as networks have them, at sizes from large to small, without weights.

usage: make.py            (torch 2.15.0, torchvision not needed; tests/fixtures/requirements.txt)

The time of an operator depends on what ran before it (whether its input is still in a cache), so operators
stand in blocks, not alone. Each block ends in a sum, so that nothing is kept alive that networks would free.
"""
import pathlib
import sys

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests/fixtures"))
from forms import tidy_stack_traces  # noqa: E402


class Bottleneck(nn.Module):
    def __init__(self, channels, inner):
        super().__init__()
        self.a, self.norm_a = nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.b, self.norm_b = nn.Conv2d(inner, inner, 3, padding=1, bias=False), nn.BatchNorm2d(inner)
        self.c, self.norm_c = nn.Conv2d(inner, channels, 1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu_(self.norm_a(self.a(x)))
        y = torch.relu_(self.norm_b(self.b(y)))
        return torch.relu(self.norm_c(self.c(y)) + x)


class Inverted(nn.Module):
    """Depthwise convolutions, gates."""

    def __init__(self, channels, inner):
        super().__init__()
        self.a, self.norm_a = nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.b, self.norm_b = nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False), nn.BatchNorm2d(inner)
        self.c, self.norm_c = nn.Conv2d(inner, channels, 1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = nn.functional.silu(self.norm_a(self.a(x)))
        y = nn.functional.hardtanh_(self.norm_b(self.b(y)), 0.0, 6.0)
        y = y * torch.sigmoid(nn.functional.adaptive_avg_pool2d(y, 1))
        return self.norm_c(self.c(y)) + x


class Pools(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)

    def forward(self, x):
        y = nn.functional.max_pool2d(torch.relu(self.stem(x)), 3, 2, 1)
        z = nn.functional.avg_pool2d(y, 2, 2)
        y = torch.cat([y[:, :32], y[:, 32:]], 1)
        return nn.functional.interpolate(z, scale_factor=2.0, mode="nearest") + y


class Transformer(nn.Module):
    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        if self.fused:
            y = nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            y = torch.softmax(torch.matmul(q * 0.125, k.transpose(-2, -1)), -1).matmul(v)
        x = x + self.out(y.transpose(1, 2).contiguous().reshape(batch, length, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm_2(x))))


class Text(nn.Module):
    def __init__(self, recurrent):
        super().__init__()
        self.table = nn.Embedding(8192, 256)
        self.recurrent = recurrent
        self.head = nn.Linear(256, 8192)

    def forward(self, ids):
        y, _ = self.recurrent(self.table(ids))
        return self.head(y[:, -1])


class Calls(nn.Module):
    """Operators with nothing to do but be called."""

    def forward(self, x):
        for _ in range(12):
            x = x + 1.0
        return x


class Operators(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.ModuleList([Bottleneck(256, 64), Bottleneck(512, 128), Bottleneck(1024, 256), Bottleneck(2048, 512),
                                     Inverted(16, 96), Inverted(24, 144), Inverted(64, 384), Inverted(160, 960)])
        self.pools = Pools()
        self.tokens = nn.ModuleList([Transformer(768, 12, True), Transformer(768, 12, False),
                                     Transformer(256, 8, True), Transformer(192, 6, False)])
        self.texts = nn.ModuleList([Text(nn.LSTM(256, 256, batch_first=True)), Text(nn.GRU(256, 256, batch_first=True))])
        self.calls = Calls()

    def forward(self, images, picture, tokens, ids, one):
        out = [block(x).sum() for block, x in zip(self.images, images)]
        out.append(self.pools(picture).sum())
        out += [block(x).sum() for block, x in zip(self.tokens, tokens)]
        out += [text(ids).sum() for text in self.texts]
        out.append(self.calls(one))
        return tuple(out)


def main():
    with torch.device("meta"):
        model = Operators().eval()
        images = [torch.zeros(1, c, s, s) for c, s in ((256, 56), (512, 28), (1024, 14), (2048, 7),
                                                       (16, 112), (24, 56), (64, 28), (160, 14))]
        tokens = [torch.zeros(1, 197, 768), torch.zeros(1, 197, 768), torch.zeros(1, 128, 256), torch.zeros(16, 49, 192)]
        arguments = (images, torch.zeros(1, 3, 224, 224), tokens, torch.zeros(1, 64, dtype=torch.int64), torch.zeros(1))
        program = torch.export.export(model, arguments)
        tidy_stack_traces(program.graph_module, keep=False)
        torch.export.save(program, HERE / "operators.pt2")


if __name__ == "__main__":
    main()
