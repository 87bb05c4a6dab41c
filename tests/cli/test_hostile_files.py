"""Small files that would take much memory or time, or contradict themselves: each is read, or refused in one line,
within bounds. docs/limits.md gives the reason for each refusal; docs/reliability.md shows these rows as a table.

The bounds are far above the measurements (release build: most below 0.3 s and 150 MiB) and far below the cost of
reading the files without limits. Sanitizers multiply both.
"""
import json
import os
import pathlib
import subprocess
import time

import hostile
from hostile import checkpoint, dict_of, instance, module, name, node, number, program, pt2, safetensors, tensor, text
from support import SANITIZED, SOURCE, TMETER, CliTest, main, measured, report

GIB = 1 << 30


class HostileTest(CliTest):
    def bounded(self, file_name, content, *arguments, memory=GIB, seconds=20):
        """Runs tmeter on the file and checks its cost. Time is processor time, because the machine may be busy."""
        done = measured(self.folder, self.file(file_name, content), *arguments)
        if not SANITIZED:
            self.assertLess(done.memory, memory, f"{done.memory >> 20} MiB")
        self.assertLess(done.seconds, seconds * (10 if SANITIZED else 1))
        self.assertIn(done.status, (0, 4), done.stderr)
        self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done

    def refused(self, words, file_name, content, *arguments, **bounds):
        done = self.bounded(file_name, content, *arguments, **bounds)
        self.assertEqual(done.status, 4, done.stderr)
        for word in (file_name, *words):
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count(str(self.folder)), 1, "the path occurs once: " + done.stderr)
        return done

    def accepted(self, file_name, content, *arguments, **bounds):
        done = self.bounded(file_name, content, *arguments, **bounds)
        self.assertEqual((done.status, done.stderr), (0, ""))


class Names(HostileTest):
    def test_module_names_of_60_kb_at_380_levels(self):
        self.refused(["path of a module", "4,096"], "m.pt", hostile.long_module_names())

    def test_short_module_names_far_down(self):
        self.refused(["128 MiB", "modules"], "m.pt", hostile.many_deep_module_names())

    def test_a_thousand_tensor_names_of_a_thousand_dots(self):
        self.refused(["128 MiB", "modules"], "m.safetensors", hostile.many_dots())
        self.refused(["128 MiB"], "m.safetensors", hostile.many_dots(), "--report", "json=/dev/null")

    def test_three_thousand_chains_of_480_modules(self):
        self.refused(["128 MiB", "modules"], "m.pt2", hostile.deep_modules())

    def test_nodes_far_down_in_calls_of_their_own(self):
        self.refused(["2,000,000", "module stacks"], "m.pt2", hostile.deep_stacks(), memory=2 * GIB)

    def test_one_tensor_repeated_in_a_list(self):
        self.refused(["2000000 tensors"], "m.pt", hostile.one_tensor_often(), memory=2 * GIB)


