"""An exported program as text: what torch.export.save writes of one whose sizes are all fixed."""

from __future__ import annotations

import inspect
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .arguments import Example
from .exporting import Product, Products
from .note import NOTE


class Unfit(Exception):
    """torch.export is needed: its program can express what this one cannot."""


# Numbers of torch/_export/serde/schema.py, which do not change.
_DTYPES = {
    torch.uint8: 1,
    torch.int8: 2,
    torch.int16: 3,
    torch.int32: 4,
    torch.int64: 5,
    torch.float16: 6,
    torch.float32: 7,
    torch.float64: 8,
    torch.complex32: 9,
    torch.complex64: 10,
    torch.complex128: 11,
    torch.bool: 12,
    torch.bfloat16: 13,
}
_LAYOUTS = {torch.strided: 7}
_MEMORY_FORMATS = {
    torch.contiguous_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
    torch.preserve_format: 4,
}
_SCHEMA = {"major": 8, "minor": 0}

#: Operators that multiply and accumulate, by how their names begin.
_PRODUCTS = (
    "conv",
    "_conv",
    "linear",
    "matmul",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "addbmm",
    "mv",
    "addmv",
    "dot",
    "einsum",
    "bilinear",
    "tensordot",
    "scaled_dot_product",
    "_scaled_dot_product",
    "_grouped_mm",
    "grouped_mm",
    "lstm",
    "gru",
    "rnn_",
    "_native_multi_head",
    "_transformer_encoder",
)


def is_product(operator: str) -> bool:
    return operator.partition("::")[2].startswith(_PRODUCTS)


_DETACH = torch.ops.aten.detach.default


@dataclass
class Row:
    """One operator: its arguments, its modules, its line."""

    operator: Any
    arguments: list[dict[str, Any]]
    stack: str
    place: str
    outputs: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        namespace, _, name = self.operator._schema.name.partition("::")
        return {
            "target": f"torch.ops.{namespace}.{name}.{self.operator._overloadname}",
            "inputs": self.arguments,
            "outputs": self.outputs,
            "metadata": {"stack_trace": self.place, "nn_module_stack": self.stack},
            "is_hop_single_tensor_return": None,
        }


def _number(table: dict[Any, int], value: Any) -> int:
    if value not in table:
        raise Unfit(f"{value} has no number")
    return table[value]


def _device(device: torch.device) -> dict[str, Any]:
    return {"type": device.type, "index": device.index}


def _meta(tensor: torch.Tensor) -> dict[str, Any]:
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise Unfit("a tensor is sparse or quantized")
    sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
    if not all(type(n) is int for n in (*sizes, *strides)):
        raise Unfit("a size is open")
    return {
        "dtype": _number(_DTYPES, tensor.dtype),
        "sizes": [{"as_int": n} for n in sizes],
        "requires_grad": tensor.requires_grad,
        "device": _device(tensor.device),
        "strides": [{"as_int": n} for n in strides],
        "storage_offset": {"as_int": int(tensor.storage_offset())},
        "layout": 7,
    }


#: Of a tensor that an operator made: its name. An attribute, as a second reference to what
#: torch.arange and its like return would make torch hand a copy to the model.
_NAME = "_tmeter_name"


