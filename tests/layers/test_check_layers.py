#!/usr/bin/env python3
"""check_layers.py and check_types.py find their violations: small repositories with one each.

Usage: test_check_layers.py
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layers  # noqa: E402
import check_types  # noqa: E402


def found(files: dict[str, str]) -> list[str]:
    """The findings in a repository of these headers: {path: its includes}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, includes in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("".join(f'#include "{name}"\n' for name in includes.split()))
        return list(check_layers.violations(root))


class Plugins(unittest.TestCase):
    def test_every_plugin_may_include_common(self):
        self.assertEqual(found({"plugins/common/a.hpp": "tmeter/cpp/utf8.hpp", "sdk/include/tmeter/cpp/utf8.hpp": "",
                                "plugins/metrics/flops/b.cpp": "plugins/common/a.hpp"}), [])

    def test_a_plugin_may_not_include_another(self):
        for include in ("plugins/metrics/memory/a.hpp", "../memory/a.hpp"):
            self.assertIn("plugins/metrics/flops may include",
                          "".join(found({"plugins/metrics/memory/a.hpp": "", "plugins/metrics/flops/b.cpp": include})))

    def test_common_includes_no_plugin(self):
        self.assertTrue(found({"plugins/metrics/memory/a.hpp": "", "plugins/common/b.cpp": "plugins/metrics/memory/a.hpp"}))

    def test_a_header_found_by_a_folder_around_it(self):
        self.assertTrue(found({"plugins/metrics/energy/sensor.hpp": "", "plugins/metrics/a.hpp": "",
                               "plugins/metrics/system/b.cpp": "energy/sensor.hpp"}))

    def test_plugins_and_sdk_may_not_include_the_host(self):
        self.assertTrue(found({"core/base/text.hpp": "", "plugins/common/a.hpp": "core/base/text.hpp"}))
        self.assertTrue(found({"core/base/sha256.hpp": "", "sdk/include/tmeter/cpp/a.hpp": "core/base/sha256.hpp"}))

    def test_low_rooms_may_include_only_texts_of_the_sdk(self):
        headers = {"sdk/include/tmeter/cpp/utf8.hpp": "", "sdk/include/tmeter/cpp/graph.hpp": "", "sdk/include/tmeter/abi/graph.h": ""}
        self.assertEqual(found({"core/base/a.hpp": "tmeter/cpp/utf8.hpp", "core/ir/a.hpp": "tmeter/abi/graph.h", **headers}), [])
        for room, header in (("base", "cpp/graph.hpp"), ("base", "abi/graph.h"), ("ir", "cpp/graph.hpp")):
            self.assertIn(f"core/{room} may include", "".join(found({f"core/{room}/a.hpp": "tmeter/" + header, **headers})))

    def test_a_plugin_without_a_rule(self):
        self.assertTrue(found({"plugins/other/a.hpp": "", "plugins/new/b.cpp": "plugins/other/a.hpp"}))


class Circles(unittest.TestCase):
    def test_two_folders_of_a_plugin(self):
        text = "".join(found({"plugins/metrics/flops/a/x.hpp": "b/y.hpp", "plugins/metrics/flops/b/y.hpp": "a/z.hpp",
                              "plugins/metrics/flops/a/z.hpp": ""}))
        self.assertIn("folders include each other in a circle", text)

    def test_three_folders(self):
        self.assertTrue(found({"plugins/reports/xml/a/x.hpp": "../b/x.hpp", "plugins/reports/xml/b/x.hpp": "../c/x.hpp",
                               "plugins/reports/xml/c/x.hpp": "../a/y.hpp", "plugins/reports/xml/a/y.hpp": ""}))

    def test_a_folder_and_the_one_around_it(self):
        self.assertTrue(found({"plugins/metrics/flops/x.hpp": "ops/y.hpp", "plugins/metrics/flops/ops/y.hpp": "../z.hpp",
                               "plugins/metrics/flops/z.hpp": ""}))

    def test_one_direction_is_fine(self):
        self.assertEqual(found({"plugins/metrics/flops/x.cpp": "ops/y.hpp", "plugins/metrics/flops/ops/y.hpp": ""}), [])


class Types(unittest.TestCase):
    def found(self, first, second):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("a.hpp", first), ("b.cpp", second)):
                (pathlib.Path(folder) / "core").mkdir(exist_ok=True)
                (pathlib.Path(folder) / "core" / name).write_text(text)
            return list(check_types.violations(pathlib.Path(folder)))

    def test_a_name_of_two_types(self):
        self.assertEqual(self.found("namespace a::b { struct Limit { int n; }; }", "namespace a::b {\nclass Limit final : Base {};\n}"),
                         ["a::b::Limit is defined in core/a.hpp and in core/b.cpp; rename one"])

    def test_equal_names_in_other_scopes_are_not_a_second_type(self):
        first = "namespace a { class Limit { struct Impl; }; }"
        for second in ("namespace b { struct Limit {}; }", "namespace a { namespace { struct Limit {}; } }", "namespace a { class Limit; }",
                       "namespace a { struct Limit::Impl {}; }", "namespace a { void f() { struct Limit {}; } }",
                       'namespace a { auto s = "{"; // struct Limit {\n }', "namespace a { struct Other { struct Limit {}; }; }"):
            self.assertEqual(self.found(first, second), [], second)


if __name__ == "__main__":
    unittest.main()
