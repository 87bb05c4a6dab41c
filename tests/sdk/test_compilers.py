"""A plugin works in this host whatever compiler, standard library and options it is built with: only C crosses the boundary."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
from support import MODELS, SOURCE, CliTest, main, tmeter

MODEL = MODELS / "dynamic_mlp.pt2"
HERE = Path(__file__).parent

CPP = {  # C++20, which the wrapper needs
    "g++ -O0": ["g++", "-O0"],
    "g++ -O3 without exceptions and RTTI": ["g++", "-O3", "-fno-exceptions", "-fno-rtti"],
    "g++ with its library inside": ["g++", "-O1", "-static-libstdc++", "-static-libgcc"],
    "clang++": ["clang++", "-O2"],
    "clang++ with libc++": ["clang++", "-O1", "-stdlib=libc++"],
    "clang++ with libc++, -O0, without exceptions and RTTI": ["clang++", "-O0", "-stdlib=libc++", "-fno-exceptions", "-fno-rtti"],
}
C = {
    "cc, C11": ["cc", "-std=c11", "-O2"],
    "clang, C99": ["clang", "-std=c99", "-O0"],
}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def build(compiler, source, output):
    subprocess.run([*compiler, *WARNINGS, "-shared", "-fPIC", "-fvisibility=hidden", "-I", SOURCE / "sdk/include", "-o", output, source], check=True)


class Compilers(CliTest):
    def run_words(self, plugin, *arguments):
        return tmeter("--plugins=flops,words", "--plugin", plugin, *arguments, MODEL)

    def test_a_plugin_in_cpp(self):
        """Strings and numbers in both directions: options, arguments, a finding, a writer, an error."""
        for number, (name, command) in enumerate(CPP.items()):
            with self.subTest(name):
                plugin = self.folder / f"words{number}.tmeter"
                build([*command, "-std=c++20"], HERE / "words_plugin.cpp", plugin)
                done = self.run_words(plugin, "--set", "words.times=3", "--report", "words")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, "6 words, 0.50 of them long\nthere are 6 words\n")  # 3 at each of two layers
                done = self.run_words(plugin, "--set", "words.missing=true", "--report", "json")
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("has no argument 'nothing'; it has input, weight, bias", done.stderr)
                self.assertRegex(done.stderr, r"plugin com.acme.words (failed|crashed \(abort\)) on metric 'words'")
                self.assertEqual(json.loads(done.stdout)["totals"]["macs"], 75_776)  # 4 × (64 × 256 + 256 × 10)

    def test_all_headers_of_the_wrapper(self):
        headers = sorted((SOURCE / "sdk/include/tmeter/cpp").glob("*.hpp"))
        source = self.file("all.cpp", "".join(f"#include <tmeter/cpp/{h.name}>\n" for h in headers))
        for name, command in CPP.items():
            with self.subTest(name):
                subprocess.run([*command, *WARNINGS, "-std=c++20", "-fsyntax-only", "-I", SOURCE / "sdk/include", source], check=True)

    def test_a_plugin_in_c(self):
        for number, (name, command) in enumerate(C.items()):
            with self.subTest(name):
                plugin = self.folder / f"diary{number}.tmeter"
                build(command, HERE / "diary.c", plugin)
                done = tmeter("--plugins=diary", "--plugin", plugin, "--report", "json", MODEL,
                              env={"DIARY": self.folder / "diary", "DIARY_OFFERS": "metrics handlers"})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout)["totals"]["diary"], 3)  # a page at each operator


if __name__ == "__main__":
    main()