class Program:
    """Grows by rows."""

    def __init__(
        self, model: nn.Module, example: Example, names: Any, path: Callable[[], str]
    ) -> None:
        self._model, self._names, self._path = model, names, path
        self._lifted = 0
        self._alive: list[Any] = []  # so that what is known by its id keeps it
        self._placeholder_of: dict[int, str] = {}
        self._values: dict[str, Any] = {}
        self._inputs: list[str] = []
        self._specs: list[dict[str, Any]] = []
        self._stored: dict[str, tuple[torch.Tensor, bool]] = {}  # by name: parameter or not
        self._constants: dict[str, torch.Tensor] = {}
        self._rows: list[Row] = []
        self._outputs: list[str] = []
        self._attributes = _tensor_attributes(model)
        self._add_weights()
        self._users = self._user_inputs(example)

    # What goes in.

    def _add_weights(self) -> None:
        for name, parameter in self._model.named_parameters(remove_duplicate=False):
            argument = self._placeholder(parameter, f"p_{name}")
            self._stored[name] = parameter, True
            self._specs.append({"parameter": {"arg": {"name": argument}, "parameter_name": name}})
        for name, buffer in self._model.named_buffers(remove_duplicate=False):
            argument = self._placeholder(buffer, f"b_{name}")
            owner, _, own = name.rpartition(".")
            module = self._model.get_submodule(owner)
            persistent = own not in module._non_persistent_buffers_set
            if persistent:
                self._stored[name] = buffer, False
            else:
                self._constants[name] = buffer
            spec = {"arg": {"name": argument}, "buffer_name": name, "persistent": persistent}
            self._specs.append({"buffer": spec})

    def _user_inputs(self, example: Example) -> list[tuple[str, Any]]:
        signature = inspect.signature(self._model.forward)
        bound = signature.bind(*example.args, **example.kwargs)
        found: list[tuple[str, Any]] = []
        for name, value in bound.arguments.items():
            kind = signature.parameters[name].kind
            if kind == inspect.Parameter.VAR_KEYWORD:
                found += value.items()
            elif kind == inspect.Parameter.VAR_POSITIONAL and value:
                raise Unfit("forward takes *args")
            elif kind != inspect.Parameter.VAR_POSITIONAL:
                found.append((name, value))
        if not all(isinstance(value, torch.Tensor) for _, value in found):
            raise Unfit("an input is not a tensor")
        for name, value in found:
            self._placeholder(value, name)
        return found

    def _placeholder(self, tensor: torch.Tensor, name: str) -> str:
        given = name.replace(".", "_")
        free: str = self._names.create_name(given, None)
        if given in self._values:  # names of Python (`input`) stay as they are
            given = free
        self._alive.append(tensor)
        self._placeholder_of[id(tensor)] = given  # of a tied one the last name, as torch.export
        self._values[given] = _meta(tensor)
        self._inputs.append(given)
        return given

    def _constant(self, tensor: torch.Tensor) -> str:
        """A tensor that the model has as an attribute, or makes of numbers of its own."""
        if isinstance(tensor, torch._subclasses.FakeTensor) or type(tensor) not in (
            torch.Tensor,
            nn.Parameter,
        ):
            raise Unfit(f"a {type(tensor).__name__} comes from nowhere")
        name = self._attributes.get(id(tensor)) or self._lifted_name()
        argument = self._placeholder(tensor, f"c_{name}")
        self._constants[name] = tensor
        spec = {"arg": {"name": argument}, "tensor_constant_name": name}
        self._specs.append({"tensor_constant": spec})
        return argument

    def _lifted_name(self) -> str:
        owner = self._path()
        self._lifted += 1
        return f"{owner}.lifted_tensor_{self._lifted - 1}".lstrip(".")

    # What is done.

    def arguments(self, operator: Any, args: Any, kwargs: Any) -> list[dict[str, Any]]:
        out = []
        for i, wanted in enumerate(operator._schema.arguments):
            if wanted.name in kwargs:
                value, kind = kwargs[wanted.name], 2
            elif not wanted.kwarg_only and i < len(args):
                value, kind = args[i], 1
            else:
                continue
            out.append({"name": wanted.name, "arg": self._argument(value, wanted), "kind": kind})
        return out

    def _argument(self, value: Any, wanted: Any) -> dict[str, Any]:
        if isinstance(value, torch.Tensor):
            return {"as_tensor": self._tensor(value)}
        if isinstance(value, (list, tuple)):
            return self._list(value, str(wanted.type))
        return _plain(value)

    def _tensor(self, tensor: torch.Tensor) -> dict[str, str]:
        name = getattr(tensor, _NAME, None) or self._placeholder_of.get(id(tensor))
        return {"name": name or self._constant(tensor)}

    def _list(self, items: Any, wanted: str) -> dict[str, Any]:
        if "Optional[Tensor]" in wanted:
            none = {"as_none": True}
            return {
                "as_optional_tensors": [
                    none if x is None else {"as_tensor": self._tensor(x)} for x in items
                ]
            }
        if "Tensor" in wanted:
            return {"as_tensors": [self._tensor(x) for x in items]}
        for kind, name in ((bool, "as_bools"), (int, "as_ints"), (float, "as_floats")):
            if all(type(x) is kind for x in items) and (items or kind is int):
                return {name: list(items)}
        if all(type(x) in (int, float) for x in items):
            return {"as_floats": [float(x) for x in items]}
        if all(type(x) is str for x in items):
            return {"as_strings": list(items)}
        raise Unfit(f"an argument is a list of {type(items[0]).__name__}")

    def add(self, row: Row, result: Any) -> None:
        base = row.operator._schema.name.partition("::")[2]
        if base.startswith("__") and base.endswith("__"):
            base = base[2:-2]
        own: str = self._names.create_name(base, None)
        if result is None or isinstance(result, torch.Tensor):
            row.outputs = [] if result is None else [self._made(own, result)]
        elif isinstance(result, (list, tuple)):
            whole = len(row.operator._schema.returns) == 1
            made = [self._item(x) for x in result]
            row.outputs = [{"as_tensors": [m["as_tensor"] for m in made]}] if whole else made
        else:
            raise Unfit(f"{row.operator} gives a {type(result).__name__}")
        self._rows.append(row)

    def _item(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, torch.Tensor):
            raise Unfit(f"an operator gives a {type(value).__name__} among others")
        return self._made(self._names.create_name("getitem", None), value)

    def _made(self, name: str, tensor: torch.Tensor) -> dict[str, Any]:
        """An operator that changes its argument gives it a new name."""
        if not isinstance(tensor, torch._subclasses.FakeTensor):
            raise Unfit("an operator gives a tensor that is not fake")
        setattr(tensor, _NAME, name)
        self._values[name] = _meta(tensor)
        return {"as_tensor": {"name": name}}

    # What comes out.

    def finish(self, outputs: tuple[torch.Tensor, ...]) -> None:
        self._outputs = [self._tensor(tensor)["name"] for tensor in outputs]
        used = set(self._outputs)
        kept = []
        for row in reversed(self._rows):
            made = {o["as_tensor"]["name"] for o in row.outputs if "as_tensor" in o}
            if row.operator is _DETACH and not made & used:
                continue  # as torch.export does
            used.update(_names_in(row.arguments))
            kept.append(row)
        self._rows = kept[::-1]

    def products(self) -> Products:
        """What is multiplied: comparable between programs of one model."""
        return Counter(
            Product(row.operator._schema.name, self._operands(row), self._made_sizes(row))
            for row in self._rows
            if is_product(row.operator._schema.name)
        )

    def steps(self) -> list[tuple[str, str, tuple[tuple[int, ...], ...]]]:
        """Each operator, its modules, and the sizes of its results."""
        found = []
        for row in self._rows:
            made = [o for given in row.outputs for o in given.get("as_tensors", [given.get("as_tensor")])]
            sizes = tuple(self._sizes(o["name"]) for o in made if o)
            found.append((row.operator._schema.name, row.stack, sizes))
        return found

    def _operands(self, row: Row) -> tuple[tuple[int, ...], ...]:
        """Without what is only added."""
        added = ("attn_mask", "bias", "out")
        kept = (a["arg"] for a in row.arguments if a["name"] not in added)
        names = (argument.get("as_tensor", {}).get("name") for argument in kept)
        return tuple(self._sizes(name) for name in names if name)

    def _made_sizes(self, row: Row) -> tuple[int, ...]:
        made = row.outputs[0].get("as_tensor") if row.outputs else None
        return self._sizes(made["name"]) if made else ()

    def _sizes(self, name: str) -> tuple[int, ...]:
        return tuple(n["as_int"] for n in self._values[name]["sizes"])

    def save(self, path: Path, note: str) -> None:
        """Without the elements of weights; ties still show."""
        users = [{"user_input": {"arg": {"as_tensor": {"name": n}}}} for n in self._user_names()]
        tensors = [{"as_tensor": {"name": name}} for name in self._in_order()]
        outputs = [{"as_tensor": {"name": name}} for name in self._outputs]
        graph = {
            "inputs": tensors,
            "outputs": outputs,
            "nodes": [row.as_json() for row in self._rows],
            "tensor_values": self._values,
            "sym_int_values": {},
            "sym_bool_values": {},
            "is_single_tensor_return": False,
            "custom_obj_values": {},
            "sym_float_values": {},
        }
        signature = {
            "input_specs": [*self._specs, *users],
            "output_specs": [{"user_output": {"arg": out}} for out in outputs],
        }
        calls = [{"fqn": path, "signature": None} for path, _ in self._model.named_modules()]
        document = {
            "graph_module": {
                "graph": graph,
                "signature": signature,
                "module_call_graph": calls,
                "metadata": {},
                "treespec_namedtuple_fields": {},
            },
            "opset_version": {"aten": 10},
            "range_constraints": {},
            "schema_version": _SCHEMA,
            "verifiers": ["TRAINING"],
            "torch_version": torch.__version__,
            "guards_code": [],
        }
        constants = {name: (t, False) for name, t in self._constants.items()}
        with zipfile.ZipFile(path, "w") as archive:

            def write(name: str, content: Any) -> None:
                text = content if isinstance(content, (str, bytes)) else json.dumps(content)
                archive.writestr(f"{path.stem}/{name}", text)

            write("archive_format", "pt2")
            write("archive_version", "0")
            write("byteorder", sys.byteorder)
            write(NOTE, note)
            write("models/model.json", document)
            for folder, table, prefix in (
                ("weights", self._stored, "weight"),
                ("constants", constants, "tensor"),
            ):
                config, records = _config(table, prefix)
                write(f"data/{folder}/model_{folder}_config.json", {"config": config})
                for name, content in records.items():
                    write(f"data/{folder}/{name}", content)

    def _user_names(self) -> list[str]:
        return [self._placeholder_of[id(value)] for _, value in self._users]

    def _in_order(self) -> list[str]:
        users = set(self._user_names())
        return [n for n in self._inputs if n not in users] + self._user_names()


