"""Writes an exported program with fixed sizes as text, as torch.export.save does."""

from __future__ import annotations

import inspect
import json
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .arguments import Example
from .export_checks import Product, Products
from .fake_tensor_factory import is_strided
from .modules import named_modules_of
from .note import NOTE
from .operators import Operator


class CaptureError(Exception):
    """This program cannot express the model; torch.export is needed."""


# Numbers of torch/_export/serde/schema.py, which are the same in every version.
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

#: Beginnings of the names of operators that multiply and accumulate.
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
class OperatorArguments:
    """The arguments of an operator.

    Attributes:
        text: the arguments as JSON.
        tensors: the parameter and the name of each tensor.
        in_lists: names of tensors in lists.
    """

    text: str
    tensors: list[tuple[str, str]]
    in_lists: list[str]


@dataclass
class OperatorRow:
    """One operator: its arguments, its modules, its line.

    Attributes:
        stack, source_line: the modules and the source line, as JSON.
        outputs: the results, as JSON.
        results: names of the tensors among the results.
    """

    operator: Operator
    arguments: OperatorArguments
    stack: str
    source_line: str
    outputs: str = ""
    results: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        return (
            f'{{"target":"{self.operator.target}","inputs":[{self.arguments.text}],"outputs":[{self.outputs}],'
            f'"metadata":{{"stack_trace":{self.source_line},"nn_module_stack":{self.stack}}},'
            f'"is_hop_single_tensor_return":null}}'
        )


def _enum_value(table: dict[Any, int], value: Any) -> int:
    if value not in table:
        raise CaptureError(f"{value} has no number")
    return table[value]


#: dtype, sizes, strides, whether it requires a gradient, device, offset.
_Meta = tuple[torch.dtype, tuple[int, ...], tuple[int, ...], bool, torch.device, int]


def _meta(tensor: torch.Tensor) -> _Meta:
    if not is_strided(tensor):
        raise CaptureError("a tensor is sparse or quantized")
    return (
        tensor.dtype,
        tensor.shape,
        tensor.stride(),
        tensor.requires_grad,
        tensor.device,
        tensor.storage_offset(),  # type: ignore[return-value]
    )


def _meta_text(meta: _Meta) -> str:
    dtype, sizes, strides, requires_grad, device, offset = meta
    if not all(type(n) is int for n in (*sizes, *strides, offset)):
        raise CaptureError("a size is open")
    number, requires_grad_text = _enum_value(_DTYPES, dtype), _json_bool(requires_grad)
    return (
        f'{{"dtype":{number},"sizes":{_sizes_text(sizes)},"requires_grad":{requires_grad_text},"device":{_device(device)},'
        f'"strides":{_sizes_text(strides)},"storage_offset":{{"as_int":{offset}}},"layout":7}}'
    )


def _sizes_text(sizes: Iterable[int]) -> str:
    return "[" + ",".join([f'{{"as_int":{n}}}' for n in sizes]) + "]"


def _device(device: torch.device) -> str:
    return json.dumps({"type": device.type, "index": device.index})


#: The function that json.dumps calls; json.dumps takes ten times as long.
_quoted = json.encoder.encode_basestring_ascii


#: The attribute that holds the name of an operator's result. A table would need a second reference, and with one,
#: torch.arange and similar operators hand the model a copy of their result.
_NAME = "_tmeter_name"


