"""All of torchvision's models except the quantized ones, at the sizes of their published `_ops`.

The sizes follow torchvision's test/test_extended_models.py and common_extended_utils.py: the output of the
weights' preprocessing for 512 × 512, 16 frames for video, a table of sizes for detection.
"""

from table import Entry, Input

CLASSIFICATION = """
alexnet convnext_tiny convnext_small convnext_base convnext_large
densenet121 densenet161 densenet169 densenet201
efficientnet_b0 efficientnet_b1@240 efficientnet_b2@288 efficientnet_b3@300 efficientnet_b4@380
efficientnet_b5@456 efficientnet_b6@528 efficientnet_b7@600
efficientnet_v2_s@384 efficientnet_v2_m@480 efficientnet_v2_l@480
googlenet inception_v3@299 maxvit_t mnasnet0_5 mnasnet0_75 mnasnet1_0 mnasnet1_3
mobilenet_v2 mobilenet_v3_large mobilenet_v3_small
regnet_y_400mf regnet_y_800mf regnet_y_1_6gf regnet_y_3_2gf regnet_y_8gf regnet_y_16gf
regnet_y_32gf regnet_y_128gf
regnet_x_400mf regnet_x_800mf regnet_x_1_6gf regnet_x_3_2gf regnet_x_8gf regnet_x_16gf regnet_x_32gf
resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d resnext101_64x4d
wide_resnet50_2 wide_resnet101_2
shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0
squeezenet1_0 squeezenet1_1 swin_t swin_s swin_b swin_v2_t@256 swin_v2_s@256 swin_v2_b@256
vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn
vit_b_16 vit_b_32 vit_l_16 vit_l_32 vit_h_14
""".split()

#: The same builders at the size of their other weights.
LARGER = "regnet_y_16gf@384 regnet_y_32gf@384 regnet_y_128gf@384 vit_b_16@384 vit_l_16@512 vit_h_14@518".split()

#: As for the published values: without GoogLeNet's auxiliary heads, with those of the segmentation models.
OPTIONS = {
    "googlenet": {"aux_logits": False, "init_weights": False},
    "inception_v3": {"init_weights": False},
    "fcn_resnet50": {"aux_loss": True},
    "fcn_resnet101": {"aux_loss": True},
    "deeplabv3_resnet50": {"aux_loss": True},
    "deeplabv3_resnet101": {"aux_loss": True},
    "deeplabv3_mobilenet_v3_large": {"aux_loss": True},
}

DETECTION = {
    "fasterrcnn_resnet50_fpn": 800,
    "fasterrcnn_resnet50_fpn_v2": 800,
    "fasterrcnn_mobilenet_v3_large_fpn": 800,
    "fasterrcnn_mobilenet_v3_large_320_fpn": 320,
    "fcos_resnet50_fpn": 800,
    "keypointrcnn_resnet50_fpn": 1333,
    "maskrcnn_resnet50_fpn": 800,
    "maskrcnn_resnet50_fpn_v2": 800,
    "retinanet_resnet50_fpn": 800,
    "retinanet_resnet50_fpn_v2": 800,
    "ssd300_vgg16": 300,
    "ssdlite320_mobilenet_v3_large": 320,
}
SEGMENTATION = """
deeplabv3_resnet50 deeplabv3_resnet101 deeplabv3_mobilenet_v3_large
fcn_resnet50 fcn_resnet101 lraspp_mobilenet_v3_large
""".split()
VIDEO = {
    "mvit_v1_b": 224, "mvit_v2_s": 224, "r3d_18": 112, "mc3_18": 112, "r2plus1d_18": 112,
    "s3d": 224, "swin3d_t": 224, "swin3d_s": 224, "swin3d_b": 224,
}  # fmt: skip
FRAMES = 16


def entries() -> list[Entry]:
    rows = [classifier(text, name=text.split("@")[0]) for text in CLASSIFICATION]
    rows += [classifier(text, name=text) for text in LARGER]
    for name, size in DETECTION.items():
        rows.append(entry(name, "detection", Input((3, size, size), name="images", listed=True), on_cpu=True))
    rows += [entry(name, "segmentation", Input((1, 3, 520, 520))) for name in SEGMENTATION]
    for name, size in VIDEO.items():
        rows.append(entry(name, "video", Input((1, 3, FRAMES, size, size))))
    for name in ("raft_large", "raft_small"):
        rows.append(entry(name, "optical flow", *[Input((1, 3, 512, 512))] * 2))
    return rows


def classifier(text: str, name: str) -> Entry:
    builder, _, size = text.partition("@")
    size = int(size or 224)
    # A vision transformer has a position for each patch, so it is built for one size.
    options = {"image_size": size} if builder.startswith("vit") and size != 224 else {}
    return entry(name, "classification", Input((1, 3, size, size)), builder=builder, **options)


def entry(name, group, *inputs, builder="", on_cpu=False, **options) -> Entry:
    builder = builder or name
    return Entry("torchvision", name, builder, OPTIONS.get(builder, {}) | options, inputs, on_cpu, group=group)
