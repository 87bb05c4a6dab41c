"""Hostile TorchScript archives (attacks.py): each run ends with one line and status 4 or 6, never with a signal, and within its
time and memory.

Archives are written by hand: this needs no torch, and LibTorch's own writer would refuse some of them.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from archives import Archive  # noqa: E402
from attacks import ATTACKS, LIMITS, measured, run  # noqa: E402
from support import HAVE_TORCH, SANITIZED, TMETER, CliTest, main, report, tmeter  # noqa: E402

SECONDS = 20  # of the processor, including the timeout of 5
MIB = 1800  # LibTorch itself takes 200 to 300


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Attacks(CliTest):
    def attack(self, name):
        attack = ATTACKS[name]
        status, words, seconds, peak = run(TMETER, name, self.folder)
        summary = f"{name}: status {status}, {seconds:.1f} s, {peak:.0f} MiB: {words!r}"
        lines = words.strip().splitlines()
        if not (attack.accepted and status == 0):
            self.assertIn(status, attack.status, summary)
            self.assertEqual(len(lines), 1, summary)
            self.assertTrue(lines[0].startswith("tmeter: "), summary)
            for word in attack.words:
                self.assertIn(word, words, summary)
        self.assertNotIn("report a bug", words)
        self.assertFalse([c for c in words if ord(c) < 32 and c != "\n"], summary)
        if not SANITIZED:
            self.assertLess(peak, MIB, summary)
            self.assertLess(seconds, SECONDS, summary)


def add_tests():
    for name in ATTACKS:
        setattr(Attacks, f"test_{name}", lambda self, name=name: self.attack(name))


add_tests()


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Archives(CliTest):
    """Archives without an attack are valid and are read."""

    def test_a_plain_archive_is_read(self):
        path = Archive("_0 = torch.add(x, 1)\nreturn _0").write(self.folder / "plain.pt")
        document = report(path, "--input", "2x3")
        self.assertEqual([i["shape"] for i in document["inputs"]], [[2, 3]])

    def test_arithmetic_that_is_sound_runs(self):
        lines = ["n = torch.size(x, 0)", "a = torch.floordiv(-7, n)", "b = torch.remainder(-7, n)",
                 's = torch.replace("axbx", "x", "yy")', 't = torch.join(",", [s, torch.ljust("z", 4)])',
                 "l = torch.add(torch.mul([1], 3), [a, b, torch.len(t)])",
                 # [1, 1, 1, -7 // 2, -7 % 2, len("ayybyy,z   ")] = [1, 1, 1, -4, 1, 11]: by hand
                 "ok = torch.eq(l, [1, 1, 1, -4, 1, 11])",
                 "if ok:", "  y = torch.linear(x, torch.ones([5, 3]))", "else:", "  y = x", "return y"]
        path = Archive("\n".join(lines)).write(self.folder / "sound.pt")
        self.assertEqual(report(path, "--input", "2x3")["totals"]["macs"], 2 * 3 * 5)

    def test_literal_defaults_are_read(self):
        members = '  n : Final[int] = -5\n  s : Final[str] = "a(b)%"\n  t : Final[Tuple[int, int]] = (1, 2)\n'
        arguments = 'x: Tensor, a: float=-0.5, b: Optional[int]=None, c: List[int]=annotate(List[int], []), d: str="(x*y)"'
        path = Archive("return torch.neg(x)", members=members, arguments=arguments).write(self.folder / "defaults.pt")
        self.assertEqual(tmeter(path, "--input", "2x3").returncode, 0)


if __name__ == "__main__":
    main()