class Program:
    """A program that grows by one operator at a time."""

    def __init__(
        self,
        model: nn.Module,
        named_modules: list[tuple[str, nn.Module]],
        example: Example,
        names: Any,
        path: Callable[[], str],
    ) -> None:
        """
        Args:
            named_modules: paths of modules; a module in several places has several.
        """
        self._model, self._namespace, self._current_path = model, names, path
        self._named_modules = named_modules
        self._lifted = 0
        self._referenced: list[Any] = []  # tensors known by their id, which must stay unique
        self._placeholder_of: dict[int, str] = {}
        self._values: dict[str, _Meta] = {}
        self._texts: dict[_Meta, str] = {}
        self._inputs: list[str] = []
        self._specs: list[str] = []
        self._state: dict[str, tuple[torch.Tensor, bool]] = {}  # name → tensor, whether it is a parameter
        self._constants: dict[str, torch.Tensor] = {}
        self._rows: list[OperatorRow] = []
        self._outputs: list[str] = []
        self._attributes = _tensor_attributes(named_modules)
        self._add_weights()
        self._user_input_values = self._user_inputs(example)

    # Inputs.

    def _add_weights(self) -> None:
        for owner, module in self._named_modules:
            for attribute, parameter in module._parameters.items():
                if parameter is not None:
                    name = f"{owner}.{attribute}" if owner else attribute
                    argument = self._placeholder(parameter, f"p_{name}")
                    self._state[name] = parameter, True
                    spec = f'"arg":{{"name":{_quoted(argument)}}},"parameter_name":{_quoted(name)}'
                    self._specs.append(f'{{"parameter":{{{spec}}}}}')
        for owner, module in self._named_modules:
            for attribute, buffer in module._buffers.items():
                if buffer is not None:
                    name = f"{owner}.{attribute}" if owner else attribute
                    self._add_buffer(name, buffer, attribute not in module._non_persistent_buffers_set)

    def _add_buffer(self, name: str, buffer: torch.Tensor, persistent: bool) -> None:
        argument = self._placeholder(buffer, f"b_{name}")
        if persistent:
            self._state[name] = buffer, False
        else:
            self._constants[name] = buffer
        spec = f'"arg":{{"name":{_quoted(argument)}}},"buffer_name":{_quoted(name)},"persistent":{_json_bool(persistent)}'
        self._specs.append(f'{{"buffer":{{{spec}}}}}')

    def _user_inputs(self, example: Example) -> list[tuple[str, Any]]:
        signature = inspect.signature(self._model.forward)
        bound = signature.bind(*example.args, **example.kwargs)
        found: list[tuple[str, Any]] = []
        for name, value in bound.arguments.items():
            kind = signature.parameters[name].kind
            if kind == inspect.Parameter.VAR_KEYWORD:
                found += value.items()
            elif kind == inspect.Parameter.VAR_POSITIONAL and value:
                raise CaptureError("forward takes *args")
            elif kind != inspect.Parameter.VAR_POSITIONAL:
                found.append((name, value))
        if not all(isinstance(value, torch.Tensor) for _, value in found):
            raise CaptureError("an input is not a tensor")
        for name, value in found:
            self._placeholder(value, name)
        return found

    def _placeholder(self, tensor: torch.Tensor, name: str) -> str:
        plain_name = name.replace(".", "_")
        free: str = self._namespace.create_name(plain_name, None)
        if plain_name in self._values:  # a free name stays, even one of Python's (`input`)
            plain_name = free
        self._referenced.append(tensor)
        self._placeholder_of[id(tensor)] = plain_name  # as in torch.export, the last name of a tied tensor wins
        self._note_meta(plain_name, tensor)
        self._inputs.append(plain_name)
        return plain_name

    def _note_meta(self, name: str, tensor: torch.Tensor) -> None:
        """Notes the sizes and type of a tensor. Their text is made once for all equal ones."""
        meta = self._values[name] = _meta(tensor)
        if meta not in self._texts:
            self._texts[meta] = _meta_text(meta)

    def _constant(self, tensor: torch.Tensor) -> str:
        """A tensor that is an attribute of the model, or that the model makes of numbers."""
        if isinstance(tensor, torch._subclasses.FakeTensor) or type(tensor) not in (
            torch.Tensor,
            nn.Parameter,
        ):
            raise CaptureError(f"a {type(tensor).__name__} comes from nowhere")
        name = self._attributes.get(id(tensor)) or self._lifted_name()
        argument = self._placeholder(tensor, f"c_{name}")
        self._constants[name] = tensor
        spec = {"arg": {"name": argument}, "tensor_constant_name": name}
        self._specs.append(json.dumps({"tensor_constant": spec}))
        return argument

    def _lifted_name(self) -> str:
        owner = self._current_path()
        self._lifted += 1
        return f"{owner}.lifted_tensor_{self._lifted - 1}".lstrip(".")

    # Operators.

    def arguments(self, operator: Operator, args: Any, kwargs: Any) -> OperatorArguments:
        texts: list[str] = []
        tensors: list[tuple[str, str]] = []
        in_lists: list[str] = []
        positional = len(args)
        for i, (name, by_name_only, type_name) in enumerate(operator.parameters):
            if name in kwargs:
                value, kind = kwargs[name], 2
            elif i < positional and not by_name_only:
                value, kind = args[i], 1
            else:
                continue
            if isinstance(value, torch.Tensor):
                tensor = self._tensor(value)
                tensors.append((name, tensor))
                text = f'{{"as_tensor":{{"name":{_quoted(tensor)}}}}}'
            elif isinstance(value, (list, tuple)):
                text = self._list(value, type_name, in_lists)
            else:
                text = _scalar_argument(value)
            texts.append(f'{{"name":"{name}","arg":{text},"kind":{kind}}}')
        return OperatorArguments(",".join(texts), tensors, in_lists)

    def _tensor(self, tensor: torch.Tensor) -> str:
        name = getattr(tensor, _NAME, None) or self._placeholder_of.get(id(tensor))
        return name or self._constant(tensor)

    def _list(self, items: Any, type_name: str, in_lists: list[str]) -> str:
        if "Tensor" in type_name:
            names = [None if x is None else self._tensor(x) for x in items]
            present = [name for name in names if name]
            in_lists += present
            if "Optional[Tensor]" in type_name:
                return f'{{"as_optional_tensors":[{",".join(map(_optional_tensor_json, names))}]}}'
            return f'{{"as_tensors":[{",".join(map(_name_json, present))}]}}'
        for kind, name in ((int, "as_ints"), (bool, "as_bools"), (float, "as_floats")):
            if all(type(x) is kind for x in items) and (items or kind is int):
                return f'{{"{name}":{json.dumps(list(items))}}}'
        if all(type(x) in (int, float) for x in items):
            return f'{{"as_floats":{json.dumps([float(x) for x in items])}}}'
        if all(type(x) is str for x in items):
            return f'{{"as_strings":{json.dumps(list(items))}}}'
        raise CaptureError(f"an argument is a list of {type(items[0]).__name__}")

    def add(self, row: OperatorRow, result: Any) -> None:
        own_name: str = self._namespace.create_name(row.operator.base, None)
        if result is None or isinstance(result, torch.Tensor):
            results = [] if result is None else [(own_name, result)]
        elif isinstance(result, (list, tuple)):
            results = [self._item(x) for x in result]
        else:
            raise CaptureError(f"{row.operator.overload} gives a {type(result).__name__}")
        for name, tensor in results:
            self._add_result(name, tensor)
        row.results = [name for name, _ in results]
        if isinstance(result, (list, tuple)) and row.operator.gives_list:
            row.outputs = f'{{"as_tensors":[{",".join(map(_name_json, row.results))}]}}'
        else:
            row.outputs = ",".join([f'{{"as_tensor":{_name_json(name)}}}' for name in row.results])
        self._rows.append(row)

    def _item(self, value: Any) -> tuple[str, torch.Tensor]:
        if not isinstance(value, torch.Tensor):
            raise CaptureError(f"an operator gives a {type(value).__name__} among others")
        return self._namespace.create_name("getitem", None), value

    def _add_result(self, name: str, tensor: torch.Tensor) -> None:
        """Names a result. The result of an in-place operator gets a new name."""
        if not isinstance(tensor, torch._subclasses.FakeTensor):
            raise CaptureError("an operator gives a tensor that is not fake")
        setattr(tensor, _NAME, name)
        self._note_meta(name, tensor)

    # Outputs.

    def finish(self, outputs: tuple[torch.Tensor, ...]) -> None:
        self._outputs = [self._tensor(tensor) for tensor in outputs]
        used = set(self._outputs)
        used_rows = []
        for row in reversed(self._rows):
            if row.operator.overload is _DETACH and used.isdisjoint(row.results):
                continue  # as torch.export does
            used.update([name for _, name in row.arguments.tensors], row.arguments.in_lists)
            used_rows.append(row)
        self._rows = used_rows[::-1]

    def products(self) -> Products:
        """The products of the program, comparable between programs of one model."""
        return Counter(
            Product(row.operator.name, self._operands(row), self._sizes(row.results[0]) if row.results else ())
            for row in self._rows
            if is_product(row.operator.name)
        )

    def steps(self) -> list[tuple[str, str, tuple[tuple[int, ...], ...]]]:
        """Each operator, its modules, and the sizes of its results."""
        return [(row.operator.name, row.stack, self._result_sizes(row)) for row in self._rows]

    def _operands(self, row: OperatorRow) -> tuple[tuple[int, ...], ...]:
        """Sizes of the operands, without those that are only added."""
        added = ("attn_mask", "bias", "out")
        return tuple(self._sizes(name) for of, name in row.arguments.tensors if of not in added)

    def _result_sizes(self, row: OperatorRow) -> tuple[tuple[int, ...], ...]:
        return tuple(self._sizes(name) for name in row.results)

    def _sizes(self, name: str) -> tuple[int, ...]:
        return tuple(self._values[name][1])

    def save(self, path: Path, note: str) -> None:
        """Writes the program without the elements of weights; ties are kept."""
        user_inputs = self._user_input_names()
        specs = [
            *self._specs,
            *(f'{{"user_input":{{"arg":{{"as_tensor":{_name_json(n)}}}}}}}' for n in user_inputs),
        ]
        inputs = [f'{{"as_tensor":{_name_json(n)}}}' for n in self._in_order(user_inputs)]
        outputs = [f'{{"as_tensor":{_name_json(n)}}}' for n in self._outputs]
        values = [f"{_quoted(name)}:{self._texts[meta]}" for name, meta in self._values.items()]
        calls = [{"fqn": path, "signature": None} for path, _ in named_modules_of(self._model)]
        graph = (
            f'{{"inputs":[{",".join(inputs)}],"outputs":[{",".join(outputs)}],'
            f'"nodes":[{",".join([row.as_json() for row in self._rows])}],'
            f'"tensor_values":{{{",".join(values)}}},"sym_int_values":{{}},"sym_bool_values":{{}},'
            '"is_single_tensor_return":false,"custom_obj_values":{},"sym_float_values":{}}'
        )
        output_specs = ",".join(f'{{"user_output":{{"arg":{out}}}}}' for out in outputs)
        signature = f'{{"input_specs":[{",".join(specs)}],"output_specs":[{output_specs}]}}'
        document = (
            f'{{"graph_module":{{"graph":{graph},"signature":{signature},'
            f'"module_call_graph":{json.dumps(calls)},"metadata":{{}},"treespec_namedtuple_fields":{{}}}},'
            f'"opset_version":{{"aten":10}},"range_constraints":{{}},"schema_version":{json.dumps(_SCHEMA)},'
            f'"verifiers":["TRAINING"],"torch_version":"{torch.__version__}","guards_code":[]}}'
        )
        constants = {name: (t, False) for name, t in self._constants.items()}
        with zipfile.ZipFile(path, "w") as archive:

            def write(name: str, content: str | bytes) -> None:
                archive.writestr(f"{path.stem}/{name}", content)

            write("archive_format", "pt2")
            write("archive_version", "0")
            write("byteorder", sys.byteorder)
            write(NOTE, note)
            write("models/model.json", document)
            for folder, table, prefix in (
                ("weights", self._state, "weight"),
                ("constants", constants, "tensor"),
            ):
                config, records = self._config(table, prefix)
                write(f"data/{folder}/model_{folder}_config.json", config)
                for name, content in records.items():
                    write(f"data/{folder}/{name}", content)

    def _config(
        self, table: dict[str, tuple[torch.Tensor, bool]], prefix: str
    ) -> tuple[str, dict[str, bytes]]:
        """The configuration and the records: one element for tied tensors, none for others."""
        names = Counter(id(tensor) for tensor, _ in table.values())
        records: dict[int, str] = {}
        contents: dict[str, bytes] = {}
        config = []
        for name, (tensor, is_parameter) in table.items():
            record, elements = _EMPTY_RECORD, 0
            if names[id(tensor)] > 1:
                record, elements = records.setdefault(id(tensor), f"{prefix}_{len(records)}"), 1
            contents[record] = bytes(elements * tensor.element_size())
            config.append(
                f'{_quoted(name)}:{{"path_name":"{record}","is_param":{_json_bool(is_parameter)},'
                f'"use_pickle":false,"tensor_meta":{self._without_storage(tensor)}}}'
            )
        return f'{{"config":{{{",".join(config)}}}}}', contents

    def _without_storage(self, tensor: torch.Tensor) -> str:
        dtype, sizes, _, requires_grad, device, _ = _meta(tensor)
        meta = (dtype, sizes, (0,) * len(sizes), requires_grad, device, 0)
        text = self._texts.get(meta)
        if text is None:
            text = self._texts[meta] = _meta_text(meta)
        return text

    def _user_input_names(self) -> list[str]:
        return [self._placeholder_of[id(value)] for _, value in self._user_input_values]

    def _in_order(self, user_inputs: list[str]) -> list[str]:
        last = set(user_inputs)
        return [n for n in self._inputs if n not in last] + user_inputs


