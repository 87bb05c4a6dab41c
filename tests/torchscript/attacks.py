"""Hostile TorchScript archives of a few kilobytes each, which try to crash, stall or fill tmeter.

`ATTACKS` is a table: the attack → the archive, tmeter's arguments, the words of the refusal. `python attacks.py TMETER` runs
all of them and prints the table of docs/reliability.md: the message, exit status, peak memory, time.
"""
import dataclasses
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from archives import Archive, Tensors

SANITIZED = os.environ.get("SANITIZE", "") != ""
LIMITS = ("--set", "torch-backend.timeout=5")
# For attacks that a size limit ends, which a busy machine may reach late.
NO_HURRY = ("--input", "2x3", "--set", "torch-backend.timeout=100")
SMALLEST = -2**63


@dataclasses.dataclass(frozen=True)
class Attack:
    description: str
    build: object  # () → Archive
    words: tuple = ()  # the refusal must contain all of them
    arguments: tuple = ("--input", "2x3")
    status: tuple = (4, 6)
    accepted: bool = False  # the file may also be read, because it is harmless then


def with_constants(forward, constants, **kwargs):
    tensors = Tensors()
    pickled = [tensors.add(kind, values, sizes) for kind, values, sizes in constants]
    return Archive(forward, constants=pickled, constant_tensors=tensors, **kwargs)


def chained(line, count, first="", last="return x"):
    return "\n".join(filter(None, [first, *(line.format(i=i, j=i + 1) for i in range(count)), last]))


def call_tree(levels):
    """Functions that each call the one below twice: 2^levels calls without a loop."""
    functions = "".join(
        f"def f{i}(x: int) -> int:\n  _0 = __torch__.f{i + 1}(x, )\n  _1 = __torch__.f{i + 1}(x, )\n  return _0\n"
        for i in range(levels)) + f"def f{levels}(x: int) -> int:\n  return x\n"
    return Archive("_0 = __torch__.f0(1, )\nreturn x", functions=functions)


def string_loop(line, start='"xxxxxxxxxxxxxxxx"', rounds=64):
    return Archive(f"s = {start}\nfor i in range({rounds}):\n  s = {line}\nreturn torch.add(x, torch.len(s))")


def list_loop(line, start="annotate(List[int], [1, 2, 3, 4])", rounds=64):
    return Archive(f"s = {start}\nfor i in range({rounds}):\n  {line}\nreturn torch.add(x, torch.len(s))")


def tuple_tree(levels):
    """A tuple that contains a tuple twice, and so on: LibTorch's compiler follows 2^levels parts of its type."""
    lines = ["t0 = (x, x)", *(f"t{i + 1} = (t{i}, t{i})" for i in range(levels)), "return x"]
    return Archive("\n".join(lines))


BIG = 10**9