def _plain(value: Any) -> dict[str, Any]:
    if value is None:
        return {"as_none": True}
    for kind, name in ((bool, "as_bool"), (int, "as_int"), (float, "as_float"), (str, "as_string")):
        if type(value) is kind:
            return {name: value}
    if isinstance(value, torch.dtype):
        return {"as_scalar_type": _number(_DTYPES, value)}
    if isinstance(value, torch.device):
        return {"as_device": _device(value)}
    if isinstance(value, torch.layout):
        return {"as_layout": _number(_LAYOUTS, value)}
    if isinstance(value, torch.memory_format):
        return {"as_memory_format": _number(_MEMORY_FORMATS, value)}
    if isinstance(value, complex):
        return {"as_complex": {"real": value.real, "imag": value.imag}}
    raise Unfit(f"an argument is a {type(value).__name__}")


def _names_in(arguments: list[dict[str, Any]]) -> set[str]:
    found: set[str] = set()
    for argument in arguments:
        for kind, value in argument["arg"].items():
            if kind == "as_tensor":
                found.add(value["name"])
            elif kind == "as_tensors":
                found.update(x["name"] for x in value)
            elif kind == "as_optional_tensors":
                found.update(x["as_tensor"]["name"] for x in value if "as_tensor" in x)
    return found


def _tensor_attributes(model: nn.Module) -> dict[int, str]:
    found: dict[int, str] = {}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.setdefault(id(value), f"{path}.{name}" if path else name)
    return found


#: Tensors that are tied share a record; the others all refer to this, which is empty.
_NONE = "none"


def _config(
    table: dict[str, tuple[torch.Tensor, bool]], prefix: str
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """No elements, but one for tensors that are tied."""
    names = Counter(id(tensor) for tensor, _ in table.values())
    records: dict[int, str] = {}
    contents: dict[str, bytes] = {}
    config = {}
    for name, (tensor, is_parameter) in table.items():
        record, elements = _NONE, 0
        if names[id(tensor)] > 1:
            record, elements = records.setdefault(id(tensor), f"{prefix}_{len(records)}"), 1
        contents[record] = bytes(elements * tensor.element_size())
        meta = _meta(tensor) | {
            "strides": [{"as_int": 0}] * tensor.dim(),
            "storage_offset": {"as_int": 0},
        }
        config[name] = {
            "path_name": record,
            "is_param": is_parameter,
            "use_pickle": False,
            "tensor_meta": meta,
        }
    return config, contents