def _name_json(name: str) -> str:
    return f'{{"name":{_quoted(name)}}}'


def _optional_tensor_json(name: str | None) -> str:
    return '{"as_none":true}' if name is None else f'{{"as_tensor":{_name_json(name)}}}'


def _json_bool(value: bool) -> str:
    return "true" if value else "false"


def _scalar_argument(value: Any) -> str:
    if value is None:
        return '{"as_none":true}'
    kind = type(value)
    if kind is bool:
        return f'{{"as_bool":{_json_bool(value)}}}'
    if kind is int:
        return f'{{"as_int":{value}}}'
    if kind is float:
        return f'{{"as_float":{json.dumps(value)}}}'
    if kind is str:
        return f'{{"as_string":{_quoted(value)}}}'
    if isinstance(value, torch.dtype):
        return f'{{"as_scalar_type":{_enum_value(_DTYPES, value)}}}'
    if isinstance(value, torch.device):
        return f'{{"as_device":{_device(value)}}}'
    if isinstance(value, torch.layout):
        return f'{{"as_layout":{_enum_value(_LAYOUTS, value)}}}'
    if isinstance(value, torch.memory_format):
        return f'{{"as_memory_format":{_enum_value(_MEMORY_FORMATS, value)}}}'
    if isinstance(value, complex):
        return f'{{"as_complex":{json.dumps({"real": value.real, "imag": value.imag})}}}'
    raise CaptureError(f"an argument is a {type(value).__name__}")


#: The most frequent types of module attributes, none of them a tensor.
_NOT_TENSORS = frozenset((type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set))


def _tensor_attributes(named_modules: list[tuple[str, nn.Module]]) -> dict[int, str]:
    found: dict[int, str] = {}
    for path, module in named_modules:
        for name, value in vars(module).items():
            if type(value) not in _NOT_TENSORS and isinstance(value, torch.Tensor):
                found.setdefault(id(value), f"{path}.{name}" if path else name)
    return found


#: The empty record of all tensors that are not tied.
_EMPTY_RECORD = "none"
