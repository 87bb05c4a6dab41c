"""Hostile model files, written by hand: small files that would take much memory or time, or contradict themselves.

Each function returns the bytes of a file. Pickles are assembled opcode by opcode, without torch.
"""
import io
import json
import struct
import zipfile

MIB = 1 << 20


def archive(entries, method=zipfile.ZIP_STORED):
    """A ZIP archive of name → content; content may be an iterable of pieces, so that bombs need no memory here."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=9) as z:
        for name, content in entries.items():
            pieces = [content] if isinstance(content, (bytes, str)) else content
            with z.open(name, "w") as entry:
                for piece in pieces:
                    entry.write(piece.encode() if isinstance(piece, str) else piece)
    return out.getvalue()


# --- safetensors -----------------------------------------------------------------------------------------------------

def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def many_dots(tensors=1_000, dots=1_000):
    """Each name is a path of a thousand modules: the names have 2 MB, the paths 1 GB."""
    names = [f"{i}" + ".m" * (dots - 1) for i in range(tensors)]
    return safetensors({name: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for name in names})


# --- pickles ---------------------------------------------------------------------------------------------------------

def text(value):
    value = value.encode()
    return b"X" + struct.pack("<I", len(value)) + value


def number(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def name(module, symbol):
    return b"c" + module.encode() + b"\n" + symbol.encode() + b"\n"


def put(index):
    return b"r" + struct.pack("<I", index)


def get(index):
    return b"j" + struct.pack("<I", index)


def dict_of(items):
    """(opcodes of a key, opcodes of its value), …"""
    return b"}(" + b"".join(key + value for key, value in items) + b"u"


def instance(cls, state):
    """An object created without a call of its class, as modules are."""
    return cls + b")\x81" + state + b"b"


def call(function, *arguments):
    return function + b"(" + b"".join(arguments) + b"tR"


def tensor(key="0", size=(4,), stride=(1,), offset=0, numel=4):
    storage = (b"(" + text("storage") + name("torch", "FloatStorage") + text(key) + text("cpu") + number(numel) + b"tQ")
    shape = [b"(" + b"".join(map(number, numbers)) + b"t" for numbers in (size, stride)]
    return call(name("torch._utils", "_rebuild_tensor_v2"), storage, number(offset), *shape, b"\x89",
                call(name("collections", "OrderedDict")))


def module(cls, children=(), parameters=(), **attributes):
    """children, parameters: (name, opcodes); attributes: opcodes."""
    named = lambda items: dict_of([(text(key), value) for key, value in items])  # noqa: E731
    members = [("_parameters", named(parameters)), ("_buffers", b"}"), ("_modules", named(children)),
               *attributes.items()]
    return instance(cls, named(members))


def checkpoint(content, **records):
    return archive({"m/data.pkl": b"\x80\x02" + content + b".", "m/byteorder": b"little",
                    **{f"m/data/{key.strip('_')}": value for key, value in records.items()}})


def long_module_names(depth=380, length=60_000):
    """185 KB: three names of 60 KB, used at 380 levels; the paths have 4.4 GB."""
    names = b"".join(text(chr(97 + i) * length) + put(i) + b"0" for i in range(3))
    opening = name("n", "N") + put(3) + b"0" + b"}" + put(4) + b"0"
    keys = text("_modules") + put(5) + b"0" + text("_parameters") + put(6) + b"0"
    begin = get(3) + b")\x81}(" + get(6) + get(4) + get(5) + b"}"
    content = b"".join(begin + get(level % 3) for level in range(depth)) + b"N" + b"sub" * depth
    return checkpoint(names + opening + keys + content)


def many_deep_module_names(depth=500, siblings=80_000):
    """Module names of a few bytes in deep modules: each of the siblings has a path of 2 KB."""
    opening = name("n", "N") + put(0) + b"0" + b"}" + put(1) + b"0" + text("_modules") + put(2) + b"0"
    opening += text("_parameters") + put(3) + b"0" + text("abc") + put(4) + b"0"
    empty = get(0) + b")\x81}(" + get(3) + get(1) + get(2) + get(1) + b"ub"
    begin = get(0) + b")\x81}(" + get(3) + get(1) + get(2) + b"}"
    leaves = b"(" + b"".join(text(str(i)) + empty for i in range(siblings)) + b"u"
    content = b"".join(begin + get(4) for level in range(depth - 1)) + begin + leaves + b"ub" + b"sub" * (depth - 1)
    return checkpoint(opening + content)


def shared_state(objects=20_000):
    """560 KB: objects that share one dict of attributes, which holds all of them."""
    cls = name("n", "N") + put(0) + b"0}" + put(1) + b"0"
    members = b"".join(text(f"{i}") + get(0) + b")\x81" + get(1) + b"b" for i in range(objects))
    return checkpoint(cls + get(1) + b"(" + members + b"u")


def shared_attributes(modules=20_000, attributes=20_000):
    """Modules that share one dict of attributes."""
    cls = name("n", "N") + put(0) + b"0"
    state = dict_of([(text("_parameters"), b"}"), (text("_modules"), b"}"),
                     *((text(f"a{i}"), b"K\x01") for i in range(attributes))]) + put(1) + b"0"
    children = b"".join(text(f"{i}") + get(0) + b")\x81" + get(1) + b"b" for i in range(modules))
    root = get(0) + b")\x81" + dict_of([(text("_parameters"), b"}"), (text("_modules"), b"}(" + children + b"u")]) + b"b"
    return checkpoint(cls + state + root)


def one_tensor_often(times=3_000_000):
    """Two bytes each: a list that holds one tensor again and again."""
    return archive({"m/data.pkl": b"\x80\x02" + dict_of([(text("v"), tensor()), (text("w"), b"](" + tensor() + b"q\x00" + b"h\x00" * times + b"e")]) +
                    b".", "m/data/0": bytes(16)}, zipfile.ZIP_DEFLATED)


def copied_dicts(copies=100_000, keys=10_000):
    """A few bytes that copy ten thousand entries."""
    source = dict_of([(number(i), b"N") for i in range(keys)]) + put(0) + b"0"
    cls = name("collections", "OrderedDict") + put(1) + b"0"
    return checkpoint(source + cls + b"](" + (get(1) + get(0) + b"\x85R") * copies + b"e")


def windows(count=2_000, elements=4 * MIB):
    """Tensors that each cover half of one storage and begin at different offsets."""
    half = elements // 2
    items = [(text(f"w{i}"), tensor(size=(half,), offset=i, numel=elements)) for i in range(count)]
    return checkpoint(dict_of(items), _0=bytes(4 * elements))


# --- .pt2 ------------------------------------------------------------------------------------------------------------

def meta(*sizes):
    strides = [1] * len(sizes)
    return {"dtype": 7, "sizes": [{"as_int": n} for n in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": n} for n in strides],
            "storage_offset": {"as_int": 0}, "layout": 7}


def named(tensor_name):
    return {"as_tensor": {"name": tensor_name}}


def node(target, inputs, output, stack="L__self__,,net.Net"):
    return {"target": target, "inputs": [{"name": n, "arg": arg} for n, arg in inputs], "outputs": [named(output)],
            "metadata": {"nn_module_stack": stack}}


def program(nodes=(), values=None, modules=("",), output="x"):
    values = {"x": meta(4), **(values or {})}
    return {
        "graph_module": {
            "graph": {"inputs": [named("x")], "outputs": [named(output)], "nodes": list(nodes), "tensor_values": values,
                      "sym_int_values": {}, "sym_bool_values": {}},
            "signature": {"input_specs": [{"user_input": {"arg": named("x")}}],
                          "output_specs": [{"user_output": {"arg": named(output)}}]},
            "module_call_graph": [{"fqn": path} for path in modules]},
        "schema_version": {"major": 8, "minor": 20}, "torch_version": "2.15.0", "range_constraints": {}}


def pt2(document, folder="m", method=zipfile.ZIP_STORED, **entries):
    content = document if not isinstance(document, dict) else json.dumps(document)
    return archive({f"{folder}/archive_format": b"pt2", f"{folder}/models/model.json": content,
                    **{f"{folder}/{key.replace('__', '/')}": value for key, value in entries.items()}}, method)


def deep_modules(chains=3_000, depth=480):
    """Paths of 480 modules, 3,000 times: 6 MB of text, 1.4 million modules, 2 GB of paths."""
    return pt2(program(modules=("", *(f"{i}" + ".mod" * (depth - 1) for i in range(chains)))))


def deep_stacks(nodes=20_000, depth=400):
    """Each node has a stack of 400 module calls of its own."""
    deep = ";k,m,T" * (depth - 1)
    made = [node("torch.ops.aten.relu.default", [("self", named("x"))], f"r{i}", f"L{i},,N{deep}") for i in range(nodes)]
    return pt2(program(made, {f"r{i}": meta(4) for i in range(nodes)}), method=zipfile.ZIP_DEFLATED)


def deep_uses(nodes=5_000, depth=480):
    """Operators 480 calls deep that use values made 480 calls deep in another branch."""
    branch = {root: "L,,N" + "".join(f";{root}{level},m,T" for level in range(1, depth)) for root in "ab"}
    made, values, last = [], {}, "x"
    for i in range(nodes):
        made.append(node("torch.ops.aten.relu.default", [("self", named(last))], f"r{i}", branch["ab"[i % 2]]))
        values[f"r{i}"], last = meta(4), f"r{i}"
    return pt2(program(made, values, output=last), method=zipfile.ZIP_DEFLATED)


def wide_cat(tensors=100_000, nodes=20):
    """Twenty operators that take a hundred thousand tensors each."""
    made = [node("torch.ops.aten.relu.default", [("self", named("x"))], f"r{i}") for i in range(tensors)]
    items = {"as_tensors": [{"name": f"r{i}"} for i in range(tensors)]}
    made += [node("torch.ops.aten.cat.default", [("tensors", items)], f"c{i}") for i in range(nodes)]
    values = {f"r{i}": meta(4) for i in range(tensors)} | {f"c{i}": meta(4 * tensors) for i in range(nodes)}
    return pt2(program(made, values, output="c0"), method=zipfile.ZIP_DEFLATED)


def many_arguments(count=100_000):
    """One operator of `count` arguments, each with a name and a text of its own."""
    more = ((f"a{i}", {"as_string": f"{i}"}) for i in range(count))
    return pt2(program([node("torch.ops.aten.relu.default", [("self", named("x")), *more], "r")], {"r": meta(4)}, output="r"),
               method=zipfile.ZIP_DEFLATED)


def unknown_operators(count=40_000):
    """Operators without a rule, each with a name and a module of its own."""
    made = [node(f"torch.ops.acme.op{i}.default", [("self", named("x"))], f"r{i}", f"L,,net.Net;L{i},m{i},acme.T{i}") for i in range(count)]
    return pt2(program(made, {f"r{i}": meta(4) for i in range(count)}, modules=("", *(f"m{i}" for i in range(count)))),
               method=zipfile.ZIP_DEFLATED)


def json_bomb(entry="models/model.json", piece=b"[0,0,0,0]," * 104_857, pieces=300):
    """300 KB that inflate to 300 MB."""
    good = json.dumps(program()).encode()
    bomb = [b'{"a":[', *[piece] * pieces, b"0]}"]
    return archive({"m/archive_format": b"pt2", "m/models/model.json": good, f"m/{entry}": bomb}
                   if entry != "models/model.json" else {"m/archive_format": b"pt2", f"m/{entry}": bomb},
                   zipfile.ZIP_DEFLATED)


def pickle_bomb(opcode=b"]", mebibytes=300):
    return archive({"m/data.pkl": [b"\x80\x02", *[opcode * MIB] * mebibytes, b"."]}, zipfile.ZIP_DEFLATED)


def tied_twins(count=20_000):
    """Parameters that look alike and have no recorded memory location: each one that is read could be tied to any other."""
    values, specs, made = {}, [], []
    for i in range(count):
        for kind in "ur":
            values[f"p_{kind}{i}"] = {**meta(2, 2), "requires_grad": True}
            specs.append({"parameter": {"arg": {"name": f"p_{kind}{i}"},
                                        "parameter_name": f"{'a' if kind == 'u' else 'b'}.{kind}{i}"}})
        made.append(node("torch.ops.aten.relu.default", [("self", named(f"p_r{i}"))], f"o{i}", "L,,N;La,a,T"))
        values[f"o{i}"] = meta(2, 2)
    document = program(made, values)
    document["graph_module"]["signature"]["input_specs"] += specs
    document["graph_module"]["graph"]["inputs"] += [named(spec["parameter"]["arg"]["name"]) for spec in specs]
    return pt2(document, method=zipfile.ZIP_DEFLATED)


SYMBOL = "Symbol('s77', positive=True, integer=True)"


def sized(expression):
    """One input whose size is the given expression; 4 for the input of the export."""
    size = {"as_expr": {"expr_str": expression, "hint": {"as_int": 4}}}
    return pt2(program(values={"x": {**meta(4), "sizes": [size]}}), method=zipfile.ZIP_DEFLATED)


def many_terms(terms=200_000):
    return sized("Add(" + ", ".join([SYMBOL] * terms) + ")")


def many_denominators(terms=4_000):
    """Fractions without a common divisor."""
    return sized("Add(" + ", ".join(f"Rational(s{i}, {2 + i % 97})" for i in range(terms)) + ")")


def many_symbols(tensors=2_000, symbols=500):
    """Sizes of symbols without a recorded value."""
    names = [f"s{i}" for i in range(symbols)]
    size = {"as_expr": {"expr_str": " + ".join(names), "hint": {"as_int": 4}}}
    values = {f"v{i}": {**meta(4), "sizes": [{"as_expr": {**size["as_expr"], "expr_str": f"{i} + " + size["as_expr"]["expr_str"]}}]}
              for i in range(tensors)}
    made = [node("torch.ops.aten.relu.default", [("self", named("x"))], f"v{i}") for i in range(tensors)]
    return pt2(program(made, values), method=zipfile.ZIP_DEFLATED)