ATTACKS = {
    # LibTorch's compiler checks no clock, so the supervisor's timeout ends it.
    "tuples": Attack("60 levels of tuples of the same tuple twice", lambda: tuple_tree(60), ("LibTorch", "5 s (--timeout)"),
                     ("--timeout", "5", "--input", "2x3"), status=(6,)),
    # --- kernels that trust their indices ---
    "max_pool2d_backward": Attack(
        "indices far outside for `max_pool2d_with_indices_backward`",
        lambda: with_constants(
            "_0 = torch.max_pool2d_with_indices_backward(CONSTANTS.c0, CONSTANTS.c1, [2, 2], [2, 2], [0, 0], [1, 1], False, CONSTANTS.c2)\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("f", [1.0] * 4, [1, 1, 2, 2]), ("f", [1.0] * 16, [1, 1, 4, 4]), ("q", [BIG] * 4, [1, 1, 2, 2])])),
    "sparse_unsafe": Attack(
        "`_sparse_coo_tensor_unsafe` with indices outside, made dense",
        lambda: with_constants(
            "_0 = torch._sparse_coo_tensor_unsafe(CONSTANTS.c0, CONSTANTS.c1, [4])\n_1 = torch.to_dense(_0)\nif bool(torch.gt(torch.sum(_1), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("q", [BIG, BIG + 1], [1, 2]), ("f", [1.0, 2.0], [2])])),
    "segment_reduce": Attack(
        "`segment_reduce(unsafe=True)` with lengths beyond its data",
        lambda: with_constants(
            "_0 = torch.segment_reduce(CONSTANTS.c0, \"sum\", lengths=CONSTANTS.c1, axis=0, unsafe=True)\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("f", [1.0] * 4, [4]), ("q", [BIG, BIG], [2])])),
    "coo_to_csr": Attack(
        "`_convert_indices_from_coo_to_csr` with indices outside",
        lambda: with_constants(
            "_0 = torch._convert_indices_from_coo_to_csr(CONSTANTS.c0, 4)\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("q", [BIG, BIG], [2])])),
    "cummax_helper": Attack(
        "`_cummax_helper` with results smaller than its operand",
        lambda: with_constants(
            "torch._cummax_helper(CONSTANTS.c0, CONSTANTS.c1, CONSTANTS.c2, 0)\nif bool(torch.gt(torch.sum(CONSTANTS.c1), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("f", [1.0] * 65536, [65536]), ("f", [0.0], [1]), ("q", [0], [1])]), accepted=True),
    "repeat_interleave": Attack(
        "`repeat_interleave` whose counts overflow",
        lambda: with_constants("_0 = torch.repeat_interleave(x, CONSTANTS.c0, 0)\nreturn _0",
                               [("q", [2**62, 2**62, 2**62, 2**62 + 3], [4])]), arguments=("--input", "4x3")),
    "set_storage": Attack(
        "`set_` of a storage beyond its bytes",
        lambda: with_constants(
            "_0 = torch.set_(CONSTANTS.c0, CONSTANTS.c0, 0, [100000000], [1])\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("q", [1, 2, 3], [3])])),
    "upsample_scale": Attack(
        "`upsample_nearest2d` with a scale that contradicts its size",
        lambda: with_constants(
            "_0 = torch.upsample_nearest2d(CONSTANTS.c0, [2, 2], 1e-30, 1e-30)\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("f", [1.0] * 16, [1, 1, 4, 4])])),
    "tensor_of_list": Attack(
        "`torch.tensor` of a list that is too long to have values",
        lambda: Archive("_0 = torch.tensor(torch.mul([0], 900000))\nreturn torch.add(x, torch.sum(_0))"), ("tensor of a list",)),
    "no_such_dtype": Attack(
        "a dtype with the number 99",
        lambda: Archive("_0 = torch.zeros([2], dtype=99)\nreturn torch.add(x, _0)"), ("dtype",)),
    # --- signals ---
    "divide_smallest": Attack(
        "`INT64_MIN // -1` while the model runs",
        lambda: Archive(f"n = torch.size(x, 0)\nm = torch.sub({SMALLEST + 2}, n)\n_0 = torch.floordiv(m, torch.sub(1, n))\nreturn torch.add(x, _0)"),
        ("smallest integer",)),
    "modulo_smallest": Attack(
        "`INT64_MIN % -1` while the model runs",
        lambda: Archive(f"n = torch.size(x, 0)\nm = torch.sub({SMALLEST + 2}, n)\n_0 = torch.remainder(m, torch.sub(1, n))\nreturn torch.add(x, _0)"),
        ("smallest integer",)),
    "modulo_zero": Attack(
        "`% 0` while the model runs",
        lambda: Archive("n = torch.size(x, 0)\n_0 = torch.remainder(n, torch.sub(n, n))\nreturn torch.add(x, _0)"), ("division by zero",)),
    "fold_divide": Attack(
        "`INT64_MIN // -1` in LibTorch's constant folding, while the file is loaded",
        lambda: Archive(f"_0 = torch.floordiv({SMALLEST + 1}, 1)\n_1 = torch.floordiv(torch.sub({SMALLEST + 1}, 1), -1)\nif torch.gt(_1, 0):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y"),
        ("smallest integer",)),
    "fold_modulo": Attack(
        "`% 0` in LibTorch's constant folding, while the file is loaded",
        lambda: Archive("_0 = torch.remainder(5, 0)\nif torch.gt(_0, 0):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y"),
        ("division by zero",)),
    "divide_tensors": Attack(
        "`INT64_MIN // -1` in tensors of the file",
        lambda: with_constants(
            "_0 = torch.floor_divide(CONSTANTS.c0, CONSTANTS.c1)\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
            [("q", [SMALLEST, 1], [2]), ("q", [-1, 1], [2])]), ("smallest integer",)),
    "default_computes": Attack(
        "a default value of an argument that computes, which LibTorch runs while it loads",
        lambda: Archive("return x", arguments="x: Tensor, n: int=torch.remainder(5, 0)"), ("default value",)),
    "constant_computes": Attack(
        "a class constant that computes, which LibTorch runs while it loads",
        lambda: Archive("return x", members="  n : Final[int] = torch.remainder(5, 0)\n"), ("constant of a class",)),
    "chain_100000": Attack(
        "100,000 chained statements",
        lambda: Archive(chained("x{j} = torch.add(x{i}, 1)", 100_000, "x0 = x", "return x100000")), ("20,000 statements",)),
    "chain_20000": Attack(
        "19,000 chained statements",
        lambda: Archive(chained("x{j} = torch.add(x{i}, 1)", 19_000, "x0 = x", "return x19000")), accepted=True),
    "chain_ints": Attack(
        "100,000 chained statements on a number read out of a tensor",
        lambda: Archive(chained("x{j} = torch.add(x{i}, 1)", 100_000, "x0 = int(x)", "return x")),
        arguments=("--input", "1"), accepted=True),
    "elif_chain": Attack(
        "100,000 `elif`s",
        lambda: Archive("if False:\n  y = x\n" + "elif False:\n  y = x\n" * 100_000 + "else:\n  y = x\nreturn y"),
        ("nested too deeply",)),
    "empty_lines": Attack("1,000,000 empty lines", lambda: Archive("\n" * 1_000_000 + "return x"), ("nested too deeply",)),
    "call_chain": Attack(
        "a call of the result of a call, 100,000 times",
        lambda: Archive("y = x" + "(x, x)" * 100_000 + "\nreturn y"), ("nested too deeply",)),
    "hidden_brackets": Attack(
        "brackets 100,000 deep, hidden behind a text over several lines",
        lambda: Archive('y = """\n""" + ' + "(" * 100_000 + "x" + ")" * 100_000 + "\nreturn y"), ("nested too deeply",)),
    # --- time ---
    "calls": Attack("2^40 calls without a loop", lambda: call_tree(40), ("without coming to an end",)),
    "empty_loop": Attack(
        "a loop that does nothing, for ever",
        lambda: Archive("i = 0\nwhile True:\n  i = torch.add(i, 1)\nreturn x"), ("5 seconds",)),
    "svd": Attack(
        "one enormous SVD",
        lambda: Archive("_0, _1, _2 = torch.linalg_svd(torch.ones([8192, 8192]))\nif bool(torch.gt(torch.sum(_1), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y")),
    "matmul": Attack(
        "one enormous matmul",
        lambda: Archive("_0 = torch.matmul(torch.ones([100000, 100000]), torch.ones([100000, 100000]))\nif bool(torch.gt(torch.sum(_0), 0)):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y")),
    "matmul_real": Attack(
        "one enormous matmul in a run with values",
        lambda: Archive("if bool(torch.gt(torch.sum(x), 0)):\n  _0 = torch.matmul(torch.ones([8000, 8000]), torch.ones([8000, 8000]))\n  y = torch.add(x, torch.sum(_0))\nelse:\n  y = x\nreturn y"),
        ("aten::matmul", "arithmetic")),
    "split": Attack(
        "`split` into 10^8 parts", lambda: Archive("_0 = torch.split(torch.zeros([100000000]), 1)\nreturn torch.add(x, torch.len(_0))"), ("parts",)),
    "unbind": Attack(
        "`unbind` into 10^8 parts", lambda: Archive("_0 = torch.unbind(torch.zeros([100000000]))\nreturn torch.add(x, torch.len(_0))"), ("parts",)),
    "chunk": Attack(
        "`chunk` of nothing into 10^8 parts", lambda: Archive("_0 = torch.chunk(torch.zeros([0]), 100000000)\nreturn torch.add(x, torch.len(_0))"), ("parts",)),
    "tensor_split": Attack(
        "`tensor_split` into 10^8 parts", lambda: Archive("_0 = torch.tensor_split(x, 100000000)\nreturn torch.add(x, torch.len(_0))"), ("parts",)),
    "factorial": Attack("the factorial of 2^62", lambda: Archive("_0 = torch.factorial(4611686018427387904)\nreturn torch.add(x, _0)"), ("factorial",)),
    "replace_empty": Attack(
        "`replace` of an empty string", lambda: Archive('n = torch.size(x, 0)\n_0 = torch.replace(str(n), "", "xx")\nreturn torch.add(x, torch.len(_0))'), ("empty string",)),
    "count_empty": Attack(
        "`count` of an empty string", lambda: Archive('n = torch.size(x, 0)\n_0 = torch.count(str(n), "")\nreturn torch.add(x, _0)'), ("empty string",)),
    "cat_many": Attack(
        "`cat` of 100,000 tensors, 100 times",
        lambda: Archive("l = torch.mul([x], 100000)\nfor i in range(100):\n  _0 = torch.cat(l)\nreturn x"), ("5 seconds",), accepted=True),
    # --- memory ---
    "string_add": Attack("a text that doubles", lambda: string_loop("torch.add(s, s)"), ("string of",)),
    "string_join": Attack("a text that is joined with itself", lambda: string_loop("torch.join(s, [s, s, s])"), ("string of",)),
    "string_replace": Attack("a text in which each letter becomes the text", lambda: string_loop('torch.replace(s, "x", s)'), ("bytes",)),
    "string_format": Attack("a text that is formatted into itself", lambda: string_loop('torch.format("{}{}", s, s)'), ("string of",)),
    "string_ljust": Attack("`ljust` to 2^40", lambda: Archive('_0 = torch.ljust("x", 1099511627776)\nreturn torch.add(x, torch.len(_0))'), ("string of",)),
    "string_zfill": Attack("`zfill` to 2^40", lambda: Archive('_0 = torch.zfill("x", 1099511627776)\nreturn torch.add(x, torch.len(_0))'), ("string of",)),
    "string_tabs": Attack("`expandtabs` to 2^40", lambda: Archive('_0 = torch.expandtabs("\\t", 1099511627776)\nreturn torch.add(x, torch.len(_0))'), ("string of",)),
    "fold_string": Attack(
        "a text that doubles while LibTorch folds constants",
        lambda: Archive(chained("s{j} = torch.add(s{i}, s{i})", 40, 's0 = "xxxxxxxxxxxxxxxx"', "return torch.add(x, torch.len(s40))")), ("string of",)),
    "list_add": Attack("a list that doubles", lambda: list_loop("s = torch.add(s, s)"), ("list of",)),
    "list_extend": Attack("a list that is extended by itself", lambda: list_loop("torch.extend(s, s)"), ("list of",)),
    "list_mul": Attack("a list times 2^40", lambda: list_loop("s = torch.mul(s, 1099511627776)"), ("list of",)),
    "list_append": Attack(
        "a list that grows by one for ever", lambda: list_loop("s = torch.append(s, 1)", rounds=2**62), ("list of",),
        arguments=NO_HURRY),
    "list_of_lists": Attack(
        "many long lists",
        lambda: Archive("l = annotate(List[List[int]], [])\nfor i in range(900000):\n  _0 = torch.append(l, torch.mul([1], 900000))\nreturn torch.add(x, torch.len(l))"),
        ("memory",), arguments=(*NO_HURRY, "--set", "torch-backend.max-memory=1024")),
    "rangelist": Attack("`list(range(2^40))`", lambda: Archive("_0 = ops.prim.rangelist(1099511627776)\nreturn torch.add(x, torch.len(_0))"), ("list of",)),
    # --- words ---
    "raise_escapes": Attack(
        "an exception whose text has escapes and lines",
        lambda: Archive('ops.prim.RaiseException("\\033[31mred\\nsecond line", "builtins.ValueError")\nreturn x'), ("red",)),
    "internal_assert": Attack(
        "a failing check of LibTorch's own", lambda: Archive("_0 = torch._nested_tensor_size(x)\nreturn torch.add(x, torch.sum(_0))"), accepted=True),
}


def measured(arguments, memory=4 << 30, timeout=300):
    """(status, stderr, processor seconds, peak MiB) of a run that may not take more than `memory`.

    The address sanitizer reserves terabytes of addresses, so in such a build nothing limits the run.
    """
    def limit():
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([*map(str, arguments)], stdout=out, stderr=err, preexec_fn=limit)
        try:
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - begin > timeout:
                    process.kill()
                time.sleep(0.005)
        finally:
            process.returncode = 0
        err.seek(0)
        words = err.read().decode(errors="replace")
    seconds = usage.ru_utime + usage.ru_stime  # processor time, because the machine may be busy
    return os.waitstatus_to_exitcode(status), words, seconds, usage.ru_maxrss / 1024


def run(tmeter, name, folder):
    attack = ATTACKS[name]
    path = attack.build().write(pathlib.Path(folder) / f"{name}.pt")
    return measured([tmeter, path, *LIMITS, *attack.arguments])


def main():
    print("| attack | message | status | peak MiB | s |\n|---|---|---|---|---|")
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="tmeter-attacks-") as folder:
        for name, attack in ATTACKS.items():
            if only and name not in only:
                continue
            status, words, seconds, peak = run(sys.argv[1], name, folder)
            message = words.strip().replace(folder + "/", "").replace("|", "\\|").replace("\n", " ⏎ ") or "a report"
            print(f"| {attack.description} | {message} | {status} | {peak:.0f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
