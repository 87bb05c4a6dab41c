"""One analysis of a torchvision model by one established Python tool, as a user would write it.

    python peers.py TOOL [MODEL]      prints "params=25557032 macs=4089184256"

The numbers are the tool's own, not corrected; only ``flop_counter``, which counts a multiply-add
as two FLOPs, is halved. The model has random weights; nothing is downloaded. Imports
are inside the functions, so a process loads only its own tool.
"""

import contextlib
import sys
import warnings

TOOLS = {}


def tool(function):
    TOOLS[function.__name__] = function
    return function


@tool
def torchinfo(model, image):
    from torchinfo import summary

    result = summary(model, input_data=image, verbose=0)
    return result.total_params, result.total_mult_adds


@tool
def fvcore(model, image):
    from fvcore.nn import FlopCountAnalysis, parameter_count

    analysis = FlopCountAnalysis(model, image).unsupported_ops_warnings(False)
    return parameter_count(model)[""], analysis.total()


@tool
def flop_counter(model, image):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(image)
    return sum(p.numel() for p in model.parameters()), counter.get_total_flops() // 2


@tool
def thop(model, image):
    from thop import profile

    macs, params = profile(model, inputs=(image,), verbose=False)
    return params, macs


@tool
def ptflops(model, image):
    from ptflops import get_model_complexity_info

    macs, params = get_model_complexity_info(
        model, tuple(image.shape[1:]), as_strings=False, print_per_layer_stat=False, verbose=False
    )
    return params, macs


@tool
def calflops(model, image):
    from calflops import calculate_flops

    _, macs, params = calculate_flops(
        model, input_shape=tuple(image.shape), output_as_string=False, print_results=False
    )
    return params, macs


@tool
def torchmeter(model, image):
    from torchmeter import Meter

    meter = Meter(model, device="cpu")
    meter(image)
    return meter.param.TotalNum.val, meter.cal.Macs.val


def main() -> None:
    name, model_name = sys.argv[1], (sys.argv[2:] or ["resnet50"])[0]
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):  # some tools print text
        import torch
        import torchvision

        model = getattr(torchvision.models, model_name)(weights=None).eval()
        params, macs = TOOLS[name](model, torch.zeros(1, 3, 224, 224))
    print(f"params={int(params)} macs={int(macs)}")


if __name__ == "__main__":
    main()
