"""Writes ``.pt2`` files of any number of nodes, without PyTorch.

    python3 make_large.py NODES OUTPUT.pt2 [--template FILE.pt2]

The template is a one-layer GPT-2 that torch.export wrote; its block is copied with new names and
chained until the graph has about NODES nodes. The file therefore has the form of torch's own files:
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
    """The template's layer ``h.0``, its own names, and copies of them."""

    LAYER, ENTRY = "@layer@", "@entry@"  # the parts that differ between copies

    def __init__(self, nodes: list[dict]):
        own = [n for n in nodes if ",h.0," in n["metadata"]["nn_module_stack"]]
        self.size = len(own)
        self.first = nodes.index(own[0])
        self.entry = own[0]["inputs"][0]["arg"]["as_tensor"]["name"]
        self.exit = own[-1]["outputs"][0]["as_tensor"]["name"]
        self.values = {name for node in own for name in output_names(node)}
        names = "|".join(sorted(self.values, key=len, reverse=True))
        self._replacements = [
            (rf'"name": "{self.entry}"', f'"name": "{self.ENTRY}"'),
            (rf'"name": "({names})"', rf'"name": "\1__{self.LAYER}"'),
            (rf'"({names})": \{{', rf'"\1__{self.LAYER}": {{'),  # of a table
            (r"\bh\.0\b", f"h.{self.LAYER}"),
            (r"L__self__h\.0", f"L__self__h.{self.LAYER}"),
            (r'"p_h_0_', f'"p_h_{self.LAYER}_'),
        ]

    def copies(self, items: list | dict, layers: int):
        """The texts of the items once for each layer, renamed. A layer reads the result of the preceding layer."""
        text = json.dumps(items)[1:-1]
        for pattern, replacement in self._replacements:
            text = re.sub(pattern, replacement, text)
        for layer in range(layers):
            named = text.replace(self.LAYER, str(layer))
            yield named.replace(self.ENTRY, self.exit_of(layer - 1))

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


class Growing:
    """A JSON document in which the items of the block are repeated in place, once for each layer. The repeated text is
    made in pieces while it is written: a million nodes are 1.6 GB of text."""

    def __init__(self, block: Block, layers: int):
        self.block, self.layers = block, layers
        self._own: list[list | dict] = []

    def repeat(self, items: list, is_own) -> list:
        first = next(i for i, item in enumerate(items) if is_own(item))
        self._own.append([item for item in items if is_own(item)])
        rest = [item for item in items if not is_own(item)]
        return rest[:first] + [f"@repeated {len(self._own) - 1}@"] + rest[first:]

    def repeat_keys(self, table: dict, is_own) -> dict:
        """Like ``repeat``, for an object: ``tensor_values`` and the weight table."""
        first = next(i for i, key in enumerate(table) if is_own(key))
        self._own.append({key: value for key, value in table.items() if is_own(key)})
        rest = [(key, value) for key, value in table.items() if not is_own(key)]
        mark = (f"@repeated {len(self._own) - 1}@", 0)
        return dict(rest[:first] + [mark] + rest[first:])

    def pieces(self, document):
        """The text of the document, in pieces."""
        text = json.dumps(document)
        for piece in re.split(r'("@repeated \d+@"(?:: 0)?)', text):
            mark = re.match(r'"@repeated (\d+)@"', piece)
            if not mark:
                yield piece
                continue
            copies = self.block.copies(self._own[int(mark[1])], self.layers)
            for i, copy in enumerate(copies):
                yield (", " if i else "") + copy


def grow(model: dict, weights: dict, nodes: int) -> tuple[Growing, int]:
    """Changes the template's two JSON documents; returns their writers and the number of nodes."""
    graph = model["graph_module"]["graph"]
    signature = model["graph_module"]["signature"]
    block = Block(graph["nodes"])
    layers = max(1, round((nodes - len(graph["nodes"]) + block.size) / block.size))
    made = len(graph["nodes"]) + (layers - 1) * block.size
    growing = Growing(block, layers)

    def is_own_input(item):
        return item["as_tensor"]["name"].startswith("p_h_0_")

    def is_own_spec(item):
        return item.get("parameter", {}).get("parameter_name", "").startswith("h.0.")

    tail = graph["nodes"][block.first + block.size]  # reads the last layer
    tail["inputs"][0]["arg"]["as_tensor"]["name"] = block.exit_of(layers - 1)
    graph["nodes"] = growing.repeat(
        graph["nodes"], lambda n: ",h.0," in n["metadata"]["nn_module_stack"]
    )
    graph["inputs"] = growing.repeat(graph["inputs"], is_own_input)
    graph["tensor_values"] = growing.repeat_keys(
        graph["tensor_values"], lambda name: name in block.values or name.startswith("p_h_0_")
    )
    signature["input_specs"] = growing.repeat(signature["input_specs"], is_own_spec)
    model["graph_module"]["module_call_graph"] = growing.repeat(
        model["graph_module"]["module_call_graph"],
        lambda call: call["fqn"] == "h.0" or call["fqn"].startswith("h.0."),
    )
    weights["config"] = growing.repeat_keys(
        weights["config"], lambda name: name.startswith("h.0.")
    )
    return growing, made


def write_aligned(archive: zipfile.ZipFile, name: str, pieces) -> None:
    """Stores a record with its data at a multiple of 64 bytes: an extra field "FB" fills the gap."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    data_start = archive.fp.tell() + 30 + len(name.encode()) + 4
    padding = -data_start % ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    with archive.open(info, "w") as entry:
        for piece in pieces:
            entry.write(piece)


def write_large(nodes: int, output: Path, template: Path = TEMPLATE) -> int:
    """Returns the number of nodes, the nearest that whole layers permit."""
    with zipfile.ZipFile(template) as source:
        root = source.namelist()[0].split("/")[0]
        entries = {n.removeprefix(f"{root}/"): source.read(n) for n in source.namelist()}
    documents = {
        name: json.loads(entries[name])
        for name in ("models/model.json", "data/weights/model_weights_config.json")
    }
    growing, made = grow(*documents.values(), nodes)
    with zipfile.ZipFile(output, "w") as archive:
        for name, data in entries.items():
            texts = growing.pieces(documents[name]) if name in documents else ()
            pieces = (text.encode() for text in texts) if name in documents else [data]
            write_aligned(archive, f"{output.stem}/{name}", pieces)
    return made


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
