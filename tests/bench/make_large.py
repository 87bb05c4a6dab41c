"""Writes ``.pt2`` files of any number of nodes, without PyTorch.

    python3 make_large.py NODES OUTPUT.pt2 [--template FILE.pt2]

The template is a one-layer GPT-2 that torch.export wrote; its block is copied with new names and
chained until the graph has about NODES nodes. So the file has exactly the shape torch writes:
per-node metadata, parameter table, weightless records, stored entries aligned to 64 bytes.
"""

import argparse
import json
import re
import zipfile
from pathlib import Path

TEMPLATE = (
    Path(__file__).parent.parent / "fixtures/models/versions/gpt2_like.torch2.15.pt2"
)
ALIGNMENT = 64


class Block:
    """The template's layer ``h.0``: knows which names are its own and makes copies of them."""

    LAYER, ENTRY = "@layer@", "@entry@"  # what a copy fills in

    def __init__(self, nodes: list[dict]):
        own = [n for n in nodes if ",h.0," in n["metadata"]["nn_module_stack"]]
        self.size = len(own)
        self.first = nodes.index(own[0])
        self.entry = own[0]["inputs"][0]["arg"]["as_tensor"]["name"]
        self.exit = own[-1]["outputs"][0]["as_tensor"]["name"]
        self.values = {name for node in own for name in output_names(node)}
        known = "|".join(sorted(self.values, key=len, reverse=True))
        self._replacements = [
            (rf'"name": "{self.entry}"', f'"name": "{self.ENTRY}"'),
            (rf'"(name|key)": "({known})"', rf'"\1": "\2__{self.LAYER}"'),
            (r"\bh\.0\b", f"h.{self.LAYER}"),
            (r"L__self__h\.0", f"L__self__h.{self.LAYER}"),
            (r'"p_h_0_', f'"p_h_{self.LAYER}_'),
        ]

    def copies(self, items: list, layers: int):
        """The items once for each layer, renamed; a layer reads the result of the one before."""
        text = json.dumps(items)
        for pattern, replacement in self._replacements:
            text = re.sub(pattern, replacement, text)
        for layer in range(layers):
            named = text.replace(self.LAYER, str(layer))
            yield from json.loads(named.replace(self.ENTRY, self.exit_of(layer - 1)))

    def exit_of(self, layer: int) -> str:
        return f"{self.exit}__{layer}" if layer >= 0 else self.entry


def output_names(node: dict) -> list[str]:
    names = []
    for output in node["outputs"]:
        if "as_tensor" in output:
            names.append(output["as_tensor"]["name"])
        else:
            names += [tensor["name"] for tensor in output["as_tensors"]]
    return names


def repeat(items: list, block: Block, layers: int, is_own) -> list:
    """The items of the block are repeated for each layer, where they stand; others stay."""
    first = next(i for i, item in enumerate(items) if is_own(item))
    own = [item for item in items if is_own(item)]
    rest = [item for item in items if not is_own(item)]
    return rest[:first] + list(block.copies(own, layers)) + rest[first:]


def repeat_keys(table: dict, block: Block, layers: int, is_own) -> dict:
    """As ``repeat``, for an object: ``tensor_values`` and the weight table."""
    items = [{"key": key, "value": value} for key, value in table.items()]
    repeated = repeat(items, block, layers, lambda item: is_own(item["key"]))
    return {item["key"]: item["value"] for item in repeated}


def grow(model: dict, weights: dict, nodes: int) -> tuple[dict, dict]:
    """The template's two JSON documents for about ``nodes`` nodes."""
    graph = model["graph_module"]["graph"]
    signature = model["graph_module"]["signature"]
    block = Block(graph["nodes"])
    layers = max(1, round((nodes - len(graph["nodes"]) + block.size) / block.size))

    def is_own_input(item):
        return item["as_tensor"]["name"].startswith("p_h_0_")

    def is_own_spec(item):
        return item.get("parameter", {}).get("parameter_name", "").startswith("h.0.")

    tail = graph["nodes"][block.first + block.size]  # reads the last layer
    tail["inputs"][0]["arg"]["as_tensor"]["name"] = block.exit_of(layers - 1)
    graph["nodes"] = repeat(
        graph["nodes"], block, layers, lambda n: ",h.0," in n["metadata"]["nn_module_stack"]
    )
    graph["inputs"] = repeat(graph["inputs"], block, layers, is_own_input)
    graph["tensor_values"] = repeat_keys(
        graph["tensor_values"], block, layers,
        lambda name: name in block.values or name.startswith("p_h_0_"),
    )
    signature["input_specs"] = repeat(signature["input_specs"], block, layers, is_own_spec)
    model["graph_module"]["module_call_graph"] = repeat(
        model["graph_module"]["module_call_graph"], block, layers,
        lambda call: call["fqn"] == "h.0" or call["fqn"].startswith("h.0."),
    )
    weights["config"] = repeat_keys(
        weights["config"], block, layers, lambda name: name.startswith("h.0.")
    )
    return model, weights


def write_aligned(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Stored, its data on a multiple of 64 bytes: an extra field "FB" fills the gap."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    data_start = archive.fp.tell() + 30 + len(name.encode()) + 4
    padding = -data_start % ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    archive.writestr(info, data)


def write_large(nodes: int, output: Path, template: Path = TEMPLATE) -> int:
    """Returns the number of nodes, which is the nearest a whole number of layers allows."""
    with zipfile.ZipFile(template) as source:
        root = source.namelist()[0].split("/")[0]
        entries = {n.removeprefix(f"{root}/"): source.read(n) for n in source.namelist()}
    graph_file, weights_file = "models/model.json", "data/weights/model_weights_config.json"
    model, weights = grow(
        json.loads(entries[graph_file]), json.loads(entries[weights_file]), nodes
    )
    entries[graph_file] = json.dumps(model).encode()
    entries[weights_file] = json.dumps(weights).encode()
    with zipfile.ZipFile(output, "w") as archive:
        for name, data in entries.items():
            write_aligned(archive, f"{output.stem}/{name}", data)
    return len(model["graph_module"]["graph"]["nodes"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nodes", type=int)
    parser.add_argument("output", type=Path)
    parser.add_argument("--template", type=Path, default=TEMPLATE)
    options = parser.parse_args()
    nodes = write_large(options.nodes, options.output, options.template)
    print(f"{options.output}: {nodes:,} nodes, {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
