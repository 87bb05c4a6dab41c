"""Models of the survey from further libraries: torch_geometric's layers, segmentation_models_pytorch, vit_pytorch.

The last two come from PyPI, without their dependencies except einops: vit-pytorch 1.26.11, segmentation-models-pytorch 0.6.0.
"""

from functools import partial

NODES, EDGES, WIDTH = 12, 40, 16
EDGE = {"edge_attr": (4, "randn")}
#: class of torch_geometric.nn → its arguments, and its inputs besides nodes and edges: name → (columns or kinds, generator)
GRAPHS = {
    "GraphSAGE": ((16, 32, 2, 8), {}, {}), "ChebConv": ((16, 8), {"K": 3}, {}), "TransformerConv": ((16, 8), {"heads": 2}, {}),
    "TAGConv": ((16, 8), {}, {}), "ARMAConv": ((16, 8), {"num_stacks": 2, "num_layers": 2}, {}), "SGConv": ((16, 8), {"K": 2}, {}),
    "SSGConv": ((16, 8), {"alpha": 0.1, "K": 2}, {}), "APPNP": ((3, 0.1), {}, {}), "GENConv": ((16, 8), {}, {}),
    "SuperGATConv": ((16, 8), {"heads": 2}, {}), "GatedGraphConv": ((16, 2), {}, {}), "ResGatedGraphConv": ((16, 8), {}, {}),
    "FiLMConv": ((16, 8), {}, {}), "MFConv": ((16, 8), {}, {}), "ClusterGCNConv": ((16, 8), {}, {}), "LEConv": ((16, 8), {}, {}),
    "PDNConv": ((16, 8), {"edge_dim": 4, "hidden_channels": 8}, EDGE), "CGConv": ((16,), {"dim": 4}, EDGE),
    "GMMConv": ((16, 8), {"dim": 2, "kernel_size": 3}, {"edge_attr": (2, "rand")}), "FeaStConv": ((16, 8), {"heads": 2}, {}),
    "RGCNConv": ((16, 8), {"num_relations": 3}, {"edge_type": (3, "kinds")}), "AntiSymmetricConv": ((16,), {}, {}),
    "RGATConv": ((16, 8), {"num_relations": 3}, {"edge_type": (3, "kinds")}), "FAConv": ((16,), {}, {"x_0": (16, "nodes")}),
    "PointTransformerConv": ((16, 8), {}, {"pos": (3, "nodes")}), "LINKX": ((12, 16, 8, 4, 2), {}, {}),
}  # fmt: skip
SEGMENTATION = "Unet UnetPlusPlus MAnet Linknet FPN PSPNet DeepLabV3 DeepLabV3Plus UPerNet Segformer".split()

PLAIN = {"image_size": 64, "num_classes": 10, "dim": 32, "heads": 2}
DEEP = PLAIN | {"patch_size": 16, "depth": 2, "mlp_dim": 64}
#: module of vit_pytorch → its class, arguments and the side of its image
VITS = {
    "vit": ("ViT", DEEP, 64), "simple_vit": ("SimpleViT", DEEP, 64), "deepvit": ("DeepViT", DEEP, 64), "rvt": ("RvT", DEEP, 64),
    "parallel_vit": ("ViT", DEEP, 64), "vit_for_small_dataset": ("ViT", DEEP, 64), "cvt": ("CvT", {"num_classes": 10}, 64),
    "simple_vit_with_register_tokens": ("SimpleViT", DEEP, 64), "ats_vit": ("ViT", DEEP | {"max_tokens_per_depth": (16, 8)}, 64),
    "pit": ("PiT", PLAIN | {"patch_size": 8, "depth": (2, 1), "mlp_dim": 64}, 64),
    "cross_vit": ("CrossViT", {"image_size": 64, "num_classes": 10, "sm_dim": 32, "lg_dim": 32, "sm_patch_size": 8, "lg_patch_size": 16}, 64),
    "nest": ("NesT", PLAIN | {"patch_size": 4, "num_hierarchies": 3, "block_repeats": (1, 1, 1)}, 64),
    "regionvit": ("RegionViT", {"dim": (16, 32, 32, 64), "depth": (1, 1, 1, 1), "num_classes": 10}, 224),
}  # fmt: skip


def graph(name):
    import torch
    import torch_geometric.nn

    arguments, named, more = GRAPHS[name]
    made = {
        "randn": lambda n: torch.randn(EDGES, n), "rand": lambda n: torch.rand(EDGES, n),
        "kinds": lambda n: torch.randint(0, n, (EDGES,)), "nodes": lambda n: torch.randn(NODES, n),
    }  # fmt: skip
    inputs = {key: made[how](n) for key, (n, how) in more.items()}
    x, edges = torch.randn(NODES, WIDTH), torch.randint(0, NODES, (2, EDGES))
    return getattr(torch_geometric.nn, name)(*arguments, **named), {"x": x, **inputs, "edge_index": edges}


def segmentation(name):
    import segmentation_models_pytorch
    import torch

    return getattr(segmentation_models_pytorch, name)("resnet18", encoder_weights=None), {"x": torch.randn(1, 3, 64, 64)}


def vit(name):
    import importlib
    import inspect

    import torch

    kind, arguments, side = VITS[name]
    model = getattr(importlib.import_module(f"vit_pytorch.{name}"), kind)(**arguments)
    first = next(iter(inspect.signature(model.forward).parameters))
    return model, {first: torch.randn(1, 3, side, side)}


LIBRARIES = {f"{library}/{name}": partial(make, name)
             for library, names, make in (("torch_geometric", GRAPHS, graph), ("segmentation", SEGMENTATION, segmentation),
                                          ("vit_pytorch", VITS, vit)) for name in names}  # fmt: skip
