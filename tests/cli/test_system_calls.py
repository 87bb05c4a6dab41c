"""The list of permitted system calls: the calls that succeed for a plugin that makes all of them, and the list in the
documentation."""
import json
import pathlib
import tempfile
import unittest

from support import MODELS, CliTest, build_plugin, main, tmeter
from system_calls import documented, numbers_of, permitted

RESNET = MODELS / "resnet50.pt2"
NOT_MADE = {"exit", "exit_group", "rt_sigreturn", "pause"}  # they end the process or wait


def names_for(*rights):
    rows, single = permitted()
    out = {n for needed, _, names in rows if set(needed) & {"", *rights} for n in names}
    return out | {n for n, needed, _ in single if set(needed) & {"", *rights}}


class EveryCall(CliTest):
    def answered(self, rights):
        """Calls answered for a plugin with these rights: numbers of this machine's table, and of x32's."""
        with tempfile.TemporaryDirectory(prefix="tmeter-every-") as folder:
            plugin = pathlib.Path(folder) / "every.tmeter"
            build_plugin("every_call_plugin.cpp", plugin, f'-DRIGHTS="{rights}"')
            done = tmeter("--plugins=flops,every", "--plugin", plugin, "--report", "json", RESNET)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["totals"]["macs"], 4089184256)
        texts = {f["rule"]: f["text"] for f in document["findings"] if f["plugin"] == "com.rogue.every"}
        return [set(map(int, texts[t].removeprefix("answered:").split())) for t in ("own", "other")]

    def test_only_listed_calls_are_answered(self):
        for rights in ("", "network files threads"):
            with self.subTest(rights=rights):
                own, other = self.answered(rights)
                expected = numbers_of(names_for(*rights.split()) - NOT_MADE)
                self.assertEqual(own - set(expected), set(), "answered and not listed")
                self.assertEqual({expected[n] for n in set(expected) - own}, set(), "listed and not answered")
                self.assertEqual(other, set(), "calls of another table")


class Documentation(unittest.TestCase):
    def test_the_documented_list_equals_the_code(self):
        rows, single = permitted()
        documented_rows, documented_single = documented()
        self.assertEqual(documented_rows, rows)
        self.assertEqual(documented_single, single)

    def test_every_call_has_a_reason(self):
        rows, single = permitted()
        self.assertTrue(all(reason for _, reason, _ in rows) and all(reason for *_, reason in single))


if __name__ == "__main__":
    main()
