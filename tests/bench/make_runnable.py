#!/usr/bin/env python3
"""TorchScript files with (random) weights and the inputs for them, for `executor_bench`; never committed.

    python make_runnable.py OUTPUT_FOLDER     (torch, torchvision, transformers: as make_models.py)

ResNet-50 and ViT-B/16 on 1×3×224×224, BERT base on 1×128, an LSTM of two layers and 512 units on 4×64×256,
Faster R-CNN (MobileNetV3, 320 pixels) on one image of 3×320×320.
"""
import pathlib
import sys

import torch
from torch import nn


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(256, 512, num_layers=2, batch_first=True)
        self.head = nn.Linear(512, 100)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


def traced(net, *inputs):
    return torch.jit.trace(net.eval(), inputs, strict=False, check_trace=False), inputs


def resnet50():
    from torchvision.models import resnet50
    return traced(resnet50(), torch.randn(1, 3, 224, 224))


def vit_b_16():
    from torchvision.models import vit_b_16
    return traced(vit_b_16(), torch.randn(1, 3, 224, 224))


def bert():
    from transformers import BertConfig, BertModel

    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel(BertConfig())

        def forward(self, input_ids):
            return self.bert(input_ids=input_ids, return_dict=False)[0]

    return traced(Hidden(), torch.randint(0, 30522, (1, 128)))


def lstm():
    return traced(LSTM(), torch.randn(4, 64, 256))


def faster_rcnn():
    from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
    net = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, box_score_thresh=0.0).eval()
    return torch.jit.script(net), ([torch.rand(3, 320, 320)],)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (resnet50, vit_b_16, bert, lstm, faster_rcnn):
        torch.manual_seed(1)
        with torch.no_grad():
            module, inputs = make()
        module.save(folder / f"{make.__name__}.pt")
        torch.save(inputs[0], folder / f"{make.__name__}.input.pt")


if __name__ == "__main__":
    main()