class Bombs(HostileTest):
    def test_json_that_inflates_to_a_thousand_times_its_size(self):
        for entry in ("models/model.json", "data/weights/model_weights_config.json"):
            with self.subTest(entry=entry):
                self.refused([entry, "inflates to", "256 MiB"], "m.pt2", hostile.json_bomb(entry), memory=GIB // 4)

    def test_a_pickle_that_inflates_to_a_thousand_times_its_size(self):
        self.refused(["data.pkl", "inflates to", "256 MiB"], "m.pt", hostile.pickle_bomb(), memory=GIB // 4)

    def test_json_of_very_many_values(self):
        self.refused(["commas and colons", "30,000,000"], "m.pt2", hostile.json_bomb(pieces=200))

    def test_copies_of_a_dict(self):
        self.refused(["10,000,000 copied"], "m.pt", hostile.copied_dicts())


class Time(HostileTest):
    def test_twenty_thousand_objects_share_one_dict(self):
        self.refused(["no tensors"], "m.pt", hostile.shared_state(), seconds=5)

    def test_twenty_thousand_modules_share_their_attributes(self):
        self.refused(["10,000,000", "attributes"], "m.pt", hostile.shared_attributes())

    def test_operators_that_take_a_hundred_thousand_tensors(self):
        self.accepted("m.pt2", hostile.wide_cat())

    def test_an_operator_of_a_hundred_thousand_arguments(self):
        for report_format in ("json", "html", "csv"):
            self.accepted("m.pt2", hostile.many_arguments(), "--plugins=all", "--report", report_format, seconds=5)

    def test_uses_far_down_another_branch(self):
        self.accepted("m.pt2", hostile.deep_uses())

    def test_parameters_that_may_all_be_tied(self):
        self.accepted("m.pt2", hostile.tied_twins())

    def test_sizes_of_very_many_terms(self):
        for content in (hostile.many_terms(), hostile.many_denominators(), hostile.many_symbols()):
            self.accepted("m.pt2", content, seconds=5)

    def test_forty_thousand_unknown_operators(self):
        self.accepted("m.pt2", hostile.unknown_operators(), "--plugins=all", "--report", "json", seconds=10)

    def test_names_with_equal_hashes(self):
        """std::hash has a fixed seed, so names can be chosen that fill one bucket of every table."""
        maker = self.folder / "colliding"
        subprocess.run(["c++", "-std=c++20", "-O2", "-o", maker, SOURCE / "tests/cli/colliding_names.cpp"], check=True)
        names = subprocess.run([maker, "15000"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
        self.assertEqual(len(set(names)), 15_000)
        files = {
            "tensors.safetensors": safetensors({n: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for n in names}),
            "tensors.pt": checkpoint(dict_of([(text(n), tensor()) for n in names]), _0=bytes(16)),
            "modules.pt2": pt2(program([hostile.node("torch.ops.aten.relu.default", [("self", hostile.named("x"))], f"r{i}", f"L,,net.Net;L{i},{n},acme.T{i}")
                                        for i, n in enumerate(names)], {f"r{i}": hostile.meta(4) for i in range(len(names))}, modules=("", *names))),
        }
        for name_of_file, content in files.items():
            with self.subTest(name_of_file):
                saved = self.folder / "saved.json"
                self.accepted(name_of_file, content, "--report", f"json={saved}", seconds=1)
                done = measured(self.folder, "show", saved)
                self.assertEqual((done.status, done.stderr), (0, ""))
                self.assertLess(done.seconds, 1 * (10 if SANITIZED else 1))

    def test_two_thousand_windows_of_one_tensor(self):
        """16 MB in the file, 16 GB in tensors: tmeter reads at most eight times the file's size."""
        path = self.file("m.pt", hostile.windows())
        document = report(path, "--plugins=param-stats")
        self.assertTrue(any("overlapping tensors are read up to" in w for w in document["warnings"]), document["warnings"])


class TwiceTheSameKey(HostileTest):
    """PyTorch's reader takes the last of two equal keys, simdjson's the first."""

    def refuse(self, key, old, new):
        document = json.dumps(program(modules=("", "a")))
        self.assertEqual(document.count(old), 1)
        self.refused([f"the key '{key}' occurs twice"], "m.pt2", pt2(document.replace(old, new)))

    def test_a_program_without_duplicate_keys_is_accepted(self):
        self.accepted("m.pt2", pt2(program()))

    def test_at_the_top(self):
        self.refuse("torch_version", '"torch_version": "2.15.0"', '"torch_version": "2.15.0", "torch_version": "1"')

    def test_in_a_table_of_names(self):
        self.refuse("x", '"tensor_values": {', '"tensor_values": {"x": {},')

    def test_far_inside(self):
        self.refuse("as_int", '"storage_offset": {"as_int": 0}', '"storage_offset": {"as_int": 0, "as_int": 7}')

    def test_by_another_spelling(self):
        self.refuse("nodes", '"nodes": []', '"nodes": [], "no\\u0064es": [1]')

    def test_among_very_many_keys(self):
        document = program(values={f"v{i}": hostile.meta(1) for i in range(1_000)})
        content = json.dumps(document).replace('"v999": ', '"v7": ')
        self.refused(["'v7' occurs twice"], "m.pt2", pt2(content))

    def test_in_the_other_json_entries(self):
        for entry in ("data__weights__model_weights_config.json", "data__constants__model_constants_config.json"):
            content = pt2(program(), **{entry: b'{"config": {"a": 1, "a": 2}}'})
            self.refused(["config.json", "'a' occurs twice"], "m.pt2", content)

    def test_in_safetensors(self):
        entry = b'"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]%s}'
        for header in (b'{"__metadata__": {"a": "1", "a": "2"}, ' + entry % b"" + b"}",
                       b'{"__metadata__": {}, "__metadata__": {}, ' + entry % b"" + b"}",
                       b"{" + entry % b', "shape": [1]' + b"}"):
            self.refused(["occurs twice"], "m.safetensors", safetensors(header, b"x"))

    def test_in_an_index_of_shards(self):
        self.refused(["'w' occurs twice"], "m.safetensors.index.json", b'{"weight_map": {"w": "a", "w": "b"}}')


NET, FORMAT = name("my.nets", "Net"), name("timm.layers.format", "Format")
ENUM = hostile.call(FORMAT, text("NCHW"))  # Python's pickle of an enum member


class Placeholders(HostileTest):
    """An object that only a call could make: accepted where it is harmless, refused where it could contain weights."""

    def read(self, content):
        return report(self.file("m.pt", checkpoint(content, _0=bytes(16))), "--plugins=params")

    def refuse(self, words, content):
        self.refused([*words, "byte "], "m.pt", checkpoint(content, _0=bytes(16)))

    def test_a_module_with_an_enum_is_read_and_the_class_is_named(self):
        document = self.read(module(NET, parameters=[("weight", tensor())], output_fmt=ENUM))
        self.assertEqual(document["totals"]["params"], 4)
        self.assertTrue(any("timm.layers.format.Format" in w for w in document["warnings"]), document["warnings"])

    def test_an_enum_as_python_3_11_pickles_it(self):
        member = hostile.call(name("builtins", "getattr"), FORMAT, text("NCHW"))
        document = self.read(module(NET, parameters=[("weight", tensor())], output_fmt=member))
        self.assertEqual(document["totals"]["params"], 4)

    def test_other_uses_of_getattr_are_refused(self):
        for arguments in ((NET, text("__globals__")), (NET, text("a.b")), (text("a"), text("b")), (NET,),
                          (name("numpy", "ndarray"), text("T"))):
            content = hostile.call(name("builtins", "getattr"), *arguments)
            self.refuse(["builtins.getattr"], module(NET, parameters=[("weight", tensor())], x=content))
        self.refuse(["builtins.getattr"], dict_of([(text("w"), name("builtins", "getattr"))]))

    def test_an_enum_next_to_a_state_dict_is_harmless(self):
        weights = dict_of([(text("w"), tensor())])
        document = self.read(dict_of([(text("state_dict"), weights), (text("format"), ENUM)]))
        self.assertEqual(document["totals"]["params"], 4)
        document = self.read(dict_of([(text("w"), tensor()), (text("format"), ENUM)]))
        self.assertEqual(document["totals"]["params"], 4)

    def test_an_object_in_place_of_a_parameter_is_refused(self):
        for call in (ENUM, hostile.call(FORMAT, tensor())):
            self.refuse(["parameter 'weight'", "calling timm.layers.format.Format"], module(NET, parameters=[("weight", call)]))

    def test_an_enum_in_place_of_a_module_is_refused(self):
        self.refuse(["module 'a'", "timm.layers.format.Format"], module(NET, children=[("a", ENUM)]))

    def test_an_enum_in_place_of_the_dict_of_parameters_is_refused(self):
        state = dict_of([(text("_parameters"), ENUM), (text("_modules"), b"}")])
        self.refuse(["parameter", "timm.layers.format.Format"], instance(NET, state))

    def test_an_object_made_from_tensors_is_refused(self):
        wrapped = hostile.call(name("my.quant", "Packed"), tensor())
        self.refuse(["entry 'q'", "my.quant.Packed"], dict_of([(text("w"), tensor()), (text("q"), wrapped)]))

    def test_an_object_made_from_bytes_is_refused(self):
        data = b"\x8e" + number(100)[2:] + bytes(100)
        self.refuse(["entry 'q'"], dict_of([(text("w"), tensor()), (text("q"), hostile.call(name("my", "Packed"), data))]))

    def test_an_object_as_the_whole_checkpoint_is_refused(self):
        self.refuse(["the saved object", "my.nets.Net"], hostile.call(NET, tensor()))

    def test_functions_and_classes_of_python_are_refused(self):
        for module_name, symbol in (("my.nets", "build"), ("code", "InteractiveConsole"), ("zipfile", "ZipFile"),
                                    ("torch.jit", "CompilationUnit"), ("numpy", "DataSource"), ("logging", "FileHandler"),
                                    ("torch._C", "PyTorchFileReader"), ("_private", "Class")):
            with self.subTest(symbol=symbol):
                self.refuse([f"{module_name}.{symbol}"],
                            module(NET, parameters=[("w", tensor())], x=hostile.call(name(module_name, symbol), text("x"))))

    def test_a_dict_of_its_own_class_is_a_dict(self):
        own = name("my", "AttrDict") + b")\x81(" + text("w") + tensor() + b"u"
        self.assertEqual(self.read(own)["totals"]["params"], 4)

    def test_objects_that_hold_tensors_are_named(self):
        hidden = instance(name("my", "Box"), dict_of([(text("t"), tensor())]))
        document = self.read(dict_of([(text("w"), tensor()), (text("box"), hidden)]))
        self.assertTrue(any("'box' (my.Box)" in w for w in document["warnings"]), document["warnings"])


UGLY = "a\x1b[31m\r\nb\u0085c\u202ed"


class Words(HostileTest):
    """Text from the file in messages: one line, without control characters."""

    def harmless(self, file_name, content):
        done = self.bounded(file_name, content)
        self.assertEqual(done.status, 4)
        for character in UGLY:
            if not character.isprintable():
                self.assertNotIn(character, done.stderr.rstrip("\n"))
        return done.stderr

    def test_version_of_torch(self):
        document = program()
        document["torch_version"], document["schema_version"]["major"] = UGLY, 99
        self.assertIn("torch a?[31m??b?c?d", self.harmless("m.pt2", pt2(document)))

    def test_folder_of_the_archive(self):
        self.assertIn("a?[31m??b?c?d/models/model.json", self.harmless("m.pt2", pt2(b"{", folder=UGLY)))

    def test_names_of_inputs_and_operators(self):
        self.harmless("m.pt2", pt2(program([node(UGLY, [(UGLY, hostile.named(UGLY))], UGLY)], {UGLY: hostile.meta(-1)})))
        document = program()
        document["graph_module"]["signature"]["input_specs"] = [{"user_input": {"arg": hostile.named(UGLY)}}]
        self.harmless("m.pt2", pt2(document))

    def test_names_in_pickles_and_headers(self):
        self.harmless("m.pt", checkpoint(dict_of([(text(UGLY), tensor(numel=99))]), _0=bytes(16)))
        self.harmless("m.pt", checkpoint(module(NET, children=[(UGLY, ENUM)])))
        self.harmless("m.safetensors", safetensors({UGLY: {"dtype": UGLY, "shape": [], "data_offsets": [0, 1]}}, b"x"))

    def test_a_missing_shard_is_named_by_one_path(self):
        self.refused(["1 of 1 shards is missing", "a.safetensors"], "m.safetensors.index.json",
                     b'{"weight_map": {"w": "a.safetensors"}}')


class Changes(CliTest):
    """A file that is being read keeps its content, whatever happens to its name."""

    def big(self, file_name="m.safetensors"):
        """1 GiB of elements, a hole in the file."""
        size = GIB
        path = self.file(file_name, safetensors({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}))
        os.truncate(path, path.stat().st_size + size)
        return path

    def run_and(self, change, path):
        """Runs tmeter, and calls `change` once tmeter has opened the file."""
        process = subprocess.Popen([TMETER, path, "--plugins=params,param-stats", "--report", "json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not is_mapped(path):
            time.sleep(0.001)
        change()
        out, errors = process.communicate(timeout=300)
        return process.returncode, out, errors

    def test_a_model_that_is_deleted_while_it_is_read(self):
        path = self.big()
        status, out, errors = self.run_and(path.unlink, path)
        self.assertEqual((status, errors), (0, ""))
        self.assertGreater(json.loads(out)["model"]["size"], GIB)

    def test_a_model_that_is_replaced_while_it_is_read(self):
        path, other = self.big(), self.file("other", b"something else")
        status, out, errors = self.run_and(lambda: other.rename(path), path)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(json.loads(out)["totals"]["params"], GIB // 4)

    def test_a_model_that_becomes_shorter_while_it_is_read(self):
        path = self.big()
        status, out, errors = self.run_and(lambda: os.truncate(path, 4096), path)
        self.assertEqual((status, out), (4, ""), errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertIn("became shorter", errors)


def is_mapped(path):
    """Whether any process has the file in its memory."""
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(path) in maps.read_text():
                return True
        except OSError:
            pass  # it has ended, or is another user's
    return False


if __name__ == "__main__":
    main()
